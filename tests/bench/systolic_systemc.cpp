// systolic_systemc.cpp - a 16 x 16 output-stationary array of i8 over sc_fifo of depth 4, so many
// tiles of depth 256: million multiplications a second of this process.
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <systemc>
#include <vector>

using Fifo = sc_core::sc_fifo<signed char>;

enum { P = 16, K = 256 };

// Puts K numbers for each tile.
struct Feed : sc_core::sc_module {
  Fifo *out;
  int tiles;
  SC_HAS_PROCESS(Feed);
  Feed(sc_core::sc_module_name name, Fifo *out, int tiles)
      : sc_module(name), out(out), tiles(tiles) {
    SC_THREAD(run);
  }
  void run() {
    for (int i = 0; i < tiles * K; i++) out->write((signed char)(i * 7));
  }
};

// Multiplies what comes, and passes it on (to the null pointer: it does not).
struct Element : sc_core::sc_module {
  Fifo *left, *up, *right, *down;
  int tiles, sum = 0;
  SC_HAS_PROCESS(Element);
  Element(sc_core::sc_module_name name, Fifo *left, Fifo *up, Fifo *right, Fifo *down, int tiles)
      : sc_module(name), left(left), up(up), right(right), down(down), tiles(tiles) {
    SC_THREAD(run);
  }
  void run() {
    for (int t = 0; t < tiles; t++) {
      sum = 0;
      for (int k = 0; k < K; k++) {
        signed char x = left->read(), y = up->read();
        sum += x * y;
        if (right) right->write(x);
        if (down) down->write(y);
      }
    }
  }
};

int sc_main(int argc, char **argv) {
  int tiles = argc > 1 ? std::atoi(argv[1]) : 10;
  std::vector<std::unique_ptr<Fifo>> fifo;
  std::vector<std::unique_ptr<sc_core::sc_module>> module;
  for (int i = 0; i < 2 * P * P; i++) fifo.emplace_back(new Fifo(4));
  auto a = [&](int i, int j) { return j < P ? fifo[i * P + j].get() : nullptr; };
  auto b = [&](int i, int j) { return i < P ? fifo[P * P + i * P + j].get() : nullptr; };
  auto name = [] { return sc_core::sc_gen_unique_name("m"); };
  for (int i = 0; i < P; i++) {
    module.emplace_back(new Feed(name(), a(i, 0), tiles));
    module.emplace_back(new Feed(name(), b(0, i), tiles));
    for (int j = 0; j < P; j++)
      module.emplace_back(new Element(name(), a(i, j), b(i, j), a(i, j + 1), b(i + 1, j), tiles));
  }
  std::clock_t start = std::clock();
  sc_core::sc_start();
  double took = double(std::clock() - start) / CLOCKS_PER_SEC;
  std::printf("%g\n", (double)P * P * K * tiles / took / 1e6);
  return 0;
}

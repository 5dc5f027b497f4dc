// pipe_systemc.cpp - producer, eight stages, consumer over sc_fifo of depth 16: million tokens a
// second of this process.
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <systemc>
#include <vector>

struct Stage : sc_core::sc_module {
  sc_core::sc_fifo<int> *in, *out;
  int tokens, sum = 0;
  SC_HAS_PROCESS(Stage);
  Stage(sc_core::sc_module_name name, sc_core::sc_fifo<int> *in, sc_core::sc_fifo<int> *out, int n)
      : sc_module(name), in(in), out(out), tokens(n) {
    SC_THREAD(run);
  }
  void run() {
    for (int i = 0; i < tokens; i++) {
      int v = in ? in->read() + 1 : i;
      if (out)
        out->write(v);
      else
        sum += v;
    }
  }
};

int sc_main(int argc, char **argv) {
  int tokens = argc > 1 ? std::atoi(argv[1]) : 1000000;
  std::vector<std::unique_ptr<sc_core::sc_fifo<int>>> fifo;
  std::vector<std::unique_ptr<Stage>> stage;
  for (int i = 0; i < 9; i++) fifo.emplace_back(new sc_core::sc_fifo<int>(16));
  for (int i = 0; i < 10; i++) {
    auto *in = i ? fifo[i - 1].get() : nullptr, *out = i < 9 ? fifo[i].get() : nullptr;
    stage.emplace_back(new Stage(sc_core::sc_gen_unique_name("stage"), in, out, tokens));
  }
  std::clock_t start = std::clock();
  sc_core::sc_start();
  double took = double(std::clock() - start) / CLOCKS_PER_SEC;
  std::printf("%g\n", tokens / took / 1e6);
  return 0;
}

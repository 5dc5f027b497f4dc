/* streams_test.cpp - streams, blocks and the scheduler of the HLS headers, deadlocks included;
 * prints TAP. g++ -std=c++17 -O1 -Ibackends/hls/include tests/backend/hls/streams_test.cpp &&
 * ./a.out */
#include "ap_int.h"
#include "hls_stream.h"
#include "hls_streamofblocks.h"
#include "hls_vector.h"
#include "tap.h"

#include <string>
#include <sys/wait.h>
#include <unistd.h>

using tide_csim::check_empty;
using tide_csim::region;

/* ---- what a run in a process of its own prints and returns ---- */

struct Outcome {
  int status;
  std::string errors;
};

/* Runs body in a child and returns its exit status (-1 if killed) and standard error. */
static Outcome in_child(void (*body)()) {
  int ends[2];
  if (pipe(ends) != 0) return {-2, ""};
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], 2);
    close(ends[0]);
    close(ends[1]);
    body();
    exit(0);
  }
  close(ends[1]);
  Outcome r{-1, ""};
  char buffer[512];
  for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0;)
    r.errors.append(buffer, static_cast<size_t>(n));
  close(ends[0]);
  int status;
  waitpid(child, &status, 0);
  if (WIFEXITED(status)) r.status = WEXITSTATUS(status);
  return r;
}

/* Checks the exit status and that each of the lines was printed. */
static void expect_child(void (*body)(), int status, std::initializer_list<const char *> lines) {
  const Outcome r = in_child(body);
  check(r.status == status, "status %d, not %d: %s", r.status, status, r.errors.c_str());
  for (const char *line : lines)
    check(r.errors.find(std::string(line) + "\n") != std::string::npos, "no \"%s\" in: %s", line,
          r.errors.c_str());
}

/* ---- depth ---- */

/* How many tokens go in before the stream is full. */
template <class S> static int room(S &s) {
  int n = 0;
  while (n < 1000 && s.write_nb(n)) ++n;
  for (int i = 0, token = -1; i < n; ++i)
    check(s.read_nb(token) && token == i, "token %d is %d", i, token);
  int none = 0;
  check(s.empty() && !s.read_nb(none), "not empty after all was read");
  return n;
}

static void test_depth() {
  hls::stream<int> two;
  hls::stream<int, 1> one;
  hls::stream<int, 7> seven("seven");
  hls::stream<int> later("later", 5);
  check(room(two) == 2 && room(one) == 1 && room(seven) == 7 && room(later) == 5, "depths");
  check(room(seven) == 7, "depth after use");
  later.set_depth(300);
  check(room(later) == 300 && later.capacity() == 300, "set_depth");
  hls::stream<int, 3> grid[4][4];
  for (auto &row : grid)
    for (auto &s : row) check(room(s) == 3, "depth in an array");
  int a = 0, b = 0;
  two << 4;
  two << 5;
  check(two.full() && two.size() == 2, "full");
  two >> a;
  two.read(b);
  check(a == 4 && b == 5 && two.size() == 0, "order");
}

/* ---- regions ---- */

static void pass_on(hls::stream<int> &in, hls::stream<int> &out, int n) {
  for (int i = 0; i < n; ++i) out.write(in.read() + 1);
}

static void test_pipeline() {
  hls::stream<int, 1> s[6];
  long sum = 0;
  region r;
  r.task("sink", [&] {
    for (int i = 0; i < 1000; ++i) sum += s[5].read();
  });
  for (int k = 0; k < 5; ++k) r.task("stage", [&s, k] { pass_on(s[k], s[k + 1], 1000); });
  r.task("source", [&] {
    for (int i = 0; i < 1000; ++i) s[0].write(i);
  });
  r.run();
  check(sum == 1000L * 999 / 2 + 5000, "sum %ld", sum);
  check(check_empty(s), "tokens left");
}

/* Each task puts before it gets: one place on each edge is enough. */
static void test_ring() {
  constexpr int n = 5;
  hls::stream<ap_int<16>, 1> s[n];
  ap_int<16> value[n];
  region r;
  for (int k = 0; k < n; ++k) {
    value[k] = k;
    r.task("node", [&s, &value, k] {
      for (int step = 0; step < n; ++step) {
        s[(k + 1) % n].write(value[k]);
        value[k] = s[k].read();
      }
    });
  }
  r.run();
  for (int k = 0; k < n; ++k) check(value[k] == k, "node %d holds %d", k, value[k].to_int());
  check(check_empty(s), "tokens left");
}

static hls::stream<int> to_inner, from_inner;

/* A task that is a region of its own, fed by its sibling one token at a time. */
static void inner_region() {
  hls::stream<int, 1> middle;
  region inner;
  inner.task("left", [&] { pass_on(to_inner, middle, 50); });
  inner.task("right", [&] { pass_on(middle, from_inner, 50); });
  inner.run();
}

static void test_nested() {
  long sum = 0;
  region r;
  r.task("inner", inner_region);
  r.task("feeder", [&] {
    for (int i = 0; i < 50; ++i) {
      to_inner.write(i);
      sum += from_inner.read();
    }
  });
  r.run();
  check(sum == 50L * 49 / 2 + 100, "sum %ld", sum);
}

/* The order of turns is the order of tasks, the same each time. */
static void test_order() {
  for (int again = 0; again < 2; ++again) {
    std::string trace;
    hls::stream<int, 2> s;
    region r;
    r.task("p", [&] {
      for (int i = 0; i < 5; ++i) {
        s.write(i);
        trace += 'p';
      }
    });
    r.task("c", [&] {
      for (int i = 0; i < 5; ++i) {
        s.read();
        trace += 'c';
      }
    });
    r.run();
    check(trace == "ppccppccpc", "trace %s", trace.c_str());
  }
}

/* A task that asks in a loop lets the others run. */
static void test_polling() {
  hls::stream<int, 1> a, b;
  int got = 0, asked = 0;
  region r;
  r.task("either", [&] {
    for (int token = 0; got < 20; ++asked)
      if (a.read_nb(token) || b.read_nb(token)) ++got;
  });
  r.task("a", [&] {
    for (int i = 0; i < 10; ++i) a.write(i);
  });
  r.task("b", [&] {
    for (int i = 0; i < 10; ++i)
      while (!b.write_nb(i)) {
      }
  });
  r.run();
  check(got == 20 && asked >= 20, "got %d", got);
  hls::stream<int, 1> never, after;
  int tries = 0;
  region patience;
  patience.task("waiter", [&] { after.read(); });
  patience.task("asker", [&] {
    for (int token = 0; tries < 5; ++tries) check(!never.read_nb(token), "read from nothing");
    after.write(tries);
  });
  patience.run();
  check(tries == 5 && check_empty(after), "gave up after %d tries", tries);
}

/* Tokens of several words, and a task of many locals. */
static void test_tokens() {
  hls::stream<hls::vector<ap_uint<100>, 4>, 2> s;
  ap_uint<100> sum = 0;
  region r;
  r.task("put", [&] {
    for (int i = 0; i < 10; ++i) s << hls::vector<ap_uint<100>, 4>(ap_uint<100>(i) << 90);
  });
  r.task("get", [&] {
    ap_uint<100> kept[10][4];
    for (int i = 0; i < 10; ++i) {
      const auto v = s.read();
      for (int j = 0; j < 4; ++j) kept[i][j] = v[static_cast<size_t>(j)];
    }
    for (auto &row : kept)
      for (auto &x : row) sum += x;
  });
  r.run();
  check((sum >> 90) == 45 * 4, "sum %s", sum.to_string().c_str());
}

/* ---- streams of blocks ---- */

using Block = int[3][4];

static void fill_block(int block[3][4], int first) {
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 4; ++j) block[i][j] = first + 4 * i + j;
}

static void test_blocks() {
  hls::stream_of_blocks<Block, 3> ring;
  hls::stream<int, 1> pace;
  int most = 0, wrong = 0;
  region r;
  r.task("writer", [&] {
    for (int k = 0; k < 20; ++k) {
      hls::write_lock<Block> b(ring);
      fill_block(b, 100 * k);
      b[2][3] += 1;
      most = ring.fill > most ? ring.fill : most;
    }
  });
  r.task("reader", [&] {
    for (int k = 0; k < 20; ++k) {
      hls::read_lock<Block> b(ring);
      const Block &all = b;
      pace.read();
      wrong += b[1][2] != 100 * k + 6 || all[2][3] != 100 * k + 12;
    }
  });
  r.task("pace", [&] {
    for (int k = 0; k < 20; ++k) pace.write(k);
  });
  r.run();
  check(most == 2 && wrong == 0, "%d blocks, %d bad", most, wrong);
  check(check_empty(ring) && ring.empty(), "blocks left");
  hls::stream_of_blocks<int[2]> two;
  for (int k = 0; k < 2; ++k) hls::write_lock<int[2]>{two}[1] = k;
  check(two.full(), "two blocks are not all");
  check(hls::read_lock<int[2]>{two}[1] == 0, "the older block is not the first");
  check(!two.full() && !two.empty(), "one block is all or none");
}

/* With one block reader and writer alternate; the reader holds it while it waits for something
 * else. */
static void test_block_depth() {
  hls::stream_of_blocks<int[2], 1> one("one");
  hls::stream<int, 1> held;
  std::string trace;
  region r;
  r.task("writer", [&] {
    for (int k = 0; k < 2; ++k) {
      hls::write_lock<int[2]> b(one);
      b[0] = k;
      trace += 'w';
    }
  });
  r.task("reader", [&] {
    for (int k = 0; k < 2; ++k) {
      hls::read_lock<int[2]> b(one);
      held.read();
      trace += b[0] == k ? 'r' : '?';
    }
  });
  r.task("late", [&] {
    held.write(0);
    trace += 'l';
    held.write(0);
  });
  r.run();
  check(trace == "wlrwr", "trace %s", trace.c_str());
}

/* ---- what stops ---- */

/* Puts three tokens on a before one on b; the consumer takes b first. Needs depth 3 on a. */
static void uneven(int depth_of_a) {
  hls::stream<int> a("a", depth_of_a);
  hls::stream<int, 2> b("b");
  region r;
  r.task("producer", [&] {
    for (int i = 0; i < 3; ++i) a.write(i);
    b.write(9);
  });
  r.task("consumer", [&] {
    int sum = b.read();
    for (int i = 0; i < 3; ++i) sum += a.read();
    check(sum == 12, "sum %d", sum);
  });
  r.run();
}

static void deadlock_inside() {
  hls::stream<int, 1> s("s"), t("t");
  region r;
  r.task("alone", [&] { t.read(); });
  r.task("outer", [&] {
    region inner;
    inner.task("first", [&] { s.write(1), s.write(2); });
    inner.task("done", [] {});
    inner.run();
  });
  r.run();
}

static void deadlock_of_blocks() {
  hls::stream_of_blocks<int[2], 1> ring("ring");
  region r;
  r.task("w", [&] {
    for (int i = 0; i < 3; ++i) hls::write_lock<int[2]> lock(ring);
  });
  r.task("r", [&] {
    hls::read_lock<int[2]> first(ring);
    hls::read_lock<int[2]> second(ring);
  });
  r.run();
}

static void deadlock_of_polls() {
  hls::stream<int> s("polled");
  region r;
  r.task("asker", [&] {
    while (s.empty()) {
    }
  });
  r.run();
}

static void test_deadlock() {
  expect_child([] { uneven(2); }, 3,
               {"deadlock: task producer waits to write stream a (fill 2 of 2)",
                "deadlock: task consumer waits to read stream b (fill 0 of 2)"});
  expect_child([] { uneven(3); }, 0, {});
  expect_child(deadlock_inside, 3,
               {"deadlock: task alone waits to read stream t (fill 0 of 1)",
                "deadlock: task outer/first waits to write stream s (fill 1 of 1)"});
  expect_child(deadlock_of_blocks, 3,
               {"deadlock: task w waits to write stream ring (fill 1 of 1)",
                "deadlock: task r waits to read stream ring (fill 1 of 1)"});
  expect_child(deadlock_of_polls, 3,
               {"deadlock: task asker waits to read stream polled (fill 0 of 2)"});
}

static void write_too_many() {
  hls::stream<int, 3> s("s");
  for (int i = 0; i < 4; ++i) s.write(i);
}
static void read_nothing() {
  hls::stream<int, 3> grid[2][2];
  tide_csim::name(grid, "Z");
  grid[1][0].read();
}
static void test_sequential() {
  expect_child(write_too_many, 3, {"deadlock: task main waits to write stream s (fill 3 of 3)"});
  expect_child(read_nothing, 3, {"deadlock: task main waits to read stream Z[1][0] (fill 0 of 3)"});
}

static void leave_tokens() {
  hls::stream<int, 4> left("left"), clean("clean");
  hls::stream<int, 2> grid[2];
  hls::stream_of_blocks<int[2]> blocks("blocks");
  tide_csim::name(grid, "g");
  region r;
  r.task("writer", [&] {
    left.write(1), left.write(2), grid[1].write(3);
    hls::write_lock<int[2]> lock(blocks);
  });
  r.run();
  if (!check_empty(clean, left, grid, blocks)) exit(7);
}
static void test_leftover() {
  expect_child(leave_tokens, 7,
               {"leftover: stream left holds 2 of 4 tokens",
                "leftover: stream g[1] holds 1 of 2 tokens",
                "leftover: stream blocks holds 1 of 2 tokens"});
  const Outcome r = in_child(leave_tokens);
  check(r.errors.find("clean") == std::string::npos && r.errors.find("g[0]") == std::string::npos,
        "empty ones reported");
}

/* Recurses until `bytes` of stack below `top` are used. */
static int dig(const char *top, long bytes) {
  volatile char here[64];
  for (volatile char &c : here) c = 1;
  return top - const_cast<const char *>(here) > bytes ? here[0] : dig(top, bytes) + here[1];
}
static void dig_in_region(long bytes) {
  hls::stream<int> s;
  region r(64 * 1024);
  r.task("digger", [&] {
    char top = 0;
    s.write(dig(&top, bytes));
  });
  r.run();
}
static void test_stack() {
  expect_child([] { dig_in_region(48 * 1024); }, 0, {});
  expect_child([] { dig_in_region(64 * 1024 - 1600); }, 3,
               {"task digger needs more than 65536 bytes of stack"});
}

static void test_bounds() {
  expect_child([] { ap_int<8>(1).range(8, 0) = 1; }, 3, {"bits 8 to 0 of a word of 8 bits"});
  expect_child([] { ap_int<8>(1).range(7, 0) = 1; }, 0, {});
}

int main() {
  run("a stream holds its depth", test_depth);
  run("pipeline of tasks", test_pipeline);
  run("ring that puts before it gets, at depth 1", test_ring);
  run("region inside a task", test_nested);
  run("order of turns", test_order);
  run("polling lets others run", test_polling);
  run("wide tokens", test_tokens);
  run("stream of blocks", test_blocks);
  run("stream of one block", test_block_depth);
  run("deadlock is told and ends with 3", test_deadlock);
  run("blocking outside any region", test_sequential);
  run("leftover tokens are told", test_leftover);
  run("a stack that is too small is told", test_stack);
  run("bits outside a word are told", test_bounds);
  return finish();
}

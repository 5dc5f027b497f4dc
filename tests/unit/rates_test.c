/* rates_test.c - depths by rates, against examples worked out by hand and eq. 2 to 4 step by step.
 */
#include "analysis/time/rates.h"
#include "tap.h"

static TdCtx *C;

static void is_depth(TdRate put, TdRate get, int64_t volume, int64_t want, const char *name) {
  int64_t got = td_rates_depth(C, put, get, volume);
  ok(got == want, name);
  if (got != want) printf("#   got %lld, want %lld\n", (long long)got, (long long)want);
}

static TdRate every(int64_t tokens, int64_t cycles) {
  return (TdRate){tokens, cycles, 1};
}

/* f_prod(t) by eq. 2. */
static int64_t produced(TdRate r, int64_t volume, int64_t t) {
  int64_t n = r.tokens * (t / r.cycles);
  return n < volume ? n : volume;
}

/* Eq. 4, cycle by cycle. */
static int64_t depth_by_cycles(TdRate put, TdRate get, int64_t volume) {
  int64_t most = 0;
  for (int64_t t = 0; t <= volume * put.cycles + put.cycles; t++) {
    int64_t in = produced(put, volume, t), out = get.tokens * (t / get.cycles);
    if (out > in) out = in;
    if (in - out + 1 > most) most = in - out + 1;
  }
  return most;
}

static void test_pairs(void) {
  is_depth(every(1, 1), every(1, 1), 100, 1, "equal rates: a register");
  is_depth(every(1, 4), every(1, 1), 100, 1, "a slower source never fills it");
  is_depth(every(1, 1), every(1, 2), 8, 5, "8 in 8 cycles, 4 of them gone: 8 - 4 + 1");
  is_depth(every(2, 3), every(1, 3), 12, 7, "12 in 18 cycles, 6 of them gone: 12 - 6 + 1");
  is_depth(every(4, 8), every(1, 2), 64, 1, "bursts of 4, all of them due at once");
  is_depth(every(4, 4), every(1, 3), 8, 7, "8 in 8 cycles, 2 of them gone: 8 - 2 + 1");
  is_depth(every(8, 8), every(8, 12), 24, 9, "a burst of 8 before any of it is due: 8 - 0 + 1");
  is_depth(every(3, 1), every(3, 2), 7, 5, "a last burst of one: 7 in 3 cycles, 3 gone");
  is_depth((TdRate){1, 3, 2}, every(1, 3), 6, 4, "one in 1.5 cycles: 6 in 9 cycles, 3 gone");
  is_depth(every(1, 1), every(1, 1), 0, 1, "no token");
  bool same = true;
  for (int64_t n = 0; n < 20000; n++) {
    TdRate put = every(1 + n % 5, 1 + n / 5 % 6), get = every(1 + n / 30 % 5, 1 + n / 150 % 7);
    int64_t volume = 1 + n % 37;
    same &= td_rates_depth(C, put, get, volume) == depth_by_cycles(put, get, volume);
  }
  ok(same, "the same as cycle by cycle");
}

static TdRatesEdge edge(uint32_t from, uint32_t to, TdRate put, TdRate get, int64_t volume) {
  return (TdRatesEdge){.from = from, .to = to, .put = put, .get = get, .volume = volume};
}

static bool is_rate(TdRate r, int64_t tokens, int64_t cycles, int64_t per) {
  return r.tokens == tokens && r.cycles * per == cycles * r.per;
}

static void test_stages(TdArena *a) {
  TdRates chain = {.feedback = false};
  td_vec_push(a, &chain.edge, edge(0, 1, every(1, 3), every(1, 1), 12));
  td_vec_push(a, &chain.edge, edge(1, 2, every(2, 1), every(1, 2), 24));
  td_rates_settle(a, &chain, 3);
  ok(is_rate(chain.edge.at[0].get, 1, 3, 1), "chain: the second stage waits for the first");
  ok(is_rate(chain.edge.at[1].put, 2, 3, 1), "chain: and puts 2 in 3 cycles");
  ok(is_rate(chain.edge.at[1].get, 1, 2, 1), "chain: the third is slower than that");
  ok(chain.edge.at[0].depth == 1, "chain: nothing piles up before the second");
  ok(chain.edge.at[1].depth == 7, "chain: 24 in 36 cycles, 18 of them gone: 24 - 18 + 1");

  TdRates join = {.feedback = false};
  td_vec_push(a, &join.edge, edge(0, 2, every(1, 1), every(1, 1), 10));
  td_vec_push(a, &join.edge, edge(1, 2, every(1, 5), every(1, 1), 10));
  td_rates_settle(a, &join, 3);
  ok(is_rate(join.edge.at[0].get, 1, 5, 1), "join: the slowest producer sets the pace");
  ok(join.edge.at[0].depth == 9, "join: the other one piles up: 10 in 10 cycles, 2 of them gone");
  ok(join.edge.at[1].depth == 1, "join: the slowest does not");

  TdRates ring = {.feedback = false};
  td_vec_push(a, &ring.edge, edge(0, 1, every(1, 2), every(1, 1), 10));
  td_vec_push(a, &ring.edge, edge(1, 0, every(1, 1), every(1, 2), 10));
  td_rates_settle(a, &ring, 2);
  ok(!ring.feedback && ring.edge.at[1].depth == 1, "a circle whose rates agree");
  ring.edge.at[1].get = every(2, 2);
  ring.edge.at[1].depth = 0;
  td_rates_settle(a, &ring, 2);
  ok(ring.feedback && ring.edge.at[1].depth == 0, "a circle that slows itself down");
}

int main(void) {
  C = td_ctx_new();
  TdArena *a = td_arena_new(C);
  test_pairs();
  test_stages(a);
  td_arena_free(a);
  td_ctx_free(C);
  return done_testing();
}

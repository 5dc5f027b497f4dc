/* maestro_test.c - address generation of DataMaestro against enumeration: random patterns,
 * channels, modes; and faults. */
#include "backends/maestro/job.h"
#include "tap.h"
#include "trace.h"

static uint64_t seed = 11;

/* The next random number below n. */
static int64_t roll(int64_t n) {
  return (int64_t)trace_random(&seed, (int)n);
}

/* A streamer of up to three spatial and eight temporal dimensions. */
static TdMaestroStreamer random_streamer(void) {
  TdMaestroStreamer s = {.name = "X", .writer = roll(3) == 0, .nlane = 1 + (int)roll(3)};
  s.loops = 1 + roll(TD_MAESTRO_LOOPS);
  s.channels = 1;
  for (int k = 0; k < s.nlane; k++) s.channels *= s.lane[k] = 1 + roll(4);
  return s;
}

static TdMaestroPattern random_pattern(const TdMaestroStreamer *s) {
  TdMaestroPattern p = {.used = true, .base = roll(4096), .mask = UINT64_MAX};
  for (int k = 0; k < s->nlane; k++) p.lane_stride[k] = roll(100);
  for (int k = 0; k < s->loops; k++) {
    p.bound[k] = roll(20) ? 1 + roll(3) : 0;
    p.stride[k] = roll(3) ? roll(300) : 0;
  }
  return p;
}

/* The address of a channel at word t, by division and multiplication. */
static int64_t address_at(const TdMaestroStreamer *s, const TdMaestroPattern *p, int64_t t,
                          int64_t channel) {
  int64_t sum = p->base;
  for (int k = 0; k < s->loops; t /= p->bound[k], k++) sum += t % p->bound[k] * p->stride[k];
  for (int k = 0; k < s->nlane; channel /= s->lane[k], k++)
    sum += channel % s->lane[k] * p->lane_stride[k];
  return sum;
}

/* Whether the counters make the words that loops make; repeated ones once. */
static bool same_addresses(const TdMaestroStreamer *s, const TdMaestroPattern *p) {
  int64_t n = td_maestro_agu_count(s, p), again = td_maestro_agu_repeats(s, p), t = 0;
  TdMaestroAgu g = td_maestro_agu_start(s, p);
  for (; g.busy; td_maestro_agu_tick(&g), t += again)
    for (int c = 0; c < s->channels; c++)
      if (t >= n || g.address + td_maestro_agu_lane(s, p, c) != address_at(s, p, t, c))
        return false;
  return t == n;
}

static void test_addresses(int cases) {
  int wrong = 0, off = 0, repeated = 0;
  for (int i = 0; i < cases; i++) {
    TdMaestroStreamer s = random_streamer();
    TdMaestroPattern p = random_pattern(&s);
    wrong += !same_addresses(&s, &p);
    off += td_maestro_agu_count(&s, &p) == 0;
    repeated += td_maestro_agu_repeats(&s, &p) > 1;
  }
  ok(!wrong, "counters make the addresses of the loops");
  ok(off > cases / 50 && repeated > cases / 20, "some were off, some repeat words");
}

/* The bits of an address in another place: the top d go down to L, those between move up by d. */
static int64_t permuted(int64_t a, int width, int row, int low) {
  int d = row - low;
  int64_t top = a >> (width - d), middle = (a & ((INT64_C(1) << (width - d)) - 1)) >> low;
  return middle << row | top << low | (a & ((INT64_C(1) << low) - 1));
}

static int log2_of(int64_t x) {
  int n = 0;
  while (x >>= 1) n++;
  return n;
}

static void test_modes(int cases) {
  int wrong = 0;
  for (int i = 0; i < cases; i++) {
    TdMaestroMemory m = {.banks = 4 << roll(6), .word = 4 << roll(4), .rows = 1 << roll(10)};
    m.nmode = 1;
    m.mode[0].banks = INT64_C(1) << roll(log2_of(m.banks) + 1);
    int64_t size = td_maestro_system_bytes(&m), a = roll(1 << 30) % size;
    int row = log2_of(m.banks * m.word), low = log2_of(m.mode[0].banks * m.word);
    TdDesc mode = td_maestro_agu_mode(&m, 0);
    int64_t got = td_maestro_agu_physical(&m, 0, a);
    wrong += got != permuted(a, log2_of(size), row, low) || got != td_desc_place(&mode, a);
    wrong += got != td_maestro_agu_physical(&m, 0, a + size);
  }
  ok(!wrong, "modes permute bits, as the descriptor says");
}

/* A product of 1 x 1 x 8 bytes, two words of them, on a system of one streamer A: as the compiler
 * would leave it. */
static TdMaestroJob small_job(const TdMaestroSystem *s, TdMaestroOperand *x) {
  TdMaestroJob j = {.system = s, .spatial = {1, 2, 0}, .temporal = {0, 1, 2}, .tile = {8, 1, 1}};
  *x = (TdMaestroOperand){.used = true, .rank = 1, .extent = {16}, .coef = {{1, 0, 0}}};
  j.nest.nloop = 3;
  j.nest.loop[0] = (TdMaestroLoop){.name = "k", .extent = 16, .reduces = true};
  j.nest.loop[1] = (TdMaestroLoop){.name = "m", .extent = 1};
  j.nest.loop[2] = (TdMaestroLoop){.name = "n", .extent = 1};
  j.stream[TD_MAESTRO_A] = (TdMaestroStream){.used = true, .x = x, .element = 1};
  j.stream[TD_MAESTRO_A].order.room[0] = 16;
  j.stream[TD_MAESTRO_A].order.at = (TdDesc){.n = 1, .at = {{16, 1}}};
  j.stream[TD_MAESTRO_A].order.order.place[0].div = 1;
  j.pattern[0] = (TdMaestroPattern){.used = true, .bound = {2}, .stride = {8}, .mask = 1};
  j.work = (TdMaestroWork){.steps = 2, .tiles = 1};
  return j;
}

/* Registers that read another word than the nest are found; a run whose array waits for a word that
 * nobody sends ends. */
static void test_faults(TdCtx *c, TdArena *a) {
  TdMaestroSystem s = {
      .memory = {.banks = 4, .word = 8, .rows = 16, .latency = 1, .nmode = 1, .mode = {{"all", 4}}},
      .array = {.here = true, .m = 1, .n = 1, .k = 8, .lanes = 1},
      .n = 1};
  s.at[0] = (TdMaestroStreamer){.name = "A",
                                .nlane = 1,
                                .lane = {1},
                                .channels = 1,
                                .loops = 1,
                                .depth = 1,
                                .addr_depth = 1,
                                .shares = -1};
  s.ports = 1;
  TdMaestroOperand x;
  TdMaestroJob j = small_job(&s, &x);
  TdDiag d = {.arena = a}, other = {.arena = a};
  ok(td_maestro_job_check(&j, c, &d), "registers that read the words of the nest");
  j.pattern[0].stride[0] = 16;
  ok(!td_maestro_job_check(&j, c, &d), "one word further");
  is_text(d.code, "maestro-address", "is a fault of the compiler");
  TdMaestroReport report;
  TdMaestroRun run = {.ctx = c, .arena = a, .system = &s, .pattern = j.pattern, .work = j.work};
  ok(!td_maestro_model_run(&run, &report, &other), "an array without a streamer B");
  is_text(other.code, "maestro-stuck", "is stuck, and that is said");
}

int main(void) {
  TdCtx *c = td_ctx_new();
  TdArena *a = td_arena_new(c);
  test_faults(c, a);
  test_addresses(100000);
  test_modes(100000);
  td_arena_free(a);
  td_ctx_free(c);
  return done_testing();
}

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
  for (int i = 0; i < 3; i++) j.outer[i] = -1;
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

/* ---- extensions ---- */

enum { WORD = 8 }; /* bytes */

static TdMaestroExt new_ext(int kind, const TdType *t) {
  TdMaestroExt x = {.kind = (uint8_t)kind, .type = t};
  td_maestro_ext_info[kind].fits(&x, 8 * WORD);
  return x;
}

static int64_t clamp8(int64_t v) {
  return v < -128 ? -128 : v > 127 ? 127 : v;
}

/* What rescale_down makes of x, in the steps of its description. */
static int64_t rescale_of(int64_t x, const int64_t *reg) {
  int64_t v = (x - reg[0]) * reg[1], was = v;
  if (reg[3] > 0) v += INT64_C(1) << (reg[3] - 1);
  if (reg[3] > 31) v += was < 0 ? -(INT64_C(1) << 30) : INT64_C(1) << 30;
  return (v >> reg[3]) + reg[2];
}

/* Random words through one extension against what it is said to make. */
static bool same_beats(TdSession *s) {
  static const int kinds[] = {TD_MAESTRO_EXT_MEMSET,       TD_MAESTRO_EXT_MAXPOOL,
                              TD_MAESTRO_EXT_ADD,          TD_MAESTRO_EXT_ADD_WIDE,
                              TD_MAESTRO_EXT_RESCALE_DOWN, TD_MAESTRO_EXT_RESCALE_UP,
                              TD_MAESTRO_EXT_INT4};
  int kind = kinds[roll(7)];
  TdMaestroExt x = new_ext(kind, td_type_int(s, 8));
  int64_t reg[TD_MAESTRO_ARGS] = {1 + roll(5), roll(1 << 20), roll(21) - 10, roll(40)};
  int64_t n = td_maestro_ext_takes(&x, reg);
  uint8_t in[5 * WORD], out[4 * WORD];
  for (int i = 0; i < 5 * WORD; i++) in[i] = (uint8_t)roll(256);
  td_maestro_ext_info[kind].beat(&x, reg, in, out);
  for (int i = 0; i < WORD; i++) {
    int64_t most = -128, sum = 0,
            in32 = (int32_t)((uint32_t)in[4 * i % (4 * WORD)] |
                             (uint32_t)in[4 * i % (4 * WORD) + 1] << 8 |
                             (uint32_t)in[4 * i % (4 * WORD) + 2] << 16 |
                             (uint32_t)in[4 * i % (4 * WORD) + 3] << 24);
    for (int b = 0; b < n && kind >= TD_MAESTRO_EXT_MAXPOOL && kind <= TD_MAESTRO_EXT_ADD_WIDE;
         b++) {
      int8_t v = (int8_t)in[b * WORD + i];
      if (v > most) most = v;
      sum += v;
    }
    int32_t wide = (int32_t)((uint32_t)out[4 * i] | (uint32_t)out[4 * i + 1] << 8 |
                             (uint32_t)out[4 * i + 2] << 16 | (uint32_t)out[4 * i + 3] << 24);
    int half = in[i / 2] >> (4 * (i % 2)) & 15;
    int64_t want = kind == TD_MAESTRO_EXT_MEMSET         ? (uint8_t)reg[0]
                   : kind == TD_MAESTRO_EXT_MAXPOOL      ? (uint8_t)most
                   : kind == TD_MAESTRO_EXT_ADD          ? (uint8_t)sum
                   : kind == TD_MAESTRO_EXT_ADD_WIDE     ? sum
                   : kind == TD_MAESTRO_EXT_RESCALE_DOWN ? (uint8_t)clamp8(rescale_of(in32, reg))
                   : kind == TD_MAESTRO_EXT_INT4         ? (uint8_t)(half < 8 ? half : half - 16)
                                                         : 0;
    if (kind == TD_MAESTRO_EXT_RESCALE_UP) {
      int64_t once[TD_MAESTRO_ARGS] = {reg[0], reg[1], reg[2], reg[3] % 32};
      td_maestro_ext_info[kind].beat(&x, once, in, out);
      wide = (int32_t)((uint32_t)out[4 * i] | (uint32_t)out[4 * i + 1] << 8 |
                       (uint32_t)out[4 * i + 2] << 16 | (uint32_t)out[4 * i + 3] << 24);
      want = (int32_t)(uint32_t)(uint64_t)rescale_of((int8_t)in[i], once);
    }
    bool is_wide = kind == TD_MAESTRO_EXT_ADD_WIDE || kind == TD_MAESTRO_EXT_RESCALE_UP;
    if (want != (is_wide ? wide : out[i])) return false;
  }
  return true;
}

/* rescale_efficient is rescale_down up to the bits that it shifts out before the product. */
static bool is_near(TdSession *s) {
  TdMaestroExt x = new_ext(TD_MAESTRO_EXT_RESCALE_EFFICIENT, td_type_int(s, 8));
  int64_t shift = 24 + roll(16), reg[TD_MAESTRO_ARGS] = {0, roll(1 << 30) + (1 << 30), 0, shift};
  uint8_t in[4 * WORD], fast[WORD], exact[WORD];
  for (int i = 0; i < 4 * WORD; i++) in[i] = (uint8_t)(i % 4 == 3 ? -roll(2) : roll(256));
  td_maestro_ext_info[x.kind].beat(&x, reg, in, fast);
  td_maestro_ext_info[TD_MAESTRO_EXT_RESCALE_DOWN].beat(&x, reg, in, exact);
  for (int i = 0; i < WORD; i++) {
    int off = (int8_t)fast[i] - (int8_t)exact[i];
    int most = shift < 39 ? 2 + (1 << (39 - shift)) : 2;
    if (off < -most || off > most) return false;
  }
  return true;
}

static void test_exts(TdCtx *c, int cases) {
  TdSession *s = td_session_new(c);
  int wrong = 0, far = 0;
  for (int i = 0; i < cases; i++) {
    wrong += !same_beats(s);
    far += !is_near(s);
  }
  ok(!wrong, "extensions make what they are said to make");
  ok(!far, "rescale_efficient is near rescale_down");
}

int main(void) {
  TdCtx *c = td_ctx_new();
  TdArena *a = td_arena_new(c);
  test_faults(c, a);
  test_exts(c, 20000);
  test_addresses(100000);
  test_modes(100000);
  td_arena_free(a);
  td_ctx_free(c);
  return done_testing();
}

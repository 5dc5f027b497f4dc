/* check.c - the addresses that a streamer makes against those of the nest, in order. Small
 * streams are compared word by word, by the counters of the AGU on one side and indices and digits
 * on the other. In large ones no sum of loops carries out of a digit of the order (refused
 * otherwise), so both sides are sums over loops, and it is enough to compare one step of each. */
#include "base/ctx.h"
#include "backends/maestro/job.h"

/* Words of a stream that are compared one by one. */
enum { MOST_WORDS = 1 << 12 };

typedef struct Check {
  const TdMaestroJob *j;
  const TdMaestroStream *x;
  const TdMaestroStreamer *s;
  const TdMaestroPattern *p;
  int role;
  int loop[TD_DESC_DIGITS]; /* of the operand's tiles and elements, outermost first */
  int64_t trips[TD_DESC_DIGITS], step[TD_DESC_DIGITS];
  int n;
} Check;

/* Bytes from the operand's first to the element at an iteration of all loops, by its indices. */
static int64_t byte_of(const Check *c, const int64_t *at) {
  const TdMaestroOperand *x = c->x->x;
  const TdOrderBytes *o = &c->x->order;
  int64_t sum = 0;
  for (int k = 0; k < o->at.n; k++) {
    const TdOrderPlace *p = &o->order.place[o->part[k]];
    int64_t v = x->start[p->name];
    for (int l = 0; l < c->j->nest.nloop; l++) v += x->coef[p->name][l] * at[l];
    if (v < 0 || v >= o->room[p->name]) return -1;
    sum += v / p->div % o->at.at[k].n * o->at.at[k].s;
  }
  return sum;
}

static void add(Check *c, int loop, int64_t trips, int64_t step) {
  c->loop[c->n] = loop;
  c->trips[c->n] = trips;
  c->step[c->n++] = step;
}

/* The loops in the order in which the array takes elements. */
static void list_loops(Check *c) {
  const TdMaestroJob *j = c->j;
  for (int i = 0; i < c->x->nwalk; i++)
    add(c, c->x->walk[i].loop, c->x->walk[i].n, c->x->walk[i].step);
  if (c->role >= TD_MAESTRO_FROM) return;
  for (int i = 0; i < j->nest.nloop; i++) {
    int l = j->temporal[i];
    if (c->role < TD_MAESTRO_C || !j->nest.loop[l].reduces)
      add(c, l, td_maestro_job_trips(j, l), j->tile[l]);
  }
  int r = td_maestro_tile[c->role].row, k = td_maestro_tile[c->role].column;
  if (c->x->swapped) {
    int was = r;
    r = k, k = was;
  }
  const int loop[4] = {j->outer[r], j->spatial[r], j->outer[k], j->spatial[k]};
  for (int i = c->x->copied ? 2 : 0; i < 4; i++)
    if (loop[i] >= 0) add(c, loop[i], j->tile[loop[i]], 1);
}

/* The byte of element `ordinal` of the nest. */
static int64_t nest_byte(const Check *c, int64_t ordinal) {
  int64_t at[TD_MAESTRO_NEST_LOOPS] = {0};
  for (int i = c->n; i-- > 0; ordinal /= c->trips[i])
    if (c->loop[i] >= 0) at[c->loop[i]] += ordinal % c->trips[i] * c->step[i];
  return byte_of(c, at);
}

static bool differ(const Check *c, int64_t word, int64_t got, int64_t want, TdDiag *d) {
  return td_diag_set(d, TD_BUG, "maestro-address", c->x->x->loc,
                     "streamer %s: word %lld is read at byte %lld, and the nest touches %lld there",
                     c->s->name, (long long)word, (long long)got, (long long)want);
}

/* The channels that access memory, in order. */
static int list_channels(const Check *c, int64_t *offset) {
  int n = 0;
  for (int k = 0; k < c->s->channels; k++)
    if (c->p->mask >> k & 1) offset[n++] = td_maestro_agu_lane(c->s, c->p, k);
  return n;
}

/* Word by word. */
static bool compare_words(const Check *c, int64_t base, TdCtx *ctx, TdDiag *d) {
  int64_t offset[TD_MAESTRO_CHANNELS], word = 0;
  int n = list_channels(c, offset);
  int64_t each = c->j->system->memory.word / c->x->element,
          again = td_maestro_agu_repeats(c->s, c->p);
  for (TdMaestroAgu g = td_maestro_agu_start(c->s, c->p); g.busy; td_maestro_agu_tick(&g)) {
    td_ctx_tick(ctx, (uint64_t)n);
    for (int64_t t = 0; t < again; t++)
      for (int k = 0; k < n; k++, word++) {
        int64_t got = g.address + offset[k] - base;
        for (int64_t e = 0; e < each; e++) {
          int64_t want = nest_byte(c, word * each + e);
          if (want != got + e * c->x->element) return differ(c, word, got, want, d);
        }
      }
  }
  return true;
}

/* The place of element `ordinal` of what the streamer reads, by its registers. */
static int64_t stream_byte(const Check *c, int64_t base, int64_t ordinal) {
  int64_t offset[TD_MAESTRO_CHANNELS];
  int64_t n = list_channels(c, offset), each = c->j->system->memory.word / c->x->element;
  int64_t t = ordinal / each / n, at = c->p->base - base + ordinal % each * c->x->element;
  for (int k = 0; k < c->s->loops; t /= c->p->bound[k], k++)
    at += t % c->p->bound[k] * c->p->stride[k];
  return at + offset[ordinal / each % n];
}

/* Where no two loops together carry: one of each loop's doublings alone, and all at their last. */
static bool compare_steps(const Check *c, int64_t base, int64_t count, TdDiag *d) {
  int64_t weight = 1;
  for (int i = c->n; i-- > 0; weight *= c->trips[i])
    for (int64_t t = 1, last = c->trips[i] - 1; t <= last;
         t = t < last && 2 * t > last ? last : 2 * t) {
      int64_t got = stream_byte(c, base, t * weight), want = nest_byte(c, t * weight);
      if (got != want) return differ(c, t * weight, got, want, d);
    }
  int64_t got = stream_byte(c, base, count - 1), want = nest_byte(c, count - 1);
  return got == want || differ(c, count - 1, got, want, d);
}

/* The registers of a streamer without the step from one operand to the other. */
static TdMaestroPattern of_one(const Check *c) {
  TdMaestroPattern p = *c->p;
  bool two = c->j->stream[TD_MAESTRO_OTHER].used &&
             (c->role == TD_MAESTRO_FROM || c->role == TD_MAESTRO_OTHER);
  if (!two) return p;
  if (c->role == TD_MAESTRO_OTHER) p.base += p.stride[0];
  p.bound[0] = 1;
  p.stride[0] = 0;
  return p;
}

/* One streamer. */
static bool check_stream(const TdMaestroJob *j, int role, TdCtx *ctx, TdDiag *d) {
  Check c = {.j = j, .x = &j->stream[role], .role = role};
  c.s = &j->system->at[c.x->streamer];
  c.p = &j->pattern[c.x->streamer];
  TdMaestroPattern one = of_one(&c);
  c.p = &one;
  list_loops(&c);
  int64_t count = 1, offset[TD_MAESTRO_CHANNELS], base = c.p->base - c.x->nest.offset;
  for (int i = 0; i < c.n; i++) count *= c.trips[i];
  int64_t each = j->system->memory.word / c.x->element;
  int64_t words = td_maestro_agu_count(c.s, c.p) * list_channels(&c, offset);
  if (words * each != count) return differ(&c, words, words * each, count, d);
  if (!count) return true;
  return words <= MOST_WORDS ? compare_words(&c, base, ctx, d) : compare_steps(&c, base, count, d);
}

bool td_maestro_job_check(const TdMaestroJob *j, TdCtx *ctx, TdDiag *d) {
  for (int role = 0; role < TD_MAESTRO_ROLES; role++)
    if (j->stream[role].used && !check_stream(j, role, ctx, d)) return false;
  return true;
}

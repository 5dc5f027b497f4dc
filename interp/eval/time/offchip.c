/* offchip.c - memories that answer at once: slots of each port, a queue for each channel. */
#include "eval/time/offchip.h"

#include <string.h>

const TdOffchipField td_offchip_fields[TD_OFFCHIP_NFIELDS] = {
#define X(NAME, name, help) [TD_OFFCHIP_##NAME] = {name, help},
    TD_OFFCHIP_FIELDS(X)
#undef X
};

const TdOffchipModel *td_offchip_find(const char *name) {
  for (size_t i = 0; td_offchip_models[i]; i++)
    if (!strcmp(td_offchip_models[i]->name, name)) return td_offchip_models[i];
  return NULL;
}

TdOffchip td_offchip_of(const TdOffchipModel *m) {
  TdOffchip o = {.model = m};
  memcpy(o.field, m->initial, sizeof o.field);
  return o;
}

/* ---- slots ---- */

/* When each port may have its next request served, by number. */
typedef struct Slots {
  TdArena *arena;
  const int64_t *field;
  TD_VEC(int64_t) next;
} Slots;

static void *slots_open(TdArena *a, const TdOffchip *o) {
  Slots *s = TD_NEW(a, Slots);
  *s = (Slots){.arena = a, .field = o->field};
  return s;
}

static int64_t slots_request(void *state, const TdOffchipAsk *ask) {
  Slots *s = state;
  while ((int64_t)s->next.n <= ask->port) td_vec_push(s->arena, &s->next, INT64_MIN);
  int64_t *next = &s->next.at[ask->port];
  int64_t first = *next > ask->cycle ? *next : ask->cycle;
  *next = first + ask->n * s->field[TD_OFFCHIP_INTERVAL];
  return *next - s->field[TD_OFFCHIP_INTERVAL] + s->field[TD_OFFCHIP_LATENCY];
}

/* A turn takes a cycle at least, so the port is busy from the first of them on. */
static int64_t slots_burst(void *state, const TdOffchipAsk *ask, int64_t per_cycle) {
  (void)per_cycle;
  return slots_request(state, ask);
}

/* ---- a queue for each channel ---- */

/* Request i of a cycle goes i channels after the one before it, the next cycle's first as many
 * after the last as there were; addresses do not matter. A channel serves one each interval. */
typedef struct Queue {
  const int64_t *field;
  int64_t *free;      /* by channel: when it may serve the next */
  int64_t now, n, at; /* of the cycle at hand: requests so far, the last one's channel */
  /* Of a steady stretch: `free` a period ago, what that added to it, how many periods were seen. */
  int64_t *was, *growth, period, seen;
} Queue;

static void *queue_open(TdArena *a, const TdOffchip *o) {
  Queue *q = TD_NEW(a, Queue);
  *q = (Queue){.field = o->field, .now = -1};
  size_t n = (size_t)o->field[TD_OFFCHIP_CHANNELS] + 1;
  q->free = TD_NEWN(a, int64_t, n);
  q->was = TD_NEWN(a, int64_t, n);
  q->growth = TD_NEWN(a, int64_t, n);
  return q;
}

static int64_t queue_request(void *state, const TdOffchipAsk *ask) {
  Queue *q = state;
  int64_t channels = q->field[TD_OFFCHIP_CHANNELS], last = ask->cycle + 1;
  int64_t after = q->field[TD_OFFCHIP_LATENCY] + q->field[TD_OFFCHIP_STARTUP];
  if (!channels) return last + after;
  if (ask->cycle != q->now) {
    q->now = ask->cycle;
    q->at = (q->at + q->n) % channels;
    q->n = 0;
  }
  for (int64_t i = 0; i < ask->n; i++) {
    q->at += q->n++;
    if (q->at >= channels) q->at %= channels;
    int64_t t = q->free[q->at] > ask->cycle + 1 ? q->free[q->at] : ask->cycle + 1;
    q->free[q->at] = t + q->field[TD_OFFCHIP_INTERVAL];
    if (t > last) last = t;
  }
  return last + after;
}

static int64_t queue_burst(void *state, const TdOffchipAsk *ask, int64_t per_cycle) {
  if (((Queue *)state)->field[TD_OFFCHIP_CHANNELS]) return -1;
  TdOffchipAsk last = *ask;
  last.cycle += (ask->n - 1) / per_cycle;
  return queue_request(state, &last);
}

/* After how many cycles of n requests the first goes to the same channel again. */
static int64_t period_of(const Queue *q, int64_t n) {
  int64_t channels = q->field[TD_OFFCHIP_CHANNELS], a = channels;
  int64_t b = (n % (2 * channels) * ((n + 1) % (2 * channels)) / 2) % channels;
  while (b) {
    int64_t rest = a % b;
    a = b, b = rest;
  }
  return channels / a;
}

/* Notes what the last period added; whether the next one adds the same: no channel runs empty that
 * did not before, and none comes to run empty. */
static bool note_period(Queue *q) {
  bool same = q->seen > 0;
  for (int64_t c = 0; c < q->field[TD_OFFCHIP_CHANNELS]; c++) {
    int64_t more = q->free[c] - q->was[c];
    same = same && more == q->growth[c] && (!more || more >= q->period);
    q->growth[c] = more;
    q->was[c] = q->free[c];
  }
  q->seen++;
  return same;
}

/* Arrivals at a channel repeat with the period. A channel that gets more than it serves is busy
 * from its first period without a gap on; one that gets less is empty at the same cycle of each. */
static int64_t queue_skip(void *state, TdOffchipSteady *s) {
  Queue *q = state;
  s->next = INT64_MAX;
  if (!q->field[TD_OFFCHIP_CHANNELS]) return 0;
  if (s->begins) {
    q->period = period_of(q, s->n);
    q->seen = -1;
  }
  if (s->left < 2 * q->period) return 0;
  s->next = s->now + q->period;
  if (!note_period(q)) return 0;
  int64_t most = s->left - q->period < s->most ? s->left - q->period : s->most;
  int64_t periods = most / q->period;
  if (periods < 1) return 0;
  for (int64_t c = 0; c < q->field[TD_OFFCHIP_CHANNELS]; c++) {
    q->free[c] += periods * q->growth[c];
    q->was[c] = q->free[c];
  }
  q->now += periods * q->period;
  s->next += periods * q->period;
  return periods * q->period;
}

#define HAS(NAME) ((uint64_t)1 << TD_OFFCHIP_##NAME)

static const TdOffchipModel slots = {
    .name = "slots",
    .help = "each port has turns of its own; other ports have no say",
    .has = HAS(REQUEST) | HAS(LATENCY) | HAS(INTERVAL),
    .initial = {[TD_OFFCHIP_REQUEST] = 64, [TD_OFFCHIP_INTERVAL] = 1},
    .open = slots_open,
    .request = slots_request,
    .burst = slots_burst};

static const TdOffchipModel queue = {.name = "queue",
                                     .help = "a queue for each channel, whatever the address",
                                     .has = HAS(CHANNELS) | HAS(REQUEST) | HAS(LATENCY) |
                                            HAS(INTERVAL) | HAS(STARTUP),
                                     .initial = {[TD_OFFCHIP_CHANNELS] = 32,
                                                 [TD_OFFCHIP_REQUEST] = 64,
                                                 [TD_OFFCHIP_LATENCY] = 2,
                                                 [TD_OFFCHIP_INTERVAL] = 2,
                                                 [TD_OFFCHIP_STARTUP] = 14},
                                     .open = queue_open,
                                     .request = queue_request,
                                     .burst = queue_burst,
                                     .skip = queue_skip};

const TdOffchipModel *const td_offchip_models[] = {&slots, &queue, &td_offchip_banks, NULL};

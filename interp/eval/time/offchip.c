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
} Queue;

static void *queue_open(TdArena *a, const TdOffchip *o) {
  Queue *q = TD_NEW(a, Queue);
  *q = (Queue){.field = o->field, .now = -1};
  q->free = TD_NEWN(a, int64_t, o->field[TD_OFFCHIP_CHANNELS] + 1);
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
                                     .burst = queue_burst};

const TdOffchipModel *const td_offchip_models[] = {&slots, &queue, &td_offchip_banks, NULL};

/* stp_memory.c - ports of the memory off the chip: tiles as requests, handed over cycle by cycle.
 *
 * In each cycle every port, in order of nodes, readers before writers, hands over at most
 * per_cycle requests; nothing keeps it from doing so. The memory (eval/time/offchip.h) says when
 * they are answered, at once or once time has gone on. */
#include "step/stp_machine.h"

enum { ALIGNED = 4096 }; /* tensors begin at multiples of so many bytes, one after another */

static bool writes(const TdStpNode *n) {
  return n->op == TD_STP_STORE || n->op == TD_STP_STORE_AT;
}

/* Readers first, then in order of machines. */
static bool is_before(const TdStpRun *r, uint32_t a, uint32_t b) {
  bool wx = writes(r->machine[a].n), wy = writes(r->machine[b].n);
  return wx != wy ? wy : a < b;
}

/* Where the tensor of a node begins, behind those asked for before it. */
static int64_t base_of(TdStpRun *r, const TdStpNode *n, int64_t bytes) {
  const void *key = n->tensor.data ? (const void *)n->tensor.data : n;
  uint64_t at;
  int64_t count = bytes, extent, request = r->o->memory.field[TD_OFFCHIP_REQUEST];
  if (td_map_get(&r->base, (uint64_t)(uintptr_t)key, &at)) return (int64_t)at;
  for (int d = 0; d < n->tensor.type->rank; d++)
    if (td_type_extent(n->tensor.type, d, &extent)) count *= extent;
  td_map_put(r->arena, &r->base, (uint64_t)(uintptr_t)key, (uint64_t)r->place);
  at = (uint64_t)r->place;
  int64_t row = n->cols * bytes, whole = (row + request - 1) / request * request;
  r->place += (count / row * whole + ALIGNED - 1) / ALIGNED * ALIGNED;
  return (int64_t)at;
}

/* Where the tile begins, and how far its rows are apart: a tensor lies tile by tile, in whole
 * requests for each row. */
static void place(TdStpRun *r, TdStpMachine *m, int64_t number, int64_t bytes) {
  m->pitch = m->each * r->o->memory.field[TD_OFFCHIP_REQUEST];
  m->from = base_of(r, m->n, bytes) + number * m->n->rows * m->pitch;
}

void td_stp_memory_open(TdStpRun *r, TdStpMachine *m) {
  m->window = (uint32_t)td_stp_opt(m->n, TD_STP_KEY_AHEAD, 1);
  m->flight = m->latest = TD_NEWN(r->arena, TdStpFlight, m->window);
}

/* Who asks for a tile: the machine, and the tile's place in its ring. */
static int64_t id_of(const TdStpRun *r, const TdStpMachine *m, const TdStpFlight *f) {
  return (int64_t)m->id + (f - m->flight) * (int64_t)r->nmachine;
}

/* Notes an answer; whether it was the last one of the tile. */
static bool note(TdStpFlight *f, int64_t cycle) {
  if (cycle > f->at) f->at = cycle;
  if (f->left || f->waits) return false;
  f->answered = f->at + 1;
  return true;
}

/* Hands over k requests in a cycle; how many asks these are is in f->waits until they are answered.
 */
static void hand_over(TdStpRun *r, TdStpMachine *m, int64_t k, int64_t now) {
  const TdOffchip *o = &r->o->memory;
  TdStpFlight *f = m->latest;
  while (k) {
    int64_t row = m->handed / m->each, i = m->handed % m->each;
    int64_t n = m->each - i < k ? m->each - i : k;
    TdOffchipAsk ask = {.id = id_of(r, m, f),
                        .port = m->id,
                        .cycle = now,
                        .address = m->from + row * m->pitch + i * o->field[TD_OFFCHIP_REQUEST],
                        .n = n,
                        .write = writes(m->n)};
    int64_t t = o->model->request(r->memory, &ask);
    m->handed += n;
    f->left -= n;
    k -= n;
    if (t < 0)
      f->waits++, r->pending++;
    else if (t > f->at)
      f->at = t;
  }
}

/* Whether the memory takes all requests of the tile at once, and the machine has its answer. */
static bool burst(TdStpRun *r, TdStpMachine *m) {
  TdStpFlight *f = m->latest;
  TdOffchipAsk ask = {.id = id_of(r, m, f),
                      .port = m->id,
                      .cycle = m->next,
                      .address = m->from,
                      .n = f->left,
                      .write = writes(m->n)};
  if (!r->o->memory.model->burst) return false;
  int64_t t = r->o->memory.model->burst(r->memory, &ask, m->per_cycle);
  if (t < 0) return false;
  m->next += (f->left - 1) / m->per_cycle + 1;
  f->left = 0;
  note(f, t);
  return true;
}

void td_stp_memory_ask(TdStpRun *r, TdStpMachine *m, TdStpFlight *f, int64_t bytes) {
  const TdOffchip *o = &r->o->memory;
  int64_t request = o->field[TD_OFFCHIP_REQUEST], rows = m->n->rows, cols = m->n->cols;
  m->each = (cols * bytes + request - 1) / request;
  f->left = rows * m->each;
  m->per_cycle = td_stp_opt(m->n, TD_STP_KEY_PORTS, 1);
  if (m->next < m->clock + 1) m->next = m->clock + 1;
  m->latest = f;
  f->answered = -1;
  m->handed = f->at = f->waits = 0;
  r->moved += f->left * request;
  r->traffic += rows * cols * bytes;
  if (!f->left) {
    f->answered = m->clock;
    td_stp_wake(r, m->id);
    return;
  }
  place(r, m, f->number, bytes);
  if (burst(r, m)) return;
  r->steady = -1;
  uint32_t i = r->nactive++;
  while (i && is_before(r, m->id, r->active[i - 1])) {
    r->active[i] = r->active[i - 1];
    i--;
  }
  r->active[i] = m->id;
}

/* The first cycle in which a port hands over, or INT64_MAX. */
static int64_t next_port(const TdStpRun *r) {
  int64_t least = INT64_MAX;
  for (uint32_t i = 0; i < r->nactive; i++)
    if (r->machine[r->active[i]].next < least) least = r->machine[r->active[i]].next;
  return least < r->now ? r->now : least;
}

int64_t td_stp_memory_next(const TdStpRun *r) {
  return r->pending ? r->now : next_port(r);
}

/* Hands over the requests of one cycle; how many machines may go on. */
static uint32_t serve_cycle(TdStpRun *r, int64_t now) {
  uint32_t done = 0, kept = 0;
  for (uint32_t i = 0; i < r->nactive; i++) {
    TdStpMachine *m = &r->machine[r->active[i]];
    TdStpFlight *f = m->latest;
    if (m->next <= now) {
      hand_over(r, m, f->left < m->per_cycle ? f->left : m->per_cycle, now);
      m->next = now + 1;
    }
    if (f->left) {
      r->active[kept++] = r->active[i];
    } else if (note(f, 0) || m->window > 1) {
      td_stp_wake(r, m->id);
      done++;
    }
  }
  if (kept < r->nactive) r->steady = -1;
  r->nactive = kept;
  return done;
}

/* Skips periods of the memory while the same ports hand over in every cycle, to `until` at most. */
static void skip_periods(TdStpRun *r, int64_t until) {
  TdOffchipSteady s = {.now = r->now, .left = INT64_MAX, .most = until - r->now};
  if (!r->o->memory.model->skip || !r->nactive || r->now < r->steady) return;
  for (uint32_t i = 0; i < r->nactive; i++) {
    const TdStpMachine *m = &r->machine[r->active[i]];
    if (m->next > r->now) return;
    int64_t cycles = m->latest->left / m->per_cycle;
    s.n += m->per_cycle;
    if (cycles < s.left) s.left = cycles;
  }
  s.begins = r->steady < 0;
  int64_t skipped = r->o->memory.model->skip(r->memory, &s);
  r->steady = s.next;
  r->now += skipped;
  for (uint32_t i = 0; skipped && i < r->nactive; i++) {
    TdStpMachine *m = &r->machine[r->active[i]];
    m->next += skipped;
    m->handed += skipped * m->per_cycle;
    m->latest->left -= skipped * m->per_cycle;
  }
}

/* Lets the memory go on until it answers, or to `until`; whether it did, and how many tiles are
 * complete. */
static bool go_on(TdStpRun *r, int64_t until, uint32_t *done) {
  const TdOffchipModel *model = r->o->memory.model;
  bool any = false;
  int64_t id, cycle, now = model->cycles(r->memory, until);
  while (model->answer(r->memory, &id, &cycle)) {
    TdStpMachine *m = &r->machine[id % r->nmachine];
    TdStpFlight *f = &m->flight[id / r->nmachine];
    f->waits--;
    r->pending--;
    any = true;
    if (!note(f, cycle)) continue;
    td_stp_wake(r, m->id);
    ++*done;
  }
  if (now == INT64_MAX && !any) {
    td_stp_fail(r, &r->machine[0], TD_ILLEGAL, "memory-answer",
                "the memory leaves %lld requests without an answer", (long long)r->pending);
    return true;
  }
  if (now > r->now) r->now = now;
  return any;
}

void td_stp_memory_serve(TdStpRun *r, int64_t until) {
  uint32_t done = 0;
  while (!done && !r->failed) {
    int64_t next = next_port(r), limit = next < until ? next : until;
    if (r->pending && go_on(r, limit, &done)) continue;
    if (next >= until) return;
    if (next > r->now) r->steady = -1;
    done = serve_cycle(r, next);
    r->now = next + 1;
    if (!done) skip_periods(r, until);
    r->ticks += r->nactive + 1;
    if (r->ticks > 1 << 16) {
      td_ctx_tick(r->ctx, r->ticks);
      r->ticks = 0;
    }
  }
}

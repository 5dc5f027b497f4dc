/* stp_memory.c - the off-chip memory as a queue for each channel.
 *
 * In each cycle every port, in order of nodes, readers before writers, hands over at most
 * per_cycle requests. Request i of a cycle goes to the channel i(i + 1) / 2 after the first, which
 * moves on by their number; addresses do not matter. All of a tile is handed over without waiting,
 * so its answer is known when its last requests are. */
#include "step/stp_machine.h"

/* Readers first, then in order of machines. */
static bool is_before(const TdStpRun *r, uint32_t a, uint32_t b) {
  TdStpOp x = r->machine[a].n->op, y = r->machine[b].n->op;
  bool wx = x == TD_STP_STORE || x == TD_STP_STORE_AT,
       wy = y == TD_STP_STORE || y == TD_STP_STORE_AT;
  return wx != wy ? wy : a < b;
}

void td_stp_memory_ask(TdStpRun *r, TdStpMachine *m, int64_t rows, int64_t cols, int64_t bytes) {
  int64_t each = (cols * bytes + r->o->memory.request - 1) / r->o->memory.request;
  m->left = rows * each;
  m->per_cycle = td_stp_opt(m->n, TD_STP_KEY_PORTS, 1);
  m->next = m->clock + 1;
  m->answered = -1;
  m->at = 0;
  r->moved += m->left * r->o->memory.request;
  r->traffic += rows * cols * bytes;
  if (!m->left) {
    m->answered = m->clock;
    td_stp_wake(r, m->id);
    return;
  }
  if (!r->o->memory.channels) {
    const TdStpMemory *o = &r->o->memory;
    m->answered =
        m->clock + (m->left + m->per_cycle - 1) / m->per_cycle + o->latency + o->startup + 2;
    return;
  }
  uint32_t i = r->nactive++;
  while (i && is_before(r, m->id, r->active[i - 1])) {
    r->active[i] = r->active[i - 1];
    i--;
  }
  r->active[i] = m->id;
}

int64_t td_stp_memory_next(const TdStpRun *r) {
  int64_t least = INT64_MAX;
  for (uint32_t i = 0; i < r->nactive; i++)
    if (r->machine[r->active[i]].next < least) least = r->machine[r->active[i]].next;
  return least < r->now && least != INT64_MAX ? r->now : least;
}

/* Hands over the requests of one cycle; how many ports are done with their tile. */
static uint32_t serve_cycle(TdStpRun *r, int64_t now) {
  const TdStpMemory *o = &r->o->memory;
  int64_t n = 0, at = r->offset;
  uint32_t done = 0;
  for (uint32_t i = 0; i < r->nactive; i++) {
    TdStpMachine *m = &r->machine[r->active[i]];
    if (m->next > now) continue;
    int64_t k = m->left < m->per_cycle ? m->left : m->per_cycle;
    for (int64_t j = 0; j < k; j++) {
      at += n++;
      if (at >= o->channels) at %= o->channels;
      int64_t t = r->channel_free[at] > now + 1 ? r->channel_free[at] : now + 1;
      r->channel_free[at] = t + o->interval;
      if (t > m->at) m->at = t;
    }
    m->left -= k;
    m->next = now + 1;
    done += !m->left;
  }
  r->offset = (at + n) % o->channels;
  return done;
}

/* Tells the machines whose tiles are complete when they go on. */
static void answer(TdStpRun *r) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < r->nactive; i++) {
    TdStpMachine *m = &r->machine[r->active[i]];
    if (m->left) {
      r->active[kept++] = r->active[i];
      continue;
    }
    m->answered = m->at + r->o->memory.startup + r->o->memory.latency + 1;
    td_stp_wake(r, m->id);
  }
  r->nactive = kept;
}

void td_stp_memory_serve(TdStpRun *r, int64_t until) {
  uint32_t done = 0;
  int64_t now = td_stp_memory_next(r);
  while (!done && now < until) {
    done = serve_cycle(r, now);
    r->now = now + 1;
    r->ticks += r->nactive;
    if (r->ticks > 1 << 16) {
      td_ctx_tick(r->ctx, r->ticks);
      r->ticks = 0;
    }
    if (!done) now = td_stp_memory_next(r);
  }
  if (done) answer(r);
}

/* stp_scratch.c - scratchpads: a port to read and one to write, `pmu` bytes a cycle each, which the
 * buffers of one place share. Accesses take turns in order of their cycles, then of machines; like
 * merges they are decided once nothing earlier can come. */
#include "step/stp_machine.h"

enum { READ, WRITE };

void td_stp_scratch_open(TdStpRun *r) {
  for (uint32_t i = 0; i < r->nmachine; i++) {
    TdStpMachine *m = &r->machine[i];
    const char *name = m->step == td_stp_exec_bufferize ? m->n->place : NULL;
    if (!name) continue;
    uint16_t k = 0;
    while (k < r->pad.n && r->pad.at[k].name != name) k++;
    if (k == r->pad.n) td_vec_push(r->arena, &r->pad, (TdStpPad){.name = name});
    m->pad = (uint16_t)(k + 1);
  }
}

/* Cycles of a port for a value. */
static int64_t cycles_of(TdStpRun *r, TdStpVal v) {
  return (td_stp_value_bytes(r, v) + r->o->pmu - 1) / r->o->pmu;
}

static void use(TdStpRun *r, TdStpMachine *m, int64_t *port, int64_t cycles) {
  for (size_t i = 0; i < m->use.n; i++)
    if (m->use.at[i].port == port) {
      m->use.at[i].cycles += cycles;
      return;
    }
  TdStpPadUse own = {.port = port, .cycles = cycles};
  td_vec_push(r->arena, &m->use, own);
}

/* Notes what reading v takes of scratchpads; cycles of the reader's own memory unit. */
static int64_t gather(TdStpRun *r, TdStpMachine *m, TdStpVal v) {
  const TdStpRecord *x = td_stp_value(r, v);
  int64_t own = 0;
  if (x->kind == TD_STP_TUPLE) {
    for (uint32_t i = 0; i < x->nitem; i++) own += gather(r, m, td_stp_value(r, v)->item[i].val);
    return own;
  }
  if (!x->mu) return 0;
  own = cycles_of(r, v);
  if (x->mu == TD_STP_MU_OWN) return own;
  use(r, m, &r->pad.at[x->mu - TD_STP_MU_PAD].free[READ], own);
  return 0;
}

/* Whether the turn of m's access has come, which it has until the element is taken; else it is
 * asked for. */
static bool take_turn(TdStpRun *r, TdStpMachine *m) {
  if (m->turn == TD_STP_TURN_HAS) return true;
  if (m->turn == TD_STP_TURN_NONE) td_vec_push(r->arena, &r->turn, m->id);
  m->turn = TD_STP_TURN_ASKS;
  m->why = TD_STP_BY_MEMORY;
  return false;
}

int64_t td_stp_scratch_read(TdStpRun *r, TdStpMachine *m, const TdStpVal *v, size_t n) {
  int64_t own = 0, most = 0;
  m->use.n = 0;
  for (size_t i = 0; i < n; i++) own += gather(r, m, v[i]);
  if (!m->use.n) return own;
  if (!take_turn(r, m)) return -1;
  for (size_t i = 0; i < m->use.n; i++)
    if (m->use.at[i].cycles > most) most = m->use.at[i].cycles;
  td_stp_until(m, m->granted - most, TD_STP_BY_MEMORY, UINT32_MAX);
  return own > most ? own : most;
}

bool td_stp_scratch_write(TdStpRun *r, TdStpMachine *m, TdStpVal *v) {
  if (!m->pad) return true;
  int64_t cycles = cycles_of(r, *v);
  m->use.n = 0;
  use(r, m, &r->pad.at[m->pad - 1].free[WRITE], cycles);
  if (!take_turn(r, m)) return false;
  td_stp_until(m, m->granted - cycles, TD_STP_BY_MEMORY, UINT32_MAX);
  if (td_stp_value(r, *v)->kind != TD_STP_TILE) return true;
  if (td_stp_value(r, *v)->refs > 1) {
    TdStpVal copy = td_stp_value_copy(r, *v);
    td_stp_value_drop(r, *v);
    *v = copy;
  }
  td_stp_value(r, *v)->mu = (uint16_t)(TD_STP_MU_PAD + m->pad - 1);
  return true;
}

/* The place in r->turn of the access that is next. */
static size_t first(const TdStpRun *r) {
  size_t k = 0;
  for (size_t i = 1; i < r->turn.n; i++) {
    const TdStpMachine *a = &r->machine[r->turn.at[i]], *b = &r->machine[r->turn.at[k]];
    if (a->clock < b->clock || (a->clock == b->clock && a->id < b->id)) k = i;
  }
  return k;
}

int64_t td_stp_scratch_next(const TdStpRun *r) {
  return r->turn.n ? r->machine[r->turn.at[first(r)]].clock : INT64_MAX;
}

void td_stp_scratch_serve(TdStpRun *r) {
  size_t k = first(r);
  TdStpMachine *m = &r->machine[r->turn.at[k]];
  r->turn.at[k] = r->turn.at[--r->turn.n];
  m->granted = m->clock;
  for (size_t i = 0; i < m->use.n; i++) {
    TdStpPadUse u = m->use.at[i];
    *u.port = (*u.port > m->clock ? *u.port : m->clock) + u.cycles;
    if (*u.port > m->granted) m->granted = *u.port;
  }
  m->turn = TD_STP_TURN_HAS;
  td_stp_wake(r, m->id);
}

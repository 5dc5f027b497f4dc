/* outer.c - tokens that the caller of a run moves. */
#include "eval/outer.h"

#include "eval/machine.h"

TdChannel *td_outer_stream(const TdMachine *m, size_t stream, int64_t ordinal) {
  const TdFrame *f = m->top ? m->top->frame : NULL;
  if (!f || stream >= f->plan->unit->nstream) return NULL;
  TdChannel *first = f->slot[f->plan->unit->nparam + stream].view->channel;
  return ordinal < td_channel_count(first) ? &first[ordinal] : NULL;
}

bool td_outer_has_room(const TdChannel *c, int64_t cycle) {
  return c->free.n && (!c->wire || td_wire_room(c->wire) <= cycle);
}

void td_outer_put(TdMachine *m, TdChannel *c, int64_t cycle, const TdValue *token) {
  uint32_t buffer = td_channel_take(&c->free);
  TdMemory *to = &c->buffer[buffer];
  for (int64_t i = 0; i < to->count; i++) to->cell[i] = token[i];
  td_channel_give(&c->full, buffer);
  c->put++;
  if (c->wire) td_wire_put(m->arena, c->wire, cycle);
  td_fault_tick(m, (uint64_t)to->count);
}

bool td_outer_has_token(const TdChannel *c, int64_t cycle) {
  return c->full.n && (!c->wire || td_wire_token(c->wire) <= cycle);
}

void td_outer_take(TdMachine *m, TdChannel *c, int64_t cycle, TdValue *token) {
  uint32_t buffer = td_channel_take(&c->full);
  const TdMemory *from = &c->buffer[buffer];
  for (int64_t i = 0; i < from->count; i++) token[i] = from->cell[i];
  td_channel_give(&c->free, buffer);
  c->got++;
  if (c->wire) td_wire_get(m->arena, c->wire, cycle);
  td_fault_tick(m, (uint64_t)from->count);
}

int64_t td_outer_elements(const TdChannel *c) {
  return c->buffer[0].count;
}

bool td_outer_is_wanted(const TdMachine *m, const TdChannel *c) {
  for (size_t i = 0; i < m->task.n; i++)
    if (m->task.at[i]->waits == TD_WAITS_GET && m->task.at[i]->channel == c) return true;
  return false;
}

/* channel.c - streams: buffers that travel between `free` and `full`; get, put and slot block. */
#include "eval/machine.h"

static TdQueue new_queue(TdArena *a, uint32_t cap) {
  return (TdQueue){.at = TD_NEWN(a, uint32_t, cap), .cap = cap};
}

uint32_t td_channel_take(TdQueue *q) {
  uint32_t x = q->at[q->first];
  q->first = (q->first + 1) % q->cap;
  q->n--;
  return x;
}

void td_channel_give(TdQueue *q, uint32_t buffer) {
  q->at[(q->first + q->n) % q->cap] = buffer;
  q->n++;
}

int64_t td_channel_count(const TdChannel *first) {
  int64_t n = 1;
  for (int d = 0; d < first->name.rank; d++) n *= first->name.extent[d];
  return n;
}

bool td_channel_array(TdMachine *m, TdSym sym, const TdType *port, int64_t depth, TdLoc loc,
                      TdView *out) {
  TdInputName name = {.name = sym->name, .rank = port->rank};
  int64_t count = 1, size = 1;
  *out = (TdView){.rank = port->rank};
  for (int d = port->rank - 1; d >= 0; d--) {
    td_type_extent(port, d, &name.extent[d]);
    out->extent[d] = name.extent[d];
    out->stride[d] = count;
    count *= name.extent[d];
  }
  if (!td_type_count(port->elem, &size) || depth < 1 || depth > INT32_MAX / (size + 1) ||
      !td_fault_room(m, count > INT32_MAX / depth / (size + 1) ? -1 : count * depth * size, loc))
    return td_fault_room(m, -1, loc);
  out->channel = TD_NEWN(m->arena, TdChannel, count);
  for (int64_t i = 0; i < count; i++) {
    TdChannel *c = &out->channel[i];
    *c = (TdChannel){.name = name, .ordinal = i, .token = port->elem};
    c->block = port->block;
    c->buffer = TD_NEWN(m->arena, TdMemory, depth);
    for (int64_t k = 0; k < depth; k++)
      c->buffer[k] = *td_memory_new(m->arena, port->elem, sym->name);
    c->free = new_queue(m->arena, (uint32_t)depth);
    c->full = new_queue(m->arena, (uint32_t)depth);
    td_channel_reset(c);
    td_vec_push(m->arena, &m->channel, c);
  }
  return true;
}

void td_channel_reset(TdChannel *c) {
  c->free.n = c->full.n = 0;
  if (c->wire) td_clock_empty(c->wire);
  c->end[0] = c->end[1] = NULL;
  for (uint32_t i = 0; i < c->free.cap; i++) td_channel_give(&c->free, i);
}

/* Notes at every level of designs who holds this end of a stream; each end has one holder. */
static bool hold_end(TdTask *t, const TdView *v, bool consumer, TdLoc loc) {
  for (const TdGuard *g = v->guard; g; g = g->up) {
    uint32_t *who = &g->shadow->at[v->base].who[consumer];
    if (!*who) *who = g->who;
    if (*who == g->who) continue;
    const TdTask *all = g->shadow->network->task;
    return td_fault_set(t, "stream-ends", loc, "both %s and %s %s %s",
                        td_fault_task_name(&all[*who - 1]), td_fault_task_name(&all[g->who - 1]),
                        consumer ? "get from" : "put to",
                        td_fault_channel_name(t->machine->arena, &v->channel[v->base]));
  }
  return true;
}

/* The stream that a statement uses, by its producing or consuming end; NULL: it failed. */
static TdChannel *stream_of(TdTask *t, const TdStmt *s, bool consumer) {
  TdView v;
  if (!td_scalar_view(t, s->expr[0], &v) || !hold_end(t, &v, consumer, s->loc)) return NULL;
  TdChannel *c = &v.channel[v.base];
  c->end[consumer] = t;
  return c;
}

static TdRan wait(TdTask *t, TdChannel *c, TdWaits what) {
  t->waits = what;
  t->channel = c;
  return TD_BLOCKED;
}

bool td_channel_is_ready(const TdTask *t) {
  if (t->waits == TD_WAITS_NOT) return true;
  return t->waits == TD_WAITS_GET ? t->channel->full.n > 0 : t->channel->free.n > 0;
}

/* Shows a buffer as what s declares, until the end of the scope. */
static void hold_buffer(TdTask *t, TdChannel *c, uint32_t buffer, const TdStmt *s, bool empty) {
  TdSlot *slot = td_scalar_slot(t, s->sym);
  TdView v = td_memory_view(&c->buffer[buffer]);
  td_frame_show(t->machine, slot, &v);
  td_vec_push(t->machine->arena, &t->held, ((TdHeld){c, slot, buffer, t->stack.n, empty}));
}

void td_channel_release(TdTask *t, size_t depth) {
  while (t->held.n && t->held.at[t->held.n - 1].depth > depth) {
    const TdHeld *h = &t->held.at[--t->held.n];
    if (t->clock) td_clock_free(t->clock, h->channel->wire);
    td_channel_give(&h->channel->free, h->buffer);
    h->slot->view = NULL;
  }
}

/* Copies a token, raw, into a place of the same shape. */
static bool copy_token(TdTask *t, const TdMemory *from, const TdView *to, const TdLoc *loc) {
  int64_t index[TD_MAX_RANK] = {0};
  if (!from->count) return true;
  for (int64_t i = 0; i < from->count; i++) {
    TdValue v = td_scalar_cast(t, to->memory->elem, from->elem, from->cell[i], *loc);
    if (t->machine->failed || !td_fault_tick(t->machine, 1)) return false;
    if (!td_memory_write(t, to, td_memory_offset(to, index), v, loc)) return false;
    td_memory_next(to, index);
  }
  return true;
}

/* Puts a token where statement s wants it. */
static bool deliver(TdTask *t, const TdMemory *token, const TdStmt *s) {
  if (s->nexpr > 1 && s->expr[1]->kind == TD_EXPR_VIEW) {
    TdView to;
    return td_scalar_view(t, s->expr[1], &to) && copy_token(t, token, &to, &s->loc);
  }
  if (s->nexpr > 1 && s->expr[1]->nkid) {
    const TdView *view;
    int64_t offset;
    TdValue v = td_scalar_cast(t, s->expr[1]->type, token->elem, token->cell[0], s->loc);
    return !t->machine->failed && td_scalar_place(t, s->expr[1], &view, &offset) &&
           td_memory_write(t, view, offset, v, &s->loc);
  }
  TdSlot *slot = td_scalar_slot(t, s->sym ? s->sym : s->expr[1]->sym);
  const TdType *type = s->sym ? s->type : s->expr[1]->type;
  if (type->kind != TD_T_TENSOR) {
    slot->value = td_scalar_cast(t, type, token->elem, token->cell[0], s->loc);
    return !t->machine->failed;
  }
  return td_frame_declare(t, s) && copy_token(t, token, slot->view, &s->loc);
}

TdRan td_channel_get(TdTask *t, const TdStmt *s) {
  TdMachine *m = t->machine;
  TdChannel *c = stream_of(t, s, true);
  if (!c) return TD_FAILED;
  if (c->outside) td_outside_refill(m, c);
  if (!c->full.n) return wait(t, c, TD_WAITS_GET);
  uint32_t buffer = td_channel_take(&c->full);
  c->got++;
  bool held = c->block && s->sym && c->buffer[buffer].name.rank;
  if (t->clock) td_clock_get(t->clock, c->wire, held, s);
  if (held) {
    hold_buffer(t, c, buffer, s, false);
    return TD_RAN;
  }
  bool ok = deliver(t, &c->buffer[buffer], s);
  td_channel_give(&c->free, buffer);
  return ok ? TD_RAN : TD_FAILED;
}

TdRan td_channel_slot(TdTask *t, const TdStmt *s) {
  TdChannel *c = stream_of(t, s, false);
  if (!c) return TD_FAILED;
  if (!c->free.n) return wait(t, c, TD_WAITS_SLOT);
  uint32_t buffer = td_channel_take(&c->free);
  if (t->clock) td_clock_slot(t->clock, c->wire, s);
  td_memory_clear(&c->buffer[buffer]);
  hold_buffer(t, c, buffer, s, true);
  return TD_RAN;
}

/* Forgets the slot of c that `value` is all of and gives its buffer; false if it is none. */
static bool hand_over(TdTask *t, const TdChannel *c, const TdExpr *value, uint32_t *buffer) {
  if (value->kind != TD_EXPR_VIEW) return false;
  for (size_t i = 0; i < t->held.n; i++) {
    const TdHeld *h = &t->held.at[i];
    if (h->channel != c || !h->empty || h->slot != td_scalar_slot(t, value->sym)) continue;
    TdView part;
    if (!td_scalar_view(t, value, &part) || !td_memory_same_box(&part, h->slot->view)) return false;
    *buffer = h->buffer;
    h->slot->view = NULL;
    for (t->held.n--; i < t->held.n; i++) t->held.at[i] = t->held.at[i + 1];
    return true;
  }
  return false;
}

/* Computes a token into a free buffer. */
static bool fill(TdTask *t, TdMemory *token, const TdStmt *s) {
  const TdExpr *value = s->expr[1];
  TdView all = td_memory_view(token);
  if (token->name.rank) return td_bulk_set(t, &all, value, &s->loc);
  TdValue v = td_scalar_eval(t, value);
  token->cell[0] = td_scalar_cast(t, token->elem, value->type, v, s->loc);
  return !t->machine->failed;
}

/* The hash of a stream after one more token. */
static uint64_t log_token(uint64_t h, const TdMemory *token) {
  for (int64_t i = 0; i < token->count; i++) {
    TdValue v = token->cell[i];
    h = td_map_mix(h, v.lo);
    if (td_value_is_symbolic(v)) h = td_map_mix(h, v.hi);
  }
  return h;
}

TdRan td_channel_put(TdTask *t, const TdStmt *s) {
  TdMachine *m = t->machine;
  TdChannel *c = stream_of(t, s, false);
  uint32_t buffer;
  if (!c) return TD_FAILED;
  bool slot = hand_over(t, c, s->expr[1], &buffer);
  if (!slot) {
    if (m->failed) return TD_FAILED;
    if (!c->free.n) return wait(t, c, TD_WAITS_PUT);
    buffer = td_channel_take(&c->free);
    if (!fill(t, &c->buffer[buffer], s)) return TD_FAILED;
  }
  td_channel_give(&c->full, buffer);
  c->put++;
  if (t->clock) td_clock_put(t->clock, c->wire, slot, s);
  if (t->clock) td_timed_token(m, c, &c->buffer[buffer]);
  if (m->options->log) c->hash = log_token(c->hash, &c->buffer[buffer]);
  if (c->outside) td_outside_drain(m, c);
  return TD_RAN;
}

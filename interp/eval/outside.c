/* outside.c - ports of the root: tokens from a list, or symbolic without end; what is put is kept.
 */
#include "eval/machine.h"

typedef struct TdOutside {
  unsigned param;
  int64_t streams;    /* in the array */
  const TdTensor *in; /* NULL: nothing, or symbolic tokens */
  bool symbolic;
  int64_t got;
  TD_VEC(TdValue) put;
} TdOutside;

void td_outside_open(TdMachine *m, const TdView *array, unsigned param, TdEvalPort *port) {
  int64_t n = td_channel_count(array->channel);
  for (int64_t i = 0; i < n; i++) {
    TdOutside *o = TD_NEW(m->arena, TdOutside);
    *o = (TdOutside){.param = param, .streams = n, .in = port ? port[i].in : NULL};
    o->symbolic = !port;
    array->channel[i].outside = o;
  }
}

/* Copies the next token of the list into a buffer; false at its end. */
static bool next_of_list(const TdOutside *o, TdMemory *token) {
  if (!o->in || o->got >= o->in->extent[0]) return false;
  int64_t index[TD_MAX_RANK] = {o->got};
  for (int64_t i = 0; i < token->count; i++) {
    token->cell[i] = td_value_of(td_tensor_get(o->in, index));
    td_tensor_next(o->in, index);
  }
  return true;
}

void td_outside_refill(TdMachine *m, TdChannel *c) {
  TdOutside *o = c->outside;
  if (c->full.n || !c->free.n) return;
  uint32_t buffer = c->free.at[c->free.first];
  TdMemory *token = &c->buffer[buffer];
  if (!o->symbolic && !next_of_list(o, token)) return;
  int64_t first = (o->got * o->streams + c->ordinal) * token->count;
  for (int64_t i = 0; o->symbolic && i < token->count; i++)
    token->cell[i] = m->domain->input(m->domain_self, o->param, first + i, token->elem);
  td_channel_give(&c->full, td_channel_take(&c->free));
  o->got++;
}

void td_outside_drain(TdMachine *m, TdChannel *c) {
  TdOutside *o = c->outside;
  while (c->full.n) {
    uint32_t buffer = td_channel_take(&c->full);
    const TdMemory *token = &c->buffer[buffer];
    for (int64_t i = 0; i < token->count; i++) td_vec_push(m->arena, &o->put, token->cell[i]);
    td_channel_give(&c->free, buffer);
  }
}

const TdValue *td_outside_put(const TdChannel *c, int64_t *elements) {
  *elements = (int64_t)c->outside->put.n;
  return c->outside->put.at;
}

int64_t td_outside_got(const TdChannel *c) {
  return c->outside->got;
}

void td_outside_save(TdMachine *m, const TdChannel *c, TdEvalPort *port) {
  const TdOutside *o = c->outside;
  const TdMemory *token = &c->buffer[0];
  port->consumed = o->got;
  port->out = NULL;
  if (!c->put) return;
  int64_t extent[TD_MAX_RANK] = {(int64_t)c->put};
  for (int d = 0; d < token->name.rank; d++) extent[d + 1] = token->name.extent[d];
  const TdType *type = td_type_tensor_of(m->session, token->elem, token->name.rank + 1, extent);
  port->out = td_tensor_new(m->arena, type, false);
  int64_t index[TD_MAX_RANK] = {0};
  for (size_t i = 0; i < o->put.n; i++) {
    td_tensor_put(port->out, index, o->put.at[i].lo);
    td_tensor_next(port->out, index);
  }
}

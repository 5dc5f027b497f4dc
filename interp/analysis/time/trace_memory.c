/* trace_memory.c - arrays and streams in a trace: what is read once, what is written at last. */
#include "analysis/time/trace.h"

#include <string.h>

/* Banks of dimension d as an attribute of the array says. */
static void take_partition(TdPlaced *p, const TdAttr *x) {
  int64_t d = x->arg[0].i;
  if (d < 0 || d >= p->rank) return;
  bool block = strcmp(x->arg[1].s, "block") == 0;
  bool complete = strcmp(x->arg[1].s, "complete") == 0 || x->arg[2].i >= p->extent[d];
  p->part[d] = complete ? TD_PART_COMPLETE : block ? TD_PART_BLOCK : TD_PART_CYCLIC;
  p->banks[d] = complete ? p->extent[d] : x->arg[2].i;
}

/* How fast attributes say that an array's memory is. */
static void take_speed(TdPlaced *p, TdAttrs l) {
  const TdAttr *x;
  if ((x = td_attrs_get(l, TD_ATTR_LATENCY))) p->read = (int32_t)x->arg[0].i;
  if (!(x = td_attrs_get(l, TD_ATTR_BANDWIDTH)) || x->arg[0].i <= 0) return;
  p->bytes = x->arg[0].i;
  if (x->arg[TD_TRACE_TURNS].i) p->users = x->arg[TD_TRACE_TURNS].i;
}

/* What an array's attributes say about its memory. */
static void take_attrs(TdPlaced *p, TdAttrs l) {
  const TdAttr *storage = td_attrs_get(l, TD_ATTR_STORAGE), *x;
  for (size_t i = 0; i < l.n; i++)
    if (l.at[i].kind == TD_ATTR_PARTITION) take_partition(p, &l.at[i]);
  if ((x = td_attrs_get(l, TD_ATTR_PORTS)) && p->ports) p->ports = x->arg[0].i;
  take_speed(p, l);
  bool whole = true;
  for (int d = 0; d < p->rank; d++) whole &= p->part[d] == TD_PART_COMPLETE;
  p->registers = p->kind == TD_CELL_MEMORY &&
                 (whole || (storage && strcmp(storage->arg[0].s, "register") == 0));
}

/* The elements of a token of this type. */
static int64_t token_elements(const TdTrace *t, const TdType *type) {
  int64_t n = 1, extent = 0;
  for (int d = 0; type->kind == TD_T_TENSOR && d < type->rank; d++)
    if (td_unit_value(t->unit, type->dim[d], &extent)) n *= extent;
  return n;
}

/* An array of type t in the unit at hand, or one end of a stream of that type. */
static TdPlaced *new_placed(TdTrace *t, TdSym sym, TdCellKind kind, const TdType *type,
                            TdAttrs attrs) {
  TdPlaced *p = TD_NEW(t->arena, TdPlaced);
  bool memory = kind == TD_CELL_MEMORY, tensor = type->kind == TD_T_TENSOR;
  *p = (TdPlaced){.sym = sym, .kind = kind, .read = t->target->read, .users = 1};
  p->number = (uint32_t)t->placed.n;
  p->rank = tensor || type->kind == TD_T_PORT ? type->rank : 0;
  p->ports = memory ? t->target->ports : 1;
  p->element = td_type_scalar(type->kind == TD_T_PORT || tensor ? type->elem : type);
  p->width = td_type_scalar(tensor ? type->elem : type)->w;
  p->tokens = kind == TD_CELL_MEMORY ? 1 : token_elements(t, type->elem ? type->elem : type);
  for (int d = 0; d < p->rank; d++) {
    if (!td_unit_value(t->unit, type->dim[d], &p->extent[d])) p->extent[d] = 1;
    p->part[d] = memory ? TD_PART_NONE : TD_PART_COMPLETE;
    p->banks[d] = memory ? 1 : p->extent[d];
  }
  take_attrs(p, attrs);
  td_vec_push(t->arena, &t->placed, p);
  return p;
}

/* A binding to all of p. */
static TdTraceBound *bind_whole(TdTrace *t, TdPlaced *p) {
  TdTraceBound *b = TD_NEW(t->arena, TdTraceBound);
  TdAff *lo = TD_NEWN(t->arena, TdAff, TD_MAX_RANK);
  TdViewDim *dim = TD_NEWN(t->arena, TdViewDim, TD_MAX_RANK);
  for (int d = 0; d < p->rank; d++) dim[d] = (TdViewDim){1, d};
  *b = (TdTraceBound){.array = p, .rank = p->rank, .lo = lo, .dim = dim};
  return b;
}

/* Looks for the statement that declares a symbol. */
typedef struct Declared {
  TdSym sym;
  const TdStmt *stmt;
} Declared;
static bool is_other(void *ud, const TdStmt *s) {
  Declared *d = ud;
  bool declares = s->kind == TD_STMT_LOCAL || s->kind == TD_STMT_GET || s->kind == TD_STMT_SLOT;
  if (declares && s->sym == d->sym) d->stmt = s;
  return !d->stmt;
}

int64_t td_trace_users(const TdUnit *d, TdSym arg) {
  int64_t all = 0, extent;
  for (size_t r = 0; r < d->nrun; r++) {
    int64_t n = 1;
    for (int k = 0; k < d->run[r].rank; k++)
      if (td_unit_value(d, d->run[r].map[k], &extent)) n *= extent;
    for (size_t k = 0; k < d->run[r].nbind; k++)
      if (d->run[r].bind[k].arg == arg) all += n;
  }
  return all;
}

/* A parameter of a task is as fast as the argument of a design that it is bound to, which it
 * shares. */
static void take_argument(const TdTrace *t, TdPlaced *p) {
  for (size_t i = 0; i < t->ask->prog->nunit; i++) {
    const TdUnit *d = t->ask->prog->unit[i];
    for (size_t r = 0; r < d->nrun; r++)
      for (size_t k = 0; d->run[r].unit == t->unit->sym && k < d->run[r].nbind; k++) {
        const TdRunArg *b = &d->run[r].bind[k];
        if (b->param != p->sym) continue;
        take_speed(p, td_unit_param(d, b->arg)->attrs);
        p->users = td_trace_users(d, b->arg);
      }
  }
}

/* Something that is declared outside of the trace: a parameter, a local, a stream of a design. */
static TdPlaced *outside(TdTrace *t, TdSym sym, TdCellKind kind) {
  const TdParam *param = td_unit_param(t->unit, sym);
  if (param) {
    TdPlaced *p = new_placed(t, sym, kind, param->type, param->attrs);
    if (kind == TD_CELL_MEMORY) take_argument(t, p);
    return p;
  }
  for (size_t i = 0; i < t->ask->prog->nunit; i++) {
    const TdStream *s = td_unit_stream(t->ask->prog->unit[i], sym);
    if (s) return new_placed(t, sym, kind, s->type, s->attrs);
  }
  Declared d = {.sym = sym};
  if (t->unit->body) td_walk_stmt(t->session->ctx, t->unit->body, is_other, &d);
  const TdType *none = td_type_bool(t->session);
  TdPlaced *p =
      new_placed(t, sym, kind, d.stmt ? d.stmt->type : none, d.stmt ? d.stmt->attrs : (TdAttrs){0});
  p->decl = d.stmt;
  return p;
}

/* The key of a symbol, for each end of a stream another one. */
static uint64_t key_of(TdSym sym, TdCellKind kind) {
  return td_map_mix((uint64_t)(uintptr_t)sym, kind == TD_CELL_GET);
}

TdTraceBound *td_trace_array(TdTrace *t, TdSym sym, TdCellKind kind) {
  uint64_t at;
  if (td_map_get(&t->bound, key_of(sym, kind), &at)) return (TdTraceBound *)(uintptr_t)at;
  TdTraceBound *b = bind_whole(t, outside(t, sym, kind));
  td_trace_bind(t, sym, kind, b);
  return b;
}

void td_trace_bind(TdTrace *t, TdSym sym, TdCellKind kind, TdTraceBound *b) {
  td_map_put(t->arena, &t->bound, key_of(sym, kind), (uint64_t)(uintptr_t)b);
}

TdTraceBound *td_trace_declare(TdTrace *t, TdSym sym, const TdType *type, const TdStmt *decl) {
  TdPlaced *p = new_placed(t, sym, TD_CELL_MEMORY, type, decl->attrs);
  p->fresh = true;
  p->decl = decl;
  TdTraceBound *b = bind_whole(t, p);
  td_trace_bind(t, sym, TD_CELL_MEMORY, b);
  return b;
}

void td_trace_address(TdTrace *t, const TdTraceBound *b, const TdTraceValue *x, TdAff *at) {
  for (int d = 0; d < b->rank; d++) {
    at[d] = b->lo[d];
    if (b->dim[d].out >= 0)
      at[d] = td_sys_plus(t->arena, at[d], b->dim[d].step, td_trace_form(t, x[b->dim[d].out]));
  }
}

/* The part of a form that changes. */
static TdAff moving(TdAff f) {
  f.c = 0;
  return f;
}

static uint64_t hash_forms(const TdPlaced *p, const TdAff *at, bool with_constants) {
  uint64_t h = td_map_mix(p->number, with_constants);
  for (int d = 0; d < p->rank; d++) {
    TdAff f = with_constants ? at[d] : moving(at[d]);
    h = td_map_mix(h, td_trace_hash((TdTraceValue){.affine = true, .form = f}));
  }
  return h;
}

/* The number of the spot at these forms. */
static uint32_t spot_at(TdTrace *t, TdPlaced *p, const TdAff *at) {
  uint64_t key = hash_forms(p, at, true), line_key = hash_forms(p, at, false), n, line;
  if (td_map_get(&t->spots, key, &n)) return (uint32_t)n;
  n = p->spot.n;
  if (!td_map_get(&t->spots, line_key, &line)) {
    line = p->line.n;
    td_vec_push(t->arena, &p->line, (uint32_t)n);
    td_map_put(t->arena, &t->spots, line_key, line);
  }
  TdSpot s = {.at = td_arena_copy(t->arena, at, (size_t)p->rank * sizeof *at),
              .line = (uint32_t)line};
  td_vec_push(t->arena, &p->spot, s);
  td_map_put(t->arena, &t->spots, key, n);
  return (uint32_t)n;
}

/* Whether no column of f changes from iteration to iteration. */
static bool is_still(const TdTrace *t, TdAff f) {
  for (uint32_t i = 0; i < f.n; i++)
    if (t->column.at[-1 - f.m[i].col].kind != TD_COLUMN_STILL) return false;
  return true;
}

bool td_trace_is_apart(const TdTrace *t, const TdPlaced *p, const TdSpot *x, const TdSpot *y,
                       bool always) {
  for (int d = 0; d < p->rank; d++) {
    TdAff f = moving(x->at[d]), g = moving(y->at[d]);
    if (x->at[d].c != y->at[d].c && td_access_same_form(f, g) && (!always || is_still(t, f)))
      return true;
  }
  return false;
}

/* What an access at these forms waits for: what computes its indices, and the condition. */
static size_t address_sources(const TdTrace *t, const TdPlaced *p, const TdAff *at, uint32_t *out) {
  size_t n = 0;
  out[n++] = t->guard;
  for (int d = 0; d < p->rank; d++)
    out[n++] = td_trace_source(t, (TdTraceValue){.affine = true, .form = at[d]});
  return n;
}

enum { SOURCES = TD_MAX_RANK + 4 };

static void add_reach(TdTrace *t, TdReach r) {
  TdTraceCell cell = {.what = TD_TRACE_ACCESS, .reach = (uint32_t)t->reach.n};
  cell.type = r.array->element;
  cell.bits = r.array->width;
  r.guard = t->guard;
  td_trace_note(t, r.node, cell);
  td_vec_push(t->arena, &t->reach, r);
}

/* Calls for each stored spot of another line that may be spot `at`. */
static void meet_stores(TdTrace *t, TdPlaced *p, uint32_t at, uint32_t node) {
  for (size_t i = 0; p->line.n > 1 && i < p->spot.n; i++) {
    TdSpot *s = &p->spot.at[i];
    if (!s->store || s->line == p->spot.at[at].line ||
        td_trace_is_apart(t, p, s, &p->spot.at[at], false))
      continue;
    s->kept = true;
    td_flow_after(&t->flow, node, t->reach.at[s->store - 1].node);
  }
}

/* A node that reads element `at` from the memory. */
static TdTraceValue read_memory(TdTrace *t, TdPlaced *p, uint32_t at) {
  uint32_t after[SOURCES];
  const TdSpot *s = &p->spot.at[at];
  size_t n = address_sources(t, p, s->at, after);
  TdFlowNode x = {.stages = p->registers ? 0 : p->read,
                  .delay = p->registers ? 0 : t->target->read_delay,
                  .edge = true,
                  .width = (uint32_t)p->width};
  after[n++] = p->filler;
  if (s->store) after[n++] = t->reach.at[s->store - 1].node;
  uint32_t node = td_flow_add(&t->flow, x, after, n);
  meet_stores(t, p, at, node);
  add_reach(t, (TdReach){.array = p, .spot = at, .node = node, .beats = 1, .stmt = t->stmt});
  return td_trace_node(node);
}

/* Whether the array still holds what it was filled with at spot s. */
static bool is_filled(const TdTrace *t, const TdPlaced *p, const TdSpot *s) {
  if (!p->filled || s->store) return false;
  for (size_t i = 0; p->line.n > 1 && i < p->spot.n; i++)
    if (p->spot.at[i].store && p->spot.at[i].line != s->line &&
        !td_trace_is_apart(t, p, s, &p->spot.at[i], false))
      return false;
  return true;
}

TdTraceValue td_trace_element(TdTrace *t, const TdPlaced *p, TdTraceValue v, const TdAff *at) {
  uint32_t after[SOURCES];
  size_t n = address_sources(t, p, at, after);
  after[n++] = td_trace_source(t, v);
  TdTraceCell cell = {.what = TD_TRACE_ELEMENT, .n = 1, .type = p->element, .bits = p->width};
  cell.x[0] = v;
  cell.array = p;
  cell.at = at;
  uint32_t node = td_flow_add(&t->flow, (TdFlowNode){.width = (uint32_t)p->width}, after, n);
  td_trace_note(t, node, cell);
  return td_trace_node(node);
}

TdTraceValue td_trace_load(TdTrace *t, TdPlaced *p, const TdAff *at) {
  uint32_t n = spot_at(t, p, at);
  TdSpot *s = &p->spot.at[n];
  if (s->known) return s->now;
  bool filled = is_filled(t, p, s);
  TdTraceValue v = !filled    ? read_memory(t, p, n)
                   : p->token ? td_trace_element(t, p, p->fill, s->at)
                              : p->fill;
  s = &p->spot.at[n];
  s->known = true;
  s->now = v;
  return v;
}

/* Spots of other lines that may be spot n are no longer known. */
static void forget_others(TdTrace *t, TdPlaced *p, uint32_t n) {
  for (size_t i = 0; p->line.n > 1 && i < p->spot.n; i++)
    if (p->spot.at[i].line != p->spot.at[n].line &&
        !td_trace_is_apart(t, p, &p->spot.at[i], &p->spot.at[n], false))
      p->spot.at[i].known = false;
}

static void hide(TdReach *r) {
  r->dead = r->hidden = true;
}

/* A store in place of store `of` happens where either would. */
static void join_guards(TdTrace *t, uint32_t of) {
  TdReach *last = &t->reach.at[t->reach.n - 1];
  const TdReach *was = &t->reach.at[of];
  if (!was->hidden || !last->guard) return;
  uint32_t both = was->guard ? td_trace_condition(t, TD_TRACE_EITHER, was->guard, last->guard) : 0;
  last->guard = both;
}

void td_trace_store(TdTrace *t, TdPlaced *p, const TdAff *at, TdTraceValue v, const TdType *type) {
  uint32_t n = spot_at(t, p, at);
  bool filled = p->fresh && is_filled(t, p, &p->spot.at[n]);
  if (t->guard && (p->registers || filled)) td_trace_load(t, p, at);
  TdSpot *s = &p->spot.at[n];
  bool whole = !t->guard || s->known;
  if (t->guard && s->known) v = td_trace_mux(t, t->guard, v, s->now, type);
  s = &p->spot.at[n];
  if (whole && s->store && !s->kept) hide(&t->reach.at[s->store - 1]);
  uint32_t after[SOURCES];
  size_t k = address_sources(t, p, at, after);
  after[k++] = td_trace_source(t, v);
  after[k++] = p->filler;
  TdFlowNode x = {.delay = p->registers ? 0 : t->target->write_delay};
  uint32_t node = td_flow_add(&t->flow, x, after, k);
  add_reach(t, (TdReach){.array = p,
                         .spot = n,
                         .node = node,
                         .write = true,
                         .beats = 1,
                         .stmt = t->stmt,
                         .value = v});
  if (whole && s->store) join_guards(t, s->store - 1);
  s->store = (uint32_t)t->reach.n;
  s->kept = !whole;
  s->known = whole;
  s->now = v;
  p->written = true;
  forget_others(t, p, n);
}

TdTraceValue td_trace_token(TdTrace *t, TdPlaced *p, TdTokenKind kind, const TdAff *at,
                            int64_t beats, TdTraceValue value) {
  uint32_t after[SOURCES], n = spot_at(t, p, at);
  size_t k = address_sources(t, p, at, after);
  bool put = kind == TD_TOKEN_PUT;
  after[k++] = td_trace_source(t, value);
  uint32_t firing = td_trace_firing(t, !put, after, k);
  TdFlowNode x = {.stages = (int32_t)(beats - 1),
                  .delay = t->target->fifo_delay,
                  .fixed = true,
                  .firing = put ? 0 : firing + 1,
                  .width = (uint32_t)p->width};
  TdReach r = {.array = p,
               .spot = n,
               .node = td_flow_add(&t->flow, x, after, k),
               .write = put,
               .slot = kind == TD_TOKEN_SLOT,
               .beats = beats,
               .stmt = t->stmt,
               .value = value,
               .arm = t->arm};
  add_reach(t, r);
  td_trace_join(t, firing);
  return td_trace_node(r.node);
}

void td_trace_fill(TdTrace *t, TdPlaced *p, TdTraceValue v, bool token) {
  int64_t each = 1;
  p->filled = true;
  p->token = token;
  p->fill = v;
  p->partial = token && t->guard && !p->fresh;
  p->written = true;
  if (p->registers) return;
  for (int d = 0; !p->handed && d < p->rank; d++)
    each *= (p->extent[d] + p->banks[d] - 1) / p->banks[d];
  uint32_t after[] = {t->guard, td_trace_source(t, v)};
  uint32_t node = td_flow_add(&t->flow, (TdFlowNode){.delay = t->target->write_delay}, after, 2);
  p->filler = node;
  add_reach(t, (TdReach){.array = p,
                         .spot = TD_TRACE_ALL,
                         .node = node,
                         .write = true,
                         .token = token,
                         .beats = each,
                         .stmt = t->stmt,
                         .value = v});
}

bool td_trace_drain(TdTrace *t, TdPlaced *p, const TdExpr *view, TdTraceValue *v) {
  int64_t beats = 1, banks = 1, n;
  bool whole = view->type->rank == p->rank;
  if (p->spot.n || p->registers || t->guard || p->rank == 0 || p->partial) return false;
  for (int d = 0; d < view->type->rank; d++) {
    if (!td_unit_value(t->unit, view->type->dim[d], &n)) return false;
    whole = whole && n == p->extent[d];
    beats *= n;
  }
  for (int d = 0; d < p->rank; d++) banks *= p->banks[d];
  if (!whole && banks > 1) return false;
  if (p->filled) {
    *v = p->fill;
    return true;
  }
  for (int d = 0; whole && d < p->rank; d++)
    beats = (d ? beats : 1) * ((p->extent[d] + p->banks[d] - 1) / p->banks[d]);
  TdFlowNode x = {
      .stages = p->read, .delay = t->target->read_delay, .edge = true, .width = (uint32_t)p->width};
  uint32_t node = td_flow_add(&t->flow, x, NULL, 0);
  add_reach(
      t,
      (TdReach){.array = p, .spot = TD_TRACE_ALL, .node = node, .beats = beats, .stmt = t->stmt});
  *v = td_trace_node(node);
  return true;
}

void td_trace_take(TdPlaced *p, uint32_t node) {
  p->buffer = true;
  p->filler = node;
}

void td_trace_hand(TdTrace *t, TdSym buffer) {
  for (size_t i = 0; i < t->reach.n; i++) {
    const TdReach *r = &t->reach.at[i];
    if (r->write && r->array->kind == TD_CELL_MEMORY && r->array->sym == buffer)
      td_flow_after(&t->flow, (uint32_t)t->flow.node.n - 1, r->node);
  }
}

void td_trace_compose(TdTrace *t, TdTraceValue *x, size_t n) {
  t->reach.at[t->reach.n - 1].element.at = x;
  t->reach.at[t->reach.n - 1].element.n = n;
  for (size_t i = 0; i < n; i++) {
    uint32_t source = td_trace_source(t, x[i]);
    if (source) td_flow_after(&t->flow, (uint32_t)t->flow.node.n - 1, source);
  }
}

void td_trace_forget(TdPlaced *p, TdTraceValue v) {
  for (size_t i = 0; i < p->spot.n; i++) {
    p->spot.at[i].known = false;
    p->spot.at[i].store = 0;
  }
  p->filled = p->written = true;
  p->fill = v;
}

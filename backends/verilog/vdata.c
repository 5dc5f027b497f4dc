/* vdata.c - the datapath of a leaf: each node of its trace a wire in the cycle of the schedule, and
 * registers that carry it to the cycles in which it is used: x, x_1 a cycle later, x_2. */
#include "backends/verilog/vunit.h"

#include <inttypes.h>

static TdVlNum none(TdVkUnit *k, TdLoc loc, const char *what) {
  td_vunit_refuse(k, "not-built", loc, "build it for the CPU or HLS",
                  "Verilog of %s is not built yet", what);
  return (TdVlNum){0};
}

/* The cycle in which a time falls, as an edge or as the end of a cycle. */
static int64_t begins(const TdVkLeaf *l, uint32_t node) {
  return td_flow_cycle(&l->t->flow, l->t->flow.node.at[node].start);
}

/* The last cycle in which a write may see its value and still be over at the node's end. */
static int64_t write_cycle(const TdVkLeaf *l, uint32_t node) {
  int64_t end = l->t->flow.node.at[node].end, p = l->t->flow.period, c = (end + p - 1) / p - 1;
  return c < 0 ? 0 : c;
}

static void put_key(TdVkUnit *k, TdMap *map, uint64_t key, const void *v) {
  td_map_put(k->arena, map, key, (uint64_t)(uintptr_t)v);
}

static const void *get_key(const TdMap *map, uint64_t key) {
  uint64_t v;
  return td_map_get(map, key, &v) ? (const void *)(uintptr_t)v : NULL;
}

/* The front of leaf l is not held up. */
static const TdVl *goes(TdVkUnit *k, const TdVkLeaf *l) {
  return td_vtree_not(k->m, td_vtree_sig(k->m, l->stall));
}

const TdVl *td_vdata_delay(TdVkUnit *k, TdVkLeaf *l, const char *name, const TdVl *x, int64_t from,
                           int64_t to, uint64_t key) {
  if (x->kind == TD_VL_CONST) return x;
  if (l->main && from < l->root) {
    int64_t last = to < l->root ? to : l->root;
    x = td_vdata_delay(k, l->main, name, x, from, last, key);
    from = last;
  }
  for (int64_t c = from + 1; c <= to; c++) {
    uint64_t at = td_map_mix(td_map_mix(key, (uint64_t)c), 77);
    TdVlSig *s = (TdVlSig *)(uintptr_t)get_key(&l->value, at);
    if (!s) {
      s = td_vtree_reg(k->m, td_text_fmt(k->arena, "%s_%" PRId64, name, c - from), x->width);
      if (!l->wait) l->wait = td_vtree_block(k->m);
      TdVlDo *set = td_vtree_set(k->m, s, x);
      bool held = l->stall && c <= l->front;
      td_vtree_add(k->m, l->wait, held ? td_vtree_if(k->m, goes(k, l), set, NULL) : set);
      put_key(k, &l->value, at, s);
    }
    x = td_vtree_sig(k->m, s);
  }
  return x;
}

static const TdVl *state_on(TdVkUnit *k, const TdVkLeaf *l) {
  const TdVl *here = td_vtree_label(k->m, k->at_width, l->state + 1, k->state.at[l->state].label);
  return td_vtree_binary(k->m, "==", 1, td_vtree_sig(k->m, k->at), here);
}

const TdVl *td_vdata_there(TdVkUnit *k, TdVkLeaf *l, int64_t c) {
  TdVlModule *m = k->m;
  if (l->main && c < l->root) return td_vdata_there(k, l->main, c);
  if (l->main) c -= l->root;
  if (!l->pipe) {
    const TdVl *on = state_on(k, l);
    if (k->state.at[l->state].length <= 1) return on;
    const TdVl *tick = td_vtree_const(m, k->tick_width, (uint64_t)c);
    return td_vtree_and(m, on, td_vtree_binary(m, "==", 1, td_vtree_sig(m, k->tick), tick));
  }
  while ((int64_t)l->valid.n <= c) {
    const TdVl *x = l->go;
    if (l->valid.n) {
      int64_t from = (int64_t)l->valid.n - 1;
      TdVlSig *v = td_vtree_reg(m, td_text_fmt(k->arena, "%s_in_%zu", l->name, l->valid.n), 1);
      TdVlDo *off = td_vtree_set(m, v, td_vtree_const(m, 1, 0));
      bool held = l->stall && from < l->front;
      const TdVl *comes = held || l->main ? l->valid.at[from] : td_vdata_moves(k, l, from);
      TdVlDo *on = td_vtree_set(m, v, comes);
      if (held) on = td_vtree_if(m, goes(k, l), on, NULL);
      if (!l->wait) l->wait = td_vtree_block(m);
      const TdVl *drop = td_vtree_sig(m, k->rst);
      if (l->left && from < l->left_at) drop = td_vtree_or(m, drop, td_vtree_sig(m, l->left));
      td_vtree_add(m, l->wait, td_vtree_if(m, drop, off, on));
      x = td_vtree_sig(m, v);
    }
    td_vec_push(k->arena, &l->valid, x);
  }
  return l->valid.at[c];
}

const TdVl *td_vdata_moves(TdVkUnit *k, TdVkLeaf *l, int64_t c) {
  const TdVl *x = td_vdata_there(k, l, c);
  if (l->left && c < l->left_at)
    x = td_vtree_and(k->m, x, td_vtree_not(k->m, td_vtree_sig(k->m, l->left)));
  return l->stall && c <= l->front ? td_vtree_and(k->m, x, goes(k, l)) : x;
}

/* What a node is called: as the local that it is stored in, or after its operator and line. */
static const char *name_of(TdVkUnit *k, const TdVkLeaf *l, uint32_t node) {
  const TdTraceCell *c = &l->t->cell.at[node];
  for (size_t i = 0; i < l->t->reach.n; i++) {
    const TdReach *r = &l->t->reach.at[i];
    if (r->write && r->value.node == node && r->array->rank == 0 &&
        r->array->kind == TD_CELL_MEMORY)
      return r->array->sym->name;
  }
  unsigned line = c->stmt ? c->stmt->loc.line : 0;
  if (c->what == TD_TRACE_ACCESS)
    return td_text_fmt(k->arena, "%s_l%u", l->t->reach.at[c->reach].array->sym->name, line);
  const char *op = c->what == TD_TRACE_OPERATOR    ? td_ops[c->op].cost
                   : c->what == TD_TRACE_CONVERT   ? "as"
                   : c->what == TD_TRACE_CHOOSE    ? "pick"
                   : c->what == TD_TRACE_FROM_ZERO ? "sum"
                                                   : "when";
  return td_text_fmt(k->arena, "%s_l%u", op, line);
}

/* Whether each iteration reads the element of r, or writes it. */
static bool is_always_known(const TdVkLeaf *l, const TdReach *r) {
  for (size_t i = 0; i < l->t->reach.n; i++) {
    const TdReach *x = &l->t->reach.at[i];
    if (x->array == r->array && x->spot == r->spot && (!x->write || !x->guard)) return true;
  }
  return false;
}

/* The register that holds an element while the loop runs. */
static TdVkKept hoisted(TdVkUnit *k, TdVkLeaf *l, const TdReach *r) {
  uint64_t key = td_map_mix(r->array->number, r->spot + 1);
  for (size_t i = 0; i < l->kept.n; i++)
    if (l->kept.at[i].key == key) return l->kept.at[i];
  const char *name = td_text_fmt(k->arena, "%s_kept", r->array->sym->name);
  TdVkKept x = {.key = key, .reg = td_vtree_reg(k->m, name, r->array->width)};
  x.act = td_vtree_block(k->m);
  if (!is_always_known(l, r))
    x.set = td_vtree_reg(k->m, td_text_fmt(k->arena, "%s_set", r->array->sym->name), 1);
  td_vec_push(k->arena, &l->kept, x);
  return x;
}

/* Has a register of one bit become `to` while `on`. */
static TdVlDo *mark(TdVkUnit *k, TdVlSig *s, const TdVl *on, uint64_t to) {
  return td_vtree_if(k->m, on, td_vtree_set(k->m, s, td_vtree_const(k->m, 1, to)), NULL);
}

/* Sets it under a condition. */
static void set_kept(TdVkUnit *k, TdVkKept x, const TdVl *on, const TdVl *v) {
  td_vtree_add(k->m, x.act, td_vtree_if(k->m, on, td_vtree_set(k->m, x.reg, v), NULL));
  if (x.set) td_vtree_add(k->m, x.act, mark(k, x.set, on, 1));
}

static bool is_hoisted(const TdReach *r) {
  return r->spot != TD_TRACE_ALL && r->array->spot.at[r->spot].hoisted;
}

/* When cycle c of leaf l reads: as it goes on, and as a firing starts there whose puts do not wait
 * for those behind it. */
static const TdVl *reads_at(TdVkUnit *k, TdVkLeaf *l, int64_t c) {
  const TdVl *on = td_vdata_moves(k, l, c);
  for (size_t i = 0; i < l->firing.n; i++) {
    const TdVkFiring *f = l->firing.at[i];
    if (f->path && f->path->root == c) on = td_vtree_or(k->m, on, f->start);
  }
  return on;
}

/* What was read in the front of a pipeline stays while the front is held up, whatever the port
 * gives others. */
static const TdVl *hold_front(TdVkUnit *k, TdVkLeaf *l, const TdVkStore *s, int64_t c,
                              const TdVl *v) {
  TdVlModule *m = k->m;
  TdVlSig *fresh = td_vtree_reg(m, td_text_fmt(k->arena, "%s_fresh", s->name), 1);
  TdVlSig *held = td_vtree_reg(m, td_text_fmt(k->arena, "%s_stays", s->name), v->width);
  const TdVl *now = td_vtree_sig(m, fresh);
  TdVlDo *act = td_vtree_block(m);
  td_vtree_add(m, act, td_vtree_set(m, fresh, td_vdata_moves(k, l, c)));
  td_vtree_add(m, act, td_vtree_if(m, now, td_vtree_set(m, held, v), NULL));
  td_vtree_always(m, NULL, act);
  return td_vtree_pick(m, now, v, td_vtree_sig(m, held));
}

/* What a read gives, in the cycle of its address plus the memory's latency. */
static TdVlNum read_value(TdVkUnit *k, TdVkLeaf *l, const TdReach *r) {
  const TdPlaced *p = r->array;
  int64_t c = begins(l, r->node);
  if (p->kind != TD_CELL_MEMORY) return td_vtask_got(k, l, r);
  if (td_vlocal_is(l, p)) {
    TdVlNum v = td_vlocal_read(k, l, r, c);
    int64_t there = c + l->t->flow.node.at[r->node].stages;
    if (v.e) v.e = td_vdata_delay(k, l, p->sym->name, v.e, c, there, td_map_mix(r->node, 9));
    return v;
  }
  if (l->main && p->written) return none(k, r->stmt->loc, "a put that waits for a write");
  if (is_hoisted(r)) return td_vop_num(td_vtree_sig(k->m, hoisted(k, l, r).reg), p->element);
  TdVkStore *s = td_vstore_of(k, l->frame, p);
  if (!s) return (TdVlNum){0};
  s->read = true;
  if (s->scalar) return td_vop_num(td_vtree_sig(k->m, s->reg), p->element);
  if (r->spot == TD_TRACE_ALL) {
    TdVlNum all = td_vstore_whole(k, l, p);
    int64_t there = c + l->t->flow.node.at[r->node].stages;
    if (all.e) all.e = td_vdata_delay(k, l, s->name, all.e, c, there, td_map_mix(r->node, 7));
    return all;
  }
  if (l->stall && s->latency > 1 && c < l->front)
    return none(k, r->stmt->loc, "a slow memory that is read while gets are waited for");
  int64_t slot = l->pipe ? c % l->ii : c;
  TdVlNum v = td_vstore_read(k, l, p, p->spot.at[r->spot].at, c, reads_at(k, l, c), slot);
  if (v.e && l->pipe && l->stall && c < l->front && s->latency) v.e = hold_front(k, l, s, c, v.e);
  int late = p->registers ? 0 : l->t->flow.node.at[r->node].stages - s->latency;
  if (v.e && late < 0) return none(k, r->stmt->loc, "an array that a call takes for registers");
  if (v.e && late) v.e = td_vdata_delay(k, l, s->name, v.e, c, c + late, td_map_mix(r->node, 5));
  return v;
}

TdVlNum td_vdata_element(TdVkUnit *k, TdVkLeaf *l, TdTraceValue x, const TdPlaced *p,
                         const TdAff *at, int64_t cycle) {
  TdVlModule *m = k->m;
  bool held = !x.affine && !x.node;
  TdVlNum v = held ? td_vstore_whole(k, l, p) : td_vdata_value(k, l, x, cycle);
  uint64_t n;
  if (!v.e) return v;
  const TdVl *number = td_vstore_number(k, l, p, at, cycle);
  if (v.e->width == p->width) return td_vop_num(v.e, p->element);
  const TdVl *all = td_vtree_sig(m, td_vtree_named(m, "token", v.e));
  if (td_vtree_is_const(number, &n))
    return td_vop_num(td_vtree_slice(m, all, (int)n * p->width, p->width), p->element);
  const TdVl *by = td_vtree_const(m, 32, (uint64_t)p->width);
  by = td_vtree_binary(m, "*", 32, td_vtree_fit(m, number, 32, false), by);
  const TdVl *low = td_vtree_binary(m, ">>", all->width, all, by);
  return td_vop_num(td_vtree_slice(m, low, 0, p->width), p->element);
}

/* The element that a token filled in: where a condition let it, chosen of the token and of what the
 * array held before. What it held is read in the cycle of the write, or before, after those of
 * earlier iterations. */
static TdVlNum filled_value(TdVkUnit *k, TdVkLeaf *l, uint32_t node, int64_t cycle) {
  const TdTraceCell *cell = &l->t->cell.at[node];
  const TdPlaced *p = cell->array;
  TdVlNum v = {0};
  int64_t now = 0;
  for (size_t i = 0; i < l->t->reach.n; i++) {
    const TdReach *r = &l->t->reach.at[i];
    if (r->array != p || !r->write || !r->token || r->spot != TD_TRACE_ALL) continue;
    int64_t write = write_cycle(l, r->node), at = write < cycle ? write : cycle;
    TdVlNum e = td_vdata_element(k, l, r->value, p, cell->at, at);
    if (!e.e) return e;
    if (v.e) v.e = td_vdata_delay(k, l, p->sym->name, v.e, now, at, td_map_mix(node, i + 11));
    if (r->guard && !p->fresh) {
      TdVlNum on = td_vdata_value(k, l, td_trace_node(r->guard), at);
      bool late = l->main || (l->pipe && at <= write - l->ii);
      if (late) return none(k, r->stmt->loc, "a token that is read before the array has it");
      if (!v.e) v = td_vdata_element(k, l, (TdTraceValue){0}, p, cell->at, at);
      if (!on.e || !v.e) return (TdVlNum){0};
      e.e = td_vtree_pick(k->m, on.e, e.e, v.e);
    }
    v = e;
    now = at;
    if (r->value.node == cell->x[0].node) break;
  }
  if (!v.e) return td_vdata_element(k, l, cell->x[0], p, cell->at, cycle);
  v.e = td_vdata_delay(k, l, p->sym->name, v.e, now, cycle, td_map_mix(node, 5));
  return v;
}

/* Whether the node's value is there in the cycle in which it begins. */
static TdVlNum compute(TdVkUnit *k, TdVkLeaf *l, uint32_t node, int64_t cycle) {
  const TdTraceCell *c = &l->t->cell.at[node];
  TdVlNum x[4] = {{0}};
  TdLoc loc = c->stmt ? c->stmt->loc : l->step->stmt->loc;
  if (c->what == TD_TRACE_ACCESS) return read_value(k, l, &l->t->reach.at[c->reach]);
  if (c->what == TD_TRACE_LITERAL)
    return td_vop_num(td_vtree_const(k->m, c->type->w, td_num_word(c->type, c->literal)), c->type);
  if (c->what == TD_TRACE_PARAMETER)
    return td_vop_num(td_vtree_sig(k->m, td_map_getp(&k->scalar, c->sym)), c->type);
  if (c->what == TD_TRACE_ELEMENT) return filled_value(k, l, node, cycle);
  if (c->what == TD_TRACE_FOREIGN || c->what == TD_TRACE_JOIN) return none(k, loc, "foreign code");
  for (uint8_t i = 0; i < c->n; i++)
    if (!(x[i] = td_vdata_value(k, l, c->x[i], cycle)).e) return x[i];
  switch (c->what) {
  case TD_TRACE_BOTH: return (TdVlNum){td_vtree_and(k->m, x[0].e, x[1].e), false, 0, NULL};
  case TD_TRACE_EITHER: return (TdVlNum){td_vtree_or(k->m, x[0].e, x[1].e), false, 0, NULL};
  case TD_TRACE_NOT: return (TdVlNum){td_vtree_not(k->m, x[0].e), false, 0, NULL};
  case TD_TRACE_CONVERT:
    if (c->type->kind == TD_T_BOOL && !x[0].real)
      return (TdVlNum){td_vtree_fit(k->m, x[0].e, 1, false), false, 0, NULL};
    return td_vop_cast(k->m, c->type, x[0]);
  case TD_TRACE_CHOOSE: {
    TdVlNum v = td_vop_num(NULL, c->type);
    v.e = td_vtree_pick(k->m, x[0].e, td_vop_fit(k->m, x[1], c->bits),
                        td_vop_fit(k->m, x[2], c->bits));
    return v;
  }
  case TD_TRACE_FROM_ZERO: {
    const TdVl *v = td_vop_fit(k->m, x[0], c->bits), *zero = td_vtree_const(k->m, c->bits, 0);
    const TdVl *minus = td_vtree_const(k->m, c->bits, UINT64_C(1) << (c->bits - 1));
    return td_vop_num(td_vtree_pick(k->m, td_vtree_binary(k->m, "==", 1, v, minus), zero, v),
                      c->type);
  }
  default: break;
  }
  TdVlNum out = td_vop_apply(k->m, (TdOp)c->op, c->type, c->bits, x);
  return out.e ? out : none(k, loc, td_text_fmt(k->arena, "'%s'", td_ops[c->op].lua));
}

/* The value of a node in a cycle: computed where it begins (or before, where only wires lead to
 * it), then carried along. */
static TdVlNum node_value(TdVkUnit *k, TdVkLeaf *l, uint32_t node, int64_t cycle) {
  const TdFlowNode *x = &l->t->flow.node.at[node];
  int64_t from = begins(l, node);
  const TdTraceCell *c = node < l->t->cell.n ? &l->t->cell.at[node] : NULL;
  bool access = c && c->what == TD_TRACE_ACCESS;
  if (access) {
    const TdReach *r = &l->t->reach.at[c->reach];
    bool memory = r->array->kind == TD_CELL_MEMORY && !is_hoisted(r) && !r->array->registers;
    from += memory ? x->stages : 0;
    if (r->array->kind != TD_CELL_MEMORY) from = td_vtask_start(l->main ? l->main : l, r);
  }
  if (!c) return none(k, l->step->stmt->loc, "this");
  if (l->main && begins(l, node) <= l->root && from <= l->root + 1) {
    int64_t last = from > l->root ? from : cycle < l->root ? cycle : l->root;
    TdVlNum v = node_value(k, l->main, node, last);
    uint64_t key = td_map_mix(node, 11);
    if (v.e) v.e = td_vdata_delay(k, l, name_of(k, l, node), v.e, last, cycle, key);
    return v;
  }
  if (cycle < from && !access) from = cycle;
  uint64_t key = td_map_mix(td_map_mix(node, 3), (uint64_t)from);
  const TdVlNum *known = get_key(&l->value, key);
  if (!known) {
    TdVlNum v = compute(k, l, node, from);
    if (!v.e) return v;
    if (v.e->kind != TD_VL_SIG && v.e->kind != TD_VL_CONST)
      v.e = td_vtree_sig(k->m, td_vtree_named(k->m, name_of(k, l, node), v.e));
    known = td_arena_copy(k->arena, &v, sizeof v);
    put_key(k, &l->value, key, known);
  }
  TdVlNum v = *known;
  v.e = td_vdata_delay(k, l, v.e->kind == TD_VL_SIG ? v.e->sig->name : "c", v.e, from, cycle, key);
  return v;
}

TdVlNum td_vdata_value(TdVkUnit *k, TdVkLeaf *l, TdTraceValue v, int64_t cycle) {
  TdVlNum out;
  td_ctx_enter(td_arena_ctx(k->arena));
  out = v.affine ? td_vform_num(k, l, v.form, cycle) : node_value(k, l, v.node, cycle);
  td_ctx_leave(td_arena_ctx(k->arena));
  return out;
}

/* An element that stays in a register while the loop runs: fetched in the last cycles before it,
 * stored in the last ones, as many at once as there are ports. */
static bool keep(TdVkUnit *k, TdVkLeaf *l, const TdReach *r, bool load) {
  TdVkKept x = hoisted(k, l, r);
  const TdAff *at = r->array->spot.at[r->spot].at;
  TdVkLeaf edge = {.number = l->number, .step = l->step, .t = l->t, .name = l->name};
  edge.frame = l->frame;
  int64_t turn = td_trace_turn(r), slot = -1 - 2 * turn - !load;
  const TdVkStore *s = td_vstore_of(k, l->frame, r->array);
  if (!s) return false;
  if (load && s->latency > 1)
    return none(k, r->stmt->loc, "elements of a slow memory that stay in registers").e != NULL;
  if (load) {
    edge.state = l->state - 1;
    int64_t c = k->state.at[edge.state].length - 2 - turn;
    TdVlNum v = td_vstore_read(k, &edge, r->array, at, c, td_vdata_moves(k, &edge, c), slot);
    if (!v.e) return false;
    set_kept(k, x, td_vdata_moves(k, &edge, c + 1), v.e);
    return true;
  }
  edge.state = l->state + 1;
  int64_t c = k->state.at[edge.state].length - 1 - turn;
  TdVlNum v = td_vop_num(td_vtree_sig(k->m, x.reg), r->array->element);
  const TdVl *on = td_vdata_moves(k, &edge, c);
  if (x.set) {
    td_vtree_add(k->m, x.act, mark(k, x.set, td_vtree_or(k->m, on, td_vtree_sig(k->m, k->rst)), 0));
    on = td_vtree_and(k->m, on, td_vtree_sig(k->m, x.set));
  }
  td_vstore_write(k, &edge, r->array, at, c, on, slot, v);
  return !td_diag_failed(k->diag);
}

/* A number that all elements of a SET are given is computed with the first of them. */
static const TdVl *hold(TdVkUnit *k, TdVkLeaf *l, const TdStmt *s, int64_t c, const TdVl *v) {
  TdVlModule *m = k->m;
  const TdVl *first = NULL;
  if (!l->element || s->kind != TD_STMT_SET || s->expr[1]->type->kind == TD_T_TENSOR ||
      v->kind == TD_VL_CONST)
    return v;
  for (size_t i = 0; i < l->nelement; i++) {
    const TdVl *n = td_vtree_sig(m, k->counter.at[l->element - 1 + i].n);
    const TdVl *none = td_vtree_const(m, n->width, 0);
    first = td_vtree_and(m, first, td_vtree_binary(m, "==", 1, n, none));
  }
  if (!first) return v;
  TdVlSig *reg = td_vtree_reg(m, td_text_fmt(k->arena, "%s_value", l->name), v->width);
  const TdVl *on = td_vtree_and(m, td_vdata_there(k, l, c), first);
  td_vtree_always(m, NULL, td_vtree_if(m, on, td_vtree_set(m, reg, v), NULL));
  return td_vtree_pick(m, first, v, td_vtree_sig(m, reg));
}

/* A write of leaf l. */
static bool write(TdVkUnit *k, TdVkLeaf *l, const TdReach *r) {
  const TdPlaced *p = r->array;
  int64_t c = write_cycle(l, r->node);
  TdVlNum v = td_vdata_value(k, l, r->value, c);
  if (!v.e) return false;
  v.e = hold(k, l, r->stmt, c, v.e);
  const TdVl *on = td_vdata_moves(k, l, c);
  if (r->guard) {
    TdVlNum g = td_vdata_value(k, l, td_trace_node(r->guard), c);
    if (!g.e) return false;
    on = td_vtree_and(k->m, on, g.e);
  }
  if (is_hoisted(r)) {
    set_kept(k, hoisted(k, l, r), on, td_vop_fit(k->m, v, p->width));
    return true;
  }
  if (r->spot == TD_TRACE_ALL && !p->token) return none(k, r->stmt->loc, "filled arrays").e != NULL;
  if (r->spot == TD_TRACE_ALL) {
    td_vstore_load(k, l, p, on, v.e);
    return !td_diag_failed(k->diag);
  }
  int64_t slot = l->pipe ? c % l->ii : c;
  td_vstore_write(k, l, p, p->spot.at[r->spot].at, c, on, slot, v);
  return !td_diag_failed(k->diag);
}

/* Whether an earlier access of this spot is hoisted, too. */
static bool seen(const TdTrace *t, size_t i, bool write) {
  for (size_t j = 0; j < i; j++) {
    const TdReach *x = &t->reach.at[j], *r = &t->reach.at[i];
    if (x->array == r->array && x->spot == r->spot && x->write == write) return true;
  }
  return false;
}

/* When an access happens to its memory. */
static int64_t happens(const TdVkLeaf *l, const TdReach *r) {
  return r->write ? write_cycle(l, r->node) : begins(l, r->node);
}

/* Whether an element that r touches may be one that a write of the same array does, which then has
 * to stay behind it. */
static bool may_meet(const TdVkLeaf *l, const TdReach *r, const TdReach *w) {
  const TdPlaced *p = w->array;
  if (r->array != p || r->hidden || r->spot == TD_TRACE_ALL || w->spot == TD_TRACE_ALL)
    return false;
  return !td_trace_is_apart(l->t, p, &p->spot.at[r->spot], &p->spot.at[w->spot], false);
}

/* Whether token number i, which fills an array in a pipeline, comes after what reads it before in
 * the text, and before the next iteration reads it: the schedule does not look at that, and may
 * keep elements in registers meanwhile. */
static bool is_between(TdVkUnit *k, const TdVkLeaf *l, size_t i) {
  const TdReach *w = &l->t->reach.at[i];
  int64_t c = happens(l, w);
  if (!l->pipe || !w->token || w->spot != TD_TRACE_ALL) return true;
  for (size_t j = 0; j < l->t->reach.n; j++) {
    const TdReach *r = &l->t->reach.at[j];
    if (r->array != w->array || r->write) continue;
    int64_t at = happens(l, r);
    if (is_hoisted(r) || (j < i && at > c) || at > c + l->ii || at + l->ii <= c)
      return td_vunit_refuse(k, "not-built", w->stmt->loc, "copy it into a local of the iteration",
                             "Verilog of a token that fills %s while iterations beside it read it "
                             "is not built yet",
                             w->array->sym->name);
  }
  return true;
}

/* Whether the schedule keeps write number i behind what comes before it in the text: it counts
 * with reads after writes only. */
static bool is_behind(TdVkUnit *k, const TdVkLeaf *l, size_t i) {
  const TdReach *w = &l->t->reach.at[i];
  int64_t c = happens(l, w);
  for (size_t j = 0; j < l->t->reach.n; j++) {
    const TdReach *r = &l->t->reach.at[j];
    bool before = j < i && happens(l, r) > c;
    bool lapped = l->pipe && !r->write && r->spot != w->spot && happens(l, r) > c + l->ii;
    if ((before || lapped) && may_meet(l, r, w))
      return td_vunit_refuse(k, "not-built", w->stmt->loc, "read it in a statement before",
                             "Verilog of a write of %s that the schedule puts before an earlier "
                             "access of it is not built yet",
                             w->array->sym->name);
  }
  return true;
}

/* A fill: the value as it is when it is there, in all elements of the next cycles. */
static bool fill(TdVkUnit *k, TdVkLeaf *l) {
  TdVlModule *m = k->m;
  const TdPlaced *p = l->t->placed.at[l->t->placed.n - 1];
  int64_t c = l->step->length - 1;
  TdVlNum v = td_vdata_value(k, l, p->fill, c);
  if (!v.e) return false;
  const TdVl *on = td_vdata_there(k, l, c), *at = NULL, *data = td_vop_fit(m, v, p->width);
  if (l->step->trip > 1) {
    int w = k->tick_width;
    const TdVl *tick = td_vtree_sig(m, k->tick), *first = td_vtree_const(m, w, (uint64_t)c);
    on = state_on(k, l);
    if (c) on = td_vtree_and(m, on, td_vtree_binary(m, ">=", 1, tick, first));
    at = c ? td_vtree_binary(m, "-", w, tick, first) : tick;
    if (data->kind != TD_VL_CONST) {
      const TdVl *now = td_vdata_there(k, l, c);
      TdVlSig *s = td_vtree_reg(m, td_text_fmt(k->arena, "%s_value", l->name), data->width);
      td_vtree_always(m, NULL, td_vtree_if(m, now, td_vtree_set(m, s, data), NULL));
      data = td_vtree_pick(m, now, data, td_vtree_sig(m, s));
    }
  }
  td_vstore_fill(k, l, p, on, at, data);
  return !td_diag_failed(k->diag);
}

/* A call of foreign code that is laid out in a leaf, or NULL. */
static const TdStmt *foreign_in(const TdTrace *t) {
  for (size_t i = 0; i < t->op.n; i++) {
    const TdStmt *s = t->op.at[i].stmt;
    if (s && s->kind == TD_STMT_CALL && t->op.at[i].op.key == s->sym->name) return s;
  }
  return NULL;
}

/* Whether an array in registers is filled in a leaf that also reads it at places it computes. */
static bool is_filled_aside(const TdVkLeaf *l) {
  for (size_t i = 0; i < l->t->reach.n; i++) {
    const TdReach *r = &l->t->reach.at[i];
    if (!r->write && !td_vlocal_is(l, r->array) && r->array->filled && r->array->registers &&
        r->array->kind == TD_CELL_MEMORY)
      return true;
  }
  return false;
}

/* An element of a token that a leaf computes. */
static bool make_element(TdVkUnit *k, TdVkLeaf *l) {
  const TdPlaced *p = l->makes;
  int64_t c = l->step->length - 1;
  TdAff *at = TD_NEWN(k->arena, TdAff, TD_MAX_RANK);
  TdVlNum v = td_vdata_value(k, l, l->t->result.at[0], c);
  if (!v.e) return false;
  for (int d = 0; d < p->rank; d++) at[d] = td_sys_col(k->arena, -1 - d);
  td_vstore_write(k, l, p, at, c, td_vdata_moves(k, l, c), c, v);
  return !td_diag_failed(k->diag);
}

bool td_vdata_writes(TdVkUnit *k, TdVkLeaf *l) {
  const TdTrace *t = l->t;
  const TdStmt *foreign = foreign_in(t);
  if (l->fills) return fill(k, l);
  if (foreign)
    return td_vunit_refuse(k, "not-built", foreign->loc, "give it a model",
                           "Verilog of %s, which is no kernel, is not built yet",
                           foreign->sym->name);
  if (is_filled_aside(l))
    return none(k, l->step->stmt->loc, "registers that are filled beside their use").e != NULL;
  for (size_t i = 0; i < t->reach.n; i++) {
    const TdReach *r = &t->reach.at[i];
    if (r->array->kind != TD_CELL_MEMORY || td_vlocal_is(l, r->array)) continue;
    bool writes = r->write && !r->hidden;
    if (writes && !(is_behind(k, l, i) && is_between(k, l, i) && write(k, l, r))) return false;
    if (!is_hoisted(r) || r->array->registers || seen(t, i, r->write)) continue;
    if (!keep(k, l, r, !r->write)) return false;
  }
  return !l->makes || make_element(k, l);
}

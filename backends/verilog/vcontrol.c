/* vcontrol.c - the operations of a plan as registers: the state, cycles in it, counters, and when
 * iterations of pipelined loops begin. */
#include <inttypes.h>

#include "backends/verilog/vunit.h"

static int bits_of(uint64_t most) {
  int w = 1;
  while (w < 63 && most >> w) w++;
  return w;
}

/* When iterations of a pipelined loop begin: every ii cycles while its state lasts. */
static void start_pipe(TdVkUnit *k, TdVkLeaf *l) {
  const TdVkState *s = &k->state.at[l->state];
  const TdVl *here = td_vtree_label(k->m, k->at_width, l->state + 1, s->label);
  const TdVl *on = td_vtree_binary(k->m, "==", 1, td_vtree_sig(k->m, k->at), here);
  TdVlModule *m = k->m;
  const TdVl *held = l->stall ? td_vtree_sig(m, l->stall) : NULL;
  if (l->ii > 1) {
    int w = bits_of((uint64_t)l->ii - 1);
    TdVlSig *gap = td_vtree_reg(m, td_text_fmt(k->arena, "%s_gap", l->name), w);
    const TdVl *left = td_vtree_sig(m, gap), *zero = td_vtree_const(m, w, 0);
    const TdVl *none = td_vtree_binary(m, "==", 1, left, zero);
    TdVlDo *again = td_vtree_set(m, gap, td_vtree_const(m, w, (uint64_t)l->ii - 1));
    const TdVl *less = td_vtree_binary(m, "-", w, left, td_vtree_const(m, w, 1));
    TdVlDo *count = td_vtree_if(m, none, again, td_vtree_set(m, gap, less));
    if (held) count = td_vtree_if(m, held, td_vtree_set(m, gap, left), count);
    td_vtree_always(m, s->note, td_vtree_if(m, on, count, td_vtree_set(m, gap, zero)));
    on = td_vtree_and(m, on, none);
  }
  TdVlSig *go = td_vtree_wire(m, td_text_fmt(k->arena, "%s_go", l->name), 1);
  td_vtree_assign(m, go, on);
  l->go = td_vtree_sig(m, go);
}

/* Whether a loop goes on after this iteration; or (`first`) has one at all. NULL: refused. */
static const TdVl *goes_on(TdVkUnit *k, const TdVkCounter *c, bool first) {
  const TdVl *n = td_vtree_sig(k->m, c->n);
  if (c->trip) {
    const TdVl *last = td_vtree_const(k->m, c->n->width, (uint64_t)c->trip - 1);
    return td_vtree_binary(k->m, "!=", 1, n, last);
  }
  const TdType *index = td_type_index(k->prog->store->session);
  TdVlNum lo, hi;
  if (!td_vform_bounds(k, c, first, &lo, &hi)) return NULL;
  if (!first) {
    TdVlNum more = {td_vtree_binary(k->m, "+", c->n->width + 1,
                                    td_vtree_fit(k->m, n, c->n->width + 1, false),
                                    td_vtree_const(k->m, c->n->width + 1, 1)),
                    false, 0, NULL};
    TdVlNum by = td_vop_const(k->m, c->stride);
    int w = more.e->width + by.e->width + 1;
    if (c->stride != 1) more = td_vop_apply(k->m, TD_OP_MUL, index, w, (TdVlNum[]){more, by});
    w = (w > lo.e->width ? w : lo.e->width) + 2;
    lo = td_vop_apply(k->m, TD_OP_ADD, index, w, (TdVlNum[]){lo, more});
  }
  return td_vop_apply(k->m, TD_OP_LT, td_type_bool(k->prog->store->session), 1, (TdVlNum[]){lo, hi})
      .e;
}

static TdVlDo *count_on(TdVkUnit *k, size_t counter) {
  TdVlSig *n = k->counter.at[counter].n;
  const TdVl *one = td_vtree_const(k->m, n->width, 1);
  const TdVl *next = td_vtree_binary(k->m, "+", n->width, td_vtree_sig(k->m, n), one);
  return td_vtree_set(k->m, n, next);
}

static TdVlDo *clear(TdVkUnit *k, size_t counter) {
  TdVlSig *n = k->counter.at[counter].n;
  return td_vtree_set(k->m, n, td_vtree_const(k->m, n->width, 0));
}

void td_vcontrol_walk(TdVkUnit *k, size_t at, TdVlDo *out) {
  TdVlModule *m = k->m;
  td_ctx_enter(td_arena_ctx(k->arena));
  for (bool more = true; more;) {
    const TdVkOp *op = &k->op.at[at++];
    switch (op->kind) {
    case TD_VK_CLEAR: td_vtree_add(m, out, clear(k, op->counter)); break;
    case TD_VK_NEXT: td_vtree_add(m, out, count_on(k, op->counter)); break;
    case TD_VK_JUMP: at = op->target; break;
    case TD_VK_FREE: td_vbuffer_end(k, op, out); break;
    case TD_VK_STATE: {
      const TdVkState *s = &k->state.at[op->state];
      const TdVl *label = td_vtree_label(m, k->at_width, op->state + 1, s->label);
      td_vtree_add(m, out, td_vtree_set(m, k->at, label));
      more = false;
      break;
    }
    case TD_VK_END:
      td_vtree_add(m, out, td_vtree_set(m, k->at, td_vtree_label(m, k->at_width, 0, "S_IDLE")));
      more = false;
      break;
    case TD_VK_BRANCH: {
      TdVlDo *then = td_vtree_block(m), *otherwise = td_vtree_block(m);
      td_vcontrol_walk(k, op->target, then);
      td_vcontrol_walk(k, at, otherwise);
      const TdVl *test = op->leaf ? td_vtree_not(m, td_vtree_sig(m, op->leaf->pending)) : op->test;
      td_vtree_add(m, out, td_vtree_if(m, test, then, otherwise));
      more = false;
      break;
    }
    }
  }
  td_ctx_leave(td_arena_ctx(k->arena));
}

/* The counters of a pipe move on: the innermost, and those around where it begins anew. */
static TdVlDo *move_on(TdVkUnit *k, const TdVkLeaf *l, size_t depth) {
  size_t counter = l->nest.at[depth];
  const TdVl *more = goes_on(k, &k->counter.at[counter], false);
  TdVlDo *up = td_vtree_block(k->m);
  td_vtree_add(k->m, up, clear(k, counter));
  if (depth) td_vtree_add(k->m, up, move_on(k, l, depth - 1));
  return td_vtree_if(k->m, more, count_on(k, counter), up);
}

/* Whether an iteration of a pipe is its last. */
static const TdVl *is_last(TdVkUnit *k, const TdVkLeaf *l) {
  const TdVl *last = NULL;
  for (size_t i = 0; i < l->nest.n; i++) {
    const TdVl *more = goes_on(k, &k->counter.at[l->nest.at[i]], false);
    last = td_vtree_and(k->m, last, td_vtree_not(k->m, more));
  }
  return last;
}

/* What straight code with tokens does: after its last cycle it stands in one more until its puts
 * are over. */
static TdVlDo *act_of_waiting(TdVkUnit *k, const TdVkState *s, const TdVlDo *go) {
  TdVlModule *m = k->m;
  int w = k->tick_width;
  const TdVl *tick = td_vtree_sig(m, k->tick), *one = td_vtree_const(m, w, 1);
  const TdVl *free = td_vtree_not(m, td_vtree_sig(m, s->leaf->stall));
  const TdVl *over = td_vtree_not(m, td_vtree_sig(m, s->leaf->pending));
  const TdVl *rest = td_vtree_const(m, w, (uint64_t)s->length - 1);
  const TdVl *last = td_vtree_const(m, w, (uint64_t)s->length - 2);
  TdVlDo *end = td_vtree_block(m);
  td_vtree_add(m, end, td_vtree_set(m, k->tick, td_vtree_const(m, w, 0)));
  td_vtree_add(m, end, go);
  TdVlDo *on = td_vtree_set(m, k->tick, td_vtree_binary(m, "+", w, tick, one));
  const TdVl *ends = td_vtree_and(m, td_vtree_binary(m, "==", 1, tick, last), free);
  ends = td_vtree_or(m, ends, td_vtree_binary(m, "==", 1, tick, rest));
  const TdVl *stays = td_vtree_binary(m, "!=", 1, tick, rest);
  return td_vtree_if(m, td_vtree_and(m, ends, over), end,
                     td_vtree_if(m, td_vtree_and(m, free, stays), on, NULL));
}

/* What a state does in its cycles. */
static TdVlDo *act_of(TdVkUnit *k, size_t state, size_t next) {
  const TdVkState *s = &k->state.at[state];
  TdVlModule *m = k->m;
  TdVlDo *go = td_vtree_block(m);
  td_vcontrol_walk(k, next, go);
  if (s->kind == TD_VK_RUN) {
    TdVlDo *run = td_vtree_block(m);
    td_vtree_add(m, run, move_on(k, s->leaf, s->leaf->nest.n - 1));
    td_vtree_add(m, run, td_vtree_if(m, is_last(k, s->leaf), go, NULL));
    return td_vtree_if(m, td_vdata_moves(k, (TdVkLeaf *)s->leaf, 0), run, NULL);
  }
  const TdVlSig *stall = s->leaf ? s->leaf->stall : NULL;
  const TdVl *free = stall ? td_vtree_not(m, td_vtree_sig(m, s->leaf->stall)) : NULL, *leave = free;
  if (s->leaf && s->leaf->pending)
    leave = td_vtree_and(m, leave, td_vtree_not(m, td_vtree_sig(m, s->leaf->pending)));
  if (s->length <= 1) return leave ? td_vtree_if(m, leave, go, NULL) : go;
  const TdVl *tick = td_vtree_sig(m, k->tick), *one = td_vtree_const(m, k->tick_width, 1);
  if (s->waits) return act_of_waiting(k, s, go);
  const TdVl *last = td_vtree_const(m, k->tick_width, (uint64_t)s->length - 1);
  TdVlDo *end = td_vtree_block(m);
  td_vtree_add(m, end, td_vtree_set(m, k->tick, td_vtree_const(m, k->tick_width, 0)));
  td_vtree_add(m, end, go);
  TdVlDo *on = td_vtree_set(m, k->tick, td_vtree_binary(m, "+", k->tick_width, tick, one));
  const TdVl *ends = td_vtree_binary(m, "==", 1, tick, last);
  const TdVl *goes = td_vtree_and(m, td_vtree_binary(m, "!=", 1, tick, last), free);
  if (leave) on = td_vtree_if(m, goes, on, NULL);
  return td_vtree_if(m, td_vtree_and(m, ends, leave), end, on);
}

/* Whether a leaf was left, after its last cycle, and as long as it waits for puts then. */
static const TdVl *was_left(TdVkUnit *k, TdVkLeaf *l, uint32_t node) {
  TdVlModule *m = k->m;
  int64_t c = l->step->length - 1;
  TdVlNum v = td_vdata_value(k, l, td_trace_node(node), c);
  if (!v.e || !k->state.at[l->state].waits) return v.e;
  TdVlSig *s = td_vtree_reg(m, td_text_fmt(k->arena, "%s_left", l->name), 1);
  const TdVl *here = td_vdata_moves(k, l, c);
  td_vtree_always(m, NULL, td_vtree_if(m, here, td_vtree_set(m, s, v.e), NULL));
  return td_vtree_pick(m, here, v.e, td_vtree_sig(m, s));
}

/* What a branch tests. NULL: refused. */
static const TdVl *test_of(TdVkUnit *k, const TdVkOp *op) {
  TdVkLeaf *l = (TdVkLeaf *)op->leaf;
  const TdVl *e;
  if (op->when == TD_VK_RETURNED && l->pipe) return td_vjump_returned(k, l);
  switch (op->when) {
  case TD_VK_EMPTY:
  case TD_VK_OVER:
    e = goes_on(k, &k->counter.at[op->counter], op->when == TD_VK_EMPTY);
    return e ? td_vtree_not(k->m, e) : NULL;
  case TD_VK_BROKEN: return was_left(k, l, l->t->broken.when);
  case TD_VK_RETURNED: return was_left(k, l, l->t->returned.when);
  case TD_VK_FALSE: {
    TdVlNum v = td_vdata_value(k, l, l->t->result.at[0], k->state.at[l->state].length - 1);
    return v.e ? td_vtree_not(k->m, td_vtree_fit(k->m, v.e, 1, false)) : NULL;
  }
  default: return op->test;
  }
}

/* Latches bounds that data decides when their loop is entered. */
static bool keep_bounds(TdVkUnit *k, TdVkCounter *c) {
  TdVkLeaf *l = (TdVkLeaf *)c->bounds;
  int64_t cycle = k->state.at[l->state].length - 1;
  TdVlDo *both = td_vtree_block(k->m);
  for (int i = 0; i < 2; i++) {
    TdVlNum v = td_vdata_value(k, l, l->t->result.at[i], cycle);
    if (!v.e) return false;
    const char *name = td_text_fmt(k->arena, "%s_%s", c->name, i ? "end" : "begin");
    TdVlSig *s = td_vtree_reg(k->m, name, v.e->width);
    td_vtree_add(k->m, both, td_vtree_set(k->m, s, v.e));
    c->now[i] = v;
    c->kept[i] = (TdVlNum){td_vtree_sig(k->m, s), v.is_signed, 0, NULL};
  }
  td_vtree_always(k->m, td_vunit_place(k, c->loop->loc),
                  td_vtree_if(k->m, td_vdata_moves(k, l, cycle), both, NULL));
  return true;
}

bool td_vcontrol_open(TdVkUnit *k) {
  int64_t longest = 1;
  for (size_t i = 0; i < k->state.n; i++)
    if (k->state.at[i].length > longest) longest = k->state.at[i].length;
  k->at_width = bits_of(k->state.n);
  k->tick_width = bits_of((uint64_t)longest - 1);
  k->at = td_vtree_reg(k->m, "state", k->at_width);
  if (longest > 1) k->tick = td_vtree_reg(k->m, "tick", k->tick_width);
  if (!td_vbuffer_open(k)) return false;
  for (size_t i = 0; i < k->leaf.n; i++) td_vtask_find_side(k, k->leaf.at[i]);
  for (size_t i = 0; i < k->early.n; i++) {
    int64_t at = k->early.at[i];
    if (at < 0 ? !keep_bounds(k, &k->counter.at[-1 - at]) : !td_vcall_open(k, &k->call.at[at]))
      return false;
  }
  for (size_t i = 0; i < k->leaf.n; i++) {
    TdVkLeaf *l = k->leaf.at[i];
    bool body = !l->pipe && l->t->loop, tests = l->t == l->step->tests;
    l->time = tests ? NULL : td_times_of(k->times, body ? l->t->loop : l->step->stmt);
    if (body && l->time) l->time = l->time->body;
    if (!td_vtask_open(k, l)) return false;
    if (l->pipe) {
      start_pipe(k, l);
      td_vjump_open(k, l);
    }
  }
  return true;
}

bool td_vcontrol_tests(TdVkUnit *k) {
  for (size_t i = 0; i < k->op.n; i++) {
    TdVkOp *op = &k->op.at[i];
    if (op->kind != TD_VK_BRANCH || (op->when == TD_VK_GIVEN && op->leaf)) continue;
    if (!(op->test = test_of(k, op))) return false;
    op->leaf = NULL;
  }
  return true;
}

static void label(TdVkUnit *k, TdVlDo *c, const char *name, uint64_t value, const TdVlDo *act) {
  TdVlPort p = {.name = td_text_fmt(k->arena, "[%d:0] %s", k->at_width - 1, name),
                .text = td_text_fmt(k->arena, "%d'd%" PRIu64, k->at_width, value)};
  td_vec_push(k->arena, &k->m->constant, p);
  td_vec_push(k->arena, &c->kid, act);
  td_vec_push(k->arena, &c->label, name);
}

/* Adds to *out what leaves pipelined loops, after what their states do, which gives way to it. */
static void add_jumps(TdVkUnit *k, TdVlDo *out) {
  for (size_t i = 0; i < k->op.n; i++) {
    if (k->op.at[i].kind != TD_VK_STATE) continue;
    const TdVkState *s = &k->state.at[k->op.at[i].state];
    size_t next = i + 1;
    if (s->kind != TD_VK_RUN || !s->leaf->left) continue;
    while (next < k->op.n && k->op.at[next].kind == TD_VK_BRANCH) next++;
    bool drains =
        k->op.at[next].kind == TD_VK_STATE && k->op.at[next].state == k->op.at[i].state + 1;
    td_vtree_add(k->m, out, td_vjump_act(k, s->leaf, drains ? next + 1 : i + 1));
  }
}

void td_vcontrol_finish(TdVkUnit *k) {
  TdVlModule *m = k->m;
  TdVlDo *c = td_vtree_block(m), *begin = td_vtree_block(m), *first = td_vtree_block(m);
  c->kind = TD_VL_CASE;
  c->x = td_vtree_sig(m, k->at);
  td_vcontrol_walk(k, 0, first);
  if (k->tick)
    td_vtree_add(m, begin, td_vtree_set(m, k->tick, td_vtree_const(m, k->tick_width, 0)));
  td_vtree_add(m, begin, td_vtree_if(m, td_vtree_sig(m, k->start), first, NULL));
  label(k, c, "S_IDLE", 0, begin);
  for (size_t i = 0; i < k->op.n; i++)
    if (k->op.at[i].kind == TD_VK_STATE) {
      size_t s = k->op.at[i].state;
      label(k, c, k->state.at[s].label, s + 1, act_of(k, s, i + 1));
    }
  TdVlDo *idle = td_vtree_set(m, k->at, td_vtree_label(m, k->at_width, 0, "S_IDLE"));
  TdVlDo *other = idle;
  td_vec_push(k->arena, &c->kid, other);
  td_vec_push(k->arena, &c->label, "default");
  TdVlDo *all = td_vtree_block(m);
  TdVlDo *run = td_vtree_block(m);
  td_vtree_add(m, run, c);
  add_jumps(k, run);
  td_vbuffer_begin(k, all);
  td_vtree_add(m, all, td_vtree_if(m, td_vtree_sig(m, k->rst), idle, run->kid.n > 1 ? run : c));
  td_vtree_always(m,
                  td_text_fmt(k->arena, "%s: control of %s", td_vunit_place(k, k->unit->loc),
                              k->unit->sym->name),
                  all->kid.n > 1 ? all : all->kid.at[0]);
  const TdVl *off = td_vtree_label(m, k->at_width, 0, "S_IDLE");
  td_vtree_assign(m, k->busy, td_vtree_binary(m, "!=", 1, td_vtree_sig(m, k->at), off));
}

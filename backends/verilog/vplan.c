/* vplan.c - control. The steps of a schedule become operations: CLEAR a counter, stay in a
 * STATE, BRANCH on a test, count on (NEXT), JUMP, END. All but STATE take no time: what follows a
 * state up to the next one is what its last cycle does. */
#include "backends/verilog/vunit.h"

#include "analysis/range/range.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

bool td_vunit_refuse(TdVkUnit *k, const char *code, TdLoc loc, const char *help, const char *fmt,
                     ...) {
  va_list ap;
  if (td_diag_failed(k->diag)) return false;
  va_start(ap, fmt);
  td_diag_vset(k->diag, TD_UNSUPPORTED, code, loc, fmt, ap);
  va_end(ap);
  if (*help) td_diag_help(k->diag, "%s", help);
  return false;
}

const char *td_vunit_place(const TdVkUnit *k, TdLoc loc) {
  const TdSources *s = k->prog->store->session->sources;
  const char *name = loc.source ? td_sources_name(s, loc.source) : k->unit->sym->name;
  const char *last = strrchr(name, '/');
  return td_text_fmt(k->arena, "%s:%u", last ? last + 1 : name, loc.line);
}

enum { STAY, RUN, DRAIN };

static size_t add_op(TdVkUnit *k, TdVkOp op) {
  td_vec_push(k->arena, &k->op, op);
  return k->op.n - 1;
}

/* A state of so many cycles, named after a loop and what it does there. */
static size_t add_state(TdVkUnit *k, const char *name, TdLoc loc, int64_t length) {
  TdVkState s = {.name = td_vtree_name(k->m, name), .length = length};
  char *label = td_text_fmt(k->arena, "S_%s", s.name);
  for (char *c = label; *c; c++) *c = (char)toupper((unsigned char)*c);
  s.label = td_vtree_name(k->m, label);
  s.note = td_vunit_place(k, loc);
  td_vec_push(k->arena, &k->state, s);
  add_op(k, (TdVkOp){.kind = TD_VK_STATE, .state = k->state.n - 1});
  return k->state.n - 1;
}

static TdVkLeaf *add_leaf(TdVkUnit *k, const TdSchedStep *x, const char *name) {
  TdVkLeaf *l = TD_NEW(k->arena, TdVkLeaf);
  *l = (TdVkLeaf){.number = k->leaf.n + 1, .step = x, .t = x->trace, .name = name};
  td_vec_push(k->arena, &k->leaf, l);
  return l;
}

static bool plan(TdVkUnit *k, const TdSchedStep *x);

static const char *at_line(TdVkUnit *k, const char *what, TdLoc loc) {
  return td_text_fmt(k->arena, "%s_l%u", what, loc.line);
}

/* Straight code: a state. */
static bool plan_block(TdVkUnit *k, const TdSchedStep *x, size_t element) {
  if (x->length < 1) return true;
  TdVkLeaf *l = add_leaf(k, x, at_line(k, "do", x->stmt->loc));
  l->element = element;
  bool waits = td_vtask_has_tokens(x->trace);
  l->state = add_state(k, l->name, x->stmt->loc, x->length + waits);
  k->state.at[l->state].leaf = l;
  k->state.at[l->state].waits = waits;
  return true;
}

/* Whether a loop goes on after this iteration; or (`first`) has one at all. NULL: refused. */
static const TdVl *goes_on(TdVkUnit *k, const TdVkCounter *c, bool first) {
  const TdVl *n = td_vtree_sig(k->m, c->n);
  if (c->trip) {
    if (first) return td_vtree_const(k->m, 1, 1);
    const TdVl *last = td_vtree_const(k->m, c->n->width, (uint64_t)c->trip - 1);
    return td_vtree_binary(k->m, "!=", 1, n, last);
  }
  const TdType *index = td_type_index(k->prog->store->session);
  TdVlNum lo = td_vform_index(k, td_for_lo(c->loop)), hi = td_vform_index(k, td_for_hi(c->loop));
  if (!lo.e || !hi.e) return NULL;
  if (!first) {
    TdVlNum more = {td_vtree_binary(k->m, "+", c->n->width + 1,
                                    td_vtree_fit(k->m, n, c->n->width + 1, false),
                                    td_vtree_const(k->m, c->n->width + 1, 1)),
                    false, 0};
    TdVlNum by = td_vop_const(k->m, c->stride);
    int w = more.e->width + by.e->width + 1;
    if (c->stride != 1) more = td_vop_apply(k->m, TD_OP_MUL, index, w, (TdVlNum[]){more, by});
    w = (w > lo.e->width ? w : lo.e->width) + 2;
    lo = td_vop_apply(k->m, TD_OP_ADD, index, w, (TdVlNum[]){lo, more});
  }
  return td_vop_apply(k->m, TD_OP_LT, td_type_bool(k->prog->store->session), 1, (TdVlNum[]){lo, hi})
      .e;
}

/* The counter of a FOR, `lanes` of whose iterations lie side by side. False: refused. */
static bool counter_of(TdVkUnit *k, const TdStmt *s, int64_t lanes, size_t *at) {
  int64_t least, most, trip = 0;
  TdSession *ss = k->prog->store->session;
  const TdExpr *gap = td_lin_minus(ss, k->arena, td_for_hi(s), td_for_lo(s));
  if (!td_range_of(&k->ask, s, gap, &least, &most))
    return td_vunit_refuse(k, "not-built", s->loc, "give it bounds that sizes tell",
                           "Verilog of a loop of any number of iterations is not built yet");
  int64_t stride = s->step * lanes;
  if (least == most && least > 0) trip = (least + stride - 1) / stride;
  if (lanes > 1 && (least != most || (least / s->step) % lanes))
    return td_vunit_refuse(k, "not-built", s->loc, "split it with a factor that divides",
                           "Verilog of copies of '%s' that do not divide it is not built yet",
                           s->sym->name);
  most = most > 0 ? (most + stride - 1) / stride : 1;
  *at = td_vform_counter(k, s, s->sym->name, s, trip, most, stride);
  return true;
}

/* After the last state of a body: counts on and goes back to `body`, or on. */
static bool close_loop(TdVkUnit *k, size_t counter, size_t body) {
  const TdVl *more = goes_on(k, &k->counter.at[counter], false);
  if (!more) return false;
  size_t branch = add_op(k, (TdVkOp){.kind = TD_VK_BRANCH, .test = td_vtree_not(k->m, more)});
  add_op(k, (TdVkOp){.kind = TD_VK_NEXT, .counter = counter});
  add_op(k, (TdVkOp){.kind = TD_VK_JUMP, .target = body});
  k->op.at[branch].target = k->op.n;
  return true;
}

/* Before a loop: skips it, to what td_plan fills in, where it has no iteration. */
static bool open_loop(TdVkUnit *k, size_t counter, size_t *skip) {
  const TdVl *any = goes_on(k, &k->counter.at[counter], true);
  uint64_t bits;
  *skip = 0;
  if (!any) return false;
  if (td_vtree_is_const(any, &bits) && bits) return true;
  *skip = add_op(k, (TdVkOp){.kind = TD_VK_BRANCH, .test = td_vtree_not(k->m, any)});
  return true;
}

static bool zero_time(TdVkUnit *k, const TdSchedStep *x) {
  return td_vunit_refuse(k, "zero-time", x->stmt->loc, "device = \"rtl\"",
                         "a loop is entered in no time on %s, which hardware cannot",
                         k->sched->target->name);
}

/* A loop whose iterations follow each other. */
static bool plan_loop(TdVkUnit *k, const TdSchedStep *x) {
  const TdStmt *s = x->stmt;
  const TdTarget *t = k->sched->target;
  size_t i, skip;
  if (s->kind != TD_STMT_FOR)
    return td_vunit_refuse(k, "not-built", s->loc, "use a for loop with a break",
                           "Verilog of while loops is not built yet");
  if (!t->enter || !t->again) return zero_time(k, x);
  if (!counter_of(k, s, x->lanes, &i)) return false;
  add_op(k, (TdVkOp){.kind = TD_VK_CLEAR, .counter = i});
  add_state(k, td_text_fmt(k->arena, "%s_enter", s->sym->name), s->loc, t->enter);
  if (!open_loop(k, i, &skip)) return false;
  size_t body = k->op.n;
  add_state(k, td_text_fmt(k->arena, "%s_again", s->sym->name), s->loc, t->again);
  if (!plan(k, x->kid[0]) || !close_loop(k, i, body)) return false;
  if (skip) k->op.at[skip].target = k->op.n;
  return true;
}

/* A pipelined loop at the bottom of n loops that keep it running. */
static bool plan_pipe(TdVkUnit *k, const TdSchedStep *const *loop, size_t n) {
  const TdSchedStep *x = loop[n - 1];
  const TdTarget *t = k->sched->target;
  const TdTrace *trace = x->trace;
  const char *name = x->stmt->sym->name;
  size_t first_skip = k->op.n;
  TD_VEC(size_t) skip = {0};
  if (!t->enter) return zero_time(k, x);
  TdVkLeaf *l = add_leaf(k, x, name);
  l->pipe = true;
  l->ii = x->ii;
  for (size_t i = 0; i < n; i++) {
    size_t c;
    if (!counter_of(k, loop[i]->stmt, loop[i]->lanes, &c)) return false;
    td_vec_push(k->arena, &l->nest, c);
    add_op(k, (TdVkOp){.kind = TD_VK_CLEAR, .counter = c});
  }
  (void)first_skip;
  int64_t loads = trace->loads ? t->read + 1 : 0, stores = trace->stores ? 1 : 0;
  if (n > 1 && trace->loads)
    return td_vunit_refuse(k, "not-built", x->stmt->loc, "pipeline the loop around it",
                           "Verilog of elements that stay while '%s' runs on is not built yet",
                           name);
  add_state(k, td_text_fmt(k->arena, "%s_enter", loop[0]->stmt->sym->name), x->stmt->loc,
            t->enter + loads);
  for (size_t i = 0; i < n; i++) {
    size_t at;
    if (!open_loop(k, l->nest.at[i], &at)) return false;
    if (at) td_vec_push(k->arena, &skip, at);
  }
  l->state = add_state(k, td_text_fmt(k->arena, "%s_run", name), x->stmt->loc, 1);
  k->state.at[l->state].kind = RUN;
  k->state.at[l->state].leaf = l;
  int64_t rest = x->length - 1 + stores;
  bool tokens = td_vtask_has_tokens(trace);
  size_t none = k->op.n;
  if (tokens && !rest) add_op(k, (TdVkOp){.kind = TD_VK_BRANCH, .leaf = l});
  if (tokens || rest > 0) {
    size_t s =
        add_state(k, td_text_fmt(k->arena, "%s_drain", name), x->stmt->loc, rest > 0 ? rest : 1);
    k->state.at[s].kind = DRAIN;
    k->state.at[s].leaf = l;
  }
  if (tokens && !rest) k->op.at[none].target = k->op.n;
  for (size_t i = 0; i < skip.n; i++) k->op.at[skip.at[i]].target = k->op.n;
  return true;
}

/* A FOR of which only the loop inside runs, without draining. */
static bool plan_flat(TdVkUnit *k, const TdSchedStep *x) {
  const TdSchedStep *list[TD_MAX_RANK * 2];
  size_t n = 0;
  for (; x->kind == TD_SCHED_LOOP; x = x->kid[0]) list[n++] = x;
  list[n++] = x;
  return plan_pipe(k, list, n);
}

/* The loop over the elements that a SET or a tensor's value writes. */
static bool plan_elements(TdVkUnit *k, const TdSchedStep *x) {
  return td_vunit_refuse(k, "not-built", x->stmt->loc, "write a loop over its elements",
                         "Verilog of whole arrays that are computed or filled is not built yet");
}

/* IF around loops. */
static bool plan_branch(TdVkUnit *k, const TdSchedStep *x) {
  add_state(k, at_line(k, "if", x->stmt->loc), x->stmt->loc, x->kid[0]->length);
  TdVlNum test = td_vform_index(k, x->stmt->expr[0]);
  if (!test.e) return false;
  size_t branch = add_op(k, (TdVkOp){.kind = TD_VK_BRANCH, .test = td_vtree_not(k->m, test.e)});
  if (!plan(k, x->kid[1])) return false;
  if (x->nkid > 2) {
    size_t jump = add_op(k, (TdVkOp){.kind = TD_VK_JUMP});
    k->op.at[branch].target = k->op.n;
    if (!plan(k, x->kid[2])) return false;
    k->op.at[jump].target = k->op.n;
  } else {
    k->op.at[branch].target = k->op.n;
  }
  return true;
}

static bool plan(TdVkUnit *k, const TdSchedStep *x) {
  bool ok = true, written = td_sched_is_written(x);
  td_ctx_enter(td_arena_ctx(k->arena));
  switch (x->kind) {
  case TD_SCHED_SEQUENCE:
    for (size_t i = 0; ok && i < x->nkid; i++) ok = plan(k, x->kid[i]);
    break;
  case TD_SCHED_BLOCK: ok = plan_block(k, x, 0); break;
  case TD_SCHED_LOOP:
    ok = !written ? plan_elements(k, x) : x->flat ? plan_flat(k, x) : plan_loop(k, x);
    break;
  case TD_SCHED_PIPE: ok = written ? plan_pipe(k, &x, 1) : plan_elements(k, x); break;
  case TD_SCHED_BRANCH: ok = plan_branch(k, x); break;
  case TD_SCHED_CALL:
    ok = td_vunit_refuse(k, "not-built", x->stmt->loc, "inline it",
                         "Verilog of calls is not built yet");
    break;
  }
  td_ctx_leave(td_arena_ctx(k->arena));
  return ok;
}

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

/* What happens from operation `at` on until the next state. */
static void walk(TdVkUnit *k, size_t at, TdVlDo *out) {
  TdVlModule *m = k->m;
  td_ctx_enter(td_arena_ctx(k->arena));
  for (bool more = true; more;) {
    const TdVkOp *op = &k->op.at[at++];
    switch (op->kind) {
    case TD_VK_CLEAR: td_vtree_add(m, out, clear(k, op->counter)); break;
    case TD_VK_NEXT: td_vtree_add(m, out, count_on(k, op->counter)); break;
    case TD_VK_JUMP: at = op->target; break;
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
      walk(k, op->target, then);
      walk(k, at, otherwise);
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
  walk(k, next, go);
  if (s->kind == RUN) {
    TdVlDo *run = td_vtree_block(m);
    td_vtree_add(m, run, move_on(k, s->leaf, s->leaf->nest.n - 1));
    td_vtree_add(m, run, td_vtree_if(m, is_last(k, s->leaf), go, NULL));
    return td_vtree_if(m, td_vdata_moves(k, (TdVkLeaf *)s->leaf, 0), run, NULL);
  }
  const TdVlSig *stall = s->leaf && s->kind == STAY ? s->leaf->stall : NULL;
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
  return td_vtree_if(m, td_vtree_binary(m, "==", 1, tick, last), end,
                     td_vtree_set(m, k->tick, td_vtree_binary(m, "+", k->tick_width, tick, one)));
}

/* The registers of control; what refers to states may be made after this. */
bool td_vplan_unit(TdVkUnit *k, const TdSchedStep *x) {
  if (!plan(k, x)) return false;
  add_op(k, (TdVkOp){.kind = TD_VK_END});
  int64_t longest = 1;
  for (size_t i = 0; i < k->state.n; i++)
    if (k->state.at[i].length > longest) longest = k->state.at[i].length;
  k->at_width = bits_of(k->state.n);
  k->tick_width = bits_of((uint64_t)longest - 1);
  k->at = td_vtree_reg(k->m, "state", k->at_width);
  if (longest > 1) k->tick = td_vtree_reg(k->m, "tick", k->tick_width);
  for (size_t i = 0; i < k->leaf.n; i++) {
    TdVkLeaf *l = k->leaf.at[i];
    bool body = !l->pipe && l->t->loop;
    l->time = td_times_of(k->times, body ? l->t->loop : l->step->stmt);
    if (body && l->time) l->time = l->time->body;
    if (!td_vtask_open(k, l)) return false;
    if (l->pipe) start_pipe(k, l);
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

void td_vplan_finish(TdVkUnit *k) {
  TdVlModule *m = k->m;
  TdVlDo *c = td_vtree_block(m), *begin = td_vtree_block(m), *first = td_vtree_block(m);
  c->kind = TD_VL_CASE;
  c->x = td_vtree_sig(m, k->at);
  walk(k, 0, first);
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
  td_vtree_always(m,
                  td_text_fmt(k->arena, "%s: control of %s", td_vunit_place(k, k->unit->loc),
                              k->unit->sym->name),
                  td_vtree_if(m, td_vtree_sig(m, k->rst), idle, c));
  const TdVl *off = td_vtree_label(m, k->at_width, 0, "S_IDLE");
  td_vtree_assign(m, k->busy, td_vtree_binary(m, "!=", 1, td_vtree_sig(m, k->at), off));
}

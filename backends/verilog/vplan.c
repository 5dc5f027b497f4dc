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
  if (k->placeless) return k->unit->sym->name;
  const char *name = loc.source ? td_sources_name(s, loc.source) : k->unit->sym->name;
  const char *last = strrchr(name, '/');
  return td_text_fmt(k->arena, "%s:%u", last ? last + 1 : name, loc.line);
}

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

/* The same, or none where it takes no cycle. */
enum { NO_STATE = -1 };
static size_t add_time(TdVkUnit *k, const char *label, TdLoc loc, int64_t length) {
  return length > 0 ? add_state(k, label, loc, length) : (size_t)NO_STATE;
}

static bool zero_time(TdVkUnit *k, const TdSchedStep *x) {
  bool named = x->stmt->kind == TD_STMT_FOR;
  return td_vunit_refuse(k, "zero-time", x->stmt->loc, "device = \"rtl\"",
                         "what %s%s%s decides takes no time on %s, which hardware cannot",
                         named ? "'" : "", named ? x->stmt->sym->name : "this", named ? "'" : "",
                         k->sched->target->name);
}

static TdVkLeaf *add_leaf(TdVkUnit *k, const TdSchedStep *x, const TdTrace *t, const char *name) {
  TdVkLeaf *l = TD_NEW(k->arena, TdVkLeaf);
  *l = (TdVkLeaf){.number = k->leaf.n + 1, .step = x, .t = t, .name = name};
  l->frame = k->frame;
  td_vec_push(k->arena, &k->leaf, l);
  return l;
}

static bool plan(TdVkUnit *k, const TdSchedStep *x);

static const char *at_line(TdVkUnit *k, const char *what, TdLoc loc) {
  return td_text_fmt(k->arena, "%s_l%u", what, loc.line);
}

/* Goes on to after the loop that is left, or the unit. */
static void put_exit(TdVkUnit *k, TdVkExits *to, TdVkOp op) {
  td_vec_push(k->arena, to, add_op(k, op));
}

/* What leaves the scope of a buffer that is held is refused. */
static bool holds_none(TdVkUnit *k, TdLoc loc, int64_t within) {
  return k->holds <= within ||
         td_vunit_refuse(k, "not-built", loc, "let it end before",
                         "Verilog of a jump out of the scope of a block is not built yet");
}

/* After a pipelined loop: returns in it. False: refused. */
static bool put_return(TdVkUnit *k, const TdVkLeaf *l) {
  TdVkOp op = {.kind = TD_VK_BRANCH, .when = TD_VK_RETURNED, .leaf = l};
  if (!l->t->returned.any && !l->t->returned.always) return true;
  if (!holds_none(k, l->step->stmt->loc, k->holds_unit)) return false;
  put_exit(k, k->returns, op);
  return true;
}

/* After straight code: breaks and returns in it. False: refused. */
static bool put_jumps(TdVkUnit *k, TdVkLeaf *l, const TdTrace *t) {
  const TdTraceLeft *left[] = {&t->broken, &t->returned};
  TdVkExits *to[] = {k->breaks, k->returns};
  for (int i = 0; i < 2; i++) {
    TdVkOp op = {.kind = TD_VK_BRANCH, .when = i ? TD_VK_RETURNED : TD_VK_BROKEN, .leaf = l};
    if (left[i]->always) op.kind = TD_VK_JUMP;
    if (!left[i]->any && !left[i]->always) continue;
    if (!holds_none(k, l ? l->step->stmt->loc : k->unit->loc, i ? k->holds_unit : k->holds_loop))
      return false;
    put_exit(k, to[i], op);
  }
  return true;
}

/* Has jumps lead to what comes next. */
static void end_exits(TdVkUnit *k, const TdVkExits *x) {
  for (size_t i = 0; i < x->n; i++) k->op.at[x->at[i]].target = k->op.n;
}

/* Whether no statement of a leaf reads what is stored in its cycle. */
static bool has_time(TdVkUnit *k, const TdTrace *t) {
  const TdStmt *s = td_target_is_hardware(k->sched->target) ? NULL : td_trace_reads_at_once(t);
  return !s || td_vunit_refuse(k, "zero-time", s->loc, "device = \"rtl\"",
                               "this reads what is stored in no time on %s, which hardware cannot",
                               k->sched->target->name);
}

/* Whether statement s gets a buffer whose scope is the block that is planned. */
static bool is_in_scope(const TdVkUnit *k, const TdStmt *s) {
  for (uint32_t i = 0; k->scope && i < k->scope->nkid; i++)
    if (k->scope->kid[i] == s) return true;
  return false;
}

static void put_free(TdVkUnit *k, const TdStmt *s) {
  add_op(k, (TdVkOp){.kind = TD_VK_FREE, .stmt = s, .frame = k->frame});
}

/* Frees the buffers of a leaf whose scopes end in it. */
static void end_inner(TdVkUnit *k, const TdTrace *t) {
  for (size_t i = 0; i < t->reach.n; i++) {
    const TdReach *r = &t->reach.at[i];
    if (td_vbuffer_is(r) && r->stmt->kind == TD_STMT_GET && !is_in_scope(k, r->stmt))
      put_free(k, r->stmt);
  }
}

/* Straight code: a state. */
static bool plan_block(TdVkUnit *k, const TdSchedStep *x, size_t element) {
  if (!has_time(k, x->trace)) return false;
  if (x->length < 1) {
    return put_jumps(k, NULL, x->trace);
  }
  TdVkLeaf *l = add_leaf(k, x, x->trace, at_line(k, "do", x->stmt->loc));
  l->element = element;
  bool waits = td_vtask_has_tokens(x->trace);
  l->state = add_state(k, l->name, x->stmt->loc, x->length + waits);
  k->state.at[l->state].leaf = l;
  k->state.at[l->state].waits = waits;
  end_inner(k, x->trace);
  return put_jumps(k, l, x->trace);
}

static bool reads_memory(void *ud, const TdExpr *e) {
  bool *found = ud;
  *found |= e->kind == TD_EXPR_LOAD;
  return !*found;
}

/* Whether what a step tests, its bounds or its arguments, needs a datapath of its own. */
static bool is_from_data(TdVkUnit *k, const TdSchedStep *x) {
  bool found = x->head > 0;
  for (uint32_t i = 0; i < x->stmt->nexpr && x->tests; i++)
    td_walk_expr(x->stmt->expr[i], reads_memory, &found);
  (void)k;
  return found;
}

/* The datapath of tests that are there in the last cycle of a state. */
static TdVkLeaf *add_tests(TdVkUnit *k, const TdSchedStep *x, size_t state) {
  TdVkLeaf *l = add_leaf(k, x, x->tests, k->state.at[state].name);
  l->state = state;
  return l;
}

/* The counter of a FOR, `lanes` of whose iterations lie side by side; its bounds are there at the
 * end of state `enter`. False: refused. */
static bool counter_of(TdVkUnit *k, const TdSchedStep *x, size_t enter, size_t *at) {
  const TdStmt *s = x->stmt;
  int64_t least = 0, most = 0, trip = 0, lanes = x->lanes;
  TdSession *ss = k->prog->store->session;
  const TdExpr *gap = td_lin_minus(ss, k->arena, td_for_hi(s), td_for_lo(s));
  bool bounded = td_range_of(&k->frame->ask, s, gap, &least, &most);
  int64_t stride = s->step * lanes;
  if (bounded && least == most && least > 0) trip = (least + stride - 1) / stride;
  if (!trip && enter == (size_t)NO_STATE) return zero_time(k, x);
  if (lanes > 1 && (!bounded || least != most || (least / s->step) % lanes))
    return td_vunit_refuse(k, "not-built", s->loc, "split it with a factor that divides",
                           "Verilog of copies of '%s' that do not divide it is not built yet",
                           s->sym->name);
  most = !bounded ? INT32_MAX : most > 0 ? (most + stride - 1) / stride : 1;
  *at = td_vform_counter(k, s, s->sym->name, s, trip, most, stride);
  if (trip || !is_from_data(k, x)) return true;
  k->counter.at[*at].bounds = add_tests(k, x, enter);
  td_vec_push(k->arena, &k->early, -1 - (int64_t)*at);
  return true;
}

/* After the last state of a body: counts on and goes back to `body`, or on. */
static void close_loop(TdVkUnit *k, size_t counter, size_t body) {
  size_t branch = add_op(k, (TdVkOp){.kind = TD_VK_BRANCH, .when = TD_VK_OVER, .counter = counter});
  add_op(k, (TdVkOp){.kind = TD_VK_NEXT, .counter = counter});
  add_op(k, (TdVkOp){.kind = TD_VK_JUMP, .target = body});
  k->op.at[branch].target = k->op.n;
}

/* Before a loop: skips it, to what is filled in then, where it has no iteration. */
static void open_loop(TdVkUnit *k, size_t counter, TdVkExits *skip) {
  if (k->counter.at[counter].trip) return;
  put_exit(k, skip, (TdVkOp){.kind = TD_VK_BRANCH, .when = TD_VK_EMPTY, .counter = counter});
}

/* The body of a loop, which BREAK leaves by way of `breaks`. */
static bool plan_body(TdVkUnit *k, const TdSchedStep *x, TdVkExits *breaks) {
  TdVkExits *outer = k->breaks;
  int64_t holds = k->holds_loop;
  k->breaks = breaks;
  k->holds_loop = k->holds;
  bool ok = plan(k, x);
  k->breaks = outer;
  k->holds_loop = holds;
  return ok;
}

/* A loop whose iterations follow each other. */
static bool plan_for(TdVkUnit *k, const TdSchedStep *x) {
  const TdStmt *s = x->stmt;
  const TdTarget *t = k->sched->target;
  size_t i;
  TdVkExits skip = {0}, breaks = {0};
  size_t clear = add_op(k, (TdVkOp){.kind = TD_VK_CLEAR});
  size_t enter =
      add_time(k, td_text_fmt(k->arena, "%s_enter", s->sym->name), s->loc, t->enter + x->head);
  if (!counter_of(k, x, enter, &i)) return false;
  k->op.at[clear].counter = i;
  open_loop(k, i, &skip);
  size_t body = k->op.n;
  add_time(k, td_text_fmt(k->arena, "%s_again", s->sym->name), s->loc, t->again);
  if (!plan_body(k, x->kid[0], &breaks)) return false;
  close_loop(k, i, body);
  end_exits(k, &skip);
  end_exits(k, &breaks);
  return true;
}

/* WHILE, and REPEAT, whose test comes after the body. */
static bool plan_while(TdVkUnit *k, const TdSchedStep *x) {
  const TdStmt *s = x->stmt;
  const TdTarget *t = k->sched->target;
  TdVkExits leave = {0};
  add_state(k, at_line(k, "while_enter", s->loc), s->loc, t->enter);
  size_t body = k->op.n;
  TdVkOp test = {.kind = TD_VK_BRANCH, .when = TD_VK_FALSE};
  size_t again =
      add_state(k, at_line(k, "while", s->loc), s->loc, t->again + (s->post ? 0 : x->head));
  if (!s->post) {
    test.leaf = add_tests(k, x, again);
    put_exit(k, &leave, test);
  }
  if (!plan_body(k, x->kid[0], &leave)) return false;
  if (s->post) {
    test.leaf = add_tests(k, x, add_state(k, at_line(k, "until", s->loc), s->loc, x->head));
    put_exit(k, &leave, test);
  }
  add_op(k, (TdVkOp){.kind = TD_VK_JUMP, .target = body});
  end_exits(k, &leave);
  return true;
}

static bool plan_loop(TdVkUnit *k, const TdSchedStep *x) {
  if (x->stmt->kind == TD_STMT_FOR) return plan_for(k, x);
  return k->sched->target->again ? plan_while(k, x) : zero_time(k, x);
}

/* The states before a pipelined loop at the bottom of n loops that keep it running: its bounds, and
 * what is loaded to stay. */
static bool enter_pipe(TdVkUnit *k, TdVkLeaf *l, const TdSchedStep *const *loop, size_t n,
                       TdVkExits *skip) {
  const TdSchedStep *x = loop[n - 1];
  const TdTarget *t = k->sched->target;
  size_t clear = k->op.n;
  for (size_t i = 0; i < n; i++) add_op(k, (TdVkOp){.kind = TD_VK_CLEAR});
  size_t enter = add_time(k, td_text_fmt(k->arena, "%s_enter", loop[0]->stmt->sym->name),
                          x->stmt->loc, t->enter + loop[0]->head);
  for (size_t i = 0; i < n; i++) {
    size_t c;
    if (!counter_of(k, loop[i], enter, &c)) return false;
    td_vec_push(k->arena, &l->nest, c);
    k->op.at[clear + i].counter = c;
  }
  for (size_t i = 0; i < n; i++) open_loop(k, l->nest.at[i], skip);
  if (!l->t->loads) return true;
  add_state(k, td_text_fmt(k->arena, "%s_load", x->stmt->sym->name), x->stmt->loc, x->before);
  return true;
}

/* Whether a reach gets, takes or puts a buffer. */
static bool moves_block(const TdReach *r) {
  return r->array->kind != TD_CELL_MEMORY && r->stmt->expr[0]->type->block;
}

/* A pipelined loop at the bottom of n loops that keep it running. */
static bool plan_pipe(TdVkUnit *k, const TdSchedStep *const *loop, size_t n) {
  const TdSchedStep *x = loop[n - 1];
  const TdTrace *trace = x->trace;
  const char *name = x->stmt->sym->name;
  TdVkExits skip = {0};
  if (!k->sched->target->enter && (trace->loads || trace->stores)) return zero_time(k, x);
  if (!has_time(k, trace)) return false;
  if (td_attrs_get(x->stmt->attrs, TD_ATTR_REWIND))
    return td_vunit_refuse(k, "not-built", x->stmt->loc, "leave out 'rewind'",
                           "Verilog of a pipelined loop that rewinds is not built yet");
  for (size_t i = 0; i < trace->reach.n; i++)
    if (moves_block(&trace->reach.at[i]))
      return td_vunit_refuse(k, "not-built", trace->reach.at[i].stmt->loc, "pipeline a loop inside",
                             "Verilog of a pipelined loop that hands blocks over is not built yet");
  TdVkLeaf *l = add_leaf(k, x, trace, name);
  l->pipe = true;
  l->ii = x->ii;
  if (!enter_pipe(k, l, loop, n, &skip)) return false;
  l->state = add_state(k, td_text_fmt(k->arena, "%s_run", name), x->stmt->loc, 1);
  k->state.at[l->state].kind = TD_VK_RUN;
  k->state.at[l->state].leaf = l;
  int64_t rest = x->length - 1 + x->around - x->before;
  bool tokens = td_vtask_has_tokens(trace);
  size_t none = k->op.n;
  if (tokens && !rest) add_op(k, (TdVkOp){.kind = TD_VK_BRANCH, .leaf = l});
  if (tokens || rest > 0) {
    size_t s =
        add_state(k, td_text_fmt(k->arena, "%s_drain", name), x->stmt->loc, rest > 0 ? rest : 1);
    k->state.at[s].kind = TD_VK_DRAIN;
    k->state.at[s].leaf = l;
  }
  if (tokens && !rest) k->op.at[none].target = k->op.n;
  bool ok = put_return(k, l);
  end_exits(k, &skip);
  return ok;
}

/* A FOR of which only the loop inside runs, without draining. */
static bool plan_flat(TdVkUnit *k, const TdSchedStep *x) {
  const TdSchedStep *list[TD_MAX_RANK * 2];
  size_t n = 0;
  for (; x->kind == TD_SCHED_LOOP; x = x->kid[0]) list[n++] = x;
  list[n++] = x;
  return plan_pipe(k, list, n);
}

/* A fill: a word of each bank a cycle, or all registers. */
static bool plan_fill(TdVkUnit *k, const TdSchedStep *x) {
  const TdTarget *t = k->sched->target;
  if (!t->enter) return zero_time(k, x);
  const char *name = at_line(k, "fill", x->stmt->loc);
  add_state(k, td_text_fmt(k->arena, "%s_enter", name), x->stmt->loc, t->enter);
  TdVkLeaf *l = add_leaf(k, x, x->trace, name);
  l->fills = true;
  l->state = add_state(k, name, x->stmt->loc, x->length + x->trip - 1);
  return true;
}

/* The loop over the elements that a SET or a tensor's value writes: a counter a dimension. */
static bool plan_elements(TdVkUnit *k, const TdSchedStep *x, const TdType *type) {
  const TdTarget *t = k->sched->target;
  const TdStmt *s = x->stmt;
  size_t first = k->counter.n;
  const char *name = at_line(k, "all", s->loc);
  if (!t->enter || !t->again) return zero_time(k, x);
  for (int d = 0; d < type->rank; d++) {
    int64_t n = 1;
    td_unit_value(k->frame->unit, type->dim[d], &n);
    td_vform_counter(k, td_arena_alloc(k->arena, 1), td_text_fmt(k->arena, "%s_%d", name, d), NULL,
                     n, n, 1);
    add_op(k, (TdVkOp){.kind = TD_VK_CLEAR, .counter = first + (size_t)d});
  }
  add_state(k, td_text_fmt(k->arena, "%s_enter", name), s->loc, t->enter);
  if (!x->trip) return true;
  size_t body = k->op.n;
  add_state(k, td_text_fmt(k->arena, "%s_again", name), s->loc, t->again);
  if (!plan_block(k, x->kid[0], first + 1)) return false;
  k->leaf.at[k->leaf.n - 1]->nelement = (size_t)type->rank;
  for (int d = type->rank; d-- > 0;) {
    close_loop(k, first + (size_t)d, body);
    add_op(k, (TdVkOp){.kind = TD_VK_CLEAR, .counter = first + (size_t)d});
  }
  return true;
}

/* The registers that hold a token while it is computed. */
static const TdPlaced *token_of(TdVkUnit *k, const TdStmt *s) {
  const TdType *t = s->expr[1]->type, *e = td_type_scalar(t);
  TdPlaced *p = TD_NEW(k->arena, TdPlaced);
  TdSymbol *sym = TD_NEW(k->arena, TdSymbol);
  *sym = (TdSymbol){.name = at_line(k, "token", s->loc)};
  *p = (TdPlaced){.sym = sym, .rank = t->rank, .registers = true, .element = e, .width = e->w};
  for (int d = 0; d < t->rank; d++) {
    p->banks[d] = p->extent[d] = 1;
    td_unit_value(k->frame->unit, t->dim[d], &p->extent[d]);
  }
  td_vec_push(k->arena, &k->side, p->sym);
  return p;
}

/* A put of a tensor that it computes: all elements, then the token. */
static bool plan_put(TdVkUnit *k, const TdSchedStep *x) {
  const TdPlaced *token = token_of(k, x->stmt);
  size_t first = k->leaf.n;
  if (!plan_elements(k, x->kid[0], x->stmt->expr[1]->type)) return false;
  for (size_t i = first; i < k->leaf.n; i++) k->leaf.at[i]->makes = token;
  if (!plan_block(k, x->kid[1], 0)) return false;
  k->leaf.at[k->leaf.n - 1]->computed = token;
  return true;
}

/* A loop that no one wrote: of a SET, of a local with a value, of a fill. */
static bool plan_unwritten(TdVkUnit *k, const TdSchedStep *x) {
  const TdStmt *s = x->stmt;
  if (x->kind == TD_SCHED_PIPE) return plan_fill(k, x);
  return plan_elements(k, x, s->kind == TD_STMT_SET ? s->expr[0]->type : s->type);
}

/* IF around loops. */
static bool plan_branch(TdVkUnit *k, const TdSchedStep *x) {
  const TdSchedStep *test = x->kid[0];
  if (test->length < 1) return zero_time(k, test);
  size_t s = add_state(k, at_line(k, "if", x->stmt->loc), x->stmt->loc, test->length);
  TdVkOp op = {.kind = TD_VK_BRANCH, .when = TD_VK_FALSE};
  op.leaf = add_tests(k, test, s);
  size_t branch = add_op(k, op);
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

/* A call: a state in which arguments are handed over, and the steps of what is called, each time
 * it is called anew. */
static bool plan_call(TdVkUnit *k, const TdSchedStep *x) {
  const TdStmt *s = x->stmt;
  TdVkFrame *outer = k->frame, *f = TD_NEW(k->arena, TdVkFrame);
  TdVkExits returns = {0}, *breaks = k->breaks, *before = k->returns;
  int64_t holds = k->holds_unit;
  if (!x->unit || !x->unit->body)
    return td_vunit_refuse(k, "not-built", s->loc, "give it a model",
                           "Verilog of %s, which is no kernel, is not built yet", s->sym->name);
  if (!k->sched->target->again) return zero_time(k, x);
  *f = (TdVkFrame){.unit = x->unit, .ask = outer->ask};
  f->ask.unit = x->unit;
  size_t state =
      add_state(k, at_line(k, "call", s->loc), s->loc, k->sched->target->again + x->head);
  td_vec_push(k->arena, &k->early, (int64_t)k->call.n);
  td_vec_push(k->arena, &k->call, ((TdVkCall){add_tests(k, x, state), s, f}));
  k->frame = f;
  k->returns = &returns;
  k->breaks = NULL;
  k->holds_unit = k->holds;
  bool ok = plan(k, td_sched_unit(k->sched, x->unit, k->diag));
  k->frame = outer;
  k->returns = before;
  k->breaks = breaks;
  k->holds_unit = holds;
  end_exits(k, &returns);
  return ok;
}

/* Whether s gets a buffer of a block stream until the end of its scope. */
static bool is_held(const TdStmt *s) {
  return s->kind == TD_STMT_GET && s->sym && s->expr[0]->type->block;
}

/* The steps of a block of statements, at the end of which the buffers that it got are free. */
static bool plan_sequence(TdVkUnit *k, const TdSchedStep *x) {
  const TdStmt *outer = k->scope, *s = x->stmt;
  int64_t holds = k->holds;
  bool ok = true;
  for (uint32_t i = 0; i < s->nkid; i++) k->holds += is_held(s->kid[i]);
  k->scope = s;
  for (size_t i = 0; ok && i < x->nkid; i++) ok = plan(k, x->kid[i]);
  for (uint32_t i = 0; ok && i < s->nkid; i++)
    if (is_held(s->kid[i])) put_free(k, s->kid[i]);
  k->scope = outer;
  k->holds = holds;
  return ok;
}

static bool plan(TdVkUnit *k, const TdSchedStep *x) {
  bool ok = true, written = td_sched_is_written(x);
  td_ctx_enter(td_arena_ctx(k->arena));
  switch (x->kind) {
  case TD_SCHED_SEQUENCE:
    if (x->stmt->kind == TD_STMT_PUT) {
      ok = plan_put(k, x);
      break;
    }
    ok = plan_sequence(k, x);
    break;
  case TD_SCHED_BLOCK: ok = plan_block(k, x, 0); break;
  case TD_SCHED_LOOP:
    ok = !written ? plan_unwritten(k, x) : x->flat ? plan_flat(k, x) : plan_loop(k, x);
    break;
  case TD_SCHED_PIPE: ok = written ? plan_pipe(k, &x, 1) : plan_unwritten(k, x); break;
  case TD_SCHED_BRANCH: ok = plan_branch(k, x); break;
  case TD_SCHED_CALL: ok = plan_call(k, x); break;
  }
  td_ctx_leave(td_arena_ctx(k->arena));
  return ok;
}

bool td_vplan_unit(TdVkUnit *k, const TdSchedStep *x) {
  TdVkExits returns = {0};
  k->returns = &returns;
  if (!plan(k, x)) return false;
  end_exits(k, &returns);
  add_op(k, (TdVkOp){.kind = TD_VK_END});
  return true;
}

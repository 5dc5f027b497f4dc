/* sched.c - a unit as steps: which loops are pipelined, laid out, or run one iteration at a time.
 */
#include "analysis/time/sched.h"

#include "analysis/range/range.h"

/* One unit being scheduled. */
typedef struct Maker {
  TdSched *s;
  const TdAsk *q;
  TdDiag *d;
} Maker;

static TdSchedStep *step_of(Maker *m, const TdStmt *s);

static TdSchedStep *new_step(const Maker *m, TdSchedKind kind, const TdStmt *s) {
  TdSchedStep *x = TD_NEW(m->s->arena, TdSchedStep);
  *x = (TdSchedStep){.kind = kind, .stmt = s, .unit = m->q->unit, .lanes = 1};
  return x;
}

static TdTrace *new_trace(const Maker *m) {
  return TD_NEW(m->s->arena, TdTrace);
}

/* The most iterations of a FOR; false if they are not bounded. */
static bool most_trips(const Maker *m, const TdStmt *s, int64_t *n) {
  int64_t least;
  const TdExpr *gap =
      td_lin_minus(m->s->prog->store->session, m->s->arena, td_for_hi(s), td_for_lo(s));
  if (!td_range_of(m->q, s, gap, &least, n)) return false;
  *n = *n > 0 ? (*n + s->step - 1) / s->step : 0;
  return true;
}

/* How many iterations of a FOR are to lie side by side; all of them make it no loop any more. */
static int64_t lanes_of(const Maker *m, const TdStmt *s, bool *all) {
  const TdAttr *x = td_attrs_get(s->attrs, TD_ATTR_UNROLL);
  int64_t n;
  *all = x && most_trips(m, s, &n) && (x->arg[0].i == 0 || x->arg[0].i >= n);
  return x && x->arg[0].i > 1 ? x->arg[0].i : 1;
}

static bool is_allreduce(void *ud, const TdExpr *e) {
  bool *found = ud;
  *found |= e->kind == TD_EXPR_TENSOR && e->op == TD_OP_ALLREDUCE;
  return !*found;
}

/* Whether a PUT computes a tensor, element by element on hardware whose memories have ports. */
static bool computes_token(const Maker *m, const TdStmt *s) {
  const TdExpr *e = s->expr[1];
  bool meets = false;
  if (!m->s->target->ports || e->type->kind != TD_T_TENSOR || e->kind == TD_EXPR_VIEW ||
      s->expr[0]->type->block)
    return false;
  td_walk_expr(e, is_allreduce, &meets);
  return !meets;
}

/* Whether what a SET, LOCAL or PUT computes is a tensor in memory, and so a loop over its elements.
 */
static bool is_loop_over_elements(const Maker *m, const TdStmt *s) {
  if (s->kind == TD_STMT_SET) return true;
  if (s->kind == TD_STMT_PUT) return computes_token(m, s);
  return s->kind == TD_STMT_LOCAL && s->cls == TD_LOCAL_AUTO && s->init != TD_INIT_NONE &&
         s->type->kind == TD_T_TENSOR;
}

/* Whether s is straight code once loops that are unrolled wholly are laid out. */
static bool is_straight(const Maker *m, const TdStmt *s) {
  const TdUnit *u;
  bool all = false, straight = true;
  switch (s->kind) {
  case TD_STMT_FOR: lanes_of(m, s, &all); break;
  case TD_STMT_WHILE: return false;
  case TD_STMT_CALL:
    u = td_prog_unit(m->s->prog, s->sym);
    return u && u->kind == TD_UNIT_EXTERN &&
           (td_attrs_get(u->attrs, TD_ATTR_COST) || !u->foreign->model);
  default: all = !is_loop_over_elements(m, s); break;
  }
  td_ctx_enter(td_affine_ctx(m->s->affine));
  for (uint32_t i = 0; straight && i < s->nkid; i++) straight = is_straight(m, s->kid[i]);
  td_ctx_leave(td_affine_ctx(m->s->affine));
  return all && straight;
}

/* Straight code takes a cycle, or as long as what its attributes say. */
static int64_t ideal_length(const TdTrace *t, int64_t length) {
  int64_t one = t->flow.node.n > 1;
  return length > one ? length : one;
}

/* Fills a leaf that is straight code. */
static void fill_block(TdSchedStep *x, TdTrace *t) {
  td_trace_fire(t);
  td_trace_place(t);
  td_sched_place_operators(t);
  do td_flow_settle(&t->flow, 0, &(TdFlowCycle){0});
  while (td_trace_hazards(t));
  x->length = td_trace_length(t);
  if (!t->target->ports) x->length = ideal_length(t, x->length);
  if (t->flow.node.n > 1 && x->length < t->target->straight) x->length = t->target->straight;
  x->trace = t;
  td_sched_need(x, t);
}

/* Statements as straight code. */
static TdSchedStep *make_block(Maker *m, TdTraced what) {
  TdTrace *t = new_trace(m);
  if (!td_trace_of(m->q, m->s->target, what, t, m->d)) return NULL;
  if (what.loop) td_trace_trim(t);
  TdSchedStep *x = new_step(m, TD_SCHED_BLOCK, what.s[0]);
  fill_block(x, t);
  return x;
}

/* The iterations of a loop over the elements of what s writes. */
static int64_t elements(const Maker *m, const TdType *type) {
  int64_t n = 1, extent;
  for (int d = 0; d < type->rank; d++)
    if (td_unit_value(m->q->unit, type->dim[d], &extent)) n *= extent;
  return n;
}

/* A loop over the elements of what s computes. */
static TdSchedStep *make_element_loop(Maker *m, const TdStmt *s, const TdType *type) {
  TdTrace *t = new_trace(m);
  if (!td_trace_of_element(m->q, m->s->target, s, t, m->d)) return NULL;
  TdSchedStep *body = new_step(m, TD_SCHED_BLOCK, s), *x = new_step(m, TD_SCHED_LOOP, s);
  fill_block(body, t);
  x->trip = elements(m, type);
  x->kid = td_arena_copy(m->s->arena, &body, sizeof body);
  x->nkid = 1;
  return x;
}

/* A PUT of a tensor that it computes: all elements, then the token. */
static TdSchedStep *make_put(Maker *m, const TdStmt *s) {
  TdTrace *t = new_trace(m);
  TdSchedStep **kid = TD_NEWN(m->s->arena, TdSchedStep *, 2);
  kid[0] = make_element_loop(m, s, s->expr[1]->type);
  if (!kid[0] || !td_trace_of_token(m->q, m->s->target, s, t, m->d)) return NULL;
  kid[1] = new_step(m, TD_SCHED_BLOCK, s);
  fill_block(kid[1], t);
  TdSchedStep *x = new_step(m, TD_SCHED_SEQUENCE, s);
  x->kid = kid;
  x->nkid = 2;
  return x;
}

/* The cycles from the start of a fill to its first write. */
static int64_t fill_length(TdTrace *t) {
  td_sched_place_operators(t);
  td_flow_settle(&t->flow, 0, &(TdFlowCycle){0});
  int64_t length = td_flow_length(&t->flow);
  return length > 1 ? length : 1;
}

/* A SET, or a local with a value: element by element; a fill writes a word of each bank a cycle. */
static TdSchedStep *make_elements(Maker *m, const TdStmt *s) {
  const TdType *type = s->kind == TD_STMT_SET ? s->expr[0]->type : s->type;
  bool fill = s->kind == TD_STMT_LOCAL && s->expr[0]->type->kind != TD_T_TENSOR;
  if (fill) {
    TdTrace *t = new_trace(m);
    if (!td_trace_of(m->q, m->s->target, (TdTraced){NULL, 1, &s, 1}, t, m->d)) return NULL;
    const TdPlaced *p = t->placed.at[t->placed.n - 1];
    TdSchedStep *x = new_step(m, TD_SCHED_PIPE, s);
    x->trip = p->registers ? 1 : t->reach.n ? t->reach.at[t->reach.n - 1].beats : 1;
    x->asked = x->ii = x->length = 1;
    if (td_target_is_hardware(m->s->target)) x->length = fill_length(t);
    x->why = "as asked";
    x->at = s->loc;
    x->trace = t;
    return x;
  }
  return make_element_loop(m, s, type);
}

/* Statements one after the other; straight ones next to each other are one step. */
static TdSchedStep *make_sequence(Maker *m, const TdStmt *block) {
  TD_VEC(TdSchedStep *) kid = {0};
  for (uint32_t i = 0; i < block->nkid;) {
    uint32_t n = 0;
    while (i + n < block->nkid && is_straight(m, block->kid[i + n])) n++;
    TdSchedStep *x =
        n ? make_block(m, (TdTraced){NULL, 1, block->kid + i, n}) : step_of(m, block->kid[i]);
    if (!x) return NULL;
    td_vec_push(m->s->arena, &kid, x);
    i += n ? n : 1;
  }
  TdSchedStep *x = new_step(m, TD_SCHED_SEQUENCE, block);
  x->kid = kid.at;
  x->nkid = kid.n;
  return x;
}

/* Lays out what s tests, its bounds or its arguments, which memories or operators give on hardware.
 * False: that cannot be. */
static bool lay_tests(Maker *m, TdSchedStep *x, const TdStmt *s) {
  if (!td_target_is_hardware(m->s->target)) return true;
  TdTrace *t = new_trace(m);
  if (!td_trace_of_tests(m->q, m->s->target, s, t, m->d)) return false;
  td_trace_place(t);
  td_flow_settle(&t->flow, 0, &(TdFlowCycle){0});
  x->head = td_flow_length(&t->flow);
  x->tests = t;
  return true;
}

/* A pipelined loop, `reloads` as of its trace; NULL if its body cannot be laid out, as m->d says.
 */
static TdSchedStep *make_pipe(Maker *m, const TdStmt *s, int64_t lanes, bool reloads) {
  TdTrace *t = new_trace(m);
  const TdStmt *body = td_for_body(s);
  int64_t trip;
  if (!most_trips(m, s, &trip)) trip = INT64_MAX;
  if (!td_trace_of(m->q, m->s->target, (TdTraced){s, lanes, &body, 1}, t, m->d)) return NULL;
  t->reloads = reloads;
  TdSchedStep *x = new_step(m, TD_SCHED_PIPE, s);
  x->asked = td_attrs_get(s->attrs, TD_ATTR_PIPELINE)->arg[0].i;
  x->lanes = lanes;
  td_sched_pipe(x, t, trip == INT64_MAX ? trip : (trip + lanes - 1) / lanes);
  return lay_tests(m, x, s) ? x : NULL;
}

int64_t td_sched_tests(const TdSchedStep *x, const TdTarget *t, int64_t n) {
  if (x->stmt->kind != TD_STMT_WHILE) return n * t->again + x->head;
  return (n + !x->stmt->post) * (t->again + x->head);
}

bool td_sched_is_written(const TdSchedStep *x) {
  return x->stmt->kind == TD_STMT_FOR || x->stmt->kind == TD_STMT_WHILE;
}

/* Whether one of the expressions of s speaks of v. */
static bool speaks_of(const TdStmt *s, TdSym v) {
  for (uint32_t i = 0; i < s->nexpr; i++)
    if (s->expr[i]->kind != TD_EXPR_VIEW && td_walk_uses_expr(s->expr[i], v)) return true;
  return false;
}

/* Whether the expressions of x's statement decide how long it takes. */
static bool decides(const TdSchedStep *x) {
  bool loop = x->kind == TD_SCHED_LOOP || x->kind == TD_SCHED_PIPE;
  return loop ? td_sched_is_written(x) : x->kind == TD_SCHED_BRANCH || x->kind == TD_SCHED_CALL;
}

bool td_sched_shapes(const TdSchedStep *x, TdSym v) {
  if (decides(x) && speaks_of(x->stmt, v)) return true;
  for (size_t i = 0; i < x->nkid; i++)
    if (td_sched_shapes(x->kid[i], v)) return true;
  return false;
}

/* The pipelined loop at the bottom of loops that hold nothing else and the number of them, or NULL.
 */
static const TdSchedStep *only_pipe(const TdSchedStep *x, size_t *n) {
  *n = 1;
  while (x->kind == TD_SCHED_LOOP && x->flat && x->nkid == 1) {
    x = x->kid[0];
    ++*n;
  }
  return x->kind == TD_SCHED_PIPE && td_sched_is_written(x) ? x : NULL;
}

/* Whether a pipelined loop is among what x holds side by side. */
static bool holds_pipe(const TdSchedStep *x) {
  if (x->kind != TD_SCHED_SEQUENCE && x->kind != TD_SCHED_BRANCH)
    return (x->kind == TD_SCHED_PIPE && td_sched_is_written(x)) || x->flat;
  for (size_t i = 0; i < x->nkid; i++)
    if (holds_pipe(x->kid[i])) return true;
  return false;
}

/* Whether loop s around x can run on from iteration to iteration; *why says what keeps a pipeline
 * in it from that, or is NULL. */
static bool runs_on(const Maker *m, const TdStmt *s, const TdSchedStep *x, const char **why) {
  const TdStmt *loop[TD_MAX_RANK];
  int64_t weight[TD_MAX_RANK], trip;
  size_t n;
  const TdSchedStep *pipe = only_pipe(x, &n);
  *why = !pipe && holds_pipe(x) ? "it holds more than the pipelined loop" : NULL;
  if (!pipe || n + 1 > TD_MAX_RANK) return false;
  if (td_sched_shapes(x, s->sym)) {
    *why = td_text_fmt(m->s->arena, "what runs in it depends on '%s'", s->sym->name);
    return false;
  }
  loop[0] = s;
  for (size_t k = 1; k <= n; k++) {
    loop[k] = x->stmt;
    if (k < n) x = x->kid[0];
  }
  weight[n] = 1;
  for (size_t k = n; k-- > 0;) {
    int64_t lanes = k + 1 == n ? pipe->lanes : 1;
    if (!td_range_trip(m->q, loop[k + 1], &trip)) return false;
    if (!td_sys_mul64(weight[k + 1], (trip + lanes - 1) / lanes, &weight[k])) return false;
  }
  *why = td_sched_drains(pipe, &(TdTraceNest){loop, weight, n + 1});
  return !*why;
}

/* Whether loop s can run on with pipelined loop *kid as its body: what stays in registers while
 * that runs is read in each iteration then, if that takes no longer. */
static bool runs_on_reading(Maker *m, const TdStmt *s, TdSchedStep **kid, const char **why) {
  TdSchedStep *x = *kid;
  if (!runs_on(m, s, x, why)) return false;
  if (x->kind != TD_SCHED_PIPE || !x->trace->loads) return true;
  TdSchedStep *again = make_pipe(m, x->stmt, x->lanes, true);
  if (!again) return false;
  *why = again->ii == x->ii ? NULL : again->why;
  if (*why || !runs_on(m, s, again, why)) return false;
  *kid = again;
  return true;
}

/* Straight code in a sequence of its own is the sequence. */
static TdSchedStep *only_kid(TdSchedStep *x) {
  return x->kind == TD_SCHED_SEQUENCE && x->nkid == 1 ? x->kid[0] : x;
}

/* A loop whose iterations follow each other. */
static TdSchedStep *make_rolled(Maker *m, const TdStmt *s, int64_t lanes) {
  TdSchedStep *x = new_step(m, TD_SCHED_LOOP, s);
  const TdStmt *body = s->kid[0];
  bool straight = s->kind == TD_STMT_FOR && is_straight(m, body);
  TdSchedStep *kid =
      straight ? make_block(m, (TdTraced){s, lanes, &body, 1}) : make_sequence(m, body);
  if (!kid) return NULL;
  kid = only_kid(kid);
  x->lanes = straight ? lanes : 1;
  if (!lay_tests(m, x, s)) return NULL;
  if (x->tests && s->post && x->head < 1) x->head = 1;
  const char *why = NULL;
  x->flat = s->kind == TD_STMT_FOR && runs_on_reading(m, s, &kid, &why);
  if (why) x->why = td_text_fmt(m->s->arena, "not flattened: %s", why);
  x->kid = td_arena_copy(m->s->arena, &kid, sizeof kid);
  x->nkid = 1;
  return x;
}

/* FOR: pipelined if it is asked for and possible. */
static TdSchedStep *make_for(Maker *m, const TdStmt *s) {
  bool all;
  int64_t lanes = lanes_of(m, s, &all);
  if (!td_attrs_get(s->attrs, TD_ATTR_PIPELINE)) return make_rolled(m, s, lanes);
  TdSchedStep *x = make_pipe(m, s, lanes, false);
  if (x || m->d->kind != TD_UNSUPPORTED) return x;
  TdDiag why = *m->d;
  *m->d = (TdDiag){.arena = why.arena};
  x = make_rolled(m, s, lanes);
  if (!x) return NULL;
  x->why = td_text_fmt(m->s->arena, "not pipelined: %s", why.message);
  x->at = why.loc;
  return x;
}

/* IF around loops: its condition, then the arms. */
static TdSchedStep *make_branch(Maker *m, const TdStmt *s) {
  TdSchedStep *x = new_step(m, TD_SCHED_BRANCH, s);
  TdSchedStep **kid = TD_NEWN(m->s->arena, TdSchedStep *, s->nkid + 1);
  TdSchedStep *test = new_step(m, TD_SCHED_BLOCK, s);
  if (!lay_tests(m, test, s)) return NULL;
  test->length = test->head > 1 ? test->head : 1;
  kid[0] = test;
  for (uint32_t i = 0; i < s->nkid; i++)
    if (!(kid[i + 1] = make_sequence(m, s->kid[i]))) return NULL;
  x->kid = kid;
  x->nkid = s->nkid + 1;
  return x;
}

/* A call of a kernel, or of the model of foreign code. */
static TdSchedStep *make_call(Maker *m, const TdStmt *s) {
  const TdUnit *u = td_prog_unit(m->s->prog, s->sym);
  if (u && u->kind == TD_UNIT_EXTERN) u = td_prog_unit(m->s->prog, u->foreign->model);
  TdSchedStep *x = new_step(m, TD_SCHED_CALL, s);
  x->unit = u;
  if (!lay_tests(m, x, s)) return NULL;
  if (u && u->body && !td_sched_unit(m->s, u, m->d)) return NULL;
  return x;
}

/* The step of a statement that is not straight code. */
static TdSchedStep *step_of(Maker *m, const TdStmt *s) {
  TdSchedStep *x = NULL;
  td_ctx_enter(td_affine_ctx(m->s->affine));
  switch (s->kind) {
  case TD_STMT_FOR: x = make_for(m, s); break;
  case TD_STMT_WHILE: x = make_rolled(m, s, 1); break;
  case TD_STMT_IF: x = make_branch(m, s); break;
  case TD_STMT_CALL: x = make_call(m, s); break;
  case TD_STMT_BLOCK: x = make_sequence(m, s); break;
  case TD_STMT_PUT: x = make_put(m, s); break;
  default: x = make_elements(m, s); break;
  }
  td_ctx_leave(td_affine_ctx(m->s->affine));
  return x;
}

const TdSchedStep *td_sched_unit(TdSched *s, const TdUnit *u, TdDiag *d) {
  const TdSchedStep *known = td_map_getp(&s->unit, u);
  if (known) return known;
  TdAsk *q = TD_NEW(s->arena, TdAsk);
  *q = (TdAsk){s->affine, s->arena, s->prog, u};
  Maker m = {s, q, d};
  TdSchedStep *x = make_sequence(&m, u->body);
  if (x) td_map_putp(s->arena, &s->unit, u, x);
  return x;
}

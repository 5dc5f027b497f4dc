/* firing.c - the steps of a schedule as times of statements: firings of straight code and of
 * iterations, lengths of everything else. */
#include "analysis/time/firing.h"
#include "analysis/time/effort.h"

/* Times under way. */
typedef struct Maker {
  TdSched *s;
  TdArena *arena;
  TdTimes *out;
  TdMap seen;  /* units that are done */
  bool called; /* the one at hand is called */
  TdDiag *d;
} Maker;

/* Notes that a leaf has events of copies of s. */
static void note_copies(Maker *m, const TdStmt *s) {
  TdTime *t = (TdTime *)(uintptr_t)td_times_of(m->out, s);
  if (!t) {
    t = TD_NEW(m->arena, TdTime);
    *t = (TdTime){.kind = TD_TIME_COPIES, .stmt = s, .lanes = INT64_MAX};
    td_map_putp(m->arena, &m->out->time, s, t);
  }
  t->copied = true;
}

/* The tokens, copies and calls of a trace. */
static void put_events(Maker *m, TdTime *out, const TdTrace *t) {
  TdEvent *e = TD_NEWN(m->arena, TdEvent, t->event.n);
  for (size_t i = 0; i < t->event.n; i++) {
    const TdTraceEvent *x = &t->event.at[i];
    e[i] = (TdEvent){.stmt = x->stmt, .copy = x->copy, .firing = -1};
    if (x->reach) {
      const TdFlowNode *node = &t->flow.node.at[t->reach.at[x->reach - 1].node];
      e[i].firing = (int32_t)x->firing;
      e[i].cycle = td_flow_cycle(&t->flow, node->start);
    } else {
      note_copies(m, x->stmt);
    }
  }
  out->event = e;
  out->nevent = t->event.n;
}

/* The accesses of arguments in a trace. */
static void put_accesses(Maker *m, TdTime *out, const TdTrace *t) {
  TD_VEC(TdTouchTime) list = {0};
  for (size_t i = 0; i < t->reach.n; i++) {
    const TdReach *r = &t->reach.at[i];
    const TdPlaced *p = r->array;
    if (r->dead || r->hidden || p->kind != TD_CELL_MEMORY || p->decl || p->registers) continue;
    TdTouchTime x = {r->stmt, p->sym, r->write,
                     td_flow_cycle(&t->flow, t->flow.node.at[r->node].start), p->read};
    td_vec_push(m->arena, &list, x);
  }
  out->access = list.at;
  out->naccess = list.n;
}

/* Fills the firings of a leaf, whose iterations start every out->ii cycles (0: straight code). */
static void put_firings(Maker *m, TdTime *out, const TdSchedStep *x) {
  const TdTrace *t = x->trace;
  if (!t) return;
  int64_t ii = out->ii;
  TdFiring *firing = TD_NEWN(m->arena, TdFiring, t->firing.n);
  for (size_t i = 0; i < t->firing.n; i++) {
    TdFiringTimes f = td_trace_times(t, i);
    firing[i] = (TdFiring){.from = f.from, .at = f.at, .latency = f.latency, .first = out->waiting};
    if (!ii || !t->firing.at[i].put.n) continue;
    int64_t way = (f.latency + ii - 1) / ii, whole = (f.latency + f.span) / ii;
    firing[i].skid = (way > whole ? way : whole) + 1;
    out->waiting += 1 + firing[i].skid;
  }
  out->firing = firing;
  out->nfiring = t->firing.n;
  put_events(m, out, t);
  put_accesses(m, out, t);
  out->shares = ii && td_flow_is_shared(&t->flow);
  out->multiplies = t->multiplies;
  out->multipliers = ii ? (out->multiplies + ii - 1) / ii : out->multiplies;
  td_effort_note(m->arena, m->out, out, t, x->registers, 1, m->called);
}

static bool visit_unit(Maker *m, const TdUnit *u);
static bool visit_callee(Maker *m, const TdUnit *u);
static bool visit(Maker *m, const TdSchedStep *x);

/* The time of a step, now that of its statement. */
static TdTime *new_time(Maker *m, const TdSchedStep *x, TdTimeKind kind) {
  TdTime *t = TD_NEW(m->arena, TdTime);
  *t = (TdTime){.kind = kind, .lanes = x->lanes};
  return t;
}

static void keep(Maker *m, const TdStmt *s, TdTime *t) {
  const TdTime *copies = td_times_of(m->out, s);
  t->stmt = s;
  t->copied |= copies && copies->copied;
  td_map_putp(m->arena, &m->out->time, s, t);
}

static TdTime *block_time(Maker *m, const TdSchedStep *x) {
  TdTime *t = new_time(m, x, TD_TIME_BLOCK);
  t->length = x->length;
  put_firings(m, t, x);
  return t;
}

/* What a step of its own takes, whose leaf below runs `times` times. */
static TdTime *plain_time(Maker *m, const TdSchedStep *x, int64_t length) {
  TdTime *t = new_time(m, x, TD_TIME_PLAIN);
  const TdSchedStep *leaf = x->trace || !x->nkid ? x : x->kid[0];
  bool many = x->kind == TD_SCHED_LOOP || x->kind == TD_SCHED_PIPE;
  const TdTrace *trace = leaf->trace ? leaf->trace : leaf->tests;
  t->length = length;
  if (trace)
    td_effort_note(m->arena, m->out, t, trace, leaf->registers, many ? x->trip : 1, m->called);
  return t;
}

static TdTime *pipe_time(Maker *m, const TdSchedStep *x) {
  TdTime *t = new_time(m, x, TD_TIME_PIPE);
  t->before = x->before;
  t->length = x->length + x->around - x->before;
  t->ii = x->ii;
  t->enter = m->s->target->enter + x->head;
  t->rewind = td_attrs_get(x->stmt->attrs, TD_ATTR_REWIND) != NULL;
  put_firings(m, t, x);
  return t;
}

/* The loop over the elements of what a SET or a fill writes. */
static int64_t elements_length(const Maker *m, const TdSchedStep *x) {
  const TdTarget *t = m->s->target;
  if (!x->trip) return t->enter;
  if (x->kind == TD_SCHED_PIPE) return (x->trip - 1) * x->ii + x->length + x->around + t->enter;
  return x->trip * (x->kid[0]->length + t->again) + t->enter;
}

/* The pipelined loop that loop x keeps running, or NULL. */
static const TdSchedStep *flat_pipe(const TdSchedStep *x) {
  while (x->kind == TD_SCHED_LOOP && x->flat) x = x->kid[0];
  return x->kind == TD_SCHED_PIPE ? x : NULL;
}

/* A PUT that computes its token in a loop: one firing, whose put comes after the loop. */
static TdTime *put_time(Maker *m, const TdSchedStep *x) {
  const TdTrace *element = x->kid[0]->kid[0]->trace;
  int64_t length = elements_length(m, x->kid[0]), each = x->kid[0]->kid[0]->length;
  TdTime *t = block_time(m, x->kid[1]);
  TdFiring *firing = td_arena_copy(m->arena, t->firing, t->nfiring * sizeof *firing);
  for (size_t i = 0; i < t->nfiring; i++) firing[i].latency += length;
  t->firing = firing;
  t->length += length;
  t->multiplies = element->multiplies * x->kid[0]->trip;
  td_effort_note(m->arena, m->out, t, element, x->kid[0]->kid[0]->registers, x->kid[0]->trip,
                 m->called);
  t->multipliers = each ? (element->multiplies + each - 1) / each : element->multiplies;
  return t;
}

/* A loop whose iterations follow each other, or that keeps a pipelined one running. */
static bool visit_loop(Maker *m, const TdSchedStep *x) {
  TdTime *t = new_time(m, x, TD_TIME_LOOP);
  const TdSchedStep *kid = x->kid[0], *pipe = flat_pipe(x);
  bool repeats = x->stmt->kind == TD_STMT_WHILE;
  t->enter = m->s->target->enter + (repeats ? 0 : x->head);
  t->again = m->s->target->again + (repeats && !x->stmt->post ? x->head : 0);
  t->after = x->stmt->post ? x->head : 0;
  t->test = x->stmt->post ? t->after : repeats ? t->again : 0;
  keep(m, x->stmt, t);
  if (kid->kind == TD_SCHED_BLOCK && kid->stmt == x->stmt->kid[0])
    t->body = block_time(m, kid);
  else if (!visit(m, kid))
    return false;
  if (pipe) t->pipe = td_times_of(m->out, pipe->stmt);
  return true;
}

static bool visit_all(Maker *m, TdSchedStep *const *kid, size_t n) {
  bool ok = true;
  for (size_t i = 0; ok && i < n; i++) ok = visit(m, kid[i]);
  return ok;
}

static bool visit(Maker *m, const TdSchedStep *x) {
  bool written = td_sched_is_written(x);
  switch (x->kind) {
  case TD_SCHED_SEQUENCE:
    if (x->stmt->kind == TD_STMT_PUT) {
      keep(m, x->stmt, put_time(m, x));
      return true;
    }
    return visit_all(m, x->kid, x->nkid);
  case TD_SCHED_BLOCK: keep(m, x->stmt, block_time(m, x)); return true;
  case TD_SCHED_LOOP:
    if (written) return visit_loop(m, x);
    keep(m, x->stmt, plain_time(m, x, elements_length(m, x)));
    return true;
  case TD_SCHED_PIPE:
    keep(m, x->stmt, written ? pipe_time(m, x) : plain_time(m, x, elements_length(m, x)));
    return true;
  case TD_SCHED_BRANCH:
    keep(m, x->stmt, plain_time(m, x, x->kid[0]->length));
    return visit_all(m, x->kid + 1, x->nkid - 1);
  case TD_SCHED_CALL:
    keep(m, x->stmt, plain_time(m, x, m->s->target->again + x->head));
    return !x->unit || visit_callee(m, x->unit);
  }
  return false;
}

/* A kernel, or the design, that is called. */
static bool visit_callee(Maker *m, const TdUnit *u) {
  bool outer = m->called;
  m->called = u->kind != TD_UNIT_DESIGN;
  bool ok = visit_unit(m, u);
  m->called = outer;
  return ok;
}

/* Notes how long the adders of an allreduce take. */
static bool note_fold(void *ud, const TdExpr *e) {
  Maker *m = ud;
  const TdTarget *t = m->s->target;
  if (e->kind != TD_EXPR_TENSOR || e->op != TD_OP_ALLREDUCE) return true;
  const TdType *type = td_type_scalar(e->type);
  TdOperator op = td_target_operator(t, td_ops[e->reduce].cost, type, type->w);
  TdFoldTime *f = TD_NEW(m->arena, TdFoldTime);
  *f = (TdFoldTime){.stages = op.stages, .side = 1, .tree = type->kind != TD_T_FLOAT};
  if (!op.stages && op.delay) f->side = t->usable / op.delay > 1 ? t->usable / op.delay : 1;
  if (op.key || td_target_is_hardware(t)) td_map_putp(m->arena, &m->out->fold, e, f);
  return true;
}

static bool note_folds(void *ud, const TdStmt *s) {
  for (uint32_t i = 0; i < s->nexpr; i++) td_walk_expr(s->expr[i], note_fold, ud);
  return true;
}

/* A kernel, or the tasks of a design, once. */
static bool visit_unit(Maker *m, const TdUnit *u) {
  if (td_map_getp(&m->seen, u)) return true;
  td_map_putp(m->arena, &m->seen, u, m);
  bool ok = true;
  td_ctx_enter(td_affine_ctx(m->s->affine));
  if (u->kind == TD_UNIT_DESIGN) {
    for (size_t i = 0; ok && i < u->nrun; i++)
      ok = visit_unit(m, td_prog_unit(m->s->prog, u->run[i].unit));
  } else if (u->body) {
    const TdSchedStep *x = td_sched_unit(m->s, u, m->d);
    td_walk_stmt(td_affine_ctx(m->s->affine), u->body, note_folds, m);
    ok = x && visit(m, x);
  }
  td_ctx_leave(td_affine_ctx(m->s->affine));
  return ok;
}

const TdTimes *td_firing_times(TdAffine *affine, TdArena *a, const TdProg *p, const TdTarget *t,
                               TdDiag *d) {
  TdTimes *out = TD_NEW(a, TdTimes);
  TdSched s = {.affine = affine, .arena = a, .prog = p, .target = t};
  Maker m = {.s = &s, .arena = a, .out = out, .d = d};
  out->target = t->name;
  return visit_unit(&m, td_prog_root(p)) ? out : NULL;
}

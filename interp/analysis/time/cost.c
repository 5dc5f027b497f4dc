/* cost.c - cycles: the steps of a schedule at the values that loop variables take. */
#include "analysis/time/cost.h"

#include <string.h>

#include "analysis/range/range.h"

/* An estimate under way. */
typedef struct Clock {
  TdSched *s;
  TdCost *cost;
  TdDiag *d;
  const TdUnit *unit; /* whose steps are counted */
  TdMap value;        /* TdSym of a loop variable, coordinate or parameter -> its value */
  TdMap row;          /* TdSchedStep -> number of its row, plus 1 */
  TdMap listed;       /* TdUnit -> itself */
  int64_t weight;     /* how often what is counted now is executed */
  bool failed;
} Clock;

static int64_t unit_cycles(Clock *k, const TdUnit *u);
static int64_t cycles_of(Clock *k, const TdSchedStep *x);
static bool list_unit(Clock *k, const TdUnit *u, int level);

/* The value of an index expression now. */
static bool number(const Clock *k, const TdExpr *e, int64_t *v) {
  const TdType *t[4];
  uint64_t x[4], at;
  if (e->kind == TD_EXPR_VAR) {
    bool known = td_map_get(&k->value, (uint64_t)(uintptr_t)e->sym, &at);
    *v = known ? (int64_t)at : 0;
    return known;
  }
  if ((e->kind != TD_EXPR_OP && e->kind != TD_EXPR_CAST) || e->nkid > 4)
    return td_unit_value(k->unit, e, v);
  for (uint32_t i = 0; i < e->nkid; i++) {
    int64_t kid;
    if (!number(k, e->kid[i], &kid)) return false;
    t[i] = e->kid[i]->type;
    x[i] = (uint64_t)kid;
  }
  TdFault fault = TD_FAULT_NONE;
  *v = (int64_t)(e->kind == TD_EXPR_CAST ? td_num_cast(e->type, t[0], x[0], &fault)
                                         : td_num_op(e->op, e->type, t, x, (int)e->nkid, &fault));
  return fault == TD_FAULT_NONE;
}

static void set_value(Clock *k, TdSym sym, int64_t v) {
  td_map_put(k->s->arena, &k->value, (uint64_t)(uintptr_t)sym, (uint64_t)v);
}

/* Notes that times cannot be known. */
static int64_t fail(Clock *k, const TdStmt *s) {
  k->failed = true;
  if (s->kind == TD_STMT_WHILE) {
    td_diag_set(k->d, TD_UNSUPPORTED, "trip-unknown", s->loc,
                "how often this while loop runs is not known");
    td_diag_help(k->d, "say how often it can at most: --@ bound(n)");
  } else {
    td_diag_set(k->d, TD_UNSUPPORTED, "trip-unknown", s->loc,
                "how often '%s' runs is not known, and not bounded", s->sym->name);
  }
  return 0;
}

/* The iterations of a loop now; the most it can have where that depends on data. */
static int64_t trips(Clock *k, const TdSchedStep *x) {
  const TdStmt *s = x->stmt;
  int64_t lo, hi;
  if (!td_sched_is_written(x)) return x->trip;
  if (s->kind == TD_STMT_WHILE) {
    const TdAttr *bound = td_attrs_get(s->attrs, TD_ATTR_BOUND);
    return bound ? bound->arg[0].i : fail(k, s);
  }
  if (!number(k, td_for_lo(s), &lo) || !number(k, td_for_hi(s), &hi)) {
    TdAsk q = {k->s->affine, k->s->arena, k->s->prog, k->unit};
    const TdExpr *gap =
        td_lin_minus(k->s->prog->store->session, k->s->arena, td_for_hi(s), td_for_lo(s));
    if (!td_range_of(&q, s, gap, &lo, &hi)) return fail(k, s);
    lo = 0;
  }
  return hi <= lo ? 0 : (hi - lo + s->step - 1) / s->step;
}

/* a * b, neither negative; 0 with the estimate failed where that is beyond all clocks. */
static int64_t times(Clock *k, int64_t a, int64_t b) {
  const int64_t most = (int64_t)1 << 56;
  if (!a || b <= most / a) return a * b;
  k->failed = true;
  td_diag_set(k->d, TD_LIMIT, "limit", k->unit->loc, "'%s' takes more than 2^56 cycles",
              k->unit->sym->name);
  return 0;
}

static int64_t groups(int64_t n, int64_t lanes) {
  return (n + lanes - 1) / lanes;
}

/* Notes an execution of a loop. */
static int64_t note(Clock *k, const TdSchedStep *x, int64_t n, int64_t cycles) {
  uint64_t at;
  if (!td_map_get(&k->row, (uint64_t)(uintptr_t)x, &at)) return cycles;
  TdCostLoop *r = &k->cost->loop.at[at - 1];
  if (r->least < 0 || n < r->least) r->least = n;
  if (n > r->most) r->most = n;
  if (cycles > r->cycles) r->cycles = cycles;
  int64_t rounds = groups(n, x->lanes);
  r->rounds += times(k, k->weight, rounds);
  r->busy += times(k, k->weight, x->kind == TD_SCHED_PIPE ? times(k, rounds, x->ii) : cycles);
  return cycles;
}

/* Pipelined iterations one behind the other, and the way in and out. */
static int64_t drain(Clock *k, const TdSchedStep *pipe, int64_t n) {
  const TdTarget *t = k->s->target;
  bool rewinds = td_sched_is_written(pipe) && td_attrs_get(pipe->stmt->attrs, TD_ATTR_REWIND);
  if (n == 0) return t->enter + pipe->head;
  return rewinds ? times(k, n, pipe->ii)
                 : times(k, n - 1, pipe->ii) + pipe->length + pipe->around + t->enter + pipe->head;
}

static int64_t pipe_cycles(Clock *k, const TdSchedStep *x) {
  int64_t n = trips(k, x);
  return note(k, x, n, drain(k, x, groups(n, x->lanes)));
}

/* Loops that run on without draining: the iterations of all of them in one pipeline. */
static int64_t flat_cycles(Clock *k, const TdSchedStep *x) {
  const TdSchedStep *kid = x->kid[0];
  int64_t n = trips(k, x), total = n, weight = k->weight;
  k->weight = times(k, weight, n);
  for (; kid->kind == TD_SCHED_LOOP; kid = kid->kid[0]) total = times(k, total, trips(k, kid));
  total = times(k, total, groups(trips(k, kid), kid->lanes));
  cycles_of(k, x->kid[0]);
  k->weight = weight;
  return note(k, x, n, drain(k, kid, total));
}

/* The cycles of n executions of x, all alike. */
static int64_t repeated(Clock *k, const TdSchedStep *x, int64_t n) {
  int64_t weight = k->weight;
  k->weight = times(k, weight, n);
  int64_t sum = times(k, n, cycles_of(k, x));
  k->weight = weight;
  return sum;
}

/* A loop whose iterations follow each other: each one counted if its loops depend on the variable.
 */
static int64_t loop_cycles(Clock *k, const TdSchedStep *x) {
  const TdStmt *s = x->stmt;
  const TdTarget *t = k->s->target;
  int64_t n = trips(k, x), sum = 0, lo = 0;
  bool varies =
      s->kind == TD_STMT_FOR && td_sched_shapes(x->kid[0], s->sym) && number(k, td_for_lo(s), &lo);
  for (int64_t i = 0; varies && i < n && !k->failed; i++) {
    set_value(k, s->sym, lo + i * s->step);
    sum += cycles_of(k, x->kid[0]);
    td_ctx_tick(td_affine_ctx(k->s->affine), 1);
  }
  if (varies)
    td_map_drop(&k->value, (uint64_t)(uintptr_t)s->sym);
  else if (n)
    sum = repeated(k, x->kid[0], groups(n, x->lanes));
  return note(k, x, n, sum + td_sched_tests(x, t, groups(n, x->lanes)) + t->enter);
}

/* The condition, and the arm that it chooses, or the longest. */
static int64_t branch_cycles(Clock *k, const TdSchedStep *x) {
  int64_t test = cycles_of(k, x->kid[0]), most = 0, truth;
  if (number(k, x->stmt->expr[0], &truth)) {
    size_t arm = truth ? 1 : 2;
    return test + (arm < x->nkid ? cycles_of(k, x->kid[arm]) : 0);
  }
  for (size_t i = 1; i < x->nkid; i++) {
    int64_t c = cycles_of(k, x->kid[i]);
    if (c > most) most = c;
  }
  return test + most;
}

/* A call: the callee with its scalar arguments, and a cycle to start it. */
static int64_t call_cycles(Clock *k, const TdSchedStep *x) {
  const TdUnit *u = x->unit;
  for (uint32_t i = 0; i < x->stmt->nexpr && i < u->nparam; i++) {
    int64_t v;
    if (x->stmt->expr[i]->kind != TD_EXPR_VIEW && number(k, x->stmt->expr[i], &v))
      set_value(k, u->param[i].sym, v);
  }
  return k->s->target->again + x->head + unit_cycles(k, u);
}

static int64_t cycles_of(Clock *k, const TdSchedStep *x) {
  int64_t sum = 0;
  if (k->failed) return 0;
  td_ctx_enter(td_affine_ctx(k->s->affine));
  switch (x->kind) {
  case TD_SCHED_SEQUENCE:
    for (size_t i = 0; i < x->nkid; i++) sum += cycles_of(k, x->kid[i]);
    break;
  case TD_SCHED_BLOCK: sum = x->length; break;
  case TD_SCHED_LOOP: sum = x->flat ? flat_cycles(k, x) : loop_cycles(k, x); break;
  case TD_SCHED_PIPE: sum = pipe_cycles(k, x); break;
  case TD_SCHED_BRANCH: sum = branch_cycles(k, x); break;
  case TD_SCHED_CALL: sum = call_cycles(k, x); break;
  }
  td_ctx_leave(td_affine_ctx(k->s->affine));
  return sum;
}

/* The name of a row. */
static const char *name_of(const Clock *k, const TdSchedStep *x) {
  const TdStmt *s = x->stmt;
  if (s->kind == TD_STMT_FOR) return td_cursor_spec(k->s->arena, k->s->prog, x->unit, s);
  if (s->kind == TD_STMT_WHILE) return "while";
  TdSym sym = s->kind == TD_STMT_LOCAL ? s->sym : s->expr[0]->sym;
  const char *does = s->kind == TD_STMT_SET ? "set" : s->kind == TD_STMT_PUT ? "put" : "fill";
  return td_text_fmt(k->s->arena, "%s (%s)", sym->name, does);
}

/* Adds a row for each loop of x and of what it calls for the first time. */
static bool list_loops(Clock *k, const TdSchedStep *x, int level) {
  bool loop = x->kind == TD_SCHED_LOOP || x->kind == TD_SCHED_PIPE, ok = true;
  if (x->kind == TD_SCHED_CALL) return list_unit(k, x->unit, level);
  if (loop) {
    bool pipe = x->kind == TD_SCHED_PIPE;
    TdCostLoop r = {.name = name_of(k, x), .level = level, .loc = x->stmt->loc, .least = -1};
    r.stmt = x->stmt;
    r.lanes = x->lanes;
    r.pipelined = pipe;
    r.flat = x->flat;
    r.asked = x->asked;
    r.ii = x->ii;
    r.depth = pipe ? x->length : 0;
    r.by = x->by;
    r.why = x->why;
    r.at = x->at;
    td_vec_push(k->s->arena, &k->cost->loop, r);
    td_map_put(k->s->arena, &k->row, (uint64_t)(uintptr_t)x, k->cost->loop.n);
  }
  for (size_t i = 0; ok && i < x->nkid; i++) ok = list_loops(k, x->kid[i], level + loop);
  return ok;
}

/* The loops of a unit, or of all tasks of a design, that is met for the first time. */
static bool list_unit(Clock *k, const TdUnit *u, int level) {
  if (td_map_getp(&k->listed, u)) return true;
  td_map_putp(k->s->arena, &k->listed, u, k);
  if (u->kind == TD_UNIT_DESIGN) {
    for (size_t i = 0; i < u->nrun; i++)
      if (!list_unit(k, td_prog_unit(k->s->prog, u->run[i].unit), level)) return false;
    return true;
  }
  const TdSchedStep *x = u->body ? td_sched_unit(k->s, u, k->d) : NULL;
  return !u->body || (x && list_loops(k, x, level));
}

/* Whether times in a task depend on which instance it is. */
static bool varies(const TdUnit *u, const TdSchedStep *x) {
  for (size_t i = 0; i < u->ncoord; i++)
    if (td_sched_shapes(x, u->coord[i])) return true;
  return false;
}

/* The instances of a run, and the cycles of the longest. */
static TdCostStage stage_of(Clock *k, const TdUnit *design, const TdRun *run) {
  const TdUnit *u = td_prog_unit(k->s->prog, run->unit);
  TdCostStage st = {.name = run->sym->name, .instances = 1};
  int64_t extent[TD_MAX_RANK];
  for (int d = 0; d < run->rank; d++) {
    if (!td_unit_value(design, run->map[d], &extent[d])) extent[d] = 1;
    st.instances *= extent[d];
  }
  const TdSchedStep *x = u->body ? td_sched_unit(k->s, u, k->d) : NULL;
  int64_t each = x && varies(u, x) ? st.instances : 1;
  for (int64_t n = 0; n < each; n++) {
    int64_t rest = n;
    for (int d = run->rank; d-- > 0 && each > 1; rest /= extent[d])
      if ((size_t)d < u->ncoord) set_value(k, u->coord[d], rest % extent[d]);
    int64_t c = unit_cycles(k, u);
    if (c > st.cycles) st.cycles = c;
  }
  return st;
}

/* A unit once; a design takes as long as its longest stage. */
static int64_t unit_cycles(Clock *k, const TdUnit *u) {
  const TdUnit *caller = k->unit;
  int64_t most = 0;
  k->unit = u;
  if (u->kind == TD_UNIT_KERNEL) {
    const TdSchedStep *x = td_sched_unit(k->s, u, k->d);
    most = cycles_of(k, x);
  }
  for (size_t i = 0; u->kind == TD_UNIT_DESIGN && i < u->nrun; i++) {
    TdCostStage st = stage_of(k, u, &u->run[i]);
    if (u == td_prog_root(k->s->prog)) td_vec_push(k->s->arena, &k->cost->stage, st);
    if (st.cycles > most) most = st.cycles;
  }
  k->unit = caller;
  return most;
}

/* Whether all sizes of p have values. */
static bool has_sizes(const TdProg *p, TdDiag *d) {
  for (size_t i = 0; i < p->nunit; i++)
    for (size_t k = 0; k < p->unit[i]->nsize; k++) {
      if (p->unit[i]->size[k].known) continue;
      td_diag_set(d, TD_USAGE, "size-unknown", p->unit[i]->loc, "size %s of '%s' has no value",
                  p->unit[i]->size[k].name, p->unit[i]->sym->name);
      td_diag_help(d, "estimate it at some: k:at {%s = 64}", p->unit[i]->size[k].name);
      return false;
    }
  return true;
}

bool td_cost_estimate(TdAffine *affine, TdArena *arena, const TdProg *p, const TdTarget *t,
                      TdCost *out, TdDiag *d) {
  TdSched s = {.affine = affine, .arena = arena, .prog = p, .target = t};
  Clock k = {.s = &s, .cost = out, .d = d, .weight = 1};
  *out = (TdCost){.target = t, .clock = t->clock};
  if (!has_sizes(p, d) || !list_unit(&k, td_prog_root(p), 0)) return false;
  out->cycles = unit_cycles(&k, td_prog_root(p));
  out->ms = (double)out->cycles * (double)t->clock / 1e9;
  out->area = td_cost_area(&s, td_prog_root(p));
  out->path = td_cost_path(&s, td_prog_root(p), d) + t->clock - t->usable;
  return !k.failed;
}

bool td_cost_stage(TdSched *s, const TdUnit *design, const TdRun *run, TdCostStage *out,
                   TdCostArea *area, TdDiag *d) {
  TdCost cost = {.target = s->target};
  Clock k = {.s = s, .cost = &cost, .d = d, .unit = design, .weight = 1};
  const TdUnit *u = td_prog_unit(s->prog, run->unit);
  if (!list_unit(&k, u, 0)) return false;
  *out = stage_of(&k, design, run);
  *area = td_cost_area(s, u);
  return !k.failed;
}

bool td_cost_instance(TdSched *s, const TdUnit *u, const int64_t *id, TdCost *out, TdDiag *d) {
  Clock k = {.s = s, .cost = out, .d = d, .weight = 1};
  *out = (TdCost){.target = s->target};
  if (!list_unit(&k, u, 0)) return false;
  for (size_t i = 0; i < u->ncoord; i++) set_value(&k, u->coord[i], id[i]);
  out->cycles = unit_cycles(&k, u);
  return !k.failed;
}

/* slice_out.c - loops halved while an element keeps its fingerprint. */
#include "slice_out.h"

#include "ir/edit.h"

typedef struct Cut {
  TdArena *arena;
  TdStore *store;
  const TdProg *prog;
  const TdCutGoal *goal;
} Cut;

/* Iterations lo, lo + step, .. of a loop: n of them. */
typedef struct Trips {
  int64_t lo, step, n;
} Trips;

/* Whether p leaves the wanted value in the element. */
static bool keeps_element(const Cut *c, const TdProg *p) {
  TdTwinResult r;
  TdDiag quiet = {.arena = c->arena};
  const TdCutGoal *g = c->goal;
  if (!td_cpu_twin_run(c->arena, p, (TdTwinHow){.seed = g->seed}, g->arg, g->narg, &r, &quiet))
    return false;
  TdFingerprint now = r.of[g->param][g->index];
  return now.lo == g->want.lo && now.hi == g->want.hi;
}

/* The program with loop `uid` of unit u running over t only. */
static const TdProg *with_trips(const Cut *c, TdSym unit, uint32_t uid, Trips t) {
  TdStore *st = c->store;
  const TdUnit *u = td_prog_unit(c->prog, unit);
  const TdStmt *loop = td_edit_find(st->session->ctx, u->body, uid);
  TdLoc loc = td_for_lo(loop)->loc;
  const TdExpr *bound[] = {td_expr_index(st->session, st->arena, t.lo, loc),
                           td_expr_index(st->session, st->arena, t.lo + t.step * t.n, loc)};
  const TdStmt *now = td_stmt_with_exprs(st, loop, bound, 2);
  return td_prog_with(c->prog,
                      td_unit_with_body(st, u, td_edit_replace(st, u->body, uid, &now, 1)));
}

/* Takes the program with the loop over t if the element stays as it is. */
static bool try_trips(Cut *c, TdSym unit, uint32_t uid, Trips t) {
  const TdProg *p = with_trips(c, unit, uid, t);
  if (!keeps_element(c, p)) return false;
  c->prog = p;
  return true;
}

static void halve(Cut *c, TdSym unit, const TdStmt *loop) {
  const TdUnit *u = td_prog_unit(c->prog, unit);
  int64_t lo, hi;
  if (!td_unit_value(u, td_for_lo(loop), &lo) || !td_unit_value(u, td_for_hi(loop), &hi)) return;
  Trips t = {lo, loop->step, hi > lo ? (hi - lo + loop->step - 1) / loop->step : 0};
  while (t.n > 1) {
    Trips first = {t.lo, t.step, t.n / 2};
    Trips second = {t.lo + t.step * first.n, t.step, t.n - first.n};
    if (try_trips(c, unit, loop->uid, first))
      t = first;
    else if (try_trips(c, unit, loop->uid, second))
      t = second;
    else
      return;
  }
}

typedef struct Loops {
  TD_VEC(const TdStmt *) of;
  TdArena *arena;
} Loops;

static bool visit_loop(void *ud, const TdStmt *s) {
  Loops *l = ud;
  if (s->kind == TD_STMT_FOR) td_vec_push(l->arena, &l->of, s);
  return true;
}

const TdProg *td_slice_out(TdArena *a, TdStore *into, const TdProg *p, const TdCutGoal *goal) {
  Cut c = {a, into, td_clone_prog(into, p, true), goal};
  for (size_t i = 0; i < p->nunit; i++) {
    const TdUnit *u = c.prog->unit[i];
    Loops l = {.arena = a};
    td_walk_stmt(into->session->ctx, u->body, visit_loop, &l);
    for (size_t k = 0; k < l.of.n; k++) halve(&c, u->sym, l.of.at[k]);
  }
  return c.prog;
}

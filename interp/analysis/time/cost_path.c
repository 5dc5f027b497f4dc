/* cost_path.c - the longest path between two registers, as the delays of the device add up: logic
 * that a schedule puts in one cycle, the test of a loop's counter. */
#include "analysis/time/cost.h"

static int64_t later(int64_t x, int64_t y) {
  return x > y ? x : y;
}

/* Of the operations of a leaf: from the edge before the end of one to its end. */
static int64_t path_of_trace(const TdTrace *t) {
  int64_t path = 0;
  for (size_t i = 1; i < t->flow.node.n; i++) {
    const TdFlowNode *x = &t->flow.node.at[i];
    int64_t period = t->flow.period;
    if (x->end > 0 && x->delay > 0) path = later(path, (x->end - 1) % period + 1);
  }
  return path;
}

/* Of a loop's counter: whether this is the last iteration, and what that decides. */
static int64_t path_of_counter(const TdSched *s) {
  const TdType *t = td_type_index(s->prog->store->session);
  return td_target_operator(s->target, "logic", t, 1).delay +
         td_target_operator(s->target, "mux", t, 1).delay;
}

/* Of all steps below x, calls too. */
static int64_t path_of_step(TdSched *s, const TdSchedStep *x, TdDiag *d) {
  int64_t path = x->trace ? path_of_trace(x->trace) : 0;
  if (x->tests) path = later(path, path_of_trace(x->tests));
  if (x->kind == TD_SCHED_LOOP || x->kind == TD_SCHED_PIPE) path = later(path, path_of_counter(s));
  if (x->kind == TD_SCHED_CALL) path = later(path, td_cost_path(s, x->unit, d));
  for (size_t i = 0; i < x->nkid; i++) path = later(path, path_of_step(s, x->kid[i], d));
  return path;
}

int64_t td_cost_path(TdSched *s, const TdUnit *u, TdDiag *d) {
  int64_t path = 0;
  for (size_t i = 0; u->kind == TD_UNIT_DESIGN && i < u->nrun; i++)
    path = later(path, td_cost_path(s, td_prog_unit(s->prog, u->run[i].unit), d));
  const TdSchedStep *x = u->kind == TD_UNIT_KERNEL ? td_sched_unit(s, u, d) : NULL;
  return x ? path_of_step(s, x, d) : path;
}

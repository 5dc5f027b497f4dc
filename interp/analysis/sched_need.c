/* sched_need.c - operators and registers that a step keeps busy. */
#include "analysis/sched.h"

/* Whether two operators are of one kind, and so can be one instance. */
static bool is_same(const TdOperator *x, const TdOperator *y) {
  return x->key == y->key && x->stages == y->stages && x->delay == y->delay && x->dsp == y->dsp &&
         x->lut == y->lut && x->ff == y->ff;
}

/* Instances for n operations: large operators serve several in turn, logic does not. */
static int64_t instances(const TdOperator *op, int64_t n, int64_t every) {
  return op->stages || op->dsp ? (n * op->interval + every - 1) / every : n;
}

/* The last start of anything that uses each node. */
static int64_t *last_uses(const TdTrace *t) {
  const TdFlow *f = &t->flow;
  int64_t *last = TD_NEWN(t->arena, int64_t, f->node.n);
  for (size_t v = 0; v < f->node.n; v++)
    for (uint32_t i = 0; i < f->node.at[v].n; i++) {
      int64_t *at = &last[f->operand.at[f->node.at[v].first + i]];
      if (f->node.at[v].start > *at) *at = f->node.at[v].start;
    }
  return last;
}

/* Registers that hold values from cycle to cycle: two of them, and shift registers of 32 in a LUT
 * beyond. */
static void count_registers(TdSchedStep *step, const TdTrace *t, int64_t every) {
  const TdFlow *f = &t->flow;
  int64_t *last = last_uses(t);
  for (size_t v = 1; v < f->node.n; v++) {
    const TdFlowNode *x = &f->node.at[v];
    if (!x->width || !x->end || last[v] < x->end) continue;
    int64_t stages = td_flow_cycle(f, last[v]) - td_flow_cycle(f, x->end - 1);
    stages = (stages + every - 1) / every;
    step->registers += x->width * (stages < 2 ? stages : 2);
    if (stages > 2) step->delays += x->width * ((stages - 2 + 31) / 32);
  }
}

void td_sched_need(TdSchedStep *step, TdTrace *t, int64_t every) {
  TD_VEC(TdNeed) need = {0};
  for (size_t i = 0; i < t->op.n; i++) {
    size_t k = 0;
    while (k < need.n && !is_same(&need.at[k].op, &t->op.at[i].op)) k++;
    if (k == need.n) td_vec_push(t->arena, &need, ((TdNeed){t->op.at[i].op, 0}));
    need.at[k].n++;
  }
  for (size_t k = 0; k < need.n; k++) need.at[k].n = instances(&need.at[k].op, need.at[k].n, every);
  step->need = need.at;
  step->nneed = need.n;
  td_flow_postpone(&t->flow);
  count_registers(step, t, every);
}

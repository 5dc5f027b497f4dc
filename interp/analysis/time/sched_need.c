/* sched_need.c - operators and registers that a step keeps busy. */
#include "analysis/time/sched.h"

/* Whether two operators are of one kind, and so can be one instance. */
static bool is_same(const TdOperator *x, const TdOperator *y) {
  return x->key == y->key && x->stages == y->stages && x->delay == y->delay && x->dsp == y->dsp &&
         x->lut == y->lut && x->ff == y->ff;
}

static int64_t groups(int64_t n, int64_t size) {
  return (n + size - 1) / size;
}

/* The most operations of a kind that straight code keeps busy in one cycle; accesses that wait for
 * a port put them off, over `ports` cycles. */
static int64_t at_once(const TdTrace *t, const TdOperator *op, int64_t ports) {
  TD_VEC(int64_t) busy = {0};
  int64_t most = 0;
  for (size_t i = 0; i < t->op.n; i++) {
    if (!is_same(op, &t->op.at[i].op)) continue;
    int64_t from = td_flow_cycle(&t->flow, t->flow.node.at[t->op.at[i].node].start);
    while ((int64_t)busy.n < from + op->interval) td_vec_push(t->arena, &busy, 0);
    for (int64_t c = from; c < from + op->interval; c++)
      if (++busy.at[c] > most) most = busy.at[c];
  }
  return groups(most, ports);
}

/* Instances for n operations of a kind: large operators serve several in turn, logic does not. */
static int64_t instances(const TdSchedStep *step, const TdTrace *t, const TdNeed *x,
                         int64_t every) {
  if (!x->op.stages && !x->op.dsp) return x->n;
  if (step->kind == TD_SCHED_PIPE) return groups(x->n * x->op.interval, every);
  return at_once(t, &x->op, every);
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
    stages = groups(stages, every);
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
  td_flow_postpone(&t->flow);
  for (size_t k = 0; k < need.n; k++) need.at[k].n = instances(step, t, &need.at[k], every);
  step->need = need.at;
  step->nneed = need.n;
  count_registers(step, t, step->kind == TD_SCHED_PIPE || step->length < 1 ? every : step->length);
}

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

/* Whether operations of this kind take turns at an instance: large operators do, logic does not. */
static bool takes_turns(const TdOperator *op) {
  return op->stages || op->dsp;
}

void td_sched_place_operators(TdTrace *t) {
  TD_VEC(TdOperator) kind = {0};
  TD_VEC(uint32_t) pool = {0};
  for (size_t i = 0; i < t->op.n; i++) {
    const TdTraceOp *op = &t->op.at[i];
    size_t k = 0;
    if (!takes_turns(&op->op)) continue;
    while (k < kind.n && !is_same(&kind.at[k], &op->op)) k++;
    if (k == kind.n) {
      td_vec_push(t->arena, &kind, op->op);
      td_vec_push(t->arena, &pool, td_flow_pool(&t->flow, (TdFlowPool){.few = true}));
    }
    td_flow_use(&t->flow, op->node, pool.at[k], op->op.interval, NULL);
  }
}

/* Instances for the n operations of a kind, of which op is one. */
static int64_t instances(const TdTrace *t, const TdTraceOp *op, int64_t n) {
  const TdFlowNode *x = &t->flow.node.at[op->node];
  return x->nuse ? t->flow.pool.at[t->flow.use.at[x->use].pool].units : n;
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

void td_sched_need(TdSchedStep *step, TdTrace *t) {
  TD_VEC(TdNeed) need = {0};
  TD_VEC(const TdTraceOp *) one = {0};
  for (size_t i = 0; i < t->op.n; i++) {
    size_t k = 0;
    while (k < need.n && !is_same(&need.at[k].op, &t->op.at[i].op)) k++;
    if (k == need.n) {
      td_vec_push(t->arena, &need, ((TdNeed){t->op.at[i].op, 0}));
      td_vec_push(t->arena, &one, &t->op.at[i]);
    }
    need.at[k].n++;
  }
  td_flow_postpone(&t->flow, td_trace_latest(t));
  td_flow_pool_number(&t->flow);
  for (size_t k = 0; k < need.n; k++) need.at[k].n = instances(t, one.at[k], need.at[k].n);
  step->need = need.at;
  step->nneed = need.n;
  int64_t every = step->kind == TD_SCHED_PIPE ? step->ii : step->length;
  count_registers(step, t, every > 0 ? every : 1);
}

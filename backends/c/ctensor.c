/* ctensor.c - tensor expressions of C-like targets, as loops over scalars. */
#include "backends/c/cfamily.h"

#include "lower/tensor_loops.h"

static TdTensorLoops loops_of(const TdCWriter *w) {
  return (TdTensorLoops){w->session, w->arena, w->store, w->diag};
}

const TdStmt *td_ctensor_expand(TdCWriter *w, const TdStmt *s) {
  TdTensorLoops l = loops_of(w);
  return td_tensor_loops_of(&l, s);
}

const TdExpr *td_ctensor_element(TdCWriter *w, const TdExpr *e, const TdExpr *const *index) {
  TdTensorLoops l = loops_of(w);
  return td_tensor_loops_element(&l, e, index);
}

/* Elements of a tensor type, as a float. */
static double count_of(TdCWriter *w, const TdType *t) {
  int64_t n = 1;
  if (t->kind == TD_T_TENSOR) td_type_count(td_cfamily_type(w, t), &n);
  return (double)n;
}

/* Element operations of e. */
static double work_of(TdCWriter *w, const TdExpr *e) {
  double sum = count_of(w, e->type);
  if (e->kind == TD_EXPR_TENSOR && e->op == TD_OP_MATMUL)
    sum *= (double)td_cfamily_size(w, e->kid[1]->type->dim[0]);
  for (uint32_t i = 0; i < e->nkid; i++)
    if (e->kid[i]->type->kind == TD_T_TENSOR) sum += work_of(w, e->kid[i]);
  return sum;
}

double td_ctensor_work(TdCWriter *w, const TdStmt *s) {
  return count_of(w, s->expr[0]->type) + work_of(w, s->expr[1]);
}

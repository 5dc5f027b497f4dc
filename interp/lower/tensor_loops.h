/* tensor_loops.h - statements on tensors as the loops that they mean. */
#ifndef TD_LOWER_TENSOR_LOOPS_H
#define TD_LOWER_TENSOR_LOOPS_H

#include "ir/ir.h"

/* What owns the loops: nodes in `arena`, symbols and statements in `store`. */
typedef struct TdTensorLoops {
  TdSession *session;
  TdArena *arena;
  TdStore *store;
  TdDiag *diag;
} TdTensorLoops;

/* A block of the loops that s means: SET, LOCAL with a tensor value, and statements with a
 * reduction inside a scalar. Returns s itself when there is nothing to do; the diagnostic is filled
 * when it cannot be told. */
const TdStmt *td_tensor_loops_of(const TdTensorLoops *w, const TdStmt *s);
/* p, its tensor statements being loops, in arena `a` and the store of p. NULL with d filled. */
const TdProg *td_tensor_loops_prog(TdArena *a, const TdProg *p, TdDiag *d);
/* Element `index` of a tensor expression without TENSOR nodes. */
const TdExpr *td_tensor_loops_element(const TdTensorLoops *w, const TdExpr *e,
                                      const TdExpr *const *index);

#endif

/* kernel.h - what cores compute, as C++ functions: one for each stretch of a task between moves of
 * blocks. */
#ifndef TD_NPU_KERNEL_H
#define TD_NPU_KERNEL_H

#include "backends/c/cfamily.h"

/* A function: the arrays and loop variables that it is given, in order. */
typedef struct TdNpuKernel {
  const char *name;
  size_t narray, nindex;
  const TdSym *array, *index;
  const char *text; /* from its parameters on */
} TdNpuKernel;

typedef struct TdNpuKernels {
  TdArena *arena;
  const TdProg *prog;
  TdCWriter *w;
  TdDiag *diag;
  TD_VEC(TdNpuKernel) kernel;
  TD_VEC(const TdUnit *) callee; /* that they call, callees of those first */
} TdNpuKernels;

/* Functions of the design that is p's root; none yet. */
TdNpuKernels *td_npu_kernels_new(TdArena *a, const TdProg *p, TdDiag *d);
/* The function of n statements of a task, named after `like`; arrays from outside have the types of
 * `type` (symbol -> TdType). The same function serves all statements that come to the same text.
 * NULL with the diagnostic filled. */
const TdNpuKernel *td_npu_kernel_of(TdNpuKernels *k, const TdStmt *const *s, size_t n,
                                    const char *like, const TdMap *type);
/* The file with all of them. */
const char *td_npu_kernels_text(TdNpuKernels *k);

#endif

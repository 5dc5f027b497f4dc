/* kernel.h - what cores compute, as C++ functions: one for each stretch of a task between moves of
 * blocks. */
#ifndef TD_NPU_KERNEL_H
#define TD_NPU_KERNEL_H

#include "backends/c/cfamily.h"
#include "backends/npu/lanes.h"

/* How the line begins that says what a kernel takes (td_npu_cost_read). */
#define TD_NPU_COST "// takes "

/* An array that is declared among what cores compute, and the unit that it is declared in. */
typedef struct TdNpuLocal {
  const TdStmt *decl;
  const TdUnit *unit;
} TdNpuLocal;

typedef TD_VEC(TdNpuLocal) TdNpuLocals;

/* A function: the arrays and loop variables that it is given, in order. */
typedef struct TdNpuKernel {
  const char *name;
  size_t narray, nindex;
  const TdSym *array, *index;
  const char *text; /* from its parameters on */
  const TdNpuCost *cost;
  TdLoc loc; /* of what it was made from first */
} TdNpuKernel;

typedef struct TdNpuKernels {
  TdArena *arena;
  const TdProg *prog;
  TdCWriter *w;
  TdDiag *diag;
  TD_VEC(TdNpuKernel) kernel;
  TD_VEC(const TdUnit *) callee; /* that they call, callees of those first */
  TD_VEC(TdNpuLanes) loop;       /* innermost ones, in order of writing */
  int generation;                /* of the cores */
  const TdMap *types;            /* of the arrays of the kernel that is written */
  TdMap fill;                    /* of td_npu_vector_fill */
  bool blocks, lanes;            /* some loop fills or multiplies blocks, or goes along lanes */
  bool libm;                     /* exp and its kin are the host's */
} TdNpuKernels;

/* Whether s declares an array, which a core keeps in a buffer. */
bool td_npu_is_local(const TdStmt *s);
/* Adds all that n statements of u and the units that they call declare, each once. */
void td_npu_locals_add(const TdNpuKernels *k, const TdUnit *u, const TdStmt *const *s, size_t n,
                       TdNpuLocals *out);

/* Functions of the design that is p's root; none yet. */
TdNpuKernels *td_npu_kernels_new(TdArena *a, const TdProg *p, int generation, TdDiag *d);
/* The function of n statements of a task, named after `like`; arrays from outside and their locals
 * (td_npu_locals_add) have the types of `type` (symbol -> TdType). The same function serves all
 * statements that come to the same text. NULL with the diagnostic filled. */
const TdNpuKernel *td_npu_kernel_of(TdNpuKernels *k, const TdStmt *const *s, size_t n,
                                    const char *like, const TdMap *type);
/* The file with all of them. */
const char *td_npu_kernels_text(TdNpuKernels *k);
/* prologue.c: what loops call that fill or multiply blocks, or have lanes. */
const char *td_npu_prologue(TdArena *a, bool blocks, bool lanes);

#endif

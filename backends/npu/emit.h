/* emit.h - a design in NPU form as MLIR-AIE. */
#ifndef TD_NPU_EMIT_H
#define TD_NPU_EMIT_H

#include "backends/npu/kernel.h"
#include "backends/npu/mlir/mlir.h"
#include "backends/npu/sequence.h"

/* A buffer of a core that the host writes an argument to. */
typedef struct TdNpuRtp {
  const char *buffer;
  size_t param;
} TdNpuRtp;

typedef struct TdNpuEmit {
  TdNpuPlan *plan;
  TdMlir *m;
  TdNpuKernels *kernels;
  TdMlirBlock *device;
  TdMlirValue **tile; /* of each tile of the plan */
  TD_VEC(TdNpuRtp) rtp;
  int64_t stack;
} TdNpuEmit;

/* Adds the device of a plan to m, with the kernels that it calls; NULL with the form's diagnostic
 * filled. */
const TdMlirOp *td_npu_emit(TdMlir *m, const char *name, TdNpuPlan *p, const TdNpuSequence *s,
                            TdNpuKernels *k);
/* The name of a design's device beside others; the type of an argument of a sequence. */
const char *td_npu_device_name(const TdUnit *design);
const TdMlirType *td_npu_flat(TdMlir *m, const TdType *t);

/* Attributes by name, and types. */
void td_npu_set_int(TdMlir *m, TdMlirOp *op, const char *name, int64_t v, const char *type);
void td_npu_set_string(TdMlir *m, TdMlirOp *op, const char *name, const char *s);
void td_npu_set_symbol(TdMlir *m, TdMlirOp *op, const char *name, const char *s);
/* The type of memory that holds a tensor of constant extents. */
const TdMlirType *td_npu_memref(TdMlir *m, const TdType *t);

/* core.c: aie.core for an instance; false with the diagnostic filled. */
bool td_npu_emit_core(TdNpuEmit *e, uint32_t inst);

#endif

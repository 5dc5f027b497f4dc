/* npu.h - the NPU as a target of builds: MLIR-AIE and C++ kernels, which run here as they are
 * written. */
#ifndef TD_NPU_H
#define TD_NPU_H

#include "backends/backend.h"
#include "backends/npu/mlir/mlir.h"

extern const TdBackend td_backend_npu;

/* What a build writes, and what a run reads. */
#define TD_NPU_TEXT "design.mlir"
#define TD_NPU_GENERIC "design.generic.mlir"
#define TD_NPU_KERNELS "kernels.cc"
/* How a text begins: numbers of devices are not the same in all versions. */
#define TD_NPU_DIALECT "// MLIR-AIE, dialect v1."

/* A design that runs from its texts, with an argument a run is given for each of the sequence's. */
typedef struct TdNpuRun TdNpuRun;
/* run.c: NULL with d filled: the text, whose lines `source` numbers, is none. */
TdNpuRun *td_npu_run_new(TdArena *a, uint32_t source, const char *design, const char *kernels,
                         TdDiag *d);
/* Whether a text as people read it says what the text does that r runs; false with d filled. One
 * that is for another version than v1.3 is not read. */
bool td_npu_run_agrees(const TdNpuRun *r, uint32_t source, const char *pretty, TdDiag *d);
/* Its text in that form, in a. */
const char *td_npu_run_text(const TdNpuRun *r, TdArena *a, TdMlirForm form);
/* The types of its arguments, of which the text has not those of scalars. */
void td_npu_run_set_types(TdNpuRun *r, const TdType *const *type);
/* States begin again. */
void td_npu_run_reset(TdNpuRun *r);
bool td_npu_run_call(TdNpuRun *r, const TdCallArg *arg, size_t narg, TdDiag *d);
/* How long it takes, without data; and what was told last. NULL: it does not end; it was not asked,
 * nor called. */
const TdTimed *td_npu_run_times(TdNpuRun *r, TdDiag *d);
const TdTimed *td_npu_run_timed(const TdNpuRun *r);

#endif

/* launch.h - several designs that one host program runs one after the other: a kernel that calls
 * them on its arguments and on arrays of its own, as a device each, and a sequence that runs
 * theirs. */
#ifndef TD_NPU_LAUNCH_H
#define TD_NPU_LAUNCH_H

#include "backends/npu/mlir/mlir.h"
#include "ir/ir.h"

/* An array, or a scalar, that the host program has. */
typedef struct TdNpuArray {
  TdSym sym;
  const TdType *type;
  bool own; /* it is none of its arguments: it stays on the device */
} TdNpuArray;

/* A call of a design: the arrays that its parameters are. */
typedef struct TdNpuLaunch {
  size_t design; /* number in `design` */
  const size_t *array;
  TdLoc loc;
} TdNpuLaunch;

typedef struct TdNpuHost {
  TD_VEC(TdNpuArray) array;
  TD_VEC(const TdUnit *) design;
  TD_VEC(TdNpuLaunch) launch;
  bool one; /* the program is a design itself */
} TdNpuHost;

/* The host program that is p's root; NULL with d filled: it does more than call designs. */
TdNpuHost *td_npu_host_of(TdArena *a, const TdProg *p, TdDiag *d);
/* Puts the device with the sequence that runs those of all launches first in m. */
void td_npu_host_emit(const TdNpuHost *h, TdMlir *m, int device);

/* A launch of a text: the device, and which of the sequence's arguments it is given (NULL: all). */
typedef struct TdNpuStart {
  const TdMlirOp *device;
  size_t n;
  const size_t *arg;
} TdNpuStart;
typedef struct TdNpuStarts {
  size_t n;
  const TdNpuStart *at;
  const TdMlirOp *sequence; /* whose arguments are the host's */
} TdNpuStarts;
/* The launches of a text, in order; false with d filled. */
bool td_npu_starts_of(TdArena *a, const TdMlir *m, TdNpuStarts *out, TdDiag *d);

#endif

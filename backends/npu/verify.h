/* verify.h - rules that a text must keep to run on a device (docs/npu.md); verify.c asks them all.
 */
#ifndef TD_NPU_VERIFY_H
#define TD_NPU_VERIFY_H

#include "backends/npu/machine.h"

/* verify_dims.c: orders of elements. */
bool td_npu_verify_dims(TdNpuMachine *x, TdDiag *d);
/* verify_flow.c: the host's tasks and waits; what cores take and give back; that as many objects
 * come as go. */
bool td_npu_verify_flow(TdNpuMachine *x, TdDiag *d);

/* verify.c: that a sequence has no more arrays than the host can give. */
bool td_npu_verify_arguments(const TdMlirOp *sequence, TdDiag *d);
/* verify_route.c: that all streams by DMA find ways through the switches. */
bool td_npu_verify_route(const TdNpuMachine *x, TdDiag *d);
/* verify.c: whether a line needs no DMA: its one consumer is a neighbour, and nothing is arranged.
 */
bool td_npu_verify_shared(const TdNpuMachine *x, const TdNpuLine *l);

#endif

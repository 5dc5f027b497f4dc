/* sequence.h - what the host starts: transfers of arguments, in an order in which none waits for
 * one behind it. */
#ifndef TD_NPU_SEQUENCE_H
#define TD_NPU_SEQUENCE_H

#include "backends/npu/bd.h"
#include "backends/npu/plan.h"

/* One task of a shim's DMA. */
typedef struct TdNpuTransfer {
  size_t fifo;
  uint32_t param;
  int64_t offset;
  int n;
  TdDigit at[TD_BD_DIMS]; /* outermost first */
  uint64_t when;          /* in a run: when its first block moves */
  size_t number;          /* in order of making */
} TdNpuTransfer;

typedef struct TdNpuSequence {
  TD_VEC(TdNpuTransfer) transfer; /* in order */
} TdNpuSequence;

/* The transfers of a plan; NULL with the form's diagnostic filled. */
TdNpuSequence *td_npu_sequence_of(TdNpuPlan *p);

/* order.c: when each event of each instance happens in a run in which all go on as they can: times
 * parallel to the instances' events. NULL with the diagnostic filled: they wait for each other. */
const uint64_t *const *td_npu_order_of(TdNpuForm *f);
/* Whether no host task reads what it wrote before, for which its transfers would have to wait;
 * false with the diagnostic filled. */
bool td_npu_order_check(TdNpuForm *f);

#endif

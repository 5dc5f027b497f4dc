/* plan.h - objectFIFOs, links and tiles for a design in NPU form. */
#ifndef TD_NPU_PLAN_H
#define TD_NPU_PLAN_H

#include "backends/npu/form.h"

typedef struct TdNpuTile {
  int64_t col, row;
  TdTileKind kind;
  const char *name;
} TdNpuTile;

/* An objectFIFO: streams that carry the same blocks to several tasks are one. */
typedef struct TdNpuFifo {
  const char *name;
  TdLoc loc;
  const TdType *type; /* of an object */
  int64_t count, depth;
  uint32_t from, to; /* instances: of `to` the first */
  size_t from_tile;
  TD_VEC(uint32_t) chan;
  TD_VEC(size_t) to_tile;
  const TdDesc *order; /* how objects are sent, or NULL: as they lie; without its offset */
  int64_t offset;      /* in the objects of the link that it leads from, or that it leads to */
} TdNpuFifo;

typedef struct TdNpuLink {
  uint32_t inst;
  TD_VEC(size_t) in;
  TD_VEC(size_t) out;
} TdNpuLink;

typedef struct TdNpuPlan {
  TdNpuForm *form;
  const TdDevice *device;
  TD_VEC(TdNpuTile) tile;
  TD_VEC(TdNpuFifo) fifo;
  TD_VEC(TdNpuLink) link;
  size_t *fifo_of; /* of each stream of the form */
} TdNpuPlan;

/* The plan of a design on a device; NULL with the form's diagnostic filled. */
TdNpuPlan *td_npu_plan_of(TdNpuForm *f, const TdDevice *device);
/* place.c: gives each task on a core a tile, where marks do not; false with the diagnostic filled.
 */
bool td_npu_place(TdNpuPlan *p);
/* The tile of an instance that is not on the host. */
size_t td_npu_plan_tile(TdNpuPlan *p, int64_t col, int64_t row);

#endif

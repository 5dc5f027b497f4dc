/* machine.h - an NPU that runs a design from its text alone: tiles, pools of buffers, DMA, cores,
 * the host's sequence. It has what bites on the device: a push on a full queue is lost, a BD that
 * is rewritten changes what runs, buffers hold what was in them. */
#ifndef TD_NPU_MACHINE_H
#define TD_NPU_MACHINE_H

#include "analysis/net/devices.h"
#include "backends/npu/mlir/mlir.h"
#include "backends/npu/vector.h"

/* Ends of an objectFIFO at most; what memory holds that nothing was written to; bytes of a core's
 * stack, enough for kernels, whose locals lie elsewhere. */
enum { TD_NPU_ENDS = 16, TD_NPU_JUNK = 0xA5, TD_NPU_STACK = 1024 };

/* Buffers of a tile that one or more writers fill and readers empty, in order. Writer i has filled
 * its part of the first `in[i]` objects, reader j has done with the first `out[j]`. */
typedef struct TdNpuPool {
  int64_t depth, bytes, pitch;
  unsigned char *data; /* depth objects, each `pitch` bytes behind the one before */
  size_t nin, nout;
  int64_t in[TD_NPU_ENDS], out[TD_NPU_ENDS];
} TdNpuPool;

/* One end of an objectFIFO: a part of a pool, as writer or reader `number`; pool NULL: a shim. */
typedef struct TdNpuEnd {
  TdNpuPool *pool;
  size_t number;
  int64_t offset; /* bytes in an object */
  size_t ndim;
  const int64_t *dim; /* pairs of size and stride; none: as it lies */
} TdNpuEnd;

/* A buffer descriptor of a shim, and a task of a channel that runs one. */
typedef struct TdNpuBd {
  unsigned char *base;
  int64_t bytes; /* of the argument */
  int64_t offset, size[4], stride[4];
  bool token;
} TdNpuBd;
typedef struct TdNpuTask {
  int64_t id, done;
} TdNpuTask;

typedef struct TdNpuLine {
  const char *name;
  const TdMlirOp *op;
  int64_t cell, count; /* bytes of an element; elements of an object */
  int64_t depth;
  size_t from_tile, nto, to_tile[TD_NPU_ENDS];
  TdNpuEnd from, to[TD_NPU_ENDS];
  /* Of a line from or to a shim. */
  TdNpuTask task[8];
  int ntask;
  int64_t tokens;      /* tasks that ended and were not waited for */
  unsigned char *part; /* an object under way */
  int64_t npart;       /* its elements so far */
} TdNpuLine;

typedef struct TdNpuCoreRun TdNpuCoreRun;

typedef struct TdNpuMachine {
  TdArena *arena;
  const TdMlirOp *op; /* the device in the text */
  const TdDevice *device;
  TdDiag *diag;
  TdMap tile_of; /* value -> number + 1 */
  TD_VEC(const TdMlirOp *) tile;
  TD_VEC(TdNpuLine) line;
  TD_VEC(TdNpuBd *) bd; /* of each tile: 16, of shims */
  TD_VEC(TdNpuCoreRun *) core;
  TdMap buffer; /* value of an aie.buffer -> its memory */
  const TdMlirOp *sequence;
  size_t at;         /* in it */
  const char *waits; /* what the host waits for, or NULL */
  void *(*kernel)(void *ud, const char *name);
  /* A run without data: what a kernel takes; the core stops behind the call, which took this. */
  const TdNpuCost *(*cost)(void *ud, const char *name);
  const TdNpuCost *took;
  void *ud;
} TdNpuMachine;

/* The machine of a device of a text that was read; NULL with d filled: what it says is no design.
 */
TdNpuMachine *td_npu_machine_new(TdArena *a, const TdMlirOp *device, TdDiag *d);
/* Runs it on the memory of each argument of the sequence, of so many bytes. */
bool td_npu_machine_run(TdNpuMachine *x, unsigned char *const *arg, const int64_t *bytes, size_t n);
/* The host goes on as far as it can. */
bool td_npu_machine_host(TdNpuMachine *x, unsigned char *const *arg, const int64_t *bytes,
                         bool *moved);
/* Fills the diagnostic with what waits for what; returns false. */
bool td_npu_machine_stuck(TdNpuMachine *x);
/* What kind of tile one is. */
TdTileKind td_npu_machine_kind(const TdNpuMachine *x, size_t tile);
/* The bytes of a memref, or of a scalar. */
int64_t td_npu_machine_bytes(const TdMlirType *memref);
/* The line of a name, or NULL with the diagnostic filled. */
TdNpuLine *td_npu_machine_line(TdNpuMachine *x, const TdMlirOp *op, const char *attr);
bool td_npu_machine_bad(TdNpuMachine *x, const TdMlirOp *op, const char *what);

/* The integer of an attribute, or `other`. */
static inline int64_t td_npu_int(const TdMlirOp *op, const char *name, int64_t other) {
  const TdMlirAttr *x = td_mlir_get(op, name);
  return x && x->kind == TD_MLIR_A_INT ? x->i : other;
}

/* verify.c: what is used of a tile. */
typedef struct TdNpuUse {
  int64_t bytes, s2mm, mm2s, bds, locks, cores;
  const TdMlirOp *last; /* the operation that asked last */
} TdNpuUse;
TdNpuUse td_npu_verify_use(const TdNpuMachine *x, int64_t col, int64_t row);
/* verify.c: whether a device has what the machine asks of it; false with d filled. */
bool td_npu_verify(TdNpuMachine *x, const TdDevice *device, TdDiag *d);

/* How much a writer may fill, and a reader take. */
int64_t td_npu_pool_room(const TdNpuPool *p, size_t writer);
int64_t td_npu_pool_full(const TdNpuPool *p, size_t reader);

/* machine_core.c: a core's program; goes on until it waits, *moved tells whether it did a thing. */
TdNpuCoreRun *td_npu_core_new(TdNpuMachine *x, const TdMlirOp *op);
bool td_npu_core_go(TdNpuMachine *x, TdNpuCoreRun *c, bool *moved);
/* Its tile and name; the line that it waits for, *slot for a free object, or SIZE_MAX. */
size_t td_npu_core_tile(const TdNpuCoreRun *c);
const char *td_npu_core_name(const TdNpuCoreRun *c);
size_t td_npu_core_line(const TdNpuMachine *x, const TdNpuCoreRun *c, bool *slot);
/* What it waits for. */
const char *td_npu_core_waits(TdArena *a, const TdNpuCoreRun *c);

/* machine_dma.c: moves objects along a line; starts a transfer as the host says. */
bool td_npu_dma_go(TdNpuMachine *x, TdNpuLine *l);
/* Without data: the elements that are left of a shim line's first task; that so many of them were
 * moved, and whether that ended the task. */
int64_t td_npu_dma_left(TdNpuMachine *x, const TdNpuLine *l);
bool td_npu_dma_moved(TdNpuMachine *x, TdNpuLine *l, int64_t n);
bool td_npu_dma_start(TdNpuMachine *x, const TdMlirOp *op, unsigned char *base, int64_t bytes);

#endif

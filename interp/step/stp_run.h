/* stp_run.h - running a graph: one executor, always with a clock, with data or on shapes alone.
 *
 * Every node has a clock of its own. An element put at clock t is visible from t + 1; a place is
 * free one after its element was taken. A node that needs what is not there waits, and its clock
 * goes on to the time at which it comes; so nodes may be run in any order, and the times are the
 * same. Two things are decided in order of time, when nothing else can go on: what the memory
 * serves, and which input an eager_merge takes. */
#ifndef TD_STP_RUN_H
#define TD_STP_RUN_H

#include "eval/time/offchip.h"
#include "eval/time/timed.h"
#include "eval/value/domain.h"
#include "step/stp_kernel.h"

/* What tiles hold in place of data: fingerprints of rows or elements (stp_finger.h). */
typedef enum { TD_STP_NO_FINGER, TD_STP_BY_ROWS, TD_STP_BY_ELEMENTS } TdStpFinger;

typedef struct TdStpOptions {
  int64_t depth;    /* of every FIFO that says none; 0: no limit */
  int64_t pmu;      /* bytes per cycle of a memory unit */
  int64_t bytes;    /* of a float element in loads and transfers; 0: those of its type */
  TdOffchip memory; /* off the chip */
  bool data;        /* with data */
  bool keep;        /* keeps the events of streams */
  uint64_t most;    /* turns of operators after which the run is given up; 0: none */
  TdStpFinger finger;
  bool sums;          /* fingerprints of sums do not tell their order */
  bool by_index;      /* all reassembles go by index */
  uint64_t routing;   /* 0: selectors as they are; else those lists drawn from them */
  const TdMap *drawn; /* that are keys here */
} TdStpOptions;
/* The artifact's settings. */
TdStpOptions td_stp_run_defaults(void);

/* How the executor calls kernels: a function (node n's, or + for its sums) on parts arg, into out;
 * all are tensors of constant extents, with strides. */
typedef struct TdStpCalls {
  void *ud;
  bool (*call)(void *ud, const TdStpNode *n, TdStpFnKind fn, TdTensor *arg, size_t narg,
               TdTensor *out, TdDiag *d);
  /* The cycles of a kernel at sizes, as the node's option `time` says; -1 with d filled. */
  int64_t (*cycles)(void *ud, const TdStpNode *n, const TdStpSizes *s, TdDiag *d);
} TdStpCalls;

/* A token of an output: a tile, a number, a selector, or the parts of a tuple or buffer; from > 0:
 * nothing, closes levels from .. stop. */
typedef struct TdStpToken {
  TdStpKind kind;
  int from, stop;
  int64_t rows, cols, valid_rows, valid_cols;
  int64_t number;            /* of an integer [1, 1] tile without data */
  const int32_t *index;      /* of a selector */
  int64_t nindex;            /* -1: no selector */
  const TdType *elem;        /* of a tile */
  const unsigned char *data; /* row-major; NULL: a run on shapes */
  const struct TdStpToken *part;
  size_t nparts;
} TdStpToken;

typedef struct TdStpOutput {
  TD_VEC(TdStpToken) token;
} TdStpOutput;

/* What a run on fingerprints left in a place of an off-chip tensor, and which store did. */
typedef struct TdStpCell {
  uint64_t key;
  TdHash hash;
  const TdStpNode *by;
  int64_t tile, row;
} TdStpCell;

typedef struct TdStpReport {
  TdTimed timed;
  int64_t traffic, memory, memory_live, moved, flops, useful, allocated;
  const int64_t *symbol; /* values of the graph's symbols */
  TdStpOutput *output;   /* of the graph's outputs */
  const TdStpCell *cell; /* of a run on fingerprints, in order of first writes */
  size_t ncell;
} TdStpReport;

/* Runs g in a; outputs live there, what else the report has in `kept`. False with d filled. */
bool td_stp_run(TdArena *a, TdArena *kept, TdStpGraph *g, const TdStpOptions *o,
                const TdStpCalls *calls, TdStpReport *r, TdDiag *d);

#endif

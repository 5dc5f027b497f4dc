/* lanes.h - innermost loops over elements that lie side by side, as loops of vector instructions
 * (aie_api): whether one is such, what it takes, its text. */
#ifndef TD_NPU_LANES_H
#define TD_NPU_LANES_H

#include "backends/c/cfamily.h"
#include "backends/npu/vector.h"

/* How aie_api rounds what a loop shifts or makes a shorter float. */
typedef enum { TD_NPU_EXACT, TD_NPU_FLOOR, TD_NPU_EVEN } TdNpuRound;

/* An innermost loop. */
typedef struct TdNpuLanes {
  const TdStmt *loop;
  int lanes;           /* of a vector; 0: it runs one element at a time, and */
  const char *why;     /* says why */
  int64_t from, trips; /* of the loop */
  TdNpuRound round;
  int widest;               /* bits of the widest lane */
  double load, store, work; /* bytes of vectors an element: read, written, computed */
  const TdMac *mac;         /* of products that are added up, or NULL */
  bool sums;                /* products are added up in an accumulator, */
  bool apart;               /* or, in a loop of few turns, in vectors of the sum's own lanes */
} TdNpuLanes;

/* Whether s is a loop without loops in it; then *out tells. */
bool td_npu_lanes_of(const TdNpuAsk *q, const TdStmt *s, TdNpuLanes *out);
/* Cycles of all its turns that vectors do, and how many turns are left over. */
double td_npu_lanes_cycles(const TdNpuLanes *x);
int64_t td_npu_lanes_rest(const TdNpuLanes *x);
/* Writes a loop that has lanes. */
void td_npu_lanes_put(const TdNpuAsk *q, TdCWriter *w, const TdNpuLanes *x);

/* ---- of the files that make it ---- */

/* A vector: integers of which the low `bits` count, or floats. Without a writer it has no text. */
typedef struct TdNpuLane {
  int bits;
  bool real;
  const char *text;
  const char *one; /* the text of the one value that all lanes have, or NULL */
} TdNpuLane;

/* An expression under way. */
typedef struct TdNpuLaneAsk {
  const TdNpuAsk *q;
  TdCWriter *w; /* NULL: it is only asked */
  TdNpuLanes *out;
  const TdExpr *const *stored; /* places that the body writes */
  size_t nstored;
  const struct TdNpuLaneLocal *local; /* scalars that it declares */
  size_t nlocal;
} TdNpuLaneAsk;

typedef struct TdNpuLaneLocal {
  TdSym sym;
  TdNpuLane lane;
} TdNpuLaneLocal;

/* lane.c: the vector of an expression's values. Of integers the low `need` bits are asked for; all
 * of the value where those are as many as it has (td_npu_lane_width), and if it is 0. False: why is
 * said. */
bool td_npu_lane_of(TdNpuLaneAsk *x, const TdExpr *e, int need, TdNpuLane *out);
/* Bits of a scalar type's values, with a sign. */
int td_npu_lane_width(const TdType *t);
/* v with lanes of so many bits. */
void td_npu_lane_to(TdNpuLaneAsk *x, TdNpuLane *v, int bits);
/* The C++ type of a lane. */
const char *td_npu_lane_type(const TdNpuLane *v);
/* Whether e changes from turn to turn. */
bool td_npu_lane_varies(const TdNpuLaneAsk *x, const TdExpr *e);
/* Whether an element moves on by one each turn, in memory too. */
bool td_npu_lane_walks(TdNpuLaneAsk *x, const TdExpr *place);
/* The address of an element in the text, and whether vectors there are aligned. */
const char *td_npu_lane_address(const TdNpuLaneAsk *x, const TdExpr *place, bool *aligned);
bool td_npu_lane_fail(TdNpuLaneAsk *x, const char *fmt, ...) TD_PRINTF(2, 3);

#endif

/* vector.h - nests that vector instructions compute: what they are, told by their shape alone. */
#ifndef TD_NPU_VECTOR_H
#define TD_NPU_VECTOR_H

#include "analysis/net/devices.h"
#include "ir/ir.h"

/* A product of matrices in blocks: C[m][n][r][t] += A[m][k][r][s] * B[k][n][s][t]. */
typedef struct TdNpuMmul {
  const TdMac *mac;
  TdSym a, b, c;
  const TdType *elem[3];
  int64_t m, n, k; /* in blocks */
} TdNpuMmul;

/* Multiplications and additions of one kind. */
typedef struct TdNpuMacs {
  const TdMac *mac;
  double n, lanes, scalar; /* by products of blocks; by lanes, in `vector`; one by one */
} TdNpuMacs;

/* What statements take: MACs by kind, other operations in vectors and one by one. */
typedef struct TdNpuCost {
  TdNpuMacs mac[TD_MACS];
  size_t nmac;
  double vector, scalar; /* cycles */
} TdNpuCost;

/* Who asks: scratch, the program, the unit whose sizes have the values, the generation of cores. */
typedef struct TdNpuAsk {
  TdArena *arena;
  const TdProg *prog;
  const TdUnit *unit;
  int generation;
  const TdMap *types; /* symbol -> TdType, of arrays that are no parameters; or NULL */
  TdMap *fill;        /* uid -> 1 + whether it is one (td_npu_vector_fill); or NULL */
} TdNpuAsk;

/* The name of a factor's type in TD_MAC: integers below 8 bits are in cells of 8, and are
 * multiplied as such. */
const char *td_npu_vector_factor(TdArena *a, const TdType *t);

/* Whether nest s stores one value, which no loop of it changes, to every element of an array once.
 * Then *store is the store, *n the number of elements. */
bool td_npu_vector_fill(const TdNpuAsk *q, const TdStmt *s, const TdStmt **store, int64_t *n);
/* Whether all that nest s does is such a product. */
bool td_npu_vector_mmul(const TdNpuAsk *q, const TdStmt *s, TdNpuMmul *out);

/* cost.c: adds what s takes, `times` over. */
void td_npu_cost_add(const TdNpuAsk *q, const TdStmt *s, double times, TdNpuCost *c);
/* The cost as a line of text, and from it; what is missing is 0. */
void td_npu_cost_print(TdText *out, const TdNpuCost *c);
void td_npu_cost_read(const char *line, int generation, TdNpuCost *c);
/* Cycles of a call, and the MACs of a cycle that it could do at most. */
double td_npu_cost_cycles(const TdNpuCost *c);
double td_npu_cost_macs(const TdNpuCost *c);
int64_t td_npu_cost_peak(const TdNpuCost *c);

#endif

/* nest.h - a kernel as the one thing that a streamer system does: for each result, a sum of
 * products. */
#ifndef TD_MAESTRO_NEST_H
#define TD_MAESTRO_NEST_H

#include "affine/access.h"

enum { TD_MAESTRO_NEST_LOOPS = 16 };

/* A loop of the nest: 0 <= i < extent. */
typedef struct TdMaestroLoop {
  const char *name;
  TdSym sym;
  int64_t extent, lo, step; /* lo, step: of the variable in the kernel */
  bool reduces;             /* it adds to the same result */
  TdLoc loc;
} TdMaestroLoop;

/* One tensor and the element of it that an iteration touches: start[d] + sum of coef[d][loop] * i.
 */
typedef struct TdMaestroOperand {
  bool used;
  size_t param; /* place among the kernel's parameters */
  TdSym sym;
  const TdType *elem;
  int rank;
  int64_t extent[TD_MAX_RANK], start[TD_MAX_RANK];
  int64_t origin[TD_MAX_RANK]; /* index of the first element that is kept in memory */
  int64_t coef[TD_MAX_RANK][TD_MAESTRO_NEST_LOOPS];
  TdLoc loc;
} TdMaestroOperand;

/* D = post(C + sum of factor[0] * factor[1]); or, past the array, post(factor[0]), post(factor[0] +
 * factor[1]), post of the sum or maximum of factor[0]. */
typedef struct TdMaestroNest {
  const TdUnit *unit;
  TdMaestroLoop loop[TD_MAESTRO_NEST_LOOPS];
  int nloop;
  TdMaestroOperand factor[2], init, result;
  uint64_t init_value;         /* where init is not used: what sums begin with */
  const TdType *product, *sum; /* types in which products are made, and sums before they are kept */
  const TdType *acc;           /* of the sum that is kept */
  const TdExpr *post, *post_acc; /* what is stored, and the sum in it */
  int gather;                    /* past the array: TD_OP_ADD, TD_OP_MAX, or -1 */
} TdMaestroNest;

/* Reads the root of q's program; false with d filled, at the statement or access that does not
 * fit. */
bool td_maestro_nest_read(const TdAsk *q, TdMaestroNest *out, TdDiag *d);
/* Whether q's root adds no product: it moves words past the array. */
bool td_maestro_nest_moves(const TdAsk *q);
/* Reads it as such. */
bool td_maestro_nest_read_path(const TdAsk *q, TdMaestroNest *out, TdDiag *d);
/* The loop of a name, or -1. */
int td_maestro_nest_find(const TdMaestroNest *n, const char *name);
/* Part of a nest: iterations [lo, lo + n) of each loop. */
typedef struct TdMaestroPart {
  int64_t lo[TD_MAESTRO_NEST_LOOPS], n[TD_MAESTRO_NEST_LOOPS];
  bool sums; /* sums go on from the result */
} TdMaestroPart;
/* Cuts a nest down to a part, and operands to the elements that it touches. */
void td_maestro_nest_cut(TdMaestroNest *n, const TdMaestroPart *part);
/* Whether an operand's element depends on a loop. */
bool td_maestro_nest_uses(const TdMaestroOperand *x, int loop);

#endif

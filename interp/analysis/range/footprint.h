/* footprint.h - the part of an array that a statement touches, as a box. */
#ifndef TD_ANALYSIS_RANGE_FOOTPRINT_H
#define TD_ANALYSIS_RANGE_FOOTPRINT_H

#include "affine/access.h"

/* lo[d] over sizes, parameters and the loops around the statement; extent[d] a constant or affine
 * in sizes. Nothing outside the box is touched. */
typedef struct TdBox {
  int rank;
  const TdExpr *lo[TD_MAX_RANK], *extent[TD_MAX_RANK];
  bool exact; /* each element of the box is touched; a box may stick out of its array if not */
} TdBox;

typedef struct TdFootprint {
  TdBox box;
  bool read, write;
  bool filled;   /* each element of the box is written */
  bool prepared; /* nothing is read but what this execution has written before: no load needed */
} TdFootprint;

/* What one execution of s (everything below it, calls included) does to `array`, which is declared
 * outside s and has type t. False: s does not touch it, or may touch it anywhere in a way that no
 * box tells (an unknown extent). Expressions are owned by q->arena. */
bool td_footprint_of(const TdAsk *q, const TdStmt *s, TdSym array, const TdType *t,
                     TdFootprint *out);

/* The elements to move between an array and a buffer of its footprint: in dimension d from `from`
 * on to before `to`, over what surrounds the statement; a max, or a min, of affine forms where no
 * one of them says it all. They lie in the array. */
typedef struct TdMoved {
  bool any;
  bool read; /* of a load: s reads each before it writes it, so each was written before s */
  int rank;
  const TdExpr *from[TD_MAX_RANK], *to[TD_MAX_RANK];
} TdMoved;

/* What to load before s and to store after it when a buffer stands for `array`: loaded is what s
 * reads before it writes it, and what is stored although s perhaps does not write it. As
 * td_footprint_of otherwise. */
bool td_footprint_moves(const TdAsk *q, const TdStmt *s, TdSym array, const TdType *t,
                        TdMoved *load, TdMoved *store);

/* How a box moves from one iteration of `loop` (around the statement) to the next. */
typedef struct TdFootprintStep {
  int dim;       /* the dimension that moves, or -1 */
  int64_t shift; /* by how much */
  TdBox fresh;   /* the box less that of the iteration before: what must be loaded anew */
} TdFootprintStep;

/* False: the difference is no box, because several dimensions move or the motion is not affine. */
bool td_footprint_step(const TdAsk *q, const TdBox *box, const TdStmt *loop, TdFootprintStep *out);

#endif

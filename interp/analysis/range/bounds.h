/* bounds.h - indices against extents. */
#ifndef TD_ANALYSIS_RANGE_BOUNDS_H
#define TD_ANALYSIS_RANGE_BOUNDS_H

#include "affine/access.h"

/* Whether the index of one dimension stays inside. */
typedef enum {
  TD_BOUNDS_IN,        /* for all sizes */
  TD_BOUNDS_AT_VALUES, /* at the sizes that the unit has */
  TD_BOUNDS_UNPROVED,  /* for the checked run to see */
  TD_BOUNDS_OUT        /* each call at the values runs the statement, out of range now and then */
} TdBoundsKind;

typedef struct TdBoundsItem {
  const TdStmt *stmt;
  const TdExpr *expr; /* LOAD or VIEW */
  const TdType *type; /* of what it is an element or part of */
  int dim;
  TdBoundsKind kind;
} TdBoundsItem;

/* Checks all accesses of q->unit's body. False: one is OUT, and d says which. Otherwise *items are
 * those that are not IN, in source order, owned by q->arena. */
bool td_bounds_check(const TdAsk *q, const TdBoundsItem **items, size_t *n, TdDiag *d);

/* Whether the index stays inside whatever the data that it is made of, as c[0] % 4 of 4 does; u
 * has the sizes. */
bool td_bounds_always(const TdUnit *u, const TdBoundsItem *x);

#endif

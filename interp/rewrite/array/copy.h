/* copy.h - nests that move the elements of one array to another, and arrays that such a copy makes
 * superfluous. */
#ifndef TD_REWRITE_ARRAY_COPY_H
#define TD_REWRITE_ARRAY_COPY_H

#include "rewrite/array/index_inverse.h"

/* One store of an element as it is, `to` from `from` (LOADs), under the loops that move `side`. */
typedef struct TdCopy {
  TdRewrite *r;
  const TdUnit *unit;
  const TdStmt *store, *nest, *block; /* the nest is a statement of the block */
  size_t place;                       /* its number there */
  const TdExpr *to, *from, *side;
  const TdStmt *const *loop; /* of the nest, outermost first */
  size_t nloop;
  TdTurn turn; /* of side */
} TdCopy;

/* Whether s stores an element of one array into another as it is. */
bool td_copy_is(const TdStmt *s);
/* Finds the nest around such a store whose loops move `side`, which is its `to` or `from`. */
void td_copy_find(TdCopy *c, TdRewrite *r, const TdUnit *u, const TdStmt *store, TdSym side);
/* Element e of the side's array as an element of the other, at statement `at`. */
const TdExpr *td_copy_other(const TdCopy *c, const TdStmt *at, const TdExpr *e);
/* Whether the side's element e is, at statement `at`, one that this execution of the nest moves, as
 * far as dimensions that none of its loops moves can tell. */
bool td_copy_meets(const TdCopy *c, const TdStmt *at, const TdExpr *e);
/* What the nest does to the other array alone: reads it, or writes it with `value`. */
const TdStmt *td_copy_reads(const TdCopy *c);
const TdStmt *td_copy_writes(const TdCopy *c, const TdExpr *value);
/* Where the elements of the side, in order, lie in the other array, which has type `other`; they
 * are counted from where the loops around begin, which moves if *shifts. False where sizes are open
 * or a place is no sum of digits. */
bool td_copy_places(const TdCopy *c, const TdType *other, TdDesc *out, bool *shifts);

/* An array whose elements, in order, are those of another. */
typedef struct TdCopyOf {
  const TdUnit *unit;
  TdSym array, other;
  const TdType *type; /* of the array */
  TdDesc at;          /* where they lie in the other */
} TdCopyOf;
/* Notes it, and of each array that is a copy of it, or that is copied to it, the composition: where
 * the elements of that lie in the other. */
void td_copy_note(TdRewrite *r, const TdCopyOf *of);

#endif

/* index_inverse.h - an element's index over loops, turned round: the iteration at which an element
 * is
 * touched. */
#ifndef TD_REWRITE_ARRAY_INDEX_INVERSE_H
#define TD_REWRITE_ARRAY_INDEX_INVERSE_H

#include "ir/desc.h"
#include "rewrite/util.h"

/* A part of a loop variable: the variable is its lower bound + the sum of weight * part. */
typedef struct TdTurnPart {
  size_t loop;
  int64_t weight;
  int64_t trip; /* how many values it has; 0: as many as the loop gives it, of the outermost part */
  TdSym sym;
  int dim;         /* of the element's index that it moves, or -1 */
  int64_t by, mod; /* it is (index - base) // by % mod there; mod 0: as it is */
} TdTurnPart;

#define TD_TURN_PARTS 24
typedef struct TdTurn {
  TdRewrite *r;
  const TdUnit *unit; /* with what had to be assumed */
  const TdStmt *const *loop;
  size_t nloop;
  int rank;
  TdTurnPart part[TD_TURN_PARTS];
  size_t n;
  const TdExpr *base[TD_MAX_RANK]; /* of each dimension: the index where all parts are 0 */
  bool fixed[TD_MAX_RANK];         /* no loop moves it */
  const char *why;                 /* of a refusal: "is indexed by ..." */
} TdTurn;

/* Turns the index of `element`, a LOAD under these loops (outermost first; the innermost are those
 * that move it), round. False with t->why: it is not affine, or two iterations touch one element.
 */
bool td_index_inverse_of(TdTurn *t, TdRewrite *r, const TdUnit *u, const TdStmt *const *loop,
                         size_t nloop, const TdExpr *element);
/* The same, with parts so small that the index of `other` (may be NULL), too, is a sum of them. */
bool td_index_inverse_of_both(TdTurn *t, TdRewrite *r, const TdUnit *u, const TdStmt *const *loop,
                              size_t nloop, const TdExpr *element, const TdExpr *other);
/* The values of the loop variables at which element at[] is touched, if it is; not simplified. */
void td_index_inverse_at(const TdTurn *t, const TdExpr *const *at, const TdExpr **value);
/* Whether each element of an array of type `type` is touched, where dimensions that no loop moves
 * do not count; what that takes of sizes is assumed in t->unit. */
bool td_index_inverse_covers(TdTurn *t, const TdType *type);

/* How many indices of dimension d are touched, from its base up; false where sizes are open, or
 * down. */
bool td_index_inverse_extent(const TdTurn *t, int d, int64_t *n);
/* The places, in an array of type `type`, of its elements e in the order of the turned array's:
 * "<0; (2, 64)(8, 8)(8, 1)>" for tiles. *shifts: they are counted from a place that moves with
 * what is around the loops. False where sizes are open or e is no sum of parts. */
bool td_index_inverse_places(const TdTurn *t, const TdExpr *e, const TdType *type, TdDesc *out,
                             bool *shifts);

/* A view of the turned array as a view of the array of which `other`, over the same loops, is the
 * element; NULL where it is none, since a dimension of one is made of several of the other. */
const TdExpr *td_index_inverse_view(const TdTurn *t, const TdExpr *other, const TdExpr *view);

/* e, an index at statement `at` of u, without the divisions and remainders that what is known
 * there decides, and those that only took something apart and put it together again. */
const TdExpr *td_index_inverse_reduce(TdRewrite *r, const TdUnit *u, const TdStmt *at,
                                      const TdExpr *e);

#endif

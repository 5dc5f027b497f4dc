/* touch.h - the walk over a subtree that access.c makes, and what touch.c adds to it: the elements
 * that an expression reads and a target takes. */
#ifndef TD_TOUCH_H
#define TD_TOUCH_H

#include "affine/access.h"

typedef struct TdWalk {
  const TdAsk *ask;
  TdArena *arena;
  TdLeaves *out;
  bool flat;
  const TdEnv *env;
  const TdNest *nest;
  const TdRegion *region;
  uint32_t top_uid, top_origin; /* of the outermost call under way, or 0 */
  TdMap subs;                   /* uid -> leaves that it has */
  TdMap cell[TD_CELLS];         /* TdSym -> TdCell * */
  bool may;                     /* what is touched now is perhaps not evaluated */
  TD_VEC(TdAccess) access;      /* of the leaf under way */
} TdWalk;

typedef enum { TD_TOUCH_READ = 1, TD_TOUCH_WRITE = 2 } TdTouch;

/* The element of a tensor that is spoken of: one iterator for each dimension, and others that come
 * from reductions on the way. `extent` bounds each. */
#define TD_TOUCH_ITERS 24
typedef struct TdElem {
  size_t n;
  const TdExpr *extent[TD_TOUCH_ITERS];
  uint8_t rank, at[TD_TOUCH_ITERS];
} TdElem;

/* All elements of a value of type t. */
TdElem td_touch_elem(const TdType *t);

/* What evaluating e (element `of` of it) reads. */
void td_touch_value(TdWalk *w, const TdExpr *e, const TdElem *of);
/* The place e (LOAD or VIEW) is written, or an operation on stream end `kind` happens there; what
 * its index expressions read is read. */
void td_touch_place(TdWalk *w, const TdExpr *e, const TdElem *of, TdCellKind kind, int how);
/* All of the thing `sym`, which has type t. */
void td_touch_whole(TdWalk *w, TdSym sym, const TdType *t, TdCellKind kind, int how);

/* A new cell for what `decl` declares here. */
void td_touch_declare(TdWalk *w, TdSym sym, const TdStmt *decl);

#endif

/* inject.h - a library kernel in the place of a loop nest. */
#ifndef TD_REWRITE_KERNEL_INJECT_H
#define TD_REWRITE_KERNEL_INJECT_H

#include "rewrite/kernel/contract.h"
#include "rewrite/kernel/lift.h"

/* An array that the nest touches, as a tile. */
typedef struct TdTile {
  TdSym sym;
  const TdType *type; /* of the array */
  TdBox box;          /* what the nest touches */
  int64_t extent[TD_MAX_RANK];
  bool read, write;
  size_t param; /* of the lifted nest */
} TdTile;

/* What an operand of the library kernel is given: a tile, its dimension dim[i] for name i. */
typedef struct TdGiven {
  size_t tile;
  int dim[TD_ORDER_DIMS];
} TdGiven;

typedef struct TdInject {
  TdRewrite *r;
  const TdContract *lib;
  const TdUnit *unit;
  const TdStmt *nest;
  TdLifted lifted;
  TdTile *tile;
  size_t ntile;
  TdGiven *given; /* parallel to the operands */
  size_t *scalar; /* of each operand: the lifted parameter that it is given, if it is no tensor */
  bool reassociate;
} TdInject;

/* inject_match.c: lifts the nest and finds its tiles. False with r->diag filled. */
bool td_inject_find(TdInject *j, TdRewrite *r, const TdContract *lib, const TdUnit *u,
                    const TdStmt *nest);
/* The nest as a kernel of its tiles alone: they are its first parameters, the scalars that it uses
 * the others. Parameter i was number (*from)[i] of the lifted nest. */
const TdProg *td_inject_nest(const TdInject *j, size_t **from);
/* Finds which operand is given what, so that the kernel computes what the nest does, by proof.
 * False with r->diag filled: shapes that do not fit, or the first difference. */
bool td_inject_match(TdInject *j);

/* inject_tile.c: r->prog with the nest split into tiles that the library kernel takes, and it in
 * their place, as steps of a composite one whose arguments (loop, kernel) are r's. NULL: its loops
 * are not so, and nothing is noted, or a step was refused, as r->diag says. */
const TdProg *td_inject_tiled(TdRewrite *r, const TdContract *lib, const TdUnit *u,
                              const TdStmt *nest);

/* inject_call.c: the call with what brings its operands in order; the arrays are `sym` from `lo`,
 * which are parallel to the tiles. */
typedef struct TdInjectPlace {
  const TdUnit *unit; /* in which names are chosen */
  const TdSym *sym;
  const TdExpr *const *const *lo;
  const TdExpr *const *scalar; /* by operand */
} TdInjectPlace;
const TdStmt *td_inject_call(const TdInject *j, const TdInjectPlace *at);

#endif

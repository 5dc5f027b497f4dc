/* lower.h - index expressions and conditions to affine forms and rows. */
#ifndef TD_LOWER_H
#define TD_LOWER_H

#include "affine/sys.h"
#include "ir/ir.h"

/* What a parameter column stands for: a size (key is its interned name), or a symbol (scalar
 * parameter, coordinate, loop around the query). */
typedef struct TdParamCol {
  const void *key;
  const char *name;
  bool is_size;
} TdParamCol;

/* The parameter columns of a query: column -1 - p is entry p. */
typedef struct TdSpace {
  TdArena *arena;
  TdMap index;
  TD_VEC(TdParamCol) at;
} TdSpace;
/* The column of a size or symbol of identity `key`, made if need be; `name` shows it. */
int32_t td_lower_param(TdSpace *s, const void *key, const char *name, bool is_size);

/* A unit under virtual inlining: `call` (in the unit of `up`) binds its parameters; both, and the
 * root of the program, are NULL for the unit of the query. */
typedef struct TdEnv {
  const struct TdEnv *up;
  const TdUnit *unit, *root;
  const TdStmt *call;
} TdEnv;

/* A loop around a statement. Identity is the pointer: a callee's loop is another one at each call.
 * Its column is its depth. */
typedef struct TdNestLoop {
  const TdStmt *stmt;
} TdNestLoop;

/* One lowering. What is not convex (max where min would be, `or`, `~=`) is lowered once for each of
 * its cases: run the same calls again while td_lower_next says so, with a fresh system. */
#define TD_LOWER_CHOICES 6
typedef struct TdLower {
  TdSession *session;
  TdSpace *space;
  const TdEnv *env;
  const TdNestLoop *const *loop;
  size_t nloop;
  TdSys *sys;   /* gets existential columns and rows; in space->arena */
  bool inexact; /* some condition was left out: the rows allow more than the program does */
  uint8_t pick[TD_LOWER_CHOICES], ways[TD_LOWER_CHOICES];
  size_t at, n;
} TdLower;

/* Moves to the next case; false when all were seen. */
bool td_lower_next(TdLower *w);

/* e as a form over parameters, loops and existential columns of w->sys; false if it is not affine.
 */
bool td_lower_expr(TdLower *w, const TdExpr *e, TdAff *out);
/* Adds "e is `truth`", or as much of it as is affine. */
void td_lower_cond(TdLower *w, const TdExpr *e, bool truth);
/* Adds "x + k <= y" likewise. */
void td_lower_le(TdLower *w, const TdExpr *x, const TdExpr *y, int64_t k);

#endif

/* nest.h - where a statement stands: its loops, and the values that they take there. */
#ifndef TD_NEST_H
#define TD_NEST_H

#include "affine/lower.h"

/* Loops, outermost first, and their domain as a union of systems over the loops' columns. */
typedef struct TdNest {
  const TdNestLoop *const *loop;
  size_t nloop;
  const TdSys *dom;
  size_t ndom;
  bool exact; /* else the domain allows more than the program does */
} TdNest;

/* What extending a nest needs to know. */
typedef struct TdNestMaker {
  TdSession *session;
  TdSpace *space;
  const TdEnv *env;
} TdNestMaker;

/* No loops, no conditions. */
const TdNest *td_nest_top(TdSpace *s);
/* up, and inside it the body of a FOR. */
const TdNest *td_nest_loop(const TdNestMaker *m, const TdNest *up, const TdStmt *loop);
/* up where `cond` is `truth`. */
const TdNest *td_nest_branch(const TdNestMaker *m, const TdNest *up, const TdExpr *cond,
                             bool truth);
/* up, not known to be reached. */
const TdNest *td_nest_maybe(TdSpace *s, const TdNest *up);

/* The facts about parameters that hold at `root`, a statement of m->env->unit or a new block around
 * some of its statements: asserts, extents >= 0, and the loops and conditions around it. One
 * system, no loops. */
const TdNest *td_nest_context(const TdNestMaker *m, const TdStmt *root);

/* Adds "size == value" for the sizes in s that have a value in u. */
void td_nest_at_values(TdSpace *s, const TdUnit *u, TdSys *sys);

#endif

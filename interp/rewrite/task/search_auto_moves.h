/* search_auto_moves.h - what may make a program faster: a few steps of primitives each. */
#ifndef TD_REWRITE_TASK_SEARCH_AUTO_MOVES_H
#define TD_REWRITE_TASK_SEARCH_AUTO_MOVES_H

#include "rewrite/util.h"

enum { TD_AUTO_STEPS = 12 };

/* Steps that are taken together: the first must be legal, others are left out where they are not.
 */
typedef struct TdAutoMove {
  const TdPrimStep *step;
  size_t n;
} TdAutoMove;
typedef TD_VEC(TdAutoMove) TdAutoMoves;

/* Moves for p on a CPU (orders of loops, parallel ones) or in hardware (orders, buffers, pipelined
 * and unrolled loops with the banks that they need), all owned by a. */
TdAutoMoves td_auto_moves(TdRewrite *r, TdArena *a, const TdProg *p, bool cpu);

#endif

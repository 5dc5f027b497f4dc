/* search_moves.h - the steps by which a design may come to fewer nodes. */
#ifndef TD_REWRITE_TASK_SEARCH_MOVES_H
#define TD_REWRITE_TASK_SEARCH_MOVES_H

#include "analysis/time/cost.h"
#include "rewrite/task/search_turns.h"

typedef TD_VEC(TdSearchMove) TdSearchMoves;

/* A state whose moves are asked for. */
typedef struct TdSearchFrom {
  TdArena *arena; /* owns what is returned */
  const TdGraph *graph;
  const TdTurns *turns;     /* in a search to the end; NULL: not all, but few that promise most */
  const TdCostStage *stage; /* of each run; needed where turns are not given */
  int64_t pes;
} TdSearchFrom;

/* All moves that may be legal: bundles of runs in order, then of two runs, then, in a search to the
 * end, of two nodes. */
TdSearchMoves td_search_moves(const TdSearchFrom *f);
/* A move as a step with its arguments, owned by a. */
TdPrimStep td_search_step(TdArena *a, const TdSearchMove *m);

#endif

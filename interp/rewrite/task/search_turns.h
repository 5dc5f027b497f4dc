/* search_turns.h - what the nodes of a mapped design do: original nodes, put together step by step.
 * Two ways to the same are one to a search. */
#ifndef TD_REWRITE_TASK_SEARCH_TURNS_H
#define TD_REWRITE_TASK_SEARCH_TURNS_H

#include "analysis/net/graph.h"
#include "rewrite/prim.h"

/* One step: bundle(first, {axis, factor}), bundle {first, second}, bundle(list) or chain(first,
 * second); first and second are tasks or instances. */
typedef struct TdSearchMove {
  const TdPrim *prim;
  const char *first, *second; /* second: NULL for an axis, and a list */
  int64_t axis, factor;       /* -1: none, all */
  const char *const *list;    /* in a large search; NULL: none */
  size_t n;
} TdSearchMove;

enum { TD_TURNS_MOST = 6 };

/* The nodes of a design and what they do. */
typedef struct TdTurns {
  size_t n;
  const char *name[TD_TURNS_MOST]; /* NULL: the step will tell */
  uint64_t did[TD_TURNS_MOST]; /* a key of the original node, or of the step and what it joined */
  bool alone[TD_TURNS_MOST];   /* nothing in it uses a stream */
} TdTurns;

/* Those of a design of at most TD_TURNS_MOST nodes; names owned by a. Nodes that use no stream and
 * do the same statements have one key. */
TdTurns td_turns_of(TdArena *a, const TdGraph *g);
/* Those after a move. The order in which nodes that use no stream are joined does not show. */
TdTurns td_turns_after(TdArena *a, const TdTurns *t, const TdSearchMove *m);
/* Names the node that the move made; false when the design has others than expected. */
bool td_turns_settle(TdArena *a, TdTurns *t, const TdGraph *g);
/* A key that the same nodes share, by what they do and of which tasks they are instances, and
 * others do not. */
uint64_t td_turns_key(const TdTurns *t);
/* Whether node `name`, or all of task `name`, use no stream. */
bool td_turns_are_alone(const TdTurns *t, const char *name);

#endif

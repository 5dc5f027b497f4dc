/* conflict.h - two executions that touch one element, at least one writing it, as a system of
 * constraints; and such a pair told to people. */
#ifndef TD_ANALYSIS_ORDER_CONFLICT_H
#define TD_ANALYSIS_ORDER_CONFLICT_H

#include "affine/access.h"

/* An execution of a statement: `was` says what it touches, over its loops; `now` when it runs,
 * after a rewrite. `image` gives the former loops (block 1) over the present ones (block 0). With
 * no rewrite the two are the same leaf and image is NULL. */
typedef struct TdInstance {
  const TdLeaf *was, *now;
  const TdSys *image;
} TdInstance;

typedef struct TdConflict {
  const TdAsk *ask;
  TdSpace *space;
  TdInstance x, y;
  const TdAccess *a, *b; /* of x.was and y.was */
  TdShift at;            /* of the forms of a */
  TdSys sys;             /* both run, and a and b meet; a visitor may add rows and take them back */
  bool exact;            /* else they perhaps do */
} TdConflict;

/* Calls fn for each way in which accesses of x and y can meet, until it returns false; whether it
 * never did. `context` holds for both (td_nest_context). */
typedef bool (*TdConflictVisit)(void *ud, TdConflict *c);
bool td_conflict_visit(const TdAsk *q, const TdLeaves *l, const TdNest *context, TdInstance x,
                       TdInstance y, TdConflictVisit fn, void *ud);

/* The column of loop `depth` of x (of y: second) as it was, or is now. */
TdAff td_conflict_loop_was(const TdConflict *c, bool second, size_t depth);
TdAff td_conflict_loop_now(const TdConflict *c, bool second, size_t depth);

/* How many loops, outermost first, order instances of both leaves. */
size_t td_conflict_common(const TdLeaf *s, const TdLeaf *t);

/* Whether some point of c->sys exists; if so and w is not NULL, *w tells one: at the unit's values
 * of the sizes, or else *sizes (NULL) says at which: "M = 3". Strings are owned by c->ask->arena.
 */
TdTruth td_conflict_witness(TdConflict *c, TdWitness *w, const char **sizes);

#endif

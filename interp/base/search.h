/* search.h - the driver of every search of Tide. A space says where a search begins, which moves
 * there are from a point, what a move leads to and what a solution costs; the driver says what is
 * tried in which order, and when it ends.
 *
 * Method: rounds of a beam. A round goes level by level (a level: points as many moves from where
 * the search begins) and keeps the best `width` points of each; width doubles from round to round.
 * The first round is the greedy way, so there is a solution soon; a round that leaves nothing out
 * has seen all there is. Points are made once and kept, so a round pays for what is new in it.
 * Whatever the machine, the same points are made in the same order: the budget counts moves that
 * were tried, and time can only end a search before that. */
#ifndef TD_SEARCH_H
#define TD_SEARCH_H

#include "base/map.h"
#include "base/text.h"
#include "base/vec.h"

enum { TD_SEARCH_COSTS = 6 };
#define TD_SEARCH_UNKNOWN INT64_MIN

typedef struct TdSearchPoint {
  const struct TdSearchPoint *from; /* NULL: where the search begins */
  size_t move;                      /* of the moves from there, or of the places to begin */
  /* what the space fills in */
  uint64_t key;                  /* points with equal keys are one */
  int64_t rank[TD_SEARCH_COSTS]; /* less goes first; the first that differs decides */
  int64_t cost[TD_SEARCH_COSTS]; /* of a solution; compared alike */
  int64_t floor;                 /* no solution from here on costs[0] less; or UNKNOWN */
  bool solves;
  bool exceeds; /* it solves, but only where no other point does without this */
  void *is;
  /* the driver's */
  uint64_t number;
  size_t moves, tried, round;
  bool open;
  TD_VEC(struct TdSearchPoint *) kid;
} TdSearchPoint;

typedef enum { TD_SEARCH_MADE, TD_SEARCH_NONE, TD_SEARCH_STOPPED } TdSearchAnswer;

typedef struct TdSearch TdSearch;
typedef struct TdSearchSpace {
  void *ud;
  size_t starts;
  /* Sets p->moves. */
  TdSearchAnswer (*open)(void *ud, TdSearchPoint *p);
  /* Fills in what move x->move of x->from leads to. NONE: nothing, or what is known already.
   * STOPPED: the work was given up, since td_ctx_must_stop. */
  TdSearchAnswer (*take)(void *ud, const TdSearch *q, TdSearchPoint *x);
  bool core; /* both are of the core, which escapes; else they see to that themselves */
} TdSearchSpace;

typedef struct TdSearchLimits {
  uint64_t steps; /* moves that are tried; 0: any number */
  double seconds; /* 0: any time */
  size_t bytes;   /* of memory that the search may take; 0: 1 GB */
} TdSearchLimits;

/* Why it ended: all was seen, nothing can be better, or a limit. */
typedef enum {
  TD_SEARCH_ALL,
  TD_SEARCH_BOUND,
  TD_SEARCH_STEPS,
  TD_SEARCH_SECONDS,
  TD_SEARCH_INTERRUPT,
  TD_SEARCH_MEMORY
} TdSearchEnd;

typedef struct TdSearchResult {
  const TdSearchPoint *best;        /* NULL: no solution was found */
  const TdSearchPoint *const *made; /* all points, in the order in which they were made */
  size_t nmade;
  uint64_t steps;
  TdSearchEnd end;
  int64_t bound; /* no solution costs[0] less, as far as floors tell; or UNKNOWN */
} TdSearchResult;

/* Searches; all it keeps is in a. What Ctrl-C ends after a solution was found is no interruption
 * any more; before, it is one. */
TdSearchResult td_search_run(TdArena *a, const TdSearchSpace *space, TdSearchLimits limits);
/* Whether a point with this key was made: to be asked before it is costed. */
bool td_search_is_known(const TdSearch *q, uint64_t key);
/* The moves that lead to x, from where the search began, in order; n of them, owned by a. */
const TdSearchPoint **td_search_way(TdArena *a, const TdSearchPoint *x, size_t *n);
/* "all", "bound", "steps", "seconds", "interrupt", "memory". */
const char *td_search_end_name(TdSearchEnd end);
/* "best of 312 tries: 10499 cycles, at least 10280 (2.1 % above); stopped after 2 s". */
void td_search_tell(TdText *out, const TdSearchResult *r, const TdSearchLimits *limits,
                    const char *unit);

#endif

/* stp_depth.c - the least depth of streams at which a graph that stopped runs to its end. */
#include <string.h>

#include "step/stp_depth.h"

enum { MOST_TURNS = 3000000, MOST_DEPTH = 1 << 20 };

/* Whether the graph ends at a depth, on shapes. */
static bool ends(TdArena *parent, TdStpGraph *g, const TdStpOptions *o, const TdStpCalls *calls,
                 int64_t depth) {
  TdStpOptions own = *o;
  own.depth = depth;
  own.keep = own.data = false;
  own.most = MOST_TURNS;
  TdArena *a = td_arena_new(td_arena_ctx(parent));
  TdStpReport report;
  TdDiag quiet = {.arena = a};
  bool ok = td_stp_run(a, a, g, &own, calls, &report, &quiet);
  td_arena_free(a);
  return ok;
}

/* The least depth at which the graph ends; 0: none is found. */
static int64_t least(TdArena *a, TdStpGraph *g, const TdStpOptions *o, const TdStpCalls *calls) {
  int64_t bad = o->depth, good = 2 * bad;
  if (!bad || !ends(a, g, o, calls, 0)) return 0;
  while (good < MOST_DEPTH && !ends(a, g, o, calls, good)) bad = good, good *= 2;
  if (good >= MOST_DEPTH) return 0;
  while (good - bad > 1) {
    int64_t middle = bad + (good - bad) / 2;
    if (ends(a, g, o, calls, middle))
      good = middle;
    else
      bad = middle;
  }
  return good;
}

void td_stp_depth_tell(TdArena *a, TdStpGraph *g, const TdStpOptions *o, const TdStpCalls *calls,
                       TdDiag *d) {
  if (!d->code || strcmp(d->code, "step-deadlock") != 0 || o->depth < 1) return;
  int64_t depth = least(a, g, o, calls);
  if (depth)
    td_diag_note(d, (TdLoc){0},
                 "depth = %lld, where streams say none, is the least at which this input ends",
                 (long long)depth);
}

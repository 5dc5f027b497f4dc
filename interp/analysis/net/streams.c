/* streams.c - the checks of a design, in the order in which their answers help. */
#include "analysis/net/streams.h"

#include "analysis/net/counts.h"
#include "analysis/net/deadlock_report.h"
#include "analysis/net/layouts.h"
#include "analysis/net/races.h"

enum { ORDER_BUDGET = 1 << 26, SHORT_BUDGET = 1 << 20 };

/* The instance of the first choice that the data makes, told with its line. */
static const char *tell_choice(const TdTraffic *n, const TdOrder *o, TdArena *a) {
  for (uint32_t i = 0; i < n->inst.n; i++)
    if (o->start[i] == TD_TRAFFIC_NONE)
      return td_text_fmt(a, "data decides what %s puts and gets, and in which order",
                         td_traffic_inst_name(a, n, i));
  return NULL;
}

/* Runs the net without data; *open is set when that decides nothing. */
static bool check_order(const TdTraffic *n, uint64_t budget, TdArena *keep, const char **open,
                        TdDiag *d) {
  TdOrder *o = td_token_run_new(n->arena, n);
  *open = "the order of the tasks is too long to follow";
  if (!o) return true;
  td_token_run_reset(o, NULL);
  TdOrderEnd end = td_token_run_go(o, budget);
  if (end == TD_ORDER_STUCK) return td_deadlock_report_report(o, d);
  if (end == TD_ORDER_DONE) *open = o->partial ? tell_choice(n, o, keep) : NULL;
  return true;
}

/* Ends, counts and order of n. */
static bool check_net(const TdTraffic *n, uint64_t budget, TdArena *keep, const char **open,
                      TdDiag *d) {
  uint32_t chan;
  *open = n->open;
  if (n->open) return true;
  const TdEnds *ends = td_ends_of(n->arena, n, d);
  return ends && td_counts_check(n, ends, &chan, d) && check_order(n, budget, keep, open, d);
}

bool td_streams_check(const TdAsk *q, TdStreamsOpen *open, TdDiag *d) {
  TdStreamsOpen left = {0};
  if (!td_layouts_check(q->prog, d)) return false;
  TdArena *scratch = td_arena_scratch(td_affine_ctx(q->affine));
  const TdTraffic *n = td_traffic_of(scratch, q->prog, d);
  bool ok = n && check_net(n, ORDER_BUDGET, q->arena, &left.order, d);
  td_arena_free(scratch);
  ok = ok && td_races_check(q, &left.shared, d);
  if (open) *open = ok ? left : (TdStreamsOpen){0};
  return ok;
}

bool td_streams_order(const TdAsk *q, TdDiag *d) {
  const char *open;
  TdArena *scratch = td_arena_scratch(td_affine_ctx(q->affine));
  const TdTraffic *n = td_traffic_of(scratch, q->prog, d);
  bool ok = n && check_net(n, SHORT_BUDGET, q->arena, &open, d);
  td_arena_free(scratch);
  return ok;
}

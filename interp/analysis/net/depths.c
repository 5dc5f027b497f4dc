/* depths.c - least sufficient depths: deepened until the design ends, then lowered one by one.
 *
 * What ends with some depths ends with greater ones. So a component that cannot be lowered stays so
 * when others are lowered later, and one pass gives a vector that is minimal in every component. */
#include "analysis/net/depths.h"

#include "analysis/range/span.h"

/* A search under way: by an order without data, or by runs. */
typedef struct Search {
  TdOrder *order;
  TdDepthsEnds ends;
  void *ud;
  int64_t *depth;
  uint64_t budget; /* steps to come */
  bool spent;
} Search;

/* Goes on as far as the budget allows. */
static TdOrderEnd go(Search *q) {
  uint64_t before = q->order->steps;
  TdOrderEnd end = td_token_run_go(q->order, q->budget);
  uint64_t taken = q->order->steps - before;
  q->budget -= taken < q->budget ? taken : q->budget;
  q->spent |= end == TD_ORDER_LONG;
  return end;
}

/* Whether the design ends at the depths of q. */
static bool ends(Search *q) {
  if (q->ends) return q->ends(q->ud, q->depth);
  td_token_run_reset(q->order, q->depth);
  return go(q) == TD_ORDER_DONE;
}

/* The shallowest line at which somebody waits for a place, or TD_TRAFFIC_NONE. */
static uint32_t full_line(const Search *q) {
  const TdTraffic *n = q->order->net;
  uint32_t best = TD_TRAFFIC_NONE;
  for (uint32_t i = 0; i < n->inst.n; i++) {
    const TdStep *s = td_token_run_wait(q->order, i);
    if (!s || (s->kind != TD_MOVE_PUT && s->kind != TD_MOVE_SLOT)) continue;
    uint32_t line = n->chan.at[s->at].line;
    if (best == TD_TRAFFIC_NONE || q->depth[line] < q->depth[best] ||
        (q->depth[line] == q->depth[best] && line < best))
      best = line;
  }
  return best;
}

/* Deepens where somebody waits until all ends; false when nobody waits for a place. */
static bool deepen(Search *q) {
  td_token_run_reset(q->order, q->depth);
  while (go(q) == TD_ORDER_STUCK) {
    uint32_t line = full_line(q);
    if (line == TD_TRAFFIC_NONE) return false;
    int64_t by = q->depth[line] / 2 + 1;
    q->depth[line] += by;
    td_token_run_deepen(q->order, line, by);
  }
  return true;
}

/* The least depth of a line from `lo` on, with all others as they are. */
static void lower(Search *q, uint32_t line, int64_t lo) {
  int64_t hi = q->depth[line];
  while (lo < hi && !q->spent) {
    int64_t mid = lo + (hi - lo) / 2;
    q->depth[line] = mid;
    if (ends(q))
      hi = mid;
    else
      lo = mid + 1;
  }
  q->depth[line] = hi;
}

/* Bits of a token. */
static uint64_t token_bits(const TdLine *l) {
  int64_t n = 1;
  td_type_count(l->type->elem, &n);
  return (uint64_t)n * td_type_scalar(l->type->elem)->w;
}

/* The streams of each line that are in use. */
static uint64_t *streams_in_use(const TdTraffic *n) {
  uint64_t *used = TD_NEWN(n->arena, uint64_t, n->line.n);
  bool *seen = TD_NEWN(n->arena, bool, n->chan.n);
  for (size_t i = 0; i < n->inst.n; i++)
    for (size_t k = 0; k < n->inst.at[i].move->ncount; k++) {
      uint32_t c = n->inst.at[i].move->count[k].channel;
      if (!seen[c]) used[n->chan.at[c].line]++;
      seen[c] = true;
    }
  return used;
}

/* Lines by the bits of one more place, widest first. */
static uint32_t *by_width(const TdTraffic *n) {
  uint64_t *used = streams_in_use(n);
  uint32_t *line = TD_NEWN(n->arena, uint32_t, n->line.n);
  for (uint32_t i = 0; i < n->line.n; i++) {
    used[i] *= token_bits(&n->line.at[i]);
    uint32_t k = i;
    for (; k && used[line[k - 1]] < used[i]; k--) line[k] = line[k - 1];
    line[k] = i;
  }
  return line;
}

TdDepthsAnswer td_depths_least(TdOrder *o, const int64_t *floor, int64_t *depth, uint64_t budget) {
  const TdTraffic *n = o->net;
  Search q = {.order = o, .depth = depth, .budget = budget};
  if (o->partial) return TD_DEPTHS_UNKNOWN;
  for (size_t i = 0; i < n->line.n; i++) depth[i] = floor ? floor[i] : 1;
  if (!deepen(&q)) return TD_DEPTHS_NONE;
  const uint32_t *line = by_width(n);
  for (size_t i = 0; i < n->line.n; i++) lower(&q, line[i], floor ? floor[line[i]] : 1);
  return q.spent ? TD_DEPTHS_UNKNOWN : TD_DEPTHS_FOUND;
}

TdDepthsAnswer td_depths_least_by(const TdTraffic *n, TdDepthsEnds run, void *ud, int64_t most,
                                  int64_t *depth) {
  Search q = {.ends = run, .ud = ud, .depth = depth};
  for (size_t i = 0; i < n->line.n; i++) depth[i] = 1;
  while (!ends(&q)) {
    if (depth[0] >= most) return TD_DEPTHS_NONE;
    for (size_t i = 0; i < n->line.n; i++) depth[i] = depth[i] > most / 2 ? most : depth[i] * 2;
  }
  const uint32_t *line = by_width(n);
  for (size_t i = 0; i < n->line.n; i++) lower(&q, line[i], 1);
  return TD_DEPTHS_FOUND;
}

const uint64_t *td_depths_line_bits(const TdTraffic *n, const int64_t *depth) {
  uint64_t *bits = streams_in_use(n);
  for (size_t i = 0; i < n->line.n; i++) bits[i] *= (uint64_t)depth[i] * token_bits(&n->line.at[i]);
  return bits;
}

uint64_t td_depths_bits(const TdTraffic *n, const int64_t *depth) {
  const uint64_t *line = td_depths_line_bits(n, depth);
  uint64_t bits = 0;
  for (size_t i = 0; i < n->line.n; i++) bits += line[i];
  return bits;
}

/* stp_arrival.c - values that depend on arrival.
 *
 * Two operators decide by time: an eager_merge, and a reassemble whose selectors name several
 * inputs, unless order = "index". What they decide is the order of elements, which is followed
 * forward; it ends in a partition by the merge's own selectors, which puts every chunk back to its
 * origin, and in a sink. A sum over the dimension that reassemble made shows it in floats only. */
#include "step/stp_arrival.h"

/* A walk from one node that decides. */
typedef struct Walk {
  const TdStpGraph *g;
  const TdStpNode *source;
  uint8_t *marked; /* by uid: some input depends on it */
  const TdStpNode *shows;
} Walk;

static bool is_own_partition(const Walk *w, const TdStpNode *n) {
  if (n->op != TD_STP_PARTITION || w->source->op != TD_STP_EAGER_MERGE) return false;
  TdStpRef sel = td_stp_graph_source(w->g, n->in[1]);
  return sel.uid == w->source->uid && sel.out == 1;
}

static bool depends(const Walk *w, const TdStpNode *n) {
  for (size_t i = 0; i < n->nin; i++) {
    uint32_t uid = td_stp_graph_source(w->g, n->in[i]).uid;
    if (uid == w->source->uid || w->marked[uid]) return true;
  }
  return false;
}

/* The elements of the tiles, or buffers of tiles, that a node gives; NULL: it gives others. */
static const TdType *elements_of(const TdStpNode *n) {
  const TdStpType *t = n->out[0].type;
  if (t->kind == TD_STP_BUFFER) t = t->part[0];
  return t->kind == TD_STP_TILE ? t->elem : NULL;
}

/* A fold of integers over the gathered chunks is the same in any order. */
static bool is_exact_sum(const Walk *w, const TdStpNode *n) {
  if (n->op != TD_STP_ACCUM || n->fn.kind != TD_STP_FN_ADD) return false;
  return w->source->op == TD_STP_REASSEMBLE && elements_of(n)->kind != TD_T_FLOAT;
}

static bool is_float_sum(const TdStpNode *n) {
  bool folds = n->op == TD_STP_ACCUM || n->op == TD_STP_SCAN || n->op == TD_STP_MAP_ACCUM;
  const TdType *elem = folds ? elements_of(n) : NULL;
  return elem && elem->kind == TD_T_FLOAT &&
         (n->op == TD_STP_MAP_ACCUM || n->fn.kind == TD_STP_FN_ADD);
}

static bool is_output(const TdStpGraph *g, const TdStpNode *n) {
  for (size_t i = 0; i < g->output.n; i++)
    if (td_stp_graph_source(g, g->output.at[i]).uid == n->uid) return true;
  return false;
}

/* Follows what the source decides in order of nodes, until it shows. A loop's feedback comes before
 * what closes it, so the walk is made twice. */
static void follow(Walk *w) {
  for (int round = 0; round < 2 && !w->shows; round++)
    for (size_t i = 0; i < w->g->node.n && !w->shows; i++) {
      const TdStpNode *n = w->g->node.at[i];
      bool from = n == w->source;
      if (!from && (!depends(w, n) || is_own_partition(w, n) || is_exact_sum(w, n))) continue;
      if (!from) w->marked[n->uid] = 1;
      bool sums = !from && w->source->op == TD_STP_REASSEMBLE && is_float_sum(n);
      if (sums || n->op == TD_STP_STORE || is_output(w->g, n)) w->shows = n;
    }
}

/* Whether the selectors of a reassemble may name more than one input. */
static bool is_multi_hot(const TdStpGraph *g, const TdStpNode *n) {
  const TdStpNode *from = td_stp_graph_node(g, td_stp_graph_source(g, n->in[n->nin - 1]).uid);
  if (from->op == TD_STP_EAGER_MERGE || from->op == TD_STP_FLAT_MAP) return false;
  if (from->op != TD_STP_SELECTORS) return true;
  for (size_t i = 0; i < from->sel->n; i++)
    if (from->sel->first[i + 1] - from->sel->first[i] > 1) return true;
  return false;
}

TdStpArrivals td_stp_arrival_of(TdArena *a, const TdStpGraph *g) {
  TdStpArrivals found = {0};
  for (size_t i = 0; i < g->node.n; i++) {
    const TdStpNode *n = g->node.at[i];
    bool gathers = n->op == TD_STP_REASSEMBLE && !td_stp_opt(n, TD_STP_KEY_ORDER, 0);
    if (n->op != TD_STP_EAGER_MERGE && !(gathers && is_multi_hot(g, n))) continue;
    Walk w = {.g = g, .source = n, .marked = TD_NEWN(a, uint8_t, g->by_uid.n + 1)};
    follow(&w);
    if (w.shows) td_vec_push(a, &found.at, ((TdStpArrival){n, w.shows}));
  }
  return found;
}

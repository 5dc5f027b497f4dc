/* stp_dispatch.c - dispatch: requests that regions take in turn go to the region that is free
 * first, or in turn again. */
#include "step/stp_deal.h"
#include "step/stp_flow.h"

enum { REGION, BY, IDLE, REASSOCIATE };

typedef struct Dispatch {
  TdStpRewrite *r;
  TdStpEdit e;
  const TdStpNode **deal; /* what deals the requests out */
  size_t ndeal;
  int64_t n, requests;
  uint32_t *region; /* by uid: 1 + the region that a node is of, 0: none */
} Dispatch;

static bool refuse(Dispatch *p, const TdStpNode *n, const char *why) {
  return td_stp_rewrite_refuse(p->r, TD_ILLEGAL, "step-dispatch", n->loc, "'%s' %s",
                               td_stp_rewrite_name(p->r, n), why);
}

/* Whether selectors come round a loop of free regions. */
static bool comes_round(const TdStpGraph *g, TdStpRef sel) {
  const TdStpNode *n = td_stp_graph_node(g, td_stp_graph_source(g, sel).uid);
  if (n->op == TD_STP_FLATTEN) n = td_stp_graph_node(g, n->in[0].uid);
  if (n->op != TD_STP_REASSEMBLE || n->nin != 3) return false;
  return td_stp_graph_node(g, n->in[1].uid)->op == TD_STP_FEEDBACK;
}

static bool deals(const TdStpGraph *g, const TdStpNode *n) {
  if (n->op == TD_STP_PARALLELIZE) return true;
  return n->op == TD_STP_PARTITION && n->nin == 2 && comes_round(g, n->in[1]);
}

/* Marks the region of every node that reads one; false: a node reads several. */
static bool mark_regions(Dispatch *p) {
  const TdStpGraph *g = p->r->g;
  p->region = TD_NEWN(p->r->arena, uint32_t, g->by_uid.n + 1);
  for (size_t i = 0; i < g->node.n; i++) {
    const TdStpNode *n = g->node.at[i];
    if (deals(g, n)) continue;
    for (size_t k = 0; k < n->nin; k++) {
      if (n->op == TD_STP_FEEDBACK || n->op == TD_STP_EAGER_MERGE) continue;
      const TdStpNode *from = td_stp_graph_node(g, n->in[k].uid);
      uint32_t q = deals(g, from) ? n->in[k].out + 1u : p->region[from->uid];
      if (q && p->region[n->uid] && p->region[n->uid] != q)
        return refuse(p, n, "reads what several regions make: it knows who took a request");
      if (q) p->region[n->uid] = q;
    }
  }
  return true;
}

/* All that deals for the region of node x; they deal to as many regions, as many requests. */
static bool find_deals(Dispatch *p, const TdStpNode *x) {
  const TdStpGraph *g = p->r->g;
  p->deal = TD_NEWN(p->r->arena, const TdStpNode *, g->node.n + 1);
  if (!p->region[x->uid] && !deals(g, x)) return refuse(p, x, "is of no region");
  for (size_t i = 0; i < g->node.n; i++) {
    const TdStpNode *n = g->node.at[i];
    if (!deals(g, n)) continue;
    if (p->ndeal && n->op != p->deal[0]->op)
      return refuse(p, n, "is dealt out in another way than the other streams");
    if (p->ndeal && (int64_t)n->nout != p->n)
      return refuse(p, n, "is dealt out over another number of regions");
    const TdStpStream *s = td_stp_graph_stream(g, n->in[0]);
    int64_t count;
    if (td_stp_opt(n, TD_STP_KEY_RANK, n->op == TD_STP_PARALLELIZE ? s->ndim - 1 : 0) !=
        s->ndim - 1)
      return refuse(p, n, "deals out more than requests");
    if (!td_stp_expr_is_const(s->dim[s->ndim - 1].extent, &count))
      return refuse(p, n, "comes as often as data says");
    if (p->ndeal && count != p->requests) return refuse(p, n, "does not come for each request");
    p->n = (int64_t)n->nout;
    p->requests = count;
    p->deal[p->ndeal++] = n;
  }
  return true;
}

/* Whether regions take each request by itself. */
static bool check_requests(Dispatch *p) {
  const TdStpGraph *g = p->r->g;
  TdStpRef *from = TD_NEWN(p->r->arena, TdStpRef, p->ndeal * (size_t)p->n + 1);
  size_t n = 0;
  for (size_t i = 0; i < p->ndeal; i++)
    for (uint16_t q = 0; q < p->n; q++) from[n++] = (TdStpRef){p->deal[i]->uid, q};
  bool loop = p->deal[0]->op == TD_STP_PARTITION;
  if (loop) return true;
  TdStpFlows f = td_stp_flow_follow(p->r->arena, g, from, n, TD_STP_EACH_REQUEST, UINT32_MAX);
  return !f.bad || refuse(p, f.bad, f.why);
}

/* The deals by selectors of a loop: idle names a node of each region. */
static bool to_free(Dispatch *p) {
  TdStpRewrite *r = p->r;
  const TdStpNode *const *idle, *first = p->deal[0];
  if (!r->arg[IDLE].given) {
    refuse(p, first, "needs idle =");
    td_diag_help(r->diag, "idle names the stream of a region that has passed when it is free");
    return false;
  }
  size_t n = td_stp_rewrite_family(r, r->arg[IDLE].text, &idle);
  if (!n) return false;
  TdStpRef *ready = TD_NEWN(r->arena, TdStpRef, p->n + 1);
  int64_t found = 0;
  for (size_t i = 0; i < n; i++) {
    uint32_t q = p->region[idle[i]->uid];
    if (!q || ready[q - 1].uid || !idle[i]->nout) continue;
    int ndim = idle[i]->out[0].ndim;
    ready[q - 1] = td_stp_deal_signal(&p->e, idle[i], (TdStpRef){idle[i]->uid, 0}, ndim);
    found++;
  }
  if (found < p->n) return refuse(p, idle[0], "is not of all regions: a family names one of each");
  TdStpRef go = td_stp_deal_free(&p->e, first, ready, p->n, p->requests);
  for (size_t i = 0; i < p->ndeal; i++) {
    TdStpNode *d = td_stp_edit_node(&p->e, p->deal[i]->uid);
    TdStpRef in[2] = {d->in[0], go};
    int rank = td_stp_graph_stream(r->g, d->in[0])->ndim - 1;
    d->op = TD_STP_PARTITION;
    d->in = td_arena_copy(r->arena, in, sizeof in);
    d->nin = 2;
    d->opt[TD_STP_KEY_N] = p->n, d->opt[TD_STP_KEY_RANK] = rank;
    d->has |= 1u << TD_STP_KEY_N | 1u << TD_STP_KEY_RANK;
  }
  return true;
}

/* Removes the loop that deals to free regions: all between the regions and the selectors. */
static void remove_loop(Dispatch *p, TdStpRef sel) {
  const TdStpGraph *g = p->r->g;
  bool *loop = TD_NEWN(p->r->arena, bool, g->by_uid.n + 1);
  loop[sel.uid] = true;
  for (size_t round = 0; round < g->node.n; round++) {
    bool some = false;
    for (size_t i = g->node.n; i-- > 0;) {
      const TdStpNode *n = g->node.at[i];
      bool merges = n->op == TD_STP_EAGER_MERGE;
      for (size_t k = 0; loop[n->uid] && k < n->nin; k++) {
        uint32_t from = n->in[k].uid;
        const TdStpNode *x = td_stp_graph_node(g, from);
        bool token = x->op == TD_STP_ACCUM && x->fn.kind == TD_STP_FN_SIGNAL &&
                     td_stp_rewrite_reader(p->r, x);
        if (loop[from] || (merges && !token)) continue;
        if (p->region[from] && !(merges && token)) continue;
        some = loop[from] = true;
      }
      if (n->op == TD_STP_SINK && loop[n->in[0].uid] && !p->region[n->uid] && !loop[n->uid])
        some = loop[n->uid] = true;
    }
    if (!some) break;
  }
  for (size_t i = 0; i < g->node.n; i++)
    if (loop[g->node.at[i]->uid]) td_stp_edit_remove(&p->e, g->node.at[i]->uid);
}

/* The deals in turn. */
static bool to_turn(Dispatch *p) {
  TdStpRef sel = p->deal[0]->in[1];
  for (size_t i = 0; i < p->ndeal; i++) {
    TdStpNode *d = td_stp_edit_node(&p->e, p->deal[i]->uid);
    int rank = td_stp_graph_stream(p->r->g, d->in[0])->ndim - 1;
    d->op = TD_STP_PARALLELIZE;
    d->in = td_arena_copy(p->r->arena, d->in, sizeof *d->in);
    d->nin = 1;
    d->opt[TD_STP_KEY_N] = p->n, d->opt[TD_STP_KEY_RANK] = rank;
    d->has |= 1u << TD_STP_KEY_N | 1u << TD_STP_KEY_RANK;
  }
  remove_loop(p, sel);
  return true;
}

static const TdStpGraph *rewire(TdStpRewrite *r) {
  Dispatch p = {.r = r, .e = td_stp_edit_new(r)};
  const TdStpNode *const *x;
  if (!td_stp_rewrite_family(r, r->arg[REGION].text, &x)) return NULL;
  if (!mark_regions(&p) || !find_deals(&p, x[0]) || !check_requests(&p)) return NULL;
  bool free = r->arg[BY].text && r->arg[BY].text[0] == 'f';
  if (free == (p.deal[0]->op == TD_STP_PARTITION)) {
    refuse(&p, p.deal[0], "is dealt out so");
    return NULL;
  }
  if (free && !td_stp_rewrite_check_order(r, r->arg[REASSOCIATE].integer)) return NULL;
  return (free ? to_free(&p) : to_turn(&p)) ? td_stp_edit_end(&p.e) : NULL;
}

const TdPrim td_stp_prim_dispatch = {
    .name = "dispatch",
    .on = "graph",
    .summary = "Feed regions in another way: in turn, or the one that is free first.",
    .args = {{"region", TD_ARG_FAMILY, TD_ARG_NEEDED, "a node of a region, or what deals", NULL},
             {"by", TD_ARG_WORD, TD_ARG_NEEDED, "which region takes a request", "turn|free"},
             {"idle", TD_ARG_FAMILY, TD_ARG_OPTION,
              "free: what has passed in a region when that is free", NULL},
             {"reassociate", TD_ARG_FLAG, TD_ARG_OPTION,
              "allows another order of arrival at sums of floats", NULL}},
    .rewrite = "x:parallelize(n)  =>  x:partition(free, { n = n })",
    .legal = "where regions take each request by itself, and nobody reads what several make",
    .errors = "step-dispatch step-order step-name",
    .example = "s:dispatch(\"q_dealt\", \"free\", {idle = \"cached\"})",
    .rewire = rewire,
};

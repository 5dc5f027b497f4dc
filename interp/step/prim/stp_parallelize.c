/* stp_parallelize.c - parallelize: what is done for one request after the other is done for several
 * at once, each in a region of its own. */
#include <string.h>

#include "step/stp_deal.h"
#include "step/stp_flow.h"

enum { FROM, TO, REGIONS, BY, BLOCK, IDLE, REASSOCIATE };

typedef struct Parallel {
  TdStpRewrite *r;
  TdStpEdit e;
  TdStpRef *from;
  size_t nfrom;
  int64_t n, requests; /* regions; requests */
  TdStpFlows flows;
  uint32_t **copy; /* by region and uid: the copy of a node */
} Parallel;

static bool refuse(Parallel *p, const TdStpNode *n, const char *code, const char *why) {
  return td_stp_rewrite_refuse(p->r, TD_ILLEGAL, code, n->loc, "'%s' %s",
                               td_stp_rewrite_name(p->r, n), why);
}

static bool is_from(const Parallel *p, uint32_t uid) {
  for (size_t i = 0; i < p->nfrom; i++)
    if (p->from[i].uid == uid) return true;
  return false;
}

/* Whether a node is in the region. */
static bool is_in(const Parallel *p, const TdStpNode *n) {
  return !is_from(p, n->uid) && td_stp_flow_reads(&p->flows, n);
}

/* The streams that requests come with; all have as many. */
static bool find_from(Parallel *p) {
  TdStpRewrite *r = p->r;
  p->from = TD_NEWN(r->arena, TdStpRef, r->g->node.n + 1);
  for (size_t i = 0; i < r->arg[FROM].n; i++) {
    const TdStpNode *const *node;
    size_t n = td_stp_rewrite_family(r, r->arg[FROM].names[i], &node);
    if (!n) return false;
    for (size_t k = 0; k < n; k++) p->from[p->nfrom++] = (TdStpRef){node[k]->uid, 0};
  }
  const TdStpStream *first = td_stp_graph_stream(r->g, p->from[0]);
  for (size_t i = 0; i < p->nfrom; i++) {
    const TdStpNode *n = td_stp_graph_node(r->g, p->from[i].uid);
    const TdStpStream *s = td_stp_graph_stream(r->g, p->from[i]);
    if (s->dim[s->ndim - 1].extent != first->dim[first->ndim - 1].extent)
      return refuse(p, n, "step-requests", "does not come once for each request");
  }
  if (td_stp_expr_is_const(first->dim[first->ndim - 1].extent, &p->requests)) return true;
  return refuse(p, td_stp_graph_node(r->g, p->from[0].uid), "step-requests",
                "comes as often as data says");
}

/* ---- addresses ---- */

/* The tiles that a node reads or writes for a request: unit * index + base on, `length` of them, or
 * the one after so many. */
typedef struct Place {
  const TdStpNode *index, *length; /* values; length: NULL where it is one tile */
  int64_t unit, base;
  bool one;
} Place;

static const TdStpNode *source(const Parallel *p, TdStpRef r) {
  return td_stp_graph_node(p->r->g, td_stp_graph_source(p->r->g, r).uid);
}

static bool is_list(const TdStpNode *n) {
  return n->op == TD_STP_VALUES && n->tensor.type->rank == 1;
}

/* The place that the address stream of a load_at or store_at tells; false: it is not known. */
static bool find_place(const Parallel *p, const TdStpNode *n, Place *out) {
  const TdStpNode *a = source(p, n->in[0]);
  *out = (Place){.index = a, .unit = 1, .base = td_stp_opt(n, TD_STP_KEY_BASE, 0), .one = true};
  bool slot = a->op == TD_STP_MAP && a->fn.kind == TD_STP_FN_CACHE_SLOT;
  bool run = a->op == TD_STP_FLAT_MAP && a->fn.kind == TD_STP_FN_CACHE_ADDRESSES;
  if (slot || run) {
    const TdStpNode *zip = source(p, a->in[0]);
    if (zip->op != TD_STP_ZIP || zip->nin != 2) return false;
    out->index = source(p, zip->in[0]);
    out->length = source(p, zip->in[1]);
    out->unit = a->fn.n;
    out->one = slot;
    if (!is_list(out->length)) return false;
  }
  return (n->op == TD_STP_LOAD_AT || n->op == TD_STP_STORE_AT) && is_list(out->index);
}

static int64_t value(const TdStpNode *n, int64_t i) {
  return (int64_t)td_tensor_get(n->tensor.data, &i);
}

/* The tiles of request i: from *lo to before *hi. */
static void tiles_of(const Place *x, int64_t i, int64_t *lo, int64_t *hi) {
  int64_t length = x->length ? value(x->length, i) : 0;
  *lo = x->unit * value(x->index, i) + x->base + (x->one ? length : 0);
  *hi = *lo + (x->one ? 1 : length);
}

/* Whether what w writes for a request meets nothing that n moves for another. */
static bool check_apart(Parallel *p, const TdStpNode *w, const Place *x, const TdStpNode *n,
                        const Place *y) {
  for (int64_t i = 0; i < p->requests; i++) {
    td_ctx_tick(td_arena_ctx(p->r->arena), (uint64_t)p->requests);
    int64_t lo, hi, from, to;
    tiles_of(x, i, &lo, &hi);
    for (int64_t k = 0; k < p->requests; k++) {
      tiles_of(y, k, &from, &to);
      if (i == k || hi <= from || to <= lo) continue;
      return td_stp_rewrite_refuse(p->r, TD_ILLEGAL, "step-apart", n->loc,
                                   "'%s' writes tile %lld for request %lld, which '%s' %s for "
                                   "request %lld",
                                   td_stp_rewrite_name(p->r, w), (long long)lo, (long long)i,
                                   td_stp_rewrite_name(p->r, n),
                                   n->op == TD_STP_STORE_AT ? "writes" : "reads", (long long)k);
    }
  }
  return true;
}

static bool same_tensor(const TdStpNode *a, const TdStpNode *b) {
  if (a->tensor.data || b->tensor.data) return a->tensor.data == b->tensor.data;
  return a->tensor.id == b->tensor.id;
}

/* Whether what requests write is read and written for no other. */
static bool check_writes(Parallel *p) {
  TdStpRewrite *r = p->r;
  for (size_t i = 0; i < r->g->node.n; i++) {
    const TdStpNode *w = r->g->node.at[i];
    Place mine, other;
    if (w->op != TD_STP_STORE_AT || !is_in(p, w)) continue;
    if (!find_place(p, w, &mine)) return refuse(p, w, "step-apart", "writes to unknown places");
    for (size_t k = 0; k < r->g->node.n; k++) {
      const TdStpNode *n = r->g->node.at[k];
      bool moves = n->op == TD_STP_LOAD || n->op == TD_STP_LOAD_AT || n->op == TD_STP_STORE ||
                   n->op == TD_STP_STORE_AT;
      if (!moves || !same_tensor(n, w)) continue;
      if (n->rows != w->rows || n->cols != w->cols || !find_place(p, n, &other))
        return td_stp_rewrite_refuse(r, TD_ILLEGAL, "step-apart", n->loc,
                                     "'%s' may meet what '%s' writes for another request",
                                     td_stp_rewrite_name(r, n), td_stp_rewrite_name(r, w));
      if (!check_apart(p, w, &mine, n, &other)) return false;
    }
  }
  return true;
}

/* ---- dealing ---- */

static TdStpNode like(Parallel *p, const TdStpNode *n, TdStpOp op, const char *ending) {
  const char *name = td_text_fmt(p->r->arena, "%s%s", n->name, ending);
  return (TdStpNode){.op = op,
                     .name = td_names_str(p->r->g->session->names, name),
                     .loc = n->loc,
                     .site = n->site};
}

static void set(TdStpNode *n, TdStpKey k, int64_t v) {
  n->opt[k] = v;
  n->has |= 1u << k;
}

static int rank_of(const Parallel *p, size_t i) {
  return td_stp_graph_stream(p->r->g, p->from[i])->ndim - 1;
}

/* Stream i dealt out in turn, or (`go`) as selectors say. */
static uint32_t add_deal(Parallel *p, size_t i, const TdStpRef *go) {
  const TdStpNode *n = td_stp_graph_node(p->r->g, p->from[i].uid);
  TdStpNode deal = like(p, n, go ? TD_STP_PARTITION : TD_STP_PARALLELIZE, "_dealt");
  TdStpRef in[2] = {p->from[i], go ? *go : (TdStpRef){0, 0}};
  deal.in = in;
  deal.nin = go ? 2 : 1;
  set(&deal, TD_STP_KEY_N, p->n);
  if (!go || rank_of(p, i)) set(&deal, TD_STP_KEY_RANK, rank_of(p, i));
  return td_stp_edit_add(&p->e, UINT32_MAX, &deal);
}

/* Whether request b is region q's. */
static bool is_own(const Parallel *p, int64_t b, int64_t q) {
  int64_t block =
      p->r->arg[BLOCK].given ? p->r->arg[BLOCK].integer : (p->requests + p->n - 1) / p->n;
  return b / block % p->n == q;
}

/* The values of the requests of region q. */
static TdTensor *own_values(Parallel *p, const TdTensor *all, int64_t q, int64_t count) {
  TdArena *a = p->r->store->arena;
  int64_t extent[TD_MAX_RANK], index[TD_MAX_RANK], each = td_tensor_count(all) / p->requests;
  memcpy(extent, all->extent, sizeof extent);
  extent[0] = count;
  const TdType *t = td_type_tensor_of(p->r->g->session, all->type->elem, all->type->rank, extent);
  TdTensor *out = td_tensor_new(a, t, false);
  unsigned char *to = out->data;
  size_t size = td_type_bytes(t->elem);
  for (int64_t b = 0; b < p->requests; b++)
    for (int64_t i = 0; i < each && is_own(p, b, q); i++, to += size) {
      int64_t rest = i;
      index[0] = b;
      for (int d = all->type->rank; d-- > 1; rest /= all->extent[d])
        index[d] = rest % all->extent[d];
      memcpy(to, td_tensor_at(all, index), size);
    }
  return out;
}

/* A source that gives the requests of region q alone. */
static uint32_t add_own(Parallel *p, const TdStpNode *n, int64_t q) {
  int64_t count = 0;
  for (int64_t b = 0; b < p->requests; b++) count += is_own(p, b, q);
  TdStpNode own = *n;
  if (n->op == TD_STP_VALUES) {
    own.tensor = (TdStpTensor){.data = own_values(p, n->tensor.data, q, count)};
    own.tensor.type = own.tensor.data->type;
    return td_stp_edit_add(&p->e, UINT32_MAX, &own);
  }
  int64_t each = 1, k = 0;
  for (int d = 1; d < n->nshape; d++) each *= n->shape[d];
  TdStpTile *tile = TD_NEWN(p->r->store->arena, TdStpTile, (size_t)(count * each) + 1);
  for (int64_t b = 0; b < p->requests; b++)
    for (int64_t i = 0; i < each && is_own(p, b, q); i++)
      tile[k++] = (TdStpTile){&n->tensor, td_stp_tensor_number(n, b * each + i)};
  own.tensor =
      td_stp_tensor_gather(p->r->store->arena, p->r->g->session, tile, k, n->rows, n->cols);
  own.shape[0] = count;
  int64_t step = 1;
  for (int d = n->nshape; d-- > 0; step *= own.shape[d]) own.stride[d] = step;
  return td_stp_edit_add(&p->e, UINT32_MAX, &own);
}

/* Sources of blocks of requests: only what is read from a tensor or listed has some of its own. */
static bool check_blocks(Parallel *p) {
  int64_t block = p->r->arg[BLOCK].integer;
  if (p->r->arg[BLOCK].given && block < 1)
    return refuse(p, td_stp_graph_node(p->r->g, p->from[0].uid), "step-option",
                  "comes in blocks of at least 1");
  for (size_t i = 0; i < p->nfrom; i++) {
    const TdStpNode *n = td_stp_graph_node(p->r->g, p->from[i].uid);
    bool reads = n->op == TD_STP_LOAD && !n->has_ref && !n->has_valid;
    if (!reads && n->op != TD_STP_VALUES)
      return refuse(p, n, "step-requests", "is no load or values that could be cut into blocks");
  }
  return true;
}

/* ---- regions ---- */

/* Adds region q: a copy of each node, reading the streams dealt[i]. */
static void add_region(Parallel *p, int64_t q, const TdStpRef *dealt) {
  const TdStpGraph *g = p->r->g;
  for (size_t i = 0; i < g->node.n; i++) {
    const TdStpNode *n = g->node.at[i];
    if (!is_in(p, n)) continue;
    TdStpRef *in = TD_NEWN(p->r->arena, TdStpRef, n->nin + 1);
    for (size_t k = 0; k < n->nin; k++) {
      in[k] = n->in[k];
      if (!is_from(p, in[k].uid)) in[k].uid = p->copy[q][in[k].uid];
      for (size_t f = 0; f < p->nfrom; f++)
        if (p->from[f].uid == n->in[k].uid) in[k] = dealt[f];
    }
    TdStpNode own = *n;
    own.in = in;
    p->copy[q][n->uid] = td_stp_edit_add(&p->e, UINT32_MAX, &own);
  }
}

/* Outputs of the region come from each of its copies. */
static void settle_outputs(Parallel *p) {
  size_t n = p->e.output.n;
  TdStpRef *was = td_arena_copy(p->r->arena, p->e.output.at, n * sizeof *was);
  p->e.output.n = 0;
  for (size_t i = 0; i < n; i++) {
    const TdStpNode *x = td_stp_graph_node(p->r->g, was[i].uid);
    for (int64_t q = 0; q < (is_in(p, x) ? p->n : 1); q++) {
      TdStpRef own = {is_in(p, x) ? p->copy[q][x->uid] : x->uid, was[i].out};
      if (own.uid) td_vec_push(p->r->arena, &p->e.output, own);
    }
  }
}

static bool is_word(const TdArgValue *v, const char *word) {
  return v->text && strcmp(v->text, word) == 0;
}

/* Regions that are dealt in turn, or by `go` once that is known. */
static void add_dealt(Parallel *p, const TdStpRef *go) {
  uint32_t *deal = TD_NEWN(p->r->arena, uint32_t, p->nfrom + 1);
  TdStpRef *dealt = TD_NEWN(p->r->arena, TdStpRef, p->nfrom + 1);
  for (size_t i = 0; i < p->nfrom; i++) deal[i] = add_deal(p, i, go);
  for (int64_t q = 0; q < p->n; q++) {
    for (size_t i = 0; i < p->nfrom; i++) dealt[i] = (TdStpRef){deal[i], (uint16_t)q};
    add_region(p, q, dealt);
  }
}

static void add_blocks(Parallel *p) {
  TdStpRef *dealt = TD_NEWN(p->r->arena, TdStpRef, p->nfrom + 1);
  TdStpRef **own = TD_NEWN(p->r->arena, TdStpRef *, p->n + 1);
  for (int64_t q = 0; q < p->n; q++) {
    int64_t count = 0;
    for (int64_t b = 0; b < p->requests; b++) count += is_own(p, b, q);
    if (!count) continue;
    own[q] = TD_NEWN(p->r->arena, TdStpRef, p->nfrom + 1);
    for (size_t i = 0; i < p->nfrom; i++)
      own[q][i] = (TdStpRef){add_own(p, td_stp_graph_node(p->r->g, p->from[i].uid), q), 0};
  }
  for (int64_t q = 0; q < p->n; q++) {
    for (size_t i = 0; own[q] && i < p->nfrom; i++) dealt[i] = own[q][i];
    if (own[q]) add_region(p, q, dealt);
  }
  for (size_t i = 0; i < p->nfrom; i++) td_stp_edit_remove(&p->e, p->from[i].uid);
}

/* Regions that ask for a request when they are free: partitions by a loop that is added last. */
static bool add_free(Parallel *p) {
  TdStpRewrite *r = p->r;
  const TdStpNode *idle = r->arg[IDLE].given ? td_stp_rewrite_node(r, r->arg[IDLE].text) : NULL;
  const TdStpNode *first = td_stp_graph_node(r->g, p->from[0].uid);
  if (r->arg[IDLE].given && !idle) return false;
  if (!idle || !is_in(p, idle) || !idle->nout) {
    td_stp_rewrite_refuse(r, TD_USAGE, "step-idle", idle ? idle->loc : first->loc,
                          idle ? "'%s' is not of the region" : "by = \"free\" needs idle =%s",
                          idle ? td_stp_rewrite_name(r, idle) : "");
    td_diag_help(r->diag, "idle names the stream of a region that has passed when it is free");
    return false;
  }
  TdStpRef of = {idle->uid, 0};
  TdStpFlow flow = td_stp_flow_of(&p->flows, of);
  int ndim = td_stp_graph_stream(r->g, of)->ndim;
  if (flow.routed || flow.at != ndim - 1)
    return refuse(p, idle, "step-idle", "does not come once for each request");
  TdStpNode later = like(p, first, TD_STP_FEEDBACK, "_go");
  TdStpRef go = {td_stp_edit_add(&p->e, UINT32_MAX, &later), 0};
  add_dealt(p, &go);
  TdStpRef *ready = TD_NEWN(r->arena, TdStpRef, p->n + 1);
  for (int64_t q = 0; q < p->n; q++)
    ready[q] = td_stp_deal_signal(&p->e, idle, (TdStpRef){p->copy[q][idle->uid], 0}, ndim);
  TdStpRef asked = td_stp_deal_free(&p->e, first, ready, p->n, p->requests);
  td_stp_edit_rewire(&p->e, go, asked);
  td_stp_edit_remove(&p->e, go.uid);
  return true;
}

/* Whether `to` ends what depends on the requests. */
static bool check_end(Parallel *p) {
  TdStpRewrite *r = p->r;
  for (size_t i = 0; i < r->arg[TO].n; i++) {
    const TdStpNode *const *to;
    size_t n = td_stp_rewrite_family(r, r->arg[TO].names[i], &to);
    if (!n) return false;
    for (size_t k = 0; k < n; k++)
      if (!is_in(p, to[k])) return refuse(p, to[k], "step-requests", "is not made of the requests");
  }
  return true;
}

static const TdStpGraph *rewire(TdStpRewrite *r) {
  Parallel p = {.r = r, .e = td_stp_edit_new(r), .n = r->arg[REGIONS].integer};
  if (!find_from(&p)) return NULL;
  const TdStpNode *first = td_stp_graph_node(r->g, p.from[0].uid);
  if (p.n < 1 || p.n > 65535) {
    refuse(&p, first, "step-option", "is dealt over at least 1 region");
    return NULL;
  }
  p.flows = td_stp_flow_follow(r->arena, r->g, p.from, p.nfrom, TD_STP_EACH_REQUEST, UINT32_MAX);
  if (p.flows.bad) {
    refuse(&p, p.flows.bad, "step-requests", p.flows.why);
    return NULL;
  }
  if (!check_end(&p) || !check_writes(&p)) return NULL;
  if (!td_stp_rewrite_check_order(r, r->arg[REASSOCIATE].integer)) return NULL;
  p.copy = TD_NEWN(r->arena, uint32_t *, p.n + 1);
  for (int64_t q = 0; q < p.n; q++) p.copy[q] = TD_NEWN(r->arena, uint32_t, r->g->by_uid.n + 1);
  bool free = is_word(&r->arg[BY], "free"), block = is_word(&r->arg[BY], "block");
  if (block && !check_blocks(&p)) return NULL;
  if (block) add_blocks(&p);
  if (free && !add_free(&p)) return NULL;
  if (!free && !block) add_dealt(&p, NULL);
  settle_outputs(&p);
  for (size_t i = 0; i < r->g->node.n; i++)
    if (is_in(&p, r->g->node.at[i])) td_stp_edit_remove(&p.e, r->g->node.at[i]->uid);
  return td_stp_edit_end(&p.e);
}

const TdPrim td_stp_prim_parallelize = {
    .name = "parallelize",
    .on = "graph",
    .summary = "Do for several requests at once, in regions, what is done for one after the other.",
    .args = {{"from", TD_ARG_NAMES, TD_ARG_NEEDED, "the streams that requests come with", NULL},
             {"to", TD_ARG_NAMES, TD_ARG_NEEDED, "the nodes that end what is done", NULL},
             {"regions", TD_ARG_INT, TD_ARG_NEEDED, "how many", NULL},
             {"by", TD_ARG_WORD, TD_ARG_OPTION,
              "which region takes a request: in turn, in blocks, the one that is free first",
              "turn|block|free"},
             {"block", TD_ARG_INT, TD_ARG_OPTION, "requests of a block (all over the regions)",
              NULL},
             {"idle", TD_ARG_NODE, TD_ARG_OPTION,
              "free: what has passed in a region when that is free", NULL},
             {"reassociate", TD_ARG_FLAG, TD_ARG_OPTION,
              "allows another order of arrival at sums of floats", NULL}},
    .rewrite = "f(x)  =>  for p: f(x:parallelize(n)[p])",
    .legal = "where nothing is folded over requests, they write to places of their own, and none "
             "reads what another writes",
    .errors = "step-requests step-apart step-idle step-option step-order step-name",
    .example = "s:parallelize({\"q\", \"index\"}, \"out\", 4)",
    .rewire = rewire,
};

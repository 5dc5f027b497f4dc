/* stp_multiplex.c - multiplex: branches that do the same share a region, which takes their tiles as
 * they come. What a branch loads for each of its tiles is loaded by address, from one tensor that
 * holds what the branches read one after the other. */
#include <string.h>

#include "step/stp_flow.h"

enum { FROM, TO, REGIONS, REASSOCIATE };

/* One branch: from a stream of tiles to what is made of them. */
typedef struct Branch {
  const TdStpNode *from, *to;
  TdStpFlows flows;
} Branch;

typedef struct Multiplex {
  TdStpRewrite *r;
  TdStpEdit e;
  Branch *branch;
  size_t n, share;        /* branches; of a region */
  const TdStpNode **twin; /* by uid of the first branch of a comparison: the other's */
  int at;                 /* the dimension of what branches give that counts tiles */
} Multiplex;

static bool refuse(Multiplex *x, const TdStpNode *n, const char *code, const char *why) {
  return td_stp_rewrite_refuse(x->r, TD_ILLEGAL, code, n->loc, "'%s' %s",
                               td_stp_rewrite_name(x->r, n), why);
}

static bool is_in(const Branch *b, uint32_t uid) {
  return uid != b->from->uid && td_stp_flow_reaches(&b->flows, td_stp_graph_node(b->flows.g, uid));
}

/* Follows the tiles of a branch; nobody but its end is read outside of it. */
static bool follow(Multiplex *x, Branch *b) {
  TdStpRewrite *r = x->r;
  TdStpRef from = {b->from->uid, 0};
  if (b->from->nout != 1 || td_stp_graph_stream(r->g, from)->ndim != 1)
    return refuse(x, b->from, "step-branch", "gives no stream of one dimension");
  b->flows = td_stp_flow_follow(r->arena, r->g, &from, 1, TD_STP_EACH_TILE, b->to->uid);
  if (b->flows.bad)
    return td_stp_rewrite_refuse(
        r, TD_ILLEGAL, "step-branch", b->flows.bad->loc, "'%s', between '%s' and '%s', %s",
        td_stp_rewrite_name(r, b->flows.bad), td_stp_rewrite_name(r, b->from),
        td_stp_rewrite_name(r, b->to), b->flows.why);
  if (b->to->nout != 1 || !is_in(b, b->to->uid))
    return td_stp_rewrite_refuse(r, TD_ILLEGAL, "step-branch", b->to->loc,
                                 "'%s' is not made of the tiles of '%s'",
                                 td_stp_rewrite_name(r, b->to), td_stp_rewrite_name(r, b->from));
  for (size_t i = 0; i < r->g->node.n; i++) {
    const TdStpNode *n = r->g->node.at[i];
    for (size_t k = 0; k < n->nin && !is_in(b, n->uid); k++) {
      uint32_t uid = td_stp_graph_source(r->g, n->in[k]).uid;
      if (uid != b->to->uid && (uid == b->from->uid || is_in(b, uid)))
        return refuse(x, n, "step-branch", "reads the branch before its end");
    }
  }
  return true;
}

/* ---- branches that do the same ---- */

static bool same_tensor(TdStpTensor a, TdStpTensor b) {
  if (a.type != b.type) return false;
  if (!a.data || !b.data || a.data == b.data) return a.data == b.data;
  size_t bytes = (size_t)td_tensor_count(a.data) * td_type_bytes(a.type->elem);
  return memcmp(a.data->data, b.data->data, bytes) == 0;
}

/* What differs between two nodes besides the data that they load; NULL: nothing. */
static const char *difference(const TdStpNode *a, const TdStpNode *b) {
  if (a->op != b->op) return "is another operator than";
  if (a->fn.kind != b->fn.kind || a->fn.n != b->fn.n || a->fn.prog != b->fn.prog)
    return "has another function than";
  if (a->has != b->has || a->has_ref != b->has_ref || a->is_empty_init != b->is_empty_init)
    return "has other options than";
  for (int k = 0; k < TD_STP_KEYS; k++)
    if ((a->has >> k & 1) && a->opt[k] != b->opt[k]) return "has another option than";
  if (a->lo != b->lo || a->hi != b->hi) return "joins other dimensions than";
  if (a->rows != b->rows || a->cols != b->cols || a->nshape != b->nshape)
    return "has tiles of another shape than";
  if (memcmp(a->shape, b->shape, sizeof a->shape) || memcmp(a->stride, b->stride, sizeof a->stride))
    return "reads its tiles in another order than";
  if (a->tensor.type != b->tensor.type) return "has a tensor of another type than";
  if (a->op == TD_STP_LOAD_AT && !same_tensor(a->tensor, b->tensor))
    return "reads another tensor by address than";
  if (!same_tensor(a->extra, b->extra)) return "begins with another value than";
  return a->nin != b->nin ? "has other inputs than" : NULL;
}

static bool compare(Multiplex *x, const Branch *p, const Branch *q, TdStpRef a, TdStpRef b) {
  TdStpRewrite *r = x->r;
  a = td_stp_graph_source(r->g, a), b = td_stp_graph_source(r->g, b);
  if (a.uid == p->from->uid && b.uid == q->from->uid) return true;
  const TdStpNode *m = td_stp_graph_node(r->g, a.uid), *n = td_stp_graph_node(r->g, b.uid);
  const char *what = is_in(p, a.uid) != is_in(q, b.uid) || a.out != b.out
                         ? "has another place in its branch than"
                         : difference(m, n);
  if (!what && x->twin[a.uid] && x->twin[a.uid] != n) what = "is read where another is by";
  if (what)
    return td_stp_rewrite_refuse(r, TD_ILLEGAL, "step-branches", n->loc, "'%s' %s '%s'",
                                 td_stp_rewrite_name(r, n), what, td_stp_rewrite_name(r, m));
  if (x->twin[a.uid]) return true;
  x->twin[a.uid] = n;
  td_ctx_enter(td_arena_ctx(r->arena));
  bool ok = true;
  for (size_t i = 0; i < m->nin && ok; i++) ok = compare(x, p, q, m->in[i], n->in[i]);
  td_ctx_leave(td_arena_ctx(r->arena));
  return ok;
}

/* ---- the region ---- */

static TdStpNode like(const TdStpNode *n, TdStpOp op, const char *name, const TdStpRef *in,
                      size_t nin) {
  return (TdStpNode){.op = op, .name = name, .loc = n->loc, .site = n->site, .in = in, .nin = nin};
}

static void set(TdStpNode *n, TdStpKey k, int64_t v) {
  n->opt[k] = v;
  n->has |= 1u << k;
}

static const char *named(const Multiplex *x, const char *name) {
  return td_names_str(x->r->g->session->names, name);
}

static int64_t tiles_of(const TdStpNode *load) {
  int64_t n = 1;
  for (int k = 0; k < load->nshape; k++) n *= load->shape[k];
  return n;
}

/* The addresses of the n tiles that one tile of the region asks for. */
static uint32_t add_addresses(Multiplex *x, const Branch *b, uint32_t merge, int64_t n) {
  TdStpRef in = {merge, 1};
  TdStpNode a = like(b->from, TD_STP_FLAT_MAP, named(x, "where"), &in, 1);
  a.fn = (TdStpFn){.kind = TD_STP_FN_ADDRESSES, .n = n};
  a.fn.name = named(x, td_text_fmt(x->r->arena, "fn.addresses(%lld)", (long long)n));
  set(&a, TD_STP_KEY_RANK, 1);
  return td_stp_edit_add(&x->e, UINT32_MAX, &a);
}

/* The load that plays the part of `load`, of the first branch of a region, in branch i. */
static const TdStpNode *load_of(Multiplex *x, const Branch *first, const Branch *b,
                                const TdStpNode *load) {
  if (b == first) return load;
  memset(x->twin, 0, (x->r->g->by_uid.n + 1) * sizeof(TdStpNode *));
  compare(x, first, b, (TdStpRef){first->to->uid, 0}, (TdStpRef){b->to->uid, 0});
  return x->twin[load->uid];
}

/* The tiles that the branches of a region load, one branch after the other. */
static TdStpTensor gather_tensor(Multiplex *x, const Branch *first, const TdStpNode *load) {
  int64_t n = tiles_of(load);
  TdStpTile *tile = TD_NEWN(x->r->store->arena, TdStpTile, (size_t)n * x->share + 1);
  for (size_t b = 0; b < x->share; b++) {
    const TdStpNode *own = load_of(x, first, &first[b], load);
    for (int64_t i = 0; i < n; i++)
      tile[(int64_t)b * n + i] = (TdStpTile){&own->tensor, td_stp_tensor_number(own, i)};
  }
  return td_stp_tensor_gather(x->r->store->arena, x->r->g->session, tile, n * (int64_t)x->share,
                              load->rows, load->cols);
}

/* Splits the tiles that came in one dimension into those of the load; what gives them. */
static TdStpRef restore_shape(Multiplex *x, const TdStpNode *load, TdStpRef flat) {
  for (int k = load->nshape - 1; k > 0; k--) {
    TdStpNode split = like(load, TD_STP_RESHAPE, load->name, &flat, 1);
    set(&split, TD_STP_KEY_CHUNK, load->shape[k]);
    if (load->nshape - 1 - k) set(&split, TD_STP_KEY_RANK, load->nshape - 1 - k);
    flat = (TdStpRef){td_stp_edit_add(&x->e, load->uid, &split), 0};
  }
  return flat;
}

/* A load of the region's first branch, by address of the branch that a tile comes from. */
static bool share_load(Multiplex *x, const Branch *first, const TdStpNode *load, uint32_t where) {
  TdStpNode own = like(load, TD_STP_LOAD_AT, load->name, &(TdStpRef){where, 0}, 1);
  own.tensor = gather_tensor(x, first, load);
  own.rows = load->rows, own.cols = load->cols;
  static const TdStpKey kept[] = {TD_STP_KEY_PORTS, TD_STP_KEY_DEPTH, TD_STP_KEY_AHEAD};
  for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
    if (load->has >> kept[i] & 1) set(&own, kept[i], load->opt[kept[i]]);
  const TdStpNode *joins = td_stp_rewrite_reader(x->r, load);
  bool joined =
      joins && joins->op == TD_STP_FLATTEN && joins->lo == 0 && joins->hi == load->nshape - 1;
  TdStpRef given = {td_stp_edit_add(&x->e, load->uid, &own), 0};
  if (!joined) given = restore_shape(x, load, given);
  td_stp_edit_rewire(&x->e, (TdStpRef){joined ? joins->uid : load->uid, 0}, given);
  if (joined) td_stp_edit_remove(&x->e, joins->uid);
  td_stp_edit_remove(&x->e, load->uid);
  return true;
}

/* The loads of the region's first branch, those with as many tiles by one stream of addresses. */
static bool share_loads(Multiplex *x, const Branch *first, uint32_t merge) {
  const TdStpGraph *g = x->r->g;
  uint32_t where[TD_STP_RANK];
  int64_t count[TD_STP_RANK];
  size_t n = 0;
  for (size_t i = 0; i < g->node.n; i++) {
    const TdStpNode *load = g->node.at[i];
    if (load->op != TD_STP_LOAD || !is_in(first, load->uid)) continue;
    if (td_stp_graph_stream(g, load->in[0])->ndim != 1)
      return refuse(x, load, "step-branch", "is loaded several times for a tile");
    size_t k = 0;
    while (k < n && count[k] != tiles_of(load)) k++;
    if (k == TD_STP_RANK) return refuse(x, load, "step-branch", "is one of too many loads");
    if (k == n) {
      count[n] = tiles_of(load);
      where[n++] = add_addresses(x, first, merge, count[k]);
    }
    if (!share_load(x, first, load, where[k])) return false;
  }
  return true;
}

/* Branches first .. first + share - 1 become one. */
static bool merge_region(Multiplex *x, const Branch *first) {
  TdStpRewrite *r = x->r;
  TdStpRef *in = TD_NEWN(r->arena, TdStpRef, x->share);
  for (size_t b = 0; b < x->share; b++) in[b] = (TdStpRef){first[b].from->uid, 0};
  TdStpNode merge = like(first->from, TD_STP_EAGER_MERGE, named(x, "merged"), in, x->share);
  uint32_t m = (uint32_t)x->e.by_uid.n;
  td_stp_edit_rewire(&x->e, (TdStpRef){first->from->uid, 0}, (TdStpRef){m, 0});
  m = td_stp_edit_add(&x->e, UINT32_MAX, &merge);
  if (!share_loads(x, first, m)) return false;
  uint32_t own = (uint32_t)x->e.by_uid.n;
  for (size_t b = 0; b < x->share; b++)
    td_stp_edit_rewire(&x->e, (TdStpRef){first[b].to->uid, 0}, (TdStpRef){own, (uint16_t)b});
  TdStpRef from[] = {{first->to->uid, 0}, {m, 1}};
  TdStpNode back = like(first->to, TD_STP_PARTITION, named(x, "own"), from, 2);
  set(&back, TD_STP_KEY_N, (int64_t)x->share);
  if (x->at) set(&back, TD_STP_KEY_RANK, x->at);
  td_stp_edit_add(&x->e, UINT32_MAX, &back);
  for (size_t b = 1; b < x->share; b++)
    for (size_t i = 0; i < r->g->node.n; i++)
      if (is_in(&first[b], r->g->node.at[i]->uid)) td_stp_edit_remove(&x->e, r->g->node.at[i]->uid);
  return true;
}

/* The branches that the two families name, pair by pair. */
static bool find_branches(Multiplex *x) {
  TdStpRewrite *r = x->r;
  const TdStpNode *const *from, *const *to;
  x->n = td_stp_rewrite_family(r, r->arg[FROM].text, &from);
  size_t n = x->n ? td_stp_rewrite_family(r, r->arg[TO].text, &to) : 0;
  if (!n) return false;
  int64_t regions = r->arg[REGIONS].integer;
  if (n != x->n)
    return td_stp_rewrite_refuse(r, TD_USAGE, "step-branch", to[0]->loc,
                                 "%zu nodes '%s' and %zu nodes '%s' make no branches", x->n,
                                 r->arg[FROM].text, n, r->arg[TO].text);
  if (regions < 1 || (size_t)regions > n || n % (size_t)regions)
    return td_stp_rewrite_refuse(r, TD_USAGE, "step-option", from[0]->loc,
                                 "%zu branches do not make %lld regions of as many each", n,
                                 (long long)regions);
  x->share = n / (size_t)regions;
  x->branch = TD_NEWN(r->arena, Branch, n);
  for (size_t i = 0; i < n; i++) {
    x->branch[i] = (Branch){.from = from[i], .to = to[i]};
    if (!follow(x, &x->branch[i])) return false;
  }
  x->at = x->branch->flows.of[to[0]->uid][0].at;
  return true;
}

static const TdStpGraph *rewire(TdStpRewrite *r) {
  Multiplex x = {.r = r, .e = td_stp_edit_new(r)};
  if (!find_branches(&x)) return NULL;
  x.twin = TD_NEWN(r->arena, const TdStpNode *, r->g->by_uid.n + 1);
  for (size_t i = 1; i < x.n; i++) {
    memset(x.twin, 0, (r->g->by_uid.n + 1) * sizeof(TdStpNode *));
    const Branch *p = &x.branch[0], *q = &x.branch[i];
    if (!compare(&x, p, q, (TdStpRef){p->to->uid, 0}, (TdStpRef){q->to->uid, 0})) return NULL;
  }
  if (!td_stp_rewrite_check_order(r, r->arg[REASSOCIATE].integer)) return NULL;
  for (size_t i = 0; i < x.n && x.share > 1; i += x.share)
    if (!merge_region(&x, &x.branch[i])) return NULL;
  return td_stp_edit_end(&x.e);
}

const TdPrim td_stp_prim_multiplex = {
    .name = "multiplex",
    .on = "graph",
    .summary = "Let branches that do the same share regions, which take their tiles as they come.",
    .args = {{"from", TD_ARG_FAMILY, TD_ARG_NEEDED, "the streams of tiles, one a branch", NULL},
             {"to", TD_ARG_FAMILY, TD_ARG_NEEDED, "what the branches make of them", NULL},
             {"regions", TD_ARG_INT, TD_ARG_NEEDED, "how many; as many branches in each", NULL},
             {"reassociate", TD_ARG_FLAG, TD_ARG_OPTION,
              "allows another order of arrival at sums of floats", NULL}},
    .rewrite = "y[e] = f(x[e], W[e])  =>  x, who = eager_merge(x); y = partition(f(x, W at who), "
               "who)",
    .legal = "where the branches are the same but for the tensors that they load, treat each tile "
             "by itself, and are read at their ends only",
    .errors = "step-branch step-branches step-option step-order step-name",
    .example = "s:multiplex(\"tile\", \"done\", 2)",
    .rewire = rewire,
};

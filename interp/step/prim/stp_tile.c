/* stp_tile.c - tile: a product of large tiles as products of smaller ones. What is cut is loaded in
 * smaller tiles, a dimension more; the other operand is repeated; what the parts make is put
 * together again: rows below each other, columns beside each other, parts of a sum added. */
#include "step/stp_rewrite.h"

enum { MAP, M, K, N, REASSOCIATE };

typedef struct Tiling {
  TdStpRewrite *r;
  TdStpEdit *e;
  TdStpNode *map, *zip;
} Tiling;

static bool refuse(const Tiling *t, const TdStpNode *n, const char *why) {
  return td_stp_rewrite_refuse(t->r, TD_ILLEGAL, "step-tile", n->loc, "'%s' %s",
                               td_stp_rewrite_name(t->r, n), why);
}

static TdStpNode make(const Tiling *t, TdStpOp op, const char *ending) {
  const char *name = td_text_fmt(t->r->arena, "%s%s", t->map->name, ending);
  return (TdStpNode){.op = op,
                     .name = td_names_str(t->r->g->session->names, name),
                     .loc = t->map->loc,
                     .site = t->map->site};
}

static void set(TdStpNode *n, TdStpKey k, int64_t v) {
  n->opt[k] = v;
  n->has |= 1u << k;
}

/* How many read the node in the next version. */
static size_t readers_of(const TdStpEdit *e, uint32_t uid) {
  size_t n = 0;
  for (size_t i = 0; i < e->output.n; i++) n += e->output.at[i].uid == uid;
  for (size_t i = 0; i < e->node.n; i++)
    for (size_t k = 0; e->node.at[i] && k < e->node.at[i]->nin; k++)
      n += e->node.at[i]->in[k].uid == uid;
  return n;
}

/* The load that operand i is, below shape operators that keep its tiles; NULL with the reason told.
 * Each of them counts its dimensions from one further in where `shift`. */
static TdStpNode *load_of(const Tiling *t, int i, bool shift) {
  TdStpNode *n = td_stp_edit_node(t->e, t->zip->in[i].uid);
  for (;;) {
    if (readers_of(t->e, n->uid) > 1) {
      refuse(t, n, "is read by others, too");
      return NULL;
    }
    if (n->op == TD_STP_LOAD) return n;
    if (n->op != TD_STP_FLATTEN && n->op != TD_STP_PROMOTE) {
      refuse(t, n, "is no load: only what is loaded comes in smaller tiles");
      return NULL;
    }
    if (shift && n->op == TD_STP_FLATTEN) n->lo++, n->hi++;
    if (shift && n->op == TD_STP_PROMOTE) set(n, TD_STP_KEY_AT, n->opt[TD_STP_KEY_AT] + 1);
    n = td_stp_edit_node(t->e, n->in[0].uid);
  }
}

/* Gives the product a load of its own, and the shape operators above it, where others read some of
 * them; what ends in no load is left to load_of. */
static void separate(const Tiling *t, int i) {
  TdStpNode *chain[TD_STP_RANK * 4];
  size_t n = 0;
  bool shared = false;
  TdStpNode *x = td_stp_edit_node(t->e, t->zip->in[i].uid);
  for (; n < sizeof chain / sizeof *chain; x = td_stp_edit_node(t->e, x->in[0].uid)) {
    shared |= readers_of(t->e, x->uid) > 1;
    chain[n++] = x;
    if (x->op != TD_STP_FLATTEN && x->op != TD_STP_PROMOTE) break;
  }
  if (!shared || x->op != TD_STP_LOAD) return;
  TdStpRef in = {0, 0};
  for (size_t k = n; k-- > 0;) {
    TdStpNode own = *chain[k];
    if (k + 1 < n) own.in = &in;
    in = (TdStpRef){td_stp_edit_add(t->e, t->zip->uid, &own), 0};
  }
  uint32_t was = t->zip->in[i].uid;
  ((TdStpRef *)(uintptr_t)t->zip->in)[i] = in;
  td_stp_edit_prune(t->e, was);
  td_vec_push(t->r->arena, &t->r->note,
              td_text_fmt(t->r->arena, "'%s' is loaded for '%s' by itself now",
                          td_stp_rewrite_name(t->r, x), td_stp_rewrite_name(t->r, t->map)));
}

/* Whether a load's tiles of `extent` rows or columns can be cut into parts of `size`. */
static bool check_cut(const Tiling *t, const TdStpNode *load, int64_t extent, int64_t size) {
  int64_t cols = 1, reach = 0;
  if (size < 1 || size >= extent || extent % size)
    return td_stp_rewrite_refuse(t->r, TD_USAGE, "step-option", load->loc,
                                 "%lld does not cut the %lld of '%s' into parts", (long long)size,
                                 (long long)extent, td_stp_rewrite_name(t->r, load));
  td_type_extent(load->tensor.type, load->tensor.type->rank - 1, &cols);
  int64_t across = cols / load->cols;
  for (int k = 0; k < load->nshape; k++)
    if (load->shape[k]) reach += (load->shape[k] - 1) * (load->stride[k] % across);
  if (load->tensor.tile) return refuse(t, load, "reads a tensor that a step put together");
  if (load->nshape == TD_STP_RANK) return refuse(t, load, "has no room for a dimension");
  return reach < across || refuse(t, load, "goes from one row of tiles to the next in a dimension");
}

/* Cuts the rows or columns of a load's tiles into q parts, an innermost dimension. */
static void cut(TdStpNode *load, int64_t q, bool columns) {
  int64_t cols = 1;
  td_type_extent(load->tensor.type, load->tensor.type->rank - 1, &cols);
  int64_t across = cols / load->cols;
  for (int k = 0; k < load->nshape; k++) {
    int64_t down = load->stride[k] / across, right = load->stride[k] % across;
    load->stride[k] = columns ? down * across * q + right * q : down * across * q + right;
  }
  load->shape[load->nshape] = q;
  load->stride[load->nshape++] = columns ? 1 : across;
  if (columns)
    load->cols /= q;
  else
    load->rows /= q;
}

/* The other operand, q times. */
static void repeat(const Tiling *t, int i, int64_t q) {
  TdStpNode rep = make(t, TD_STP_REP, "_each");
  TdStpRef in = t->zip->in[i];
  rep.in = &in;
  rep.nin = 1;
  set(&rep, TD_STP_KEY_N, q);
  ((TdStpRef *)(uintptr_t)t->zip->in)[i] = (TdStpRef){td_stp_edit_add(t->e, t->zip->uid, &rep), 0};
}

/* Folds what the parts make. */
static void join(const Tiling *t, TdStpFnKind fn, const char *name) {
  TdStpNode fold = make(t, TD_STP_ACCUM, "_joined");
  TdStpRef out = {t->map->uid, 0};
  uint32_t uid = (uint32_t)t->e->by_uid.n;
  td_stp_edit_rewire(t->e, out, (TdStpRef){uid, 0});
  fold.fn = (TdStpFn){.kind = fn, .name = td_names_str(t->r->g->session->names, name)};
  fold.in = &out;
  fold.nin = 1;
  set(&fold, TD_STP_KEY_RANK, 1);
  if (fn == TD_STP_FN_ADD && (t->map->has >> TD_STP_KEY_BW & 1))
    set(&fold, TD_STP_KEY_BW, t->map->opt[TD_STP_KEY_BW]);
  td_stp_edit_add(t->e, UINT32_MAX, &fold);
}

/* Parts of the sum: columns of the first operand, rows of the second. */
static bool cut_sum(const Tiling *t, int64_t size) {
  TdStpNode *x = load_of(t, 0, false), *w = x ? load_of(t, 1, false) : NULL;
  if (!w || !check_cut(t, x, x->cols, size) || !check_cut(t, w, w->rows, size)) return false;
  if (!t->r->arg[REASSOCIATE].integer) {
    refuse(t, t->map, "adds its products in another order then");
    td_diag_help(t->r->diag, "{reassociate = true} allows it");
    return false;
  }
  int64_t q = x->cols / size;
  cut(load_of(t, 0, true), q, true);
  cut(load_of(t, 1, true), q, false);
  join(t, TD_STP_FN_ADD, "fn.add");
  return true;
}

/* Parts of one operand: rows of the first, columns of the second. */
static bool cut_one(const Tiling *t, int i, int64_t size) {
  TdStpNode *load = load_of(t, i, false);
  if (!load || !check_cut(t, load, i ? load->cols : load->rows, size)) return false;
  int64_t q = (i ? load->cols : load->rows) / size;
  cut(load_of(t, i, true), q, i == 1);
  repeat(t, !i, q);
  join(t, i ? TD_STP_FN_RETILE_COL : TD_STP_FN_RETILE_ROW, i ? "fn.retile_col" : "fn.retile_row");
  return true;
}

/* Rows of the first operand and columns of the second: the columns change faster, so that the
 * second is read anew for each part of the rows, along a dimension of stride 0. */
static bool cut_both(const Tiling *t, int64_t rows, int64_t cols) {
  TdStpNode *x = load_of(t, 0, false), *w = x ? load_of(t, 1, false) : NULL;
  if (!w || !check_cut(t, x, x->rows, rows) || !check_cut(t, w, w->cols, cols)) return false;
  if (w->nshape + 2 > TD_STP_RANK) return refuse(t, w, "has no room for two dimensions");
  int64_t down = x->rows / rows, across = w->cols / cols;
  cut(load_of(t, 0, true), down, false);
  load_of(t, 1, true);
  w = load_of(t, 1, true);
  w->shape[w->nshape] = down;
  w->stride[w->nshape++] = 0;
  cut(w, across, true);
  repeat(t, 0, across);
  join(t, TD_STP_FN_RETILE_ROW, "fn.retile_row");
  join(t, TD_STP_FN_RETILE_COL, "fn.retile_col");
  return true;
}

static bool tile(TdStpRewrite *r, TdStpEdit *e, const TdStpNode *map) {
  Tiling t = {r, e, td_stp_edit_node(e, map->uid), NULL};
  if (map->op != TD_STP_MAP || map->fn.kind != TD_STP_FN_MATMUL) {
    refuse(&t, map, "is no map of fn.matmul");
    td_diag_help(r->diag, "unfuse makes a map of a map_accum");
    return false;
  }
  t.zip = td_stp_edit_node(e, map->in[0].uid);
  if (t.zip->op != TD_STP_ZIP || t.zip->nin != 2 || readers_of(e, t.zip->uid) > 1)
    return refuse(&t, t.zip, "is no pair that the product alone reads");
  if (!r->arg[M].given && !r->arg[N].given && !r->arg[K].given)
    return td_stp_rewrite_refuse(r, TD_USAGE, "step-option", map->loc, "tile needs m, k or n");
  if (r->arg[M].given || r->arg[K].given) separate(&t, 0);
  if (r->arg[N].given || r->arg[K].given) separate(&t, 1);
  if (r->arg[K].given && !cut_sum(&t, r->arg[K].integer)) return false;
  if (r->arg[M].given && r->arg[N].given) return cut_both(&t, r->arg[M].integer, r->arg[N].integer);
  if (r->arg[M].given && !cut_one(&t, 0, r->arg[M].integer)) return false;
  return !r->arg[N].given || cut_one(&t, 1, r->arg[N].integer);
}

static const TdStpGraph *rewire(TdStpRewrite *r) {
  const TdStpNode *const *node;
  size_t n = td_stp_rewrite_family(r, r->arg[MAP].text, &node);
  if (!n || !td_stp_rewrite_check_order(r, r->arg[REASSOCIATE].integer)) return NULL;
  TdStpEdit e = td_stp_edit_new(r);
  for (size_t i = 0; i < n; i++)
    if (!tile(r, &e, node[i])) return NULL;
  return td_stp_edit_end(&e);
}

const TdPrim td_stp_prim_tile = {
    .name = "tile",
    .on = "graph",
    .summary = "Make a product of tiles of products of smaller tiles: m rows, n columns, k terms.",
    .args = {{"map", TD_ARG_FAMILY, TD_ARG_NEEDED, "the map of fn.matmul, or all of a name", NULL},
             {"m", TD_ARG_INT, TD_ARG_OPTION, "rows of the first operand's tiles", NULL},
             {"k", TD_ARG_INT, TD_ARG_OPTION, "columns of the first, rows of the second", NULL},
             {"n", TD_ARG_INT, TD_ARG_OPTION, "columns of the second operand's tiles", NULL},
             {"reassociate", TD_ARG_FLAG, TD_ARG_OPTION, "allows sums in another order", NULL}},
    .rewrite = "x:zip(load(W)):map(matmul)  =>  x:rep(N / n):zip(load(W in n columns)):map(matmul)"
               ":accum(retile_col)",
    .legal =
        "where the operand that is cut is loaded; others that read it keep a load of their own; "
        "k adds in another order",
    .errors = "step-tile step-option step-order step-name",
    .example = "s:tile(\"product\", { n = 16 })",
    .rewire = rewire,
};

/* stp_graph.c - graphs of STeP: nodes added in order of calls, what ends the building of one. */
#include <string.h>

#include "step/stp_graph.h"

const TdStpOpRow td_stp_ops[] = {
#define TD_STP_OP(NAME, name, group, args, options, shape, meaning, cycles, bytes, help)           \
  {#name, group, args, options, shape, meaning, cycles, bytes, help},
#include "step/stp_ops.def"
};

const TdStpFnRow td_stp_fns[] = {
#define TD_STP_FN(NAME, name, parts, place, flops, help) {#name, parts, place, flops, help},
#include "step/stp_fns.def"
    {"kernel", 0, "maf", "counted from its loops", "a kernel on tiles"},
};

static const char *const keys[] = {
#define TD_STP_KEY(NAME, name) #name,
    TD_STP_KEY_LIST(TD_STP_KEY)
#undef TD_STP_KEY
};

TdStpKey td_stp_key_find(const char *name) {
  int k = 0;
  while (k < TD_STP_KEYS && strcmp(keys[k], name) != 0) k++;
  return (TdStpKey)k;
}

const char *td_stp_key_name(TdStpKey k) {
  return keys[k];
}

TdStpGraph *td_stp_graph_new(TdArena *a, TdSession *s, TdStpExprs *x) {
  TdStpGraph *g = TD_NEW(a, TdStpGraph);
  g->arena = a;
  g->session = s;
  g->exprs = x;
  return g;
}

const TdStpNode *td_stp_graph_open(const TdStpGraph *g) {
  int64_t extent;
  for (size_t i = 0; i < g->node.n; i++) {
    const TdType *t = g->node.at[i]->tensor.type;
    for (int d = 0; t && t->kind == TD_T_TENSOR && d < t->rank; d++)
      if (!td_type_extent(t, d, &extent)) return g->node.at[i];
  }
  return NULL;
}

const TdStpNode *td_stp_graph_node(const TdStpGraph *g, uint32_t uid) {
  return g->by_uid.at[uid];
}

const TdStpStream *td_stp_graph_stream(const TdStpGraph *g, TdStpRef r) {
  return &td_stp_graph_node(g, r.uid)->out[r.out];
}

TdStpRef td_stp_graph_source(const TdStpGraph *g, TdStpRef r) {
  for (;;) {
    const TdStpNode *n = td_stp_graph_node(g, r.uid);
    if ((n->op != TD_STP_ASSUME_SHAPE && n->op != TD_STP_FEEDBACK) || !n->nin) return r;
    r = n->in[0];
  }
}

static const TdStpType *copy_type(TdArena *a, const TdStpType *t) {
  TdStpType *own = td_arena_copy(a, t, sizeof *t);
  const TdStpType **part = TD_NEWN(a, const TdStpType *, t->nparts + 1);
  for (size_t i = 0; i < t->nparts; i++) part[i] = copy_type(a, t->part[i]);
  own->part = part;
  return own;
}

static const TdStpSelectors *copy_selectors(TdArena *a, const TdStpSelectors *s) {
  TdStpSelectors *own = td_arena_copy(a, s, sizeof *s);
  own->first = td_arena_copy(a, s->first, (s->n + 1) * sizeof *s->first);
  own->index = td_arena_copy(a, s->index, s->first[s->n] * sizeof *s->index);
  own->text = td_arena_strdup(a, s->text ? s->text : "");
  return own;
}

/* The tiles of a tensor that a step made; what they are of is copied, too. */
static const TdStpTile *copy_tiles(TdArena *a, const TdStpTensor *t, int64_t rows) {
  int64_t all = 0;
  td_type_extent(t->type, 0, &all);
  size_t n = (size_t)(all / rows);
  TdStpTile *own = td_arena_copy(a, t->tile, n * sizeof *own);
  for (size_t i = 0; i < n; i++) {
    own[i].of = i && t->tile[i].of == t->tile[i - 1].of
                    ? own[i - 1].of
                    : td_arena_copy(a, t->tile[i].of, sizeof(TdStpTensor));
  }
  return own;
}

TdStpGraph *td_stp_graph_copy(TdArena *a, const TdStpGraph *g) {
  TdStpGraph *h = td_stp_graph_new(a, g->session, g->exprs);
  for (size_t i = 0; i < g->by_uid.n; i++) {
    TdStpNode *n = td_arena_copy(a, g->by_uid.at[i], sizeof *n);
    n->in = td_arena_copy(a, n->in, n->nin * sizeof *n->in);
    n->out = td_arena_copy(a, n->out, n->nout * sizeof *n->out);
    for (size_t k = 0; k < n->nout; k++) n->out[k].type = copy_type(a, n->out[k].type);
    if (n->sel) n->sel = copy_selectors(a, n->sel);
    if (n->tensor.tile) n->tensor.tile = copy_tiles(a, &n->tensor, n->rows);
    td_vec_push(a, &h->by_uid, n);
  }
  for (size_t i = 0; i < g->node.n; i++) td_vec_push(a, &h->node, h->by_uid.at[g->node.at[i]->uid]);
  for (size_t i = 0; i < g->output.n; i++) td_vec_push(a, &h->output, g->output.at[i]);
  for (size_t i = 0; i < g->symbol.n; i++) {
    TdStpSymbol s = g->symbol.at[i];
    s.name = td_names_str(g->session->names, s.name);
    td_vec_push(a, &h->symbol, s);
  }
  h->nroute = g->nroute;
  h->nfresh = g->nfresh;
  h->ntensor = g->ntensor;
  return h;
}

const char *td_stp_graph_symbol(TdStpGraph *g, const TdStpNode *n, const char *letter,
                                uint32_t *count, TdStpSymbol of) {
  const TdStpGraph *before = g->before;
  of.of.uid = n->uid;
  of.name = NULL;
  for (size_t i = 0; before && n->was && i < before->symbol.n; i++) {
    const TdStpSymbol *s = &before->symbol.at[i];
    if (s->of.uid == n->was - 1 && s->of.out == of.of.out && s->dim == of.dim &&
        *s->name == *letter)
      of.name = s->name;
  }
  if (!of.name)
    of.name = td_names_str(g->session->names, td_text_fmt(g->arena, "%s%u", letter, (*count)++));
  td_vec_push(g->arena, &g->symbol, of);
  return of.name;
}

const TdStpNode *td_stp_graph_add(TdStpGraph *g, const TdStpNode *n, TdDiag *d) {
  td_ctx_tick(td_arena_ctx(g->arena), 1);
  TdStpNode *own = td_arena_copy(g->arena, n, sizeof *n);
  own->uid = (uint32_t)g->by_uid.n;
  own->in = td_arena_copy(g->arena, n->in, n->nin * sizeof *n->in);
  if (own->tensor.type && !own->tensor.data && !own->tensor.tile && !own->tensor.id)
    own->tensor.id = ++g->ntensor;
  if (!td_stp_shape_of(g, own, d)) return NULL;
  td_vec_push(g->arena, &g->node, own);
  td_vec_push(g->arena, &g->by_uid, own);
  return own;
}

bool td_stp_graph_close(TdStpGraph *g, uint32_t uid, TdStpRef y, TdLoc loc, TdDiag *d) {
  const TdStpNode *n = td_stp_graph_node(g, uid);
  const TdStpStream *is = td_stp_graph_stream(g, y);
  if (n->op != TD_STP_FEEDBACK)
    return td_diag_set(d, TD_USAGE, "step-close", loc, "only what step.feedback made is closed");
  if (n->nin) return td_diag_set(d, TD_USAGE, "step-close", loc, "this loop was closed before");
  const TdStpStream *want = &n->out[0];
  if (is->ndim != want->ndim || !td_stp_shape_agrees(is->type, want->type))
    return td_diag_set(d, TD_ILLEGAL, "step-shape", loc,
                       "the loop was opened as %s, and closed with %s",
                       td_stp_shape_str(d->arena, want), td_stp_shape_str(d->arena, is));
  TdStpNode *own = td_arena_copy(g->arena, n, sizeof *n);
  own->in = td_arena_copy(g->arena, &y, sizeof y);
  own->nin = 1;
  g->by_uid.at[uid] = own;
  for (size_t i = 0; i < g->node.n; i++)
    if (g->node.at[i]->uid == uid) g->node.at[i] = own;
  return true;
}

const char *td_stp_graph_name(TdArena *a, const TdStpNode *n) {
  return n->ordinal ? td_text_fmt(a, "%s#%u", n->name, n->ordinal) : n->name;
}

/* Numbers the nodes of each name: families of one site first, then names that stand twice. */
static void settle_names(TdStpGraph *g) {
  TdMap count = {0}, seen = {0};
  for (size_t i = 0; i < g->node.n; i++) {
    uint64_t n = 0;
    td_map_get(&count, (uint64_t)(uintptr_t)g->node.at[i]->name, &n);
    td_map_put(g->arena, &count, (uint64_t)(uintptr_t)g->node.at[i]->name, n + 1);
  }
  for (size_t i = 0; i < g->node.n; i++) {
    TdStpNode *own = td_arena_copy(g->arena, g->node.at[i], sizeof *own);
    uint64_t key = (uint64_t)(uintptr_t)own->name, n = 0, k = 0;
    td_map_get(&count, key, &n);
    td_map_get(&seen, key, &k);
    own->ordinal = n > 1 ? (uint32_t)k + 1 : 0;
    td_map_put(g->arena, &seen, key, k + 1);
    g->node.at[i] = g->by_uid.at[own->uid] = own;
  }
}

/* Whether outputs of every node are read: by a node, or as an output of the graph. */
static bool check_read(TdStpGraph *g, TdDiag *d) {
  TdArena *a = d->arena;
  uint8_t **read = TD_NEWN(a, uint8_t *, g->by_uid.n);
  for (size_t i = 0; i < g->node.n; i++)
    read[g->node.at[i]->uid] = TD_NEWN(a, uint8_t, g->node.at[i]->nout + 1);
  for (size_t i = 0; i < g->node.n; i++)
    for (size_t k = 0; k < g->node.at[i]->nin; k++)
      read[g->node.at[i]->in[k].uid][g->node.at[i]->in[k].out] = 1;
  for (size_t i = 0; i < g->output.n; i++) read[g->output.at[i].uid][g->output.at[i].out] = 1;
  for (size_t i = 0; i < g->node.n; i++) {
    const TdStpNode *n = g->node.at[i];
    for (size_t k = 0; k < n->nout; k++) {
      if (read[n->uid][k]) continue;
      if (n->op == TD_STP_RESHAPE && k == 1) continue;
      const char *which = n->nout > 1 ? td_text_fmt(a, "output %zu of ", k + 1) : "";
      td_diag_set(d, TD_ILLEGAL, "step-unread", n->loc, "nobody reads %s'%s', %s", which,
                  td_stp_graph_name(a, n), td_stp_shape_str(a, &n->out[k]));
      td_diag_help(d, "end it with :sink(), or return it from the function");
      return false;
    }
  }
  return true;
}

/* Walks from a node down its inputs; state 1: under way, 2: done. */
static bool visit(const TdStpGraph *g, uint32_t uid, uint8_t *state, TdDiag *d) {
  const TdStpNode *n = td_stp_graph_node(g, uid);
  if (state[uid] == 2 || n->op == TD_STP_EAGER_MERGE) return true;
  if (state[uid] == 1) {
    td_diag_set(d, TD_ILLEGAL, "step-cycle", n->loc,
                "'%s' waits for what is made of its own output, and no eager_merge cuts the cycle",
                td_stp_graph_name(d->arena, n));
    td_diag_help(d, "a cycle is legal where an eager_merge takes what comes first");
    return false;
  }
  state[uid] = 1;
  td_ctx_enter(td_arena_ctx(g->arena));
  bool ok = true;
  for (size_t i = 0; ok && i < n->nin; i++) ok = visit(g, n->in[i].uid, state, d);
  td_ctx_leave(td_arena_ctx(g->arena));
  state[uid] = 2;
  return ok;
}

/* Whether every loop is closed, and cut by an eager_merge. */
static bool check_cycles(const TdStpGraph *g, TdDiag *d) {
  uint8_t *state = TD_NEWN(d->arena, uint8_t, g->by_uid.n + 1);
  for (size_t i = 0; i < g->node.n; i++) {
    const TdStpNode *n = g->node.at[i];
    if (n->op == TD_STP_FEEDBACK && !n->nin)
      return td_diag_set(d, TD_ILLEGAL, "step-open", n->loc,
                         "the loop '%s' was opened and never closed: %s:close(y)",
                         td_stp_graph_name(d->arena, n), n->name);
    if (n->op == TD_STP_FEEDBACK && !visit(g, n->uid, state, d)) return false;
  }
  return true;
}

bool td_stp_graph_finish(TdStpGraph *g, TdDiag *d) {
  settle_names(g);
  return check_read(g, d) && check_cycles(g, d);
}

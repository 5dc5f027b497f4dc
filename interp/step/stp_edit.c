/* stp_edit.c - the next version of a graph: nodes changed, added, removed, then built anew. */
#include <string.h>

#include "step/stp_rewrite.h"

TdStpEdit td_stp_edit_new(TdStpRewrite *r) {
  TdStpEdit e = {.r = r};
  for (size_t i = 0; i < r->g->by_uid.n; i++) td_vec_push(r->arena, &e.by_uid, NULL);
  for (size_t i = 0; i < r->g->node.n; i++) {
    TdStpNode *own = td_arena_copy(r->arena, r->g->node.at[i], sizeof *own);
    own->in = td_arena_copy(r->arena, own->in, own->nin * sizeof *own->in);
    own->was = own->uid + 1;
    td_vec_push(r->arena, &e.node, own);
    e.by_uid.at[own->uid] = own;
  }
  for (size_t i = 0; i < r->g->output.n; i++) td_vec_push(r->arena, &e.output, r->g->output.at[i]);
  return e;
}

TdStpNode *td_stp_edit_node(TdStpEdit *e, uint32_t uid) {
  return e->by_uid.at[uid];
}

uint32_t td_stp_edit_add(TdStpEdit *e, uint32_t at, const TdStpNode *n) {
  TdArena *a = e->r->arena;
  TdStpNode *own = td_arena_copy(a, n, sizeof *n);
  own->uid = (uint32_t)e->by_uid.n;
  own->was = 0;
  own->in = td_arena_copy(a, n->in, n->nin * sizeof *n->in);
  td_vec_push(a, &e->by_uid, own);
  td_vec_push(a, &e->node, own);
  size_t i = e->node.n - 1;
  for (; at != UINT32_MAX && i > 0; i--) {
    e->node.at[i] = e->node.at[i - 1];
    if (e->node.at[i] && e->node.at[i]->uid == at) break;
  }
  if (at != UINT32_MAX) e->node.at[i ? i - 1 : 0] = own;
  return own->uid;
}

void td_stp_edit_remove(TdStpEdit *e, uint32_t uid) {
  for (size_t i = 0; i < e->node.n; i++)
    if (e->node.at[i] && e->node.at[i]->uid == uid) e->node.at[i] = NULL;
  e->by_uid.at[uid] = NULL;
}

static bool is_same(TdStpRef a, TdStpRef b) {
  return a.uid == b.uid && a.out == b.out;
}

/* A node's inputs, to be changed. */
static TdStpRef *inputs(TdStpNode *n) {
  return (TdStpRef *)(uintptr_t)n->in;
}

void td_stp_edit_rewire(TdStpEdit *e, TdStpRef from, TdStpRef to) {
  for (size_t i = 0; i < e->node.n; i++) {
    TdStpNode *n = e->node.at[i];
    for (size_t k = 0; n && k < n->nin; k++)
      if (is_same(n->in[k], from)) inputs(n)[k] = to;
  }
  for (size_t i = 0; i < e->output.n; i++)
    if (is_same(e->output.at[i], from)) e->output.at[i] = to;
}

/* Whether anybody reads an output of the node. */
static bool is_read(const TdStpEdit *e, uint32_t uid) {
  for (size_t i = 0; i < e->output.n; i++)
    if (e->output.at[i].uid == uid) return true;
  for (size_t i = 0; i < e->node.n; i++)
    for (size_t k = 0; e->node.at[i] && k < e->node.at[i]->nin; k++)
      if (e->node.at[i]->in[k].uid == uid) return true;
  return false;
}

void td_stp_edit_prune(TdStpEdit *e, uint32_t uid) {
  TdStpNode *n = e->by_uid.at[uid];
  if (!n || !n->nout || n->op == TD_STP_STORE_AT || is_read(e, uid)) return;
  td_stp_edit_remove(e, uid);
  td_ctx_enter(td_arena_ctx(e->r->arena));
  for (size_t i = 0; i < n->nin; i++) td_stp_edit_prune(e, n->in[i].uid);
  td_ctx_leave(td_arena_ctx(e->r->arena));
}

/* ---- the end ---- */

typedef struct Builder {
  TdStpEdit *e;
  TdStpGraph *h;
  const TdStpNode **made; /* by uid */
  bool *open;             /* by uid: its inputs are being made */
  bool failed;
} Builder;

static TdStpRef mapped(const Builder *b, TdStpRef r) {
  return (TdStpRef){b->made[r.uid]->uid, r.out};
}

/* Adds a node after what it reads; a loop is closed at the end. */
static void build(Builder *b, const TdStpNode *n) {
  if (b->failed || b->made[n->uid]) return;
  TdStpNode own = *n;
  if (n->op == TD_STP_FEEDBACK) own.nin = 0;
  if (b->open[n->uid]) {
    TdStpRewrite *r = b->e->r;
    b->failed = true;
    td_stp_rewrite_refuse(r, TD_BUG, "step-cycle", n->loc, "a step made '%s' read itself", n->name);
    return;
  }
  b->open[n->uid] = true;
  td_ctx_enter(td_arena_ctx(b->h->arena));
  for (size_t i = 0; i < own.nin; i++) {
    const TdStpNode *from = b->e->by_uid.at[n->in[i].uid];
    if (from)
      build(b, from);
    else
      b->failed |= !td_stp_rewrite_refuse(b->e->r, TD_BUG, "step-cycle", n->loc,
                                          "a step removed what '%s' reads", n->name);
  }
  td_ctx_leave(td_arena_ctx(b->h->arena));
  if (b->failed) return;
  TdStpRef *in = TD_NEWN(b->h->arena, TdStpRef, own.nin + 1);
  for (size_t i = 0; i < own.nin; i++) in[i] = mapped(b, n->in[i]);
  own.in = in;
  b->made[n->uid] = td_stp_graph_add(b->h, &own, b->e->r->diag);
  b->failed = !b->made[n->uid];
}

const TdStpGraph *td_stp_edit_end(TdStpEdit *e) {
  TdStpRewrite *r = e->r;
  TdStpGraph *h = td_stp_graph_new(r->store->arena, r->g->session, r->g->exprs);
  Builder b = {.e = e, .h = h};
  b.made = TD_NEWN(r->arena, const TdStpNode *, e->by_uid.n + 1);
  b.open = TD_NEWN(r->arena, bool, e->by_uid.n + 1);
  h->before = r->g;
  h->nroute = r->g->nroute;
  h->nfresh = r->g->nfresh;
  h->ntensor = r->g->ntensor;
  for (size_t i = 0; i < e->node.n; i++)
    if (e->node.at[i]) build(&b, e->node.at[i]);
  for (size_t i = 0; i < e->node.n && !b.failed; i++) {
    const TdStpNode *n = e->node.at[i];
    if (!n || n->op != TD_STP_FEEDBACK || !n->nin) continue;
    b.failed |= !td_stp_graph_close(h, b.made[n->uid]->uid, mapped(&b, n->in[0]), n->loc, r->diag);
  }
  for (size_t i = 0; i < e->output.n && !b.failed; i++)
    td_vec_push(h->arena, &h->output, mapped(&b, e->output.at[i]));
  h->before = NULL;
  return !b.failed && td_stp_graph_finish(h, r->diag) ? h : NULL;
}

/* Whether a size stands in the type of some tensor. */
static bool has_size(const TdStpEdit *e, const TdSubst *u) {
  for (size_t i = 0; i < e->node.n; i++) {
    const TdType *t = e->node.at[i]->tensor.type;
    if (t && td_subst_in_type(u, t) != t) return true;
  }
  return false;
}

const TdStpGraph *td_stp_edit_at_sizes(TdStpRewrite *r, const TdSize *size, size_t n) {
  TdStpEdit e = td_stp_edit_new(r);
  TdSubst all = td_subst_new(r->store);
  for (size_t i = 0; i < n; i++) {
    if (size[i].value < 0) {
      td_stp_rewrite_refuse(r, TD_USAGE, "step-size", (TdLoc){0},
                            "a size is not negative: %s = %lld", size[i].name,
                            (long long)size[i].value);
      return NULL;
    }
    TdSubst one = td_subst_new(r->store);
    const TdExpr *v = td_expr_index(r->g->session, r->store->arena, size[i].value, (TdLoc){0});
    td_subst_size(&one, size[i].name, v);
    td_subst_size(&all, size[i].name, v);
    if (has_size(&e, &one)) continue;
    td_stp_rewrite_refuse(r, TD_USAGE, "step-size", (TdLoc){0}, "no tensor of the graph has '%s'",
                          size[i].name);
    return NULL;
  }
  for (size_t i = 0; i < e.node.n; i++) {
    TdStpNode *x = e.node.at[i];
    if (x->tensor.type) x->tensor.type = td_subst_in_type(&all, x->tensor.type);
    bool whole = false;
    for (int k = 0; x->op == TD_STP_LOAD && k < x->nshape; k++) whole |= x->shape[k] < 0;
    if (whole) x->has_shape = false, x->nshape = 0;
  }
  return td_stp_edit_end(&e);
}

const TdStpGraph *td_stp_edit_each(TdStpRewrite *r, const char *text, TdStpChange *change) {
  const TdStpNode *const *node;
  size_t n = td_stp_rewrite_family(r, text, &node);
  if (!n) return NULL;
  TdStpEdit e = td_stp_edit_new(r);
  for (size_t i = 0; i < n; i++)
    if (!change(r, &e, node[i])) return NULL;
  return td_stp_edit_end(&e);
}

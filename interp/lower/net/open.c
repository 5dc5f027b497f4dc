/* open.c - calls by which tasks hand on more of an argument or of an array of streams than the
 * callee touches, such as an outlined loop leaves: the callee's body takes the place of the call,
 * where the ids of the task tell what each instance touches. */
#include "lower/net/net.h"

/* A kernel of a task whose calls are opened. */
typedef struct Open {
  TdNet *n;
  const TdUnit *unit;
  TdSym sym;          /* what a call hands on: a stream, or a parameter of the unit */
  const TdStmt *call; /* one that can be opened; NULL: none is left */
  TD_VEC(const TdStmt *) data;
} Open;

/* Statements at the start of a body that declare constants; -1: there is state among them. */
static int constants(const TdStmt *body) {
  int n = 0;
  for (; n < (int)body->nkid && body->kid[n]->kind == TD_STMT_LOCAL; n++) {
    if (body->kid[n]->cls == TD_LOCAL_STATE) return -1;
    if (body->kid[n]->cls != TD_LOCAL_CONST) break;
  }
  return n;
}

/* Looks for a call that hands on the symbol to a kernel whose body can take its place. */
static bool find_call(void *ud, const TdStmt *s) {
  Open *o = ud;
  if (s->kind != TD_STMT_CALL) return true;
  const TdUnit *f = td_prog_unit(o->n->prog, s->sym);
  if (f->kind != TD_UNIT_KERNEL || !f->body || constants(f->body) < 0) return true;
  for (uint32_t i = 0; i < s->nexpr; i++)
    if (s->expr[i]->sym == o->sym && s->expr[i]->kind == TD_EXPR_VIEW &&
        td_net_return_straight(o->n->store, f->body))
      o->call = s;
  return !o->call;
}

/* Binds the sizes that are whole extents of a parameter to those of its argument. */
static void bind_sizes(TdSubst *sub, const TdType *t, const TdType *arg) {
  if (t->kind != TD_T_TENSOR && t->kind != TD_T_PORT) return;
  for (int d = 0; d < t->rank; d++)
    if (t->dim[d]->kind == TD_EXPR_SIZE && !td_map_getp(&sub->size, t->dim[d]->u.name))
      td_subst_size(sub, t->dim[d]->u.name, arg->dim[d]);
  bind_sizes(sub, t->elem, arg->elem);
}

/* A scalar argument for the callee's body: what is read from memory is read once, before. */
static const TdExpr *scalar(Open *o, const TdParam *x, const TdExpr *arg, const TdStmt **before) {
  TdStore *st = o->n->store;
  TdSym v = td_store_sym(st, x->sym->name, TD_SYM_LOCAL);
  *before = td_stmt_local(st, v, x->type, TD_INIT_VALUE, arg, arg->loc);
  return td_expr_load(st->arena, v, x->type, NULL, 0, arg->loc);
}

static bool is_no_load(void *ud, const TdExpr *e) {
  (void)ud;
  return e->kind != TD_EXPR_LOAD;
}

/* What takes the place of the call; the callee's constants join those of the unit. */
static const TdStmt *expand(Open *o) {
  TdStore *st = o->n->store;
  const TdStmt *call = o->call;
  const TdUnit *f = td_prog_unit(o->n->prog, call->sym);
  TdSubst sub = td_subst_new(st);
  TD_VEC(const TdStmt *) all = {0};
  for (size_t i = 0; i < f->nparam; i++) bind_sizes(&sub, f->param[i].type, call->expr[i]->type);
  for (size_t i = 0; i < f->nsize; i++)
    if (f->size[i].known && !td_map_getp(&sub.size, f->size[i].name))
      td_subst_size(&sub, f->size[i].name,
                    td_expr_index(st->session, st->arena, f->size[i].value, call->loc));
  for (size_t i = 0; i < f->nparam; i++) {
    const TdExpr *arg = call->expr[i];
    const TdStmt *before = NULL;
    if (arg->kind == TD_EXPR_VIEW) {
      td_subst_view(&sub, f->param[i].sym, arg);
      continue;
    }
    if (!td_walk_expr(arg, is_no_load, NULL)) arg = scalar(o, &f->param[i], arg, &before);
    if (before) td_vec_push(o->n->arena, &all, before);
    td_subst_expr(&sub, f->param[i].sym, arg);
  }
  const TdStmt *body = td_net_return_straight(st, f->body);
  body = td_walk_copy(st, body, &sub);
  uint32_t first = (uint32_t)constants(body);
  for (uint32_t i = 0; i < first; i++) td_vec_push(o->n->arena, &o->data, body->kid[i]);
  for (uint32_t i = first; i < body->nkid; i++) td_vec_push(o->n->arena, &all, body->kid[i]);
  return td_stmt_block(st, all.at, all.n, call->loc);
}

/* Opens the calls of a task's kernel that hand on a symbol. */
static void open_calls(TdNet *n, TdSym unit, TdSym sym) {
  enum { MOST = 64 };
  Open o = {.n = n, .unit = td_prog_unit(n->prog, unit), .sym = sym};
  for (int k = 0; k < MOST; k++) {
    o.call = NULL;
    td_walk_stmt(n->store->session->ctx, o.unit->body, find_call, &o);
    if (!o.call) break;
    const TdStmt *with = expand(&o);
    const TdStmt *body = td_edit_replace(n->store, o.unit->body, o.call->uid, &with, 1);
    o.unit = td_unit_with_body(n->store, o.unit, body);
  }
  if (o.data.n) {
    const TdStmt *body = o.unit->body;
    for (uint32_t i = 0; i < body->nkid; i++) td_vec_push(n->arena, &o.data, body->kid[i]);
    o.unit =
        td_unit_with_body(n->store, o.unit, td_stmt_with_kids(n->store, body, o.data.at, o.data.n));
  }
  n->prog = td_prog_with(n->prog, o.unit);
}

void td_net_open(TdNet *n) {
  const TdUnit *d = n->design;
  for (size_t r = 0; r < d->nrun; r++) {
    const TdRun *run = &d->run[r];
    for (size_t i = 0; i < d->nstream; i++)
      if (td_net_is_closer(n, d->stream[i].sym)) open_calls(n, run->unit, d->stream[i].sym);
    for (size_t i = 0; i < run->nbind; i++)
      if (td_net_is_closer(n, run->bind[i].arg)) open_calls(n, run->unit, run->bind[i].param);
  }
}

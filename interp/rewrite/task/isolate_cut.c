/* isolate_cut.c - two tasks from one. The new one keeps the loops and conditions around what moves,
 * of all that is in them that alone: what it does is a slice of the old task. */
#include "rewrite/task/isolate_cut.h"

static const TdStmt *kid(const TdCut *c, size_t i) {
  return c->block->kid[i];
}

/* Whether nothing in the design, or in a task of it, has that name. */
static bool is_free(const TdCut *c, const char *name) {
  TdRewrite *r = c->r;
  bool taken = td_edit_fresh_name(r->store, c->task, name) != name ||
               td_edit_fresh_name(r->store, c->design, name) != name;
  for (size_t i = 0; i < c->design->nrun && !taken; i++) {
    const TdUnit *u = td_prog_unit(r->prog, c->design->run[i].unit);
    taken = u && td_edit_fresh_name(r->store, u, name) != name;
  }
  return !taken;
}

TdStream td_cut_stream(const TdCut *c, const char *like, const TdType *port, TdLoc loc) {
  TdRewrite *r = c->r;
  const char *stem = td_names_str(r->session->names, like), *name = stem;
  for (int i = 1; !is_free(c, name); i++)
    name = td_names_str(r->session->names, td_text_fmt(r->arena, "%s_%d", stem, i));
  return (TdStream){.sym = td_store_sym(r->store, name, TD_SYM_STREAM),
                    .uid = td_store_uid(r->store),
                    .loc = loc,
                    .type = port,
                    .depth = td_util_const(r, c->depth)};
}

/* A stream at the instance that runs the task. */
static const TdExpr *stream_end(const TdCut *c, TdSym stream, TdLoc loc) {
  const TdExpr *index[TD_MAX_RANK];
  TdViewDim dim[TD_MAX_RANK];
  for (int d = 0; d < c->run->rank; d++) {
    index[d] = td_util_var(c->r, c->task->coord[d]);
    dim[d] = (TdViewDim){.step = 1, .out = -1};
  }
  const TdType *t = td_type_port(c->r->session, c->decl->type, 0, NULL, true);
  return td_expr_view(c->r->store->arena, stream, t, index, dim, c->run->rank, loc);
}

/* The statements of one end of a stream that come before and after the others. */
typedef struct End {
  const TdStmt *before[2], *after;
  size_t nbefore;
} End;

/* The end that fills a block called `sym`, or takes one. */
static End end_of(const TdCut *c, TdSym stream, TdSym sym, bool fills) {
  TdStore *st = c->r->store;
  TdLoc loc = c->decl->loc;
  const TdType *t = c->decl->type;
  const TdExpr *port = stream_end(c, stream, loc);
  const TdExpr *all = td_expr_whole(c->r->session, st->arena, sym, t, loc);
  End e = {.nbefore = 1};
  const TdStmt *s =
      fills ? td_stmt_slot(st, port, sym, t, loc) : td_stmt_get(st, port, sym, t, NULL, loc);
  e.before[0] = td_stmt_with_attrs(st, s, c->decl->attrs);
  if (fills) e.after = td_stmt_put(st, port, all, loc);
  return e;
}

/* The end that the local is a token of, with the value that it starts with. */
static End own_end(const TdCut *c, bool fills) {
  TdStore *st = c->r->store;
  TdLoc loc = c->decl->loc;
  End e = end_of(c, c->stream.sym, c->decl->sym, fills);
  const TdExpr *all = td_expr_whole(c->r->session, st->arena, c->decl->sym, c->decl->type, loc);
  if (fills && c->decl->init == TD_INIT_FILL)
    e.before[e.nbefore++] = td_stmt_set(st, all, c->decl->expr[0], loc);
  return e;
}

/* A name of the task for the block that goes the other way. */
static TdSym token_sym(const TdCut *c, const char *suffix) {
  const char *name = td_text_fmt(c->r->arena, "%s_%s", c->decl->sym->name, suffix);
  return td_store_sym(c->r->store, td_edit_fresh_name(c->r->store, c->task, name), TD_SYM_LOCAL);
}

/* Whether statement i of the block goes to the new task. */
static bool moves(const TdCut *c, size_t i) {
  return (i >= c->lo && i < c->hi) || (i >= c->back_lo && i < c->back_hi);
}

/* The ends in the old task of a local that it keeps: the token that fills it, which is copied to
 * it, comes in *in, and the local stays, or is the token that goes back, in *out. */
static void kept_ends(const TdCut *c, End *in, End *out) {
  TdStore *st = c->r->store;
  TdLoc loc = c->decl->loc;
  const TdType *t = c->decl->type;
  TdSym sym = c->decl->sym, token = token_sym(c, "in");
  const TdExpr *all = td_expr_whole(c->r->session, st->arena, sym, t, loc);
  const TdStmt *local = td_stmt_local(st, sym, t, TD_INIT_NONE, NULL, loc);
  *in = end_of(c, c->stream.sym, token, false);
  in->before[in->nbefore++] =
      td_stmt_set(st, all, td_expr_whole(c->r->session, st->arena, token, t, loc), loc);
  *out = (End){.before = {td_stmt_with_attrs(st, local, c->decl->attrs)}, .nbefore = 1};
  if (c->back_hi) *out = end_of(c, c->back.sym, sym, true);
}

const TdStmt *td_cut_old_block(const TdCut *c) {
  TdStore *st = c->r->store;
  End e, in = {.nbefore = 0};
  if (c->keep)
    kept_ends(c, &in, &e);
  else
    e = own_end(c, c->out);
  size_t done = c->keep ? c->back_lo : c->lo, n = 0;
  const TdStmt **list = TD_NEWN(st->arena, const TdStmt *, c->block->nkid + 5);
  for (size_t i = 0; i < c->block->nkid; i++) {
    for (size_t k = 0; i == c->at && k < e.nbefore; k++) list[n++] = e.before[k];
    for (size_t k = 0; i == c->use && k < in.nbefore; k++) list[n++] = in.before[k];
    if (i == done && e.after) list[n++] = e.after;
    if (i != c->at && !moves(c, i)) list[n++] = kid(c, i);
  }
  return td_stmt_with_kids(st, c->block, list, n);
}

/* The statements of the new task that take the block back, and what empties it; how many. */
static size_t take_back(const TdCut *c, const TdStmt **list) {
  TdSubst sub = td_subst_new(c->r->store);
  TdSym token = token_sym(c, "back");
  size_t n = 0;
  if (!c->back_hi) return 0;
  td_subst_sym(&sub, c->decl->sym, token);
  list[n++] = end_of(c, c->back.sym, token, false).before[0];
  for (size_t i = c->back_lo; i < c->back_hi; i++) list[n++] = td_subst_in_stmt(&sub, kid(c, i));
  return n;
}

const TdStmt *td_cut_new_block(const TdCut *c) {
  End e = own_end(c, !c->out);
  size_t n = 0, most = c->hi - c->lo + c->back_hi - c->back_lo + 4;
  const TdStmt **list = TD_NEWN(c->r->store->arena, const TdStmt *, most);
  for (size_t k = 0; k < e.nbefore; k++) list[n++] = e.before[k];
  for (size_t i = c->lo; i < c->hi; i++) list[n++] = kid(c, i);
  if (e.after) list[n++] = e.after;
  n += take_back(c, list + n);
  return td_stmt_with_kids(c->r->store, c->block, list, n);
}

/* A block under the loops and conditions around the last statement of path, of which alone it is
 * what they hold. */
static const TdStmt *surround(const TdCut *c, const TdStmt *s) {
  TdStore *st = c->r->store;
  for (size_t i = c->path.n - 1; i-- > 0;) {
    const TdStmt *up = c->path.at[i], *arm[2];
    if (up->kind == TD_STMT_BLOCK) {
      s = td_stmt_with_kids(st, up, &s, 1);
      continue;
    }
    for (uint32_t k = 0; k < up->nkid; k++)
      arm[k] = up->kid[k]->uid == c->path.at[i + 1]->uid ? s : td_stmt_block(st, NULL, 0, up->loc);
    s = td_stmt_with_kids(st, up, arm, up->nkid);
  }
  return s;
}

bool td_cut_lift(const TdCut *c, const TdStmt *block, TdSym after, const char *suffix,
                 TdLifted *out) {
  TdRewrite *r = c->r;
  const char *own = td_text_fmt(r->arena, "%s_%s", after->name, suffix);
  const TdStmt *all = surround(c, block);
  TdSubst sub = td_subst_new(r->store);
  TdSym *coord = TD_NEWN(r->store->arena, TdSym, c->task->ncoord + 1);
  for (size_t d = 0; d < c->task->ncoord; d++) {
    coord[d] = td_store_sym(r->store, c->task->coord[d]->name, TD_SYM_COORD);
    td_subst_expr(&sub, c->task->coord[d], td_util_var(r, coord[d]));
  }
  all = td_walk_copy(r->store, all, &sub);
  const char *name = td_lift_unit_name(r, r->prog, c->name ? c->name : own);
  TdTaskIds ids = {coord, c->task->ncoord};
  return td_lift_task(r, c->task, all->kid, all->nkid, name, ids, out);
}

/* The mark of a task on the host, or in the row of the memories: a column an id of the first axis.
 */
static TdAttrs marks(const TdCut *c) {
  TdArena *a = c->r->store->arena;
  TdAttrs none = {0};
  int64_t step[2 * TD_MAX_RANK] = {1};
  if (c->device) return none;
  if (!c->mem) return td_attrs_add(a, none, (TdAttr){.kind = TD_ATTR_HOST});
  TdAttr x = {.kind = TD_ATTR_PLACE, .arg = {{.i = 0}, {.i = 1}}};
  x.arg[2].ints = td_attr_ints(a, step, 2 * c->run->rank);
  return td_attrs_add(a, none, x);
}

static const TdRunArg *bind_of(const TdCut *c, TdSym param) {
  const TdRunArg *b = c->run->bind;
  while (b->param != param) b++;
  return b;
}

/* The run of the new task. */
static TdRun new_run(const TdCut *c, const TdLifted *l) {
  TdStore *st = c->r->store;
  TdRunArg *bind = TD_NEWN(st->arena, TdRunArg, l->unit->nparam);
  TdRun run = *c->run;
  for (size_t i = 0; i < l->unit->nparam; i++) {
    bind[i] = *bind_of(c, l->was[i]);
    bind[i].param = l->unit->param[i].sym;
  }
  run.sym = td_store_sym(st, l->unit->sym->name, TD_SYM_RUN);
  run.unit = l->unit->sym;
  run.uid = td_store_uid(st);
  run.bind = bind;
  run.nbind = l->unit->nparam;
  run.attrs = marks(c);
  return run;
}

/* The old task with another body and without the parameters that it no longer uses. */
static const TdUnit *old_task(const TdCut *c, const TdStmt *body) {
  TdRewrite *r = c->r;
  TdUnit *u = td_unit_copy(r->store, td_unit_with_body(r->store, c->task, body));
  TdParam *param = TD_NEWN(r->store->arena, TdParam, u->nparam);
  size_t n = 0;
  for (size_t i = 0; i < c->task->nparam; i++)
    if (td_walk_uses(r->session->ctx, body, c->task->param[i].sym) ||
        !td_walk_uses(r->session->ctx, c->task->body, c->task->param[i].sym))
      param[n++] = c->task->param[i];
  u->param = param;
  u->nparam = n;
  return td_lift_tidy(r, u);
}

static TdRun old_run(const TdCut *c, const TdUnit *task) {
  TdRun run = *c->run;
  TdRunArg *bind = TD_NEWN(c->r->store->arena, TdRunArg, task->nparam);
  for (size_t i = 0; i < task->nparam; i++) bind[i] = *bind_of(c, task->param[i].sym);
  run.bind = bind;
  run.nbind = task->nparam;
  return run;
}

const TdProg *td_cut_put(const TdCut *c, const TdStmt *body, const TdLifted *l, bool behind) {
  const TdUnit *task = old_task(c, body);
  TdArena *a = c->r->store->arena;
  TdUnit *d = td_unit_copy(c->r->store, c->design);
  TdStream *stream = TD_NEWN(a, TdStream, d->nstream + 2);
  TdRun *run = TD_NEWN(a, TdRun, d->nrun + 1);
  size_t n = 0;
  for (size_t i = 0; i < d->nstream; i++) stream[i] = d->stream[i];
  stream[d->nstream++] = c->stream;
  if (c->back_hi) stream[d->nstream++] = c->back;
  for (size_t i = 0; i < c->design->nrun; i++) {
    bool here = &c->design->run[i] == c->run;
    if (here && !behind) run[n++] = new_run(c, l);
    run[n++] = here ? old_run(c, task) : c->design->run[i];
    if (here && behind) run[n++] = new_run(c, l);
  }
  d->stream = stream;
  d->run = run;
  d->nrun = n;
  td_util_made(c->r, l->unit->sym->name);
  td_util_made(c->r, c->stream.sym->name);
  if (c->back_hi) td_util_made(c->r, c->back.sym->name);
  const TdProg *p = td_prog_insert(c->r->prog, l->unit, c->task->sym);
  p = td_prog_with(td_prog_with(p, task), td_lift_tidy(c->r, d));
  return td_lift_in_order(c->r, p);
}

void td_cut_name_ids(TdCut *c) {
  TdRewrite *r = c->r;
  if (c->task->ncoord == c->run->rank) return;
  TdUnit *u = td_unit_copy(r->store, c->task);
  TdSym *coord = TD_NEWN(r->store->arena, TdSym, c->run->rank);
  for (int d = 0; d < c->run->rank; d++) {
    const char *name = td_text_fmt(r->arena, "id_%d", d);
    coord[d] = td_store_sym(r->store, td_edit_fresh_name(r->store, u, name), TD_SYM_COORD);
  }
  u->coord = coord;
  u->ncoord = c->run->rank;
  c->task = u;
}

/* coalesce_tasks.c - the tasks that coalesce makes: one on the host, whose blocks are those of
 * several instances, and one in the row of the memories for each of its streams. */
#include "rewrite/task/coalesce.h"

bool td_coalesce_is_end(const TdCoalesceMove *m, const TdStmt *s) {
  return s == m->take || s->kind == TD_STMT_PUT;
}

int td_coalesce_cut_dim(const TdCoalesce *c, TdSym param) {
  const TdRunArg *b = c->run->bind;
  const TdParam *p = td_unit_param(c->kernel, param);
  if (!p || td_type_is_scalar(p->type)) return -1;
  while (b->param != param) b++;
  for (int d = 0; b->layout && d < p->type->rank; d++)
    if (td_mapping_axis(b->layout, d) == c->axis) return d;
  return -1;
}

/* ---- the task on the host ---- */

/* How elements of arguments and of the block are named where several instances are one. */
typedef struct Wider {
  const TdCoalesce *c;
  const TdCoalesceMove *m;
  TdSym place, block; /* the loop over the instances; the block of them all */
} Wider;

/* e, a load or view of an array, with one more index in front; or with an index moved to the part
 * of an instance. */
static const TdExpr *widen(void *ud, const TdExpr *e) {
  const Wider *w = ud;
  const TdCoalesce *c = w->c;
  TdRewrite *r = c->r;
  TdArena *a = r->store->arena;
  const TdExpr *kid[TD_MAX_RANK + 1];
  TdViewDim dim[TD_MAX_RANK + 1];
  if (e->kind != TD_EXPR_LOAD && e->kind != TD_EXPR_VIEW) return e;
  bool block = e->sym == w->m->take->sym;
  int at = block ? -1 : td_coalesce_cut_dim(c, e->sym);
  if (!block && at < 0) return e;
  for (uint32_t d = 0; d < e->nkid; d++) {
    kid[d + block] = e->kid[d];
    if (e->kind == TD_EXPR_VIEW) dim[d + block] = e->u.dim[d];
  }
  if (block) {
    kid[0] = td_util_var(r, w->place);
    dim[0] = (TdViewDim){.step = 1, .out = -1};
  } else {
    const TdExpr *whole = td_unit_param(c->kernel, e->sym)->type->dim[at];
    int64_t extent = td_mapping_block(&c->m, c->kernel, whole, c->design);
    kid[at] = td_lin_plus(r->session, a, kid[at],
                          td_lin_times(r->session, a, td_util_var(r, w->place), extent));
  }
  TdSym sym = block ? w->block : e->sym;
  int n = (int)e->nkid + block;
  return e->kind == TD_EXPR_LOAD ? td_expr_load(a, sym, e->type, kid, n, e->loc)
                                 : td_expr_view(a, sym, e->type, kid, dim, n, e->loc);
}

/* The id of an instance, of which `place` counts those of its group. */
static const TdExpr *instance(const TdCoalesce *c, TdSym place) {
  TdRewrite *r = c->r;
  TdArena *a = r->store->arena;
  const TdExpr *at = td_util_var(r, place);
  if (c->groups == 1) return at;
  return td_lin_plus(r->session, a, at,
                     td_lin_times(r->session, a, td_util_var(r, c->coord), c->n));
}

/* Whether ids along axis d are left. */
static bool stays(const TdCoalesce *c, int d) {
  return d != c->axis || c->groups > 1;
}

/* The ids that are left, of those of a kernel. */
static void keep_ids(const TdCoalesce *c, TdUnit *u) {
  TdSym *coord = TD_NEWN(c->r->store->arena, TdSym, u->ncoord + 1);
  u->ncoord = 0;
  for (size_t d = 0; d < c->kernel->ncoord; d++)
    if (stays(c, (int)d)) coord[u->ncoord++] = c->kernel->coord[d];
  u->coord = coord;
}

int td_coalesce_keep_map(const TdCoalesce *c, const TdExpr **map) {
  int n = 0;
  for (int d = 0; d < c->run->rank; d++)
    if (stays(c, d)) map[n++] = d == c->axis ? td_util_const(c->r, c->groups) : c->run->map[d];
  return n;
}

/* The new stream of a way by the ids that are left. */
static const TdExpr *new_end(const TdCoalesce *c, const TdCoalesceWay *w, TdLoc loc) {
  const TdExpr *index[TD_MAX_RANK];
  TdViewDim dim[TD_MAX_RANK];
  int n = 0;
  for (int d = 0; d < c->run->rank; d++) {
    if (!stays(c, d)) continue;
    index[n] = td_util_var(c->r, c->kernel->coord[d]);
    dim[n++] = (TdViewDim){.step = 1, .out = -1};
  }
  const TdType *t = td_type_port(c->r->session, w->now.type->elem, 0, NULL, true);
  return td_expr_view(c->r->store->arena, w->now.sym, t, index, dim, n, loc);
}

/* The loop over the instances along the axis. */
static const TdStmt *each(const TdCoalesce *c, TdSym place, const TdStmt *const *s, size_t n,
                          TdLoc loc) {
  TdStore *st = c->r->store;
  return td_stmt_for(st, place, td_util_const(c->r, 0), td_util_const(c->r, c->n), 1,
                     td_stmt_block(st, s, n, loc), loc);
}

/* A list of statements that grows. */
typedef struct List {
  TdArena *arena;
  TD_VEC(const TdStmt *) at;
} List;

static void list_add(List *l, const TdStmt *s) {
  td_vec_push(l->arena, &l->at, s);
}

/* Adds one move of the host's task: what was done for one block is done for each part of the new.
 */
static void add_host_move(const TdCoalesce *c, const TdCoalesceMove *m, List *out) {
  TdRewrite *r = c->r;
  TdStore *st = r->store;
  TdLoc loc = m->take->loc;
  const TdCoalesceWay *way = &c->way.at[m->way];
  const TdType *t = way->now.type->elem;
  TdSym own = m->take->sym;
  Wider w = {c, m, td_store_sym(st, c->coord->name, TD_SYM_LOOP),
             way->same ? own : td_store_sym(st, own->name, TD_SYM_LOCAL)};
  List body = {.arena = r->arena};
  TdSubst sub = td_subst_new(st);
  td_subst_expr(&sub, c->coord, instance(c, w.place));
  for (size_t i = m->lo; i < m->hi; i++) {
    const TdStmt *s = c->cut.block->kid[i];
    if (td_coalesce_is_end(m, s)) continue;
    if (!way->same) s = td_subst_in_stmt(&sub, td_walk_map(st, s, widen, &w));
    list_add(&body, s);
  }
  const TdExpr *end = new_end(c, way, loc);
  list_add(out, way->out ? td_stmt_get(st, end, w.block, t, NULL, loc)
                         : td_stmt_slot(st, end, w.block, t, loc));
  for (size_t i = 0; way->same && i < body.at.n; i++) list_add(out, body.at.at[i]);
  if (!way->same) list_add(out, each(c, w.place, body.at.at, body.at.n, loc));
  if (way->out) return;
  end = new_end(c, way, loc);
  list_add(out, td_stmt_put(st, end, td_expr_whole(r->session, st->arena, w.block, t, loc), loc));
}

/* The block of the host's task. */
static const TdStmt *host_block(const TdCoalesce *c) {
  List all = {.arena = c->r->arena};
  for (size_t i = 0; i < c->move.n; i++) add_host_move(c, &c->move.at[i], &all);
  return td_stmt_with_kids(c->r->store, c->cut.block, all.at.at, all.at.n);
}

const TdUnit *td_coalesce_host_kernel(const TdCoalesce *c) {
  TdRewrite *r = c->r;
  TdArena *a = r->store->arena;
  const TdStmt *now = host_block(c), *body = c->kernel->body;
  body = c->cut.block == body ? now : td_edit_replace(r->store, body, c->cut.block->uid, &now, 1);
  TdUnit *u = td_unit_copy(r->store, td_unit_with_body(r->store, c->kernel, body));
  TdParam *param = td_arena_copy(a, u->param, u->nparam * sizeof *param);
  for (size_t i = 0; i < u->nparam; i++) {
    int at = td_coalesce_cut_dim(c, param[i].sym);
    const TdExpr *dim[TD_MAX_RANK];
    const TdType *t = param[i].type;
    if (at < 0) continue;
    for (int d = 0; d < t->rank; d++)
      dim[d] = d == at ? td_lin_times(r->session, a, t->dim[d], c->n) : t->dim[d];
    param[i].type = td_type_tensor(r->session, t->elem, t->rank, dim);
  }
  keep_ids(c, u);
  u->param = param;
  return td_lift_tidy(r, u);
}

/* A layout without the axis, if it goes: what it cut is whole, axes behind it move up. */
static const char *layout_of(const TdCoalesce *c, const char *layout, int rank) {
  TdText t = td_text_new(c->r->store->arena);
  if (!layout) return NULL;
  for (int d = 0; d < rank; d++) {
    int axis = td_mapping_axis(layout, d);
    if (axis < 0 || !stays(c, axis))
      td_text_putc(&t, 'R');
    else
      td_text_putf(&t, "S%d", axis > c->axis && !stays(c, c->axis) ? axis - 1 : axis);
  }
  return td_names_str(c->r->session->names, td_text_str(&t));
}

TdRun td_coalesce_host_run(const TdCoalesce *c) {
  TdRun run = *c->run;
  TdRunArg *bind = td_arena_copy(c->r->store->arena, run.bind, run.nbind * sizeof *bind);
  run.rank = (uint8_t)td_coalesce_keep_map(c, run.map);
  for (size_t i = 0; i < run.nbind; i++) {
    const TdType *t = td_unit_param(c->kernel, bind[i].param)->type;
    bind[i].layout = layout_of(c, bind[i].layout, t->rank);
    if (!run.rank) bind[i].layout = NULL;
  }
  run.bind = bind;
  return run;
}

/* ---- the task in the row of the memories ---- */

/* A block as a whole, or part `place` of one of several. */
static const TdExpr *part(const TdCoalesce *c, const TdCoalesceWay *w, TdSym block, TdSym place,
                          TdLoc loc) {
  TdArena *a = c->r->store->arena;
  const TdType *t = w->now.type->elem;
  const TdExpr *lo[TD_MAX_RANK + 1];
  TdViewDim dim[TD_MAX_RANK + 1];
  if (w->same) return td_expr_whole(c->r->session, a, block, t, loc);
  lo[0] = td_util_var(c->r, place);
  dim[0] = (TdViewDim){.step = 1, .out = -1};
  for (int d = 1; d < t->rank; d++) {
    lo[d] = td_util_const(c->r, 0);
    dim[d] = (TdViewDim){.step = 1, .out = d - 1};
  }
  return td_expr_view(a, block, w->was->type->elem, lo, dim, t->rank, loc);
}

/* Adds what the task in the row of the memories does with one block, that in `all`. The stream of
 * the instances is `hidden`. */
static void add_memory_move(const TdCoalesce *c, const TdCoalesceMove *m, TdSym hidden, TdSym all,
                            List *out) {
  TdRewrite *r = c->r;
  TdStore *st = r->store;
  TdLoc loc = m->take->loc;
  const TdCoalesceWay *w = &c->way.at[m->way];
  const TdType *t = w->now.type->elem, *one = w->was->type->elem;
  TdSym place = td_store_sym(st, c->coord->name, TD_SYM_LOOP),
        own = td_store_sym(st, m->take->sym->name, TD_SYM_LOCAL);
  TdSubst hide = td_subst_new(st);
  td_subst_sym(&hide, w->was->sym, hidden);
  td_subst_expr(&hide, c->coord, instance(c, place));
  const TdExpr *port = td_subst_in_expr(&hide, m->take->expr[0]), *next = new_end(c, w, loc);
  const TdExpr *whole = td_expr_whole(r->session, st->arena, own, one, loc);
  const TdExpr *piece = part(c, w, all, place, loc);
  List in = {.arena = r->arena};
  list_add(&in, w->out ? td_stmt_get(st, port, own, one, NULL, loc)
                       : td_stmt_slot(st, port, own, one, loc));
  list_add(&in, w->out ? td_stmt_set(st, piece, whole, loc) : td_stmt_set(st, whole, piece, loc));
  if (!w->out) list_add(&in, td_stmt_put(st, port, whole, loc));
  list_add(out,
           w->out ? td_stmt_slot(st, next, all, t, loc) : td_stmt_get(st, next, all, t, NULL, loc));
  list_add(out, each(c, place, in.at.at, in.at.n, loc));
  if (w->out)
    list_add(out, td_stmt_put(st, next, td_expr_whole(r->session, st->arena, all, t, loc), loc));
}

bool td_coalesce_memory_task(const TdCoalesce *c, size_t way, TdLifted *out) {
  TdStore *st = c->r->store;
  TdUnit *u = td_unit_copy(st, c->kernel);
  List s = {.arena = c->r->arena};
  TdSym was = c->way.at[way].was->sym, hidden = td_store_sym(st, was->name, TD_SYM_STREAM);
  TdSubst show = td_subst_new(st);
  td_subst_sym(&show, hidden, was);
  for (size_t i = 0; i < c->move.n; i++) {
    const char *name = s.at.n ? td_text_fmt(c->r->arena, "all_%zu", i) : "all";
    TdSym all = td_store_sym(st, td_edit_fresh_name(st, c->kernel, name), TD_SYM_LOCAL);
    if (c->move.at[i].way == way) add_memory_move(c, &c->move.at[i], hidden, all, &s);
  }
  keep_ids(c, u);
  TdCut cut = c->cut;
  cut.task = u;
  const char *suffix = way ? td_text_fmt(c->r->arena, "mem_%zu", way) : "mem";
  const TdStmt *block = td_stmt_with_kids(st, c->cut.block, s.at.at, s.at.n);
  if (!td_cut_lift(&cut, block, c->run->sym, suffix, out)) return false;
  out->unit = td_unit_with_body(st, out->unit, td_subst_in_stmt(&show, out->unit->body));
  return true;
}

TdRun td_coalesce_memory_run(const TdCoalesce *c, const TdLifted *l) {
  TdStore *st = c->r->store;
  TdRun run = td_coalesce_host_run(c);
  TdAttrs none = {0};
  int64_t step[2 * TD_MAX_RANK] = {1};
  TdAttr mark = {.kind = TD_ATTR_PLACE, .arg = {{.i = 0}, {.i = 1}}};
  mark.arg[2].ints = td_attr_ints(st->arena, step, 2 * (size_t)run.rank);
  run.sym = td_store_sym(st, l->unit->sym->name, TD_SYM_RUN);
  run.unit = l->unit->sym;
  run.uid = td_store_uid(st);
  run.bind = NULL;
  run.nbind = 0;
  run.attrs = td_attrs_add(st->arena, none, mark);
  return run;
}

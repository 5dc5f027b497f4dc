/* coalesce.c - coalesce: the instances of a task on the host that lie along an axis become one, or
 * groups of neighbours do, whose blocks a task in the row of the memories hands out, or joins.
 *
 * Where all of them move the same blocks, one of each is sent and goes to all (a multicast). Where
 * each moves its own, the block of them all is sent, of one more dimension, and its parts go to
 * each, or come from each. */
#include "analysis/order/effects.h"
#include "rewrite/task/isolate_cut.h"

enum { TASK, AXIS, FACTOR };

typedef struct Coalesce {
  TdRewrite *r;
  TdMapping m;
  TdCut cut;      /* the kernel on the host, where it moves a block; the new stream */
  TdUnit *design; /* a copy, which gets what the step takes of the sizes */
  const TdRun *run;
  const TdUnit *kernel;
  int axis;
  int64_t n;      /* instances along it that become one */
  int64_t groups; /* of so many; 1: the axis goes */
  TdSym coord;    /* that counts instances, then groups */
  const TdStream *was;
  const TdStmt *move; /* the slot, or the get */
  bool out, same;
} Coalesce;

static const TdProg *refuse(const Coalesce *c, TdDiagKind kind, const char *code, TdLoc loc,
                            const char *why) {
  return td_util_refuse(c->r, kind, code, loc, "'%s' %s", c->run->sym->name, why);
}

/* ---- what the task does ---- */

/* A search for the statements that move blocks. */
typedef struct Ends {
  const TdStmt *take;
  size_t takes, puts;
} Ends;

static bool look_end(void *ud, const TdStmt *s) {
  Ends *e = ud;
  bool take = s->kind == TD_STMT_SLOT || s->kind == TD_STMT_GET;
  if (take) e->take = s, e->takes++;
  e->puts += s->kind == TD_STMT_PUT;
  return true;
}

/* Whether a stream is named by the ids in their order. */
static bool is_own(const Coalesce *c, const TdExpr *stream) {
  bool own = stream->kind == TD_EXPR_VIEW && stream->nkid == c->run->rank;
  for (uint32_t d = 0; own && d < stream->nkid; d++)
    own = stream->kid[d]->kind == TD_EXPR_VAR && stream->kid[d]->sym == c->kernel->coord[d];
  return own;
}

/* Finds the one block that the task moves, and the loops around it. */
static bool find_move(Coalesce *c) {
  Ends e = {0};
  td_walk_stmt(c->r->session->ctx, c->kernel->body, look_end, &e);
  c->move = e.take;
  c->out = e.take && e.take->kind == TD_STMT_GET;
  bool one =
      e.takes == 1 && e.puts == (c->out ? 0 : 1) && e.take->sym && is_own(c, e.take->expr[0]);
  c->was = one ? td_unit_stream(c->m.design, e.take->expr[0]->sym) : NULL;
  if (!c->was || !c->was->type->block || c->was->type->rank != c->run->rank) {
    refuse(c, TD_ILLEGAL, "not-a-copy", c->run->loc,
           "does not move one block at a time, by one stream for each instance");
    td_diag_help(c->r->diag, "isolate makes tasks that do");
    return false;
  }
  TdPath p = td_edit_path(c->r->arena, c->kernel->body, e.take->uid);
  c->cut.path = (TdPath){p.at, p.n - 1};
  c->cut.block = p.at[p.n - 2];
  return true;
}

static bool is_move(const Coalesce *c, const TdStmt *s) {
  return s == c->move || (s->kind == TD_STMT_PUT && !c->out);
}

/* An argument's dimension that the layout cuts along the axis; -1: none. */
static int cut_dim(const Coalesce *c, TdSym param) {
  const TdRunArg *b = c->run->bind;
  const TdParam *p = td_unit_param(c->kernel, param);
  if (!p || td_type_is_scalar(p->type)) return -1;
  while (b->param != param) b++;
  for (int d = 0; b->layout && d < p->type->rank; d++)
    if (td_mapping_axis(b->layout, d) == c->axis) return d;
  return -1;
}

/* Whether all instances along the axis move the same. */
static bool is_same(const Coalesce *c) {
  for (size_t i = 0; i < c->kernel->nparam; i++)
    if (cut_dim(c, c->kernel->param[i].sym) >= 0) return false;
  for (uint32_t i = 0; i < c->cut.block->nkid; i++) {
    const TdStmt *s = c->cut.block->kid[i];
    if (!is_move(c, s) && td_walk_uses(c->r->session->ctx, s, c->coord)) return false;
  }
  return true;
}

/* Whether s, but for statement `but` below it, names a symbol. */
static bool names(const Coalesce *c, const TdStmt *s, const TdStmt *but, TdSym sym) {
  for (uint32_t i = 0; i < s->nexpr; i++)
    if (td_walk_uses_expr(s->expr[i], sym)) return true;
  for (uint32_t i = 0; i < s->nkid; i++)
    if (s->kid[i] != but && td_walk_uses(c->r->session->ctx, s->kid[i], sym)) return true;
  return false;
}

/* Whether what s does, but for statement `but`, is not what another instance would do. */
static bool differs(const Coalesce *c, const TdStmt *s, const TdStmt *but) {
  if (names(c, s, but, c->coord)) return true;
  for (size_t k = 0; k < c->kernel->nparam; k++) {
    TdSym arg = c->kernel->param[k].sym;
    if (cut_dim(c, arg) >= 0 && names(c, s, but, arg)) return true;
  }
  return false;
}

/* Whether only the block of the move differs from instance to instance, and leaves no trace: what
 * is around it is done once for all of them. */
static bool check_around(const Coalesce *c) {
  for (size_t i = 0; i + 1 < c->cut.path.n; i++) {
    if (!differs(c, c->cut.path.at[i], c->cut.path.at[i + 1])) continue;
    refuse(c, TD_ILLEGAL, "access", c->cut.path.at[i]->loc,
           "does more in each instance than move a block");
    td_diag_help(c->r->diag, "say it in the statements next to the block's");
    return false;
  }
  TdAsk q = td_util_ask(c->r, c->kernel);
  const TdEffect *e;
  size_t n = c->same ? 0 : td_effects_of(&q, c->cut.block, &e);
  for (size_t i = 0; i < n; i++) {
    bool kept = e[i].write && !e[i].inside && e[i].sym->kind != TD_SYM_STREAM &&
                !td_unit_param(c->kernel, e[i].sym);
    if (!kept) continue;
    td_util_refuse(c->r, TD_ILLEGAL, "access", c->move->loc,
                   "each instance of '%s' has its own '%s'", c->run->sym->name, e[i].sym->name);
    return false;
  }
  return true;
}

/* ---- the task on the host ---- */

/* How elements of arguments and of the block are named where several instances are one. */
typedef struct Wider {
  const Coalesce *c;
  TdSym place, block; /* the loop over the instances; the block of them all */
  const TdType *type; /* of that */
} Wider;

/* e, a load or view of an array, with one more index in front; or with an index moved to the part
 * of an instance. */
static const TdExpr *widen(void *ud, const TdExpr *e) {
  const Wider *w = ud;
  const Coalesce *c = w->c;
  TdRewrite *r = c->r;
  TdArena *a = r->store->arena;
  const TdExpr *kid[TD_MAX_RANK + 1];
  TdViewDim dim[TD_MAX_RANK + 1];
  if (e->kind != TD_EXPR_LOAD && e->kind != TD_EXPR_VIEW) return e;
  bool block = e->sym == c->move->sym;
  int at = block ? -1 : cut_dim(c, e->sym);
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
static const TdExpr *instance(const Coalesce *c, TdSym place) {
  TdRewrite *r = c->r;
  TdArena *a = r->store->arena;
  const TdExpr *at = td_util_var(r, place);
  if (c->groups == 1) return at;
  return td_lin_plus(r->session, a, at,
                     td_lin_times(r->session, a, td_util_var(r, c->coord), c->n));
}

/* Whether ids along axis d are left. */
static bool stays(const Coalesce *c, int d) {
  return d != c->axis || c->groups > 1;
}

/* The ids that are left, of those of a kernel. */
static void keep_ids(const Coalesce *c, TdUnit *u) {
  TdSym *coord = TD_NEWN(c->r->store->arena, TdSym, u->ncoord + 1);
  u->ncoord = 0;
  for (size_t d = 0; d < c->kernel->ncoord; d++)
    if (stays(c, (int)d)) coord[u->ncoord++] = c->kernel->coord[d];
  u->coord = coord;
}

/* The extents of the map that is left; returns how many. */
static int keep_map(const Coalesce *c, const TdExpr **map) {
  int n = 0;
  for (int d = 0; d < c->run->rank; d++)
    if (stays(c, d)) map[n++] = d == c->axis ? td_util_const(c->r, c->groups) : c->run->map[d];
  return n;
}

/* The new stream by the ids that are left. */
static const TdExpr *new_end(const Coalesce *c, TdLoc loc) {
  const TdExpr *index[TD_MAX_RANK];
  TdViewDim dim[TD_MAX_RANK];
  int n = 0;
  for (int d = 0; d < c->run->rank; d++) {
    if (!stays(c, d)) continue;
    index[n] = td_util_var(c->r, c->kernel->coord[d]);
    dim[n++] = (TdViewDim){.step = 1, .out = -1};
  }
  const TdType *t = td_type_port(c->r->session, c->cut.stream.type->elem, 0, NULL, true);
  return td_expr_view(c->r->store->arena, c->cut.stream.sym, t, index, dim, n, loc);
}

/* The loop over the instances along the axis. */
static const TdStmt *each(const Coalesce *c, TdSym place, const TdStmt *const *s, size_t n) {
  TdStore *st = c->r->store;
  return td_stmt_for(st, place, td_util_const(c->r, 0), td_util_const(c->r, c->n), 1,
                     td_stmt_block(st, s, n, c->move->loc), c->move->loc);
}

/* The block of the host's task: what was done for one block is done for each part of the new. */
static const TdStmt *host_block(const Coalesce *c) {
  TdRewrite *r = c->r;
  TdStore *st = r->store;
  TdLoc loc = c->move->loc;
  const TdType *t = c->cut.stream.type->elem;
  Wider w = {c, td_store_sym(st, c->coord->name, TD_SYM_LOOP),
             td_store_sym(st, c->move->sym->name, TD_SYM_LOCAL), t};
  TdSym block = c->same ? c->move->sym : w.block;
  TD_VEC(const TdStmt *) body = {0};
  TdSubst sub = td_subst_new(st);
  td_subst_expr(&sub, c->coord, instance(c, w.place));
  for (uint32_t i = 0; i < c->cut.block->nkid; i++) {
    const TdStmt *s = c->cut.block->kid[i];
    if (is_move(c, s)) continue;
    if (!c->same) s = td_subst_in_stmt(&sub, td_walk_map(st, s, widen, &w));
    td_vec_push(r->arena, &body, s);
  }
  const TdStmt *list[3], *all = c->same ? NULL : each(c, w.place, body.at, body.n);
  TD_VEC(const TdStmt *) kid = {0};
  list[0] = c->out ? td_stmt_get(st, new_end(c, loc), block, t, NULL, loc)
                   : td_stmt_slot(st, new_end(c, loc), block, t, loc);
  list[1] =
      td_stmt_put(st, new_end(c, loc), td_expr_whole(r->session, st->arena, block, t, loc), loc);
  td_vec_push(r->arena, &kid, list[0]);
  for (size_t i = 0; c->same && i < body.n; i++) td_vec_push(r->arena, &kid, body.at[i]);
  if (all) td_vec_push(r->arena, &kid, all);
  if (!c->out) td_vec_push(r->arena, &kid, list[1]);
  return td_stmt_with_kids(st, c->cut.block, kid.at, kid.n);
}

/* The kernel of the host's task: without the id, its arguments' blocks those of all along it. */
static const TdUnit *host_kernel(const Coalesce *c) {
  TdRewrite *r = c->r;
  TdArena *a = r->store->arena;
  const TdStmt *now = host_block(c), *body = c->kernel->body;
  body = c->cut.block == body ? now : td_edit_replace(r->store, body, c->cut.block->uid, &now, 1);
  TdUnit *u = td_unit_copy(r->store, td_unit_with_body(r->store, c->kernel, body));
  TdParam *param = td_arena_copy(a, u->param, u->nparam * sizeof *param);
  for (size_t i = 0; i < u->nparam; i++) {
    int at = cut_dim(c, param[i].sym);
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
static const char *layout_of(const Coalesce *c, const char *layout, int rank) {
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

static TdRun host_run(const Coalesce *c) {
  TdRun run = *c->run;
  TdRunArg *bind = td_arena_copy(c->r->store->arena, run.bind, run.nbind * sizeof *bind);
  run.rank = (uint8_t)keep_map(c, run.map);
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
static const TdExpr *part(const Coalesce *c, TdSym block, const TdType *t, TdSym place) {
  TdArena *a = c->r->store->arena;
  const TdExpr *lo[TD_MAX_RANK + 1];
  TdViewDim dim[TD_MAX_RANK + 1];
  if (c->same) return td_expr_whole(c->r->session, a, block, t, c->move->loc);
  lo[0] = td_util_var(c->r, place);
  dim[0] = (TdViewDim){.step = 1, .out = -1};
  for (int d = 1; d < t->rank; d++) {
    lo[d] = td_util_const(c->r, 0);
    dim[d] = (TdViewDim){.step = 1, .out = d - 1};
  }
  return td_expr_view(a, block, c->was->type->elem, lo, dim, t->rank, c->move->loc);
}

/* The task that stands between the host's and the others. */
static bool memory_task(Coalesce *c, TdLifted *out) {
  TdRewrite *r = c->r;
  TdStore *st = r->store;
  TdLoc loc = c->move->loc;
  const TdType *t = c->cut.stream.type->elem, *one = c->was->type->elem;
  TdSym place = td_store_sym(st, c->coord->name, TD_SYM_LOOP),
        all = td_store_sym(st, td_edit_fresh_name(st, c->kernel, "all"), TD_SYM_LOCAL),
        own = td_store_sym(st, c->move->sym->name, TD_SYM_LOCAL),
        hidden = td_store_sym(st, c->was->sym->name, TD_SYM_STREAM);
  TdSubst hide = td_subst_new(st), show = td_subst_new(st);
  td_subst_sym(&hide, c->was->sym, hidden);
  td_subst_expr(&hide, c->coord, instance(c, place));
  td_subst_sym(&show, hidden, c->was->sym);
  const TdExpr *port = td_subst_in_expr(&hide, c->move->expr[0]), *next = new_end(c, loc);
  const TdExpr *whole = td_expr_whole(r->session, st->arena, own, one, loc);
  const TdStmt *in[3], *s[3];
  size_t k = 0, n = 0;
  in[k++] =
      c->out ? td_stmt_get(st, port, own, one, NULL, loc) : td_stmt_slot(st, port, own, one, loc);
  in[k++] = c->out ? td_stmt_set(st, part(c, all, t, place), whole, loc)
                   : td_stmt_set(st, whole, part(c, all, t, place), loc);
  if (!c->out) in[k++] = td_stmt_put(st, port, whole, loc);
  s[n++] = c->out ? td_stmt_slot(st, next, all, t, loc) : td_stmt_get(st, next, all, t, NULL, loc);
  s[n++] = each(c, place, in, k);
  if (c->out)
    s[n++] = td_stmt_put(st, next, td_expr_whole(r->session, st->arena, all, t, loc), loc);
  TdUnit *u = td_unit_copy(st, c->kernel);
  keep_ids(c, u);
  TdCut cut = c->cut;
  cut.task = u;
  if (!td_cut_lift(&cut, td_stmt_with_kids(st, c->cut.block, s, n), c->run->sym, "mem", out))
    return false;
  out->unit = td_unit_with_body(st, out->unit, td_subst_in_stmt(&show, out->unit->body));
  return true;
}

/* The run of that task: a column an id of the first axis. */
static TdRun memory_run(const Coalesce *c, const TdLifted *l) {
  TdStore *st = c->r->store;
  TdRun run = host_run(c);
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

/* ---- the step ---- */

static const TdProg *put(Coalesce *c) {
  TdRewrite *r = c->r;
  TdLifted l;
  if (!memory_task(c, &l)) return NULL;
  const TdUnit *host = host_kernel(c);
  TdUnit *d = c->design;
  TdStream *stream = TD_NEWN(r->store->arena, TdStream, d->nstream + 1);
  TdRun *run = TD_NEWN(r->store->arena, TdRun, d->nrun + 1);
  size_t n = 0;
  for (size_t i = 0; i < d->nstream; i++) stream[i] = d->stream[i];
  stream[d->nstream++] = c->cut.stream;
  for (size_t i = 0; i < c->m.design->nrun; i++) {
    bool here = &c->m.design->run[i] == c->run;
    if (here && c->out) run[n++] = memory_run(c, &l);
    run[n++] = here ? host_run(c) : c->m.design->run[i];
    if (here && !c->out) run[n++] = memory_run(c, &l);
  }
  d->stream = stream;
  d->run = run;
  d->nrun = n;
  td_util_made(r, l.unit->sym->name);
  td_util_made(r, c->cut.stream.sym->name);
  const TdProg *p = td_prog_insert(r->prog, l.unit, c->kernel->sym);
  p = td_prog_with(td_prog_with(p, host), td_lift_tidy(r, d));
  return td_lift_in_order(r, p);
}

/* The stream between the host's task and the new one. */
static TdStream new_stream(const Coalesce *c) {
  TdRewrite *r = c->r;
  const TdExpr *dim[TD_MAX_RANK + 1], *map[TD_MAX_RANK];
  const TdType *t = c->was->type->elem;
  int64_t depth = 2;
  int n = keep_map(c, map);
  dim[0] = td_util_const(r, c->n);
  for (int d = 0; d < t->rank; d++) dim[d + 1] = t->dim[d];
  if (!c->same) t = td_type_tensor(r->session, t->elem, t->rank + 1, dim);
  td_unit_value(c->m.design, c->was->depth, &depth);
  TdCut cut = c->cut;
  cut.depth = depth;
  return td_cut_stream(&cut, c->was->sym->name, td_type_port(r->session, t, n, map, true),
                       c->was->loc);
}

/* How many instances become one; the axis goes where that is all of them. */
static bool choose(Coalesce *c) {
  const TdArgValue *factor = &c->r->arg[FACTOR];
  int64_t all = td_mapping_block(&c->m, c->m.design, c->run->map[c->axis], c->design);
  c->n = factor->given ? factor->integer : all;
  if (c->n < 1 || all % c->n) {
    refuse(c, TD_USAGE, "factor", c->run->loc,
           td_text_fmt(c->r->arena, "has %lld instances along axis %d: %lld do not divide that",
                       (long long)all, c->axis, (long long)c->n));
    return false;
  }
  c->groups = all / c->n;
  return true;
}

static const TdProg *apply(TdRewrite *r) {
  Coalesce c = {.r = r, .axis = r->arg[AXIS].given ? (int)r->arg[AXIS].integer : 0};
  TdLoc none = {0};
  c.run = td_mapping_open(r, r->arg[TASK].text, &c.m);
  if (!c.run) return NULL;
  if (!td_attrs_get(c.run->attrs, TD_ATTR_HOST))
    return refuse(&c, TD_ILLEGAL, "not-a-copy", c.run->loc, "is no task on the host");
  if (c.axis < 0 || c.axis >= c.run->rank)
    return td_util_refuse(r, TD_USAGE, "axis", none, "'%s' has %d axes", c.run->sym->name,
                          c.run->rank);
  c.kernel = td_mapping_kernel(&c.m, c.run);
  if (!c.kernel || td_mapping_returns(r, c.kernel))
    return c.kernel ? refuse(&c, TD_ILLEGAL, "return", c.run->loc, "may return before") : NULL;
  c.cut = (TdCut){.r = r, .design = c.m.design, .task = c.kernel, .run = c.run};
  td_cut_name_ids(&c.cut);
  c.kernel = c.cut.task;
  c.coord = c.kernel->coord[c.axis];
  c.design = td_unit_copy(r->store, c.m.design);
  if (!choose(&c) || !find_move(&c)) return NULL;
  c.same = is_same(&c);
  if (!check_around(&c)) return NULL;
  if (c.same && c.out)
    return refuse(&c, TD_ILLEGAL, "copies", c.run->loc,
                  "writes the same elements in each instance");
  if (!c.same && c.was->type->elem->rank == TD_MAX_RANK)
    return refuse(&c, TD_UNSUPPORTED, "rank", c.run->loc, "moves blocks of too many dimensions");
  c.cut.stream = new_stream(&c);
  return put(&c);
}

const TdPrim td_prim_coalesce = {
    .name = "coalesce",
    .on = "task",
    .summary = "Merge the instances of a task that moves blocks; a memory tile splits or joins the "
               "blocks.",
    .args = {{"task", TD_ARG_UNIT, TD_ARG_NEEDED,
              "a task that moves a block at a time between arguments and a stream", "task"},
             {"axis", TD_ARG_INT, TD_ARG_OPTION, "of its map: instances along it become one; 0",
              NULL},
             {"factor", TD_ARG_INT, TD_ARG_OPTION,
              "so many neighbours along the axis become one; all of them", NULL}},
    .rewrite = "task A_in(y, z): a[y][z]:put(A[y])  =>  task A_in(y): a_1[y]:put(A[y])  |  task "
               "A_in_mem(y): local t = a_1[y]:get(); for z: a[y][z]:put(t);  of blocks that "
               "differ, a_1 has all of them side by side",
    .legal =
        "the task moves one block at a time, by the stream of its own ids; what it does around the "
        "block, and how often, does not depend on the place along the axis",
    .errors = "axis factor not-a-copy access copies return rank not-a-design no-task "
              "ambiguous-task shared "
              "state open",
    .example = "s:buffer_at(\"A\", \"j\"); s:unfold(\"PE\"); s:isolate(\"A_j\"); "
               "s:coalesce(\"A_in\", {axis = 1})",
    .apply = apply,
};

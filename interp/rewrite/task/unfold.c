/* unfold.c - unfold: loops of a band become the coordinates of a task. */
#include "rewrite/copied.h"
#include "rewrite/task/carried.h"

enum { BAND, AXES, LOOPS, NAME, LINKS, BY, DRIVER };

typedef struct Unfold {
  TdRewrite *r;
  const TdUnit *unit;
  const char *name; /* of the task */
  const TdPlace *band;
  size_t nband;
  bool axis[TD_MAX_DEPTH]; /* which loops of the band */
  int place[TD_MAX_DEPTH]; /* of the axis, among the axes */
  size_t last;             /* the innermost of them */
  uint8_t rank;
  TdSym coord[TD_MAX_RANK];
  const TdExpr *map[TD_MAX_RANK];
} Unfold;

static bool refuse(Unfold *u, TdDiagKind kind, const char *code, const TdStmt *loop,
                   const char *why) {
  td_util_refuse(u->r, kind, code, loop->loc, "'%s' %s", loop->sym->name, why);
  return false;
}

/* The axes that the user names; all by default. */
static bool choose(Unfold *u) {
  const TdArgValue *v = &u->r->arg[AXES];
  for (size_t i = 0; i < u->nband; i++) u->axis[i] = !v->given;
  for (size_t i = 0; v->given && i < v->n; i++) {
    if (v->ints[i] < 0 || v->ints[i] >= (int64_t)u->nband) {
      td_util_refuse(u->r, TD_USAGE, "axes", u->band[0].stmt->loc,
                     "the band has no loop %lld: its axes are 0 to %zu", (long long)v->ints[i],
                     u->nband - 1);
      return false;
    }
    u->axis[v->ints[i]] = true;
  }
  for (size_t i = 0; i < u->nband; i++)
    if (u->axis[i]) u->last = i, u->place[i] = u->rank++;
  return u->rank > 0 || refuse(u, TD_USAGE, "axes", u->band[0].stmt, "needs at least one axis");
}

static bool is_of_sizes(void *ud, const TdExpr *e) {
  (void)ud;
  return e->kind == TD_EXPR_SIZE || e->kind == TD_EXPR_LIT || e->kind == TD_EXPR_OP ||
         e->kind == TD_EXPR_CAST;
}

/* Whether the bounds of loop n use a variable of the band. */
static bool is_bounded_by_band(const Unfold *u, size_t n) {
  for (size_t i = 0; i < n; i++) {
    TdSym v = u->band[i].stmt->sym;
    const TdStmt *loop = u->band[n].stmt;
    if (td_walk_uses_expr(td_for_lo(loop), v) || td_walk_uses_expr(td_for_hi(loop), v)) return true;
  }
  return false;
}

/* The extent for a trip count: of max(e, 0) it is e, which the unit then assumes not to be
 * negative. */
static const TdExpr *without_max(Unfold *u, const TdExpr *trip) {
  TdRewrite *r = u->r;
  int64_t zero;
  if (trip->kind != TD_EXPR_OP || trip->op != TD_OP_MAX) return trip;
  int k = td_expr_is_const(trip->kid[0], &zero) && zero == 0 ? 1 : 0;
  const TdExpr *e = trip->kid[k];
  if (td_expr_is_const(e, &zero)) return e;
  u->unit = td_util_assume(
      r, u->unit,
      td_expr_op2(r->store->arena, TD_OP_LE, td_type_bool(r->session), trip->kid[1 - k], e));
  return e;
}

/* The loops down to the last axis are a perfect nest, and the axes have extents that only sizes
 * decide; finds those and makes the coordinates. */
static bool measure(Unfold *u) {
  TdAsk q = td_util_ask(u->r, u->unit);
  q.arena = u->r->store->arena;
  int d = 0;
  for (size_t i = 0; i <= u->last; i++) {
    const TdStmt *loop = u->band[i].stmt;
    const TdStmt *body = td_for_body(loop);
    if (i < u->last && (body->nkid != 1 || body->kid[0] != u->band[i + 1].stmt))
      return refuse(u, TD_ILLEGAL, "imperfect", loop, "holds more than the next loop of the band");
    if (td_util_leaves_by_break(td_for_body(loop)))
      return refuse(u, TD_ILLEGAL, "break", loop, "is left by break");
    if (!u->axis[i]) continue;
    const TdExpr *trip = td_range_trip_expr(&q, loop);
    if (is_bounded_by_band(u, i) || !trip || !td_walk_expr(trip, is_of_sizes, NULL))
      return refuse(u, TD_ILLEGAL, "extent", loop,
                    "does not run a number of times that only sizes decide");
    int64_t value;
    if (td_unit_value(u->unit, trip, &value) && value < 1)
      return refuse(u, TD_ILLEGAL, "extent", loop, "does not run, and a task needs an instance");
    if (!td_copied_bounds(u->r, u->unit, loop, false)) return false;
    if (d++ == TD_MAX_RANK) return refuse(u, TD_LIMIT, "axes", loop, "is one axis too many");
    u->map[u->place[i]] = without_max(u, trip);
    u->coord[u->place[i]] = td_store_sym(u->r->store, loop->sym->name, TD_SYM_COORD);
  }
  return true;
}

/* What is inside the axes: the other loops of the band around the body of the last axis. */
static const TdStmt *inner(const Unfold *u) {
  const TdStmt *body = td_for_body(u->band[u->last].stmt);
  for (size_t i = u->last; i-- > 0;)
    if (!u->axis[i]) {
      const TdStmt *loop = td_stmt_with_kids(u->r->store, u->band[i].stmt, &body, 1);
      body = td_util_block1(u->r, loop);
    }
  return body;
}

/* The nest with the axes outermost, in which no axis may carry a dependence: instances do not take
 * turns, so not of an accumulation either. */
static bool check_order(Unfold *u, const TdStmt *body) {
  TdRewrite *r = u->r;
  const TdStmt *nest = NULL;
  for (size_t i = u->last + 1; i-- > 0;) {
    if (!u->axis[i]) continue;
    nest = td_stmt_with_kids(r->store, u->band[i].stmt,
                             nest ? (body = td_util_block1(r, nest), &body) : &body, 1);
  }
  const TdStmt *root = td_edit_replace(r->store, u->unit->body, u->band[0].stmt->uid, &nest, 1);
  const TdUnit *unit = td_unit_with_body(r->store, u->unit, root);
  TdAsk q = td_util_ask(r, unit);
  q.prog = td_prog_with(r->prog, unit);
  for (size_t i = 0; i <= u->last; i++) {
    if (!u->axis[i]) continue;
    const TdStmt *loop = td_edit_find(r->session->ctx, root, u->band[i].stmt->uid);
    TdVerdict v = td_loop_carried_loop(&q, loop);
    if (v.kind == TD_VERDICT_REASSOC) v.kind = TD_VERDICT_ILLEGAL;
    const char *what = td_text_fmt(r->arena, "unfold of %s", loop->sym->name);
    if (!td_verdict_accept(&v, false, r->diag, loop->loc, what)) return false;
  }
  return true;
}

/* The lifted body with coordinates for the loops' variables. */
static bool lift(Unfold *u, const TdStmt *body, TdPart *part) {
  TdRewrite *r = u->r;
  TdArena *a = r->store->arena;
  TdSubst sub = td_subst_new(r->store);
  for (size_t i = 0; i <= u->last; i++) {
    if (!u->axis[i]) continue;
    const TdStmt *loop = u->band[i].stmt;
    const TdExpr *id = td_util_var(r, u->coord[u->place[i]]);
    const TdExpr *at = td_lin_times(r->session, a, id, loop->step);
    at = td_lin_plus(r->session, a, td_for_lo(loop), at);
    td_subst_expr(&sub, loop->sym, td_util_written_out(a, at));
  }
  body = td_subst_in_stmt(&sub, body);
  const char *name = td_lift_unit_name(r, r->prog, u->name);
  part->name = name;
  part->rank = u->rank;
  for (int d = 0; d < u->rank; d++) part->map[d] = u->map[d];
  TdTaskIds ids = {u->coord, (size_t)u->rank};
  return td_lift_task(r, u->unit, body->kid, body->nkid, name, ids, &part->lifted);
}

/* "PE" of "PE", of "gemm:PE" and of a loop of that band; or else "gemm_i". */
static const char *task_name(const Unfold *u) {
  const TdAttr *band = td_attrs_get(u->band[0].stmt->attrs, TD_ATTR_BAND);
  return band ? band->arg[0].s
              : td_text_fmt(u->r->arena, "%s_%s", u->unit->sym->name, u->band[0].sym->name);
}

/* The loop alone inside a loop, or NULL. */
static const TdStmt *only_loop(const TdStmt *loop) {
  const TdStmt *body = td_for_body(loop);
  return body->nkid == 1 && body->kid[0]->kind == TD_STMT_FOR ? body->kid[0] : NULL;
}

/* The perfect nest of the first loop, down to the last of the loops that are named as axes. */
static bool choose_loops(Unfold *u) {
  TdRewrite *r = u->r;
  const TdArgValue *v = &r->arg[LOOPS];
  TdPlace *nest = TD_NEWN(r->arena, TdPlace, TD_MAX_DEPTH);
  if (!td_cursor_loop(r->arena, r->prog, r->arg[BAND].text, &nest[0], r->diag)) return false;
  u->band = nest;
  u->unit = nest[0].unit;
  const TdStmt *s = nest[0].stmt;
  for (u->nband = 1; u->nband < TD_MAX_DEPTH && (s = only_loop(s)); u->nband++)
    nest[u->nband] = (TdPlace){u->unit, s, s->sym};
  for (size_t i = 0; i < v->n; i++) {
    TdPlace at;
    size_t k = 0;
    if (!td_cursor_loop(r->arena, r->prog, v->names[i], &at, r->diag)) return false;
    while (k < u->nband && nest[k].stmt != at.stmt) k++;
    if (k == u->nband)
      return refuse(u, TD_ILLEGAL, "imperfect", at.stmt,
                    "is not of the perfect nest of the first loop");
    if (u->axis[k]) return refuse(u, TD_USAGE, "axes", at.stmt, "is named twice");
    u->axis[k] = true;
    if (k > u->last) u->last = k;
    u->place[k] = u->rank++;
  }
  return u->rank > 0 || refuse(u, TD_USAGE, "axes", nest[0].stmt, "needs at least one axis");
}

/* The band and its axes, as the user names them. */
static bool find(Unfold *u) {
  TdRewrite *r = u->r;
  TdPlace *band;
  if (r->arg[LOOPS].given) return choose_loops(u);
  if (!td_cursor_band(r->arena, r->prog, r->arg[BAND].text, &band, &u->nband, r->diag))
    return false;
  u->band = band;
  u->unit = band[0].unit;
  return choose(u);
}

/* Whether a layout gives each instance a copy of an argument that the unit writes. */
static bool writes_block(const Unfold *u, const TdRun *run) {
  TdAsk q = td_util_ask(u->r, u->unit);
  const TdEffect *e;
  size_t n = td_effects_of(&q, u->unit->body, &e);
  for (size_t i = 0; i < run->nbind; i++) {
    const TdEffect *x = td_effects_find(e, n, run->bind[i].param);
    if (run->bind[i].layout && x && x->write) return true;
  }
  return false;
}

/* The one run of a unit that holds nothing but the band and may have more axes, and the design that
 * has it; NULL: none. */
static const TdRun *run_of_task(const Unfold *u, const TdUnit **design) {
  const TdProg *p = u->r->prog;
  const TdRun *found = NULL;
  for (size_t i = 0; i < p->nunit; i++)
    for (size_t k = 0; k < p->unit[i]->nrun; k++) {
      if (p->unit[i]->run[k].unit != u->unit->sym) continue;
      if (found) return NULL;
      found = &p->unit[i]->run[k];
      *design = p->unit[i];
    }
  for (uint32_t i = 0; found && i < u->unit->body->nkid; i++) {
    const TdStmt *s = u->unit->body->kid[i];
    bool data = s->kind == TD_STMT_LOCAL && s->cls == TD_LOCAL_CONST;
    if (!data && s != u->band[0].stmt) return NULL;
  }
  bool fits = found && found->rank == u->unit->ncoord && found->rank + u->rank <= TD_MAX_RANK &&
              !writes_block(u, found);
  return fits ? found : NULL;
}

/* Gives a design the sizes of a task's kernel: those of its axes are among them. */
static void join_sizes(Unfold *u, TdUnit *design) {
  TdSize *size = TD_NEWN(u->r->store->arena, TdSize, design->nsize + u->unit->nsize);
  size_t n = design->nsize;
  for (size_t i = 0; i < n; i++) size[i] = design->size[i];
  for (size_t i = 0; i < u->unit->nsize; i++)
    if (!td_unit_size(design, u->unit->size[i].name)) size[n++] = u->unit->size[i];
  design->size = size;
  design->nsize = n;
}

/* The task with the axes behind those that it has, in the place of the old one. */
static const TdProg *in_place(Unfold *u, const TdStmt *body, const TdUnit *design,
                              const TdRun *run) {
  TdRewrite *r = u->r;
  TdArena *a = r->store->arena;
  TdSubst sub = td_subst_new(r->store);
  TdUnit *k = td_unit_copy(r->store, u->unit), *d = td_unit_copy(r->store, design);
  TdSym *coord = TD_NEWN(a, TdSym, k->ncoord + u->rank);
  TdRun *list = td_arena_copy(a, d->run, d->nrun * sizeof *list);
  TdRun *now = &list[run - design->run];
  for (size_t i = 0; i < k->ncoord; i++) coord[i] = k->coord[i];
  for (size_t i = 0; i <= u->last; i++) {
    if (!u->axis[i]) continue;
    const TdStmt *loop = u->band[i].stmt;
    const TdExpr *id = td_util_var(r, u->coord[u->place[i]]);
    const TdExpr *at = td_lin_times(r->session, a, id, loop->step);
    at = td_lin_plus(r->session, a, td_for_lo(loop), at);
    td_subst_expr(&sub, loop->sym, td_util_written_out(a, at));
  }
  for (int n = 0; n < u->rank; n++) {
    coord[k->ncoord + (size_t)n] = u->coord[n];
    now->map[now->rank++] = u->map[n];
  }
  body = td_subst_in_stmt(&sub, body);
  k->body = td_edit_replace(r->store, k->body, u->band[0].stmt->uid, body->kid, body->nkid);
  k->coord = coord;
  k->ncoord += u->rank;
  d->run = list;
  join_sizes(u, d);
  td_util_made(r, run->sym->name);
  return td_prog_with(td_prog_with(r->prog, k), td_lift_tidy(r, d));
}

/* The nest as that of values that travel: all loops down to the innermost. */
static bool find_carried(Unfold *u, TdCarried *c) {
  TdRewrite *r = u->r;
  *c = (TdCarried){.r = r, .unit = u->unit, .rank = u->rank, .driver = r->arg[DRIVER].text};
  for (const TdStmt *s = u->band[0].stmt; s; s = only_loop(s)) {
    if (c->nloop == TD_CARRIED_LOOPS)
      return refuse(u, TD_LIMIT, "axes", s, "is one loop too many of a nest with links");
    c->loop[c->nloop] = s;
    c->axis[c->nloop++] = -1;
  }
  for (size_t i = 0; i <= u->last; i++) {
    if (!u->axis[i]) continue;
    c->axis[i] = u->place[i];
    c->of_axis[u->place[i]] = i;
  }
  for (int a = 0; a < u->rank; a++) c->extent[a] = u->map[a];
  td_carried_find_guard(c);
  const TdArgValue *by = &r->arg[BY];
  const TdArgValue *links = &r->arg[LINKS];
  return td_carried_find(c, links->names, links->n, by->given ? by->ints : NULL, by->n) &&
         td_carried_streams(c, u->band[0].stmt);
}

/* The body of the axes with the innermost one of the nest replaced by what streams make of it. */
static const TdStmt *carried_body(const Unfold *u, const TdCarried *c, const TdStmt *body) {
  TdStore *st = u->r->store;
  const TdStmt *declare = td_carried_declare(c), *now = td_carried_body(c);
  body = td_edit_replace(st, body, td_for_body(c->loop[c->nloop - 1])->uid, &now, 1);
  if (!declare) return body;
  const TdStmt **list = TD_NEWN(u->r->arena, const TdStmt *, declare->nkid + body->nkid);
  size_t n = 0;
  for (uint32_t i = 0; i < declare->nkid; i++) list[n++] = declare->kid[i];
  for (uint32_t i = 0; i < body->nkid; i++) list[n++] = body->kid[i];
  return td_stmt_block(st, list, n, body->loc);
}

/* A local of the kernel, which the driver has, that the task of the grid uses besides; or NULL. */
static const TdStmt *local_of_driver(const Unfold *u, const TdPart *grid) {
  const TdStmt *root = u->unit->body;
  for (uint32_t i = 0; i < root->nkid; i++) {
    const TdStmt *s = root->kid[i];
    if (s->kind != TD_STMT_LOCAL || s->cls != TD_LOCAL_AUTO) continue;
    for (size_t k = 0; k < grid->lifted.unit->nparam; k++)
      if (grid->lifted.was[k] == s->sym) return s;
  }
  return NULL;
}

/* Whether a kernel writes its parameter i. */
static bool writes_param(TdRewrite *r, const TdUnit *k, size_t i) {
  TdAsk q = td_util_ask(r, k);
  const TdEffect *e;
  size_t n = td_effects_of(&q, k->body, &e);
  const TdEffect *x = td_effects_find(e, n, k->param[i].sym);
  return x && x->write;
}

/* Whether the driver and the grid, which run at once, write no array that the other has too. */
static bool check_shared(const Unfold *u, const TdLifted *driver, const TdLifted *grid) {
  TdRewrite *r = u->r;
  for (size_t i = 0; i < driver->unit->nparam; i++)
    for (size_t k = 0; k < grid->unit->nparam; k++) {
      if (driver->was[i] != grid->was[k]) continue;
      if (!writes_param(r, driver->unit, i) && !writes_param(r, grid->unit, k)) continue;
      td_util_refuse(r, TD_ILLEGAL, "driver", u->band[0].stmt->loc,
                     "'%s' is used by the driver and by the nest of '%s', and one writes it",
                     grid->was[k]->name, u->band[0].sym->name);
      td_diag_help(r->diag, "name it in `links`, too, so that the driver sends it");
      return false;
    }
  return true;
}

/* Adds the task that has what is left of the kernel; *gone are the statements that the design
 * takes the place of. */
static bool add_driver(Unfold *u, const TdCarried *c, TdPart *part, TdNetworkPlan *plan) {
  TdRewrite *r = u->r;
  const TdStmt *root = u->unit->body, *nest = u->band[0].stmt;
  const TdStmt **gone = TD_NEWN(r->arena, const TdStmt *, root->nkid);
  size_t n = 0, ours = 0;
  for (uint32_t i = 0; i < root->nkid; i++) {
    ours += root->kid[i] == nest;
    if (root->kid[i]->kind != TD_STMT_LOCAL || root->kid[i]->cls == TD_LOCAL_AUTO)
      gone[n++] = root->kid[i];
  }
  if (!ours || u->unit->ncoord || td_prog_is_task(r->prog, u->unit->sym))
    return refuse(u, TD_ILLEGAL, "driver", nest,
                  "is not a statement of a kernel by itself, whose rest a driver takes");
  const TdStmt *kept = local_of_driver(u, &part[0]);
  if (kept) {
    td_util_refuse(r, TD_ILLEGAL, "driver", kept->loc,
                   "'%s' is a local that the driver would have, and the nest of '%s' uses it too",
                   kept->sym->name, nest->sym->name);
    td_diag_help(r->diag, "name it in `links`, too, so that the driver sends it");
    return false;
  }
  const TdStmt *all = td_carried_driver(c, nest);
  size_t first = 0;
  while (first < all->nkid && all->kid[first]->kind == TD_STMT_LOCAL &&
         all->kid[first]->cls != TD_LOCAL_AUTO)
    first++;
  part[1] = part[0];
  part[0] = (TdPart){.name = td_lift_unit_name(r, r->prog, c->driver)};
  if (!td_lift(r, u->unit, all->kid + first, all->nkid - first, part[0].name, &part[0].lifted))
    return false;
  if (!check_shared(u, &part[0].lifted, &part[1].lifted)) return false;
  td_util_made(r, part[0].name);
  plan->stmt = gone;
  plan->n = n;
  plan->nparts = 2;
  return true;
}

/* The innermost of the loops that are named as axes, below the conditions and loops of `first`; or
 * NULL. */
static const TdStmt *last_axis(TdRewrite *r, const TdStmt *first) {
  const TdArgValue *v = &r->arg[LOOPS];
  TdPlace at;
  const TdStmt *last = NULL;
  size_t most = 0;
  for (size_t i = 0; i < v->n; i++) {
    TdDiag quiet = {.arena = r->arena};
    if (!td_cursor_loop(r->arena, r->prog, v->names[i], &at, &quiet)) continue;
    TdPath p = td_edit_path(r->arena, first, at.stmt->uid);
    if (p.n > most) last = at.stmt, most = p.n;
  }
  return last;
}

/* Moves conditions between the loops, as clamps of tiles are, inside them. */
static bool sink_guards(TdRewrite *r) {
  TdPlace *band;
  size_t n;
  if (!td_cursor_band(r->arena, r->prog, r->arg[BAND].text, &band, &n, r->diag)) return false;
  const TdStmt *first = band[0].stmt, *last = r->arg[LINKS].n ? NULL : last_axis(r, first);
  if (r->arg[LINKS].n || last)
    r->prog = td_prog_with(r->prog, td_carried_sink(r, band[0].unit, first, last));
  return true;
}

static const TdProg *apply(TdRewrite *r) {
  Unfold u = {.r = r};
  TdCarried c = {0};
  if ((r->arg[LOOPS].n || r->arg[LINKS].n) && !sink_guards(r)) return NULL;
  if (!td_lift_check_name(r, &r->arg[NAME]) || !td_lift_check_name(r, &r->arg[DRIVER]) ||
      !find(&u) || !measure(&u))
    return NULL;
  if ((r->arg[BY].given || r->arg[DRIVER].given) && !r->arg[LINKS].n)
    return td_util_refuse(r, TD_USAGE, "way", u.band[0].stmt->loc,
                          "`by` and `driver` are said of `links`, the arrays that travel");
  if (r->arg[LINKS].n && !find_carried(&u, &c)) return NULL;
  u.name = r->arg[NAME].given ? r->arg[NAME].text : task_name(&u);
  const TdStmt *body = inner(&u);
  if (c.nloop) body = carried_body(&u, &c, body);
  TdPart part[2] = {0};
  if (!check_order(&u, body)) return NULL;
  const TdUnit *design;
  const TdRun *run = c.nloop ? NULL : run_of_task(&u, &design);
  if (run) return in_place(&u, body, design, run);
  if (!lift(&u, body, &part[0])) return NULL;
  td_util_made(r, part[0].name);
  const TdStmt *nest = u.band[0].stmt;
  TdNetworkPlan plan = {.unit = u.unit, .stmt = &nest, .n = 1, .part = part, .nparts = 1};
  plan.stream = c.stream.at;
  plan.nstream = c.stream.n;
  if (c.driver && !add_driver(&u, &c, part, &plan)) return NULL;
  for (size_t i = 0; i < c.stream.n; i++) td_util_made(r, c.stream.at[i].sym->name);
  plan.name = td_text_fmt(r->arena, "%s_%s", u.unit->sym->name, part[0].name);
  return td_network_put(r, &plan);
}

const TdPrim td_prim_unfold = {
    .name = "unfold",
    .on = "loop",
    .summary = "Make the iterations of loops the instances of a task.",
    .args =
        {{"band", TD_ARG_BAND, TD_ARG_NEEDED, "the band, or one loop", NULL},
         {"axes", TD_ARG_INTS, TD_ARG_OPTIONAL, "which loops of it; all by default", NULL},
         {"loops", TD_ARG_NAMES, TD_ARG_OPTION,
          "which loops of the perfect nest that begins with the loop, in the order of the axes",
          "loop"},
         {"name", TD_ARG_NAME, TD_ARG_OPTION, "name of the task", NULL},
         {"links", TD_ARG_NAMES, TD_ARG_OPTION,
          "arrays whose values go by streams from instance to instance", "array"},
         {"by", TD_ARG_INTS, TD_ARG_OPTION,
          "which way each of them goes: for each of `links` a step along each axis; puts are in "
          "this order; all that there are by default",
          NULL},
         {"driver", TD_ARG_NAME, TD_ARG_OPTION,
          "a task that has the rest of the kernel, and sends what comes from outside the grid",
          NULL}},
    .rewrite = "for i, j in grid(M, N, \"PE\"): S(i, j)  =>  task PE, map {M, N}: S(i, j);  "
               "with links: A[i][j] = f(A[i - 1][j])  =>  a = A_pass[i - 1][j]:get(); "
               "A[i][j] = f(a); A_pass[i][j]:put(A[i][j])",
    .legal = "instances with other coordinates touch no element that one of them writes, but for "
             "links; the loops down to the last axis are a perfect nest, conditions of loops "
             "aside, and only sizes decide their extents. A link is written at one place in an "
             "iteration and read at constant "
             "distances from it, which the loops left run after; or it is only read, and does not "
             "differ along its way",
    .errors = "axes imperfect extent break bound-written dependence not-decided scalar return "
              "state stream name carried way depth driver",
    .example = "s:unfold(\"PE\")",
    .apply = apply,
};

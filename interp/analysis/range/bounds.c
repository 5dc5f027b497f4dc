/* bounds.c - range proofs: first by adding up known inequalities, then by asking the solver. */
#include "analysis/range/bounds.h"

#include "analysis/range/farkas.h"
#include "analysis/range/span.h"

/* A check of a whole unit under way. */
typedef struct Check {
  const TdAsk *q;
  TdArena *a;
  TdSpace *space;
  const TdNest *context;
  const TdUnit *design; /* which runs the unit as `run`, and nothing else does; or NULL */
  const TdRun *run;
  TdMap types; /* TdSym -> const TdType * of what is indexed */
  TD_VEC(TdBoundsItem) items;
  TdDiag *d;
} Check;

/* Notes the types of what the unit declares. */
static bool note_type(void *ud, const TdStmt *s) {
  Check *k = ud;
  bool declares = s->kind == TD_STMT_LOCAL || s->kind == TD_STMT_GET || s->kind == TD_STMT_SLOT;
  const TdType *t = s->type ? s->type : s->blob ? s->blob->type : NULL;
  if (declares && s->sym && t) td_map_put(k->a, &k->types, (uintptr_t)s->sym, (uintptr_t)t);
  return true;
}

/* Finds the one task that the unit is the kernel of. */
static void note_run(Check *k) {
  const TdProg *p = k->q->prog;
  size_t n = 0;
  for (size_t i = 0; i < p->nunit; i++)
    for (size_t j = 0; j < p->unit[i]->nrun; j++) {
      if (p->unit[i]->run[j].unit != k->q->unit->sym) continue;
      k->design = p->unit[i];
      k->run = &p->unit[i]->run[j];
      n++;
    }
  if (n == 1) return;
  k->design = NULL;
  k->run = NULL;
}

/* The types of parameters, streams and all that the body declares. */
static void note_types(Check *k) {
  const TdUnit *u = k->q->unit;
  for (size_t i = 0; i < u->nparam; i++)
    td_map_put(k->a, &k->types, (uintptr_t)u->param[i].sym, (uintptr_t)u->param[i].type);
  for (size_t i = 0; i < u->nstream; i++)
    td_map_put(k->a, &k->types, (uintptr_t)u->stream[i].sym, (uintptr_t)u->stream[i].type);
  td_walk_stmt(td_affine_ctx(k->q->affine), u->body, note_type, k);
}

/* The extent of dimension d of a cell as a form, bad if it is not known; *s gets what a division in
 * it needs. */
static TdAff extent_of(Check *k, const TdCell *c, int d, TdSys *s) {
  const TdType *t = td_map_getp(&k->types, c->sym);
  TdEnv env = {.unit = k->q->unit};
  TdLower w = {.session = k->q->prog->store->session, .space = k->space, .env = &env, .sys = s};
  TdAff f;
  if (!t || d >= t->rank || !td_lower_expr(&w, t->dim[d], &f)) return (TdAff){.bad = true};
  return f;
}

/* One index of one access. `rest` is what must not be negative: the index, and extent - 1 - index.
 */
typedef struct Index {
  const TdLeaf *leaf;
  const TdAccess *x;
  int dim;
  TdAff own; /* the extent, over columns of of_own */
  TdSys of_own;
  TdSys elem; /* the access's, and of_own */
  TdAff extent, rest[2];
} Index;

/* What holds when the access runs, in case i of its domain; shifts for its forms in `at`. */
static TdSys running(Check *k, const Index *ix, size_t i, TdShift *at) {
  TdSys s = td_sys_copy(k->a, &ix->leaf->nest->dom[i]);
  td_sys_join(k->a, &s, &k->context->dom[0], 0);
  *at = td_sys_join(k->a, &s, &ix->elem, 0);
  return s;
}

/* Whether no execution has rest[side] < 0. */
static bool is_never(Check *k, const Index *ix, size_t i, int side, bool at_values) {
  TdShift at;
  TdSys s = running(k, ix, i, &at);
  TdAff bad = td_sys_scale(k->a, -1, td_sys_shift(k->a, ix->rest[side], at), -1);
  td_sys_nonneg(k->a, &s, bad);
  if (at_values) td_nest_at_values(k->space, k->q->unit, &s);
  return td_affine_has_point(k->q->affine, &s) == TD_NO;
}

/* Whether rest[side] >= 0 follows from what holds by adding inequalities up. Systems that number
 * existential columns each for itself must be joined first. */
static bool is_plain(Check *k, const Index *ix, size_t i, int side) {
  const TdSys *facts[] = {&ix->leaf->nest->dom[i], &ix->elem, &k->context->dom[0]};
  int extras = 0;
  for (int f = 0; f < 3; f++) extras += facts[f]->nextra > 0;
  if (extras < 2) return td_farkas_follows(k->a, facts, 3, ix->rest[side]);
  TdShift at;
  TdSys all = running(k, ix, i, &at);
  facts[0] = &all;
  return td_farkas_follows(k->a, facts, 1, td_sys_shift(k->a, ix->rest[side], at));
}

/* Whether rest[side] >= 0 for all sizes; the proof is tried the cheap way first. */
static bool is_inside(Check *k, const Index *ix, size_t i, int side) {
  return is_plain(k, ix, i, side) || is_never(k, ix, i, side, false);
}

/* Whether all is well in all cases, for all sizes or at the unit's. */
static bool is_all_inside(Check *k, const Index *ix, bool at_values) {
  for (size_t i = 0; i < ix->leaf->nest->ndom; i++)
    for (int side = 0; side < 2; side++)
      if (at_values ? !is_never(k, ix, i, side, true) : !is_inside(k, ix, i, side)) return false;
  return true;
}

/* Adds the values of the unit's sizes, and that ids are below the extents of the task's map. */
static void add_values(Check *k, TdSys *s) {
  const TdUnit *u = k->q->unit;
  size_t skip = k->run && k->run->rank > u->ncoord ? k->run->rank - u->ncoord : 0;
  int64_t extent;
  td_nest_at_values(k->space, u, s);
  for (size_t d = 0; k->run && d < u->ncoord && d + skip < k->run->rank; d++) {
    if (!td_unit_value(k->design, k->run->map[d + skip], &extent)) continue;
    TdAff id = td_sys_col(k->a, td_lower_param(k->space, u->coord[d], u->coord[d]->name, false));
    td_sys_nonneg(k->a, s, td_sys_plus(k->a, td_sys_const(extent - 1), -1, id));
  }
}

/* Executions, an index of which is out of range. */
typedef struct Outside {
  const TdAccess *x;
  TdAff extent;
  TdSys sys;
  TdShift at; /* of the index and the extent */
} Outside;

/* Those of case i that have rest[side] < 0, at the unit's sizes. */
static Outside outside(Check *k, const Index *ix, size_t i, int side) {
  Outside o = {.x = ix->x, .extent = ix->extent};
  o.sys = running(k, ix, i, &o.at);
  add_values(k, &o.sys);
  td_sys_nonneg(k->a, &o.sys, td_sys_scale(k->a, -1, td_sys_shift(k->a, ix->rest[side], o.at), -1));
  return o;
}

/* Takes the form that the index has in access x of ix's leaf; false if it has none. */
static bool set_access(Check *k, Index *ix, const TdAccess *x) {
  TdAff index = x->index[ix->dim];
  ix->x = x;
  if (index.bad || ix->own.bad) return false;
  ix->elem = td_sys_copy(k->a, &x->elem);
  ix->extent = td_sys_shift(k->a, ix->own, td_sys_join(k->a, &ix->elem, &ix->of_own, 0));
  ix->rest[0] = index;
  ix->rest[1] = td_sys_plus(k->a, td_sys_scale(k->a, 1, ix->extent, -1), -1, index);
  return true;
}

/* Lists the executions that are out of range, for all accesses that an index like min(i, n) makes,
 * each for a part of them. Returns how many sets; *found are the first that there are, if any. */
static size_t list_outside(Check *k, const Index *ix, TdSys *out, const Outside **found) {
  const TdLeaf *l = ix->leaf;
  size_t n = 0;
  for (size_t x = 0; x < l->naccess; x++) {
    Index part = *ix;
    if (l->access[x].expr != ix->x->expr || !set_access(k, &part, &l->access[x])) continue;
    for (size_t i = 0; i < 2 * l->nest->ndom; i++) {
      Outside *o = TD_NEW(k->a, Outside);
      *o = outside(k, &part, i / 2, i % 2);
      out[n++] = o->sys;
      if (!*found && td_affine_has_point(k->q->affine, &o->sys) == TD_YES) *found = o;
    }
  }
  return n;
}

/* The executions of a nest, case by case, at the unit's sizes. */
static const TdSys *list_running(Check *k, const TdNest *nest) {
  TdSys *all = TD_NEWN(k->a, TdSys, nest->ndom);
  for (size_t i = 0; i < nest->ndom; i++) {
    all[i] = td_sys_copy(k->a, &nest->dom[i]);
    td_sys_join(k->a, &all[i], &k->context->dom[0], 0);
    add_values(k, &all[i]);
  }
  return all;
}

/* Whether each size of u has a value. */
static bool has_values(const TdUnit *u) {
  for (size_t i = 0; i < u->nsize; i++)
    if (!u->size[i].known) return false;
  return true;
}

/* Whether each call runs something of a nest, whatever it passes for scalars. The ids of a task
 * that is known are not passed: all of its instances are there. Without values for the sizes, which
 * may let nothing run, it is taken to. */
static bool is_certain(Check *k, const TdSys *running, size_t n) {
  const TdUnit *u = k->q->unit;
  int32_t *keep = TD_NEWN(k->a, int32_t, u->nparam + u->ncoord);
  size_t kept = 0;
  TdSys any = td_sys_copy(k->a, &k->context->dom[0]);
  add_values(k, &any);
  for (size_t i = 0; i < u->nparam; i++)
    if (u->param[i].sym->kind == TD_SYM_SCALAR)
      keep[kept++] = td_lower_param(k->space, u->param[i].sym, u->param[i].sym->name, false);
  for (size_t i = 0; i < u->ncoord && !k->run; i++)
    keep[kept++] = td_lower_param(k->space, u->coord[i], u->coord[i]->name, false);
  return !kept || !has_values(u) ||
         td_affine_covers(k->q->affine, &any, running, n, keep, kept) == TD_YES;
}

/* Executions, an index of which is out of range, if each call has such and there are some wherever
 * the statement runs at all; else NULL. */
static const Outside *find_outside(Check *k, const Index *ix) {
  const TdNest *nest = ix->leaf->nest;
  TdSys *out = TD_NEWN(k->a, TdSys, 2 * nest->ndom * ix->leaf->naccess);
  const Outside *found = NULL;
  size_t n = list_outside(k, ix, out, &found);
  if (!found) return NULL;
  const TdSys *all = list_running(k, nest);
  for (size_t i = 0; i < nest->ndom; i++)
    if (td_affine_covers(k->q->affine, &all[i], out, n, NULL, 0) != TD_YES) return NULL;
  return is_certain(k, all, nest->ndom) ? found : NULL;
}

/* "when i = 0, k = 40". */
static void note_loops(Check *k, const TdNest *n, const int64_t *val) {
  TdText t = td_text_new(k->d->arena);
  for (size_t d = 0; d < n->nloop; d++)
    td_text_putf(&t, "%s%s = %lld", d ? ", " : "", n->loop[d]->stmt->sym->name, (long long)val[d]);
  if (n->nloop) td_diag_note(k->d, n->loop[n->nloop - 1]->stmt->loc, "when %s", td_text_str(&t));
}

/* "index 40 is out of range for dimension 1 of 'A' (size 24)", of the first execution that is. */
static void refuse(Check *k, const Index *ix, const Outside *o) {
  const TdNest *n = ix->leaf->nest;
  TdSys sys = o->sys;
  TdAff index = td_sys_fresh(k->a, &sys), extent = td_sys_fresh(k->a, &sys);
  TdAff f = td_sys_shift(k->a, o->x->index[ix->dim], o->at);
  TdAff size = td_sys_shift(k->a, o->extent, o->at);
  td_sys_zero(k->a, &sys, td_sys_plus(k->a, f, -1, index));
  td_sys_zero(k->a, &sys, td_sys_plus(k->a, size, -1, extent));
  int32_t *col = TD_NEWN(k->a, int32_t, n->nloop + 2);
  int64_t *val = TD_NEWN(k->a, int64_t, n->nloop + 2);
  for (size_t d = 0; d < n->nloop; d++) col[d] = (int32_t)d;
  col[n->nloop] = index.m->col;
  col[n->nloop + 1] = extent.m->col;
  bool known = td_affine_point(k->q->affine, &sys, col, n->nloop + 2, val) == TD_YES;
  TdLoc loc = ix->x->expr->kid[ix->dim]->loc;
  td_diag_set(k->d, TD_ILLEGAL, "index-range", loc.source ? loc : ix->x->expr->loc,
              "index %s is out of range for dimension %d of '%s' (size %s)",
              known ? td_text_fmt(k->a, "%lld", (long long)val[n->nloop]) : "", ix->dim,
              ix->x->cell->sym->name,
              known ? td_text_fmt(k->a, "%lld", (long long)val[n->nloop + 1]) : "unknown");
  if (known) note_loops(k, n, val);
  if (known && val[n->nloop + 1] > 0)
    td_diag_help(k->d, "indices go from 0 to %lld", (long long)val[n->nloop + 1] - 1);
}

/* Classifies one index; false when it is out of range, which d then says. */
static bool check_index(Check *k, Index *ix) {
  bool known = set_access(k, ix, ix->x);
  TdBoundsItem item = {ix->leaf->stmt, ix->x->expr, td_map_getp(&k->types, ix->x->expr->sym),
                       ix->dim, TD_BOUNDS_UNPROVED};
  if (known) {
    if (is_all_inside(k, ix, false)) return true;
    if (is_all_inside(k, ix, true)) item.kind = TD_BOUNDS_AT_VALUES;
  }
  bool formed = !ix->x->may || ix->leaf->stmt->kind == TD_STMT_CALL;
  bool exact = known && ix->leaf->nest->exact && k->context->exact && formed;
  const Outside *found = item.kind == TD_BOUNDS_UNPROVED && exact ? find_outside(k, ix) : NULL;
  if (found) {
    refuse(k, ix, found);
    return false;
  }
  td_vec_push(k->q->arena, &k->items, item);
  return true;
}

/* Checks the indices of one access; false as check_index. */
static bool check_access(Check *k, const TdLeaf *l, const TdAccess *x) {
  if (!x->expr) return true;
  TdMark m = td_arena_mark(k->a);
  bool ok = true;
  for (int d = 0; ok && d < x->rank; d++) {
    Index ix = {.leaf = l, .x = x, .dim = d};
    ix.own = extent_of(k, x->cell, d, &ix.of_own);
    ok = check_index(k, &ix);
  }
  td_arena_release(k->a, m);
  return ok;
}

bool td_bounds_check(const TdAsk *q, const TdBoundsItem **items, size_t *n, TdDiag *d) {
  *items = NULL;
  *n = 0;
  if (!q->unit->body) return true;
  TdArena *a = td_arena_scratch(td_affine_ctx(q->affine));
  TdSpace *space = td_access_space(td_arena_scratch(td_affine_ctx(q->affine)));
  Check k = {.q = q, .a = a, .space = space, .d = d};
  TdNestMaker m = {q->prog->store->session, space, &(TdEnv){.unit = q->unit}};
  k.context = td_nest_context(&m, q->unit->body);
  note_types(&k);
  note_run(&k);
  TdLeaves *l = td_access_list_flat(q, space, &q->unit->body, 1);
  bool ok = true;
  for (size_t i = 0; ok && i < l->at.n; i++)
    for (size_t x = 0; ok && x < l->at.at[i].naccess; x++)
      ok = check_access(&k, &l->at.at[i], &l->at.at[i].access[x]);
  *items = k.items.at;
  *n = k.items.n;
  td_arena_free(a);
  td_arena_free(space->arena);
  return ok;
}

/* Any value of its type. */
static TdSpan any_value(void *ud, const TdExpr *e, const TdSpan *index) {
  (void)ud, (void)index;
  return td_span_data(e->type);
}

bool td_bounds_always(const TdUnit *u, const TdBoundsItem *x) {
  TdSpanEnv env = {.unit = u, .look = any_value};
  const TdViewDim *view = x->expr->kind == TD_EXPR_VIEW ? &x->expr->u.dim[x->dim] : NULL;
  int64_t extent, n = 1;
  if (!x->type || x->dim >= x->type->rank || !td_type_extent(x->type, x->dim, &extent))
    return false;
  bool part = view && view->out >= 0;
  if (part && (view->step < 0 || !td_type_extent(x->expr->type, view->out, &n) || n < 1))
    return false;
  TdSpan s = td_span_of(&env, x->expr->kid[x->dim]);
  int64_t far = part ? td_span_times(view->step, n - 1) : 0;
  return s.lo >= 0 && td_span_plus(s.hi, far) < extent;
}

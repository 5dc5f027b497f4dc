/* deps.c - the order check: no point where two instances on one element were in order and are not
 * any more. */
#include "analysis/order/deps.h"

/* A new leaf as executions of an old one. */
typedef struct Run {
  const TdLeaf *was, *now; /* was: NULL for a new statement */
  TdSys image;             /* former loops (block 1) over present ones */
  TdAff *form;             /* [depth] the same as forms over block 0 */
  const TdExpr **expr;     /* [depth] what they come from, NULL for a loop that stayed */
  size_t *deepest;         /* [depth] one more than the innermost present loop in it */
  bool kept;               /* the loops of an opaque region around it are as they were */
} Run;

typedef struct Order {
  const TdAsk *q;
  TdSpace *space;
  TdLeaves *old, *new;
  const TdNest *context;
  const TdDepsMap *map;
  size_t nmap;
  TdMap find;  /* uid and number of an old leaf -> its index */
  TdMap uids;  /* of the old leaves */
  Run *run;    /* of each new leaf */
  size_t i, j; /* the pair under way */
  TdVerdict v;
} Order;

/* The key of a leaf in `find`. */
static uint64_t leaf_key(uint32_t uid, uint32_t sub) {
  return (uint64_t)uid << 32 | sub;
}

/* Makes old leaves findable. */
static void index_old(Order *o) {
  for (size_t i = 0; i < o->old->at.n; i++) {
    const TdLeaf *l = &o->old->at.at[i];
    td_map_put(o->space->arena, &o->find, leaf_key(l->uid, l->sub), i);
    td_map_put(o->space->arena, &o->uids, l->uid, 1);
  }
}

/* The old leaf that a new one runs, or NULL. */
static const TdLeaf *former(const Order *o, const TdLeaf *l) {
  uint64_t i;
  uint32_t uid = td_map_get(&o->uids, l->uid, NULL) ? l->uid : l->origin;
  return td_map_get(&o->find, leaf_key(uid, l->sub), &i) ? &o->old->at.at[i] : NULL;
}

/* How surely statement s is t after a rewrite: 2, it is; 1, it was copied from t, by this rewrite
 * or by one before; 0, it is another. */
static int sameness(const TdStmt *s, const TdStmt *t) {
  if (s->sym == t->sym || s->uid == t->uid) return 2;
  return s->origin == t->uid;
}

/* The expression that the map gives for old loop `v` at the statement `uid`, or NULL. */
static const TdExpr *mapped(const Order *o, uint32_t uid, TdSym v) {
  const TdExpr *found = NULL;
  for (size_t i = 0; i < o->nmap; i++) {
    if (o->map[i].old != v) continue;
    if (o->map[i].uid == uid) return o->map[i].expr;
    if (!o->map[i].uid) found = o->map[i].expr;
  }
  return found;
}

/* The former value of loop `v` as a form over the present loops of r; false if there is none. */
static bool image_of(Order *o, Run *r, size_t depth, TdSys *sys) {
  const TdStmt *loop = r->was->nest->loop[depth]->stmt;
  const TdExpr *e = mapped(o, r->now->uid, loop->sym);
  r->expr[depth] = e;
  if (!e) {
    int best = 0;
    for (size_t d = 0; d < r->now->nest->nloop; d++) {
      int same = sameness(r->now->nest->loop[d]->stmt, loop);
      if (same > best) r->form[depth] = td_sys_col(o->space->arena, (int32_t)d);
      best = same > best ? same : best;
    }
    return best > 0;
  }
  TdEnv env = {.unit = o->q->unit};
  TdLower w = {.session = o->new->session,
               .space = o->space,
               .env = &env,
               .loop = r->now->nest->loop,
               .nloop = r->now->nest->nloop,
               .sys = sys};
  return td_lower_expr(&w, e, &r->form[depth]) && !w.n && !w.inexact;
}

/* One more than the deepest loop column in f and sys. */
static size_t deepest_in(TdAff f, const TdSys *sys) {
  size_t most = 0;
  for (size_t r = 0; r <= sys->row.n; r++) {
    TdAff g = r < sys->row.n ? sys->row.at[r].f : f;
    for (uint32_t i = 0; i < g.n; i++)
      if (g.m[i].col >= 0 && g.m[i].col < TD_COL_EXTRA && (size_t)g.m[i].col >= most)
        most = (size_t)g.m[i].col + 1;
  }
  return most;
}

/* Whether the loops inside the opaque region around r are what they were. */
static bool is_region_kept(const Run *r) {
  size_t n = r->was->nest->nloop - r->was->nseen;
  if (r->now->nest->nloop - r->now->nseen != n) return false;
  for (size_t k = 0; k < n; k++) {
    size_t old = r->was->nseen + k, now = r->now->nseen + k;
    TdAff f = r->form[old];
    if (f.n != 1 || f.c || f.m->coef != 1 || f.m->col != (int32_t)now ||
        !sameness(r->now->nest->loop[now]->stmt, r->was->nest->loop[old]->stmt))
      return false;
  }
  return true;
}

/* Relates new leaf i to the old one; false when the map leaves a loop without a value. */
static bool relate(Order *o, size_t i) {
  TdArena *a = o->space->arena;
  Run *r = &o->run[i];
  r->now = &o->new->at.at[i];
  r->was = former(o, r->now);
  if (!r->was) return true;
  size_t n = r->was->nest->nloop;
  r->form = TD_NEWN(a, TdAff, n);
  r->expr = TD_NEWN(a, const TdExpr *, n);
  r->deepest = TD_NEWN(a, size_t, n);
  for (size_t d = 0; d < n; d++) {
    TdSys one = {0};
    if (!image_of(o, r, d, &one)) {
      td_verdict_unknown(&o->v, td_text_fmt(o->q->arena, "no affine value for former loop '%s'",
                                            r->was->nest->loop[d]->stmt->sym->name));
      return false;
    }
    r->deepest[d] = deepest_in(r->form[d], &one);
    TdShift by = td_sys_join(a, &r->image, &one, 0);
    TdAff was = td_sys_col(a, TD_COL_BLOCK + (int32_t)d);
    td_sys_zero(a, &r->image, td_sys_plus(a, was, -1, td_sys_shift(a, r->form[d], by)));
  }
  r->kept = is_region_kept(r);
  return true;
}

/* Whether some leaf of l touches what x touches, by symbol, writing it if `write`. */
static bool is_touched(const TdLeaves *l, const TdCell *x, bool write) {
  for (size_t i = 0; i < l->at.n; i++)
    for (size_t k = 0; k < l->at.at[i].naccess; k++) {
      const TdAccess *y = &l->at.at[i].access[k];
      if (y->cell->sym == x->sym && y->cell->kind == x->kind && (y->write || !write)) return true;
    }
  return false;
}

/* A statement that the old tree does not have may read what nobody writes, and write what the old
 * tree does not know. */
static void check_new(Order *o, const TdLeaf *l) {
  for (size_t k = 0; k < l->naccess; k++) {
    const TdAccess *x = &l->access[k];
    if (x->write ? is_touched(o->old, x->cell, false)
                 : is_touched(o->old, x->cell, true) && is_touched(o->new, x->cell, true))
      td_verdict_unknown(&o->v,
                         td_text_fmt(o->q->arena, "a new statement uses '%s'", x->cell->sym->name));
  }
}

/* Notes old leaves that nothing runs any more. */
static void check_gone(Order *o) {
  TdMap ran = {0};
  for (size_t i = 0; i < o->new->at.n; i++)
    if (o->run[i].was) td_map_putp(o->space->arena, &ran, o->run[i].was, o->run);
  for (size_t i = 0; i < o->old->at.n; i++) {
    const TdLeaf *l = &o->old->at.at[i];
    if (l->naccess && !td_map_getp(&ran, l))
      td_verdict_unknown(
          &o->v, td_text_fmt(o->q->arena, "the statement on line %u is gone", l->stmt->loc.line));
  }
}

/* Whether former loop d of r is present loop d. */
static bool is_kept_loop(const Run *r, size_t d) {
  TdAff f = r->form[d];
  return f.n == 1 && !f.c && f.m->coef == 1 && f.m->col == (int32_t)d;
}

/* Whether r has kept the n outermost loops. */
static bool has_kept_loops(const Run *r, size_t n) {
  for (size_t d = 0; d < n; d++)
    if (!is_kept_loop(r, d)) return false;
  return true;
}

/* -1, 0, 1 as s stands before, in one statement with, or after t. */
static int textual(const TdLeaf *s, const TdLeaf *t) {
  return (s->seq > t->seq) - (s->seq < t->seq);
}

/* Whether the order of two runs is read off the same loops and text as it was. */
static bool is_unchanged(const Run *x, const Run *y) {
  size_t n = td_conflict_common(x->was, y->was);
  if (n != td_conflict_common(x->now, y->now)) return false;
  if (!has_kept_loops(x, n) || !has_kept_loops(y, n)) return false;
  return (x->was == y->was) == (x->now == y->now) &&
         textual(x->was, y->was) == textual(x->now, y->now);
}

/* The cell of the present leaf of r that a former cell, declared in the subtree, has become. */
static const TdCell *present_cell(const Run *r, const TdCell *was) {
  const TdCell *found = NULL;
  int best = 0;
  for (size_t k = 0; k < r->now->naccess; k++) {
    const TdCell *c = r->now->access[k].cell;
    int same = c->kind == was->kind && c->decl ? sameness(c->decl, was->decl) : 0;
    if (same > best) found = c;
    best = same > best ? same : best;
  }
  return found;
}

/* Whether two runs give the loops around a declaration the same former values when they agree in
 * the first n present loops. */
static bool is_private_kept(const Run *x, const Run *y, const TdNest *was, size_t n) {
  for (size_t d = 0; d < was->nloop; d++)
    if (x->deepest[d] > n || x->expr[d] != y->expr[d] ||
        (!x->expr[d] && !td_access_same_form(x->form[d], y->form[d])))
      return false;
  return true;
}

/* Adds "before" at one level of an order: the first `level` loops agree, the next one is less, or
 * (level == n) all agree. */
static void add_before(TdConflict *c, bool now, bool swap, size_t level, size_t n) {
  TdAff (*loop)(const TdConflict *, bool, size_t) =
      now ? td_conflict_loop_now : td_conflict_loop_was;
  TdArena *a = c->space->arena;
  for (size_t d = 0; d < level; d++)
    td_sys_zero(a, &c->sys, td_sys_plus(a, loop(c, false, d), -1, loop(c, true, d)));
  if (level < n) td_sys_lt(a, &c->sys, loop(c, swap, level), loop(c, !swap, level));
}

/* c->sys holds an old order: whether y can now come before x. False to stop. */
static bool check_levels(Order *o, TdConflict *c) {
  size_t n = td_conflict_common(c->x.now, c->y.now), rows = c->sys.row.n;
  bool text = textual(c->y.now, c->x.now) < 0;
  for (size_t level = 0; level < n + text; level++) {
    add_before(c, true, true, level, n);
    bool go_on = td_verdict_broken(&o->v, c, true);
    c->sys.row.n = rows;
    if (!go_on) return false;
  }
  return true;
}

/* c->sys holds an old order on an element of a local: whether y still finds what x left there. */
static bool check_storage(Order *o, TdConflict *c) {
  const TdCell *was = c->a->cell;
  if (!was->nest || !c->a->write || !c->b->read) return true;
  const TdCell *x = present_cell(&o->run[o->i], was), *y = present_cell(&o->run[o->j], was);
  if (!x || !y) {
    td_verdict_unknown(&o->v, td_text_fmt(o->q->arena, "'%s' was replaced", was->sym->name));
    return true;
  }
  if (x != y) return td_verdict_broken(&o->v, c, false);
  size_t rows = c->sys.row.n;
  for (size_t d = 0; d < x->nest->nloop; d++)
    for (int swap = 0; swap < 2; swap++) {
      add_before(c, true, swap, d, d + 1);
      bool go_on = td_verdict_broken(&o->v, c, false);
      c->sys.row.n = rows;
      if (!go_on) return false;
    }
  return true;
}

/* For each level of the old order. */
static bool check_conflict(void *ud, TdConflict *c) {
  Order *o = ud;
  TdArena *a = c->space->arena;
  if (td_dense_is_void(a, &c->sys)) return true;
  bool unchanged = is_unchanged(&o->run[o->i], &o->run[o->j]);
  size_t n = td_conflict_common(c->x.was, c->y.was), rows = c->sys.row.n;
  bool text = textual(c->x.was, c->y.was) < 0, go_on = true;
  for (size_t level = 0; go_on && level < n + text; level++) {
    add_before(c, false, false, level, n);
    if (!td_dense_is_void(a, &c->sys))
      go_on = (unchanged || check_levels(o, c)) && check_storage(o, c);
    c->sys.row.n = rows;
  }
  return go_on;
}

/* Whether l touches the cell c. */
static bool has_cell(const TdLeaf *l, const TdCell *c) {
  for (size_t k = 0; k < l->naccess; k++)
    if (l->access[k].cell == c) return true;
  return false;
}

/* Whether two runs share each local that they shared, under the same loops. */
static bool is_scope_kept(const Run *x, const Run *y) {
  for (size_t k = 0; k < x->was->naccess; k++) {
    const TdCell *was = x->was->access[k].cell;
    if (!was->nest || !has_cell(y->was, was)) continue;
    const TdCell *now = present_cell(x, was);
    size_t n = was->nest->nloop;
    if (!now || now != present_cell(y, was) || now->nest->nloop != n || !has_kept_loops(x, n) ||
        !has_kept_loops(y, n))
      return false;
  }
  return true;
}

/* Two runs that share a local now must have shared it before. */
static void check_sharing(Order *o, const Run *x, const Run *y) {
  for (size_t k = 0; k < x->was->naccess; k++) {
    const TdCell *was = x->was->access[k].cell;
    const TdCell *cx = was->nest ? present_cell(x, was) : NULL;
    const TdCell *cy = cx ? present_cell(y, was) : NULL;
    if (cx && cx == cy && !is_private_kept(x, y, was->nest, cx->nest->nloop))
      td_verdict_unknown(
          &o->v, td_text_fmt(o->q->arena, "'%s' would serve several iterations", was->sym->name));
  }
}

/* How many loops two leaves have around them both. */
static size_t shared_loops(const TdLeaf *x, const TdLeaf *y) {
  size_t n = 0;
  while (n < x->nest->nloop && n < y->nest->nloop && x->nest->loop[n] == y->nest->loop[n]) n++;
  return n;
}

/* Two leaves of one opaque region stay in one, as they stood in it. */
static void check_region(Order *o, const Run *x, const Run *y) {
  bool was = x->was->region && x->was->region == y->was->region;
  bool now = x->now->region && x->now->region == y->now->region;
  if (!was && !now) return;
  bool order = (x->was < y->was) == (x->now < y->now) && (x->was == y->was) == (x->now == y->now);
  bool apart = shared_loops(x->was, y->was) != shared_loops(x->now, y->now);
  if (was != now || !order || apart || !x->kept || !y->kept)
    td_verdict_unknown(&o->v, "it changes the inside of a loop that ends early");
}

/* Whether two leaves touch a common cell and one of them writes it. */
static bool may_conflict(const TdLeaf *s, const TdLeaf *t) {
  for (size_t i = 0; i < s->naccess; i++)
    for (size_t j = 0; j < t->naccess; j++)
      if (s->access[i].cell == t->access[j].cell && (s->access[i].write || t->access[j].write))
        return true;
  return false;
}

/* Checks the pair (i, j) as "i was before j"; false when nothing worse can come. */
static bool check_pair(Order *o, size_t i, size_t j) {
  const Run *x = &o->run[i], *y = &o->run[j];
  if (!x->was || !y->was) return true;
  if (i <= j) check_region(o, x, y);
  if (!may_conflict(x->was, y->was)) return true;
  bool scopes = is_scope_kept(x, y);
  if (!scopes) check_sharing(o, x, y);
  if (scopes && is_unchanged(x, y)) return true;
  o->i = i;
  o->j = j;
  return td_conflict_visit(o->q, o->old, o->context, (TdInstance){x->was, x->now, &x->image},
                           (TdInstance){y->was, y->now, &y->image}, check_conflict, o);
}

/* The whole check, results in o->v. */
static void run_check(Order *o) {
  o->run = TD_NEWN(o->space->arena, Run, o->new->at.n);
  index_old(o);
  for (size_t i = 0; i < o->new->at.n; i++) {
    if (!relate(o, i)) return;
    if (!o->run[i].was) check_new(o, o->run[i].now);
  }
  check_gone(o);
  for (size_t i = 0; i < o->new->at.n; i++)
    for (size_t j = 0; j < o->new->at.n; j++)
      if (!check_pair(o, i, j)) return;
}

TdVerdict td_deps_order(const TdAsk *q, const TdStmt *before, const TdStmt *after,
                        const TdDepsMap *map, size_t nmap) {
  TdArena *a = td_arena_scratch(td_affine_ctx(q->affine));
  TdSpace *space = td_access_space(a);
  TdNestMaker m = {q->prog->store->session, space, &(TdEnv){.unit = q->unit}};
  Order o = {.q = q, .space = space, .map = map, .nmap = nmap};
  o.context = td_nest_context(&m, before);
  o.old = td_access_list(q, space, &before, 1);
  o.new = td_access_list(q, space, &after, 1);
  run_check(&o);
  td_arena_free(a);
  return o.v;
}

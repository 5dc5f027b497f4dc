/* conflict.c - pairs of instances on one element. */
#include "analysis/order/conflict.h"

/* Blocks of columns: x now, x as it was, y now, y as it was. */
enum { BLOCK_X = 0, BLOCK_Y = 2 };

/* Where the former loops of an instance are, whose present ones are in `block`. */
static int32_t block_was(const TdInstance *i, int32_t block) {
  return i->image ? block + 1 : block;
}

/* Loop `depth` of a block. */
static TdAff column(const TdConflict *c, int32_t block, size_t depth) {
  return td_sys_col(c->space->arena, block * TD_COL_BLOCK + (int32_t)depth);
}

TdAff td_conflict_loop_was(const TdConflict *c, bool second, size_t depth) {
  return column(c, second ? block_was(&c->y, BLOCK_Y) : block_was(&c->x, BLOCK_X), depth);
}

TdAff td_conflict_loop_now(const TdConflict *c, bool second, size_t depth) {
  return column(c, second ? BLOCK_Y : BLOCK_X, depth);
}

size_t td_conflict_common(const TdLeaf *s, const TdLeaf *t) {
  size_t most = s->nseen < t->nseen ? s->nseen : t->nseen, n = 0;
  while (n < most && s->nest->loop[n] == t->nest->loop[n]) n++;
  return n;
}

/* Whether a and b are seen to touch different elements. */
static bool is_apart(const TdAccess *a, const TdAccess *b) {
  int64_t x, y;
  if (a->cell != b->cell || !(a->write || b->write)) return true;
  for (int d = 0; d < a->rank && d < b->rank; d++)
    if (td_sys_is_const(a->index[d], &x) && td_sys_is_const(b->index[d], &y) && x != y) return true;
  return false;
}

/* Adds what it takes for an instance to run, in the case `dom` of its domain. */
static void add_instance(TdConflict *c, const TdInstance *i, int32_t block, const TdSys *dom) {
  TdArena *a = c->space->arena;
  td_sys_join(a, &c->sys, dom, block);
  if (i->image) td_sys_join(a, &c->sys, i->image, block);
  c->exact &= i->now->nest->exact;
}

/* Adds that both touch the same element of the same storage. */
static void add_meeting(TdConflict *c) {
  TdArena *a = c->space->arena;
  c->at = td_sys_join(a, &c->sys, &c->a->elem, block_was(&c->x, BLOCK_X));
  TdShift bt = td_sys_join(a, &c->sys, &c->b->elem, block_was(&c->y, BLOCK_Y));
  for (int d = 0; d < c->a->rank && d < c->b->rank; d++) {
    TdAff f = c->a->index[d], g = c->b->index[d];
    if (f.bad || g.bad) continue;
    f = td_sys_shift(a, f, c->at);
    td_sys_zero(a, &c->sys, td_sys_plus(a, f, -1, td_sys_shift(a, g, bt)));
  }
  const TdNest *own = c->a->cell->nest;
  for (size_t k = 0; own && k < own->nloop; k++)
    td_sys_zero(
        a, &c->sys,
        td_sys_plus(a, td_conflict_loop_was(c, false, k), -1, td_conflict_loop_was(c, true, k)));
  c->exact &= !c->a->may && !c->b->may;
}

/* Visits all cases of the two domains for one pair of accesses. */
static bool visit_cases(TdConflict *c, const TdNest *context, TdConflictVisit fn, void *ud) {
  const TdNest *x = c->x.now->nest, *y = c->y.now->nest;
  TdArena *a = c->space->arena;
  for (size_t i = 0; i < x->ndom; i++)
    for (size_t j = 0; j < y->ndom; j++) {
      TdMark m = td_arena_mark(a);
      c->exact = context->exact;
      c->sys = (TdSys){0};
      td_sys_join(a, &c->sys, &context->dom[0], 0);
      add_instance(c, &c->x, BLOCK_X, &x->dom[i]);
      add_instance(c, &c->y, BLOCK_Y, &y->dom[j]);
      add_meeting(c);
      bool go_on = fn(ud, c);
      td_arena_release(a, m);
      if (!go_on) return false;
    }
  return true;
}

bool td_conflict_visit(const TdAsk *q, const TdLeaves *l, const TdNest *context, TdInstance x,
                       TdInstance y, TdConflictVisit fn, void *ud) {
  TdConflict c = {.ask = q, .space = l->space, .x = x, .y = y};
  for (size_t i = 0; i < x.was->naccess; i++)
    for (size_t j = 0; j < y.was->naccess; j++) {
      c.a = &x.was->access[i];
      c.b = &y.was->access[j];
      if (!is_apart(c.a, c.b) && !visit_cases(&c, context, fn, ud)) return false;
    }
  return true;
}

/* The columns whose values a witness shows. */
typedef struct Shown {
  TD_VEC(int32_t) col;
  size_t outer, x, y, size, element; /* where each group starts; element ends the list */
} Shown;

/* Lists the sizes, or the loops around the query. */
static void show_params(const TdConflict *c, Shown *s, bool sizes) {
  for (size_t i = 0; i < c->space->at.n; i++) {
    const TdParamCol *p = &c->space->at.at[i];
    bool loop = !p->is_size && ((TdSym)p->key)->kind == TD_SYM_LOOP;
    if (sizes ? p->is_size : loop) td_vec_push(c->space->arena, &s->col, -1 - (int32_t)i);
  }
}

/* Lists the former loops of x, or of y. */
static void show_loops(const TdConflict *c, Shown *s, bool second) {
  const TdLeaf *l = second ? c->y.was : c->x.was;
  for (size_t d = 0; d < l->nest->nloop; d++)
    td_vec_push(c->space->arena, &s->col, td_conflict_loop_was(c, second, d).m->col);
}

/* Lists what to show; adds columns for the indices of the element to the system. */
static Shown show(TdConflict *c) {
  TdArena *a = c->space->arena;
  Shown s = {0};
  show_params(c, &s, false);
  s.x = s.col.n;
  show_loops(c, &s, false);
  s.y = s.col.n;
  show_loops(c, &s, true);
  s.size = s.col.n;
  show_params(c, &s, true);
  s.element = s.col.n;
  for (int d = 0; d < c->a->rank; d++) {
    TdAff e = td_sys_fresh(a, &c->sys), f = c->a->index[d];
    td_vec_push(a, &s.col, e.m->col);
    if (!f.bad) td_sys_zero(a, &c->sys, td_sys_plus(a, td_sys_shift(a, f, c->at), -1, e));
  }
  return s;
}

/* "i = 0, j = 1" for the loops around the query and those of one instance. */
static const char *loop_values(const TdConflict *c, const Shown *s, const TdLeaf *l, size_t first,
                               const int64_t *val) {
  TdText t = td_text_new(c->ask->arena);
  for (size_t i = s->outer; i < s->x; i++)
    td_text_putf(&t, "%s%s = %lld", t.n ? ", " : "", c->space->at.at[-1 - s->col.at[i]].name,
                 (long long)val[i]);
  for (size_t d = 0; d < l->nest->nloop; d++)
    td_text_putf(&t, "%s%s = %lld", t.n ? ", " : "", l->nest->loop[d]->stmt->sym->name,
                 (long long)val[first + d]);
  return td_text_str(&t);
}

/* "C[0][1]". */
static const char *element_text(const TdConflict *c, const Shown *s, const int64_t *val) {
  TdText t = td_text_new(c->ask->arena);
  td_text_puts(&t, c->a->cell->sym->name);
  for (int d = 0; d < c->a->rank; d++) {
    if (c->a->index[d].bad)
      td_text_puts(&t, "[?]");
    else
      td_text_putf(&t, "[%lld]", (long long)val[s->element + (size_t)d]);
  }
  return td_text_str(&t);
}

/* "M = 3" for the sizes, or for those that the unit gives no value; NULL if there are none. */
static const char *size_values(const TdConflict *c, const Shown *s, const int64_t *val, bool all) {
  TdText t = td_text_new(c->ask->arena);
  for (size_t i = s->size; i < s->element; i++) {
    const TdSize *size = td_unit_size(c->ask->unit, c->space->at.at[-1 - s->col.at[i]].name);
    if (all || !size || !size->known)
      td_text_putf(&t, "%s%s = %lld", t.n ? ", " : "", c->space->at.at[-1 - s->col.at[i]].name,
                   (long long)val[i]);
  }
  return t.n ? td_text_str(&t) : NULL;
}

/* A point of c->sys, with the unit's sizes if `at_values`. */
static TdTruth find_point(TdConflict *c, const Shown *s, bool at_values, int64_t *val) {
  size_t rows = c->sys.row.n;
  if (at_values) td_nest_at_values(c->space, c->ask->unit, &c->sys);
  TdTruth t = td_affine_point(c->ask->affine, &c->sys, s->col.at, s->col.n, val);
  c->sys.row.n = rows;
  return t;
}

TdTruth td_conflict_witness(TdConflict *c, TdWitness *w, const char **sizes) {
  if (!w) return td_affine_has_point(c->ask->affine, &c->sys);
  TdSys kept = c->sys;
  Shown s = show(c);
  int64_t *val = TD_NEWN(c->space->arena, int64_t, s.col.n);
  TdTruth t = find_point(c, &s, true, val);
  bool at_values = t == TD_YES;
  if (!at_values) t = find_point(c, &s, false, val);
  if (t == TD_YES) *sizes = size_values(c, &s, val, !at_values);
  if (t == TD_YES)
    *w = (TdWitness){.array = c->a->cell->sym->name,
                     .element = element_text(c, &s, val),
                     .first = c->x.was->stmt->loc,
                     .second = c->y.was->stmt->loc,
                     .first_at = loop_values(c, &s, c->x.was, s.x, val),
                     .second_at = loop_values(c, &s, c->y.was, s.y, val)};
  c->sys = kept;
  return t;
}

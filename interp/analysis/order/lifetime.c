/* lifetime.c - storage of several elements in one place, after Lefebvre and Feautrier: a read finds
 * its value if each earlier write to another element of the place is followed by a write to its
 * own. Three executions are compared: the read, the other write, and the write between them. */
#include "analysis/order/lifetime.h"

/* Blocks of columns. */
enum { READ, OTHER, BETWEEN };

/* An access in one case of its domain. */
typedef struct Event {
  const TdLeaf *leaf;
  const TdAccess *x;
  const TdSys *dom;
} Event;
typedef TD_VEC(Event) Events;
typedef TD_VEC(TdSys) Parts;

typedef struct Life {
  const TdAsk *q;
  TdArena *a;
  const TdNest *context;
  const TdFold *fold;
  TdAff extent[TD_MAX_RANK]; /* bad: not affine */
  int d;
  int64_t window;
  Events read, write, others; /* others: writes that are not the declaration's */
  TdVerdict v;
} Life;

/* A system in the making, with the forms of the accesses in it. */
typedef struct Scene {
  TdSys sys;
  const Event *event[3];
  TdAff index[3][TD_MAX_RANK];
} Scene;

/* Adds that e happens, in range, its loops in `block`. */
static void add_event(const Life *l, Scene *s, const Event *e, int32_t block) {
  s->event[block] = e;
  td_sys_join(l->a, &s->sys, e->dom, block);
  TdShift at = td_sys_join(l->a, &s->sys, &e->x->elem, block);
  for (int k = 0; k < l->fold->rank; k++) {
    TdAff f = e->x->index[k];
    f = f.bad ? td_sys_fresh(l->a, &s->sys) : td_sys_shift(l->a, f, at);
    td_sys_nonneg(l->a, &s->sys, f);
    if (!l->extent[k].bad) td_sys_lt(l->a, &s->sys, f, l->extent[k]);
    s->index[block][k] = f;
  }
}

static TdAff column(const Life *l, int32_t block, size_t depth) {
  return td_sys_col(l->a, block * TD_COL_BLOCK + (int32_t)depth);
}

/* Adds x == y. */
static void add_equal(const Life *l, Scene *s, TdAff x, TdAff y) {
  td_sys_zero(l->a, &s->sys, td_sys_plus(l->a, x, -1, y));
}

/* Adds that the events of two blocks are in one execution of the declaration. */
static void add_same_array(const Life *l, Scene *s, int32_t x, int32_t y) {
  const TdNest *own = s->event[x]->x->cell->nest;
  for (size_t k = 0; own && k < own->nloop; k++) add_equal(l, s, column(l, x, k), column(l, y, k));
}

/* How many ways there are for the event of block x to come before that of y. */
static size_t ways_before(const Scene *s, int32_t x, int32_t y) {
  const TdLeaf *p = s->event[x]->leaf, *q = s->event[y]->leaf;
  return td_conflict_common(p, q) + (p->seq < q->seq);
}

/* Adds that it does in the way `level`: outer loops agree, and the next one is earlier. */
static void add_before(const Life *l, Scene *s, int32_t x, int32_t y, size_t level) {
  size_t n = td_conflict_common(s->event[x]->leaf, s->event[y]->leaf);
  for (size_t k = 0; k < level; k++) add_equal(l, s, column(l, x, k), column(l, y, k));
  if (level < n) td_sys_lt(l->a, &s->sys, column(l, x, level), column(l, y, level));
}

/* Adds that read and other write touch elements that share a place; `up` says on which side. */
static void add_shared(const Life *l, Scene *s, bool up) {
  for (int k = 0; k < l->fold->rank; k++) {
    TdAff x = s->index[READ][k], y = s->index[OTHER][k];
    int64_t m = l->fold->modulus[k];
    if (k == l->d) {
      TdAff less = up ? x : y, more = up ? y : x;
      td_sys_le(l->a, &s->sys, td_sys_plus(l->a, td_sys_const(l->window), 1, less), more);
    } else if (k > l->d || m == 0) {
      add_equal(l, s, x, y);
    } else if (m > 1) {
      TdAff turns = td_sys_scale(l->a, m, td_sys_fresh(l->a, &s->sys), 0);
      add_equal(l, s, td_sys_plus(l->a, x, 1, turns), y);
    }
  }
}

/* The scene where w writes another element of the place before r reads. */
static Scene clash(const Life *l, const Event *r, const Event *w, bool up, size_t level) {
  Scene s = {0};
  td_sys_join(l->a, &s.sys, &l->context->dom[0], 0);
  add_event(l, &s, r, READ);
  add_event(l, &s, w, OTHER);
  add_same_array(l, &s, READ, OTHER);
  add_shared(l, &s, up);
  add_before(l, &s, OTHER, READ, level);
  return s;
}

/* Adds to `parts` the ways in which w writes what the read of `base` reads, between its events. */
static void add_rescues(const Life *l, const Scene *base, const Event *w, Parts *parts) {
  Scene with = *base;
  if (!w->leaf->nest->exact || w->x->may) return;
  with.sys = td_sys_copy(l->a, &base->sys);
  add_event(l, &with, w, BETWEEN);
  add_same_array(l, &with, READ, BETWEEN);
  for (int k = 0; k < l->fold->rank; k++)
    add_equal(l, &with, with.index[READ][k], with.index[BETWEEN][k]);
  for (size_t i = 0; i < ways_before(&with, OTHER, BETWEEN); i++)
    for (size_t j = 0; j < ways_before(&with, BETWEEN, READ); j++) {
      Scene s = with;
      s.sys = td_sys_copy(l->a, &with.sys);
      add_before(l, &s, OTHER, BETWEEN, i);
      add_before(l, &s, BETWEEN, READ, j);
      if (!td_dense_is_void(l->a, &s.sys)) td_vec_push(l->a, parts, s.sys);
    }
}

/* The columns that a witness shows: sizes and loops around the query, the loops of both events, the
 * element that is read. */
typedef struct Shown {
  TD_VEC(int32_t) col;
  size_t loops[2], element, end; /* where the groups start */
} Shown;

static Shown show(const Life *l, Scene *s, const TdSpace *space) {
  Shown v = {.end = 0};
  for (size_t i = 0; i < space->at.n; i++) td_vec_push(l->a, &v.col, -1 - (int32_t)i);
  for (int32_t b = READ; b <= OTHER; b++) {
    v.loops[b] = v.col.n;
    for (size_t k = 0; k < s->event[b]->leaf->nest->nloop; k++)
      td_vec_push(l->a, &v.col, b * TD_COL_BLOCK + (int32_t)k);
  }
  v.element = v.col.n;
  for (int k = 0; k < l->fold->rank; k++) {
    TdAff e = td_sys_fresh(l->a, &s->sys);
    add_equal(l, s, e, s->index[READ][k]);
    td_vec_push(l->a, &v.col, e.m->col);
  }
  v.end = v.col.n;
  return v;
}

/* "i = 0, j = 1" of the event in block b. */
static const char *place_of(const Life *l, const Scene *s, const Shown *v, int32_t b,
                            const int64_t *val) {
  TdText t = td_text_new(l->q->arena);
  const TdNest *nest = s->event[b]->leaf->nest;
  for (size_t k = 0; k < nest->nloop; k++)
    td_text_putf(&t, "%s%s = %lld", k ? ", " : "", nest->loop[k]->stmt->sym->name,
                 (long long)val[v->loops[b] + k]);
  return td_text_str(&t);
}

/* Notes the clash that val tells as the verdict. */
static void note_clash(Life *l, const Scene *s, const Shown *v, const int64_t *val) {
  TdText t = td_text_new(l->q->arena);
  const TdCell *cell = s->event[READ]->x->cell;
  td_text_puts(&t, cell->sym->name);
  for (size_t i = v->element; i < v->end; i++) td_text_putf(&t, "[%lld]", (long long)val[i]);
  l->v = (TdVerdict){
      .kind = TD_VERDICT_ILLEGAL,
      .exact = true,
      .witness = {.array = cell->sym->name,
                  .element = td_text_str(&t),
                  .first = s->event[OTHER]->leaf->stmt->loc,
                  .second = s->event[READ]->leaf->stmt->loc,
                  .first_at = place_of(l, s, v, OTHER, val),
                  .second_at = place_of(l, s, v, READ, val)},
  };
}

/* Checks a scene: whether a write always comes between. False when nothing worse can come. */
static bool check_scene(Life *l, Scene *s, const TdSpace *space) {
  if (td_dense_is_void(l->a, &s->sys)) return true;
  Shown v = show(l, s, space);
  Parts parts = {0};
  for (size_t i = 0; i < l->write.n; i++) add_rescues(l, s, &l->write.at[i], &parts);
  TdAffine *x = l->q->affine;
  if (td_affine_covers(x, &s->sys, parts.at, parts.n, v.col.at, v.col.n) == TD_YES) return true;
  int64_t *val = TD_NEWN(l->a, int64_t, v.col.n);
  TdSys here = td_sys_copy(l->a, &s->sys);
  td_nest_at_values((TdSpace *)(uintptr_t)space, l->q->unit, &here);
  TdTruth t = td_affine_outside(x, &here, parts.at, parts.n, v.col.at, v.col.n, val);
  if (t != TD_YES) t = td_affine_outside(x, &s->sys, parts.at, parts.n, v.col.at, v.col.n, val);
  if (t == TD_YES) note_clash(l, s, &v, val);
  if (t == TD_UNKNOWN) td_verdict_unknown(&l->v, "the question was too hard for the time given");
  return t != TD_YES;
}

/* Notes the reads and writes of the array among the leaves; false where a leaf is opaque. */
static bool find_events(Life *l, const TdLeaves *all, TdSym array) {
  for (size_t i = 0; i < all->at.n; i++) {
    const TdLeaf *leaf = &all->at.at[i];
    for (size_t k = 0; k < leaf->naccess; k++) {
      const TdAccess *x = &leaf->access[k];
      if (x->cell->sym != array || x->cell->kind != TD_CELL_MEMORY) continue;
      if (leaf->region) return false;
      for (size_t c = 0; c < leaf->nest->ndom; c++) {
        Event e = {leaf, x, &leaf->nest->dom[c]};
        if (x->read) td_vec_push(l->a, &l->read, e);
        if (x->write) td_vec_push(l->a, &l->write, e);
        if (x->write && leaf->stmt->kind != TD_STMT_LOCAL) td_vec_push(l->a, &l->others, e);
      }
    }
  }
  return true;
}

/* Checks all pairs of a read and another write. */
static void check_all(Life *l, const TdSpace *space) {
  for (size_t i = 0; i < l->read.n; i++)
    for (size_t j = 0; j < l->others.n; j++) {
      const Event *r = &l->read.at[i], *w = &l->others.at[j];
      Scene order = {.event = {r, w, NULL}};
      for (size_t level = 0; level < ways_before(&order, OTHER, READ); level++)
        for (int up = 0; up < 2; up++) {
          TdMark m = td_arena_mark(l->a);
          Scene s = clash(l, r, w, up, level);
          bool go_on = check_scene(l, &s, space);
          td_arena_release(l->a, m);
          if (!go_on) return;
        }
    }
}

/* Finds the extents as forms over sizes. */
static void find_extents(Life *l, TdSpace *space, const TdType *type) {
  TdEnv env = {.unit = l->q->unit};
  TdSession *session = l->q->prog->store->session;
  for (int k = 0; k < type->rank; k++) {
    TdSys none = {0};
    TdLower w = {.session = session, .space = space, .env = &env, .sys = &none};
    if (!td_lower_expr(&w, type->dim[k], &l->extent[k]) || none.row.n)
      l->extent[k] = (TdAff){.bad = true};
  }
}

TdVerdict td_lifetime_apart(const TdAsk *q, const TdStmt *scope, TdSym array, const TdType *type,
                            const TdFold *fold, int d, int64_t window) {
  Life l = {.q = q, .fold = fold, .d = d, .window = window};
  l.a = td_arena_scratch(td_affine_ctx(q->affine));
  TdSpace *space = td_access_space(l.a);
  TdNestMaker m = {q->prog->store->session, space, &(TdEnv){.unit = q->unit}};
  l.context = td_nest_context(&m, scope);
  find_extents(&l, space, type);
  if (find_events(&l, td_access_list(q, space, &scope, 1), array))
    check_all(&l, space);
  else
    td_verdict_unknown(&l.v, "it is used in a loop that may end early");
  td_arena_free(l.a);
  return l.v;
}

/* carried_body.c - an iteration of an instance, which gets the values that travel first and passes
 * on what others need last, and the driver, which sends what comes from outside the grid. */
#include "analysis/range/range.h"
#include "rewrite/task/carried.h"

typedef TD_VEC(const TdStmt *) List;

static void add(const TdCarried *c, List *l, const TdStmt *s) {
  td_vec_push(c->r->arena, l, s);
}

static const TdStmt *block(const TdCarried *c, const List *l) {
  return td_stmt_block(c->r->store, l->at, l->n, c->loop[0]->loc);
}

static const TdExpr *local(const TdCarried *c, TdSym v, const TdType *t) {
  return td_expr_load(c->r->store->arena, v, t, NULL, 0, c->loop[0]->loc);
}

static TdSym new_local(const TdCarried *c, const char *like, const char *what) {
  const char *want = td_text_fmt(c->r->arena, "%s_%s", like, what);
  return td_store_sym(c->r->store, td_util_name(c->r, c->unit, NULL, want), TD_SYM_LOCAL);
}

/* The element that an iteration writes, as an instance has it. */
static const TdExpr *written(const TdCarried *c, const TdCarriedArray *a) {
  if (!a->local) return a->place;
  if (!a->stays) return local(c, a->local, a->elem);
  return td_expr_load(c->r->store->arena, a->local, a->elem, a->place->kid, (int)a->place->nkid,
                      a->place->loc);
}

/* Declares a scalar that is 0 at first. */
static const TdStmt *declare(const TdCarried *c, TdSym v, const TdType *t) {
  const TdExpr *zero = td_expr_lit(c->r->store->arena, t, 0, c->loop[0]->loc);
  return td_stmt_local(c->r->store, v, t, TD_INIT_VALUE, zero, c->loop[0]->loc);
}

/* "if cond then s, else rest"; s alone where nothing is left. */
static const TdStmt *choose(const TdCarried *c, const TdExpr *cond, const TdStmt *s,
                            const TdStmt *rest) {
  if (!cond) return s;
  return td_stmt_if(c->r->store, cond, td_util_block1(c->r, s),
                    rest ? td_util_block1(c->r, rest) : NULL, s->loc);
}

static const TdStmt *get(const TdCarried *c, const TdCarriedArray *a, const TdCarriedStream *s,
                         TdSym v) {
  return td_stmt_get(c->r->store, td_carried_end(c, s, NULL, a->elem), NULL, a->elem,
                     local(c, v, a->elem), c->loop[0]->loc);
}

/* The load of a value, from the instance's own store. */
static const TdExpr *own_load(const TdCarried *c, const TdCarriedArray *a,
                              const TdCarriedValue *v) {
  TdSym from = a->local && a->stays ? a->local : a->sym;
  return td_expr_load(c->r->store->arena, from, a->elem, v->load->kid, (int)v->load->nkid,
                      v->load->loc);
}

/* Where a value comes from: the neighbours, an earlier iteration, the driver. */
static const TdStmt *fetch(const TdCarried *c, const TdCarriedArray *a, const TdCarriedValue *v) {
  const TdStmt *rest = NULL;
  TdStore *st = c->r->store;
  for (size_t i = v->face.n; i-- > 0;) {
    const TdFace *f = &v->face.at[i];
    rest = choose(c, i + 1 < v->face.n ? f->here : NULL, get(c, a, f->stream, v->local), rest);
  }
  for (size_t i = v->source.n; i-- > 0;) {
    const TdSource *s = &v->source.at[i];
    const TdStmt *one = NULL;
    if (s->stream) one = get(c, a, s->stream, v->local);
    if (!s->link && c->driver)
      one = td_stmt_store(st, local(c, v->local, a->elem), own_load(c, a, v), v->load->loc);
    if (one) rest = choose(c, s->cond, one, rest);
  }
  return rest;
}

/* Whether `cond` (NULL: always true) is not known to be false wherever statement s is reached, that
 * is, where `path` (NULL: always) holds: conditions around it that may be unions. */
static bool may_hold(const TdCarried *c, const TdStmt *s, const TdExpr *path, const TdExpr *cond) {
  TdAsk q = td_util_ask(c->r, c->unit);
  const TdExpr *both = td_carried_and(c, path, cond);
  return !both || td_range_holds(&q, s, td_carried_not(c, both), false) != TD_YES;
}

/* Adds the loads of a value from the array, which it needs where no stream brings it: in a box,
 * where some dimension has no iteration so far, or it is one of the same instance. */
static void add_loads(const TdCarried *c, const TdCarriedValue *v, const TdStmt *s,
                      const TdExpr *path, List *out) {
  const TdStmt *not_box;
  const TdExpr *cond = NULL;
  TdStore *st = c->r->store;
  const TdExpr *to = local(c, v->local, v->load->type);
  if (c->driver) return;
  if (td_carried_is_box(c, &not_box) && v->dim.n) {
    const TdStmt *load = NULL;
    for (size_t i = v->source.n; i-- > 0;)
      if (!v->source.at[i].link && may_hold(c, s, path, v->source.at[i].cond))
        load = choose(c, v->source.at[i].cond, td_stmt_store(st, to, v->load, s->loc), load);
    for (size_t i = v->dim.n; i-- > 0;)
      if (may_hold(c, s, path, v->dim.at[i].beyond))
        load = choose(c, v->dim.at[i].beyond, td_stmt_store(st, to, v->load, s->loc), load);
    if (load) add(c, out, load);
    return;
  }
  for (size_t i = 0; i < v->source.n; i++) {
    const TdSource *from = &v->source.at[i];
    if (!from->stream) continue;
    if (!from->cond) return;
    cond = td_carried_and(c, cond, td_carried_not(c, from->cond));
  }
  if (may_hold(c, s, path, cond))
    add(c, out, td_carried_if(c, cond, td_stmt_store(st, to, v->load, s->loc)));
}

/* Whether a value is taken from a stream at all. */
static bool travels(const TdCarried *c, const TdCarriedValue *v) {
  for (size_t i = 0; i < v->source.n; i++)
    if (v->source.at[i].stream) return true;
  return c->driver && !v->own;
}

/* Whether an expression has the load. */
typedef struct Has {
  const TdCarried *c;
  const TdExpr *load;
  bool found;
} Has;
static bool look(void *ud, const TdExpr *e) {
  Has *h = ud;
  h->found |= e->kind == TD_EXPR_LOAD && td_carried_same(h->c, e, h->load);
  return !h->found;
}

/* Adds what fills the values that statement s uses from the array, where no stream brings them. */
static void add_fallbacks(const TdCarried *c, const TdStmt *s, const TdExpr *path, List *out) {
  for (size_t i = 0; i < c->array.n; i++)
    for (size_t k = 0; k < c->array.at[i]->value.n; k++) {
      const TdCarriedValue *v = &c->array.at[i]->value.at[k];
      Has h = {.c = c, .load = v->load};
      if (!v->local) continue;
      for (uint32_t e = s->kind == TD_STMT_STORE ? 1 : 0; e < s->nexpr; e++)
        td_walk_expr(s->expr[e], look, &h);
      if (h.found) add_loads(c, v, s, path, out);
    }
}

/* Elements of the arrays as an instance has them. */
static const TdExpr *rename(void *ud, const TdExpr *e) {
  const TdCarried *c = ud;
  for (size_t i = 0; e->kind == TD_EXPR_LOAD && i < c->array.n; i++) {
    const TdCarriedArray *a = c->array.at[i];
    if (e->sym != a->sym) continue;
    if (a->place && td_carried_same(c, e, a->place)) return written(c, a);
    for (size_t k = 0; k < a->value.n; k++)
      if (a->value.at[k].local && td_carried_same(c, e, a->value.at[k].load))
        return local(c, a->value.at[k].local, a->elem);
  }
  return e;
}

/* What holds in arm i of a statement that is reached where `path` holds, data aside. */
static const TdExpr *path_in(const TdCarried *c, const TdExpr *path, const TdStmt *s, uint32_t i) {
  if (s->kind != TD_STMT_IF || !td_util_is_steady(s->expr[0])) return path;
  return td_carried_and(c, path, i ? td_carried_not(c, s->expr[0]) : s->expr[0]);
}

/* s in an instance, reached where `path` holds: elements as it has them, and before each statement
 * what fills the values that it uses from the array, where no stream brings them. */
static const TdStmt *in_instance(const TdCarried *c, const TdStmt *s, const TdExpr *path) {
  TdStore *st = c->r->store;
  List list = {0};
  if (s->kind != TD_STMT_BLOCK) {
    const TdExpr **e = TD_NEWN(c->r->arena, const TdExpr *, s->nexpr + 1);
    const TdStmt **kid = TD_NEWN(c->r->arena, const TdStmt *, s->nkid + 1);
    for (uint32_t i = 0; i < s->nexpr; i++)
      e[i] = td_walk_map_expr(st->arena, s->expr[i], rename, (void *)(uintptr_t)c);
    for (uint32_t i = 0; i < s->nkid; i++)
      kid[i] = in_instance(c, s->kid[i], path_in(c, path, s, i));
    if (s->nexpr) s = td_stmt_with_exprs(st, s, e, s->nexpr);
    return s->nkid ? td_stmt_with_kids(st, s, kid, s->nkid) : s;
  }
  for (uint32_t i = 0; i < s->nkid; i++) {
    add_fallbacks(c, s->kid[i], path, &list);
    add(c, &list, in_instance(c, s->kid[i], path));
  }
  return td_stmt_with_kids(st, s, list.at, list.n);
}

/* Whether a source goes the way; all do if none is named. */
static bool goes(const TdCarried *c, const TdSource *s, const TdWay *w) {
  for (int a = 0; w && a < c->rank; a++)
    if (s->dir[a] != w->by[a]) return false;
  return true;
}

static const TdExpr *or_result(const TdCarried *c, const TdCarriedArray *a, size_t back,
                               const TdExpr *cond) {
  if (a->by_back != back + 1 || !cond || a->back.at[back].now) return cond;
  return td_expr_op2(c->r->store->arena, TD_OP_OR, td_type_bool(c->r->session), cond,
                     td_carried_is_result(c, a));
}

/* Puts what goes back along the axes of a way, or along all. */
static void put_back(const TdCarried *c, const TdCarriedArray *a, const TdWay *w, bool *done,
                     List *out) {
  for (size_t i = 0; i < a->back.n; i++) {
    const TdSource *s = &a->back.at[i];
    bool along = !w;
    for (int x = 0; w && x < c->rank; x++) along |= s->dir[x] && w->by[x];
    if (done[i] || !along) continue;
    done[i] = true;
    const TdExpr *cond =
        s->now ? td_carried_inside(c, &s->shift, 1) : td_carried_goes_on(c, &s->shift);
    cond = or_result(c, a, i, cond);
    const TdExpr *to = td_carried_end(c, s->stream, &s->shift, a->elem);
    add(c, out, td_carried_if(c, cond, td_stmt_put(c->r->store, to, written(c, a), to->loc)));
  }
}

/* Puts what other instances get of a value, a way (NULL: all). */
static void put_links(const TdCarried *c, const TdCarriedArray *a, const TdCarriedValue *v,
                      const TdWay *w, List *out) {
  for (size_t k = 0; k < v->source.n; k++) {
    const TdSource *s = &v->source.at[k];
    if (!s->stream || !goes(c, s, w)) continue;
    const TdExpr *value = a->place ? written(c, a) : local(c, v->local, a->elem);
    const TdExpr *to = td_carried_end(c, s->stream, &s->shift, a->elem);
    const TdExpr *cond = td_carried_goes_on(c, &s->shift);
    add(c, out, td_carried_if(c, cond, td_stmt_put(c->r->store, to, value, to->loc)));
  }
}

/* Puts what the iteration wrote to those that get it, a way (NULL: all). */
static void put_written(const TdCarried *c, const TdCarriedArray *a, const TdWay *w, List *out) {
  for (size_t i = 0; a->place && i < a->value.n; i++) put_links(c, a, &a->value.at[i], w, out);
}

static void put_out(const TdCarried *c, const TdCarriedArray *a, List *out) {
  if (!a->out) return;
  const TdExpr *to = td_carried_end(c, a->out, NULL, a->elem);
  const TdExpr *cond = a->result ? td_carried_is_result(c, a) : NULL;
  add(c, out, td_carried_if(c, cond, td_stmt_put(c->r->store, to, written(c, a), to->loc)));
}

/* All that an iteration puts of what it wrote, in the order of the ways; what it passes on goes
 * before that, once all has come. */
static void put_all(const TdCarried *c, List *out) {
  bool **done = TD_NEWN(c->r->arena, bool *, c->array.n);
  for (size_t i = 0; i < c->array.n; i++)
    done[i] = TD_NEWN(c->r->arena, bool, c->array.at[i]->back.n + 1);
  for (size_t n = 0; n < c->way.n; n++)
    for (size_t i = 0; i < c->array.n; i++) {
      if (c->array.at[i] != c->way.at[n].array) continue;
      put_written(c, c->array.at[i], &c->way.at[n], out);
      put_back(c, c->array.at[i], &c->way.at[n], done[i], out);
    }
  for (size_t i = 0; i < c->array.n; i++) {
    const TdCarriedArray *a = c->array.at[i];
    if (!c->way.n) put_written(c, a, NULL, out);
    put_back(c, a, NULL, done[i], out);
    put_out(c, a, out);
  }
}

const TdStmt *td_carried_declare(const TdCarried *c) {
  List list = {0};
  for (size_t i = 0; i < c->array.n; i++) {
    TdCarriedArray *a = c->array.at[i];
    if (c->driver && a->place) a->local = new_local(c, a->sym->name, "new");
    for (size_t k = 0; k < a->value.n; k++)
      if (travels(c, &a->value.at[k])) a->value.at[k].local = new_local(c, a->sym->name, "old");
    if (!a->local || !a->stays) continue;
    add(c, &list,
        td_stmt_local(c->r->store, a->local, a->type, TD_INIT_NONE, NULL, c->loop[0]->loc));
  }
  return list.n ? block(c, &list) : NULL;
}

const TdStmt *td_carried_body(const TdCarried *c) {
  List list = {0};
  const TdStmt *body = c->body;
  for (size_t i = 0; i < c->array.n; i++) {
    const TdCarriedArray *a = c->array.at[i];
    if (a->local && !a->stays) add(c, &list, declare(c, a->local, a->elem));
    for (size_t k = 0; k < a->value.n; k++) {
      const TdCarriedValue *v = &a->value.at[k];
      if (!v->local) continue;
      add(c, &list, declare(c, v->local, a->elem));
      const TdStmt *s = fetch(c, a, v);
      if (s) add(c, &list, s);
    }
  }
  for (size_t i = 0; i < c->array.n; i++) {
    const TdCarriedArray *a = c->array.at[i];
    for (size_t k = 0; !a->place && k < a->value.n; k++)
      if (a->value.at[k].local) put_links(c, a, &a->value.at[k], NULL, &list);
  }
  const TdStmt *own = in_instance(c, body, NULL);
  for (uint32_t i = 0; i < own->nkid; i++) add(c, &list, own->kid[i]);
  put_all(c, &list);
  const TdStmt *all = block(c, &list);
  if (!c->guard) return all;
  return td_util_block1(c->r, td_stmt_if(c->r->store, c->guard, all, NULL, all->loc));
}

/* s for each coordinate of a stream's instances. */
static const TdStmt *for_each(const TdCarried *c, const TdCarriedStream *z, const TdStmt *s) {
  TdRewrite *r = c->r;
  TdArena *arena = r->store->arena;
  for (int a = c->rank - 1; a >= 0; a--) {
    const TdStmt *loop = c->loop[c->of_axis[a]];
    TdSubst sub = td_subst_new(r->store);
    int64_t n;
    const TdExpr *first = td_lin_plus(r->session, arena, td_for_lo(loop), z->lo[a]);
    if (td_expr_is_const(z->n[a], &n) && n == 1) {
      td_subst_expr(&sub, loop->sym, first);
      s = td_subst_in_stmt(&sub, s);
      continue;
    }
    TdSym v = td_store_sym(r->store, loop->sym->name, TD_SYM_LOOP);
    td_subst_expr(&sub, loop->sym, td_util_var(r, v));
    const TdStmt *body = td_util_block1(r, td_subst_in_stmt(&sub, s));
    const TdExpr *end = td_lin_plus(r->session, arena, first, z->n[a]);
    s = td_stmt_for(r->store, v, first, end, 1, body, loop->loc);
  }
  return s;
}

/* What the driver gets before it sends what an iteration needs, or (`now`) after that. */
static void drive_back(const TdCarried *c, const TdCarriedArray *a, bool now, List *out) {
  for (size_t i = 0; i < a->back.n; i++) {
    const TdSource *s = &a->back.at[i];
    if (s->now != now) continue;
    const TdExpr *place = td_carried_moved(c, a->place, &s->shift, -1);
    const TdExpr *from = td_carried_end(c, s->stream, NULL, a->elem);
    const TdStmt *get_ = td_stmt_get(c->r->store, from, NULL, a->elem, place, from->loc);
    const TdExpr *cond = td_carried_in_time(c, &s->shift, -1);
    if (c->guard)
      cond = td_carried_and(c, cond, now ? td_carried_moved(c, c->guard, &s->shift, -1) : c->guard);
    add(c, out, for_each(c, s->stream, td_carried_if(c, cond, get_)));
  }
}

static void drive_in(const TdCarried *c, const TdCarriedArray *a, List *out) {
  for (size_t i = 0; i < a->value.n; i++)
    for (size_t k = 0; k < a->value.at[i].face.n; k++) {
      const TdCarriedValue *v = &a->value.at[i];
      const TdFace *f = &v->face.at[k];
      const TdExpr *to = td_carried_end(c, f->stream, NULL, a->elem);
      const TdStmt *put = td_stmt_put(c->r->store, to, v->load, to->loc);
      const TdExpr *cond = td_carried_and(c, f->cond, c->guard);
      add(c, out, for_each(c, f->stream, td_carried_if(c, cond, put)));
    }
}

static void drive_out(const TdCarried *c, const TdCarriedArray *a, List *out) {
  if (!a->out || a->result) return;
  const TdExpr *from = td_carried_end(c, a->out, NULL, a->elem);
  const TdStmt *get_ = td_stmt_get(c->r->store, from, NULL, a->elem, a->place, from->loc);
  add(c, out, for_each(c, a->out, td_carried_if(c, c->guard, get_)));
}

/* The result, got after all iterations, if one of them writes it. */
static const TdStmt *drive_result(const TdCarried *c, const TdCarriedArray *a) {
  TdRewrite *r = c->r;
  TdSubst sub = td_subst_new(r->store);
  TdStride none = {0};
  const TdSource *back = a->by_back ? &a->back.at[a->by_back - 1] : NULL;
  const TdExpr *from =
      td_carried_end(c, back ? back->stream : a->out, back ? &back->shift : &none, a->elem);
  const TdExpr *place =
      td_expr_load(r->store->arena, a->sym, a->elem, a->result, (int)a->place->nkid, a->place->loc);
  const TdExpr *cond = NULL;
  TdAsk q = td_util_ask(r, c->unit);
  for (size_t k = 0; k < c->nloop; k++) {
    const TdType *bool_ = td_type_bool(r->session);
    const TdExpr *lo =
        td_expr_op2(r->store->arena, TD_OP_LE, bool_, td_for_lo(c->loop[k]), a->at[k]);
    const TdExpr *hi =
        td_expr_op2(r->store->arena, TD_OP_LT, bool_, a->at[k], td_for_hi(c->loop[k]));
    td_subst_expr(&sub, c->loop[k]->sym, a->at[k]);
    if (td_range_holds(&q, c->loop[0], lo, false) != TD_YES) cond = td_carried_and(c, cond, lo);
    if (td_range_holds(&q, c->loop[0], hi, false) != TD_YES) cond = td_carried_and(c, cond, hi);
  }
  const TdStmt *s =
      td_stmt_get(r->store, td_subst_in_expr(&sub, from), NULL, a->elem, place, from->loc);
  return td_carried_if(c, cond, s);
}

/* Whether the result comes by itself, after what the driver gets for later iterations. */
static bool is_apart(const TdCarriedArray *a) {
  return a->result && !(a->by_back && a->back.at[a->by_back - 1].now);
}

const TdStmt *td_carried_driver(const TdCarried *c, const TdStmt *nest) {
  TdStore *st = c->r->store;
  List list = {0}, all = {0};
  for (size_t i = 0; i < c->array.n; i++) drive_back(c, c->array.at[i], false, &list);
  for (size_t i = 0; i < c->array.n; i++) drive_in(c, c->array.at[i], &list);
  for (size_t i = 0; i < c->array.n; i++) drive_back(c, c->array.at[i], true, &list);
  for (size_t i = 0; i < c->array.n; i++) drive_out(c, c->array.at[i], &list);
  const TdStmt *s = block(c, &list);
  for (size_t k = c->nloop; k-- > 0;) {
    const TdStmt *loop = c->loop[k];
    if (c->axis[k] >= 0) continue;
    if (s->kind != TD_STMT_BLOCK) s = td_util_block1(c->r, s);
    s = td_stmt_for(st, loop->sym, td_for_lo(loop), td_for_hi(loop), 1, s, loop->loc);
  }
  add(c, &all, td_walk_copy(st, s, NULL));
  for (size_t i = 0; i < c->array.n; i++)
    if (is_apart(c->array.at[i])) add(c, &all, drive_result(c, c->array.at[i]));
  return td_edit_replace(st, c->unit->body, nest->uid, all.at, all.n);
}

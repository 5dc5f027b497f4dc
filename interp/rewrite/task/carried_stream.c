/* carried_stream.c - the streams of values that travel: between instances, from the driver to the
 * edge of the grid, and back to it. */
#include "rewrite/task/carried.h"

#include <string.h>

static const TdExpr *plus(const TdCarried *c, const TdExpr *x, int64_t n) {
  return td_lin_plus(c->r->session, c->r->store->arena, x, td_util_const(c->r, n));
}

/* How many tokens are on their way from an iteration to that which they are for, and two for each
 * instance on the way that is passed by: others go through these meanwhile. */
static const TdExpr *depth_of(const TdCarried *c, const TdSource *s) {
  const TdStride *shift = &s->shift;
  int64_t hops = 0;
  TdRewrite *r = c->r;
  TdAsk q = td_util_ask(r, c->unit);
  q.arena = r->store->arena;
  const TdExpr *all = td_util_const(r, 0);
  int64_t fixed;
  for (size_t k = 0; k < c->nloop; k++) {
    if (c->axis[k] >= 0) continue;
    const TdExpr *trip = td_range_trip_expr(&q, c->loop[k]);
    int64_t n = 0, lo;
    bool has = trip && td_expr_is_const(trip, &n);
    if (trip && !has && !td_util_varies(trip) && td_expr_is_const(all, &fixed) && fixed == 1)
      all = trip;
    else if (has || (trip && td_range_of(&q, c->loop[k], trip, &lo, &n)) ||
             (td_expr_is_const(all, &fixed) && fixed == 0))
      all = td_lin_times(r->session, r->store->arena, all, n);
    else
      return NULL;
    all = plus(c, all, shift->by[k]);
  }
  for (int a = 0; a < c->rank; a++) hops += s->dir[a] < 0 ? -s->dir[a] : s->dir[a];
  return plus(c, all, 2 * (hops > 1 ? hops : 1));
}

/* Whether a stream of that name is among those made. */
static bool is_taken(const TdCarried *c, const char *name) {
  for (size_t i = 0; i < c->stream.n; i++)
    if (strcmp(c->stream.at[i].sym->name, name) == 0) return true;
  return false;
}

/* Makes the stream of s, whose lo and n are set; *out is NULL where it has no element. */
static bool make(TdCarried *c, const TdCarriedArray *a, const char *what, const TdSource *from,
                 TdCarriedStream s, TdCarriedStream **out) {
  TdRewrite *r = c->r;
  const TdExpr *dim[TD_MAX_RANK];
  int rank = 0;
  *out = NULL;
  for (int x = 0; x < c->rank; x++) {
    int64_t n = 0;
    bool has = td_expr_is_const(s.n[x], &n);
    if (has && n <= 0) return true;
    if (!has || n > 1) dim[rank++] = s.n[x];
  }
  const TdExpr *depth = from ? depth_of(c, from) : td_util_const(r, 2);
  if (!depth) {
    td_util_refuse(r, TD_ILLEGAL, "depth", c->loop[0]->loc,
                   "how many values of '%s' are on their way at a time is not known", a->sym->name);
    td_diag_help(r->diag, "give the sizes values, or assume what they are at most");
    return false;
  }
  const char *want = td_text_fmt(r->arena, "%s_%s", a->sym->name, what), *name = want;
  name = td_edit_fresh_name(r->store, c->unit, want);
  for (int i = 1; is_taken(c, name); i++)
    name = td_edit_fresh_name(r->store, c->unit, td_text_fmt(r->arena, "%s_%d", want, i));
  s.stream = (TdStream){.sym = td_store_sym(r->store, name, TD_SYM_STREAM),
                        .uid = td_store_uid(r->store),
                        .loc = c->loop[0]->loc,
                        .type = td_type_port(r->session, a->elem, rank, dim, false),
                        .depth = depth};
  td_vec_push(r->store->arena, &c->stream, s.stream);
  *out = TD_NEW(r->arena, TdCarriedStream);
  **out = s;
  return true;
}

/* All instances. */
static TdCarriedStream whole(const TdCarried *c) {
  TdCarriedStream s = {0};
  for (int a = 0; a < c->rank; a++) {
    s.lo[a] = td_util_const(c->r, 0);
    s.n[a] = c->extent[a];
  }
  return s;
}

/* The stream to the instances that lie `shift` behind others. */
static bool make_link(TdCarried *c, const TdCarriedArray *a, const char *what, TdSource *s) {
  TdCarriedStream z = whole(c);
  for (int x = 0; x < c->rank; x++) {
    int64_t by = s->shift.by[c->of_axis[x]];
    if (by > 0) z.lo[x] = td_util_const(c->r, by);
    z.n[x] = plus(c, c->extent[x], by > 0 ? -by : by);
  }
  return make(c, a, what, s, z, &s->stream);
}

static const TdExpr *either(const TdCarried *c, const TdExpr *x, const TdExpr *y) {
  if (!x || !y) return NULL;
  return td_expr_op2(c->r->store->arena, TD_OP_OR, td_type_bool(c->r->session), x, y);
}

/* Whether, by dimension d alone, an iteration gets its value from the driver; NULL: always. */
static const TdExpr *is_outside(const TdCarried *c, const TdCarriedDim *d) {
  const TdExpr *inside = NULL;
  bool first = true;
  for (size_t i = 0; i < d->part.n; i++) {
    if (d->part.at[i].wraps) continue;
    const TdExpr *x = td_carried_inside(c, &d->part.at[i].shift, -1);
    inside = first ? x : either(c, inside, x);
    first = false;
  }
  return inside ? td_carried_not(c, inside) : NULL;
}

/* How many coordinates from the edge a dimension's value may come from the driver: negative at the
 * far edge. */
static int64_t reach_of(const TdCarried *c, const TdCarriedDim *d) {
  int64_t reach = 0;
  for (size_t i = 0; i < d->part.n; i++) {
    int64_t dir = d->part.at[i].dir[d->axis];
    bool edge = d->part.at[i].wraps || !d->straight || d->part.n == 1;
    if (edge && (dir < 0 ? -dir : dir) > (reach < 0 ? -reach : reach)) reach = dir;
  }
  (void)c;
  return reach;
}

/* The first, or last, coordinates of axis x in a stream; or all but these. */
static void cut(const TdCarried *c, TdCarriedStream *s, int x, int64_t reach, bool but) {
  int64_t n = reach < 0 ? -reach : reach, has;
  if (td_expr_is_const(c->extent[x], &has) && n > has) n = has;
  const TdExpr *rest = plus(c, c->extent[x], -n);
  if ((reach > 0) == but) {
    s->lo[x] = but ? td_util_const(c->r, n) : rest;
  }
  s->n[x] = but ? rest : td_util_const(c->r, n);
}

/* Whether the coordinate is among the first, or last, of axis x. */
static const TdExpr *is_near(const TdCarried *c, int x, int64_t reach) {
  TdArena *arena = c->r->store->arena;
  const TdType *bool_ = td_type_bool(c->r->session);
  const TdExpr *at = td_carried_at(c, x);
  if (reach > 0) return td_expr_op2(arena, TD_OP_LT, bool_, at, td_util_const(c->r, reach));
  return td_expr_op2(arena, TD_OP_LE, bool_, plus(c, c->extent[x], reach), at);
}

static bool add_face(TdCarried *c, const TdCarriedArray *a, TdCarriedValue *v, TdCarriedStream s,
                     const TdExpr *cond, const TdExpr *here) {
  TdFace f = {.cond = cond, .here = here};
  if (!make(c, a, "in", NULL, s, &f.stream)) return false;
  if (f.stream) td_vec_push(c->r->arena, &v->face, f);
  return true;
}

/* The instances that get a value of a written array from the driver: for each dimension those at
 * its edge that no dimension before has; then those that loops in time alone send there. */
static bool find_faces(TdCarried *c, const TdCarriedArray *a, TdCarriedValue *v) {
  TdCarriedStream left = whole(c);
  const TdExpr *before = NULL;
  if (!v->source.n) return add_face(c, a, v, left, NULL, NULL);
  for (int edge = 1; edge >= 0; edge--)
    for (size_t i = 0; i < v->dim.n; i++) {
      const TdCarriedDim *d = &v->dim.at[i];
      if ((d->axis >= 0) != edge) continue;
      if (d->axis == -2) {
        td_util_refuse(c->r, TD_UNSUPPORTED, "carried", v->load->loc,
                       "'%s' has an index of which two loops are axes: a driver cannot own it",
                       a->sym->name);
        return false;
      }
      TdCarriedStream s = left;
      const TdExpr *outside = is_outside(c, d), *cond = before, *here = outside;
      int64_t reach = edge ? reach_of(c, d) : 0;
      if (edge && !reach) continue;
      if (edge) cut(c, &s, d->axis, reach, false);
      if (edge) here = is_near(c, d->axis, reach);
      if (!edge || !d->straight) {
        cond = td_carried_and(c, cond, outside);
        if (outside) before = td_carried_and(c, before, td_carried_not(c, outside));
        if (edge) here = td_carried_and(c, here, outside);
      } else {
        cut(c, &left, d->axis, reach, true);
      }
      if (!add_face(c, a, v, s, cond, here)) return false;
    }
  return true;
}

/* Those that get an operand from the driver: the first of its way, or all. */
static bool find_operand_faces(TdCarried *c, const TdCarriedArray *a, TdCarriedValue *v) {
  TdCarriedStream s = whole(c);
  for (int x = 0; v->source.n && x < c->rank; x++)
    if (v->source.at[0].dir[x]) cut(c, &s, x, v->source.at[0].dir[x], false);
  return add_face(c, a, v, s, NULL, NULL);
}

/* Makes a source in the iteration before, by the innermost loop that is no axis, one of this
 * iteration: the driver sends the next one what it got. */
static void set_now(const TdCarried *c, TdSource *s) {
  size_t last = 0;
  int64_t sum = 0;
  for (size_t k = 0; k < c->nloop; k++) {
    if (c->axis[k] >= 0) continue;
    last = k;
    sum += s->shift.by[k] < 0 ? -s->shift.by[k] : s->shift.by[k];
  }
  s->now = sum == 1 && s->shift.by[last] == 1;
  if (s->now) s->shift.by[last] = 0;
}

/* Adds a source that goes back to the driver, once. */
static bool add_back(TdCarried *c, TdCarriedArray *a, TdSource s) {
  set_now(c, &s);
  for (size_t i = 0; i < a->back.n; i++)
    if (memcmp(&a->back.at[i].shift, &s.shift, sizeof s.shift) == 0) return true;
  TdSource order = s;
  if (!s.now && td_carried_settle(c, &order) != TD_EARLIER) {
    td_util_refuse(c->r, TD_ILLEGAL, "carried", c->loop[0]->loc,
                   "values of '%s' cross an edge of the grid backwards: a driver would wait for "
                   "iterations that it has not begun",
                   a->sym->name);
    td_diag_help(c->r->diag, "without a driver they go by streams past the edge");
    return false;
  }
  if (!make_link(c, a, "back", &s)) return false;
  if (s.stream) td_vec_push(c->r->arena, &a->back, s);
  return true;
}

static bool find_back(TdCarried *c, TdCarriedArray *a) {
  for (size_t i = 0; i < a->value.n; i++)
    for (size_t d = 0; d < a->value.at[i].dim.n; d++) {
      const TdCarriedDim *m = &a->value.at[i].dim.at[d];
      for (size_t k = 0; m->axis >= 0 && k < m->part.n; k++)
        if (m->part.at[k].wraps && !add_back(c, a, m->part.at[k])) return false;
    }
  return true;
}

/* The elements of an array that are read after the nest. */
typedef struct After {
  const TdCarried *c;
  TdCarriedArray *a;
  const TdExpr *one;
} After;

static bool is_fixed(void *ud, const TdExpr *e) {
  (void)ud;
  return e->kind != TD_EXPR_LOAD && e->kind != TD_EXPR_VAR && e->kind != TD_EXPR_VIEW;
}

static bool look_after(void *ud, const TdExpr *e) {
  After *f = ud;
  if (e->sym != f->a->sym) return true;
  bool one = e->kind == TD_EXPR_LOAD && (!f->one || td_carried_same(f->c, f->one, e));
  for (uint32_t d = 0; one && d < e->nkid; d++) one = td_walk_expr(e->kid[d], is_fixed, NULL);
  f->a->all |= !one;
  f->one = e;
  return true;
}

/* The loops' variables at the iteration that writes the result, as numbers where they are that. */
static bool find_result(TdCarried *c, TdCarriedArray *a, const TdStmt *nest) {
  TdAsk q = td_util_ask(c->r, c->unit);
  if (!td_carried_solve(c, a, a->result, a->at)) return false;
  for (size_t k = 0; k < c->nloop; k++) {
    int64_t lo, hi;
    if (td_range_of(&q, nest, a->at[k], &lo, &hi) && lo == hi) a->at[k] = td_util_const(c->r, lo);
  }
  for (int x = 0; x < c->rank; x++) {
    int64_t at;
    if (!td_expr_is_const(a->at[c->of_axis[x]], &at)) return false;
  }
  return true;
}

/* Chooses what goes back that the result goes with: its instance sends that too, at best always. */
static void choose_back(TdCarried *c, TdCarriedArray *a) {
  for (size_t i = 0; i < a->back.n; i++) {
    const TdSource *s = &a->back.at[i];
    bool has = !a->by_back || s->now;
    for (int x = 0; x < c->rank; x++) {
      int64_t at, lo, n, by = s->shift.by[c->of_axis[x]];
      has = has && td_expr_is_const(a->at[c->of_axis[x]], &at) &&
            td_expr_is_const(s->stream->lo[x], &lo) && td_expr_is_const(s->stream->n[x], &n) &&
            at + by >= lo && at + by < lo + n;
    }
    if (has) a->by_back = i + 1;
  }
}

/* What an array's values that leave the grid need: what the driver needs later, and the result. */
static bool find_ends(TdCarried *c, TdCarriedArray *a, const TdStmt *nest) {
  const TdStmt *root = c->unit->body;
  After f = {.c = c, .a = a};
  bool after = false;
  a->all = !a->decl; /* an argument is the caller's */
  for (uint32_t i = 0; i < root->nkid; i++) {
    if (after) td_walk_exprs(c->r->session->ctx, root->kid[i], look_after, &f);
    after |= root->kid[i] == nest;
  }
  if (f.one && !a->all) {
    a->result = f.one->kid;
    a->all = !find_result(c, a, nest);
  }
  if (a->all) a->result = NULL;
  if (a->all) return make(c, a, "out", NULL, whole(c), &a->out);
  if (!find_back(c, a)) return false;
  if (!a->result) return true;
  choose_back(c, a);
  TdCarriedStream s = whole(c);
  for (int x = 0; x < c->rank; x++) {
    s.lo[x] = a->at[c->of_axis[x]];
    s.n[x] = td_util_const(c->r, 1);
  }
  return a->by_back || make(c, a, "out", NULL, s, &a->out);
}

/* The streams between instances of one value. */
static bool make_links(TdCarried *c, const TdCarriedArray *a, TdCarriedValue *v) {
  for (size_t i = 0; i < v->source.n; i++) {
    TdSource *s = &v->source.at[i];
    if (s->link && !(c->driver && s->wraps) && !make_link(c, a, s->wraps ? "back" : "pass", s))
      return false;
  }
  return true;
}

/* Whether the nest is a box; only if not, *at is a loop whose bounds use others. */
bool td_carried_is_box(const TdCarried *c, const TdStmt **at) {
  for (size_t k = 0; k < c->nloop; k++)
    for (size_t i = 0; i < k; i++) {
      TdSym v = c->loop[i]->sym;
      *at = c->loop[k];
      if (td_walk_uses_expr(td_for_lo(*at), v) || td_walk_uses_expr(td_for_hi(*at), v))
        return false;
    }
  return true;
}

/* Whether a driver's loops do without the coordinates. */
static bool check_box(const TdCarried *c) {
  const TdStmt *at;
  if (td_carried_is_box(c, &at)) return true;
  td_util_refuse(c->r, TD_UNSUPPORTED, "carried", at->loc,
                 "the bounds of '%s' use another loop: a driver has a box of iterations",
                 at->sym->name);
  return false;
}

bool td_carried_streams(TdCarried *c, const TdStmt *nest) {
  if (c->driver && !check_box(c)) return false;
  for (size_t i = 0; i < c->array.n; i++) {
    TdCarriedArray *a = c->array.at[i];
    for (size_t k = 0; k < a->value.n; k++) {
      TdCarriedValue *v = &a->value.at[k];
      if (!make_links(c, a, v)) return false;
      if (!c->driver || v->own) continue;
      if (!(a->place ? find_faces : find_operand_faces)(c, a, v)) return false;
    }
    if (c->driver && a->place && !find_ends(c, a, nest)) return false;
  }
  return true;
}

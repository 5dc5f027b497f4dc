/* carried.c - which values of an iteration come from which other one. An element that the nest
 * writes in one place, x = f(iteration), is read at a constant distance d. Each dimension of f is
 * a mixed-radix number of loops (a loop and those it was split into), so that x - d is found digit
 * by digit: where a digit borrows, the value comes from past the edge, a step of the next outer
 * digit before. */
#include "analysis/range/range.h"
#include "rewrite/task/carried.h"

#include <string.h>

/* A loop in a dimension of an index, innermost first. */
typedef struct Digit {
  size_t loop;
  int64_t coef, extent; /* extent 0: the outermost, of any extent */
} Digit;

typedef struct Dim {
  Digit digit[TD_CARRIED_LOOPS];
  size_t n;
} Dim;

typedef TD_VEC(TdSource) Sources;

static bool refuse(const TdCarried *c, const char *code, TdLoc loc, TdSym sym, const char *why) {
  td_util_refuse(c->r, TD_ILLEGAL, code, loc, "'%s' %s", sym->name, why);
  return false;
}

static const TdStmt *body_of(const TdCarried *c) {
  return c->body;
}

/* The number of the expression that is the element of an array which a statement sets, or -1. */
static int place_at(const TdStmt *s, TdSym sym) {
  int i = s->kind == TD_STMT_STORE ? 0 : s->kind == TD_STMT_GET && s->nexpr == 2 ? 1 : -1;
  return i >= 0 && s->expr[i]->sym == sym ? i : -1;
}

/* The element of an array that a statement sets, or NULL. */
static const TdExpr *place_of(const TdStmt *s, TdSym sym) {
  int i = place_at(s, sym);
  return i < 0 ? NULL : s->expr[i];
}

/* Visits the expressions of a statement that are read: all but the element of the array that it
 * sets, whose index is. The node of that element may be read beside (x = with_bits(x, ..)). */
static void walk_read(const TdStmt *s, TdSym sym, bool (*visit)(void *ud, const TdExpr *e),
                      void *ud) {
  int place = place_at(s, sym);
  for (uint32_t i = 0; i < s->nexpr; i++) {
    const TdExpr *e = s->expr[i];
    if ((int)i != place)
      td_walk_expr(e, visit, ud);
    else
      for (uint32_t k = 0; k < e->nkid; k++) td_walk_expr(e->kid[k], visit, ud);
  }
}

/* A search of the body for the uses of an array. */
typedef struct Uses {
  const TdCarried *c;
  TdCarriedArray *a;
  TdLoc other; /* a second place, or all of it at once */
  bool many, whole;
} Uses;

static bool look_expr(void *ud, const TdExpr *e) {
  Uses *u = ud;
  if (e->sym != u->a->sym) return true;
  if (e->kind != TD_EXPR_LOAD) {
    u->whole = true;
    u->other = e->loc;
    return true;
  }
  u->a->elem = e->type;
  for (size_t i = 0; i < u->a->value.n; i++)
    if (td_carried_same(u->c, u->a->value.at[i].load, e)) return true;
  TdCarriedValue v = {.load = e};
  td_vec_push(u->c->r->arena, &u->a->value, v);
  return true;
}

static bool look_stmt(void *ud, const TdStmt *s) {
  Uses *u = ud;
  const TdExpr *place = place_of(s, u->a->sym);
  if (place) {
    if (u->a->place && !td_carried_same(u->c, u->a->place, place)) {
      u->many = true;
      u->other = s->loc;
    }
    u->a->place = place;
    u->a->elem = place->type;
  }
  walk_read(s, u->a->sym, look_expr, u);
  return true;
}

/* A search for what an iteration declares and an element depends on. */
typedef struct Within {
  const TdExpr *element;
  TdSym found;
} Within;

static bool look_declared(void *ud, const TdStmt *s) {
  Within *w = ud;
  bool declares = s->kind == TD_STMT_LOCAL || s->kind == TD_STMT_GET || s->kind == TD_STMT_SLOT ||
                  s->kind == TD_STMT_FOR;
  for (uint32_t d = 0; declares && s->sym && d < w->element->nkid; d++)
    if (td_walk_uses_expr(w->element->kid[d], s->sym)) w->found = s->sym;
  return !w->found;
}

/* Whether an element (NULL: none) is known where an iteration begins: it travels as one token. */
static bool check_element(const TdCarried *c, const TdCarriedArray *a, const TdExpr *element) {
  Within w = {element, NULL};
  if (element) td_walk_stmt(c->r->session->ctx, body_of(c), look_declared, &w);
  if (!w.found) return true;
  td_util_refuse(c->r, TD_ILLEGAL, "carried", element->loc,
                 "'%s' is not one element in each iteration: '%s', which its index uses, is "
                 "inside of it",
                 a->sym->name, w.found->name);
  td_diag_help(c->r->diag, "a perfect nest with a loop over '%s' sends one in each iteration",
               w.found->name);
  return false;
}

/* The values of an array in the body: what it reads, where it writes. */
static bool find_uses(const TdCarried *c, TdCarriedArray *a) {
  Uses u = {.c = c, .a = a};
  td_walk_stmt(c->r->session->ctx, body_of(c), look_stmt, &u);
  if (u.whole) return refuse(c, "carried", u.other, a->sym, "is used as a whole in the nest");
  if (u.many)
    return refuse(c, "carried", u.other, a->sym,
                  "is written in two places by one iteration: a value travels from one");
  if (!a->elem) return refuse(c, "carried", c->loop[0]->loc, a->sym, "is not used in the nest");
  for (size_t i = 0; i < a->value.n; i++)
    if (!check_element(c, a, a->value.at[i].load)) return false;
  return check_element(c, a, a->place);
}

/* The number of a symbol among the loops, or -1. */
static int loop_of(const TdCarried *c, TdSym v) {
  for (size_t k = 0; k < c->nloop; k++)
    if (c->loop[k]->sym == v) return (int)k;
  return -1;
}

/* How often a loop runs, a number; 0: none that is known for all sizes. */
static int64_t trip_of(const TdCarried *c, size_t k) {
  TdAsk q = td_util_ask(c->r, c->unit);
  int64_t n;
  const TdExpr *trip = td_range_trip_expr(&q, c->loop[k]);
  return trip && td_expr_is_const(trip, &n) ? n : 0;
}

/* Reads a dimension of an index as digits: loops with factors, each that of the digit inside times
 * its extent. */
static bool read_dim(const TdCarried *c, const TdExpr *index, Dim *out) {
  TdLin x = td_lin_of(c->r->session, c->r->arena, index);
  out->n = 0;
  for (size_t i = 0; i < x.n; i++) {
    int k = x.term[i].atom->kind == TD_EXPR_VAR ? loop_of(c, x.term[i].atom->sym) : -1;
    if (k < 0) continue;
    Digit d = {.loop = (size_t)k, .coef = x.term[i].coef};
    size_t at = out->n++;
    for (; at > 0 && out->digit[at - 1].coef > d.coef; at--) out->digit[at] = out->digit[at - 1];
    out->digit[at] = d;
  }
  for (size_t i = 0; i + 1 < out->n; i++) {
    Digit *d = &out->digit[i];
    d->extent = trip_of(c, d->loop);
    if (!d->extent || d->coef * d->extent != out->digit[i + 1].coef) return false;
  }
  return !out->n || out->digit[0].coef > 0;
}

static int64_t floor_div(int64_t x, int64_t y) {
  return x / y - (x % y < 0);
}

/* Adds the iterations that are d units of digit k, and what `s` says so far, away. */
static void borrow(const TdCarried *c, const Dim *dim, size_t k, int64_t d, TdSource s,
                   Sources *out) {
  const Digit *g = &dim->digit[k];
  int axis = c->axis[g->loop];
  if (k + 1 == dim->n) {
    s.shift.by[g->loop] = d;
    if (axis >= 0) s.dir[axis] = d;
    td_vec_push(c->r->arena, out, s);
    return;
  }
  int64_t carry = floor_div(d, g->extent), rest = d - carry * g->extent;
  for (int b = 0; b < 2; b++) {
    TdSource t = s;
    if (b && !rest) break;
    t.shift.by[g->loop] = b ? rest - g->extent : rest;
    if (axis >= 0) {
      t.dir[axis] = t.shift.by[g->loop] + (carry + b) * g->extent;
      t.wraps |= carry + b != 0 && t.shift.by[g->loop];
    }
    borrow(c, dim, k + 1, carry + b, t, out);
  }
}

/* Whether, in a box, no iteration is d units of the first digit before: the number that the digits
 * make would be less than the first one, or more than the last. */
static const TdExpr *beyond(const TdCarried *c, const Dim *dim, int64_t d) {
  TdArena *a = c->r->store->arena;
  TdSession *s = c->r->session;
  const TdExpr *at = td_util_const(c->r, 0), *end = at;
  for (size_t k = 0; k < dim->n; k++) {
    const Digit *g = &dim->digit[k];
    const TdStmt *loop = c->loop[g->loop];
    int64_t unit = g->coef / dim->digit[0].coef;
    const TdExpr *edge = d > 0 ? td_for_lo(loop) : td_for_hi(loop);
    if (d < 0) edge = td_lin_plus(s, a, edge, td_util_const(c->r, -1));
    at = td_lin_plus(s, a, at, td_lin_times(s, a, td_util_var(c->r, loop->sym), unit));
    end = td_lin_plus(s, a, end, td_lin_times(s, a, edge, unit));
  }
  end = td_lin_plus(s, a, end, td_util_const(c->r, d));
  return d > 0 ? td_expr_op2(a, TD_OP_LT, td_type_bool(s), at, end)
               : td_expr_op2(a, TD_OP_LT, td_type_bool(s), end, at);
}

/* The sum of two sources in dimensions of their own. */
static TdSource sum(const TdSource *x, const TdSource *y) {
  TdSource s = *x;
  for (size_t k = 0; k < TD_CARRIED_LOOPS; k++) s.shift.by[k] += y->shift.by[k];
  for (int a = 0; a < TD_MAX_RANK; a++) s.dir[a] += y->dir[a];
  s.wraps |= y->wraps;
  return s;
}

TdCarriedOrder td_carried_settle(const TdCarried *c, TdSource *s) {
  int nest = 0, time = 0;
  s->link = false;
  for (size_t k = 0; k < c->nloop; k++) {
    int sign = (s->shift.by[k] > 0) - (s->shift.by[k] < 0);
    if (!nest) nest = sign;
    if (c->axis[k] < 0 && !time) time = sign;
    s->link |= c->axis[k] >= 0 && sign;
  }
  s->wraps &= time != 0;
  s->cond = td_carried_inside(c, &s->shift, -1);
  return nest == 0 ? TD_SAME : nest < 0 ? TD_LATER : time < 0 ? TD_TURNED : TD_EARLIER;
}

/* Whether each dimension of a place is a mixed-radix number of loops of its own. */
static bool has_digits(const TdCarried *c, const TdExpr *place) {
  bool used[TD_CARRIED_LOOPS] = {false};
  for (uint32_t m = 0; m < place->nkid; m++) {
    Dim dim;
    if (!read_dim(c, place->kid[m], &dim)) return false;
    for (size_t k = 0; k < dim.n; k++) {
      if (used[dim.digit[k].loop]) return false;
      used[dim.digit[k].loop] = true;
    }
  }
  return true;
}

/* As find_sources, of a place whose indices are affine in several loops each. */
static bool solve_sources(const TdCarried *c, const TdCarriedArray *a, TdCarriedValue *v,
                          Sources *out, bool *loops) {
  int64_t *by = TD_NEWN(c->r->arena, int64_t, a->place->nkid + 1);
  TdSource s = {0};
  v->own = true;
  for (uint32_t m = 0; m < v->load->nkid; m++) {
    if (!td_lin_diff(c->r->session, a->place->kid[m], v->load->kid[m], &by[m])) return false;
    v->own &= by[m] == 0;
    v->ahead |= by[m] < 0;
  }
  TdCarriedSolved found = td_carried_affine(c, a, by, &s.shift, loops);
  if (found == TD_SOLVED_MANY) return v->own;
  for (size_t k = 0; k < c->nloop; k++)
    if (c->axis[k] >= 0) s.dir[c->axis[k]] = s.shift.by[k];
  if (found == TD_SOLVED_ONE) td_vec_push(c->r->arena, out, s);
  return true;
}

/* The iterations at the distance of a load from the place; false: it is no constant one. *loops:
 * the place leaves some loop out. */
static bool find_sources(const TdCarried *c, const TdCarriedArray *a, TdCarriedValue *v,
                         Sources *out, bool *loops) {
  TdSource zero = {0};
  const TdExpr *load = v->load;
  bool free_loop[TD_CARRIED_LOOPS];
  if (!has_digits(c, a->place)) return solve_sources(c, a, v, out, loops);
  for (size_t k = 0; k < c->nloop; k++) free_loop[k] = true;
  td_vec_push(c->r->arena, out, zero);
  v->own = true;
  for (uint32_t m = 0; m < load->nkid; m++) {
    Dim dim;
    int64_t d;
    if (!td_lin_diff(c->r->session, a->place->kid[m], load->kid[m], &d)) return false;
    if (!read_dim(c, a->place->kid[m], &dim)) return false;
    for (size_t k = 0; k < dim.n; k++) free_loop[dim.digit[k].loop] = false;
    if (!d) continue;
    v->own = false;
    v->ahead |= d < 0;
    Sources next = {0};
    TdCarriedDim part = {.axis = -1, .straight = true};
    if (!dim.n || d % dim.digit[0].coef) {
      out->n = 0; /* no iteration writes it */
      continue;
    }
    Sources digits = {0};
    borrow(c, &dim, 0, d / dim.digit[0].coef, zero, &digits);
    part.beyond = beyond(c, &dim, d / dim.digit[0].coef);
    for (size_t k = 0; k < digits.n; k++) td_vec_push(c->r->arena, &part.part, digits.at[k]);
    for (size_t k = 0; k < dim.n; k++) {
      int axis = c->axis[dim.digit[k].loop];
      if (axis < 0) continue;
      part.axis = part.axis == -1 ? axis : -2;
    }
    for (size_t k = 0; k < part.part.n; k++)
      for (size_t x = 0; x < c->nloop; x++)
        part.straight &= part.part.at[k].wraps || c->axis[x] >= 0 || !part.part.at[k].shift.by[x];
    td_vec_push(c->r->arena, &v->dim, part);
    for (size_t i = 0; i < out->n; i++)
      for (size_t k = 0; k < digits.n; k++) {
        TdSource s = sum(&out->at[i], &digits.at[k]);
        td_vec_push(c->r->arena, &next, s);
      }
    *out = next;
  }
  *loops = false;
  for (size_t k = 0; k < c->nloop; k++) *loops |= free_loop[k];
  return true;
}

/* The sources of a value of an array that the nest writes; those in the same iteration and those
 * that only later iterations write leave it as it is. */
static bool find_written(TdCarried *c, TdCarriedArray *a, TdCarriedValue *v) {
  Sources all = {0};
  bool again;
  if (!find_sources(c, a, v, &all, &again))
    return refuse(c, "carried", v->load->loc, a->sym,
                  "is read at no constant distance from what the iteration writes");
  if (v->own) return true;
  if (v->ahead && c->guard)
    return refuse(c, "carried", v->load->loc, a->sym,
                  "is read ahead in a dimension, where the loops are clamped");
  if (again && all.n)
    return refuse(c, "carried", v->load->loc, a->sym,
                  "is written again by iterations of a loop that its index does not have");
  for (size_t i = 0; i < all.n; i++) {
    TdSource s = all.at[i];
    TdCarriedOrder order = td_carried_settle(c, &s);
    if (order == TD_TURNED) {
      refuse(c, "carried", v->load->loc, a->sym,
             "would be read before it is written, in the order that the loops left have");
      td_diag_help(c->r->diag, "reorder or skew these loops, so that what it reads comes first");
      return false;
    }
    if (order == TD_LATER && c->driver)
      return refuse(c, "carried", v->load->loc, a->sym,
                    "is read before a later iteration writes it: a driver has no old values");
    if (order != TD_EARLIER) continue;
    a->stays |= !s.link;
    td_vec_push(c->r->arena, &v->source, s);
  }
  return true;
}

/* A walk that looks for an element of the place that is read, outside of what is written. */
typedef struct Before {
  const TdCarried *c;
  const TdExpr *place;
  const TdExpr *read; /* before it is written, or NULL */
} Before;

static bool look_before(void *ud, const TdExpr *e) {
  Before *b = ud;
  if (e->kind == TD_EXPR_LOAD && td_carried_same(b->c, e, b->place)) b->read = e;
  return !b->read;
}

/* Whether the place is written on every path through s, on which it was or not so far: definite
 * assignment. Notes a read of it before that. */
static bool is_assigned(Before *b, const TdStmt *s, bool was) {
  const TdExpr *place = place_of(s, b->place->sym);
  const TdExpr *outer = b->place;
  if (place) b->place = place;
  if (!was) walk_read(s, b->place->sym, look_before, b);
  b->place = outer;
  if (place) return true;
  bool now = was, all = s->nkid > 1;
  for (uint32_t i = 0; i < s->nkid; i++) {
    bool kid = is_assigned(b, s->kid[i], s->kind == TD_STMT_BLOCK ? now : was);
    if (s->kind == TD_STMT_BLOCK) now = kid;
    all &= kid;
  }
  return now || (s->kind == TD_STMT_IF && all);
}

/* What a driver gets of an array is what each iteration writes, and an iteration does not have what
 * the element held. */
static bool check_assigned(const TdCarried *c, const TdCarriedArray *a) {
  Before b = {.c = c, .place = a->place};
  bool all = is_assigned(&b, c->body, false);
  if (!b.read && all) return true;
  refuse(c, "carried", b.read ? b.read->loc : a->place->loc, a->sym,
         b.read ? "is read before the iteration writes it: a driver has no old values"
                : "is not written by each iteration: a driver has no old values");
  td_diag_help(c->r->diag, "without a driver instances have the array itself");
  return false;
}

/* Whether an index is within its dimension wherever the body is. */
static bool is_within(const TdCarried *c, const TdExpr *index, const TdExpr *dim) {
  TdArena *arena = c->r->store->arena;
  const TdType *bool_ = td_type_bool(c->r->session);
  TdAsk q = td_util_ask(c->r, c->unit);
  const TdExpr *lo = td_expr_op2(arena, TD_OP_LT, bool_, index, td_util_const(c->r, 0));
  const TdExpr *hi = td_expr_op2(arena, TD_OP_LE, bool_, dim, index);
  const TdExpr *out = td_expr_op2(arena, TD_OP_OR, bool_, lo, hi);
  const TdStmt *body = td_for_body(c->loop[c->nloop - 1]);
  out = td_carried_and(c, c->guard, out);
  return !body->nkid || td_range_holds(&q, body->kid[0], td_carried_not(c, out), false) == TD_YES;
}

/* What an iteration sends to others it has: it writes it on every path, or the element is one of
 * the array all the same. */
static bool check_sent(const TdCarried *c, const TdCarriedArray *a) {
  Before b = {.c = c, .place = a->place};
  bool sent = false, in = true;
  for (size_t i = 0; i < a->value.n; i++)
    for (size_t k = 0; k < a->value.at[i].source.n; k++) sent |= a->value.at[i].source.at[k].link;
  if (!sent || is_assigned(&b, c->body, false)) return true;
  for (uint32_t m = 0; m < a->place->nkid; m++)
    in = in && is_within(c, a->place->kid[m], a->type->dim[m]);
  if (in) return true;
  refuse(c, "carried", a->place->loc, a->sym,
         "is sent by iterations that do not write it, and its index may be out of range there");
  td_diag_help(c->r->diag, "one condition around all that an iteration does tells which send");
  return false;
}

/* Takes the way of an operand: from the neighbour. */
static bool find_operand(TdCarried *c, TdCarriedArray *a, TdCarriedValue *v) {
  for (size_t i = 0; i < c->way.n; i++) {
    TdWay *w = &c->way.at[i];
    if (w->array != a) continue;
    TdSource s = {0};
    int along = -1;
    for (int x = 0; x < c->rank; x++) {
      s.dir[x] = s.shift.by[c->of_axis[x]] = w->by[x];
      if (w->by[x]) along = along < 0 ? x : c->rank;
    }
    w->used = true;
    if (along == c->rank)
      return refuse(c, "way", v->load->loc, a->sym, "goes along one axis: it is only read");
    if (along < 0) continue;
    if (td_walk_uses_expr(v->load, c->loop[c->of_axis[along]]->sym)) {
      refuse(c, "way", v->load->loc, a->sym, "differs along the way that it would go");
      td_diag_help(c->r->diag, "it goes along an axis that its index does not depend on");
      return false;
    }
    s.link = true;
    s.cond = td_carried_inside(c, &s.shift, -1);
    td_vec_push(c->r->arena, &v->source, s);
  }
  return v->source.n < 2 || refuse(c, "way", v->load->loc, a->sym, "is given two ways");
}

/* Whether a source goes some way that the user names; all do if none is named. */
static bool has_way(TdCarried *c, const TdCarriedArray *a, const TdSource *s) {
  bool found = c->way.n == 0;
  for (size_t i = 0; i < c->way.n; i++) {
    TdWay *w = &c->way.at[i];
    if (w->array != a || memcmp(w->by, s->dir, (size_t)c->rank * sizeof *w->by) != 0) continue;
    w->used = found = true;
  }
  return found;
}

static const char *vector(const TdCarried *c, const int64_t *by) {
  const char *text = "";
  for (int a = 0; a < c->rank; a++)
    text = td_text_fmt(c->r->arena, "%s%s%lld", text, a ? ", " : "", (long long)by[a]);
  return text;
}

/* Whether each value that travels has a way, and each way a value. */
static bool check_ways(TdCarried *c) {
  for (size_t i = 0; i < c->array.n; i++)
    for (size_t k = 0; k < c->array.at[i]->value.n; k++) {
      const TdCarriedValue *v = &c->array.at[i]->value.at[k];
      for (size_t n = 0; n < v->source.n; n++) {
        const TdSource *s = &v->source.at[n];
        if (!s->link || has_way(c, c->array.at[i], s)) continue;
        td_util_refuse(c->r, TD_ILLEGAL, "way", v->load->loc,
                       "'%s' comes from the instance {%s} before, and no way of '%s' is that",
                       td_print_expr_str(c->r->arena, v->load), vector(c, s->dir),
                       v->load->sym->name);
        td_diag_help(c->r->diag, "add {%s}", vector(c, s->dir));
        return false;
      }
    }
  for (size_t i = 0; i < c->way.n; i++)
    if (!c->way.at[i].used) {
      td_util_refuse(c->r, TD_ILLEGAL, "way", c->loop[0]->loc, "no value of '%s' goes {%s}",
                     c->way.at[i].array->sym->name, vector(c, c->way.at[i].by));
      return false;
    }
  return true;
}

bool td_carried_solve(const TdCarried *c, const TdCarriedArray *a, const TdExpr *const *index,
                      const TdExpr **at) {
  TdArena *arena = c->r->store->arena;
  TdSession *session = c->r->session;
  for (size_t k = 0; k < c->nloop; k++) at[k] = NULL;
  for (uint32_t m = 0; m < a->place->nkid; m++) {
    Dim dim;
    TdSubst sub = td_subst_new(c->r->store);
    if (!read_dim(c, a->place->kid[m], &dim)) return false;
    for (size_t k = 0; k < dim.n; k++)
      td_subst_expr(&sub, c->loop[dim.digit[k].loop]->sym, td_util_const(c->r, 0));
    const TdExpr *rest =
        td_lin_minus(session, arena, index[m], td_subst_in_expr(&sub, a->place->kid[m]));
    for (size_t k = 0; k < dim.n; k++) {
      const Digit *g = &dim.digit[k];
      const TdExpr *e = td_lin_floordiv(session, arena, rest, g->coef);
      if (dim.digit[0].coef != 1 || at[g->loop]) return false;
      at[g->loop] = g->extent ? td_lin_mod(session, arena, e, g->extent) : e;
    }
  }
  for (size_t k = 0; k < c->nloop; k++)
    if (!at[k]) return false;
  return true;
}

/* The record of an array, new if it is the first time. */
static TdCarriedArray *array_of(TdCarried *c, const char *name) {
  TdPlace at;
  if (!td_cursor_array(c->r->arena, c->r->prog, name, c->unit, &at, c->r->diag)) return NULL;
  for (size_t i = 0; i < c->array.n; i++)
    if (c->array.at[i]->sym == at.sym) return c->array.at[i];
  TdCarriedArray *a = TD_NEW(c->r->arena, TdCarriedArray);
  a->sym = at.sym;
  a->decl = at.stmt;
  a->type = at.stmt ? at.stmt->type : td_unit_param(at.unit, at.sym)->type;
  if (at.unit != c->unit) {
    refuse(c, "carried", c->loop[0]->loc, at.sym, "is not of the kernel that has the loops");
    return NULL;
  }
  if (a->decl && td_edit_find(c->r->session->ctx, body_of(c), a->decl->uid)) {
    refuse(c, "carried", a->decl->loc, at.sym, "is another in each iteration");
    return NULL;
  }
  td_vec_push(c->r->arena, &c->array, a);
  return find_uses(c, a) ? a : NULL;
}

static bool check_loops(const TdCarried *c) {
  for (size_t k = 0; k < c->nloop; k++)
    if (c->loop[k]->step != 1) {
      refuse(c, "carried", c->loop[k]->loc, c->loop[k]->sym, "does not go by steps of 1");
      td_diag_help(c->r->diag, "shift makes it begin at 0 and go by 1");
      return false;
    }
  return true;
}

bool td_carried_find(TdCarried *c, const char *const *name, size_t n, const int64_t *by,
                     size_t nby) {
  if (!check_loops(c)) return false;
  if (by && nby != n * (size_t)c->rank) {
    td_util_refuse(c->r, TD_USAGE, "way", c->loop[0]->loc,
                   "%zu arrays along %d axes take %zu numbers in `by`, not %zu", n, c->rank,
                   n * (size_t)c->rank, nby);
    return false;
  }
  for (size_t i = 0; i < n; i++) {
    TdWay w = {.array = array_of(c, name[i])};
    if (!w.array) return false;
    for (int a = 0; by && a < c->rank; a++) w.by[a] = by[i * (size_t)c->rank + (size_t)a];
    if (by) td_vec_push(c->r->arena, &c->way, w);
  }
  for (size_t i = 0; i < c->array.n; i++) {
    TdCarriedArray *a = c->array.at[i];
    for (size_t k = 0; k < a->value.n; k++)
      if (!(a->place ? find_written : find_operand)(c, a, &a->value.at[k])) return false;
    if (c->driver && a->place && !check_assigned(c, a)) return false;
    if (!c->driver && a->place && !check_sent(c, a)) return false;
  }
  return check_ways(c);
}

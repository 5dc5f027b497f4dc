/* index_inverse.c - index vectors turned round, by the digits of loop variables. */
#include "rewrite/array/index_inverse.h"

/* Which value x // c has, if it is only one. */
typedef struct Reduce {
  TdRewrite *r;
  bool (*quotient)(const struct Reduce *q, const TdExpr *x, int64_t c, int64_t *v);
  const TdUnit *unit;
  const TdStmt *at;   /* by what is known there */
  const TdTurn *turn; /* by the values of parts */
} Reduce;

static bool is_between(const TdAsk *q, const TdStmt *at, const TdExpr *x, int64_t lo, int64_t hi) {
  TdSession *s = q->prog->store->session;
  const TdType *t = td_type_bool(s);
  const TdExpr *from =
      td_expr_op2(q->arena, TD_OP_LE, t, td_expr_index(s, q->arena, lo, x->loc), x);
  const TdExpr *to = td_expr_op2(q->arena, TD_OP_LT, t, x, td_expr_index(s, q->arena, hi, x->loc));
  return td_range_holds(q, at, from, false) == TD_YES && td_range_holds(q, at, to, false) == TD_YES;
}

static bool quotient_at(const Reduce *q, const TdExpr *x, int64_t c, int64_t *v) {
  TdAsk ask = td_util_ask(q->r, q->unit);
  int64_t lo, hi;
  if (!td_range_of(&ask, q->at, x, &lo, &hi)) return false;
  *v = td_sys_floor64(lo, c);
  return td_sys_floor64(hi, c) == *v && is_between(&ask, q->at, x, *v * c, *v * c + c);
}

/* The part that a variable is, or NULL. */
static const TdTurnPart *part_of(const TdTurn *t, const TdExpr *e) {
  for (size_t i = 0; e->kind == TD_EXPR_VAR && i < t->n; i++)
    if (t->part[i].sym == e->sym) return &t->part[i];
  return NULL;
}

static bool quotient_of_parts(const Reduce *q, const TdExpr *x, int64_t c, int64_t *v) {
  TdLin l = td_lin_of(q->r->session, q->r->arena, x);
  int64_t lo = l.constant, hi = l.constant;
  for (size_t i = 0; i < l.n; i++) {
    const TdTurnPart *p = part_of(q->turn, l.term[i].atom);
    if (!p || !p->trip) return false;
    *(l.term[i].coef < 0 ? &lo : &hi) += l.term[i].coef * (p->trip - 1);
  }
  *v = td_sys_floor64(lo, c);
  return td_sys_floor64(hi, c) == *v;
}

/* Whether e is x // c or x % c of indices for a constant c > 0. */
static bool is_division(const TdExpr *e, TdOp op, int64_t *c) {
  return e->kind == TD_EXPR_OP && e->op == op && e->type->kind == TD_T_INDEX &&
         td_expr_is_const(e->kid[1], c) && *c > 0;
}

/* A division whose quotient is known; x // a // b as one. */
static const TdExpr *reduce_node(void *ud, const TdExpr *e) {
  const Reduce *q = ud;
  TdArena *a = q->r->store->arena;
  int64_t c, inner, v;
  bool quotient = is_division(e, TD_OP_FLOORDIV, &c);
  if (!quotient && !is_division(e, TD_OP_MOD, &c)) return e;
  const TdExpr *x = e->kid[0];
  if (q->quotient(q, x, c, &v))
    return quotient ? td_util_const(q->r, v)
                    : td_lin_minus(q->r->session, a, x, td_util_const(q->r, v * c));
  if (quotient && is_division(x, TD_OP_FLOORDIV, &inner))
    return td_lin_floordiv(q->r->session, a, x->kid[0], inner * c);
  return e;
}

/* Whether hi and lo are the two halves of one index: k * c * (x // c) and k * (x % c), or, where
 * the first is k * c * (x // c % m), of x % (c * m). Then *whole is it. */
static bool are_halves(const Reduce *q, const TdTerm *hi, const TdTerm *lo, const TdExpr **whole) {
  TdArena *a = q->r->store->arena;
  const TdExpr *up = hi->atom;
  int64_t c, m = 0, div;
  if (!is_division(lo->atom, TD_OP_MOD, &c) || hi->coef != c * lo->coef) return false;
  if (is_division(up, TD_OP_MOD, &m)) up = up->kid[0];
  if (!is_division(up, TD_OP_FLOORDIV, &div) || div != c ||
      !td_equal_expr(up->kid[0], lo->atom->kid[0]))
    return false;
  *whole = m ? td_lin_mod(q->r->session, a, up->kid[0], c * m) : up->kid[0];
  return true;
}

/* e with halves put together. */
static const TdExpr *join_halves(const Reduce *q, const TdExpr *e) {
  TdSession *s = q->r->session;
  TdArena *a = q->r->store->arena;
  TdLin l = td_lin_of(s, a, e);
  const TdExpr *whole;
  for (size_t i = 0; i < l.n; i++)
    for (size_t k = 0; k < l.n; k++) {
      if (i == k || !are_halves(q, &l.term[i], &l.term[k], &whole)) continue;
      TdLin x = td_lin_of(s, a, whole), hi = {.n = 1, .term = &l.term[i]};
      TdLin lo = {.n = 1, .term = &l.term[k]};
      TdLin sum = td_lin_add(s, a, td_lin_add(s, a, l, -1, hi), -1, lo);
      sum = td_lin_add(s, a, sum, l.term[k].coef, x);
      return td_lin_expr(s, a, &sum, e->loc);
    }
  return e;
}

/* e in its simplest form under q. */
static const TdExpr *reduce(Reduce *q, const TdExpr *e) {
  TdArena *a = q->r->store->arena;
  for (const TdExpr *was = NULL; e != was && !(was && td_equal_expr(e, was));) {
    was = e;
    e = td_lin_simplify(q->r->session, a, e);
    e = td_walk_map_expr(a, e, reduce_node, q);
    e = join_halves(q, td_lin_simplify(q->r->session, a, e));
  }
  return e;
}

const TdExpr *td_index_inverse_reduce(TdRewrite *r, const TdUnit *u, const TdStmt *at,
                                      const TdExpr *e) {
  Reduce q = {.r = r, .quotient = quotient_at, .unit = u, .at = at};
  return reduce(&q, e);
}

/* The divisors by which an index takes one variable apart, ascending. */
typedef struct Divisors {
  TdSym var;
  int64_t c[TD_TURN_PARTS];
  size_t n;
} Divisors;

static bool look_division(void *ud, const TdExpr *e) {
  Divisors *d = ud;
  int64_t c;
  size_t i = 0;
  if (!is_division(e, TD_OP_FLOORDIV, &c) && !is_division(e, TD_OP_MOD, &c)) return true;
  if (c == 1 || !td_walk_uses_expr(e->kid[0], d->var)) return true;
  while (i < d->n && d->c[i] < c) i++;
  if ((i < d->n && d->c[i] == c) || d->n == TD_TURN_PARTS) return true;
  for (size_t k = d->n++; k > i; k--) d->c[k] = d->c[k - 1];
  d->c[i] = c;
  return true;
}

/* How often a loop runs, if that is a number for all sizes. */
static int64_t trip_of(const TdTurn *t, const TdStmt *loop) {
  int64_t n;
  return td_expr_is_const(td_util_trip(t->r, loop), &n) && n > 0 ? n : 0;
}

/* Takes loop k apart where the index does, and that of `other` if there is one. */
static bool take_apart(TdTurn *t, size_t k, const TdExpr *element, const TdExpr *other) {
  const TdStmt *loop = t->loop[k];
  Divisors d = {.var = loop->sym};
  td_walk_expr(element, look_division, &d);
  if (other) td_walk_expr(other, look_division, &d);
  int64_t lo, trip = trip_of(t, loop), weight = 1;
  bool whole = loop->step == 1 && td_expr_is_const(td_for_lo(loop), &lo) && lo == 0;
  if (d.n && !whole) {
    t->why = td_text_fmt(t->r->arena, "is divided along '%s', which does not start at 0",
                         loop->sym->name);
    return false;
  }
  for (size_t i = 0; i <= d.n; i++) {
    bool last = i == d.n;
    if (t->n == TD_TURN_PARTS || (!last && d.c[i] % weight)) {
      t->why = td_text_fmt(t->r->arena,
                           "is divided along '%s' by numbers that do not divide "
                           "each other",
                           loop->sym->name);
      return false;
    }
    if (!last && trip && d.c[i] >= trip) i = d.n, last = true;
    TdTurnPart *p = &t->part[t->n++];
    *p = (TdTurnPart){.loop = k, .weight = weight, .dim = -1};
    p->trip = last ? (trip + weight - 1) / weight : d.c[i] / weight;
    p->sym = td_store_sym(t->r->store, loop->sym->name, TD_SYM_LOOP);
    if (!last) weight = d.c[i];
  }
  return true;
}

/* The values of all loop variables from those of the parts. */
static void put_together(const TdTurn *t, const TdExpr *const *part, const TdExpr **value) {
  TdSession *s = t->r->session;
  TdArena *a = t->r->store->arena;
  for (size_t k = 0; k < t->nloop; k++) value[k] = td_util_const(t->r, 0);
  for (size_t i = 0; i < t->n; i++) {
    size_t k = t->part[i].loop;
    value[k] = td_lin_plus(s, a, value[k], td_lin_times(s, a, part[i], t->part[i].weight));
  }
  for (size_t k = 0; k < t->nloop; k++) {
    const TdStmt *loop = t->loop[k];
    value[k] = td_lin_plus(s, a, td_for_lo(loop), td_lin_times(s, a, value[k], loop->step));
  }
}

/* A part that moves a dimension, and by how much. */
typedef struct Move {
  TdTurnPart *part;
  int64_t coef;
} Move;

/* Whether the moves of dimension d, n of them by |coef| ascending, are digits of its index: each
 * moves by as much as those before it fill. */
static bool are_digits(int d, Move *m, size_t n) {
  TdDesc digits = {.n = (int)n}, turned;
  for (size_t i = 0; i < n; i++) {
    int64_t by = m[i].coef < 0 ? -m[i].coef : m[i].coef;
    bool outermost = i + 1 == n;
    if (!m[i].part->trip && (!outermost || (m[i].coef < 0 && n > 1))) return false;
    digits.at[n - 1 - i] = (TdDigit){m[i].part->trip ? m[i].part->trip : 2, by};
    m[i].part->dim = d;
    m[i].part->by = m[i].coef;
    m[i].part->mod = outermost ? 0 : m[i].part->trip;
  }
  return td_desc_inverse(&digits, &turned);
}

/* Finds the parts that move dimension d, and what else its index is. */
static bool read_dimension(TdTurn *t, int d, const TdExpr *index) {
  TdSession *s = t->r->session;
  TdArena *a = t->r->store->arena;
  Move m[TD_TURN_PARTS];
  size_t n = 0;
  TdLin l = td_lin_of(s, a, index), rest = {.constant = l.constant};
  for (size_t i = 0; i < l.n; i++) {
    TdTurnPart *p = (TdTurnPart *)(uintptr_t)part_of(t, l.term[i].atom);
    TdLin one = {.n = 1, .term = &l.term[i]};
    size_t k = n;
    if (!p) {
      for (size_t j = 0; j < t->n; j++)
        if (td_walk_uses_expr(l.term[i].atom, t->part[j].sym)) return false;
      rest = td_lin_add(s, a, rest, 1, one);
      continue;
    }
    if (p->dim >= 0) return false;
    int64_t coef = l.term[i].coef, by = coef < 0 ? -coef : coef;
    for (; k && (m[k - 1].coef < 0 ? -m[k - 1].coef : m[k - 1].coef) > by; k--) m[k] = m[k - 1];
    m[k] = (Move){p, coef};
    n++;
  }
  t->fixed[d] = n == 0;
  t->base[d] = td_lin_expr(s, a, &rest, index->loc);
  return are_digits(d, m, n);
}

/* Index e over the loops as one over the parts; one with a single value is no part of it. */
static const TdExpr *over_parts(const TdTurn *t, const TdExpr *e) {
  const TdExpr *part[TD_TURN_PARTS] = {0};
  const TdExpr **value = TD_NEWN(t->r->arena, const TdExpr *, t->nloop + 1);
  TdSubst sub = td_subst_new(t->r->store);
  for (size_t i = 0; i < t->n; i++)
    part[i] = t->part[i].trip == 1 ? td_util_const(t->r, 0) : td_util_var(t->r, t->part[i].sym);
  put_together(t, part, value);
  for (size_t k = 0; k < t->nloop; k++) td_subst_expr(&sub, t->loop[k]->sym, value[k]);
  Reduce q = {.r = t->r, .quotient = quotient_of_parts, .turn = t};
  return reduce(&q, td_subst_in_expr(&sub, e));
}

bool td_index_inverse_of(TdTurn *t, TdRewrite *r, const TdUnit *u, const TdStmt *const *loop,
                         size_t nloop, const TdExpr *element) {
  return td_index_inverse_of_both(t, r, u, loop, nloop, element, NULL);
}

bool td_index_inverse_of_both(TdTurn *t, TdRewrite *r, const TdUnit *u, const TdStmt *const *loop,
                              size_t nloop, const TdExpr *element, const TdExpr *other) {
  *t = (TdTurn){.r = r, .unit = u, .loop = loop, .nloop = nloop, .rank = (int)element->nkid};
  for (size_t k = 0; k < nloop; k++)
    if (!take_apart(t, k, element, other)) return false;
  for (int d = 0; d < t->rank; d++)
    if (!read_dimension(t, d, over_parts(t, element->kid[d]))) {
      t->why = td_text_fmt(r->arena, "has an index, %s, from which its iteration does not follow",
                           td_print_expr_str(r->arena, element->kid[d]));
      return false;
    }
  for (size_t i = 0; i < t->n; i++)
    if (t->part[i].dim < 0 && t->part[i].trip != 1) {
      t->why = td_text_fmt(r->arena, "has one element for several iterations of '%s'",
                           loop[t->part[i].loop]->sym->name);
      return false;
    }
  return true;
}

void td_index_inverse_at(const TdTurn *t, const TdExpr *const *at, const TdExpr **value) {
  TdSession *s = t->r->session;
  TdArena *a = t->r->store->arena;
  const TdExpr *part[TD_TURN_PARTS];
  for (size_t i = 0; i < t->n; i++) {
    const TdTurnPart *p = &t->part[i];
    part[i] = td_util_const(t->r, 0);
    if (p->dim < 0) continue;
    int64_t by = p->by < 0 ? -p->by : p->by;
    const TdExpr *x = td_lin_minus(s, a, at[p->dim], t->base[p->dim]);
    for (size_t k = 0; k < t->n; k++)
      if (t->part[k].dim == p->dim && t->part[k].by < 0 && t->part[k].trip)
        x = td_lin_minus(s, a, x, td_util_const(t->r, t->part[k].by * (t->part[k].trip - 1)));
    x = td_lin_floordiv(s, a, x, by);
    if (p->mod) x = td_lin_mod(s, a, x, p->mod);
    if (p->by < 0) x = td_lin_minus(s, a, td_util_const(t->r, p->trip ? p->trip - 1 : 0), x);
    part[i] = x;
  }
  put_together(t, part, value);
}

/* Whether x == y; that they are at the unit's values is assumed where it takes that. */
static bool is_same_here(TdTurn *t, const TdExpr *x, const TdExpr *y) {
  const TdExpr *fact;
  if (!td_util_same_value(t->r, t->unit, t->unit->body, x, y, &fact)) return false;
  if (fact) t->unit = td_util_assume(t->r, t->unit, fact);
  t->r->used_value |= fact != NULL;
  return true;
}

/* How many values part p has; where its weight must divide what the loop gives, that is assumed.
 * NULL: it does not. */
static const TdExpr *part_trip(TdTurn *t, const TdTurnPart *p) {
  TdSession *s = t->r->session;
  TdArena *a = t->r->store->arena;
  if (p->trip) return td_util_const(t->r, p->trip);
  const TdExpr *trip = td_util_trip(t->r, t->loop[p->loop]);
  if (!is_same_here(t, td_lin_mod(s, a, trip, p->weight), td_util_const(t->r, 0))) return NULL;
  return td_lin_floordiv(s, a, trip, p->weight);
}

bool td_index_inverse_covers(TdTurn *t, const TdType *type) {
  TdSession *s = t->r->session;
  TdArena *a = t->r->store->arena;
  const TdExpr *n[TD_MAX_RANK], *first[TD_MAX_RANK], *one = td_util_const(t->r, 1);
  for (int d = 0; d < t->rank; d++) {
    n[d] = one;
    first[d] = t->base[d];
  }
  for (size_t i = 0; i < t->n; i++) {
    const TdTurnPart *p = &t->part[i];
    const TdExpr *trip = p->dim < 0 ? one : part_trip(t, p);
    if (!trip) return false;
    if (p->dim < 0) continue;
    const TdExpr *all = td_lin_times(s, a, trip, p->by < 0 ? -p->by : p->by);
    if (!p->mod) n[p->dim] = all;
    if (p->by < 0)
      first[p->dim] = td_lin_plus(s, a, first[p->dim],
                                  td_lin_times(s, a, td_lin_minus(s, a, trip, one), p->by));
  }
  for (int d = 0; d < t->rank; d++)
    if (!t->fixed[d] &&
        !(is_same_here(t, n[d], type->dim[d]) && is_same_here(t, first[d], td_util_const(t->r, 0))))
      return false;
  return true;
}

bool td_index_inverse_extent(const TdTurn *t, int d, int64_t *n) {
  int64_t trip;
  *n = 1;
  for (size_t i = 0; i < t->n; i++) {
    const TdTurnPart *p = &t->part[i];
    if (p->dim != d) continue;
    if (p->by < 0 || !td_unit_value(t->unit, td_util_trip(t->r, t->loop[p->loop]), &trip))
      return false;
    *n *= p->trip ? p->trip : (trip + p->weight - 1) / p->weight;
  }
  return true;
}

/* Adds to `stride`, for each part, what a step of it adds to the place of an element of which l is
 * an index that weighs so much, and to d->offset what no part adds. Sets *shifts if that is no
 * number. False where l is no sum of parts. */
static bool add_index(const TdTurn *t, const TdLin *l, int64_t weight, int64_t *stride, TdDesc *d,
                      bool *shifts) {
  d->offset += weight * l->constant;
  for (size_t i = 0; i < l->n; i++) {
    const TdExpr *atom = l->term[i].atom;
    const TdTurnPart *p = part_of(t, atom);
    int64_t v;
    if (p) {
      stride[p - t->part] += weight * l->term[i].coef;
      continue;
    }
    for (size_t k = 0; k < t->n; k++)
      if (td_walk_uses_expr(atom, t->part[k].sym)) return false;
    if (td_unit_value(t->unit, atom, &v))
      d->offset += weight * l->term[i].coef * v;
    else
      *shifts = true;
  }
  return true;
}

/* The same for all indices of element e of an array of type `type`; false where an extent is open.
 */
static bool add_indices(const TdTurn *t, const TdExpr *e, const TdType *type, int64_t *stride,
                        TdDesc *out, bool *shifts) {
  int64_t extent, weight = 1;
  for (size_t i = 0; i < t->n; i++) stride[i] = 0;
  for (int d = (int)e->nkid; d-- > 0; weight *= extent) {
    TdLin l = td_lin_of(t->r->session, t->r->arena, over_parts(t, e->kid[d]));
    if (!td_unit_value(t->unit, type->dim[d], &extent)) return false;
    if (!add_index(t, &l, weight, stride, out, shifts)) return false;
  }
  return true;
}

/* Whether part x is outside of part y in the order of the turned array. */
static bool is_outside(const TdTurnPart *x, const TdTurnPart *y) {
  int64_t bx = x->by < 0 ? -x->by : x->by, by = y->by < 0 ? -y->by : y->by;
  return x->dim != y->dim ? x->dim < y->dim : bx > by;
}

bool td_index_inverse_places(const TdTurn *t, const TdExpr *e, const TdType *type, TdDesc *out,
                             bool *shifts) {
  int64_t stride[TD_TURN_PARTS], trip;
  size_t order[TD_TURN_PARTS];
  *out = (TdDesc){0};
  *shifts = false;
  if (!add_indices(t, e, type, stride, out, shifts)) return false;
  for (size_t i = 0; i < t->n; i++) {
    size_t k = i;
    for (; k && is_outside(&t->part[i], &t->part[order[k - 1]]); k--) order[k] = order[k - 1];
    order[k] = i;
  }
  for (size_t i = 0; i < t->n; i++) {
    const TdTurnPart *p = &t->part[order[i]];
    if (!td_unit_value(t->unit, td_util_trip(t->r, t->loop[p->loop]), &trip)) return false;
    TdDigit x = {p->trip ? p->trip : (trip + p->weight - 1) / p->weight, stride[order[i]]};
    if (p->by < 0) out->offset += x.s * (x.n - 1), x.s = -x.s;
    out->at[out->n++] = x;
  }
  *out = td_desc_normal(out);
  return true;
}

/* How many parts with more than one value move dimension d. */
static size_t count_parts(const TdTurn *t, int d) {
  size_t n = 0;
  for (size_t i = 0; i < t->n; i++) n += t->part[i].dim == d && t->part[i].trip != 1;
  return n;
}

/* The dimension of the turned array of which l, an index of the other, is a multiple, but for what
 * no loop moves; that is left in *rest. -1: no loop moves it; -2: it is none. */
static int multiple_of(const TdTurn *t, const TdLin *l, TdLin *rest, int64_t *by) {
  int found = -1;
  size_t n = 0;
  *rest = (TdLin){.constant = l->constant};
  for (size_t i = 0; i < l->n; i++) {
    const TdTurnPart *p = part_of(t, l->term[i].atom);
    TdLin one = {.n = 1, .term = &l->term[i]};
    if (!p) {
      *rest = td_lin_add(t->r->session, t->r->store->arena, *rest, 1, one);
      continue;
    }
    int64_t times = p->by > 0 ? l->term[i].coef / p->by : 0;
    if (times < 1 || times * p->by != l->term[i].coef) return -2;
    if (n++ && (found != p->dim || *by != times)) return -2;
    found = p->dim;
    *by = times;
  }
  return n && n != count_parts(t, found) ? -2 : found;
}

/* Index `e` of the other array, as it is seen through `view`: its lowest value, and its step.
 * False: it is no multiple of a dimension of the turned one. */
static bool see_dimension(const TdTurn *t, const TdExpr *e, const TdExpr *view, bool *seen,
                          const TdExpr **lo, TdViewDim *dim) {
  TdSession *s = t->r->session;
  TdArena *a = t->r->store->arena;
  TdLin l = td_lin_of(s, a, over_parts(t, e)), rest;
  int64_t by = 1;
  int d = multiple_of(t, &l, &rest, &by);
  *dim = (TdViewDim){1, -1};
  *lo = td_lin_expr(s, a, &rest, e->loc);
  if (d == -2) return false;
  if (d == -1) return true;
  const TdExpr *from = td_lin_minus(s, a, view->kid[d], t->base[d]);
  *lo = td_lin_plus(s, a, *lo, td_lin_times(s, a, from, by));
  if (view->u.dim[d].out < 0) return true;
  *dim = (TdViewDim){view->u.dim[d].step * by, view->u.dim[d].out};
  seen[dim->out] = true;
  return true;
}

const TdExpr *td_index_inverse_view(const TdTurn *t, const TdExpr *other, const TdExpr *view) {
  const TdExpr *lo[TD_MAX_RANK];
  TdViewDim dim[TD_MAX_RANK];
  bool seen[TD_MAX_RANK] = {false};
  for (uint32_t d = 0; d < other->nkid; d++)
    if (!see_dimension(t, other->kid[d], view, seen, &lo[d], &dim[d])) return NULL;
  for (int d = 0; d < view->type->rank; d++)
    if (!seen[d]) return NULL;
  return td_expr_view(t->r->store->arena, other->sym, view->type, lo, dim, (int)other->nkid,
                      view->loc);
}

/* lin.c - quasi-affine normal form: constant + sum of coefficient * atom. */
#include "ir/lin.h"

#include <string.h>

#include "ir/text/print.h"

/* Overflow-checked helpers: false leaves the caller to treat the term as opaque. */
static bool add_ok(int64_t a, int64_t b, int64_t *r) {
  if ((b > 0 && a > INT64_MAX - b) || (b < 0 && a < INT64_MIN - b)) return false;
  *r = a + b;
  return true;
}

static bool mul_ok(int64_t a, int64_t b, int64_t *r) {
  if (a == 0 || b == 0) {
    *r = 0;
    return true;
  }
  if (a == INT64_MIN || b == INT64_MIN) return false;
  int64_t x = a < 0 ? -a : a, y = b < 0 ? -b : b;
  if (x > INT64_MAX / y) return false;
  *r = a * b;
  return true;
}

/* Adds coef * atom; false on overflow. */
static bool add_term(TdArena *a, TdLin *x, int64_t coef, const TdExpr *atom) {
  for (size_t i = 0; i < x->n; i++) {
    if (!td_equal_expr(x->term[i].atom, atom)) continue;
    if (!add_ok(x->term[i].coef, coef, &x->term[i].coef)) return false;
    if (x->term[i].coef == 0) {
      memmove(x->term + i, x->term + i + 1, (x->n - i - 1) * sizeof *x->term);
      x->n--;
    }
    return true;
  }
  TdTerm *term = TD_NEWN(a, TdTerm, x->n + 1);
  if (x->n) memcpy(term, x->term, x->n * sizeof *term);
  term[x->n] = (TdTerm){coef, atom};
  x->term = term;
  x->n++;
  return true;
}

/* x + k*y in *out; false on overflow. */
static bool combine(TdArena *a, const TdLin *x, int64_t k, const TdLin *y, TdLin *out) {
  TdLin r = {.constant = x->constant, .n = x->n};
  r.term = td_arena_copy(a, x->term, x->n * sizeof *x->term);
  int64_t v;
  if (!mul_ok(k, y->constant, &v) || !add_ok(r.constant, v, &r.constant)) return false;
  for (size_t i = 0; i < y->n; i++)
    if (!mul_ok(k, y->term[i].coef, &v) || (v && !add_term(a, &r, v, y->term[i].atom)))
      return false;
  *out = r;
  return true;
}

static TdLin lin_const(int64_t v) {
  return (TdLin){.constant = v};
}

static TdLin lin_atom(TdArena *a, const TdExpr *e) {
  TdLin r = {.n = 1, .term = TD_NEW(a, TdTerm)};
  r.term[0] = (TdTerm){1, e};
  return r;
}

TdLin td_lin_add(TdSession *s, TdArena *a, TdLin x, int64_t k, TdLin y) {
  TdLin r;
  if (combine(a, &x, k, &y, &r)) return r;
  const TdType *index = td_type_index(s);
  TdLoc none = {0};
  const TdExpr *scaled =
      td_expr_op2(a, TD_OP_MUL, index, td_expr_index(s, a, k, none), td_lin_expr(s, a, &y, none));
  return lin_atom(a, td_expr_op2(a, TD_OP_ADD, index, td_lin_expr(s, a, &x, none), scaled));
}

/* Whether x is constant, and which. */
static bool const_value(const TdLin *x, int64_t *v) {
  if (x->n) return false;
  *v = x->constant;
  return true;
}

/* Floor division and non-negative remainder for c > 0. */
static int64_t floor_div(int64_t x, int64_t c) {
  return x / c - (x % c < 0);
}

/* The atom `x op c` of a canonical x. */
static TdLin div_atom(TdSession *s, TdArena *a, TdOp op, const TdLin *x, int64_t c, TdLoc loc) {
  const TdExpr *kid[] = {td_lin_expr(s, a, x, loc), td_expr_index(s, a, c, loc)};
  return lin_atom(a, td_expr_op(a, op, td_type_index(s), kid, 2, loc));
}

/* Splits x into c*whole + rest: terms whose coefficients c divides, and the others. */
static void split_multiples(TdArena *a, const TdLin *x, int64_t c, TdLin *whole, TdLin *rest) {
  *whole = lin_const(floor_div(x->constant, c));
  *rest = lin_const(x->constant - c * whole->constant);
  for (size_t i = 0; i < x->n; i++) {
    TdTerm t = x->term[i];
    if (t.coef % c == 0)
      add_term(a, whole, t.coef / c, t.atom);
    else
      add_term(a, rest, t.coef, t.atom);
  }
}

/* Whether x is `y % m` with m <= c, so that x // c is 0 and x % c is x. */
static bool is_small_mod(const TdLin *x, int64_t c) {
  int64_t m;
  return x->n == 1 && x->constant == 0 && x->term[0].coef == 1 &&
         x->term[0].atom->kind == TD_EXPR_OP && x->term[0].atom->op == TD_OP_MOD &&
         td_expr_is_const(x->term[0].atom->kid[1], &m) && m <= c;
}

/* x // c (op FLOORDIV) or x % c (op MOD) for a constant c > 0. */
static TdLin lin_divide(TdSession *s, TdArena *a, TdOp op, const TdLin *x, int64_t c, TdLoc loc) {
  if (c == 1) return op == TD_OP_MOD ? lin_const(0) : *x;
  TdLin whole, rest;
  split_multiples(a, x, c, &whole, &rest);
  int64_t v;
  bool settled = const_value(&rest, &v) || is_small_mod(&rest, c);
  if (op == TD_OP_MOD) return settled ? rest : div_atom(s, a, op, &rest, c, loc);
  if (settled) return whole;
  return td_lin_add(s, a, whole, 1, div_atom(s, a, op, &rest, c, loc));
}

/* Whether sums can come of an operator. */
static bool is_linear(int op) {
  return op == TD_OP_ADD || op == TD_OP_SUB || op == TD_OP_NEG || op == TD_OP_MUL ||
         op == TD_OP_FLOORDIV || op == TD_OP_MOD;
}

/* The normal form of an operator node, or false when it is not quasi-affine. */
static bool lin_op(TdSession *s, TdArena *a, const TdExpr *e, TdLin *out) {
  if (!is_linear(e->op)) return false;
  TdLin x = td_lin_of(s, a, e->kid[0]), y = lin_const(0);
  if (e->nkid > 1) y = td_lin_of(s, a, e->kid[1]);
  TdLin zero = lin_const(0);
  int64_t k;
  switch (e->op) {
  case TD_OP_ADD: return combine(a, &x, 1, &y, out);
  case TD_OP_SUB: return combine(a, &x, -1, &y, out);
  case TD_OP_NEG: return combine(a, &zero, -1, &x, out);
  case TD_OP_MUL:
    if (const_value(&x, &k)) return combine(a, &zero, k, &y, out);
    return const_value(&y, &k) && combine(a, &zero, k, &x, out);
  case TD_OP_FLOORDIV:
  case TD_OP_MOD:
    if (!const_value(&y, &k) || k <= 0) return false;
    *out = lin_divide(s, a, (TdOp)e->op, &x, k, e->loc);
    return true;
  default: return false;
  }
}

/* An opaque operator with its operands in canonical form, folded when they are constant. */
static const TdExpr *canonical_opaque(TdSession *s, TdArena *a, const TdExpr *e) {
  if (e->kind != TD_EXPR_OP || e->type->kind != TD_T_INDEX) return e;
  const TdExpr *kid[4];
  bool changed = false;
  for (uint32_t i = 0; i < e->nkid; i++) {
    bool index = e->kid[i]->type->kind == TD_T_INDEX;
    kid[i] = index ? td_lin_simplify(s, a, e->kid[i]) : e->kid[i];
    changed |= kid[i] != e->kid[i];
  }
  return td_expr_fold(s, a, changed ? td_expr_with_kids(a, e, kid) : e);
}

TdLin td_lin_of(TdSession *s, TdArena *a, const TdExpr *e) {
  td_ctx_enter(s->ctx);
  TdLin r;
  int64_t v;
  if (td_expr_is_const(e, &v)) {
    r = lin_const(v);
  } else if (e->kind == TD_EXPR_CAST && e->type->kind == TD_T_INDEX &&
             e->kid[0]->type->kind == TD_T_INDEX) {
    r = td_lin_of(s, a, e->kid[0]);
  } else if (e->kind != TD_EXPR_OP || e->type->kind != TD_T_INDEX || !lin_op(s, a, e, &r)) {
    const TdExpr *atom = canonical_opaque(s, a, e);
    r = td_expr_is_const(atom, &v) ? lin_const(v) : lin_atom(a, atom);
  }
  td_ctx_leave(s->ctx);
  return r;
}

int64_t td_lin_coef(const TdLin *x, TdSym var) {
  for (size_t i = 0; i < x->n; i++)
    if (x->term[i].atom->kind == TD_EXPR_VAR && x->term[i].atom->sym == var) return x->term[i].coef;
  return 0;
}

/* Whether e is an atom that isl can model: VAR, SIZE, or // and % of affine by a constant. */
static bool affine_atom(const TdExpr *e) {
  int64_t c;
  if (e->kind == TD_EXPR_VAR || e->kind == TD_EXPR_SIZE || td_expr_is_const(e, &c)) return true;
  if (e->kind != TD_EXPR_OP || e->type->kind != TD_T_INDEX) return false;
  switch (e->op) {
  case TD_OP_ADD:
  case TD_OP_SUB: return affine_atom(e->kid[0]) && affine_atom(e->kid[1]);
  case TD_OP_NEG: return affine_atom(e->kid[0]);
  case TD_OP_MUL:
    return affine_atom(e->kid[0]) && affine_atom(e->kid[1]) &&
           (td_expr_is_const(e->kid[0], &c) || td_expr_is_const(e->kid[1], &c));
  case TD_OP_FLOORDIV:
  case TD_OP_MOD: return affine_atom(e->kid[0]) && td_expr_is_const(e->kid[1], &c) && c > 0;
  default: return false;
  }
}

bool td_lin_is_affine(const TdLin *x) {
  for (size_t i = 0; i < x->n; i++)
    if (!affine_atom(x->term[i].atom)) return false;
  return true;
}

/* |coef| * atom. */
static const TdExpr *scaled_atom(TdSession *s, TdArena *a, const TdTerm *t, TdLoc loc) {
  int64_t k = t->coef < 0 ? -t->coef : t->coef;
  if (k == 1) return t->atom;
  bool atom_first = t->atom->kind == TD_EXPR_VAR;
  const TdExpr *c = td_expr_index(s, a, k, loc);
  return td_expr_op2(a, TD_OP_MUL, td_type_index(s), atom_first ? t->atom : c,
                     atom_first ? c : t->atom);
}

const TdExpr *td_lin_expr(TdSession *s, TdArena *a, const TdLin *x, TdLoc loc) {
  const TdType *index = td_type_index(s);
  const TdExpr *sum = NULL;
  for (size_t i = 0; i < x->n; i++) {
    if (x->term[i].coef < 0) continue;
    const TdExpr *t = scaled_atom(s, a, &x->term[i], loc);
    sum = sum ? td_expr_op2(a, TD_OP_ADD, index, sum, t) : t;
  }
  bool constant_first = !sum;
  if (constant_first) sum = td_expr_index(s, a, x->constant, loc);
  for (size_t i = 0; i < x->n; i++)
    if (x->term[i].coef < 0)
      sum = td_expr_op2(a, TD_OP_SUB, index, sum, scaled_atom(s, a, &x->term[i], loc));
  if (constant_first || x->constant == 0) return sum;
  int64_t k = x->constant < 0 ? -x->constant : x->constant;
  return td_expr_op2(a, x->constant < 0 ? TD_OP_SUB : TD_OP_ADD, index, sum,
                     td_expr_index(s, a, k, loc));
}

const TdExpr *td_lin_simplify(TdSession *s, TdArena *a, const TdExpr *e) {
  TdLin x = td_lin_of(s, a, e);
  const TdExpr *r = td_lin_expr(s, a, &x, e->loc);
  return td_equal_expr(r, e) ? e : r;
}

/* Whether atom x goes before y: names before what has operands, each by their text. */
static bool precedes(TdArena *a, const TdExpr *x, const TdExpr *y) {
  if (!x->nkid != !y->nkid) return !x->nkid;
  return strcmp(td_print_expr_str(a, x), td_print_expr_str(a, y)) < 0;
}

static void sort_terms(TdArena *a, TdLin *x) {
  for (size_t i = 1; i < x->n; i++) {
    TdTerm t = x->term[i];
    size_t k = i;
    for (; k && precedes(a, t.atom, x->term[k - 1].atom); k--) x->term[k] = x->term[k - 1];
    x->term[k] = t;
  }
}

const TdExpr *td_lin_sorted(TdSession *s, TdArena *a, const TdExpr *e) {
  td_ctx_enter(s->ctx);
  const TdExpr **kid = TD_NEWN(a, const TdExpr *, e->nkid);
  for (uint32_t i = 0; i < e->nkid; i++) kid[i] = td_lin_sorted(s, a, e->kid[i]);
  TdLin x = td_lin_of(s, a, e->nkid ? td_expr_with_kids(a, e, kid) : e);
  sort_terms(a, &x);
  td_ctx_leave(s->ctx);
  return td_lin_expr(s, a, &x, e->loc);
}

bool td_lin_diff(TdSession *s, const TdExpr *x, const TdExpr *y, int64_t *d) {
  TdArena *a = td_arena_scratch(s->ctx);
  TdLin r = td_lin_add(s, a, td_lin_of(s, a, x), -1, td_lin_of(s, a, y));
  bool is_const = const_value(&r, d);
  td_arena_free(a);
  return is_const;
}

/* Canonical x op y. */
static const TdExpr *make(TdSession *s, TdArena *a, TdOp op, const TdExpr *x, const TdExpr *y) {
  return td_lin_simplify(s, a, td_expr_op2(a, op, td_type_index(s), x, y));
}

const TdExpr *td_lin_plus(TdSession *s, TdArena *a, const TdExpr *x, const TdExpr *y) {
  return make(s, a, TD_OP_ADD, x, y);
}

const TdExpr *td_lin_minus(TdSession *s, TdArena *a, const TdExpr *x, const TdExpr *y) {
  return make(s, a, TD_OP_SUB, x, y);
}

const TdExpr *td_lin_times(TdSession *s, TdArena *a, const TdExpr *x, int64_t k) {
  return make(s, a, TD_OP_MUL, x, td_expr_index(s, a, k, x->loc));
}

const TdExpr *td_lin_floordiv(TdSession *s, TdArena *a, const TdExpr *x, int64_t k) {
  return make(s, a, TD_OP_FLOORDIV, x, td_expr_index(s, a, k, x->loc));
}

const TdExpr *td_lin_ceildiv(TdSession *s, TdArena *a, const TdExpr *x, int64_t k) {
  return td_lin_floordiv(s, a, td_lin_plus(s, a, x, td_expr_index(s, a, k - 1, x->loc)), k);
}

const TdExpr *td_lin_mod(TdSession *s, TdArena *a, const TdExpr *x, int64_t k) {
  return make(s, a, TD_OP_MOD, x, td_expr_index(s, a, k, x->loc));
}

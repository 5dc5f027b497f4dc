/* fold.c - constant folding by the rules of Lua 5.4's compiler. */
#include "frontend/lua/fold.h"

#include <math.h>
#include <string.h>

/* A literal of this kind, at the place of `like`. */
static TdAstExpr *literal(TdArena *a, TdAstExprKind kind, const TdAstExpr *like) {
  TdAstExpr *e = TD_NEW(a, TdAstExpr);
  *e = (TdAstExpr){.kind = kind, .loc = like->loc, .first = like->first, .last = like->last};
  e->constant = e;
  return e;
}

/* The integer of these 64 bits. */
static const TdAstExpr *integer(TdArena *a, const TdAstExpr *like, uint64_t bits) {
  TdAstExpr *e = literal(a, TD_AST_INT, like);
  memcpy(&e->integer, &bits, sizeof bits);
  return e;
}

/* The float x; NULL for zeros and NaN, which Lua does not fold. */
static const TdAstExpr *number(TdArena *a, const TdAstExpr *like, double x) {
  if (x == 0 || isnan(x)) return NULL;
  TdAstExpr *e = literal(a, TD_AST_FLOAT, like);
  e->number = x;
  return e;
}

/* Whether a condition holds that has this literal. */
static bool is_true(const TdAstExpr *e) {
  return e->kind != TD_AST_NIL && (e->kind != TD_AST_BOOL || e->boolean);
}

/* Whether e is an integer or a float. */
static bool is_number(const TdAstExpr *e) {
  return e->kind == TD_AST_INT || e->kind == TD_AST_FLOAT;
}

/* The value of number e as a float. */
static double as_double(const TdAstExpr *e) {
  return e->kind == TD_AST_INT ? (double)e->integer : e->number;
}

/* Whether number e is a whole one of 64 bits; if so *out is that. */
static bool as_integer(const TdAstExpr *e, int64_t *out) {
  const double limit = 9223372036854775808.0;
  if (e->kind == TD_AST_INT) {
    *out = e->integer;
    return true;
  }
  if (!(e->number >= -limit && e->number < limit) || floor(e->number) != e->number) return false;
  *out = (int64_t)e->number;
  return true;
}

/* x shifted left by n, right for n below 0, zeros coming in. */
static uint64_t shift(uint64_t x, int64_t n) {
  if (n <= -64 || n >= 64) return 0;
  return n >= 0 ? x << n : x >> -n;
}

/* a / b rounded down, for b other than 0. */
static uint64_t floor_div(int64_t a, int64_t b) {
  if (b == -1) return 0 - (uint64_t)a;
  return (uint64_t)(a / b - (a % b != 0 && (a % b ^ b) < 0));
}

/* What floor_div leaves, for b other than 0: of the sign of b. */
static uint64_t floor_mod(int64_t a, int64_t b) {
  return (uint64_t)a - floor_div(a, b) * (uint64_t)b;
}

/* Whether op takes floats for the integers that they are. */
static bool is_bitwise(TdAstBinary op) {
  return op == TD_AST_BAND || op == TD_AST_BOR || op == TD_AST_BXOR || op == TD_AST_SHL ||
         op == TD_AST_SHR;
}

/* left op right in 64-bit integers, for the operators that stay in them. */
static const TdAstExpr *fold_integers(TdArena *a, TdAstBinary op, const TdAstExpr *like, int64_t l,
                                      int64_t r) {
  uint64_t x = (uint64_t)l, y = (uint64_t)r;
  switch (op) {
  case TD_AST_ADD: return integer(a, like, x + y);
  case TD_AST_SUB: return integer(a, like, x - y);
  case TD_AST_MUL: return integer(a, like, x * y);
  case TD_AST_IDIV: return integer(a, like, floor_div(l, r));
  case TD_AST_MOD: return integer(a, like, floor_mod(l, r));
  case TD_AST_BAND: return integer(a, like, x & y);
  case TD_AST_BOR: return integer(a, like, x | y);
  case TD_AST_BXOR: return integer(a, like, x ^ y);
  case TD_AST_SHL: return integer(a, like, shift(x, r));
  case TD_AST_SHR: return integer(a, like, r == INT64_MIN ? 0 : shift(x, -r));
  default: return NULL;
  }
}

/* a modulo b with the sign of b. */
static double mod(double a, double b) {
  double m = fmod(a, b);
  return (m > 0 ? b < 0 : m < 0 && b != m) ? m + b : m;
}

/* left op right in floats, for the arithmetic operators. */
static const TdAstExpr *fold_doubles(TdArena *a, TdAstBinary op, const TdAstExpr *like, double l,
                                     double r) {
  switch (op) {
  case TD_AST_ADD: return number(a, like, l + r);
  case TD_AST_SUB: return number(a, like, l - r);
  case TD_AST_MUL: return number(a, like, l * r);
  case TD_AST_DIV: return number(a, like, l / r);
  case TD_AST_IDIV: return number(a, like, floor(l / r));
  case TD_AST_MOD: return number(a, like, mod(l, r));
  case TD_AST_POW: return number(a, like, r == 2 ? l * l : pow(l, r));
  default: return NULL;
  }
}

const TdAstExpr *td_fold_unary(TdArena *a, TdAstUnary op, const TdAstExpr *of) {
  if (!of) return NULL;
  if (op == TD_AST_NOT) {
    TdAstExpr *e = literal(a, TD_AST_BOOL, of);
    e->boolean = !is_true(of);
    return e;
  }
  if (!is_number(of) || op == TD_AST_LEN) return NULL;
  int64_t i;
  if (op == TD_AST_BNOT) return as_integer(of, &i) ? integer(a, of, ~(uint64_t)i) : NULL;
  if (of->kind == TD_AST_INT) return integer(a, of, 0 - (uint64_t)of->integer);
  return number(a, of, -of->number);
}

const TdAstExpr *td_fold_binary(TdArena *a, TdAstBinary op, const TdAstExpr *left,
                                const TdAstExpr *right) {
  if (!left || !right) return NULL;
  if (op == TD_AST_AND) return is_true(left) ? right : NULL;
  if (op == TD_AST_OR) return is_true(left) ? NULL : right;
  if (!is_number(left) || !is_number(right)) return NULL;
  bool divides = op == TD_AST_DIV || op == TD_AST_IDIV || op == TD_AST_MOD;
  if (divides && as_double(right) == 0) return NULL;
  bool floats = left->kind == TD_AST_FLOAT || right->kind == TD_AST_FLOAT || op == TD_AST_DIV ||
                op == TD_AST_POW;
  if (floats && !is_bitwise(op))
    return fold_doubles(a, op, left, as_double(left), as_double(right));
  int64_t l, r;
  if (!as_integer(left, &l) || !as_integer(right, &r)) return NULL;
  return fold_integers(a, op, left, l, r);
}

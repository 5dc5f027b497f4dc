/* value.c - compile-time arithmetic as Lua does it. */
#include "frontend/lua/value.h"

#include <math.h>
#include <string.h>

TdConst td_value_int(int64_t v) {
  return (TdConst){.kind = TD_C_INT, .u.integer = v};
}

TdConst td_value_bool(bool v) {
  return (TdConst){.kind = TD_C_BOOL, .u.boolean = v};
}

TdConst td_value_float(double v) {
  return (TdConst){.kind = TD_C_FLOAT, .u.number = v};
}

const char *td_value_words(const TdConst *c) {
  static const char *const words[] = {"nil",
                                      "a boolean",
                                      "a number",
                                      "a number",
                                      "a string",
                                      "a type",
                                      "a tensor",
                                      "a state",
                                      "a kernel",
                                      "a stream",
                                      "a table",
                                      "a function",
                                      "a function of Tide",
                                      "a size",
                                      "a layout"};
  return c->kind == TD_C_OTHER ? c->u.what : words[c->kind];
}

bool td_value_is_number(const TdConst *c) {
  return c->kind == TD_C_INT || c->kind == TD_C_FLOAT;
}

bool td_value_truth(const TdConst *c) {
  return c->kind != TD_C_NIL && !(c->kind == TD_C_BOOL && !c->u.boolean);
}

static double to_double(const TdConst *c) {
  return c->kind == TD_C_INT ? (double)c->u.integer : c->u.number;
}

/* Raw equality, as Lua's == on values without metamethods. */
static bool equal(const TdConst *x, const TdConst *y) {
  if (td_value_is_number(x) && td_value_is_number(y)) {
    if (x->kind == TD_C_INT && y->kind == TD_C_INT) return x->u.integer == y->u.integer;
    return to_double(x) == to_double(y);
  }
  if (x->kind != y->kind) return false;
  switch (x->kind) {
  case TD_C_NIL: return true;
  case TD_C_BOOL: return x->u.boolean == y->u.boolean;
  case TD_C_STRING:
    return x->u.string.n == y->u.string.n &&
           memcmp(x->u.string.at, y->u.string.at, x->u.string.n) == 0;
  case TD_C_TYPE: return x->u.type == y->u.type;
  case TD_C_WORD: return x->u.word == y->u.word;
  default: return x->handle == y->handle;
  }
}

/* An integer from an integer, or from a float with an exact integer value. */
static bool to_integer(const TdConst *c, int64_t *v) {
  if (c->kind == TD_C_INT) {
    *v = c->u.integer;
    return true;
  }
  double x = c->u.number;
  if (!(x >= -9223372036854775808.0 && x < 9223372036854775808.0) || floor(x) != x) return false;
  *v = (int64_t)x;
  return true;
}

static int64_t wrap(uint64_t v) {
  return (int64_t)v;
}

/* Lua's shift: by a negative count the other way, by 64 or more zero. */
static int64_t shift_left(int64_t x, int64_t n) {
  if (n <= -64 || n >= 64) return 0;
  return wrap(n >= 0 ? (uint64_t)x << n : (uint64_t)x >> -n);
}

static int64_t floor_div(int64_t x, int64_t y) {
  if (y == -1) return wrap(0 - (uint64_t)x);
  int64_t q = x / y;
  return q - (x % y != 0 && (x < 0) != (y < 0));
}

static bool integer_arith(TdAstBinary op, int64_t x, int64_t y, TdConst *out) {
  int64_t r;
  switch (op) {
  case TD_AST_ADD: r = wrap((uint64_t)x + (uint64_t)y); break;
  case TD_AST_SUB: r = wrap((uint64_t)x - (uint64_t)y); break;
  case TD_AST_MUL: r = wrap((uint64_t)x * (uint64_t)y); break;
  case TD_AST_IDIV:
    if (!y) return false;
    r = floor_div(x, y);
    break;
  case TD_AST_MOD:
    if (!y) return false;
    r = wrap((uint64_t)x - (uint64_t)floor_div(x, y) * (uint64_t)y);
    break;
  case TD_AST_BAND: r = x & y; break;
  case TD_AST_BOR: r = x | y; break;
  case TD_AST_BXOR: r = x ^ y; break;
  case TD_AST_SHL: r = shift_left(x, y); break;
  case TD_AST_SHR: r = y == INT64_MIN ? 0 : shift_left(x, -y); break;
  default: return false;
  }
  *out = td_value_int(r);
  return true;
}

static bool float_arith(TdAstBinary op, double x, double y, TdConst *out) {
  double r;
  switch (op) {
  case TD_AST_ADD: r = x + y; break;
  case TD_AST_SUB: r = x - y; break;
  case TD_AST_MUL: r = x * y; break;
  case TD_AST_DIV: r = x / y; break;
  case TD_AST_POW: r = y == 2 ? x * x : pow(x, y); break;
  case TD_AST_IDIV: r = floor(x / y); break;
  case TD_AST_MOD:
    r = fmod(x, y);
    if (r != 0 && (r < 0) != (y < 0)) r += y;
    break;
  default: return false;
  }
  *out = td_value_float(r);
  return true;
}

static bool is_bitwise(TdAstBinary op) {
  return op == TD_AST_BAND || op == TD_AST_BOR || op == TD_AST_BXOR || op == TD_AST_SHL ||
         op == TD_AST_SHR;
}

/* -1, 0, 1 of two numbers or two strings; false when Lua cannot order them (NaN gives 2). */
static bool order(const TdConst *x, const TdConst *y, int *r) {
  if (x->kind == TD_C_STRING && y->kind == TD_C_STRING) {
    size_t n = x->u.string.n < y->u.string.n ? x->u.string.n : y->u.string.n;
    int c = memcmp(x->u.string.at, y->u.string.at, n);
    *r = c ? (c > 0) - (c < 0) : (x->u.string.n > y->u.string.n) - (x->u.string.n < y->u.string.n);
    return true;
  }
  if (!td_value_is_number(x) || !td_value_is_number(y)) return false;
  if (x->kind == TD_C_INT && y->kind == TD_C_INT) {
    *r = (x->u.integer > y->u.integer) - (x->u.integer < y->u.integer);
    return true;
  }
  double a = to_double(x), b = to_double(y);
  *r = a != a || b != b ? 2 : (a > b) - (a < b);
  return true;
}

static bool compare(TdAstBinary op, const TdConst *x, const TdConst *y, TdConst *out) {
  if (op == TD_AST_EQ || op == TD_AST_NE) {
    *out = td_value_bool(equal(x, y) == (op == TD_AST_EQ));
    return true;
  }
  int r;
  if (!order(x, y, &r)) return false;
  bool lt = r < 0, gt = r == 1, eq = r == 0;
  *out = td_value_bool(op == TD_AST_LT   ? lt
                       : op == TD_AST_GT ? gt
                       : op == TD_AST_LE ? lt || eq
                                         : gt || eq);
  return true;
}

static bool concat(TdArena *a, const TdConst *x, const TdConst *y, TdConst *out) {
  if (x->kind != TD_C_STRING || y->kind != TD_C_STRING) return false;
  size_t n = x->u.string.n + y->u.string.n;
  char *s = td_arena_alloc(a, n + 1);
  memcpy(s, x->u.string.at, x->u.string.n);
  memcpy(s + x->u.string.n, y->u.string.at, y->u.string.n);
  *out = (TdConst){.kind = TD_C_STRING};
  out->u.string.at = s;
  out->u.string.n = n;
  return true;
}

bool td_value_binary(TdArena *a, TdAstBinary op, const TdConst *x, const TdConst *y, TdConst *out) {
  switch (op) {
  case TD_AST_AND: *out = td_value_truth(x) ? *y : *x; return true;
  case TD_AST_OR: *out = td_value_truth(x) ? *x : *y; return true;
  case TD_AST_LT:
  case TD_AST_GT:
  case TD_AST_LE:
  case TD_AST_GE:
  case TD_AST_NE:
  case TD_AST_EQ: return compare(op, x, y, out);
  case TD_AST_CONCAT: return concat(a, x, y, out);
  default: break;
  }
  if (!td_value_is_number(x) || !td_value_is_number(y)) return false;
  int64_t i, k;
  if (is_bitwise(op)) return to_integer(x, &i) && to_integer(y, &k) && integer_arith(op, i, k, out);
  bool ints = x->kind == TD_C_INT && y->kind == TD_C_INT;
  if (ints && op != TD_AST_DIV && op != TD_AST_POW)
    return integer_arith(op, x->u.integer, y->u.integer, out);
  return float_arith(op, to_double(x), to_double(y), out);
}

bool td_value_unary(TdAstUnary op, const TdConst *x, TdConst *out) {
  int64_t i;
  switch (op) {
  case TD_AST_NOT: *out = td_value_bool(!td_value_truth(x)); return true;
  case TD_AST_NEG:
    if (!td_value_is_number(x)) return false;
    *out = x->kind == TD_C_INT ? td_value_int(wrap(0 - (uint64_t)x->u.integer))
                               : td_value_float(-x->u.number);
    return true;
  case TD_AST_BNOT:
    if (!td_value_is_number(x) || !to_integer(x, &i)) return false;
    *out = td_value_int(~i);
    return true;
  case TD_AST_LEN:
    if (x->kind != TD_C_STRING) return false;
    *out = td_value_int((int64_t)x->u.string.n);
    return true;
  }
  return false;
}

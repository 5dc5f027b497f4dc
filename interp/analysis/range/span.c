/* span.c - interval arithmetic on index expressions. */
#include "analysis/range/span.h"

#include "affine/sys.h"
#include "ir/num/num.h"

enum { MOST_OPERANDS = 4 };
#define NO_LOW INT64_MIN
#define NO_HIGH INT64_MAX

TdSpan td_span_const(int64_t v) {
  return (TdSpan){.lo = v, .hi = v};
}

bool td_span_is_one(TdSpan x) {
  return x.lo == x.hi;
}

int64_t td_span_plus(int64_t x, int64_t y) {
  int64_t r;
  return td_sys_add64(x, y, &r) ? r : NO_HIGH;
}

int64_t td_span_times(int64_t x, int64_t y) {
  int64_t r;
  return td_sys_mul64(x, y, &r) ? r : NO_HIGH;
}

/* Whether values of t are whole numbers that fit 64 bits, or bool. */
static bool is_whole(const TdType *t) {
  return (td_type_is_integer(t) && t->w <= 64) || t->kind == TD_T_INDEX || t->kind == TD_T_BOOL;
}

/* All values of scalar type t. */
static TdSpan range_of(const TdType *t) {
  if (t->kind == TD_T_BOOL) return (TdSpan){.lo = 0, .hi = 1};
  bool narrow = td_type_is_integer(t) && t->w < 64;
  if (t->kind == TD_T_UINT)
    return (TdSpan){.lo = 0, .hi = narrow ? (INT64_C(1) << t->w) - 1 : NO_HIGH};
  if (!narrow) return (TdSpan){.lo = NO_LOW, .hi = NO_HIGH};
  int64_t half = INT64_C(1) << (t->w - 1);
  return (TdSpan){.lo = -half, .hi = half - 1};
}

TdSpan td_span_data(const TdType *t) {
  TdSpan x = range_of(t);
  x.data = true;
  return x;
}

/* x with the reasons of y added to its own, unless it is one value. */
static TdSpan because(TdSpan x, TdSpan y) {
  if (td_span_is_one(x)) return td_span_const(x.lo);
  x.loops |= y.loops;
  x.data |= y.data;
  return x;
}

TdSpan td_span_join(TdSpan x, TdSpan y) {
  TdSpan r = {.lo = x.lo < y.lo ? x.lo : y.lo, .hi = x.hi > y.hi ? x.hi : y.hi};
  return because(because(r, x), y);
}

/* Whether x is of integers that 64 bits hold, whatever those of its type need. */
static bool is_known(const TdType *t, TdSpan x) {
  return is_whole(t) || (td_type_is_integer(t) && x.lo != NO_LOW && x.hi != NO_HIGH);
}

TdSpan td_span_cast(const TdType *t, const TdType *from, TdSpan x) {
  bool widened = td_type_is_integer(t) && t->w > 64 && is_known(from, x);
  if (widened && (td_type_is_signed(t) || x.lo >= 0)) return x;
  if (!is_whole(t)) return td_span_data(t);
  TdSpan all = range_of(t);
  if (!is_known(from, x)) return because(all, td_span_data(from));
  if (t->kind != TD_T_BOOL && x.lo >= all.lo && x.hi <= all.hi) return x;
  if (!td_span_is_one(x)) return because(all, x);
  TdFault fault;
  return td_span_const((int64_t)td_num_cast(t, from, (uint64_t)x.lo, &fault));
}

/* -v, where "no bound" stays so. */
static int64_t negate(int64_t v) {
  return v == NO_LOW ? NO_HIGH : v == NO_HIGH ? NO_LOW : -v;
}

/* x + y of two lower, or two upper bounds. */
static int64_t add(int64_t x, int64_t y, int64_t none) {
  int64_t r;
  return x == none || y == none || !td_sys_add64(x, y, &r) ? none : r;
}

static TdSpan plus(TdSpan x, TdSpan y) {
  return (TdSpan){.lo = add(x.lo, y.lo, NO_LOW), .hi = add(x.hi, y.hi, NO_HIGH)};
}

static TdSpan minus(TdSpan x) {
  return (TdSpan){.lo = negate(x.hi), .hi = negate(x.lo)};
}

static bool is_bounded(TdSpan x) {
  return x.lo != NO_LOW && x.hi != NO_HIGH;
}

static TdSpan times(TdSpan x, TdSpan y) {
  TdSpan r = {.lo = NO_LOW, .hi = NO_HIGH};
  int64_t v[4];
  if (!is_bounded(x) || !is_bounded(y) || !td_sys_mul64(x.lo, y.lo, &v[0]) ||
      !td_sys_mul64(x.lo, y.hi, &v[1]) || !td_sys_mul64(x.hi, y.lo, &v[2]) ||
      !td_sys_mul64(x.hi, y.hi, &v[3]))
    return r;
  r = (TdSpan){.lo = v[0], .hi = v[0]};
  for (int i = 1; i < 4; i++) {
    if (v[i] < r.lo) r.lo = v[i];
    if (v[i] > r.hi) r.hi = v[i];
  }
  return r;
}

/* x // c and x % c by a positive constant. */
static TdSpan divide(TdSpan x, int64_t c) {
  return (TdSpan){.lo = x.lo == NO_LOW ? NO_LOW : td_sys_floor64(x.lo, c),
                  .hi = x.hi == NO_HIGH ? NO_HIGH : td_sys_floor64(x.hi, c)};
}

static TdSpan modulo(TdSpan x, int64_t c) {
  if (!is_bounded(x) || td_sys_floor64(x.lo, c) != td_sys_floor64(x.hi, c))
    return (TdSpan){.lo = 0, .hi = c - 1};
  int64_t base = td_sys_floor64(x.lo, c) * c;
  return (TdSpan){.lo = x.lo - base, .hi = x.hi - base};
}

/* A truth value: yes, no, or either. */
static TdSpan truth(bool yes, bool no) {
  return (TdSpan){.lo = yes, .hi = !no};
}

/* x < y, where "no bound" is not a number. */
static TdSpan less(TdSpan x, TdSpan y, bool or_equal) {
  bool yes = x.hi != NO_HIGH && y.lo != NO_LOW && (or_equal ? x.hi <= y.lo : x.hi < y.lo);
  bool no = x.lo != NO_LOW && y.hi != NO_HIGH && (or_equal ? x.lo > y.hi : x.lo >= y.hi);
  return truth(yes, no);
}

static TdSpan equal(TdSpan x, TdSpan y, bool not ) {
  bool same = td_span_is_one(x) && td_span_is_one(y) && x.lo == y.lo;
  bool apart = x.hi < y.lo || y.hi < x.lo;
  return not ? truth(apart, same) : truth(same, apart);
}

static TdSpan least(TdSpan x, TdSpan y) {
  return (TdSpan){.lo = x.lo < y.lo ? x.lo : y.lo, .hi = x.hi < y.hi ? x.hi : y.hi};
}

/* An operator on one value each, by the arithmetic of the language; false if that needs more than
 * 64 bits, or faults. */
static bool compute(const TdExpr *e, const TdSpan *v, TdSpan *out) {
  const TdType *t[MOST_OPERANDS];
  uint64_t bits[MOST_OPERANDS];
  if (!is_whole(e->type)) return false;
  for (uint32_t i = 0; i < e->nkid; i++) {
    t[i] = e->kid[i]->type;
    bits[i] = (uint64_t)v[i].lo;
    bool low = e->op == TD_OP_GETBITS && i == 0 && v[2].lo < 64;
    if (!(low ? is_known(t[i], v[i]) : is_whole(t[i])) || !td_span_is_one(v[i])) return false;
  }
  TdFault fault = TD_FAULT_NONE;
  int64_t r = (int64_t)td_num_op(e->op, e->type, t, bits, (int)e->nkid, &fault);
  *out = td_span_const(r);
  return fault == TD_FAULT_NONE && !(e->type->kind == TD_T_UINT && r < 0);
}

/* An operator on intervals, without the reasons. */
static TdSpan apply(const TdExpr *e, const TdSpan *v) {
  bool by_constant = e->nkid == 2 && td_span_is_one(v[1]) && v[1].lo > 0;
  TdSpan r = {.lo = NO_LOW, .hi = NO_HIGH};
  switch (e->op) {
  case TD_OP_ADD: return plus(v[0], v[1]);
  case TD_OP_SUB: return plus(v[0], minus(v[1]));
  case TD_OP_NEG: return minus(v[0]);
  case TD_OP_MUL: return times(v[0], v[1]);
  case TD_OP_FLOORDIV: return by_constant ? divide(v[0], v[1].lo) : r;
  case TD_OP_MOD: return by_constant ? modulo(v[0], v[1].lo) : r;
  case TD_OP_MIN: return least(v[0], v[1]);
  case TD_OP_MAX: return minus(least(minus(v[0]), minus(v[1])));
  case TD_OP_LT: return less(v[0], v[1], false);
  case TD_OP_LE: return less(v[0], v[1], true);
  case TD_OP_EQ: return equal(v[0], v[1], false);
  case TD_OP_NE: return equal(v[0], v[1], true);
  case TD_OP_AND: return truth(v[0].lo && v[1].lo, !v[0].hi || !v[1].hi);
  case TD_OP_OR: return truth(v[0].lo || v[1].lo, !v[0].hi && !v[1].hi);
  case TD_OP_NOT: return truth(!v[0].hi, v[0].lo != 0);
  case TD_OP_SELECT: return td_span_is_one(v[0]) ? v[v[0].lo ? 1 : 2] : td_span_join(v[1], v[2]);
  default: return range_of(e->type);
  }
}

/* Whether the operands of e are whole numbers, so that intervals say something. */
static bool is_arithmetic(const TdExpr *e) {
  for (uint32_t i = 0; i < e->nkid; i++) {
    const TdType *t = e->kid[i]->type;
    if (!td_type_is_integer(t) && t->kind != TD_T_INDEX && t->kind != TD_T_BOOL) return false;
  }
  return e->nkid <= MOST_OPERANDS;
}

static TdSpan operator_span(const TdSpanEnv *env, const TdExpr *e) {
  if (!is_arithmetic(e)) return td_span_data(e->type);
  TdSpan v[MOST_OPERANDS], r;
  bool exact = e->op == TD_OP_ADD || e->op == TD_OP_SUB || e->op == TD_OP_MUL || e->op == TD_OP_NEG;
  for (uint32_t i = 0; i < e->nkid; i++) v[i] = td_span_of(env, e->kid[i]);
  if (!exact && compute(e, v, &r)) return r;
  r = apply(e, v);
  for (uint32_t i = 0; i < e->nkid; i++) r = because(r, v[i]);
  return r;
}

TdSpan td_span_of(const TdSpanEnv *env, const TdExpr *e) {
  TdSpan index[TD_MAX_RANK];
  int64_t v;
  switch (e->kind) {
  case TD_EXPR_LIT:
    if (!is_whole(e->type) || (e->type->kind == TD_T_UINT && (int64_t)e->u.bits < 0)) break;
    return td_span_const((int64_t)e->u.bits);
  case TD_EXPR_SIZE:
    if (!td_unit_value(env->unit, e, &v)) break;
    return td_span_const(v);
  case TD_EXPR_VAR: return env->look(env->ud, e, NULL);
  case TD_EXPR_LOAD:
    for (uint32_t d = 0; d < e->nkid; d++) index[d] = td_span_of(env, e->kid[d]);
    return env->look(env->ud, e, index);
  case TD_EXPR_OP: return operator_span(env, e);
  case TD_EXPR_CAST: return td_span_cast(e->type, e->kid[0]->type, td_span_of(env, e->kid[0]));
  default: break;
  }
  return td_span_data(td_type_scalar(e->type));
}

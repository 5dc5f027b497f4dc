/* num.c - operators, casts and memory cells of typed scalars. Everything is computed in unsigned 64
 * bits; no input traps. Where the result is not a number of the type: x // 0, x % 0 and x / 0 of
 * fixed point are 0, a negative shift counts as one beyond the width, NaN is 0 as an integer. Types
 * wider than 64 bits have only their low word here: what promote.c lets through needs no more, save
 * slices above bit 64 of words in memory, which read as 0. */
#include "ir/num/num.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "ir/num/exact.h"
#include "ir/num/float.h"

/* The low n bits; none for n < 0. */
static uint64_t mask_of(int64_t n) {
  return n <= 0 ? 0 : n >= 64 ? UINT64_MAX : ((uint64_t)1 << n) - 1;
}

uint64_t td_num_wrap(const TdType *t, uint64_t v) {
  if (t->kind == TD_T_FLOAT) return td_num_of_double(td_num_round(t, td_num_double(v)));
  if (t->w >= 64) return v;
  uint64_t sign = td_exact_is_signed(t) ? (uint64_t)1 << (t->w - 1) : 0;
  return ((v & mask_of(t->w)) ^ sign) - sign;
}

uint64_t td_num_word(const TdType *t, uint64_t v) {
  return t->kind == TD_T_FLOAT ? td_num_float_word(t, td_num_double(v)) : v & mask_of(t->w);
}

uint64_t td_num_of_word(const TdType *t, uint64_t word) {
  if (t->kind != TD_T_FLOAT) return td_num_wrap(t, word);
  return td_num_of_double(td_num_float_of_word(t, word));
}

double td_num_to_double(const TdType *t, uint64_t v) {
  if (t->kind == TD_T_FLOAT) return td_num_double(v);
  return td_exact_float(&(TdType){.kind = TD_T_FLOAT, .w = 64}, td_exact_of(t, v));
}

/* x as a number to be cast; an infinity is beyond the reach of every format. */
static TdExact finite(double x) {
  if (isinf(x)) return (TdExact){.neg = x < 0, .mag = 1, .f = -4096};
  return td_exact_of(&(TdType){.kind = TD_T_FLOAT, .w = 64}, td_num_of_double(x));
}

/* x to an integer or fixed type: beyond its range the nearest end, a fault unless asked for. */
static uint64_t cast_float(const TdType *to, double x, TdFault *fault) {
  bool outside = true;
  uint64_t v = 0;
  TdRound in_fixed = to->nearest ? TD_ROUND_EVEN : TD_ROUND_FLOOR;
  if (!isnan(x))
    v = td_exact_value(
        to, td_exact_round(finite(x), to->f, td_type_is_fixed(to) ? in_fixed : TD_ROUND_ZERO), true,
        &outside);
  if (isnan(x) || (outside && !to->saturate)) *fault = TD_FAULT_FLOAT_RANGE;
  return v;
}

uint64_t td_num_cast(const TdType *to, const TdType *from, uint64_t v, TdFault *fault) {
  *fault = TD_FAULT_NONE;
  bool from_float = from->kind == TD_T_FLOAT;
  if (to->kind == TD_T_BOOL) return from_float ? td_num_double(v) != 0 : v != 0;
  if (to->kind == TD_T_FLOAT) {
    double x =
        from_float ? td_num_round(to, td_num_double(v)) : td_exact_float(to, td_exact_of(from, v));
    return td_num_of_double(x);
  }
  if (from_float) return cast_float(to, td_num_double(v), fault);
  if (to->f == from->f && !to->saturate) return td_num_wrap(to, v);
  bool outside;
  TdRound how = to->nearest ? TD_ROUND_EVEN : TD_ROUND_FLOOR;
  return td_exact_value(to, td_exact_round(td_exact_of(from, v), to->f, how), to->saturate,
                        &outside);
}

/* Operand v of type t in the float type of the operator. */
static double as_float(const TdType *type, const TdType *t, uint64_t v) {
  TdFault none;
  return td_num_double(t->kind == TD_T_FLOAT ? v : td_num_cast(type, t, v, &none));
}

/* == ~= < <= by value; with a float, in that float's type. */
static bool compare(int op, const TdType *const *t, const uint64_t *v) {
  double a, b;
  if (t[0]->kind == TD_T_FLOAT || t[1]->kind == TD_T_FLOAT) {
    a = as_float(t[1], t[0], v[0]), b = as_float(t[0], t[1], v[1]);
  } else {
    a = td_exact_compare(td_exact_of(t[0], v[0]), td_exact_of(t[1], v[1])), b = 0;
  }
  switch (op) {
  case TD_OP_EQ: return a == b;
  case TD_OP_NE: return a != b;
  case TD_OP_LT: return a < b;
  default: return a <= b;
  }
}

/* << >> asr. Counts of 64 and more give what the width's own count gives. */
static uint64_t shift(int op, const TdType *to, const TdType *const *t, const uint64_t *v,
                      TdFault *fault) {
  if (td_exact_is_signed(t[1]) && v[1] >> 63) *fault = TD_FAULT_NEGATIVE_SHIFT;
  int n = v[1] < 64 ? (int)v[1] : 64;
  if (op == TD_OP_SHL) return td_num_wrap(to, td_exact_shl(v[0], n));
  if (op == TD_OP_SHR) return td_num_wrap(to, td_exact_shr(td_num_word(t[0], v[0]), n));
  bool ones = td_exact_is_signed(t[0]) && v[0] >> 63;
  return td_num_wrap(to, ones ? ~td_exact_shr(~v[0], n) : td_exact_shr(v[0], n));
}

/* bits lo to hi of v[0], or v[0] with v[3] in their place; bounds are v[1] and v[2]. */
static uint64_t slice(int op, const TdType *to, const TdType *const *t, const uint64_t *v) {
  int lo = v[1] < 64 ? (int)v[1] : 64, hi = v[2] < 64 ? (int)v[2] : 64;
  uint64_t word = td_num_word(t[0], v[0]), mask = mask_of(hi - lo);
  if (op == TD_OP_GETBITS) return td_num_wrap(to, td_exact_shr(word, lo) & mask);
  return td_num_wrap(to, (word & ~td_exact_shl(mask, lo)) | td_exact_shl(v[3] & mask, lo));
}

/* // and % of integers and / of fixed point, by floor. */
static uint64_t divide(int op, const TdType *to, TdExact a, TdExact b, TdFault *fault) {
  if (b.mag == 0) {
    *fault = TD_FAULT_ZERO_DIVISION;
    return 0;
  }
  if (op != TD_OP_MOD) return td_num_wrap(to, td_exact_quotient(a, b, to->f + b.f - a.f));
  uint64_t r = a.mag % b.mag;
  if (r && a.neg != b.neg) r = b.mag - r;
  return td_num_wrap(to, b.neg ? 0 - r : r);
}

/* The operators on integers and fixed point whose result is of their kind. */
static uint64_t exact_op(int op, const TdType *to, const TdType *const *t, const uint64_t *v, int n,
                         TdFault *fault) {
  assert(n <= 2);
  TdExact x[2];
  uint64_t raw[2] = {0};
  bool aligned = op == TD_OP_ADD || op == TD_OP_SUB;
  for (int i = 0; i < n; i++) {
    x[i] = td_exact_of(t[i], v[i]);
    raw[i] = aligned ? td_exact_shl(v[i], to->f - t[i]->f) : v[i];
  }
  bool outside;
  switch (op) {
  case TD_OP_ADD: return td_num_wrap(to, raw[0] + raw[1]);
  case TD_OP_SUB: return td_num_wrap(to, raw[0] - raw[1]);
  case TD_OP_MUL: return td_num_wrap(to, raw[0] * raw[1]);
  case TD_OP_NEG: return td_num_wrap(to, 0 - raw[0]);
  case TD_OP_BAND: return td_num_wrap(to, raw[0] & raw[1]);
  case TD_OP_BOR: return td_num_wrap(to, raw[0] | raw[1]);
  case TD_OP_BXOR: return td_num_wrap(to, raw[0] ^ raw[1]);
  case TD_OP_BNOT: return td_num_wrap(to, ~raw[0]);
  case TD_OP_ABS: return td_num_wrap(to, x[0].mag);
  case TD_OP_FLOOR:
    return td_exact_value(to, td_exact_round(x[0], 0, TD_ROUND_FLOOR), false, &outside);
  case TD_OP_CEIL:
    return td_exact_value(to, td_exact_round(x[0], 0, TD_ROUND_CEIL), false, &outside);
  case TD_OP_MIN:
  case TD_OP_MAX: {
    int pick = (td_exact_compare(x[0], x[1]) > 0) == (op == TD_OP_MIN);
    return td_num_cast(to, t[pick], v[pick], fault);
  }
  default: return divide(op, to, x[0], x[1], fault);
  }
}

uint64_t td_num_op(int op, const TdType *to, const TdType *const *t, const uint64_t *v, int n,
                   TdFault *fault) {
  assert(n == td_ops[op].arity && n <= 4);
  *fault = TD_FAULT_NONE;
  int pick = v[0] ? 1 : 2;
  switch (op) {
  case TD_OP_AND: return v[0] && v[1];
  case TD_OP_OR: return v[0] || v[1];
  case TD_OP_NOT: return !v[0];
  case TD_OP_EQ:
  case TD_OP_NE:
  case TD_OP_LT:
  case TD_OP_LE: return compare(op, t, v);
  case TD_OP_SELECT: return td_num_cast(to, t[pick], v[pick], fault);
  case TD_OP_SHL:
  case TD_OP_SHR:
  case TD_OP_ASR: return shift(op, to, t, v, fault);
  case TD_OP_GETBITS:
  case TD_OP_SETBITS: return slice(op, to, t, v);
  case TD_OP_BITCAST: return td_num_of_word(to, td_num_word(t[0], v[0]));
  default: break;
  }
  assert(td_ops[op].rule != TD_RULE_TENSOR);
  if (to->kind != TD_T_FLOAT) return exact_op(op, to, t, v, n, fault);
  double x[3] = {0};
  for (int i = 0; i < n; i++) x[i] = as_float(to, t[i], v[i]);
  return td_num_of_double(td_num_float_op(op, to, x));
}

uint64_t td_num_load(const TdType *t, const void *p) {
  uint8_t b;
  uint16_t h;
  uint32_t w;
  uint64_t d;
  switch (td_type_bytes(t)) {
  case 1: return memcpy(&b, p, sizeof b), td_num_of_word(t, b);
  case 2: return memcpy(&h, p, sizeof h), td_num_of_word(t, h);
  case 4: return memcpy(&w, p, sizeof w), td_num_of_word(t, w);
  default: return memcpy(&d, p, sizeof d), td_num_of_word(t, d);
  }
}

/* The words of a wider element lie lowest first; the upper ones get the sign. */
void td_num_store(const TdType *t, void *p, uint64_t v) {
  uint64_t d = t->kind == TD_T_FLOAT ? td_num_word(t, v) : td_num_wrap(t, v);
  uint8_t b = (uint8_t)d;
  uint16_t h = (uint16_t)d;
  uint32_t w = (uint32_t)d;
  size_t bytes = td_type_bytes(t);
  switch (bytes) {
  case 1: memcpy(p, &b, sizeof b); break;
  case 2: memcpy(p, &h, sizeof h); break;
  case 4: memcpy(p, &w, sizeof w); break;
  default:
    memcpy(p, &d, sizeof d);
    memset((unsigned char *)p + 8, td_type_is_signed(t) && d >> 63 ? 255 : 0, bytes - 8);
  }
}

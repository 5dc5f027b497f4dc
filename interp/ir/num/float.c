/* float.c - float formats, and the operators on them. Every operator rounds once, to its type,
 * and no product meets a sum in one C expression, so that nothing is contracted. + - * / sqrt are
 * computed as doubles, which is as if they were exact (53 >= 2 * 24 + 2); fma and the functions of
 * libm for f64 as double, for the others as float. x // y is floor of the rounded quotient. x % y
 * is the exact remainder with the sign of y, rounded once, as Lua's. min and max give NaN if either
 * is NaN, and -0.0 is less than +0.0. */
#include "ir/num/float.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "ir/num/exact.h"

_Static_assert(FLT_EVAL_METHOD == 0 && FLT_MANT_DIG == 24 && DBL_MANT_DIG == 53,
               "float and double are binary32 and binary64 and computed as such");

#define NAN_BITS 0x7FF8000000000000u

TdFloatFormat td_num_float_format(const TdType *t) {
  if (t->brain) return (TdFloatFormat){8, 127};
  if (t->w == 16) return (TdFloatFormat){11, 15};
  return t->w == 32 ? (TdFloatFormat){24, 127} : (TdFloatFormat){53, 1023};
}

double td_num_double(uint64_t v) {
  double x;
  memcpy(&x, &v, sizeof x);
  return x;
}

uint64_t td_num_of_double(double x) {
  uint64_t v;
  memcpy(&v, &x, sizeof v);
  return isnan(x) ? NAN_BITS : v;
}

double td_num_round(const TdType *t, double x) {
  if (t->w == 64 || !isfinite(x)) return x;
  if (t->w == 32) return (float)x;
  return td_exact_float(t,
                        td_exact_of(&(TdType){.kind = TD_T_FLOAT, .w = 64}, td_num_of_double(x)));
}

/* The bits of a float, and back. */
static uint32_t single_word(double x) {
  float f = (float)x;
  uint32_t word;
  memcpy(&word, &f, sizeof word);
  return isnan(x) ? 0x7FC00000u : word;
}

static double single_of_word(uint32_t word) {
  float f;
  memcpy(&f, &word, sizeof f);
  return f;
}

/* The binary16 word of an x that it holds, and back. */
static uint64_t half_word(double x) {
  if (isnan(x)) return 0x7E00;
  uint64_t bits = td_num_of_double(fabs(x)), sign = signbit(x) ? 0x8000 : 0;
  if (isinf(x)) return sign | 0x7C00;
  if (fabs(x) < 0x1p-14) return sign | (uint64_t)(fabs(x) * 0x1p24);
  return sign | ((bits >> 42) - ((uint64_t)(1023 - 15) << 10));
}

static double half_of_word(uint64_t word) {
  int e = (int)(word >> 10 & 31), m = (int)(word & 1023);
  double x = e == 0   ? ldexp(m, -24)
             : e < 31 ? ldexp(1024 + m, e - 25)
             : m      ? (double)NAN
                      : (double)INFINITY;
  return word >> 15 & 1 ? -x : x;
}

uint64_t td_num_float_word(const TdType *t, double x) {
  if (t->brain) return single_word(x) >> 16;
  if (t->w == 16) return half_word(x);
  return t->w == 32 ? single_word(x) : td_num_of_double(x);
}

double td_num_float_of_word(const TdType *t, uint64_t word) {
  if (t->brain) return single_of_word((uint32_t)(word & 0xFFFF) << 16);
  if (t->w == 16) return half_of_word(word);
  return t->w == 32 ? single_of_word((uint32_t)word) : td_num_double(word);
}

static double least(double a, double b) {
  if (isnan(a) || isnan(b)) return NAN;
  if (a == b) return signbit(a) ? a : b;
  return a < b ? a : b;
}

/* The remainder of a / b that has the sign of b. */
static double remainder_of(double a, double b) {
  double r = fmod(a, b);
  return (r < 0 && b > 0) || (r > 0 && b < 0) ? r + b : r;
}

/* The functions of libm that operators call, for f64 and for the others. */
static double libm(int op, bool wide, double x) {
  static const struct {
    double (*f64)(double);
    float (*f32)(float);
  } of[TD_OPS] = {
      [TD_OP_SQRT] = {sqrt, sqrtf}, [TD_OP_EXP] = {exp, expf}, [TD_OP_LOG] = {log, logf},
      [TD_OP_SIN] = {sin, sinf},    [TD_OP_COS] = {cos, cosf}, [TD_OP_TANH] = {tanh, tanhf}};
  assert(of[op].f64);
  return wide ? of[op].f64(x) : (double)of[op].f32((float)x);
}

/* The operator before its result is rounded. */
static double compute(int op, const TdType *t, const double *x) {
  bool wide = t->w == 64;
  switch (op) {
  case TD_OP_ADD: return x[0] + x[1];
  case TD_OP_SUB: return x[0] - x[1];
  case TD_OP_MUL: return x[0] * x[1];
  case TD_OP_DIV: return x[0] / x[1];
  case TD_OP_FLOORDIV: return floor(td_num_round(t, x[0] / x[1]));
  case TD_OP_MOD: return remainder_of(x[0], x[1]);
  case TD_OP_NEG: return -x[0];
  case TD_OP_ABS: return fabs(x[0]);
  case TD_OP_MIN: return least(x[0], x[1]);
  case TD_OP_MAX: return -least(-x[0], -x[1]);
  case TD_OP_FLOOR: return floor(x[0]);
  case TD_OP_CEIL: return ceil(x[0]);
  case TD_OP_FMA:
    return wide ? fma(x[0], x[1], x[2]) : (double)fmaf((float)x[0], (float)x[1], (float)x[2]);
  default: return libm(op, wide, x[0]);
  }
}

double td_num_float_op(int op, const TdType *t, const double *x) {
  return td_num_round(t, compute(op, t, x));
}

/* num_float_test.c - floats: every f16 and bf16 value, rounding against a search among them,
 * operators against C's float and double, casts from and to integers and fixed point. */
#include <math.h>
#include <stdlib.h>

#include "base/base.h"
#include "ir/num/num.h"
#include "tap.h"

static TdSession *S;
static TdDiag D;
static const TdType *f16, *bf16, *f32, *f64;
static uint64_t seed = 0x13198A2E03707344u;

static uint64_t random_bits(void) {
  seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
  return seed * 0x2545F4914F6CDD1Du;
}

static double random_unit(void) {
  return (double)(random_bits() >> 11) * 0x1p-53;
}

static bool same(double a, double b) {
  return td_num_of_double(a) == td_num_of_double(b);
}

/* The magnitudes of a 16-bit format in order, then the first power of two beyond them. */
typedef struct Table {
  const TdType *type;
  int n;
  double at[32769];
} Table;
static Table half_table, brain_table;

/* Fills a table from the definition of the format: e exponent bits, m fraction bits. */
static void fill_table(Table *t, const TdType *type, int e, int m) {
  int top = 1 << e, bias = top / 2 - 1;
  t->type = type;
  for (int x = 0; x < top - 1; x++)
    for (int f = 0; f < 1 << m; f++)
      t->at[t->n++] = x ? ldexp((1 << m) + f, x - bias - m) : ldexp(f, 1 - bias - m);
  t->at[t->n] = ldexp(1, top - 1 - bias);
}

/* x rounded to the table's format by search: the nearer neighbour, the even one of two. */
static double search(const Table *t, double x) {
  if (isnan(x)) return x;
  double mag = fabs(x);
  int lo = 0, hi = t->n;
  if (mag >= t->at[hi]) return copysign(INFINITY, x);
  while (hi - lo > 1) {
    int mid = (lo + hi) / 2;
    if (t->at[mid] <= mag)
      lo = mid;
    else
      hi = mid;
  }
  double half = t->at[lo] + (t->at[hi] - t->at[lo]) / 2;
  int best = mag < half || (mag == half && lo % 2 == 0) ? lo : hi;
  return copysign(best == t->n ? INFINITY : t->at[best], x);
}

/* All 65536 words through memory, and as the values that the format defines. */
static void test_words(const Table *t, uint16_t inf, const char *name) {
  bool round_trip = true, defined = true, cast = true;
  const TdType *u16 = td_type_uint(S, 16);
  for (uint32_t w = 0; w < 65536; w++) {
    uint16_t cell = (uint16_t)w, back;
    uint64_t v = td_num_load(t->type, &cell);
    int mag = (int)(w & 0x7FFF);
    bool nan = mag > inf;
    td_num_store(t->type, &back, v);
    round_trip &= nan ? back == (t->type->brain ? 0x7FC0 : 0x7E00) : back == cell;
    double want = nan ? (double)NAN : mag == inf ? (double)INFINITY : t->at[mag];
    defined &= same(td_num_double(v), w >> 15 ? -want : want);
    TdFault fault;
    uint64_t word = td_num_op(TD_OP_BITCAST, u16, &t->type, &v, 1, &fault), x = w;
    cast &= word == back && td_num_op(TD_OP_BITCAST, t->type, &u16, &x, 1, &fault) == v;
    cast &= td_num_wrap(t->type, v) == v && td_num_cast(t->type, f64, v, &fault) == v;
  }
  char line[80];
  snprintf(line, sizeof line, "%s: 65536 words survive load and store", name);
  ok(round_trip, line);
  snprintf(line, sizeof line, "%s: every word has its value", name);
  ok(defined, line);
  snprintf(line, sizeof line, "%s: bitcast and cast keep every value", name);
  ok(cast, line);
}

/* A double near the format: around its values, halfway between two, or of any magnitude in reach.
 */
static double near(const Table *t) {
  double x = t->at[random_bits() % (uint64_t)t->n];
  switch (random_bits() % 4) {
  case 0: x = x + (t->at[1] > x ? t->at[1] : x * 0x1p-9) * random_unit(); break;
  case 1:
    x = nextafter((x + search(t, x * (1 + 0x1p-8))) / 2, random_bits() & 1 ? 0 : INFINITY);
    break;
  case 2: x = (x + search(t, x * (1 + 0x1p-8))) / 2; break;
  default: x *= 1 + random_unit();
  }
  return random_bits() & 1 ? -x : x;
}

static void test_rounding(const Table *t, const char *name) {
  long wrong = 0;
  for (int i = 0; i < 1000000; i++) {
    double x = near(t), got = td_num_round(t->type, x), want = search(t, x);
    if (!same(got, want) && wrong++ == 0) printf("# %a gave %a, not %a\n", x, got, want);
  }
  ok(wrong == 0, name);
  ok(same(td_num_round(t->type, -0.0), -0.0) && same(td_num_round(t->type, -1e-300), -0.0) &&
         same(td_num_round(t->type, 1e300), INFINITY) &&
         same(td_num_round(t->type, -INFINITY), -INFINITY) && isnan(td_num_round(t->type, NAN)),
     "signed zeros, overflow and NaN");
}

/* op on x in type t. */
static double run(int op, const TdType *t, const double *x) {
  const TdType *type[] = {t, t, t},
               *to = td_promote_op(S, op, type, td_ops[op].arity, (TdLoc){0}, &D);
  uint64_t v[3] = {0};
  for (int i = 0; i < td_ops[op].arity; i++) v[i] = td_num_of_double(x[i]);
  TdFault fault;
  return td_num_double(td_num_op(op, to, type, v, td_ops[op].arity, &fault));
}

static const int basic[] = {TD_OP_ADD, TD_OP_SUB, TD_OP_MUL, TD_OP_DIV, TD_OP_SQRT};

/* The operator in C's float, and in its double. */
static float in_float(int op, float a, float b) {
  switch (op) {
  case TD_OP_ADD: return a + b;
  case TD_OP_SUB: return a - b;
  case TD_OP_MUL: return a * b;
  case TD_OP_DIV: return a / b;
  default: return sqrtf(a);
  }
}

static double in_double(int op, double a, double b) {
  switch (op) {
  case TD_OP_ADD: return a + b;
  case TD_OP_SUB: return a - b;
  case TD_OP_MUL: return a * b;
  case TD_OP_DIV: return a / b;
  default: return sqrt(a);
  }
}

/* A value of type t from random bits of its format. */
static double random_value(const TdType *t) {
  uint64_t word = random_bits();
  return td_num_double(td_num_load(t, &word));
}

/* + - * / sqrt on a million pairs of 16-bit floats: as float, then once more rounded by search. */
static void test_half_operators(const Table *t, const char *name) {
  long wrong = 0;
  for (int i = 0; i < 1000000; i++) {
    uint16_t w[2] = {(uint16_t)random_bits(), (uint16_t)random_bits()};
    if (i & 1) w[1] = (uint16_t)(w[0] + random_bits() % 4096);
    double x[] = {td_num_double(td_num_load(t->type, &w[0])),
                  td_num_double(td_num_load(t->type, &w[1]))};
    int op = basic[i % 5];
    double got = run(op, t->type, x);
    double want = search(t, in_double(op, x[0], x[1]));
    double also = search(t, (double)in_float(op, (float)x[0], (float)x[1]));
    if ((!same(got, want) || !same(got, also)) && wrong++ == 0)
      printf("# %s of %a, %a gave %a, not %a\n", td_ops[op].id, x[0], x[1], got, want);
  }
  ok(wrong == 0, name);
}

static void test_single_operators(void) {
  long single = 0, wide = 0;
  for (int i = 0; i < 1000000; i++) {
    int op = basic[i % 5];
    double x[] = {random_value(f32), random_value(f32)};
    if (i & 1) x[1] = td_num_round(f32, x[0] * (1 + random_unit() * 0x1p-10));
    single += !same(run(op, f32, x), (double)in_float(op, (float)x[0], (float)x[1]));
    double y[] = {random_value(f64), random_value(f64)};
    wide += !same(run(op, f64, y), in_double(op, y[0], y[1]));
  }
  ok(single == 0, "f32: + - * / sqrt as C's float");
  ok(wide == 0, "f64: + - * / sqrt as C's double");
}

/* How far x is from `exact`, in units of the last of p places there. */
static double places_off(long double x, long double exact, int p) {
  if (x == exact) return 0;
  return (double)(fabsl(x - exact) / ldexpl(1, ilogbl(exact) - p + 1));
}

/* Functions are off by no more than docs/numbers.md says. */
static void test_places(void) {
  static const struct {
    int op;
    long double (*exact)(long double);
    double most;
  } f[] = {
      {TD_OP_EXP, expl, 1}, {TD_OP_LOG, logl, 1},   {TD_OP_SIN, sinl, 1},
      {TD_OP_COS, cosl, 1}, {TD_OP_TANH, tanhl, 3},
  };
  for (size_t k = 0; k < sizeof f / sizeof *f; k++) {
    double single = 0, wide = 0;
    for (int i = 0; i < 100000; i++) {
      double x = ldexp(random_unit(), (int)(random_bits() % 15) - 8), y = (float)x;
      if (f[k].op != TD_OP_LOG && i & 1) x = -x, y = -y;
      single = fmax(single, places_off(run(f[k].op, f32, &y), f[k].exact(y), 24));
      wide = fmax(wide, places_off(run(f[k].op, f64, &x), f[k].exact(x), 53));
    }
    char line[80];
    snprintf(line, sizeof line, "%s: off by %.3f ulp in f32, %.3f in f64", td_ops[f[k].op].id,
             single, wide);
    ok(single > 0 && single <= f[k].most && wide > 0 && wide <= f[k].most, line);
  }
}

/* Functions and fma call the libm of their type. */
static void test_functions(void) {
  static const struct {
    int op;
    double (*wide)(double);
    float (*single)(float);
  } f[] = {{TD_OP_EXP, exp, expf},       {TD_OP_LOG, log, logf},    {TD_OP_SIN, sin, sinf},
           {TD_OP_COS, cos, cosf},       {TD_OP_TANH, tanh, tanhf}, {TD_OP_SQRT, sqrt, sqrtf},
           {TD_OP_FLOOR, floor, floorf}, {TD_OP_CEIL, ceil, ceilf}, {TD_OP_ABS, fabs, fabsf}};
  for (size_t k = 0; k < sizeof f / sizeof *f; k++) {
    long wrong = 0;
    for (int i = 0; i < 20000; i++) {
      double x = random_value(f16), y = random_value(f32), z = random_value(f64);
      wrong += !same(run(f[k].op, f16, &x), search(&half_table, (double)f[k].single((float)x)));
      wrong += !same(run(f[k].op, f32, &y), (double)f[k].single((float)y));
      wrong += !same(run(f[k].op, f64, &z), f[k].wide(z));
    }
    ok(wrong == 0, td_ops[f[k].op].id);
  }
  double near_one[] = {1 + 0x1p-23, 1 - 0x1p-23, -1}, tiny[] = {1 + 0x1p-52, 1 - 0x1p-52, -1};
  ok(same(run(TD_OP_FMA, f32, near_one), -0x1p-46) && same(run(TD_OP_FMA, f64, tiny), -0x1p-104),
     "FMA rounds once");
  double half_way[] = {1 + 0x1p-12, 1 + 0x1p-12, 0x1p-60};
  ok(same(run(TD_OP_FMA, f32, half_way), 1 + 0x1p-11 + 0x1p-23), "and not as double first");
  double unfused = run(TD_OP_MUL, f32, near_one);
  ok(same(run(TD_OP_ADD, f32, (double[]){unfused, -1}), 0), "* and + round twice");
}

/* a // b, a % b: exact by fmod, Lua's sign. */
static void test_divisions(void) {
  static const double row[][4] = {
      {7, 3, 2, 1},     {-7, 3, -3, 2},   {7, -3, -3, -2},     {-7, -3, 2, -1},
      {6, 3, 2, 0},     {5.5, 2, 2, 1.5}, {1, INFINITY, 0, 1}, {-1, INFINITY, -0.0, INFINITY},
      {0.5, 0.25, 2, 0}};
  bool quotients = true, rests = true;
  for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
    quotients &= same(run(TD_OP_FLOORDIV, f32, row[i]), row[i][2]);
    rests &= same(run(TD_OP_MOD, f32, row[i]), row[i][3]);
  }
  for (int i = 0; i < 100000; i++) {
    double y = random_unit() + 1, k = (double)(1 + random_bits() % 64);
    float b = (float)y, a = nextafterf((float)(k * (double)b), 0);
    quotients &=
        same(run(TD_OP_FLOORDIV, f32, (double[]){(double)a, (double)b}), (double)floorf(a / b));
  }
  ok(quotients, "//, whose quotient rounds before floor");
  ok(rests, "%");
  double by_zero[] = {1, 0};
  ok(same(run(TD_OP_FLOORDIV, f64, by_zero), INFINITY) && isnan(run(TD_OP_MOD, f64, by_zero)),
     "// and % by 0 are IEEE");
}

static void test_order(void) {
  static const double v[] = {-INFINITY, -1, -0.0, 0.0, 0x1p-149, 1, INFINITY};
  bool least = true, most = true, compared = true;
  for (int i = 0; i < 7; i++)
    for (int j = 0; j < 7; j++) {
      double x[] = {v[i], v[j]};
      least &= same(run(TD_OP_MIN, f32, x), v[i < j ? i : j]);
      most &= same(run(TD_OP_MAX, f32, x), v[i < j ? j : i]);
      compared &= td_num_of_double(run(TD_OP_LT, f32, x)) == (uint64_t)(v[i] < v[j]);
      compared &= td_num_of_double(run(TD_OP_LE, f32, x)) == (uint64_t)(v[i] <= v[j]);
      compared &= td_num_of_double(run(TD_OP_EQ, f32, x)) == (uint64_t)(v[i] == v[j]);
      compared &= td_num_of_double(run(TD_OP_NE, f32, x)) == (uint64_t)(v[i] != v[j]);
    }
  ok(least, "MIN, with -0.0 below 0.0");
  ok(most, "MAX, with -0.0 below 0.0");
  ok(compared, "comparisons, with -0.0 equal to 0.0");
  double left[] = {NAN, 1}, right[] = {1, NAN};
  ok(isnan(run(TD_OP_MIN, f32, left)) && isnan(run(TD_OP_MIN, f32, right)) &&
         isnan(run(TD_OP_MAX, f32, left)) && isnan(run(TD_OP_MAX, f32, right)),
     "MIN and MAX of NaN");
  uint64_t nan = td_num_of_double(-(double)NAN);
  ok(nan == td_num_of_double(INFINITY - INFINITY) && nan == td_num_of_double(NAN), "one NaN");
}

/* mag in 53 bits, the last of which says whether anything was cut: it rounds to fewer bits as mag
 * does. */
static double sticky(uint64_t mag) {
  if (mag >> 53 == 0) return (double)mag;
  return ldexp((double)(mag >> 11 | ((mag & 2047) != 0)), 11);
}

static void test_from_integers(void) {
  const TdType *i64 = td_type_int(S, 64), *u64 = td_type_uint(S, 64);
  long single = 0, wide = 0, brain = 0;
  TdFault fault;
  for (int i = 0; i < 400000; i++) {
    uint64_t v = random_bits() >> (random_bits() % 63);
    if (i % 4 == 0) v |= v << 1 & v >> 3;
    if (i % 4 == 1) v = (v | 1) << (random_bits() % 40);
    if (!v) v = 1;
    int64_t s = (int64_t)v;
    single += !same(td_num_double(td_num_cast(f32, u64, v, &fault)), (double)(float)v);
    single += !same(td_num_double(td_num_cast(f32, i64, v, &fault)), (double)(float)s);
    wide += !same(td_num_double(td_num_cast(f64, u64, v, &fault)), (double)v);
    wide += !same(td_num_to_double(i64, v), (double)s);
    brain +=
        !same(td_num_double(td_num_cast(bf16, u64, v, &fault)), search(&brain_table, sticky(v)));
  }
  ok(single == 0, "integers to f32 as C does");
  ok(wide == 0, "integers to f64 as C does");
  ok(brain == 0, "integers to bf16 round once");
  const TdType *q = td_type_fixed(S, true, 40, 60);
  long fixed = 0;
  for (int i = 0; i < 200000; i++) {
    int64_t raw = (int64_t)random_bits() >> (24 + random_bits() % 38);
    double x = ldexp((double)raw, -60);
    fixed += !same(td_num_to_double(q, (uint64_t)raw), x);
    fixed += !same(td_num_double(td_num_cast(f16, q, (uint64_t)raw, &fault)),
                   raw ? search(&half_table, x) : 0);
  }
  ok(fixed == 0, "fixed point to f64 is exact, to f16 rounds once, subnormals too");
}

/* x cast to t, and the fault it raised. */
static uint64_t to_type(const TdType *t, const TdType *from, double x, TdFault *fault) {
  return td_num_cast(t, from, td_num_of_double(x), fault);
}

static void test_to_integers(void) {
  long wrong = 0;
  TdFault fault;
  for (int i = 0; i < 400000; i++) {
    int w = 1 + (int)(random_bits() % 62), f = (int)(random_bits() % 40) - 10;
    bool nearest = random_bits() & 1, saturate = random_bits() & 1;
    double x = (random_unit() * 2 - 1) * ldexp(1, (int)(random_bits() % 70) - 5);
    if (i % 8 == 0) x = ldexp(rint(x * 4), -f - 1);
    const TdType *t = td_type_with(S, td_type_fixed(S, true, w, f), saturate, nearest);
    double y = ldexp(x, f), r = nearest ? rint(y) : floor(y), end = ldexp(1, w - 1);
    bool outside = r < -end || r > end - 1;
    if (outside) r = r < 0 ? -end : end - 1;
    if (w >= 53 && outside) continue;
    uint64_t got = to_type(t, f64, x, &fault);
    wrong +=
        got != (uint64_t)(int64_t)r || (fault == TD_FAULT_FLOAT_RANGE) != (outside && !saturate);
    if (fabs(x) < 0x1p62) {
      got = to_type(td_type_int(S, 63), f64, x, &fault);
      wrong += got != (uint64_t)(int64_t)trunc(x) || fault != TD_FAULT_NONE;
    }
  }
  ok(wrong == 0, "floats to fixed point by floor or nearest, to integers toward zero");
  const TdType *u8 = td_type_uint(S, 8), *i64 = td_type_int(S, 64), *u64 = td_type_uint(S, 64);
  bool ends = to_type(u8, f32, 256, &fault) == 255 && fault == TD_FAULT_FLOAT_RANGE;
  ends &= to_type(u8, f32, -1, &fault) == 0 && fault == TD_FAULT_FLOAT_RANGE;
  ends &= to_type(u8, f32, -0.9, &fault) == 0 && fault == TD_FAULT_NONE;
  ends &= to_type(u8, f32, 255.9, &fault) == 255 && fault == TD_FAULT_NONE;
  ends &= to_type(i64, f64, 0x1p63, &fault) == INT64_MAX && fault == TD_FAULT_FLOAT_RANGE;
  ends &= to_type(i64, f64, -0x1p63, &fault) == (uint64_t)1 << 63 && fault == TD_FAULT_NONE;
  ends &= to_type(u64, f64, 1e300, &fault) == UINT64_MAX && fault == TD_FAULT_FLOAT_RANGE;
  ends &=
      to_type(i64, f16, -INFINITY, &fault) == (uint64_t)1 << 63 && fault == TD_FAULT_FLOAT_RANGE;
  ends &= to_type(u8, f32, NAN, &fault) == 0 && fault == TD_FAULT_FLOAT_RANGE;
  ok(ends, "ends of the range, infinities and NaN");
  const TdType *sat = td_type_with(S, u8, true, false);
  ok(to_type(sat, f32, 1e9, &fault) == 255 && fault == TD_FAULT_NONE &&
         to_type(sat, f32, NAN, &fault) == 0 && fault == TD_FAULT_FLOAT_RANGE,
     "a type that saturates takes any number, but not NaN");
}

/* Operands of several classes meet in the float. */
static void test_mixed(void) {
  const TdType *i64 = td_type_int(S, 64), *q = td_type_fixed(S, true, 8, 3);
  const TdType *t[] = {i64, f32}, *h[] = {f16, bf16}, *x[] = {q, f16};
  TdFault fault;
  uint64_t v[] = {16777217, td_num_of_double(0)}, w[] = {16777217, td_num_of_double(16777216)};
  ok(td_num_double(td_num_op(TD_OP_ADD, f32, t, v, 2, &fault)) == 16777216.0,
     "an integer beside f32 is f32");
  ok(td_num_op(TD_OP_EQ, td_type_bool(S), t, w, 2, &fault) == 1, "and is compared as f32");
  uint64_t big[] = {td_num_of_double(65504), td_num_of_double(0x1p120)};
  const TdType *to = td_promote_op(S, TD_OP_ADD, h, 2, (TdLoc){0}, &D);
  ok(to == f32 && td_num_double(td_num_op(TD_OP_ADD, to, h, big, 2, &fault)) == 0x1p120,
     "f16 with bf16 is f32");
  uint64_t y[] = {0 - (uint64_t)20, td_num_of_double(0.25)};
  ok(td_num_double(td_num_op(TD_OP_MUL, f16, x, y, 2, &fault)) == -0.625,
     "fixed beside f16 is f16");
  uint64_t pick[] = {1, 0 - (uint64_t)20, y[1]};
  const TdType *s[] = {td_type_bool(S), q, f16};
  ok(td_num_double(td_num_op(TD_OP_SELECT, f16, s, pick, 3, &fault)) == -2.5, "SELECT converts");
  ok(td_num_cast(td_type_bool(S), f32, td_num_of_double(-0.0), &fault) == 0 &&
         td_num_double(td_num_cast(f32, td_type_bool(S), 1, &fault)) == 1,
     "booleans and floats");
}

int main(void) {
  TdCtx *c = td_ctx_new();
  S = td_session_new(c);
  D.arena = S->arena;
  f16 = td_type_float(S, 16), bf16 = td_type_bf16(S);
  f32 = td_type_float(S, 32), f64 = td_type_float(S, 64);
  fill_table(&half_table, f16, 5, 10);
  fill_table(&brain_table, bf16, 8, 7);
  test_words(&half_table, 0x7C00, "f16");
  test_words(&brain_table, 0x7F80, "bf16");
  test_rounding(&half_table, "f16: a million doubles round to nearest even");
  test_rounding(&brain_table, "bf16: a million doubles round to nearest even");
  test_half_operators(&half_table, "f16: + - * / sqrt are exact and rounded once");
  test_half_operators(&brain_table, "bf16: + - * / sqrt are exact and rounded once");
  test_single_operators();
  test_places();
  test_functions();
  test_divisions();
  test_order();
  test_from_integers();
  test_to_integers();
  test_mixed();
  td_session_free(S);
  td_ctx_free(c);
  return done_testing();
}

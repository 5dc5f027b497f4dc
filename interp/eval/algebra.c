/* algebra.c - the associative and ring levels: values that add and multiply as the numbers would.
 *
 * A value is e, which is its number, and m, a number that it is congruent to modulo 2^c. What is
 * not cut has m = e and c = 0; a cast that wraps to c bits keeps m and makes e anew, from m. So the
 * next cast to at most c bits needs only m: sums that wrap at every store can be regrouped; and one
 * to more bits needs only e: sums of what was cut before can be, too. Ring: m and e are elements of
 * a prime field, inputs random points. Associative: of its additive group. Every other associative
 * operator is the sum carried over by a random bijection of its own, so it is commutative and
 * associative and nothing else. */
#include <math.h>

#include "eval/word.h"

/* The field: numbers below 2^BITS - GAP, a prime. */
enum { BITS = 58, GAP = 27, TAG_BITS = 64 - BITS };
static const uint64_t mask = ((uint64_t)1 << BITS) - 1, prime = ((uint64_t)1 << BITS) - GAP;

/* A bijection of 0 .. 2^BITS - 1: shift (so that 0, the neutral element of sums, is not that of
 * anything else), multiply, fold, multiply, fold. */
typedef struct Bijection {
  uint64_t shift, key[2], inverse[2];
} Bijection;

typedef struct Algebra {
  TdHash key;
  bool ring, wide;
  uint64_t unit; /* what the integer 1 is */
  Bijection by[TD_OPS];
} Algebra;

/* A value taken apart. */
typedef struct Number {
  uint64_t m, e;
  unsigned c; /* 0 .. 64 */
} Number;

/* The x with odd * x = 1 modulo 2^64. */
static uint64_t inverse_of(uint64_t odd) {
  uint64_t x = odd;
  for (int i = 0; i < 6; i++) x *= 2 - odd * x;
  return x;
}

/* A bijection from the next random words. */
static Bijection random_bijection(uint64_t seed, unsigned *r) {
  Bijection b = {.shift = td_domain_random(seed, (*r)++)};
  for (int k = 0; k < 2; k++) {
    b.key[k] = td_domain_random(seed, (*r)++) | 1;
    b.inverse[k] = inverse_of(b.key[k]);
  }
  return b;
}

/* x modulo the prime, for any 64-bit x. */
static uint64_t reduce(uint64_t x) {
  x = (x & mask) + GAP * (x >> BITS);
  return x >= prime ? x - prime : x;
}

void *td_algebra_new(TdArena *a, TdLevel level, bool wide, uint64_t seed) {
  Algebra *g = TD_NEW(a, Algebra);
  unsigned r = 3;
  g->ring = level == TD_LEVEL_RING;
  g->wide = wide;
  g->key = (TdHash){td_domain_random(seed, 0), td_domain_random(seed, 1)};
  g->unit = g->ring ? 1 : reduce(td_domain_random(seed, 2));
  for (int op = 0; op < TD_OPS; op++) g->by[op] = random_bijection(seed, &r);
  return g;
}

/* One step of a bijection or, with the inverse key, of the way back: it is its own inverse. */
static uint64_t fold(uint64_t x) {
  return x ^ x >> BITS / 2;
}

/* What the bijection gives, again while that lies beyond the last number. */
static uint64_t carry(const Bijection *b, uint64_t x) {
  do {
    x = fold(((x + b->shift) * b->key[0]) & mask);
    x = fold((x * b->key[1]) & mask);
  } while (x >= prime);
  return x;
}

static uint64_t carry_back(const Bijection *b, uint64_t x) {
  do {
    x = (fold(x) * b->inverse[1]) & mask;
    x = (fold(x) * b->inverse[0] - b->shift) & mask;
  } while (x >= prime);
  return x;
}

/* x * y modulo the prime; both are below it. */
static uint64_t times(uint64_t x, uint64_t y) {
  uint64_t a = x >> 32, b = x & UINT32_MAX, c = y >> 32, d = y & UINT32_MAX;
  uint64_t low = b * d, mid = a * d + (low >> 32), mid2 = b * c + (mid & UINT32_MAX);
  uint64_t hi = a * c + (mid >> 32) + (mid2 >> 32), lo = (mid2 << 32) | (low & UINT32_MAX);
  uint64_t over = hi << (64 - BITS) | lo >> BITS;
  return reduce((lo & mask) + GAP * over);
}

/* 2^n modulo the prime; n may be negative. */
static uint64_t power_of_two(int n) {
  uint64_t base = n < 0 ? (prime + 1) / 2 : 2, p = 1;
  for (unsigned k = (unsigned)(n < 0 ? -n : n); k; k >>= 1, base = times(base, base))
    if (k & 1) p = times(p, base);
  return p;
}

static Number decode(TdValue v) {
  unsigned c = (unsigned)(v.lo & 63) | ((unsigned)(v.hi >> 2) & 1) << 6;
  return (Number){v.lo >> TAG_BITS, v.hi >> TAG_BITS, c};
}

static TdValue encode(Number x) {
  return (TdValue){x.m << TAG_BITS | (x.c & 63),
                   x.e << TAG_BITS | (uint64_t)(x.c >> 6) << 2 | TD_VALUE_SYMBOLIC};
}

/* The number n, all of which is known. */
static Number exactly(uint64_t n) {
  return (Number){n, n, 0};
}

/* x without its congruence: for operators that look at all of it. */
static Number whole(Number x) {
  return exactly(x.e);
}

/* A number about which nothing is known but its hash. */
static Number atom(TdHash h) {
  return exactly(reduce(h.lo ^ h.hi));
}

static uint64_t sum(uint64_t x, uint64_t y) {
  return reduce(x + y);
}

static uint64_t minus(uint64_t x) {
  return x ? prime - x : 0;
}

static Number negate(Number x) {
  return (Number){minus(x.m), minus(x.e), x.c};
}

/* Has x and y be known modulo one power of two, which is returned (0: they are exact): the smaller
 * one or, where that is asked for, the larger. */
static unsigned meet(const Algebra *g, Number *x, Number *y) {
  if (!x->c || !y->c || x->c == y->c) return x->c | y->c;
  Number *narrow = x->c < y->c ? x : y, *other = x->c < y->c ? y : x;
  if (!g->wide) return narrow->c;
  *narrow = whole(*narrow);
  return other->c;
}

static Number add(const Algebra *g, Number x, Number y) {
  unsigned c = meet(g, &x, &y);
  return (Number){sum(x.m, y.m), sum(x.e, y.e), c};
}

/* An associative operator by its bijection. */
static Number regroup(const Algebra *g, int op, Number x, Number y) {
  const Bijection *b = &g->by[op];
  unsigned c = meet(g, &x, &y);
  return (Number){carry(b, sum(carry_back(b, x.m), carry_back(b, y.m))),
                  carry(b, sum(carry_back(b, x.e), carry_back(b, y.e))), c};
}

static Number multiply(const Algebra *g, Number x, Number y) {
  if (!g->ring) return regroup(g, TD_OP_MUL, x, y);
  unsigned c = meet(g, &x, &y);
  return (Number){times(x.m, y.m), times(x.e, y.e), c};
}

/* magnitude * 2^scale; beyond the field's size an atom. */
static Number constant(const Algebra *g, uint64_t magnitude, int scale) {
  if (!magnitude) return exactly(0);
  for (; !(magnitude & 1); magnitude >>= 1) scale++;
  if (magnitude < prime) return exactly(times(times(magnitude, power_of_two(scale)), g->unit));
  TdHash h = td_hash_feed(td_hash_feed(g->key, TD_HASH_CONSTANT), magnitude);
  return atom(td_hash_feed(h, (uint64_t)(int64_t)scale));
}

/* The number x, of type t, whose value is v. */
static Number number_of_double(const Algebra *g, double x, TdValue v, const TdType *t) {
  if (isnan(x) || isinf(x)) return atom(td_domain_hash_constant(g->key, t, v));
  int scale;
  double mantissa = frexp(fabs(x), &scale);
  Number n = constant(g, (uint64_t)ldexp(mantissa, 53), scale - 53);
  return x < 0 ? negate(n) : n;
}

static TdValue input(void *self, unsigned param, int64_t element, const TdType *t) {
  const Algebra *g = self;
  (void)t;
  return encode(atom(td_domain_hash_input(g->key, param, element)));
}

static TdValue lift(void *self, const TdType *t, TdValue v) {
  const Algebra *g = self;
  uint64_t bits = v.lo;
  if (td_value_is_symbolic(v)) return v;
  if (!td_value_is_defined(v)) return encode(atom(td_hash_feed(g->key, TD_HASH_UNDEFINED)));
  if (t->kind == TD_T_FLOAT) return encode(number_of_double(g, td_num_double(bits), v, t));
  if (td_value_is_wide(v) && !td_word_fits(t, v, &bits))
    return encode(atom(td_domain_hash_constant(g->key, t, v)));
  bool negative = (td_type_is_signed(t) || t->kind == TD_T_INDEX) && bits >> 63;
  Number x = constant(g, negative ? 0 - bits : bits, td_type_is_fixed(t) ? -t->f : 0);
  return encode(negative ? negate(x) : x);
}

/* An operator that has no algebra. */
static Number opaque(const Algebra *g, const TdApply *x, const TdValue *v) {
  TdValue all[4];
  for (int i = 0; i < x->n; i++) all[i] = encode(whole(decode(v[i])));
  return atom(td_domain_hash_op(g->key, x, all));
}

/* x, which is of type `to` or to be wrapped into it, by what it is modulo 2^width alone. */
static Number wrap(const Algebra *g, const TdType *to, Number x, unsigned width) {
  uint64_t m = x.c && x.c < width ? x.e : x.m;
  TdHash h = td_hash_feed(td_hash_feed(g->key, TD_HASH_OP), TD_APPLY_CAST);
  h = td_hash_feed(td_hash_feed(h, td_domain_type_key(to, false)), m);
  return (Number){m, atom(h).e, width};
}

/* v of type `from` in type `to`; of one type: equal values become equal words. A float keeps that
 * it was rounded to its own type: a sum of f16 is not the sum in f32. */
static Number cast(Algebra *g, const TdType *to, const TdType *from, TdValue v, TdLoc loc) {
  TdValue lifted = lift(g, from, v);
  Number x = decode(lifted);
  TdApply node = {TD_APPLY_CAST, 1, to, &from, &lifted, loc};
  bool exact = td_promote_holds(to, from);
  bool is_float = to->kind == TD_T_FLOAT || from->kind == TD_T_FLOAT;
  if (is_float && to == from) return whole(x);
  bool was_rounded = from->kind == TD_T_FLOAT;
  if (is_float) return exact && g->ring && !was_rounded ? x : opaque(g, &node, &lifted);
  if (exact && to != from) return x;
  int width = to->w - to->f;
  bool wraps = !to->saturate && to->kind != TD_T_BOOL && to->f >= from->f && width > 0;
  if (wraps && width <= 64) return wrap(g, to, x, (unsigned)width);
  return exact ? whole(x) : opaque(g, &node, &lifted);
}

/* Operand i of x, in the type of the result where floats compute. */
static Number operand(Algebra *g, const TdApply *x, int i) {
  const TdType *t = x->of[i];
  TdValue v = x->v[i];
  if (x->type->kind != TD_T_FLOAT || t == x->type) return decode(lift(g, t, v));
  if (td_value_is_symbolic(v)) return cast(g, x->type, t, v, x->loc);
  TdFault fault;
  TdApply to = {TD_APPLY_CAST, 1, x->type, &t, &v, x->loc};
  return decode(lift(g, x->type, td_domain_fold(&to, &fault)));
}

/* In a ring select(c, x, y) is y + [c] * (x - y), where [c] is a number that c alone decides: so
 * sums and products of what conditions select can be regrouped. */
static Number choose(Algebra *g, const TdApply *x) {
  TdHash h = td_hash_feed(td_hash_feed(g->key, TD_HASH_OP), TD_OP_SELECT);
  Number c = decode(lift(g, x->of[0], x->v[0]));
  Number yes = operand(g, x, 1), no = operand(g, x, 2);
  return add(g, no, multiply(g, atom(td_hash_feed(h, c.e)), add(g, yes, negate(no))));
}

static TdValue apply(void *self, const TdApply *x) {
  Algebra *g = self;
  TdValue v[4];
  switch (x->op) {
  case TD_APPLY_CAST: return encode(cast(g, x->type, x->of[0], x->v[0], x->loc));
  case TD_OP_ADD: return encode(add(g, operand(g, x, 0), operand(g, x, 1)));
  case TD_OP_SUB: return encode(add(g, operand(g, x, 0), negate(operand(g, x, 1))));
  case TD_OP_NEG: return encode(negate(operand(g, x, 0)));
  case TD_OP_MUL: return encode(multiply(g, operand(g, x, 0), operand(g, x, 1)));
  case TD_OP_SELECT:
    if (g->ring) return encode(choose(g, x));
    break;
  default: break;
  }
  if (td_ops[x->op].associative && td_ops[x->op].symmetric) {
    Number a = operand(g, x, 0), b = operand(g, x, 1);
    if (!td_ops[x->op].commutes) a = whole(a), b = whole(b);
    return encode(regroup(g, x->op, a, b));
  }
  for (int i = 0; i < x->n; i++) v[i] = lift(g, x->of[i], x->v[i]);
  return encode(opaque(g, x, v));
}

const TdDomain td_algebra_domain = {"algebra", input, lift, apply};

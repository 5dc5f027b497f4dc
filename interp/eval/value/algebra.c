/* algebra.c - the associative and ring levels: values that add and multiply as the numbers would.
 * Its compiled twin is backends/c/runtime/prelude_twin.c.
 *
 * A value is e, which is its number, and m, a number that it is congruent to modulo 2^c. What is
 * not cut has m = e and c = 0; a cast that wraps to c bits keeps m and makes e anew, from m. So the
 * next cast to at most c bits needs only m: sums that wrap at every store can be regrouped; and one
 * to more bits needs only e: sums of what was cut before can be, too.
 *
 * Ring: m and e are elements of a prime field, whose prime is drawn (so no two constants are one by
 * design) and whose elements are in Montgomery's form; inputs are random points. Associative: m and
 * e are pairs of numbers modulo LANE, of which a minus negates the second only, so that nothing
 * cancels; small integers are multiples of one random pair, other constants and inputs random
 * pairs. Every other associative operator is the sum carried over by a random bijection of its own,
 * so it is commutative and associative and nothing else. The float 0.0 is no neutral element, as
 * -0.0 + 0.0 is 0.0, which a sum remembers that it added; -0.0 is one. */
#include <math.h>

#include "eval/prime.h"
#include "eval/value/word.h"

/* Numbers have BITS bits: below the ring's prime, which is above 2^(BITS-1), or two of LANE_BITS,
 * each below LANE, a prime. */
enum { BITS = 58, TAG_BITS = 64 - BITS, LANE_BITS = BITS / 2, LANE = (1 << LANE_BITS) - 3 };
static const uint64_t mask = ((uint64_t)1 << BITS) - 1, lane_mask = (1u << LANE_BITS) - 1;

/* A bijection of 0 .. 2^BITS - 1: shift (so that 0, the neutral element of sums, is not that of
 * anything else), multiply, fold, multiply, fold. */
typedef struct Bijection {
  uint64_t shift, key[2], inverse[2];
} Bijection;

typedef struct Algebra {
  TdHash key;
  bool ring, wide;
  uint64_t unit; /* associative: what the integer 1 is */
  TdPrime prime; /* of the ring */
  Bijection by[TD_OPS];
} Algebra;

/* A value taken apart. */
typedef struct Number {
  uint64_t m, e;
  unsigned c; /* 0 .. 64 */
  bool zero;  /* associative: a float sum to which 0.0 was added */
} Number;

/* A bijection from the next random words. */
static Bijection random_bijection(uint64_t seed, unsigned *r) {
  Bijection b = {.shift = td_domain_random(seed, (*r)++)};
  for (int k = 0; k < 2; k++) {
    b.key[k] = td_domain_random(seed, (*r)++) | 1;
    b.inverse[k] = td_prime_inverse(b.key[k]);
  }
  return b;
}

/* The number of the associative level that random bits x give. */
static uint64_t lanes(uint64_t x) {
  uint64_t high = (x >> 32) & lane_mask, low = x & lane_mask;
  return (high < LANE ? high : high - LANE) << LANE_BITS | (low < LANE ? low : low - LANE);
}

void *td_algebra_new(TdArena *a, TdLevel level, bool wide, uint64_t seed) {
  Algebra *g = TD_NEW(a, Algebra);
  unsigned r = 3;
  g->ring = level == TD_LEVEL_RING;
  g->wide = wide;
  g->key = (TdHash){td_domain_random(seed, 0), td_domain_random(seed, 1)};
  g->unit = lanes(td_domain_random(seed, 2));
  if (g->ring) g->prime = td_prime_draw(seed, BITS);
  for (int op = 0; op < TD_OPS; op++) g->by[op] = random_bijection(seed, &r);
  return g;
}

/* One step of a bijection or, with the inverse key, of the way back: it is its own inverse. */
static uint64_t fold(uint64_t x) {
  return x ^ x >> BITS / 2;
}

/* Whether x is a number of the level. */
static bool is_number(const Algebra *g, uint64_t x) {
  if (g->ring) return x < g->prime.p;
  return x >> LANE_BITS < LANE && (x & lane_mask) < LANE;
}

/* What the bijection gives, again while that is no number. */
static uint64_t carry(const Algebra *g, const Bijection *b, uint64_t x) {
  do {
    x = fold(((x + b->shift) * b->key[0]) & mask);
    x = fold((x * b->key[1]) & mask);
  } while (!is_number(g, x));
  return x;
}

static uint64_t carry_back(const Algebra *g, const Bijection *b, uint64_t x) {
  do {
    x = (fold(x) * b->inverse[1]) & mask;
    x = (fold(x) * b->inverse[0] - b->shift) & mask;
  } while (!is_number(g, x));
  return x;
}

static Number decode(TdValue v) {
  unsigned c = (unsigned)(v.lo & 63) | ((unsigned)(v.hi >> 2) & 1) << 6;
  return (Number){v.lo >> TAG_BITS, v.hi >> TAG_BITS, c, v.hi >> 3 & 1};
}

static TdValue encode(Number x) {
  uint64_t flags = (uint64_t)(x.c >> 6) << 2 | (uint64_t)x.zero << 3 | TD_VALUE_SYMBOLIC;
  return (TdValue){x.m << TAG_BITS | (x.c & 63), x.e << TAG_BITS | flags};
}

/* The number n, all of which is known. */
static Number exactly(uint64_t n) {
  return (Number){n, n, 0, false};
}

/* x without its congruence: for operators that look at all of it. */
static Number whole(Number x) {
  return (Number){x.e, x.e, 0, x.zero};
}

/* A number about which nothing is known but its hash. */
static Number atom(const Algebra *g, TdHash h) {
  uint64_t x = h.lo ^ h.hi;
  return exactly(g->ring ? x % g->prime.p : lanes(x));
}

static uint64_t sum(const Algebra *g, uint64_t x, uint64_t y) {
  if (g->ring) return x + y < g->prime.p ? x + y : x + y - g->prime.p;
  uint64_t high = (x >> LANE_BITS) + (y >> LANE_BITS), low = (x & lane_mask) + (y & lane_mask);
  return (high < LANE ? high : high - LANE) << LANE_BITS | (low < LANE ? low : low - LANE);
}

static uint64_t minus(const Algebra *g, uint64_t x) {
  if (g->ring) return x ? g->prime.p - x : 0;
  uint64_t low = x & lane_mask;
  return (x & ~lane_mask) | (low ? LANE - low : 0);
}

/* An atom for a number that is more than its words: a sum with 0.0. */
static Number plain(const Algebra *g, Number x) {
  if (!x.zero) return x;
  return atom(g, td_hash_feed(td_hash_feed(g->key, TD_HASH_UNDEFINED), x.e));
}

static Number negate(const Algebra *g, Number x) {
  x = plain(g, x);
  return (Number){minus(g, x.m), minus(g, x.e), x.c, false};
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
  return (Number){sum(g, x.m, y.m), sum(g, x.e, y.e), c, x.zero || y.zero};
}

/* An associative operator by its bijection. */
static Number regroup(const Algebra *g, int op, Number x, Number y) {
  const Bijection *b = &g->by[op];
  x = plain(g, x), y = plain(g, y);
  unsigned c = meet(g, &x, &y);
  return (Number){carry(g, b, sum(g, carry_back(g, b, x.m), carry_back(g, b, y.m))),
                  carry(g, b, sum(g, carry_back(g, b, x.e), carry_back(g, b, y.e))), c, false};
}

static Number multiply(const Algebra *g, Number x, Number y) {
  if (!g->ring) return regroup(g, TD_OP_MUL, x, y);
  unsigned c = meet(g, &x, &y);
  const TdPrime *p = &g->prime;
  return (Number){td_prime_times(p, x.m, y.m), td_prime_times(p, x.e, y.e), c, false};
}

/* magnitude * 2^scale. */
static Number constant(const Algebra *g, uint64_t magnitude, int scale) {
  if (!magnitude) return exactly(0);
  for (; !(magnitude & 1); magnitude >>= 1) scale++;
  if (g->ring) return exactly(td_prime_number(&g->prime, magnitude, scale));
  if (scale >= 0 && scale < LANE_BITS && magnitude < (uint64_t)LANE >> scale) {
    uint64_t n = magnitude << scale, u = g->unit;
    return exactly((u >> LANE_BITS) * n % LANE << LANE_BITS | (u & lane_mask) * n % LANE);
  }
  TdHash h = td_hash_feed(td_hash_feed(g->key, TD_HASH_CONSTANT), magnitude);
  return atom(g, td_hash_feed(h, (uint64_t)(int64_t)scale));
}

/* The number x, of type t, whose value is v. */
static Number number_of_double(const Algebra *g, double x, TdValue v, const TdType *t) {
  if (isnan(x) || isinf(x)) return atom(g, td_domain_hash_constant(g->key, t, v));
  int scale;
  double mantissa = frexp(fabs(x), &scale);
  Number n = constant(g, (uint64_t)ldexp(mantissa, 53), scale - 53);
  n.zero = !g->ring && x == 0 && !signbit(x);
  return x < 0 ? negate(g, n) : n;
}

static TdValue input(void *self, unsigned param, int64_t element, const TdType *t) {
  const Algebra *g = self;
  (void)t;
  return encode(atom(g, td_domain_hash_input(g->key, param, element)));
}

static TdValue lift(void *self, const TdType *t, TdValue v) {
  const Algebra *g = self;
  uint64_t bits = v.lo;
  if (td_value_is_symbolic(v)) return v;
  if (!td_value_is_defined(v)) return encode(atom(g, td_hash_feed(g->key, TD_HASH_UNDEFINED)));
  if (t->kind == TD_T_FLOAT) return encode(number_of_double(g, td_num_double(bits), v, t));
  if (td_value_is_wide(v) && !td_word_fits(t, v, &bits))
    return encode(atom(g, td_domain_hash_constant(g->key, t, v)));
  bool negative = (td_type_is_signed(t) || t->kind == TD_T_INDEX) && bits >> 63;
  Number x = constant(g, negative ? 0 - bits : bits, td_type_is_fixed(t) ? -t->f : 0);
  return encode(negative ? negate(g, x) : x);
}

/* An operator that has no algebra. */
static Number opaque(const Algebra *g, const TdApply *x, const TdValue *v) {
  TdValue all[4];
  for (int i = 0; i < x->n; i++) all[i] = encode(whole(decode(v[i])));
  return atom(g, td_domain_hash_op(g->key, x, all));
}

/* x, which is of type `to` or to be wrapped into it, by what it is modulo 2^width alone. */
static Number wrap(const Algebra *g, const TdType *to, Number x, unsigned width) {
  uint64_t m = x.c && x.c < width ? x.e : x.m;
  TdHash h = td_hash_feed(td_hash_feed(g->key, TD_HASH_OP), TD_APPLY_CAST);
  h = td_hash_feed(td_hash_feed(h, td_domain_type_key(to, false)), m);
  return (Number){m, atom(g, h).e, width, false};
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
  return add(g, no, multiply(g, atom(g, td_hash_feed(h, c.e)), add(g, yes, negate(g, no))));
}

static TdValue apply(void *self, const TdApply *x) {
  Algebra *g = self;
  TdValue v[4];
  switch (x->op) {
  case TD_APPLY_CAST: return encode(cast(g, x->type, x->of[0], x->v[0], x->loc));
  case TD_OP_ADD: return encode(add(g, operand(g, x, 0), operand(g, x, 1)));
  case TD_OP_SUB: return encode(add(g, operand(g, x, 0), negate(g, operand(g, x, 1))));
  case TD_OP_NEG: return encode(negate(g, operand(g, x, 0)));
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

/* algebra.c - the associative and ring levels: values that add and multiply as the numbers would.

   A value is two independent numbers m and e and a width c. Equal e: equal numbers. For c = 0 so do
   equal m; else the number is known to be congruent to what m stands for modulo 2^c, and a cast
   that wraps to at most c bits needs only m: sums that wrap at every store can be regrouped. Ring:
   m and e are elements of two prime fields, inputs random points. Associative: elements of additive
   groups. Every other associative operator is the sum carried over by a random bijection of its
   own, so it is commutative and associative and nothing else. */
#include <math.h>

#include "eval/word.h"

enum { HALVES = 2, BITS_OF_E = 55 };

/* A bijection of 0 .. 2^bits - 1: shift (so that 0, the neutral element of sums, is not that of
   anything else), multiply, fold, multiply, fold. */
typedef struct Bijection {
  uint64_t shift, key[2], inverse[2];
} Bijection;

/* Where one of the two numbers lives: 0 .. last, which is the mask, or below the prime
   2^bits - gap. */
typedef struct Half {
  int bits;
  uint64_t mask, prime, gap, last, unit; /* unit: what the integer 1 is in the group */
  Bijection by[TD_OPS];
} Half;

typedef struct Algebra {
  TdHash key;
  bool ring;
  Half half[HALVES];
} Algebra;

/* A value taken apart. */
typedef struct Number {
  uint64_t at[HALVES]; /* m, e */
  unsigned c;
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

void *td_algebra_new(TdArena *a, TdLevel level, uint64_t seed) {
  Algebra *g = TD_NEW(a, Algebra);
  g->ring = level == TD_LEVEL_RING;
  g->key = (TdHash){td_domain_random(seed, 0), td_domain_random(seed, 1)};
  const int bits[] = {g->ring ? 61 : 64, BITS_OF_E}, gap[] = {1, 55};
  for (unsigned i = 0, r = 2; i < HALVES; i++) {
    Half *h = &g->half[i];
    h->bits = bits[i];
    h->mask = UINT64_MAX >> (64 - bits[i]);
    h->gap = (uint64_t)gap[i];
    h->prime = h->mask - (h->gap - 1);
    h->last = g->ring ? h->prime - 1 : h->mask;
    h->unit = (td_domain_random(seed, r++) | 1) & h->mask;
    for (int op = 0; op < TD_OPS; op++) h->by[op] = random_bijection(seed, &r);
  }
  return g;
}

/* One step of a bijection or, with the inverse key, of the way back: the fold is its own inverse.
 */
static uint64_t fold(const Half *h, uint64_t x) {
  return x ^ (x >> ((h->bits + 1) / 2));
}

/* What the bijection gives, again while that lies beyond the last number. */
static uint64_t carry(const Half *h, const Bijection *b, uint64_t x) {
  do {
    x = fold(h, ((x + b->shift) * b->key[0]) & h->mask);
    x = fold(h, (x * b->key[1]) & h->mask);
  } while (x > h->last);
  return x;
}

static uint64_t carry_back(const Half *h, const Bijection *b, uint64_t x) {
  do {
    x = (fold(h, x) * b->inverse[1]) & h->mask;
    x = (fold(h, x) * b->inverse[0] - b->shift) & h->mask;
  } while (x > h->last);
  return x;
}

/* x modulo the prime, for any 64-bit x. */
static uint64_t reduce(const Half *h, uint64_t x) {
  x = (x & h->mask) + h->gap * (x >> h->bits);
  return x >= h->prime ? x - h->prime : x;
}

/* x * y modulo the prime; both are below it. */
static uint64_t times(const Half *h, uint64_t x, uint64_t y) {
  uint64_t a = x >> 32, b = x & UINT32_MAX, c = y >> 32, d = y & UINT32_MAX;
  uint64_t low = b * d, mid = a * d + (low >> 32), mid2 = b * c + (mid & UINT32_MAX);
  uint64_t hi = a * c + (mid >> 32) + (mid2 >> 32), lo = (mid2 << 32) | (low & UINT32_MAX);
  uint64_t over = hi << (64 - h->bits) | lo >> h->bits;
  return reduce(h, (lo & h->mask) + h->gap * over);
}

/* 2^n modulo the prime; n may be negative. */
static uint64_t power_of_two(const Half *h, int n) {
  uint64_t base = n < 0 ? (h->prime + 1) / 2 : 2, p = 1;
  for (unsigned k = (unsigned)(n < 0 ? -n : n); k; k >>= 1, base = times(h, base, base))
    if (k & 1) p = times(h, p, base);
  return p;
}

static Number decode(TdValue v) {
  return (Number){{v.lo, v.hi >> (64 - BITS_OF_E)},
                  (unsigned)(v.hi >> 2) & ((1u << (62 - BITS_OF_E)) - 1)};
}

static TdValue encode(Number x) {
  return (TdValue){x.at[0], x.at[1] << (64 - BITS_OF_E) | (uint64_t)x.c << 2 | TD_VALUE_SYMBOLIC};
}

/* A number about which nothing is known but its hash. */
static Number atom(const Algebra *g, TdHash h) {
  const uint64_t word[] = {h.lo, h.hi};
  Number x = {{0}, 0};
  for (int i = 0; i < HALVES; i++)
    x.at[i] = g->ring ? reduce(&g->half[i], word[i]) : word[i] & g->half[i].mask;
  return x;
}

static Number negate(const Algebra *g, Number x) {
  for (int i = 0; i < HALVES; i++) {
    const Half *h = &g->half[i];
    x.at[i] = !g->ring ? (0 - x.at[i]) & h->mask : x.at[i] ? h->prime - x.at[i] : 0;
  }
  return x;
}

/* The narrower of two widths of congruence; 0 is the widest. */
static unsigned join(unsigned c, unsigned d) {
  return !c ? d : !d || c < d ? c : d;
}

static uint64_t sum(const Algebra *g, const Half *h, uint64_t x, uint64_t y) {
  return g->ring ? reduce(h, x + y) : (x + y) & h->mask;
}

static Number add(const Algebra *g, Number x, Number y) {
  Number z = {{0}, join(x.c, y.c)};
  for (int i = 0; i < HALVES; i++) z.at[i] = sum(g, &g->half[i], x.at[i], y.at[i]);
  return z;
}

/* An associative operator by its bijection. */
static Number regroup(const Algebra *g, int op, Number x, Number y) {
  Number z = {{0}, join(x.c, y.c)};
  for (int i = 0; i < HALVES; i++) {
    const Half *h = &g->half[i];
    const Bijection *b = &h->by[op];
    z.at[i] = carry(h, b, sum(g, h, carry_back(h, b, x.at[i]), carry_back(h, b, y.at[i])));
  }
  return z;
}

static Number multiply(const Algebra *g, Number x, Number y) {
  if (!g->ring) return regroup(g, TD_OP_MUL, x, y);
  Number z = {{0}, join(x.c, y.c)};
  for (int i = 0; i < HALVES; i++) z.at[i] = times(&g->half[i], x.at[i], y.at[i]);
  return z;
}

/* magnitude * 2^scale. In the group only integers that fit 63 bits add up; the rest are atoms. */
static Number constant(const Algebra *g, uint64_t magnitude, int scale) {
  Number x = {{0}, 0};
  if (!magnitude) return x;
  for (; !(magnitude & 1); magnitude >>= 1) scale++;
  bool whole = scale >= 0 && scale < 63 && magnitude <= (uint64_t)INT64_MAX >> scale;
  if (!g->ring && !whole) {
    TdHash h = td_hash_feed(td_hash_feed(g->key, TD_HASH_CONSTANT), magnitude);
    return atom(g, td_hash_feed(h, (uint64_t)(int64_t)scale));
  }
  for (int i = 0; i < HALVES; i++) {
    const Half *h = &g->half[i];
    x.at[i] = g->ring ? times(h, reduce(h, magnitude), power_of_two(h, scale))
                      : ((magnitude << scale) * h->unit) & h->mask;
  }
  return x;
}

/* The number x, of type t, whose value is v. */
static Number number_of_double(const Algebra *g, double x, TdValue v, const TdType *t) {
  if (isnan(x) || isinf(x)) return atom(g, td_domain_hash_constant(g->key, t, v));
  int scale;
  double mantissa = frexp(fabs(x), &scale);
  Number n = constant(g, (uint64_t)ldexp(mantissa, 53), scale - 53);
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
  return atom(g, td_domain_hash_op(g->key, x, v));
}

/* v of type `from` in type `to`. */
static Number cast(Algebra *g, const TdType *to, const TdType *from, TdValue v, TdLoc loc) {
  TdValue lifted = lift(g, from, v);
  Number x = decode(lifted);
  TdApply node = {TD_APPLY_CAST, 1, to, &from, &lifted, loc};
  bool exact = td_promote_holds(to, from);
  bool is_float = to->kind == TD_T_FLOAT || from->kind == TD_T_FLOAT;
  if (is_float) return exact && (g->ring || to == from) ? x : opaque(g, &node, &lifted);
  if (exact && to != from && !x.c) return x;
  int width = to->w - to->f;
  bool wraps = !to->saturate && to->kind != TD_T_BOOL && to->f >= from->f && width > 0;
  if (!wraps || width > 64 || (x.c && x.c < (unsigned)width))
    return exact ? x : opaque(g, &node, &lifted);
  TdHash h = td_hash_feed(td_hash_feed(g->key, TD_HASH_OP), TD_APPLY_CAST);
  h = td_hash_feed(td_hash_feed(h, td_domain_type_key(to, false)), x.at[0]);
  x.at[1] = atom(g, h).at[1];
  x.c = (unsigned)width;
  return x;
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

/* x without its congruence, for operators that look at all of it. */
static Number whole(const Algebra *g, Number x) {
  if (!x.c) return x;
  TdHash h = td_hash_feed(g->key, TD_APPLY_CAST);
  return atom(g, td_hash_feed(td_hash_feed(h, x.at[0]), x.at[1]));
}

/* In a ring select(c, x, y) is y + [c] * (x - y), where [c] is a number that c alone decides: so
   sums and products of what conditions select can be regrouped. */
static Number choose(Algebra *g, const TdApply *x) {
  TdHash h = td_hash_feed(td_hash_feed(g->key, TD_HASH_OP), TD_OP_SELECT);
  TdValue c = lift(g, x->of[0], x->v[0]);
  Number picked = atom(g, td_hash_feed(td_hash_feed(h, c.lo), c.hi));
  Number yes = operand(g, x, 1), no = operand(g, x, 2);
  Number r = add(g, no, multiply(g, picked, add(g, yes, negate(g, no))));
  return cast(g, x->type, x->type, encode(r), x->loc);
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
    if (!td_ops[x->op].commutes) a = whole(g, a), b = whole(g, b);
    return encode(regroup(g, x->op, a, b));
  }
  for (int i = 0; i < x->n; i++) v[i] = lift(g, x->of[i], x->v[i]);
  return encode(opaque(g, x, v));
}

const TdDomain td_algebra_domain = {"algebra", input, lift, apply};

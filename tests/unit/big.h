/* big.h - integers of 480 bits, sign and magnitude, as the tests' own arithmetic. */
#ifndef BIG_H
#define BIG_H

#include <stdbool.h>
#include <stdint.h>

#define BIG_LIMBS 15

typedef struct Big {
  bool neg; /* never of 0 */
  uint32_t d[BIG_LIMBS];
} Big;

static inline Big big_of(bool neg, uint64_t mag) {
  return (Big){neg && mag, {(uint32_t)mag, (uint32_t)(mag >> 32)}};
}

static inline bool big_is_zero(const Big *a) {
  for (int i = 0; i < BIG_LIMBS; i++)
    if (a->d[i]) return false;
  return true;
}

static inline Big big_neg(Big a) {
  a.neg = !a.neg && !big_is_zero(&a);
  return a;
}

static inline int big_cmp_mag(const Big *a, const Big *b) {
  for (int i = BIG_LIMBS; i-- > 0;)
    if (a->d[i] != b->d[i]) return a->d[i] < b->d[i] ? -1 : 1;
  return 0;
}

static inline int big_cmp(Big a, Big b) {
  if (a.neg != b.neg) return a.neg ? -1 : 1;
  return a.neg ? big_cmp_mag(&b, &a) : big_cmp_mag(&a, &b);
}

/* a + b, where the magnitude of a is not below that of b. */
static inline Big big_add_ordered(const Big *a, const Big *b) {
  Big r = *a;
  int64_t carry = 0;
  for (int i = 0; i < BIG_LIMBS; i++) {
    carry += (int64_t)a->d[i] + (a->neg == b->neg ? (int64_t)b->d[i] : -(int64_t)b->d[i]);
    r.d[i] = (uint32_t)(carry & 0xFFFFFFFF);
    carry = carry < 0 ? -1 : carry >> 32;
  }
  r.neg = r.neg && !big_is_zero(&r);
  return r;
}

static inline Big big_add(Big a, Big b) {
  return big_cmp_mag(&a, &b) < 0 ? big_add_ordered(&b, &a) : big_add_ordered(&a, &b);
}

static inline Big big_sub(Big a, Big b) {
  return big_add(a, big_neg(b));
}

static inline Big big_mul(Big a, Big b) {
  Big r = {0};
  for (int i = 0; i < BIG_LIMBS; i++) {
    uint64_t carry = 0;
    for (int j = 0; a.d[i] && i + j < BIG_LIMBS; j++) {
      carry += (uint64_t)a.d[i] * b.d[j] + r.d[i + j];
      r.d[i + j] = (uint32_t)carry;
      carry >>= 32;
    }
  }
  r.neg = a.neg != b.neg && !big_is_zero(&r);
  return r;
}

/* a * 2^n, n >= 0. */
static inline Big big_shl(Big a, int n) {
  Big r = {.neg = a.neg};
  for (int i = n / 32; i < BIG_LIMBS; i++) {
    uint64_t two = (uint64_t)a.d[i - n / 32] << 32;
    if (i > n / 32) two |= a.d[i - n / 32 - 1];
    r.d[i] = (uint32_t)(two >> (32 - n % 32));
  }
  return r;
}

static inline Big big_pow2(int n) {
  return big_shl(big_of(false, 1), n);
}

static inline bool big_bit(const Big *a, int i) {
  return a->d[i / 32] >> (i % 32) & 1;
}

/* floor(a / b) and a - floor(a / b) * b, for b not 0. */
static inline Big big_floordiv(Big a, Big b, Big *rest) {
  Big q = {0}, r = {0}, m = b;
  m.neg = false;
  int top = BIG_LIMBS * 32;
  while (top > 0 && !a.d[(top - 1) / 32]) top -= 32;
  for (int i = top; i-- > 0;) {
    r = big_shl(r, 1);
    r.d[0] |= big_bit(&a, i);
    if (big_cmp_mag(&r, &m) >= 0) {
      r = big_sub(r, m);
      q.d[i / 32] |= (uint32_t)1 << (i % 32);
    }
  }
  bool inexact = !big_is_zero(&r);
  q.neg = a.neg != b.neg && !big_is_zero(&q);
  if (inexact && a.neg != b.neg) q = big_sub(q, big_of(false, 1));
  *rest = big_sub(a, big_mul(q, b));
  return q;
}

/* floor(a / 2^n), and the rest of that division; n >= 0. */
static inline Big big_floor_shr(Big a, int n) {
  Big q = {.neg = a.neg};
  for (int i = 0; i + n / 32 < BIG_LIMBS; i++) {
    uint64_t two = a.d[i + n / 32];
    if (i + n / 32 + 1 < BIG_LIMBS) two |= (uint64_t)a.d[i + n / 32 + 1] << 32;
    q.d[i] = (uint32_t)(two >> (n % 32));
  }
  q.neg = a.neg && !big_is_zero(&q);
  Big back = big_shl(q, n);
  return a.neg && big_cmp_mag(&back, &a) ? big_sub(q, big_of(false, 1)) : q;
}

static inline Big big_low_bits(Big a, int n) {
  return big_sub(a, big_shl(big_floor_shr(a, n), n));
}

/* a modulo 2^64. */
static inline uint64_t big_low(Big a) {
  uint64_t mag = a.d[0] | (uint64_t)a.d[1] << 32;
  return a.neg ? 0 - mag : mag;
}

#endif

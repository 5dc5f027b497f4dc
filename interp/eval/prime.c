/* prime.c - a prime field: Montgomery multiplication; primes by the test of Miller and Rabin. */
#include "eval/prime.h"

uint64_t td_prime_inverse(uint64_t odd) {
  uint64_t x = odd;
  for (int i = 0; i < 6; i++) x *= 2 - odd * x;
  return x;
}

/* The high word of x * y. */
static uint64_t high(uint64_t x, uint64_t y) {
  uint64_t a = x >> 32, b = x & UINT32_MAX, c = y >> 32, d = y & UINT32_MAX;
  uint64_t mid = a * d + (b * d >> 32), mid2 = b * c + (mid & UINT32_MAX);
  return a * c + (mid >> 32) + (mid2 >> 32);
}

uint64_t td_prime_times(const TdPrime *p, uint64_t x, uint64_t y) {
  uint64_t low = x * y, z = high(x, y) + high(low * p->minus, p->p) + (low != 0);
  return z < p->p ? z : z - p->p;
}

/* What n, odd, makes of the form; whether it is prime is another question. */
static TdPrime form_of(uint64_t n) {
  TdPrime p = {n, 0 - td_prime_inverse(n), 1};
  for (int i = 0; i < 128; i++) p.square = p.square * 2 % n;
  return p;
}

/* x to the power n, in the form; one is 1 in it. */
static uint64_t power(const TdPrime *p, uint64_t x, uint64_t n, uint64_t one) {
  uint64_t z = one;
  for (; n; n >>= 1, x = td_prime_times(p, x, x))
    if (n & 1) z = td_prime_times(p, z, x);
  return z;
}

uint64_t td_prime_number(const TdPrime *p, uint64_t magnitude, int scale) {
  uint64_t two = scale < 0 ? (p->p + 1) / 2 : 2, n = (uint64_t)(scale < 0 ? -scale : scale);
  uint64_t one = td_prime_times(p, 1, p->square);
  uint64_t by = power(p, td_prime_times(p, two, p->square), n, one);
  return td_prime_times(p, td_prime_times(p, magnitude % p->p, p->square), by);
}

/* Whether no witness below 40 says that p is composite: none does of a prime, and one of each
 * composite below 2^64. */
static bool is_prime(const TdPrime *p) {
  static const uint64_t witness[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37};
  uint64_t one = td_prime_times(p, 1, p->square), odd = p->p - 1;
  int twos = 0;
  for (; !(odd & 1); odd >>= 1) twos++;
  for (size_t i = 0; i < sizeof witness / sizeof *witness; i++) {
    uint64_t x = power(p, td_prime_times(p, witness[i], p->square), odd, one);
    bool passes = x == one || x == p->p - one;
    for (int k = 1; k < twos && !passes; k++) {
      x = td_prime_times(p, x, x);
      passes = x == p->p - one;
    }
    if (!passes) return false;
  }
  return true;
}

TdPrime td_prime_draw(uint64_t seed, int bits) {
  uint64_t half = (uint64_t)1 << (bits - 1);
  for (uint64_t i = 0;; i++) {
    TdPrime p = form_of((half + (td_map_mix(seed, i) & (half - 1))) | 1);
    if (is_prime(&p)) return p;
  }
}

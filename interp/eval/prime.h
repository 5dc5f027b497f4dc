/* prime.h - numbers modulo a prime that is drawn for a run, in Montgomery's form (x * 2^64): so
 * products take no division. backends/c/runtime/prelude_twin.c computes with the same words. */
#ifndef TD_EVAL_PRIME_H
#define TD_EVAL_PRIME_H

#include "base/base.h"

typedef struct TdPrime {
  uint64_t p;      /* the prime, odd */
  uint64_t minus;  /* -1 / p modulo 2^64 */
  uint64_t square; /* 2^128 modulo p: takes a number into the form */
} TdPrime;

/* A prime of so many bits (at most 60), one of about 2^bits / bits, from a seed. */
TdPrime td_prime_draw(uint64_t seed, int bits);
/* The product of two numbers below p, in the form. */
uint64_t td_prime_times(const TdPrime *p, uint64_t x, uint64_t y);
/* magnitude * 2^scale in the form. */
uint64_t td_prime_number(const TdPrime *p, uint64_t magnitude, int scale);
/* The x with odd * x = 1 modulo 2^64. */
uint64_t td_prime_inverse(uint64_t odd);

#endif

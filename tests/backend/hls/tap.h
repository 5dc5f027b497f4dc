/* tap.h - the frame of the HLS header tests: counted checks, TAP, fixed random numbers. */
#ifndef TIDE_TEST_TAP_H
#define TIDE_TEST_TAP_H

#include <cstdarg>
#include <cstdint>
#include <cstdio>

inline int tests, failed;
inline long checks, bad;

/* Counts one check of the test under way; the first few that fail say why. */
__attribute__((format(printf, 2, 3))) inline void check(bool good, const char *fmt, ...) {
  ++checks;
  if (good || ++bad > 5) return;
  va_list ap;
  va_start(ap, fmt);
  printf("# ");
  vprintf(fmt, ap);
  printf("\n");
  va_end(ap);
}

/* Runs one test of the plan. */
inline void run(const char *name, void (*body)()) {
  checks = bad = 0;
  body();
  const bool good = bad == 0 && checks > 0;
  printf("%sok %d - %s (%ld checks, %ld failed)\n", good ? "" : "not ", ++tests, name, checks, bad);
  fflush(stdout);
  failed += !good;
}

inline uint64_t seed = 0x9e3779b97f4a7c15;

/* The next number of a fixed sequence (xorshift). */
inline uint64_t rnd() {
  seed ^= seed << 13;
  seed ^= seed >> 7;
  return seed ^= seed << 17;
}

/* Prints the plan and the totals; returns the exit status. */
inline int finish() {
  printf("1..%d\n%d passed, %d failed\n", tests, tests - failed, failed);
  return failed != 0;
}

#endif

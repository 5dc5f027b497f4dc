/* tap.h - what a test program of C prints: one TAP line for each named fact. */
#ifndef TAP_H
#define TAP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int tap_tests, tap_failures;

/* Counts a test and prints its line. */
static inline void ok(bool passed, const char *name) {
  tap_failures += !passed;
  printf("%s %d - %s\n", passed ? "ok" : "not ok", ++tap_tests, name);
}

/* ok for two texts, which are shown when they differ. */
static inline void is_text(const char *got, const char *want, const char *name) {
  bool same = strcmp(got, want) == 0;
  ok(same, name);
  if (!same) printf("#   got  %s\n#   want %s\n", got, want);
}

/* How many times its count a random campaign makes: TIDE_TIMES, at least 1 (campaign.lua). */
static inline int tap_times(void) {
  const char *times = getenv("TIDE_TIMES");
  int n = times ? atoi(times) : 1;
  return n > 1 ? n : 1;
}

/* The first seed of a campaign (TIDE_SEED or 1). */
static inline uint64_t tap_seed(void) {
  const char *seed = getenv("TIDE_SEED");
  return seed ? strtoull(seed, NULL, 10) : 1;
}

/* The plan; returns main's result. */
static inline int done_testing(void) {
  printf("1..%d\n", tap_tests);
  return tap_failures != 0;
}

#endif

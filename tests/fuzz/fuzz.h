/* fuzz.h - what the parts of the fuzzer share: random numbers, cases, outcomes, counts.
 *
 * A case is a random kernel and a chain of random steps; it follows from the campaign's seed and
 * its own number alone. Everything of a case lives in the Lua state that it opens. */
#ifndef FUZZ_H
#define FUZZ_H

#include "rewrite/take.h"

/* ---- random numbers: a counter under a mixing function ---- */

typedef struct Rng {
  uint64_t key, n;
} Rng;

/* The stream of a campaign's seed, a case, and a purpose or step within it. */
static inline Rng rng_of(uint64_t seed, uint64_t number, uint64_t purpose) {
  return (Rng){td_map_mix(td_map_mix(seed, number), purpose), 0};
}
static inline uint64_t rng_next(Rng *r) {
  return td_map_mix(r->key, ++r->n);
}
/* A number in [0, n), n > 0. */
static inline int rng_below(Rng *r, int n) {
  return (int)(rng_next(r) % (uint64_t)n);
}
static inline bool rng_chance(Rng *r, int percent) {
  return rng_below(r, 100) < percent;
}
/* One of a list of strings. */
#define RNG_PICK(r, list) ((list)[rng_below((r), (int)(sizeof(list) / sizeof *(list)))])

/* ---- features of kernels ---- */

typedef enum {
#define FEATURE(id, text) FEATURE_##id,
#include "tests/fuzz/features.def"
  FEATURES
} Feature;
extern const char *const feature_text[FEATURES];

/* ---- steps and how a chain of them ends ---- */

#define STEPS 12

/* A drawn call: a primitive and its arguments, which live as long as the case. A schedule that it
 * takes is one of a callee. */
typedef struct Step {
  const TdPrim *prim;
  TdArgValue arg[TD_PRIM_ARGS];
  const char *of;         /* that callee, or NULL */
  const struct Step *sub; /* its steps */
  int nsub;
} Step;

/* What went wrong; the order is that of the checks. */
typedef enum {
#define WRONG(id, text) WRONG_##id,
#include "tests/fuzz/wrongs.def"
  WRONGS
} Wrong;
extern const char *const wrong_text[WRONGS];

/* An outcome of a check: WRONG_NOTHING, or what and in which words. */
typedef struct Outcome {
  Wrong wrong;
  const char *words; /* owned by the case; NULL when nothing is wrong */
} Outcome;

/* ---- counts ---- */

#define PRIMS 64
#define REASONS 256

/* Refusals of one primitive under one code. */
typedef struct Reason {
  uint8_t prim, kind; /* TdDiagKind */
  char code[22];
  uint64_t n, forced, same; /* forced: the rewrite could be made all the same; same: it was right */
  uint64_t chance; /* of same: what came in another order was overwritten before it was read */
} Reason;

/* What is counted; plain data, sent from worker to driver and added up there. */
typedef struct Counts {
  uint64_t cases, kernels_refused, undecided, regrouped, uncompiled, pinned, accepted, refused,
      points, nanoseconds;
  uint64_t work, libtcc, cc; /* units of td_ctx_tick; programs compiled */
  uint64_t prim_tried[PRIMS], prim_accepted[PRIMS];
  uint64_t feature[FEATURES];
  uint64_t nreason;
  Reason reason[REASONS];
} Counts;

#endif

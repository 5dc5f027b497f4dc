/* twin.h - programs run on fingerprints of what they compute instead of numbers: two programs
 * that leave equal fingerprints compute the same expressions (docs/ir.md, Domains). Control runs on
 * numbers; where it depends on symbolic values the answer is "not here", and the evaluator's
 * business. */
#ifndef TD_CPU_TWIN_H
#define TD_CPU_TWIN_H

#include "backends/cpu/cpu.h"

/* What counts as equal, from the strictest. */
typedef enum {
  TD_TWIN_WHOLE = -1,  /* the same expressions of statements, the long ones, on the same values */
  TD_TWIN_STRICT,      /* the same operators on the same values */
  TD_TWIN_FUSED,       /* fma(a, b, c) is a * b + c */
  TD_TWIN_ASSOCIATIVE, /* + and * and their like in any grouping and order */
  TD_TWIN_RING         /* + - * as in a commutative ring */
} TdTwinLevel;

/* How fingerprints are made: see td_algebra_new for `wide`. */
typedef struct TdTwinHow {
  TdTwinLevel level;
  bool wide;
  uint64_t seed;
  const TdCpuOptions *options; /* NULL: the default */
} TdTwinHow;

typedef struct TdFingerprint {
  uint64_t lo, hi;
} TdFingerprint;

/* An argument: a tensor or scalar with values, which stay concrete, or nothing: symbolic. */
typedef struct TdTwinArg {
  const TdTensor *tensor;
  uint64_t scalar;
  bool concrete;
} TdTwinArg;

/* A run's result: for each written tensor parameter one fingerprint for each element, row-major;
 * NULL for the others. */
typedef struct TdTwinResult {
  TdFingerprint **of;
  size_t terms; /* expressions that counted as wholes; 0: the result is that of strict */
} TdTwinResult;

/* twin.c: runs p on fingerprints. False with d filled: code "not-here" with the
 * place where control is symbolic, or a fault of the program. The result is owned by a. */
bool td_cpu_twin_run(TdArena *a, const TdProg *p, TdTwinHow how, const TdTwinArg *arg, size_t narg,
                     TdTwinResult *result, TdDiag *d);

#endif

/* compare.h - two programs at one choice of sizes: equal at a level, or which element differs. */
#ifndef TD_DRIVE_COMPARE_H
#define TD_DRIVE_COMPARE_H

#include "backends/cpu/twin/twin.h"
#include "eval/eval.h"

/* One comparison under way: two programs at one choice of sizes. */
typedef struct TdPair {
  TdArena *arena;
  const TdProg *x, *y;
  const TdEvalArg *concrete;
  const TdEvalOptions *o;
} TdPair;

/* The sizes of p's programs, and the call if it is not the first. */
const char *td_compare_sizes(const TdPair *p);

/* Whether p does more than so many steps; false also when that is not known. */
bool td_compare_is_longer(TdArena *a, const TdProg *p, double steps);

/* "C[1][2]" for element n (row-major) of parameter i. */
const char *td_compare_element(const TdPair *p, size_t i, int64_t n);

/* The concrete arguments as compiled fingerprints take them, one entry a parameter. */
TdTwinArg *td_compare_args(const TdPair *p, size_t n);

/* What a level says of the pair: compiled when the programs are long and can be, else by the
 * evaluator; at associative, where half a fingerprint tells a cancelled term, twice. */
TdEvalAnswer td_compare_at(const TdPair *p, TdLevel level);

#endif

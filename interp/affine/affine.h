/* affine.h - the only door to isl: questions about integer points of systems. An answer that is not
 * certain (budget spent, interrupt, overflow) is TD_UNKNOWN. No isl object outlives a call. */
#ifndef TD_AFFINE_H
#define TD_AFFINE_H

#include "affine/dense.h"

typedef struct TdAffine TdAffine;

/* One solver per session, released with a. */
TdAffine *td_affine_new(TdArena *a);
/* Steps that isl may take for one question; 0 is no limit. */
void td_affine_set_budget(TdAffine *x, unsigned long steps);
/* Async-signal-safe, to be called beside td_ctx_interrupt: the question under way ends as
 * TD_UNKNOWN, and the next one escapes. */
void td_affine_abort(TdAffine *x);
TdCtx *td_affine_ctx(const TdAffine *x);
/* What answers, as it names itself: "isl-0.25-GMP". */
const char *td_affine_version(void);

/* How many questions were asked, and how many of them reached isl. */
typedef struct TdAffineCount {
  uint64_t asked, solved;
} TdAffineCount;
/* Those since x was made. */
TdAffineCount td_affine_count(const TdAffine *x);

/* Whether s has an integer point. */
TdTruth td_affine_has_point(TdAffine *x, const TdSys *s);

/* A point of s as the values of n columns: the lexicographically least one without negative values
 * if there is such a point, else any. NO: s is empty. */
TdTruth td_affine_point(TdAffine *x, const TdSys *s, const int32_t *col, size_t n, int64_t *val);

/* The greatest value of f over s, in *v. NO: s is empty, or f has no greatest value. */
TdTruth td_affine_max(TdAffine *x, const TdSys *s, TdAff f, int64_t *v);

/* Whether each point of `region`, seen in the n columns `keep` (all others are existential), is a
 * point of one of the parts seen in them. */
TdTruth td_affine_covers(TdAffine *x, const TdSys *region, const TdSys *part, size_t nparts,
                         const int32_t *keep, size_t n);

/* A point of `region` that, seen in the n columns `keep`, is a point of no part, as the values of
 * these columns; the least one if it is found. NO: there is none. */
TdTruth td_affine_outside(TdAffine *x, const TdSys *region, const TdSys *part, size_t nparts,
                          const int32_t *keep, size_t n, int64_t *val);

/* Adds to out rows over the n columns `keep` that hold on all points of all parts: their convex
 * hull, or a little more. False: unknown. */
bool td_affine_hull(TdAffine *x, TdArena *a, const TdSys *part, size_t nparts, const int32_t *keep,
                    size_t n, TdSys *out);

#endif

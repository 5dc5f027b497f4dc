/* tensor.h - tensor values: typed memory with strides, shared by the evaluator, compiled runs and
 * Lua. Elements are in memory format (num.h). */
#ifndef TD_TENSOR_H
#define TD_TENSOR_H

#include "ir/num/num.h"

typedef struct TdTensor {
  const TdType *type;  /* tensor of constant extents, or a scalar for rank 0 */
  unsigned char *data; /* of element (0, .., 0) */
  int64_t extent[TD_MAX_RANK];
  int64_t stride[TD_MAX_RANK]; /* in elements; any sign, views have their own */
  uint8_t *written; /* a byte for each element of data, 0: never written; NULL: all were */
} TdTensor;

/* A new row-major tensor in arena a, zeroed; `declared` starts with nothing written. Extents must
 * be constant. */
TdTensor *td_tensor_new(TdArena *a, const TdType *t, bool declared);
int td_tensor_rank(const TdTensor *t);
int64_t td_tensor_count(const TdTensor *t);
/* Whether elements lie row-major without gaps. */
bool td_tensor_is_dense(const TdTensor *t);
/* Whether two tensors share some element's memory. */
bool td_tensor_overlap(const TdTensor *x, const TdTensor *y);

/* Element at an index vector of rank entries, and where it lies. Bounds are the caller's. */
unsigned char *td_tensor_at(const TdTensor *t, const int64_t *index);
uint64_t td_tensor_get(const TdTensor *t, const int64_t *index);
void td_tensor_put(TdTensor *t, const int64_t *index, uint64_t v);
bool td_tensor_is_written(const TdTensor *t, const int64_t *index);

/* Element by element, in row-major order; shapes must be equal, other element types are cast. What
 * `from` never wrote is not written in `to`. The two may not overlap. All three tick. */
void td_tensor_copy(TdCtx *c, TdTensor *to, const TdTensor *from);
void td_tensor_fill(TdCtx *c, TdTensor *t, uint64_t v);
/* Advances an index vector in row-major order; false at the end, when it is all zeros again. */
bool td_tensor_next(const TdTensor *t, int64_t *index);
/* First index with an element never written; false if there is none. */
bool td_tensor_first_unwritten(TdCtx *c, const TdTensor *t, int64_t *index);

/* A set of places base + sum of i[d] * stride[d], 0 <= i[d] < extent[d]: what a view addresses. */
typedef struct TdPlaces {
  int64_t base;
  int rank;
  const int64_t *extent, *stride;
} TdPlaces;
/* Whether two sets share a place. Exact; only after 2^16 branchings of the search is the answer a
 * safe "yes". */
bool td_tensor_places_meet(TdPlaces x, TdPlaces y);

#endif

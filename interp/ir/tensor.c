/* tensor.c - tensor values: addressing, copying, and the question whether two views meet. */
#include "ir/tensor.h"

#include <stdlib.h>
#include <string.h>

int td_tensor_rank(const TdTensor *t) {
  return t->type->kind == TD_T_TENSOR ? t->type->rank : 0;
}

TdTensor *td_tensor_new(TdArena *a, const TdType *t, bool declared) {
  TdTensor *x = TD_NEW(a, TdTensor);
  x->type = t;
  int64_t count = 1;
  for (int d = td_tensor_rank(x) - 1; d >= 0; d--) {
    td_type_extent(t, d, &x->extent[d]);
    x->stride[d] = count;
    count *= x->extent[d];
  }
  x->data = td_arena_array(a, (size_t)count, td_type_bytes(td_type_scalar(t)));
  if (declared) x->written = td_arena_alloc(a, (size_t)count);
  return x;
}

int64_t td_tensor_count(const TdTensor *t) {
  int64_t n = 1;
  for (int d = 0; d < td_tensor_rank(t); d++) n *= t->extent[d];
  return n;
}

bool td_tensor_is_dense(const TdTensor *t) {
  int64_t stride = 1;
  for (int d = td_tensor_rank(t) - 1; d >= 0; d--) {
    if (t->extent[d] != 1 && t->stride[d] != stride) return false;
    stride *= t->extent[d];
  }
  return true;
}

/* Distance in elements of an index vector from element (0, .., 0). */
static ptrdiff_t place(const TdTensor *t, const int64_t *index) {
  int64_t p = 0;
  for (int d = 0; d < td_tensor_rank(t); d++) p += index[d] * t->stride[d];
  return (ptrdiff_t)p;
}

unsigned char *td_tensor_at(const TdTensor *t, const int64_t *index) {
  return t->data + place(t, index) * (ptrdiff_t)td_type_bytes(td_type_scalar(t->type));
}

uint64_t td_tensor_get(const TdTensor *t, const int64_t *index) {
  return td_num_load(td_type_scalar(t->type), td_tensor_at(t, index));
}

void td_tensor_put(TdTensor *t, const int64_t *index, uint64_t v) {
  const TdType *e = td_type_scalar(t->type);
  ptrdiff_t p = place(t, index);
  td_num_store(e, t->data + p * (ptrdiff_t)td_type_bytes(e), v);
  if (t->written) t->written[p] = 1;
}

bool td_tensor_is_written(const TdTensor *t, const int64_t *index) {
  return !t->written || t->written[place(t, index)];
}

bool td_tensor_next(const TdTensor *t, int64_t *index) {
  for (int d = td_tensor_rank(t) - 1; d >= 0; d--) {
    if (++index[d] < t->extent[d]) return true;
    index[d] = 0;
  }
  return false;
}

#define BLOCK ((size_t)1 << 20) /* bytes between two looks at the interrupt */

/* memmove of n bytes that ticks; of no bytes from NULL it sets to byte v. */
static void move_block(TdCtx *c, unsigned char *to, const unsigned char *from, int v, size_t n) {
  for (size_t at = 0, k; at < n; at += k) {
    k = n - at < BLOCK ? n - at : BLOCK;
    if (from)
      memmove(to + at, from + at, k);
    else
      memset(to + at, v, k);
    td_ctx_tick(c, k >> 4);
  }
}

/* Row-major tensors of one type whose elements were all written: one block of memory. */
static bool copy_block(TdCtx *c, TdTensor *to, const TdTensor *from) {
  if (to->type != from->type || from->written || !td_tensor_is_dense(to) ||
      !td_tensor_is_dense(from))
    return false;
  size_t n = (size_t)td_tensor_count(to);
  move_block(c, to->data, from->data, 0, n * td_type_bytes(td_type_scalar(to->type)));
  if (to->written) move_block(c, to->written, NULL, 1, n);
  return true;
}

void td_tensor_copy(TdCtx *c, TdTensor *to, const TdTensor *from) {
  if (!td_tensor_count(to) || copy_block(c, to, from)) return;
  const TdType *te = td_type_scalar(to->type), *fe = td_type_scalar(from->type);
  int64_t i[TD_MAX_RANK] = {0};
  TdFault fault;
  do {
    td_ctx_tick(c, 1);
    if (!td_tensor_is_written(from, i)) continue;
    uint64_t v = td_tensor_get(from, i);
    td_tensor_put(to, i, te == fe ? v : td_num_cast(te, fe, v, &fault));
    if (te == fe && te->w > 64)
      memcpy(td_tensor_at(to, i), td_tensor_at(from, i), td_type_bytes(te));
  } while (td_tensor_next(to, i));
}

void td_tensor_fill(TdCtx *c, TdTensor *t, uint64_t v) {
  int64_t i[TD_MAX_RANK] = {0};
  if (!td_tensor_count(t)) return;
  if (v == 0 && td_tensor_is_dense(t)) {
    size_t n = (size_t)td_tensor_count(t);
    move_block(c, t->data, NULL, 0, n * td_type_bytes(td_type_scalar(t->type)));
    if (t->written) move_block(c, t->written, NULL, 1, n);
    return;
  }
  do {
    td_ctx_tick(c, 1);
    td_tensor_put(t, i, v);
  } while (td_tensor_next(t, i));
}

bool td_tensor_first_unwritten(TdCtx *c, const TdTensor *t, int64_t *index) {
  memset(index, 0, (size_t)td_tensor_rank(t) * sizeof *index);
  if (!t->written || !td_tensor_count(t)) return false;
  do {
    td_ctx_tick(c, 1);
    if (!td_tensor_is_written(t, index)) return true;
  } while (td_tensor_next(t, index));
  return false;
}

/* Places reached along one stride: any of lo..hi steps of it. */
typedef struct Term {
  int64_t stride, lo, hi;
} Term;

/* Larger strides first. */
static int by_stride(const void *x, const void *y) {
  const Term *a = x, *b = y;
  return (a->stride < b->stride) - (a->stride > b->stride);
}

/* Adds n steps (n - 1 at most) of `stride`, one sign or the other; returns the new number of terms.
 */
static int add_term(Term *t, int n, int64_t stride, int64_t extent) {
  int64_t lo = stride < 0 ? 1 - extent : 0, hi = stride < 0 ? 0 : extent - 1;
  if (stride < 0) stride = -stride;
  if (!stride || extent == 1) return n;
  for (int i = 0; i < n; i++) {
    if (t[i].stride != stride) continue;
    t[i].lo += lo, t[i].hi += hi;
    return n;
  }
  t[n] = (Term){stride, lo, hi};
  return n + 1;
}

/* Rounded towards minus infinity; b > 0. */
static int64_t floor_div(int64_t a, int64_t b) {
  return a / b - (a % b < 0);
}

/* Whether some choice of steps of the n terms sums to target; a spent *budget answers yes. */
static bool reaches(const Term *t, int n, int64_t target, int *budget) {
  if (!n) return target == 0;
  if (--*budget < 0) return true;
  int64_t lo = 0, hi = 0;
  for (int i = 1; i < n; i++) lo += t[i].lo * t[i].stride, hi += t[i].hi * t[i].stride;
  int64_t from = -floor_div(hi - target, t->stride), to = floor_div(target - lo, t->stride);
  if (from < t->lo) from = t->lo;
  if (to > t->hi) to = t->hi;
  for (int64_t c = from; c <= to; c++)
    if (reaches(t + 1, n - 1, target - c * t->stride, budget)) return true;
  return false;
}

bool td_tensor_places_meet(TdPlaces x, TdPlaces y) {
  Term term[2 * (TD_MAX_RANK + 1)];
  int n = 0, budget = 1 << 16;
  for (int d = 0; d < x.rank; d++) {
    if (x.extent[d] <= 0) return false;
    n = add_term(term, n, x.stride[d], x.extent[d]);
  }
  for (int d = 0; d < y.rank; d++) {
    if (y.extent[d] <= 0) return false;
    n = add_term(term, n, -y.stride[d], y.extent[d]);
  }
  qsort(term, (size_t)n, sizeof *term, by_stride);
  return reaches(term, n, y.base - x.base, &budget);
}

/* The bytes of t as a box in the address space: its dimensions, and the bytes of an element. */
static TdPlaces byte_box(const TdTensor *t, int64_t *extent, int64_t *stride) {
  int rank = td_tensor_rank(t);
  int64_t bytes = (int64_t)td_type_bytes(td_type_scalar(t->type));
  for (int d = 0; d < rank; d++) extent[d] = t->extent[d], stride[d] = t->stride[d] * bytes;
  extent[rank] = bytes, stride[rank] = 1;
  return (TdPlaces){(int64_t)(intptr_t)t->data, rank + 1, extent, stride};
}

bool td_tensor_overlap(const TdTensor *x, const TdTensor *y) {
  int64_t extent[2][TD_MAX_RANK + 1], stride[2][TD_MAX_RANK + 1];
  return td_tensor_places_meet(byte_box(x, extent[0], stride[0]),
                               byte_box(y, extent[1], stride[1]));
}

/* tensor_view.c - t:slice(...) and t:transpose(): other ways to address the same memory. */
#include <inttypes.h>

#include "bind/value/tensor.h"

/* A range of one dimension. */
typedef struct Range {
  int64_t lo, hi, step;
} Range;

/* Item n of the range at idx, or raises. */
static int64_t item(lua_State *L, int idx, int n) {
  int whole = 0;
  lua_rawgeti(L, idx, n);
  lua_Integer v = lua_type(L, -1) == LUA_TNUMBER ? lua_tointegerx(L, -1, &whole) : 0;
  if (!whole) td_bind_fail(L, "slice", "a range is {lo, hi}, {lo, hi, step} or {}, of integers");
  lua_pop(L, 1);
  return v;
}

/* The range of dimension d, of `extent` elements, that the table at idx says, or raises. */
static Range range_of(lua_State *L, int idx, int d, int64_t extent) {
  size_t n = lua_rawlen(L, idx);
  Range r = {0, extent, 1};
  if (n == 0) return r;
  if (n < 2 || n > 3) td_bind_fail(L, "slice", "a range is {lo, hi}, {lo, hi, step} or {}");
  r.lo = item(L, idx, 1);
  r.hi = item(L, idx, 2);
  if (n == 3) r.step = item(L, idx, 3);
  if (r.step < 1) td_bind_fail(L, "slice", "the step of a range is at least 1");
  if (r.lo < 0 || r.lo > r.hi || r.hi > extent)
    td_bind_refuse(L, TD_ILLEGAL, "index-range", NULL,
                   "range {%" PRId64 ", %" PRId64 "} is out of range: dimension %d has extent "
                   "%" PRId64,
                   r.lo, r.hi, d, extent);
  return r;
}

/* The index at idx into dimension d, of `extent` elements, as a range of one, or raises. */
static Range index_of(lua_State *L, int idx, int d, int64_t extent) {
  int whole = 0;
  lua_Integer i = lua_type(L, idx) == LUA_TNUMBER ? lua_tointegerx(L, idx, &whole) : 0;
  if (!whole)
    td_bind_fail(L, "slice", "slice takes ranges and integers, not %s", td_bind_words(L, idx));
  if (i < 0 || i >= extent)
    td_bind_refuse(L, TD_ILLEGAL, "index-range", NULL,
                   "index %lld is out of range: dimension %d has extent %" PRId64, (long long)i, d,
                   extent);
  return (Range){i, i + 1, 1};
}

/* Moves the first element of v by n elements. */
static void move(TdTensor *v, int64_t n) {
  v->data += (ptrdiff_t)n * (ptrdiff_t)td_type_bytes(v->type);
  if (v->written) v->written += n;
}

/* t:slice({lo, hi}, {}, 3): a view; {} is all of a dimension, a number takes the dimension away. */
int td_bind_tensor_slice(lua_State *L) {
  const TdTensorBox *box = td_bind_check_box(L, 1);
  const TdTensor *t = box->tensor;
  int rank = 0, given = lua_gettop(L) - 1;
  if (given > t->type->rank)
    td_bind_fail(L, "rank", "slice: %d ranges for %d dimensions", given, t->type->rank);
  TdTensor v = *t;
  int64_t first = 0;
  for (int d = 0; d < t->type->rank; d++) {
    int64_t extent = t->extent[d];
    bool range = d >= given || lua_istable(L, d + 2);
    Range r = d >= given ? (Range){0, extent, 1}
              : range    ? range_of(L, d + 2, box->above + d, extent)
                         : index_of(L, d + 2, box->above + d, extent);
    first += r.lo * t->stride[d];
    if (!range) continue;
    v.extent[rank] = (r.hi - r.lo) / r.step + ((r.hi - r.lo) % r.step != 0);
    v.stride[rank] = v.extent[rank] > 1 ? t->stride[d] * r.step : t->stride[d];
    rank++;
  }
  if (!rank) v.extent[0] = v.stride[0] = 1;
  const TdType *elem = t->type->elem;
  v.type = td_type_tensor_of(td_bind_enter(L)->session, elem, rank ? rank : 1, v.extent);
  if (td_tensor_count(&v)) move(&v, first);
  if (rank) {
    td_bind_push_view(L, 1, &v);
    return 1;
  }
  td_bind_check_readable(L, &v);
  td_bind_push_bits(L, elem, td_num_load(elem, v.data));
  return 1;
}

/* t:transpose(): a view with the dimensions in the other order. */
int td_bind_tensor_transpose(lua_State *L) {
  const TdTensorBox *box = td_bind_check_box(L, 1);
  const TdTensor *t = box->tensor;
  TdTensor v = *t;
  int rank = t->type->rank;
  for (int d = 0; d < rank; d++)
    v.extent[d] = t->extent[rank - 1 - d], v.stride[d] = t->stride[rank - 1 - d];
  v.type = td_type_tensor_of(td_bind_enter(L)->session, t->type->elem, rank, v.extent);
  td_bind_push_view(L, 1, &v);
  return 1;
}

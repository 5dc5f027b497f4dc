/* stp_tensor.c - tensor arguments in tiles: their places, their data, tensors made of others'. */
#include <string.h>

#include "step/stp_graph.h"

int64_t td_stp_tensor_number(const TdStpNode *load, int64_t i) {
  int64_t number = 0;
  for (int k = load->nshape; k-- > 0; i /= load->shape[k])
    number += i % load->shape[k] * load->stride[k];
  return number;
}

unsigned char *td_stp_tensor_at(const TdTensor *t, int64_t rows, int64_t cols, int64_t number,
                                int64_t i, int64_t j, int64_t *index) {
  int rank = t->type->rank;
  int64_t across = t->extent[rank - 1] / cols;
  int64_t row = number / across * rows + i;
  for (int d = rank - 1; d-- > 0; row /= t->extent[d]) index[d] = row % t->extent[d];
  index[rank - 1] = number % across * cols + j;
  return td_tensor_at(t, index);
}

/* Copies tile `number` of src into tile `to` of out, both of rows x cols. */
static void copy_tile(const TdTensor *out, int64_t to, const TdTensor *src, int64_t number,
                      int64_t rows, int64_t cols) {
  int64_t index[TD_MAX_RANK];
  size_t each = td_type_bytes(out->type->elem);
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < cols; j++) {
      unsigned char *at = td_stp_tensor_at(out, rows, cols, to, i, j, index);
      memcpy(at, td_stp_tensor_at(src, rows, cols, number, i, j, index), each);
    }
}

TdStpTensor td_stp_tensor_gather(TdArena *a, TdSession *s, const TdStpTile *tile, int64_t n,
                                 int64_t rows, int64_t cols) {
  int64_t extent[2] = {n * rows, cols};
  const TdType *type = td_type_tensor_of(s, tile[0].of->type->elem, 2, extent);
  TdStpTensor t = {.type = type, .tile = tile};
  bool has_data = true;
  for (int64_t i = 0; i < n; i++) has_data = has_data && tile[i].of->data;
  if (!has_data) return t;
  t.data = td_tensor_new(a, type, false);
  for (int64_t i = 0; i < n; i++)
    copy_tile(t.data, i, tile[i].of->data, tile[i].number, rows, cols);
  return t;
}

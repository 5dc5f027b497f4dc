/* verify_dims.c - whether each order in a text is one that the DMA of its tile makes: dimensions of
 * objectFIFOs, sizes and strides of transfers, offsets of links. */
#include <string.h>

#include "backends/npu/bd.h"
#include "backends/npu/verify.h"

static bool refuse(TdDiag *d, const TdMlirOp *op, const char *who, const char *why) {
  td_diag_set(d, TD_UNSUPPORTED, "npu-dma", op->loc, "no DMA moves '%s' in its order: %s", who,
              why);
  td_diag_help(d, "let a task in row 1, or a core, arrange the elements");
  return false;
}

/* The dimensions of one end of a line, pairs of size and stride. */
static bool check_end(const TdNpuMachine *x, const TdNpuLine *l, const TdNpuEnd *e, size_t tile,
                      TdDiag *d) {
  TdDigit at[TD_DESC_DIGITS];
  const char *why;
  if (e->offset % 4) return refuse(d, l->op, l->name, "it does not begin at a word of 4 bytes");
  if (!e->ndim) return true;
  if (e->ndim > TD_DESC_DIGITS) return refuse(d, l->op, l->name, "it has more than 24 dimensions");
  for (size_t i = 0; i < e->ndim; i++) at[i] = (TdDigit){e->dim[2 * i], e->dim[2 * i + 1]};
  TdTileKind kind = td_npu_machine_kind(x, tile);
  return td_bd_check(at, (int)e->ndim, l->cell, kind, &why) || refuse(d, l->op, l->name, why);
}

static bool is_four(const TdMlirAttr *a) {
  return a && a->kind == TD_MLIR_A_INTS && a->n == TD_BD_DIMS && strcmp(a->type->name, "i64") == 0;
}

/* A transfer of the host's sequence. */
static bool check_transfer(TdNpuMachine *x, const TdMlirOp *op, TdDiag *d) {
  const TdNpuLine *l = td_npu_machine_line(x, op, "metadata");
  const TdMlirAttr *offset = td_mlir_get(op, "static_offsets"),
                   *size = td_mlir_get(op, "static_sizes"),
                   *stride = td_mlir_get(op, "static_strides");
  TdDigit at[TD_BD_DIMS];
  const char *why;
  int64_t place = 0;
  if (!l) return false;
  if (!is_four(offset) || !is_four(size) || !is_four(stride))
    return td_npu_machine_bad(x, op, "has no BD, or not four sizes and strides");
  for (int i = 0; i < TD_BD_DIMS; i++) {
    at[i] = (TdDigit){size->num[i], stride->num[i]};
    place += offset->num[i] * (i + 1 == TD_BD_DIMS ? 1 : stride->num[i]);
  }
  if (place * l->cell % 4) return refuse(d, op, l->name, "it does not begin at a word of 4 bytes");
  return td_bd_check(at, TD_BD_DIMS, l->cell, TD_TILE_SHIM, &why) || refuse(d, op, l->name, why);
}

bool td_npu_verify_dims(TdNpuMachine *x, TdDiag *d) {
  const TdMlirBlock *b = td_mlir_body(x->sequence);
  for (size_t i = 0; i < x->line.n; i++) {
    const TdNpuLine *l = &x->line.at[i];
    if (!check_end(x, l, &l->from, l->from_tile, d)) return false;
    for (size_t k = 0; k < l->nto; k++)
      if (!check_end(x, l, &l->to[k], l->to_tile[k], d)) return false;
  }
  for (size_t i = 0; i < b->op.n; i++)
    if (strcmp(b->op.at[i]->name, "aiex.npu.dma_memcpy_nd") == 0 &&
        !check_transfer(x, b->op.at[i], d))
      return false;
  return true;
}

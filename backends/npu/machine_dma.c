/* machine_dma.c - objects on their way: out of one buffer in an order, into others in theirs; and
 * transfers between arguments and the stream of a shim, as BDs say. */
#include <string.h>

#include "backends/npu/machine.h"

/* Where element k of an object that an end sends or takes lies in its buffer, in elements. */
static int64_t place(const TdNpuEnd *e, int64_t k) {
  int64_t at = 0;
  if (!e->ndim) return k;
  for (size_t i = e->ndim; i-- > 0; k /= e->dim[2 * i]) at += k % e->dim[2 * i] * e->dim[2 * i + 1];
  return at;
}

/* How many elements from k on lie side by side at an end. */
static int64_t side_by_side(const TdNpuEnd *e, int64_t k, int64_t count) {
  if (!e->ndim) return count - k;
  const int64_t *inner = &e->dim[2 * (e->ndim - 1)];
  return inner[1] == 1 ? inner[0] - k % inner[0] : 1;
}

/* The object of an end that is next. */
static unsigned char *object(const TdNpuEnd *e, bool writes) {
  const TdNpuPool *p = e->pool;
  int64_t n = writes ? p->in[e->number] : p->out[e->number];
  return p->data + n % p->depth * p->pitch + e->offset;
}

/* Copies an object between a buffer, in an end's order, and a stream. */
static void pass(const TdNpuLine *l, const TdNpuEnd *e, unsigned char *buffer,
                 unsigned char *stream, bool out) {
  for (int64_t k = 0, n; k < l->count; k += n) {
    n = side_by_side(e, k, l->count);
    unsigned char *at = buffer + place(e, k) * l->cell, *to = stream + k * l->cell;
    memcpy(out ? to : at, out ? at : to, (size_t)(n * l->cell));
  }
}

static bool has_room(const TdNpuLine *l) {
  for (size_t i = 0; i < l->nto; i++)
    if (td_npu_pool_room(l->to[i].pool, l->to[i].number) < 1) return false;
  return true;
}

/* Puts the object of the stream into the buffers of all ends. */
static void deliver(TdNpuLine *l) {
  for (size_t i = 0; i < l->nto; i++) {
    pass(l, &l->to[i], object(&l->to[i], true), l->part, false);
    l->to[i].pool->in[l->to[i].number]++;
  }
  l->npart = 0;
}

static int64_t size_of(const TdNpuBd *b) {
  return b->size[0] * b->size[1] * b->size[2] * b->size[3];
}

/* The BD that a task runs. */
static TdNpuBd *bd_of(TdNpuMachine *x, const TdNpuLine *l, const TdNpuTask *t) {
  return &x->bd.at[l->from.pool ? l->to_tile[0] : l->from_tile][t->id];
}

int64_t td_npu_dma_left(TdNpuMachine *x, const TdNpuLine *l) {
  return size_of(bd_of(x, l, &l->task[0])) - l->task[0].done;
}

bool td_npu_dma_moved(TdNpuMachine *x, TdNpuLine *l, int64_t n) {
  l->task[0].done += n;
  if (td_npu_dma_left(x, l)) return false;
  if (bd_of(x, l, &l->task[0])->token || l->from.pool) l->tokens++;
  memmove(l->task, l->task + 1, sizeof *l->task * (size_t)(--l->ntask));
  return true;
}

/* Moves elements between the first task of a line and its object under way. */
static bool transfer(TdNpuMachine *x, TdNpuLine *l) {
  TdNpuTask *t = &l->task[0];
  const TdNpuBd *b = bd_of(x, l, t);
  int64_t all = size_of(b);
  while (t->done < all && l->npart < l->count) {
    int64_t k = t->done, at = b->offset, run = b->size[3] - k % b->size[3];
    for (int d = 3; d >= 0; k /= b->size[d--]) at += k % b->size[d] * b->stride[d];
    if (b->stride[3] != 1) run = 1;
    run = run < l->count - l->npart ? run : l->count - l->npart;
    if (at < 0 || (at + run) * l->cell > b->bytes) {
      td_npu_machine_bad(x, l->op, "a transfer leaves the argument");
      return false;
    }
    unsigned char *mem = b->base + at * l->cell, *part = l->part + l->npart * l->cell;
    memcpy(l->from.pool ? mem : part, l->from.pool ? part : mem, (size_t)(run * l->cell));
    t->done += run;
    l->npart += run;
  }
  td_npu_dma_moved(x, l, 0);
  return true;
}

bool td_npu_dma_go(TdNpuMachine *x, TdNpuLine *l) {
  if (!l->from.pool) {
    if (!l->ntask || !has_room(l) || !transfer(x, l)) return false;
    if (l->npart == l->count) deliver(l);
    return true;
  }
  if (!l->to[0].pool) {
    if (!l->ntask || td_npu_pool_full(l->from.pool, l->from.number) < 1) return false;
    if (!l->npart) pass(l, &l->from, object(&l->from, false), l->part, true);
    if (!transfer(x, l)) return false;
    if (l->npart == l->count) {
      l->npart = 0;
      l->from.pool->out[l->from.number]++;
    }
    return true;
  }
  if (td_npu_pool_full(l->from.pool, l->from.number) < 1 || !has_room(l)) return false;
  pass(l, &l->from, object(&l->from, false), l->part, true);
  l->from.pool->out[l->from.number]++;
  deliver(l);
  return true;
}

bool td_npu_dma_start(TdNpuMachine *x, const TdMlirOp *op, unsigned char *base, int64_t bytes) {
  TdNpuLine *l = td_npu_machine_line(x, op, "metadata");
  const TdMlirAttr *offset = td_mlir_get(op, "static_offsets"),
                   *size = td_mlir_get(op, "static_sizes"),
                   *stride = td_mlir_get(op, "static_strides"),
                   *token = td_mlir_get(op, "issue_token");
  int64_t id = td_npu_int(op, "id", -1);
  if (!l) return false;
  if (l->from.pool && l->to[0].pool)
    return td_npu_machine_bad(x, op, "moves an objectFIFO that has no end at a shim");
  if (!offset || !size || !stride || offset->n != 4 || size->n != 4 || stride->n != 4 || id < 0 ||
      id >= td_tiles[TD_TILE_SHIM].bds)
    return td_npu_machine_bad(x, op, "has no BD, or not four sizes and strides");
  TdNpuTask t = {.id = id};
  TdNpuBd *b = bd_of(x, l, &t);
  *b = (TdNpuBd){.base = base, .bytes = bytes, .token = token && token->i};
  for (int i = 0; i < 4; i++) {
    b->size[i] = size->num[i];
    b->stride[i] = stride->num[i];
    b->offset += offset->num[i] * (i == 3 ? 1 : stride->num[i]);
    if (b->size[i] < 1) return td_npu_machine_bad(x, op, "a size is not positive");
  }
  if (l->ntask < td_tiles[TD_TILE_SHIM].queue) l->task[l->ntask++] = t;
  return true;
}

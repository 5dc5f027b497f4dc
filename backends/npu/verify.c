/* verify.c - what a tile holds and what a design asks of it, on the machine that its text
 * describes: memory, channels, buffer descriptors, locks, cores, arguments of the host.
 * docs/npu.md has the rules. */
#include <string.h>

#include "backends/npu/verify.h"

enum { HOST_BUFFERS = 5 };

typedef struct Verify {
  const TdNpuMachine *x;
  TdNpuUse *use;           /* of each tile */
  const TdMlirOp *shallow; /* a core whose stack is too small, or NULL */
  TdDiag *diag;
} Verify;

static int64_t at(const TdNpuMachine *x, size_t tile, const char *what) {
  return td_npu_int(x->tile.at[tile], what, 0);
}

/* Whether two tiles share memory: cores beside or above each other. */
static bool are_near(const TdNpuMachine *x, size_t a, size_t b) {
  int64_t dc = at(x, a, "col") - at(x, b, "col"), dr = at(x, a, "row") - at(x, b, "row");
  bool cores = at(x, a, "row") > 1 && at(x, b, "row") > 1;
  return cores && ((dc == 0 && (dr == 1 || dr == -1)) || (dr == 0 && (dc == 1 || dc == -1)));
}

static bool has_dims(const TdNpuEnd *e) {
  return e->ndim > 0;
}

bool td_npu_verify_shared(const TdNpuMachine *x, const TdNpuLine *l) {
  return l->nto == 1 && are_near(x, l->from_tile, l->to_tile[0]) && !has_dims(&l->from) &&
         !has_dims(&l->to[0]);
}

/* Adds a pool of buffers to a tile, once. */
static void add_pool(Verify *v, size_t tile, const TdNpuPool *p, TdMap *seen, const TdMlirOp *op) {
  if (!p || td_map_getp(seen, p)) return;
  td_map_putp(v->x->arena, seen, p, v);
  v->use[tile].bytes += p->depth * p->bytes;
  v->use[tile].locks += 2;
  v->use[tile].last = op;
}

static void add_line(Verify *v, const TdNpuLine *l, TdMap *seen) {
  bool shared = td_npu_verify_shared(v->x, l);
  add_pool(v, l->from_tile, l->from.pool, seen, l->op);
  v->use[l->from_tile].mm2s += !shared;
  v->use[l->from_tile].bds += shared || !l->from.pool ? 0 : l->depth;
  v->use[l->from_tile].last = l->op;
  for (size_t i = 0; i < l->nto && !shared; i++) {
    add_pool(v, l->to_tile[i], l->to[i].pool, seen, l->op);
    v->use[l->to_tile[i]].s2mm++;
    v->use[l->to_tile[i]].bds += l->to[i].pool ? l->depth : 0;
    v->use[l->to_tile[i]].last = l->op;
  }
}

/* Cores and their buffers. */
static void add_op(Verify *v, const TdMlirOp *op) {
  bool core = strcmp(op->name, "aie.core") == 0, buffer = strcmp(op->name, "aie.buffer") == 0;
  uintptr_t tile = (core || buffer) && op->operand.n
                       ? (uintptr_t)td_map_getp(&v->x->tile_of, op->operand.at[0])
                       : 0;
  if (!tile) return;
  TdNpuUse *u = &v->use[tile - 1];
  u->cores += core;
  u->last = op;
  if (core) u->bytes += td_npu_int(op, "stack_size", TD_NPU_STACK);
  if (core && td_npu_int(op, "stack_size", TD_NPU_STACK) < TD_NPU_STACK) v->shallow = op;
  if (!buffer) return;
  const TdMlirType *t = op->result.at[0]->type;
  int64_t n = (t->in[0]->width + 7) / 8;
  for (size_t i = 0; i < t->rank; i++) n *= t->shape[i];
  u->bytes += n;
}

static bool over(const Verify *v, size_t tile, const char *what, int64_t asked, int64_t most,
                 const char *help) {
  const TdNpuUse *u = &v->use[tile];
  if (asked <= most) return true;
  td_diag_set(v->diag, TD_UNSUPPORTED, "npu-limit", u->last->loc,
              "the tile at column %lld, row %lld has %lld %s, and is asked for %lld",
              (long long)at(v->x, tile, "col"), (long long)at(v->x, tile, "row"), (long long)most,
              what, (long long)asked);
  td_diag_help(v->diag, "%s", help);
  return false;
}

static bool check_tile(const Verify *v, size_t tile) {
  const TdNpuUse *u = &v->use[tile];
  const TdTileInfo *t = &td_tiles[td_device_row(at(v->x, tile, "row"))];
  bool shim = at(v->x, tile, "row") == 0;
  return (shim || over(v, tile, "bytes of memory", u->bytes, t->bytes,
                       "smaller blocks, or streams of less depth, take less")) &&
         over(v, tile, "DMA channels to write to it", u->s2mm, t->s2mm,
              "coalesce makes one stream of several") &&
         over(v, tile, "DMA channels to read from it", u->mm2s, t->mm2s,
              "coalesce makes one stream of several") &&
         (shim || (over(v, tile, "buffer descriptors", u->bds, t->bds,
                        "streams of less depth take fewer") &&
                   over(v, tile, "locks", u->locks, t->locks, "fewer streams take fewer"))) &&
         over(v, tile, "cores", u->cores, 1, "place tasks apart, or chain them");
}

/* Whether a tile is on the device. */
static bool check_place(const Verify *v, const TdDevice *device, size_t tile) {
  if (at(v->x, tile, "col") < device->cols && at(v->x, tile, "row") < device->rows) return true;
  return td_diag_set(v->diag, TD_UNSUPPORTED, "npu-limit", v->x->tile.at[tile]->loc,
                     "%s has no tile at column %lld, row %lld", device->name,
                     (long long)at(v->x, tile, "col"), (long long)at(v->x, tile, "row"));
}

/* Whether all stacks are as large as kernels may ask. */
static bool check_stacks(const Verify *v) {
  if (!v->shallow) return true;
  return td_diag_set(v->diag, TD_UNSUPPORTED, "npu-limit", v->shallow->loc,
                     "a core has a stack of %lld bytes, where kernels may use %d",
                     (long long)td_npu_int(v->shallow, "stack_size", TD_NPU_STACK), TD_NPU_STACK);
}

/* Adds up what the text asks of each tile. */
static void add_up(Verify *v) {
  TdMap seen = {0};
  const TdMlirBlock *b = td_mlir_body(v->x->op);
  v->use = TD_NEWN(v->x->arena, TdNpuUse, v->x->tile.n + 1);
  for (size_t i = 0; i < v->x->tile.n; i++) v->use[i].last = v->x->tile.at[i];
  for (size_t i = 0; i < v->x->line.n; i++) add_line(v, &v->x->line.at[i], &seen);
  for (size_t i = 0; i < b->op.n; i++) add_op(v, b->op.at[i]);
}

TdNpuUse td_npu_verify_use(const TdNpuMachine *x, int64_t col, int64_t row) {
  Verify v = {.x = x};
  add_up(&v);
  for (size_t i = 0; i < x->tile.n; i++)
    if (at(x, i, "col") == col && at(x, i, "row") == row) return v.use[i];
  return (TdNpuUse){0};
}

bool td_npu_verify_arguments(const TdMlirOp *sequence, TdDiag *d) {
  const TdMlirBlock *b = td_mlir_body(sequence);
  size_t arguments = 0;
  for (size_t i = 0; i < b->arg.n; i++) arguments += b->arg.at[i]->type->kind == TD_MLIR_MEMREF;
  if (arguments <= HOST_BUFFERS) return true;
  td_diag_set(d, TD_UNSUPPORTED, "npu-limit", sequence->loc,
              "the host gives an NPU at most %d arrays, not %zu", HOST_BUFFERS, arguments);
  td_diag_help(d, "put several into one");
  return false;
}

bool td_npu_verify(TdNpuMachine *x, const TdDevice *device, TdDiag *d) {
  Verify v = {.x = x, .diag = d};
  add_up(&v);
  for (size_t i = 0; i < x->tile.n; i++)
    if (!check_place(&v, device, i)) return false;
  for (size_t i = 0; i < x->tile.n; i++)
    if (!check_tile(&v, i)) return false;
  return check_stacks(&v) && td_npu_verify_arguments(x->sequence, d) && td_npu_verify_dims(x, d) &&
         td_npu_verify_flow(x, d) && td_npu_verify_route(x, d);
}

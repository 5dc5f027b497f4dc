/* emit.c - the device: kernels, tiles, objectFIFOs, links, cores, the host's sequence. */
#include "backends/npu/emit.h"
#include "backends/npu/machine.h"

#include <string.h>

void td_npu_set_int(TdMlir *m, TdMlirOp *op, const char *name, int64_t v, const char *type) {
  td_mlir_set(m, op, name, td_mlir_int(m, v, type));
}

void td_npu_set_string(TdMlir *m, TdMlirOp *op, const char *name, const char *s) {
  td_mlir_set(m, op, name, td_mlir_string(m, s, strlen(s)));
}

void td_npu_set_symbol(TdMlir *m, TdMlirOp *op, const char *name, const char *s) {
  td_mlir_set(m, op, name, td_mlir_symbol(m, s));
}

/* The type of an element in memory. */
static const TdMlirType *cell_of(TdMlir *m, const TdType *t) {
  if (t->kind == TD_T_FLOAT && t->w == 16) return td_mlir_scalar(m, t->brain ? "bf16" : "f16");
  if (t->kind == TD_T_FLOAT) return td_mlir_scalar(m, t->w == 32 ? "f32" : "f64");
  return td_mlir_scalar(m, td_text_fmt(m->arena, "i%zu", 8 * td_type_bytes(t)));
}

const TdMlirType *td_npu_memref(TdMlir *m, const TdType *t) {
  int64_t shape[TD_MAX_RANK];
  for (int d = 0; d < t->rank; d++) td_type_extent(t, d, &shape[d]);
  return td_mlir_shaped(m, TD_MLIR_MEMREF, shape, t->rank, cell_of(m, td_type_scalar(t)));
}

const TdMlirType *td_npu_flat(TdMlir *m, const TdType *t) {
  int64_t n = 1;
  if (td_type_is_scalar(t)) return td_mlir_scalar(m, "i32");
  td_type_count(t, &n);
  return td_mlir_shaped(m, TD_MLIR_MEMREF, &n, 1, cell_of(m, td_type_scalar(t)));
}

/* ---- objectFIFOs ---- */

/* The dimensions of an order on a kind of tile, or those of none; NULL with the diagnostic filled.
 */
static const TdMlirAttr *dims_of(TdNpuEmit *e, const TdNpuFifo *x, TdTileKind kind) {
  int64_t num[2 * TD_BD_DIMS];
  TdBd bd = {0};
  const char *why;
  int64_t bytes = (int64_t)td_type_bytes(td_type_scalar(x->type));
  if (x->order && !td_bd_of(x->order, bytes, kind, &bd, &why)) {
    td_diag_set(e->plan->form->diag, TD_UNSUPPORTED, "npu-dma", x->loc,
                "no DMA sends the blocks of '%s' in their order: %s", x->name, why);
    td_diag_help(e->plan->form->diag, "let a core arrange the elements");
    return NULL;
  }
  for (int i = 0; i < bd.n; i++) num[2 * i] = bd.at[i].n, num[2 * i + 1] = bd.at[i].s;
  return td_mlir_ints(e->m, TD_MLIR_A_DIMS, num, 2 * (size_t)bd.n, NULL);
}

static bool put_fifo(TdNpuEmit *e, const TdNpuFifo *x) {
  TdMlir *m = e->m;
  TdMlirOp *op = td_mlir_op(m, e->device, "aie.objectfifo");
  const TdMlirAttr *none = td_mlir_ints(m, TD_MLIR_A_DIMS, NULL, 0, NULL);
  const TdMlirAttr **each = TD_NEWN(m->arena, const TdMlirAttr *, x->to_tile.n);
  const TdMlirAttr *order = dims_of(e, x, e->plan->tile.at[x->from_tile].kind);
  if (!order) return false;
  td_mlir_operand(m, op, e->tile[x->from_tile]);
  for (size_t i = 0; i < x->to_tile.n; i++) {
    td_mlir_operand(m, op, e->tile[x->to_tile.at[i]]);
    each[i] = none;
  }
  op->loc = x->loc;
  td_npu_set_string(m, op, "sym_name", x->name);
  td_npu_set_int(m, op, "elemNumber", x->depth, "i32");
  td_mlir_set(
      m, op, "elemType",
      td_mlir_type_attr(m, td_mlir_dialect_type(m, "aie.objectfifo", td_npu_memref(m, x->type))));
  td_mlir_set(m, op, "dimensionsToStream", order);
  td_mlir_set(m, op, "dimensionsFromStreamPerConsumer",
              td_mlir_array(m, TD_MLIR_A_DIMS_LIST, each, x->to_tile.n));
  return true;
}

static void put_link(TdNpuEmit *e, const TdNpuLink *l) {
  TdMlir *m = e->m;
  TdMlirOp *op = td_mlir_op(m, e->device, "aie.objectfifo.link");
  size_t n = l->in.n > l->out.n ? l->in.n : l->out.n;
  const TdMlirAttr **in = TD_NEWN(m->arena, const TdMlirAttr *, l->in.n),
                   **out = TD_NEWN(m->arena, const TdMlirAttr *, l->out.n),
                   **offset = TD_NEWN(m->arena, const TdMlirAttr *, n);
  for (size_t i = 0; i < l->in.n; i++)
    in[i] = td_mlir_symbol(m, e->plan->fifo.at[l->in.at[i]].name);
  for (size_t i = 0; i < l->out.n; i++)
    out[i] = td_mlir_symbol(m, e->plan->fifo.at[l->out.at[i]].name);
  for (size_t i = 0; i < n && n > 1; i++) {
    size_t f = l->in.n > 1 ? l->in.at[i] : l->out.at[i];
    offset[i] = td_mlir_int(m, e->plan->fifo.at[f].offset, "i64");
  }
  const TdMlirAttr *none = td_mlir_array(m, TD_MLIR_A_ARRAY, NULL, 0);
  td_mlir_set(m, op, "fifoIns", td_mlir_array(m, TD_MLIR_A_ARRAY, in, l->in.n));
  td_mlir_set(m, op, "fifoOuts", td_mlir_array(m, TD_MLIR_A_ARRAY, out, l->out.n));
  td_mlir_set(m, op, "src_offsets",
              l->in.n > 1 ? td_mlir_array(m, TD_MLIR_A_ARRAY, offset, n) : none);
  td_mlir_set(m, op, "dst_offsets",
              l->out.n > 1 ? td_mlir_array(m, TD_MLIR_A_ARRAY, offset, n) : none);
}

/* ---- the host ---- */

/* The state of a shim's channel as the sequence fills it. */
typedef struct Channel {
  size_t slot;        /* of its tile: which BDs are its own */
  int pushed, waited; /* transfers */
} Channel;

static void wait(TdNpuEmit *e, TdMlirBlock *b, const TdNpuFifo *x) {
  td_npu_set_symbol(e->m, td_mlir_op(e->m, b, "aiex.npu.dma_wait"), "symbol", x->name);
}

static void put_transfer(TdNpuEmit *e, TdMlirBlock *b, const TdNpuTransfer *t, TdMlirValue *arg,
                         int64_t id) {
  TdMlir *m = e->m;
  TdMlirOp *op = td_mlir_op(m, b, "aiex.npu.dma_memcpy_nd");
  const TdMlirType *i64 = td_mlir_scalar(m, "i64"), *i32 = td_mlir_scalar(m, "i32");
  int64_t offset[4] = {0, 0, 0, t->offset}, size[4] = {1, 1, 1, 1}, stride[4] = {0};
  static const int64_t segment[4] = {1, 0, 0, 0};
  int at = 4 - t->n;
  bool unit = t->at[t->n - 1].s == 1;
  if (!unit && t->n < 4) at--;
  for (int i = 0; i < t->n; i++) {
    size[at + i] = t->at[i].n;
    stride[at + i] = t->at[i].n == 1 && i + 1 < t->n ? 0 : t->at[i].s;
  }
  if (!unit && t->n < 4) stride[3] = 1;
  op->loc = e->plan->fifo.at[t->fifo].loc;
  td_mlir_operand(m, op, arg);
  td_npu_set_int(m, op, "id", id, "i64");
  td_mlir_set(m, op, "issue_token", td_mlir_bool(m, true));
  td_npu_set_symbol(m, op, "metadata", e->plan->fifo.at[t->fifo].name);
  td_mlir_set(m, op, "operandSegmentSizes", td_mlir_ints(m, TD_MLIR_A_INTS, segment, 4, i32));
  td_mlir_set(m, op, "static_offsets", td_mlir_ints(m, TD_MLIR_A_INTS, offset, 4, i64));
  td_mlir_set(m, op, "static_sizes", td_mlir_ints(m, TD_MLIR_A_INTS, size, 4, i64));
  td_mlir_set(m, op, "static_strides", td_mlir_ints(m, TD_MLIR_A_INTS, stride, 4, i64));
}

/* Gives each objectFIFO of a shim BDs of its own: as many as its channel holds tasks. */
static Channel *channels(TdNpuEmit *e) {
  const TdNpuPlan *p = e->plan;
  Channel *c = TD_NEWN(e->m->arena, Channel, p->fifo.n + 1);
  size_t *next = TD_NEWN(e->m->arena, size_t, p->tile.n + 1);
  for (size_t i = 0; i < p->fifo.n; i++) {
    const TdNpuFifo *x = &p->fifo.at[i];
    size_t tile = p->tile.at[x->from_tile].kind == TD_TILE_SHIM ? x->from_tile : x->to_tile.at[0];
    c[i].slot = p->tile.at[tile].kind == TD_TILE_SHIM ? next[tile]++ : 0;
  }
  return c;
}

static void put_sequence(TdNpuEmit *e, const TdNpuSequence *s) {
  TdMlir *m = e->m;
  const TdUnit *d = e->plan->form->design;
  const int queue = td_tiles[TD_TILE_SHIM].queue;
  TdMlirOp *op = td_mlir_op(m, e->device, "aie.runtime_sequence");
  td_npu_set_string(m, op, "sym_name", "sequence");
  TdMlirBlock *b = td_mlir_block(m, td_mlir_region(m, op), "bb0");
  TdMlirValue **arg = TD_NEWN(m->arena, TdMlirValue *, d->nparam);
  Channel *c = channels(e);
  for (size_t i = 0; i < d->nparam; i++) {
    const TdType *t = td_unit_type(e->plan->form->prog->store->session, d, d->param[i].type);
    arg[i] = td_mlir_argument(m, b, d->param[i].sym->name, td_npu_flat(m, t));
  }
  for (size_t i = 0; i < e->rtp.n; i++) {
    TdMlirOp *w = td_mlir_op(m, b, "aiex.npu.rtp_write");
    td_mlir_operand(m, w, arg[e->rtp.at[i].param]);
    td_npu_set_symbol(m, w, "buffer", e->rtp.at[i].buffer);
    td_npu_set_int(m, w, "index", 0, "i32");
  }
  for (size_t i = 0; i < s->transfer.n; i++) {
    const TdNpuTransfer *t = &s->transfer.at[i];
    Channel *x = &c[t->fifo];
    if (x->pushed - x->waited == queue) {
      wait(e, b, &e->plan->fifo.at[t->fifo]);
      x->waited++;
    }
    put_transfer(e, b, t, arg[t->param], (int64_t)x->slot * queue + x->pushed % queue);
    x->pushed++;
  }
  for (int in = 0; in < 2; in++)
    for (size_t i = 0; i < e->plan->fifo.n; i++) {
      const TdNpuFifo *x = &e->plan->fifo.at[i];
      bool reads = e->plan->tile.at[x->from_tile].kind == TD_TILE_SHIM;
      for (; reads == in && c[i].waited < c[i].pushed; c[i].waited++) wait(e, b, x);
    }
}

/* ---- the device ---- */

const char *td_npu_device_name(const TdUnit *design) {
  return strcmp(design->sym->name, "main") == 0 ? "main_1" : design->sym->name;
}

const TdMlirOp *td_npu_emit(TdMlir *m, const char *name, TdNpuPlan *p, const TdNpuSequence *s,
                            TdNpuKernels *k) {
  TdArena *a = p->form->arena;
  TdNpuEmit e = {.plan = p, .m = m, .kernels = k, .stack = TD_NPU_STACK};
  TdMlirOp *device = td_mlir_op(m, td_mlir_body(m->module), "aie.device");
  const TdMlirType *index = td_mlir_scalar(m, "index");
  td_npu_set_int(m, device, "device", p->device->number, "i32");
  td_npu_set_string(m, device, "sym_name", name);
  e.device = td_mlir_block(m, td_mlir_region(m, device), NULL);
  e.tile = TD_NEWN(a, TdMlirValue *, p->tile.n + 1);
  for (size_t i = 0; i < p->tile.n; i++) {
    TdMlirOp *op = td_mlir_op(m, e.device, "aie.tile");
    td_npu_set_int(m, op, "col", p->tile.at[i].col, "i32");
    td_npu_set_int(m, op, "row", p->tile.at[i].row, "i32");
    e.tile[i] = td_mlir_result(m, op, p->tile.at[i].name, index);
  }
  for (size_t i = 0; i < p->fifo.n; i++)
    if (!put_fifo(&e, &p->fifo.at[i])) return NULL;
  for (size_t i = 0; i < p->link.n; i++) put_link(&e, &p->link.at[i]);
  for (uint32_t i = 0; i < p->form->inst.n; i++)
    if (p->form->inst.at[i].role == TD_NPU_CORE && !td_npu_emit_core(&e, i)) return NULL;
  put_sequence(&e, s);
  td_mlir_op(m, e.device, "aie.end");
  return device;
}

/* machine.c - a design's text as a machine, and its run: the host, the lines and the cores in turn,
 * each as far as it can. */
#include "backends/npu/machine.h"

#include <string.h>

enum { ALIGNED = 64 };

bool td_npu_machine_bad(TdNpuMachine *x, const TdMlirOp *op, const char *what) {
  return td_diag_set(x->diag, TD_ILLEGAL, "npu-text", op->loc, "%s: %s", op->name, what);
}

int64_t td_npu_pool_room(const TdNpuPool *p, size_t writer) {
  int64_t least = INT64_MAX;
  for (size_t i = 0; i < p->nout; i++) least = p->out[i] < least ? p->out[i] : least;
  return least + p->depth - p->in[writer];
}

int64_t td_npu_pool_full(const TdNpuPool *p, size_t reader) {
  int64_t least = INT64_MAX;
  for (size_t i = 0; i < p->nin; i++) least = p->in[i] < least ? p->in[i] : least;
  return least - p->out[reader];
}

static TdNpuLine *line_named(TdNpuMachine *x, const char *name) {
  for (size_t i = 0; i < x->line.n; i++)
    if (strcmp(x->line.at[i].name, name) == 0) return &x->line.at[i];
  return NULL;
}

TdNpuLine *td_npu_machine_line(TdNpuMachine *x, const TdMlirOp *op, const char *attr) {
  const TdMlirAttr *s = td_mlir_get(op, attr);
  TdNpuLine *l = s && s->kind == TD_MLIR_A_SYMBOL ? line_named(x, s->s) : NULL;
  if (!l) td_npu_machine_bad(x, op, "names no objectFIFO");
  return l;
}

/* ---- what the text declares ---- */

static bool add_tile(TdNpuMachine *x, const TdMlirOp *op) {
  int64_t col = td_npu_int(op, "col", -1), row = td_npu_int(op, "row", -1);
  if (op->result.n != 1 || col < 0 || row < 0) return td_npu_machine_bad(x, op, "has no place");
  td_vec_push(x->arena, &x->tile, op);
  td_map_putp(x->arena, &x->tile_of, op->result.at[0], (void *)(uintptr_t)x->tile.n);
  TdNpuBd *bd = TD_NEWN(x->arena, TdNpuBd, td_tiles[TD_TILE_SHIM].bds);
  td_vec_push(x->arena, &x->bd, bd);
  return true;
}

TdTileKind td_npu_machine_kind(const TdNpuMachine *x, size_t tile) {
  return td_device_row(td_npu_int(x->tile.at[tile], "row", 0));
}

static bool tile_at(TdNpuMachine *x, const TdMlirOp *op, size_t i, size_t *tile) {
  uintptr_t t = i < op->operand.n ? (uintptr_t)td_map_getp(&x->tile_of, op->operand.at[i]) : 0;
  *tile = t - 1;
  return t || td_npu_machine_bad(x, op, "an end is on no tile");
}

static int64_t cell_bytes(const TdMlirType *memref) {
  return memref->nin ? (memref->in[0]->width + 7) / 8 : 0;
}

static int64_t cell_count(const TdMlirType *memref) {
  int64_t n = 1;
  for (size_t i = 0; i < memref->rank; i++) n *= memref->shape[i];
  return n;
}

static bool add_line(TdNpuMachine *x, const TdMlirOp *op) {
  const TdMlirAttr *name = td_mlir_get(op, "sym_name"), *t = td_mlir_get(op, "elemType"),
                   *n = td_mlir_get(op, "elemNumber");
  if (!name || !t || t->kind != TD_MLIR_A_TYPE || !t->type->nin ||
      t->type->in[0]->kind != TD_MLIR_MEMREF)
    return td_npu_machine_bad(x, op, "has no name or no objects");
  TdNpuLine l = {.name = name->s,
                 .op = op,
                 .cell = cell_bytes(t->type->in[0]),
                 .count = cell_count(t->type->in[0]),
                 .nto = op->operand.n - 1};
  l.depth = n && n->kind == TD_MLIR_A_ARRAY && n->n ? n->at[0]->i : n ? n->i : 0;
  if (line_named(x, l.name)) return td_npu_machine_bad(x, op, "two objectFIFOs have one name");
  if (!op->operand.n || l.depth < 1 || l.cell < 1 || l.count < 1 || l.nto > TD_NPU_ENDS || !l.nto)
    return td_npu_machine_bad(x, op, "its ends, depth or objects are none");
  if (!tile_at(x, op, 0, &l.from_tile)) return false;
  for (size_t i = 0; i < l.nto; i++)
    if (!tile_at(x, op, i + 1, &l.to_tile[i])) return false;
  l.part = TD_NEWN(x->arena, unsigned char, l.cell *l.count);
  td_vec_push(x->arena, &x->line, l);
  return true;
}

int64_t td_npu_machine_bytes(const TdMlirType *memref) {
  if (memref->kind != TD_MLIR_MEMREF) return (memref->width + 7) / 8;
  return cell_count(memref) * cell_bytes(memref);
}

/* The size of a buffer with what lies between it and the next: vectors are aligned. */
static int64_t pitch_of(int64_t bytes) {
  return (bytes + ALIGNED - 1) / ALIGNED * ALIGNED;
}

/* Memory of a tile, with what lay in it before. */
static unsigned char *new_memory(TdNpuMachine *x, int64_t bytes) {
  unsigned char *p = TD_NEWN(x->arena, unsigned char, bytes + ALIGNED);
  p += (ALIGNED - (uintptr_t)p % ALIGNED) % ALIGNED;
  memset(p, TD_NPU_JUNK, (size_t)bytes);
  return p;
}

static TdNpuPool *new_pool(TdNpuMachine *x, int64_t depth, int64_t bytes, size_t nin, size_t nout) {
  TdNpuPool *p = TD_NEW(x->arena, TdNpuPool);
  *p = (TdNpuPool){
      .depth = depth, .bytes = bytes, .pitch = pitch_of(bytes), .nin = nin, .nout = nout};
  p->data = new_memory(x, depth * p->pitch);
  return p;
}

/* The dimensions of an end, which must reach all elements of an object within a pool. */
static bool set_dims(TdNpuMachine *x, const TdNpuLine *l, TdNpuEnd *e, const TdMlirAttr *dims) {
  int64_t n = 1, last = 0;
  if (!dims || !dims->n) return true;
  e->ndim = dims->n / 2;
  e->dim = dims->num;
  for (size_t i = 0; i < e->ndim; i++) {
    if (e->dim[2 * i] < 1) return td_npu_machine_bad(x, l->op, "a dimension has no elements");
    n *= e->dim[2 * i];
    last += (e->dim[2 * i] - 1) * e->dim[2 * i + 1];
  }
  if (n != l->count) return td_npu_machine_bad(x, l->op, "dimensions of other than an object");
  if (e->pool && (last < 0 || e->offset + (last + 1) * l->cell > e->pool->bytes))
    return td_npu_machine_bad(x, l->op, "dimensions leave the buffer");
  return true;
}

/* Whether the parts of a link lie one behind the other and are all of the object, where no order
 * says what each has of it. */
static bool is_tiled(TdNpuLine *const *l, size_t n, const TdMlirAttr *offset, int64_t object) {
  int64_t sum = 0;
  for (size_t i = 0; i < n; i++) {
    const TdMlirAttr *dims = td_mlir_get(l[i]->op, "dimensionsToStream");
    int64_t at = offset && i < offset->n ? offset->at[i]->i : 0;
    if (dims && dims->n) return true;
    bool begins = at == 0;
    for (size_t k = 0; k < n; k++)
      begins |= offset && k < offset->n && offset->at[k]->i + l[k]->count == at;
    if (!begins) return false;
    sum += l[i]->count;
  }
  return sum == object;
}

/* A link: one pool that all its lines share. */
static bool add_link(TdNpuMachine *x, const TdMlirOp *op) {
  const TdMlirAttr *in = td_mlir_get(op, "fifoIns"), *out = td_mlir_get(op, "fifoOuts"),
                   *src = td_mlir_get(op, "src_offsets"), *dst = td_mlir_get(op, "dst_offsets");
  TdNpuLine *l[2][TD_NPU_ENDS];
  int64_t bytes = 0, depth = 0;
  if (!in || !out || !in->n || !out->n || in->n > TD_NPU_ENDS || out->n > TD_NPU_ENDS ||
      (in->n > 1 && out->n > 1))
    return td_npu_machine_bad(x, op, "joins or distributes, not both");
  for (int side = 0; side < 2; side++)
    for (size_t i = 0; i < (side ? out : in)->n; i++) {
      TdNpuLine *k = l[side][i] = line_named(x, (side ? out : in)->at[i]->s);
      if (!k) return td_npu_machine_bad(x, op, "names no objectFIFO");
      int64_t b = k->count * k->cell;
      bytes = b > bytes ? b : bytes;
      depth = k->depth > depth ? k->depth : depth;
      if (side ? k->from.pool != NULL : k->to[0].pool != NULL)
        return td_npu_machine_bad(x, op, "links an objectFIFO that is linked already");
    }
  if ((in->n > 1 && !is_tiled(l[0], in->n, src, l[1][0]->count)) ||
      (out->n > 1 && !is_tiled(l[1], out->n, dst, l[0][0]->count)))
    return td_npu_machine_bad(x, op, "has offsets that do not make up the object");
  if (in->n == 1 && out->n == 1 && l[0][0]->count * l[0][0]->cell != l[1][0]->count * l[1][0]->cell)
    return td_npu_machine_bad(x, op, "has other bytes on its two sides");
  TdNpuPool *p = new_pool(x, depth, bytes, in->n, out->n);
  for (int side = 0; side < 2; side++)
    for (size_t i = 0; i < (side ? out : in)->n; i++) {
      TdNpuLine *k = l[side][i];
      const TdMlirAttr *offset = side ? dst : src;
      TdNpuEnd *e = side ? &k->from : &k->to[0];
      if (!side && k->nto != 1) return td_npu_machine_bad(x, op, "takes from one of several ends");
      *e = (TdNpuEnd){.pool = p, .number = i};
      if (offset && i < offset->n) e->offset = offset->at[i]->i * k->cell;
      if (e->offset < 0 || (e->offset + k->count * k->cell > bytes &&
                            !(td_mlir_get(k->op, "dimensionsToStream") &&
                              td_mlir_get(k->op, "dimensionsToStream")->n)))
        return td_npu_machine_bad(x, op, "an offset leaves the object");
    }
  return true;
}

/* The pools of ends that no link has, and the dimensions of all. */
static bool finish_line(TdNpuMachine *x, TdNpuLine *l) {
  int64_t bytes = l->count * l->cell;
  const TdMlirAttr *each = td_mlir_get(l->op, "dimensionsFromStreamPerConsumer");
  if (!l->from.pool && td_npu_machine_kind(x, l->from_tile) != TD_TILE_SHIM)
    l->from = (TdNpuEnd){.pool = new_pool(x, l->depth, bytes, 1, 1)};
  if (!set_dims(x, l, &l->from, td_mlir_get(l->op, "dimensionsToStream"))) return false;
  for (size_t i = 0; i < l->nto; i++) {
    if (!l->to[i].pool && td_npu_machine_kind(x, l->to_tile[i]) != TD_TILE_SHIM)
      l->to[i] = (TdNpuEnd){.pool = new_pool(x, l->depth, bytes, 1, 1)};
    if (!set_dims(x, l, &l->to[i], each && i < each->n ? each->at[i] : NULL)) return false;
  }
  if ((!l->from.pool && !l->to[0].pool) || (l->nto > 1 && !l->to[0].pool))
    return td_npu_machine_bad(x, l->op, "leads from a shim to a shim");
  return true;
}

/* A float's word in memory. */
static uint64_t word_of(const TdMlirType *cell, double f) {
  float narrow = (float)f;
  uint32_t bits;
  memcpy(&bits, &narrow, sizeof bits);
  return strcmp(cell->name, "bf16") == 0 ? bits >> 16 : bits;
}

/* What a buffer starts with. */
static bool fill(TdNpuMachine *x, const TdMlirOp *op, const TdMlirAttr *v, unsigned char *p) {
  const TdMlirType *t = op->result.at[0]->type;
  int64_t n = cell_count(t), cell = cell_bytes(t);
  if (v->kind != TD_MLIR_A_DENSE || ((int64_t)v->n != n && v->n != 1) || cell > 4 ||
      strcmp(t->in[0]->name, "f16") == 0)
    return td_npu_machine_bad(x, op, "starts with what is not of its type");
  for (int64_t i = 0; i < n; i++, p += cell) {
    int64_t k = v->n == 1 ? 0 : i;
    uint64_t w = v->num ? (uint64_t)v->num[k] : word_of(t->in[0], v->real[k]);
    for (int64_t b = 0; b < cell; b++) p[b] = (unsigned char)(w >> 8 * b);
  }
  return true;
}

static bool add_buffer(TdNpuMachine *x, const TdMlirOp *op) {
  if (op->result.n != 1 || op->result.at[0]->type->kind != TD_MLIR_MEMREF)
    return td_npu_machine_bad(x, op, "is no memory");
  const TdMlirType *t = op->result.at[0]->type;
  int64_t bytes = td_npu_machine_bytes(t);
  unsigned char *p = new_memory(x, bytes);
  td_map_putp(x->arena, &x->buffer, op->result.at[0], p);
  const TdMlirAttr *v = td_mlir_get(op, "initial_value");
  return !v || fill(x, op, v, p);
}

/* One operation of the device, in pass 0 or, what names others, in pass 1. */
static bool add_op(TdNpuMachine *x, const TdMlirOp *op, int pass) {
  static const struct {
    const char *name;
    int pass;
    bool (*add)(TdNpuMachine *, const TdMlirOp *);
  } kinds[] = {{"aie.tile", 0, add_tile},
               {"aie.objectfifo", 0, add_line},
               {"aie.buffer", 0, add_buffer},
               {"aie.objectfifo.link", 1, add_link}};
  static const char *const others[] = {"func.func", "aie.end", "aie.core", "aie.runtime_sequence"};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (strcmp(op->name, kinds[i].name) == 0) return pass != kinds[i].pass || kinds[i].add(x, op);
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (strcmp(op->name, others[i]) == 0) {
      if (i == 3) x->sequence = op;
      return true;
    }
  return td_npu_machine_bad(x, op, "is not known here");
}

TdNpuMachine *td_npu_machine_new(TdArena *a, const TdMlirOp *device, TdDiag *d) {
  TdNpuMachine *x = TD_NEW(a, TdNpuMachine);
  *x = (TdNpuMachine){.arena = a, .op = device, .diag = d};
  const TdMlirBlock *b = td_mlir_body(device);
  x->device = td_device_number((int)td_npu_int(device, "device", 0));
  if (strcmp(device->name, "aie.device") != 0 || !b) {
    td_npu_machine_bad(x, device, "is no device");
    return NULL;
  }
  if (!x->device) {
    td_npu_machine_bad(x, device, "has a number that no device has");
    return NULL;
  }
  for (int pass = 0; pass < 2; pass++)
    for (size_t i = 0; i < b->op.n; i++)
      if (!add_op(x, b->op.at[i], pass)) return NULL;
  for (size_t i = 0; i < x->line.n; i++)
    if (!finish_line(x, &x->line.at[i])) return NULL;
  for (size_t i = 0; i < b->op.n; i++) {
    if (strcmp(b->op.at[i]->name, "aie.core") != 0) continue;
    TdNpuCoreRun *c = td_npu_core_new(x, b->op.at[i]);
    if (!c) return NULL;
    td_vec_push(a, &x->core, c);
  }
  if (!x->sequence || !td_mlir_body(x->sequence)) {
    td_npu_machine_bad(x, device, "has no runtime sequence");
    return NULL;
  }
  return x;
}

/* ---- the run ---- */

/* Writes a word of the host, none in a run without data, to a buffer of a core. */
static bool write_parameter(TdNpuMachine *x, const TdMlirOp *op, unsigned char *const *arg) {
  const TdMlirAttr *name = td_mlir_get(op, "buffer");
  const TdMlirBlock *b = td_mlir_body(x->sequence), *device = x->sequence->block;
  int64_t index = td_npu_int(op, "index", -1);
  size_t i = 0;
  while (i < b->arg.n && op->operand.n && b->arg.at[i] != op->operand.at[0]) i++;
  if (i == b->arg.n || !name || name->kind != TD_MLIR_A_SYMBOL)
    return td_npu_machine_bad(x, op, "writes no argument, or to no buffer");
  for (size_t k = 0; k < device->op.n; k++) {
    const TdMlirOp *buffer = device->op.at[k];
    const TdMlirAttr *s = td_mlir_get(buffer, "sym_name");
    if (strcmp(buffer->name, "aie.buffer") != 0 || !s || strcmp(s->s, name->s) != 0) continue;
    if (index < 0 || 4 * index + 4 > td_npu_machine_bytes(buffer->result.at[0]->type))
      return td_npu_machine_bad(x, op, "writes beside the buffer");
    unsigned char *to = td_map_getp(&x->buffer, buffer->result.at[0]);
    if (arg[i]) memcpy(to + 4 * index, arg[i], 4);
    return true;
  }
  return td_npu_machine_bad(x, op, "names no buffer");
}

bool td_npu_machine_host(TdNpuMachine *x, unsigned char *const *arg, const int64_t *bytes,
                         bool *moved) {
  const TdMlirBlock *b = td_mlir_body(x->sequence);
  for (; x->at < b->op.n; x->at++) {
    const TdMlirOp *op = b->op.at[x->at];
    if (strcmp(op->name, "aie.end") == 0) continue;
    if (strcmp(op->name, "aiex.npu.dma_wait") == 0) {
      TdNpuLine *l = td_npu_machine_line(x, op, "symbol");
      if (!l) return false;
      x->waits = l->name;
      if (!l->tokens) return true;
      l->tokens--;
    } else if (strcmp(op->name, "aiex.npu.dma_memcpy_nd") == 0) {
      size_t i = 0;
      while (i < b->arg.n && op->operand.n && b->arg.at[i] != op->operand.at[0]) i++;
      if (i == b->arg.n) return td_npu_machine_bad(x, op, "moves no argument");
      if (!td_npu_dma_start(x, op, arg[i], bytes[i])) return false;
    } else if (strcmp(op->name, "aiex.npu.rtp_write") == 0) {
      if (!write_parameter(x, op, arg)) return false;
    } else {
      return td_npu_machine_bad(x, op, "is not known here");
    }
    *moved = true;
  }
  x->waits = NULL;
  return true;
}

bool td_npu_machine_stuck(TdNpuMachine *x) {
  td_diag_set(x->diag, TD_ILLEGAL, "deadlock", x->sequence->loc,
              "the host waits for a transfer of '%s' that does not end", x->waits);
  for (size_t i = 0; i < x->core.n; i++) {
    const char *what = td_npu_core_waits(x->arena, x->core.at[i]);
    if (what) td_diag_note(x->diag, (TdLoc){0}, "%s", what);
  }
  for (size_t i = 0; i < x->line.n; i++)
    if (x->line.at[i].ntask)
      td_diag_note(x->diag, (TdLoc){0}, "%d transfers of '%s' are under way", x->line.at[i].ntask,
                   x->line.at[i].name);
  return false;
}

bool td_npu_machine_run(TdNpuMachine *x, unsigned char *const *arg, const int64_t *bytes,
                        size_t n) {
  const TdMlirBlock *b = td_mlir_body(x->sequence);
  if (n != b->arg.n) return td_npu_machine_bad(x, x->sequence, "takes other arguments");
  for (size_t i = 0; i < n; i++)
    if (td_npu_machine_bytes(b->arg.at[i]->type) != bytes[i])
      return td_npu_machine_bad(x, x->sequence, "takes arguments of other sizes");
  for (bool moved = true; x->at < b->op.n && moved;) {
    moved = false;
    td_ctx_tick(td_arena_ctx(x->arena), 1);
    if (!td_npu_machine_host(x, arg, bytes, &moved)) return false;
    for (size_t i = 0; i < x->line.n && !td_diag_failed(x->diag); i++)
      while (td_npu_dma_go(x, &x->line.at[i])) moved = true;
    for (size_t i = 0; i < x->core.n && !td_diag_failed(x->diag); i++)
      if (!td_npu_core_go(x, x->core.at[i], &moved)) return false;
    if (td_diag_failed(x->diag)) return false;
  }
  return x->at >= b->op.n || td_npu_machine_stuck(x);
}

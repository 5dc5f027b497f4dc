/* machine_core.c - the program of a core: a stack of blocks under way, so that it can stop wherever
 * it waits for a block of data. */
#include <string.h>

#include "backends/npu/machine.h"

typedef union Value {
  int64_t i;
  unsigned char *p;
} Value;

typedef struct Frame {
  const TdMlirBlock *block;
  size_t at;
  const TdMlirOp *loop; /* NULL: none */
  int64_t v, hi, step;
} Frame;

/* What is held of a line. */
typedef struct Held {
  TdNpuLine *line;
  bool slot;
  int64_t n;
} Held;

struct TdNpuCoreRun {
  const TdMlirOp *op;
  size_t tile;
  TdMap number; /* value -> number + 1 in `value` */
  TD_VEC(Value) value;
  TD_VEC(Frame) frame;
  TD_VEC(Held) held;
  const char *waits;
  bool slot;
};

static Value *value(TdNpuMachine *x, TdNpuCoreRun *c, const TdMlirValue *v) {
  uintptr_t n = (uintptr_t)td_map_getp(&c->number, v);
  if (!n) {
    Value none = {.p = td_map_getp(&x->buffer, v)};
    td_vec_push(x->arena, &c->value, none);
    n = c->value.n;
    td_map_putp(x->arena, &c->number, v, (void *)n);
  }
  return &c->value.at[n - 1];
}

TdNpuCoreRun *td_npu_core_new(TdNpuMachine *x, const TdMlirOp *op) {
  TdNpuCoreRun *c = TD_NEW(x->arena, TdNpuCoreRun);
  uintptr_t tile = op->operand.n ? (uintptr_t)td_map_getp(&x->tile_of, op->operand.at[0]) : 0;
  c->op = op;
  c->tile = tile - 1;
  if (!tile || !td_mlir_body(op)) {
    td_npu_machine_bad(x, op, "is on no tile, or has no program");
    return NULL;
  }
  Frame f = {.block = td_mlir_body(op)};
  td_vec_push(x->arena, &c->frame, f);
  return c;
}

size_t td_npu_core_tile(const TdNpuCoreRun *c) {
  return c->tile;
}

const char *td_npu_core_name(const TdNpuCoreRun *c) {
  return c->op->result.n && c->op->result.at[0]->name ? c->op->result.at[0]->name : "core";
}

size_t td_npu_core_line(const TdNpuMachine *x, const TdNpuCoreRun *c, bool *slot) {
  *slot = c->slot;
  for (size_t i = 0; c->waits && i < x->line.n; i++)
    if (strcmp(x->line.at[i].name, c->waits) == 0) return i;
  return SIZE_MAX;
}

const char *td_npu_core_waits(TdArena *a, const TdNpuCoreRun *c) {
  if (!c->waits) return NULL;
  return td_text_fmt(a, "%s waits for %s of '%s'",
                     c->op->result.n ? c->op->result.at[0]->name : "a core",
                     c->slot ? "a free object" : "an object", c->waits);
}

/* The end of a line on the core's tile. */
static TdNpuEnd *end_of(TdNpuMachine *x, const TdNpuCoreRun *c, TdNpuLine *l, bool slot,
                        const TdMlirOp *op) {
  TdNpuEnd *e = slot && l->from_tile == c->tile ? &l->from : NULL;
  for (size_t i = 0; i < l->nto && !slot; i++)
    if (l->to_tile[i] == c->tile) e = &l->to[i];
  if (!e || !e->pool) td_npu_machine_bad(x, op, "has no such end on this tile");
  return e && e->pool ? e : NULL;
}

static Held *held_of(TdNpuMachine *x, TdNpuCoreRun *c, TdNpuLine *l, bool slot) {
  for (size_t i = 0; i < c->held.n; i++)
    if (c->held.at[i].line == l && c->held.at[i].slot == slot) return &c->held.at[i];
  Held h = {l, slot, 0};
  td_vec_push(x->arena, &c->held, h);
  return &c->held.at[c->held.n - 1];
}

typedef enum { FAILED, WAITS, DONE } Step;

static Step acquire(TdNpuMachine *x, TdNpuCoreRun *c, const TdMlirOp *op) {
  TdNpuLine *l = td_npu_machine_line(x, op, "objFifo_name");
  bool slot = td_npu_int(op, "port", 1) == 0;
  int64_t size = td_npu_int(op, "size", 1);
  TdNpuEnd *e = l ? end_of(x, c, l, slot, op) : NULL;
  if (!e) return FAILED;
  if (size < 1 || size > e->pool->depth || op->result.n != 1)
    return td_npu_machine_bad(x, op, "takes more objects than there are"), FAILED;
  int64_t there =
      slot ? td_npu_pool_room(e->pool, e->number) : td_npu_pool_full(e->pool, e->number);
  c->waits = l->name;
  c->slot = slot;
  if (there < size) return WAITS;
  Held *h = held_of(x, c, l, slot);
  h->n = size > h->n ? size : h->n;
  value(x, c, op->result.at[0])->i = l - x->line.at + (slot ? (int64_t)x->line.n : 0);
  return DONE;
}

static Step release(TdNpuMachine *x, TdNpuCoreRun *c, const TdMlirOp *op) {
  TdNpuLine *l = td_npu_machine_line(x, op, "objFifo_name");
  bool slot = td_npu_int(op, "port", 1) == 0;
  int64_t size = td_npu_int(op, "size", 1);
  TdNpuEnd *e = l ? end_of(x, c, l, slot, op) : NULL;
  if (!e) return FAILED;
  Held *h = held_of(x, c, l, slot);
  if (size < 1 || size > h->n)
    return td_npu_machine_bad(x, op, "gives back more objects than are held"), FAILED;
  h->n -= size;
  *(slot ? &e->pool->in[e->number] : &e->pool->out[e->number]) += size;
  return DONE;
}

/* The memory of an object that was acquired. */
static Step access(TdNpuMachine *x, TdNpuCoreRun *c, const TdMlirOp *op) {
  int64_t index = td_npu_int(op, "index", 0);
  if (op->operand.n != 1 || op->result.n != 1)
    return td_npu_machine_bad(x, op, "takes one view"), FAILED;
  int64_t k = value(x, c, op->operand.at[0])->i;
  bool slot = k >= (int64_t)x->line.n;
  TdNpuLine *l = &x->line.at[slot ? k - (int64_t)x->line.n : k];
  TdNpuEnd *e = end_of(x, c, l, slot, op);
  if (!e) return FAILED;
  if (index < 0 || index >= held_of(x, c, l, slot)->n)
    return td_npu_machine_bad(x, op, "reaches an object that is not held"), FAILED;
  int64_t n = (slot ? e->pool->in[e->number] : e->pool->out[e->number]) + index;
  value(x, c, op->result.at[0])->p =
      e->pool->data + n % e->pool->depth * e->pool->pitch + e->offset;
  return DONE;
}

enum { MOST_ARGUMENTS = 64 };

static Step call(TdNpuMachine *x, TdNpuCoreRun *c, const TdMlirOp *op) {
  const TdMlirAttr *callee = td_mlir_get(op, "callee");
  if (x->cost && callee && (x->took = x->cost(x->ud, callee->s))) return DONE;
  void *arg[MOST_ARGUMENTS];
  int32_t number[MOST_ARGUMENTS];
  union {
    void *p;
    void (*call)(void *const *);
  } f = {.p = callee && x->kernel ? x->kernel(x->ud, callee->s) : NULL};
  if (!f.p || op->operand.n > MOST_ARGUMENTS)
    return td_npu_machine_bad(x, op, "calls what is not there"), FAILED;
  for (size_t i = 0; i < op->operand.n; i++) {
    Value *v = value(x, c, op->operand.at[i]);
    bool memory = op->operand.at[i]->type->kind == TD_MLIR_MEMREF;
    number[i] = (int32_t)v->i;
    arg[i] = memory ? (void *)v->p : (void *)&number[i];
    if (memory && !v->p) return td_npu_machine_bad(x, op, "is given no memory"), FAILED;
  }
  f.call(arg);
  return DONE;
}

static Step enter(TdNpuMachine *x, TdNpuCoreRun *c, const TdMlirOp *op) {
  const TdMlirBlock *b = td_mlir_body(op);
  if (op->operand.n != 3 || !b || b->arg.n != 1)
    return td_npu_machine_bad(x, op, "is no loop"), FAILED;
  Frame f = {.block = b, .loop = op};
  f.v = value(x, c, op->operand.at[0])->i;
  f.hi = value(x, c, op->operand.at[1])->i;
  f.step = value(x, c, op->operand.at[2])->i;
  if (f.step < 1) return td_npu_machine_bad(x, op, "has no step"), FAILED;
  if (f.v >= f.hi) return DONE;
  value(x, c, b->arg.at[0])->i = f.v;
  td_vec_push(x->arena, &c->frame, f);
  return DONE;
}

static Step arithmetic(TdNpuMachine *x, TdNpuCoreRun *c, const TdMlirOp *op) {
  const TdMlirAttr *v = td_mlir_get(op, "value");
  int64_t r, y;
  if (op->result.n != 1) return td_npu_machine_bad(x, op, "gives nothing"), FAILED;
  if (strcmp(op->name, "arith.constant") == 0 && v && v->kind == TD_MLIR_A_INT) {
    r = v->i;
  } else if (strcmp(op->name, "arith.index_cast") == 0 && op->operand.n == 1) {
    r = value(x, c, op->operand.at[0])->i;
  } else if (op->operand.n == 2) {
    r = value(x, c, op->operand.at[0])->i;
    y = value(x, c, op->operand.at[1])->i;
    if (strcmp(op->name, "arith.addi") == 0)
      r = (int64_t)((uint64_t)r + (uint64_t)y);
    else if (strcmp(op->name, "arith.muli") == 0)
      r = (int64_t)((uint64_t)r * (uint64_t)y);
    else
      return td_npu_machine_bad(x, op, "is not known here"), FAILED;
  } else {
    return td_npu_machine_bad(x, op, "is not known here"), FAILED;
  }
  value(x, c, op->result.at[0])->i = r;
  return DONE;
}

static Step run_op(TdNpuMachine *x, TdNpuCoreRun *c, const TdMlirOp *op) {
  static const struct {
    const char *name;
    Step (*run)(TdNpuMachine *, TdNpuCoreRun *, const TdMlirOp *);
  } kinds[] = {{"aie.objectfifo.acquire", acquire},
               {"aie.objectfifo.release", release},
               {"aie.objectfifo.subview.access", access},
               {"func.call", call},
               {"scf.for", enter}};
  if (strcmp(op->name, "scf.yield") == 0 || strcmp(op->name, "aie.end") == 0) return DONE;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (strcmp(op->name, kinds[i].name) == 0) return kinds[i].run(x, c, op);
  return arithmetic(x, c, op);
}

/* The end of a block: the next turn of its loop, or what is behind it. */
static void leave(TdNpuMachine *x, TdNpuCoreRun *c) {
  Frame *f = &c->frame.at[c->frame.n - 1];
  f->at = 0;
  if (f->loop && f->step < f->hi - f->v) {
    f->v += f->step;
    value(x, c, f->block->arg.at[0])->i = f->v;
  } else {
    c->frame.n--;
  }
}

bool td_npu_core_go(TdNpuMachine *x, TdNpuCoreRun *c, bool *moved) {
  while (c->frame.n) {
    Frame *f = &c->frame.at[c->frame.n - 1];
    if (f->at == f->block->op.n) {
      leave(x, c);
      td_ctx_tick(td_arena_ctx(x->arena), 1);
      continue;
    }
    const TdMlirOp *op = f->block->op.at[f->at];
    Step s = run_op(x, c, op);
    if (s == FAILED) return false;
    if (s == WAITS) return true;
    size_t top = c->frame.n;
    (void)top;
    for (size_t i = 0; i < c->frame.n; i++)
      if (c->frame.at[i].block == op->block) c->frame.at[i].at++;
    *moved = true;
    if (x->took) return true;
  }
  c->waits = NULL;
  return true;
}

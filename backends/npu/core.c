/* core.c - a core's task: its loops around moves of blocks as they are, what is between the moves
 * as calls of kernels. A loop whose turns use other streams, or under other conditions, is written
 * out. */
#include "backends/npu/emit.h"

#include <string.h>

#include "ir/num/num.h"

/* A block that is held. */
typedef struct Held {
  TdSym sym;
  size_t fifo;
  bool slot;
} Held;

typedef struct Core {
  TdNpuEmit *e;
  const TdNpuInst *x;
  const TdNpuForm *f;
  TdMlirBlock *head; /* of the core, where constants are */
  TdMap constant;    /* value + 1 -> TdMlirValue, of type index */
  TdMap value;       /* symbol -> TdMlirValue: an array, or a loop's variable */
  TdMap type;        /* symbol of an array -> TdType */
  TdMap at;          /* loop that is written out -> value */
  TD_VEC(Held) held;
  TdMlirValue *tile;
  bool got; /* a block: the launch has begun, so runtime parameters are there */
} Core;

static bool refuse(const Core *c, const char *code, TdLoc loc, const char *what) {
  return td_diag_set(c->f->diag, TD_UNSUPPORTED, code, loc, "%s: %s", c->x->name, what);
}

static TdMlirValue *constant(Core *c, int64_t v) {
  TdMlir *m = c->e->m;
  TdMlirValue *known = NULL;
  uint64_t at;
  if (td_map_get(&c->constant, (uint64_t)v, &at)) return (TdMlirValue *)(uintptr_t)at;
  TdMlirOp *op = td_mlir_op(m, c->head, "arith.constant");
  td_npu_set_int(m, op, "value", v, "index");
  known =
      td_mlir_result(m, op, v == INT64_MAX ? "ever" : td_text_fmt(m->arena, "c%lld", (long long)v),
                     td_mlir_scalar(m, "index"));
  td_map_put(m->arena, &c->constant, (uint64_t)v, (uint64_t)(uintptr_t)known);
  return known;
}

/* ---- memory ---- */

/* The elements of a table, or of the start of a state. */
static const TdMlirAttr *elements(TdMlir *m, const TdType *t, const TdBlob *b) {
  const TdType *cell = td_type_scalar(t);
  const TdMlirType *memref = td_npu_memref(m, t);
  const TdMlirType *as =
      td_mlir_shaped(m, TD_MLIR_TENSOR, memref->shape, memref->rank, memref->in[0]);
  int64_t *num = TD_NEWN(m->arena, int64_t, b->count);
  double *real = TD_NEWN(m->arena, double, b->count);
  const unsigned char *at = b->data;
  for (int64_t i = 0; i < b->count; i++, at += td_type_bytes(cell)) {
    uint64_t v = td_num_load(cell, at);
    num[i] = (int64_t)v;
    if (cell->kind == TD_T_FLOAT) real[i] = td_num_double(v);
  }
  return td_mlir_dense(m, as, cell->kind == TD_T_FLOAT ? NULL : num, real, (size_t)b->count);
}

/* A name like this one that nothing in the device has. */
static const char *free_symbol(const Core *c, const char *want) {
  const TdMlirBlock *b = c->e->device;
  const char *name = want;
  bool taken = true;
  for (int n = 1; taken; n++) {
    taken = false;
    for (size_t i = 0; i < b->op.n; i++) {
      const TdMlirAttr *s = td_mlir_get(b->op.at[i], "sym_name");
      taken |= s && strcmp(s->s, name) == 0;
    }
    if (taken) name = td_text_fmt(c->e->m->arena, "%s_b%d", want, n);
  }
  return name;
}

/* Memory of the tile for a local array; what it starts with is left to a kernel, a statement or
 * NULL, but for tables and states, which have it from the first. */
static const TdStmt *buffer(Core *c, const TdUnit *u, const TdStmt *s) {
  TdMlir *m = c->e->m;
  TdStore *st = c->f->store;
  TdMlirOp *op = td_mlir_op(m, c->e->device, "aie.buffer");
  const TdType *t = td_unit_type(st->session, u, s->type);
  TdMlirValue *v = td_mlir_result(m, op, s->sym->name, td_npu_memref(m, t));
  op->loc = s->loc;
  td_mlir_operand(m, op, c->tile);
  td_npu_set_string(m, op, "sym_name", free_symbol(c, v->name));
  td_map_putp(m->arena, &c->value, s->sym, v);
  td_map_putp(m->arena, &c->type, s->sym, (void *)(uintptr_t)t);
  if (s->blob) td_mlir_set(m, op, "initial_value", elements(m, t, s->blob));
  if (s->init == TD_INIT_NONE || s->blob) return NULL;
  const TdExpr *all = td_expr_whole(st->session, st->arena, s->sym, s->type, s->loc);
  return td_stmt_set(st, all, s->expr[0], s->loc);
}

/* ---- kernels ---- */

/* Declares a kernel in the device, once. */
static void declare(Core *c, const TdNpuKernel *k) {
  TdMlir *m = c->e->m;
  TdMlirBlock *b = c->e->device;
  for (size_t i = 0; i < b->op.n; i++) {
    const TdMlirAttr *name = td_mlir_get(b->op.at[i], "sym_name");
    if (strcmp(b->op.at[i]->name, "func.func") == 0 && strcmp(name->s, k->name) == 0) return;
  }
  const TdMlirType **in = TD_NEWN(m->arena, const TdMlirType *, k->narray + k->nindex);
  for (size_t i = 0; i < k->narray; i++)
    in[i] = td_npu_memref(m, td_map_getp(&c->type, k->array[i]));
  for (size_t i = 0; i < k->nindex; i++) in[k->narray + i] = td_mlir_scalar(m, "i32");
  TdMlirOp *op = td_mlir_op(m, b, "func.func");
  td_npu_set_string(m, op, "sym_name", k->name);
  td_npu_set_string(m, op, "sym_visibility", "private");
  td_mlir_set(m, op, "function_type",
              td_mlir_type_attr(m, td_mlir_function(m, in, k->narray + k->nindex, NULL, 0)));
  td_mlir_region(m, op);
  for (size_t i = b->op.n - 1; i > 0; i--) b->op.at[i] = b->op.at[i - 1];
  b->op.at[0] = op;
}

/* Buffers for the arrays that statements and what they call declare. */
static void keep_locals(Core *c, const TdStmt *const *s, size_t n) {
  TdNpuLocals list = {0};
  td_npu_locals_add(c->e->kernels, c->x->kernel, s, n, &list);
  for (size_t i = 0; i < list.n; i++)
    if (!td_map_getp(&c->type, list.at[i].decl->sym)) buffer(c, list.at[i].unit, list.at[i].decl);
}

static bool call(Core *c, TdMlirBlock *b, const TdStmt *const *s, size_t n) {
  TdMlir *m = c->e->m;
  keep_locals(c, s, n);
  const TdNpuKernel *k = td_npu_kernel_of(c->e->kernels, s, n, c->x->run->sym->name, &c->type);
  if (!k) return false;
  for (size_t i = 0; i < k->narray && !c->got; i++)
    for (size_t p = 0; p < c->x->scalar.n; p++)
      if (c->x->scalar.at[p].sym == k->array[i]) {
        refuse(c, "npu-scalar", s[0]->loc,
               "uses a scalar argument before its first block is there");
        td_diag_help(c->f->diag, "get a block of a stream first: only then has the call begun");
        return false;
      }
  declare(c, k);
  TdMlirValue **arg = TD_NEWN(m->arena, TdMlirValue *, k->narray + k->nindex);
  for (size_t i = 0; i < k->narray; i++) arg[i] = td_map_getp(&c->value, k->array[i]);
  for (size_t i = 0; i < k->nindex; i++) {
    TdMlirOp *cast = td_mlir_op(m, b, "arith.index_cast");
    TdMlirValue *v = td_map_getp(&c->value, k->index[i]);
    if (!v) return refuse(c, "npu-scalar", s[0]->loc, "computes with what no loop gives");
    td_mlir_operand(m, cast, v);
    arg[k->narray + i] = td_mlir_result(m, cast, k->index[i]->name, td_mlir_scalar(m, "i32"));
  }
  TdMlirOp *op = td_mlir_op(m, b, "func.call");
  op->loc = s[0]->loc;
  for (size_t i = 0; i < k->narray + k->nindex; i++) td_mlir_operand(m, op, arg[i]);
  td_npu_set_symbol(m, op, "callee", k->name);
  return true;
}

/* ---- streams ---- */

static size_t fifo_of(Core *c, const TdStmt *s) {
  uint32_t chan = td_npu_chan(c->f, &c->at, s->expr[0], s->loc);
  return chan == TD_NPU_NONE ? SIZE_MAX : c->e->plan->fifo_of[chan];
}

static TdMlirOp *on_fifo(Core *c, TdMlirBlock *b, const char *name, size_t fifo, bool slot,
                         int64_t size) {
  TdMlir *m = c->e->m;
  TdMlirOp *op = td_mlir_op(m, b, name);
  td_npu_set_symbol(m, op, "objFifo_name", c->e->plan->fifo.at[fifo].name);
  td_npu_set_int(m, op, "port", slot ? 0 : 1, "i32");
  td_npu_set_int(m, op, "size", size, "i32");
  return op;
}

/* Takes a block: with those of the FIFO that are held already, of which it is the last. */
static bool acquire(Core *c, TdMlirBlock *b, const TdStmt *s) {
  TdMlir *m = c->e->m;
  size_t fifo = fifo_of(c, s);
  bool slot = s->kind == TD_STMT_SLOT;
  int64_t held = 0;
  if (fifo == SIZE_MAX) return false;
  c->got |= !slot;
  for (size_t i = 0; i < c->held.n; i++)
    held += c->held.at[i].fifo == fifo && c->held.at[i].slot == slot;
  const TdNpuFifo *x = &c->e->plan->fifo.at[fifo];
  const TdMlirType *t = td_npu_memref(m, x->type);
  TdMlirOp *op = on_fifo(c, b, "aie.objectfifo.acquire", fifo, slot, held + 1);
  op->loc = s->loc;
  TdMlirValue *view = td_mlir_result(m, op, td_text_fmt(m->arena, "%s_view", s->sym->name),
                                     td_mlir_dialect_type(m, "aie.objectfifosubview", t));
  TdMlirOp *access = td_mlir_op(m, b, "aie.objectfifo.subview.access");
  td_mlir_operand(m, access, view);
  td_npu_set_int(m, access, "index", held, "i32");
  td_map_putp(m->arena, &c->value, s->sym, td_mlir_result(m, access, s->sym->name, t));
  td_map_putp(m->arena, &c->type, s->sym, (void *)(uintptr_t)x->type);
  Held h = {s->sym, fifo, slot};
  td_vec_push(m->arena, &c->held, h);
  return true;
}

/* Gives back the oldest block of a FIFO that is held: it must be number i. */
static bool release(Core *c, TdMlirBlock *b, size_t i, TdLoc loc) {
  Held h = c->held.at[i];
  for (size_t k = 0; k < i; k++)
    if (c->held.at[k].fifo == h.fifo && c->held.at[k].slot == h.slot)
      return refuse(c, "npu-window", loc, "gives back a block before an older one of its stream");
  on_fifo(c, b, "aie.objectfifo.release", h.fifo, h.slot, 1)->loc = loc;
  for (; i + 1 < c->held.n; i++) c->held.at[i] = c->held.at[i + 1];
  c->held.n--;
  return true;
}

static bool put(Core *c, TdMlirBlock *b, const TdStmt *s) {
  for (size_t i = 0; i < c->held.n; i++)
    if (c->held.at[i].sym == s->expr[1]->sym && c->held.at[i].slot) return release(c, b, i, s->loc);
  return refuse(c, "npu-form", s->loc, "puts what is no slot of the stream");
}

/* ---- statements ---- */

static bool block(Core *c, TdMlirBlock *b, const TdStmt *s);

/* A search for what makes the turns of a loop differ in more than numbers. */
typedef struct Differ {
  const TdNpuForm *f;
  TdSym v;
} Differ;

static bool is_alike(void *ud, const TdStmt *s) {
  const Differ *d = ud;
  bool decides = s->kind == TD_STMT_GET || s->kind == TD_STMT_PUT || s->kind == TD_STMT_SLOT ||
                 ((s->kind == TD_STMT_IF || s->kind == TD_STMT_FOR) && td_npu_moves(d->f, s));
  for (uint32_t i = 0; decides && i < s->nexpr; i++)
    if (td_walk_uses_expr(s->expr[i], d->v)) return false;
  return true;
}

static bool written_out(Core *c, TdMlirBlock *b, const TdStmt *s, int64_t lo, int64_t hi) {
  TdStore *st = c->f->store;
  for (int64_t i = lo; i < hi; i += s->step) {
    TdSubst sub = td_subst_new(st);
    td_subst_expr(&sub, s->sym, td_expr_index(st->session, st->arena, i, s->loc));
    if (!block(c, b, td_subst_in_stmt(&sub, td_for_body(s)))) return false;
  }
  return true;
}

static TdMlirBlock *loop(Core *c, TdMlirBlock *b, int64_t lo, int64_t hi, int64_t step,
                         const char *name, TdMlirValue **v) {
  TdMlir *m = c->e->m;
  TdMlirValue *bound[] = {constant(c, lo), constant(c, hi), constant(c, step)};
  TdMlirOp *op = td_mlir_op(m, b, "scf.for");
  for (int i = 0; i < 3; i++) td_mlir_operand(m, op, bound[i]);
  TdMlirBlock *body = td_mlir_block(m, td_mlir_region(m, op), "bb0");
  *v = td_mlir_argument(m, body, name, td_mlir_scalar(m, "index"));
  return body;
}

static bool put_for(Core *c, TdMlirBlock *b, const TdStmt *s) {
  TdMlirValue *v;
  int64_t lo, hi;
  if (!td_npu_value(c->f, &c->at, td_for_lo(s), &lo) ||
      !td_npu_value(c->f, &c->at, td_for_hi(s), &hi))
    return refuse(c, "npu-data", s->loc, "data decides how often blocks move");
  if (hi <= lo) return true;
  Differ d = {c->f, s->sym};
  if (!td_walk_stmt(td_arena_ctx(c->f->arena), td_for_body(s), is_alike, &d))
    return written_out(c, b, s, lo, hi);
  TdMlirBlock *body = loop(c, b, lo, hi, s->step, s->sym->name, &v);
  td_map_putp(c->f->arena, &c->value, s->sym, v);
  if (!block(c, body, td_for_body(s))) return false;
  td_mlir_op(c->e->m, body, "scf.yield");
  return true;
}

static bool put_moving(Core *c, TdMlirBlock *b, const TdStmt *s) {
  int64_t cond;
  switch ((TdStmtKind)s->kind) {
  case TD_STMT_BLOCK: return block(c, b, s);
  case TD_STMT_FOR: return put_for(c, b, s);
  case TD_STMT_IF:
    if (!td_npu_value(c->f, &c->at, s->expr[0], &cond))
      return refuse(c, "npu-data", s->loc, "data decides whether blocks move");
    return cond ? block(c, b, s->kid[0]) : s->nkid < 2 || block(c, b, s->kid[1]);
  case TD_STMT_GET:
  case TD_STMT_SLOT: return acquire(c, b, s);
  case TD_STMT_PUT: return put(c, b, s);
  default: return refuse(c, "npu-data", s->loc, "data decides how often blocks move");
  }
}

/* Memory for the scalar arguments of a task. */
static void parameters(Core *c) {
  TdMlir *m = c->e->m;
  for (size_t i = 0; i < c->x->scalar.n; i++) {
    const TdNpuScalar *s = &c->x->scalar.at[i];
    TdMlirOp *op = td_mlir_op(m, c->e->device, "aie.buffer");
    TdMlirValue *v = td_mlir_result(m, op, td_text_fmt(m->arena, "%s_rtp", s->sym->name),
                                    td_npu_memref(m, s->type));
    td_mlir_operand(m, op, c->tile);
    TdNpuRtp r = {free_symbol(c, v->name), s->param};
    td_npu_set_string(m, op, "sym_name", r.buffer);
    td_map_putp(m->arena, &c->value, s->sym, v);
    td_map_putp(m->arena, &c->type, s->sym, (void *)(uintptr_t)s->type);
    td_vec_push(m->arena, &c->e->rtp, r);
  }
}

/* A block: stretches of statements that move nothing are calls. */
static bool block(Core *c, TdMlirBlock *b, const TdStmt *s) {
  TdArena *a = c->f->arena;
  TD_VEC(const TdStmt *) run = {0};
  size_t mark = c->held.n;
  for (uint32_t i = 0; i <= s->nkid; i++) {
    const TdStmt *k = i < s->nkid ? s->kid[i] : NULL;
    bool moves = !k || td_npu_moves(c->f, k);
    if (!moves && td_npu_is_local(k)) k = buffer(c, c->x->kernel, k);
    if (!moves && k) td_vec_push(a, &run, k);
    if (!moves) continue;
    if (run.n && !call(c, b, run.at, run.n)) return false;
    run.n = 0;
    if (k && !put_moving(c, b, k)) return false;
  }
  while (c->held.n > mark) {
    size_t i = mark;
    if (c->held.at[i].slot)
      return refuse(c, "npu-form", s->loc, "takes a slot and does not put it");
    if (!release(c, b, i, s->loc)) return false;
  }
  return true;
}

bool td_npu_emit_core(TdNpuEmit *e, uint32_t inst) {
  TdMlir *m = e->m;
  const TdNpuInst *x = &e->plan->form->inst.at[inst];
  size_t tile = td_npu_plan_tile(e->plan, x->col, x->row);
  Core c = {.e = e, .x = x, .f = e->plan->form, .tile = e->tile[tile]};
  TdMlirOp *op = td_mlir_op(m, NULL, "aie.core");
  td_mlir_operand(m, op, c.tile);
  td_npu_set_string(m, op, "link_with", "kernels.o");
  td_npu_set_int(m, op, "stack_size", e->stack, "i32");
  td_mlir_result(m, op,
                 td_text_fmt(m->arena, "core_%lld_%lld", (long long)x->col, (long long)x->row),
                 td_mlir_scalar(m, "index"));
  op->loc = x->run->loc;
  TdMlirBlock *body = td_mlir_block(m, td_mlir_region(m, op), NULL);
  TdMlirValue *v;
  c.head = td_mlir_block(m, td_mlir_region(m, td_mlir_op(m, NULL, "scratch")), NULL);
  parameters(&c);
  TdMlirBlock *turn = loop(&c, body, 0, INT64_MAX, 1, "launch", &v);
  if (!block(&c, turn, x->body)) return false;
  td_mlir_op(m, turn, "scf.yield");
  td_mlir_op(m, body, "aie.end");
  TdMlirOp **rest = td_arena_copy(m->arena, body->op.at, body->op.n * sizeof(TdMlirOp *));
  size_t n = body->op.n;
  body->op.n = 0;
  for (size_t i = 0; i < c.head->op.n; i++) {
    c.head->op.at[i]->block = body;
    td_vec_push(m->arena, &body->op, c.head->op.at[i]);
  }
  for (size_t i = 0; i < n; i++) td_vec_push(m->arena, &body->op, rest[i]);
  op->block = e->device;
  td_vec_push(m->arena, &e->device->op, op);
  return true;
}

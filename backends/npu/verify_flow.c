/* verify_flow.c - whether what a text says goes on as it must: the host keeps to queues and BDs and
 * waits for what it started, cores hold no more objects than there are and give all back, and in a
 * launch each objectFIFO gets as many objects as are taken from it. */
#include <string.h>

#include "backends/npu/verify.h"

enum { UNKNOWN = -1, LOCK_MOST = 63 };

/* What a launch does to a line: objects put, and taken by each end. */
typedef struct Count {
  int64_t put, got[TD_NPU_ENDS], moved; /* moved: elements, of a shim's */
  int64_t held[2];                      /* by its core, to take and to put, while that is walked */
} Count;

/* A task of the host that was not waited for. */
typedef struct Task {
  size_t line;
  int64_t id;
  bool token;
} Task;

typedef struct Flow {
  TdNpuMachine *x;
  TdDiag *diag;
  Count *count;
  TD_VEC(Task) task;
  bool known; /* how often loops turn */
} Flow;

static bool refuse(Flow *f, const char *code, const TdMlirOp *op, const char *help,
                   const char *what) {
  td_diag_set(f->diag, TD_UNSUPPORTED, code, op->loc, "%s", what);
  if (help) td_diag_help(f->diag, "%s", help);
  return false;
}

/* ---- the host ---- */

static size_t shim_of(const TdNpuLine *l) {
  return l->from.pool ? l->to_tile[0] : l->from_tile;
}

static int pending(const Flow *f, size_t line) {
  int n = 0;
  for (size_t i = 0; i < f->task.n; i++) n += f->task.at[i].line == line;
  return n;
}

static bool start(Flow *f, const TdMlirOp *op) {
  TdNpuMachine *x = f->x;
  TdArena *a = x->arena;
  const TdNpuLine *l = td_npu_machine_line(x, op, "metadata");
  const TdMlirAttr *size = td_mlir_get(op, "static_sizes"), *token = td_mlir_get(op, "issue_token");
  int64_t id = td_npu_int(op, "id", -1), n = 1;
  if (!l) return false;
  size_t line = (size_t)(l - x->line.at);
  const int queue = td_tiles[TD_TILE_SHIM].queue, bds = td_tiles[TD_TILE_SHIM].bds;
  if (l->from.pool && l->to[0].pool)
    return td_npu_machine_bad(x, op, "moves an objectFIFO that has no end at a shim");
  if (id < 0 || id >= bds)
    return refuse(f, "npu-sequence", op, "ids go from 0 to 15",
                  td_text_fmt(a, "a shim has %d BDs, and '%s' asks for number %lld", bds, l->name,
                              (long long)id));
  if (pending(f, line) == queue)
    return refuse(f, "npu-sequence", op, "wait for one of them first",
                  td_text_fmt(a,
                              "'%s' has %d tasks in its channel's queue, which holds no more: a "
                              "fifth is lost",
                              l->name, queue));
  for (size_t i = 0; i < f->task.n; i++)
    if (f->task.at[i].id == id && shim_of(&x->line.at[f->task.at[i].line]) == shim_of(l))
      return refuse(f, "npu-sequence", op, "wait for that task first, or take another id",
                    td_text_fmt(a,
                                "BD %lld of this shim is rewritten while a task of '%s' may run "
                                "it",
                                (long long)id, x->line.at[f->task.at[i].line].name));
  for (size_t i = 0; size && i < size->n; i++) n *= size->num[i];
  f->count[line].moved += n;
  Task t = {line, id, (token && token->i) || l->from.pool};
  td_vec_push(a, &f->task, t);
  return true;
}

static bool wait(Flow *f, const TdMlirOp *op) {
  const TdNpuLine *l = td_npu_machine_line(f->x, op, "symbol");
  size_t i = 0;
  if (!l) return false;
  while (i < f->task.n && &f->x->line.at[f->task.at[i].line] != l) i++;
  if (i == f->task.n)
    return refuse(
        f, "npu-sequence", op, NULL,
        td_text_fmt(f->x->arena, "waits for a task of '%s' where none is under way", l->name));
  if (!f->task.at[i].token)
    return refuse(
        f, "npu-sequence", op, "issue_token = true",
        td_text_fmt(f->x->arena, "waits for a task of '%s' that issues no token", l->name));
  for (; i + 1 < f->task.n; i++) f->task.at[i] = f->task.at[i + 1];
  f->task.n--;
  return true;
}

static bool check_sequence(Flow *f) {
  const TdMlirBlock *b = td_mlir_body(f->x->sequence);
  for (size_t i = 0; i < b->op.n; i++) {
    const TdMlirOp *op = b->op.at[i];
    if (strcmp(op->name, "aiex.npu.dma_memcpy_nd") == 0 && !start(f, op)) return false;
    if (strcmp(op->name, "aiex.npu.dma_wait") == 0 && !wait(f, op)) return false;
  }
  for (size_t i = 0; i < f->task.n; i++) {
    const TdNpuLine *l = &f->x->line.at[f->task.at[i].line];
    if (l->from.pool)
      return refuse(f, "npu-sequence", f->x->sequence, "wait for it",
                    td_text_fmt(f->x->arena, "the host ends before '%s' is written", l->name));
  }
  return true;
}

/* ---- cores ---- */

/* The constant of a value; false: it is none. */
static bool constant(const TdMlirValue *v, int64_t *out) {
  const TdMlirAttr *a =
      v->op && strcmp(v->op->name, "arith.constant") == 0 ? td_mlir_get(v->op, "value") : NULL;
  *out = a ? a->i : 0;
  return a && a->kind == TD_MLIR_A_INT;
}

/* How often a loop turns: that around all of a core counts once. */
static int64_t turns(const TdMlirOp *op) {
  int64_t lo, hi, step;
  if (op->operand.n != 3 || !constant(op->operand.at[0], &lo) ||
      !constant(op->operand.at[1], &hi) || !constant(op->operand.at[2], &step) || step < 1)
    return UNKNOWN;
  if (hi == INT64_MAX) return 1;
  return hi > lo ? (hi - lo + step - 1) / step : 0;
}

/* An acquire or release of a core on tile `tile`, `times` over. */
static bool use(Flow *f, const TdMlirOp *op, size_t tile, int64_t times) {
  TdNpuMachine *x = f->x;
  const TdNpuLine *l = td_npu_machine_line(x, op, "objFifo_name");
  int64_t size = td_npu_int(op, "size", 1);
  int64_t port = td_npu_int(op, "port", UNKNOWN);
  bool slot = port == 0, gives = strstr(op->name, "release") != NULL;
  if (!l) return false;
  if (port != 0 && port != 1)
    return td_npu_machine_bad(x, op, "has a port that is neither to put (0) nor to take (1)");
  Count *c = &f->count[l - x->line.at];
  size_t end = 0;
  while (end < l->nto && l->to_tile[end] != tile) end++;
  const TdNpuEnd *e = slot ? &l->from : end < l->nto ? &l->to[end] : NULL;
  if (!e || !e->pool || (slot && l->from_tile != tile))
    return td_npu_machine_bad(x, op, "has no such end on this tile");
  if (!gives && (size < 1 || size > e->pool->depth))
    return refuse(f, "npu-limit", op, "more depth, or fewer at a time",
                  td_text_fmt(x->arena, "'%s' has %lld objects, and %lld are taken", l->name,
                              (long long)e->pool->depth, (long long)size));
  if (!gives) {
    if (size > c->held[slot]) c->held[slot] = size;
    return true;
  }
  if (size < 1 || size > c->held[slot])
    return refuse(f, "npu-text", op, NULL,
                  td_text_fmt(x->arena, "gives back %lld objects of '%s', and %lld are held",
                              (long long)size, l->name, (long long)c->held[slot]));
  c->held[slot] -= size;
  if (slot)
    c->put += times * size;
  else
    c->got[end] += times * size;
  return true;
}

static bool walk(Flow *f, const TdMlirBlock *b, size_t tile, int64_t times) {
  TdNpuMachine *x = f->x;
  int64_t *held = TD_NEWN(x->arena, int64_t, 2 * x->line.n + 1);
  for (size_t i = 0; i < 2 * x->line.n; i++) held[i] = f->count[i / 2].held[i % 2];
  for (size_t i = 0; i < b->op.n; i++) {
    const TdMlirOp *op = b->op.at[i];
    bool moves = strcmp(op->name, "aie.objectfifo.acquire") == 0 ||
                 strcmp(op->name, "aie.objectfifo.release") == 0;
    if (moves && !use(f, op, tile, times)) return false;
    if (strcmp(op->name, "scf.for") != 0 || !td_mlir_body(op)) continue;
    int64_t n = turns(op);
    f->known &= n != UNKNOWN;
    if (!walk(f, td_mlir_body(op), tile, n == UNKNOWN ? 0 : times * n)) return false;
  }
  for (size_t i = 0; i < 2 * x->line.n; i++)
    if (f->count[i / 2].held[i % 2] != held[i] && b->op.n)
      return refuse(f, "npu-text", b->op.at[b->op.n - 1], NULL,
                    td_text_fmt(x->arena, "objects of '%s' are taken and not given back",
                                x->line.at[i / 2].name));
  return true;
}

static bool check_cores(Flow *f) {
  const TdMlirBlock *b = f->x->sequence->block;
  for (size_t i = 0; i < b->op.n; i++) {
    const TdMlirOp *op = b->op.at[i];
    if (strcmp(op->name, "aie.core") != 0) continue;
    uintptr_t tile = (uintptr_t)td_map_getp(&f->x->tile_of, op->operand.at[0]);
    if (!walk(f, td_mlir_body(op), tile - 1, 1)) return false;
  }
  return true;
}

/* ---- balance ---- */

/* Objects put in a launch, or taken by end `end`; UNKNOWN: by a link. */
static int64_t put_of(const Flow *f, const TdNpuLine *l) {
  const Count *c = &f->count[l - f->x->line.at];
  if (!l->from.pool) return c->moved / l->count;
  return td_npu_machine_kind(f->x, l->from_tile) == TD_TILE_MEM ? UNKNOWN : c->put;
}
static int64_t got_of(const Flow *f, const TdNpuLine *l, size_t end) {
  const Count *c = &f->count[l - f->x->line.at];
  if (!l->to[end].pool) return c->moved / l->count;
  return td_npu_machine_kind(f->x, l->to_tile[end]) == TD_TILE_MEM ? UNKNOWN : c->got[end];
}

static bool balance(Flow *f, const TdNpuLine *l, int64_t put, int64_t got) {
  if (put == UNKNOWN || got == UNKNOWN || put == got) return true;
  return refuse(f, "npu-sequence", l->op, "the host, or a core, moves other numbers of objects",
                td_text_fmt(f->x->arena, "a launch puts %lld objects in '%s' and takes %lld",
                            (long long)put, l->name, (long long)got));
}

/* Lines that a link joins have one pool: each end moves as many objects. */
static bool check_pool(Flow *f, const TdNpuLine *l) {
  const TdNpuPool *p = l->to[0].pool;
  int64_t put = put_of(f, l);
  for (size_t i = 0; i < f->x->line.n; i++) {
    const TdNpuLine *o = &f->x->line.at[i];
    if (o->from.pool != p) continue;
    for (size_t k = 0; k < o->nto; k++)
      if (!balance(f, o, put, got_of(f, o, k))) return false;
  }
  return true;
}

static bool check_line(Flow *f, const TdNpuLine *l) {
  const Count *c = &f->count[l - f->x->line.at];
  if (l->depth > LOCK_MOST)
    return refuse(f, "npu-limit", l->op, "less depth",
                  td_text_fmt(f->x->arena, "a lock counts to %d, and '%s' has %lld objects",
                              LOCK_MOST, l->name, (long long)l->depth));
  if (strcmp(td_mlir_get(l->op, "elemType")->type->in[0]->in[0]->name, "f64") == 0)
    return refuse(f, "npu-type", l->op, "f32 takes half of it",
                  td_text_fmt(f->x->arena, "'%s' is of f64, which no NPU computes with", l->name));
  if (c->moved % l->count)
    return refuse(f, "npu-sequence", l->op, NULL,
                  td_text_fmt(f->x->arena,
                              "the host moves %lld elements of '%s', no whole objects "
                              "of %lld",
                              (long long)c->moved, l->name, (long long)l->count));
  if (!f->known) return true;
  for (size_t k = 0; k < l->nto; k++)
    if (!balance(f, l, put_of(f, l), got_of(f, l, k))) return false;
  bool linked = l->to[0].pool && td_npu_machine_kind(f->x, l->to_tile[0]) == TD_TILE_MEM;
  return !linked || check_pool(f, l);
}

bool td_npu_verify_flow(TdNpuMachine *x, TdDiag *d) {
  Flow f = {.x = x, .diag = d, .known = true};
  f.count = TD_NEWN(x->arena, Count, x->line.n + 1);
  if (!check_sequence(&f) || !check_cores(&f)) return false;
  for (size_t i = 0; i < x->line.n; i++)
    if (!check_line(&f, &x->line.at[i])) return false;
  return true;
}

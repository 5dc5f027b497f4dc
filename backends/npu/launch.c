/* launch.c - launches: read from a program, written as a sequence, read from a text. */
#include "backends/npu/launch.h"

#include <string.h>

#include "backends/npu/emit.h"
#include "backends/npu/verify.h"

enum { MOST_LAUNCHES = 256 };

/* ---- of a program ---- */

typedef struct Read {
  TdNpuHost *h;
  const TdProg *prog;
  TdArena *arena;
  TdDiag *diag;
} Read;

static bool refuse(const Read *r, TdLoc loc, const char *what) {
  td_diag_set(r->diag, TD_UNSUPPORTED, "npu-form", loc, "'%s' %s", td_prog_root(r->prog)->sym->name,
              what);
  td_diag_help(r->diag, "a design of tasks, or a kernel that calls designs one after the other on "
                        "whole arrays; `unfold` and `dataflow` make designs");
  return false;
}

static size_t array_of(const TdNpuHost *h, TdSym sym) {
  size_t i = 0;
  while (i < h->array.n && h->array.at[i].sym != sym) i++;
  return i;
}

static bool add_call(Read *r, const TdStmt *s) {
  const TdUnit *d = td_prog_unit(r->prog, s->sym);
  size_t *array = TD_NEWN(r->arena, size_t, s->nexpr + 1), at = 0;
  if (!d || d->kind != TD_UNIT_DESIGN) return refuse(r, s->loc, "calls what is no design");
  if (r->h->launch.n == MOST_LAUNCHES) return refuse(r, s->loc, "has too many launches");
  for (uint32_t i = 0; i < s->nexpr; i++) {
    const TdExpr *e = s->expr[i];
    array[i] = array_of(r->h, e->sym);
    bool whole = e->kind == TD_EXPR_VIEW && td_expr_keeps_dims(e, e->sym) &&
                 e->type->rank == d->param[i].type->rank;
    if (array[i] == r->h->array.n || !(whole || td_type_is_scalar(e->type)))
      return refuse(r, s->loc, "gives a design a part of an array, or what it computes");
  }
  while (at < r->h->design.n && r->h->design.at[at] != d) at++;
  if (at == r->h->design.n) td_vec_push(r->arena, &r->h->design, d);
  td_vec_push(r->arena, &r->h->launch, ((TdNpuLaunch){at, array, s->loc}));
  return true;
}

static bool add(Read *r, const TdStmt *s) {
  const TdUnit *root = td_prog_root(r->prog);
  int64_t lo, hi;
  if (s->kind == TD_STMT_CALL) return add_call(r, s);
  if (s->kind == TD_STMT_BLOCK) {
    for (uint32_t i = 0; i < s->nkid; i++)
      if (!add(r, s->kid[i])) return false;
    return true;
  }
  if (s->kind == TD_STMT_FOR && td_unit_value(root, td_for_lo(s), &lo) &&
      td_unit_value(root, td_for_hi(s), &hi)) {
    for (int64_t i = lo; i < hi; i += s->step)
      if (!add(r, td_for_body(s))) return false;
    return true;
  }
  if (s->kind != TD_STMT_LOCAL || s->cls != TD_LOCAL_AUTO || s->init != TD_INIT_NONE ||
      s->type->kind != TD_T_TENSOR)
    return refuse(r, s->loc, "does more than call designs");
  if (array_of(r->h, s->sym) < r->h->array.n) return true;
  td_vec_push(r->arena, &r->h->array, ((TdNpuArray){s->sym, s->type, true}));
  return true;
}

TdNpuHost *td_npu_host_of(TdArena *a, const TdProg *p, TdDiag *d) {
  const TdUnit *root = td_prog_root(p);
  Read r = {TD_NEW(a, TdNpuHost), p, a, d};
  for (size_t i = 0; i < root->nparam; i++)
    td_vec_push(a, &r.h->array, ((TdNpuArray){root->param[i].sym, root->param[i].type, false}));
  r.h->one = root->kind == TD_UNIT_DESIGN;
  if (r.h->one) {
    td_vec_push(a, &r.h->design, root);
    td_vec_push(a, &r.h->launch, ((TdNpuLaunch){.loc = root->loc}));
  } else if (!add(&r, root->body)) {
    return NULL;
  } else if (!r.h->launch.n) {
    refuse(&r, root->loc, "calls no design");
    return NULL;
  }
  for (size_t i = 0; i < r.h->array.n; i++) {
    const TdType *t = td_unit_type(p->store->session, root, r.h->array.at[i].type);
    int64_t n;
    if (!t || (!td_type_is_scalar(t) && !td_type_count(t, &n))) {
      td_diag_set(d, TD_UNSUPPORTED, "npu-size", root->loc, "'%s' has sizes without values",
                  r.h->array.at[i].sym->name);
      return NULL;
    }
    r.h->array.at[i].type = t;
  }
  return r.h;
}

/* ---- as a sequence ---- */

void td_npu_host_emit(const TdNpuHost *h, TdMlir *m, int device) {
  TdMlirBlock *top = td_mlir_body(m->module);
  TdMlirOp *op = td_mlir_op(m, top, "aie.device");
  for (size_t i = top->op.n - 1; i > 0; i--) top->op.at[i] = top->op.at[i - 1];
  top->op.at[0] = op;
  td_npu_set_int(m, op, "device", device, "i32");
  td_npu_set_string(m, op, "sym_name", "main");
  TdMlirBlock *body = td_mlir_block(m, td_mlir_region(m, op), NULL);
  TdMlirOp *sequence = td_mlir_op(m, body, "aie.runtime_sequence");
  td_npu_set_string(m, sequence, "sym_name", "sequence");
  TdMlirBlock *b = td_mlir_block(m, td_mlir_region(m, sequence), "bb0");
  TdMlirValue **arg = TD_NEWN(m->arena, TdMlirValue *, h->array.n + 1);
  for (size_t i = 0; i < h->array.n; i++)
    arg[i] = td_mlir_argument(m, b, h->array.at[i].sym->name, td_npu_flat(m, h->array.at[i].type));
  for (size_t i = 0; i < h->launch.n; i++) {
    const TdNpuLaunch *l = &h->launch.at[i];
    const TdUnit *d = h->design.at[l->design];
    TdMlirOp *configure = td_mlir_op(m, b, "aiex.configure");
    configure->loc = l->loc;
    td_npu_set_symbol(m, configure, "symbol", td_npu_device_name(d));
    TdMlirBlock *in = td_mlir_block(m, td_mlir_region(m, configure), NULL);
    TdMlirOp *run = td_mlir_op(m, in, "aiex.run");
    run->loc = l->loc;
    td_npu_set_symbol(m, run, "runtime_sequence_symbol", "sequence");
    for (size_t k = 0; k < d->nparam; k++) td_mlir_operand(m, run, arg[l->array[k]]);
  }
  td_mlir_op(m, body, "aie.end");
}

/* ---- of a text ---- */

static bool bad(const TdMlirOp *op, const char *what, TdDiag *d) {
  return td_diag_set(d, TD_ILLEGAL, "npu-text", op->loc, "%s: %s", op->name, what);
}

/* The operation of a block that has a name as its symbol, and is of that kind. */
static const TdMlirOp *named(const TdMlirBlock *b, const char *kind, const TdMlirAttr *symbol) {
  for (size_t i = 0; b && symbol && i < b->op.n; i++) {
    const TdMlirAttr *s = td_mlir_get(b->op.at[i], "sym_name");
    if (s && strcmp(b->op.at[i]->name, kind) == 0 && strcmp(s->s, symbol->s) == 0)
      return b->op.at[i];
  }
  return NULL;
}

/* A configuration: one run of the sequence of a device, on arguments of the host's. */
static bool start_of(TdArena *a, const TdMlir *m, const TdMlirOp *op, const TdMlirBlock *host,
                     TdNpuStart *out, TdDiag *d) {
  const TdMlirBlock *body = td_mlir_body(op);
  const TdMlirOp *run = body && body->op.n == 1 ? body->op.at[0] : NULL;
  if (!run || strcmp(run->name, "aiex.run") != 0) return bad(op, "is to run one sequence", d);
  out->device = named(td_mlir_body(m->module), "aie.device", td_mlir_get(op, "symbol"));
  if (!out->device) return bad(op, "names no device", d);
  const TdMlirOp *sequence = named(td_mlir_body(out->device), "aie.runtime_sequence",
                                   td_mlir_get(run, "runtime_sequence_symbol"));
  const TdMlirBlock *takes = sequence ? td_mlir_body(sequence) : NULL;
  if (!takes || takes->arg.n != run->operand.n)
    return bad(run, "names no sequence, or gives it other arguments", d);
  size_t *arg = TD_NEWN(a, size_t, run->operand.n + 1);
  for (size_t i = 0; i < run->operand.n; i++) {
    while (arg[i] < host->arg.n && host->arg.at[arg[i]] != run->operand.at[i]) arg[i]++;
    if (arg[i] == host->arg.n ||
        !td_mlir_same_type(run->operand.at[i]->type, takes->arg.at[i]->type))
      return bad(run, "gives what is no argument of the host's, or of another type", d);
  }
  out->n = run->operand.n;
  out->arg = arg;
  return true;
}

/* The sequence of a device, or NULL. */
static const TdMlirOp *sequence_of(const TdMlirOp *device) {
  const TdMlirBlock *b = td_mlir_body(device);
  for (size_t i = 0; b && i < b->op.n; i++)
    if (strcmp(b->op.at[i]->name, "aie.runtime_sequence") == 0) return b->op.at[i];
  return NULL;
}

bool td_npu_starts_of(TdArena *a, const TdMlir *m, TdNpuStarts *out, TdDiag *d) {
  const TdMlirBlock *top = td_mlir_body(m->module);
  const TdMlirOp *first = top && top->op.n ? top->op.at[0] : m->module;
  const TdMlirOp *sequence = sequence_of(first);
  const TdMlirBlock *b = sequence ? td_mlir_body(sequence) : NULL;
  TD_VEC(TdNpuStart) start = {0};
  for (size_t i = 0; b && i < b->op.n; i++) {
    TdNpuStart x = {0};
    if (strcmp(b->op.at[i]->name, "aiex.configure") != 0) continue;
    if (!start_of(a, m, b->op.at[i], b, &x, d)) return false;
    td_vec_push(a, &start, x);
  }
  for (size_t i = 0; start.n && i < b->op.n; i++)
    if (strcmp(b->op.at[i]->name, "aiex.configure") != 0)
      return bad(b->op.at[i], "stands between configurations", d);
  if (!start.n) td_vec_push(a, &start, ((TdNpuStart){.device = first}));
  *out = (TdNpuStarts){start.n, start.at, sequence};
  return !start.at[0].arg || td_npu_verify_arguments(sequence, d);
}

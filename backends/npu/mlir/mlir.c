/* mlir.c - builds trees of MLIR, and compares them. */
#include "backends/npu/mlir/mlir.h"

#include <string.h>

TdMlir *td_mlir_new(TdArena *a) {
  TdMlir *m = TD_NEW(a, TdMlir);
  m->arena = a;
  m->names = td_names_new(a);
  m->module = td_mlir_op(m, NULL, "builtin.module");
  td_mlir_block(m, td_mlir_region(m, m->module), NULL);
  return m;
}

TdMlirBlock *td_mlir_body(const TdMlirOp *op) {
  return op->region.n && op->region.at[0]->block.n ? op->region.at[0]->block.at[0] : NULL;
}

/* ---- types ---- */

/* The width of an integer type by name: i, si or ui and digits; 0: it is none. */
static int width_of(const char *name) {
  int w = 0;
  if (name[0] == 's' || name[0] == 'u') name++;
  if (*name++ != 'i' || *name < '1' || *name > '9') return 0;
  for (; *name >= '0' && *name <= '9' && w < 10000; name++) w = w * 10 + (*name - '0');
  return *name || w > 4096 ? 0 : w;
}

const TdMlirType *td_mlir_scalar(TdMlir *m, const char *name) {
  static const struct {
    const char *name;
    int width;
  } floats[] = {{"bf16", 16}, {"f16", 16}, {"f32", 32}, {"f64", 64}};
  TdMlirType t = {.kind = TD_MLIR_INT, .width = width_of(name)};
  for (size_t i = 0; i < sizeof floats / sizeof *floats; i++)
    if (strcmp(floats[i].name, name) == 0)
      t = (TdMlirType){.kind = TD_MLIR_FLOAT, .width = floats[i].width};
  if (strcmp(name, "index") == 0) t = (TdMlirType){.kind = TD_MLIR_INDEX, .width = 64};
  if (!t.width) return NULL;
  t.name = td_names_str(m->names, name);
  return td_arena_copy(m->arena, &t, sizeof t);
}

const TdMlirType *td_mlir_shaped(TdMlir *m, TdMlirTypeKind kind, const int64_t *shape, size_t rank,
                                 const TdMlirType *element) {
  TdMlirType *t = TD_NEW(m->arena, TdMlirType);
  t->kind = kind;
  t->name = kind == TD_MLIR_MEMREF ? "memref" : kind == TD_MLIR_TENSOR ? "tensor" : "vector";
  t->shape = td_arena_copy(m->arena, shape, rank * sizeof *shape);
  t->rank = rank;
  t->in = td_arena_copy(m->arena, &element, sizeof(TdMlirType *));
  t->nin = 1;
  return t;
}

const TdMlirType *td_mlir_dialect_type(TdMlir *m, const char *name, const TdMlirType *of) {
  TdMlirType *t = TD_NEW(m->arena, TdMlirType);
  t->kind = TD_MLIR_DIALECT;
  t->name = td_names_str(m->names, name);
  t->in = td_arena_copy(m->arena, &of, sizeof(TdMlirType *));
  t->nin = 1;
  return t;
}

const TdMlirType *td_mlir_function(TdMlir *m, const TdMlirType *const *in, size_t nin,
                                   const TdMlirType *const *out, size_t nout) {
  TdMlirType *t = TD_NEW(m->arena, TdMlirType);
  t->kind = TD_MLIR_FUNCTION;
  t->name = "";
  t->in = td_arena_copy(m->arena, in, nin * sizeof *in);
  t->out = td_arena_copy(m->arena, out, nout * sizeof *out);
  t->nin = nin;
  t->nout = nout;
  return t;
}

bool td_mlir_same_type(const TdMlirType *x, const TdMlirType *y) {
  if (x == y) return true;
  if (!x || !y || x->kind != y->kind || strcmp(x->name, y->name) != 0 || x->rank != y->rank ||
      x->nin != y->nin || x->nout != y->nout)
    return false;
  for (size_t i = 0; i < x->rank; i++)
    if (x->shape[i] != y->shape[i]) return false;
  for (size_t i = 0; i < x->nin; i++)
    if (!td_mlir_same_type(x->in[i], y->in[i])) return false;
  for (size_t i = 0; i < x->nout; i++)
    if (!td_mlir_same_type(x->out[i], y->out[i])) return false;
  return true;
}

/* ---- attributes ---- */

/* A copy that stays. */
static const TdMlirAttr *keep(TdMlir *m, TdMlirAttr x) {
  return td_arena_copy(m->arena, &x, sizeof x);
}

const TdMlirAttr *td_mlir_int(TdMlir *m, int64_t i, const char *type) {
  return keep(m, (TdMlirAttr){.kind = TD_MLIR_A_INT, .i = i, .type = td_mlir_scalar(m, type)});
}

const TdMlirAttr *td_mlir_float(TdMlir *m, double f, const char *type) {
  return keep(m, (TdMlirAttr){.kind = TD_MLIR_A_FLOAT, .f = f, .type = td_mlir_scalar(m, type)});
}

const TdMlirAttr *td_mlir_bool(TdMlir *m, bool b) {
  return keep(m, (TdMlirAttr){.kind = TD_MLIR_A_BOOL, .i = b});
}

const TdMlirAttr *td_mlir_string(TdMlir *m, const char *s, size_t n) {
  const char *copy = td_arena_strndup(m->arena, s, n);
  return keep(m, (TdMlirAttr){.kind = TD_MLIR_A_STRING, .s = copy, .n = n});
}

const TdMlirAttr *td_mlir_symbol(TdMlir *m, const char *s) {
  const char *copy = td_arena_strdup(m->arena, s);
  return keep(m, (TdMlirAttr){.kind = TD_MLIR_A_SYMBOL, .s = copy, .n = strlen(s)});
}

const TdMlirAttr *td_mlir_type_attr(TdMlir *m, const TdMlirType *t) {
  return keep(m, (TdMlirAttr){.kind = TD_MLIR_A_TYPE, .type = t});
}

const TdMlirAttr *td_mlir_array(TdMlir *m, TdMlirAttrKind kind, const TdMlirAttr *const *at,
                                size_t n) {
  const TdMlirAttr *const *copy = td_arena_copy(m->arena, at, n * sizeof *at);
  return keep(m, (TdMlirAttr){.kind = kind, .at = copy, .n = n});
}

const TdMlirAttr *td_mlir_ints(TdMlir *m, TdMlirAttrKind kind, const int64_t *num, size_t n,
                               const TdMlirType *type) {
  const int64_t *copy = td_arena_copy(m->arena, num, n * sizeof *num);
  return keep(m, (TdMlirAttr){.kind = kind, .num = copy, .n = n, .type = type});
}

const TdMlirAttr *td_mlir_dense(TdMlir *m, const TdMlirType *type, const int64_t *num,
                                const double *real, size_t n) {
  TdMlirAttr x = {.kind = TD_MLIR_A_DENSE, .type = type, .n = n};
  if (num)
    x.num = td_arena_copy(m->arena, num, n * sizeof *num);
  else
    x.real = td_arena_copy(m->arena, real, n * sizeof *real);
  return keep(m, x);
}

/* Compares two attributes by structure. */
static bool same_attr(const TdMlirAttr *x, const TdMlirAttr *y) {
  if (x == y) return true;
  if (x->kind != y->kind || x->i != y->i || x->n != y->n || !x->num != !y->num ||
      !x->real != !y->real || memcmp(&x->f, &y->f, sizeof x->f) != 0 ||
      !td_mlir_same_type(x->type, y->type))
    return false;
  if (x->s && memcmp(x->s, y->s, x->n) != 0) return false;
  if (x->num && memcmp(x->num, y->num, x->n * sizeof *x->num) != 0) return false;
  if (x->real && memcmp(x->real, y->real, x->n * sizeof *x->real) != 0) return false;
  for (size_t i = 0; x->at && i < x->n; i++)
    if (!same_attr(x->at[i], y->at[i])) return false;
  return true;
}

/* ---- operations ---- */

TdMlirOp *td_mlir_op(TdMlir *m, TdMlirBlock *at, const char *name) {
  TdMlirOp *op = TD_NEW(m->arena, TdMlirOp);
  op->name = td_names_str(m->names, name);
  op->block = at;
  if (at) td_vec_push(m->arena, &at->op, op);
  return op;
}

void td_mlir_operand(TdMlir *m, TdMlirOp *op, TdMlirValue *v) {
  td_vec_push(m->arena, &op->operand, v);
}

/* A name that no value made here has, from a hint. */
static const char *fresh(TdMlir *m, const char *hint) {
  const char *name = td_names_str(m->names, hint);
  uint64_t n = 0;
  while (td_map_get(&m->taken, (uint64_t)(uintptr_t)name, NULL)) {
    const char *base = td_names_str(m->names, hint);
    td_map_get(&m->taken, (uint64_t)(uintptr_t)base, &n);
    td_map_put(m->arena, &m->taken, (uint64_t)(uintptr_t)base, n + 1);
    name = td_names_str(m->names, td_text_fmt(m->arena, "%s_%llu", hint, (unsigned long long)n));
  }
  td_map_put(m->arena, &m->taken, (uint64_t)(uintptr_t)name, 1);
  return name;
}

TdMlirValue *td_mlir_result(TdMlir *m, TdMlirOp *op, const char *hint, const TdMlirType *t) {
  TdMlirValue *v = TD_NEW(m->arena, TdMlirValue);
  *v = (TdMlirValue){.name = fresh(m, hint), .type = t, .op = op, .block = op->block};
  td_vec_push(m->arena, &op->result, v);
  return v;
}

TdMlirValue *td_mlir_argument(TdMlir *m, TdMlirBlock *b, const char *hint, const TdMlirType *t) {
  TdMlirValue *v = TD_NEW(m->arena, TdMlirValue);
  *v = (TdMlirValue){.name = fresh(m, hint), .type = t, .block = b};
  if (!b->label) b->label = td_names_str(m->names, "bb0");
  td_vec_push(m->arena, &b->arg, v);
  return v;
}

TdMlirRegion *td_mlir_region(TdMlir *m, TdMlirOp *op) {
  TdMlirRegion *r = TD_NEW(m->arena, TdMlirRegion);
  r->op = op;
  td_vec_push(m->arena, &op->region, r);
  return r;
}

TdMlirBlock *td_mlir_block(TdMlir *m, TdMlirRegion *r, const char *label) {
  TdMlirBlock *b = TD_NEW(m->arena, TdMlirBlock);
  b->label = label ? td_names_str(m->names, label) : NULL;
  b->region = r;
  td_vec_push(m->arena, &r->block, b);
  return b;
}

void td_mlir_successor(TdMlir *m, TdMlirOp *op, TdMlirBlock *b) {
  td_vec_push(m->arena, &op->successor, b);
}

void td_mlir_set(TdMlir *m, TdMlirOp *op, const char *name, const TdMlirAttr *attr) {
  TdMlirNamed new = {td_names_str(m->names, name), attr};
  size_t i = 0;
  while (i < op->attr.n && strcmp(op->attr.at[i].name, name) < 0) i++;
  if (i == op->attr.n || op->attr.at[i].name != new.name) {
    td_vec_push(m->arena, &op->attr, new);
    memmove(op->attr.at + i + 1, op->attr.at + i, (op->attr.n - 1 - i) * sizeof new);
  }
  op->attr.at[i] = new;
}

const TdMlirAttr *td_mlir_get(const TdMlirOp *op, const char *name) {
  for (size_t i = 0; i < op->attr.n; i++)
    if (strcmp(op->attr.at[i].name, name) == 0) return op->attr.at[i].attr;
  return NULL;
}

/* ---- comparison ---- */

/* Which value or block of the second tree stands for one of the first. */
typedef struct Pairs {
  TdArena *a;
  TdMap of;
} Pairs;

static bool same_text(const char *x, const char *y) {
  return x == y || (x && y && strcmp(x, y) == 0);
}

/* Pairs two values that are defined at the same place. */
static bool pair(Pairs *p, TdMlirValue *x, TdMlirValue *y) {
  td_map_putp(p->a, &p->of, x, y);
  return strcmp(x->name, y->name) == 0 && td_mlir_same_type(x->type, y->type);
}

static bool same_op(Pairs *p, const TdMlirOp *x, const TdMlirOp *y);

static bool same_region(Pairs *p, const TdMlirRegion *x, const TdMlirRegion *y) {
  bool same = x->block.n == y->block.n;
  for (size_t i = 0; same && i < x->block.n; i++) {
    const TdMlirBlock *b = x->block.at[i], *c = y->block.at[i];
    td_map_putp(p->a, &p->of, b, y->block.at[i]);
    same = same_text(b->label, c->label) && b->arg.n == c->arg.n && b->op.n == c->op.n;
    for (size_t k = 0; same && k < b->arg.n; k++) same = pair(p, b->arg.at[k], c->arg.at[k]);
  }
  for (size_t i = 0; same && i < x->block.n; i++)
    for (size_t k = 0; same && k < x->block.at[i]->op.n; k++)
      same = same_op(p, x->block.at[i]->op.at[k], y->block.at[i]->op.at[k]);
  return same;
}

static bool same_op(Pairs *p, const TdMlirOp *x, const TdMlirOp *y) {
  bool same = strcmp(x->name, y->name) == 0 && x->operand.n == y->operand.n &&
              x->result.n == y->result.n && x->successor.n == y->successor.n &&
              x->region.n == y->region.n && x->attr.n == y->attr.n;
  for (size_t i = 0; same && i < x->operand.n; i++)
    same = td_map_getp(&p->of, x->operand.at[i]) == y->operand.at[i];
  for (size_t i = 0; same && i < x->successor.n; i++)
    same = td_map_getp(&p->of, x->successor.at[i]) == y->successor.at[i];
  for (size_t i = 0; same && i < x->attr.n; i++)
    same = strcmp(x->attr.at[i].name, y->attr.at[i].name) == 0 &&
           same_attr(x->attr.at[i].attr, y->attr.at[i].attr);
  for (size_t i = 0; same && i < x->region.n; i++)
    same = same_region(p, x->region.at[i], y->region.at[i]);
  for (size_t i = 0; same && i < x->result.n; i++) same = pair(p, x->result.at[i], y->result.at[i]);
  return same;
}

bool td_mlir_same(const TdMlir *x, const TdMlir *y) {
  Pairs p = {.a = td_arena_scratch(td_arena_ctx(x->arena))};
  bool same = same_op(&p, x->module, y->module);
  td_arena_free(p.a);
  return same;
}

/* tensor_reduce.c - tide.matmul and tide.reduce outside kernels: elements in order, in the
 * accumulator that kernels use (eval.h says how). */
#include <string.h>

#include "bind/value/tensor.h"

/* acc = type(acc op x) for an x of type `of`; joined is the exact type of acc op x. */
typedef struct Sum {
  int op;
  const TdType *type, *of, *joined;
  bool casts; /* x comes as a float of another type and is cast first */
  const TdType *from;
} Sum;

/* The sum of elements of type x by an operator in an accumulator of type t, or raises. */
static Sum sum_of(lua_State *L, int op, const TdType *t, const TdType *x) {
  TdSession *s = td_bind_enter(L)->session;
  TdDiag d = td_bind_diag(td_bind_arena(L));
  Sum sum = {.op = op, .type = t, .of = x, .from = x};
  sum.casts = x->kind == TD_T_FLOAT && x != t;
  if (sum.casts) sum.of = t;
  const TdType *both[] = {t, sum.of};
  sum.joined = td_promote_op(s, op, both, 2, (TdLoc){0}, &d);
  if (!sum.joined || !td_promote_cast(s, t, sum.joined, (TdLoc){0}, &d) ||
      !td_promote_cast(s, t, x, (TdLoc){0}, &d))
    td_bind_raise(L, &d);
  return sum;
}

/* acc and x. */
static uint64_t add(const Sum *s, uint64_t acc, uint64_t x) {
  TdFault none;
  if (s->casts) x = td_num_cast(s->type, s->from, x, &none);
  const TdType *both[] = {s->type, s->of};
  const uint64_t v[] = {acc, x};
  uint64_t r = td_num_op(s->op, s->joined, both, v, 2, &none);
  return td_num_cast(s->type, s->joined, r, &none);
}

/* The type {acc = T} at idx asks for, NULL when it does not. */
static const TdType *accumulator(lua_State *L, int idx) {
  static const char *const options[] = {"acc", NULL};
  if (!td_bind_check_options(L, idx, options)) return NULL;
  const TdType *t = NULL;
  if (lua_getfield(L, idx, "acc") != LUA_TNIL) {
    t = td_bind_check_scalar_type(L, lua_gettop(L));
    if (!td_type_is_number(t) || t->w > 64)
      td_bind_fail(L, "accumulator", "{acc = T} is a type of numbers of at most 64 bits");
  }
  lua_pop(L, 1);
  return t;
}

/* The accumulator of elements of type e when none is asked for, or raises. */
static const TdType *default_accumulator(lua_State *L, const TdType *e) {
  const TdType *t = e ? td_promote_accumulator(td_bind_enter(L)->session, e) : NULL;
  if (!t)
    td_bind_refuse(L, TD_USAGE, "needs-cast", "name the accumulator: {acc = T}",
                   "the elements have no accumulator of their own");
  return t;
}

/* A tensor as an array of values in row-major order, converted to type t. */
static const uint64_t *values(TdArena *a, const TdTensor *x, const TdType *t) {
  int64_t index[TD_MAX_RANK] = {0}, n = td_tensor_count(x);
  const TdType *e = x->type->elem;
  uint64_t *v = td_arena_array(a, (size_t)n, sizeof *v);
  TdFault none;
  for (int64_t i = 0; i < n; i++) {
    td_ctx_tick(td_arena_ctx(a), 1);
    v[i] = td_tensor_get(x, index);
    if (t != e) v[i] = td_num_cast(t, e, v[i], &none);
    td_tensor_next(x, index);
  }
  return v;
}

/* What a matmul computes with. */
typedef struct Matmul {
  Sum sum;
  const TdType *kid[2]; /* types of the operands */
  bool wraps;           /* integers throughout, and the accumulator wraps */
} Matmul;

/* The product of a row and a column, both of n values. */
static uint64_t dot(const Matmul *m, const uint64_t *a, const uint64_t *b, int64_t n) {
  uint64_t acc = 0;
  TdFault none;
  if (m->wraps) {
    for (int64_t k = 0; k < n; k++) acc += a[k] * b[k];
    return td_num_wrap(m->sum.type, acc);
  }
  for (int64_t k = 0; k < n; k++) {
    const uint64_t v[] = {a[k], b[k]};
    acc = add(&m->sum, acc, td_num_op(TD_OP_MUL, m->sum.from, m->kid, v, 2, &none));
  }
  return acc;
}

/* Raises unless t can be an operand of a matmul. */
static void check_matrix(lua_State *L, const TdTensor *t) {
  if (t->type->rank != 2)
    td_bind_fail(L, "shapes", "matmul of %s: a matrix has two dimensions",
                 td_type_str(td_bind_arena(L), t->type));
  td_bind_check_readable(L, t);
}

/* How to multiply x and y, with the accumulator that the options at idx ask for, or raises. */
static Matmul plan_matmul(lua_State *L, const TdTensor *x, const TdTensor *y, int idx) {
  TdSession *s = td_bind_enter(L)->session;
  TdDiag d = td_bind_diag(td_bind_arena(L));
  const TdType *t = accumulator(L, idx);
  Matmul m = {.kid = {x->type->elem, y->type->elem}};
  if (!t) t = default_accumulator(L, td_promote_join(s, m.kid[0], m.kid[1]));
  bool integers = td_type_is_integer(m.kid[0]) && td_type_is_integer(m.kid[1]);
  m.wraps = integers && td_type_is_integer(t) && !t->saturate;
  if (t->kind == TD_T_FLOAT) m.kid[0] = m.kid[1] = t;
  const TdType *product = td_promote_op(s, TD_OP_MUL, m.kid, 2, (TdLoc){0}, &d);
  if (!product) td_bind_raise(L, &d);
  m.sum = sum_of(L, TD_OP_ADD, t, product);
  return m;
}

/* tide.matmul(A, B, {acc = T}) */
static int l_matmul(lua_State *L) {
  lua_settop(L, 3);
  const TdTensor *x = td_bind_check_tensor(L, 1), *y = td_bind_check_tensor(L, 2);
  TdBind *b = td_bind_enter(L);
  TdArena *a = td_bind_work(L, TD_WORK_TENSOR);
  check_matrix(L, x);
  check_matrix(L, y);
  int64_t rows = x->extent[0], n = x->extent[1], columns = y->extent[1];
  if (y->extent[0] != n)
    td_bind_fail(L, "shapes", "matmul of %s and %s: inner extents must agree",
                 td_type_str(a, x->type), td_type_str(a, y->type));
  Matmul m = plan_matmul(L, x, y, 3);
  TdTensor turned = *y;
  turned.extent[0] = columns, turned.extent[1] = n;
  turned.stride[0] = y->stride[1], turned.stride[1] = y->stride[0];
  const int64_t extent[] = {rows, columns};
  TdTensor *out =
      td_bind_push_tensor(L, td_type_tensor_of(b->session, m.sum.type, 2, extent), false);
  const uint64_t *left = values(a, x, m.kid[0]), *right = values(a, &turned, m.kid[1]);
  int64_t at[2];
  for (at[0] = 0; at[0] < rows; at[0]++)
    for (at[1] = 0; at[1] < columns; at[1]++) {
      td_ctx_tick(b->ctx, (uint64_t)n + 1);
      td_tensor_put(out, at, dot(&m, left + at[0] * n, right + at[1] * n, n));
    }
  return 1;
}

/* The operator of a reduction that the argument at idx names, or raises. */
static int check_reduction(lua_State *L, int idx) {
  const char *name = lua_type(L, idx) == LUA_TSTRING ? lua_tostring(L, idx) : "";
  for (int op = 0; op < TD_OPS; op++)
    if (td_ops[op].associative && strcmp(td_ops[op].lua, name) == 0) return op;
  return td_bind_fail(L, "reduction",
                      "the operator is one of \"+\" \"*\" \"min\" \"max\" \"&\" \"|\" \"~\"");
}

/* The elements of x along dimension `axis` from index on, reduced. */
static uint64_t reduce(TdCtx *c, const Sum *s, const TdTensor *x, int axis, int64_t *index) {
  TdFault none;
  uint64_t acc = 0;
  for (index[axis] = 0; index[axis] < x->extent[axis]; index[axis]++) {
    uint64_t v = td_tensor_get(x, index);
    td_ctx_tick(c, 1);
    acc = index[axis] || s->op == TD_OP_ADD ? add(s, acc, v)
                                            : td_num_cast(s->type, s->from, v, &none);
  }
  return acc;
}

/* Reduces x along `axis` into out, which has the other dimensions. */
static void reduce_all(TdCtx *c, const Sum *s, const TdTensor *x, int axis, TdTensor *out) {
  int64_t index[TD_MAX_RANK] = {0}, in[TD_MAX_RANK] = {0};
  if (!td_tensor_count(out)) return;
  do {
    for (int d = 0; d < out->type->rank; d++) in[d < axis ? d : d + 1] = index[d];
    td_tensor_put(out, index, reduce(c, s, x, axis, in));
  } while (td_tensor_next(out, index));
}

/* tide.reduce(x, "+", dim, {acc = T}): a tensor without dimension dim, a number for a vector. */
static int l_reduce(lua_State *L) {
  lua_settop(L, 4);
  const TdTensor *x = td_bind_check_tensor(L, 1);
  const TdType *t = x->type;
  int op = check_reduction(L, 2), whole = 0;
  lua_Integer axis = lua_type(L, 3) == LUA_TNUMBER ? lua_tointegerx(L, 3, &whole) : 0;
  if (!whole || axis < 0 || axis >= t->rank)
    td_bind_fail(L, "rank", "reduce(x, op, dim) takes a dimension of x: 0 to %d", t->rank - 1);
  TdBind *b = td_bind_enter(L);
  td_bind_work(L, TD_WORK_TENSOR);
  td_bind_check_readable(L, x);
  if (op != TD_OP_ADD && x->extent[axis] == 0)
    td_bind_fail(L, "empty-reduction", "dimension %d is empty, and \"%s\" of nothing has no value",
                 (int)axis, td_ops[op].lua);
  const TdType *acc = accumulator(L, 4);
  Sum s = sum_of(L, op, acc ? acc : default_accumulator(L, t->elem), t->elem);
  int64_t extent[TD_MAX_RANK] = {0};
  if (t->rank == 1) {
    td_bind_push_bits(L, s.type, reduce(b->ctx, &s, x, 0, extent));
    return 1;
  }
  for (int d = 0, k = 0; d < t->rank; d++)
    if (d != axis) extent[k++] = x->extent[d];
  TdTensor *out =
      td_bind_push_tensor(L, td_type_tensor_of(b->session, s.type, t->rank - 1, extent), false);
  reduce_all(b->ctx, &s, x, (int)axis, out);
  return 1;
}

/* tide.allreduce: refuses, for there are no task instances out here. */
static int l_allreduce(lua_State *L) {
  return td_bind_fail(L, "only-in-task",
                      "tide.allreduce adds over the instances of a task: write it "
                      "in a task");
}

void td_bind_open_reduce(lua_State *L) {
  static const luaL_Reg functions[] = {
      {"matmul", l_matmul}, {"reduce", l_reduce}, {"allreduce", l_allreduce}, {NULL, NULL}};
  luaL_setfuncs(L, functions, 0);
}

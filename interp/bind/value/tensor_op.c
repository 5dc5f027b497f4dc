/* tensor_op.c - operators on tensors, element by element, in the types of docs/numbers.md: the
 * metamethods of tensors and tide.min, tide.select and their kin. */
#include <string.h>

#include "bind/value/tensor.h"
#include "bind/program/trace.h"

/* Operator op on n operands: tensors of one shape, and scalars. */
typedef struct Apply {
  int op, n;
  const TdTensor *tensor[4]; /* NULL for a scalar */
  const TdType *type[4];     /* of an element */
  uint64_t bits[4];          /* of a scalar */
  const TdType *shape;
} Apply;

static bool is_shift(int op) {
  return op == TD_OP_SHL || op == TD_OP_SHR || op == TD_OP_ASR;
}

static bool is_slice(int op) {
  return op == TD_OP_GETBITS || op == TD_OP_SETBITS;
}

void td_bind_check_fault(lua_State *L, TdFault fault) {
  if (fault == TD_FAULT_ZERO_DIVISION)
    td_bind_refuse(L, TD_ILLEGAL, "zero-division", NULL, "division by zero");
  if (fault == TD_FAULT_NEGATIVE_SHIFT)
    td_bind_refuse(L, TD_ILLEGAL, "negative-shift", NULL, "shift by a negative count");
}

/* Takes the tensors among the arguments from slot `first` on; raises unless they have one shape. */
static void take_tensors(lua_State *L, Apply *x, int first) {
  for (int i = 0; i < x->n; i++) {
    const TdTensorBox *box = td_bind_test_tensor(L, first + i);
    if (!box) continue;
    x->tensor[i] = box->tensor;
    x->type[i] = box->tensor->type->elem;
    td_bind_check_written(L, box->tensor);
    if (x->shape) td_bind_check_shapes(L, x->shape, box->tensor->type);
    x->shape = box->tensor->type;
  }
}

/* The float or index type that bare numbers beside the tensors take, or NULL. */
static const TdType *beside(const Apply *x) {
  for (int i = x->op == TD_OP_SELECT; i < x->n; i++) {
    const TdType *t = x->type[i];
    if (t && (t->kind == TD_T_FLOAT || t->kind == TD_T_INDEX)) return t;
  }
  return NULL;
}

/* The type that the number or boolean at idx has as operand i, or raises. */
static const TdType *literal_type(lua_State *L, const Apply *x, int i, int idx) {
  TdSession *s = td_bind_enter(L)->session;
  const TdType *b = beside(x);
  if (lua_isboolean(L, idx)) return td_type_bool(s);
  if (lua_type(L, idx) != LUA_TNUMBER)
    td_bind_fail(L, "arguments", "tensors combine with tensors, numbers and booleans, not with %s",
                 td_bind_words(L, idx));
  if (!lua_isinteger(L, idx)) return b && b->kind == TD_T_FLOAT ? b : td_type_float(s, 32);
  if (is_shift(x->op)) return i ? td_type_int(s, 64) : td_type_int(s, 32);
  if (is_slice(x->op) && (i == 1 || i == 2)) return td_type_index(s);
  return b ? b : td_promote_literal(s, lua_tointeger(L, idx));
}

/* Takes the scalars among the arguments from slot `first` on. */
static void take_scalars(lua_State *L, Apply *x, int first) {
  for (int i = 0; i < x->n; i++) {
    if (x->tensor[i]) continue;
    x->type[i] = literal_type(L, x, i, first + i);
    td_bind_to_bits(L, first + i, x->type[i], &x->bits[i]);
  }
}

/* The type of an element of the result, or NULL with d filled. */
static const TdType *result_type(TdSession *s, const Apply *x, TdDiag *d) {
  TdLoc none = {0};
  if (x->op == TD_OP_SHL && !x->tensor[1] && td_type_is_integer(x->type[1]))
    return td_promote_shl(s, x->type[0], (int64_t)x->bits[1], none, d);
  if (!is_slice(x->op)) return td_promote_op(s, x->op, x->type, x->n, none, d);
  if (x->tensor[1] || x->tensor[2] || x->type[1]->kind != TD_T_INDEX ||
      x->type[2]->kind != TD_T_INDEX) {
    td_diag_set(d, TD_USAGE, "bits-width", none, "bit positions are integers");
    return NULL;
  }
  const TdType *bits =
      td_promote_bits(s, x->type[0], (int64_t)x->bits[1], (int64_t)x->bits[2], none, d);
  if (x->op == TD_OP_GETBITS || !bits) return bits;
  return td_promote_op(s, x->op, x->type, x->n, none, d);
}

/* Computes every element of out. */
static TdFault compute(TdCtx *c, const Apply *x, TdTensor *out) {
  int64_t index[TD_MAX_RANK] = {0};
  uint64_t v[4];
  TdFault fault = TD_FAULT_NONE;
  memcpy(v, x->bits, sizeof v);
  if (!td_tensor_count(out)) return fault;
  do {
    td_ctx_tick(c, 1);
    for (int i = 0; i < x->n; i++)
      if (x->tensor[i]) v[i] = td_tensor_get(x->tensor[i], index);
    td_tensor_put(out, index, td_num_op(x->op, out->type->elem, x->type, v, x->n, &fault));
  } while (!fault && td_tensor_next(out, index));
  return fault;
}

/* Pushes the result of x, of element type t. */
static int push_result(lua_State *L, const Apply *x, const TdType *t) {
  TdBind *b = td_bind_enter(L);
  td_bind_work(L, TD_WORK_TENSOR);
  TdTensor *out = td_bind_push_tensor(L, td_type_reshape(b->session, x->shape, t), false);
  td_bind_check_fault(L, compute(b->ctx, x, out));
  return 1;
}

/* Pushes op on the n arguments from slot 1 on, at least one of them a tensor. */
static int push_apply(lua_State *L, int op, int n) {
  Apply x = {.op = op, .n = n};
  td_bind_work(L, TD_WORK_TENSOR);
  take_tensors(L, &x, 1);
  take_scalars(L, &x, 1);
  TdDiag d = td_bind_diag(td_bind_arena(L));
  const TdType *t = result_type(td_bind_enter(L)->session, &x, &d);
  return t ? push_result(L, &x, t) : td_bind_raise(L, &d);
}

/* Metamethod of the operator in the first upvalue. */
static int l_tensor_op(lua_State *L) {
  int op = (int)lua_tointeger(L, lua_upvalueindex(1));
  return push_apply(L, op, td_ops[op].arity);
}

/* tide.bitcast(T, x) of a tensor x. */
static int push_bitcast(lua_State *L) {
  const TdType *t = td_bind_check_scalar_type(L, 1);
  Apply x = {.op = TD_OP_BITCAST, .n = 1};
  take_tensors(L, &x, 2);
  TdDiag d = td_bind_diag(td_bind_arena(L));
  if (t->w > 64)
    td_bind_fail(L, "too-wide", "elements have at most 64 bits here, those of %s have more",
                 td_type_str(d.arena, t));
  if (!td_promote_bitcast(t, x.type[0], (TdLoc){0}, &d)) td_bind_raise(L, &d);
  return push_result(L, &x, td_type_plain(td_bind_enter(L)->session, t));
}

static int l_word(lua_State *L);

/* Pushes min or max of more than two arguments, from the left. */
static int push_chain(lua_State *L, int op, int n) {
  lua_pushvalue(L, 1);
  for (int i = 2; i <= n; i++) {
    lua_pushinteger(L, op);
    lua_pushcclosure(L, l_word, 1);
    lua_insert(L, -2);
    lua_pushvalue(L, i);
    lua_call(L, 2, 1);
  }
  return 1;
}

/* tide.min and its kin: the operator in the first upvalue on numbers or tensors. */
static int l_word(lua_State *L) {
  int op = (int)lua_tointeger(L, lua_upvalueindex(1)), n = lua_gettop(L);
  int arity = op == TD_OP_BITCAST ? 2 : td_ops[op].arity;
  if ((op == TD_OP_MIN || op == TD_OP_MAX) && n > 2) return push_chain(L, op, n);
  if (td_bind_has_traced(L)) return td_bind_trace(L, td_ops[op].lua);
  if (n != arity)
    td_bind_fail(L, "arguments", "tide.%s takes %d argument%s, not %d", td_ops[op].lua, arity,
                 arity == 1 ? "" : "s", n);
  bool tensor = false;
  for (int i = 1; i <= n; i++) tensor |= td_bind_test_tensor(L, i) != NULL;
  if (!tensor) return td_bind_scalar_op(L, op);
  return op == TD_OP_BITCAST ? push_bitcast(L) : push_apply(L, op, n);
}

/* Gives the table on top a closure of fn for an operator. */
static void set_op(lua_State *L, const char *name, lua_CFunction fn, int op) {
  lua_pushinteger(L, op);
  lua_pushcclosure(L, fn, 1);
  lua_setfield(L, -2, name);
}

void td_bind_open_op(lua_State *L) {
  static const struct {
    const char *name;
    int op;
  } meta[] = {{"__add", TD_OP_ADD},   {"__sub", TD_OP_SUB},       {"__mul", TD_OP_MUL},
              {"__div", TD_OP_DIV},   {"__idiv", TD_OP_FLOORDIV}, {"__mod", TD_OP_MOD},
              {"__unm", TD_OP_NEG},   {"__shl", TD_OP_SHL},       {"__shr", TD_OP_SHR},
              {"__band", TD_OP_BAND}, {"__bor", TD_OP_BOR},       {"__bxor", TD_OP_BXOR},
              {"__bnot", TD_OP_BNOT}};
  luaL_getmetatable(L, TD_CLASS_TENSOR);
  for (size_t i = 0; i < sizeof meta / sizeof *meta; i++)
    set_op(L, meta[i].name, l_tensor_op, meta[i].op);
  lua_pop(L, 1);
  for (int op = 0; op < TD_OPS; op++)
    if (td_ops[op].form == TD_FORM_CALL && td_ops[op].rule != TD_RULE_TENSOR)
      set_op(L, td_ops[op].lua, l_word, op);
}

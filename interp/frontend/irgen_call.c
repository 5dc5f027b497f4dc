/* irgen_call.c - calls: conversions, intrinsics, kernels, inlined functions, methods. */
#include <math.h>
#include <string.h>

#include "frontend/irgen.h"

static TdVal none(TdLoc loc) {
  return (TdVal){.kind = TD_V_NONE, .loc = loc};
}

/* The settled values of a call's arguments, in order; NULL on failure. */
static TdVal *arguments(TdIrgen *l, const TdAstExpr *e) {
  size_t n = e->call.args.n;
  TdVal *v = TD_NEWN(l->arena, TdVal, n + 1);
  for (size_t i = 0; i < n; i++) {
    v[i] = td_irgen_settle(l, td_irgen_expr(l, e->call.args.at[i]), "got");
    if (!td_irgen_ok(&v[i])) return NULL;
  }
  return v;
}

static bool expect_count(TdIrgen *l, const TdAstExpr *e, const char *name, size_t n) {
  if (e->call.args.n == n) return true;
  return td_irgen_fail(l, "arguments", e->loc, "%s takes %zu argument%s, not %zu", name, n,
                       n == 1 ? "" : "s", e->call.args.n);
}

/* min, max, floor.. of constants, as Lua's math functions compute them. */
static bool constant_op(TdOp op, const TdVal *v, size_t n, TdConst *out) {
  for (size_t i = 0; i < n; i++)
    if (v[i].kind != TD_V_CONST || !td_value_is_number(&v[i].c) || v[i].c.typed) return false;
  TdConst lt;
  double x = v[0].c.kind == TD_C_INT ? (double)v[0].c.u.integer : v[0].c.u.number;
  switch (op) {
  case TD_OP_MIN:
  case TD_OP_MAX:
    td_value_binary(NULL, TD_AST_LT, &v[op == TD_OP_MIN].c, &v[op != TD_OP_MIN].c, &lt);
    *out = v[lt.u.boolean].c;
    return true;
  case TD_OP_ABS:
    if (v[0].c.kind == TD_C_INT && v[0].c.u.integer >= 0)
      *out = v[0].c;
    else if (v[0].c.kind == TD_C_INT)
      return td_value_unary(TD_AST_NEG, &v[0].c, out);
    else
      *out = td_value_float(fabs(x));
    return true;
  case TD_OP_SQRT: *out = td_value_float(sqrt(x)); return true;
  case TD_OP_EXP: *out = td_value_float(exp(x)); return true;
  case TD_OP_LOG: *out = td_value_float(log(x)); return true;
  case TD_OP_SIN: *out = td_value_float(sin(x)); return true;
  case TD_OP_COS: *out = td_value_float(cos(x)); return true;
  case TD_OP_TANH: *out = td_value_float(tanh(x)); return true;
  case TD_OP_FLOOR:
  case TD_OP_CEIL:
    x = op == TD_OP_FLOOR ? floor(x) : ceil(x);
    if (v[0].c.kind == TD_C_INT)
      *out = v[0].c;
    else if (x >= -9223372036854775808.0 && x < 9223372036854775808.0)
      *out = td_value_int((int64_t)x);
    else
      *out = td_value_float(x);
    return true;
  default: return false;
  }
}

/* tide.bitcast(T, x). */
static TdVal lower_bitcast(TdIrgen *l, const TdAstExpr *e, const TdVal *v) {
  if (!expect_count(l, e, "bitcast", 2)) return td_irgen_failed();
  if (v[0].kind != TD_V_CONST || v[0].c.kind != TD_C_TYPE) {
    td_irgen_fail(l, "arguments", e->loc, "bitcast takes a type, then a value");
    return td_irgen_failed();
  }
  const TdType *t = v[0].c.u.type;
  const TdExpr *x = td_irgen_to_scalar(l, v[1], NULL);
  if (!x || !td_promote_bitcast(t, x->type, e->loc, l->diag)) return td_irgen_failed();
  const TdExpr *r = td_expr_op(l->arena, TD_OP_BITCAST, t, &x, 1, e->loc);
  return td_irgen_scalar(td_expr_fold(l->session, l->arena, r));
}

/* An operator written as a call; min and max take two or more operands, from the left. */
static TdVal lower_op_call(TdIrgen *l, TdOp op, const TdAstExpr *e) {
  TdVal *v = arguments(l, e);
  if (!v) return td_irgen_failed();
  if (op == TD_OP_BITCAST) return lower_bitcast(l, e, v);
  size_t n = e->call.args.n, arity = td_ops[op].arity;
  bool chain = (op == TD_OP_MIN || op == TD_OP_MAX) && n > 2;
  if (!chain && !expect_count(l, e, td_ops[op].lua, arity)) return td_irgen_failed();
  for (size_t i = 1; chain && i < n - 1; i++) {
    TdVal pair[] = {v[i - 1], v[i]};
    TdConst c;
    v[i] = constant_op(op, pair, 2, &c) ? td_irgen_const(c, e->loc)
                                        : td_irgen_op(l, op, pair, 2, e->loc);
    if (!td_irgen_ok(&v[i])) return v[i];
  }
  TdVal *last = chain ? v + n - 2 : v;
  TdConst c;
  bool sized = false;
  for (size_t i = 0; i < arity; i++) sized |= last[i].kind == TD_V_CONST && last[i].c.size;
  if (!sized && constant_op(op, last, arity, &c)) return td_irgen_const(c, e->loc);
  if (sized && constant_op(op, last, arity, &c)) {
    const TdExpr *kid[2] = {td_irgen_to_index(l, last[0]),
                            arity > 1 ? td_irgen_to_index(l, last[1]) : NULL};
    c.size = NULL;
    for (size_t i = 0; i < arity; i++) td_sizes_pin(l->sizes, kid[i]);
    return td_irgen_const(c, e->loc);
  }
  if (op == TD_OP_SELECT) {
    const TdExpr *cond = td_irgen_to_bool(l, last[0]);
    if (!cond) return td_irgen_failed();
    last[0] = td_irgen_scalar(cond);
  }
  return td_irgen_op(l, op, last, (int)arity, e->loc);
}

/* tide.int(n) and its kin inside a kernel. */
static TdVal lower_type_word(TdIrgen *l, int word, const TdAstExpr *e) {
  TdVal *v = arguments(l, e);
  bool fixed = word == TD_WORD_FIXED || word == TD_WORD_UFIXED;
  if (!v || !expect_count(l, e, "this type", fixed ? 2 : 1)) return td_irgen_failed();
  for (size_t i = 0; i < e->call.args.n; i++)
    if (v[i].kind != TD_V_CONST || v[i].c.kind != TD_C_INT) {
      td_irgen_fail(l, "extent", e->loc, "the width of a type must be a compile-time integer");
      return td_irgen_failed();
    }
  int64_t w = v[0].c.u.integer, f = fixed ? v[1].c.u.integer : 0;
  if (w < 1 || w > TD_MAX_BITS || f < -TD_MAX_BITS || f > TD_MAX_BITS) {
    td_irgen_fail(l, "width", e->loc, "widths are 1 to %d bits", TD_MAX_BITS);
    return td_irgen_failed();
  }
  TdConst c = {.kind = TD_C_TYPE};
  c.u.type = fixed ? td_type_fixed(l->session, word == TD_WORD_FIXED, (int)w, (int)f)
             : word == TD_WORD_INT ? td_type_int(l->session, (int)w)
                                   : td_type_uint(l->session, (int)w);
  return td_irgen_const(c, e->loc);
}

/* assert(constant): checked now. */
static TdVal lower_assert(TdIrgen *l, const TdAstExpr *e) {
  TdVal *v = arguments(l, e);
  if (!v) return td_irgen_failed();
  if (e->call.args.n && v[0].kind == TD_V_CONST) {
    if (v[0].c.size) td_sizes_pin(l->sizes, v[0].c.size);
    if (td_value_truth(&v[0].c)) return none(e->loc);
    td_irgen_fail(l, "assert", e->loc, "assertion failed when the kernel is captured");
    return td_irgen_failed();
  }
  td_irgen_fail(l, "not-in-kernel", e->loc,
                "assert on values that are not known now is not allowed "
                "in a kernel");
  td_diag_help(l->diag, "tide.assume(...) states facts on sizes and index parameters");
  return td_irgen_failed();
}

static TdVal lower_word(TdIrgen *l, int word, const TdAstExpr *e) {
  if (word >= TD_WORD_FIRST_OP) return lower_op_call(l, (TdOp)(word - TD_WORD_FIRST_OP), e);
  switch (word) {
  case TD_WORD_MATMUL:
  case TD_WORD_REDUCE:
  case TD_WORD_ALLREDUCE: return td_irgen_tensor_word(l, word, e);
  case TD_WORD_INT:
  case TD_WORD_UINT:
  case TD_WORD_FIXED:
  case TD_WORD_UFIXED: return lower_type_word(l, word, e);
  case TD_WORD_ASSERT: return lower_assert(l, e);
  case TD_WORD_ASSUME:
    td_irgen_fail(l, "assume-place", e->loc, "tide.assume comes first in the kernel");
    return td_irgen_failed();
  case TD_WORD_PRINT:
    td_irgen_fail(l, "not-in-kernel", e->loc, "print is not allowed in a kernel");
    td_diag_help(l->diag, "write the value to a tensor parameter and print that");
    return td_irgen_failed();
  case TD_WORD_TENSOR:
    td_irgen_fail(l, "not-in-kernel", e->loc, "tide.tensor makes constants outside a kernel");
    return td_irgen_failed();
  default:
    td_irgen_fail(l, "for-in", e->loc, "this stands after `in` of a for loop only");
    return td_irgen_failed();
  }
}

/* Whether two types agree as argument and parameter, extents compared where both are known. */
static bool same_type(TdIrgen *l, const TdUnit *callee, const TdType *param, const TdType *arg) {
  if (param == arg) return true;
  if (param->kind != arg->kind || param->rank != arg->rank || param->block != arg->block)
    return false;
  if (param->kind == TD_T_PORT ? !same_type(l, callee, param->elem, arg->elem)
                               : param->elem != arg->elem)
    return false;
  for (int d = 0; d < param->rank; d++) {
    int64_t want, have;
    bool known =
        td_unit_value(callee, param->dim[d], &want) && td_sizes_value(l->sizes, arg->dim[d], &have);
    if (known && want != have) return false;
  }
  return true;
}

/* Argument v for parameter p of a unit, as the call holds it. */
static const TdExpr *call_argument(TdIrgen *l, const TdUnit *callee, const TdParam *p, TdVal v) {
  if (td_type_is_scalar(p->type))
    return p->type->kind == TD_T_INDEX ? td_irgen_to_index(l, v)
                                       : td_irgen_to_stored(l, v, p->type);
  bool port = p->type->kind == TD_T_PORT;
  if (v.kind == TD_V_TENSOR && v.e->kind != TD_EXPR_VIEW)
    v = td_irgen_settle(l, (TdVal){.kind = TD_V_FRESH, .type = v.e->type, .e = v.e, .loc = v.loc},
                        "t");
  if (v.kind != (port ? TD_V_STREAM : TD_V_TENSOR)) {
    td_irgen_fail(l, "argument-type", v.loc, "'%s' of '%s' is %s", p->sym->name, callee->sym->name,
                  td_type_str(l->arena, p->type));
    return NULL;
  }
  if (same_type(l, callee, p->type, v.e->type)) return v.e;
  td_irgen_fail(l, "argument-type", v.loc, "'%s' of '%s' is %s, not %s", p->sym->name,
                callee->sym->name, td_type_str(l->arena, p->type),
                td_type_str(l->arena, v.e->type));
  return NULL;
}

static TdVal lower_unit_call(TdIrgen *l, const TdConst *c, const TdAstExpr *e) {
  TdSym sym = (TdSym)td_map_getp(&l->data, (const void *)c->handle);
  if (!sym) {
    sym = td_units_import(l->units, c->u.prog);
    td_map_putp(l->arena, &l->data, (const void *)c->handle, (void *)(uintptr_t)sym);
  }
  const TdUnit *callee = td_units_find(l->units, sym);
  if (!expect_count(l, e, sym->name, callee->nparam)) return td_irgen_failed();
  const TdExpr **arg = TD_NEWN(l->arena, const TdExpr *, callee->nparam);
  for (size_t i = 0; i < callee->nparam; i++) {
    TdVal v = td_irgen_settle(l, td_irgen_expr(l, e->call.args.at[i]), "got");
    arg[i] = td_irgen_ok(&v) ? call_argument(l, callee, &callee->param[i], v) : NULL;
    if (!arg[i]) return td_irgen_failed();
  }
  td_irgen_emit(l, td_stmt_call(l->store, sym, arg, callee->nparam, e->loc));
  return none(e->loc);
}

/* A parameter of an inlined function: constants, views, streams and unchanging scalars as they are,
 * else a local. */
static bool bind_parameter(TdIrgen *l, const TdAstLocal *p, TdVal v) {
  bool steady = v.kind == TD_V_SCALAR && (v.e->kind == TD_EXPR_VAR || v.e->kind == TD_EXPR_LIT);
  bool alias = v.kind == TD_V_STREAM || (v.kind == TD_V_TENSOR && v.e->kind == TD_EXPR_VIEW) ||
               v.kind == TD_V_CONST || steady;
  if (alias && !p->assigned) {
    td_irgen_bind(l, p, (TdBinding){.kind = TD_B_VALUE, .value = v});
    return true;
  }
  if (v.kind == TD_V_TENSOR)
    v = (TdVal){.kind = TD_V_FRESH, .type = v.e->type, .e = v.e, .loc = v.loc};
  const TdType *t;
  TdOrigin origin;
  TdSym sym = td_irgen_local(l, p->name, v, &t, &origin);
  if (!sym) return false;
  td_irgen_bind(l, p,
                (TdBinding){.kind = t->kind == TD_T_TENSOR ? TD_B_TENSOR : TD_B_SCALAR,
                            .sym = sym,
                            .type = t,
                            .origin = origin,
                            .writable = true});
  return true;
}

typedef struct UseCount {
  const TdAstLocal *var;
  int n;
} UseCount;

static bool count_use(void *ud, const TdAstExpr *e) {
  UseCount *u = ud;
  u->n += e->kind == TD_AST_NAME && e->name.var == u->var;
  return true;
}

/* Whether fn is `return expr` and uses p at most once, so that the argument may stand in its place.
 */
static bool is_single_use(const TdAstFn *fn, const TdAstLocal *p) {
  if (fn->body.n != 1 || fn->body.at[0]->kind != TD_AST_RETURN) return false;
  UseCount u = {p, 0};
  TdAstVisitor v = {.expr = count_use, .ud = &u};
  td_walk_ast_block(&v, &fn->body);
  return u.n <= 1;
}

static bool check_inline(TdIrgen *l, const TdAstFn *fn, uintptr_t handle, const TdAstExpr *e) {
  for (const TdInline *i = l->inlining; i; i = i->caller)
    if (i->handle == handle || i->fn == fn)
      return td_irgen_fail(l, "recursion", e->loc,
                           "a kernel cannot call a function that calls itself");
  if (fn->is_vararg)
    return td_irgen_fail(l, "not-in-kernel", e->loc, "a function with '...' cannot be inlined");
  return true;
}

/* Calls a Lua function in place: its text is lowered here with its own upvalues. */
static TdVal lower_inline(TdIrgen *l, const TdConst *c, const TdAstExpr *e, TdVal *arg) {
  const TdAstFn *fn = l->host->source(l->host->ud, c->handle);
  if (!fn) {
    td_irgen_fail(l, "no-source", e->loc, "this function has no source: it cannot be inlined");
    return td_irgen_failed();
  }
  if (!check_inline(l, fn, c->handle, e)) return td_irgen_failed();
  TdInline in = {.caller = l->inlining, .fn = fn, .handle = c->handle};
  uintptr_t outer_fn = l->fn;
  const TdAst *outer_ast = l->ast;
  TdJumpPlace outer_jump = l->jump;
  for (size_t i = 0; i < fn->params.n; i++) {
    if (i >= e->call.args.n) {
      td_irgen_fail(l, "arguments", e->loc, "the function takes %zu arguments", fn->params.n);
      return td_irgen_failed();
    }
    const TdAstLocal *p = fn->params.at[i];
    if (arg[i].kind == TD_V_SCALAR && is_single_use(fn, p))
      td_irgen_bind(l, p, (TdBinding){.kind = TD_B_VALUE, .value = arg[i]});
    else if (!bind_parameter(l, p, arg[i]))
      return td_irgen_failed();
  }
  l->inlining = &in;
  l->fn = c->handle;
  l->ast = l->host->chunk(l->host->ud, c->handle);
  l->jump = TD_AT_TOP;
  bool ok = td_irgen_block(l, &fn->body);
  l->inlining = (TdInline *)(uintptr_t)in.caller;
  l->fn = outer_fn;
  l->ast = outer_ast;
  l->jump = outer_jump;
  if (!ok) {
    td_diag_note(l->diag, e->loc, "called here");
    return td_irgen_failed();
  }
  return in.nresult ? in.result[0] : none(e->loc);
}

bool td_irgen_return(TdIrgen *l, const TdAstStmt *s) {
  if (!l->inlining) {
    if (s->values.n) {
      td_irgen_fail(l, "return-value", s->loc, "a kernel returns nothing");
      td_diag_help(l->diag, "write the result to a tensor parameter");
      return false;
    }
    td_irgen_emit(l, td_stmt_jump(l->store, TD_STMT_RETURN, s->loc));
    return true;
  }
  if (l->jump != TD_AT_TOP)
    return td_irgen_fail(l, "return", s->loc, "an inlined function returns at its end only");
  TdInline *in = l->inlining;
  in->result = TD_NEWN(l->arena, TdVal, s->values.n + 1);
  for (size_t i = 0; i < s->values.n; i++) {
    in->result[i] = td_irgen_settle(l, td_irgen_expr(l, s->values.at[i]), "got");
    if (!td_irgen_ok(&in->result[i])) return false;
  }
  in->nresult = s->values.n;
  in->returned = true;
  return true;
}

TdVal td_irgen_call(TdIrgen *l, const TdAstExpr *e) {
  TdVal f = td_irgen_expr(l, e->call.callee);
  if (!td_irgen_ok(&f)) return f;
  if (f.kind == TD_V_CONST) {
    TdVal *arg = NULL;
    switch (f.c.kind) {
    case TD_C_WORD: return lower_word(l, f.c.u.word, e);
    case TD_C_UNIT: return lower_unit_call(l, &f.c, e);
    case TD_C_TYPE:
      arg = arguments(l, e);
      return arg ? td_irgen_convert(l, f.c.u.type, arg, e->call.args.n, e->loc) : td_irgen_failed();
    case TD_C_FUNCTION:
      arg = arguments(l, e);
      return arg ? lower_inline(l, &f.c, e, arg) : td_irgen_failed();
    default: break;
    }
  }
  td_irgen_fail(l, "not-callable", e->loc, "%s cannot be called in a kernel",
                f.kind == TD_V_CONST ? td_value_words(&f.c) : "this");
  td_diag_help(l->diag, "a kernel calls kernels, types, intrinsics of tide and math, and Lua "
                        "functions that are themselves in the subset");
  return td_irgen_failed();
}

/* t:set(x), with a got token going straight into the view. */
static TdVal lower_set(TdIrgen *l, TdVal of, const TdAstExpr *e) {
  if (!expect_count(l, e, "set", 1)) return td_irgen_failed();
  if (of.e->kind != TD_EXPR_VIEW) {
    td_irgen_fail(l, "assign-tensor", e->loc, "set needs a tensor with a name");
    return td_irgen_failed();
  }
  TdVal v = td_irgen_expr(l, e->call.args.at[0]);
  if (!td_irgen_ok(&v)) return v;
  if (v.kind == TD_V_GET && v.e->type->elem == of.e->type) {
    td_irgen_emit(l, td_stmt_get(l->store, v.e, NULL, of.e->type, of.e, e->loc));
    return none(e->loc);
  }
  const TdExpr *x = td_irgen_to_tensor(l, v, of.e->type, e->loc);
  if (!x) return td_irgen_failed();
  td_irgen_emit(l, td_stmt_set(l->store, of.e, x, e->loc));
  return none(e->loc);
}

static TdVal lower_put(TdIrgen *l, TdVal of, const TdAstExpr *e) {
  if (!expect_count(l, e, "put", 1)) return td_irgen_failed();
  const TdType *token = of.e->type->elem;
  TdVal v = td_irgen_expr(l, e->call.args.at[0]);
  const TdExpr *x = !td_irgen_ok(&v)             ? NULL
                    : token->kind == TD_T_TENSOR ? td_irgen_to_tensor(l, v, token, e->loc)
                                                 : td_irgen_to_stored(l, v, token);
  if (x && token->kind == TD_T_TENSOR && x->type->kind != TD_T_TENSOR) {
    TdVal fill = {.kind = TD_V_FRESH, .type = token, .e = x, .loc = e->loc};
    v = td_irgen_settle(l, fill, "t");
    x = td_irgen_ok(&v) ? v.e : NULL;
  }
  if (!x) return td_irgen_failed();
  td_irgen_emit(l, td_stmt_put(l->store, of.e, x, e->loc));
  return none(e->loc);
}

static TdVal stream_method(TdIrgen *l, TdVal of, const TdAstExpr *e) {
  const char *m = e->call.method;
  if (of.e->type->rank) {
    td_irgen_fail(l, "rank", e->loc, "'%s' is an array of streams: index it first",
                  of.e->sym->name);
    return td_irgen_failed();
  }
  if (strcmp(m, "put") == 0) return lower_put(l, of, e);
  bool slot = strcmp(m, "slot") == 0;
  if (slot && !of.e->type->block) {
    td_irgen_fail(l, "slot", e->loc, "slot needs a block stream (block = true)");
    return td_irgen_failed();
  }
  if (slot || strcmp(m, "get") == 0) {
    if (!expect_count(l, e, m, 0)) return td_irgen_failed();
    return (TdVal){.kind = TD_V_GET, .e = of.e, .slot = slot, .loc = e->loc};
  }
  td_irgen_fail(l, "method", e->loc, "a stream has no method '%s' in a kernel", m);
  return td_irgen_failed();
}

static TdVal tensor_method(TdIrgen *l, TdVal of, const TdAstExpr *e) {
  const char *m = e->call.method;
  if (strcmp(m, "set") == 0) return lower_set(l, of, e);
  if (strcmp(m, "slice") == 0) return td_irgen_slice(l, of, e);
  if (strcmp(m, "transpose") == 0) return td_irgen_transpose(l, of, e->loc);
  if (strcmp(m, "copy") == 0)
    return (TdVal){.kind = TD_V_FRESH, .type = of.e->type, .e = of.e, .loc = e->loc};
  static const char *const names[] = {"set", "slice", "transpose", "copy"};
  td_irgen_fail(l, "method", e->loc, "a tensor has no method '%s' in a kernel", m);
  const char *near = td_text_nearest(m, names, 4);
  if (near) td_diag_help(l->diag, "did you mean '%s'?", near);
  return td_irgen_failed();
}

TdVal td_irgen_method(TdIrgen *l, const TdAstExpr *e) {
  TdVal of = td_irgen_settle(l, td_irgen_expr(l, e->call.callee), "got");
  if (!td_irgen_ok(&of)) return of;
  if (of.kind == TD_V_STREAM) return stream_method(l, of, e);
  if (of.kind == TD_V_TENSOR) return tensor_method(l, of, e);
  td_irgen_fail(l, "method", e->loc, "only tensors and streams have methods in a kernel");
  return td_irgen_failed();
}

/* call.c - calls: conversions, intrinsics, kernels. */
#include "frontend/gen/irgen.h"

static TdVal none(TdLoc loc) {
  return (TdVal){.kind = TD_V_NONE, .loc = loc};
}

bool td_irgen_expect_count(TdIrgen *l, const TdAstExpr *e, const char *name, size_t n) {
  if (e->call.args.n == n) return true;
  return td_irgen_fail(l, "arguments", e->loc, "%s takes %zu argument%s, not %zu", name, n,
                       n == 1 ? "" : "s", e->call.args.n);
}

/* tide.bitcast(T, x). */
static TdVal lower_bitcast(TdIrgen *l, const TdAstExpr *e, const TdVal *v) {
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

/* min or max of the first n - 1 operands, from the left, into v[n - 2]; false on failure. */
static bool fold_chain(TdIrgen *l, TdOp op, TdVal *v, size_t n, TdLoc loc) {
  for (size_t i = 1; i + 1 < n; i++) {
    TdVal pair[] = {v[i - 1], v[i]};
    if (!td_irgen_const_call(l, op, pair, 2, loc, &v[i])) v[i] = td_irgen_op(l, op, pair, 2, loc);
    if (!td_irgen_ok(&v[i])) return false;
  }
  return true;
}

/* An operator written as a call; min and max take two or more operands. */
static TdVal lower_op_call(TdIrgen *l, TdOp op, const TdAstExpr *e) {
  size_t n, arity = op == TD_OP_BITCAST ? 2 : td_ops[op].arity;
  TdVal *v = td_irgen_values(l, e->call.args, &n), r;
  if (!v) return td_irgen_failed();
  bool chain = (op == TD_OP_MIN || op == TD_OP_MAX) && n > 2;
  if (n != arity && !chain) {
    td_irgen_fail(l, "arguments", e->loc, "%s takes %zu argument%s, not %zu", td_ops[op].lua, arity,
                  arity == 1 ? "" : "s", n);
    return td_irgen_failed();
  }
  if (op == TD_OP_BITCAST) return lower_bitcast(l, e, v);
  if (chain && !fold_chain(l, op, v, n, e->loc)) return td_irgen_failed();
  if (chain) v += n - 2;
  if (td_irgen_const_call(l, op, v, arity, e->loc, &r)) return r;
  if (op == TD_OP_SELECT && v[0].kind != TD_V_TENSOR) {
    const TdExpr *cond = td_irgen_to_bool(l, v[0]);
    if (!cond) return td_irgen_failed();
    v[0] = td_irgen_scalar(cond);
  }
  return td_irgen_op(l, op, v, (int)arity, e->loc);
}

/* tide.int(n) and its kin inside a kernel. */
static TdVal lower_type_word(TdIrgen *l, int word, const TdAstExpr *e) {
  bool fixed = word == TD_WORD_FIXED || word == TD_WORD_UFIXED;
  int64_t arg[2] = {0};
  if (!td_irgen_expect_count(l, e, "this type", fixed ? 2 : 1)) return td_irgen_failed();
  for (size_t i = 0; i < e->call.args.n; i++)
    if (!td_irgen_constant(l, e->call.args.at[i], "width",
                           "the width of a type is a compile-time integer", INT64_MIN, &arg[i]))
      return td_irgen_failed();
  int64_t w = arg[0], f = arg[1];
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
  size_t n;
  TdVal *v = td_irgen_values(l, e->call.args, &n);
  if (!v) return td_irgen_failed();
  if (n && v[0].kind == TD_V_CONST) {
    td_irgen_pin(l, v, 1);
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
  if (v.kind == TD_V_TENSOR && v.e->kind != TD_EXPR_VIEW) v = td_irgen_named(l, v);
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

/* The unit that a kernel or design is here. Two that have states are two, be their texts the same.
 */
static TdSym unit_of(TdIrgen *l, const TdConst *c) {
  TdSym sym = (TdSym)td_map_getp(&l->data, (const void *)c->handle);
  if (sym) return sym;
  TdUnitsTaken taken = td_prog_has_state(c->u.prog) ? td_irgen_is_called : td_irgen_is_unit_taken;
  sym = td_units_import_beside(l->units, c->u.prog, taken, l);
  td_irgen_note_outer_name(l, sym->name);
  td_irgen_note_called(l, sym->name);
  td_map_putp(l->arena, &l->data, (const void *)c->handle, (void *)(uintptr_t)sym);
  return sym;
}

/* Takes the Lua functions that foreign code is to call back out of the n arguments at v; what is
 * called then is p with them, or NULL. */
static const TdProg *take_functions(TdIrgen *l, const TdProg *p, TdVal *v, size_t *n) {
  const TdUnit *u = td_prog_root(p);
  TdArena *a = p->store->arena;
  TdForeign *f = td_arena_copy(a, u->foreign, sizeof *f);
  TdCallback *back = td_arena_copy(a, f->callback, f->ncallback * sizeof *back);
  size_t shift = *n == u->nparam + f->ncallback && f->returns;
  for (size_t i = f->ncallback; i-- > 0;) {
    size_t at = back[i].at + shift;
    if (at >= *n || v[at].kind != TD_V_CONST || v[at].c.kind != TD_C_FUNCTION) {
      td_irgen_fail(l, "argument-type", at < *n ? v[at].loc : u->loc,
                    "argument %zu of '%s' is a Lua function that it calls back", at + 1,
                    u->sym->name);
      return NULL;
    }
    back[i].fn = l->host->keep(l->host->ud, v[at].c.handle);
    for (size_t k = at; k + 1 < *n; k++) v[k] = v[k + 1];
    --*n;
  }
  f->callback = back;
  TdUnit *copy = td_unit_copy(p->store, u);
  copy->foreign = f;
  const TdUnit **unit = td_arena_copy(a, p->unit, p->nunit * sizeof *unit);
  unit[p->nunit - 1] = copy;
  return td_prog_new(p->store, unit, p->nunit);
}

/* A local of one element, which a foreign function gives its value. */
static TdVal result_local(TdIrgen *l, const TdUnit *callee, TdLoc loc, TdSym *sym) {
  TdVal v = {.kind = TD_V_FRESH, .type = callee->param[0].type, .loc = loc};
  const TdType *t;
  TdOrigin origin;
  *sym = td_irgen_local(l, "given", v, &t, &origin);
  if (!*sym) return td_irgen_failed();
  return td_irgen_tensor(td_expr_whole(l->session, l->arena, *sym, t, loc), loc);
}

static TdVal lower_unit_call(TdIrgen *l, const TdConst *c, const TdAstExpr *e) {
  const TdForeign *foreign = td_prog_root(c->u.prog)->foreign;
  size_t n;
  TdVal *v = td_irgen_values(l, e->call.args, &n);
  if (!v) return td_irgen_failed();
  TdSym sym;
  if (foreign && foreign->ncallback) {
    const TdProg *p = take_functions(l, c->u.prog, v, &n);
    if (!p) return td_irgen_failed();
    sym = td_units_import_beside(l->units, p, td_irgen_is_called, l);
    td_irgen_note_outer_name(l, sym->name);
    td_irgen_note_called(l, sym->name);
  } else {
    sym = unit_of(l, c);
  }
  const TdUnit *callee = td_units_find(l->units, sym);
  TdSym given = NULL;
  if (foreign && foreign->returns && n + 1 == callee->nparam) {
    TdVal *all = TD_NEWN(l->arena, TdVal, n + 1);
    all[0] = result_local(l, callee, e->loc, &given);
    if (!td_irgen_ok(&all[0])) return all[0];
    for (size_t i = 0; i < n; i++) all[i + 1] = v[i];
    v = all;
    n++;
  }
  if (n != callee->nparam) {
    size_t takes = callee->nparam - (foreign && foreign->returns);
    td_irgen_fail(l, "arguments", e->loc, "%s takes %zu argument%s, not %zu", sym->name, takes,
                  takes == 1 ? "" : "s", n);
    return td_irgen_failed();
  }
  const TdExpr **arg = TD_NEWN(l->arena, const TdExpr *, n);
  for (size_t i = 0; i < n; i++) {
    arg[i] = call_argument(l, callee, &callee->param[i], v[i]);
    if (!arg[i]) return td_irgen_failed();
  }
  td_irgen_emit(l, td_stmt_call(l->store, sym, arg, callee->nparam, e->loc));
  if (!given) return none(e->loc);
  const TdExpr *zero = td_expr_index(l->session, l->arena, 0, e->loc);
  const TdType *elem = td_type_scalar(callee->param[0].type);
  return td_irgen_scalar(td_expr_load(l->arena, given, elem, &zero, 1, e->loc));
}

TdVal td_irgen_call(TdIrgen *l, const TdAstExpr *e) {
  TdVal f = td_irgen_expr(l, e->call.callee);
  if (!td_irgen_ok(&f)) return f;
  if (f.kind == TD_V_CONST) {
    size_t n;
    TdVal *arg;
    switch (f.c.kind) {
    case TD_C_WORD: return lower_word(l, f.c.u.word, e);
    case TD_C_UNIT: return lower_unit_call(l, &f.c, e);
    case TD_C_TYPE:
      arg = td_irgen_values(l, e->call.args, &n);
      return arg ? td_irgen_convert(l, f.c.u.type, arg, n, e->loc) : td_irgen_failed();
    case TD_C_FUNCTION: return td_irgen_inline(l, &f.c, e);
    default: break;
    }
  }
  td_irgen_fail(l, "not-callable", e->loc, "%s cannot be called in a kernel",
                f.kind == TD_V_CONST ? td_value_words(&f.c) : "this");
  td_diag_help(l->diag, "a kernel calls kernels, types, intrinsics of tide and math, and Lua "
                        "functions that are themselves in the subset");
  return td_irgen_failed();
}

/* method.c - methods of tensors, streams and types. */
#include <string.h>

#include "frontend/gen/irgen.h"
#include "frontend/lua/habit.h"

static TdVal none(TdLoc loc) {
  return (TdVal){.kind = TD_V_NONE, .loc = loc};
}

/* t:set(x), with a got token going straight into the view. */
static TdVal lower_set(TdIrgen *l, TdVal of, const TdAstExpr *e) {
  if (!td_irgen_expect_count(l, e, "set", 1)) return td_irgen_failed();
  if (of.e->kind != TD_EXPR_VIEW) {
    td_irgen_fail(l, "assign-tensor", e->loc, "set needs a tensor with a name");
    return td_irgen_failed();
  }
  if (!td_irgen_check_writable(l, of.e->sym, e->loc)) return td_irgen_failed();
  TdPoint before = td_irgen_point(l);
  TdVal v = td_irgen_expr(l, e->call.args.at[0]);
  if (!td_irgen_ok(&v)) return v;
  of = td_irgen_keep(l, of, before);
  if (v.kind == TD_V_GET && !v.slot && v.e->type->elem == of.e->type) {
    td_irgen_emit(l, td_stmt_get(l->store, v.e, NULL, of.e->type, of.e, e->loc));
    return none(e->loc);
  }
  const TdExpr *x = td_irgen_to_tensor(l, v, of.e->type, e->loc);
  if (!x) return td_irgen_failed();
  td_irgen_emit(l, td_stmt_set(l->store, of.e, x, e->loc));
  return none(e->loc);
}

static TdVal lower_put(TdIrgen *l, TdVal of, const TdAstExpr *e) {
  if (!td_irgen_expect_count(l, e, "put", 1)) return td_irgen_failed();
  const TdType *token = of.e->type->elem;
  TdPoint before = td_irgen_point(l);
  TdVal v = td_irgen_settle(l, td_irgen_expr(l, e->call.args.at[0]), "got");
  of = td_irgen_keep(l, of, before);
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

/* Z:gather() and Z:scatter(x). */
static TdVal lower_all(TdIrgen *l, TdVal of, const TdAstExpr *e) {
  const char *m = e->call.method;
  bool gather = strcmp(m, "gather") == 0;
  if (!of.e->type->rank) {
    td_irgen_fail(l, "rank", e->loc, "'%s' is one stream: %s needs an array of streams",
                  of.e->sym->name, m);
    return td_irgen_failed();
  }
  if (!td_irgen_expect_count(l, e, m, gather ? 0 : 1)) return td_irgen_failed();
  if (gather) return td_irgen_gather(l, of, e->loc);
  TdPoint before = td_irgen_point(l);
  TdVal x = td_irgen_settle(l, td_irgen_expr(l, e->call.args.at[0]), "parts");
  of = td_irgen_keep(l, of, before);
  if (x.kind == TD_V_TENSOR) x = td_irgen_named(l, x);
  if (!td_irgen_ok(&x) || !td_irgen_scatter(l, of, x, e->loc)) return td_irgen_failed();
  return none(e->loc);
}

static TdVal stream_method(TdIrgen *l, TdVal of, const TdAstExpr *e) {
  const char *m = e->call.method;
  if (strcmp(m, "gather") == 0 || strcmp(m, "scatter") == 0) return lower_all(l, of, e);
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
    if (!td_irgen_expect_count(l, e, m, 0)) return td_irgen_failed();
    return (TdVal){.kind = TD_V_GET, .e = of.e, .slot = slot, .loc = e->loc};
  }
  static const char *const names[] = {"put", "get", "slot", "gather", "scatter"};
  td_irgen_fail(l, "method", e->loc, "a stream has no method '%s' in a kernel", m);
  td_habit_suggest(l->diag, m, names, 5);
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
  td_habit_suggest(l->diag, m, names, 4);
  return td_irgen_failed();
}

/* Reads overflow = "wrap" or "saturate", or rounding = "floor" or "nearest", into its flag. */
static bool take_mode(TdIrgen *l, const TdAstItem *item, bool *saturate, bool *nearest) {
  const char *key = item->name ? item->name : "";
  bool overflow = strcmp(key, "overflow") == 0;
  const char *off = overflow ? "wrap" : "floor", *on = overflow ? "saturate" : "nearest";
  if (!overflow && strcmp(key, "rounding") != 0) {
    td_irgen_fail(l, "option", item->loc, "with takes {overflow = ..., rounding = ...}");
    return false;
  }
  TdVal v = td_irgen_expr(l, item->value);
  if (!td_irgen_ok(&v)) return false;
  bool word = v.kind == TD_V_CONST && v.c.kind == TD_C_STRING;
  if (!word || (strcmp(v.c.u.string.at, off) != 0 && strcmp(v.c.u.string.at, on) != 0)) {
    td_irgen_fail(l, "option-value", item->loc, "'%s' is \"%s\" or \"%s\"", key, off, on);
    return false;
  }
  *(overflow ? saturate : nearest) = strcmp(v.c.u.string.at, on) == 0;
  return true;
}

/* T:with {overflow = .., rounding = ..}. */
static TdVal type_method(TdIrgen *l, TdVal of, const TdAstExpr *e) {
  const TdType *t = of.c.u.type;
  bool saturate = t->saturate, nearest = t->nearest;
  if (strcmp(e->call.method, "with") != 0) {
    td_irgen_fail(l, "method", e->loc, "a type has no method '%s' in a kernel", e->call.method);
    return td_irgen_failed();
  }
  if (!td_irgen_expect_count(l, e, "with", 1)) return td_irgen_failed();
  const TdAstExpr *modes = e->call.args.at[0];
  if (modes->kind != TD_AST_TABLE || !td_type_is_scalar(t)) {
    td_irgen_fail(l, "arguments", e->loc, "with takes {overflow = ..., rounding = ...}");
    return td_irgen_failed();
  }
  for (size_t i = 0; i < modes->table.n; i++)
    if (!take_mode(l, &modes->table.at[i], &saturate, &nearest)) return td_irgen_failed();
  of.c.u.type = td_type_with(l->session, t, saturate, nearest);
  if (of.c.u.type->saturate == saturate && of.c.u.type->nearest == nearest) return of;
  td_irgen_fail(l, "option-value", e->loc, "%s has no such mode", td_type_str(l->arena, t));
  return td_irgen_failed();
}

TdVal td_irgen_method(TdIrgen *l, const TdAstExpr *e) {
  TdVal of = td_irgen_settle(l, td_irgen_expr(l, e->call.callee), "got");
  if (!td_irgen_ok(&of)) return of;
  if (of.kind == TD_V_STREAM) return stream_method(l, of, e);
  if (of.kind == TD_V_TENSOR) return tensor_method(l, of, e);
  if (of.kind == TD_V_CONST && of.c.kind == TD_C_TYPE) return type_method(l, of, e);
  td_irgen_fail(l, "method", e->loc, "only tensors, streams and types have methods in a kernel");
  return td_irgen_failed();
}

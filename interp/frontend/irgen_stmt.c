/* irgen_stmt.c - locals, assignments, conditions: Lua statements to IR. */
#include <string.h>

#include "frontend/irgen.h"

/* The type and origin of a scalar local that starts as e. */
static TdOrigin origin_of(const TdVal *v) {
  if (v->kind == TD_V_CONST && !v->c.typed) return TD_FROM_LITERAL;
  if (v->kind == TD_V_SCALAR && v->e->kind == TD_EXPR_OP) return TD_FROM_OPERATOR;
  return TD_FROM_TYPED;
}

/* i32, f32 or bool for a bare constant. */
static const TdType *literal_type(TdIrgen *l, const TdConst *c) {
  if (c->typed) return c->typed;
  return c->kind == TD_C_BOOL    ? td_type_bool(l->session)
         : c->kind == TD_C_FLOAT ? td_type_float(l->session, 32)
                                 : td_type_int(l->session, 32);
}

static TdSym fresh_local(TdIrgen *l, const char *name, const TdVal *v, const TdType **type) {
  *type = v->type;
  TdSym sym = td_irgen_declare(l, name, TD_SYM_LOCAL);
  bool value = v->e && v->e->type->kind == TD_T_TENSOR;
  TdLocalInit init = !v->e ? TD_INIT_NONE : value ? TD_INIT_VALUE : TD_INIT_FILL;
  td_irgen_emit(l, td_stmt_local(l->store, sym, v->type, init, v->e, v->loc));
  return sym;
}

static TdSym got_local(TdIrgen *l, const char *name, const TdVal *v, const TdType **type) {
  *type = v->e->type->elem;
  TdSym sym = td_irgen_declare(l, name, TD_SYM_LOCAL);
  td_irgen_emit(l, v->slot ? td_stmt_slot(l->store, v->e, sym, *type, v->loc)
                           : td_stmt_get(l->store, v->e, sym, *type, NULL, v->loc));
  return sym;
}

TdSym td_irgen_local(TdIrgen *l, const char *name, TdVal v, const TdType **type, TdOrigin *origin) {
  *origin = origin_of(&v);
  if (v.kind == TD_V_FRESH) return fresh_local(l, name, &v, type);
  if (v.kind == TD_V_GET) return got_local(l, name, &v, type);
  const TdExpr *e = v.e;
  if (v.kind == TD_V_CONST) {
    *type = literal_type(l, &v.c);
    e = td_irgen_to_stored(l, v, *type);
  }
  if (!e) return NULL;
  *type = e->type;
  TdSym sym = td_irgen_declare(l, name, TD_SYM_LOCAL);
  td_irgen_emit(l, td_stmt_local(l->store, sym, *type, TD_INIT_VALUE, e, v.loc));
  return sym;
}

/* Freezes the indices of a view that a local will name: values that can change become locals. */
static const TdExpr *freeze_view(TdIrgen *l, const TdExpr *view) {
  const TdExpr *lo[TD_MAX_RANK];
  bool changed = false;
  for (uint32_t d = 0; d < view->nkid; d++) {
    lo[d] = view->kid[d];
    TdLin x = td_lin_of(l->session, l->arena, lo[d]);
    if (td_lin_is_affine(&x)) continue;
    const TdType *t;
    TdOrigin origin;
    TdSym at = td_irgen_local(l, "at", td_irgen_scalar(lo[d]), &t, &origin);
    lo[d] = td_expr_load(l->arena, at, t, NULL, 0, view->loc);
    changed = true;
  }
  return changed ? td_expr_with_kids(l->arena, view, lo) : view;
}

/* Whether a value is only known by name, so that the variable stays a compile-time one. */
static bool stays_constant(const TdVal *v, const TdAstLocal *var) {
  if (v->kind != TD_V_CONST) return false;
  bool number = td_value_is_number(&v->c) || v->c.kind == TD_C_BOOL;
  return !number || !var->assigned;
}

static void note_read(TdIrgen *l, const TdAstLocal *var, TdVal *v) {
  if (v->kind == TD_V_GET && !v->slot && strcmp(var->name, "_") != 0 &&
      !td_map_getp(&l->read, var)) {
    td_irgen_fail(l, "unused-get", var->loc, "'%s' is got and never read", var->name);
    td_diag_help(l->diag, "name it _ to take a token and drop it");
    *v = td_irgen_failed();
  }
}

/* Binds a Lua local to value v, declaring storage where it is needed. */
static bool bind_local(TdIrgen *l, const TdAstLocal *var, TdVal v) {
  note_read(l, var, &v);
  switch (v.kind) {
  case TD_V_FAILED: return false;
  case TD_V_NONE: return td_irgen_fail(l, "not-a-value", v.loc, "this gives no value");
  case TD_V_STREAM: td_irgen_bind(l, var, (TdBinding){.kind = TD_B_VALUE, .value = v}); return true;
  default: break;
  }
  if (stays_constant(&v, var)) {
    if (td_value_is_number(&v.c) && !v.c.size && !v.c.typed) v.c.typed = literal_type(l, &v.c);
    td_irgen_bind(l, var, (TdBinding){.kind = TD_B_VALUE, .value = v});
    return true;
  }
  if (v.kind == TD_V_CONST && !td_value_is_number(&v.c) && v.c.kind != TD_C_BOOL)
    return td_irgen_fail(l, "not-a-value", v.loc, "'%s' is assigned later, so it cannot be %s",
                         var->name, td_value_words(&v.c));
  if (v.kind == TD_V_TENSOR && v.e->kind == TD_EXPR_VIEW) {
    v.e = freeze_view(l, v.e);
    td_irgen_bind(l, var, (TdBinding){.kind = TD_B_VALUE, .value = v});
    return true;
  }
  const TdType *t;
  TdOrigin origin;
  TdSym sym = td_irgen_local(l, var->name, v, &t, &origin);
  if (!sym) return false;
  td_irgen_bind(l, var,
                (TdBinding){.kind = t->kind == TD_T_TENSOR ? TD_B_TENSOR : TD_B_SCALAR,
                            .sym = sym,
                            .type = t,
                            .origin = origin,
                            .writable = true});
  return true;
}

static bool lower_local(TdIrgen *l, const TdAstStmt *s) {
  TdAstLocals vars = s->local.vars;
  TdAstExprs values = s->local.values;
  if (values.n < vars.n) {
    td_irgen_fail(l, "no-value", vars.at[values.n]->loc,
                  "'%s' needs a first value, which gives "
                  "it its type",
                  vars.at[values.n]->name);
    td_diag_help(l->diag, "local %s = i32(0), or f32[8]() for a tensor", vars.at[values.n]->name);
    return false;
  }
  size_t before = l->out->n;
  for (size_t i = 0; i < values.n; i++) {
    TdVal v = td_irgen_expr(l, values.at[i]);
    if (i >= vars.n) {
      v = td_irgen_settle(l, v, "_");
      if (!td_irgen_ok(&v)) return false;
      continue;
    }
    if (vars.at[i]->attrib == TD_AST_CLOSE)
      return td_irgen_fail(l, "not-in-kernel", vars.at[i]->loc,
                           "<close> is not allowed in a kernel");
    if (!bind_local(l, vars.at[i], v)) return false;
  }
  TdAttrs attrs = {0};
  if (!td_irgen_marks(l, s->loc.line, 'V', &attrs)) return false;
  for (size_t i = before; attrs.n && i < l->out->n; i++)
    l->out->at[i] = td_stmt_with_attrs(l->store, l->out->at[i], attrs);
  return true;
}

/* Whether e was made from an operand wider than a literal's local of type t can take. */
static bool is_wider_leaf(void *ud, const TdExpr *e) {
  const TdType *t = ud;
  bool leaf = e->kind == TD_EXPR_LOAD || e->kind == TD_EXPR_VAR || e->kind == TD_EXPR_CAST;
  if (!leaf || e->type->kind == TD_T_INDEX || e->type->kind == TD_T_BOOL) return true;
  return e->type->w <= t->w;
}

/* What the way a local got its type says about a later value. */
static bool check_origin(TdIrgen *l, const TdBinding *b, const TdVal *v) {
  if (v->kind != TD_V_SCALAR) return true;
  const char *name = b->sym->name;
  if (b->origin == TD_FROM_OPERATOR && v->e->type->kind != TD_T_INDEX &&
      !td_promote_holds(b->type, v->e->type)) {
    td_irgen_fail(l, "does-not-fit", v->loc,
                  "a value of %s does not fit '%s', which is %s by its "
                  "first value",
                  td_type_str(l->arena, v->e->type), name, td_type_str(l->arena, b->type));
    td_diag_help(l->diag, "give it a type where it is declared: %s(...)",
                 td_type_str(l->arena, v->e->type));
    return false;
  }
  if (b->origin == TD_FROM_LITERAL &&
      !td_walk_expr(v->e, is_wider_leaf, (void *)(uintptr_t)b->type)) {
    td_irgen_fail(l, "does-not-fit", v->loc,
                  "'%s' is %s by its first value, and this is made from "
                  "a wider one",
                  name, td_type_str(l->arena, b->type));
    td_diag_help(l->diag, "start it with the type it should have, as in i64(0) or f64(0)");
    return false;
  }
  return true;
}

static bool assign_scalar(TdIrgen *l, const TdBinding *b, TdVal v, TdLoc loc) {
  const TdExpr *place = td_expr_load(l->arena, b->sym, b->type, NULL, 0, loc);
  if (v.kind == TD_V_GET && v.e->type->elem == b->type) {
    td_irgen_emit(l, td_stmt_get(l->store, v.e, NULL, b->type, place, loc));
    return true;
  }
  v = td_irgen_settle(l, v, "got");
  if (!td_irgen_ok(&v) || !check_origin(l, b, &v)) return false;
  const TdExpr *e = td_irgen_to_stored(l, v, b->type);
  if (!e) return false;
  td_irgen_emit(l, td_stmt_store(l->store, place, e, loc));
  return true;
}

static bool refuse_name(TdIrgen *l, const TdAstExpr *target) {
  const TdBinding *b = td_map_getp(&l->bound, target->name.var);
  const char *name = target->name.id;
  if (target->name.binding == TD_AST_IS_GLOBAL)
    return td_irgen_fail(l, "assign-global", target->loc, "a kernel cannot assign the global '%s'",
                         name);
  if (!b)
    return td_irgen_fail(l, "assign-upvalue", target->loc,
                         "a kernel cannot assign the upvalue '%s'", name);
  if (b->kind == TD_B_TENSOR || b->value.kind == TD_V_TENSOR) {
    td_irgen_fail(l, "assign-tensor", target->loc, "'%s' is a tensor and stays that tensor", name);
    td_diag_help(l->diag, "%s:set(value) writes its elements", name);
    return false;
  }
  return td_irgen_fail(l, "assign-constant", target->loc, "'%s' cannot be assigned", name);
}

/* Whether the array under an element or view may be written. */
static bool check_writable(TdIrgen *l, const TdExpr *place, TdLoc loc) {
  for (size_t i = 0; i < l->preamble.n; i++) {
    const TdStmt *s = l->preamble.at[i];
    if (s->sym == place->sym && s->cls == TD_LOCAL_CONST) {
      td_irgen_fail(l, "assign-constant", loc, "'%s' is constant inside the kernel",
                    place->sym->name);
      td_diag_help(l->diag, "make it a parameter, or a tide.state");
      return false;
    }
  }
  return true;
}

static bool assign_element(TdIrgen *l, const TdAstExpr *target, TdVal v) {
  TdVal place = td_irgen_expr(l, target);
  if (!td_irgen_ok(&place)) return false;
  if (place.kind == TD_V_TENSOR) {
    td_irgen_fail(l, "assign-tensor", target->loc, "this is a tensor, not an element");
    td_diag_help(l->diag, "write it with :set(value)");
    return false;
  }
  if (place.kind != TD_V_SCALAR || place.e->kind != TD_EXPR_LOAD)
    return td_irgen_fail(l, "assign-constant", target->loc, "this cannot be assigned");
  if (!check_writable(l, place.e, target->loc)) return false;
  if (v.kind == TD_V_GET && v.e->type->elem == place.e->type) {
    td_irgen_emit(l, td_stmt_get(l->store, v.e, NULL, place.e->type, place.e, v.loc));
    return true;
  }
  const TdExpr *e = td_irgen_to_stored(l, v, place.e->type);
  if (!e) return false;
  td_irgen_emit(l, td_stmt_store(l->store, place.e, e, target->loc));
  return true;
}

static bool assign_one(TdIrgen *l, const TdAstExpr *target, TdVal v) {
  if (target->kind == TD_AST_INDEX) return assign_element(l, target, v);
  if (target->kind == TD_AST_FIELD)
    return td_irgen_fail(l, "assign-field", target->loc, "a kernel cannot assign fields");
  const TdBinding *b = td_map_getp(&l->bound, target->name.var);
  bool local = target->name.binding != TD_AST_IS_GLOBAL;
  if (!local || !b || b->kind != TD_B_SCALAR || !b->writable) return refuse_name(l, target);
  return assign_scalar(l, b, v, target->loc);
}

/* A value held in a local, so that assignments that follow do not change it. */
static TdVal hold(TdIrgen *l, TdVal v) {
  v = td_irgen_settle(l, v, "held");
  if (v.kind != TD_V_SCALAR || v.e->kind == TD_EXPR_LIT || v.e->kind == TD_EXPR_VAR) return v;
  const TdType *t;
  TdOrigin origin;
  TdSym sym = td_irgen_local(l, "held", v, &t, &origin);
  return sym ? td_irgen_scalar(td_expr_load(l->arena, sym, t, NULL, 0, v.loc)) : td_irgen_failed();
}

static bool lower_assign(TdIrgen *l, const TdAstStmt *s) {
  TdAstExprs targets = s->assign.targets, values = s->assign.values;
  if (values.n != targets.n)
    return td_irgen_fail(l, "no-value", s->loc, "%zu values for %zu places", values.n, targets.n);
  if (targets.n == 1) {
    TdVal v = td_irgen_expr(l, values.at[0]);
    return td_irgen_ok(&v) && assign_one(l, targets.at[0], v);
  }
  TdVal *v = TD_NEWN(l->arena, TdVal, values.n);
  for (size_t i = 0; i < values.n; i++) {
    v[i] = hold(l, td_irgen_expr(l, values.at[i]));
    if (!td_irgen_ok(&v[i])) return false;
  }
  for (size_t i = 0; i < targets.n; i++)
    if (!assign_one(l, targets.at[i], v[i])) return false;
  return true;
}

/* What one arm of an inlined function's last `if` returned; the arm then goes on as if it had not.
 */
static TdVal take_result(TdIrgen *l, bool *returned) {
  TdInline *in = l->inlining;
  *returned = in && in->returned;
  if (!*returned) return (TdVal){.kind = TD_V_NONE};
  in->returned = false;
  return in->nresult == 1 ? in->result[0] : (TdVal){.kind = TD_V_NONE};
}

/* Block b followed by `place = v`. */
static const TdStmt *store_result(TdIrgen *l, const TdStmt *b, const TdExpr *place, TdVal v) {
  const TdExpr *e = td_irgen_to_stored(l, v, place->type);
  if (!e) return NULL;
  const TdStmt *store = td_stmt_store(l->store, place, e, place->loc), **kid;
  kid = TD_NEWN(l->arena, const TdStmt *, b->nkid + 1);
  for (uint32_t i = 0; i < b->nkid; i++) kid[i] = b->kid[i];
  kid[b->nkid] = store;
  return td_stmt_block(l->store, kid, b->nkid + 1u, b->loc);
}

/* Both arms returned a scalar: the value of the call is a local that each arm sets. */
static bool join_results(TdIrgen *l, const TdVal *v, const TdStmt **arm, TdLoc loc) {
  const TdExpr *e[2];
  for (int i = 0; i < 2; i++) {
    const TdExpr *other = v[1 - i].kind == TD_V_SCALAR ? v[1 - i].e : NULL;
    e[i] = v[i].kind == TD_V_NONE ? NULL : td_irgen_to_scalar(l, v[i], other ? other->type : NULL);
    if (!e[i]) return td_irgen_fail(l, "return", loc, "each branch must return one number");
  }
  const TdType *t = td_promote_join(l->session, e[0]->type, e[1]->type);
  if (!t) return td_irgen_fail(l, "join", loc, "the branches return values of no common type");
  TdSym sym = td_irgen_declare(l, "result", TD_SYM_LOCAL);
  td_irgen_emit(l, td_stmt_local(l->store, sym, t, TD_INIT_NONE, NULL, loc));
  const TdExpr *place = td_expr_load(l->arena, sym, t, NULL, 0, loc);
  for (int i = 0; i < 2; i++) {
    arm[i] = store_result(l, arm[i], place, v[i]);
    if (!arm[i]) return false;
  }
  TdInline *in = l->inlining;
  in->returned = true;
  in->nresult = 1;
  in->result = TD_NEW(l->arena, TdVal);
  in->result[0] = td_irgen_scalar(place);
  return true;
}

static bool lower_arms(TdIrgen *l, const TdAstStmt *s, size_t i);

/* `if c then arm else the arms after it end`. */
static bool lower_branch(TdIrgen *l, const TdAstStmt *s, size_t i, const TdExpr *c) {
  const TdAstArm *arm = &s->arms.at[i];
  bool returned[2];
  TdVal result[2];
  const TdStmt *block[2] = {td_irgen_body(l, &arm->body, arm->cond->loc), NULL};
  if (!block[0]) return false;
  result[0] = take_result(l, &returned[0]);
  TdStmts list = {0}, *out = l->out;
  l->out = &list;
  bool ok = lower_arms(l, s, i + 1);
  l->out = out;
  if (!ok) return false;
  result[1] = take_result(l, &returned[1]);
  block[1] = td_stmt_block(l->store, list.at, list.n, s->loc);
  if (returned[0] != returned[1])
    return td_irgen_fail(l, "return", s->loc, "an inlined function returns at its end only");
  if (returned[0] && !join_results(l, result, block, s->loc)) return false;
  td_irgen_emit(
      l, td_stmt_if(l->store, c, block[0], block[1]->nkid ? block[1] : NULL, arm->cond->loc));
  return true;
}

/* Arm i of an if and those after it; a constant condition keeps one arm. */
static bool lower_arms(TdIrgen *l, const TdAstStmt *s, size_t i) {
  if (i == s->arms.n) return true;
  const TdAstArm *arm = &s->arms.at[i];
  if (!arm->cond) return td_irgen_block(l, &arm->body);
  TdVal cond = td_irgen_settle(l, td_irgen_expr(l, arm->cond), "got");
  if (!td_irgen_ok(&cond)) return false;
  if (cond.kind == TD_V_CONST) {
    if (cond.c.size) td_sizes_pin(l->sizes, cond.c.size);
    if (td_value_is_number(&cond.c)) return td_irgen_to_bool(l, cond) != NULL;
    return td_value_truth(&cond.c) ? td_irgen_block(l, &arm->body) : lower_arms(l, s, i + 1);
  }
  const TdExpr *c = td_irgen_to_bool(l, cond);
  return c && lower_branch(l, s, i, c);
}

static bool lower_if(TdIrgen *l, const TdAstStmt *s) {
  TdStmts list = {0}, *out = l->out;
  l->out = &list;
  bool ok = lower_arms(l, s, 0);
  l->out = out;
  bool declares = false;
  for (size_t i = 0; i < list.n; i++) declares |= list.at[i]->kind == TD_STMT_LOCAL;
  if (!ok) return false;
  if (declares)
    td_irgen_emit(l, td_stmt_block(l->store, list.at, list.n, s->loc));
  else
    for (size_t i = 0; i < list.n; i++) td_irgen_emit(l, list.at[i]);
  return true;
}

static bool lower_break(TdIrgen *l, const TdAstStmt *s) {
  if (l->jump == TD_AT_GRID) {
    td_irgen_fail(l, "break-grid", s->loc,
                  "break would leave one loop here, and all of the grid in "
                  "Lua");
    td_diag_help(l->diag, "write the loops one inside the other");
    return false;
  }
  if (l->jump == TD_AT_UNROLLED)
    return td_irgen_fail(l, "break-unrolled", s->loc, "break cannot leave a list that is unrolled");
  td_irgen_emit(l, td_stmt_jump(l->store, TD_STMT_BREAK, s->loc));
  return true;
}

static bool lower_call_stmt(TdIrgen *l, const TdAstStmt *s) {
  TdVal v = td_irgen_expr(l, s->call);
  if (v.kind == TD_V_GET || v.kind == TD_V_FRESH) v = td_irgen_settle(l, v, "_");
  return td_irgen_ok(&v);
}

static bool refuse(TdIrgen *l, const TdAstStmt *s, const char *help) {
  td_irgen_fail(l, "not-in-kernel", s->loc, "%s is not allowed in a kernel",
                td_ast_stmt_words(s->kind));
  if (help) td_diag_help(l->diag, "%s", help);
  return false;
}

static bool lower_do(TdIrgen *l, const TdAstStmt *s) {
  const TdStmt *b = td_irgen_body(l, &s->block, s->loc);
  td_irgen_emit(l, b);
  return b != NULL;
}

bool td_irgen_stmt(TdIrgen *l, const TdAstStmt *s) {
  if (l->inlining && l->inlining->returned)
    return td_irgen_fail(l, "return", s->loc, "code after a return of an inlined function");
  switch (s->kind) {
  case TD_AST_LOCAL: return lower_local(l, s);
  case TD_AST_ASSIGN: return lower_assign(l, s);
  case TD_AST_EVAL: return lower_call_stmt(l, s);
  case TD_AST_DO: return lower_do(l, s);
  case TD_AST_IF: return lower_if(l, s);
  case TD_AST_WHILE:
  case TD_AST_REPEAT:
  case TD_AST_FOR:
  case TD_AST_FOR_IN: return td_irgen_loop(l, s);
  case TD_AST_RETURN: return td_irgen_return(l, s);
  case TD_AST_BREAK: return lower_break(l, s);
  case TD_AST_EMPTY: return true;
  case TD_AST_GOTO: return refuse(l, s, "use while, repeat and break");
  case TD_AST_LABEL: return refuse(l, s, NULL);
  case TD_AST_LOCAL_FUNCTION:
  case TD_AST_DEFINE: return refuse(l, s, "define the function outside the kernel and call it");
  }
  return false;
}

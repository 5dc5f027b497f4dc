/* local.c - local variables: what a Lua local stands for, and the type of its storage. */
#include <math.h>
#include <string.h>

#include "frontend/gen/irgen.h"

/* How the type of a scalar local that starts as v comes about. */
static TdOrigin origin_of(const TdVal *v) {
  if (v->exact) return TD_FROM_OPERATOR;
  if (v->kind == TD_V_CONST && !v->c.typed) return TD_FROM_LITERAL;
  bool spelt = v->kind == TD_V_SCALAR && v->e->kind == TD_EXPR_OP && v->e->op == TD_OP_BITCAST;
  if (v->kind == TD_V_SCALAR && v->e->kind == TD_EXPR_OP && !spelt) return TD_FROM_OPERATOR;
  return TD_FROM_TYPED;
}

/* i32, f32 or bool for a bare constant; NULL, and a failure, when its value does not fit. */
static const TdType *literal_type(TdIrgen *l, const TdVal *v) {
  const TdConst *c = &v->c;
  if (c->typed) return c->typed;
  if (c->kind == TD_C_BOOL) return td_type_bool(l->session);
  bool is_float = c->kind == TD_C_FLOAT;
  const TdType *t = is_float ? td_type_float(l->session, 32) : td_type_int(l->session, 32);
  bool fits = is_float ? isinf(c->u.number) || !isinf(td_num_round(t, c->u.number))
                       : c->u.integer >= INT32_MIN && c->u.integer <= INT32_MAX;
  if (fits) return t;
  td_irgen_fail(l, "does-not-fit", v->loc,
                "this does not fit %s, the type that a bare literal gives",
                td_type_str(l->arena, t));
  td_diag_help(l->diag, "say the type: %s(...)", is_float ? "f64" : "i64");
  return NULL;
}

/* T(), T(x): storage of its own. */
static TdSym fresh_local(TdIrgen *l, const char *name, const TdVal *v, const TdType **type) {
  *type = v->type;
  TdSym sym = td_irgen_declare(l, name, TD_SYM_LOCAL);
  bool value = v->e && v->e->type->kind == TD_T_TENSOR;
  TdLocalInit init = !v->e ? TD_INIT_NONE : value ? TD_INIT_VALUE : TD_INIT_FILL;
  td_irgen_emit(l, td_stmt_local(l->store, sym, v->type, init, v->e, v->loc));
  return sym;
}

/* A token, or the empty buffer that slot takes. */
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
    *type = literal_type(l, &v);
    e = *type ? td_irgen_to_stored(l, v, *type) : NULL;
  }
  if (!e) return NULL;
  *type = e->type;
  TdSym sym = td_irgen_declare(l, name, TD_SYM_LOCAL);
  td_irgen_emit(l, td_stmt_local(l->store, sym, *type, TD_INIT_VALUE, e, v.loc));
  return sym;
}

bool td_irgen_bind_new(TdIrgen *l, const TdAstLocal *var, TdVal v) {
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

static bool is_plain(const TdConst *c) {
  return td_value_is_number(c) || c->kind == TD_C_BOOL;
}

/* Binds var to a value that is known now and stays so; a bare number takes its literal's type. */
static bool bind_constant(TdIrgen *l, const TdAstLocal *var, TdVal v) {
  if (td_value_is_number(&v.c) && !v.c.size) {
    v.c.typed = literal_type(l, &v);
    if (!v.c.typed) return false;
    if (v.c.kind == TD_C_FLOAT) v.c.u.number = td_num_round(v.c.typed, v.c.u.number);
  }
  td_irgen_bind(l, var, (TdBinding){.kind = TD_B_VALUE, .value = v});
  return true;
}

/* Whether var is read somewhere; a token that is got must be. */
static bool check_read(TdIrgen *l, const TdAstLocal *var, const TdVal *v) {
  if (v->kind != TD_V_GET || v->slot || strcmp(var->name, "_") == 0) return true;
  if (td_map_getp(&l->frame->read, var)) return true;
  td_irgen_fail(l, "unused-get", var->loc, "'%s' is got and never read", var->name);
  td_diag_help(l->diag, "name it _ to take a token and drop it");
  return false;
}

/* Binds a Lua local to value v, declaring storage where it is needed. */
static bool bind_local(TdIrgen *l, const TdAstLocal *var, TdVal v) {
  if (v.kind == TD_V_FAILED || !check_read(l, var, &v)) return false;
  if (v.kind == TD_V_NONE) return td_irgen_fail(l, "not-a-value", v.loc, "this gives no value");
  v.more = NULL, v.nmore = 0;
  if (v.kind == TD_V_CONST && (!is_plain(&v.c) || !var->assigned)) {
    if (!is_plain(&v.c) && var->assigned)
      return td_irgen_fail(l, "not-a-value", v.loc, "'%s' is assigned later, so it cannot be %s",
                           var->name, td_value_words(&v.c));
    return bind_constant(l, var, v);
  }
  bool named = v.kind == TD_V_STREAM || (v.kind == TD_V_TENSOR && v.e->kind == TD_EXPR_VIEW);
  if (!named) return td_irgen_bind_new(l, var, v);
  v.e = td_irgen_freeze(l, v.e);
  td_irgen_bind(l, var, (TdBinding){.kind = TD_B_VALUE, .value = v});
  return true;
}

static bool refuse_no_value(TdIrgen *l, const TdAstLocal *var) {
  td_irgen_fail(l, "no-value", var->loc, "'%s' needs a first value, which gives it its type",
                var->name);
  td_diag_help(l->diag, "local %s = i32(0), or f32[8]() for a tensor", var->name);
  return false;
}

/* Binds the variables of a local statement, in order. */
static bool bind_all(TdIrgen *l, TdAstLocals vars, TdAstExprs values) {
  size_t n = 0;
  for (size_t i = 0; i < values.n; i++) {
    TdVal v = td_irgen_expr(l, values.at[i]);
    if (i >= vars.n) v = td_irgen_settle(l, v, "_");
    if (i < vars.n ? !bind_local(l, vars.at[n++], v) : !td_irgen_ok(&v)) return false;
    for (size_t k = 0; i + 1 == values.n && k < v.nmore && n < vars.n; k++)
      if (!bind_local(l, vars.at[n++], v.more[k])) return false;
  }
  return n >= vars.n || refuse_no_value(l, vars.at[n]);
}

/* Whether s declares storage for one of the variables. */
static bool declares(const TdIrgen *l, const TdStmt *s, TdAstLocals vars) {
  for (size_t i = 0; i < vars.n; i++) {
    const TdBinding *b = td_map_getp(&l->frame->bound, vars.at[i]);
    if (b && b->kind != TD_B_VALUE && s->sym == b->sym) return true;
  }
  return false;
}

/* Puts the marks of a local statement on what it declared since `from`. */
static bool mark_locals(TdIrgen *l, const TdAstStmt *s, size_t from) {
  TdAttrs attrs = {0};
  bool asked = false;
  for (size_t i = from; i < l->out->n; i++) {
    if (!declares(l, l->out->at[i], s->local.vars)) continue;
    if (!asked && !td_irgen_marks(l, s->loc.line, 'V', &attrs)) return false;
    asked = true;
    if (!td_irgen_check_banks(l, s->loc, attrs, l->out->at[i]->type)) return false;
    if (attrs.n) l->out->at[i] = td_stmt_with_attrs(l->store, l->out->at[i], attrs);
  }
  return true;
}

bool td_irgen_local_stmt(TdIrgen *l, const TdAstStmt *s) {
  TdAstLocals vars = s->local.vars;
  TdAstExprs values = s->local.values;
  bool call = values.n && (values.at[values.n - 1]->kind == TD_AST_CALL);
  if (values.n < vars.n && !call) return refuse_no_value(l, vars.at[values.n]);
  for (size_t i = 0; i < vars.n; i++)
    if (vars.at[i]->attrib == TD_AST_CLOSE)
      return td_irgen_fail(l, "not-in-kernel", vars.at[i]->loc,
                           "<close> is not allowed in a kernel");
  size_t before = l->out->n;
  return bind_all(l, vars, values) && mark_locals(l, s, before);
}

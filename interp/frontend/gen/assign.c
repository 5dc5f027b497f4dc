/* assign.c - assignments: which places may be written, and with what. */
#include "frontend/gen/irgen.h"

static bool is_wider(const TdExpr *e, const TdType *t) {
  bool data = e->type->kind != TD_T_INDEX && e->type->kind != TD_T_BOOL;
  return data && e->type->w > t->w;
}

/* Whether e is computed from an operand wider than t. Indices, counts and conditions are not what a
 * value is made of. */
static bool is_made_from_wider(TdIrgen *l, const TdExpr *e, const TdType *t) {
  bool cast = e->kind == TD_EXPR_CAST && !e->implicit;
  bool slice = e->kind == TD_EXPR_OP && e->op == TD_OP_GETBITS;
  if (!e->nkid || e->kind == TD_EXPR_LOAD || cast || slice) return is_wider(e, t);
  bool choice = e->kind == TD_EXPR_OP && e->op == TD_OP_SELECT;
  bool shift =
      e->kind == TD_EXPR_OP && (e->op == TD_OP_SHL || e->op == TD_OP_SHR || e->op == TD_OP_ASR);
  if (e->type->kind == TD_T_BOOL) return false;
  td_ctx_enter(l->session->ctx);
  bool wider = false;
  for (uint32_t i = choice; i < (shift ? 1 : e->nkid); i++)
    wider |= is_made_from_wider(l, e->kid[i], t);
  td_ctx_leave(l->session->ctx);
  return wider;
}

static bool refuse_wide(TdIrgen *l, const TdBinding *b, TdLoc loc) {
  td_irgen_fail(l, "does-not-fit", loc,
                "'%s' is %s by its first value, and this is made from a wider one", b->sym->name,
                td_type_str(l->arena, b->type));
  td_diag_help(l->diag, "start it with the type it should have, as in i64(0) or f64(0)");
  return false;
}

static bool refuse_unfit(TdIrgen *l, const TdBinding *b, const TdType *t, TdLoc loc) {
  td_irgen_fail(l, "does-not-fit", loc,
                "a value of %s does not fit '%s', which is %s by its first value",
                td_type_str(l->arena, t), b->sym->name, td_type_str(l->arena, b->type));
  td_diag_help(l->diag, "give it a type where it is declared: %s(...)", td_type_str(l->arena, t));
  return false;
}

/* Whether a local whose type was not said can take v without losing anything. */
static bool check_origin(TdIrgen *l, const TdBinding *b, const TdVal *v) {
  bool is_bool = v->kind == TD_V_CONST ? v->c.kind == TD_C_BOOL
                                       : v->kind == TD_V_SCALAR && v->e->type->kind == TD_T_BOOL;
  if (b->origin == TD_FROM_TYPED || is_bool != (b->type->kind == TD_T_BOOL)) return true;
  if (v->kind == TD_V_CONST) {
    bool integer = v->c.kind == TD_C_INT && b->type->kind != TD_T_INDEX;
    const TdType *least = integer ? td_promote_literal(l->session, v->c.u.integer) : b->type;
    return td_promote_holds(b->type, least) || refuse_unfit(l, b, least, v->loc);
  }
  if (v->kind != TD_V_SCALAR || v->e->type == b->type) return true;
  bool index = v->e->type->kind == TD_T_INDEX;
  const TdType *t = index ? td_type_int(l->session, 32) : v->e->type;
  if (b->origin == TD_FROM_LITERAL)
    return !is_made_from_wider(l, v->e, b->type) || refuse_wide(l, b, v->loc);
  return td_promote_holds(b->type, t) || refuse_unfit(l, b, t, v->loc);
}

static bool refuse_name(TdIrgen *l, const TdAstExpr *target) {
  const TdBinding *b = td_map_getp(&l->frame->bound, target->name.var);
  const char *name = target->name.id;
  if (target->name.binding == TD_AST_IS_GLOBAL) {
    td_irgen_fail(l, "assign-global", target->loc, "a kernel cannot assign the global '%s'", name);
    td_diag_help(l->diag, "local %s = .. declares a variable of the kernel", name);
    return false;
  }
  if (!b) {
    td_irgen_fail(l, "assign-upvalue", target->loc, "a kernel cannot assign the upvalue '%s'",
                  name);
    td_diag_help(l->diag, "a result is an element of a parameter; what lasts from call to call is "
                          "an element of a tide.state");
    return false;
  }
  if (b->kind == TD_B_TENSOR || b->value.kind == TD_V_TENSOR) {
    td_irgen_fail(l, "assign-tensor", target->loc, "'%s' is a tensor and stays that tensor", name);
    td_diag_help(l->diag, "%s:set(value) writes its elements", name);
    return false;
  }
  return td_irgen_fail(l, "assign-constant", target->loc, "'%s' cannot be assigned", name);
}

bool td_irgen_check_writable(TdIrgen *l, TdSym sym, TdLoc loc) {
  for (size_t i = 0; i < l->preamble.n; i++) {
    const TdStmt *s = l->preamble.at[i];
    if (s->sym != sym || s->cls != TD_LOCAL_CONST) continue;
    td_irgen_fail(l, "assign-constant", loc, "'%s' is constant inside the kernel", sym->name);
    td_diag_help(l->diag, "make it a parameter, or a tide.state");
    return false;
  }
  return true;
}

/* Where an assignment goes: an element or a scalar local, and the local's binding. */
typedef struct Place {
  const TdExpr *e;
  const TdBinding *local; /* NULL for an element */
} Place;

static bool element_place(TdIrgen *l, const TdAstExpr *target, Place *out) {
  TdVal place = td_irgen_expr(l, target);
  if (!td_irgen_ok(&place)) return false;
  if (place.kind == TD_V_TENSOR) {
    td_irgen_fail(l, "assign-tensor", target->loc, "this is a tensor, not an element");
    td_diag_help(l->diag, "write it with :set(value)");
    return false;
  }
  if (place.kind != TD_V_SCALAR || place.e->kind != TD_EXPR_LOAD)
    return td_irgen_fail(l, "assign-constant", target->loc, "this cannot be assigned");
  *out = (Place){.e = place.e};
  return td_irgen_check_writable(l, place.e->sym, target->loc);
}

/* The place that a target names; its index expressions are evaluated here. */
static bool place_of(TdIrgen *l, const TdAstExpr *target, Place *out) {
  if (target->kind == TD_AST_INDEX) return element_place(l, target, out);
  if (target->kind == TD_AST_FIELD)
    return td_irgen_fail(l, "assign-field", target->loc, "a kernel cannot assign fields");
  const TdBinding *b = td_map_getp(&l->frame->bound, target->name.var);
  bool local = target->name.binding != TD_AST_IS_GLOBAL;
  if (!local || !b || b->kind != TD_B_SCALAR || !b->writable) return refuse_name(l, target);
  *out = (Place){td_expr_load(l->arena, b->sym, b->type, NULL, 0, target->loc), b};
  return true;
}

/* place = v, for a settled v. */
static bool store(TdIrgen *l, const TdExpr *place, TdVal v) {
  const TdExpr *e = td_irgen_to_stored(l, v, place->type);
  if (!e) return false;
  td_irgen_emit(l, td_stmt_store(l->store, place, e, place->loc));
  return true;
}

static bool assign_one(TdIrgen *l, const TdAstExpr *target, const TdAstExpr *value) {
  Place p;
  if (!place_of(l, target, &p)) return false;
  TdPoint before = td_irgen_point(l);
  TdVal v = td_irgen_expr(l, value);
  bool straight = v.kind == TD_V_GET && !v.slot && v.e->type->elem == p.e->type;
  if (!straight) v = td_irgen_settle(l, v, "got");
  if (!td_irgen_ok(&v) || (p.local && !check_origin(l, p.local, &v))) return false;
  p.e = td_irgen_keep_place(l, p.e, before);
  if (!straight) return store(l, p.e, v);
  td_irgen_emit(l, td_stmt_get(l->store, v.e, NULL, p.e->type, p.e, target->loc));
  return true;
}

/* All places, then all values, then the stores, from the last to the first as Lua makes them. */
static bool assign_many(TdIrgen *l, const TdAstStmt *s) {
  TdAstExprs targets = s->assign.targets;
  size_t n = targets.n, given;
  const TdExpr **place = TD_NEWN(l->arena, const TdExpr *, n);
  const TdBinding **local = TD_NEWN(l->arena, const TdBinding *, n);
  for (size_t i = 0; i < n; i++) {
    Place p;
    if (!place_of(l, targets.at[i], &p)) return false;
    place[i] = p.e;
    local[i] = p.local;
  }
  TdPoint before = td_irgen_point(l);
  TdVal *v = td_irgen_values(l, s->assign.values, &given);
  if (!v) return false;
  if (given < n) return td_irgen_fail(l, "no-value", s->loc, "%zu values for %zu places", given, n);
  for (size_t i = 0; i < n; i++) {
    if (local[i] && !check_origin(l, local[i], &v[i])) return false;
    place[i] = td_irgen_keep_place(l, place[i], before);
  }
  td_irgen_keep_from(l, v, place, n);
  for (size_t i = n; i-- > 0;)
    if (!store(l, place[i], v[i])) return false;
  return true;
}

bool td_irgen_assign(TdIrgen *l, const TdAstStmt *s) {
  bool single = s->assign.targets.n == 1 && s->assign.values.n == 1;
  return single ? assign_one(l, s->assign.targets.at[0], s->assign.values.at[0])
                : assign_many(l, s);
}

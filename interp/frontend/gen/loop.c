/* loop.c - for, grid and reduction, while, repeat, unrolled lists. */
#include "frontend/gen/irgen.h"
#include "frontend/lua/lex.h"

/* The body b, in which break means `jump`. */
static const TdStmt *body_with(TdIrgen *l, const TdAstBlock *b, TdJumpPlace jump, TdLoc loc) {
  TdJumpPlace outer = l->frame->jump;
  l->frame->jump = jump;
  const TdStmt *body = td_irgen_body(l, b, loc);
  l->frame->jump = outer;
  return body;
}

/* The variable of a loop from lo to before hi, bound and visible; read-only. */
static TdSym loop_variable(TdIrgen *l, const TdAstLocal *var, const TdExpr *lo, const TdExpr *hi) {
  TdSym v = td_irgen_declare(l, var->name, TD_SYM_LOOP);
  td_irgen_note_range(l, v, lo, hi);
  const TdType *index = td_type_index(l->session);
  td_irgen_bind(l, var, (TdBinding){.kind = TD_B_SCALAR, .sym = v, .type = index});
  return v;
}

/* The constant step of a numeric for. */
static bool loop_step(TdIrgen *l, const TdAstStmt *s, int64_t *step) {
  *step = 1;
  if (s->each.over.n < 3) return true;
  const TdAstExpr *e = s->each.over.at[2];
  const char *what = "the step of a loop must be a constant integer other than 0";
  if (!td_irgen_constant(l, e, "loop-step", what, -INT64_MAX, step)) return false;
  return *step || td_irgen_fail(l, "loop-step", e->loc, "%s", what);
}

/* Half-open bounds of `for v = start, last, step`; for a negative step those of its trip number. */
static bool numeric_bounds(TdIrgen *l, const TdAstStmt *s, int64_t step, const TdExpr **start,
                           const TdExpr **lo, const TdExpr **hi) {
  TdSession *ss = l->session;
  TdVal *v;
  size_t n;
  if (!(v = td_irgen_values(l, (TdAstExprs){s->each.over.at, 2}, &n))) return false;
  const TdExpr *first = td_irgen_to_index(l, v[0]), *last;
  *start = first;
  if (!first || !(last = td_irgen_to_index(l, v[1]))) return false;
  int64_t end;
  if (td_expr_is_const(last, &end) && end == INT64_MAX)
    return td_irgen_fail(l, "loop-end", v[1].loc, "a loop ends before 2^63 - 1");
  const TdExpr *one = td_expr_index(ss, l->arena, 1, s->loc);
  *lo = first;
  *hi = td_lin_plus(ss, l->arena, last, one);
  if (step < 0) {
    const TdExpr *span = td_lin_minus(ss, l->arena, first, last);
    *lo = td_expr_index(ss, l->arena, 0, s->loc);
    *hi = td_lin_plus(ss, l->arena, td_lin_floordiv(ss, l->arena, span, -step), one);
  }
  td_sizes_use(l->sizes, *lo);
  td_sizes_use(l->sizes, *hi);
  return true;
}

/* Inside a loop that runs down, the Lua variable is first + step * trip. */
static void bind_downward(TdIrgen *l, const TdAstLocal *var, TdSym trip, const TdExpr *first,
                          int64_t step) {
  const TdType *index = td_type_index(l->session);
  TdLoc none = {0};
  const TdExpr *t = td_expr_var(l->arena, trip, index, none);
  const TdExpr *e =
      td_lin_plus(l->session, l->arena, first, td_lin_times(l->session, l->arena, t, step));
  td_irgen_bind(l, var, (TdBinding){.kind = TD_B_VALUE, .value = td_irgen_scalar(e)});
}

static bool refuse_assigned(TdIrgen *l, const TdAstLocal *var) {
  if (!var->assigned) return true;
  td_irgen_fail(l, "assign-loop", var->assigned_at, "the loop variable '%s' cannot be assigned",
                var->name);
  td_diag_note(l->diag, var->loc, "declared here");
  td_diag_help(l->diag, "count with a while loop, or copy it: local x = %s", var->name);
  return false;
}

static bool lower_for(TdIrgen *l, const TdAstStmt *s) {
  const TdAstLocal *var = s->each.vars.at[0];
  const TdExpr *first, *lo = NULL, *hi = NULL;
  int64_t step;
  TdAttrs attrs = {0};
  if (!refuse_assigned(l, var) || !loop_step(l, s, &step)) return false;
  if (!numeric_bounds(l, s, step, &first, &lo, &hi) || !td_irgen_marks(l, s->loc.line, 'L', &attrs))
    return false;
  TdSym v = loop_variable(l, var, lo, hi);
  if (step < 0) bind_downward(l, var, v, first, step);
  const TdStmt *body = body_with(l, &s->each.body, TD_AT_LOOP, s->loc);
  td_irgen_hide(l, v);
  if (!body) return false;
  const TdStmt *loop = td_stmt_for(l->store, v, lo, hi, step < 0 ? 1 : step, body, s->loc);
  td_irgen_emit(l, td_stmt_with_attrs(l->store, loop, attrs));
  return true;
}

/* Bounds of a grid dimension: an extent, {lo, hi} or {lo, hi, step}. */
static bool grid_range(TdIrgen *l, const TdAstExpr *e, const TdExpr **lo, const TdExpr **hi,
                       int64_t *step) {
  *step = 1;
  *lo = td_expr_index(l->session, l->arena, 0, e->loc);
  if (e->kind != TD_AST_TABLE) {
    *hi = td_irgen_to_index(l, td_irgen_expr(l, e));
  } else {
    if (!td_irgen_is_list(e, 2, 3))
      return td_irgen_fail(l, "range", e->loc, "a range is {lo, hi} or {lo, hi, step}");
    *lo = td_irgen_to_index(l, td_irgen_expr(l, e->table.at[0].value));
    *hi = *lo ? td_irgen_to_index(l, td_irgen_expr(l, e->table.at[1].value)) : NULL;
    if (*hi && e->table.n > 2 &&
        !td_irgen_constant(l, e->table.at[2].value, "loop-step",
                           "the step of a range is a constant of at least 1", 1, step))
      return false;
  }
  if (!*hi) return false;
  td_sizes_use(l->sizes, *lo);
  td_sizes_use(l->sizes, *hi);
  return true;
}

/* The band name at the end of a grid's arguments, or NULL; *n counts the ranges. */
static bool grid_band(TdIrgen *l, const TdAstExpr *call, size_t *n, const char **band) {
  TdAstExprs args = call->call.args;
  *n = args.n;
  *band = NULL;
  const TdAstExpr *last = args.n ? args.at[args.n - 1] : NULL;
  if (last && last->kind == TD_AST_STRING) {
    *band = td_names_of(l->session->names, last->string.at, last->string.n);
    --*n;
    if (!td_lex_is_name(last->string.at, last->string.n))
      return td_irgen_fail(l, "name", last->loc, "the name of a band is a name as in Lua");
  }
  if (*n == 0) return td_irgen_fail(l, "arguments", call->loc, "grid needs at least one extent");
  return true;
}

typedef struct GridLoop {
  TdSym v;
  const TdExpr *lo, *hi;
  int64_t step;
} GridLoop;

/* Loop attributes of a grid: band and reduction on each, marks on the innermost. */
static TdAttrs grid_attrs(TdIrgen *l, const char *band, bool reduction, TdAttrs marks,
                          bool innermost) {
  TdAttrs attrs = {0};
  if (band)
    attrs = td_attrs_add(l->arena, attrs, (TdAttr){.kind = TD_ATTR_BAND, .arg = {{.s = band}}});
  if (reduction) attrs = td_attrs_add(l->arena, attrs, (TdAttr){.kind = TD_ATTR_REDUCTION});
  for (size_t i = 0; innermost && i < marks.n; i++)
    attrs = td_attrs_add(l->arena, attrs, marks.at[i]);
  return attrs;
}

static bool lower_grid(TdIrgen *l, const TdAstStmt *s, const TdAstExpr *call, bool reduction) {
  size_t n;
  const char *band;
  TdAttrs marks = {0};
  if (!grid_band(l, call, &n, &band) || !td_irgen_marks(l, s->loc.line, 'L', &marks)) return false;
  if (n < s->each.vars.n || n > TD_MAX_DEPTH)
    return td_irgen_fail(l, "arguments", call->loc, "%zu variables for %zu extents", s->each.vars.n,
                         n);
  GridLoop *g = TD_NEWN(l->arena, GridLoop, n);
  for (size_t i = 0; i < n; i++)
    if (!grid_range(l, call->call.args.at[i], &g[i].lo, &g[i].hi, &g[i].step)) return false;
  for (size_t i = 0; i < n; i++) {
    if (i < s->each.vars.n && !refuse_assigned(l, s->each.vars.at[i])) return false;
    g[i].v = i < s->each.vars.n ? loop_variable(l, s->each.vars.at[i], g[i].lo, g[i].hi)
                                : td_irgen_declare(l, "_", TD_SYM_LOOP);
  }
  const TdStmt *body = body_with(l, &s->each.body, n > 1 ? TD_AT_GRID : TD_AT_LOOP, s->loc);
  for (size_t i = n; i-- > 0;) td_irgen_hide(l, g[i].v);
  for (size_t i = n; body && i-- > 0;) {
    const TdStmt *loop = td_stmt_for(l->store, g[i].v, g[i].lo, g[i].hi, g[i].step, body, s->loc);
    loop = td_stmt_with_attrs(l->store, loop, grid_attrs(l, band, reduction, marks, i + 1 == n));
    if (i == 0)
      td_irgen_emit(l, loop);
    else
      body = td_stmt_block(l->store, &loop, 1, s->loc);
  }
  return body != NULL;
}

/* `for k, x in ipairs(list)`: the body once for each entry of a constant list. */
static bool lower_ipairs(TdIrgen *l, const TdAstStmt *s, const TdAstExpr *call) {
  TdVal list =
      call->call.args.n == 1 ? td_irgen_expr(l, call->call.args.at[0]) : (TdVal){.kind = TD_V_NONE};
  if (!td_irgen_ok(&list)) return false;
  if (list.kind != TD_V_CONST || list.c.kind != TD_C_TABLE)
    return td_irgen_fail(l, "ipairs", call->loc, "ipairs needs a constant list");
  for (int64_t i = 1;; i++) {
    td_ctx_tick(l->session->ctx, 1);
    TdConst item = {0};
    if (!l->host->field(l->host->ud, list.c.handle, NULL, i, &item) || item.kind == TD_C_NIL)
      return true;
    TdVal v[2] = {td_irgen_const(td_value_int(i), s->loc),
                  td_irgen_outside(l, item, "item", false, s->loc)};
    if (!td_irgen_ok(&v[1])) return false;
    for (size_t k = 0; k < s->each.vars.n && k < 2; k++)
      td_irgen_bind(l, s->each.vars.at[k], (TdBinding){.kind = TD_B_VALUE, .value = v[k]});
    const TdStmt *body = body_with(l, &s->each.body, TD_AT_UNROLLED, s->loc);
    if (!body) return false;
    if (body->nkid) td_irgen_emit(l, body);
  }
}

static bool lower_for_in(TdIrgen *l, const TdAstStmt *s) {
  const TdAstExpr *call = s->each.over.n == 1 ? s->each.over.at[0] : NULL;
  TdVal callee =
      call && call->kind == TD_AST_CALL ? td_irgen_expr(l, call->call.callee) : td_irgen_failed();
  if (td_diag_failed(l->diag)) return false;
  int word = callee.kind == TD_V_CONST && callee.c.kind == TD_C_WORD ? callee.c.u.word : -1;
  if (word == TD_WORD_GRID || word == TD_WORD_REDUCTION)
    return lower_grid(l, s, call, word == TD_WORD_REDUCTION);
  if (word == TD_WORD_IPAIRS) return lower_ipairs(l, s, call);
  td_irgen_fail(l, "for-in", s->loc,
                "a kernel loops over grid(...), reduction(...) or "
                "ipairs(constant list)");
  td_diag_help(l->diag, "for i = 0, n - 1 do counts");
  return false;
}

/* `if not cond then break end`. */
static const TdStmt *break_unless(TdIrgen *l, const TdExpr *cond, TdLoc loc) {
  const TdStmt *jump = td_stmt_jump(l->store, TD_STMT_BREAK, loc);
  const TdExpr *stop = td_expr_op(l->arena, TD_OP_NOT, cond->type, &cond, 1, loc);
  return td_stmt_if(l->store, stop, td_stmt_block(l->store, &jump, 1, loc), NULL, loc);
}

static const TdExpr *loop_condition(TdIrgen *l, const TdAstExpr *e, TdStmts *list) {
  TdStmts *out = l->out;
  l->out = list;
  TdVal v = td_irgen_settle(l, td_irgen_expr(l, e), "got");
  const TdExpr *c = td_irgen_ok(&v) ? td_irgen_to_bool(l, v) : NULL;
  l->out = out;
  return c;
}

static bool lower_while(TdIrgen *l, const TdAstStmt *s) {
  TdStmts list = {0};
  TdAttrs attrs = {0};
  const TdExpr *cond = loop_condition(l, s->loop.cond, &list);
  if (!cond || !td_irgen_marks(l, s->loc.line, 'W', &attrs)) return false;
  td_irgen_hide_all(l, &list);
  if (list.n) td_vec_push(l->arena, &list, break_unless(l, cond, s->loc));
  const TdStmt *body = body_with(l, &s->loop.body, TD_AT_LOOP, s->loc);
  if (!body) return false;
  if (list.n) {
    for (size_t i = 0; i < body->nkid; i++) td_vec_push(l->arena, &list, body->kid[i]);
    body = td_stmt_block(l->store, list.at, list.n, s->loc);
    cond = td_expr_lit(l->arena, td_type_bool(l->session), 1, s->loc);
  }
  const TdStmt *loop = td_stmt_while(l->store, cond, body, false, s->loc);
  td_irgen_emit(l, td_stmt_with_attrs(l->store, loop, attrs));
  return true;
}

/* Body and condition of a repeat, which sees the locals of the body; NULL on failure. */
static const TdExpr *repeat_body(TdIrgen *l, const TdAstStmt *s, TdStmts *list) {
  TdStmts *out = l->out;
  TdJumpPlace outer = l->frame->jump;
  l->out = list;
  l->frame->jump = TD_AT_LOOP;
  bool ok = td_irgen_block(l, &s->loop.body);
  l->frame->jump = outer;
  TdVal v = ok ? td_irgen_settle(l, td_irgen_expr(l, s->loop.cond), "got") : td_irgen_failed();
  const TdExpr *stop = td_irgen_ok(&v) ? td_irgen_to_bool(l, v) : NULL;
  l->out = out;
  td_irgen_hide_all(l, list);
  return stop;
}

static bool lower_repeat(TdIrgen *l, const TdAstStmt *s) {
  TdStmts list = {0};
  TdAttrs attrs = {0};
  if (!td_irgen_marks(l, s->loc.line, 'W', &attrs)) return false;
  const TdExpr *stop = repeat_body(l, s, &list);
  if (!stop) return false;
  bool negated = stop->kind == TD_EXPR_OP && stop->op == TD_OP_NOT;
  const TdExpr *go =
      negated ? stop->kid[0] : td_expr_op(l->arena, TD_OP_NOT, stop->type, &stop, 1, s->loc);
  const TdStmt *body = td_stmt_block(l->store, list.at, list.n, s->loc);
  const TdStmt *loop = td_stmt_while(l->store, go, body, true, s->loc);
  td_irgen_emit(l, td_stmt_with_attrs(l->store, loop, attrs));
  return true;
}

bool td_irgen_loop(TdIrgen *l, const TdAstStmt *s) {
  switch (s->kind) {
  case TD_AST_FOR: return lower_for(l, s);
  case TD_AST_FOR_IN: return lower_for_in(l, s);
  case TD_AST_WHILE: return lower_while(l, s);
  default: return lower_repeat(l, s);
  }
}

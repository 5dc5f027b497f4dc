/* name.c - names, fields and indices; the entry point of expressions. */
#include <string.h>

#include "frontend/gen/irgen.h"
#include "frontend/lua/habit.h"
#include "frontend/lua/walk_ast.h"

/* Expression e as if it stood at loc. */
static const TdExpr *moved_to(TdIrgen *l, const TdExpr *e, TdLoc loc) {
  TdExpr *copy = td_arena_copy(l->arena, e, sizeof *e + e->nkid * sizeof *e->kid);
  copy->loc = loc;
  return copy;
}

/* What a bound variable is, as a value. */
static TdVal bound_value(TdIrgen *l, const TdBinding *b, TdLoc loc) {
  TdVal v = b->value;
  v.loc = loc;
  if (b->kind == TD_B_SCALAR) {
    bool local = b->sym->kind == TD_SYM_LOCAL;
    return td_irgen_scalar(local ? td_expr_load(l->arena, b->sym, b->type, NULL, 0, loc)
                                 : td_expr_var(l->arena, b->sym, b->type, loc));
  }
  if (b->kind == TD_B_TENSOR) {
    const TdExpr *e = td_expr_whole(l->session, l->arena, b->sym, b->type, loc);
    bool port = b->type->kind == TD_T_PORT;
    return (TdVal){.kind = port ? TD_V_STREAM : TD_V_TENSOR, .e = e, .loc = loc};
  }
  if (v.kind == TD_V_SCALAR) v.e = moved_to(l, v.e, loc);
  return v;
}

static bool note_size(void *ud, const TdExpr *e) {
  if (e->kind == TD_EXPR_SIZE) td_sizes_unknown(ud, e->u.name)->used = true;
  return true;
}

TdVal td_irgen_outside(TdIrgen *l, TdConst c, const char *name, bool own, TdLoc loc) {
  if (c.kind == TD_C_STREAM) {
    if (!l->stream || c.handle == TD_FOREIGN_STREAM) {
      td_irgen_fail(l, "foreign-stream", loc, "'%s' is a stream of another design", name);
      return td_irgen_failed();
    }
    const TdStream *st = &l->stream[c.handle];
    const TdExpr *e = td_expr_whole(l->session, l->arena, st->sym, st->type, loc);
    return (TdVal){.kind = TD_V_STREAM, .e = e, .loc = loc};
  }
  if (c.kind == TD_C_SIZE) {
    td_walk_expr(c.size, note_size, l->sizes);
    return td_irgen_scalar(c.size);
  }
  if (c.kind == TD_C_TENSOR || c.kind == TD_C_STATE)
    return td_irgen_data(l, c, name, own, NULL, loc);
  return td_irgen_const(c, loc);
}

/* The names around a use: of the unit, and locals of the functions around it. */
typedef struct Around {
  TdIrgen *l;
  const TdAstExpr *use;
  TD_VEC(const char *) names;
} Around;

static bool add_declared(void *ud, const TdAstStmt *s) {
  Around *x = ud;
  uint32_t level = x->l->frame->source->level;
  const TdAstLocal *one = s->kind == TD_AST_LOCAL_FUNCTION ? s->function.var : NULL;
  size_t n = s->kind == TD_AST_LOCAL ? s->local.vars.n : one != NULL;
  for (size_t i = 0; i < n; i++) {
    const TdAstLocal *v = one ? one : s->local.vars.at[i];
    if (v->level < level && v->loc.line <= x->use->loc.line && v->name != x->use->name.id)
      td_vec_push(x->l->arena, &x->names, v->name);
  }
  return true;
}

/* The name around a use that is nearest to it, NULL where none is near. */
static const char *meant(TdIrgen *l, const TdAstExpr *e) {
  Around x = {.l = l, .use = e};
  for (size_t i = 0; i < l->visible.cap; i++)
    if (l->visible.full[i] && l->visible.val[i])
      td_vec_push(l->arena, &x.names, (const char *)(uintptr_t)l->visible.key[i]);
  TdAstVisitor v = {.stmt = add_declared, .ud = &x};
  td_walk_ast_block(&v, &l->frame->ast->main->body);
  for (size_t i = 1; i < x.names.n; i++)
    for (size_t k = i; k > 0 && strcmp(x.names.at[k - 1], x.names.at[k]) > 0; k--) {
      const char *t = x.names.at[k];
      x.names.at[k] = x.names.at[k - 1], x.names.at[k - 1] = t;
    }
  const char *near = td_text_nearest(e->name.id, x.names.at, x.names.n);
  if (near) return near;
  TdNameList globals = l->host->keys(l->host->ud, l->frame->fn, true, l->arena);
  return td_text_nearest(e->name.id, globals.at, globals.n);
}

/* Names a use of an undefined global might have meant. */
static TdVal undefined_name(TdIrgen *l, const TdAstExpr *e) {
  td_irgen_fail(l, "undefined", e->loc,
                "undefined name '%s' (not a parameter, local, upvalue or global)", e->name.id);
  const char *habit = td_habit_word(e->name.id), *near = habit ? NULL : meant(l, e);
  if (habit)
    td_diag_help(l->diag, "%s", habit);
  else if (near)
    td_diag_help(l->diag, "did you mean '%s'?", near);
  else
    td_diag_help(l->diag, "a kernel uses what has a value before it is made; none calls itself");
  return td_irgen_failed();
}

/* The value of an upvalue or global of the function; NIL when there is none. */
static bool find_outside(TdIrgen *l, const TdAstExpr *e, TdConst *c) {
  const TdHost *h = l->host;
  if (e->name.binding == TD_AST_IS_GLOBAL) return h->global(h->ud, l->frame->fn, e->name.id, c);
  return h->upvalue(h->ud, l->frame->fn, e->name.upval, c);
}

static TdVal lower_name(TdIrgen *l, const TdAstExpr *e) {
  const TdAstLocal *var = e->name.binding == TD_AST_IS_GLOBAL ? NULL : e->name.var;
  const TdBinding *b = var ? td_map_getp(&l->frame->bound, var) : NULL;
  if (b) return bound_value(l, b, e->loc);
  if (var && var->constant) return td_irgen_expr(l, var->constant);
  TdConst c = {0};
  if (e->name.binding == TD_AST_IS_LOCAL) {
    td_irgen_fail(l, "unbound", e->loc, "'%s' has no value here", e->name.id);
    return td_irgen_failed();
  }
  bool found = find_outside(l, e, &c) && c.kind != TD_C_NIL;
  if (!found && !var) return undefined_name(l, e);
  if (!found) {
    td_irgen_fail(l, "nil-upvalue", e->loc, "upvalue '%s' is nil when the kernel is captured",
                  e->name.id);
    return td_irgen_failed();
  }
  if (c.kind == TD_C_TENSOR || c.kind == TD_C_STATE)
    return td_irgen_data(l, c, e->name.id, true, var, e->loc);
  td_irgen_try_size(l, &c, e->name.id, var);
  return td_irgen_outside(l, c, e->name.id, true, e->loc);
}

/* The source text of a dotted name, for messages. */
static const char *dotted(TdIrgen *l, const TdAstExpr *e) {
  if (e->kind == TD_AST_NAME) return e->name.id;
  if (e->kind == TD_AST_FIELD)
    return td_text_fmt(l->arena, "%s.%s", dotted(l, e->field.of), e->field.key);
  return "this";
}

/* t.shape and t.type of a tensor. */
static TdVal tensor_field(TdIrgen *l, const TdAstExpr *e, TdVal of) {
  if (strcmp(e->field.key, "type") == 0) {
    TdConst c = {.kind = TD_C_TYPE, .u.type = of.e->type};
    return td_irgen_const(c, e->loc);
  }
  td_irgen_fail(l, "field", e->loc, "a tensor has no field '%s' in a kernel", e->field.key);
  if (strcmp(e->field.key, "shape") == 0)
    td_diag_help(l->diag, "shape[1] is its first extent");
  else
    td_diag_help(l->diag, "fields: type, shape; things done are methods, as in t:set(x)");
  return td_irgen_failed();
}

static TdVal lower_field(TdIrgen *l, const TdAstExpr *e) {
  TdVal of = td_irgen_expr(l, e->field.of);
  if (!td_irgen_ok(&of)) return of;
  if (of.kind == TD_V_TENSOR) return tensor_field(l, e, of);
  TdConst c = {0};
  if (of.kind != TD_V_CONST || of.c.kind != TD_C_TABLE) {
    td_irgen_fail(l, "field", e->loc, "'%s' has no fields here", dotted(l, e->field.of));
    td_diag_help(l->diag, "methods are called with a colon: x:%s(..)", e->field.key);
    return td_irgen_failed();
  }
  if (!l->host->field(l->host->ud, of.c.handle, e->field.key, 0, &c) || c.kind == TD_C_NIL) {
    td_irgen_fail(l, "no-field", e->loc, "no field '%s' in '%s'", e->field.key,
                  dotted(l, e->field.of));
    TdNameList keys = l->host->keys(l->host->ud, of.c.handle, false, l->arena);
    td_habit_suggest(l->diag, e->field.key, keys.at, keys.n);
    return td_irgen_failed();
  }
  return td_irgen_outside(l, c, e->field.key, false, e->loc);
}

/* t.shape[k]: extent k - 1. */
static bool shape_index(TdIrgen *l, const TdAstExpr *e, TdVal *out) {
  const TdAstExpr *of = e->index.of;
  if (of->kind != TD_AST_FIELD || strcmp(of->field.key, "shape") != 0) return false;
  TdVal t = td_irgen_expr(l, of->field.of), key = td_irgen_expr(l, e->index.key);
  *out = td_irgen_failed();
  if (!td_irgen_ok(&t) || !td_irgen_ok(&key)) return true;
  if (t.kind != TD_V_TENSOR) return false;
  bool constant = key.kind == TD_V_CONST && key.c.kind == TD_C_INT;
  if (!constant || key.c.u.integer < 1 || key.c.u.integer > t.e->type->rank) {
    td_irgen_fail(l, "rank", e->loc, "shape has the entries 1 to %d", t.e->type->rank);
    return true;
  }
  *out = td_irgen_scalar(t.e->type->dim[key.c.u.integer - 1]);
  return true;
}

static TdVal table_item(TdIrgen *l, TdVal of, TdVal key, TdLoc loc) {
  TdConst c = {0};
  bool known = key.kind == TD_V_CONST && (key.c.kind == TD_C_INT || key.c.kind == TD_C_STRING);
  if (!known) {
    td_irgen_fail(l, "variable-index", loc, "a variable index needs a tensor, and this is %s",
                  td_value_words(&of.c));
    return td_irgen_failed();
  }
  td_irgen_pin(l, &key, 1);
  const char *name = key.c.kind == TD_C_STRING ? key.c.u.string.at : NULL;
  int64_t at = name ? 0 : key.c.u.integer;
  if (!l->host->field(l->host->ud, of.c.handle, name, at, &c) || c.kind == TD_C_NIL) {
    td_irgen_fail(l, "no-field", loc, "no such entry in the table");
    return td_irgen_failed();
  }
  return td_irgen_outside(l, c, name ? name : "item", false, loc);
}

static TdVal lower_index(TdIrgen *l, const TdAstExpr *e) {
  TdVal shape;
  if (shape_index(l, e, &shape)) return shape;
  TdVal of = td_irgen_settle(l, td_irgen_expr(l, e->index.of), "got");
  if (!td_irgen_ok(&of)) return of;
  TdPoint before = td_irgen_point(l);
  TdVal key = td_irgen_settle(l, td_irgen_expr(l, e->index.key), "got");
  if (!td_irgen_ok(&key)) return key;
  of = td_irgen_keep(l, of, before);
  if (of.kind == TD_V_CONST && of.c.kind == TD_C_TABLE) return table_item(l, of, key, e->loc);
  if (of.kind == TD_V_CONST && of.c.kind == TD_C_TYPE)
    return td_irgen_type_index(l, of.c.u.type, key, e->index.key->loc);
  return td_irgen_index(l, of, key, e->index.key->loc);
}

static TdVal refuse(TdIrgen *l, const TdAstExpr *e, const char *help) {
  td_irgen_fail(l, "not-in-kernel", e->loc, "%s is not allowed in a kernel",
                td_ast_expr_words(e->kind));
  if (help) td_diag_help(l->diag, "%s", help);
  return td_irgen_failed();
}

static TdVal string_value(const TdAstExpr *e) {
  TdConst c = {.kind = TD_C_STRING};
  c.u.string.at = e->string.at;
  c.u.string.n = e->string.n;
  return td_irgen_const(c, e->loc);
}

/* A value in parentheses is one value. */
static TdVal first_of(TdVal v) {
  v.more = NULL;
  v.nmore = 0;
  return v;
}

/* The cases of td_irgen_expr, without the guard on depth. */
static TdVal lower_any(TdIrgen *l, const TdAstExpr *e) {
  switch (e->kind) {
  case TD_AST_BOOL: return td_irgen_const(td_value_bool(e->boolean), e->loc);
  case TD_AST_INT: return td_irgen_const(td_value_int(e->integer), e->loc);
  case TD_AST_FLOAT:
    if (e->is_long) l->long_number = e->loc;
    return td_irgen_const(td_value_float(e->number), e->loc);
  case TD_AST_STRING: return string_value(e);
  case TD_AST_NAME: return lower_name(l, e);
  case TD_AST_FIELD: return lower_field(l, e);
  case TD_AST_INDEX: return lower_index(l, e);
  case TD_AST_CALL: return td_irgen_call(l, e);
  case TD_AST_METHOD: return td_irgen_method(l, e);
  case TD_AST_UNARY: return td_irgen_unary(l, e);
  case TD_AST_BINARY: return td_irgen_binary(l, e);
  case TD_AST_PAREN: return first_of(td_irgen_expr(l, e->paren));
  case TD_AST_NIL:
    return refuse(l, e, "every value in a kernel is a number, a boolean or a tensor");
  case TD_AST_TABLE: return refuse(l, e, "use a tensor, or a constant table outside the kernel");
  case TD_AST_FUNCTION: return refuse(l, e, "define the function outside and call it");
  case TD_AST_VARARG: return refuse(l, e, NULL);
  }
  return td_irgen_failed();
}

/* Whether e is nil, or an upvalue that is. */
static bool is_nil(TdIrgen *l, const TdAstExpr *e) {
  while (e->kind == TD_AST_PAREN) e = e->paren;
  if (e->kind != TD_AST_NAME) return e->kind == TD_AST_NIL;
  TdConst c = {0};
  bool outside = e->name.binding == TD_AST_IS_UPVAL && !e->name.var->constant &&
                 !td_map_getp(&l->frame->bound, e->name.var);
  return outside && find_outside(l, e, &c) && c.kind == TD_C_NIL;
}

TdVal td_irgen_expr_or_nil(TdIrgen *l, const TdAstExpr *e) {
  return is_nil(l, e) ? td_irgen_const((TdConst){.kind = TD_C_NIL}, e->loc) : td_irgen_expr(l, e);
}

TdVal td_irgen_expr(TdIrgen *l, const TdAstExpr *e) {
  td_ctx_enter(l->session->ctx);
  TdVal v = lower_any(l, e);
  td_ctx_leave(l->session->ctx);
  return v;
}

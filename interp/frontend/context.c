/* context.c - where a function expression stands: its table constructor, the call around it, the
 * name it gets. */
#include <string.h>

#include "frontend/capture.h"
#include "frontend/lua/walk_ast.h"

typedef struct Search {
  const TdAstFn *fn;
  TdFnContext found;
} Search;

static bool is_fn(const TdAstExpr *e, const TdAstFn *fn) {
  return e->kind == TD_AST_FUNCTION && e->fn == fn;
}

static bool table_holds(const TdAstExpr *t, const TdAstFn *fn) {
  for (size_t i = 0; i < t->table.n; i++)
    if (!t->table.at[i].name && !t->table.at[i].key && is_fn(t->table.at[i].value, fn)) return true;
  return false;
}

/* Finds the table constructor with the function, and the call of which it (or the function) is an
 * argument. */
static bool look_expr(void *ud, const TdAstExpr *e) {
  Search *s = ud;
  if (e->kind == TD_AST_TABLE && table_holds(e, s->fn)) s->found.table = e;
  if (e->kind != TD_AST_CALL && e->kind != TD_AST_METHOD) return true;
  for (size_t i = 0; i < e->call.args.n; i++) {
    const TdAstExpr *a = e->call.args.at[i];
    if (is_fn(a, s->fn) || (a->kind == TD_AST_TABLE && table_holds(a, s->fn))) s->found.call = e;
  }
  return true;
}

/* The name that value e gets when it is the i-th of a list assigned to these places. */
static const char *place_name(const TdAstExpr *target) {
  if (target->kind == TD_AST_NAME) return target->name.id;
  return target->kind == TD_AST_FIELD ? target->field.key : NULL;
}

static const char *function_name(const TdAst *ast, const TdAstFn *fn);

typedef struct NameSearch {
  const TdAstExpr *value;
  const char *name;
} NameSearch;

static bool name_in_expr(void *ud, const TdAstExpr *e) {
  NameSearch *n = ud;
  if (e->kind == TD_AST_TABLE)
    for (size_t i = 0; i < e->table.n; i++)
      if (e->table.at[i].value == n->value && e->table.at[i].name) n->name = e->table.at[i].name;
  return !n->name;
}

static bool name_in_stmt(void *ud, const TdAstStmt *s) {
  NameSearch *n = ud;
  if (s->kind == TD_AST_LOCAL) {
    for (size_t i = 0; i < s->local.values.n && i < s->local.vars.n; i++)
      if (s->local.values.at[i] == n->value) n->name = s->local.vars.at[i]->name;
  } else if (s->kind == TD_AST_ASSIGN) {
    for (size_t i = 0; i < s->assign.values.n && i < s->assign.targets.n; i++)
      if (s->assign.values.at[i] == n->value) n->name = place_name(s->assign.targets.at[i]);
  }
  return !n->name;
}

/* The function whose `return value` this is, or NULL. */
static const TdAstFn *returned_by(const TdAst *ast, const TdAstExpr *value) {
  for (size_t f = 0; f < ast->functions.n; f++) {
    const TdAstBlock *b = &ast->functions.at[f]->body;
    for (size_t i = 0; i < b->n; i++)
      for (size_t k = 0; b->at[i]->kind == TD_AST_RETURN && k < b->at[i]->values.n; k++)
        if (b->at[i]->values.at[k] == value) return ast->functions.at[f];
  }
  return NULL;
}

/* The name that the source gives to a value: variable, field, item, or the function that returns
 * it. */
static const char *value_name(const TdAst *ast, const TdAstExpr *value) {
  NameSearch n = {.value = value};
  TdAstVisitor v = {.expr = name_in_expr, .stmt = name_in_stmt, .ud = &n};
  td_walk_ast_block(&v, &ast->main->body);
  if (n.name) return n.name;
  const TdAstFn *around = returned_by(ast, value);
  return around ? function_name(ast, around) : NULL;
}

typedef struct FnNameSearch {
  const TdAstFn *fn;
  const TdAstExpr *value;
  const char *name;
} FnNameSearch;

static bool fn_in_expr(void *ud, const TdAstExpr *e) {
  FnNameSearch *n = ud;
  if (is_fn(e, n->fn)) n->value = e;
  return true;
}

static bool fn_in_stmt(void *ud, const TdAstStmt *s) {
  FnNameSearch *n = ud;
  if (s->kind == TD_AST_LOCAL_FUNCTION && s->function.fn == n->fn) n->name = s->function.var->name;
  if (s->kind == TD_AST_DEFINE && s->function.fn == n->fn) n->name = place_name(s->function.target);
  return true;
}

/* `local function f`, `function m.f`, `f = function`. */
static const char *function_name(const TdAst *ast, const TdAstFn *fn) {
  FnNameSearch n = {.fn = fn};
  TdAstVisitor v = {.expr = fn_in_expr, .stmt = fn_in_stmt, .ud = &n};
  td_walk_ast_block(&v, &ast->main->body);
  if (n.name || !n.value) return n.name;
  return value_name(ast, n.value);
}

const char *td_context_name(const TdAst *ast, const TdAstExpr *value) {
  return value_name(ast, value);
}

TdFnContext td_context_of(const TdAst *ast, const TdAstFn *fn) {
  Search s = {.fn = fn};
  TdAstVisitor v = {.expr = look_expr, .ud = &s};
  td_walk_ast_block(&v, &ast->main->body);
  if (s.found.call) s.found.name = value_name(ast, s.found.call);
  return s.found;
}

const TdAstItem *td_context_item(const TdAstExpr *table, const char *name) {
  for (size_t i = 0; table && table->kind == TD_AST_TABLE && i < table->table.n; i++)
    if (table->table.at[i].name && strcmp(table->table.at[i].name, name) == 0)
      return &table->table.at[i];
  return NULL;
}

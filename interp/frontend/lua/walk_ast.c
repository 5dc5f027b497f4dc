/* walk_ast.c - visiting a tree of Lua source, inner functions included. */
#include "frontend/lua/walk_ast.h"

static void visit_list(const TdAstVisitor *v, TdAstExprs l) {
  for (size_t i = 0; i < l.n; i++) td_walk_ast_expr(v, l.at[i]);
}

static void visit_table(const TdAstVisitor *v, const TdAstExpr *e) {
  for (size_t i = 0; i < e->table.n; i++) {
    if (e->table.at[i].key) td_walk_ast_expr(v, e->table.at[i].key);
    td_walk_ast_expr(v, e->table.at[i].value);
  }
}

void td_walk_ast_expr(const TdAstVisitor *v, const TdAstExpr *e) {
  if (v->expr && !v->expr(v->ud, e)) return;
  switch (e->kind) {
  case TD_AST_FUNCTION: td_walk_ast_block(v, &e->fn->body); break;
  case TD_AST_TABLE: visit_table(v, e); break;
  case TD_AST_FIELD: td_walk_ast_expr(v, e->field.of); break;
  case TD_AST_INDEX:
    td_walk_ast_expr(v, e->index.of);
    td_walk_ast_expr(v, e->index.key);
    break;
  case TD_AST_CALL:
  case TD_AST_METHOD:
    td_walk_ast_expr(v, e->call.callee);
    visit_list(v, e->call.args);
    break;
  case TD_AST_UNARY: td_walk_ast_expr(v, e->unary.of); break;
  case TD_AST_BINARY:
    td_walk_ast_expr(v, e->binary.left);
    td_walk_ast_expr(v, e->binary.right);
    break;
  case TD_AST_PAREN: td_walk_ast_expr(v, e->paren); break;
  default: break;
  }
}

static void visit_arms(const TdAstVisitor *v, const TdAstStmt *s) {
  for (size_t i = 0; i < s->arms.n; i++) {
    if (s->arms.at[i].cond) td_walk_ast_expr(v, s->arms.at[i].cond);
    td_walk_ast_block(v, &s->arms.at[i].body);
  }
}

static void visit_stmt(const TdAstVisitor *v, const TdAstStmt *s) {
  if (v->stmt && !v->stmt(v->ud, s)) return;
  switch (s->kind) {
  case TD_AST_LOCAL: visit_list(v, s->local.values); break;
  case TD_AST_LOCAL_FUNCTION: td_walk_ast_block(v, &s->function.fn->body); break;
  case TD_AST_DEFINE:
    td_walk_ast_expr(v, s->function.target);
    td_walk_ast_block(v, &s->function.fn->body);
    break;
  case TD_AST_ASSIGN:
    visit_list(v, s->assign.targets);
    visit_list(v, s->assign.values);
    break;
  case TD_AST_EVAL:
    td_walk_ast_expr(v, s->call);
    visit_list(v, s->rest);
    break;
  case TD_AST_DO: td_walk_ast_block(v, &s->block); break;
  case TD_AST_WHILE:
  case TD_AST_REPEAT:
    td_walk_ast_expr(v, s->loop.cond);
    td_walk_ast_block(v, &s->loop.body);
    break;
  case TD_AST_IF: visit_arms(v, s); break;
  case TD_AST_FOR:
  case TD_AST_FOR_IN:
    visit_list(v, s->each.over);
    td_walk_ast_block(v, &s->each.body);
    break;
  case TD_AST_RETURN: visit_list(v, s->values); break;
  default: break;
  }
}

void td_walk_ast_block(const TdAstVisitor *v, const TdAstBlock *b) {
  for (size_t i = 0; i < b->n; i++) visit_stmt(v, b->at[i]);
}

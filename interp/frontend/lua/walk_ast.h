/* walk_ast.h - visiting a tree of Lua source. */
#ifndef TD_FRONTEND_LUA_WALK_AST_H
#define TD_FRONTEND_LUA_WALK_AST_H

#include "frontend/lua/ast.h"

/* Called before the children of a node; returning false skips them. Either may be NULL. */
typedef struct TdAstVisitor {
  bool (*expr)(void *ud, const TdAstExpr *e);
  bool (*stmt)(void *ud, const TdAstStmt *s);
  void *ud;
} TdAstVisitor;

/* Visit an expression, or each statement of a block, and all below it, in source order. */
void td_walk_ast_expr(const TdAstVisitor *v, const TdAstExpr *e);
void td_walk_ast_block(const TdAstVisitor *v, const TdAstBlock *b);

#endif

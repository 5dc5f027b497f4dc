/* ast.c - questions to a parsed chunk, and the words for its nodes. */
#include "frontend/lua/ast.h"

TdAstFns td_ast_functions(const TdAst *ast, TdArena *a, uint32_t first, uint32_t last) {
  TD_VEC(const TdAstFn *) found = {0};
  for (size_t i = 0; i < ast->functions.n; i++) {
    const TdAstFn *fn = ast->functions.at[i];
    if (fn->line_defined == first && fn->last_line_defined == last) td_vec_push(a, &found, fn);
  }
  return (TdAstFns){found.at, found.n};
}

#define WORDS(kind, words) [TD_AST_##kind] = words,
#define TEXT(op, text, left, right) [TD_AST_##op] = text,

const char *td_ast_expr_words(TdAstExprKind kind) {
  static const char *const words[] = {TD_AST_EXPRS(WORDS)};
  return words[kind];
}

const char *td_ast_stmt_words(TdAstStmtKind kind) {
  static const char *const words[] = {TD_AST_STMTS(WORDS)};
  return words[kind];
}

const char *td_ast_binary_text(TdAstBinary op) {
  static const char *const words[] = {TD_AST_BINARIES(TEXT)};
  return words[op];
}

const char *td_ast_unary_text(TdAstUnary op) {
  static const char *const words[] = {TD_AST_UNARIES(WORDS)};
  return words[op];
}

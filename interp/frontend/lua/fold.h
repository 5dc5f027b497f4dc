/* fold.h - the expressions that Lua's compiler replaces by a literal. */
#ifndef TD_FRONTEND_LUA_FOLD_H
#define TD_FRONTEND_LUA_FOLD_H

#include "frontend/lua/ast.h"

/* The literal that `op of` or `left op right` is to Lua's compiler, given those of the operands
 * (NULL: none); owned by a. NULL when it is computed at run time. */
const TdAstExpr *td_fold_unary(TdArena *a, TdAstUnary op, const TdAstExpr *of);
const TdAstExpr *td_fold_binary(TdArena *a, TdAstBinary op, const TdAstExpr *left,
                                const TdAstExpr *right);

#endif

/* operator.h - operators and indices in the source of what runs. */
#ifndef TD_BIND_SESSION_OPERATOR_H
#define TD_BIND_SESSION_OPERATOR_H

#include "bind/bind.h"

/* The operator or index on a line of ast whose metamethod is running, called by the Lua function at
 * `level`; `event` is its name as lua_getinfo has it. NULL where several might be. */
const TdAstExpr *td_bind_find_operator(lua_State *L, const TdAst *ast, uint32_t line, int level,
                                       const char *event);

#endif

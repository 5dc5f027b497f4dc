/* jupyter.h - the Jupyter kernel, a module that `tide kernel` loads; the other files are its own.
 */
#ifndef TD_REPL_JUPYTER_H
#define TD_REPL_JUPYTER_H

#include "base/text.h"

struct lua_State;

/* Serves the session of L to the front ends of a connection file until one of them shuts it down.
 * info is the content of kernel_info_reply as JSON. False with *why filled when it cannot begin. */
bool td_jupyter_serve(struct lua_State *L, const char *connection, const char *info, TdText *why);

/* The type of td_jupyter_serve, for who looks it up. */
typedef bool TdJupyterServe(struct lua_State *L, const char *connection, const char *info,
                            TdText *why);

#endif

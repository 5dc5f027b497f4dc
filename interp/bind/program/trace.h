/* trace.h - operators, casts and calls on values that stdlib traces. */
#ifndef TD_BIND_PROGRAM_TRACE_H
#define TD_BIND_PROGRAM_TRACE_H

#include "bind/bind.h"

/* Whether an argument of the running C function is traced. */
bool td_bind_has_traced(lua_State *L);
/* The function of that name, applied to the arguments, as a traced value: returns 1. */
int td_bind_trace(lua_State *L, const char *word);
/* Gives sizes the operators that are traced, and Lua the module tide.trace. */
void td_bind_open_trace(lua_State *L);

#endif

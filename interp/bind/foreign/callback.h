/* callback.h - Lua functions that C calls. */
#ifndef TD_BIND_CALLBACK_H
#define TD_BIND_CALLBACK_H

#include "bind/bind.h"

/* Keeps the function at idx for the session; the number that it goes by. */
int td_callback_keep(lua_State *L, int idx);
/* Has the session run such functions, by their numbers, when C calls them. */
void td_callback_open(TdBind *b);
/* Raises the error that one of them failed with. */
int td_callback_raise(lua_State *L);

#endif

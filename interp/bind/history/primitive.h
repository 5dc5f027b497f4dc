/* primitive.h - primitives, recipes and steps as Lua values. */
#ifndef TD_BIND_HISTORY_PRIMITIVE_H
#define TD_BIND_HISTORY_PRIMITIVE_H

#include "bind/bind.h"
#include "history/schedule.h"

/* Pushes the one userdata that stands for a primitive. */
void td_bind_push_primitive(lua_State *L, const TdPrim *p);
/* What help says of the recipe of a name; false: there is none. */
bool td_bind_show_recipe(lua_State *L, TdText *out, const char *name);
void td_bind_open_primitive(lua_State *L);

/* taken.c: pushes the step that made version v of the schedule at idx. */
void td_bind_push_taken(lua_State *L, int idx, const TdVersion *v);
void td_bind_open_taken(lua_State *L);

#endif

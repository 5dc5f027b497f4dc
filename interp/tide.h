/* tide.h - the one public header: how a program that embeds Lua gets Tide. */
#ifndef TIDE_H
#define TIDE_H

#define TIDE_VERSION "0.1.0"

struct lua_State;

/* Opens the module "tide" and leaves its table on the stack (for luaL_requiref or package.preload).
 */
int luaopen_tide(struct lua_State *L);

#endif

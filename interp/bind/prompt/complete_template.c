/* complete_template.c - stdlib's templates and codes of errors by name, and the parameters of a
 * template that is called. */
#include <string.h>

#include "bind/prompt/complete.h"

/* Adds the field `name` of the table on top, with its field `help`. */
static void add(lua_State *L, const char *help_key, TdPromptItems *out) {
  const char *name = td_bind_opt_string(L, -1, "name"), *help = td_bind_opt_string(L, -1, help_key);
  if (name)
    td_complete_add(out, name, strlen(name), help ? td_arena_strdup(out->arena, help) : NULL);
}

void td_complete_add_library(lua_State *L, const char *module, TdPromptItems *out) {
  td_help_push_library(L, module, "list", NULL);
  for (lua_Integer i = 1; lua_istable(L, -1) && lua_rawgeti(L, -1, i) == LUA_TTABLE; i++) {
    add(L, "summary", out);
    lua_pop(L, 1);
  }
}

bool td_complete_parameter(lua_State *L, const TdBefore *b, size_t callee, TdPromptItems *out) {
  size_t first = callee;
  while (first > 1 && b->s[b->token.at[first - 1].at] == '.') first -= 2;
  td_complete_push_path(L, b, first, callee);
  bool is_template = lua_istable(L, -1) && luaL_getmetafield(L, -1, "__name") == LUA_TSTRING &&
                     strcmp(lua_tostring(L, -1), "tide.template") == 0;
  if (!is_template) return false;
  lua_pop(L, 1);
  lua_getfield(L, -1, "params");
  for (lua_Integer i = 1; lua_rawgeti(L, -1, i) == LUA_TTABLE; i++) {
    add(L, "help", out);
    lua_pop(L, 1);
  }
  return true;
}

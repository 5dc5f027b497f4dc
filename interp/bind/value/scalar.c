/* scalar.c - elements of tensors as Lua numbers and booleans, and back. */
#include "bind/prompt/prompt.h"
#include "bind/value/tensor.h"

/* What Lua's own values are. */
static const TdType boolean = {.kind = TD_T_BOOL, .w = 1};
static const TdType integer = {.kind = TD_T_INT, .w = 64};
static const TdType number = {.kind = TD_T_FLOAT, .w = 64};

bool td_bind_to_bits(lua_State *L, int idx, const TdType *t, uint64_t *bits) {
  TdFault none;
  if (lua_isboolean(L, idx)) {
    *bits = td_num_cast(t, &boolean, (uint64_t)lua_toboolean(L, idx), &none);
    return true;
  }
  if (lua_type(L, idx) != LUA_TNUMBER || t->kind == TD_T_BOOL) return false;
  if (lua_isinteger(L, idx))
    *bits = td_num_cast(t, &integer, (uint64_t)lua_tointeger(L, idx), &none);
  else
    *bits = td_num_cast(t, &number, td_num_of_double(lua_tonumber(L, idx)), &none);
  return true;
}

bool td_bind_to_stored(lua_State *L, int idx, const TdType *t, uint64_t *bits) {
  bool whole = td_type_is_integer(t) || t->kind == TD_T_INDEX;
  if (lua_isboolean(L, idx) && t->kind != TD_T_BOOL) return false;
  if (lua_type(L, idx) == LUA_TNUMBER && !lua_isinteger(L, idx) && whole) return false;
  return td_bind_to_bits(L, idx, t, bits);
}

const char *td_bind_words(lua_State *L, int idx) {
  switch (lua_type(L, idx)) {
  case LUA_TNIL: return "nil";
  case LUA_TNUMBER: return lua_isinteger(L, idx) ? "an integer" : "a float";
  case LUA_TBOOLEAN: return "a boolean";
  case LUA_TSTRING: return "a string";
  case LUA_TTABLE: return "a table";
  case LUA_TFUNCTION: return "a function";
  case LUA_TNONE: return "nothing";
  default: break;
  }
  const char *origin, *words = NULL;
  if (luaL_getmetafield(L, idx, "__name") == LUA_TSTRING) {
    words = td_help_class(lua_tostring(L, -1), &origin);
    lua_pop(L, 1);
  }
  return words ? words : luaL_typename(L, idx);
}

int td_bind_fail_stored(lua_State *L, int idx, const TdType *t, const char *where) {
  TdArena *a = td_bind_arena(L);
  const char *type = td_type_str(a, t);
  bool scalar = lua_type(L, idx) == LUA_TNUMBER || lua_isboolean(L, idx);
  const char *help = !scalar                ? NULL
                     : t->kind == TD_T_BOOL ? "compare it: x ~= 0"
                                            : td_text_fmt(a, "convert it: %s(x)", type);
  return td_bind_refuse(L, TD_USAGE, scalar ? "needs-cast" : "arguments", help,
                        "%s%s does not become %s by itself", where, td_bind_words(L, idx), type);
}

void td_bind_push_bits(lua_State *L, const TdType *t, uint64_t bits) {
  switch (t->kind) {
  case TD_T_BOOL: lua_pushboolean(L, bits != 0); break;
  case TD_T_FLOAT: lua_pushnumber(L, td_num_double(bits)); break;
  case TD_T_FIXED:
  case TD_T_UFIXED: lua_pushnumber(L, td_num_to_double(t, bits)); break;
  default: lua_pushinteger(L, (lua_Integer)bits);
  }
}

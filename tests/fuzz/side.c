/* side.c - the Lua state of a case. */
#include "tests/fuzz/side.h"

#include <lualib.h>
#include <stdlib.h>

#include "bind/bind.h"
#include "tide.h"

#define UNITS "fuzz.units"

Side side_open(void) {
  lua_State *L = luaL_newstate();
  if (!L) abort();
  luaL_openlibs(L);
  luaL_requiref(L, "tide", luaopen_tide, 0);
  lua_newtable(L);
  lua_setfield(L, LUA_REGISTRYINDEX, UNITS);
  lua_settop(L, 0);
  TdBind *b = td_bind_enter(L);
  return (Side){L, b->session, b->affine};
}

void side_close(Side *s) {
  lua_close(s->L);
  *s = (Side){0};
}

typedef struct Call {
  void (*fn)(void *ud);
  void *ud;
} Call;

static int l_call(lua_State *L) {
  Call *c = lua_touserdata(L, 1);
  td_bind_enter(L);
  c->fn(c->ud);
  return 0;
}

/* The error on top of the stack in words, kept alive. */
static const char *keep_error(lua_State *L) {
  const char *text = luaL_tolstring(L, -1, NULL);
  lua_getfield(L, LUA_REGISTRYINDEX, UNITS);
  lua_pushvalue(L, -2);
  luaL_ref(L, -2);
  lua_pop(L, 2);
  return text;
}

bool side_protect(Side *s, void (*fn)(void *ud), void *ud, const char **why) {
  Call c = {fn, ud};
  lua_pushcfunction(s->L, l_call);
  lua_pushlightuserdata(s->L, &c);
  if (lua_pcall(s->L, 1, 0, 0) == LUA_OK) return true;
  *why = keep_error(s->L);
  lua_settop(s->L, 0);
  return false;
}

/* Calls load(text, name) and leaves the function, or false with *why set. */
static bool push_chunk(lua_State *L, const char *text, const char *name, const char **why) {
  lua_getglobal(L, "load");
  lua_pushstring(L, text);
  lua_pushstring(L, name);
  lua_call(L, 2, 2);
  if (!lua_isnil(L, -2)) {
    lua_pop(L, 1);
    return true;
  }
  *why = keep_error(L);
  lua_pop(L, 1);
  return false;
}

const TdProg *side_load(Side *s, const char *text, const char **why) {
  lua_State *L = s->L;
  int top = lua_gettop(L);
  luaL_checkstack(L, 10, "side");
  const TdProg *p = NULL;
  if (push_chunk(L, text, "=kernel", why)) {
    if (lua_pcall(L, 0, 1, 0) != LUA_OK)
      *why = keep_error(L);
    else if (!(p = td_bind_test_unit(L, -1)))
      *why = "the chunk returns no unit";
  }
  if (p) {
    lua_getfield(L, LUA_REGISTRYINDEX, UNITS);
    lua_pushvalue(L, -2);
    lua_rawsetp(L, -2, p);
  }
  lua_settop(L, top);
  td_bind_enter(L);
  return p;
}

const char *side_replay(Side *s, TdArena *a, const TdProg *kernel, const char *log,
                        const char **why) {
  lua_State *L = s->L;
  int top = lua_gettop(L);
  luaL_checkstack(L, 10, "side");
  const TdProg *p = NULL;
  if (push_chunk(L, log, "=log", why)) {
    lua_getfield(L, LUA_REGISTRYINDEX, UNITS);
    lua_rawgetp(L, -1, kernel);
    lua_remove(L, -2);
    if (lua_pcall(L, 1, 1, 0) != LUA_OK)
      *why = keep_error(L);
    else if (!(p = td_bind_test_schedule(L, -1)))
      *why = "the log returns no schedule";
  }
  TdText text = td_text_new(a);
  if (p) td_print_prog(&text, p);
  lua_settop(L, top);
  td_bind_enter(L);
  return p ? td_text_str(&text) : NULL;
}

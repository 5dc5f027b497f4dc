/* host.c - values of the Lua program as the frontend asks for them: raw reads only, no user
 * code runs. */
#include <stdlib.h>
#include <string.h>

#include "bind/bind.h"
#include "bind/value/layout.h"
#include "bind/foreign/callback.h"

#define KEY_WORDS "tide.words"

/* The host's user data: where the functions and tables met so far are kept. */
typedef struct Host {
  lua_State *L;
  int anchor;
} Host;

uintptr_t td_bind_handle(lua_State *L, int anchor, int idx) {
  idx = lua_absindex(L, idx);
  lua_pushvalue(L, idx);
  lua_rawget(L, anchor);
  lua_Integer n = lua_tointeger(L, -1);
  lua_pop(L, 1);
  if (n) return (uintptr_t)n;
  n = (lua_Integer)lua_rawlen(L, anchor) + 1;
  lua_pushvalue(L, idx);
  lua_rawseti(L, anchor, n);
  lua_pushvalue(L, idx);
  lua_pushinteger(L, n);
  lua_rawset(L, anchor);
  return (uintptr_t)n;
}

/* The word that the function at idx is, or -1. */
static int word_of(lua_State *L, int idx) {
  idx = lua_absindex(L, idx);
  lua_getfield(L, LUA_REGISTRYINDEX, KEY_WORDS);
  lua_pushvalue(L, idx);
  lua_rawget(L, -2);
  int word = lua_isnil(L, -1) ? -1 : (int)lua_tointeger(L, -1);
  lua_pop(L, 2);
  return word;
}

static TdConst function_const(lua_State *L, int anchor, int idx) {
  int word = word_of(L, idx);
  TdConst c = {.kind = TD_C_WORD};
  if (word >= 0) {
    c.u.word = word;
  } else if (lua_iscfunction(L, idx)) {
    c.kind = TD_C_OTHER;
    c.u.what = "a C function";
  } else {
    c.kind = TD_C_FUNCTION;
    c.handle = td_bind_handle(L, anchor, idx);
  }
  return c;
}

static TdConst userdata_const(lua_State *L, int anchor, int idx) {
  TdConst c = {.kind = TD_C_OTHER, .u.what = "a userdata"};
  if (td_bind_test_stream(L, idx, &c)) return c;
  const TdType *t = td_bind_test_type(L, idx);
  TdTensorBox *box = t ? NULL : td_bind_test_tensor(L, idx);
  const TdProg *prog = t || box ? NULL : td_bind_test_unit(L, idx);
  const TdExpr *size = t || box || prog ? NULL : td_bind_test_size(L, idx);
  const TdLayoutBox *layout = td_bind_test_layout(L, idx);
  if (t) {
    c.kind = TD_C_TYPE;
    c.u.type = t;
  } else if (box) {
    c.kind = box->order ? TD_C_STATE : TD_C_TENSOR;
    c.u.tensor = box->tensor;
    c.handle = td_bind_handle(L, anchor, idx);
  } else if (prog) {
    c.kind = TD_C_UNIT;
    c.u.prog = prog;
    c.handle = td_bind_handle(L, anchor, idx);
  } else if (size) {
    c.kind = TD_C_SIZE;
    c.size = size;
  } else if (layout && layout->text) {
    c.kind = TD_C_LAYOUT;
    c.u.string.at = layout->text;
    c.u.string.n = strlen(layout->text);
  }
  return c;
}

/* The Lua value at idx as a compile-time value. */
static TdConst const_of(lua_State *L, int anchor, int idx) {
  TdConst c = {.kind = TD_C_NIL};
  switch (lua_type(L, idx)) {
  case LUA_TNIL:
  case LUA_TNONE: return c;
  case LUA_TBOOLEAN: return td_value_bool(lua_toboolean(L, idx) != 0);
  case LUA_TNUMBER:
    return lua_isinteger(L, idx) ? td_value_int(lua_tointeger(L, idx))
                                 : td_value_float(lua_tonumber(L, idx));
  case LUA_TSTRING:
    c.kind = TD_C_STRING;
    c.u.string.at = lua_tolstring(L, idx, &c.u.string.n);
    td_bind_handle(L, anchor, idx);
    return c;
  case LUA_TTABLE:
    c.kind = TD_C_TABLE;
    c.handle = td_bind_handle(L, anchor, idx);
    return c;
  case LUA_TFUNCTION: return function_const(L, anchor, idx);
  case LUA_TUSERDATA: return userdata_const(L, anchor, idx);
  default:
    c.kind = TD_C_OTHER;
    c.u.what = td_bind_words(L, idx);
    return c;
  }
}

/* Pushes the value of a handle. */
static void push_handle(const Host *h, uintptr_t handle) {
  lua_rawgeti(h->L, h->anchor, (lua_Integer)handle);
}

static bool host_upvalue(void *ud, uintptr_t fn, int index, TdConst *out) {
  const Host *h = ud;
  push_handle(h, fn);
  bool ok = lua_getupvalue(h->L, -1, index + 1) != NULL;
  if (ok) *out = const_of(h->L, h->anchor, -1);
  lua_pop(h->L, ok ? 2 : 1);
  return ok;
}

/* Pushes t[key] for the table on top, following __index tables without running code; replaces the
 * table. */
static void raw_index(lua_State *L, const char *key) {
  for (int depth = 0; depth < 8; depth++) {
    lua_pushstring(L, key);
    lua_rawget(L, -2);
    if (!lua_isnil(L, -1) || !lua_getmetatable(L, -2)) break;
    lua_pushliteral(L, "__index");
    lua_rawget(L, -2);
    if (!lua_istable(L, -1)) {
      lua_pop(L, 2);
      break;
    }
    lua_replace(L, -4);
    lua_pop(L, 2);
  }
  lua_replace(L, -2);
}

/* Pushes the environment of function fn: its upvalue _ENV, or the table of globals. */
static void push_environment(const Host *h, uintptr_t fn) {
  push_handle(h, fn);
  for (int i = 1;; i++) {
    const char *name = lua_getupvalue(h->L, -1, i);
    if (!name) break;
    if (strcmp(name, "_ENV") == 0 && lua_istable(h->L, -1)) {
      lua_replace(h->L, -2);
      return;
    }
    lua_pop(h->L, 1);
  }
  lua_pop(h->L, 1);
  lua_pushglobaltable(h->L);
}

static bool host_global(void *ud, uintptr_t fn, const char *name, TdConst *out) {
  const Host *h = ud;
  push_environment(h, fn);
  raw_index(h->L, name);
  *out = const_of(h->L, h->anchor, -1);
  lua_pop(h->L, 1);
  return true;
}

static bool host_field(void *ud, uintptr_t table, const char *name, int64_t key, TdConst *out) {
  const Host *h = ud;
  push_handle(h, table);
  if (name) {
    raw_index(h->L, name);
  } else {
    lua_rawgeti(h->L, -1, key);
    lua_replace(h->L, -2);
  }
  *out = const_of(h->L, h->anchor, -1);
  lua_pop(h->L, 1);
  return true;
}

static int compare_names(const void *x, const void *y) {
  return strcmp(*(const char *const *)x, *(const char *const *)y);
}

/* The keys of the table and of those behind it by __index. */
static TdNameList host_keys(void *ud, uintptr_t of, bool globals, TdArena *a) {
  const Host *h = ud;
  lua_State *L = h->L;
  TD_VEC(const char *) names = {0};
  if (globals)
    push_environment(h, of);
  else
    push_handle(h, of);
  for (int depth = 0; depth < 8 && lua_istable(L, -1); depth++) {
    for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1))
      if (lua_type(L, -2) == LUA_TSTRING)
        td_vec_push(a, &names, (const char *)td_arena_strdup(a, lua_tostring(L, -2)));
    if (!lua_getmetatable(L, -1)) break;
    lua_pushliteral(L, "__index");
    lua_rawget(L, -2);
    lua_replace(L, -3);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  if (names.n) qsort(names.at, names.n, sizeof *names.at, compare_names);
  return (TdNameList){names.at, names.n};
}

static int64_t host_length(void *ud, uintptr_t table) {
  const Host *h = ud;
  push_handle(h, table);
  int64_t n = (int64_t)lua_rawlen(h->L, -1);
  lua_pop(h->L, 1);
  return n;
}

static bool host_source(void *ud, uintptr_t fn, const TdAst **ast, const TdAstFn **source,
                        TdDiag *d) {
  const Host *h = ud;
  push_handle(h, fn);
  bool ok = td_bind_function(h->L, -1, ast, source, d);
  lua_pop(h->L, 1);
  return ok;
}

static int host_keep(void *ud, uintptr_t fn) {
  const Host *h = ud;
  push_handle(h, fn);
  int n = td_callback_keep(h->L, -1);
  lua_pop(h->L, 1);
  return n;
}

TdHost td_bind_host(lua_State *L, int anchor) {
  TdBind *b = td_bind_enter(L);
  Host *h = TD_NEW(b->session->arena, Host);
  *h = (Host){L, lua_absindex(L, anchor)};
  luaL_checkstack(L, 32, "capture");
  return (TdHost){.ud = h,
                  .upvalue = host_upvalue,
                  .global = host_global,
                  .field = host_field,
                  .keys = host_keys,
                  .length = host_length,
                  .source = host_source,
                  .keep = host_keep};
}

/* words[value of "a.b"] = word for each of the space-separated paths; the module is at `module`,
 * words above it. */
static void note_word(lua_State *L, int module, const char *paths, int word) {
  char path[32];
  while (sscanf(paths, "%31s", path) == 1) {
    paths += strspn(paths, " ") + strlen(path);
    const char *dot = strchr(path, '.');
    if (!dot) {
      lua_getglobal(L, path);
    } else if (strncmp(path, "tide.", 5) == 0) {
      lua_getfield(L, module, dot + 1);
    } else {
      lua_getglobal(L, "math");
      lua_getfield(L, -1, dot + 1);
      lua_remove(L, -2);
    }
    if (!lua_isnil(L, -1)) {
      lua_pushinteger(L, word);
      lua_rawset(L, module + 1);
    } else {
      lua_pop(L, 1);
    }
    if (!*paths) break;
  }
}

void td_bind_note_words(lua_State *L) {
  int module = lua_gettop(L);
  lua_newtable(L);
#define TD_WORD(id, paths) note_word(L, module, paths, TD_WORD_##id);
#define TD_WORD_OP(op, paths) note_word(L, module, paths, TD_WORD_FIRST_OP + TD_OP_##op);
#include "frontend/lua/words.def"
  lua_setfield(L, LUA_REGISTRYINDEX, KEY_WORDS);
}

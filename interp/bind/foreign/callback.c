/* callback.c - Lua functions that C calls. The error of one is held until the C function returns,
 * for nothing may jump over C's frames; until then no other is run. */
#include "bind/foreign/callback.h"

#include <string.h>

#include "bind/value/tensor.h"
#include "ir/foreign.h"

#define KEY_FUNCTIONS "tide.callbacks" /* by number, and the numbers by function */
#define KEY_HELD "tide.callback.error"

int td_callback_keep(lua_State *L, int idx) {
  idx = lua_absindex(L, idx);
  luaL_getsubtable(L, LUA_REGISTRYINDEX, KEY_FUNCTIONS);
  lua_pushvalue(L, idx);
  if (lua_rawget(L, -2) == LUA_TNIL) {
    lua_Integer n = (lua_Integer)lua_rawlen(L, -2) + 1;
    lua_pushvalue(L, idx);
    lua_rawseti(L, -3, n);
    lua_pushvalue(L, idx);
    lua_pushinteger(L, n);
    lua_rawset(L, -4);
    lua_pop(L, 1);
    lua_pushinteger(L, n);
  }
  int n = (int)lua_tointeger(L, -1);
  lua_pop(L, 2);
  return n;
}

/* A call from C. */
typedef struct Call {
  int fn;
  const TdCallback *type;
  void *result;
  void *const *at;
} Call;

/* Copies an array of C's to or from a tensor. */
static void copy_cells(TdTensor *t, void *at, bool back) {
  size_t n = (size_t)td_tensor_count(t) * td_type_bytes(t->type);
  memcpy(back ? at : t->data, back ? (void *)t->data : at, n);
}

/* Runs the function of a call; arrays are copied, and back. */
static int run_protected(lua_State *L) {
  const Call *k = lua_touserdata(L, 1);
  int n = (int)k->type->nparam;
  luaL_checkstack(L, 2 * n + 8, "a function that C calls");
  luaL_getsubtable(L, LUA_REGISTRYINDEX, KEY_FUNCTIONS);
  for (int i = 0; i < n; i++) {
    const TdType *t = k->type->param[i];
    if (td_type_is_scalar(t))
      td_bind_push_bits(L, t, td_num_load(t, k->at[i]));
    else if (k->at[i])
      copy_cells(td_bind_push_tensor(L, t, false), k->at[i], false);
    else
      luaL_error(L, "C gave no array as argument %d of the function", i + 1);
  }
  lua_rawgeti(L, 2, k->fn);
  for (int i = 0; i < n; i++) lua_pushvalue(L, 3 + i);
  lua_call(L, n, k->type->result ? 1 : 0);
  for (int i = 0; i < n; i++)
    if (!td_type_is_scalar(k->type->param[i]))
      copy_cells(td_bind_check_tensor(L, 3 + i), k->at[i], true);
  const TdType *t = k->type->result;
  uint64_t bits;
  if (!t) return 0;
  if (!td_bind_to_bits(L, -1, t, &bits))
    td_bind_fail(L, "callback", "the function that C calls must give %s, not %s",
                 td_type_str(td_bind_arena(L), t), td_bind_words(L, -1));
  td_num_store(t, k->result, bits);
  return 0;
}

static bool is_held(lua_State *L) {
  bool held = lua_getfield(L, LUA_REGISTRYINDEX, KEY_HELD) != LUA_TNIL;
  lua_pop(L, 1);
  return held;
}

/* One call, with the way out, depth and scratch arenas of the call of C kept from it. */
static bool run(void *bind, int fn, const TdCallback *c, void *result, void *const *at) {
  TdBind *b = bind;
  lua_State *L = b->L;
  uint64_t none = 0;
  memcpy(result, &none, sizeof none);
  if (is_held(L) || !lua_checkstack(L, 8)) return false;
  TdCtxState before = td_ctx_state(b->ctx);
  *td_ctx_scratch(b->ctx) = NULL;
  int top = lua_gettop(L);
  Call k = {fn, c, result, at};
  lua_pushcfunction(L, run_protected);
  lua_pushlightuserdata(L, &k);
  bool good = lua_pcall(L, 1, 0, 0) == LUA_OK;
  if (!good) {
    memcpy(result, &none, sizeof none);
    lua_setfield(L, LUA_REGISTRYINDEX, KEY_HELD);
  }
  td_arena_free_scratch(b->ctx);
  *td_ctx_scratch(b->ctx) = before.scratch;
  td_ctx_reset(b->ctx, &before);
  b->L = L;
  lua_settop(L, top);
  return good;
}

static bool has_failed(void *bind) {
  const TdBind *b = bind;
  return is_held(b->L);
}

static void forget(void *bind) {
  const TdBind *b = bind;
  lua_pushnil(b->L);
  lua_setfield(b->L, LUA_REGISTRYINDEX, KEY_HELD);
}

void td_callback_open(TdBind *b) {
  TdForeignBack *back = TD_NEW(b->session->arena, TdForeignBack);
  *back = (TdForeignBack){run, has_failed, forget, b};
  b->session->back = back;
}

int td_callback_raise(lua_State *L) {
  lua_getfield(L, LUA_REGISTRYINDEX, KEY_HELD);
  lua_pushnil(L);
  lua_setfield(L, LUA_REGISTRYINDEX, KEY_HELD);
  return lua_error(L);
}

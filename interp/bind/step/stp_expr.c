/* stp_expr.c - extents and metrics of STeP in Lua: + - * // ==, e:at {D0 = 4}. */
#include <string.h>

#include "bind/step/stp.h"
#include "bind/program/unit.h"

static const char table_key;

TdStpExprs *td_stp_exprs(lua_State *L) {
  TdBind *b = td_bind_enter(L);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &table_key);
  TdStpExprs *x = lua_touserdata(L, -1);
  lua_pop(L, 1);
  if (x) return x;
  x = td_stp_expr_table(b->session->arena);
  lua_pushlightuserdata(L, x);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &table_key);
  return x;
}

void td_stp_push_expr(lua_State *L, const TdStpExpr *e) {
  int64_t v;
  if (td_stp_expr_is_const(e, &v)) {
    lua_pushinteger(L, (lua_Integer)v);
    return;
  }
  td_bind_push_unique(L, TD_CLASS_STP_EXPR, e);
}

const TdStpExpr *td_stp_test_expr(lua_State *L, int idx) {
  int whole;
  if (lua_type(L, idx) == LUA_TNUMBER) {
    lua_Integer v = lua_tointegerx(L, idx, &whole);
    return whole ? td_stp_expr_const(td_stp_exprs(L), v) : NULL;
  }
  const TdStpExpr *const *box = luaL_testudata(L, idx, TD_CLASS_STP_EXPR);
  if (box) return *box;
  const TdExpr *size = td_bind_test_size(L, idx);
  if (!size) return NULL;
  luaL_tolstring(L, idx, NULL);
  const TdStpExpr *e = td_stp_expr_symbol(td_stp_exprs(L), lua_tostring(L, -1));
  lua_pop(L, 1);
  return e;
}

static const TdStpExpr *check_expr(lua_State *L, int idx) {
  const TdStpExpr *e = td_stp_test_expr(L, idx);
  if (!e)
    td_bind_fail(L, "argument", "extents combine with integers and extents, not with %s",
                 td_bind_words(L, idx));
  return e;
}

static int l_add(lua_State *L) {
  const TdStpExpr *a = check_expr(L, 1), *b = check_expr(L, 2);
  td_stp_push_expr(L, td_stp_expr_add(td_stp_exprs(L), a, b));
  return 1;
}

static int l_sub(lua_State *L) {
  const TdStpExpr *a = check_expr(L, 1), *b = check_expr(L, 2);
  TdStpExprs *x = td_stp_exprs(L);
  td_stp_push_expr(L, td_stp_expr_add(x, a, td_stp_expr_scale(x, b, -1)));
  return 1;
}

static int l_mul(lua_State *L) {
  const TdStpExpr *a = check_expr(L, 1), *b = check_expr(L, 2);
  td_stp_push_expr(L, td_stp_expr_mul(td_stp_exprs(L), a, b));
  return 1;
}

static int l_idiv(lua_State *L) {
  const TdStpExpr *a = check_expr(L, 1);
  lua_Integer by = luaL_checkinteger(L, 2);
  if (by < 1) td_bind_fail(L, "argument", "extents are divided by positive integers only");
  td_stp_push_expr(L, td_stp_expr_floor(td_stp_exprs(L), a, by));
  return 1;
}

static int l_eq(lua_State *L) {
  lua_pushboolean(L, check_expr(L, 1) == check_expr(L, 2));
  return 1;
}

static int l_tostring(lua_State *L) {
  lua_pushstring(L, td_stp_expr_str(td_bind_arena(L), check_expr(L, 1)));
  return 1;
}

static bool look_up(void *ud, const char *name, int64_t *v) {
  lua_State *L = ud;
  int whole = 0;
  lua_getfield(L, 2, name);
  *v = lua_tointegerx(L, -1, &whole);
  lua_pop(L, 1);
  return whole != 0;
}

/* e:at {D0 = 4} */
static int l_at(lua_State *L) {
  if (!lua_istable(L, 2))
    td_bind_fail(L, "argument", "at takes a table of values by name, {D0 = 4}, not %s",
                 td_bind_words(L, 2));
  if (lua_type(L, 1) == LUA_TNUMBER) {
    lua_settop(L, 1);
    return 1;
  }
  const TdStpExpr *e = check_expr(L, 1);
  td_stp_push_expr(L, td_stp_expr_at(td_stp_exprs(L), e, look_up, L));
  return 1;
}

static int l_index(lua_State *L) {
  return td_bind_method(L, TD_CLASS_STP_EXPR, luaL_checkstring(L, 2));
}

/* Looks up a method of numbers: an extent or metric without symbols is one, and has `at` too. */
static int l_number_index(lua_State *L) {
  const char *key = luaL_tolstring(L, 2, NULL);
  if (strcmp(key, "at") != 0)
    return luaL_error(L, "attempt to index a number value (with '%s')", key);
  lua_pushcfunction(L, l_at);
  return 1;
}

/* Gives all numbers a metatable, as strings have one. */
static void open_numbers(lua_State *L) {
  static const luaL_Reg meta[] = {{"__index", l_number_index}, {NULL, NULL}};
  lua_pushinteger(L, 0);
  luaL_newlib(L, meta);
  lua_setmetatable(L, -2);
  lua_pop(L, 1);
}

void td_stp_open_expr(lua_State *L) {
  static const luaL_Reg meta[] = {{"__index", l_index},       {"__add", l_add},   {"__sub", l_sub},
                                  {"__mul", l_mul},           {"__idiv", l_idiv}, {"__eq", l_eq},
                                  {"__tostring", l_tostring}, {NULL, NULL}};
  static const luaL_Reg methods[] = {{"at", l_at}, {NULL, NULL}};
  td_bind_class(L, TD_CLASS_STP_EXPR, meta, methods);
  lua_pop(L, 1);
  open_numbers(L);
}

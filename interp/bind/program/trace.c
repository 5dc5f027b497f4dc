/* trace.c - values that stdlib traces (tide.t2s): Tide's operators, casts and calls on them go to
 * tide.t2s.define.expr, and refusals are drawn at a place that was kept; the module tide.trace. */
#include <string.h>

#include "bind/bind.h"
#include "bind/program/trace.h"

/* Whether the value at idx is traced: a table whose metatable has a field __traced. */
static bool is_traced(lua_State *L, int idx) {
  if (!lua_istable(L, idx) || luaL_getmetafield(L, idx, "__traced") == LUA_TNIL) return false;
  lua_pop(L, 1);
  return true;
}

bool td_bind_has_traced(lua_State *L) {
  for (int i = 1; i <= lua_gettop(L); i++)
    if (is_traced(L, i)) return true;
  return false;
}

int td_bind_trace(lua_State *L, const char *word) {
  int n = lua_gettop(L);
  td_stdlib_push_module(L, "tide.t2s.define.expr");
  lua_getfield(L, -1, "apply");
  lua_replace(L, -2);
  lua_insert(L, 1);
  lua_pushstring(L, word);
  lua_insert(L, 2);
  lua_call(L, n + 1, 1);
  return 1;
}

/* Whether tide.t2s is loaded, whose sizes combine beyond what is affine. */
static bool has_front_end(lua_State *L) {
  lua_getfield(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  bool has = lua_getfield(L, -1, "tide.t2s") != LUA_TNIL;
  lua_pop(L, 2);
  return has;
}

/* The affine operator of sizes in upvalue 1, or the operator named by upvalue 2 traced: of a traced
 * value, of two sizes for `*`, by a size for `//` and `%`. */
static int l_size_operator(lua_State *L) {
  const char *word = lua_tostring(L, lua_upvalueindex(2));
  bool sizes[2] = {td_bind_test_size(L, 1) != NULL, td_bind_test_size(L, 2) != NULL};
  bool whole = word[0] == '/' || word[0] == '%' ? sizes[1] : sizes[0] && sizes[1];
  bool linear = word[0] == '+' || word[0] == '-';
  if (td_bind_has_traced(L) || (whole && !linear && has_front_end(L)))
    return td_bind_trace(L, word);
  if (lua_isnil(L, lua_upvalueindex(1))) return td_bind_trace(L, word);
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_call(L, lua_gettop(L) - 1, 1);
  return 1;
}

/* Gives the table on top, under key, the operator of sizes that is traced as word. */
static void set_operator(lua_State *L, const char *key, const char *word) {
  lua_getfield(L, -1, key);
  lua_pushstring(L, word);
  lua_pushcclosure(L, l_size_operator, 2);
  lua_setfield(L, -2, key);
}

/* Pushes what Lua keeps of a place: {name, line, column, id of the source}. */
static void push_place(lua_State *L, TdLoc loc) {
  const TdSources *s = td_bind_enter(L)->session->sources;
  lua_createtable(L, 0, 4);
  td_bind_set_string(L, "name", loc.source ? td_sources_name(s, loc.source) : "?");
  const struct {
    const char *key;
    lua_Integer value;
  } fields[] = {
      {"line", loc.line}, {"column", loc.col}, {"length", loc.len}, {"source", loc.source}};
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
    lua_pushinteger(L, fields[i].value);
    lua_setfield(L, -2, fields[i].key);
  }
}

/* place(): where the user's code called into stdlib. */
static int l_place(lua_State *L) {
  push_place(L, td_bind_user(L));
  return 1;
}

static lua_Integer field_of(lua_State *L, int idx, const char *key) {
  lua_getfield(L, idx, key);
  lua_Integer v = lua_tointeger(L, -1);
  lua_pop(L, 1);
  return v;
}

/* Gives a place of which only the line is known, as of a store in an element, what the line has. */
static void find_column(lua_State *L, TdLoc *loc) {
  size_t n = 0, at = 0;
  const TdSources *s = td_bind_enter(L)->session->sources;
  const char *line =
      loc->source && !loc->col ? td_sources_line(s, loc->source, loc->line, &n) : NULL;
  while (line && at < n && (line[at] == ' ' || line[at] == '\t')) at++;
  if (!line || at == n || n > UINT16_MAX) return;
  loc->col = (uint16_t)(at + 1);
  loc->len = (uint16_t)(n - at);
}

/* refuse(place, kind, code, message, help): an error drawn at a place. */
static int l_refuse(lua_State *L) {
  static const char *const kinds[] = {"usage", "illegal", "unsupported", NULL};
  static const TdDiagKind of[] = {TD_USAGE, TD_ILLEGAL, TD_UNSUPPORTED};
  luaL_checktype(L, 1, LUA_TTABLE);
  TdLoc loc = {.source = (uint32_t)field_of(L, 1, "source"),
               .line = (uint32_t)field_of(L, 1, "line"),
               .col = (uint16_t)field_of(L, 1, "column"),
               .len = (uint16_t)field_of(L, 1, "length")};
  find_column(L, &loc);
  TdDiag d = td_bind_diag(td_bind_arena(L));
  td_diag_set(&d, of[luaL_checkoption(L, 2, NULL, kinds)], luaL_checkstring(L, 3), loc, "%s",
              luaL_checkstring(L, 4));
  if (lua_isstring(L, 5)) td_diag_help(&d, "%s", lua_tostring(L, 5));
  return td_bind_raise(L, &d);
}

/* text(id): the text of a source, nil if there is none. */
static int l_text(lua_State *L) {
  size_t n = 0;
  const TdSources *s = td_bind_enter(L)->session->sources;
  uint32_t id = (uint32_t)luaL_checkinteger(L, 1);
  if (!id) return 0;
  const char *text = td_sources_text(s, id, &n);
  lua_pushlstring(L, text, n);
  return 1;
}

static int l_load(lua_State *L) {
  static const luaL_Reg functions[] = {
      {"place", l_place}, {"refuse", l_refuse}, {"text", l_text}, {NULL, NULL}};
  luaL_newlib(L, functions);
  return 1;
}

/* Whether a text is in the n bytes at s. */
static bool has_text(const char *s, size_t n, const char *text) {
  size_t len = strlen(text);
  for (size_t i = 0; i + len <= n; i++)
    if (memcmp(s + i, text, len) == 0) return true;
  return false;
}

/* Compares a size without a value. In tide.assume(..) of a design the text is read, so any answer
 * will do; elsewhere there is none. */
static int l_size_compare(lua_State *L) {
  size_t n;
  const TdSources *s = td_bind_enter(L)->session->sources;
  TdLoc at = td_bind_user(L);
  const char *line = at.source ? td_sources_line(s, at.source, at.line, &n) : NULL;
  if (line && td_bind_is_building(L) && has_text(line, n, "assume(")) {
    lua_pushboolean(L, true);
    return 1;
  }
  const char *name[2];
  for (int i = 0; i < 2; i++)
    name[i] = td_bind_test_size(L, i + 1) ? TD_CLASS_SIZE : luaL_typename(L, i + 1);
  return luaL_error(L, "attempt to compare %s with %s", name[0], name[1]);
}

void td_bind_open_trace(lua_State *L) {
  static const char *const operators[][2] = {{"__add", "+"},  {"__sub", "-"},   {"__mul", "*"},
                                             {"__mod", "%"},  {"__idiv", "//"}, {"__shl", "<<"},
                                             {"__shr", ">>"}, {"__div", "/"},   {"__concat", ".."}};
  static const char *const tests[] = {"eq", "ne", "lt", "le", "gt", "ge"};
  luaL_getmetatable(L, TD_CLASS_SIZE);
  for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
    set_operator(L, operators[i][0], operators[i][1]);
  lua_createtable(L, 0, 6);
  for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) set_operator(L, tests[i], tests[i]);
  lua_setfield(L, -2, "__index");
  lua_pushcfunction(L, l_size_compare);
  lua_setfield(L, -2, "__lt");
  lua_pushcfunction(L, l_size_compare);
  lua_setfield(L, -2, "__le");
  lua_pop(L, 1);
  td_bind_set_module(L, "tide.trace", l_load);
}

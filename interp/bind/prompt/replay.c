/* replay.c - the inputs that were run, kept for :save. */
#include "bind/prompt/prompt.h"
#include "frontend/lua/input.h"
#include "frontend/lua/parse.h"

#define KEY_INPUTS TD_PROMPT_KEPT
#define KEY_SHOWN "tide.replay.shown"

void td_replay_note_answer(lua_State *L) {
  lua_pushboolean(L, 1);
  lua_setfield(L, LUA_REGISTRYINDEX, KEY_SHOWN);
}

/* Pushes a table of the globals as they are. */
static void push_globals(lua_State *L) {
  lua_newtable(L);
  int copy = lua_gettop(L);
  lua_pushglobaltable(L);
  for (lua_pushnil(L); lua_next(L, copy + 1); lua_pop(L, 1)) {
    lua_pushvalue(L, -2);
    lua_pushvalue(L, -2);
    lua_rawset(L, copy);
  }
  lua_pop(L, 1);
}

/* Whether each global in the table at `of` has its value in the table at `as`. */
static bool has_all(lua_State *L, int of, int as) {
  for (lua_pushnil(L); lua_next(L, of); lua_pop(L, 1)) {
    lua_pushvalue(L, -2);
    lua_rawget(L, as);
    bool same = lua_rawequal(L, -1, -2) != 0;
    lua_pop(L, 1);
    if (same) continue;
    lua_pop(L, 2);
    return false;
  }
  return true;
}

void td_replay_mark(lua_State *L) {
  push_globals(L);
  lua_pushinteger(L, (lua_Integer)td_bind_enter(L)->changes);
  lua_setfield(L, LUA_REGISTRYINDEX, KEY_INPUTS ".changes");
  lua_pushboolean(L, 0);
  lua_setfield(L, LUA_REGISTRYINDEX, KEY_SHOWN);
}

/* Whether globals or schedules are not as the mark at idx says. */
static bool has_changed(lua_State *L, int idx) {
  lua_getfield(L, LUA_REGISTRYINDEX, KEY_INPUTS ".changes");
  bool stepped = (uint64_t)lua_tointeger(L, -1) != td_bind_enter(L)->changes;
  lua_pop(L, 1);
  lua_pushglobaltable(L);
  int now = lua_gettop(L);
  bool same = !stepped && has_all(L, idx, now) && has_all(L, now, idx);
  lua_settop(L, now - 1);
  return !same;
}

void td_replay_note(lua_State *L, const char *text, size_t n, bool ok) {
  int mark = lua_gettop(L);
  if (ok || has_changed(L, mark)) {
    luaL_getsubtable(L, LUA_REGISTRYINDEX, KEY_INPUTS);
    lua_createtable(L, 0, 3);
    lua_pushlstring(L, text, n);
    lua_setfield(L, -2, "text");
    td_bind_set_boolean(L, "ok", ok);
    td_bind_set_boolean(L, "interrupted", td_prompt_was_interrupted());
    lua_getfield(L, LUA_REGISTRYINDEX, KEY_SHOWN);
    lua_setfield(L, -2, "shown");
    lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
  }
  lua_settop(L, mark - 1);
}

/* session.inputs(): the list of {text =, ok =, interrupted =, shown =}. */
static int l_inputs(lua_State *L) {
  luaL_getsubtable(L, LUA_REGISTRYINDEX, KEY_INPUTS);
  return 1;
}

/* Notes a global in the table on top: true where it is assigned to. */
static void note(lua_State *L, const char *name, bool assigned) {
  bool known = lua_getfield(L, -1, name) != LUA_TNIL;
  lua_pop(L, 1);
  if (!known || assigned) td_bind_set_boolean(L, name, assigned);
}

static bool note_name(void *L, const TdAstExpr *e) {
  if (e->kind == TD_AST_NAME && e->name.binding == TD_AST_IS_GLOBAL) note(L, e->name.id, false);
  return true;
}

static void note_target(lua_State *L, const TdAstExpr *e) {
  if (e->kind == TD_AST_NAME && e->name.binding == TD_AST_IS_GLOBAL) note(L, e->name.id, true);
}

static bool note_targets(void *L, const TdAstStmt *s) {
  for (size_t i = 0; s->kind == TD_AST_ASSIGN && i < s->assign.targets.n; i++)
    note_target(L, s->assign.targets.at[i]);
  if (s->kind == TD_AST_DEFINE) note_target(L, s->function.target);
  return true;
}

/* A visitor that looks for what can only stand once in a script, or at its end. */
static bool note_loose(void *loose, const TdAstStmt *s) {
  if (s->kind == TD_AST_RETURN || s->kind == TD_AST_LABEL) *(bool *)loose = true;
  return s->kind != TD_AST_DEFINE && s->kind != TD_AST_LOCAL_FUNCTION;
}

static bool skip_functions(void *ud, const TdAstExpr *e) {
  (void)ud;
  return e->kind != TD_AST_FUNCTION;
}

/* The tree of n bytes of an input, or raises. */
static const TdAst *parse(lua_State *L, TdArena *a, const char *text, size_t n) {
  TdDiag d = td_bind_diag(a);
  TdSources *s = td_sources_new(a);
  uint32_t id = td_sources_add(s, "=input", text, n);
  const TdAst *ast = td_parse_chunk(a, td_names_new(a), s, id, TD_PARSE_INPUT, &d);
  if (!ast) td_bind_raise(L, &d);
  return ast;
}

/* session.script(input): {text =, at =, last =, shows =, loose =, names = {name = is assigned}}. */
static int l_script(lua_State *L) {
  static const char *const lasts[] = {"none", "call", "calls", "value", "return"};
  size_t n;
  const char *text = luaL_checklstring(L, 1, &n);
  TdArena *a = td_bind_arena(L);
  TdDiag d = td_bind_diag(a);
  TdInputScript script = {0};
  if (!td_input_script(a, text, n, parse(L, a, text, n), &script, &d)) td_bind_raise(L, &d);
  const TdAst *ast = parse(L, a, script.text, script.n);
  bool loose = false;
  TdAstVisitor statements = {.stmt = note_loose, .expr = skip_functions, .ud = &loose};
  TdAstVisitor names = {.stmt = note_targets, .expr = note_name, .ud = L};
  td_walk_ast_block(&statements, &ast->main->body);
  lua_newtable(L);
  lua_pushlstring(L, script.text, script.n);
  lua_setfield(L, -2, "text");
  td_bind_set_integer(L, "at", (int64_t)script.at);
  td_bind_set_string(L, "last", lasts[script.last]);
  td_bind_set_boolean(L, "shows", script.shows);
  td_bind_set_boolean(L, "loose", loose);
  lua_newtable(L);
  td_walk_ast_block(&names, &ast->main->body);
  lua_setfield(L, -2, "names");
  return 1;
}

void td_replay_functions(lua_State *L) {
  static const luaL_Reg functions[] = {{"inputs", l_inputs}, {"script", l_script}, {NULL, NULL}};
  luaL_setfuncs(L, functions, 0);
}

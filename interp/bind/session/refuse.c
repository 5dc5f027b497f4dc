/* refuse.c - refusals of what a caller gave: errors with help, option tables; the module
 * tide.refusal, with which stdlib does the same. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "bind/bind.h"
#include "bind/prompt/prompt.h"

int td_bind_refuse(lua_State *L, TdDiagKind kind, const char *code, const char *help,
                   const char *fmt, ...) {
  TdDiag d = td_bind_diag(td_bind_arena(L));
  va_list ap;
  va_start(ap, fmt);
  td_diag_vset(&d, kind, code, td_bind_caller(L), fmt, ap);
  va_end(ap);
  if (help) td_diag_help(&d, "%s", help);
  return td_bind_raise(L, &d);
}

int td_bind_expect(lua_State *L, int idx, const char *what) {
  bool colon = idx == 1 && !lua_isnoneornil(L, 1) && !lua_isuserdata(L, 1);
  static const char dot[] = "methods are called as x:name(...)";
  const char *origin = td_help_origin(what);
  const char *both = colon && origin ? td_text_fmt(td_bind_arena(L), "%s; %s", origin, dot) : dot;
  return td_bind_refuse(L, TD_USAGE, "argument", colon ? both : origin, "%s is expected, not %s",
                        what, td_bind_words(L, idx));
}

int td_bind_misuse(lua_State *L, int idx, const char *function, const char *what) {
  const char *name, *usage = NULL, *summary;
  size_t i = 0;
  while ((name = td_help_function(i, &usage, &summary)) && strcmp(name, function) != 0) i++;
  const char *colon = strchr(function, ':');
  return td_bind_refuse(L, TD_USAGE, "argument", usage, "%s takes %s, not %s",
                        colon ? colon + 1 : function, what, td_bind_words(L, idx));
}

static size_t count_of(const char *const *names) {
  size_t n = 0;
  while (names[n]) n++;
  return n;
}

/* The place of word among names, or raises: `what` word is not one of them, but near to one. */
static int find(lua_State *L, const char *code, const char *what, const char *word,
                const char *const *names) {
  size_t n = count_of(names);
  for (size_t i = 0; i < n; i++)
    if (strcmp(word, names[i]) == 0) return (int)i;
  TdText all = td_text_new(td_bind_arena(L));
  for (size_t i = 0; i < n; i++) td_text_putf(&all, "%s%s", i ? ", " : "", names[i]);
  const char *near = td_text_nearest(word, names, n);
  const char *help = near ? td_text_fmt(all.arena, "did you mean '%s'?", near)
                          : td_text_fmt(all.arena, "there is %s", td_text_str(&all));
  return td_bind_refuse(L, TD_USAGE, code, help, "unknown %s '%s'", what, word);
}

void td_bind_warn(lua_State *L, const char *message) {
  TdText out = td_text_new(td_bind_arena(L));
  td_text_putf(&out, "warning: %s\n", message);
  td_diag_print_place(&out, td_bind_user(L), td_bind_enter(L)->session->sources);
  fputs(td_text_str(&out), stderr);
}

bool td_bind_check_options(lua_State *L, int idx, const char *const *names) {
  if (lua_isnoneornil(L, idx)) return false;
  idx = lua_absindex(L, idx);
  if (!lua_istable(L, idx))
    td_bind_fail(L, "arguments", "options are a table, not %s", td_bind_words(L, idx));
  for (lua_pushnil(L); lua_next(L, idx); lua_pop(L, 1))
    if (lua_type(L, -2) == LUA_TSTRING)
      find(L, "unknown-option", "option", lua_tostring(L, -2), names);
    else
      td_bind_fail(L, "unknown-option", "options have names: {%s = ...}", names[0]);
  return true;
}

int td_bind_opt_word(lua_State *L, int idx, const char *key, const char *const *words,
                     int otherwise) {
  if (lua_getfield(L, idx, key) == LUA_TNIL) {
    lua_pop(L, 1);
    return otherwise;
  }
  if (lua_type(L, -1) != LUA_TSTRING)
    td_bind_fail(L, "option-value", "option '%s' is a string, not %s", key, td_bind_words(L, -1));
  int at = find(L, "option-value", key, lua_tostring(L, -1), words);
  lua_pop(L, 1);
  return at;
}

/* raise(code, message, help): a usage error at the line of the user that called into stdlib. */
static int l_raise(lua_State *L) {
  TdDiag d = td_bind_diag(td_bind_arena(L));
  td_diag_set(&d, TD_USAGE, luaL_checkstring(L, 1), td_bind_user(L), "%s", luaL_checkstring(L, 2));
  if (lua_isstring(L, 3)) td_diag_help(&d, "%s", lua_tostring(L, 3));
  return td_bind_raise(L, &d);
}

/* nearest(word, names): the one of a list of names that was meant, or nil. */
static int l_nearest(lua_State *L) {
  const char *word = luaL_checkstring(L, 1);
  luaL_checktype(L, 2, LUA_TTABLE);
  TdArena *a = td_bind_arena(L);
  size_t n = lua_rawlen(L, 2);
  const char **names = TD_NEWN(a, const char *, n + 1);
  for (size_t i = 0; i < n; i++) {
    lua_rawgeti(L, 2, (lua_Integer)i + 1);
    names[i] = td_arena_strdup(a, luaL_checkstring(L, -1));
    lua_pop(L, 1);
  }
  lua_pushstring(L, td_text_nearest(word, names, n));
  return 1;
}

/* Calls upvalue 1. */
static int l_enter(lua_State *L) {
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
  return lua_gettop(L);
}

/* entry(f): f as a C function, so that a caller's `return f(x)` keeps its line. */
static int l_entry(lua_State *L) {
  luaL_checktype(L, 1, LUA_TFUNCTION);
  lua_settop(L, 1);
  lua_pushcclosure(L, l_enter, 1);
  return 1;
}

static int l_load(lua_State *L) {
  static const luaL_Reg functions[] = {
      {"raise", l_raise}, {"nearest", l_nearest}, {"entry", l_entry}, {NULL, NULL}};
  luaL_newlib(L, functions);
  return 1;
}

void td_bind_open_refuse(lua_State *L) {
  td_bind_set_module(L, "tide.refusal", l_load);
}

/* question.c - what builds answer beside a run, in Lua: m:lint(), m:cost {..}, m:prove {..}. The
 * answer is a table that prints as the text of the tools. */
#include <string.h>

#include "bind/program/unit.h"
#include "drive/build.h"

#define CLASS_ANSWER "tide.finding"

/* Pushes the answer as a table: the words true and false of its lines are booleans. */
static void push_answer(lua_State *L, const TdAnswer *x) {
  lua_newtable(L);
  for (const char *s = x->lines; *s;) {
    size_t n = strcspn(s, "\n"), path = strcspn(s, " ");
    size_t value = path < n ? n - path - 1 : 0;
    bool yes = value == 4 && strncmp(s + path + 1, "true", 4) == 0;
    bool no = value == 5 && strncmp(s + path + 1, "false", 5) == 0;
    if (yes || no) {
      lua_pushlstring(L, s, path);
      lua_pushboolean(L, yes);
      lua_rawset(L, -3);
    } else {
      td_bind_set_path(L, s, n);
    }
    s += n + (s[n] == '\n');
  }
  td_bind_set_string(L, "text", x->text);
  luaL_setmetatable(L, CLASS_ANSWER);
}

/* m:name {options}, whose name is the upvalue. */
static int l_ask(lua_State *L) {
  lua_settop(L, 2);
  const TdModule *m = td_bind_check_build(L, 1);
  const char *name = lua_tostring(L, lua_upvalueindex(1));
  const TdQuestion *q = td_build_question(m, name);
  const char *target = td_build_target(m)->name;
  if (!q)
    return td_bind_fail(L, "no-question", "a build for %s does not answer '%s'", target, name);
  TdArena *a = td_bind_work(L, TD_WORK_BUILD);
  const char **option = TD_NEWN(a, const char *, q->noption + 1);
  for (size_t i = 0; i < q->noption; i++) option[i] = q->option[i].name;
  bool given = td_bind_check_options(L, 2, option);
  if (!given) lua_newtable(L);
  if (!given) lua_replace(L, 2);
  const char **value = td_bind_option_values(L, 2, a, q->option, q->noption);
  TdDiag d = td_bind_diag(a);
  TdAnswer answer;
  if (!td_build_ask(m, q, value, &answer, &d)) return td_bind_raise(L, &d);
  td_bind_account(L);
  push_answer(L, &answer);
  return 1;
}

static int l_tostring(lua_State *L) {
  lua_getfield(L, 1, "text");
  return 1;
}

void td_bind_add_questions(lua_State *L) {
  static const luaL_Reg meta[] = {{"__tostring", l_tostring}, {NULL, NULL}};
  lua_getfield(L, -1, "methods");
  for (const TdBackend *const *t = td_build_targets(); *t; t++) {
    for (const TdQuestion *const *q = (*t)->question; q && *q; q++) {
      lua_pushstring(L, (*q)->name);
      lua_pushcclosure(L, l_ask, 1);
      lua_setfield(L, -2, (*q)->name);
    }
  }
  lua_pop(L, 1);
  td_bind_class(L, CLASS_ANSWER, meta, NULL);
  lua_pop(L, 1);
}

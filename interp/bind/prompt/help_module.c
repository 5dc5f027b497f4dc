/* help_module.c - help on functions and modules of Lua, read from the comments in their sources:
 * those above a function, and the one at the head of the file that a module's functions are of. */
#include <stdlib.h>
#include <string.h>

#include "bind/prompt/prompt.h"

const char *const td_help_modules[] = {"csv",  "explore",   "maestro", "nn",   "npu",
                                       "plot", "precision", "quant",   "step", "systolic",
                                       "t2s",  "template",  NULL};

/* Where a Lua function stands: its comment begins at line `first`, its text at `defined`. */
typedef struct Place {
  uint32_t source;
  int first, defined;
} Place;

static bool is_comment(const TdSources *s, uint32_t source, int line) {
  size_t n;
  const char *text = td_sources_line(s, source, (uint32_t)line, &n);
  return n >= 2 && strncmp(text, "--", 2) == 0;
}

/* The place of the Lua function at idx; false where its source is not known or has no comment. */
static bool find(lua_State *L, int idx, Place *p) {
  lua_Debug ar;
  if (lua_type(L, idx) != LUA_TFUNCTION || lua_iscfunction(L, idx)) return false;
  lua_pushvalue(L, idx);
  lua_getinfo(L, ">S", &ar);
  const TdSources *s = td_bind_enter(L)->session->sources;
  *p = (Place){td_sources_find(s, ar.source), ar.linedefined, ar.linedefined};
  while (p->source && p->first > 1 && is_comment(s, p->source, p->first - 1)) p->first--;
  return p->source && p->first < p->defined;
}

void td_help_put_lines(TdText *out, const TdSources *s, uint32_t source, int first, int last) {
  size_t n;
  for (int i = first; i <= last; i++) {
    const char *line = td_sources_line(s, source, (uint32_t)i, &n);
    td_text_putn(out, line, n);
    td_text_putc(out, '\n');
  }
}

bool td_help_show_comment(lua_State *L, TdText *out, int idx) {
  Place p;
  if (!find(L, idx, &p)) return false;
  td_help_put_lines(out, td_bind_enter(L)->session->sources, p.source, p.first, p.defined);
  return true;
}

/* Puts a line of a comment without its dashes. */
static void put_bare(TdText *out, const TdSources *s, uint32_t source, int line) {
  size_t n, dashes = 0;
  const char *text = td_sources_line(s, source, (uint32_t)line, &n);
  while (dashes < n && text[dashes] == '-') dashes++;
  if (dashes < n && text[dashes] == ' ') dashes++;
  td_text_putn(out, text + dashes, n - dashes);
  td_text_putc(out, '\n');
}

/* A function of a module, and where it stands. */
typedef struct Member {
  const char *name;
  Place place;
} Member;

static int by_name(const void *x, const void *y) {
  return strcmp(((const Member *)x)->name, ((const Member *)y)->name);
}

typedef TD_VEC(Member) Members;

/* The functions with comments of the table at idx, by name. */
static Members members_of(lua_State *L, TdArena *a, int idx) {
  Members member = {0};
  for (lua_pushnil(L); lua_next(L, idx); lua_pop(L, 1)) {
    Member m = {0};
    if (lua_type(L, -2) != LUA_TSTRING || !find(L, lua_gettop(L), &m.place)) continue;
    m.name = td_arena_strdup(a, lua_tostring(L, -2));
    td_vec_push(a, &member, m);
  }
  if (member.n) qsort(member.at, member.n, sizeof *member.at, by_name);
  return member;
}

bool td_help_show_module(lua_State *L, TdText *out, const char *name, int idx) {
  if (!lua_istable(L, idx)) return false;
  const TdSources *s = td_bind_enter(L)->session->sources;
  Members member = members_of(L, td_bind_arena(L), idx);
  if (!member.n) return false;
  uint32_t source = member.at[0].place.source;
  for (int line = 1; is_comment(s, source, line) && line < member.at[0].place.first; line++)
    put_bare(out, s, source, line);
  td_text_putf(out, "functions (?%s.%s tells of one):\n", name, member.at[0].name);
  for (size_t i = 0; i < member.n; i++) {
    td_text_putf(out, "  %-12s ", member.at[i].name);
    put_bare(out, s, member.at[i].place.source, member.at[i].place.first);
  }
  return true;
}

void td_help_put_modules(lua_State *L, TdText *out) {
  int top = lua_gettop(L);
  const TdSources *s = td_bind_enter(L)->session->sources;
  for (size_t i = 0; td_help_modules[i]; i++) {
    td_stdlib_push_module(L, lua_pushfstring(L, "tide.%s", td_help_modules[i]));
    int idx = lua_gettop(L);
    Members member = members_of(L, td_bind_arena(L), idx);
    td_text_putf(out, "  %-12s ", td_help_modules[i]);
    if (member.n)
      put_bare(out, s, member.at[0].place.source, 1);
    else
      td_text_putf(out, "A library of templates, which ?%s lists.\n", td_help_modules[i]);
    lua_settop(L, top);
  }
}

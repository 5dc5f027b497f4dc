/* bind_show.c - how values are echoed: short, typed, capped. */
#include <stdlib.h>
#include <string.h>

#include "bind/prompt.h"

#define MAX_ITEMS 20
#define MAX_DEPTH 4
#define MAX_TEXT 20480

static void show_table(lua_State *L, TdText *out, int idx, int depth);

static void show_string(TdText *out, const char *s, size_t n, bool all) {
  size_t cap = all ? n : 2000;
  td_text_put_quoted(out, s, n < cap ? n : cap);
  if (n > cap) td_text_putf(out, ".. (%zu bytes)", n);
}

static void show_inner(lua_State *L, TdText *out, int idx, int depth, bool all) {
  size_t n;
  const char *s;
  switch (lua_type(L, idx)) {
  case LUA_TSTRING:
    s = lua_tolstring(L, idx, &n);
    show_string(out, s, n, all);
    break;
  case LUA_TTABLE:
    if (!luaL_getmetafield(L, idx, "__tostring")) {
      show_table(L, out, idx, depth);
      break;
    }
    lua_pop(L, 1);
    /* fall through */
  default:
    s = luaL_tolstring(L, idx, &n);
    td_text_putn(out, s, n);
    lua_pop(L, 1);
  }
}

static bool is_name(const char *s) {
  if (!*s || strspn(s, "0123456789") == 1) return false;
  return strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == strlen(s);
}

static void show_key(lua_State *L, TdText *out, int idx) {
  if (lua_type(L, idx) == LUA_TSTRING && is_name(lua_tostring(L, idx))) {
    td_text_putf(out, "%s = ", lua_tostring(L, idx));
  } else {
    td_text_putc(out, '[');
    show_inner(L, out, idx, MAX_DEPTH, false);
    td_text_puts(out, "] = ");
  }
}

/* One entry, its key at the second place from the top and its value on top, unless enough was
 * shown. */
static void show_entry(lua_State *L, TdText *out, lua_Integer shown, int depth) {
  if (shown >= MAX_ITEMS) return;
  if (shown) td_text_puts(out, ", ");
  show_key(L, out, lua_gettop(L) - 1);
  show_inner(L, out, -1, depth + 1, false);
}

static int by_name(const void *x, const void *y) {
  return strcmp(*(const char *const *)x, *(const char *const *)y);
}

/* The fields with string keys in the order of their names; returns how many things were shown. */
static lua_Integer show_fields(lua_State *L, TdText *out, int idx, int depth, lua_Integer shown) {
  TD_VEC(const char *) names = {0};
  lua_pushnil(L);
  for (; lua_next(L, idx); lua_pop(L, 1))
    if (lua_type(L, -2) == LUA_TSTRING) td_vec_push(out->arena, &names, lua_tostring(L, -2));
  if (names.n) qsort(names.at, names.n, sizeof *names.at, by_name);
  for (size_t i = 0; i < names.n; i++, shown++) {
    lua_pushstring(L, names.at[i]);
    lua_pushvalue(L, -1);
    lua_rawget(L, idx);
    show_entry(L, out, shown, depth);
    lua_pop(L, 2);
  }
  return shown;
}

/* The list part in order, then the fields by name, then other keys; deep and long tables are cut.
 */
static void show_table(lua_State *L, TdText *out, int idx, int depth) {
  idx = lua_absindex(L, idx);
  if (depth >= MAX_DEPTH || !lua_checkstack(L, 8)) {
    td_text_puts(out, "{..}");
    return;
  }
  lua_Integer n = (lua_Integer)lua_rawlen(L, idx), shown = 0;
  td_text_putc(out, '{');
  for (lua_Integer i = 1; i <= n && shown < MAX_ITEMS; i++, shown++) {
    if (shown) td_text_puts(out, ", ");
    lua_rawgeti(L, idx, i);
    show_inner(L, out, -1, depth + 1, false);
    lua_pop(L, 1);
  }
  shown = show_fields(L, out, idx, depth, shown);
  lua_pushnil(L);
  for (; lua_next(L, idx); lua_pop(L, 1)) {
    bool listed = lua_isinteger(L, -2) && lua_tointeger(L, -2) >= 1 && lua_tointeger(L, -2) <= n;
    if (listed || lua_type(L, -2) == LUA_TSTRING) continue;
    show_entry(L, out, shown++, depth);
  }
  if (shown > MAX_ITEMS || n > MAX_ITEMS) td_text_puts(out, ", ..");
  td_text_putc(out, '}');
}

/* The loop nest of a program's root; the whole printed form when all. */
static void show_program(lua_State *L, TdText *out, const TdProg *p, bool all) {
  TdText t = td_text_new(td_bind_arena(L));
  if (all)
    td_print_prog(&t, p);
  else
    td_print_unit(&t, p, td_prog_root(p));
  size_t n = !all && t.n > MAX_TEXT ? MAX_TEXT : t.n;
  td_text_putn(out, td_text_str(&t), n);
  if (n < t.n) td_text_putf(out, "\n.. %zu more bytes; :show shows all\n", t.n - n);
}

void td_show_value(lua_State *L, TdText *out, int idx, bool all) {
  idx = lua_absindex(L, idx);
  const TdProg *unit = td_bind_test_unit(L, idx);
  if (unit) {
    show_program(L, out, unit, all);
  } else if (td_bind_test_schedule(L, idx)) {
    TdText t = td_text_new(td_bind_arena(L));
    if (!all && td_bind_show_step(L, idx, &t))
      td_text_puts(out, td_text_str(&t));
    else
      show_program(L, out, td_bind_test_schedule(L, idx), all);
  } else {
    show_inner(L, out, idx, 0, all);
  }
}

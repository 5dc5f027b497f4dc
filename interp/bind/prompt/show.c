/* show.c - how values are echoed: short, typed, capped. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bind/prompt/prompt.h"
#include "bind/value/tensor.h"
#include "repl/style.h"
#include "repl/tty.h"

#define MAX_ITEMS 20
#define MAX_DEPTH 4
#define MAX_NESTED 64
#define MAX_STRING 2000
#define MAX_TEXT 20480
#define WIDTH 78 /* of a line of a table */

/* Where an entry of a table begins in the text, and its value. */
typedef struct Entry {
  size_t at, value;
} Entry;

/* A value being shown: the tables around the one under way, outermost first. */
typedef struct Show {
  lua_State *L;
  TdText *out;
  bool all;
  int depth;
  const void *around[MAX_NESTED];
  TD_VEC(Entry) entry; /* those of the outermost table, and its end */
} Show;

static void show_table(Show *w, int idx);

/* Whether the n bytes at s are lines of text to be read as they are. */
static bool is_lines(const char *s, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (((unsigned char)s[i] < ' ' && s[i] != '\n' && s[i] != '\t') || s[i] == 0x7F) return false;
  return n && memchr(s, '\n', n);
}

static void show_string(Show *w, const char *s, size_t n) {
  if (!w->depth && is_lines(s, n)) {
    td_text_putn(w->out, s, w->all || n < MAX_TEXT ? n : MAX_TEXT + 1);
    return;
  }
  size_t cap = !w->all && n > MAX_STRING ? MAX_STRING : n;
  td_text_put_quoted(w->out, s, cap);
  if (n > cap) td_text_putf(w->out, ".. (%zu bytes)", n);
}

/* Shows what a value says of itself. */
static void show_said(Show *w, int idx) {
  size_t n;
  const char *s = luaL_tolstring(w->L, idx, &n);
  td_text_putn(w->out, s, w->all || n < MAX_TEXT ? n : MAX_TEXT + 1);
  lua_pop(w->L, 1);
}

/* Shows a Lua function by the place where it is written. */
static void show_function(Show *w, int idx) {
  lua_Debug ar;
  lua_pushvalue(w->L, idx);
  lua_getinfo(w->L, ">S", &ar);
  if (*ar.what == 'C')
    show_said(w, idx);
  else
    td_text_putf(w->out, "function: %s:%d", ar.short_src, ar.linedefined);
}

static void show_inner(Show *w, int idx) {
  size_t n;
  const char *s;
  switch (lua_type(w->L, idx)) {
  case LUA_TSTRING:
    s = lua_tolstring(w->L, idx, &n);
    show_string(w, s, n);
    break;
  case LUA_TFUNCTION: show_function(w, idx); break;
  case LUA_TTABLE:
    if (!luaL_getmetafield(w->L, idx, "__tostring")) {
      show_table(w, idx);
      break;
    }
    lua_pop(w->L, 1);
    /* fall through */
  default: show_said(w, idx);
  }
}

static bool is_name(const char *s) {
  if (!*s || strspn(s, "0123456789") == 1) return false;
  return strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == strlen(s);
}

static void show_key(Show *w, int idx) {
  if (lua_type(w->L, idx) == LUA_TSTRING && is_name(lua_tostring(w->L, idx))) {
    td_text_putf(w->out, "%s = ", lua_tostring(w->L, idx));
  } else {
    td_text_putc(w->out, '[');
    show_inner(w, idx);
    td_text_puts(w->out, "] = ");
  }
}

/* Whether so many entries of a table were shown that the rest is left out. */
static bool is_enough(const Show *w, lua_Integer shown) {
  return !w->all && shown >= MAX_ITEMS;
}

/* Notes that an entry of the table under way begins, behind a comma unless it is the first. */
static void begin_entry(Show *w, lua_Integer shown) {
  if (shown) td_text_puts(w->out, ", ");
  Entry e = {w->out->n, w->out->n};
  if (w->depth == 1) td_vec_push(w->out->arena, &w->entry, e);
}

/* One entry, its key at the second place from the top and its value on top, unless enough was
 * shown. */
static void show_entry(Show *w, lua_Integer shown) {
  if (is_enough(w, shown)) return;
  begin_entry(w, shown);
  show_key(w, lua_gettop(w->L) - 1);
  if (w->depth == 1) w->entry.at[w->entry.n - 1].value = w->out->n;
  show_inner(w, lua_gettop(w->L));
}

static int by_name(const void *x, const void *y) {
  return strcmp(*(const char *const *)x, *(const char *const *)y);
}

/* The fields with string keys in the order of their names; returns how many things were shown. */
static lua_Integer show_fields(Show *w, int idx, lua_Integer shown) {
  lua_State *L = w->L;
  TD_VEC(const char *) names = {0};
  lua_pushnil(L);
  for (; lua_next(L, idx); lua_pop(L, 1))
    if (lua_type(L, -2) == LUA_TSTRING) td_vec_push(w->out->arena, &names, lua_tostring(L, -2));
  if (names.n) qsort(names.at, names.n, sizeof *names.at, by_name);
  for (size_t i = 0; i < names.n; i++, shown++) {
    if (is_enough(w, shown)) return MAX_ITEMS + 1;
    lua_pushstring(L, names.at[i]);
    lua_pushvalue(L, -1);
    lua_rawget(L, idx);
    show_entry(w, shown);
    lua_pop(L, 2);
  }
  return shown;
}

/* Whether the table at idx must not be opened: it is too deep, or inside itself. */
static bool is_closed(const Show *w, int idx) {
  const void *p = lua_topointer(w->L, idx);
  for (int i = 0; i < w->depth; i++)
    if (w->around[i] == p) return true;
  return w->depth >= (w->all ? MAX_NESTED : MAX_DEPTH) || !lua_checkstack(w->L, 16);
}

/* The list part in order, then the fields by name, then other keys; deep and long tables are cut.
 */
static void show_table(Show *w, int idx) {
  lua_State *L = w->L;
  idx = lua_absindex(L, idx);
  if (is_closed(w, idx)) {
    td_text_puts(w->out, "{..}");
    return;
  }
  w->around[w->depth++] = lua_topointer(L, idx);
  lua_Integer n = (lua_Integer)lua_rawlen(L, idx), shown = 0;
  td_text_putc(w->out, '{');
  for (lua_Integer i = 1; i <= n && !is_enough(w, shown); i++, shown++) {
    begin_entry(w, shown);
    lua_rawgeti(L, idx, i);
    show_inner(w, lua_gettop(L));
    lua_pop(L, 1);
  }
  shown = show_fields(w, idx, shown);
  lua_pushnil(L);
  for (; lua_next(L, idx); lua_pop(L, 1)) {
    bool listed = lua_isinteger(L, -2) && lua_tointeger(L, -2) >= 1 && lua_tointeger(L, -2) <= n;
    if (listed || lua_type(L, -2) == LUA_TSTRING) continue;
    show_entry(w, shown++);
  }
  bool cut = !w->all && (shown > MAX_ITEMS || n > MAX_ITEMS);
  if (cut) begin_entry(w, shown);
  if (cut) td_text_puts(w->out, "..");
  begin_entry(w, 0);
  td_text_putc(w->out, '}');
  w->depth--;
}

/* Puts an entry of several lines at lines of its own: its key, or which one it is, and below it the
 * value further in. */
static void put_tall(TdText *out, size_t i, const char *key, size_t nkey, const char *value,
                     size_t n) {
  if (nkey)
    td_text_putf(out, "  %.*s", (int)nkey - 1, key);
  else
    td_text_putf(out, "  [%zu] =", i + 1);
  for (size_t k = 0; k < n; k++) {
    if (k == 0) td_text_putc(out, '\n');
    if ((k == 0 || value[k - 1] == '\n') && value[k] != '\n') td_text_puts(out, "    ");
    td_text_putc(out, value[k]);
  }
}

/* Folds a table that was put from byte `from` on into lines: entries side by side while they fit,
 * and those of several lines by themselves. */
static void fold(Show *w, size_t from) {
  TdText *out = w->out;
  size_t n = w->entry.n - 1, line = from;
  const char *was = td_arena_strndup(out->arena, out->at + from, out->n - from) - from;
  bool tall = true;
  out->n = from;
  td_text_puts(out, "{");
  for (size_t i = 0; i < n; i++) {
    const Entry *e = &w->entry.at[i];
    size_t end = e[1].at - (i + 1 < n ? 2 : 0);
    while (end > e->value && was[end - 1] == '\n') end--;
    bool after = tall;
    tall = memchr(was + e->at, '\n', end - e->at) != NULL;
    if (after || tall || out->n - line + end - e->at + 3 > WIDTH) {
      td_text_putc(out, '\n');
      line = out->n;
      if (!tall) td_text_putc(out, ' ');
    }
    if (tall)
      put_tall(out, i, was + e->at, e->value - e->at, was + e->value, end - e->value);
    else
      td_text_putf(out, " %.*s%s", (int)(end - e->at), was + e->at, i + 1 < n ? "," : "");
  }
  td_text_puts(out, "\n}");
}

/* Shows a value of Lua; a table in lines where it is long or holds what has lines. */
static void show_any(Show *w, int idx) {
  size_t from = w->out->n;
  show_inner(w, idx);
  if (w->entry.n < 2) return;
  const char *was = w->out->at + from;
  if (w->out->n - from > WIDTH || memchr(was, '\n', w->out->n - from)) fold(w, from);
}

/* Whether standard output shows colours. */
static bool has_colour(void) {
  const char *term = getenv("TERM");
  return isatty(STDOUT_FILENO) && td_tty_has_colour() && term && strcmp(term, "dumb") != 0;
}

void td_show_diff(TdText *out, const char *diff) {
  static const char *const ends[] = {"", "\033[0m\n"};
  bool colour = has_colour();
  for (size_t n; colour && *diff; diff += n) {
    n = strcspn(diff, "\n");
    n += diff[n] == '\n';
    TdStyle style = *diff == '+' ? TD_STYLE_ADDED : *diff == '-' ? TD_STYLE_GONE : TD_STYLE_PLAIN;
    bool styled = style != TD_STYLE_PLAIN;
    if (styled) td_text_putf(out, "\033[%sm", td_style_sgr(style, true));
    td_text_putn(out, diff, styled ? strcspn(diff, "\n") : n);
    td_text_puts(out, ends[styled]);
  }
  td_text_puts(out, diff);
}

/* What `function` of a module of stdlib says of the value at idx; false: nothing. */
static bool show_drawn(lua_State *L, TdText *out, int idx, const char *module,
                       const char *function) {
  td_stdlib_push_module(L, module);
  lua_getfield(L, -1, function);
  lua_pushvalue(L, idx);
  lua_pushboolean(L, has_colour());
  lua_call(L, 2, 1);
  bool drawn = lua_isstring(L, -1) != 0;
  if (drawn) td_text_puts(out, lua_tostring(L, -1));
  lua_pop(L, 2);
  return drawn;
}

/* The loop nest of a program's root, or the graph of a design; the whole printed form when all. */
static void show_program(lua_State *L, TdText *out, const TdProg *p, int idx, bool all) {
  if (all)
    td_print_prog(out, p);
  else if (td_prog_root(p)->kind != TD_UNIT_DESIGN ||
           !show_drawn(L, out, idx, "tide.tool.outline", "text"))
    td_print_unit(out, p, td_prog_root(p));
}

/* Shortens what was put from byte `from` on to what an echo may take, at the end of a line if one
 * is near. */
static void cap(TdText *out, size_t from) {
  size_t n = out->n - from, keep = MAX_TEXT;
  if (n <= MAX_TEXT) return;
  while (keep > MAX_TEXT - 200 && out->at[from + keep - 1] != '\n') keep--;
  if (out->at[from + keep - 1] != '\n') keep = MAX_TEXT;
  while (keep && ((unsigned char)out->at[from + keep] & 0xC0) == 0x80) keep--;
  out->n = from + keep;
  out->at[out->n] = 0;
  td_text_puts(out, out->at[out->n - 1] == '\n' ? "" : "\n");
  td_text_puts(out, ".. and more; :show shows all\n");
}

void td_show_value(lua_State *L, TdText *out, int idx, bool all) {
  Show w = {.L = L, .out = out, .all = all};
  size_t from = out->n;
  idx = lua_absindex(L, idx);
  const TdProg *unit = td_bind_test_unit(L, idx), *now = td_bind_test_schedule(L, idx);
  const TdTensorBox *tensor = td_bind_test_tensor(L, idx);
  bool graph = td_bind_test_graph_schedule(L, idx) != NULL;
  if (unit)
    show_program(L, out, unit, idx, all);
  else if (now && (all || !td_bind_show_step(L, idx, out)))
    show_program(L, out, now, idx, all);
  else if (tensor && tensor->tensor->type->rank > (all ? 0 : 1))
    td_bind_put_tensor(out, tensor->tensor, all);
  else if (td_bind_test_layout(L, idx))
    show_drawn(L, out, idx, "tide.tool.places", "echo");
  else if (!now && (!graph || all || !td_bind_show_step(L, idx, out)))
    show_any(&w, idx);
  if (now || graph) {
    lua_pushvalue(L, idx);
    lua_setfield(L, LUA_REGISTRYINDEX, TD_PROMPT_SCHEDULE);
  }
  if (!all) cap(out, from);
}

/* print(..): as Lua's, but a table that says nothing of itself is shown in full. */
static int l_print(lua_State *L) {
  int n = lua_gettop(L);
  TdText out = td_text_new(td_bind_arena(L));
  for (int i = 1; i <= n; i++) {
    size_t length;
    if (i > 1) td_text_putc(&out, '\t');
    if (lua_istable(L, i) && !luaL_getmetafield(L, i, "__tostring") &&
        !luaL_getmetafield(L, i, "__name")) {
      td_show_value(L, &out, i, true);
    } else {
      const char *s = luaL_tolstring(L, i, &length);
      td_text_putn(&out, s, length);
    }
  }
  td_text_putc(&out, '\n');
  fwrite(td_text_str(&out), 1, out.n, stdout);
  if (isatty(STDOUT_FILENO)) fflush(stdout);
  return 0;
}

/* tide.show(x): prints any value in full, through what `print` is. */
static int l_show(lua_State *L) {
  luaL_checkany(L, 1);
  TdText out = td_text_new(td_bind_arena(L));
  td_show_value(L, &out, 1, true);
  if (lua_getglobal(L, "print") != LUA_TFUNCTION) td_stdlib_push_global(L, "print");
  lua_pushlstring(L, td_text_str(&out), out.n && out.at[out.n - 1] == '\n' ? out.n - 1 : out.n);
  lua_call(L, 1, 0);
  return 0;
}

void td_show_open(lua_State *L) {
  lua_pushcfunction(L, l_show);
  lua_setfield(L, -2, "show");
  if (td_version_is_module(L)) return;
  lua_pushcfunction(L, l_print);
  lua_setglobal(L, "print");
}

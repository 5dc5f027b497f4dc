/* bind_inspect.c - help on what stands at a place of an input. */
#include <ctype.h>

#include "bind/prompt.h"

/* Whether a byte belongs to a path of names: s:split, tide.kernel. */
static bool is_path(char ch) {
  return isalnum((unsigned char)ch) || ch == '_' || ch == '.' || ch == ':';
}

/* Start of the path that ends at `end`. */
static size_t path_start(const char *s, size_t end) {
  while (end && is_path(s[end - 1])) end--;
  return end;
}

/* Appends help on the path from `from` to `to`. */
static bool show_path(lua_State *L, const char *s, size_t from, size_t to, TdText *out) {
  while (to > from && (s[to - 1] == '.' || s[to - 1] == ':')) to--;
  return to > from && td_help_show(L, out, td_arena_strndup(out->arena, s + from, to - from));
}

/* Finds the bracket that is open at `cursor`: its place, or -1 when there is none. */
static ptrdiff_t open_bracket(const char *s, size_t cursor) {
  int depth = 0;
  for (size_t i = cursor; i-- > 0;) {
    if (s[i] == ')' || s[i] == '}' || s[i] == ']') depth++;
    if (s[i] == '(' || s[i] == '{' || s[i] == '[')
      if (depth-- == 0) return (ptrdiff_t)i;
  }
  return -1;
}

bool td_prompt_inspect(lua_State *L, const char *text, size_t n, size_t cursor, TdText *out) {
  size_t to = cursor;
  while (to < n && (isalnum((unsigned char)text[to]) || text[to] == '_')) to++;
  if (show_path(L, text, path_start(text, to), to, out)) return true;
  for (ptrdiff_t at = open_bracket(text, cursor); at >= 0; at = open_bracket(text, (size_t)at)) {
    size_t end = (size_t)at;
    while (end && isspace((unsigned char)text[end - 1])) end--;
    if (show_path(L, text, path_start(text, end), end, out)) return true;
  }
  return false;
}

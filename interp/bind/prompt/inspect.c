/* inspect.c - help on what stands at a place of an input, by the tokens that completion reads.
 */
#include <ctype.h>
#include <string.h>

#include "bind/prompt/complete.h"

/* Whether token i is a word. */
static bool is_word(const TdBefore *b, size_t i) {
  return i < b->token.n && b->token.at[i].kind == TD_COLOUR_WORD;
}

/* Whether token i joins two words of a path: s:split, tide.kernel. */
static bool joins(const TdBefore *b, size_t i) {
  return b->token.at[i].kind == TD_COLOUR_SIGN && strchr(".:", b->s[b->token.at[i].at]);
}

/* Appends help on the path whose last word is token i. */
static bool show_path(lua_State *L, const TdBefore *b, size_t i, TdText *out) {
  size_t first = i;
  if (!is_word(b, i)) return false;
  while (first > 1 && joins(b, first - 1) && is_word(b, first - 2)) first -= 2;
  size_t from = b->token.at[first].at, to = b->token.at[i].end;
  return td_help_show(L, out, td_arena_strndup(out->arena, b->s + from, to - from));
}

bool td_prompt_inspect(lua_State *L, const char *text, size_t n, size_t cursor, TdText *out) {
  size_t to = cursor;
  while (to < n && (isalnum((unsigned char)text[to]) || text[to] == '_')) to++;
  const char *whole_word = td_text_fmt(out->arena, "%.*s ", (int)to, text);
  TdBefore b = td_complete_read(out->arena, whole_word, strlen(whole_word), 0);
  size_t last = b.token.n - 1;
  if (b.token.n && b.token.at[last].end == to && show_path(L, &b, last, out)) return true;
  for (TdCallAround c; td_complete_find_call(&b, &c); b.token.n = c.open) {
    if (show_path(L, &b, c.callee, out)) return true;
    if (c.open == SIZE_MAX) return false;
  }
  return false;
}

/* line_demo.h - a toy language for tests of the editor: do ... end blocks, numbers, parentheses. */
#ifndef LINE_DEMO_H
#define LINE_DEMO_H

#include <ctype.h>
#include <string.h>

#include "repl/line.h"

/* Whether a word stands at offset `at`. */
static inline bool demo_is_word(const char *text, size_t n, size_t at, const char *word) {
  size_t len = strlen(word);
  bool starts = at == 0 || !isalnum((unsigned char)text[at - 1]);
  bool ends = at + len >= n || !isalnum((unsigned char)text[at + len]);
  return n - at >= len && memcmp(text + at, word, len) == 0 && starts && ends;
}

/* How many `do` are open at offset `at`; less than 0 when an `end` is too many. */
static inline int demo_depth(const char *text, size_t n, size_t at) {
  int depth = 0;
  for (size_t i = 0; i < at; i++) {
    depth += demo_is_word(text, n, i, "do");
    depth -= demo_is_word(text, n, i, "end");
  }
  return depth;
}

/* More lines while a `do` is open. */
static inline TdInputState demo_state(void *ud, const char *text, size_t n) {
  (void)ud;
  int depth = demo_depth(text, n, n);
  return depth > 0 ? TD_INPUT_MORE : depth < 0 ? TD_INPUT_WRONG : TD_INPUT_WHOLE;
}

/* Two spaces for each open `do`, less for an `end`. */
static inline int demo_indent(void *ud, const char *text, size_t n, size_t line) {
  (void)ud;
  size_t word = line;
  while (word < n && text[word] == ' ') word++;
  return 2 * (demo_depth(text, n, line) - (word < n && demo_is_word(text, n, word, "end")));
}

/* Digits, `do` and `end`. */
static inline void demo_highlight(void *ud, const char *text, size_t n, TdSpans *out) {
  (void)ud;
  for (size_t i = 0; i < n; i++) {
    if (isdigit((unsigned char)text[i])) td_style_add(out, i, 1, TD_STYLE_NUMBER);
    if (demo_is_word(text, n, i, "do")) td_style_add(out, i, 2, TD_STYLE_KEYWORD);
    if (demo_is_word(text, n, i, "end")) td_style_add(out, i, 3, TD_STYLE_KEYWORD);
  }
}

/* The other parenthesis. */
static inline bool demo_match(void *ud, const char *text, size_t n, size_t at, size_t *partner) {
  (void)ud;
  int by = text[at] == '(' ? 1 : text[at] == ')' ? -1 : 0, depth = 0;
  for (size_t i = at; by && i < n; i += (size_t)by) {
    depth += (text[i] == '(') - (text[i] == ')');
    *partner = i;
    if (depth == 0) return true;
    if (i == 0 && by < 0) return false;
  }
  return false;
}

/* Four words, by the letters before the cursor. */
static inline void demo_complete(void *ud, const char *text, size_t n, size_t cursor,
                                 TdLineItems *out) {
  static const TdLineItem words[] = {{"print", NULL, "writes its arguments"},
                                     {"printer", NULL, "a machine"},
                                     {"private", "private...", "not public"},
                                     {"unique", NULL, NULL}};
  (void)ud, (void)n;
  out->from = cursor;
  while (out->from > 0 && isalpha((unsigned char)text[out->from - 1])) out->from--;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strncmp(words[i].insert, text + out->from, cursor - out->from) == 0)
      td_vec_push(out->arena, &out->items, words[i]);
}

/* One word has a hint. */
static inline void demo_hint(void *ud, const char *text, size_t n, TdText *out) {
  (void)ud;
  if (n == 4 && memcmp(text, "hint", 4) == 0) td_text_puts(out, "ed at");
}

static const TdLineHooks demo_hooks = {.state = demo_state,
                                       .indent = demo_indent,
                                       .highlight = demo_highlight,
                                       .match = demo_match,
                                       .complete = demo_complete,
                                       .hint = demo_hint};

#endif

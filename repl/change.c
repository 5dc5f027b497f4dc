/* change.c - keys that change the text; keymap.def says what each does. */
#include <string.h>

#include "repl/editor.h"
#include "repl/paste.h"
#include "repl/width.h"

#define LONGEST_CLOSER 8

/* The spaces that the line at offset `line` should begin with. */
static size_t wanted_indent(const TdLine *l, size_t line) {
  const TdLineHooks *h = l->hooks;
  int n = h->indent ? h->indent(h->ud, td_draft_text(&l->draft), l->draft.n, line) : 0;
  return n > 0 ? (size_t)n : 0;
}

/* The spaces that it begins with. */
static size_t indent_of(const TdDraft *d, size_t line) {
  size_t at = line;
  while (at < d->n && d->at[at] == ' ') at++;
  return at - line;
}

/* Gives the line `want` spaces; the cursor, which is behind them, stays at its text. */
static void set_indent(TdDraft *d, size_t line, size_t want) {
  size_t have = indent_of(d, line), behind = d->cursor - line - have;
  if (have == want) return;
  char *blanks = td_arena_alloc(d->arena, want + 1);
  memset(blanks, ' ', want);
  td_draft_replace(d, line, line + have, blanks, want);
  td_draft_move(d, line + want + behind);
}

void td_change_newline(TdLine *l) {
  TdDraft *d = &l->draft;
  td_draft_insert(d, "\n", 1);
  size_t have = indent_of(d, d->cursor);
  td_draft_move(d, d->cursor + have);
  set_indent(d, d->cursor - have, wanted_indent(l, d->cursor - have));
}

/* Whether the cursor is after one short word that begins a line which is not the first. */
static bool is_after_opening_word(const TdDraft *d, size_t line) {
  size_t word = line + indent_of(d, line);
  return line > 0 && d->cursor >= word && d->cursor - word <= LONGEST_CLOSER &&
         td_draft_line_end(d, d->cursor) == d->cursor;
}

void td_change_type(TdLine *l, const char *s, size_t n) {
  TdDraft *d = &l->draft;
  size_t line = td_draft_line(d, d->cursor);
  bool is_automatic = l->hooks->indent && is_after_opening_word(d, line) &&
                      indent_of(d, line) == wanted_indent(l, line);
  td_draft_insert(d, s, n);
  if (is_automatic && *s != ' ') set_indent(d, line, wanted_indent(l, line));
}

void td_change_paste(TdLine *l, const char *s, size_t n) {
  size_t count;
  TdText *input = td_paste_inputs(l->line, s, n, l->prompt, l->more, &count);
  if (count > 1 || td_draft_is_end(&l->draft, l->draft.cursor))
    while (input->n > 0 && input->at[input->n - 1] == '\n') input->n--;
  td_draft_insert(&l->draft, td_text_str(input), input->n);
  TdText later = td_text_new(l->line);
  for (size_t i = 1; i < count; i++) td_key_put_entered(&later, &input[i]);
  td_key_unread(&l->keys, td_text_str(&later), later.n);
}

void td_change_delete_left(TdLine *l) {
  TdDraft *d = &l->draft;
  size_t from = td_width_prev(d->at, d->n, d->cursor);
  if (from < d->cursor) td_draft_replace(d, from, d->cursor, "", 0);
}

void td_change_delete_right(TdLine *l) {
  TdDraft *d = &l->draft;
  size_t to = td_width_next(d->at, d->n, d->cursor);
  if (to > d->cursor) td_draft_replace(d, d->cursor, to, "", 0);
}

/* Moves [from, to) to the kill ring. */
static void kill_range(TdLine *l, size_t from, size_t to) {
  TdDraft *d = &l->draft;
  l->has_killed = true;
  if (from == to) return;
  td_kill_add(&l->kill, d->at + from, to - from, from < d->cursor);
  td_draft_replace(d, from, to, "", 0);
}

void td_change_kill_line(TdLine *l) {
  size_t at = l->draft.cursor, end = td_draft_line_end(&l->draft, at);
  kill_range(l, at, end == at && at < l->draft.n ? end + 1 : end);
}

void td_change_kill_back(TdLine *l) {
  kill_range(l, td_draft_line(&l->draft, l->draft.cursor), l->draft.cursor);
}

void td_change_kill_blank(TdLine *l) {
  kill_range(l, td_draft_blank_before(&l->draft, l->draft.cursor), l->draft.cursor);
}

void td_change_kill_word(TdLine *l) {
  kill_range(l, l->draft.cursor, td_draft_word_after(&l->draft, l->draft.cursor));
}

void td_change_kill_word_back(TdLine *l) {
  kill_range(l, td_draft_word_before(&l->draft, l->draft.cursor), l->draft.cursor);
}

/* Puts the chosen killed text in the place of [from, cursor). */
static void yank_over(TdLine *l, size_t from) {
  size_t n;
  const char *text = td_kill_text(&l->kill, &n);
  l->yanked = from;
  td_draft_replace(&l->draft, from, l->draft.cursor, text, n);
}

void td_change_yank(TdLine *l) {
  l->kill.turn = 0;
  yank_over(l, l->draft.cursor);
}

void td_change_yank_older(TdLine *l) {
  if (l->last != td_change_yank && l->last != td_change_yank_older) return;
  td_kill_turn(&l->kill);
  yank_over(l, l->yanked);
}

void td_change_transpose(TdLine *l) {
  TdDraft *d = &l->draft;
  size_t line = td_draft_line(d, d->cursor), end = td_draft_line_end(d, d->cursor);
  size_t to = d->cursor == end ? end : td_width_next(d->at, d->n, d->cursor);
  size_t middle = to > line ? td_width_prev(d->at, d->n, to) : line;
  size_t from = middle > line ? td_width_prev(d->at, d->n, middle) : line;
  if (from == middle) return;
  TdText swapped = td_text_new(l->line);
  td_text_putn(&swapped, d->at + middle, to - middle);
  td_text_putn(&swapped, d->at + from, middle - from);
  td_draft_replace(d, from, to, swapped.at, swapped.n);
}

/* ASCII letters only: case elsewhere depends on the language. */
static bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}

/* The same for capitals. */
static bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}

/* Rewrites the word after the cursor: its first letter and the others in capitals or not. */
static void set_case(TdLine *l, bool first, bool others) {
  TdDraft *d = &l->draft;
  size_t end = td_draft_word_after(d, d->cursor), n = end - d->cursor;
  char *word = td_arena_strndup(l->line, n ? d->at + d->cursor : "", n);
  bool want = first;
  for (char *c = word; *c; c++) {
    bool is_letter = is_lower(*c) || is_upper(*c);
    if (want ? is_lower(*c) : is_upper(*c)) *c = (char)(*c ^ 0x20);
    if (is_letter) want = others;
  }
  if (n) td_draft_replace(d, d->cursor, end, word, n);
}

void td_change_upper(TdLine *l) {
  set_case(l, true, true);
}

void td_change_lower(TdLine *l) {
  set_case(l, false, false);
}

void td_change_capital(TdLine *l) {
  set_case(l, true, false);
}

void td_change_undo(TdLine *l) {
  td_draft_undo(&l->draft);
}

void td_change_redo(TdLine *l) {
  td_draft_redo(&l->draft);
}

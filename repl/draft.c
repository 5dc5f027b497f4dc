/* draft.c - the text being edited. Every change goes through one replacement, which is recorded. */
#include "repl/draft.h"

#include <string.h>

#include "repl/width.h"

/* Makes room for `more` bytes. */
static void reserve(TdDraft *d, size_t more) {
  while (d->n + more > d->cap) d->at = td_vec_grow(d->arena, d->at, d->n, &d->cap, 1);
}

/* Puts s in the place of n_old bytes, unrecorded. */
static void splice(TdDraft *d, size_t at, size_t n_old, const char *s, size_t n) {
  reserve(d, n);
  size_t tail = d->n - at - n_old;
  if (tail) memmove(d->at + at + n, d->at + at + n_old, tail);
  if (n) memcpy(d->at + at, s, n);
  d->n = d->n - n_old + n;
}

void td_draft_replace(TdDraft *d, size_t from, size_t to, const char *s, size_t n) {
  TdChange c = {.at = from,
                .n_old = to - from,
                .n_new = n,
                .cursor = d->cursor,
                .old = from < to ? td_arena_copy(d->arena, d->at + from, to - from) : "",
                .new = n ? td_arena_copy(d->arena, s, n) : "",
                .group = d->group};
  d->changes.n = d->done;
  td_vec_push(d->arena, &d->changes, c);
  d->done = d->changes.n;
  splice(d, from, c.n_old, c.new, n);
  td_draft_move(d, from + n);
}

void td_draft_insert(TdDraft *d, const char *s, size_t n) {
  td_draft_replace(d, d->cursor, d->cursor, s, n);
}

void td_draft_move(TdDraft *d, size_t at) {
  d->cursor = at;
  d->goal = -1;
}

void td_draft_group(TdDraft *d) {
  d->group++;
}

bool td_draft_undo(TdDraft *d) {
  if (d->done == 0) return false;
  for (unsigned group = d->changes.at[d->done - 1].group;
       d->done > 0 && d->changes.at[d->done - 1].group == group;) {
    const TdChange *c = &d->changes.at[--d->done];
    splice(d, c->at, c->n_new, c->old, c->n_old);
    d->cursor = c->cursor;
  }
  d->goal = -1;
  td_draft_group(d);
  return true;
}

bool td_draft_redo(TdDraft *d) {
  if (d->done == d->changes.n) return false;
  for (unsigned group = d->changes.at[d->done].group;
       d->done < d->changes.n && d->changes.at[d->done].group == group;) {
    const TdChange *c = &d->changes.at[d->done++];
    splice(d, c->at, c->n_old, c->new, c->n_new);
    d->cursor = c->at + c->n_new;
  }
  d->goal = -1;
  td_draft_group(d);
  return true;
}

const char *td_draft_text(const TdDraft *d) {
  return d->at ? d->at : "";
}

size_t td_draft_line(const TdDraft *d, size_t at) {
  while (at > 0 && d->at[at - 1] != '\n') at--;
  return at;
}

size_t td_draft_line_end(const TdDraft *d, size_t at) {
  while (at < d->n && d->at[at] != '\n') at++;
  return at;
}

/* What separates words for C-w. */
static bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n';
}

/* What words are made of. */
static bool is_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' ||
         (unsigned char)c >= 0x80;
}

size_t td_draft_word_after(const TdDraft *d, size_t at) {
  while (at < d->n && !is_word(d->at[at])) at++;
  while (at < d->n && is_word(d->at[at])) at++;
  return at;
}

size_t td_draft_word_before(const TdDraft *d, size_t at) {
  while (at > 0 && !is_word(d->at[at - 1])) at--;
  while (at > 0 && is_word(d->at[at - 1])) at--;
  return at;
}

size_t td_draft_blank_before(const TdDraft *d, size_t at) {
  while (at > 0 && is_blank(d->at[at - 1])) at--;
  while (at > 0 && !is_blank(d->at[at - 1])) at--;
  return at;
}

bool td_draft_move_line(TdDraft *d, int by) {
  size_t line = td_draft_line(d, d->cursor), end = td_draft_line_end(d, d->cursor);
  if (by < 0 ? line == 0 : end == d->n) return false;
  if (d->goal < 0) d->goal = td_width_cells(d->at + line, d->cursor - line);
  size_t start = by < 0 ? td_draft_line(d, line - 1) : end + 1;
  d->cursor = start + td_width_fit(d->at + start, td_draft_line_end(d, start) - start, d->goal);
  return true;
}

bool td_draft_is_end(const TdDraft *d, size_t at) {
  while (at < d->n && is_blank(d->at[at])) at++;
  return at == d->n;
}

bool td_draft_is_indent(const TdDraft *d, size_t at) {
  size_t line = td_draft_line(d, at);
  while (line < at && (d->at[line] == ' ' || d->at[line] == '\t')) line++;
  return line == at;
}

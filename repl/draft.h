/* draft.h - the text being edited: bytes, a cursor, lines, words, and every change undoable. */
#ifndef TD_DRAFT_H
#define TD_DRAFT_H

#include "base/vec.h"

/* One replacement, kept so that it can be undone and redone. */
typedef struct TdChange {
  size_t at, n_old, n_new, cursor; /* the cursor before it */
  const char *old, *new;
  unsigned group; /* changes of one group are undone together */
} TdChange;

/* A text without NUL. Zero-initialised with `arena` set is empty; `at` is not NUL-terminated. */
typedef struct TdDraft {
  TdArena *arena;
  char *at;
  size_t n, cap, cursor;
  int goal; /* the column that Up and Down keep, or -1 */
  TD_VEC(TdChange) changes;
  size_t done; /* changes that are in the text; later ones can be redone */
  unsigned group;
} TdDraft;

/* Replaces [from, to) by the n bytes at s and puts the cursor after them. Undone with the other
 * changes of its group. */
void td_draft_replace(TdDraft *d, size_t from, size_t to, const char *s, size_t n);
void td_draft_insert(TdDraft *d, const char *s, size_t n);

/* Moves the cursor, forgetting the column of Up and Down. */
void td_draft_move(TdDraft *d, size_t at);

/* Begins a new group of changes. */
void td_draft_group(TdDraft *d);

/* Takes back, or does again, one group; false when there is none. */
bool td_draft_undo(TdDraft *d);
bool td_draft_redo(TdDraft *d);

/* The n bytes of the text, not NUL-terminated, never NULL. */
const char *td_draft_text(const TdDraft *d);

/* Start and end (before its newline) of the line that holds `at`. */
size_t td_draft_line(const TdDraft *d, size_t at);
size_t td_draft_line_end(const TdDraft *d, size_t at);

/* Ends of the words around `at`: letters, digits, `_` and all that is not ASCII. */
size_t td_draft_word_after(const TdDraft *d, size_t at);
size_t td_draft_word_before(const TdDraft *d, size_t at);

/* Start of the run of non-blanks before `at`. */
size_t td_draft_blank_before(const TdDraft *d, size_t at);

/* Moves the cursor a line up (-1) or down (1), keeping its column as far as lines allow; false at
 * the first or last line. */
bool td_draft_move_line(TdDraft *d, int by);

/* Whether only blanks and newlines follow `at`, or stand before it in its line. */
bool td_draft_is_end(const TdDraft *d, size_t at);
bool td_draft_is_indent(const TdDraft *d, size_t at);

#endif

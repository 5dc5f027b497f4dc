/* move.c - keys that move the cursor, into the ghost text too; keymap.def says what each does. */
#include <string.h>

#include "repl/editor.h"
#include "repl/width.h"

/* Moves to the end of the ghost text, or of its next word, making it real; false without one. */
static bool into_ghost(TdLine *l, bool is_word) {
  TdDraft *d = &l->draft;
  const char *ghost = td_look_ghost(l);
  size_t at = d->n;
  if (!ghost) return false;
  td_draft_insert(d, ghost, strlen(ghost));
  if (is_word) {
    size_t end = td_draft_word_after(d, at);
    td_draft_replace(d, end, d->n, "", 0);
  }
  return true;
}

void td_move_left(TdLine *l) {
  td_draft_move(&l->draft, td_width_prev(l->draft.at, l->draft.n, l->draft.cursor));
}

void td_move_right(TdLine *l) {
  if (into_ghost(l, false)) return;
  td_draft_move(&l->draft, td_width_next(l->draft.at, l->draft.n, l->draft.cursor));
}

void td_move_word_left(TdLine *l) {
  td_draft_move(&l->draft, td_draft_word_before(&l->draft, l->draft.cursor));
}

void td_move_word_right(TdLine *l) {
  if (into_ghost(l, true)) return;
  td_draft_move(&l->draft, td_draft_word_after(&l->draft, l->draft.cursor));
}

void td_move_line_start(TdLine *l) {
  td_draft_move(&l->draft, td_draft_line(&l->draft, l->draft.cursor));
}

void td_move_line_end(TdLine *l) {
  if (into_ghost(l, false)) return;
  td_draft_move(&l->draft, td_draft_line_end(&l->draft, l->draft.cursor));
}

void td_move_start(TdLine *l) {
  td_draft_move(&l->draft, 0);
}

void td_move_end(TdLine *l) {
  td_draft_move(&l->draft, l->draft.n);
}

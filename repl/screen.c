/* screen.c - repaints what changed. Rows never rely on the terminal's own wrapping, so their number
 * is known whatever it thinks of the width of a character. */
#include "repl/screen.h"

#include <string.h>

#define WRAP_OFF "\033[?7l"
#define WRAP_ON "\033[?7h"
/* Clears the row and all below. Not from the first column: in the first row of all, tmux would take
 * that for the wish to keep a copy. */
#define CLEAR "\r\033[2K \033[J\r"

/* Fewer columns than this are taken for this many; the terminal cuts the rows. */
#define MIN_COLS 10

/* Takes a size, or the least that can be laid out. */
static void set_size(TdScreen *s, int rows, int cols) {
  s->rows = rows > 1 ? rows : 1;
  s->cols = cols > MIN_COLS ? cols : MIN_COLS;
}

TdScreen td_screen_new(TdCtx *c) {
  return (TdScreen){.arena = {td_arena_new(c), td_arena_new(c)}};
}

void td_screen_start(TdScreen *s, int rows, int cols) {
  set_size(s, rows, cols);
  s->top = 0;
  td_screen_forget(s);
}

void td_screen_free(TdScreen *s) {
  td_arena_free(s->arena[0]);
  td_arena_free(s->arena[1]);
}

void td_screen_forget(TdScreen *s) {
  s->seen.n = 0;
  s->row = 0;
  s->col = 0;
}

/* Empties the arena that is not shown and returns it. */
static TdArena *spare(TdScreen *s) {
  td_arena_release(s->arena[1], (TdMark){0});
  return s->arena[1];
}

/* Goes to the start of a row; going down makes the rows that are not there. */
static void go_to_row(TdScreen *s, TdText *out, size_t row) {
  if (row < s->row)
    td_text_putf(out, "\r\033[%zuA", s->row - row);
  else if (row == s->row)
    td_text_putc(out, '\r');
  for (; s->row < row; s->row++) td_text_puts(out, "\r\n");
  s->row = row;
  s->col = 0;
}

/* Goes to a cell of a row that is there. */
static void go_to(TdScreen *s, TdText *out, size_t row, int col) {
  if (row == s->row && col == s->col) return;
  go_to_row(s, out, row);
  if (col) td_text_putf(out, "\033[%dC", col);
  s->col = col;
}

/* The rows of the draft that fit above `below` rows, scrolled so that the cursor is among them. */
static size_t scroll(TdScreen *s, const TdPane *p, size_t below) {
  size_t room = (size_t)s->rows - below, n = p->n_draft < room ? p->n_draft : room;
  size_t row = p->row < p->n_draft ? p->row : p->n_draft - 1;
  if (s->top > row) s->top = row;
  if (s->top + n <= row) s->top = row + 1 - n;
  if (s->top + n > p->n_draft) s->top = p->n_draft - n;
  return n;
}

/* Writes row i unless it is on the terminal already. A longer one is cleared whole before: some
 * terminals, when they wrap rows anew, count cells that were only cleared to the end. */
static void update_row(TdScreen *s, TdText *out, const TdPane *p, const TdRow *row, size_t i) {
  const TdRow *old = i < s->seen.n ? &s->seen.at[i] : NULL;
  const char *text = td_text_str(&p->text) + row->at;
  if (old && old->n == row->n && memcmp(td_text_str(&s->shown.text) + old->at, text, row->n) == 0)
    return;
  go_to_row(s, out, i);
  if (old && old->cells > row->cells) td_text_puts(out, "\033[2K");
  td_text_putn(out, text, row->n);
  if (row->cells < s->cols) td_text_puts(out, "\033[K");
  s->col = row->cells;
}

/* Makes the pane p, whose memory is the spare arena's, the one that is shown: n_draft rows from
 * `top`, then n_below. */
static void show(TdScreen *s, TdText *out, const TdPane *p, size_t n_draft, size_t n_below) {
  TdArena *a = s->arena[1];
  TdRow *rows = TD_NEWN(a, TdRow, n_draft + n_below);
  memcpy(rows, p->rows.at + s->top, n_draft * sizeof *rows);
  memcpy(rows + n_draft, p->rows.at + p->n_draft, n_below * sizeof *rows);
  if (s->seen.n == 0) td_text_puts(out, CLEAR);
  for (size_t i = 0; i < n_draft + n_below; i++) update_row(s, out, p, &rows[i], i);
  if (s->seen.n > n_draft + n_below) {
    go_to_row(s, out, n_draft + n_below);
    td_text_puts(out, "\033[J");
  }
  s->shown = *p;
  s->seen.at = rows;
  s->seen.n = s->seen.cap = n_draft + n_below;
  s->arena[1] = s->arena[0];
  s->arena[0] = a;
}

TdText td_screen_paint(TdScreen *s, const TdView *v) {
  TdArena *a = spare(s);
  TdText out = td_text_new(a);
  TdPane p = td_pane_build(a, v, s->cols);
  size_t below = p.rows.n - p.n_draft, most = (size_t)s->rows / 2;
  if (below > most) below = most;
  size_t draft = scroll(s, &p, below);
  td_text_puts(&out, WRAP_OFF);
  show(s, &out, &p, draft, below);
  go_to(s, &out, p.row < p.n_draft ? p.row - s->top : draft + p.row - p.n_draft, p.col);
  td_text_puts(&out, WRAP_ON);
  return out;
}

TdText td_screen_finish(TdScreen *s, const TdView *v) {
  TdArena *a = spare(s);
  TdText out = td_text_new(a);
  TdPane p = td_pane_build(a, v, s->cols);
  bool fits = p.rows.n <= (size_t)s->rows;
  if (!fits) {
    go_to_row(s, &out, 0);
    s->seen.n = 0;
  }
  s->top = 0;
  td_text_puts(&out, WRAP_OFF);
  show(s, &out, &p, p.rows.n, 0);
  go_to_row(s, &out, p.rows.n - 1);
  td_text_puts(&out, WRAP_ON "\r\n");
  td_screen_forget(s);
  return out;
}

/* Goes `up` rows up and clears all from there. */
static TdText clear_from(TdScreen *s, size_t up) {
  TdText out = td_text_new(spare(s));
  if (up) td_text_putf(&out, "\033[%zuA", up);
  td_text_puts(&out, CLEAR);
  td_screen_forget(s);
  return out;
}

TdText td_screen_erase(TdScreen *s) {
  return clear_from(s, s->row);
}

TdText td_screen_resize(TdScreen *s, int rows, int cols, bool is_reflowed) {
  size_t up = s->row;
  set_size(s, rows, cols);
  for (size_t i = 0; is_reflowed && i < s->row && i < s->seen.n; i++)
    up += s->seen.at[i].cells ? (size_t)((s->seen.at[i].cells - 1) / s->cols) : 0;
  if (is_reflowed) up += (size_t)(s->col / s->cols);
  return clear_from(s, up);
}

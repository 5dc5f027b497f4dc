/* pane.c - lays text out in rows of cells: wraps whole clusters, spells out what cannot be shown.
 */
#include "repl/pane.h"

#include <string.h>

#include "repl/width.h"

#define TAB 8

/* The place where the next cluster goes. */
typedef struct Pen {
  TdPane *pane;
  TdArena *arena;
  int cols, col;
  bool is_cut; /* at the margin text is dropped, not wrapped */
  bool has_colour;
  TdStyle style; /* that the row ends in so far */
  size_t start;  /* of the row */
} Pen;

/* Has what follows in the row look like `style`. */
static void set_style(Pen *p, TdStyle style) {
  TdText *out = &p->pane->text;
  if (style == p->style) return;
  p->style = style;
  td_text_puts(out, "\033[0");
  const char *sgr = td_style_sgr(style, p->has_colour);
  if (*sgr) td_text_putf(out, ";%s", sgr);
  td_text_putc(out, 'm');
}

/* Ends the row. */
static void end_row(Pen *p) {
  set_style(p, TD_STYLE_PLAIN);
  TdRow row = {.at = p->start, .n = p->pane->text.n - p->start, .cells = p->col};
  td_vec_push(p->arena, &p->pane->rows, row);
  p->start = p->pane->text.n;
  p->col = 0;
}

/* Makes room for `cells` cells: true when they fit into this row or the new one that it began. */
static bool make_room(Pen *p, int cells) {
  if (cells <= p->cols - p->col) return true;
  if (p->is_cut) return false;
  if (p->col > 0) end_row(p);
  return cells <= p->cols;
}

/* Puts n bytes that take `cells` cells. */
static void put(Pen *p, const char *s, size_t n, int cells, TdStyle style) {
  set_style(p, style);
  td_text_putn(&p->pane->text, s, n);
  p->col += cells;
}

/* Moves the terminal to the column where the pen thinks it is. */
static void resync(Pen *p) {
  if (p->col < p->cols) td_text_putf(&p->pane->text, "\r\033[%dC", p->col);
}

/* Puts a tab as the blanks to the next stop or the margin. */
static void put_tab(Pen *p, TdStyle style) {
  int cells = TAB - p->col % TAB;
  if (cells > p->cols - p->col) cells = p->cols - p->col;
  for (int i = 0; i < cells; i++) put(p, " ", 1, 1, style);
}

/* Puts one cluster, for which there is room. */
static void put_cluster(Pen *p, const char *s, TdCluster k, TdStyle style) {
  char shown[TD_WIDTH_ESCAPE];
  if (*s == '\t') {
    put_tab(p, style);
  } else if (k.is_escaped) {
    size_t n = td_width_escape(s, k.bytes, shown);
    put(p, shown, n, k.cells, TD_STYLE_ESCAPE);
  } else {
    put(p, s, k.bytes, k.cells, style);
    if (k.is_unsure) resync(p);
  }
}

/* The cells that a cluster needs at least where it is put. */
static int least_cells(const char *s, TdCluster k) {
  return *s == '\t' ? 1 : k.cells;
}

/* Puts n bytes without newlines in one style. */
static void put_run(Pen *p, const char *s, size_t n, TdStyle style) {
  for (size_t at = 0; at < n;) {
    TdCluster k = td_width_cluster(s + at, n - at);
    if (make_room(p, least_cells(s + at, k))) put_cluster(p, s + at, k, style);
    at += k.bytes;
  }
}

/* Puts a prompt, if there is one. */
static void put_prompt(Pen *p, const char *prompt) {
  if (prompt) put_run(p, prompt, strlen(prompt), TD_STYLE_PROMPT);
}

/* Notes that the cursor stands where the next cluster, of `cells` cells, will. */
static void mark_cursor(Pen *p, int cells) {
  make_room(p, cells ? cells : 1);
  p->pane->row = p->pane->rows.n;
  p->pane->col = p->col < p->cols ? p->col : p->cols - 1;
}

/* The style at an offset; *next moves on over the spans. */
static TdStyle style_at(const TdBlock *b, size_t at, size_t *next) {
  if (!b->spans) return TD_STYLE_PLAIN;
  while (*next < b->spans->spans.n &&
         b->spans->spans.at[*next].at + b->spans->spans.at[*next].n <= at)
    ++*next;
  if (*next == b->spans->spans.n) return TD_STYLE_PLAIN;
  const TdSpan *s = &b->spans->spans.at[*next];
  return at >= s->at ? s->style : TD_STYLE_PLAIN;
}

/* Puts a block; the cursor is at offset `cursor`, SIZE_MAX for not here. */
static void put_block(Pen *p, const TdBlock *b, size_t cursor, const size_t brace[2]) {
  size_t next = 0;
  put_prompt(p, b->prompt);
  for (size_t at = 0; at < b->n;) {
    const char *s = b->text + at;
    TdCluster k = td_width_cluster(s, b->n - at);
    int cells = least_cells(s, k);
    if (cursor >= at && cursor < at + k.bytes) mark_cursor(p, cells);
    TdStyle style = style_at(b, at, &next);
    if (brace[0] != brace[1] && (at == brace[0] || at == brace[1])) style = TD_STYLE_BRACE;
    if (*s == '\n') {
      end_row(p);
      put_prompt(p, b->more);
    } else if (make_room(p, cells)) {
      put_cluster(p, s, k, style);
    }
    at += k.bytes;
  }
  if (cursor == b->n) mark_cursor(p, 1);
}

/* Puts the ghost up to its first newline, an ellipsis for the rest. */
static void put_ghost(Pen *p, const char *ghost) {
  size_t line = strcspn(ghost, "\n");
  put_run(p, ghost, line, TD_STYLE_GHOST);
  if (ghost[line]) put_run(p, " \xE2\x80\xA6", 4, TD_STYLE_GHOST);
}

TdPane td_pane_build(TdArena *a, const TdView *v, int cols) {
  static const size_t no_brace[2];
  TdPane pane = {.text = td_text_new(a)};
  Pen p = {.pane = &pane, .arena = a, .cols = cols, .has_colour = !v->is_plain};
  put_block(&p, &v->draft, v->is_cursor_below ? SIZE_MAX : v->cursor, v->brace);
  if (v->ghost) put_ghost(&p, v->ghost);
  end_row(&p);
  pane.n_draft = pane.rows.n;
  if (v->below.n) {
    p.is_cut = true;
    put_block(&p, &v->below, v->is_cursor_below ? v->cursor : SIZE_MAX, no_brace);
    end_row(&p);
  }
  return pane;
}

/* pane.h - what the editor shows, laid out in rows of cells. */
#ifndef TD_PANE_H
#define TD_PANE_H

#include "base/text.h"
#include "base/vec.h"
#include "repl/style.h"

/* Lines of text with styles. */
typedef struct TdBlock {
  const char *text;
  size_t n;
  const TdSpans *spans;      /* or NULL */
  const char *prompt, *more; /* in front of the first line and of the others, or NULL */
} TdBlock;

/* All that the screen shows: the draft, wrapped at the margin, and rows below it, cut there. */
typedef struct TdView {
  TdBlock draft, below;
  size_t cursor; /* offset in the draft, or in `below` */
  bool is_cursor_below;
  size_t brace[2];   /* offsets of a pair to show, when they differ */
  bool is_plain;     /* without colours */
  const char *ghost; /* what could follow the draft, to its first newline; or NULL */
} TdView;

/* A row: bytes at an offset of the pane's text, with styles, that leave the terminal plain. */
typedef struct TdRow {
  size_t at, n;
  int cells;
} TdRow;

typedef struct TdPane {
  TdText text;
  TD_VEC(TdRow) rows;
  size_t n_draft; /* rows of the draft; those below follow */
  size_t row;     /* of the cursor */
  int col;
} TdPane;

/* Lays a view out in rows of `cols` cells; memory from a. */
TdPane td_pane_build(TdArena *a, const TdView *v, int cols);

#endif

/* screen.h - the rows on the terminal, and the fewest bytes that turn them into other ones. */
#ifndef TD_SCREEN_H
#define TD_SCREEN_H

#include "repl/pane.h"

/* The rows from the prompt on, as they are on the terminal. */
typedef struct TdScreen {
  TdArena *arena[2]; /* of the pane shown, and of the next */
  int rows, cols;
  TdPane shown;
  TD_VEC(TdRow) seen; /* the rows of `shown` that are on the terminal */
  size_t top;         /* rows of the draft above the first one seen */
  size_t row;         /* of the cursor, from the first one seen */
  int col;
} TdScreen;

/* A screen that draws on c; the caller frees it. */
TdScreen td_screen_new(TdCtx *c);
void td_screen_free(TdScreen *s);

/* Begins anew on a terminal of this size: the first row is the current one. */
void td_screen_start(TdScreen *s, int rows, int cols);

/* Each returns what to write to the terminal, valid until the next call. */

/* Shows a view; a draft that is taller than the terminal is scrolled to its cursor. */
TdText td_screen_paint(TdScreen *s, const TdView *v);

/* Shows a view for the last time, whole, and goes to the row after it. */
TdText td_screen_finish(TdScreen *s, const TdView *v);

/* Clears the rows and goes to where the first one was. */
TdText td_screen_erase(TdScreen *s);

/* The same after the window took a new size; is_reflowed: it wrapped longer rows anew. */
TdText td_screen_resize(TdScreen *s, int rows, int cols, bool is_reflowed);

/* Forgets the rows: something else was written, and the cursor is in a free row. */
void td_screen_forget(TdScreen *s);

#endif

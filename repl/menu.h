/* menu.h - a list of completions in columns, one of them chosen. */
#ifndef TD_MENU_H
#define TD_MENU_H

#include "repl/line.h"
#include "repl/pane.h"

#define TD_MENU_NONE SIZE_MAX

/* A list that is open when it has items. */
typedef struct TdMenu {
  TdLineItems found; /* their arena is the menu's own */
  size_t chosen;     /* or TD_MENU_NONE */
  size_t rows;       /* of the whole list, as it was last shown: columns are read downwards */
} TdMenu;

/* How many bytes all items' inserts have in common, as whole characters. */
size_t td_menu_common(const TdLineItems *found);

/* Moves the choice to the next (1) or the one before (-1), or a column to the right or left. */
void td_menu_step(TdMenu *m, int by);
void td_menu_column(TdMenu *m, int by);

/* The list in at most `rows` rows of `cols` cells, the last one with the help of the chosen;
 * memory from a. */
TdBlock td_menu_show(TdMenu *m, TdArena *a, int rows, int cols);

#endif

/* menu.c - a list of completions in columns. */
#include "repl/menu.h"

#include <string.h>

#include "repl/width.h"

#define BETWEEN 2

size_t td_menu_common(const TdLineItems *found) {
  const char *first = found->items.at[0].insert;
  size_t common = strlen(first);
  for (size_t i = 1; i < found->items.n; i++) {
    size_t k = 0;
    while (k < common && first[k] == found->items.at[i].insert[k]) k++;
    common = k;
  }
  size_t whole = 0, n = strlen(first);
  for (size_t next; whole < common; whole = next)
    if ((next = td_width_next(first, n, whole)) > common) break;
  return whole;
}

void td_menu_step(TdMenu *m, int by) {
  size_t n = m->found.items.n;
  if (m->chosen == TD_MENU_NONE)
    m->chosen = by > 0 ? 0 : n - 1;
  else
    m->chosen = (m->chosen + n + (size_t)by) % n;
}

void td_menu_column(TdMenu *m, int by) {
  size_t to = m->chosen + (size_t)by * m->rows;
  if (m->chosen == TD_MENU_NONE || m->rows <= 1)
    td_menu_step(m, by);
  else if (to < m->found.items.n)
    m->chosen = to;
}

/* What the list shows for an item. */
static const char *shown(const TdLineItem *item) {
  return item->shown ? item->shown : item->insert;
}

/* Cells of the widest item. */
static int widest(const TdMenu *m) {
  int most = 1;
  for (size_t i = 0; i < m->found.items.n; i++) {
    const char *s = shown(&m->found.items.at[i]);
    int cells = td_width_cells(s, strcspn(s, "\n"));
    if (cells > most) most = cells;
  }
  return most;
}

/* Puts item i, padded to `cells`. */
static void put_item(const TdMenu *m, size_t i, int cells, TdText *out, TdSpans *spans) {
  const char *s = shown(&m->found.items.at[i]);
  size_t n = td_width_fit(s, strcspn(s, "\n"), cells);
  td_style_add(spans, out->n, n, i == m->chosen ? TD_STYLE_SELECTED : TD_STYLE_PLAIN);
  td_text_putn(out, s, n);
  td_text_putf(out, "%*s", cells - td_width_cells(s, n), "");
}

/* Puts the last row: which item is chosen and its help. */
static void put_help(const TdMenu *m, bool is_all, TdText *out, TdSpans *spans) {
  size_t n = m->found.items.n, at = out->n;
  const char *help = m->chosen == TD_MENU_NONE ? NULL : m->found.items.at[m->chosen].help;
  if (is_all && !help) return;
  td_text_putc(out, '\n');
  if (!is_all && m->chosen == TD_MENU_NONE)
    td_text_putf(out, "%zu choices ", n);
  else if (!is_all)
    td_text_putf(out, "%zu/%zu ", m->chosen + 1, n);
  if (help) td_text_putn(out, help, strcspn(help, "\n"));
  td_style_add(spans, at, out->n - at, TD_STYLE_HELP);
}

TdBlock td_menu_show(TdMenu *m, TdArena *a, int rows, int cols) {
  TdText out = td_text_new(a);
  TdSpans *spans = TD_NEW(a, TdSpans);
  size_t n = m->found.items.n, room = rows > 2 ? (size_t)rows - 1 : 1;
  int cell = widest(m) < cols ? widest(m) : cols;
  size_t columns = (size_t)((cols + BETWEEN) / (cell + BETWEEN));
  if (columns == 0) columns = 1;
  spans->arena = a;
  m->rows = (n + columns - 1) / columns;
  size_t chosen_row = m->chosen == TD_MENU_NONE ? 0 : m->chosen % m->rows;
  size_t from = chosen_row < room ? 0 : chosen_row - room + 1;
  for (size_t row = from; row < m->rows && row < from + room; row++) {
    if (row > from) td_text_putc(&out, '\n');
    for (size_t i = row; i < n; i += m->rows) {
      if (i > row) td_text_putf(&out, "%*s", BETWEEN, "");
      put_item(m, i, cell, &out, spans);
    }
  }
  put_help(m, m->rows <= room, &out, spans);
  return (TdBlock){.text = td_text_str(&out), .n = out.n, .spans = spans};
}

/* tab.c - completion: Tab, and the keys of the list that it opens. */
#include <string.h>

#include "repl/editor.h"

#define INDENT 2

/* Asks what could stand at the cursor; none when the answer is no range of the text. */
static void ask(TdLine *l) {
  const TdLineHooks *h = l->hooks;
  TdLineItems *found = &l->menu.found;
  size_t at = l->draft.cursor;
  td_arena_release(found->arena, (TdMark){0});
  *found = (TdLineItems){.arena = found->arena, .from = at, .to = at};
  if (h->complete) h->complete(h->ud, td_draft_text(&l->draft), l->draft.n, at, found);
  if (found->from > found->to || found->to > l->draft.n) found->items.n = 0;
}

/* Puts s in the place of what the list is for. */
static void put(TdLine *l, const char *s, size_t n) {
  TdLineItems *found = &l->menu.found;
  td_draft_replace(&l->draft, found->from, found->to, s, n);
  found->to = found->from + n;
}

/* Opens the list, remembering what it stands for. */
static void open_list(TdLine *l) {
  const TdLineItems *found = &l->menu.found;
  l->replaced = td_text_new(l->line);
  td_text_putn(&l->replaced, td_draft_text(&l->draft) + found->from, found->to - found->from);
  l->menu.chosen = TD_MENU_NONE;
}

/* Closes it. The items go with the next question. */
static void close_list(TdLine *l) {
  l->menu.found.items.n = 0;
}

/* Goes on to the next stop of the indent. */
static void indent(TdDraft *d) {
  size_t n = INDENT - (d->cursor - td_draft_line(d, d->cursor)) % INDENT;
  td_draft_insert(d, "  ", n);
}

void td_tab_press(TdLine *l) {
  if (td_draft_line(&l->draft, l->draft.cursor) > 0 &&
      td_draft_is_indent(&l->draft, l->draft.cursor)) {
    indent(&l->draft);
    return;
  }
  ask(l);
  const TdLineItems *found = &l->menu.found;
  size_t common = found->items.n ? td_menu_common(found) : 0;
  bool is_one = found->items.n == 1, is_again = l->last == td_tab_press;
  if (is_one || common > found->to - found->from) {
    put(l, found->items.at[0].insert, common);
    close_list(l);
  } else if (found->items.n && is_again) {
    open_list(l);
  } else {
    close_list(l);
  }
}

/* Shows the chosen item in the text. */
static void preview(TdLine *l) {
  const char *s = l->menu.found.items.at[l->menu.chosen].insert;
  put(l, s, strlen(s));
}

bool td_tab_key(TdLine *l, const TdKey *key) {
  TdMenu *m = &l->menu;
  if (!m->found.items.n) return false;
  bool was_chosen = m->chosen != TD_MENU_NONE;
  switch (key->code) {
  case TD_KEY_TAB:
  case TD_KEY_DOWN: td_menu_step(m, 1); break;
  case TD_SHIFT | TD_KEY_TAB:
  case TD_KEY_UP: td_menu_step(m, -1); break;
  case TD_KEY_RIGHT: td_menu_column(m, 1); break;
  case TD_KEY_LEFT: td_menu_column(m, -1); break;
  case TD_KEY_ESCAPE:
  case TD_CTRL | 'g':
    if (was_chosen) put(l, td_text_str(&l->replaced), l->replaced.n);
    close_list(l);
    return true;
  default: close_list(l); return was_chosen && key->code == TD_KEY_ENTER;
  }
  preview(l);
  return true;
}

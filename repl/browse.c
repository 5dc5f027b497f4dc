/* browse.c - keys that go through the history: Up and Down, and the search. */
#include <string.h>

#include "repl/editor.h"

/* Puts n bytes in the place of the whole draft. */
static void put(TdLine *l, const char *s, size_t n) {
  td_draft_replace(&l->draft, 0, l->draft.n, s, n);
}

/* Whether the draft is the history's entry that was put there last, unchanged. */
static bool is_entry(const TdLine *l) {
  if (l->entry >= td_history_count(l->history)) return false;
  const TdEntry *e = td_history_at(l->history, l->entry);
  return e->n == l->draft.n && memcmp(e->text, l->draft.at, e->n) == 0;
}

void td_browse_older(TdLine *l) {
  if (!is_entry(l)) {
    l->entry = td_history_count(l->history);
    l->stash = td_text_new(l->line);
    td_text_putn(&l->stash, td_draft_text(&l->draft), l->draft.n);
  }
  size_t i = td_history_find(l->history, l->entry, -1, l->stash.at, l->stash.n,
                             td_draft_text(&l->draft), l->draft.n);
  if (i == TD_NO_ENTRY) return;
  l->entry = i;
  put(l, td_history_at(l->history, i)->text, td_history_at(l->history, i)->n);
}

void td_browse_newer(TdLine *l) {
  if (!is_entry(l)) return;
  size_t i =
      td_history_find(l->history, l->entry, 1, l->stash.at, l->stash.n, l->draft.at, l->draft.n);
  if (i == TD_NO_ENTRY) {
    l->entry = td_history_count(l->history);
    put(l, l->stash.at, l->stash.n);
  } else {
    l->entry = i;
    put(l, td_history_at(l->history, i)->text, td_history_at(l->history, i)->n);
  }
}

void td_browse_up(TdLine *l) {
  if (!td_draft_move_line(&l->draft, -1)) td_browse_older(l);
}

void td_browse_down(TdLine *l) {
  if (!td_draft_move_line(&l->draft, 1)) td_browse_newer(l);
}

void td_browse_search(TdLine *l) {
  TdRecall *r = &l->recall;
  bool is_query =
      l->draft.n < sizeof r->query && !memchr(td_draft_text(&l->draft), '\n', l->draft.n);
  r->is_open = true;
  r->n = 0;
  td_recall_type(r, td_draft_text(&l->draft), is_query ? l->draft.n : 0);
}

/* Ends the search with the chosen entry as the draft. */
static void accept(TdLine *l) {
  const TdEntry *e = td_recall_entry(&l->recall);
  l->recall.is_open = false;
  if (!e) return;
  put(l, e->text, e->n);
  l->entry = l->recall.hits.at[l->recall.selected].entry;
  l->stash = td_text_new(l->line);
}

/* Adds typed or pasted bytes up to their first newline. */
static void type(TdRecall *r, const char *s, size_t n) {
  const char *stop = memchr(s, '\n', n);
  td_recall_type(r, s, stop ? (size_t)(stop - s) : n);
}

bool td_browse_key(TdLine *l, const TdKey *key) {
  TdRecall *r = &l->recall;
  if (!r->is_open) return false;
  switch (key->code) {
  case TD_KEY_DOWN:
  case TD_CTRL | 'n':
  case TD_CTRL | 'r': td_recall_move(r, 1); return true;
  case TD_KEY_UP:
  case TD_CTRL | 'p':
  case TD_CTRL | 's': td_recall_move(r, -1); return true;
  case TD_KEY_BACKSPACE: td_recall_erase(r); return true;
  case TD_CTRL | 'u':
    r->n = 0;
    td_recall_update(r);
    return true;
  case TD_KEY_ESCAPE:
  case TD_CTRL | 'c':
  case TD_CTRL | 'g': r->is_open = false; return true;
  case TD_KEY_ENTER:
  case TD_KEY_TAB: accept(l); return true;
  default: break;
  }
  if (key->text)
    type(r, key->text, key->n);
  else
    accept(l);
  return key->text != NULL;
}

/* look.c - what is on the terminal while editing: the draft with its styles, a ghost, a list. */
#include <string.h>

#include "repl/editor.h"

/* The styles that the language gives a text, or NULL. */
static const TdSpans *highlight(TdLine *l, const char *text, size_t n) {
  if (!l->hooks->highlight) return NULL;
  TdSpans *spans = TD_NEW(l->look, TdSpans);
  spans->arena = l->look;
  l->hooks->highlight(l->hooks->ud, text, n, spans);
  return spans;
}

/* The pair of the bracket before the cursor, or else of the one at it. */
static void find_brace(const TdLine *l, size_t brace[2]) {
  const TdLineHooks *h = l->hooks;
  const TdDraft *d = &l->draft;
  size_t at = d->cursor > 0 ? d->cursor - 1 : 0;
  for (; h->match && at <= d->cursor && at < d->n; at++) {
    brace[0] = at;
    if (h->match(h->ud, d->at, d->n, at, &brace[1])) return;
  }
  brace[0] = brace[1] = 0;
}

const char *td_look_ghost(TdLine *l) {
  const TdDraft *d = &l->draft;
  if (!l->has_ghost || d->n == 0 || d->cursor != d->n) return NULL;
  size_t i =
      td_history_find(l->history, td_history_count(l->history), -1, d->at, d->n, d->at, d->n);
  if (i != TD_NO_ENTRY) {
    const TdEntry *e = td_history_at(l->history, i);
    return td_arena_strndup(l->look, e->text + d->n, e->n - d->n);
  }
  TdText hint = td_text_new(l->look);
  if (l->hooks->hint) l->hooks->hint(l->hooks->ud, d->at, d->n, &hint);
  return hint.n ? hint.at : NULL;
}

TdView td_look_view(TdLine *l, bool is_last) {
  td_arena_release(l->look, (TdMark){0});
  const TdEntry *e = !is_last && l->recall.is_open ? td_recall_entry(&l->recall) : NULL;
  const char *text = e ? e->text : td_draft_text(&l->draft);
  size_t n = e ? e->n : l->draft.n;
  int room = l->screen.rows / 2;
  TdView v = {.cursor = l->draft.cursor,
              .is_plain = l->is_plain,
              .draft = {.text = text,
                        .n = n,
                        .spans = highlight(l, text, n),
                        .prompt = l->prompt,
                        .more = l->more}};
  if (is_last) {
    v.cursor = n;
  } else if (l->recall.is_open) {
    v.below = td_recall_show(&l->recall, l->look, room, &v.cursor);
    v.is_cursor_below = true;
  } else if (l->menu.found.items.n) {
    v.below = td_menu_show(&l->menu, l->look, room, l->screen.cols);
  } else {
    find_brace(l, v.brace);
    v.ghost = td_look_ghost(l);
  }
  return v;
}

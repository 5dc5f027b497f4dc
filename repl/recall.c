/* recall.c - fuzzy search in the history. */
#include "repl/recall.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "repl/fuzzy.h"
#include "repl/width.h"

#define NEWLINE_SIGN "\xE2\x86\xB5"

/* The order of hits, for qsort; no two are equal. */
static int by_score(const void *a, const void *b) {
  const TdHit *x = a, *y = b;
  if (x->score != y->score) return x->score < y->score ? 1 : -1;
  return x->entry < y->entry ? 1 : -1;
}

void td_recall_update(TdRecall *r) {
  TdMap seen = {0};
  td_arena_release(r->arena, (TdMark){0});
  memset(&r->hits, 0, sizeof r->hits);
  r->selected = 0;
  for (size_t i = td_history_count(r->history); i-- > 0;) {
    const TdEntry *e = td_history_at(r->history, i);
    TdHit hit = {.entry = i, .score = td_fuzzy_score(e->text, e->n, r->query, r->n, NULL)};
    uint64_t key = td_map_hash(e->text, e->n);
    if (hit.score < 0 || td_map_get(&seen, key, NULL)) continue;
    td_map_put(r->arena, &seen, key, 1);
    td_vec_push(r->arena, &r->hits, hit);
  }
  if (r->hits.n) qsort(r->hits.at, r->hits.n, sizeof *r->hits.at, by_score);
}

void td_recall_type(TdRecall *r, const char *s, size_t n) {
  if (n > sizeof r->query - r->n) return;
  memcpy(r->query + r->n, s, n);
  r->n += n;
  td_recall_update(r);
}

void td_recall_erase(TdRecall *r) {
  r->n = td_width_prev(r->query, r->n, r->n);
  td_recall_update(r);
}

void td_recall_move(TdRecall *r, int by) {
  if (by < 0 ? r->selected > 0 : r->selected + 1 < r->hits.n) r->selected += (size_t)by;
}

const TdEntry *td_recall_entry(const TdRecall *r) {
  return r->hits.n ? td_history_at(r->history, r->hits.at[r->selected].entry) : NULL;
}

/* Puts an entry on one row, its newlines and the indents after them as a sign, what fits the query
 * marked. */
static void put_entry(const TdRecall *r, const TdEntry *e, bool is_chosen, TdText *out,
                      TdSpans *spans) {
  TdStyle plain = is_chosen ? TD_STYLE_SELECTED : TD_STYLE_PLAIN;
  unsigned char *hit = td_arena_alloc(out->arena, e->n + 1);
  td_fuzzy_score(e->text, e->n, r->query, r->n, hit);
  td_text_puts(out, is_chosen ? "\n> " : "\n  ");
  for (size_t i = 0; i < e->n; i++) {
    size_t at = out->n;
    if (e->text[i] == '\n') {
      td_text_puts(out, NEWLINE_SIGN);
      while (i + 1 < e->n && e->text[i + 1] == ' ') i++;
    } else {
      td_text_putc(out, e->text[i]);
    }
    td_style_add(spans, at, out->n - at, hit[i] ? TD_STYLE_FOUND : plain);
  }
}

TdBlock td_recall_show(const TdRecall *r, TdArena *a, int rows, size_t *cursor) {
  TdText out = td_text_new(a);
  TdSpans *spans = TD_NEW(a, TdSpans);
  spans->arena = a;
  td_text_puts(&out, "search: ");
  td_style_add(spans, 0, out.n, TD_STYLE_PROMPT);
  td_text_putn(&out, r->query, r->n);
  *cursor = out.n;
  td_text_putf(&out, "  %zu/%zu", r->hits.n ? r->selected + 1 : 0, r->hits.n);
  td_style_add(spans, *cursor, out.n - *cursor, TD_STYLE_HELP);
  size_t room = rows > 2 ? (size_t)rows - 1 : 1;
  size_t from = r->selected < room ? 0 : r->selected - room + 1;
  for (size_t i = from; i < r->hits.n && i < from + room; i++)
    put_entry(r, td_history_at(r->history, r->hits.at[i].entry), i == r->selected, &out, spans);
  return (TdBlock){.text = td_text_str(&out), .n = out.n, .spans = spans};
}

/* recall.h - fuzzy search in the history: a query, the entries that fit, the one chosen. */
#ifndef TD_RECALL_H
#define TD_RECALL_H

#include "repl/history.h"
#include "repl/pane.h"

typedef struct TdHit {
  size_t entry;
  int score;
} TdHit;

/* A search under way. Zero-initialised with `arena` and `history` set is a search for nothing. */
typedef struct TdRecall {
  TdArena *arena; /* of its own, renewed at each change of the query */
  const TdHistory *history;
  char query[128];
  size_t n;
  TD_VEC(TdHit) hits; /* the best first, the newer of equals first, each text once */
  size_t selected;
  bool is_open;
} TdRecall;

/* Searches anew after the query changed. */
void td_recall_update(TdRecall *r);

/* Adds n bytes to the query, or removes its last character. */
void td_recall_type(TdRecall *r, const char *s, size_t n);
void td_recall_erase(TdRecall *r);

/* Chooses an entry further down (1) or up (-1) the list. */
void td_recall_move(TdRecall *r, int by);

/* The chosen entry, or NULL. */
const TdEntry *td_recall_entry(const TdRecall *r);

/* The query and the list in at most `rows` rows, memory from a; *cursor is in the query. */
TdBlock td_recall_show(const TdRecall *r, TdArena *a, int rows, size_t *cursor);

#endif

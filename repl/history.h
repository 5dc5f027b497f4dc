/* history.h - inputs of this and of earlier sessions, in a file that several sessions share. */
#ifndef TD_HISTORY_H
#define TD_HISTORY_H

#include "base/text.h"
#include "base/vec.h"

/* An input: text of any number of lines without the last newline, and when it was given. */
typedef struct TdEntry {
  const char *text;
  size_t n;
  int64_t time;
} TdEntry;

typedef struct TdHistory TdHistory;

/* $TIDE_HISTORY, or tide/history in $XDG_STATE_HOME or ~/.local/state; NULL when $TIDE_HISTORY is
 * empty or there is no home. */
const char *td_history_path(TdArena *a);

/* A history of at most `cap` entries, kept in the file `path`, or in memory only when that is NULL
 * or cannot be written. Freed by td_history_free. */
TdHistory *td_history_new(TdCtx *c, const char *path, size_t cap);
void td_history_free(TdHistory *h);

/* Reads what other sessions added; entries and their texts move. */
void td_history_sync(TdHistory *h);

/* Adds an entry here and to the file, unless it is blank or equal to the newest. */
void td_history_add(TdHistory *h, const char *text, size_t n, int64_t time);

/* Entries, the oldest at 0. */
size_t td_history_count(const TdHistory *h);
const TdEntry *td_history_at(const TdHistory *h, size_t i);

/* The nearest entry from i on (by: -1 towards older, 1 newer; i itself excluded) that starts with
 * the n bytes of prefix and is not exactly the n_except bytes at `except`; TD_NO_ENTRY when there
 * is none.
 */
#define TD_NO_ENTRY SIZE_MAX
size_t td_history_find(const TdHistory *h, size_t i, int by, const char *prefix, size_t n,
                       const char *except, size_t n_except);

#endif

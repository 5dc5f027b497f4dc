/* watch.h - looking on while a run goes statement by statement: where it is, what values are, what
 * streams hold. */
#ifndef TD_WATCH_H
#define TD_WATCH_H

#include "ir/ir.h"

/* A task in front of a statement. */
typedef struct TdWatched {
  struct TdTask *task;
  const TdStmt *stmt;
} TdWatched;

/* Called before each statement of a run on numbers; false ends the run with the code "ended". */
typedef struct TdWatch {
  bool (*step)(void *ud, const TdWatched *w);
  void *ud;
} TdWatch;

/* A cell that a statement is about to write. */
typedef struct TdWatchCell {
  const char *name; /* "C[0][1]" */
  const void *cell, *type;
} TdWatchCell;

/* "pe[0][1]"; "i = 0, k = 2", "" outside loops. Owned by the run. */
const char *td_watch_task(const TdWatched *w);
const char *td_watch_loops(const TdWatched *w);
/* How many statements and calls are under way in the task. */
size_t td_watch_depth(const TdWatched *w);

/* The cell that a store writes; false: it is none, or would fail. */
bool td_watch_target(const TdWatched *w, TdWatchCell *out);
/* Puts what a cell holds, "?" for nothing yet. */
void td_watch_put_cell(TdText *out, const TdWatchCell *cell);

/* Puts the value of a variable of the running unit, or of the element at n indices: text of lines
 * where it is a tensor. False: there is none of the name, or no such element. */
bool td_watch_put(TdText *out, const TdWatched *w, const char *name, const int64_t *index, int n);
/* The integer that a variable holds, such as a loop's; false: it is none. */
bool td_watch_integer(const TdWatched *w, const char *name, int64_t *v);
/* Puts a line for each variable that has a value, tensors in short. */
void td_watch_put_all(TdText *out, const TdWatched *w);

/* The stream that a get, put or slot is about to use, "Z[1]"; NULL: it is none. */
const char *td_watch_stream(const TdWatched *w);
/* Puts a line for each stream: how many tokens it holds, of how many, which, how many passed. */
void td_watch_put_streams(TdText *out, const TdWatched *w);
/* Puts a line for each task that has not ended, "*" in front of the one that runs. */
void td_watch_put_tasks(TdText *out, const TdWatched *w);

#endif

/* journal.h - what a session was given, on disk before it runs: a session that was killed, by
 * anything, is replayed from it. One that ends by itself leaves none. */
#ifndef TD_JOURNAL_H
#define TD_JOURNAL_H

#include "base/text.h"
#include "base/vec.h"

/* Most bytes of a journal; most journals of killed sessions that are kept, the oldest go first. */
enum { TD_JOURNAL_BYTES = 1 << 20, TD_JOURNAL_FILES = 8 };

typedef struct TdJournalInput {
  const char *text;
  size_t n;
} TdJournalInput;

/* A journal that was left. */
typedef struct TdJournalLeft {
  TD_VEC(TdJournalInput) input; /* those to replay, in order */
  TdJournalInput last;          /* during which it was killed; n 0: between two */
  const char *folder;           /* that it worked in */
  bool full;                    /* what came later was not kept */
} TdJournalLeft;

typedef struct TdJournal TdJournal;

/* $TIDE_JOURNAL, or tide/journal in $XDG_STATE_HOME or ~/.local/state; NULL when $TIDE_JOURNAL or
 * $TIDE_HISTORY is empty or there is no home. */
const char *td_journal_folder(TdArena *a);
/* A journal in a folder, of which this process alone writes one file; it keeps nothing where that
 * cannot be. Lives as long as a. With `left` not NULL it goes on from the newest that a killed
 * session left there, and fills *left; NULL: there is none. */
TdJournal *td_journal_open(TdArena *a, const char *folder, TdJournalLeft *left);
/* Notes an input that is about to run, then whether it is to be replayed. False once: from now on
 * the journal is full. */
bool td_journal_begin(TdJournal *j, const char *text, size_t n);
void td_journal_end(TdJournal *j, bool keep);
/* Lets go of it: the session ends by itself, or keeps none any more. */
void td_journal_close(TdJournal *j);

#endif

/* child.h - other programs, run for a limited time. */
#ifndef TD_HOST_CHILD_H
#define TD_HOST_CHILD_H

#include "base/base.h"

typedef enum {
  TD_CHILD_RUNS,    /* it did not end yet */
  TD_CHILD_DONE,    /* it ended with status 0 */
  TD_CHILD_FAILED,  /* it ended with another, or by a signal */
  TD_CHILD_ABSENT,  /* it could not be started */
  TD_CHILD_LATE,    /* it did not end in time, and was killed with all it started */
  TD_CHILD_STOPPED, /* the same because the work it is for must stop */
} TdChildEnd;

/* One that was started; pid 0: it ended. */
typedef struct TdChild {
  long pid, owner; /* owner: the process that started it; a copy of that leaves it alone */
  const char *name;
  double end; /* when it is late */
  int status; /* its exit status, 128 + n for signal n, or an errno */
} TdChild;

/* Starts a command (words, NULL-ended; the first is looked up on PATH) as a process group of its
 * own, its output to file `log`, its messages in English (LC_ALL=C): RUNS or ABSENT. Allocates in
 * a. */
TdChildEnd td_child_start(TdChild *k, TdArena *a, const char *const *command, const char *log,
                          int seconds);
/* Starts a copy of this process, called `name`, that calls fn(ud), its output to file `log`, and
 * ends with status 0, or as fn ends it; fn uses no arenas, as those of a copy cannot fail. */
TdChildEnd td_child_start_copy(TdChild *k, void (*fn)(void *ud), void *ud, const char *name,
                               const char *log, int seconds);
/* In a copy of this process: signals do what they do by themselves, Ctrl-C is for the process that
 * made it, with whose end it ends. */
void td_child_become_copy(long parent);
/* How one that was started stands now, and when it does not run any more. */
TdChildEnd td_child_look(TdChild *k);
TdChildEnd td_child_wait(TdCtx *c, TdChild *k);
/* Kills it with all it started, if it runs. */
void td_child_stop(TdChild *k);
/* Kills all that run with what they started. The end of this process by exit, SIGTERM, SIGHUP or
 * SIGQUIT does so; who ends it otherwise calls this. Async-signal-safe. */
void td_child_stop_all(void);

/* Starts a command and waits for it. */
TdChildEnd td_child_run(TdCtx *c, const char *const *command, const char *log, int seconds,
                        int *status);

/* The file on PATH that a program's name stands for, or NULL. Owned by a. */
const char *td_child_find(TdArena *a, const char *name);

/* The words of a text, or of `otherwise` where it is NULL or empty, and room for `more` after them.
 * Owned by a. */
const char **td_child_words(TdArena *a, const char *text, const char *otherwise, size_t more,
                            size_t *n);

#endif

/* compiler.h - the system's compilers as child processes: run for a limited time, their first
 * complaint told with the line of the text that it is about. */
#ifndef TD_HOST_COMPILER_H
#define TD_HOST_COMPILER_H

#include "backends/host/child.h"

typedef struct TdCompiler {
  const char *language; /* "C" */
  const char *install;  /* what to install where there is none: "a C compiler" */
  const char *variable; /* of the environment, names another: "TIDE_CC" */
  int seconds;          /* the longest it may take */
} TdCompiler;

/* Starts a command of the compiler, its output to file `log`; how it stands, and, with `wait`, when
 * it does not run any more. Unless it runs or ended, well or with an error, d is filled. */
TdChildEnd td_compiler_start(TdChild *x, const TdCompiler *k, const char *const *command,
                             const char *log, TdDiag *d);
TdChildEnd td_compiler_look(TdChild *x, const TdCompiler *k, TdCtx *wait, TdDiag *d);

/* Starts a command and waits for it. */
TdChildEnd td_compiler_run(TdCtx *c, const TdCompiler *k, const char *const *command,
                           const char *log, TdDiag *d);

/* Fills d with the first error in what the compiler `said` and the line of `text`, compiled from
 * file `from`, that it is about, or with a full disk; returns false. */
bool td_compiler_complain(const TdCompiler *k, const char *said, const char *from, const char *text,
                          TdDiag *d);
/* Adds a note with a line of a text, by its number from 1; nothing where n is not positive. */
void td_compiler_note_line(TdDiag *d, const char *text, long n);

#endif

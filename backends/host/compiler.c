/* compiler.c - the system's compilers as child processes, and what they complain of. */
#include "backends/host/compiler.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "backends/host/cache.h"

/* Fills d where the compiler x stands so that it is of no use; returns how. */
static TdChildEnd tell(const TdChild *x, const TdCompiler *k, TdChildEnd how, TdDiag *d) {
  switch (how) {
  case TD_CHILD_ABSENT:
    td_diag_set(d, TD_USAGE, "no-compiler", (TdLoc){0}, "cannot run %s: %s", x->name,
                strerror(x->status));
    if (x->status == ENOENT || x->status == EACCES)
      td_diag_help(d, "install %s, or name a %s compiler in %s", k->install, k->language,
                   k->variable);
    break;
  case TD_CHILD_LATE:
    td_diag_set(d, TD_LIMIT, "compiler-time", (TdLoc){0}, "%s did not end within %d s", x->name,
                k->seconds);
    break;
  case TD_CHILD_STOPPED: td_diag_set(d, TD_LIMIT, "interrupted", (TdLoc){0}, "interrupted"); break;
  default: break;
  }
  return how;
}

TdChildEnd td_compiler_start(TdChild *x, const TdCompiler *k, const char *const *command,
                             const char *log, TdDiag *d) {
  return tell(x, k, td_child_start(x, d->arena, command, log, k->seconds), d);
}

TdChildEnd td_compiler_look(TdChild *x, const TdCompiler *k, TdCtx *wait, TdDiag *d) {
  return tell(x, k, wait ? td_child_wait(wait, x) : td_child_look(x), d);
}

TdChildEnd td_compiler_run(TdCtx *c, const TdCompiler *k, const char *const *command,
                           const char *log, TdDiag *d) {
  TdChild x;
  TdChildEnd how = td_compiler_start(&x, k, command, log, d);
  return how == TD_CHILD_RUNS ? td_compiler_look(&x, k, c, d) : how;
}

/* Line n of a text, counted from 1, without its end; *bytes is its length. */
static const char *line_of(const char *text, long n, int *bytes) {
  for (; n > 1 && *text; n--) {
    text += strcspn(text, "\n");
    text += *text == '\n';
  }
  *bytes = (int)strcspn(text, "\n");
  return text;
}

void td_compiler_note_line(TdDiag *d, const char *text, long n) {
  int bytes;
  const char *line = line_of(text, n, &bytes);
  if (n > 0) td_diag_note(d, (TdLoc){0}, "line %ld of it: %.*s", n, bytes, line);
}

/* Whether files could not be written for want of room, by what was said; sets errno. */
static bool is_disk_full(const char *said) {
  static const int reasons[] = {ENOSPC, EFBIG, EDQUOT};
  for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
    errno = reasons[i];
    if (strstr(said, strerror(errno))) return true;
  }
  return false;
}

bool td_compiler_complain(const TdCompiler *k, const char *said, const char *from, const char *text,
                          TdDiag *d) {
  if (is_disk_full(said))
    return td_cache_fail(&(TdCache){.diag = d}, "the compiler cannot write beside", from);
  const char *at = strstr(said, "error:"), *place = strstr(said, from);
  if (!at) at = said;
  td_diag_set(d, TD_BUG, "compiler-failed", (TdLoc){0}, "the %s compiler refused the program: %.*s",
              k->language, (int)strcspn(at, "\n"), at);
  long n = place && place[strlen(from)] == ':' ? strtol(place + strlen(from) + 1, NULL, 10) : 0;
  td_compiler_note_line(d, text, n);
  return false;
}

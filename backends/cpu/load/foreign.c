/* foreign.c - foreign functions: the user's files are there, and what compilers say of them is
 * told as theirs, not as Tide's. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backends/host/cache.h"
#include "backends/host/compiler.h"
#include "backends/cpu/load/code.h"

bool td_cpu_foreign_check(const TdCpuInput *in, TdDiag *d) {
  for (size_t i = 0; i < in->nforeign; i++) {
    const TdForeign *f = in->foreign[i];
    const char *path = f->source ? f->source : strchr(f->library, '/') ? f->library : NULL;
    if (path && access(path, R_OK) != 0)
      return td_diag_set(d, TD_USAGE, "foreign-file", (TdLoc){0},
                         "cannot read %s, which '%s' is in: %s", path, f->symbol, strerror(errno));
  }
  return true;
}

/* The first error that a compiler names a line of `path` for, and the number of that line; NULL:
 * none. */
static const char *error_in(const char *said, const char *path, long *line) {
  size_t n = strlen(path);
  for (const char *s = said; (s = strstr(s, path)); s += n) {
    if (s[n] != ':' || (*line = strtol(s + n + 1, NULL, 10)) <= 0) continue;
    const char *error = strstr(s, "error: "), *end = s + strcspn(s, "\n");
    if (error && error < end) return error + strlen("error: ");
  }
  return NULL;
}

bool td_cpu_foreign_complain(const TdCpuInput *in, const char *said, TdDiag *d) {
  long line;
  for (size_t i = 0; i < in->nforeign; i++) {
    const char *path = in->foreign[i]->source, *at = path ? error_in(said, path, &line) : NULL;
    const char *text = at ? td_cache_read_file(d->arena, path) : NULL;
    if (!at) continue;
    td_diag_set(d, TD_USAGE, "foreign-source", (TdLoc){0}, "%s:%ld: %.*s", path, line,
                (int)strcspn(at, "\n"), at);
    td_compiler_note_line(d, text ? text : "", line);
    return true;
  }
  const char *at = strstr(said, "undefined symbol");
  if (!in->nforeign || !at) return false;
  td_diag_set(d, TD_USAGE, "no-symbol", (TdLoc){0}, "the foreign code is not whole: %.*s",
              (int)strcspn(at, "\n"), at);
  return true;
}

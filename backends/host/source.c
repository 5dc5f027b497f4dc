/* source.c - C sources of users, compiled; what the compiler says of them is told as theirs, not as
 * Tide's. */
#include "backends/host/source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backends/host/cache.h"
#include "backends/host/compiler.h"

static const TdCompiler compiler = {"C", "a C compiler", "TIDE_CC", 120};

/* The first error that the compiler names a line of `path` for, and the number of that line; NULL:
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

static bool complain(const char *path, const char *text, const char *said, TdDiag *d) {
  long line;
  const char *at = error_in(said, path, &line);
  if (!at) return td_compiler_complain(&compiler, said, path, text, d);
  td_diag_set(d, TD_USAGE, "foreign-source", (TdLoc){0}, "%s:%ld: %.*s", path, line,
              (int)strcspn(at, "\n"), at);
  td_compiler_note_line(d, text, line);
  return false;
}

/* The command that compiles `from` to `to`; without both, what it is apart from them. */
static const char *const *command(TdArena *a, const char *from, const char *to) {
  const char *const flag[] = {
      "-O3", "-march=native", "-ffp-contract=off", "-w", "-shared", "-fPIC", "-o", to, from, "-lm"};
  size_t n, flags = sizeof flag / sizeof *flag;
  const char **word = td_child_words(a, getenv("TIDE_CC"), "cc", flags + 1, &n);
  for (size_t i = 0; i < flags; i++) word[n++] = flag[i];
  word[n] = NULL;
  return word;
}

/* Compiles a source whose text is this. */
static const char *compile(TdArena *a, const char *path, const char *text, TdDiag *d) {
  TdCache cache = {.cap = 0};
  TdText key = td_text_new(a);
  if (!td_cache_open(&cache, a, d)) return NULL;
  td_text_puts(&key, "source\n");
  for (const char *const *s = command(a, path, "object"); *s; s++) td_text_putf(&key, "%s\n", *s);
  td_text_puts(&key, text);
  const char *kept = td_cache_path(&cache, key.at, key.n, ".so"), *folder;
  if (td_cache_has(&cache, kept)) return kept;
  folder = td_cache_aside(&cache);
  if (!folder) return NULL;
  const char *to = td_text_fmt(a, "%s/source.so", folder), *log = td_text_fmt(a, "%s/log", folder);
  TdChildEnd end = td_compiler_run(td_arena_ctx(a), &compiler, command(a, path, to), log, d);
  if (end == TD_CHILD_DONE) return td_cache_keep(&cache, to, kept) ? kept : NULL;
  const char *said = end == TD_CHILD_FAILED ? td_cache_read_file(a, log) : NULL;
  if (end == TD_CHILD_FAILED) complain(path, text, said ? said : "", d);
  return NULL;
}

const char *td_source_library(TdArena *a, const TdForeign *f, TdDiag *d) {
  const char *path = f->source ? f->source : strchr(f->library, '/') ? f->library : NULL;
  if (path && access(path, R_OK) != 0) {
    td_diag_set(d, TD_USAGE, "foreign-file", (TdLoc){0}, "cannot read %s, which '%s' is in: %s",
                path, f->symbol, strerror(errno));
    return NULL;
  }
  if (!f->source) return f->library;
  TdArena *scratch = td_arena_scratch(td_arena_ctx(a));
  const char *text = td_cache_read_file(scratch, path);
  const char *made = compile(scratch, path, text ? text : "", d);
  if (made) made = td_arena_strdup(a, made);
  td_arena_free(scratch);
  return made;
}

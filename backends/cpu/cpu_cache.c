/* cpu_cache.c - a folder of compiled programs, named by what they were made from. Files appear
   whole (written aside, then renamed), so that processes may share it; the oldest go when it is
   full. */
#include "backends/cpu/cpu_code.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "gen/version.h"

enum { SECONDS = 60, STALE = 3600, MOST = 1 << 20 };
#define CAP ((int64_t)256 << 20)

/* One compilation: where its files are. */
typedef struct Job {
  TdArena *arena; /* scratch */
  TdCtx *ctx;
  const TdCpuInput *in;
  const TdCpuOptions *options;
  const char *folder;
  const char *aside; /* unique path without suffix, of files that do not stay */
  TdDiag *diag;
} Job;

static bool fail(Job *j, const char *what, const char *path) {
  td_diag_set(j->diag, TD_USAGE, "cache", (TdLoc){0}, "%s %s: %s", what, path, strerror(errno));
  td_diag_help(j->diag, "TIDE_CACHE names the folder of compiled programs");
  return false;
}

/* Makes a folder and those above it, for this user only. */
static bool make_folder(char *path) {
  for (char *s = path + 1; *s; s++) {
    if (*s != '/') continue;
    *s = 0;
    mkdir(path, 0700);
    *s = '/';
  }
  return mkdir(path, 0700) == 0 || errno == EEXIST;
}

/* Finds the folder; it must be the user's alone to write. */
static bool open_folder(Job *j) {
  const char *own = getenv("TIDE_CACHE"), *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  char *path = own && *own       ? td_arena_strdup(j->arena, own)
               : cache && *cache ? td_text_fmt(j->arena, "%s/tide", cache)
                                 : td_text_fmt(j->arena, "%s/.cache/tide", home ? home : "");
  struct stat st;
  if (!make_folder(path) || stat(path, &st) != 0) return fail(j, "cannot make", path);
  if (st.st_uid != geteuid() || (st.st_mode & (S_IWGRP | S_IWOTH))) {
    errno = EPERM;
    return fail(j, "others may write to", path);
  }
  j->folder = path;
  return true;
}

/* A file as text, up to 1 MiB, or "". */
static const char *read_file(TdArena *a, const char *path) {
  FILE *f = fopen(path, "rb");
  TdText t = td_text_new(a);
  char block[4096];
  for (size_t n; f && t.n < MOST && (n = fread(block, 1, sizeof block, f)) > 0;)
    td_text_putn(&t, block, n);
  if (f) fclose(f);
  return td_text_str(&t);
}

static bool write_file(const char *path, const char *text) {
  FILE *f = fopen(path, "wb");
  if (!f) return false;
  bool ok = fwrite(text, 1, strlen(text), f) == strlen(text);
  return fclose(f) == 0 && ok;
}

/* Path `aside` + suffix. */
static const char *aside(Job *j, const char *suffix) {
  return td_text_fmt(j->arena, "%s%s", j->aside, suffix);
}

static void clean(Job *j) {
  static const char *const suffix[] = {"", ".c", ".so", ".log"};
  if (!j->aside) return;
  for (int i = 0; i < 4; i++) unlink(aside(j, suffix[i]));
}

/* Chooses a unique name in the folder, once. */
static bool open_aside(Job *j) {
  if (j->aside) return true;
  char *path = td_text_fmt(j->arena, "%s/new-XXXXXX", j->folder);
  int fd = mkstemp(path);
  if (fd < 0) return fail(j, "cannot write to", j->folder);
  close(fd);
  j->aside = path;
  return true;
}

static int seconds_of(const Job *j) {
  return j->options->seconds ? j->options->seconds : SECONDS;
}

/* The file that a command's first word stands for, as far as it can be found. */
static const char *program_file(Job *j, const char *word) {
  if (strchr(word, '/')) return word;
  const char *path = getenv("PATH");
  for (const char *s = path ? path : ""; *s;) {
    size_t n = strcspn(s, ":");
    const char *file = td_text_fmt(j->arena, "%.*s/%s", (int)n, s, word);
    if (access(file, X_OK) == 0) return file;
    s += n + (s[n] == ':');
  }
  return word;
}

/* Where the folder remembers what the compiler said of itself: a name made from the file it is. */
static const char *memory_of(Job *j, const char *const *command) {
  TdText key = td_text_new(j->arena);
  const char *file = program_file(j, command[0]);
  struct stat st;
  if (stat(file, &st) == 0)
    td_text_putf(&key, "%s %" PRId64 " %" PRId64 " %ld", file, (int64_t)st.st_size,
                 (int64_t)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
  for (; *command; command++) td_text_putf(&key, " %s", *command);
  return td_text_fmt(j->arena, "%s/%016" PRIx64 ".cc", j->folder, td_map_hash(key.at, key.n));
}

/* The first line that the compiler says of itself; NULL: it cannot be run. */
static const char *identity(Job *j) {
  const char *const *command = td_cpu_cc_command(j->arena);
  const char *memory = memory_of(j, command), *known = read_file(j->arena, memory);
  if (*known) return known;
  TD_VEC(const char *) word = {0};
  for (; *command; command++) td_vec_push(j->arena, &word, *command);
  td_vec_push(j->arena, &word, "--version");
  td_vec_push(j->arena, &word, NULL);
  if (!open_aside(j)) return NULL;
  int status = td_cpu_cc_run(j->ctx, word.at, aside(j, ".log"), seconds_of(j), j->diag);
  if (status < 0) return NULL;
  const char *said = read_file(j->arena, aside(j, ".log"));
  const char *line = td_arena_strndup(j->arena, said, strcspn(said, "\n"));
  if (status == 0 && write_file(j->aside, line)) rename(j->aside, memory);
  return line;
}

/* What -march=native depends on. */
static const char *processor(Job *j) {
  FILE *f = fopen("/proc/cpuinfo", "r");
  TdText t = td_text_new(j->arena);
  char line[8192];
  while (f && fgets(line, sizeof line, f) && strncmp(line, "flags", 5) != 0)
    if (strncmp(line, "model name", 10) == 0) td_text_puts(&t, line);
  if (f) td_text_puts(&t, line);
  if (f) fclose(f);
  return td_text_str(&t);
}

static int threads_of(const Job *j) {
  if (!strstr(j->in->text, "#pragma omp")) return 1;
  long n = j->options->threads ? j->options->threads : sysconf(_SC_NPROCESSORS_ONLN);
  return n > 1 ? (int)n : 1;
}

/* The path of the shared object, named by a hash of all that it depends on. */
static const char *path_of(Job *j, const char *compiler) {
  TdText key = td_text_new(j->arena);
  td_text_putf(&key, "%s %s\n%s\n%s\n", TIDE_VERSION, TIDE_COMMIT, compiler, processor(j));
  for (const char *const *s = td_cpu_cc_words(j->arena, NULL, NULL, threads_of(j), j->in); *s; s++)
    td_text_putf(&key, "%s\n", *s);
  for (size_t i = 0; i < j->in->nforeign; i++)
    if (j->in->foreign[i]->source)
      td_text_puts(&key, read_file(j->arena, j->in->foreign[i]->source));
  td_text_puts(&key, j->in->text);
  uint64_t hash = td_map_hash(key.at, key.n);
  return td_text_fmt(j->arena, "%s/%016" PRIx64 "%016" PRIx64 ".so", j->folder, hash,
                     td_map_hash(key.at + 1, key.n - 1));
}

/* The compiler's first error, and the line of the text that it is about. */
static bool complain(Job *j) {
  const char *said = read_file(j->arena, aside(j, ".log")), *at = strstr(said, "error:");
  const char *name = aside(j, ".c"), *line = strstr(said, name);
  if (!at) at = said;
  td_diag_set(j->diag, TD_BUG, "compiler-failed", (TdLoc){0},
              "the C compiler refused the program: %s",
              td_arena_strndup(j->arena, at, strcspn(at, "\n")));
  long n = line ? strtol(line + strlen(name) + 1, NULL, 10) : 0;
  const char *text = j->in->text;
  for (long i = 1; i < n && *text; i++) {
    text += strcspn(text, "\n");
    text += *text == '\n';
  }
  if (n > 0)
    td_diag_note(j->diag, (TdLoc){0}, "line %ld of it: %.*s", n, (int)strcspn(text, "\n"), text);
  return false;
}

/* Compiles aside, without threads if the compiler cannot have them, and moves the result. */
static bool compile(Job *j, const char *path) {
  if (!open_aside(j)) return false;
  const char *from = aside(j, ".c"), *to = aside(j, ".so");
  if (!write_file(from, j->in->text)) return fail(j, "cannot write", from);
  int status = 1;
  for (int threads = threads_of(j); threads && status == 1; threads = threads > 1 ? 1 : 0)
    status = td_cpu_cc_run(j->ctx, td_cpu_cc_words(j->arena, from, to, threads, j->in),
                           aside(j, ".log"), seconds_of(j), j->diag);
  if (status < 0) return false;
  if (status > 0) return complain(j);
  return rename(to, path) == 0 || fail(j, "cannot write", path);
}

/* A file of the folder. */
typedef struct Found {
  const char *path;
  int64_t bytes;
  struct timespec used;
} Found;

static int by_age(const void *x, const void *y) {
  const struct timespec a = ((const Found *)x)->used, b = ((const Found *)y)->used;
  if (a.tv_sec != b.tv_sec) return a.tv_sec < b.tv_sec ? -1 : 1;
  return (a.tv_nsec > b.tv_nsec) - (a.tv_nsec < b.tv_nsec);
}

/* Removes what was left by processes that died, and the longest unused until the rest fits; never
   `keep`. */
static void evict(Job *j, const char *keep) {
  int64_t cap = j->options->cache_bytes ? j->options->cache_bytes : CAP, sum = 0;
  TD_VEC(Found) found = {0};
  DIR *dir = opendir(j->folder);
  time_t now = time(NULL);
  for (const struct dirent *e; dir && (e = readdir(dir));) {
    struct stat st;
    const char *path = td_text_fmt(j->arena, "%s/%s", j->folder, e->d_name);
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode)) continue;
    if (strncmp(e->d_name, "new-", 4) == 0) {
      if (st.st_mtime < now - STALE) unlink(path);
      continue;
    }
    td_vec_push(j->arena, &found, ((Found){path, st.st_size, st.st_mtim}));
    sum += st.st_size;
  }
  if (dir) closedir(dir);
  if (found.n) qsort(found.at, found.n, sizeof *found.at, by_age);
  for (size_t i = 0; i < found.n && sum > cap; i++) {
    if (strcmp(found.at[i].path, keep) == 0) continue;
    if (unlink(found.at[i].path) == 0) sum -= found.at[i].bytes;
  }
}

static void close_object(void *object) {
  dlclose(object);
}

static void *find(void *object, const char *name) {
  return dlsym(object, name);
}

/* Opens the shared object for as long as a lives; marks it as used now. */
static bool open_object(TdArena *a, const char *path, TdCpuCode *code) {
  void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!object) return false;
  td_arena_defer(a, close_object, object);
  utimensat(AT_FDCWD, path, NULL, 0);
  return td_cpu_code_link(code, find, object);
}

/* The object is in the folder or comes there, and is opened. */
static bool load(Job *j, TdArena *a, TdCpuCode *code) {
  const char *compiler = identity(j);
  if (!compiler) return false;
  const char *path = path_of(j, compiler);
  if (access(path, R_OK) == 0 && open_object(a, path, code)) return true;
  if (!compile(j, path)) return false;
  evict(j, path);
  if (open_object(a, path, code)) return true;
  td_diag_set(j->diag, TD_BUG, "compiler-failed", (TdLoc){0}, "cannot load the program: %s",
              dlerror());
  return false;
}

bool td_cpu_cache_load(TdArena *a, const TdCpuInput *in, const TdCpuOptions *o, TdCpuCode *code,
                       TdDiag *d) {
  TdCtx *c = td_arena_ctx(a);
  Job j = {.arena = td_arena_scratch(c), .ctx = c, .in = in, .options = o, .diag = d};
  bool ok = open_folder(&j) && load(&j, a, code);
  clean(&j);
  td_arena_free(j.arena);
  return ok;
}

/* cache.c - shared objects of compiled programs in the folder of built things, named by what
 * they were made from. */
#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backends/host/cache.h"
#include "backends/host/compiler.h"
#include "backends/cpu/load/code.h"
#include "gen/version.h"

enum { SECONDS = 60 };

/* One compilation: where its files are, and the compiler under way. */
typedef struct TdCpuJob {
  TdArena *arena;
  TdCtx *ctx;
  const TdCpuInput *in;
  const TdCpuOptions *options;
  TdCompiler compiler;
  TdCache cache;
  const char *path;  /* where the shared object is to be */
  const char *aside; /* the folder of files that do not stay, or NULL */
  TdChild child;
  int threads; /* that are compiled for; 0: nothing is */
  TdDiag *diag;
} Job;

/* The path of a file aside. */
static const char *aside(Job *j, const char *name) {
  return td_text_fmt(j->arena, "%s/%s", j->aside, name);
}

/* Makes the folder aside, once. */
static bool open_aside(Job *j) {
  if (!j->aside) j->aside = td_cache_aside(&j->cache);
  return j->aside;
}

/* Where the folder remembers what the compiler said of itself: a name made from the file it is. */
static const char *memory_of(Job *j, const char *const *command) {
  TdText key = td_text_new(j->arena);
  const char *found = strchr(command[0], '/') ? NULL : td_child_find(j->arena, command[0]);
  const char *file = found ? found : command[0];
  struct stat st;
  if (stat(file, &st) == 0)
    td_text_putf(&key, "%s %" PRId64 " %" PRId64 " %ld", file, (int64_t)st.st_size,
                 (int64_t)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
  for (; *command; command++) td_text_putf(&key, " %s", *command);
  return td_cache_path(&j->cache, key.at, key.n, ".cc");
}

/* The first line that the compiler says of itself; NULL with the diagnostic filled: it cannot be
 * run. */
static const char *identity(Job *j) {
  const char *const *command = td_cpu_cc_command(j->arena);
  const char *memory = memory_of(j, command), *known = td_cache_read_file(j->arena, memory);
  if (known && *known) return known;
  TD_VEC(const char *) word = {0};
  for (; *command; command++) td_vec_push(j->arena, &word, *command);
  td_vec_push(j->arena, &word, "--version");
  td_vec_push(j->arena, &word, NULL);
  if (!open_aside(j)) return NULL;
  const char *log = aside(j, "log"), *name = aside(j, "name");
  TdChildEnd end = td_compiler_run(j->ctx, &j->compiler, word.at, log, j->diag);
  if (end != TD_CHILD_DONE && end != TD_CHILD_FAILED) return NULL;
  const char *said = td_cache_read_file(j->arena, log);
  const char *line = td_arena_strndup(j->arena, said ? said : "", said ? strcspn(said, "\n") : 0);
  if (end == TD_CHILD_DONE && *line && td_cache_write_file(name, line)) rename(name, memory);
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

/* Threads of parallel loops. Foreign functions, which may not stand several and are guarded on one,
 * run on one. */
static int threads_of(const Job *j) {
  if (!strstr(j->in->text, "#pragma omp") || j->in->nforeign) return 1;
  long n = j->options->threads ? j->options->threads : sysconf(_SC_NPROCESSORS_ONLN);
  return n > 1 ? (int)n : 1;
}

/* The path of the shared object, named by a hash of all that it depends on. */
static const char *path_of(Job *j, const char *compiler) {
  TdText key = td_text_new(j->arena);
  td_text_putf(&key, "%s %s\n%s\n%s\n", TIDE_VERSION, TIDE_COMMIT, compiler, processor(j));
  for (const char *const *s = td_cpu_cc_words(j->arena, NULL, NULL, threads_of(j), j->in); *s; s++)
    td_text_putf(&key, "%s\n", *s);
  td_text_puts(&key, j->in->text);
  return td_cache_path(&j->cache, key.at, key.n, ".so");
}

/* Starts to compile what lies aside for so many threads. */
static TdChildEnd start(Job *j, int threads) {
  const char *from = aside(j, "program.c"), *to = aside(j, "program.so");
  j->threads = threads;
  return td_compiler_start(&j->child, &j->compiler,
                           td_cpu_cc_words(j->arena, from, to, threads, j->in), aside(j, "log"),
                           j->diag);
}

static void stop(void *job) {
  td_child_stop(&((Job *)job)->child);
}

/* Starts to compile the text. */
static TdChildEnd compile(Job *j) {
  if (!open_aside(j)) return TD_CHILD_ABSENT;
  td_arena_defer(j->arena, stop, j);
  const char *from = aside(j, "program.c");
  if (td_cache_write_file(from, j->in->text)) return start(j, threads_of(j));
  td_cache_fail(&j->cache, "cannot write", from);
  return TD_CHILD_ABSENT;
}

/* How the compilation stands; it begins anew without threads if the compiler cannot have them. */
static TdChildEnd stand(Job *j, bool wait) {
  TdChildEnd how = td_compiler_look(&j->child, &j->compiler, wait ? j->ctx : NULL, j->diag);
  if (how != TD_CHILD_FAILED || j->threads == 1) return how;
  how = start(j, 1);
  return how == TD_CHILD_RUNS && wait ? stand(j, wait) : how;
}

static void *find(void *object, const char *name) {
  return dlsym(object, name);
}

/* Opens the shared object for as long as a lives. */
static bool open_object(TdArena *a, const char *path, TdCpuCode *code, TdLibrary *x) {
  *x = td_library_open(a, path);
  return x->handle && td_cpu_code_link(code, find, x->handle);
}

/* Moves what was compiled to its place and opens it. */
static bool take(Job *j, TdArena *a, TdCpuCode *code) {
  TdLibrary x;
  if (!td_cache_keep(&j->cache, aside(j, "program.so"), j->path)) return false;
  if (open_object(a, j->path, code, &x)) return true;
  if (x.end.how) return td_library_tell(&x, j->diag);
  return td_diag_set(j->diag, TD_BUG, "compiler-failed", (TdLoc){0}, "cannot load the program: %s",
                     x.why);
}

/* Tells what the compiler wrote to its log. */
static void complain(Job *j) {
  const char *said = td_cache_read_file(j->arena, aside(j, "log"));
  td_compiler_complain(&j->compiler, said ? said : "", aside(j, "program.c"), j->in->text, j->diag);
}

/* Opens the object if it is in the folder, else has it compiled; how that stands. */
static TdChildEnd load(Job *j, TdArena *a, TdCpuCode *code, bool wait) {
  TdChildEnd how = TD_CHILD_RUNS;
  TdLibrary x;
  if (!j->threads) {
    if (td_cache_has(&j->cache, j->path) && open_object(a, j->path, code, &x)) return TD_CHILD_DONE;
    how = compile(j);
  }
  if (how == TD_CHILD_RUNS) how = stand(j, wait);
  if (how == TD_CHILD_FAILED) complain(j);
  return how == TD_CHILD_DONE && !take(j, a, code) ? TD_CHILD_FAILED : how;
}

TdCpuJob *td_cpu_cache_begin(TdArena *a, const TdCpuInput *in, const TdCpuOptions *o, TdDiag *d) {
  Job *j = TD_NEW(a, Job);
  *j = (Job){.arena = a, .ctx = td_arena_ctx(a), .in = in, .options = o, .diag = d};
  j->compiler = (TdCompiler){"C", "a C compiler", "TIDE_CC", o->seconds ? o->seconds : SECONDS};
  if (!td_cache_open(&j->cache, a, d)) return NULL;
  if (o->cache_bytes) j->cache.cap = o->cache_bytes;
  const char *compiler = identity(j);
  if (!compiler) return NULL;
  j->path = path_of(j, compiler);
  return j;
}

TdChildEnd td_cpu_cache_look(TdCpuJob *j, TdArena *a, TdCpuCode *code, TdDiag *d) {
  j->diag = j->cache.diag = d;
  return load(j, a, code, false);
}

bool td_cpu_cache_load(TdArena *a, const TdCpuInput *in, const TdCpuOptions *o, TdCpuCode *code,
                       TdDiag *d) {
  TdArena *scratch = td_arena_scratch(td_arena_ctx(a));
  TdCpuJob *j = td_cpu_cache_begin(scratch, in, o, d);
  bool ok = j && load(j, a, code, true) == TD_CHILD_DONE;
  td_arena_free(scratch);
  return ok;
}

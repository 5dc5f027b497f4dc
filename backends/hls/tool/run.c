/* run.c - the simulation of a kernel: its C++ compiled with Tide's headers into a program, kept
 * in the folder of built things, and run on files of arguments. States are files between calls. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "backends/host/cache.h"
#include "backends/host/compiler.h"
#include "backends/hls/option.h"
#include "gen/version.h"

enum { COMPILE_SECONDS = 120 };
enum { DEADLOCK = 3, LEFTOVER = 4 }; /* how simulations end: tide_csim.h, tide_region.h */

struct TdHlsRun {
  TdArena *arena;
  const TdHlsText *text;
  const char *program; /* kernel and main as one text */
  const char *file;    /* the compiled program; NULL: not yet */
  int seconds;         /* the longest that a simulation may take */
  const char **state;  /* contents of the files of states, or NULL: as declared */
};

TdHlsRun *td_hls_run_new(const TdBuild *b) {
  const TdHlsText *t = td_hls_text(b);
  if (!t) return NULL;
  TdHlsRun *r = TD_NEW(b->arena, TdHlsRun);
  *r = (TdHlsRun){.arena = b->arena,
                  .text = t,
                  .program = td_hls_files_program(b->arena, t),
                  .seconds = (int)strtol(td_hls_option(b, TD_HLS_SECONDS), NULL, 10),
                  .state = TD_NEWN(b->arena, const char *, t->nstate)};
  return r;
}

void td_hls_run_reset(TdHlsRun *r) {
  for (size_t i = 0; i < r->text->nstate; i++) r->state[i] = NULL;
}

/* A call, or a compilation, under way. */
typedef struct Job {
  TdHlsRun *r;
  TdArena *arena; /* scratch */
  TdCache cache;
  const char *folder; /* aside, of files that do not stay */
  TdDiag *diag;
} Job;

/* A path in the folder aside. */
static const char *path(Job *j, const char *name, const char *suffix) {
  return td_text_fmt(j->arena, "%s/%s%s", j->folder, name, suffix);
}

static bool open_job(Job *j) {
  if (!td_cache_open(&j->cache, j->arena, j->diag)) return false;
  j->folder = td_cache_aside(&j->cache);
  return j->folder != NULL;
}

/* The command that compiles `from` to `to`. */
static const char *const *command(Job *j, const char *headers, const char *from, const char *to) {
  static const char *const flags[] = {"-std=c++17", "-O1", "-ffp-contract=off", "-w"};
  size_t n, nflag = sizeof flags / sizeof *flags;
  const char **word = td_child_words(j->arena, getenv("TIDE_CXX"), "", nflag + 6, &n);
  if (!n) word[n++] = td_child_find(j->arena, "g++") ? "g++" : "c++";
  for (size_t i = 0; i < nflag; i++) word[n++] = flags[i];
  word[n++] = "-I";
  word[n++] = headers;
  word[n++] = "-o";
  word[n++] = to;
  word[n++] = from;
  return word;
}

/* Adds what tells one version of a file from another. */
static void put_file(TdText *key, const char *file) {
  struct stat st;
  if (file && stat(file, &st) == 0)
    td_text_putf(key, "%s %" PRId64 " %" PRId64 " %ld\n", file, (int64_t)st.st_size,
                 (int64_t)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
}

/* All that the compiled program depends on. */
static TdText key_of(Job *j, const char *headers) {
  static const char *const own[] = {"ap_fixed.h",      "ap_int.h",         "hls_half.h",
                                    "hls_math.h",      "hls_stream.h",     "hls_streamofblocks.h",
                                    "hls_vector.h",    "tide_csim.h",      "tide_data.h",
                                    "tide_dataflow.h", "tide_fiber.h",     "tide_host.h",
                                    "tide_integer.h",  "tide_minifloat.h", "tide_ops.h",
                                    "tide_region.h",   "tide_wide.h"};
  TdText key = td_text_new(j->arena);
  td_text_puts(&key, TIDE_VERSION " " TIDE_COMMIT "\n");
  const char *const *word = command(j, headers, "", "");
  put_file(&key, strchr(*word, '/') ? *word : td_child_find(j->arena, *word));
  for (; *word; word++) td_text_putf(&key, "%s\n", *word);
  for (size_t i = 0; i < sizeof own / sizeof *own; i++)
    put_file(&key, td_text_fmt(j->arena, "%s/%s", headers, own[i]));
  td_text_puts(&key, j->r->program);
  return key;
}

static const TdCompiler cxx = {"C++", "g++", "TIDE_CXX", COMPILE_SECONDS};

/* Compiles `from`, which holds the program, to `to`. */
static bool compile_aside(Job *j, const char *headers, const char *from, const char *to) {
  const char *log = path(j, "log", "");
  if (!td_cache_write_file(from, j->r->program))
    return td_cache_fail(&j->cache, "cannot write", from);
  TdChildEnd end =
      td_compiler_run(td_arena_ctx(j->arena), &cxx, command(j, headers, from, to), log, j->diag);
  if (end != TD_CHILD_FAILED) return end == TD_CHILD_DONE;
  const char *said = td_cache_read_file(j->arena, log);
  return td_compiler_complain(&cxx, said ? said : "", from, j->r->program, j->diag);
}

/* The first line of `said` from s on that begins with "code: ", or NULL. */
static const char *line_with(const char *s, const char *code) {
  size_t n = strlen(code);
  for (; s && *s; s += strcspn(s, "\n"), s += *s == '\n')
    if (strncmp(s, code, n) == 0 && s[n] == ':') return s;
  return NULL;
}

/* What the simulation's streams came to: tasks that wait for ever, or tokens that nobody got. Each
 * line that it said of them becomes a note. */
static bool tell_streams(Job *j, const char *code, const char *message, const char *said) {
  size_t n = strlen(code) + 2;
  td_diag_set(j->diag, TD_ILLEGAL, code, (TdLoc){0}, "%s", message);
  for (const char *s = said; (s = line_with(s, code)); s += n)
    td_diag_note(j->diag, (TdLoc){0}, "%.*s", (int)(strcspn(s, "\n") - n), s + n);
  return false;
}

/* Finds the compiled program, or makes it. */
static bool compile(Job *j) {
  const char *headers = td_hls_files_headers(j->arena, j->diag);
  if (!headers) return false;
  TdText key = key_of(j, headers);
  const char *kept = td_cache_path(&j->cache, key.at, key.n, ".hls");
  const char *from = path(j, "program", ".cpp"), *to = path(j, "program", "");
  if (!td_cache_has(&j->cache, kept) &&
      !(compile_aside(j, headers, from, to) && td_cache_keep(&j->cache, to, kept)))
    return false;
  j->r->file = td_arena_strdup(j->r->arena, kept);
  return true;
}

/* Whether the simulation ended by an assertion that Tide wrote, which d then tells. */
static bool tell_assertion(Job *j, const char *said) {
  static const char overlap[] = "overlap: ";
  const char *text = strstr(said, "&& \"");
  if (!text || !strstr(said, "ssertion")) return false;
  text += strlen("&& \"");
  bool meets = strncmp(text, overlap, strlen(overlap)) == 0;
  if (meets) text += strlen(overlap);
  td_diag_set(j->diag, TD_ILLEGAL, meets ? "overlap" : "assume", (TdLoc){0}, "%.*s",
              (int)strcspn(text, "\""), text);
  return true;
}

/* Runs the compiled program on the files aside. */
static bool simulate(Job *j) {
  const char *const word[] = {j->r->file, j->folder, NULL};
  const char *log = path(j, "log", "");
  int status;
  switch (td_child_run(td_arena_ctx(j->arena), word, log, j->r->seconds, &status)) {
  case TD_CHILD_DONE: return true;
  case TD_CHILD_ABSENT: errno = status; return td_cache_fail(&j->cache, "cannot run", j->r->file);
  case TD_CHILD_LATE:
    return td_diag_set(j->diag, TD_LIMIT, "hls-time", (TdLoc){0},
                       "the simulation did not end within %d s", j->r->seconds);
  case TD_CHILD_STOPPED:
    return td_diag_set(j->diag, TD_LIMIT, "interrupted", (TdLoc){0}, "interrupted");
  default: break;
  }
  const char *said = td_cache_read_file(j->arena, log);
  if (status == DEADLOCK && line_with(said, "deadlock"))
    return tell_streams(j, "deadlock", "in the simulation every task waits for another", said);
  if (status == LEFTOVER && line_with(said, "leftover"))
    return tell_streams(j, "leftover", "the simulation left tokens in streams", said);
  if (said && tell_assertion(j, said)) return false;
  if (status > 128)
    td_diag_set(j->diag, TD_ILLEGAL, "simulation-failed", (TdLoc){0},
                "the simulation ended by signal %d", status - 128);
  else
    td_diag_set(j->diag, TD_ILLEGAL, "simulation-failed", (TdLoc){0},
                "the simulation ended with status %d: %.200s", status, said ? said : "");
  td_diag_help(j->diag, "the reference run shows an index that is out of range: kernel:reference");
  return false;
}

static bool write_input(Job *j, const char *name, const char *suffix, const char *text) {
  const char *file = path(j, name, suffix);
  return td_cache_write_file(file, text) ||
         td_diag_set(j->diag, TD_USAGE, "cache", (TdLoc){0}, "cannot write %s", file);
}

/* Writes arguments and states where the program looks for them. */
static bool write_inputs(Job *j, const TdCallArg *arg) {
  const TdHlsText *t = j->r->text;
  for (size_t i = 0; i < t->nparam; i++) {
    TdText text = td_text_new(j->arena);
    if (arg[i].tensor)
      td_hls_data_put_tensor(&text, arg[i].tensor);
    else
      td_hls_data_put_scalar(&text, t->param[i].type, arg[i].scalar);
    if (!write_input(j, t->param[i].name, ".dat", td_text_str(&text))) return false;
  }
  for (size_t i = 0; i < t->nstate; i++)
    if (j->r->state[i] && !write_input(j, t->state[i].name, ".state.dat", j->r->state[i]))
      return false;
  return true;
}

/* Takes back what was written. */
static bool read_outputs(Job *j, const TdCallArg *arg) {
  const TdHlsText *t = j->r->text;
  for (size_t i = 0; i < t->nparam; i++) {
    if (!t->param[i].written || !td_tensor_count(arg[i].tensor)) continue;
    const char *text = td_cache_read_file(j->arena, path(j, t->param[i].name, ".got.dat"));
    if (!text || !td_hls_data_take(arg[i].tensor, text))
      return td_diag_set(j->diag, TD_ILLEGAL, "simulation-failed", (TdLoc){0},
                         "the simulation ended with status 0 before it wrote %s", t->param[i].name);
  }
  for (size_t i = 0; i < t->nstate; i++)
    j->r->state[i] = td_cache_read_file(j->r->arena, path(j, t->state[i].name, ".state.dat"));
  return true;
}

bool td_hls_run_call(TdHlsRun *r, const TdCallArg *arg, size_t narg, TdDiag *d) {
  (void)narg;
  Job j = {.r = r, .arena = td_arena_scratch(td_arena_ctx(r->arena)), .diag = d};
  bool ok = open_job(&j) && (r->file || compile(&j)) && write_inputs(&j, arg) && simulate(&j) &&
            read_outputs(&j, arg);
  td_arena_free(j.arena);
  return ok;
}

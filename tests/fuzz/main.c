/* main.c - campaigns: a worker runs cases; when one goes wrong, or the worker dies of it, this
 * process looks into the case, makes it small, and starts another worker behind it.
 *
 * fuzz [--tap] [--first] [--out FOLDER] [--seconds S] N [SEED [FROM]]
 *   N            accepted steps to make
 *   FROM         the case to start with: how a campaign goes on
 *   --tap        results as tests
 *   --first      stop at the first failure
 *   --out        where scripts of failures go
 *   --seconds    stop after that time
 *   --cc         one chain in so many ends with cc (1; 0: none)
 *   --distinct   affine kernels whose stores tell their iteration: for the rate of refusals
 *   --refusals   prints the refusals of what is right
 *   --about      what all kernels are about: of "memory,state,index,shared,fault,wide"
 *   --not-about  what none is about
 *   --only, --without   primitives that are drawn, or not, as "split,fuse"
 *   --blind      with a planted fault: orders of accesses count as kept
 *   --most K     stop after so many failures (50)
 *   --smallest   says of each failure made small whether anything more can go
 *   --state      a file with what was counted so far: read if it is there, and written
 * Exit 0: nothing went wrong; 1: something did; 2: usage. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/fuzz/gen.h"
#include "tests/fuzz/report.h"
#include "tests/fuzz/shrink.h"
#include "tests/fuzz/state.h"
#include "tests/fuzz/step.h"
#include "tests/fuzz/wrap.h"

enum { CASE_SECONDS = 120, PROBES = 700, HUNG_PROBES = 6, BATCH = 400, SHARE = 20 };

typedef struct Campaign {
  uint64_t steps;
  double seconds, started;
  bool tap, first, smallest;
  const char *folder, *file;
  State state;
  uint64_t failures, most; /* of this run */
} Campaign;

/* What a worker tells of one case. */
typedef struct Record {
  uint64_t number;
  Wrong wrong;
  char words[400];
  Counts counts;
} Record;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Runs one case and tells; whether it went well. */
static bool work_on(const Campaign *c, uint64_t number, FILE *out) {
  static Record r;
  TdCtx *ctx = td_ctx_new();
  TdArena *a = td_arena_new(ctx);
  r = (Record){.number = number};
  double before = now();
  uint64_t worked = wrap_work;
  alarm(CASE_SECONDS);
  Outcome end = case_run(c->state.seed, number, &r.counts, a);
  r.wrong = end.wrong;
  snprintf(r.words, sizeof r.words, "%s", end.words ? end.words : "");
  r.counts.nanoseconds = (uint64_t)((now() - before) * 1e9);
  r.counts.work = wrap_work - worked;
  td_arena_free(a);
  td_ctx_free(ctx);
  return fwrite(&r, sizeof r, 1, out) == 1 && fflush(out) == 0 && !r.wrong;
}

/* A worker: some cases from c->state.from on, until one goes wrong. */
static _Noreturn void work(const Campaign *c, int pipe) {
  FILE *out = fdopen(pipe, "wb");
  if (!out) _exit(1);
  for (uint64_t k = 0; k < BATCH; k++)
    if (!work_on(c, c->state.from + k, out)) break;
  _exit(0);
}

static bool is_over(const Campaign *c) {
  return c->state.counts.accepted >= c->steps || (c->first && c->failures) ||
         c->failures >= c->most || (c->seconds > 0 && now() - c->started > c->seconds);
}

/* Says whether a script goes wrong in the same way without a step, an option or a line. */
static void look_for_smaller(const Script *script, Outcome out, TdArena *a) {
  int tries;
  const char *less = shrink_smaller(script, out, &tries, a);
  if (less)
    fprintf(stderr, "not smallest: goes wrong in the same way without %s\n", less);
  else
    fprintf(stderr, "smallest: fine without any one step, option or line (%d tries)\n", tries);
}

/* Looks into a case that went wrong, in these words, and writes its script. */
static void look_into(Campaign *c, uint64_t number, Wrong was, const char *words) {
  TdCtx *ctx = td_ctx_new();
  TdArena *a = td_arena_new(ctx);
  Script script;
  Outcome out = case_trace(c->state.seed, number, a, &script);
  char path[512];
  c->failures++;
  c->state.failures++;
  fprintf(stderr, "case %" PRIu64 ", after %" PRIu64 " accepted steps: %s\n%s\n", number,
          c->state.counts.accepted, wrong_text[was], words);
  if (!out.wrong) fputs("which does not happen again\n", stderr);
  int probes = out.wrong == WRONG_HUNG ? HUNG_PROBES : PROBES;
  if (out.wrong && !c->first) out = shrink_script(&script, out, probes, a);
  mkdir(c->folder, 0777);
  snprintf(path, sizeof path, "%s/%" PRIu64 "-%" PRIu64 ".lua", c->folder, c->state.seed, number);
  if (out.wrong) {
    report_script(path, &script, out, c->state.seed, number);
    fprintf(stderr, "written: %s (%d steps)\n", path, script.nstep);
    if (c->smallest) look_for_smaller(&script, out, a);
  }
  td_arena_free(a);
  td_ctx_free(ctx);
}

/* One worker's life: its records are counted; a case that it could not finish is looked into. */
static void run_worker(Campaign *c) {
  static Record r;
  int ends[2], status;
  if (pipe(ends) != 0) abort();
  fflush(NULL);
  pid_t child = fork();
  if (child < 0) abort();
  if (child == 0) {
    close(ends[0]);
    work(c, ends[1]);
  }
  close(ends[1]);
  FILE *in = fdopen(ends[0], "rb");
  if (!in) abort();
  Wrong wrong = WRONG_NOTHING;
  while (!wrong && !is_over(c) && fread(&r, sizeof r, 1, in) == 1) {
    report_add(&c->state.counts, &r.counts);
    wrong = r.wrong;
    c->state.from = r.number + 1;
  }
  bool over = is_over(c);
  fclose(in);
  waitpid(child, &status, 0);
  if (wrong)
    look_into(c, r.number, r.wrong, r.words);
  else if (!over && WIFSIGNALED(status))
    look_into(c, c->state.from++, WRONG_DIED, "");
  if (c->file && !state_save(&c->state, c->file)) perror(c->file);
}

/* Reads the command line; false when it makes no sense. */
static bool read_arguments(Campaign *c, int argc, char **argv) {
  uint64_t *place[] = {&c->steps, &c->state.seed, &c->state.from};
  size_t n = 0;
  for (int i = 1; i < argc; i++) {
    char *end = argv[i];
    if (strcmp(argv[i], "--tap") == 0)
      c->tap = true;
    else if (strcmp(argv[i], "--distinct") == 0)
      gen_distinct = true;
    else if (strcmp(argv[i], "--refusals") == 0)
      chain_show = true;
    else if (strcmp(argv[i], "--first") == 0)
      c->first = true;
    else if (strcmp(argv[i], "--blind") == 0)
      wrap_blind = true;
    else if (strcmp(argv[i], "--smallest") == 0)
      c->smallest = true;
    else if (strcmp(argv[i], "--most") == 0 && i + 1 < argc)
      c->most = strtoull(argv[++i], NULL, 10);
    else if (strcmp(argv[i], "--state") == 0 && i + 1 < argc)
      state_load(&c->state, c->file = argv[++i]);
    else if (strcmp(argv[i], "--out") == 0 && i + 1 < argc)
      c->folder = argv[++i];
    else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc)
      step_only = argv[++i];
    else if (strcmp(argv[i], "--without") == 0 && i + 1 < argc)
      step_without = argv[++i];
    else if (strcmp(argv[i], "--about") == 0 && i + 1 < argc)
      gen_about = argv[++i];
    else if (strcmp(argv[i], "--not-about") == 0 && i + 1 < argc)
      gen_not_about = argv[++i];
    else if (strcmp(argv[i], "--cc") == 0 && i + 1 < argc)
      chain_cc = strtoull(argv[++i], NULL, 10);
    else if (strcmp(argv[i], "--seconds") == 0 && i + 1 < argc)
      c->seconds = strtod(argv[++i], NULL);
    else if (n < 3 && (*place[n++] = strtoull(argv[i], &end, 10), *end == 0 && end != argv[i]))
      continue;
    else
      return false;
  }
  return n > 0;
}

int main(int argc, char **argv) {
  static Campaign c = {.state.seed = 1, .most = 50, .folder = "build/found"};
  if (!read_arguments(&c, argc, argv)) {
    fputs("usage: fuzz [--tap] [--first] [--out FOLDER] [--seconds S] N [SEED [FROM]]\n", stderr);
    return 2;
  }
  c.started = now();
  while (!is_over(&c)) run_worker(&c);
  if (c.tap) return report_tests(&c.state.counts, c.failures, SHARE) != 0;
  report_counts(stdout, &c.state.counts);
  printf("\n%" PRIu64 " failures; to go on: fuzz N %" PRIu64 " %" PRIu64 "\n", c.state.failures,
         c.state.seed, c.state.from);
  return c.failures != 0;
}

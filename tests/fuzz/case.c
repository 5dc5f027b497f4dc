/* case.c - one case from its number, in this process or in one of its own. */
#include "tests/fuzz/case.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/fuzz/gen.h"
#include "tests/fuzz/step.h"

enum { ATTEMPTS = 40, SECONDS = 30, WORDS = 6000 };
/* Purposes of random numbers within a case. */
enum { FOR_CHAIN = 1000, FOR_STEP, FOR_KERNEL };

static const Outcome fine = {WRONG_NOTHING, NULL};

/* A case in this process. */
typedef struct Case {
  uint64_t seed, number;
  Side side;
  Counts *counts;
  TdArena *arena; /* of what outlives the case */
  Chain chain;
  Outcome out;
  Script *script; /* what to record, or what to run */
  bool careful;   /* each step first in a process of its own */
} Case;

/* Opens the chain on the first of some random kernels that loads and runs. */
static bool open_random(Case *c) {
  bool has[FEATURES];
  for (uint64_t attempt = 0; attempt < ATTEMPTS; attempt++) {
    Rng r = rng_of(c->seed, c->number, FOR_KERNEL + attempt);
    const char *text = gen_kernel(c->side.session, c->arena, r, has), *why = NULL;
    const TdProg *p = side_load(&c->side, text, &why);
    if (!p && getenv("FUZZ_KERNELS")) fprintf(stderr, "%s%s\n", text, why);
    if (p && chain_open(&c->chain, &c->side, c->counts, p, c->seed ^ c->number, &why)) {
      c->script->kernel = text;
      for (int f = 0; f < FEATURES; f++) c->counts->feature[f] += has[f];
      return true;
    }
    if (p && getenv("FUZZ_KERNELS")) fprintf(stderr, "%s%s\n", text, why);
    if (p) chain_close(&c->chain);
    c->counts->kernels_refused++;
  }
  return false;
}

/* The child's side of `apart`: the outcome of fn(c) down the pipe, then the end. */
static _Noreturn void answer(Case *c, Outcome (*fn)(Case *c), int pipe) {
  alarm(SECONDS);
  Outcome out = fn(c);
  char text[WORDS] = {0};
  snprintf(text, sizeof text, "%c%s", 'A' + (int)out.wrong, out.words ? out.words : "");
  ssize_t put = write(pipe, text, strlen(text));
  _exit(put > 0 ? 0 : 1);
}

/* fn(c) in a process of its own; the words are owned by the case. */
static Outcome apart(Case *c, Outcome (*fn)(Case *c)) {
  int ends[2], status = 0;
  char text[WORDS + 1] = {0};
  if (pipe(ends) != 0) abort();
  fflush(NULL);
  pid_t child = fork();
  if (child < 0) abort();
  if (child == 0) answer(c, fn, ends[1]);
  close(ends[1]);
  size_t n = 0;
  for (ssize_t k; n < WORDS && (k = read(ends[0], text + n, WORDS - n)) > 0;) n += (size_t)k;
  close(ends[0]);
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) {
    if (WTERMSIG(status) == SIGALRM) return (Outcome){WRONG_HUNG, "no answer in time"};
    return (Outcome){WRONG_DIED, td_text_fmt(c->arena, "signal %d", WTERMSIG(status))};
  }
  if (n == 0) return (Outcome){WRONG_DIED, td_text_fmt(c->arena, "exit %d", WEXITSTATUS(status))};
  return (Outcome){(Wrong)(text[0] - 'A'), td_arena_strdup(c->arena, text + 1)};
}

static Outcome kernel_alone(Case *c) {
  return chain_start(&c->chain);
}

static Outcome last_step(Case *c) {
  return chain_step(&c->chain, &c->script->step[c->script->nstep - 1]);
}

static Outcome whole_chain(Case *c) {
  return chain_end(&c->chain);
}

/* Draws a step, records it and makes it. */
static Outcome random_step(Case *c, int k) {
  Rng r = rng_of(c->seed, c->number, (uint64_t)k);
  Script *s = c->script;
  Step step = step_draw(&r, c->arena, c->side.affine, c->chain.schedule.now, c->chain.kernel);
  if (!step.prim) return fine;
  s->step[s->nstep++] = step;
  Outcome out = c->careful ? apart(c, last_step) : fine;
  if (!out.wrong) out = last_step(c);
  return out;
}

static void run_random(void *ud) {
  Case *c = ud;
  if (!open_random(c)) return;
  Rng r = rng_of(c->seed, c->number, FOR_CHAIN);
  int steps = 3 + rng_below(&r, STEPS - 3);
  if (c->careful) c->out = apart(c, kernel_alone);
  if (!c->out.wrong) c->out = kernel_alone(c);
  for (int k = 0; k < steps && !c->out.wrong; k++) c->out = random_step(c, k);
  if (!c->out.wrong && c->careful) c->out = apart(c, whole_chain);
  if (!c->out.wrong) c->out = chain_end(&c->chain);
  if (c->out.words) c->out.words = td_arena_strdup(c->arena, c->out.words);
  chain_close(&c->chain);
}

static void run_script(void *ud) {
  Case *c = ud;
  const char *why = NULL;
  const TdProg *p = side_load(&c->side, c->script->kernel, &why);
  if (!p) return;
  if (chain_open(&c->chain, &c->side, c->counts, p, c->script->seed, &why)) {
    c->out = chain_start(&c->chain);
    for (int k = 0; k < c->script->nstep && !c->out.wrong; k++)
      c->out = chain_step(&c->chain, &c->script->step[k]);
    if (!c->out.wrong) c->out = chain_end(&c->chain);
  }
  if (c->out.words) c->out.words = td_arena_strdup(c->arena, c->out.words);
  chain_close(&c->chain);
}

/* Runs fn on a case in a Lua state of its own. */
static Outcome run(Case *c, void (*fn)(void *ud)) {
  const char *why = NULL;
  c->side = side_open();
  if (!side_protect(&c->side, fn, c, &why))
    c->out = (Outcome){WRONG_ESCAPED, td_arena_strdup(c->arena, why)};
  side_close(&c->side);
  return c->out;
}

Outcome case_run(uint64_t seed, uint64_t number, Counts *counts, TdArena *a) {
  Script script = {.seed = seed ^ number};
  Case c = {.seed = seed, .number = number, .counts = counts, .arena = a, .script = &script};
  counts->cases++;
  return run(&c, run_random);
}

Outcome case_trace(uint64_t seed, uint64_t number, TdArena *a, Script *script) {
  *script = (Script){.seed = seed ^ number};
  Counts *counts = TD_NEW(a, Counts);
  Case c = {.seed = seed, .number = number, .counts = counts, .arena = a, .script = script};
  c.careful = true;
  return run(&c, run_random);
}

static Outcome probe(Case *c) {
  return run(c, run_script);
}

Outcome case_probe(const Script *script, TdArena *a) {
  Script copy = *script;
  Counts *counts = TD_NEW(a, Counts);
  Case c = {.counts = counts, .arena = a, .script = &copy};
  return apart(&c, probe);
}

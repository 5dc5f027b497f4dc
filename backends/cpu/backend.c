/* backend.c - the CPU as a target of builds. */
#include "backends/cpu/cpu.h"

#include "analysis/time/firing.h"
#include "analysis/time/target.h"
#include "backends/cpu/time/timed_run.h"
#include "eval/time/ready.h"
#include "lower/lower.h"

#include <stdlib.h>
#include <string.h>

enum { TIER, THREADS, SECONDS, TIMED, DEVICE, TRACE, READY, MEMORY, MATH, OPTIONS };

static const TdOption options[OPTIONS] = {
    [TIER] =
        {"tier", TD_OPTION_WORD, "auto|tcc|cc",
         "compile in memory (tcc), by the system's compiler (cc), or in memory until much is done"},
    [THREADS] = {"threads", TD_OPTION_INT, "0", "of parallel loops; 0: one for each processor"},
    [SECONDS] = {"seconds", TD_OPTION_INT, "60", "most time of the system's compiler"},
    [TIMED] = {"timed", TD_OPTION_BOOL, "false", "count cycles, which the report tells about"},
    [DEVICE] = {"device", TD_OPTION_WORD, td_target_words + 1, "whose operation times count"},
    [TRACE] = {"trace", TD_OPTION_BOOL, "false", "keep every event of timed runs, long ones too"},
    [READY] = {"ready", TD_OPTION_CYCLES, NULL,
               "of timed runs: from which cycle on each token of a stream of the top is there, or "
               "has its place: {Z = {3, 4, 9}}"},
    [MEMORY] = {"memory", TD_OPTION_MEMORY, NULL,
                "of timed runs: what answers for arguments: slots, queue, banks, or a table"},
    [MATH] = {TD_MATH_OPTION, TD_OPTION_WORD, "library|core", TD_MATH_HELP}};

static TdCpuOptions options_of(const TdBuild *b) {
  const char *tier = td_backend_option(&td_backend_cpu, b, TIER);
  TdCpuOptions o = {.tier = strcmp(tier, "tcc") == 0  ? TD_TIER_TCC
                            : strcmp(tier, "cc") == 0 ? TD_TIER_CC
                                                      : TD_TIER_AUTO};
  o.threads = atoi(td_backend_option(&td_backend_cpu, b, THREADS));
  o.seconds = atoi(td_backend_option(&td_backend_cpu, b, SECONDS));
  return o;
}

/* The device whose clock counts; NULL: none does. */
static const char *device_of(const TdBuild *b) {
  const char *device = td_backend_option(&td_backend_cpu, b, DEVICE);
  bool timed = strcmp(td_backend_option(&td_backend_cpu, b, TIMED), "true") == 0;
  return timed ? td_arena_strndup(b->arena, device, strcspn(device, "|")) : NULL;
}

/* The text of a build, with its clock; NULL with d filled. */
static const TdCpuText *text_of(const TdBuild *b, TdDiag *d) {
  const char *device = device_of(b);
  if (!device) return td_cpu_text_of(b->arena, b->prog, (TdCpuExtra){0}, d);
  const TdTimes *times =
      td_firing_times(td_affine_new(b->arena), b->arena, b->prog, td_target_find(device), d);
  return times ? td_cpu_text_of(b->arena, b->prog, (TdCpuExtra){.times = times}, d) : NULL;
}

/* Whether there is a text; a run with a clock can do without, but not without the sizes. */
static bool validate(const TdBuild *b) {
  const char *ready = td_backend_option(&td_backend_cpu, b, READY);
  if (ready && !td_ready_read(b->arena, b->prog, ready, b->diag)) return false;
  if (ready && !device_of(b))
    return td_diag_set(b->diag, TD_USAGE, "ready", (TdLoc){0},
                       "only runs with a clock have ends that are not ready: say timed = true");
  if (b->memory && !device_of(b))
    return td_diag_set(b->diag, TD_USAGE, "memory-clock", (TdLoc){0},
                       "only runs with a clock ask a memory: say timed = true");
  TdDiag why = {.arena = b->arena};
  if (text_of(b, &why)) return true;
  bool sized = !why.code || strcmp(why.code, "unbound-size") != 0;
  if (device_of(b) && why.kind == TD_UNSUPPORTED && sized) return true;
  *b->diag = why;
  return false;
}

static const TdFile *emit(const TdBuild *b, size_t *nfile) {
  TdDiag why = {.arena = b->arena};
  const TdCpuText *t = text_of(b, &why);
  TdFile *f = TD_NEW(b->arena, TdFile);
  *nfile = 1;
  f->name = "kernel.c";
  f->text = t ? t->text : td_text_fmt(b->arena, "/* %s: the evaluator runs it */\n", why.message);
  return f;
}

/* A program that runs here, without or with a clock. */
typedef struct CpuRun {
  TdCpu *cpu;
  TdClocked *clocked;
} CpuRun;

static void *open_run(const TdBuild *b) {
  CpuRun *r = TD_NEW(b->arena, CpuRun);
  TdCpuOptions o = options_of(b);
  const char *device = device_of(b);
  bool trace = strcmp(td_backend_option(&td_backend_cpu, b, TRACE), "true") == 0;
  o.extra.watch = b->watch;
  if (device)
    r->clocked =
        td_timed_run_new(b->arena, b->prog,
                         &(TdClockedOptions){.device = device,
                                             .trace = trace,
                                             .ready = td_backend_option(&td_backend_cpu, b, READY),
                                             .memory = b->memory,
                                             .cpu = o},
                         b->diag);
  else
    r->cpu = td_cpu_new(b->arena, b->prog, &o, b->diag);
  return r->cpu || r->clocked ? r : NULL;
}

static bool call_run(void *run, const TdCallArg *arg, size_t narg, TdDiag *d) {
  CpuRun *r = run;
  return r->clocked ? td_timed_run_call(r->clocked, arg, narg, d)
                    : td_cpu_call(r->cpu, arg, narg, d);
}

static void reset_run(void *run) {
  CpuRun *r = run;
  if (r->clocked)
    td_timed_run_reset(r->clocked);
  else
    td_cpu_reset(r->cpu);
}

static const char *report_run(const void *run) {
  const CpuRun *r = run;
  return r->clocked ? NULL : td_cpu_tier(r->cpu) == TD_TIER_CC ? "tier cc\n" : "tier tcc\n";
}

static const TdTimed *timed_run(const void *run) {
  const CpuRun *r = run;
  return r->clocked ? td_timed_run_report(r->clocked) : NULL;
}

const TdBackend td_backend_cpu = {
    .name = "cpu",
    .summary = "C for this machine, compiled and run",
    .option = options,
    .noption = OPTIONS,
    .passes = TD_LOWER_COLLECTIVES,
    .looks = true,
    .validate = validate,
    .emit = emit,
    .open = open_run,
    .call = call_run,
    .reset = reset_run,
    .report = report_run,
    .timed = timed_run,
};

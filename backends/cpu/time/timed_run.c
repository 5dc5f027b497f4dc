/* timed_run.c - the schedule of a device found once, then runs with it. */
#include "backends/cpu/time/timed_run.h"

#include <string.h>

#include "analysis/time/firing.h"
#include "analysis/time/target.h"
#include "backends/cpu/cpu.h"
#include "eval/time/clock.h"
#include "eval/time/ready.h"
#include "eval/eval.h"

/* Events that a run keeps at most, for waves and timelines. */
enum { MOST_KEPT = 1 << 22 };

struct TdClocked {
  TdArena *arena, *last; /* last: owns what the last run told */
  const TdProg *prog;
  const TdTimes *times;
  bool keeps; /* events: then the evaluator runs it */
  TdCpu *cpu; /* NULL: it does not run compiled */
  TdEvalState *state;
  TdReady *const *ready; /* by parameters */
  const TdOffchip *memory;
  TdTimed *report;
  uint64_t runs;
};

static void free_last(void *clocked) {
  TdClocked *c = clocked;
  if (c->last) td_arena_free(c->last);
  c->last = NULL;
}

/* Whether a program is run by the evaluator, which keeps events: if it is little work, or asked
 * for. */
enum { LITTLE_WORK = 1 << 18 };

TdClocked *td_timed_run_new(TdArena *a, const TdProg *p, const TdClockedOptions *o, TdDiag *d) {
  TdClocked *c = TD_NEW(a, TdClocked);
  TdAffine *affine = td_affine_new(a);
  TdDiag why = {.arena = a};
  *c = (TdClocked){.arena = a, .prog = p, .state = td_state_new(a), .memory = o->memory};
  c->times = td_firing_times(affine, a, p, td_target_find(o->device), d);
  if (c->times && !o->host) td_firing_host(a, p, c->times);
  td_arena_defer(a, free_last, c);
  if (!c->times || !(c->ready = td_ready_read(a, p, o->ready ? o->ready : "", d))) return NULL;
  const TdCpuText *text = td_cpu_text_of(a, p, (TdCpuExtra){.times = c->times}, &why);
  if (!text && o->cpu.tier != TD_TIER_AUTO) {
    *d = why;
    return NULL;
  }
  bool little = o->cpu.tier == TD_TIER_AUTO && text && text->work < LITTLE_WORK;
  c->keeps = !text || o->trace || little || o->memory;
  TdCpuOptions options = o->cpu;
  options.extra.times = c->times;
  if (!c->keeps) c->cpu = td_cpu_new(a, p, &options, d);
  return c->keeps || c->cpu ? c : NULL;
}

/* Whether a run with a memory tells its cycles. */
static bool check_memory(const TdTimed *t, TdDiag *d) {
  if (!t->kept)
    return td_diag_set(d, TD_LIMIT, "no-events", (TdLoc){0},
                       "a run with a memory keeps its events, which are more than %d",
                       (int)MOST_KEPT);
  if (!t->fire.hangs) return true;
  bool stream = t->fire.stream < t->nstream;
  td_diag_set(d, TD_ILLEGAL, "memory-hangs", (TdLoc){0},
              "with a memory pipelines stall as a whole: %s waits for ever for %s",
              t->task[t->fire.task].name, stream ? t->stream[t->fire.stream].name : "an answer");
  td_diag_help(d, "d:depths {contract = \"fire\", ..} tells depths at which it does not");
  return false;
}

/* A run of the evaluator. */
static bool evaluate(TdClocked *c, const TdCallArg *arg, size_t narg, const TdTimed **report,
                     TdDiag *d) {
  TdKeep keep = {.left = MOST_KEPT};
  TdEvalOptions o = {.state = c->state, .times = c->times, .keep = &keep, .memory = c->memory};
  TdEvalArg *e = TD_NEWN(c->last, TdEvalArg, narg);
  TdEvalResult result;
  for (size_t i = 0; i < narg; i++)
    e[i] = (TdEvalArg){.tensor = arg[i].tensor,
                       .scalar = arg[i].scalar,
                       .has_scalar = !arg[i].tensor && !arg[i].port,
                       .port = arg[i].port};
  for (size_t i = 0; i < narg; i++)
    if (arg[i].port) td_ready_give(c->ready[i], arg[i].port);
  if (!td_eval_run(c->last, c->prog, e, narg, &o, d, &result)) return false;
  *report = result.timed;
  return !c->memory || check_memory(result.timed, d);
}

/* Says that the device asks for other depths, where a run stopped and its pipelines stall as a
 * whole. */
static bool tell_contract(const TdClocked *c, TdDiag *d) {
  const TdTarget *t = td_target_find(c->times->target);
  if (!d->code || strcmp(d->code, "deadlock") != 0 || !t || !td_target_fires(t)) return false;
  d->help = NULL;
  td_diag_help(d,
               "d:depths {device = \"%s\", args = {..}} tells the depths that are enough there, "
               "where pipelines stall as a whole, if any are",
               c->times->target);
  return false;
}

bool td_timed_run_call(TdClocked *c, const TdCallArg *arg, size_t narg, TdDiag *d) {
  const TdTimed *report;
  c->report = NULL;
  free_last(c);
  c->last = td_arena_new(td_arena_ctx(c->arena));
  if (!(c->cpu ? td_cpu_timed_call(c->cpu, c->last, arg, narg, &report, d)
               : evaluate(c, arg, narg, &report, d)))
    return tell_contract(c, d);
  c->report = td_arena_copy(c->last, report, sizeof *report);
  c->report->run = ++c->runs;
  return true;
}

void td_timed_run_reset(TdClocked *c) {
  td_state_reset(c->state);
  if (c->cpu) td_cpu_reset(c->cpu);
}

const TdTimed *td_timed_run_report(const TdClocked *c) {
  return c->report;
}

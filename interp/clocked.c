/* clocked.c - the schedule of a device found once, then runs with it. */
#include "clocked.h"

#include "analysis/firing.h"
#include "eval/clock.h"
#include "eval/eval.h"

/* Events that a run keeps at most, for waves and timelines. */
enum { MOST_KEPT = 1 << 22 };

struct TdClocked {
  TdArena *arena, *last; /* last: owns what the last run told */
  const TdProg *prog;
  const TdTimes *times;
  TdEvalState *state;
  TdTimed *report;
  uint64_t runs;
};

static void free_last(void *clocked) {
  TdClocked *c = clocked;
  if (c->last) td_arena_free(c->last);
  c->last = NULL;
}

TdClocked *td_clocked_new(TdArena *a, const TdProg *p, const char *device, TdDiag *d) {
  TdClocked *c = TD_NEW(a, TdClocked);
  TdAffine *affine = td_affine_new(a);
  *c = (TdClocked){.arena = a, .prog = p, .state = td_state_new(a)};
  c->times = td_firing_times(affine, a, p, td_target_find(device), d);
  td_arena_defer(a, free_last, c);
  return c->times ? c : NULL;
}

bool td_clocked_call(TdClocked *c, const TdCallArg *arg, size_t narg, TdDiag *d) {
  c->report = NULL;
  free_last(c);
  c->last = td_arena_new(td_arena_ctx(c->arena));
  TdKeep keep = {MOST_KEPT};
  TdEvalOptions o = {.state = c->state, .times = c->times, .keep = &keep};
  TdEvalArg *e = TD_NEWN(c->last, TdEvalArg, narg);
  TdEvalResult result;
  for (size_t i = 0; i < narg; i++)
    e[i] =
        (TdEvalArg){.tensor = arg[i].tensor, .scalar = arg[i].scalar, .has_scalar = !arg[i].tensor};
  if (!td_eval_run(c->last, c->prog, e, narg, &o, d, &result)) return false;
  c->report = td_arena_copy(c->last, result.timed, sizeof *result.timed);
  c->report->run = ++c->runs;
  return true;
}

void td_clocked_reset(TdClocked *c) {
  td_state_reset(c->state);
}

const TdTimed *td_clocked_report(const TdClocked *c) {
  return c->report;
}

/* tier.c - the tier of a program: compiled in memory where little is done, by the system's
 * compiler where much is; beside its runs, once much was done in memory. */
#include "backends/cpu/load/code.h"
#include "base/alarm.h"

enum { VECTOR = 64 /* bytes that vectors are best aligned to */ };

/* Below this many statements, compiling well takes longer than running badly; code in memory
 * executes about so many in a second. */
#define LITTLE_WORK 4e6
#define PACE 1e8

/* What p is compiled from, its foreign functions included. */
static TdCpuInput input_of(TdArena *a, const TdProg *p, const TdCpuText *text) {
  const TdForeign **foreign = TD_NEWN(a, const TdForeign *, p->nunit);
  TdCpuInput in = {.text = text->text,
                   .foreign = foreign,
                   .bytes = text->bytes,
                   .moves = text->moves,
                   .narrows = text->narrows,
                   .squares = text->squares};
  for (size_t i = 0; i < p->nunit; i++)
    if (p->unit[i]->kind == TD_UNIT_EXTERN) foreign[in.nforeign++] = p->unit[i]->foreign;
  return in;
}

/* Has x run this code from now on, with memory for what it keeps during a run. */
static void adopt(TdCpuProgram *x, TdTier tier, const TdCpuCode *code) {
  char *room = td_arena_alloc(x->arena, code->room_bytes + VECTOR);
  x->tier = tier;
  x->code = *code;
  x->settled |= tier == TD_TIER_CC;
  x->room = room + (VECTOR - (uintptr_t)room % VECTOR) % VECTOR;
}

/* Compiles x in this tier. */
static bool compile_in(TdCpuProgram *x, TdTier tier, TdDiag *d) {
  TdCpuCode code = {0};
  bool ok = tier == TD_TIER_CC ? td_cpu_cache_load(x->arena, &x->in, &x->options, &code, d)
                               : td_cpu_tcc_compile(x->arena, &x->in, &code, d);
  if (ok) adopt(x, tier, &code);
  return ok;
}

/* Compiles x in the tier of the options or, where they leave it open, in the one that serves it
 * best and can: a system may lack a compiler, and the one in memory knows no arrays of 2 GiB. */
static bool compile(TdCpuProgram *x, TdDiag *d) {
  TdTier tier = x->options.tier;
  bool tcc = td_cpu_tcc_is_there(), little = tcc && x->work < LITTLE_WORK;
  x->settled = true;
  if (tier != TD_TIER_AUTO) return compile_in(x, tier, d);
  TdDiag own = {.arena = d->arena};
  x->settled = !little;
  tier = little ? TD_TIER_TCC : TD_TIER_CC;
  if (compile_in(x, tier, &own)) return true;
  x->settled = true;
  if (little) return compile_in(x, TD_TIER_CC, d);
  if (tcc && own.kind == TD_USAGE) return compile_in(x, TD_TIER_TCC, d);
  *d = own;
  return false;
}

bool td_cpu_tier_begin(TdCpuProgram *x, TdArena *a, const TdProg *p, const TdCpuText *text,
                       const TdCpuOptions *o, TdDiag *d) {
  *x = (TdCpuProgram){.arena = a, .in = input_of(a, p, text), .options = *o, .work = text->work};
  if (!compile(x, d)) return false;
  x->state = td_arena_alloc(a, x->code.state_bytes);
  return true;
}

/* Ends what makes better code. */
static void settle(void *program) {
  TdCpuProgram *x = program;
  td_arena_free(x->beside);
  x->beside = NULL;
  x->job = NULL;
  x->settled = true;
}

/* Starts to make better code. */
static void start(TdCpuProgram *x, TdDiag *d) {
  td_arena_defer(x->arena, settle, x);
  x->beside = td_arena_new(td_arena_ctx(x->arena));
  x->job = td_cpu_cache_begin(x->beside, &x->in, &x->options, d);
}

/* Moves x to the better tier if its code is there. What fails leaves it where it is. */
static void move_up(TdCpuProgram *x) {
  TdDiag d = {.arena = x->arena};
  TdCpuCode code = {0};
  if (!x->beside) start(x, &d);
  TdChildEnd how = x->job ? td_cpu_cache_look(x->job, x->arena, &code, &d) : TD_CHILD_ABSENT;
  if (how == TD_CHILD_RUNS) return;
  settle(x);
  if (how == TD_CHILD_DONE && code.state_bytes == x->code.state_bytes) adopt(x, TD_TIER_CC, &code);
}

void td_cpu_tier_run(TdCpuProgram *x, struct td_run *run, void *const *at) {
  if (!x->settled && x->done >= LITTLE_WORK) move_up(x);
  double from = x->settled ? 0 : td_alarm_now();
  td_cpu_code_run(&x->code, run, x->room, x->state, at);
  if (x->settled) return;
  double by_time = (td_alarm_now() - from) * PACE;
  x->done += by_time > x->work ? by_time : x->work;
}

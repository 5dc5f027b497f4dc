/* tier.c - the tier of a program: compiled in memory where little is done, by the system's
 * compiler where much is; beside its runs, once much was done in memory. */
#include "backends/cpu/load/code.h"
#include "backends/host/foreign.h"
#include "base/alarm.h"

enum { VECTOR = 64 /* bytes that vectors are best aligned to */ };

/* Below this many statements, compiling well takes longer than running badly; code in memory
 * executes about so many in a second. */
#define LITTLE_WORK 4e6
#define PACE 1e8

/* Finds the foreign functions of p; false with d filled. */
static bool find_foreign(TdArena *a, const TdProg *p, TdCpuInput *in, TdDiag *d) {
  in->fn = TD_NEWN(a, const void *, p->nunit);
  in->callee = TD_NEWN(a, void *, p->nunit);
  for (size_t i = 0; i < p->nunit; i++) {
    if (p->unit[i]->kind != TD_UNIT_EXTERN) continue;
    TdForeignFn *f = td_foreign_host.open(a, p->store->session, p->unit[i], d);
    if (!f) return false;
    in->fn[in->nforeign] = td_foreign_address(f);
    in->callee[in->nforeign++] = f;
  }
  return true;
}

/* How the root of p is called. */
static void prepare(TdCpuProgram *x, const TdProg *p, const TdCpuText *text) {
  const TdUnit *root = td_prog_root(p);
  TdArena *a = x->arena;
  const TdType **type = TD_NEWN(a, const TdType *, root->nparam);
  for (size_t i = 0; i < root->nparam; i++) type[i] = root->param[i].type;
  x->signature = td_ffi_new(a, NULL, text->signature, text->narg);
  x->type = type;
  x->nparam = root->nparam;
  x->arg = TD_NEWN(a, void *, text->narg);
  x->pointer = TD_NEWN(a, void *, text->narg);
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
  TdCpuInput in = {.text = text->text,
                   .bytes = text->bytes,
                   .moves = text->moves,
                   .narrows = text->narrows,
                   .squares = text->squares};
  *x = (TdCpuProgram){.arena = a, .in = in, .options = *o, .work = text->work};
  if (!find_foreign(a, p, &x->in, d) || !compile(x, d)) return false;
  prepare(x, p, text);
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

/* Calls the code: the run, its memory where it has some, then the arguments. */
static void call(TdCpuProgram *x, struct td_run *run, void *const *at) {
  size_t n = 0;
  x->pointer[n] = run;
  x->arg[n] = &x->pointer[n], n++;
  if (x->code.room_bytes) x->arg[n++] = &x->room;
  if (x->code.state_bytes) x->arg[n++] = &x->state;
  for (size_t i = 0; i < x->nparam; i++, n++) {
    x->pointer[n] = at[i];
    x->arg[n] = td_type_is_scalar(x->type[i]) ? at[i] : &x->pointer[n];
  }
  run->fn = x->in.fn;
  run->callees = x->in.callee;
  x->runs = true;
  td_cpu_code_run(&x->code, x->signature, run, x->arg);
  x->runs = false;
}

void td_cpu_tier_run(TdCpuProgram *x, struct td_run *run, void *const *at) {
  if (!x->settled && x->done >= LITTLE_WORK) move_up(x);
  double from = x->settled ? 0 : td_alarm_now();
  call(x, run, at);
  if (x->settled) return;
  double by_time = (td_alarm_now() - from) * PACE;
  x->done += by_time > x->work ? by_time : x->work;
}

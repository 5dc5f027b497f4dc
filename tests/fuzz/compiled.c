/* compiled.c - the same inputs through the compilers of the CPU backend. */
#include <string.h>

#include "backends/cpu/cpu.h"
#include "tests/fuzz/oracle.h"

static const Outcome fine = {WRONG_NOTHING, NULL};

/* Whether every tier has a fault of this code: elements that were never written are seen by the
 * evaluator alone, floats and shifts out of range have values elsewhere. */
static bool is_seen_compiled(const char *code) {
  static const char *const seen[] = {"zero-division", "index-out-of-range", "assume", "overlap"};
  for (size_t i = 0; i < sizeof seen / sizeof *seen; i++)
    if (strcmp(seen[i], code) == 0) return true;
  return false;
}

/* A compiled program on the inputs of a point against what the kernel left there, or its fault. */
static Outcome same_values(Oracle *o, const Point *x, TdCpu *cpu, int k, Promise promise,
                           const char *tier) {
  TdDiag d = {.arena = o->arena};
  Inputs in = point_copy(o->arena, x->given[k]);
  TdCallArg *arg = TD_NEWN(o->arena, TdCallArg, in.n);
  for (size_t i = 0; i < in.n; i++)
    arg[i] = (TdCallArg){.tensor = in.arg[i].tensor, .scalar = in.arg[i].scalar};
  bool ran = true;
  td_cpu_reset(cpu);
  for (unsigned call = 0; ran && call < o->points->calls; call++)
    ran = td_cpu_call(cpu, arg, in.n, &d);
  if (x->fault[k] && ran && promise.faults && is_seen_compiled(x->fault[k]))
    return (Outcome){WRONG_NO_FAULT, td_text_fmt(o->arena, "%s: %s", tier, x->fault[k])};
  if (x->fault[k]) return fine;
  if (!ran) return (Outcome){WRONG_COMPILED, td_text_fmt(o->arena, "%s: %s", tier, d.message)};
  const char *words = point_difference(o->arena, x->kernel, x->left[k], in);
  return words ? (Outcome){WRONG_COMPILED, td_text_fmt(o->arena, "%s: %s", tier, words)} : fine;
}

/* p, at a point's sizes, through one compiler. */
static Outcome same_at(Oracle *o, const Point *x, const TdProg *p, Promise promise, TdTier tier) {
  TdDiag d = {.arena = o->arena};
  const char *name = tier == TD_TIER_CC ? "cc" : "libtcc";
  const TdProg *at = point_program(o->points, x, p, &d);
  if (!at) return fine;
  TdCpuOptions options = {.tier = tier, .threads = tier == TD_TIER_CC ? 2 : 1};
  TdCpu *cpu = td_cpu_new(o->arena, at, &options, &d);
  if (!cpu && d.kind == TD_UNSUPPORTED) {
    o->counts->uncompiled++;
    return fine;
  }
  if (!cpu) return (Outcome){WRONG_COMPILED, td_text_fmt(o->arena, "%s: %s", name, d.message)};
  ++*(tier == TD_TIER_CC ? &o->counts->cc : &o->counts->libtcc);
  Outcome out = fine;
  for (int k = 0; k < INPUTS && !out.wrong; k++) out = same_values(o, x, cpu, k, promise, name);
  return out;
}

Outcome oracle_compiled(Oracle *o, const TdProg *p, Promise promise, bool cc) {
  int at = cc ? 0 : (int)(o->counts->accepted % 2) % o->points->n;
  return same_at(o, &o->points->at[at], p, promise, cc ? TD_TIER_CC : TD_TIER_TCC);
}

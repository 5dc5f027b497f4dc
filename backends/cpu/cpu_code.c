/* cpu_code.c - compiled programs: the tier chosen, symbols found, faults told. */
#include "backends/cpu/cpu_code.h"

#include <inttypes.h>
#include <string.h>

/* Below this many statements, compiling well takes longer than running badly. */
#define LITTLE_WORK 4e6

/* Copies the address of a symbol into a function pointer; whether it is there. */
static bool function(TdCpuFind find, void *handle, const char *name, void *to) {
  void *p = find(handle, name);
  if (p) memcpy(to, &p, sizeof p);
  return p;
}

bool td_cpu_code_link(TdCpuCode *code, TdCpuFind find, void *handle) {
  const uint64_t *room = find(handle, "td_room_bytes"), *state = find(handle, "td_state_bytes");
  if (!room || !state) return false;
  code->room_bytes = *room;
  code->state_bytes = *state;
  function(find, handle, "td_lift_all", &code->lift);
  function(find, handle, "td_input_all", &code->input);
  return function(find, handle, "td_entry", &code->entry) &&
         function(find, handle, "td_reset", &code->reset);
}

/* What p is compiled from, its foreign functions included. */
static TdCpuInput input_of(TdArena *a, const TdProg *p, const char *text) {
  const TdForeign **foreign = TD_NEWN(a, const TdForeign *, p->nunit);
  TdCpuInput in = {.text = text, .foreign = foreign};
  for (size_t i = 0; i < p->nunit; i++)
    if (p->unit[i]->kind == TD_UNIT_EXTERN) foreign[in.nforeign++] = p->unit[i]->foreign;
  return in;
}

bool td_cpu_code_compile(TdArena *a, const TdProg *p, const TdCpuText *text, const TdCpuOptions *o,
                         TdTier *tier, TdCpuCode *code, TdDiag *d) {
  TdCpuInput in = input_of(a, p, text->text);
  bool tcc = td_cpu_tcc_is_there(), chosen = o->tier != TD_TIER_AUTO;
  *tier = chosen ? o->tier : text->work < LITTLE_WORK && tcc ? TD_TIER_TCC : TD_TIER_CC;
  if (*tier == TD_TIER_TCC) return td_cpu_tcc_compile(a, &in, code, d);
  TdDiag own = {.arena = d->arena};
  if (td_cpu_cache_load(a, &in, o, code, &own)) return true;
  if (chosen || !tcc || own.kind != TD_USAGE) {
    *d = own;
    return false;
  }
  *tier = TD_TIER_TCC;
  return td_cpu_tcc_compile(a, &in, code, d);
}

bool td_cpu_code_tell(const TdCpuText *text, const struct td_run *run, TdDiag *d) {
  TdLoc loc = text->place[run->place];
  switch (run->fault) {
  case TD_CPU_ZERO_DIVISION:
    return td_diag_set(d, TD_ILLEGAL, "zero-division", loc, "division by zero");
  case TD_CPU_INDEX:
    return td_diag_set(d, TD_ILLEGAL, "index-out-of-range", loc,
                       "index out of range: %" PRId64 " of %" PRId64, run->value[0], run->value[1]);
  default: return td_diag_set(d, TD_BUG, "fault", loc, "the run failed in an unknown way");
  }
}

/* lower.c - the table of contents of this folder: a program for a machine, pass by pass. */
#include "lower/lower.h"

#include "ir/text/print.h"
#include "lower/calls.h"
#include "lower/collective.h"
#include "lower/guard_views.h"
#include "lower/tensor_loops.h"

/* A pass: what it makes of l->prog, or NULL with l->diag filled. */
typedef struct Pass {
  TdLowerPass bit;
  const char *name;
  const TdProg *(*run)(TdLowered *l);
} Pass;

static const TdProg *guards(TdLowered *l) {
  return td_guard_views_prog(l->prog, &l->regions.apart);
}

static const TdProg *collectives(TdLowered *l) {
  return td_collective_expand(l->prog);
}

static const TdProg *tensors(TdLowered *l) {
  return td_tensor_loops_prog(l->arena, l->prog, l->diag);
}

static const TdProg *networks(TdLowered *l) {
  return td_net_region_prog(l->arena, l->prog, &l->regions, l->diag);
}

static const TdProg *calls(TdLowered *l) {
  return td_calls_prog(l->arena, l->prog, &l->regions, l->machine, l->diag);
}

static const Pass pass[] = {
    {TD_LOWER_GUARDS, "guards", guards},    {TD_LOWER_COLLECTIVES, "collectives", collectives},
    {TD_LOWER_TENSORS, "tensors", tensors}, {TD_LOWER_NETWORKS, "networks", networks},
    {TD_LOWER_CALLS, "calls", calls},
};

bool td_lower_prog(TdArena *a, const TdProg *p, unsigned passes, const char *machine,
                   TdLowered *out, TdDiag *d) {
  TdSession *s = p->store->session;
  *out = (TdLowered){.machine = machine, .arena = a, .diag = d};
  bool only_collectives = passes == TD_LOWER_COLLECTIVES;
  if (only_collectives && !td_collective_is_in(p)) {
    out->prog = p;
    return true;
  }
  out->prog = td_clone_prog(td_store_inner(a, s), p, true);
  for (size_t i = 0; i < sizeof pass / sizeof *pass; i++) {
    if (!(passes & pass[i].bit)) continue;
    const TdProg *made = pass[i].run(out);
    if (!made || !td_verify_lowered(made, d)) return false;
    if (made != out->prog && s->passed) s->passed(s->listener, pass[i].name, made);
    out->prog = made;
  }
  return true;
}

const TdProg *td_lower_collectives(TdArena *a, const TdProg *p) {
  TdLowered l;
  TdDiag quiet = {.arena = a};
  return td_lower_prog(a, p, TD_LOWER_COLLECTIVES, "cpu", &l, &quiet) ? l.prog : p;
}

/* search_cost.c - what a mapped design costs: cycles of a run with a clock, or of the estimate. */
#include "rewrite/search_cost.h"

#include "analysis/cost.h"
#include "analysis/firing.h"
#include "eval/eval.h"

enum { MOST_STEPS = 1 << 18, MOST_BYTES = 1 << 26 };

/* A tensor of small positive numbers, which any type holds and which divide and index without
 * fault. */
static TdTensor *numbers(TdArena *a, const TdType *t) {
  TdTensor *x = td_tensor_new(a, t, false);
  const TdType *scalar = td_type_scalar(t);
  int64_t index[TD_MAX_RANK] = {0};
  uint64_t n = 0;
  TdFault fault;
  TdType from = {.kind = TD_T_UINT, .w = 2};
  if (td_tensor_count(x) == 0) return x;
  do {
    n = td_map_mix(n, 1);
    td_tensor_put(x, index, td_num_cast(scalar, &from, 1 + (n >> 8) % 3, &fault));
  } while (td_tensor_next(x, index));
  return x;
}

/* The cycles of a run of p with a clock; 0 when there is none. */
static int64_t run(TdRewrite *r, TdArena *a, const TdProg *p, uint64_t steps) {
  const TdUnit *u = td_prog_root(p);
  TdDiag quiet = {.arena = a};
  TdEvalArg *arg = TD_NEWN(a, TdEvalArg, u->nparam + 1);
  for (size_t i = 0; i < u->nparam; i++) {
    const TdType *t = td_unit_type(r->session, u, u->param[i].type);
    if (!t || t->kind == TD_T_PORT) return 0;
    if (t->kind == TD_T_TENSOR)
      arg[i].tensor = numbers(a, t);
    else
      arg[i] = (TdEvalArg){.scalar = 1, .has_scalar = true};
  }
  TdEvalOptions o = {.steps = steps, .bytes = MOST_BYTES};
  TdEvalResult result;
  o.times = td_firing_times(r->affine, a, p, td_target_find("ideal"), &quiet);
  if (!o.times || !td_eval_run(a, p, arg, u->nparam, &o, &quiet, &result)) return 0;
  return result.timed ? result.timed->cycles : 0;
}

bool td_search_is_timed(TdRewrite *r, const TdProg *p) {
  TdArena *a = td_arena_scratch(r->session->ctx);
  int64_t cycles = run(r, a, p, MOST_STEPS);
  td_arena_free(a);
  return cycles > 0;
}

bool td_search_cost(TdRewrite *r, TdArena *a, const TdProg *p, const TdGraph *g, bool timed,
                    TdSearchCost *out, TdDiag *d) {
  TdCost c;
  if (!td_cost_estimate(r->affine, a, p, td_target_find("u280"), &c, d)) return false;
  int64_t cycles = timed ? run(r, a, p, 4 * MOST_STEPS) : 0;
  *out = (TdSearchCost){.cycles = cycles,
                        .longest = c.cycles,
                        .tokens = td_graph_tokens(g).hi,
                        .ports = (int64_t)(td_graph_ports(g, false) + td_graph_ports(g, true)),
                        .nodes = (int64_t)g->node.n};
  return cycles > 0 || !timed;
}

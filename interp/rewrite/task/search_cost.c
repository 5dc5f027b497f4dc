/* search_cost.c - cycles of a run with a clock, or of the estimate; parts of the device. */
#include "rewrite/task/search_cost.h"

#include "analysis/time/firing.h"
#include "eval/eval.h"

/* A run may do so many steps, in so much memory; a step is at least one of so many cycles. */
enum { MOST_STEPS = 1 << 18, MOST_BYTES = 1 << 26, STEP_CYCLES = 1 << 6 };

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

/* The elements of a tensor type, no more than `most`. */
static int64_t elements(const TdUnit *u, const TdType *t, int64_t most) {
  int64_t n = 1, extent;
  for (int d = 0; d < t->rank; d++)
    if (!td_unit_value(u, t->dim[d], &extent) || extent > most / (n > 0 ? n : 1))
      return most;
    else
      n *= extent;
  return n;
}

/* The cycles of a run of p with a clock; 0 when there is none. */
static int64_t run(const TdSearchMeter *m, TdArena *a, const TdProg *p, uint64_t steps) {
  const TdUnit *u = td_prog_root(p);
  TdDiag quiet = {.arena = a};
  TdEvalArg *arg = TD_NEWN(a, TdEvalArg, u->nparam + 1);
  for (size_t i = 0; i < u->nparam; i++) {
    const TdType *t = td_unit_type(m->r->session, u, u->param[i].type);
    if (!t || t->kind == TD_T_PORT) return 0;
    if (t->kind == TD_T_TENSOR && elements(u, t, MOST_STEPS) == MOST_STEPS) return 0;
    if (t->kind == TD_T_TENSOR)
      arg[i].tensor = numbers(a, t);
    else
      arg[i] = (TdEvalArg){.scalar = 1, .has_scalar = true};
  }
  TdEvalOptions o = {.steps = steps, .bytes = MOST_BYTES};
  TdEvalResult result;
  o.times = td_firing_times(m->r->affine, a, p, m->clock, &quiet);
  if (!o.times || !td_eval_run(a, p, arg, u->nparam, &o, &quiet, &result)) return 0;
  return result.timed ? result.timed->cycles : 0;
}

bool td_search_clock(const TdSearchMeter *m, TdArena *a, const TdProg *p, int64_t *cycles) {
  *cycles = run(m, a, p, 4 * MOST_STEPS);
  return *cycles > 0;
}

/* What a task takes. */
typedef struct Known {
  TdCostStage stage;
  TdCostArea area;
} Known;

/* Whether what a task takes may depend on who else is given its arguments. */
static bool shares_ports(const TdUnit *design) {
  bool shares = false;
  for (size_t i = 0; i < design->nparam; i++) shares |= design->param[i].attrs.n > 0;
  return shares;
}

/* A key of what decides the times of a run. */
static uint64_t key_of(TdArena *a, const TdProg *p, const TdRun *run) {
  const TdUnit *design = td_prog_root(p);
  TdText t = td_text_new(a);
  td_print_unit(&t, p, td_prog_unit(p, run->unit));
  if (shares_ports(design)) td_print_unit(&t, p, design);
  uint64_t key = td_map_hash(td_text_str(&t), t.n);
  for (int d = 0; d < run->rank; d++) {
    int64_t n = 0;
    td_unit_value(design, run->map[d], &n);
    key = td_map_mix(key, (uint64_t)n);
  }
  return td_map_mix(key, (uint64_t)run->rank);
}

/* What task number i of p's root takes; NULL with d filled when that cannot be known. */
static const Known *known_of(TdSearchMeter *m, TdSched *s, size_t i, TdDiag *d) {
  const TdUnit *design = td_prog_root(s->prog);
  uint64_t key = key_of(s->arena, s->prog, &design->run[i]), at;
  if (td_map_get(&m->known, key, &at)) return (const Known *)(uintptr_t)at;
  Known x;
  if (!td_cost_stage(s, design, &design->run[i], &x.stage, &x.area, d)) return NULL;
  Known *kept = td_arena_copy(m->arena, &x, sizeof x);
  td_map_put(m->arena, &m->known, key, (uint64_t)(uintptr_t)kept);
  return kept;
}

bool td_search_estimate(TdSearchMeter *m, TdArena *a, const TdProg *p, const TdGraph *g,
                        TdSearchCost *out, TdDiag *d) {
  const TdUnit *u = td_prog_root(p);
  TdArena *scratch = td_arena_scratch(m->r->session->ctx);
  TdSched s = {.affine = m->r->affine, .arena = scratch, .prog = p, .target = m->parts};
  TdCostStage *stage = TD_NEWN(a, TdCostStage, u->nrun + 1);
  bool good = true;
  *out = (TdSearchCost){.tokens = td_graph_tokens(g).hi,
                        .ports = (int64_t)(td_graph_ports(g, false) + td_graph_ports(g, true)),
                        .nodes = (int64_t)g->node.n,
                        .area = td_cost_fifos(m->parts, u),
                        .stage = stage};
  for (size_t i = 0; good && i < u->nrun; i++) {
    const Known *x = known_of(m, &s, i, d);
    good = x != NULL;
    if (!good) break;
    stage[i] = x->stage;
    stage[i].name = u->run[i].sym->name;
    if (x->stage.cycles > out->longest) out->longest = x->stage.cycles;
    td_cost_add(&out->area, x->area, x->stage.instances);
  }
  for (size_t i = 0; good && i < g->node.n; i++) {
    int64_t c = stage[g->node.at[i].run].cycles;
    out->work = out->work > INT64_MAX - c ? INT64_MAX : out->work + c;
  }
  out->cycles = out->longest;
  td_arena_free(scratch);
  return good;
}

/* Whether all sizes have values, which estimates need. */
static bool has_sizes(const TdProg *p, TdDiag *d) {
  for (size_t i = 0; i < p->nunit; i++)
    for (size_t k = 0; k < p->unit[i]->nsize; k++) {
      const TdSize *z = &p->unit[i]->size[k];
      if (z->known) continue;
      td_diag_set(d, TD_USAGE, "size-unknown", p->unit[i]->loc, "size %s of '%s' has no value",
                  z->name, p->unit[i]->sym->name);
      td_diag_help(d, "search at some: d:at {%s = 64}", z->name);
      return false;
    }
  return true;
}

bool td_search_meter(TdSearchMeter *m, TdRewrite *r, const TdTarget *device, const TdProg *p,
                     TdDiag *d) {
  TdGraph g;
  TdSearchCost cost;
  TdAsk ask = {r->affine, r->arena, p, td_prog_root(p)};
  *m = (TdSearchMeter){.r = r, .arena = r->arena};
  m->clock = device ? device : td_target_find("ideal");
  m->parts = device ? device : td_target_find("u280");
  if (!td_graph_of(&ask, &g, d)) return false;
  if (!has_sizes(p, d) || !td_search_estimate(m, r->arena, p, &g, &cost, d)) return false;
  m->nodes = cost.nodes;
  if (cost.work / STEP_CYCLES <= MOST_STEPS) {
    TdArena *a = td_arena_scratch(r->session->ctx);
    m->timed = run(m, a, p, MOST_STEPS) > 0;
    td_arena_free(a);
  }
  if (!m->timed) m->clock = m->parts;
  return true;
}

/* chain.c - chain: a producer and its consumer become one task. Dato 4.2. */
#include "rewrite/task/split_instances.h"
#include "rewrite/task/merge_tasks.h"

enum { FIRST, SECOND };

/* Whether the maps have equal extents, so that instances pair up. */
static bool check_maps(TdRewrite *r, const TdSequence *q) {
  int64_t x[TD_MAX_RANK], y[TD_MAX_RANK];
  bool same = q->first->rank == q->second->rank;
  td_mapping_extents(q->m, q->first, x);
  td_mapping_extents(q->m, q->second, y);
  for (int d = 0; same && d < q->first->rank; d++) same = x[d] == y[d];
  if (same) return true;
  td_util_refuse(r, TD_ILLEGAL, "map", q->second->loc, "'%s' and '%s' have other maps",
                 q->first->sym->name, q->second->sym->name);
  td_diag_help(r->diag, "bundle takes an axis away from the larger one");
  return false;
}

/* Whether the nodes x and y, partners, may be one: no way leads back from y to x, and none from x
 * to y by way of a third. */
static bool check_pair(TdRewrite *r, const TdSequence *q, uint32_t x, uint32_t y, bool *mark) {
  const TdGraph *g = &q->m->graph;
  const uint32_t *way;
  mark[x] = true;
  size_t n = td_graph_way(r->arena, g, &(TdGraphAsk){&y, 1, mark, false}, &way);
  mark[x] = false;
  if (n) {
    td_util_refuse(r, TD_ILLEGAL, "feeds", q->second->loc, "%s feeds %s: %s",
                   td_graph_name(r->arena, g, y), td_graph_name(r->arena, g, x),
                   td_graph_way_name(r->arena, g, way, n));
    return false;
  }
  mark[y] = true;
  n = td_graph_way(r->arena, g, &(TdGraphAsk){&x, 1, mark, true}, &way);
  mark[y] = false;
  if (!n) return true;
  td_util_refuse(r, TD_ILLEGAL, "path", q->second->loc, "an indirect path leads from %s to %s: %s",
                 td_graph_name(r->arena, g, x), td_graph_name(r->arena, g, y),
                 td_graph_way_name(r->arena, g, way, n));
  td_diag_help(r->diag, "chain what lies between first");
  return false;
}

static bool check_pairs(TdRewrite *r, const TdSequence *q) {
  int64_t extent[TD_MAX_RANK], id[TD_MAX_RANK] = {0};
  int64_t n = td_mapping_extents(q->m, q->first, extent);
  bool *mark = TD_NEWN(r->arena, bool, q->m->graph.node.n + 1);
  for (int64_t i = 0; i < n; i++) {
    int64_t rest = i;
    for (int d = q->first->rank; d-- > 0; rest /= extent[d]) id[d] = rest % extent[d];
    uint32_t x = td_mapping_node(q->m, q->first, id), y = td_mapping_node(q->m, q->second, id);
    if (x == TD_TRAFFIC_NONE || y == TD_TRAFFIC_NONE) continue;
    TdMark scratch = td_arena_mark(r->arena);
    if (!check_pair(r, q, x, y, mark)) return false;
    td_arena_release(r->arena, scratch);
  }
  return true;
}

/* The name of the task that a spec means: an instance of several becomes one first. */
static const char *task_of(TdRewrite *r, const char *spec) {
  TdMapping m;
  TdFamilies all = {0};
  if (!td_split_instances_is_instance(spec)) return spec;
  const TdRun *run = td_mapping_open(r, td_split_instances_task(r->arena, spec), &m);
  if (!run || !td_split_instances_parse(&m, spec, &all)) return NULL;
  if (all.n == 1) return td_split_instances_peel(r, &all.at[0]);
  td_util_refuse(r, TD_USAGE, "instance", run->loc, "'%s' names %zu instances", spec, all.n);
  return NULL;
}

/* Whether a size has no value: what tasks wait for is checked as after any step then. */
static bool has_open_size(const TdProg *p) {
  const TdUnit *root = td_prog_root(p);
  for (size_t i = 0; i < root->nsize; i++)
    if (!root->size[i].known) return true;
  return false;
}

static const TdProg *apply(TdRewrite *r) {
  TdMapping m;
  TdSequence q = {.m = &m, .weave = true};
  const char *one = task_of(r, r->arg[FIRST].text);
  const char *two = one ? task_of(r, r->arg[SECOND].text) : NULL;
  q.first = two ? td_mapping_open(r, one, &m) : NULL;
  q.second = q.first ? td_mapping_task(&m, two) : NULL;
  if (!q.second) return NULL;
  if (q.first == q.second)
    return td_util_refuse(r, TD_USAGE, "same", q.first->loc, "'%s' cannot be chained to itself",
                          q.first->sym->name);
  if (!check_maps(r, &q) || !check_pairs(r, &q) || !td_merge_tasks_check(&q)) return NULL;
  td_util_made(r, q.first->sym->name);
  const TdProg *p = td_merge_tasks_put(&q);
  if (td_mapping_end(&m, p) == TD_MAPPING_STUCK) {
    q.weave = false;
    p = td_merge_tasks_put(&q);
  }
  if (td_mapping_end(&m, p) != TD_MAPPING_UNKNOWN || (q.alike && has_open_size(r->prog))) return p;
  return td_util_refuse(r, TD_ILLEGAL, "not-decided", q.first->loc,
                        "data decides the order of '%s' or '%s': in turn they might block",
                        q.first->sym->name, q.second->sym->name);
}

const TdPrim td_prim_chain = {
    .name = "chain",
    .on = "task",
    .summary = "Make a producer and its consumer, or two that have nothing to do with each other, "
               "one task.",
    .args = {{"first", TD_ARG_UNIT, TD_ARG_NEEDED,
              "the producer, whose name stays: a task or an instance", "task|instance"},
             {"second", TD_ARG_UNIT, TD_ARG_NEEDED, "the consumer: a task or an instance",
              "task|instance"}},
    .rewrite = "task f: for i: x[t]:put(S(i))  |  task g: for i: T(x[t]:get())  =>  "
               "task f: for i: local x = S(i); T(x)",
    .legal = "the maps have equal extents, and instances of equal ids become one: no stream leads "
             "back from the second to the first, and no path from the first to the second by way "
             "of a third; the design still runs to its end",
    .errors = "not-a-design no-task ambiguous-task same shared map feeds path return state "
              "instance copies "
              "not-decided deadlock open",
    .example = "s:buffer_at(\"A\", \"i\"); local _, _, a, b = s:dataflow(\"i\"); s:chain(a, b)",
    .apply = apply,
};

/* place.c - place: where on the array a task, or an instance of it, runs. */
#include "rewrite/task/split_instances.h"

enum { INSTANCE, AT, BY };

/* The mark of a run, or NULL. */
static const TdAttr *place_of(const TdRun *run) {
  return td_attrs_get(run->attrs, TD_ATTR_PLACE);
}

/* Where instance i of a run of so many axes is, by its mark. */
static void tile_of(const TdMapping *m, const TdRun *run, const TdAttr *p, int64_t i, int64_t *at) {
  int64_t extent[TD_MAX_RANK];
  const TdAttrInts *step = p->arg[2].ints;
  td_mapping_extents(m, run, extent);
  at[0] = p->arg[0].i;
  at[1] = p->arg[1].i;
  for (int d = run->rank; step && d-- > 0; i /= extent[d])
    for (size_t k = 0; k < 2 && 2 * (size_t)d + k < step->n; k++)
      at[k] += i % extent[d] * step->at[2 * d + (int)k];
}

/* Whether no instance of this run, or of another that is placed, is where one of x is: the row of
 * the memories takes several. */
static bool is_free(TdRewrite *r, const TdMapping *m, const TdRun *run, const TdAttr *mark) {
  int64_t none[TD_MAX_RANK], n = td_mapping_extents(m, run, none), at[2], other[2];
  TdLoc nowhere = {0};
  for (int64_t i = 0; i < n; i++) {
    tile_of(m, run, mark, i, at);
    if (at[0] < 0 || at[1] < 0) {
      td_util_refuse(r, TD_USAGE, "place", nowhere,
                     "an instance of '%s' is at column %lld, row %lld", run->sym->name,
                     (long long)at[0], (long long)at[1]);
      return false;
    }
    for (size_t k = 0; k < m->design->nrun && at[1] != 1; k++) {
      const TdRun *x = &m->design->run[k];
      const TdAttr *p = x == run ? mark : place_of(x);
      int64_t count = p ? td_mapping_extents(m, x, none) : 0;
      for (int64_t j = x == run ? i + 1 : 0; j < count; j++) {
        tile_of(m, x, p, j, other);
        if (other[0] != at[0] || other[1] != at[1]) continue;
        td_util_refuse(r, TD_ILLEGAL, "taken", run->loc, "'%s' is at column %lld, row %lld",
                       x->sym->name, (long long)at[0], (long long)at[1]);
        return false;
      }
    }
  }
  return true;
}

/* The instance, or with `by` the whole task, as a run of its own. */
static const TdRun *find_run(TdRewrite *r, TdMapping *m) {
  TdFamilies all = {0};
  const char *spec = r->arg[INSTANCE].text;
  const TdArgValue *by = &r->arg[BY];
  const TdRun *run = td_mapping_open(r, td_split_instances_task(r->arena, spec), m);
  TdLoc none = {0};
  if (!run) return NULL;
  if (by->given && (td_split_instances_is_instance(spec) || by->n != 2 * (size_t)run->rank)) {
    td_util_refuse(r, TD_USAGE, "place", none,
                   "'by' has a pair {columns, rows} for each axis of '%s'", run->sym->name);
    return NULL;
  }
  if (by->given) {
    td_util_made(r, run->sym->name);
    return run;
  }
  if (!td_split_instances_parse(m, spec, &all)) return NULL;
  if (all.n != 1) {
    td_util_refuse(r, TD_USAGE, "instance", none, "'%s' has %zu instances", spec, all.n);
    td_diag_help(r->diag, "place them one by one: place(\"%s[0]\", {0, 0}), or all with by = {..}",
                 all.at[0].task);
    return NULL;
  }
  const char *name = td_split_instances_peel(r, &all.at[0]);
  if (name) td_util_made(r, name);
  return name ? td_mapping_open(r, name, m) : NULL;
}

static const TdProg *apply(TdRewrite *r) {
  TdMapping m;
  const TdArgValue *at = &r->arg[AT], *by = &r->arg[BY];
  TdLoc none = {0};
  if (at->n != 2 || at->ints[0] < 0 || at->ints[1] < 0)
    return td_util_refuse(r, TD_USAGE, "place", none, "a place is {column, row}, both from 0");
  TdAttr mark = {.kind = TD_ATTR_PLACE, .arg = {{.i = at->ints[0]}, {.i = at->ints[1]}}};
  if (by->given) mark.arg[2].ints = td_attr_ints(r->store->arena, by->ints, by->n);
  const TdRun *run = find_run(r, &m);
  if (!run || !is_free(r, &m, run, &mark)) return NULL;
  TdUnit *u = td_unit_copy(r->store, m.design);
  TdRun *list = td_arena_copy(r->store->arena, u->run, u->nrun * sizeof *list);
  TdRun *to = &list[run - m.design->run];
  to->attrs = td_attrs_set(r->store->arena, to->attrs, mark);
  u->run = list;
  return td_prog_with(r->prog, u);
}

const TdPrim td_prim_place = {
    .name = "place",
    .on = "task",
    .summary = "Say on which tile of the array an instance runs.",
    .args = {{"instance", TD_ARG_UNIT, TD_ARG_NEEDED,
              "a task of one instance, or one of several: \"gemm[0][1]\"", "instance"},
             {"at", TD_ARG_INTS, TD_ARG_NEEDED, "{column, row}", NULL},
             {"by", TD_ARG_PAIRS, TD_ARG_OPTION,
              "{columns, rows} from one instance to the next along each axis: places all of a task",
              NULL}},
    .rewrite =
        "d.f = tide.task {..}  =>  d.f = tide.task {..} --@ place(2, 1); an instance of several "
        "is a task of its own then",
    .legal = "no other task is there; values do not change",
    .errors = "place not-a-design no-task ambiguous-task instance copies shared taken open",
    .example = "s:unfold(\"PE\"); s:bundle(\"PE\", {axis = 1}); s:place(\"PE[0]\", {0, 2})",
    .apply = apply,
};

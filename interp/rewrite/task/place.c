/* place.c - place: where on the array a task, or an instance of it, runs. */
#include "rewrite/task/split_instances.h"

enum { INSTANCE, AT };

/* The mark of a run, or NULL. */
static const TdAttr *place_of(const TdRun *run) {
  return td_attrs_get(run->attrs, TD_ATTR_PLACE);
}

/* Whether no other task of the design is at a column and row. */
static bool is_free(TdRewrite *r, const TdMapping *m, const TdRun *run, const int64_t *at) {
  for (size_t i = 0; i < m->design->nrun; i++) {
    const TdRun *x = &m->design->run[i];
    const TdAttr *p = x == run ? NULL : place_of(x);
    if (!p || p->arg[0].i != at[0] || p->arg[1].i != at[1]) continue;
    td_util_refuse(r, TD_ILLEGAL, "taken", run->loc, "'%s' is at column %lld, row %lld",
                   x->sym->name, (long long)at[0], (long long)at[1]);
    return false;
  }
  return true;
}

static const TdProg *apply(TdRewrite *r) {
  TdMapping m;
  TdFamilies all = {0};
  const char *spec = r->arg[INSTANCE].text;
  const TdArgValue *at = &r->arg[AT];
  TdLoc none = {0};
  if (at->n != 2 || at->ints[0] < 0 || at->ints[1] < 0)
    return td_util_refuse(r, TD_USAGE, "place", none, "a place is {column, row}, both from 0");
  if (!td_mapping_open(r, td_split_instances_task(r->arena, spec), &m)) return NULL;
  if (!td_split_instances_parse(&m, spec, &all)) return NULL;
  if (all.n != 1) {
    td_util_refuse(r, TD_USAGE, "instance", none, "'%s' has %zu instances", spec, all.n);
    td_diag_help(r->diag, "place them one by one: place(\"%s[0]\", {0, 0})", all.at[0].task);
    return NULL;
  }
  const char *name = td_split_instances_peel(r, &all.at[0]);
  const TdRun *run = name ? td_mapping_open(r, name, &m) : NULL;
  if (!run || !is_free(r, &m, run, at->ints)) return NULL;
  TdUnit *u = td_unit_copy(r->store, m.design);
  TdRun *list = td_arena_copy(r->store->arena, u->run, u->nrun * sizeof *list);
  TdAttr mark = {.kind = TD_ATTR_PLACE, .arg = {{.i = at->ints[0]}, {.i = at->ints[1]}}};
  TdRun *to = &list[run - m.design->run];
  to->attrs = td_attrs_set(r->store->arena, to->attrs, mark);
  u->run = list;
  td_util_made(r, name);
  return td_prog_with(r->prog, u);
}

const TdPrim td_prim_place = {
    .name = "place",
    .on = "task",
    .summary = "Say on which tile of the array an instance runs.",
    .args = {{"instance", TD_ARG_UNIT, TD_ARG_NEEDED,
              "a task of one instance, or one of several: \"gemm[0][1]\"", "instance"},
             {"at", TD_ARG_INTS, TD_ARG_NEEDED, "{column, row}", NULL}},
    .rewrite =
        "d.f = tide.task {..}  =>  d.f = tide.task {..} --@ place(2, 1); an instance of several "
        "is a task of its own then",
    .legal = "no other task is there; values do not change",
    .errors = "place not-a-design no-task ambiguous-task instance copies shared taken open",
    .example = "s:unfold(\"PE\"); s:bundle(\"PE\", {axis = 1}); s:place(\"PE[0]\", {0, 2})",
    .apply = apply,
};

/* mapping.c - finding the tasks of a design and putting it together again. */
#include "rewrite/task/mapping.h"

#include <string.h>

#include "lower/collective.h"
#include "analysis/net/token_run.h"

enum { ORDER_BUDGET = 1 << 26 };

/* The run of u called name, or NULL. */
static const TdRun *run_named(const TdUnit *u, const char *name) {
  for (size_t i = 0; i < u->nrun; i++)
    if (strcmp(u->run[i].sym->name, name) == 0) return &u->run[i];
  return NULL;
}

/* Refuses for want of a task `name` in u: NULL. Tells the task that u may have meant, or how to get
 * tasks. */
static const TdRun *refuse_name(TdRewrite *r, const TdUnit *u, const char *name) {
  const char **names = TD_NEWN(r->arena, const char *, u->nrun);
  for (size_t i = 0; i < u->nrun; i++) names[i] = u->run[i].sym->name;
  const char *near = td_text_nearest(name, names, u->nrun), *unit = u->sym->name;
  if (u->kind == TD_UNIT_DESIGN)
    td_util_refuse(r, TD_USAGE, "no-task", u->loc, "'%s' has no task '%s'", unit, name);
  else
    td_util_refuse(r, TD_USAGE, "not-a-design", u->loc, "'%s' is a kernel, which has no tasks",
                   unit);
  if (u->kind != TD_UNIT_DESIGN)
    td_diag_help(r->diag, "`unfold` and `dataflow` make a design of a kernel");
  else if (near)
    td_diag_help(r->diag, "did you mean '%s'?", near);
  return NULL;
}

const TdRun *td_mapping_task(const TdMapping *m, const char *name) {
  const TdRun *run = run_named(m->design, name);
  return run ? run : refuse_name(m->r, m->design, name);
}

const TdRun *td_mapping_open(TdRewrite *r, const char *name, TdMapping *m) {
  const TdProg *p = r->prog = td_collective_expand(r->prog);
  size_t at = p->nunit;
  for (size_t i = p->nunit; i-- > 0;) {
    if (p->unit[i]->kind != TD_UNIT_DESIGN || !run_named(p->unit[i], name)) continue;
    if (at < p->nunit) {
      td_util_refuse(r, TD_USAGE, "ambiguous-task", p->unit[i]->loc,
                     "both '%s' and '%s' have a task '%s'", p->unit[at]->sym->name,
                     p->unit[i]->sym->name, name);
      return NULL;
    }
    at = i;
  }
  if (at == p->nunit) return refuse_name(r, td_prog_root(p), name);
  *m = (TdMapping){.r = r, .design = p->unit[at]};
  m->prog = td_prog_prune(td_prog_new(r->store, p->unit, at + 1));
  TdAsk q = {r->affine, r->arena, m->prog, m->design};
  return td_graph_of(&q, &m->graph, r->diag) ? run_named(m->design, name) : NULL;
}

const TdUnit *td_mapping_kernel(const TdMapping *m, const TdRun *run) {
  const TdProg *p = m->r->prog;
  size_t uses = 0;
  for (size_t i = 0; i < p->nunit; i++) {
    for (size_t k = 0; k < p->unit[i]->nrun; k++) uses += p->unit[i]->run[k].unit == run->unit;
    if (p->unit[i]->body) uses += td_lift_calls(m->r, p->unit[i]->body, run->unit);
  }
  if (uses == 1) return td_prog_unit(p, run->unit);
  td_util_refuse(m->r, TD_UNSUPPORTED, "shared", run->loc,
                 "the kernel of '%s' is used elsewhere too", run->sym->name);
  return NULL;
}

int64_t td_mapping_extents(const TdMapping *m, const TdRun *run, int64_t *extent) {
  int64_t n = 1;
  for (int d = 0; d < run->rank; d++) {
    extent[d] = 0;
    td_unit_value(m->design, run->map[d], &extent[d]);
    n *= extent[d];
  }
  return n;
}

uint32_t td_mapping_node(const TdMapping *m, const TdRun *run, const int64_t *id) {
  const TdTraffic *n = m->graph.net;
  int64_t extent[TD_MAX_RANK], at = 0;
  td_mapping_extents(m, run, extent);
  for (int d = 0; d < run->rank; d++) at = at * extent[d] + id[d];
  uint32_t first = 0;
  while (first < n->group.at[0].n && n->inst.at[first].run != run) first++;
  return td_graph_node(&m->graph, first + (uint32_t)at);
}

int td_mapping_axis(const char *layout, int d) {
  for (; layout && d > 0; d--) layout += *layout == 'S' ? 2 : 1;
  return layout && *layout == 'S' ? layout[1] - '0' : -1;
}

int64_t td_mapping_block(const TdMapping *m, const TdUnit *k, const TdExpr *dim, TdUnit *design) {
  TdRewrite *r = m->r;
  int64_t v = 0, fixed;
  td_unit_value(k, dim, &v);
  if (td_expr_is_const(dim, &fixed)) return v;
  *design = *td_util_assume(
      r, design,
      td_expr_op2(r->store->arena, TD_OP_EQ, td_type_bool(r->session), dim, td_util_const(r, v)));
  r->used_value = true;
  return v;
}

void td_mapping_join_sizes(const TdMapping *m, TdUnit *u) {
  const TdUnit *d = m->design;
  TdSize *size = TD_NEWN(m->r->store->arena, TdSize, d->nsize + u->nsize);
  size_t n = u->nsize;
  for (size_t i = 0; i < n; i++) size[i] = u->size[i];
  for (size_t i = 0; i < d->nsize; i++)
    if (!td_unit_size(u, d->size[i].name)) size[n++] = d->size[i];
  u->size = size;
  u->nsize = n;
}

const TdProg *td_mapping_put(const TdMapping *m, const TdUnit *u, const TdUnit *const *kernel,
                             size_t n) {
  const TdProg *p = m->r->prog;
  for (size_t i = 0; i < n; i++)
    p = td_prog_unit(p, kernel[i]->sym) ? td_prog_with(p, kernel[i])
                                        : td_prog_insert(p, kernel[i], u->sym);
  return td_lift_in_order(m->r, td_prog_with(p, td_lift_tidy(m->r, u)));
}

TdMappingEnd td_mapping_end(const TdMapping *m, const TdProg *p) {
  TdRewrite *r = m->r;
  TdArena *a = td_arena_scratch(r->session->ctx);
  TdDiag quiet = {.arena = a};
  size_t at = 0;
  while (p->unit[at]->sym != m->design->sym) at++;
  const TdProg *part = td_prog_prune(td_prog_new(r->store, p->unit, at + 1));
  const TdTraffic *n = td_traffic_of(a, part, &quiet);
  TdOrder *o = n && !n->open ? td_token_run_new(a, n) : NULL;
  TdMappingEnd end = TD_MAPPING_UNKNOWN;
  if (o) {
    td_token_run_reset(o, NULL);
    switch (td_token_run_go(o, ORDER_BUDGET)) {
    case TD_ORDER_DONE: end = o->partial ? TD_MAPPING_UNKNOWN : TD_MAPPING_ENDS; break;
    case TD_ORDER_STUCK: end = TD_MAPPING_STUCK; break;
    case TD_ORDER_LONG: break;
    }
  }
  td_arena_free(a);
  return end;
}

static bool is_no_return(void *ud, const TdStmt *s) {
  (void)ud;
  return s->kind != TD_STMT_RETURN;
}

bool td_mapping_returns(TdRewrite *r, const TdUnit *kernel) {
  return !td_walk_stmt(r->session->ctx, kernel->body, is_no_return, NULL);
}

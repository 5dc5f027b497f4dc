/* network.c - a design in the place of statements, or of all of a kernel. */
#include "rewrite/task/network.h"

#include <string.h>

const char *td_network_task_name(TdRewrite *r, const TdPart *part, size_t n, const char *want) {
  const char *name = want;
  for (int i = 1;; i++) {
    bool taken = strcmp(name, "arg") == 0 || strcmp(name, "stream") == 0;
    for (size_t k = 0; k < n; k++) taken |= strcmp(part[k].name, name) == 0;
    if (!taken) return td_names_str(r->session->names, name);
    name = td_text_fmt(r->store->arena, "%s_%d", want, i);
  }
}

static bool is_replaced(const TdNetworkPlan *plan, const TdStmt *s) {
  for (size_t i = 0; i < plan->n; i++)
    if (plan->stmt[i] == s) return true;
  return false;
}

/* Whether an assumption speaks of parameters of u, which those of a design do not. */
static bool is_of_params(const TdUnit *u, const TdExpr *e) {
  for (size_t k = 0; k < u->nparam; k++)
    if (td_walk_uses_expr(e, u->param[k].sym)) return true;
  return false;
}

/* Whether the kernel of a task assumes e, of the unit's parameters, by its own. */
static bool is_carried(TdRewrite *r, const TdLifted *l, const TdExpr *e) {
  TdSubst back = td_subst_new(r->store);
  for (size_t k = 0; k < l->unit->nparam; k++)
    td_subst_sym(&back, l->unit->param[k].sym, l->was[k]);
  for (size_t i = 0; i < l->unit->nassert; i++)
    if (td_equal_expr(td_subst_in_expr(&back, l->unit->assert_[i]), e)) return true;
  return false;
}

/* Whether tasks check all that u assumes of its parameters. */
static bool tasks_check(TdRewrite *r, const TdNetworkPlan *plan) {
  const TdUnit *u = plan->unit;
  for (size_t i = 0; i < u->nassert; i++) {
    bool carried = !is_of_params(u, u->assert_[i]);
    for (size_t k = 0; !carried && k < plan->nparts; k++)
      carried = is_carried(r, &plan->part[k].lifted, u->assert_[i]);
    if (!carried) return false;
  }
  return true;
}

/* Whether the unit would hold nothing but a call with its own parameters. */
static bool becomes_design(TdRewrite *r, const TdNetworkPlan *plan) {
  const TdUnit *u = plan->unit;
  if (u->ncoord || td_prog_is_task(r->prog, u->sym)) return false;
  for (uint32_t i = 0; i < u->body->nkid; i++) {
    const TdStmt *s = u->body->kid[i];
    bool data = s->kind == TD_STMT_LOCAL && s->cls != TD_LOCAL_AUTO;
    if (!data && !is_replaced(plan, s)) return false;
  }
  for (size_t i = 0; i < plan->nparts; i++)
    for (size_t k = 0; k < plan->part[i].lifted.unit->nparam; k++)
      if (!td_unit_param(u, plan->part[i].lifted.was[k])) return false;
  return tasks_check(r, plan);
}

/* A design under construction: its arguments stand for symbols of the unit. */
typedef struct Design {
  TdRewrite *r;
  TdUnit *unit;
  TD_VEC(TdParam) param;
  TD_VEC(TdSym) was;
  TD_VEC(const TdExpr *) arg;
} Design;

/* The argument that stands for parameter k of a part. */
static TdSym argument(Design *d, const TdLifted *l, size_t k) {
  for (size_t i = 0; i < d->was.n; i++)
    if (d->was.at[i] == l->was[k]) return d->param.at[i].sym;
  TdParam p = l->unit->param[k];
  p.sym = td_store_sym(d->r->store, p.sym->name, (TdSymKind)p.sym->kind);
  td_vec_push(d->r->store->arena, &d->param, p);
  td_vec_push(d->r->arena, &d->was, l->was[k]);
  td_vec_push(d->r->arena, &d->arg, l->arg[k]);
  return p.sym;
}

static TdRun make_run(Design *d, const TdPart *part) {
  const TdUnit *k = part->lifted.unit;
  TdStore *st = d->r->store;
  TdRunArg *bind = TD_NEWN(st->arena, TdRunArg, k->nparam);
  for (size_t i = 0; i < k->nparam; i++)
    bind[i] = (TdRunArg){.param = k->param[i].sym, .arg = argument(d, &part->lifted, i)};
  TdRun run = {.sym = td_store_sym(st, part->name, TD_SYM_RUN),
               .unit = k->sym,
               .uid = td_store_uid(st),
               .loc = k->loc,
               .rank = part->rank,
               .bind = bind,
               .nbind = k->nparam};
  memcpy(run.map, part->map, sizeof run.map);
  return run;
}

/* Fills in streams and runs. */
static void connect(Design *d, const TdNetworkPlan *plan) {
  TdArena *a = d->r->store->arena;
  TdRun *run = TD_NEWN(a, TdRun, plan->nparts);
  for (size_t i = 0; i < plan->nparts; i++) run[i] = make_run(d, &plan->part[i]);
  d->unit->run = run;
  d->unit->nrun = plan->nparts;
  d->unit->stream = td_arena_copy(a, plan->stream, plan->nstream * sizeof *plan->stream);
  d->unit->nstream = plan->nstream;
}

/* The assumptions of u that speak of sizes alone. */
static void keep_asserts(TdRewrite *r, TdUnit *to, const TdUnit *u) {
  const TdExpr **list = TD_NEWN(r->store->arena, const TdExpr *, u->nassert);
  to->nassert = 0;
  for (size_t i = 0; i < u->nassert; i++)
    if (!is_of_params(u, u->assert_[i])) list[to->nassert++] = u->assert_[i];
  to->assert_ = list;
}

/* The design that the unit becomes. */
static const TdUnit *as_unit(TdRewrite *r, const TdNetworkPlan *plan) {
  const TdUnit *u = plan->unit;
  Design d = {.r = r, .unit = td_unit_copy(r->store, u)};
  for (size_t i = 0; i < u->nparam; i++) {
    td_vec_push(r->store->arena, &d.param, u->param[i]);
    td_vec_push(r->arena, &d.was, u->param[i].sym);
  }
  d.unit->kind = TD_UNIT_DESIGN;
  d.unit->body = NULL;
  keep_asserts(r, d.unit, u);
  connect(&d, plan);
  return td_lift_tidy(r, d.unit);
}

/* Whether the kernel of a task to be has this name. */
static bool is_part(const TdNetworkPlan *plan, const char *name) {
  for (size_t i = 0; i < plan->nparts; i++)
    if (plan->part[i].lifted.unit->sym->name == name) return true;
  return false;
}

/* A design of its own, and in *call its call. */
static const TdUnit *apart(TdRewrite *r, const TdNetworkPlan *plan, const TdStmt **call) {
  const TdUnit *u = plan->unit;
  Design d = {.r = r, .unit = TD_NEW(r->store->arena, TdUnit)};
  const char *name = td_lift_unit_name(r, r->prog, plan->name);
  for (int i = 1; td_edit_name_hidden(r->prog, u, name) || is_part(plan, name); i++)
    name = td_lift_unit_name(r, r->prog, td_text_fmt(r->arena, "%s_%d", plan->name, i));
  *d.unit = (TdUnit){.kind = TD_UNIT_DESIGN,
                     .loc = plan->stmt[0]->loc,
                     .instance = u->instance,
                     .size = u->size,
                     .nsize = u->nsize};
  d.unit->sym = td_store_sym(r->store, name, TD_SYM_UNIT);
  d.unit->uid = td_store_uid(r->store);
  connect(&d, plan);
  d.unit->param = d.param.at;
  d.unit->nparam = d.param.n;
  keep_asserts(r, d.unit, u);
  *call = td_stmt_call(r->store, d.unit->sym, d.arg.at, d.arg.n, plan->stmt[0]->loc);
  return td_lift_tidy(r, d.unit);
}

/* The unit's body with the call in the place of the last of the statements. */
static const TdStmt *with_call(TdRewrite *r, const TdNetworkPlan *plan, const TdStmt *call) {
  const TdStmt *body = plan->unit->body;
  for (size_t i = 0; i + 1 < plan->n; i++)
    body = td_edit_replace(r->store, body, plan->stmt[i]->uid, NULL, 0);
  return td_edit_replace(r->store, body, plan->stmt[plan->n - 1]->uid, &call, 1);
}

const TdProg *td_network_put(TdRewrite *r, const TdNetworkPlan *plan) {
  const TdUnit *u = plan->unit;
  const TdProg *p = r->prog;
  for (size_t i = 0; i < plan->nparts; i++) {
    const TdUnit *k = plan->part[i].lifted.unit;
    p = td_prog_unit(p, k->sym) ? td_prog_with(p, k) : td_prog_insert(p, k, u->sym);
  }
  if (becomes_design(r, plan)) return td_lift_in_order(r, td_prog_with(p, as_unit(r, plan)));
  const TdStmt *call;
  const TdUnit *design = apart(r, plan, &call);
  p = td_prog_insert(p, design, u->sym);
  const TdUnit *caller = td_lift_tidy(r, td_unit_with_body(r->store, u, with_call(r, plan, call)));
  return td_lift_in_order(r, td_prog_with(p, caller));
}

/* interface.c - arrays and passes of a program, read off its units. */
#include "analysis/net/interface.h"

/* The graph under construction. */
typedef struct Build {
  const TdAsk *ask;
  TdInterface *graph;
  const TdUnit *unit; /* at hand */
  TdMap number;       /* TdSym -> number of the array, from 1 */
} Build;

/* The number of an array, or UINT32_MAX. */
static uint32_t number_of(const Build *b, TdSym sym) {
  return (uint32_t)(uintptr_t)td_map_getp(&b->number, sym) - 1;
}

static void add_array(Build *b, TdPlace at, const TdType *type, TdAttrs attrs) {
  TdArena *a = b->ask->arena;
  TdInterface *g = b->graph;
  if (type->kind != TD_T_TENSOR) return;
  TdInterfaceArray x = {at, type, attrs, (uint32_t)g->banks.node.n};
  td_vec_push(a, &g->array, x);
  td_map_putp(a, &b->number, at.sym, (void *)(uintptr_t)g->array.n);
  for (int d = 0; d < type->rank; d++) {
    TdBanksNode n = {.extent = 0};
    if (!td_unit_value(at.unit, type->dim[d], &n.extent)) n.extent = 0;
    n.banks = td_banks_of(attrs, d, n.extent);
    td_vec_push(a, &g->banks.node, n);
  }
}

static bool take_local(void *ud, const TdStmt *s) {
  Build *b = ud;
  bool declares = s->kind == TD_STMT_LOCAL || s->kind == TD_STMT_GET || s->kind == TD_STMT_SLOT;
  if (declares && s->sym && s->type) add_array(b, (TdPlace){b->unit, s, s->sym}, s->type, s->attrs);
  return true;
}

static void take_arrays(Build *b) {
  const TdProg *p = b->ask->prog;
  for (size_t i = 0; i < p->nunit; i++) {
    const TdUnit *u = b->unit = p->unit[i];
    for (size_t k = 0; k < u->nparam; k++)
      add_array(b, (TdPlace){u, NULL, u->param[k].sym}, u->param[k].type, u->param[k].attrs);
    if (u->body) td_walk_stmt(p->store->session->ctx, u->body, take_local, b);
  }
}

/* How dimension d of the array that e is a view of becomes one of what is passed. */
static TdBanksLink link_of(const Build *b, const TdInterfaceArray *of, const TdExpr *e, uint32_t d,
                           bool given) {
  const TdViewDim *dim = &e->u.dim[d];
  int64_t lo, whole, part;
  const TdExpr *all = of->type->dim[d], *some = e->type->dim[dim->out];
  bool same = td_unit_value(b->unit, all, &whole) && td_unit_value(b->unit, some, &part)
                  ? whole == part
                  : td_lin_diff(b->ask->prog->store->session, all, some, &whole) && !whole;
  if (dim->step != 1) return TD_BANKS_STRIDED;
  if (!same || !td_expr_is_const(e->kid[d], &lo) || lo) return TD_BANKS_RANGE;
  return given ? TD_BANKS_FIXED : TD_BANKS_SAME;
}

/* Notes that the array which e is a view of is passed as parameter `as` of a unit. */
static void pass_view(Build *b, const TdUnit *callee, TdSym as, const TdExpr *e) {
  TdInterface *g = b->graph;
  uint32_t from = number_of(b, e->sym), to = number_of(b, as);
  if (e->kind != TD_EXPR_VIEW || from == UINT32_MAX || to == UINT32_MAX) return;
  const TdInterfaceArray *of = &g->array.at[from];
  TdInterfacePass pass = {.of = from, .as = to, .loc = e->loc, .first = (uint32_t)g->banks.edge.n};
  for (uint32_t d = 0; d < e->nkid; d++) {
    if (e->u.dim[d].out < 0) continue;
    TdBanksEdge edge = {of->first + d, g->array.at[to].first + (uint32_t)e->u.dim[d].out,
                        link_of(b, of, e, d, callee->kind == TD_UNIT_EXTERN)};
    td_vec_push(b->ask->arena, &g->banks.edge, edge);
    pass.n++;
  }
  td_vec_push(b->ask->arena, &g->pass, pass);
}

static bool take_call(void *ud, const TdStmt *s) {
  Build *b = ud;
  const TdUnit *callee = s->kind == TD_STMT_CALL ? td_prog_unit(b->ask->prog, s->sym) : NULL;
  for (uint32_t i = 0; callee && i < s->nexpr && i < callee->nparam; i++)
    pass_view(b, callee, callee->param[i].sym, s->expr[i]);
  return true;
}

/* Arguments of a design are what its tasks see, unless a layout cuts them. */
static void take_runs(Build *b) {
  TdSession *session = b->ask->prog->store->session;
  for (size_t r = 0; r < b->unit->nrun; r++) {
    const TdRun *run = &b->unit->run[r];
    const TdUnit *task = td_prog_unit(b->ask->prog, run->unit);
    for (size_t k = 0; k < run->nbind; k++) {
      uint32_t of = number_of(b, run->bind[k].arg);
      if (run->bind[k].layout || of == UINT32_MAX) continue;
      const TdExpr *all = td_expr_whole(session, b->ask->arena, run->bind[k].arg,
                                        b->graph->array.at[of].type, run->loc);
      pass_view(b, task, run->bind[k].param, all);
    }
  }
}

void td_interface_of(const TdAsk *q, TdInterface *out) {
  Build b = {.ask = q, .graph = out};
  *out = (TdInterface){0};
  take_arrays(&b);
  for (size_t i = 0; i < q->prog->nunit; i++) {
    b.unit = q->prog->unit[i];
    if (b.unit->body) td_walk_stmt(q->prog->store->session->ctx, b.unit->body, take_call, &b);
    take_runs(&b);
  }
}

uint32_t td_interface_array(const TdInterface *g, TdSym sym) {
  uint32_t i = 0;
  while (g->array.at[i].at.sym != sym) i++;
  return i;
}

const char *td_interface_name(TdArena *a, const TdInterface *g, uint32_t array) {
  const TdPlace *p = &g->array.at[array].at;
  return td_text_fmt(a, "%s:%s", p->unit->sym->name, p->sym->name);
}

/* The place where an array is declared. */
static TdLoc declared(const TdInterfaceArray *x) {
  return x->at.stmt ? x->at.stmt->loc : td_unit_param(x->at.unit, x->at.sym)->loc;
}

/* Says that edge e of a pass does not hold. */
static bool refuse(const TdAsk *q, const TdInterface *g, const TdInterfacePass *p,
                   const TdBanksEdge *e, TdDiag *d) {
  const TdInterfaceArray *of = &g->array.at[p->of], *as = &g->array.at[p->as];
  TdBanks has = g->banks.node.at[e->of].banks, need = td_banks_needed(&g->banks, e);
  int dim = (int)(e->of - of->first);
  td_diag_set(d, TD_ILLEGAL, "interface", p->loc,
              "'%s' of '%s' is %s in dimension %d, but is passed as '%s' of '%s', which needs %s",
              of->at.sym->name, of->at.unit->sym->name, td_banks_str(q->arena, has), dim,
              as->at.sym->name, as->at.unit->sym->name, td_banks_str(q->arena, need));
  td_diag_note(d, declared(as), "'%s' is %s in dimension %d", as->at.sym->name,
               td_banks_str(q->arena, g->banks.node.at[e->as].banks), (int)(e->as - as->first));
  TdBanks both = td_banks_meet(has, need, g->banks.node.at[e->of].extent);
  const char *options =
      both.kind == TD_BANKS_COMPLETE
          ? ""
          : td_text_fmt(q->arena, ", {kind = \"%s\", factor = %lld}",
                        both.kind == TD_BANKS_BLOCK ? "block" : "cyclic", (long long)both.n);
  td_diag_help(d, "one layout for both: s:partition(\"%s\", %d%s)",
               td_interface_name(q->arena, g, p->of), dim, options);
  return false;
}

/* Whether all edges of a pass hold. Arguments of a design are memory outside: their tasks say how
 * they lie. */
static bool check_pass(const TdAsk *q, const TdInterface *g, const TdInterfacePass *p, TdDiag *d) {
  if (g->array.at[p->of].at.unit->kind == TD_UNIT_DESIGN) return true;
  for (uint32_t i = p->first; i < p->first + p->n; i++) {
    TdBanksEdge e = g->banks.edge.at[i];
    if (e.link == TD_BANKS_SAME) e.link = TD_BANKS_FIXED;
    if (!td_banks_holds(&g->banks, &e)) return refuse(q, g, p, &e, d);
  }
  return true;
}

bool td_interface_check(const TdAsk *q, TdDiag *d) {
  TdInterface g;
  td_interface_of(q, &g);
  for (size_t i = 0; i < g.pass.n; i++)
    if (!check_pass(q, &g, &g.pass.at[i], d)) return false;
  return true;
}

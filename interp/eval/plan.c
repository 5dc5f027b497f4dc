/* plan.c - what is found once per program: a slot for every symbol, and which parameters are
 * written. */
#include "eval/machine.h"

typedef struct Builder {
  TdPlan *plan;
  TdUnitPlan *unit;
  TdCtx *ctx;
} Builder;

/* Gives sym the next slot of the unit. */
static void declare(Builder *b, TdSym sym) {
  b->unit->slot[sym->id] = (uint32_t)++b->unit->nslot;
}

/* Refuses, by escape, expressions too deep to be evaluated by recursion; looks for allreduce. */
static void visit_expr(Builder *b, const TdExpr *e) {
  td_ctx_enter(b->ctx);
  b->plan->meets |= e->kind == TD_EXPR_TENSOR && e->op == TD_OP_ALLREDUCE;
  for (uint32_t i = 0; i < e->nkid; i++) visit_expr(b, e->kid[i]);
  td_ctx_leave(b->ctx);
}

static void mark_written(Builder *b, TdSym sym) {
  uint32_t slot = b->unit->slot[sym->id];
  if (slot && slot <= b->unit->unit->nparam) b->unit->written[slot - 1] = true;
}

/* What a call writes through its parameters: of a foreign function without a model, all. */
static void visit_call(Builder *b, const TdStmt *s) {
  const TdUnitPlan *callee = td_plan_unit(b->plan, s->sym);
  for (uint32_t i = 0; i < s->nexpr; i++)
    if ((!callee || callee->written[i]) && s->expr[i]->kind == TD_EXPR_VIEW)
      mark_written(b, s->expr[i]->sym);
}

static bool visit(void *ud, const TdStmt *s) {
  Builder *b = ud;
  for (uint32_t i = 0; i < s->nexpr; i++) visit_expr(b, s->expr[i]);
  switch (s->kind) {
  case TD_STMT_FOR:
  case TD_STMT_LOCAL:
  case TD_STMT_SLOT: declare(b, s->sym); break;
  case TD_STMT_GET:
    if (s->sym) declare(b, s->sym);
    if (s->nexpr > 1) mark_written(b, s->expr[1]->sym);
    break;
  case TD_STMT_STORE:
  case TD_STMT_SET: mark_written(b, s->expr[0]->sym); break;
  case TD_STMT_CALL: visit_call(b, s); break;
  default: break;
  }
  return true;
}

/* What a design writes through its arguments. */
static void visit_runs(Builder *b) {
  const TdUnit *u = b->unit->unit;
  for (size_t r = 0; r < u->nrun; r++) {
    const TdUnitPlan *task = td_plan_unit(b->plan, u->run[r].unit);
    for (size_t i = 0; task && i < u->run[r].nbind; i++) {
      const TdRunArg *bind = &u->run[r].bind[i];
      uint32_t slot = task->slot[bind->param->id];
      if (slot && task->written[slot - 1]) mark_written(b, bind->arg);
    }
  }
}

TdPlan *td_plan_new(TdArena *a, const TdProg *p) {
  TdPlan *plan = TD_NEW(a, TdPlan);
  plan->prog = p;
  plan->unit = TD_NEWN(a, TdUnitPlan, p->nunit);
  for (size_t k = 0; k < p->nunit; k++) {
    const TdUnit *u = p->unit[k];
    Builder b = {plan, &plan->unit[k], td_arena_ctx(a)};
    b.unit->unit = u;
    b.unit->slot = TD_NEWN(a, uint32_t, p->store->next_sym);
    b.unit->written = TD_NEWN(a, bool, u->nparam);
    for (size_t i = 0; i < u->nparam; i++) declare(&b, u->param[i].sym);
    for (size_t i = 0; i < u->ncoord; i++) declare(&b, u->coord[i]);
    for (size_t i = 0; i < u->nstream; i++) declare(&b, u->stream[i].sym);
    if (u->body) td_walk_stmt(b.ctx, u->body, visit, &b);
    visit_runs(&b);
  }
  return plan;
}

const TdUnitPlan *td_plan_unit(const TdPlan *plan, TdSym unit) {
  for (size_t i = 0; i < plan->prog->nunit; i++) {
    const TdUnit *u = plan->prog->unit[i];
    if (u->sym != unit) continue;
    if (u->kind != TD_UNIT_EXTERN) return &plan->unit[i];
    return u->foreign && u->foreign->model ? td_plan_unit(plan, u->foreign->model) : NULL;
  }
  return NULL;
}

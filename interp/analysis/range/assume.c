/* assume.c - preconditions of callees: each is the caller's arguments put into the assumption, and
 * asked of what is known where the call stands. */
#include "analysis/range/assume.h"

#include "ir/subst.h"

/* The values of u's sizes in their place; false: one has none. */
static bool put_sizes(TdSubst *to, const TdUnit *u) {
  TdStore *st = to->store;
  for (size_t z = 0; z < u->nsize; z++) {
    if (!u->size[z].known) return false;
    td_subst_size(to, u->size[z].name,
                  td_expr_index(st->session, st->arena, u->size[z].value, u->loc));
  }
  return true;
}

/* Assumption i of u with the arguments of a call of it (NULL: none) for its parameters, and values
 * for its sizes; NULL: a size has none. Owned by st's arena. */
static const TdExpr *assumed_at(TdStore *st, const TdUnit *u, size_t i, const TdStmt *call) {
  TdSubst to = td_subst_new(st);
  if (!put_sizes(&to, u)) return NULL;
  for (size_t p = 0; call && p < u->nparam; p++)
    if (td_type_is_scalar(u->param[p].type)) td_subst_expr(&to, u->param[p].sym, call->expr[p]);
  return td_subst_in_expr(&to, u->assert_[i]);
}

/* Whether a condition is a constant that is true. */
static bool is_true(const TdExpr *e) {
  return e && e->kind == TD_EXPR_LIT && e->u.bits;
}

/* Whether the caller assumes e too, which may be beyond what can be proved. */
static bool is_assumed(TdStore *st, const TdUnit *caller, const TdExpr *e, bool at_values) {
  TdSubst to = td_subst_new(st);
  if (at_values && !put_sizes(&to, caller)) return false;
  for (size_t i = 0; i < caller->nassert; i++)
    if (td_equal_expr(td_subst_in_expr(&to, caller->assert_[i]), e)) return true;
  return false;
}

bool td_assume_holds(const TdAsk *q, const TdUnit *u, size_t i, const TdStmt *call,
                     bool at_values) {
  TdArena *a = td_arena_scratch(td_affine_ctx(q->affine));
  TdStore *st = td_store_inner(a, q->prog->store->session);
  const TdExpr *e = assumed_at(st, u, i, call);
  bool holds = is_true(e) || (e && (is_assumed(st, q->unit, e, at_values) ||
                                    td_range_holds(q, call, e, at_values) == TD_YES));
  td_arena_free(a);
  return holds;
}

/* A unit whose calls are looked at. */
typedef struct Open {
  const TdAsk *q;
  TdAsk caller; /* the unit being walked */
  bool *open;
} Open;

static bool look(void *ud, const TdStmt *s) {
  Open *k = ud;
  const TdUnit *u = k->q->unit;
  for (size_t i = 0; s->kind == TD_STMT_CALL && s->sym == u->sym && i < u->nassert; i++)
    k->open[i] = k->open[i] || !td_assume_holds(&k->caller, u, i, s, true);
  return true;
}

/* Whether assumption i of u follows from the values of its sizes. */
static bool is_of_sizes(const TdAsk *q, size_t i) {
  TdArena *a = td_arena_scratch(td_affine_ctx(q->affine));
  bool known = is_true(assumed_at(td_store_inner(a, q->prog->store->session), q->unit, i, NULL));
  td_arena_free(a);
  return known;
}

const bool *td_assume_open(const TdAsk *q) {
  const TdUnit *u = q->unit;
  Open k = {q, *q, TD_NEWN(q->arena, bool, u->nassert + 1)};
  bool task = td_prog_is_task(q->prog, u->sym);
  for (size_t i = 0; i < u->nassert; i++) k.open[i] = task && !is_of_sizes(q, i);
  for (size_t i = 0; u->nassert && i < q->prog->nunit; i++) {
    k.caller.unit = q->prog->unit[i];
    if (k.caller.unit->body) td_walk_stmt(td_affine_ctx(q->affine), k.caller.unit->body, look, &k);
  }
  return k.open;
}

/* nests.c - s:nests(): loops of which each holds nothing but the next, and what their bounds are
 * made of; those that are pipelined, and what these lay out side by side, are none. */
#include "bind/program/unit.h"
#include "history/schedule.h"
#include "ir/text/print.h"
#include "rewrite/util.h"

typedef struct Nests {
  lua_State *L; /* the list on top */
  TdArena *a;
  const TdProg *prog;
  const TdUnit *unit;
  lua_Integer n;
} Nests;

/* A loop with its iterations one after the other. */
static bool is_turned(const TdStmt *s) {
  return s->kind == TD_STMT_FOR && !td_attrs_get(s->attrs, TD_ATTR_UNROLL);
}

static bool is_pipelined(const TdStmt *s) {
  return s->kind == TD_STMT_FOR && td_attrs_get(s->attrs, TD_ATTR_PIPELINE);
}

static bool has_none(void *ud, const TdStmt *s) {
  return s == ud || !is_turned(s);
}

/* The loop that is the whole body of a loop, or of conditions on indices that are. */
static const TdStmt *next_of(const TdStmt *loop) {
  const TdStmt *s = td_util_whole_body(loop);
  return s && is_turned(s) ? s : NULL;
}

/* Whether a bound is a number, or a sum of variables and one: of one id in a task. */
static bool is_sum(const Nests *q, const TdExpr *e) {
  TdLin x = td_lin_of(q->prog->store->session, q->a, e);
  for (size_t i = 0; i < x.n; i++)
    if (x.term[i].atom->kind != TD_EXPR_VAR || x.term[i].coef != 1) return false;
  return true;
}

static bool is_no_choice(void *ud, const TdExpr *e) {
  (void)ud;
  return e->kind != TD_EXPR_OP || (e->op != TD_OP_MIN && e->op != TD_OP_MAX);
}

/* Appends {loop =, short =, plain =} to the list on top. short: it ends at a number, and begins at
 * one or at ids. plain: it begins at 0, and no min or max says where it ends. */
static void push_loop(Nests *q, const TdStmt *s, lua_Integer at) {
  int64_t lo, hi;
  bool zero = td_expr_is_const(td_for_lo(s), &lo) && lo == 0;
  lua_createtable(q->L, 0, 3);
  td_bind_set_string(q->L, "loop", td_cursor_spec(q->a, q->prog, q->unit, s));
  td_bind_set_boolean(q->L, "short",
                      td_expr_is_const(td_for_hi(s), &hi) && is_sum(q, td_for_lo(s)));
  td_bind_set_boolean(q->L, "plain", zero && td_walk_expr(td_for_hi(s), is_no_choice, NULL));
  lua_rawseti(q->L, -2, at);
}

/* Appends the nest that loop s begins, with the name of its unit, unless it is inside another. */
static bool look(void *ud, const TdStmt *s) {
  Nests *q = ud;
  TdCtx *c = td_arena_ctx(q->a);
  if (!is_turned(s)) return true;
  TdPath p = td_edit_path(q->a, q->unit->body, s->uid);
  for (size_t i = 0; i + 1 < p.n; i++)
    if (is_pipelined(p.at[i]) || (is_turned(p.at[i]) && next_of(p.at[i]) == s)) return true;
  const TdStmt *last = s;
  for (const TdStmt *x = s; x; x = next_of(x))
    if (is_pipelined(x)) return true;
  for (const TdStmt *x = s; x; x = next_of(x)) last = x;
  if (!td_walk_stmt(c, td_for_body(last), has_none, (void *)(uintptr_t)last)) return true;
  lua_createtable(q->L, 2, 1);
  td_bind_set_string(q->L, "unit", q->unit->sym->name);
  lua_Integer n = 0;
  for (const TdStmt *x = s; x; x = next_of(x)) push_loop(q, x, ++n);
  lua_rawseti(q->L, -2, ++q->n);
  return true;
}

int td_bind_nests(lua_State *L) {
  const TdProg *p = td_bind_check_schedule(L, 1)->now->prog;
  TdArena *a = td_bind_arena(L);
  lua_newtable(L);
  Nests q = {.L = L, .a = a, .prog = p};
  for (size_t i = p->nunit; i-- > 0;) {
    q.unit = p->unit[i];
    if (q.unit->body) td_walk_stmt(td_arena_ctx(a), q.unit->body, look, &q);
  }
  return 1;
}

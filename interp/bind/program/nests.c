/* nests.c - s:nests(): loops of which each holds nothing but the next, with their bounds; those
 * that are pipelined, and what these lay out side by side, are none. */
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

/* Sets a bound, a number or the text of what it is. */
static void set_bound(Nests *q, const char *key, const TdExpr *e) {
  int64_t v;
  if (td_expr_is_const(e, &v))
    td_bind_set_integer(q->L, key, v);
  else
    td_bind_set_string(q->L, key, td_print_expr_str(q->a, e));
}

/* Appends {loop =, lo =, hi =} to the list on top. */
static void push_loop(Nests *q, const TdStmt *s, lua_Integer at) {
  lua_createtable(q->L, 0, 3);
  td_bind_set_string(q->L, "loop", td_cursor_spec(q->a, q->prog, q->unit, s));
  set_bound(q, "lo", td_for_lo(s));
  set_bound(q, "hi", td_for_hi(s));
  lua_rawseti(q->L, -2, at);
}

/* The nest that loop s begins, unless it is inside another. */
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
  lua_createtable(q->L, 2, 0);
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

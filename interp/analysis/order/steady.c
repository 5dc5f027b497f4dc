/* steady.c - the loads of an expression against every write between its two places. Method: the
 * statements that can run between both are those of the innermost block that holds the two, from
 * the one to the other, or all of `from` if it is around `to`; the expression is read by a
 * statement
 * of its own outside of their loops, and must meet none of their writes at any iteration. */
#include "analysis/order/steady.h"

typedef struct Steady {
  const TdAsk *q;
  const TdStmt *root;
  TdVerdict v;
  TdSteady out;
} Steady;

static bool is_no_load(void *ud, const TdExpr *e) {
  (void)ud;
  return e->kind != TD_EXPR_LOAD && e->kind != TD_EXPR_VIEW;
}

/* The number of the statement s in block b, or its length. */
static size_t place_in(const TdStmt *b, const TdStmt *s) {
  size_t i = 0;
  while (i < b->nkid && b->kid[i] != s) i++;
  return i;
}

/* A block of the statements that can run between. */
static const TdStmt *region(TdStore *st, const TdAsk *q, const TdStmt *from, const TdStmt *to) {
  const TdStmt *body = q->unit->body;
  TdPath x = td_edit_path(q->arena, body, from->uid), y = td_edit_path(q->arena, body, to->uid);
  size_t level = 0;
  while (level + 1 < x.n && level + 1 < y.n && x.at[level + 1] == y.at[level + 1]) level++;
  const TdStmt *common = x.n ? x.at[level] : from;
  bool apart = level + 1 < x.n && level + 1 < y.n && common->kind == TD_STMT_BLOCK;
  if (!apart) return td_stmt_block(st, &common, 1, common->loc);
  size_t a = place_in(common, x.at[level + 1]), b = place_in(common, y.at[level + 1]);
  return td_edit_slice(st, common, a < b ? a : b, (a < b ? b : a) + 1);
}

/* Notes a write that meets a read of the expression. */
static bool look_conflict(void *ud, TdConflict *c) {
  Steady *s = ud;
  td_verdict_broken(&s->v, c, false);
  if (s->v.kind == TD_VERDICT_LEGAL) return true;
  const TdLeaf *l = c->y.was;
  const TdStmt *found = td_edit_find(td_affine_ctx(s->q->affine), s->root, l->uid);
  s->out = (TdSteady){.between = found ? found : l->stmt, .array = c->a->cell->sym};
  s->out.exact = s->v.kind == TD_VERDICT_ILLEGAL && s->v.exact;
  return false;
}

/* The pairs of a read, in leaves [0, reads), and a write behind them. */
static void check(Steady *s, const TdLeaves *l, const TdNest *context) {
  size_t reads = l->start[1];
  for (size_t i = 0; i < reads; i++)
    for (size_t j = reads; j < l->at.n && s->out.same; j++) {
      TdInstance x = {&l->at.at[i], &l->at.at[i], NULL}, y = {&l->at.at[j], &l->at.at[j], NULL};
      td_conflict_visit(s->q, l, context, x, y, look_conflict, s);
    }
}

TdSteady td_steady_at(const TdAsk *q, const TdExpr *e, const TdStmt *from, const TdStmt *to) {
  Steady s = {.q = q, .out = {.same = true}};
  if (td_walk_expr(e, is_no_load, NULL)) return s.out;
  TdSession *session = q->prog->store->session;
  TdArena *a = td_arena_scratch(td_affine_ctx(q->affine));
  TdStore *st = td_store_inner(a, session);
  TdSpace *space = td_access_space(a);
  s.root = region(st, q, from, to);
  TdSym v = td_store_sym(st, "value", TD_SYM_LOCAL);
  const TdStmt *probe = td_stmt_local(st, v, e->type, TD_INIT_VALUE, e, from->loc);
  TdNestMaker m = {session, space, &(TdEnv){.unit = q->unit}};
  const TdNest *context = td_nest_context(&m, s.root->nkid ? s.root->kid[0] : s.root);
  const TdLeaves *l = td_access_list(q, space, (const TdStmt *[]){probe, s.root}, 2);
  check(&s, l, context);
  td_arena_free(a);
  return s.out;
}

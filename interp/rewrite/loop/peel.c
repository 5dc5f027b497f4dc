/* peel.c - peel: the first or the last iterations of a loop become a loop of their own. */
#include <string.h>

#include "rewrite/copied.h"
#include "rewrite/util.h"

enum { LOOP, COUNT, AT };
enum { MOST_PEELED = 1 << 20 };

/* What a peel is about. */
typedef struct Peel {
  TdRewrite *r;
  const TdUnit *unit;
  const TdStmt *loop;
  int64_t n;
  bool end;
  const TdExpr
      *cut; /* where one loop ends and the other begins, if the loop runs n times or more */
} Peel;

/* Whether x <= y at the loop, for all sizes. */
static bool is_below(const Peel *p, const TdExpr *x, const TdExpr *y) {
  TdRewrite *r = p->r;
  TdAsk q = td_util_ask(r, p->unit);
  const TdExpr *e = td_expr_op2(r->arena, TD_OP_LE, td_type_bool(r->session), x, y);
  return td_range_holds(&q, p->loop, e, false) == TD_YES;
}

/* lo + n * step, or lo + (trip - n) * step. */
static const TdExpr *cut_of(const Peel *p) {
  TdRewrite *r = p->r;
  TdArena *a = r->store->arena;
  const TdExpr *count = td_util_const(r, p->n), *lo = td_for_lo(p->loop);
  if (p->end) count = td_lin_minus(r->session, a, td_util_trip(r, p->loop), count);
  return td_lin_plus(r->session, a, lo, td_lin_times(r->session, a, count, p->loop->step));
}

/* The loop that was peeled off, with variable v over [lo, hi). Where the old loop may be shorter
 * than it, its range ends (begins) where the old one does: by a min or max, or where that would be
 * one of sizes, by a guard. */
static const TdStmt *make_peeled(const Peel *p, TdSym v) {
  TdRewrite *r = p->r;
  TdArena *a = r->store->arena;
  const TdStmt *body = td_util_copy(r, p->unit, td_for_body(p->loop));
  TdSubst u = td_subst_new(r->store);
  td_subst_expr(&u, p->loop->sym, td_util_var(r, v));
  body = td_subst_in_stmt(&u, body);
  const TdExpr *lo = p->end ? p->cut : td_for_lo(p->loop);
  const TdExpr *hi = p->end ? td_for_hi(p->loop) : p->cut;
  const TdExpr *own = p->end ? td_for_lo(p->loop) : td_for_hi(p->loop);
  bool whole = p->end ? is_below(p, own, p->cut) : is_below(p, p->cut, own);
  bool varies = td_util_varies(own) || td_util_varies(p->cut);
  if (!whole && varies) {
    const TdExpr **bound = p->end ? &lo : &hi;
    *bound = td_expr_op2(a, p->end ? TD_OP_MAX : TD_OP_MIN, td_type_index(r->session), own, p->cut);
  }
  if (!whole && !varies) {
    const TdExpr *x = td_util_var(r, v), *b = td_util_written_out(a, own);
    const TdExpr *inside = td_expr_op2(a, p->end ? TD_OP_LE : TD_OP_LT, td_type_bool(r->session),
                                       p->end ? b : x, p->end ? x : b);
    body = td_util_block1(r, td_stmt_if(r->store, inside, body, NULL, p->loop->loc));
  }
  const TdStmt *loop = td_stmt_for(r->store, v, lo, hi, p->loop->step, body, p->loop->loc);
  return td_stmt_with_attrs(r->store, loop, p->loop->attrs);
}

static bool check(Peel *p) {
  TdRewrite *r = p->r;
  TdLoc at = p->loop->loc;
  int64_t n;
  const char *name = p->loop->sym->name;
  if (p->n < 1 || p->n > MOST_PEELED)
    return td_util_refuse(r, TD_USAGE, "count", at, "peels 1 to %d iterations, not %lld",
                          MOST_PEELED, (long long)p->n);
  if (td_unit_value(p->unit, td_util_trip(r, p->loop), &n) && p->n > n)
    return td_util_refuse(r, TD_USAGE, "count", at, "'%s' runs %lld times: %lld are not in it",
                          name, (long long)(n > 0 ? n : 0), (long long)p->n);
  if (td_util_leaves_by_break(td_for_body(p->loop)))
    return td_util_refuse(r, TD_ILLEGAL, "break", at,
                          "'%s' is left by break, which would leave only one of two loops", name);
  return td_copied_bounds(r, p->unit, p->loop, true);
}

static const TdProg *apply(TdRewrite *r) {
  TdPlace at;
  if (!td_util_loop(r, LOOP, &at)) return NULL;
  Peel p = {.r = r, .unit = at.unit, .loop = at.stmt, .n = r->arg[COUNT].integer};
  p.end = r->arg[AT].given && strcmp(r->arg[AT].text, "end") == 0;
  if (!check(&p)) return NULL;
  p.cut = cut_of(&p);
  TdSym v = td_util_loop_var(r, p.unit, td_text_fmt(r->arena, "%s_p", p.loop->sym->name));
  const TdStmt *peeled = make_peeled(&p, v);
  const TdStmt *rest =
      td_util_reloop(r, p.loop, p.loop->sym, p.end ? td_for_lo(p.loop) : p.cut,
                     p.end ? p.cut : td_for_hi(p.loop), p.loop->step, td_for_body(p.loop));
  const TdStmt *parts[] = {p.end ? rest : peeled, p.end ? peeled : rest};
  return td_util_with_stmts(r, p.unit, p.loop->uid, parts, 2);
}

const TdPrim td_prim_peel = {
    .name = "peel",
    .on = "loop",
    .summary = "Give the first or the last iterations of a loop a loop of their own.",
    .args = {{"loop", TD_ARG_LOOP, TD_ARG_NEEDED, "the loop", NULL},
             {"n", TD_ARG_INT, TD_ARG_NEEDED, "how many iterations", NULL},
             {"at", TD_ARG_WORD, TD_ARG_OPTION, "which of them", "start|end"}},
    .rewrite = "for i in a..b: S  =>  for i_p in a..a+n: S[i := i_p]; for i in a+n..b: S",
    .legal = "always, in a loop that is not left by break and does not write its own bounds; where "
             "it may be shorter, the new loop ends with it",
    .errors = "count break bound-written",
    .example = "s:peel(\"k\", 1)",
    .apply = apply,
};

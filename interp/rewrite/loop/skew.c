/* skew.c - skew: the range of an inner loop moves with the outer one (loop skewing, Wolfe). */
#include "rewrite/loop/moved.h"

enum { OUTER, INNER, AMOUNT };

static const TdProg *apply(TdRewrite *r) {
  TdPlace outer, inner;
  int64_t n;
  if (!td_util_loop(r, OUTER, &outer) || !td_util_loop(r, INNER, &inner)) return NULL;
  TdPath p = td_edit_path(r->arena, td_for_body(outer.stmt), inner.stmt->uid);
  if (!p.n)
    return td_util_refuse(r, TD_ILLEGAL, "not-a-nest", inner.stmt->loc, "'%s' is not inside '%s'",
                          inner.stmt->sym->name, outer.stmt->sym->name);
  if (!td_moved_amount(r, AMOUNT, inner.stmt->loc, &n)) return NULL;
  const TdExpr *by = td_lin_times(r->session, r->store->arena, td_util_var(r, outer.stmt->sym), n);
  const TdStmt *loop = td_moved_loop(r, inner.stmt, by);
  return td_util_with_stmt(r, inner.unit, inner.stmt->uid, loop);
}

const TdPrim td_prim_skew = {
    .name = "skew",
    .on = "loop",
    .summary = "Move the range of an inner loop with the outer one.",
    .args = {{"outer", TD_ARG_LOOP, TD_ARG_NEEDED, "the loop that it moves with", NULL},
             {"inner", TD_ARG_LOOP, TD_ARG_NEEDED, "the loop whose range moves", NULL},
             {"n", TD_ARG_INT, TD_ARG_NEEDED, "how far for each step of outer", NULL}},
    .rewrite = "for i: for j in a..b: S  =>  for i: for j in a+n*i..b+n*i: S[j := j-n*i]",
    .legal =
        "always: the same iterations in the same order; reorder may then turn the loops, which "
        "makes wavefronts",
    .errors = "not-a-nest amount",
    .example = "s:skew(\"i\", \"k\", 1)",
    .apply = apply,
};

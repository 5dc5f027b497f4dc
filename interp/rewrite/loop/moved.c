/* moved.c - a loop over a range that lies elsewhere: its variable is replaced by itself less the
 * distance. */
#include "rewrite/loop/moved.h"

#define MOST_MOVED (INT64_C(1) << 30)

const TdStmt *td_moved_loop(TdRewrite *r, const TdStmt *loop, const TdExpr *by) {
  TdArena *a = r->store->arena;
  const TdExpr *was = td_lin_minus(r->session, a, td_util_var(r, loop->sym), by);
  TdSubst u = td_subst_new(r->store);
  td_subst_expr(&u, loop->sym, td_util_written_out(a, was));
  const TdExpr *lo = td_lin_plus(r->session, a, td_for_lo(loop), by);
  const TdExpr *hi = td_lin_plus(r->session, a, td_for_hi(loop), by);
  const TdStmt *body = td_subst_in_stmt(&u, td_for_body(loop));
  return td_util_reloop(r, loop, loop->sym, lo, hi, loop->step, body);
}

bool td_moved_amount(TdRewrite *r, int i, TdLoc at, int64_t *n) {
  *n = r->arg[i].integer;
  if (*n != 0 && *n > -MOST_MOVED && *n < MOST_MOVED) return true;
  td_util_refuse(r, TD_USAGE, "amount", at,
                 *n ? "%lld is too far: at most 2^30" : "%lld changes nothing", (long long)*n);
  return false;
}

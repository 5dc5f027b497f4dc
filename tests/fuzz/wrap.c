/* wrap.c - two legality answers that can be overruled. The linker turns their calls to the
   functions below (--wrap), so the product holds no such door. */
#include "tests/fuzz/wrap.h"

#include "analysis/verdict.h"
#include "rewrite/util.h"

bool wrap_forcing, wrap_forcing_parallel;

bool __real_td_verdict_accept(const TdVerdict *v, bool reassociate, TdDiag *d, TdLoc loc,
                              const char *what);
bool __wrap_td_verdict_accept(const TdVerdict *v, bool reassociate, TdDiag *d, TdLoc loc,
                              const char *what);
TdVerdict __real_td_carry_loop(const TdAsk *q, const TdStmt *loop);
TdVerdict __wrap_td_carry_loop(const TdAsk *q, const TdStmt *loop);
bool __real_td_util_same_value(TdRewrite *r, const TdUnit *u, const TdStmt *at, const TdExpr *x,
                               const TdExpr *y, const TdExpr **fact);
bool __wrap_td_util_same_value(TdRewrite *r, const TdUnit *u, const TdStmt *at, const TdExpr *x,
                               const TdExpr *y, const TdExpr **fact);

/* "Is this order kept?": yes while forcing. */
bool __wrap_td_verdict_accept(const TdVerdict *v, bool reassociate, TdDiag *d, TdLoc loc,
                              const char *what) {
  return wrap_forcing || __real_td_verdict_accept(v, reassociate, d, loc, what);
}

/* "Does this loop carry a dependence?": no while forcing. */
TdVerdict __wrap_td_carry_loop(const TdAsk *q, const TdStmt *loop) {
  return wrap_forcing_parallel ? (TdVerdict){0} : __real_td_carry_loop(q, loop);
}

/* "Are these bounds equal?": yes while forcing. */
bool __wrap_td_util_same_value(TdRewrite *r, const TdUnit *u, const TdStmt *at, const TdExpr *x,
                               const TdExpr *y, const TdExpr **fact) {
  *fact = NULL;
  return wrap_forcing || __real_td_util_same_value(r, u, at, x, y, fact);
}

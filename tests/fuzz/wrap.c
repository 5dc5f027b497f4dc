/* wrap.c - legality answers that can be overruled, and work that is counted. The linker turns the
 * calls to the functions below (--wrap), so the product holds no such door. */
#include "tests/fuzz/wrap.h"

#include "analysis/order/verdict.h"
#include "rewrite/util.h"

bool wrap_forcing, wrap_forcing_parallel, wrap_blind;
uint64_t wrap_work;

bool __real_td_verdict_accept(const TdVerdict *v, bool reassociate, TdDiag *d, TdLoc loc,
                              const char *what);
bool __wrap_td_verdict_accept(const TdVerdict *v, bool reassociate, TdDiag *d, TdLoc loc,
                              const char *what);
TdVerdict __real_td_loop_carried_loop(const TdAsk *q, const TdStmt *loop);
TdVerdict __wrap_td_loop_carried_loop(const TdAsk *q, const TdStmt *loop);
bool __real_td_util_same_value(TdRewrite *r, const TdUnit *u, const TdStmt *at, const TdExpr *x,
                               const TdExpr *y, const TdExpr **fact);
bool __wrap_td_util_same_value(TdRewrite *r, const TdUnit *u, const TdStmt *at, const TdExpr *x,
                               const TdExpr *y, const TdExpr **fact);

void __real_td_ctx_tick(TdCtx *c, uint64_t n);
void __wrap_td_ctx_tick(TdCtx *c, uint64_t n);

void __wrap_td_ctx_tick(TdCtx *c, uint64_t n) {
  wrap_work += n;
  __real_td_ctx_tick(c, n);
}

/* "Is this order kept?": yes while forcing, and when blind. */
bool __wrap_td_verdict_accept(const TdVerdict *v, bool reassociate, TdDiag *d, TdLoc loc,
                              const char *what) {
  return wrap_forcing || wrap_blind || __real_td_verdict_accept(v, reassociate, d, loc, what);
}

/* "Does this loop carry a dependence?": no while forcing. */
TdVerdict __wrap_td_loop_carried_loop(const TdAsk *q, const TdStmt *loop) {
  return wrap_forcing_parallel ? (TdVerdict){0} : __real_td_loop_carried_loop(q, loop);
}

/* "Are these bounds equal?": yes while forcing. */
bool __wrap_td_util_same_value(TdRewrite *r, const TdUnit *u, const TdStmt *at, const TdExpr *x,
                               const TdExpr *y, const TdExpr **fact) {
  *fact = NULL;
  return wrap_forcing || __real_td_util_same_value(r, u, at, x, y, fact);
}

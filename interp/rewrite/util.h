/* util.h - what primitives share: finding things, loop headers, nests, notes, refusals. */
#ifndef TD_UTIL_H
#define TD_UTIL_H

#include "analysis/order/loop_carried.h"
#include "analysis/order/deps.h"
#include "analysis/order/effects.h"
#include "analysis/range/footprint.h"
#include "analysis/range/range.h"
#include "rewrite/prim.h"

/* The query context of unit u. */
TdAsk td_util_ask(const TdRewrite *r, const TdUnit *u);

/* The loop that argument i names. */
bool td_util_loop(TdRewrite *r, int i, TdPlace *out);

/* Refuses: fills r->diag and returns NULL. */
const TdProg *td_util_refuse(TdRewrite *r, TdDiagKind kind, const char *code, TdLoc loc,
                             const char *fmt, ...) TD_PRINTF(5, 6);

/* Programs with unit u's body, or one statement in it, replaced. */
const TdProg *td_util_with_body(TdRewrite *r, const TdUnit *u, const TdStmt *body);
const TdProg *td_util_with_stmt(TdRewrite *r, const TdUnit *u, uint32_t uid, const TdStmt *now);
const TdProg *td_util_with_stmts(TdRewrite *r, const TdUnit *u, uint32_t uid,
                                 const TdStmt *const *now, size_t n);
/* u with one more assumption. */
const TdUnit *td_util_assume(TdRewrite *r, const TdUnit *u, const TdExpr *fact);

/* u with the values of all sizes that `part`, of whose fields it may have a few, names assumed: the
 * step relies on them. */
const TdUnit *td_util_assume_sizes(TdRewrite *r, const TdUnit *u, const TdUnit *part);

/* A name for what is made in unit u, which nothing in it has and no other thing made in this step
 * gets: `given` by the user, or (NULL) `want`, or want_1.. NULL with r->diag filled when what was
 * given cannot be used. */
const char *td_util_name(TdRewrite *r, const TdUnit *u, const char *given, const char *want);
/* s with such names for what it declares, in new symbols. */
const TdStmt *td_util_rename(TdRewrite *r, const TdUnit *u, const TdStmt *s);
/* A copy of s, from unit u, for use in u too: fresh uids, symbols and names. */
const TdStmt *td_util_copy(TdRewrite *r, const TdUnit *u, const TdStmt *s);
/* How often a loop runs, ceil((hi - lo) / step): where that is not positive, it does not run. */
const TdExpr *td_util_trip(TdRewrite *r, const TdStmt *loop);
/* Whether x == y at the statement `at` of u for all sizes; if only at the unit's values, the fact
 * that makes them so is in *fact (else NULL). */
bool td_util_same_value(TdRewrite *r, const TdUnit *u, const TdStmt *at, const TdExpr *x,
                        const TdExpr *y, const TdExpr **fact);
/* Expressions that a bound is the greatest, or the least, of. */
typedef TD_VEC(const TdExpr *) TdParts;
/* What e is the greatest (op MAX) or the least (MIN) of: of max(a, b) // 2 + c it is a // 2 + c and
 * b // 2 + c; e alone of what is neither, and of a sum of several. */
TdParts td_util_parts(const TdRewrite *r, const TdExpr *e, TdOp op);

/* Whether e depends on more than sizes. Bounds that do not must be affine: a min or max of sizes
 * would load as its value. */
bool td_util_varies(const TdExpr *e);

/* A fresh loop variable called like `want`; noted as made. */
TdSym td_util_loop_var(TdRewrite *r, const TdUnit *u, const char *want);
/* v as an expression. */
const TdExpr *td_util_var(TdRewrite *r, TdSym v);
const TdExpr *td_util_const(TdRewrite *r, int64_t v);
/* e as it must be written where its type counts, in a local: with a cast that a store implies. */
const TdExpr *td_util_written(TdArena *a, const TdExpr *e);
/* e with all casts that an index implies written, as it must stand outside of bounds and indices:
 * there data would be computed as data. */
const TdExpr *td_util_written_out(TdArena *a, const TdExpr *e);
/* s under a condition on indices; s itself without one (NULL). */
const TdStmt *td_util_guard(TdRewrite *r, const TdExpr *cond, const TdStmt *s);

/* Whether e is made of loop variables, sizes and parameters, without data. */
bool td_util_is_steady(const TdExpr *e);
/* Whether s is `if cond then .. end` with a condition of loop variables, sizes and parameters. */
bool td_util_is_guard(const TdStmt *s);
/* What is the whole body of a loop, or of guards that are: NULL where it is several statements. */
const TdStmt *td_util_whole_body(const TdStmt *loop);

/* Whether a break below s leaves the loop around s (not one inside it). */
bool td_util_leaves_by_break(const TdStmt *s);

/* Loop s with other bounds, step, variable, body; the rest (uid, attributes) as it was. */
const TdStmt *td_util_reloop(TdRewrite *r, const TdStmt *s, TdSym v, const TdExpr *lo,
                             const TdExpr *hi, int64_t step, const TdStmt *body);
/* Whether a block declares something that lasts to its end. */
bool td_util_declares(const TdStmt *block);
/* A block of one statement. */
const TdStmt *td_util_block1(TdRewrite *r, const TdStmt *s);
/* s with attribute x set. */
const TdStmt *td_util_mark(TdRewrite *r, const TdStmt *s, TdAttr x);

/* Notes a name for the caller, and a remark for the user. */
void td_util_made(TdRewrite *r, const char *name);
void td_util_note(TdRewrite *r, const char *fmt, ...) TD_PRINTF(2, 3);

#endif

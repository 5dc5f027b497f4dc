/* stp_expr.h - extents and metrics of STeP: sums of products of symbols, x // c, ceil(x / c) and
 * [x > 0], canonical and interned. Equal expressions of one table are equal pointers. */
#ifndef TD_STP_EXPR_H
#define TD_STP_EXPR_H

#include "base/base.h"

typedef enum { TD_STP_SYMBOL, TD_STP_FLOOR, TD_STP_CEIL, TD_STP_POSITIVE } TdStpAtomKind;

typedef struct TdStpExpr TdStpExpr;

/* A factor: a symbol, of // by, ceil(of / by), [of > 0]. Interned. */
typedef struct TdStpAtom {
  TdStpAtomKind kind;
  uint32_t id;
  const char *name;
  const TdStpExpr *of;
  int64_t by;
} TdStpAtom;

/* coef * atom[0] * atom[1] .., atoms in ascending order. */
typedef struct TdStpTerm {
  int64_t coef;
  uint32_t n;
  const TdStpAtom *const *atom;
} TdStpTerm;

/* A sum of terms with different factors, in ascending order; none: 0. */
struct TdStpExpr {
  uint32_t id;
  size_t n;
  const TdStpTerm *term;
};

typedef struct TdStpExprs TdStpExprs;
/* An empty table in arena a. */
TdStpExprs *td_stp_expr_table(TdArena *a);

/* A number; a symbol. */
const TdStpExpr *td_stp_expr_const(TdStpExprs *x, int64_t v);
const TdStpExpr *td_stp_expr_symbol(TdStpExprs *x, const char *name);
/* Coefficients beyond 64 bits saturate. */
const TdStpExpr *td_stp_expr_sum(TdStpExprs *x, const TdStpExpr *const *part, size_t n);
const TdStpExpr *td_stp_expr_add(TdStpExprs *x, const TdStpExpr *a, const TdStpExpr *b);
const TdStpExpr *td_stp_expr_mul(TdStpExprs *x, const TdStpExpr *a, const TdStpExpr *b);
const TdStpExpr *td_stp_expr_scale(TdStpExprs *x, const TdStpExpr *a, int64_t by);
/* a // by, ceil(a / by), by >= 1; [a > 0]. Extents are never negative. */
const TdStpExpr *td_stp_expr_floor(TdStpExprs *x, const TdStpExpr *a, int64_t by);
const TdStpExpr *td_stp_expr_ceil(TdStpExprs *x, const TdStpExpr *a, int64_t by);
const TdStpExpr *td_stp_expr_positive(TdStpExprs *x, const TdStpExpr *a);

/* Whether e is a number, which it then is. */
bool td_stp_expr_is_const(const TdStpExpr *e, int64_t *v);
/* Whether every coefficient of e is a multiple of c. */
bool td_stp_expr_divides(const TdStpExpr *e, int64_t c);

/* What a symbol is worth: false where it stays. */
typedef bool (*TdStpLookup)(void *ud, const char *name, int64_t *v);
/* e with the symbols that have a value replaced by it. */
const TdStpExpr *td_stp_expr_at(TdStpExprs *x, const TdStpExpr *e, TdStpLookup f, void *ud);

/* As Lua: "64 * D0 + 2 * ceil(D1 / 4)"; [x > 0] is "positive(x)". */
void td_stp_expr_print(TdText *out, const TdStpExpr *e);
const char *td_stp_expr_str(TdArena *a, const TdStpExpr *e);

#endif

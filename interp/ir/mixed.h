/* mixed.h - indices beside integers: what an operator makes of operands of both kinds. */
#ifndef TD_IR_MIXED_H
#define TD_IR_MIXED_H

#include "ir/lin.h"

/* Integer expression e as an index: the conversion goes down to what is not arithmetic. */
const TdExpr *td_mixed_as_index(TdSession *s, TdArena *a, const TdExpr *e);
/* e as data: an index becomes an int(32) (proved to fit when its unit is checked). */
const TdExpr *td_mixed_as_data(TdSession *s, TdArena *a, const TdExpr *e);
/* Converts operands [first, n) of op, in place, if indices are among them and others: a comparison
 * with integers that an index holds is one of indices, all else is of data. */
void td_mixed_operands(TdSession *s, TdArena *a, TdOp op, const TdExpr **e, int first, int n);

#endif

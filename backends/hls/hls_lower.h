/* hls_lower.h - a program as HLS C++ can say it. */
#ifndef TD_HLS_LOWER_H
#define TD_HLS_LOWER_H

#include "ir/ir.h"

/* p with every call passing whole arrays or leading rows of them, all state declared in the root,
   and foreign units replaced by their models. The result is in a store of its own that a releases.
   NULL with d filled: there are streams, or foreign units without a model. */
const TdProg *td_hls_lower_prog(TdArena *a, const TdProg *p, TdDiag *d);

/* Whether a view is rows (or all) of an array of type t: indices first, then whole dimensions. */
bool td_hls_lower_is_rows(const TdExpr *view, const TdType *t);

#endif

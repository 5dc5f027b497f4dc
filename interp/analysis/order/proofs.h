/* proofs.h - attributes of loops that state what was proved: parallel, dep. */
#ifndef TD_ANALYSIS_ORDER_PROOFS_H
#define TD_ANALYSIS_ORDER_PROOFS_H

#include "affine/access.h"

/* Whether attribute x of a loop states a proof. */
bool td_proofs_has(const TdAttr *x);
/* Whether iterations of a loop may run side by side. One that puts to or gets from a stream may
 * not, though no two meet at one: in another order tasks may wait for each other. Else d says why.
 */
bool td_proofs_parallel(const TdAsk *q, const TdStmt *loop, TdDiag *d);
/* Whether what attribute x of a loop of q->unit states is so; what states no proof is. */
bool td_proofs_holds(const TdAsk *q, const TdStmt *loop, const TdAttr *x);
/* Whether all loops of q->unit keep what their attributes state; else d says which does not, with
 * the instances that show it. */
bool td_proofs_check(const TdAsk *q, TdDiag *d);

#endif

/* layouts.h - how tensor values lie over a task's map, and which of them are parts of sums that are
 * still to be added up. Dato, Fig. 6. */
#ifndef TD_LAYOUTS_H
#define TD_LAYOUTS_H

#include "affine/access.h"

/* Whether the tensor expressions of all tasks of the design (q's root) fit their layouts; else d:
   "pending-sum" (a part is stored as if it were the sum, or goes where only the sum may go) or
   "layout-mismatch". What comes out of streams and loops has no known layout, and fits. */
bool td_layouts_check(const TdAsk *q, TdDiag *d);

#endif

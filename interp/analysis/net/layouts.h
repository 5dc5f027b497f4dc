/* layouts.h - how tensor values lie over a task's map, and which of them are parts of sums that are
 * still to be added up. Dato, Fig. 6. */
#ifndef TD_ANALYSIS_NET_LAYOUTS_H
#define TD_ANALYSIS_NET_LAYOUTS_H

#include "ir/ir.h"

/* Whether the tensor expressions of all tasks of the design (p's root) fit their layouts; else d:
 * "pending-sum" (a part is stored as if it were the sum, or goes where only the sum may go) or
 * "layout-mismatch". What comes out of streams and loops has no known layout, and fits. */
bool td_layouts_check(const TdProg *p, TdDiag *d);

/* The axes of the map over which the operand of each allreduce is pending, one bit each, by
 * expression; those of which that is not known are left out. The map is a's. */
TdMap td_layouts_axes(TdArena *a, const TdProg *p);

#endif

/* complete.h - what moves data: a design whose cores touch arguments, with the tasks that copy. */
#ifndef TD_DRIVE_COMPLETE_H
#define TD_DRIVE_COMPLETE_H

#include "ir/ir.h"

/* p, a design, in which tasks on cores touch no argument: each goes through a local, whose copies
 * are tasks on the host (isolate), and other tokens than blocks go between no two tasks (bundle,
 * chain). `columns`, if it is not 0: as few streams as can be (coalesce, merge), handed out from so
 * many columns. Owned by a, like *steps, the lines that a user would write for it ("" for a design
 * that lacks nothing). What stands in the way is left to those who validate. */
const TdProg *td_complete_prog(TdArena *a, const TdProg *p, int columns, const char **steps);

#endif

/* complete.h - what moves data: a design whose cores touch arguments, with the tasks that copy. */
#ifndef TD_DRIVE_COMPLETE_H
#define TD_DRIVE_COMPLETE_H

#include "ir/ir.h"

/* What is tried where there is a choice. */
typedef struct TdCompleteWay {
  int columns; /* not 0: as few streams as can be (coalesce, merge), handed out from so many */
  bool whole;  /* a core holds all that it touches of an argument, where that is small enough;
                * otherwise what an iteration does */
  bool join;   /* operands of one type that the host sends a core come by one stream */
  bool pass;   /* what a core has no ports for comes by way of another */
} TdCompleteWay;

/* p, a design, in which tasks on cores touch no argument: each goes through a local, whose copies
 * are tasks on the host (isolate), and other tokens than blocks go between no two tasks (bundle,
 * chain). Owned by a, like *steps, the lines that a user would write for it ("" for a design that
 * lacks nothing). What stands in the way is left to those who validate. */
const TdProg *td_complete_prog(TdArena *a, const TdProg *p, TdCompleteWay way, const char **steps);

#endif

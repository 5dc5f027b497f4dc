/* collective.h - collectives as tasks and streams of their own. Dato, 3.3 and Fig. 7. */
#ifndef TD_LOWER_COLLECTIVE_H
#define TD_LOWER_COLLECTIVE_H

#include "ir/ir.h"

/* p with each allreduce of its tasks made explicit, as far as it can be: the instances that take
 * part put their parts into streams to a task `<task>_allreduce`, which adds them up in the order
 * of ids and sends each the sum; or, where the task ends by storing the sum, stores it itself. An
 * allreduce under control that data decides stays as it is, and so does one of a kernel that
 * several tasks run. p itself when nothing changes; new nodes are owned by p's store. */
const TdProg *td_collective_expand(const TdProg *p);
/* p with each allreduce told the axes of the map that it combines over: those over which its
 * operand is pending. One of which that is not known keeps all axes. */
const TdProg *td_collective_settle(const TdProg *p);
/* Whether some task of p has an allreduce. */
bool td_collective_is_in(const TdProg *p);

#endif

/* isomorphic.h - whether nodes of a task graph may take turns on one: identical computation and
 * I/O, and no way along streams from one to another. Dato 4.2, 4.3. */
#ifndef TD_REWRITE_TASK_ISOMORPHIC_H
#define TD_REWRITE_TASK_ISOMORPHIC_H

#include "rewrite/task/mapping.h"

/* Whether two nodes do the same statements (of kernels that are the same up to names), and move as
 * many tokens of equal types; else the diag says what differs. */
bool td_isomorphic_nodes(const TdMapping *m, uint32_t x, uint32_t y);

/* Whether none of n nodes feeds another, straight or by way of others; else the diag names the way.
 * `mark` has an entry for each node of the graph, all false. */
bool td_isomorphic_apart(const TdMapping *m, const uint32_t *node, size_t n, bool *mark);

#endif

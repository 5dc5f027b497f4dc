/* merge_tasks.h - two tasks of a design as one, which does the work of the first and then that of
 * the
 * second. */
#ifndef TD_REWRITE_TASK_MERGE_TASKS_H
#define TD_REWRITE_TASK_MERGE_TASKS_H

#include "rewrite/task/mapping.h"

typedef struct TdSequence {
  const TdMapping *m;
  const TdRun *first, *second; /* maps of equal extents: instances pair up by their ids */
  const TdUnit *kernel[2];
  bool weave; /* loops that hand over token by token become one, as far as they agree */
  bool alike; /* set: they hand over nothing, and loops of both whose extents sizes
               * decide became one nest */
} TdSequence;

/* Sets the kernels; false with the diag filled when the first returns in its middle, or both call
 * what keeps a state, or a kernel is used elsewhere too. */
bool td_merge_tasks_check(TdSequence *q);

/* The program with the two tasks as one, named as the first. Streams from instances of the first
 * to their partners are local buffers then, where a loop nest tells which token is which. */
const TdProg *td_merge_tasks_put(TdSequence *q);

#endif

/* stages.h - consecutive statements of a block become tasks, the arrays between them streams of
 * blocks. */
#ifndef TD_REWRITE_TASK_STAGES_H
#define TD_REWRITE_TASK_STAGES_H

#include "rewrite/task/network.h"

/* Statements [lo, hi) of a block of `unit`: the unit's body, or the body of `loop`, which each task
 * then runs for itself. */
typedef struct TdStages {
  TdRewrite *r;
  const TdUnit *unit;
  const TdStmt *block, *loop; /* loop: NULL for the unit's body */
  size_t lo, hi;
  const TdStream *stream; /* streams that the statements use already */
  size_t nstream;
} TdStages;

/* r->prog with a design in their place. A local tensor that one stage writes and later ones read
 * becomes a stream of blocks for each of these; a tensor of one stage goes there; anything else
 * that one stage writes and another touches is refused ("shared"), so is a scalar ("scalar"). */
const TdProg *td_stages_put(const TdStages *s);

#endif

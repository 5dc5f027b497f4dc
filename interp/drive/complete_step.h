/* complete_step.h - what the files of complete share: steps on a schedule under way. */
#ifndef TD_DRIVE_COMPLETE_STEP_H
#define TD_DRIVE_COMPLETE_STEP_H

#include "drive/complete.h"
#include "rewrite/prim.h"

/* The number 0 as the second argument of a step. */
enum { TD_COMPLETE_ZERO = -1 };

typedef struct TdComplete {
  TdArena *arena;
  TdSchedule s;
  TdAffine *affine;
  TdCompleteWay way;
  TdSym design; /* that is completed */
} TdComplete;

/* Takes a step of up to two arguments, texts or (second) a number; false: refused. */
bool td_complete_step(TdComplete *c, const char *prim, const char *one, const char *two,
                      int64_t number, const char *const **made);
/* Takes a step with these arguments. */
bool td_complete_apply(TdComplete *c, const char *prim, const TdArgValue *arg);

/* The unit of a symbol as it is now; whether a task is on the host. */
const TdUnit *td_complete_unit(const TdComplete *c, TdSym sym);
bool td_complete_is_host(const TdRun *run);

/* complete_streams.c: as few streams as can be: what tasks on the host hand out and take, and what
 * a core gets more than it has ports for. */
void td_complete_streams(TdComplete *c);

#endif

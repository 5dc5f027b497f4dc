/* outer.h - a design some of whose tasks are run by the caller, cycle by cycle: those runs do not
 * take place, and the caller puts and takes the tokens of their streams whenever all other tasks
 * wait. What happens in cycle t depends on tokens of cycles before t alone (a token is seen the
 * cycle after it was put, a place the cycle after it was left), so a caller that never goes back in
 * time makes the run that it would be a part of. */
#ifndef TD_EVAL_OUTER_H
#define TD_EVAL_OUTER_H

#include "eval/eval.h"

struct TdMachine;
struct TdChannel;

typedef struct TdOuter {
  void *ud;
  const bool *without; /* runs of the root that do not take place */
  /* Called when no task goes on, and when all have ended; *more says whether it is called again.
   * False: it failed, with the run's diag filled. */
  bool (*step)(void *ud, struct TdMachine *m, bool *more);
} TdOuter;

/* Stream `ordinal` of stream array `stream` of the root, or NULL. */
struct TdChannel *td_outer_stream(const struct TdMachine *m, size_t stream, int64_t ordinal);
/* Whether a token can be put in a cycle; puts one, its elements row-major. */
bool td_outer_has_room(const struct TdChannel *c, int64_t cycle);
void td_outer_put(struct TdMachine *m, struct TdChannel *c, int64_t cycle, const TdValue *token);
/* Whether one can be taken in a cycle; takes it. */
bool td_outer_has_token(const struct TdChannel *c, int64_t cycle);
void td_outer_take(struct TdMachine *m, struct TdChannel *c, int64_t cycle, TdValue *token);
/* Elements of a token, and whether a task waits to get one. */
int64_t td_outer_elements(const struct TdChannel *c);
bool td_outer_is_wanted(const struct TdMachine *m, const struct TdChannel *c);

#endif

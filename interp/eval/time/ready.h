/* ready.h - when the ends outside of the streams of the top are ready, as the user says it. */
#ifndef TD_EVAL_TIME_READY_H
#define TD_EVAL_TIME_READY_H

#include "eval/eval.h"

/* Of the streams of one parameter, in their order: the cycle from which on token k is there to be
 * got, or has its place; of tokens behind the list always. */
typedef struct TdReady {
  const int64_t **cycle;
  int64_t *n;
  int64_t streams;
} TdReady;

/* The lines of a text, "Z 3,4,9" or for an array "Z 3,4;5", by the parameters of p's root (NULL:
 * always ready). NULL with d filled: a name that no stream of the top has, too many lists. */
TdReady *const *td_ready_read(TdArena *a, const TdProg *p, const char *text, TdDiag *d);
/* Puts them into the ends of a parameter; r may be NULL. */
void td_ready_give(const TdReady *r, TdEvalPort *port);

#endif

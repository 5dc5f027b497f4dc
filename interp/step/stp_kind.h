/* stp_kind.h - STeP graphs as schedules know them. */
#ifndef TD_STP_KIND_H
#define TD_STP_KIND_H

#include "history/kind.h"
#include "step/stp_prove.h"
#include "step/stp_run.h"

/* What steps on graphs ask. */
typedef struct TdStpTools {
  TdStpCalls calls;  /* of runs on shapes */
  TdStpProver proof; /* its ud is that of `function` too */
  /* A program as a function; false with d filled. */
  bool (*function)(void *ud, const TdProg *p, TdStpFn *f, TdDiag *d);
  bool given; /* the settings of runs, which are these */
  TdStpOptions run;
} TdStpTools;

/* STeP graphs; its tools are TdStpTools. */
extern const TdKind td_stp_kind;

#endif

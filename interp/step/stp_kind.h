/* stp_kind.h - STeP graphs as schedules know them. */
#ifndef TD_STP_KIND_H
#define TD_STP_KIND_H

#include "history/kind.h"
#include "step/stp_run.h"

/* What steps on graphs ask. */
typedef struct TdStpTools {
  TdStpCalls calls; /* of runs on shapes */
} TdStpTools;

/* STeP graphs; its tools are TdStpTools. */
extern const TdKind td_stp_kind;

#endif

/* search_auto.h - automatic schedules of kernels, and of the tasks of a design. */
#ifndef TD_REWRITE_TASK_SEARCH_AUTO_H
#define TD_REWRITE_TASK_SEARCH_AUTO_H

#include "analysis/time/cost.h"
#include "base/search.h"
#include "rewrite/util.h"

/* What is asked for. */
typedef struct TdAutoAsk {
  const TdTarget *device; /* of HLS; NULL: a CPU */
  int64_t dsp, bram;      /* of HLS: no more; -1: any number */
  int64_t threads;        /* of a CPU */
  TdSearchLimits search;
} TdAutoAsk;

/* Puts the steps of the best schedule of r->prog that was found into r->did, none if the program as
 * it is is best, and returns what they make of it; NULL with r->diag filled when its times cannot
 * be known, or when nothing keeps to the limits. Notes say how the search ended. */
const TdProg *td_search_auto(TdRewrite *r, const TdAutoAsk *ask);

#endif

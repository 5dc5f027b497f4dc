/* admit.h - what is told of a design without data: by its streams and footprints, and where these
 * leave open who touches which element, by a run on symbols. */
#ifndef TD_DRIVE_ADMIT_H
#define TD_DRIVE_ADMIT_H

#include "affine/access.h"
#include "analysis/net/traffic.h"
#include "eval/eval.h"

/* Whether nothing is wrong with the design that is q's root unit, as far as can be told; else d
 * tells what, as td_streams_check does. *open becomes what is left to the run and why, or NULL when
 * all was decided; owned by q->arena. */
bool td_admit_design(const TdAsk *q, const char **open, TdDiag *d);

/* Whether data may lead two instances of a design of p to one element that one of them writes:
 * runs are to watch for that. Scratch in a. */
bool td_admit_needs_watch(TdArena *a, const TdProg *p);

/* Sets depth[] to the least depths of n's streams at which its design runs to its end on these
 * arguments, which stay as they are. False: no depths do, or a run fails for another reason, and d
 * says which. */
bool td_admit_depths(TdArena *a, const TdTraffic *n, const TdEvalArg *arg, int64_t *depth,
                     TdDiag *d);

#endif

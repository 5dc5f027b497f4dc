/* judge.h - what is told of a design without data: by its streams and footprints, and where these
 * leave open who touches which element, by a run on symbols. */
#ifndef TD_JUDGE_H
#define TD_JUDGE_H

#include "affine/access.h"

/* Whether nothing is wrong with the design that is q's root unit, as far as can be told; else d
   tells what, as td_streams_check does. *open becomes what is left to the run and why, or NULL when
   all was decided; owned by q->arena. */
bool td_judge_design(const TdAsk *q, const char **open, TdDiag *d);

#endif

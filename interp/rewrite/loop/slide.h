/* slide.h - the sliding window of Halide: what a loop computes anew in each iteration, once. */
#ifndef TD_REWRITE_LOOP_SLIDE_H
#define TD_REWRITE_LOOP_SLIDE_H

#include "rewrite/util.h"

/* u where the nest in the body of `loop` that computes a window of `array`, which moves from one
 * iteration to the next, computes only what is new in it; the rest of the first window is computed
 * before the loop. NULL where no nest does that: each element must come from its own indices and
 * from data that the loop leaves alone. */
const TdUnit *td_slide_window(TdRewrite *r, const TdUnit *u, const TdStmt *loop, TdSym array);

#endif

/* keep.h - what every step sees to, whatever the primitive: attributes that were proved still hold,
 * names hide nothing, units stand in the order of their first calls. */
#ifndef TD_KEEP_H
#define TD_KEEP_H

#include "rewrite/prim.h"

/* p, made by a step from r->prog, with the loop attributes that are proofs (parallel, dep) dropped
 * where they hold no more, which is noted, with print names settled and units in order. */
const TdProg *td_keep_sound(TdRewrite *r, const TdProg *p);

#endif

/* normalise.h - what every step sees to, whatever the primitive: attributes that were proved still
 * hold,
 * names hide nothing, sizes shape something, units stand in the order of their first calls. */
#ifndef TD_REWRITE_NORMALISE_H
#define TD_REWRITE_NORMALISE_H

#include "rewrite/prim.h"

/* p, made by a step from r->prog, with the loop attributes that are proofs (parallel, dep) dropped
 * where they hold no more, which is noted; conditions that sizes alone decide gone; print names
 * settled; sizes that are in no type or loop bound any more pinned to their values; units in order.
 */
const TdProg *td_normalise_sound(TdRewrite *r, const TdProg *p);

#endif

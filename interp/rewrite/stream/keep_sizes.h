/* keep_sizes.h - sizes of a kernel that only the extents of an array tell, when the array becomes a
 * stream. */
#ifndef TD_REWRITE_STREAM_KEEP_SIZES_H
#define TD_REWRITE_STREAM_KEEP_SIZES_H

#include "rewrite/util.h"

/* `callee` with the sizes that the type `was` of a parameter told and no other parameter tells
 * renamed as in `arg`, the type of what its only caller passed: so they are the caller's sizes, by
 * name and value, and follow them to other values (ir/at.h). A size stays as it is where `arg` has
 * no bare size there, or where the callee has another size of that name. */
const TdUnit *td_keep_sizes(TdRewrite *r, const TdUnit *callee, const TdType *was,
                            const TdType *arg);

#endif

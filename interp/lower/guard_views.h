/* guard_views.h - views of one array that must lie apart and may not are looked at in each run. */
#ifndef TD_LOWER_GUARD_VIEWS_H
#define TD_LOWER_GUARD_VIEWS_H

#include "ir/ir.h"

/* p, which is in a store of its own, with kernels `apart` called in front of statements whose views
 * must lie apart and may not; `said` gets what each says, by its uid. */
const TdProg *td_guard_views_prog(const TdProg *p, TdMap *said);

#endif

/* settle.h - print names under which nothing hides what is used below it. */
#ifndef TD_SETTLE_H
#define TD_SETTLE_H

#include "ir/edit.h"

/* u, with fresh names for what it declares where a declaration has the name of another thing that
 * is in scope there (as loading the printed form would do), or of a size, unit or stream that its
 * scope uses. Symbols that get a new name are new symbols. */
const TdUnit *td_settle_names(TdStore *st, const TdUnit *u);

#endif

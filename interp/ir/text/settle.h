/* settle.h - what a program that was rewritten needs to load back as it prints: print names under
 * which nothing hides what is used below it, and types and arms as loading gives them. */
#ifndef TD_IR_TEXT_SETTLE_H
#define TD_IR_TEXT_SETTLE_H

#include "ir/edit.h"

/* u, with fresh names for what it declares where a declaration has the name of another thing that
 * is in scope there (as loading the printed form would do), or of a size, unit or stream that its
 * scope uses; in a task of `design` (or NULL), of a stream of it. Symbols that get a new name are
 * new symbols. A token that is got and used nowhere is called "_", which takes and drops it. */
const TdUnit *td_settle_names(TdStore *st, const TdUnit *u, const TdUnit *design);
/* u, in the form that loading gives it: a scalar local that starts with an operator, and is stored
 * what its type does not hold, says its type; there is no second arm without statements. */
const TdUnit *td_settle_form(TdStore *st, const TdUnit *u);

#endif

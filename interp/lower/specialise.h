/* specialise.h - the body of a kernel as one instance of a run executes it. */
#ifndef TD_LOWER_SPECIALISE_H
#define TD_LOWER_SPECIALISE_H

#include "ir/ir.h"

/* What is left of the body of r's kernel in instance i of a run of `design`: the same statements
 * for all instances of a class. Owned by p's store; a is scratch. NULL where r runs no kernel. */
const TdStmt *td_specialise_body(TdArena *a, const TdProg *p, const TdUnit *design, const TdRun *r,
                                 uint32_t i);

#endif

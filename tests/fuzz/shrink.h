/* shrink.h - a failure made small. */
#ifndef FUZZ_SHRINK_H
#define FUZZ_SHRINK_H

#include "tests/fuzz/case.h"

/* Drops steps and options, then cuts the kernel, as long as the same goes wrong; at most `probes`
 * tries. Returns the outcome of what is left. */
Outcome shrink_script(Script *script, Outcome out, int probes, TdArena *a);

/* What a script goes wrong without in the same way: one step, the last step of a schedule that a
 * step takes, one option, or one line of its kernel; NULL when all are needed. *tries: how many
 * were left out in turn. */
const char *shrink_smaller(const Script *script, Outcome out, int *tries, TdArena *a);

#endif

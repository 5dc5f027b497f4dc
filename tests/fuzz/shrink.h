/* shrink.h - a failure made small. */
#ifndef FUZZ_SHRINK_H
#define FUZZ_SHRINK_H

#include "tests/fuzz/case.h"

/* Drops steps and options, then cuts the kernel, as long as the same goes wrong; at most `probes`
   tries. Returns the outcome of what is left. */
Outcome shrink_script(Script *script, Outcome out, int probes, TdArena *a);

#endif

/* cut.h - smaller versions of a kernel, for a failure to be shown by the smallest. */
#ifndef FUZZ_CUT_H
#define FUZZ_CUT_H

#include "tests/fuzz/fuzz.h"

/* The n-th of the programs that lack a part of p or have a simpler one: a statement, a branch, a
 * loop around its body, iterations, an operand, a parameter. NULL past the last. Not all of them
 * are well formed. */
const TdProg *cut_program(const TdProg *p, int n);

#endif

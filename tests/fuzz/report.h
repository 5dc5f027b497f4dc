/* report.h - what a campaign tells: scripts of failures, and the table of counts. */
#ifndef FUZZ_REPORT_H
#define FUZZ_REPORT_H

#include <stdio.h>

#include "tests/fuzz/case.h"

/* Adds y to x. */
void report_add(Counts *x, const Counts *y);
/* Writes the Lua script that shows a failure with ./tide to `path`. */
void report_script(const char *path, const Script *script, Outcome out, uint64_t seed,
                   uint64_t number);
/* The counts, for people. */
void report_counts(FILE *f, const Counts *n);
/* The counts as tests: every feature is hit, no primitive of the registry is tried seldom or
 * accepted in less than `share` percent of its tries, and the steps cost no more than they may.
 * Returns how many fail. */
int report_tests(const Counts *n, uint64_t failures, int share);

#endif

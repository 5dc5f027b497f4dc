/* state.h - what a campaign has counted so far, in a text file, for it to go on from. */
#ifndef FUZZ_STATE_H
#define FUZZ_STATE_H

#include "tests/fuzz/fuzz.h"

/* Where a campaign is. */
typedef struct State {
  uint64_t seed, from, failures; /* from: the next case */
  Counts counts;
} State;

/* Reads a file that state_save wrote; false when there is none. Primitives and features that are
 * gone since are left out. */
bool state_load(State *s, const char *path);
/* Writes it; false when it cannot be written. */
bool state_save(const State *s, const char *path);

#endif

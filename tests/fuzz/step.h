/* step.h - random steps, and what they are in a case under way. */
#ifndef FUZZ_STEP_H
#define FUZZ_STEP_H

#include "tests/fuzz/chain.h"

/* Types that a step may ask for: TdArgValue.integer is one of these until the step is bound. */
enum { STEP_TYPES = 8 };

/* step.c */
/* A random step after `now`, on a schedule of `kernel`, its arguments owned by a; without a
 * primitive when there is none to draw. */
Step step_draw(Rng *r, TdArena *a, TdAffine *affine, const TdVersion *now, const TdProg *kernel);
/* Names of primitives, separated by commas: those in use (empty: all), and those not. */
extern const char *step_only, *step_without;
/* Whether a list of names, separated by commas, holds one. */
bool step_is_listed(const char *list, const char *name);

/* step_bind.c */
/* The arguments of a step in a chain: types, schedules of callees and kernels are made. False: one
 * of those kernels does not load. */
bool step_bind(Chain *c, const Step *s, TdArgValue *arg);
/* The Lua text of a step; a schedule or kernel that it takes is called by the name of the kernel.
 */
const char *step_text(TdArena *a, const Step *s);
/* The name of the kernel that a chunk returns. */
const char *step_library_name(TdArena *a, const char *chunk);
/* The program whose root is a unit of p, as the unit was captured. */
const TdProg *step_callee(const TdProg *p, const char *name);

#endif

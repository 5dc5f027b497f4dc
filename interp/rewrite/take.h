/* take.h - running a primitive on a kernel or design. */
#ifndef TD_TAKE_H
#define TD_TAKE_H

#include "rewrite/prim.h"

/* Runs prim, tidies up after it and checks what it made. NULL: refused, r->diag says why. */
const TdProg *td_take_run(TdRewrite *r, const TdPrim *prim);
/* The program that a step makes of p, as r would take it; NULL when it is refused. Scratch in a. */
const TdProg *td_take_try(const TdRewrite *r, TdArena *a, const TdProg *p, TdPrimStep step);
/* p after a step that is a part of r's: its notes, and that it was done, are r's. What it made is
 *in made. NULL: refused, r->diag says why. */
const TdProg *td_take_part(TdRewrite *r, const TdProg *p, TdPrimStep step,
                           const char *const **made);

#endif

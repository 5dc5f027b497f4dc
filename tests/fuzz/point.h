/* point.h - sizes and inputs at which a kernel and its schedules are compared. */
#ifndef FUZZ_POINT_H
#define FUZZ_POINT_H

#include "eval/eval.h"
#include "tests/fuzz/gen.h"

/* CALLS: of a kernel with states, on the same arguments, one after the other. */
enum { POINTS = 6, ENOUGH_POINTS = 3, INPUTS = 2, CALLS = 3 };

/* One run's arguments. */
typedef struct Inputs {
  TdEvalArg *arg;
  size_t n;
} Inputs;

/* A kernel at some sizes: what it is given, and what it leaves. On some of the inputs it may fault;
 * what it left then means nothing. */
typedef struct Point {
  TdSize size[SIZE_NAMES];
  size_t nsize;
  const TdProg *kernel;
  Inputs given[INPUTS], left[INPUTS];
  const char *fault[INPUTS]; /* the code of the kernel's fault; NULL: it has none */
  bool decided[INPUTS];      /* symbolic runs decide */
} Point;

typedef struct Points {
  TdArena *arena;
  const TdProg *kernel;
  uint64_t seed;
  Point at[POINTS];
  int n;
  unsigned calls; /* of each run */
  bool exhausted; /* no other sizes will do */
} Points;

/* Points of a kernel; the first, at its own sizes, is made. False with d filled when the kernel
 * faults there, on whatever it is given. */
bool point_start(Points *ps, TdArena *a, const TdProg *kernel, uint64_t seed, TdDiag *d);
/* Adds one at other sizes; false when there are none, or the kernel faults everywhere tried. */
bool point_add(Points *ps);
/* p at the sizes of a point, or NULL with d filled: its assumptions do not hold there, or a size
 * that steps have pinned has another value. */
const TdProg *point_program(const Points *ps, const Point *x, const TdProg *p, TdDiag *d);

/* Runs p on arguments, which then hold what it leaves, as often as the kernel is called; false with
 * d filled when it faults. */
bool point_run(const Points *ps, TdArena *a, const TdProg *p, Inputs in, TdDiag *d);
/* A copy of arguments, to run with. */
Inputs point_copy(TdArena *a, Inputs in);
/* The control arguments among them, concrete; the others symbolic. */
const TdEvalArg *point_concrete(TdArena *a, const TdProg *p, Inputs in);
/* The first tensor element in which two sets of arguments differ, in words; NULL when none does. */
const char *point_difference(TdArena *a, const TdProg *p, Inputs x, Inputs y);
/* Limits of all runs. */
TdEvalOptions point_options(const Points *ps);

#endif

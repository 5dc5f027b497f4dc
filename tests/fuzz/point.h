/* point.h - sizes and inputs at which a kernel and its schedules are compared. */
#ifndef FUZZ_POINT_H
#define FUZZ_POINT_H

#include "eval/eval.h"
#include "tests/fuzz/gen.h"

enum { POINTS = 6, ENOUGH_POINTS = 3, INPUTS = 2 };

/* One run's arguments. */
typedef struct Inputs {
  TdEvalArg *arg;
  size_t n;
} Inputs;

/* A kernel at some sizes: what it is given, and what it leaves. */
typedef struct Point {
  TdSize size[SIZE_NAMES];
  size_t nsize;
  const TdProg *kernel;
  Inputs given[INPUTS], left[INPUTS];
  bool decided[INPUTS]; /* symbolic runs decide */
} Point;

typedef struct Points {
  TdArena *arena;
  const TdProg *kernel;
  uint64_t seed;
  Point at[POINTS];
  int n;
  bool exhausted; /* no other sizes will do */
} Points;

/* Points of a kernel; the first, at its own sizes, is made. False with d filled when the kernel
 * faults there. */
bool point_start(Points *ps, TdArena *a, const TdProg *kernel, uint64_t seed, TdDiag *d);
/* Adds one at other sizes; false when there are none, or the kernel faults everywhere tried. */
bool point_add(Points *ps);
/* p at the sizes of a point, or NULL with d filled: its assumptions do not hold there, or a size
 * that steps have pinned has another value. */
const TdProg *point_program(const Points *ps, const Point *x, const TdProg *p, TdDiag *d);

/* A copy of arguments, to run with. */
Inputs point_copy(TdArena *a, Inputs in);
/* The control arguments among them, concrete; the others symbolic. */
const TdEvalArg *point_concrete(TdArena *a, const TdProg *p, Inputs in);
/* The first tensor element in which two sets of arguments differ, in words; NULL when none does. */
const char *point_difference(TdArena *a, const TdProg *p, Inputs x, Inputs y);
/* Limits of all runs. */
TdEvalOptions point_options(const Points *ps);

#endif

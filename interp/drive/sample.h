/* sample.h - two programs run on random numbers: do they leave other values? */
#ifndef TD_DRIVE_SAMPLE_H
#define TD_DRIVE_SAMPLE_H

#include "eval/eval.h"

typedef enum {
  TD_VALUES_DIFFER,
  TD_VALUES_SAME,
  TD_VALUES_UNKNOWN /* the programs have ports, or ran on none of the inputs */
} TdValues;

/* An element of a tensor argument, row-major. */
typedef struct TdElement {
  unsigned param;
  int64_t index;
} TdElement;

/* Runs the roots of x and y, which take the same arguments, on random inputs of several ranges
 * and on all bytes in turn, on fewer inputs if they are large; `concrete` as in td_eval_compare.
 * Element *at is looked at or, if so told, all of them: then *at becomes one that differs. */
TdValues td_sample_compare(TdArena *a, const TdProg *x, const TdProg *y, const TdEvalArg *concrete,
                           const TdEvalOptions *o, bool all, TdElement *at);

/* Whether y faults on one of these inputs on which x does not; if so d says how. */
bool td_sample_fault(TdArena *a, const TdProg *x, const TdProg *y, const TdEvalArg *concrete,
                     const TdEvalOptions *o, TdDiag *d);

/* The same for programs that are equal at a level below strict, on fewer inputs: what has no floats
 * must be the same on each; floats, which round in another order, near to the same on most of the
 * inputs on which all are finite. */
TdValues td_sample_confirm(TdArena *a, const TdProg *x, const TdProg *y, const TdEvalArg *concrete,
                           const TdEvalOptions *o, TdElement *at);

#endif

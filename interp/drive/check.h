/* check.h - are two programs the same? Both are run on symbolic values, at the user's sizes and at
 * two smaller ones. */
#ifndef TD_DRIVE_CHECK_H
#define TD_DRIVE_CHECK_H

#include "eval/eval.h"

typedef struct TdCheck {
  TdEvalVerdict verdict;
  TdLevel level;       /* EQUAL: the strictest level that holds at all sizes tried */
  const char *sizes;   /* EQUAL: those tried: "M = 64 (and 7, 9)", or "its own sizes" */
  unsigned calls;      /* EQUAL: in so many calls, as there are states; 0: in any */
  const char *element; /* DIFFERS: "C[0][1]" */
  const char *shown;   /* DIFFERS: both expressions, cut to where they differ */
  const char *at;      /* DIFFERS: the sizes at which */
  TdDiag diag;         /* NOT_DECIDED: why, and what would help */
} TdCheck;

/* Compares the roots of x and y, whose parameters must agree. concrete: inputs that stay concrete,
 * one entry a parameter, or NULL. With a limit of steps, which counts those of a compiled run, no
 * other compiler than the one in memory is called. Strings are owned by a. */
TdCheck td_check_same(TdArena *a, const TdProg *x, const TdProg *y, const TdEvalArg *concrete,
                      const TdEvalOptions *o);

/* The verdict where td_check_same was left in the middle, after so many seconds. */
TdCheck td_check_late(TdArena *a, double seconds);

#endif

/* foreign.h - how the core has foreign functions called, and how they call back: two tables that
 * others fill (backends/host/foreign.c, bind/program/callback.c). */
#ifndef TD_FOREIGN_H
#define TD_FOREIGN_H

#include "ir/unit.h"

/* How a call ended. */
typedef enum {
  TD_FOREIGN_DONE,
  TD_FOREIGN_CRASHED,  /* by signal `code` */
  TD_FOREIGN_EXITED,   /* its own process ended with status `code` */
  TD_FOREIGN_REPLACED, /* another program took the place of its own process */
  TD_FOREIGN_RAISED,   /* a function that it called back failed, whose error is held */
  TD_FOREIGN_STOPPED,  /* it was stopped because the work must */
  TD_FOREIGN_ABSENT,   /* its own process does not find it */
  TD_FOREIGN_BUSY      /* its own process waits for what it called back */
} TdForeignHow;
typedef struct TdForeignEnd {
  TdForeignHow how;
  int code;
} TdForeignEnd;

/* The code of a diagnostic that stands for an error of Lua that is held. */
#define TD_FOREIGN_HELD "held"

/* A foreign function that was found. */
typedef struct TdForeignFn TdForeignFn;

/* Who calls foreign functions. */
typedef struct TdForeignHost {
  /* Finds the function of an extern, for as long as a lives; NULL with d filled. */
  TdForeignFn *(*open)(TdArena *a, TdSession *s, const TdUnit *u, TdDiag *d);
  /* Calls it: at[i] is where parameter i of the unit lies, the cell of a number or the elements of
   * an array, row-major. fn[i] is what callback i is, where the unit leaves it open; or NULL. */
  TdForeignEnd (*call)(TdForeignFn *f, void *const *at, const int *fn);
  /* Fills d with such an end of a call of u at loc; returns false. */
  bool (*tell)(TdSession *s, const TdUnit *u, TdForeignEnd end, TdLoc loc, TdDiag *d);
} TdForeignHost;

/* What the functions that are called back are run by. */
typedef struct TdForeignBack {
  /* Runs function `fn` as type c has it: at[i] is where argument i lies, *result a cell to fill.
   * Returns false, with zeros as its result, once one has failed. */
  bool (*run)(void *ud, int fn, const TdCallback *c, void *result, void *const *at);
  /* Whether one has failed, whose error is held. */
  bool (*failed)(void *ud);
  /* Lets go of that error. */
  void (*forget)(void *ud);
  void *ud;
} TdForeignBack;

#endif

/* trial.h - the sizes at which two programs are compared: their own, and two smaller choices that
 * satisfy what they assume and at which every loop runs twice. */
#ifndef TD_DRIVE_TRIAL_H
#define TD_DRIVE_TRIAL_H

#include "ir/ir.h"

typedef struct TdTrial {
  TdArena *arena;
  const TdProg *x, *y;
  TdSize *size; /* what the roots have in common, with the values under trial */
  size_t n;
  bool all;              /* there are no other sizes */
  bool known;            /* they have values of their own */
  bool divided;          /* some size is divided: the others stay small */
  int64_t *own;          /* of each size, if known */
  const int64_t **value; /* candidates of each size, best first */
  size_t *nvalue;
  int64_t *by;                 /* what divides each size of the choice, or 1 */
  TD_VEC(const TdSize *) done; /* choices that had their turn */
} TdTrial;

/* Sizes of x and y, whose own choice has had its turn. */
TdTrial td_trial_new(TdArena *a, const TdProg *x, const TdProg *y);
/* The next small choice: both programs at it; false if there is none. Those at which a loop runs
 * only as often as at the programs' own sizes come last. */
bool td_trial_next(TdTrial *t, int run, const TdProg **x, const TdProg **y);
/* Where a run at the choice, which made program `chosen`, takes long: choices that take less, in
 * each of which one size is as chosen and the others that are divided are one tile; every loop runs
 * twice in one of them. x, y: room for t->n programs; *n: how many there are. False: no such. */
bool td_trial_apart(TdTrial *t, const TdProg *chosen, const TdProg **x, const TdProg **y,
                    size_t *n);
/* "M = 8, N = 8", or, without names, "8, 8"; "" without sizes. Of u's sizes that have values. */
const char *td_trial_text(TdArena *a, const TdUnit *u, bool names);

#endif

/* verdict.h - the answer of a legality query: yes, yes if an operator is associative, no with a
 * witness, or not known. */
#ifndef TD_ANALYSIS_ORDER_VERDICT_H
#define TD_ANALYSIS_ORDER_VERDICT_H

#include "analysis/order/conflict.h"

/* From good to bad, but a proof that something is illegal outweighs not knowing. */
typedef enum {
  TD_VERDICT_LEGAL,
  TD_VERDICT_REASSOC, /* legal if `op` is associative: only accumulations change places */
  TD_VERDICT_UNKNOWN,
  TD_VERDICT_ILLEGAL
} TdVerdictKind;

/* Zeroed is "legal". Strings are owned by the arena of the query. */
typedef struct TdVerdict {
  TdVerdictKind kind;
  int op;            /* REASSOC: the TdOp */
  bool ring;         /* REASSOC: and no value can change (wrapping integers, min, max, bits) */
  bool exact;        /* ILLEGAL: the two instances do run and clash; else perhaps */
  TdWitness witness; /* REASSOC, ILLEGAL */
  TdSym stream;      /* ILLEGAL: the one whose order it is, or NULL */
  const char *sizes; /* NULL, or the sizes at which that happens when they are not the unit's */
  const char *why;   /* UNKNOWN: what could not be decided */
} TdVerdict;

/* Notes that the instances of c, at any point of c->sys, must not be where they are: `order` says
 * that they only change places, which accumulations may. False when nothing worse can come. */
bool td_verdict_broken(TdVerdict *v, TdConflict *c, bool order);
/* Notes that something could not be decided. */
void td_verdict_unknown(TdVerdict *v, const char *why);

/* Whether v allows a rewrite (`reassociate`: the user accepts REASSOC); else fills d at place loc.
 * `what` begins the message: "reorder of i and j". */
bool td_verdict_accept(const TdVerdict *v, bool reassociate, TdDiag *d, TdLoc loc,
                       const char *what);

#endif

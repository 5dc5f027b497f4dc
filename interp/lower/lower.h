/* lower.h - programs for machines: what a target asks of a program before it is text. */
#ifndef TD_LOWER_LOWER_H
#define TD_LOWER_LOWER_H

#include "lower/net/region.h"

/* The passes, in the order in which they run. A target says which it asks for. */
typedef enum {
  TD_LOWER_GUARDS = 1 << 0,      /* views that data places are looked at */
  TD_LOWER_COLLECTIVES = 1 << 1, /* allreduces become tasks and streams */
  TD_LOWER_TENSORS = 1 << 2,     /* statements on tensors become loops */
  TD_LOWER_NETWORKS = 1 << 3,    /* designs become units that call a kernel for each class */
  TD_LOWER_CALLS = 1 << 4        /* calls pass whole arrays or rows; state is handed down */
} TdLowerPass;

/* A program on its way to a machine. */
typedef struct TdLowered {
  const TdProg *prog;
  TdNetRegions regions; /* of NETWORKS: what was a design */
  const char *machine;  /* the target's name, for messages */
  TdArena *arena;       /* owns it */
  TdDiag *diag;
} TdLowered;

/* Runs the passes on a copy of p that a owns; the IR verifier looks at what each makes, and the
 * session's `passed` hears of it. False with d filled. Where no pass changes anything the program
 * is p itself. */
bool td_lower_prog(TdArena *a, const TdProg *p, unsigned passes, const char *machine,
                   TdLowered *out, TdDiag *d);
/* p with its collectives as tasks and streams, for those who draw it or run it here. */
const TdProg *td_lower_collectives(TdArena *a, const TdProg *p);

#endif

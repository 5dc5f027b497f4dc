/* stp_prove.h - functions on tiles that are proved to be one function. */
#ifndef TD_STP_PROVE_H
#define TD_STP_PROVE_H

#include "step/stp_kernel.h"

/* Who proves: programs of functions, and whether two are the same. */
typedef struct TdStpProver {
  void *ud;
  /* The program that defines a function on elements of a type; NULL: none does. */
  const TdProg *(*meaning)(void *ud, const TdStpFn *f, const TdType *elem);
  /* Whether two programs are proved to be the same, sums in any order where `sums`; else why. */
  bool (*same)(void *ud, TdArena *a, const TdProg *x, const TdProg *y, bool sums, const char **why);
} TdStpProver;

/* Proves that functions f and kernel do the same on the tiles that come to node n of g. False with
 * d filled: no program defines f, other parameters, or a difference. */
bool td_stp_prove_same(const TdStpProver *p, TdArena *a, const TdStpGraph *g, const TdStpNode *n,
                       const TdStpFn *f, const TdStpFn *kernel, bool sums, TdDiag *d);

/* Replaces kernels of two graphs by functions of either that they are proved to be. The graphs of
 * side[] are copied where they change; true: some did, and *sums says whether a proof took sums in
 * another order. */
bool td_stp_prove_settle(const TdStpProver *p, TdArena *a, TdStpGraph *side[2], bool *sums);

#endif

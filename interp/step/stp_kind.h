/* stp_kind.h - STeP graphs as schedules know them. */
#ifndef TD_STP_KIND_H
#define TD_STP_KIND_H

#include "history/kind.h"
#include "step/stp_run.h"

/* What steps on graphs ask. */
typedef struct TdStpTools {
  TdStpCalls calls; /* of runs on shapes */
  void *ud;
  /* The program that defines a function on elements of a type; NULL: none does. */
  const TdProg *(*meaning)(void *ud, const TdStpFn *f, const TdType *elem);
  /* A program as a function; false with d filled. */
  bool (*function)(void *ud, const TdProg *p, TdStpFn *f, TdDiag *d);
  /* Whether two programs are proved to be the same, sums in any order where `sums`; else why. */
  bool (*same)(void *ud, TdArena *a, const TdProg *x, const TdProg *y, bool sums, const char **why);
  bool given; /* the settings of runs, which are these */
  TdStpOptions run;
} TdStpTools;

/* STeP graphs; its tools are TdStpTools. */
extern const TdKind td_stp_kind;

#endif

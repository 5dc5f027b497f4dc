/* kind.h - what a history asks of a kind of programs: kernels and designs, graphs of STeP. */
#ifndef TD_KIND_H
#define TD_KIND_H

#include "history/prim.h"

typedef struct TdVersion TdVersion;

/* A step that is taken. */
typedef struct TdTaking {
  const TdVersion *since; /* whose program it changes */
  TdStore *store;
  void *tools; /* the kind's own, for questions */
  const TdPrim *prim;
  const TdArgValue *arg; /* parallel to prim's specs */
  TdDiag *diag;          /* its arena is scratch, gone when the step is over */
  /* What it tells, in scratch: names for the caller, in the documented order; of a composite step
   * those that it was made of; what the user should know; what made it another program; whether it
   * holds at these sizes only. */
  const char *const *made, *const *note, *const *relative;
  size_t nmade, nnote, nrelative;
  const TdPrimStep *did;
  size_t ndid;
  bool used_value;
} TdTaking;

typedef struct TdKind {
  const char *name;           /* "kernel or design" */
  const TdPrim *const *prims; /* NULL at the end */
  const void *(*clone)(TdStore *st, const void *p);
  /* The program after a step, tidied and verified; NULL: refused, t->diag says why. Where nothing
   * was said, the caller does. */
  const void *(*attempt)(TdTaking *t);
  void (*print)(TdText *out, const void *p);
  /* What a refusal shows of it; NULL: nothing. */
  void (*print_root)(TdText *out, const void *p);
  /* Its root, as a message quotes it. */
  const char *(*title)(const void *p);
  /* Appends what `now` assumes that `first` did not; NULL: programs of this kind assume nothing. */
  void (*put_assumed)(TdText *out, const void *first, const void *now);
} TdKind;

/* The primitive of a name, or NULL. */
const TdPrim *td_kind_find(const TdKind *k, const char *name);

#endif

/* prim.h - primitives on kernels and designs, and what one at work sees. One file per primitive;
 * build/gen/prims.gen.h lists them. */
#ifndef TD_PRIM_H
#define TD_PRIM_H

#include "affine/affine.h"
#include "history/schedule.h"

/* The names that a unit has and those that a step has given out in it. */
typedef struct TdNaming {
  TdSym unit;        /* NULL: none asked yet */
  TdMap taken, last; /* interned names; of a stem, the last suffix */
} TdNaming;

/* A primitive at work. */
typedef struct TdRewrite {
  const TdProg *prog;
  const TdVersion *since; /* the version that prog belongs to */
  TdStore *store;
  TdSession *session;
  TdArena *arena; /* scratch, gone when the step is over */
  TdAffine *affine;
  const TdArgValue *arg; /* parallel to the specs */
  TdDiag *diag;
  TD_VEC(const char *) made;     /* names for the caller, in the documented order */
  TD_VEC(TdPrimStep) did;        /* of a composite step: those that it was made of, for the log */
  TD_VEC(const TdExpr *) copied; /* what it evaluates again (copied.h) */
  TD_VEC(const char *) relative; /* what made it another program: "retype C i32 -> i16" */
  TD_VEC(const char *) note;     /* what the user should know: "adds tide.assume(K % 8 == 0)" */
  bool replays;                  /* a step of another schedule: what holds already is no mistake */
  bool used_value; /* the step holds at these sizes only (parametric answers say so) */
  TdNaming naming; /* of td_util_name */
} TdRewrite;

/* Kernels and designs as schedules know them; its tools are a TdAffine. */
extern const TdKind td_prim_kind;
/* All its primitives, NULL at the end. */
extern const TdPrim *const td_prims[];
const TdPrim *td_prim_find(const char *name);

#endif

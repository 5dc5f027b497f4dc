/* schedule.h - a mutable handle on immutable versions of a program: steps, undo, log, diff. */
#ifndef TD_SCHEDULE_H
#define TD_SCHEDULE_H

#include "history/kind.h"

/* One version: the program, and the step that made it from its parent. */
struct TdVersion {
  const TdKind *kind;
  const TdVersion *parent; /* NULL: as captured */
  const void *prog;        /* of that kind */
  const TdPrim *prim;
  const char *call;      /* Lua text of the step: split("i", 8) */
  const TdPrimStep *did; /* the step, or those that it was made of: what the log shows */
  size_t ndid;
  const char *const *made; /* the names that it made */
  size_t nmade;
  const char *const *note;
  size_t nnote;
  const char *const *relative; /* what made it another program than its parent */
  size_t nrelative;
  int step; /* 0: as captured */
  bool used_value;
  uint32_t next_uid, next_sym; /* of the store when this version was made */
  double legality_ms;          /* wall time of the step, legality included */
};

typedef struct TdSchedule {
  TdStore *store;
  const TdVersion *now;
} TdSchedule;

/* A schedule of a copy of p, of this kind, in the (new) store st. */
TdSchedule td_schedule_new(TdStore *st, const TdKind *kind, const void *p);
/* Applies prim; returns whether it was accepted, and the names it made (owned by the store). On
 * refusal nothing changed but d. */
bool td_schedule_apply(TdSchedule *s, void *tools, const TdPrim *prim, const TdArgValue *arg,
                       const char *const **made, size_t *nmade, TdDiag *d);
/* As td_schedule_apply without keeping the result. */
bool td_schedule_can(TdSchedule *s, void *tools, const TdPrim *prim, const TdArgValue *arg,
                     TdDiag *d);
/* The version after step n, or NULL. */
const TdVersion *td_schedule_at(const TdSchedule *s, int n);
/* The version that what is there now must be equal to: the last that a step made another program on
 * purpose, or as captured. */
const TdVersion *td_schedule_reference(const TdSchedule *s);
/* "retype C i32 -> i16, assume K % 8 == 0": what makes what is there now another program than was
 * captured; "" if nothing does. Owned by a. */
const char *td_schedule_relative(TdArena *a, const TdSchedule *s);
/* Lua text that rebuilds the schedule from the program: load(text)(program). */
void td_schedule_log(TdText *out, const TdSchedule *s);
/* Lines of the printed form that differ from one program to another, each of its kind. */
void td_schedule_diff(TdText *out, const TdKind *from_kind, const void *from, const TdKind *to_kind,
                      const void *to);
/* The Lua text of a call of prim with these arguments. */
void td_schedule_call(TdText *out, const TdPrim *prim, const TdArgValue *arg);

#endif

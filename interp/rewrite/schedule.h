/* schedule.h - a mutable handle on immutable versions of a program: steps, undo, log, diff. */
#ifndef TD_SCHEDULE_H
#define TD_SCHEDULE_H

#include "rewrite/prim.h"

/* One version: the program, and the step that made it from its parent. */
typedef struct TdVersion {
  const struct TdVersion *parent; /* NULL: as captured */
  const TdProg *prog;
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
} TdVersion;

typedef struct TdSchedule {
  TdStore *store;
  const TdVersion *now;
} TdSchedule;

/* A schedule of a copy of p in the (new) store st. */
TdSchedule td_schedule_new(TdStore *st, const TdProg *p);
/* Applies prim; returns whether it was accepted, and the names it made (owned by the store). On
 * refusal nothing changed but d. */
bool td_schedule_apply(TdSchedule *s, TdAffine *affine, const TdPrim *prim, const TdArgValue *arg,
                       const char *const **made, size_t *nmade, TdDiag *d);
/* Runs prim, tidies up after it and checks what it made. NULL: refused, r->diag says why. */
const TdProg *td_schedule_attempt(TdRewrite *r, const TdPrim *prim);
/* The program that a step makes of p, as r would take it; NULL when it is refused. Scratch in a. */
const TdProg *td_schedule_try(const TdRewrite *r, TdArena *a, const TdProg *p, TdPrimStep step);
/* p after a step that is a part of r's: its notes, and that it was done, are r's. What it made is
 *in made. NULL: refused, r->diag says why. */
const TdProg *td_schedule_part(TdRewrite *r, const TdProg *p, TdPrimStep step,
                               const char *const **made);
/* As td_schedule_apply without keeping the result. */
bool td_schedule_can(TdSchedule *s, TdAffine *affine, const TdPrim *prim, const TdArgValue *arg,
                     TdDiag *d);
/* The version after step n, or NULL. */
const TdVersion *td_schedule_at(const TdSchedule *s, int n);
/* The version that what is there now must be equal to: the last that a step made another program on
 * purpose, or as captured. */
const TdVersion *td_schedule_reference(const TdSchedule *s);
/* "retype C i32 -> i16, assume K % 8 == 0": what makes what is there now another program than was
 * captured; "" if nothing does. Owned by a. */
const char *td_schedule_relative(TdArena *a, const TdSchedule *s);
/* Lua text that rebuilds the schedule from the kernel: load(text)(kernel). */
void td_schedule_log(TdText *out, const TdSchedule *s);
/* Lines of the printed form that differ from one program to another. */
void td_schedule_diff(TdText *out, const TdProg *from, const TdProg *to);
/* The Lua text of a call of prim with these arguments. */
void td_schedule_call(TdText *out, const TdPrim *prim, const TdArgValue *arg);

#endif

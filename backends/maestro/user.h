/* user.h - a user's kernel as an extension: tokens of one stream come in beats, tokens of another
 * go. It gathers what a call of the kernel gets, runs it, and gives what it put. */
#ifndef TD_MAESTRO_USER_H
#define TD_MAESTRO_USER_H

#include "eval/eval.h"
#include "backends/backend.h"
#include "backends/maestro/maestro.h"

/* One stream of it: a call moves n tokens. */
typedef struct TdMaestroTokens {
  size_t param;
  const char *name;
  const TdType *token, *all; /* all: of n tokens, one more dimension in front */
  int64_t n, bits;           /* of a token */
} TdMaestroTokens;

typedef struct TdMaestroUser {
  const char *name; /* of the kernel and its module */
  const TdProg *prog;
  const TdFile *file; /* its Verilog */
  size_t nfile;
  int64_t cycles; /* of a call */
  TdMaestroTokens in, out;
} TdMaestroUser;

/* Fills all but the files of u, whose program is set: a kernel of a stream that it gets from and
 * one that it puts to, as many tokens in every call, in as many cycles; false with d filled. */
bool td_maestro_user_read(TdMaestroUser *u, const TdTimes *times, TdArena *a, TdDiag *d);
/* Settles the widths of extension x, whose x->user is set, behind a word of so many bits; NULL, or
 * what is wrong. */
const char *td_maestro_user_fits(TdMaestroExt *x, int64_t bits);
/* Runs it on the beats of a call. */
bool td_maestro_user_run(const TdMaestroExt *x, TdArena *a, const uint8_t *in, uint8_t *out,
                         TdDiag *d);

#endif

/* side.h - the Lua state of a case: programs from their text, replays of logs, and a net under the
 * core's escapes. */
#ifndef FUZZ_SIDE_H
#define FUZZ_SIDE_H

#include "tests/fuzz/fuzz.h"

struct lua_State;

typedef struct Side {
  struct lua_State *L;
  TdSession *session;
  TdAffine *affine;
} Side;

/* A state with the module loaded; side_close frees it and all that was made in it. */
Side side_open(void);
void side_close(Side *s);

/* Runs fn(ud); false, with *why set (as long as the state lives), when the core escaped. */
bool side_protect(Side *s, void (*fn)(void *ud), void *ud, const char **why);

/* Of use only below side_protect: */
/* The program that the chunk returns, alive as long as the state; NULL with *why set. */
const TdProg *side_load(Side *s, const char *text, const char **why);
/* The printed form after the log was replayed on the unit that side_load gave as `kernel`; NULL
 * with *why set. */
const char *side_replay(Side *s, TdArena *a, const TdProg *kernel, const char *log,
                        const char **why);

#endif

/* attempt.c - an escape hook that leads back. */
#include "base/attempt.h"

#include <setjmp.h>

typedef struct Back {
  jmp_buf to;
  TdWhy why;
} Back;

static void come_back(void *ud, TdWhy why) {
  Back *b = ud;
  b->why = why;
  longjmp(b->to, 1);
}

bool td_attempt(TdCtx *c, void (*fn)(void *ud), void *ud, TdWhy *why) {
  Back back;
  TdCtxState before = td_ctx_state(c);
  td_ctx_set_escape(c, come_back, &back);
  bool done = setjmp(back.to) == 0;
  if (done) fn(ud);
  td_ctx_reset(c, &before);
  if (done) return true;
  while (*td_ctx_scratch(c) != before.scratch) td_arena_free(*td_ctx_scratch(c));
  *why = back.why;
  return false;
}

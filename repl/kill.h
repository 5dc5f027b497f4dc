/* kill.h - the ring of killed texts. */
#ifndef TD_KILL_H
#define TD_KILL_H

#include "base/text.h"

#define TD_KILL_SLOTS 16

/* The last texts killed, each in an arena of its own. Zero-initialised with `ctx` set is empty. */
typedef struct TdKill {
  TdCtx *ctx;
  TdText slot[TD_KILL_SLOTS];
  int top;   /* the newest */
  int turn;  /* how far M-y went back from it */
  bool open; /* whether the next kill joins the newest */
} TdKill;

/* Adds n bytes: to the newest text (in front of it for a backward kill) when the last command
 * killed too, else as a new one. */
void td_kill_add(TdKill *k, const char *s, size_t n, bool backward);

/* The newest text, or after each turn the one before it; never NULL. */
const char *td_kill_text(const TdKill *k, size_t *n);
void td_kill_turn(TdKill *k);

/* Frees all texts. */
void td_kill_free(TdKill *k);

#endif

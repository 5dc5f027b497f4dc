/* kill.c - the ring of killed texts. */
#include "repl/kill.h"

/* Empties a slot and gives it a new arena. */
static void renew(TdKill *k, TdText *slot) {
  TdArena *old = slot->arena;
  *slot = (TdText){0};
  td_arena_free(old);
  *slot = td_text_new(td_arena_new(k->ctx));
}

void td_kill_add(TdKill *k, const char *s, size_t n, bool backward) {
  if (n == 0) return;
  if (!k->open) {
    k->top = (k->top + 1) % TD_KILL_SLOTS;
    renew(k, &k->slot[k->top]);
  }
  TdText *slot = &k->slot[k->top], joined = td_text_new(slot->arena);
  if (backward && slot->n) {
    td_text_putn(&joined, s, n);
    td_text_putn(&joined, slot->at, slot->n);
    *slot = joined;
  } else {
    td_text_putn(slot, s, n);
  }
  k->open = true;
  k->turn = 0;
}

const char *td_kill_text(const TdKill *k, size_t *n) {
  const TdText *slot = &k->slot[(k->top - k->turn + TD_KILL_SLOTS) % TD_KILL_SLOTS];
  *n = slot->n;
  return td_text_str(slot);
}

void td_kill_turn(TdKill *k) {
  do k->turn = (k->turn + 1) % TD_KILL_SLOTS;
  while (k->turn && !k->slot[(k->top - k->turn + TD_KILL_SLOTS) % TD_KILL_SLOTS].arena);
}

void td_kill_free(TdKill *k) {
  for (int i = 0; i < TD_KILL_SLOTS; i++) td_arena_free(k->slot[i].arena);
}

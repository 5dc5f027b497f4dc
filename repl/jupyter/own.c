/* own.c - JSON values that live as long as an arena. */
#include "repl/jupyter/own.h"

/* Gives a reference back. */
static void release(void *j) {
  json_decref(j);
}

json_t *td_own(TdArena *a, json_t *j) {
  if (j) td_arena_defer(a, release, j);
  return j;
}

/* vec.h - a growing array in an arena: TD_VEC(T) v = {0}; td_vec_push(arena, &v, x). */
#ifndef TD_VEC_H
#define TD_VEC_H

#include <stddef.h>
#include "base/arena.h"

/* A vector of T. Zero-initialised is empty; `at` moves when it grows, the old block stays in the
 * arena. */
#define TD_VEC(T)                                                                                  \
  struct {                                                                                         \
    T *at;                                                                                         \
    size_t n, cap;                                                                                 \
  }

/* Appends x to *v, whose storage is owned by arena a; computing x must not itself push to *v. */
#define td_vec_push(a, v, x)                                                                       \
  do {                                                                                             \
    if ((v)->n == (v)->cap)                                                                        \
      (v)->at = td_vec_grow((a), (v)->at, (v)->n, &(v)->cap, sizeof *(v)->at);                     \
    (v)->at[(v)->n++] = (x);                                                                       \
  } while (0)

/* Returns a block of at least twice *cap elements of `size` bytes holding the first n of old;
 * updates *cap. */
void *td_vec_grow(TdArena *a, const void *old, size_t n, size_t *cap, size_t size);

#endif

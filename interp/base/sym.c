/* sym.c - the table of interned names. */
#include "base/sym.h"

#include <string.h>

#include "base/map.h"

typedef struct Name {
  struct Name *next; /* same hash */
  size_t n;
  char s[];
} Name;

struct TdNames {
  TdArena *arena;
  TdMap by_hash;
};

TdNames *td_names_new(TdArena *a) {
  TdNames *t = TD_NEW(a, TdNames);
  t->arena = a;
  return t;
}

const char *td_names_of(TdNames *t, const char *s, size_t n) {
  uint64_t h = td_map_hash(s, n), head = 0;
  td_map_get(&t->by_hash, h, &head);
  for (Name *p = (Name *)(uintptr_t)head; p; p = p->next)
    if (p->n == n && memcmp(p->s, s, n) == 0) return p->s;
  Name *p = td_arena_alloc(t->arena, sizeof *p + n + 1);
  p->next = (Name *)(uintptr_t)head;
  p->n = n;
  if (n) memcpy(p->s, s, n);
  td_map_put(t->arena, &t->by_hash, h, (uint64_t)(uintptr_t)p);
  return p->s;
}

const char *td_names_str(TdNames *t, const char *s) {
  return td_names_of(t, s, strlen(s));
}

/* gmp.c - memory for GMP, isl's numbers, which aborts the process where it is given none: so it is
 * given some of a reserve then, and isl is told to stop. */
#include "affine/gmp.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* Far more than isl's numbers take until it looks whether it is to stop. */
enum { RESERVE = 4 << 20, GRAIN = 16 };

static struct {
  _Alignas(GRAIN) char byte[RESERVE];
  size_t used, live; /* bytes that were given out, blocks that were not given back */
  void *loose;       /* blocks of a grain that were given back, each with the next one in it */
  bool tapped;
  void (*stop)(void *ud);
  void *ud;
} reserve;

static bool is_ours(const void *p) {
  const char *at = p;
  return at >= reserve.byte && at < reserve.byte + RESERVE;
}

/* A block of the reserve; aborts as GMP would when it is spent, too. */
static void *take(size_t n) {
  size_t whole = (n + GRAIN - 1) / GRAIN * GRAIN;
  void *p = reserve.loose;
  if (p && whole == GRAIN) {
    memcpy(&reserve.loose, p, sizeof p);
  } else {
    if (whole < n || whole > RESERVE - reserve.used) abort();
    p = reserve.byte + reserve.used;
    reserve.used += whole;
  }
  reserve.live++;
  reserve.tapped = true;
  if (reserve.stop) reserve.stop(reserve.ud);
  return p;
}

static void *allocate(size_t n) {
  void *p = malloc(n);
  return p ? p : take(n);
}

static void release(void *p, size_t n) {
  if (!is_ours(p)) {
    free(p);
    return;
  }
  if (n <= GRAIN) {
    memcpy(p, &reserve.loose, sizeof p);
    reserve.loose = p;
  }
  if (--reserve.live > 0) return;
  reserve.used = 0;
  reserve.loose = NULL;
}

static void *resize(void *old, size_t old_n, size_t n) {
  void *p = is_ours(old) ? NULL : realloc(old, n);
  if (p) return p;
  p = allocate(n);
  memcpy(p, old, old_n < n ? old_n : n);
  release(old, old_n);
  return p;
}

void td_gmp_open(void) {
  typedef void Set(void *(*)(size_t), void *(*)(void *, size_t, size_t), void (*)(void *, size_t));
  static bool done;
  void *self = done ? NULL : dlopen(NULL, RTLD_NOW);
  void *symbol = self ? dlsym(self, "__gmp_set_memory_functions") : NULL;
  Set *set;
  done = true;
  memcpy(&set, &symbol, sizeof set);
  if (symbol) set(allocate, resize, release);
  if (self) dlclose(self);
}

void td_gmp_watch(void (*stop)(void *ud), void *ud) {
  reserve.stop = stop;
  reserve.ud = ud;
  reserve.tapped = false;
}

bool td_gmp_lacked(void) {
  return reserve.tapped;
}

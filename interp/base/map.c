/* map.c - open addressing with linear probing; deletion shifts the run back. */
#include "base/map.h"

#include <string.h>

uint64_t td_map_mix(uint64_t a, uint64_t b) {
  uint64_t x = a * 0x9E3779B97F4A7C15u + (b ^ (b >> 32)) * 0xC2B2AE3D27D4EB4Fu;
  x ^= x >> 29;
  x *= 0xBF58476D1CE4E5B9u;
  return x ^ (x >> 32);
}

uint64_t td_map_hash(const void *p, size_t n) {
  const unsigned char *s = p;
  uint64_t h = n;
  for (; n >= 8; n -= 8, s += 8) {
    uint64_t w;
    memcpy(&w, s, 8);
    h = td_map_mix(h, w);
  }
  uint64_t tail = 0;
  if (n) memcpy(&tail, s, n);
  return td_map_mix(h, tail);
}

/* The slot that holds key, or the empty one where it belongs. The table is never full. */
static size_t slot_of(const TdMap *m, uint64_t key) {
  size_t i = td_map_mix(key, 0) & (m->cap - 1);
  while (m->full[i] && m->key[i] != key) i = (i + 1) & (m->cap - 1);
  return i;
}

/* Doubles the table; an escape for want of memory leaves it as it was. */
static void grow(TdArena *a, TdMap *m) {
  TdMap new = {.n = m->n, .cap = m->cap ? m->cap * 2 : 16};
  new.key = TD_NEWN(a, uint64_t, new.cap);
  new.val = TD_NEWN(a, uint64_t, new.cap);
  new.full = TD_NEWN(a, uint8_t, new.cap);
  for (size_t i = 0; i < m->cap; i++) {
    if (!m->full[i]) continue;
    size_t j = slot_of(&new, m->key[i]);
    new.full[j] = 1, new.key[j] = m->key[i], new.val[j] = m->val[i];
  }
  *m = new;
}

void td_map_put(TdArena *a, TdMap *m, uint64_t key, uint64_t val) {
  if ((m->n + 1) * 4 > m->cap * 3) grow(a, m);
  size_t i = slot_of(m, key);
  if (!m->full[i]) m->n++;
  m->full[i] = 1, m->key[i] = key, m->val[i] = val;
}

bool td_map_get(const TdMap *m, uint64_t key, uint64_t *val) {
  if (!m->n) return false;
  size_t i = slot_of(m, key);
  if (m->full[i] && val) *val = m->val[i];
  return m->full[i];
}

bool td_map_drop(TdMap *m, uint64_t key) {
  if (!m->n) return false;
  size_t mask = m->cap - 1, i = slot_of(m, key);
  if (!m->full[i]) return false;
  m->n--;
  for (size_t j = (i + 1) & mask; m->full[j]; j = (j + 1) & mask) {
    size_t home = td_map_mix(m->key[j], 0) & mask;
    if (((j - home) & mask) < ((j - i) & mask)) continue;
    m->key[i] = m->key[j], m->val[i] = m->val[j];
    i = j;
  }
  m->full[i] = 0;
  return true;
}

void td_map_putp(TdArena *a, TdMap *m, const void *key, void *val) {
  td_map_put(a, m, (uint64_t)(uintptr_t)key, (uint64_t)(uintptr_t)val);
}

void *td_map_getp(const TdMap *m, const void *key) {
  uint64_t v;
  return td_map_get(m, (uint64_t)(uintptr_t)key, &v) ? (void *)(uintptr_t)v : NULL;
}

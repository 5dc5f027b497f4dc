/* map.h - a hash map in an arena, from 64-bit words or pointers to the same. */
#ifndef TD_MAP_H
#define TD_MAP_H

#include "base/arena.h"

/* Zero-initialised is empty. Iteration order is not defined: never let it reach a result. */
typedef struct TdMap {
  uint64_t *key, *val;
  uint8_t *full;
  size_t n, cap;
} TdMap;

/* Sets map[key] = val; storage from a. */
void td_map_put(TdArena *a, TdMap *m, uint64_t key, uint64_t val);

/* Returns whether key is present; if so and val is not NULL, *val is its value. */
bool td_map_get(const TdMap *m, uint64_t key, uint64_t *val);

/* Forgets key; returns whether it was there. */
bool td_map_drop(TdMap *m, uint64_t key);

/* The same keyed by pointer; get returns NULL when absent. */
void td_map_putp(TdArena *a, TdMap *m, const void *key, void *val);
void *td_map_getp(const TdMap *m, const void *key);

/* Mixes two words into a well spread hash. */
uint64_t td_map_mix(uint64_t a, uint64_t b);
/* Hash of n bytes. */
uint64_t td_map_hash(const void *p, size_t n);

#endif

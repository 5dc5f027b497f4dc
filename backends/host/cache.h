/* cache.h - a folder of things that were built, named by what they were built from: TIDE_CACHE, or
 * `tide` among the user's caches, or where those cannot be written one in TMPDIR. Only the user may
 * write to it; processes may share it. */
#ifndef TD_HOST_CACHE_H
#define TD_HOST_CACHE_H

#include "base/base.h"

typedef struct TdCache {
  TdArena *arena; /* of all paths */
  TdDiag *diag;
  const char *folder;
  int64_t cap; /* bytes of files that may stay */
} TdCache;

/* Opens the folder, making it; false with d filled. */
bool td_cache_open(TdCache *c, TdArena *a, TdDiag *d);
/* Fills the diagnostic: what cannot be done with a path, and errno; returns false. */
bool td_cache_fail(TdCache *c, const char *what, const char *path);
/* The path of what is built from the n bytes at key. */
const char *td_cache_path(const TdCache *c, const char *key, size_t n, const char *suffix);
/* A new folder in it for what does not stay: removed, with the files in it, when a is freed. NULL
 * with the diagnostic filled. */
const char *td_cache_aside(TdCache *c);
/* Moves a finished file to its path; the longest unused go when the folder holds too much. */
bool td_cache_keep(TdCache *c, const char *from, const char *path);
/* Marks a path as used now; whether it is there and holds something: a file may be empty after a
 * loss of power. */
bool td_cache_has(const TdCache *c, const char *path);

/* All of a file as text, or NULL; a file with a text, or false with errno. */
const char *td_cache_read_file(TdArena *a, const char *path);
bool td_cache_write_file(const char *path, const char *text);

#endif

/* cache.c - the folder of built things: files appear whole (made aside, then renamed) and are
 * removed by age when it is full. */
#include "backends/host/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { STALE = 24 * 3600 };
#define CAP ((int64_t)256 << 20)

bool td_cache_fail(TdCache *c, const char *what, const char *path) {
  td_diag_set(c->diag, TD_USAGE, "cache", (TdLoc){0}, "%s %s: %s", what, path, strerror(errno));
  td_diag_help(c->diag, "TIDE_CACHE names the folder of compiled programs");
  return false;
}

/* Makes a folder and those above it, for this user only. */
static bool make_folder(char *path) {
  for (char *s = path + 1; *s; s++) {
    if (*s != '/') continue;
    *s = 0;
    mkdir(path, 0700);
    *s = '/';
  }
  return mkdir(path, 0700) == 0 || errno == EEXIST;
}

/* Makes a folder that only this user may write to; what is wrong with it, or NULL. */
static const char *make_own(char *path) {
  struct stat st;
  if (!make_folder(path) || stat(path, &st) != 0) return "cannot make";
  if (st.st_uid == geteuid() && !(st.st_mode & (S_IWGRP | S_IWOTH))) return NULL;
  errno = EPERM;
  return "others may write to";
}

/* The value of an environment variable, or NULL when it is empty too. */
static const char *value_of(const char *name) {
  const char *v = getenv(name);
  return v && *v ? v : NULL;
}

bool td_cache_open(TdCache *c, TdArena *a, TdDiag *d) {
  const char *own = value_of("TIDE_CACHE"), *cache = value_of("XDG_CACHE_HOME"),
             *home = value_of("HOME"), *temp = value_of("TMPDIR");
  char *path = own     ? td_arena_strdup(a, own)
               : cache ? td_text_fmt(a, "%s/tide", cache)
               : home  ? td_text_fmt(a, "%s/.cache/tide", home)
                       : NULL;
  *c = (TdCache){.arena = a, .diag = d, .cap = CAP};
  const char *wrong = path ? make_own(path) : "";
  if (wrong && !own) {
    path = td_text_fmt(a, "%s/tide-%ld", temp ? temp : "/tmp", (long)geteuid());
    wrong = make_own(path);
  }
  c->folder = path;
  return !wrong || td_cache_fail(c, wrong, path);
}

const char *td_cache_path(const TdCache *c, const char *key, size_t n, const char *suffix) {
  return td_text_fmt(c->arena, "%s/%016" PRIx64 "%016" PRIx64 "%s", c->folder, td_map_hash(key, n),
                     td_map_hash(key + 1, n - 1), suffix);
}

/* A folder that goes, and the process that made it. */
typedef struct Aside {
  const char *path;
  pid_t owner;
} Aside;

/* Removes it with the files in it, unless this is a copy of that process. */
static void remove_folder(void *aside) {
  const char *path = ((Aside *)aside)->path;
  if (((Aside *)aside)->owner != getpid()) return;
  DIR *dir = opendir(path);
  for (const struct dirent *e; dir && (e = readdir(dir));)
    if (e->d_name[0] != '.') unlinkat(dirfd(dir), e->d_name, 0);
  if (dir) closedir(dir);
  rmdir(path);
}

const char *td_cache_aside(TdCache *c) {
  char *path = td_text_fmt(c->arena, "%s/new-XXXXXX", c->folder);
  if (!mkdtemp(path)) {
    td_cache_fail(c, "cannot write to", c->folder);
    return NULL;
  }
  Aside *aside = TD_NEW(c->arena, Aside);
  *aside = (Aside){path, getpid()};
  td_arena_defer(c->arena, remove_folder, aside);
  return path;
}

/* A file of the folder. */
typedef struct Found {
  const char *path;
  int64_t bytes;
  struct timespec used;
} Found;

static int by_age(const void *x, const void *y) {
  const struct timespec a = ((const Found *)x)->used, b = ((const Found *)y)->used;
  if (a.tv_sec != b.tv_sec) return a.tv_sec < b.tv_sec ? -1 : 1;
  return (a.tv_nsec > b.tv_nsec) - (a.tv_nsec < b.tv_nsec);
}

/* Removes what was left by processes that died, and the longest unused until the rest fits; never
 * `keep`. */
static void evict(TdCache *c, const char *keep) {
  int64_t sum = 0;
  TD_VEC(Found) found = {0};
  DIR *dir = opendir(c->folder);
  time_t now = time(NULL);
  for (const struct dirent *e; dir && (e = readdir(dir));) {
    struct stat st;
    char *path = td_text_fmt(c->arena, "%s/%s", c->folder, e->d_name);
    if (e->d_name[0] == '.' || stat(path, &st) != 0) continue;
    bool old = strncmp(e->d_name, "new-", 4) == 0 && st.st_mtime < now - STALE;
    if (S_ISDIR(st.st_mode) && old) remove_folder(path);
    if (!S_ISREG(st.st_mode) || strncmp(e->d_name, "new-", 4) == 0) continue;
    td_vec_push(c->arena, &found, ((Found){path, st.st_size, st.st_mtim}));
    sum += st.st_size;
  }
  if (dir) closedir(dir);
  if (found.n) qsort(found.at, found.n, sizeof *found.at, by_age);
  for (size_t i = 0; i < found.n && sum > c->cap; i++)
    if (strcmp(found.at[i].path, keep) != 0 && unlink(found.at[i].path) == 0)
      sum -= found.at[i].bytes;
}

bool td_cache_keep(TdCache *c, const char *from, const char *path) {
  if (rename(from, path) != 0) return td_cache_fail(c, "cannot write", path);
  evict(c, path);
  return true;
}

bool td_cache_has(const TdCache *c, const char *path) {
  (void)c;
  struct stat st;
  return stat(path, &st) == 0 && st.st_size > 0 && utimensat(AT_FDCWD, path, NULL, 0) == 0;
}

const char *td_cache_read_file(TdArena *a, const char *path) {
  FILE *f = fopen(path, "rb");
  if (!f) return NULL;
  TdText t = td_text_new(a);
  char block[4096];
  for (size_t n; (n = fread(block, 1, sizeof block, f)) > 0;) td_text_putn(&t, block, n);
  fclose(f);
  return td_text_str(&t);
}

bool td_cache_write_file(const char *path, const char *text) {
  FILE *f = fopen(path, "wb");
  if (!f) return false;
  bool ok = fwrite(text, 1, strlen(text), f) == strlen(text);
  return fclose(f) == 0 && ok;
}

/* file.c - files are written beside their place, then moved there. */
#define _XOPEN_SOURCE 700 /* realpath */
#include "base/file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

/* Writes all to f, which is closed. */
static bool fill(FILE *f, const char *text, size_t n) {
  if (!f) return false;
  bool ok = fwrite(text, 1, n, f) == n;
  int why = errno;
  if (fclose(f) == 0 && ok) return true;
  if (!ok) errno = why;
  return false;
}

/* A new file beside path, its name put in *name; NULL with errno. */
static FILE *open_beside(TdArena *a, const char *path, char **name) {
  *name = td_text_fmt(a, "%s.XXXXXX", path);
  int fd = mkstemp(*name);
  FILE *f = fd < 0 ? NULL : fdopen(fd, "wb");
  if (fd >= 0 && !f) close(fd);
  return f;
}

bool td_file_write(TdArena *a, const char *path, const char *text, size_t n) {
  struct stat old;
  bool exists = stat(path, &old) == 0;
  if (exists && !S_ISREG(old.st_mode)) return fill(fopen(path, "wb"), text, n);
  char real[PATH_MAX], *name;
  const char *place = exists && realpath(path, real) ? real : path;
  mode_t mask = umask(0);
  umask(mask);
  FILE *f = open_beside(a, place, &name);
  if (!f) return false;
  bool ok = fill(f, text, n) && chmod(name, exists ? old.st_mode & 07777 : 0666 & ~mask) == 0 &&
            rename(name, place) == 0;
  int why = errno;
  if (!ok) unlink(name);
  errno = why;
  return ok;
}

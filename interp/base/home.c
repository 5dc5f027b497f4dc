/* home.c - looks for Tide's files beside the program and above it. */
#include "base/home.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LEVELS = 5, PATH_BYTES = 4096 };

/* Whether folder + inside + below is there. */
static bool is_there(const char *folder, const char *inside, const char *below) {
  char path[PATH_BYTES];
  int n = snprintf(path, sizeof path, "%s%s/%s", folder, inside, below);
  return n > 0 && n < PATH_BYTES && access(path, R_OK) == 0;
}

/* Where the search begins; empty: at the program. */
static char begin[PATH_BYTES];

void td_home_begin(const char *file) {
  snprintf(begin, sizeof begin, "%s", file);
}

/* The path of the file where the search begins, in folder, which has room for PATH_BYTES. */
static void find_begin(char *folder) {
  ssize_t got = *begin ? 0 : readlink("/proc/self/exe", folder, PATH_BYTES - 1);
  folder[got > 0 ? got : 0] = 0;
  if (*begin) memcpy(folder, begin, sizeof begin);
}

bool td_home_find(const char *below, char *path, size_t n) {
  static const char *const inside[] = {"", "/share/tide", "/lib/tide"};
  char folder[PATH_BYTES];
  find_begin(folder);
  for (int level = 0; level < LEVELS; level++) {
    char *slash = strrchr(folder, '/');
    if (!slash) return false;
    *slash = 0;
    for (int i = 0; i < 3; i++) {
      if (!is_there(folder, inside[i], below)) continue;
      int put = snprintf(path, n, "%s%s", folder, inside[i]);
      return put > 0 && (size_t)put < n;
    }
  }
  return false;
}

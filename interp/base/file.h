/* file.h - files that appear whole. */
#ifndef TD_FILE_H
#define TD_FILE_H

#include "base/arena.h"

/* Writes n bytes to the file at path. Unless all of them are written, a file that was there stays
 * as it was and none appears; then false, with errno. What is no file (a terminal, a pipe) is
 * written to as it is. Paths are made in a. */
bool td_file_write(TdArena *a, const char *path, const char *text, size_t n);

#endif

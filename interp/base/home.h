/* home.h - where Tide's own files are. */
#ifndef TD_HOME_H
#define TD_HOME_H

#include <stdbool.h>
#include <stddef.h>

/* Finds the folder that holds `below` (a path): the program's own, one of those above it, or
 * share/tide or lib/tide in one of these, where `make install` puts it. Fills path, which has room
 * for n bytes; false when there is none. */
bool td_home_find(const char *below, char *path, size_t n);

/* Has it looked for beside and above this file, not the program: for a module in another Lua. */
void td_home_begin(const char *file);

#endif

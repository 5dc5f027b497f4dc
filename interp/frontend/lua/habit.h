/* habit.h - signs and words of other languages and of Lua 5.1, and what Lua 5.4 writes instead. */
#ifndef TD_FRONTEND_LUA_HABIT_H
#define TD_FRONTEND_LUA_HABIT_H

#include "base/arena.h"
#include "base/diag.h"

/* What to write for the sign of another language at `at`, or that one character before it begins,
 * in the text from `begin` to `end`; NULL where there is none. Owned by a. */
const char *td_habit_help(TdArena *a, const char *begin, const char *at, const char *end);
/* What to write for a name that is nil here and something elsewhere: "unpack"; or NULL. */
const char *td_habit_word(const char *name);
/* Says in d's help what was meant by a name that is none of n: of another language, or near. */
void td_habit_suggest(TdDiag *d, const char *name, const char *const *names, size_t n);

#endif

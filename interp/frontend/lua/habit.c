/* habit.c - signs of other languages, and what Lua writes instead. */
#include "frontend/lua/habit.h"

#include <string.h>

#include "base/text.h"

static const struct {
  const char *sign, *help;
} habits[] = {{"!=", "unequal is ~= in Lua"},
              {"!", "the opposite of x is `not x` in Lua"},
              {"&&", "Lua writes `and` for &&"},
              {"||", "Lua writes `or` for ||"},
              {"++", "Lua has no ++: write x = x + 1"},
              {"?", "Lua has no ?: - tide.select(c, x, y) chooses, and so does an if"}};

static bool begins(const char *at, const char *end, const char *sign) {
  size_t n = strlen(sign);
  return (size_t)(end - at) >= n && memcmp(at, sign, n) == 0;
}

const char *td_habit_help(TdArena *a, const char *begin, const char *at, const char *end) {
  for (size_t i = 0; i < sizeof habits / sizeof *habits; i++) {
    bool here = begins(at, end, habits[i].sign);
    bool before = habits[i].sign[1] && at > begin && begins(at - 1, end, habits[i].sign);
    if (here || before) return habits[i].help;
  }
  bool assigns = end - at >= 2 && strchr("+-*/%&|^", *at) && at[1] == '=';
  return assigns ? td_text_fmt(a, "Lua has no %c=: write x = x %c y", *at, *at) : NULL;
}

/* habit.c - signs and words of other languages and of Lua 5.1, and what Lua 5.4
 * writes instead. */
#include "frontend/lua/habit.h"

#include <ctype.h>
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

static const struct {
  const char *word, *help;
} words[] = {{"unpack", "Lua 5.4 has table.unpack"},
             {"loadstring", "Lua 5.4 has load"},
             {"setfenv", "Lua 5.4 has load(text, name, \"t\", environment)"},
             {"getfenv", "Lua 5.4 has _ENV"},
             {"getn", "#t is the length of a table"},
             {"maxn", "#t is the length of a table"},
             {"foreach", "for key, value in pairs(t) do"},
             {"foreachi", "for i, value in ipairs(t) do"},
             {"gfind", "Lua 5.4 has string.gmatch"},
             {"pow", "x ^ y is a power"},
             {"len", "#x is the length of a text or a table"},
             {"range", "for i = 0, n - 1 do counts; in a kernel also for i in grid(n) do"},
             {"append", "t[#t + 1] = x appends to a table"},
             {"printf", "print(string.format(..))"},
             {"sum", "x = x + A[i] in a loop adds up, or tide.reduce(A, \"+\", 0)"},
             {"fill", "t:set(0) writes every element"},
             {"zeros", "f32[4](0) is a tensor of zeros"},
             {"ones", "f32[4](1) is a tensor of ones"},
             {"dot", "tide.matmul(A, B) is the product of matrices"},
             {"None", "nil is Lua's word"},
             {"null", "nil is Lua's word"},
             {"True", "true is Lua's word"},
             {"False", "false is Lua's word"},
             {"int32", "Tide's types are i8 to i64, u8 to u64, f16 to f64, and int(n)"},
             {"uint32", "Tide's types are i8 to i64, u8 to u64, f16 to f64, and int(n)"},
             {"float32", "Tide's types are f16, bf16, f32, f64"},
             {"double", "Tide's types are f16, bf16, f32, f64"}};

const char *td_habit_word(const char *name) {
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strcmp(words[i].word, name) == 0) return words[i].help;
  return NULL;
}

void td_habit_suggest(TdDiag *d, const char *name, const char *const *names, size_t n) {
  const char *habit = td_habit_word(name), *near = habit ? NULL : td_text_nearest(name, names, n);
  if (habit)
    td_diag_help(d, "%s", habit);
  else if (near)
    td_diag_help(d, "did you mean '%s'?", near);
}

static bool begins(const char *at, const char *end, const char *sign) {
  size_t n = strlen(sign);
  return (size_t)(end - at) >= n && memcmp(at, sign, n) == 0;
}

/* The place before the blanks, or the letters of a word, that end at `at`. */
static const char *skip_blanks(const char *begin, const char *at) {
  while (at > begin && strchr(" \t\r\n", at[-1])) at--;
  return at;
}
static const char *skip_word(const char *begin, const char *at) {
  while (at > begin && (isalnum((unsigned char)at[-1]) || at[-1] == '_')) at--;
  return at;
}

/* Whether "{ name :" or ", name : word" stands in front of `at`: a field as
 * other languages have it. */
static bool follows_colon(const char *begin, const char *at) {
  at = skip_blanks(begin, skip_word(begin, skip_blanks(begin, at)));
  if (at - begin < 2 || at[-1] != ':' || at[-2] == ':') return false;
  const char *end = skip_blanks(begin, at - 1), *name = skip_word(begin, end);
  const char *before = skip_blanks(begin, name);
  return name < end && before > begin && strchr("{,", before[-1]);
}

const char *td_habit_help(TdArena *a, const char *begin, const char *at, const char *end) {
  for (size_t i = 0; i < sizeof habits / sizeof *habits; i++) {
    bool here = begins(at, end, habits[i].sign);
    bool before = habits[i].sign[1] && at > begin && begins(at - 1, end, habits[i].sign);
    if (here || before) return habits[i].help;
  }
  if (follows_colon(begin, at)) return "a field of a table is written name = value";
  if (at > begin && at < end && *at == '=') at--; /* the parser stops at the '=' of += */
  bool assigns = end - at >= 2 && strchr("+-*/%&|^", *at) && at[1] == '=';
  return assigns ? td_text_fmt(a, "Lua has no %c=: write x = x %c y", *at, *at) : NULL;
}

/* fault_words.c - what Lua says of an error, in the words of Tide: who is what, and what was needed
 * there; names of types that no user knows do not appear. */
#include <string.h>

#include "bind/prompt/prompt.h"
#include "bind/session/fault.h"

/* What each use of a value needs. */
static const char *const needs[] = {
    [TD_FAULT_CALL] = ", not a function",
    [TD_FAULT_INDEX] = ", which has no fields",
    [TD_FAULT_ARITHMETIC] = ": arithmetic takes numbers and tensors",
    [TD_FAULT_BITWISE] = ": operators on bits take integers",
    [TD_FAULT_CONCAT] = ": .. joins texts and numbers",
    [TD_FAULT_LENGTH] = ", which has no length",
    [TD_FAULT_ARGUMENT] = NULL, /* the last */
};

/* The name of a type, n characters, as Lua's messages have it, in words. */
static const char *type_words(TdArena *a, const char *type, size_t n) {
  const char *origin, *name = td_arena_strndup(a, type, n);
  if (strcmp(name, "nil") == 0 || strcmp(name, "no value") == 0) return "nil";
  const char *words = td_help_class(name, &origin);
  return words ? words : td_text_fmt(a, "%s %s", strchr("aeiou", *name) ? "an" : "a", name);
}

/* "attempt to index a nil value (global 's')": "'s' is nil, which has no fields". */
static const char *use_words(const TdLuaFault *f) {
  const char *from = strstr(f->message, " a "), *end = from ? strstr(from, " value") : NULL;
  if (!end || !needs[f->use]) return NULL;
  const char *words = type_words(f->arena, from + 3, (size_t)(end - from - 3));
  bool set = f->use == TD_FAULT_INDEX && strncmp(from + 3, "tide.", 5) == 0;
  if (f->name && strcmp(f->name, "for iterator") == 0)
    return td_text_fmt(f->arena, "a loop runs over %s: for .. in takes an iterator, as pairs(t)",
                       words);
  const char *who = f->name && strcmp(f->name, "?") != 0 && f->name[0] != ' '
                        ? td_text_fmt(f->arena, "'%s'", f->name)
                        : "this value";
  return td_text_fmt(f->arena, "%s is %s%s", who, words,
                     set ? ", whose fields cannot be set" : needs[f->use]);
}

/* "attempt to compare two table values", "attempt to compare table with number". */
static const char *order_words(const TdLuaFault *f) {
  const char *of = f->message + strlen("attempt to compare "), *with = strstr(of, " with ");
  if (with)
    return td_text_fmt(f->arena, "%s and %s have no order",
                       type_words(f->arena, of, (size_t)(with - of)),
                       type_words(f->arena, with + 6, strlen(with + 6)));
  const char *end = strncmp(of, "two ", 4) == 0 ? strstr(of, " values") : NULL;
  if (!end) return NULL;
  const char *words = type_words(f->arena, of + 4, (size_t)(end - of - 4));
  return td_text_fmt(f->arena, "%s and %s have no order", words, words);
}

/* "bad argument #1 to 'f' (number expected, got string)". */
static const char *argument_words(const TdLuaFault *f) {
  const char *name = strchr(f->message, '\''), *end = name ? strchr(name + 1, '\'') : NULL;
  const char *open = end ? strstr(end, " (") : NULL;
  size_t n = open ? strlen(open) : 0;
  if (n < 4 || open[n - 1] != ')') return NULL;
  const char *why = td_arena_strndup(f->arena, open + 2, n - 3);
  const char *expected = strstr(why, " expected, got ");
  const char *who =
      td_text_fmt(f->arena, "argument %d of %.*s", f->argument, (int)(end - name + 1), name);
  if (!expected) return td_text_fmt(f->arena, "%s: %s", who, why);
  const char *got = expected + strlen(" expected, got ");
  return td_text_fmt(f->arena, "%s is %s, not %s", who, type_words(f->arena, got, strlen(got)),
                     type_words(f->arena, why, (size_t)(expected - why)));
}

/* "module 'x' not found:", and all the places where it was looked for. */
static const char *module_words(const TdLuaFault *f) {
  const char *end = strstr(f->message, " not found:");
  bool is = end && strncmp(f->message, "module '", 8) == 0;
  return is ? td_text_fmt(f->arena, "there is no %.*s in package.path", (int)(end - f->message),
                          f->message)
            : NULL;
}

const char *td_fault_words(const TdLuaFault *f) {
  const char *said = f->use == TD_FAULT_COMPARE    ? order_words(f)
                     : f->use == TD_FAULT_ARGUMENT ? argument_words(f)
                     : f->use == TD_FAULT_OTHER    ? module_words(f)
                                                   : use_words(f);
  return said ? said : f->message;
}

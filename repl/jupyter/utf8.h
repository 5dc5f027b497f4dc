/* utf8.h - text between Lua, whose strings are bytes, and JSON, whose strings are code points. */
#ifndef TD_REPL_JUPYTER_UTF8_H
#define TD_REPL_JUPYTER_UTF8_H

#include <jansson.h>

#include "base/arena.h"

/* The bytes of the code point at s, of which n are there: 0 when it is none, more than n when it
 * is cut off. */
size_t td_utf8_length(const char *s, size_t n);

/* The byte at which code point number `points` of s begins, at most n; and the other way round. */
size_t td_utf8_byte(const char *s, size_t n, int64_t points);
int64_t td_utf8_points(const char *s, size_t n);

/* A JSON string of n bytes; what is not UTF-8 becomes U+FFFD. A new reference. */
json_t *td_utf8_json(TdArena *a, const char *s, size_t n);

#endif

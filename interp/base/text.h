/* text.h - growing text in an arena: formatted, locale-free, with indentation. */
#ifndef TD_TEXT_H
#define TD_TEXT_H

#include <stdarg.h>
#include "base/arena.h"

#if defined(__GNUC__)
#  define TD_PRINTF(a, b) __attribute__((format(printf, a, b)))
#else
#  define TD_PRINTF(a, b)
#endif

typedef struct TdText {
  TdArena *arena;
  char *at; /* NUL-terminated once something was put */
  size_t n, cap;
  int indent; /* levels of two spaces that td_text_line puts first */
} TdText;

/* An empty text that grows in a. */
TdText td_text_new(TdArena *a);
/* Append n bytes, a string, a character. */
void td_text_putn(TdText *t, const char *s, size_t n);
void td_text_puts(TdText *t, const char *s);
void td_text_putc(TdText *t, char ch);
/* Appends s as XML shows it: its marks as entities, and ? for what it knows no letter of. */
void td_text_put_xml(TdText *t, const char *s);
/* printf-style; no %f %g %e: use td_text_put_double, which no locale changes. */
void td_text_putf(TdText *t, const char *fmt, ...) TD_PRINTF(2, 3);
void td_text_vputf(TdText *t, const char *fmt, va_list ap) TD_PRINTF(2, 0);
/* Indentation, the formatted text, newline. */
void td_text_line(TdText *t, const char *fmt, ...) TD_PRINTF(2, 3);
/* The shortest decimal text that reads back to x as a Lua float: "0.5", "1e+300", "2.0",
 * "math.huge", "(0/0)". */
void td_text_put_double(TdText *t, double x);
/* s as a Lua string literal, quotes included. */
void td_text_put_quoted(TdText *t, const char *s, size_t n);
/* The text so far, never NULL. */
const char *td_text_str(const TdText *t);

/* One formatted string owned by a. */
char *td_text_fmt(TdArena *a, const char *fmt, ...) TD_PRINTF(2, 3);
char *td_text_vfmt(TdArena *a, const char *fmt, va_list ap) TD_PRINTF(2, 0);

/* The name nearest to `want` among n names by edit distance, or NULL when none is near enough to
 * suggest. */
const char *td_text_nearest(const char *want, const char *const *names, size_t n);
/* Whether text is one of the words of a list separated by '|'; a list of one takes any. */
bool td_text_is_listed(const char *words, const char *text);

/* Changed lines from a to b as a unified body: " kept", "-gone", "+new"; at most `context` kept
 * lines around. */
void td_text_diff(TdText *out, const char *a, const char *b, int context);

#endif

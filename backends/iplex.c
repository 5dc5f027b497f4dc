/* iplex.c - a scanner for C++ source, as far as declarations need one. */
#include "backends/iplex.h"

#include <stdlib.h>
#include <string.h>

/* Where the scanner is. */
typedef struct Scan {
  TdArena *arena;
  TdIplex *out;
  const char *s;
  uint32_t line, col;
  bool fresh; /* nothing but blanks on this line so far */
} Scan;

static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
static const char digits[] = "0123456789";

/* Goes on by n bytes. */
static void skip(Scan *q, size_t n) {
  for (; n && *q->s; n--, q->s++) {
    bool end = *q->s == '\n';
    q->line += end;
    q->col = end ? 1 : q->col + 1;
    q->fresh |= end;
  }
}

static void add(Scan *q, size_t n, bool word) {
  bool quoted = *q->s == '"' || *q->s == '\'';
  TdIplexToken t = {.line = q->line, .col = q->col, .len = (uint32_t)n, .word = word};
  t.text = td_arena_strndup(q->arena, q->s, quoted ? 1 : n);
  td_vec_push(q->arena, &q->out->token, t);
  q->fresh = false;
  skip(q, n);
}

bool td_iplex_number(const char *s, int64_t *v) {
  char *end;
  if (!*s || !strchr(digits, *s)) return false;
  *v = (int64_t)strtoull(s, &end, 0);
  return strspn(end, "uUlL") == strlen(end);
}

/* Length of a directive, continued lines included; a #define of an integer is noted. */
static size_t directive(Scan *q) {
  const char *s = q->s;
  while (*s && *s != '\n') s += s[0] == '\\' && s[1] == '\n' ? 2 : 1;
  const char *at = q->s + 1 + strspn(q->s + 1, " \t");
  if (strncmp(at, "define", 6) == 0) {
    at += 6 + strspn(at + 6, " \t");
    size_t n = strcspn(at, " \t\n("), m;
    const char *value = at + n + strspn(at + n, " \t(");
    m = strcspn(value, " \t\n)");
    TdIplexNumber x = {.name = td_arena_strndup(q->arena, at, n)};
    if (at[n] != '(' && td_iplex_number(td_arena_strndup(q->arena, value, m), &x.value))
      td_vec_push(q->arena, &q->out->number, x);
  }
  return (size_t)(s - q->s);
}

/* Length of a string or character literal. */
static size_t literal(const char *s) {
  const char *at = s + 1;
  while (*at && *at != *s && *at != '\n') at += *at == '\\' && at[1] ? 2 : 1;
  return (size_t)(at - s) + (*at == *s);
}

/* Length of what is no token here: blanks, a comment, a directive; or 0. */
static size_t aside(Scan *q) {
  const char *s = q->s, *end;
  if (strchr(" \t\r\n", *s)) return 1;
  if (s[0] == '/' && s[1] == '/') return strcspn(s, "\n");
  if (s[0] == '/' && s[1] == '*')
    return (end = strstr(s + 2, "*/")) ? (size_t)(end - s) + 2 : strlen(s);
  return *s == '#' && q->fresh ? directive(q) : 0;
}

TdIplex td_iplex_of(TdArena *a, const char *text) {
  TdIplex out = {0};
  Scan q = {.arena = a, .out = &out, .s = text, .line = 1, .col = 1, .fresh = true};
  while (*q.s) {
    size_t n = aside(&q), word = strspn(q.s, letters);
    if (n)
      skip(&q, n);
    else if (word)
      add(&q,
          word + strspn(q.s + word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
                                    "0123456789"),
          true);
    else if (strchr(digits, *q.s))
      add(&q, strspn(q.s, "0123456789abcdefABCDEFxXuUlL.'"), false);
    else if (*q.s == '"' || *q.s == '\'')
      add(&q, literal(q.s), false);
    else
      add(&q, q.s[0] == ':' && q.s[1] == ':' ? 2 : 1, false);
  }
  td_vec_push(a, &out.token, ((TdIplexToken){.text = "", .line = q.line, .col = q.col}));
  return out;
}

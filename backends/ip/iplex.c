/* iplex.c - a scanner for preprocessed C++, as far as declarations need one. */
#include "backends/ip/iplex.h"

#include <stdlib.h>
#include <string.h>

/* Where the scanner is. */
typedef struct Scan {
  TdArena *arena;
  TdIplex *out;
  const char *s, *const *path; /* of the wanted files */
  size_t nfile;
  uint32_t file, line, col; /* file: nfile if it is none of them */
  bool fresh;               /* nothing but blanks on this line so far */
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
  TdIplexToken t = {.file = q->file, .line = q->line, .col = q->col, .len = (uint32_t)n};
  t.word = word;
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

/* The n bytes at path without folders that it leaves again: "a/b/../c.h" is "a/c.h". */
static const char *straight(TdArena *a, const char *path, size_t n) {
  char *s = td_arena_strndup(a, path, n), *up;
  while ((up = strstr(s, "/../")) && up > s) {
    char *from = up;
    while (from > s && from[-1] != '/') from--;
    memmove(from, up + 4, strlen(up + 4) + 1);
  }
  return s;
}

/* Goes to the line behind a directive. One of the preprocessor, `# 7 "path"`, says which line of
 * which file that is. */
static void directive(Scan *q) {
  char *end;
  size_t n = strcspn(q->s, "\n");
  unsigned long line = strtoul(q->s + 1, &end, 10);
  bool marks = end > q->s + 1 && strncmp(end, " \"", 2) == 0;
  skip(q, n + (q->s[n] == '\n'));
  if (!marks) return;
  const char *path = straight(q->arena, end + 2, strcspn(end + 2, "\""));
  q->line = (uint32_t)line;
  q->file = 0;
  while (q->file < q->nfile && strcmp(path, q->path[q->file]) != 0) q->file++;
}

/* Length of a string or character literal. */
static size_t literal(const char *s) {
  const char *at = s + 1;
  while (*at && *at != *s && *at != '\n') at += *at == '\\' && at[1] ? 2 : 1;
  return (size_t)(at - s) + (*at == *s);
}

/* Whether a token is this one. */
static bool is(const TdIplex *x, size_t i, const char *text) {
  return i < x->token.n && strcmp(x->token.at[i].text, text) == 0;
}

/* How many tokens from i on no call depends on. */
static size_t idle(const TdIplex *x, size_t i) {
  static const char *const words[] = {"volatile", "register", "__restrict", "__restrict__"};
  for (size_t k = 0; k < sizeof words / sizeof *words; k++)
    if (is(x, i, words[k])) return 1;
  bool attribute = is(x, i, "__attribute__") && is(x, i + 1, "(");
  if (!attribute && !(is(x, i, "[") && is(x, i + 1, "["))) return 0;
  size_t depth = 0, at = i + attribute;
  do {
    depth += is(x, at, "(") || is(x, at, "[");
    depth -= depth && (is(x, at, ")") || is(x, at, "]"));
  } while (++at < x->token.n && depth);
  return at - i;
}

/* Leaves those out. */
static void drop_idle(TdIplex *x) {
  size_t kept = 0;
  for (size_t i = 0; i < x->token.n;) {
    size_t n = idle(x, i);
    if (!n) x->token.at[kept++] = x->token.at[i++];
    i += n;
  }
  x->token.n = kept;
}

TdIplex td_iplex_of(TdArena *a, const char *text, const char *const *path, size_t n) {
  TdIplex out = {0};
  Scan q = {.arena = a, .out = &out, .s = text, .path = path, .nfile = n, .line = 1, .col = 1};
  q.file = (uint32_t)n;
  q.fresh = true;
  while (*q.s) {
    size_t word = strspn(q.s, letters);
    if (*q.s == '#' && q.fresh)
      directive(&q);
    else if (q.file == n)
      skip(&q, strcspn(q.s, "\n") + 1);
    else if (strchr(" \t\r\n", *q.s))
      skip(&q, 1);
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
  drop_idle(&out);
  td_vec_push(a, &out.token, ((TdIplexToken){.text = "", .line = q.line, .col = q.col}));
  return out;
}

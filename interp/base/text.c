/* text.c - growing text, number formatting that no locale changes, nearest
 * names. */
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TdText td_text_new(TdArena *a) {
  return (TdText){.arena = a};
}

/* Makes room for n more bytes and the final NUL. */
static void reserve(TdText *t, size_t n) {
  if (t->n + n + 1 <= t->cap) return;
  size_t cap = t->cap ? t->cap * 2 : 256;
  if (cap < t->n + n + 1) cap = t->n + n + 1;
  char *at = td_arena_alloc(t->arena, cap);
  if (t->n) memcpy(at, t->at, t->n);
  t->at = at;
  t->cap = cap;
}

void td_text_putn(TdText *t, const char *s, size_t n) {
  reserve(t, n);
  if (n) memcpy(t->at + t->n, s, n);
  t->n += n;
  t->at[t->n] = 0;
}

void td_text_puts(TdText *t, const char *s) {
  td_text_putn(t, s, strlen(s));
}

void td_text_putc(TdText *t, char ch) {
  td_text_putn(t, &ch, 1);
}

/* Bytes of the letter beyond ASCII at s; 0: those are none. */
static size_t letter_bytes(const unsigned char *s) {
  size_t n = *s >= 0xf0 && *s < 0xf5   ? 4
             : *s >= 0xe0 && *s < 0xf0 ? 3
             : *s >= 0xc2 && *s < 0xe0 ? 2
                                       : 0;
  for (size_t i = 1; i < n; i++)
    if ((s[i] & 0xc0) != 0x80) return 0;
  bool over = (*s == 0xe0 && s[1] < 0xa0) || (*s == 0xf0 && s[1] < 0x90);
  bool none = (*s == 0xed && s[1] > 0x9f) || (*s == 0xf4 && s[1] > 0x8f) ||
              (*s == 0xef && s[1] == 0xbf && s[2] > 0xbd);
  return n && (over || none) ? 0 : n;
}

void td_text_put_xml(TdText *t, const char *s) {
  for (; *s; s++) {
    unsigned char ch = (unsigned char)*s;
    size_t n = ch < 0x80 ? 1 : letter_bytes((const unsigned char *)s);
    const char *mark = ch == '&'   ? "&amp;"
                       : ch == '<' ? "&lt;"
                       : ch == '>' ? "&gt;"
                       : ch == '"' ? "&quot;"
                                   : NULL;
    if (mark)
      td_text_puts(t, mark);
    else if (!n || ch < ' ' || ch == 0x7f)
      td_text_putc(t, '?');
    else
      td_text_putn(t, s, n);
    if (n) s += n - 1;
  }
}

void td_text_vputf(TdText *t, const char *fmt, va_list ap) {
  va_list again;
  va_copy(again, ap);
  int n = vsnprintf(NULL, 0, fmt, ap);
  if (n > 0) {
    reserve(t, (size_t)n);
    vsnprintf(t->at + t->n, (size_t)n + 1, fmt, again);
    t->n += (size_t)n;
  }
  va_end(again);
}

void td_text_putf(TdText *t, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  td_text_vputf(t, fmt, ap);
  va_end(ap);
}

void td_text_line(TdText *t, const char *fmt, ...) {
  for (int i = 0; i < t->indent; i++) td_text_puts(t, "  ");
  va_list ap;
  va_start(ap, fmt);
  td_text_vputf(t, fmt, ap);
  va_end(ap);
  td_text_putc(t, '\n');
}

void td_text_put_double(TdText *t, double x) {
  if (isnan(x)) {
    td_text_puts(t, "(0/0)");
    return;
  }
  if (isinf(x)) {
    td_text_puts(t, x > 0 ? "math.huge" : "-math.huge");
    return;
  }
  char s[40];
  for (int digits = 15; digits <= 17; digits++) {
    snprintf(s, sizeof s, "%.*g", digits, x);
    if (strtod(s, NULL) == x) break;
  }
  bool plain = true;
  for (char *p = s; *p; p++) {
    if (strchr("0123456789-", *p)) continue;
    plain = false;
    if (*p != 'e' && *p != '+') *p = '.';
  }
  td_text_puts(t, s);
  if (plain) td_text_puts(t, ".0");
}

void td_text_put_quoted(TdText *t, const char *s, size_t n) {
  td_text_putc(t, '"');
  for (size_t i = 0; i < n; i++) {
    unsigned char ch = (unsigned char)s[i];
    if (ch == '"' || ch == '\\')
      td_text_putf(t, "\\%c", ch);
    else if (ch == '\n')
      td_text_puts(t, "\\n");
    else if (ch < 32 || ch == 127)
      td_text_putf(t, "\\%03d", ch);
    else
      td_text_putc(t, (char)ch);
  }
  td_text_putc(t, '"');
}

const char *td_text_str(const TdText *t) {
  return t->at ? t->at : "";
}

char *td_text_vfmt(TdArena *a, const char *fmt, va_list ap) {
  TdText t = td_text_new(a);
  td_text_vputf(&t, fmt, ap);
  reserve(&t, 0);
  return t.at;
}

char *td_text_fmt(TdArena *a, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  char *text = td_text_vfmt(a, fmt, ap);
  va_end(ap);
  return text;
}

#define NEAR_MAX 40

/* Edit distance with swaps of neighbours, for names shorter than NEAR_MAX;
 * large for longer ones.
 */
static size_t edit_distance(const char *a, const char *b) {
  size_t na = strlen(a), nb = strlen(b), row[3][NEAR_MAX + 1];
  if (na > NEAR_MAX || nb > NEAR_MAX) return NEAR_MAX;
  for (size_t j = 0; j <= nb; j++) row[0][j] = j;
  for (size_t i = 1; i <= na; i++) {
    size_t *now = row[i % 3], *up = row[(i + 2) % 3], *up2 = row[(i + 1) % 3];
    now[0] = i;
    for (size_t j = 1; j <= nb; j++) {
      size_t best = up[j - 1] + (a[i - 1] != b[j - 1]);
      if (up[j] + 1 < best) best = up[j] + 1;
      if (now[j - 1] + 1 < best) best = now[j - 1] + 1;
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && up2[j - 2] + 1 < best)
        best = up2[j - 2] + 1;
      now[j] = best;
    }
  }
  return row[na % 3][nb];
}

const char *td_text_nearest(const char *want, const char *const *names, size_t n) {
  const char *best = NULL;
  size_t best_d = strlen(want) / 3 + 2;
  for (size_t i = 0; i < n; i++) {
    size_t d = edit_distance(want, names[i]);
    bool tie = best && d == best_d && strcmp(names[i], best) < 0; /* names come in any order */
    bool alike = *want == *names[i] || strstr(names[i], want) != NULL;
    if (d > 1 && strlen(want) < 5 && !alike) continue; /* short words have many near */
    if ((d < best_d || tie) && d < strlen(want)) best_d = d, best = names[i];
  }
  return best;
}

bool td_text_is_listed(const char *words, const char *text) {
  if (!strchr(words, '|')) return true;
  for (const char *s = words; *s; s += *s == '|') {
    size_t n = strcspn(s, "|");
    if (n == strlen(text) && strncmp(s, text, n) == 0) return true;
    s += n;
  }
  return false;
}

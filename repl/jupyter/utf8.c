/* utf8.c - code points of UTF-8 as RFC 3629 has them. */
#include "repl/jupyter/utf8.h"

#include "base/text.h"

size_t td_utf8_length(const char *s, size_t n) {
  unsigned char first = (unsigned char)s[0];
  size_t len = first < 0x80 ? 1 : first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  if (first > 0xF4) len = 0;
  for (size_t i = 1; i < len && i < n; i++) {
    unsigned char ch = (unsigned char)s[i];
    unsigned least = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
    unsigned most = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
    if (ch < (i == 1 ? least : 0x80u) || ch > (i == 1 ? most : 0xBFu)) return 0;
  }
  return len;
}

/* The bytes to the next code point: one that is none stands for itself. */
static size_t step(const char *s, size_t n) {
  size_t len = td_utf8_length(s, n);
  return len == 0 || len > n ? 1 : len;
}

size_t td_utf8_byte(const char *s, size_t n, int64_t points) {
  size_t at = 0;
  for (; points > 0 && at < n; points--) at += step(s + at, n - at);
  return at;
}

int64_t td_utf8_points(const char *s, size_t n) {
  int64_t points = 0;
  for (size_t at = 0; at < n; points++) at += step(s + at, n - at);
  return points;
}

json_t *td_utf8_json(TdArena *a, const char *s, size_t n) {
  json_t *plain = json_stringn(s, n);
  if (plain) return plain;
  TdText t = td_text_new(a);
  for (size_t at = 0; at < n;) {
    size_t len = td_utf8_length(s + at, n - at);
    bool good = len > 0 && len <= n - at;
    td_text_putn(&t, good ? s + at : "\xEF\xBF\xBD", good ? len : 3);
    at += good ? len : 1;
  }
  return json_stringn(td_text_str(&t), t.n);
}

/* lex_literal.c - strings, long brackets and numerals, as Lua reads them. */
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/lua/lex.h"

/* Reports a bad escape from its backslash at `from` to here. */
static bool bad_escape(TdLexer *lx, const char *from, const char *what) {
  if (lx->at < lx->end && !td_lex_is_newline(*lx->at)) lx->at++;
  return td_diag_set(lx->diag, TD_USAGE, "bad-escape", td_lex_place(lx, from),
                     "%s in an escape sequence", what);
}

/* Appends code point x (at most 31 bits) as UTF-8, which is extended to 6 bytes for it. */
static void put_utf8(TdText *t, uint32_t x) {
  if (x < 0x80) {
    td_text_putc(t, (char)x);
    return;
  }
  char bytes[6];
  size_t n = 0;
  uint32_t room = 0x3F;
  do {
    bytes[n++] = (char)(0x80 | (x & 0x3F));
    x >>= 6;
    room >>= 1;
  } while (x > room);
  bytes[n++] = (char)((~room << 1 | x) & 0xFF);
  while (n) td_text_putc(t, bytes[--n]);
}

/* `\u{XXX}`, from the 'u'. */
static bool read_utf8(TdLexer *lx, const char *from) {
  lx->at++;
  if (td_lex_peek(lx) != '{') return bad_escape(lx, from, "'{' expected");
  lx->at++;
  int digit = td_lex_hex(td_lex_peek(lx));
  if (digit < 0) return bad_escape(lx, from, "a hexadecimal digit expected");
  uint32_t x = 0;
  for (; digit >= 0; digit = td_lex_hex(td_lex_peek(lx))) {
    if (x > 0x7FFFFFFFu >> 4) return bad_escape(lx, from, "too large a code point");
    x = x << 4 | (uint32_t)digit;
    lx->at++;
  }
  if (td_lex_peek(lx) != '}') return bad_escape(lx, from, "'}' expected");
  lx->at++;
  put_utf8(&lx->scratch, x);
  return true;
}

/* `\xXX`, from the 'x'. */
static bool read_hex(TdLexer *lx, const char *from) {
  int x = 0;
  lx->at++;
  for (int i = 0; i < 2; i++, lx->at++) {
    int digit = td_lex_hex(td_lex_peek(lx));
    if (digit < 0) return bad_escape(lx, from, "a hexadecimal digit expected");
    x = x << 4 | digit;
  }
  td_text_putc(&lx->scratch, (char)x);
  return true;
}

/* `\ddd`, from its first digit. */
static bool read_decimal(TdLexer *lx, const char *from) {
  int x = 0;
  for (int i = 0; i < 3 && td_lex_is_digit(td_lex_peek(lx)); i++) x = x * 10 + *lx->at++ - '0';
  if (x > UINT8_MAX) return bad_escape(lx, from, "a number above 255");
  td_text_putc(&lx->scratch, (char)x);
  return true;
}

/* Passes over the blanks and line ends that follow `\z`. */
static void skip_white(TdLexer *lx) {
  for (int c = td_lex_peek(lx);; c = td_lex_peek(lx)) {
    if (td_lex_is_newline(c))
      td_lex_newline(lx);
    else if (td_lex_is_blank(c))
      lx->at++;
    else
      return;
  }
}

/* Reads the escape whose backslash is here into the scratch text; false after an error. *spans is
 * whether the string may go on in a next line where the escape ends. */
static bool read_escape(TdLexer *lx, bool *spans) {
  static const char from[] = "abfnrtv\\\"'", to[] = "\a\b\f\n\r\t\v\\\"'";
  const char *start = lx->at++;
  int c = td_lex_peek(lx);
  *spans = c < 0 || c == 'z' || td_lex_is_newline(c);
  if (c < 0) return true;
  if (td_lex_is_digit(c)) return read_decimal(lx, start);
  if (c == 'x') return read_hex(lx, start);
  if (c == 'u') return read_utf8(lx, start);
  if (td_lex_is_newline(c)) {
    td_lex_newline(lx);
    td_text_putc(&lx->scratch, '\n');
    return true;
  }
  if (c == 'z') {
    lx->at++;
    skip_white(lx);
    return true;
  }
  const char *simple = c ? strchr(from, c) : NULL;
  if (!simple) return bad_escape(lx, start, "an unknown letter");
  lx->at++;
  td_text_putc(&lx->scratch, to[simple - from]);
  return true;
}

/* Appends the bytes up to the next quote, backslash or line end. */
static void read_plain(TdLexer *lx, char quote) {
  const char *from = lx->at;
  while (lx->at < lx->end && *lx->at != quote && *lx->at != '\\' && !td_lex_is_newline(*lx->at))
    lx->at++;
  td_text_putn(&lx->scratch, from, (size_t)(lx->at - from));
}

/* Makes tok a string of the scratch text. */
static bool keep_string(TdLexer *lx, TdToken *tok) {
  tok->kind = TD_TOK_STRING;
  tok->string.n = lx->scratch.n;
  tok->string.at = td_arena_strndup(lx->arena, td_text_str(&lx->scratch), lx->scratch.n);
  return true;
}

bool td_lex_literal_string(TdLexer *lx, TdToken *tok) {
  char quote = *lx->at++;
  lx->scratch.n = 0;
  for (bool spans = false;;) {
    const char *plain = lx->at;
    read_plain(lx, quote);
    int c = td_lex_peek(lx);
    spans = spans && lx->at == plain;
    if (c == '\\') {
      if (!read_escape(lx, &spans)) return false;
    } else if (c == quote) {
      lx->at++;
      return keep_string(lx, tok);
    } else {
      tok->loc.len = tok->loc.line == lx->line ? td_lex_place(lx, tok->at).len : 1;
      return td_diag_set(lx->diag, TD_USAGE, c < 0 && spans ? "incomplete" : "bad-string", tok->loc,
                         "this string has no closing %c on its line", quote);
    }
  }
}

/* Whether the long bracket "]==]" of a level is here. */
static bool closes(const TdLexer *lx, int level) {
  size_t n = (size_t)level;
  for (size_t i = 1; i <= n; i++)
    if (td_lex_peek_at(lx, i) != '=') return false;
  return td_lex_peek_at(lx, n + 1) == ']';
}

bool td_lex_literal_long(TdLexer *lx, TdToken *tok, int level, bool comment) {
  lx->at += level + 2;
  tok->loc.len = (uint16_t)(level < UINT8_MAX ? level + 2 + 2 * comment : UINT8_MAX);
  lx->scratch.n = 0;
  if (td_lex_is_newline(td_lex_peek(lx))) td_lex_newline(lx);
  while (lx->at < lx->end) {
    const char *from = lx->at;
    while (lx->at < lx->end && *lx->at != ']' && !td_lex_is_newline(*lx->at)) lx->at++;
    if (!comment) td_text_putn(&lx->scratch, from, (size_t)(lx->at - from));
    if (lx->at == lx->end) break;
    if (*lx->at != ']') {
      td_lex_newline(lx);
      if (!comment) td_text_putc(&lx->scratch, '\n');
    } else if (closes(lx, level)) {
      lx->at += level + 2;
      return comment || keep_string(lx, tok);
    } else {
      lx->at++;
      if (!comment) td_text_putc(&lx->scratch, ']');
    }
  }
  return td_diag_set(lx->diag, TD_USAGE, "incomplete", tok->loc,
                     "this long %s is not closed before the end of the input",
                     comment ? "comment" : "string");
}

/* Whether the numeral s is an integer; if so *out is its value. Hexadecimal wraps around, a decimal
 * beyond 64 bits is a float. */
static bool to_integer(const char *s, int64_t *out) {
  uint64_t x = 0;
  if (s[0] == '0' && (s[1] == 'x' || s[1] == 'X')) {
    if (!s[2]) return false;
    for (s += 2; *s; s++) {
      if (td_lex_hex(*s) < 0) return false;
      x = x << 4 | (uint64_t)td_lex_hex(*s);
    }
  } else {
    for (; *s; s++) {
      if (!td_lex_is_digit(*s)) return false;
      uint64_t digit = (uint64_t)(*s - '0');
      if (x > ((uint64_t)INT64_MAX - digit) / 10) return false;
      x = x * 10 + digit;
    }
  }
  memcpy(out, &x, sizeof x);
  return true;
}

/* Whether the whole of s is a float; if so *out is its value, whatever point the locale has. */
static bool to_float(char *s, double *out) {
  char *end, *dot = strchr(s, '.');
  *out = strtod(s, &end);
  if (*end && dot) {
    *dot = *localeconv()->decimal_point;
    *out = strtod(s, &end);
  }
  return !*end;
}

/* Passes over what Lua takes for a numeral, well formed or not. */
static void skip_numeral(TdLexer *lx) {
  int c = td_lex_peek(lx), second = td_lex_peek_at(lx, 1);
  bool hex = c == '0' && (second == 'x' || second == 'X');
  lx->at += hex ? 2 : 1;
  for (c = td_lex_peek(lx); td_lex_hex(c) >= 0 || c == '.' || (hex && (c | 32) == 'p');
       c = td_lex_peek(lx)) {
    lx->at++;
    int sign = td_lex_peek(lx);
    if ((c | 32) == (hex ? 'p' : 'e') && (sign == '+' || sign == '-')) lx->at++;
  }
  if (td_lex_is_letter(c)) lx->at++;
}

bool td_lex_literal_number(TdLexer *lx, TdToken *tok) {
  if (*lx->at == '.') lx->at++;
  skip_numeral(lx);
  lx->scratch.n = 0;
  td_text_putn(&lx->scratch, tok->at, (size_t)(lx->at - tok->at));
  tok->kind = TD_TOK_INT;
  if (to_integer(lx->scratch.at, &tok->integer)) return true;
  tok->kind = TD_TOK_FLOAT;
  if (to_float(lx->scratch.at, &tok->number)) return true;
  return td_diag_set(lx->diag, TD_USAGE, "bad-number", td_lex_place(lx, tok->at),
                     "malformed number %s",
                     td_lex_shown(lx->diag->arena, &(TdToken){.at = tok->at, .end = lx->at}));
}

/* lex.c - tokens, blanks, comments and marks. */
#include "frontend/lua/lex.h"

#include "frontend/lua/habit.h"

#include <string.h>

TdLexer td_lex_open(TdArena *a, TdNames *names, TdDiag *diag, uint32_t source, const char *text,
                    size_t n) {
  return (TdLexer){.arena = a,
                   .names = names,
                   .diag = diag,
                   .source = source,
                   .line = 1,
                   .begin = text,
                   .at = text,
                   .end = text + n,
                   .line_start = text,
                   .scratch = td_text_new(a)};
}

int td_lex_peek(const TdLexer *lx) {
  return lx->at < lx->end ? (unsigned char)*lx->at : -1;
}

int td_lex_peek_at(const TdLexer *lx, size_t i) {
  return i < (size_t)(lx->end - lx->at) ? (unsigned char)lx->at[i] : -1;
}

bool td_lex_is_digit(int c) {
  return c >= '0' && c <= '9';
}

bool td_lex_is_letter(int c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool td_lex_is_name(const char *s, size_t n) {
#define TD_LEX_TEXT(kind, text) text,
  static const char *const words[] = {TD_LEX_WORDS(TD_LEX_TEXT)};
#undef TD_LEX_TEXT
  if (!n || !td_lex_is_letter(*s)) return false;
  for (size_t i = 0; i < n; i++)
    if (!td_lex_is_letter(s[i]) && !td_lex_is_digit(s[i])) return false;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strlen(words[i]) == n && memcmp(words[i], s, n) == 0) return false;
  return true;
}

bool td_lex_is_newline(int c) {
  return c == '\n' || c == '\r';
}

bool td_lex_is_blank(int c) {
  return c == ' ' || c == '\t' || c == '\v' || c == '\f';
}

int td_lex_hex(int c) {
  if (td_lex_is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/* n, or the most that a field of TdLoc holds. */
static uint16_t clip(ptrdiff_t n) {
  return n < UINT16_MAX ? (uint16_t)n : UINT16_MAX;
}

TdLoc td_lex_place(const TdLexer *lx, const char *from) {
  return (TdLoc){lx->source, lx->line, clip(from - lx->line_start + 1), clip(lx->at - from)};
}

void td_lex_newline(TdLexer *lx) {
  int first = td_lex_peek(lx), second = td_lex_peek_at(lx, 1);
  lx->at += td_lex_is_newline(second) && second != first ? 2 : 1;
  lx->line++;
  lx->line_start = lx->at;
}

/* The number of '=' of a long bracket "[==[" that begins here, or -1. */
static int long_level(const TdLexer *lx) {
  if (td_lex_peek(lx) != '[') return -1;
  size_t n = 1;
  while (td_lex_peek_at(lx, n) == '=') n++;
  return td_lex_peek_at(lx, n) == '[' && n < INT32_MAX ? (int)n - 1 : -1;
}

void td_lex_skip_file_head(TdLexer *lx) {
  if (lx->end - lx->at >= 3 && memcmp(lx->at, "\xEF\xBB\xBF", 3) == 0) lx->at += 3;
  if (td_lex_peek(lx) == '#')
    while (lx->at < lx->end && *lx->at != '\n') lx->at++;
}

/* Keeps the mark whose text goes from here to `end`; `loc` is the whole comment. */
static void keep_mark(TdLexer *lx, TdLoc loc, const char *end) {
  const char *from = lx->at;
  while (from < end && td_lex_is_blank(*from)) from++;
  while (end > from && td_lex_is_blank(end[-1])) end--;
  size_t n = (size_t)(end - from);
  TdAstMark mark = {.loc = loc, .text = td_arena_strndup(lx->arena, from, n), .n = n};
  td_vec_push(lx->arena, &lx->marks, mark);
}

/* Passes over the comment that begins here, to the end of its line; keeps it if it is a mark. */
static void skip_comment(TdLexer *lx) {
  const char *start = lx->at;
  lx->at += 2;
  int level = long_level(lx);
  if (level >= 0) {
    td_lex_literal_long(lx, &(TdToken){.loc = td_lex_place(lx, start)}, level, true);
    return;
  }
  bool is_mark = td_lex_peek(lx) == '@';
  const char *text = lx->at + is_mark;
  while (lx->at < lx->end && !td_lex_is_newline(*lx->at)) lx->at++;
  if (!is_mark) return;
  TdLoc loc = td_lex_place(lx, start);
  const char *end = lx->at;
  lx->at = text;
  keep_mark(lx, loc, end);
  lx->at = end;
}

/* Passes over blanks, line ends and comments. */
static void skip_space(TdLexer *lx) {
  for (;;) {
    int c = td_lex_peek(lx);
    if (td_lex_is_blank(c))
      lx->at++;
    else if (td_lex_is_newline(c))
      td_lex_newline(lx);
    else if (c == '-' && td_lex_peek_at(lx, 1) == '-')
      skip_comment(lx);
    else
      return;
  }
}

/* The reserved word that the n bytes at s spell, or TD_TOK_NAME. */
static TdTokKind word_kind(const char *s, size_t n) {
#define WORD(kind, text) {text, sizeof text - 1},
  static const struct {
    const char *text;
    size_t n;
  } words[] = {TD_LEX_WORDS(WORD)};
#undef WORD
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (words[i].text[0] == *s && words[i].n == n && memcmp(words[i].text, s, n) == 0)
      return (TdTokKind)i;
  return TD_TOK_NAME;
}

/* Reads the name or reserved word that begins here. */
static void read_word(TdLexer *lx, TdToken *tok) {
  int c = td_lex_peek(lx);
  for (; td_lex_is_letter(c) || td_lex_is_digit(c); c = td_lex_peek(lx)) lx->at++;
  size_t n = (size_t)(lx->at - tok->at);
  tok->kind = word_kind(tok->at, n);
  if (tok->kind == TD_TOK_NAME) tok->name = td_names_of(lx->names, tok->at, n);
}

/* Passes over the next byte if it is c, and returns whether it was. */
static bool take(TdLexer *lx, int c) {
  if (td_lex_peek(lx) != c) return false;
  lx->at++;
  return true;
}

/* Reads the sign that begins here; TD_TOK_EOF when no sign begins with this byte. */
static TdTokKind read_sign(TdLexer *lx) {
  switch (*lx->at++) {
  case '+': return TD_TOK_ADD;
  case '-': return TD_TOK_SUB;
  case '*': return TD_TOK_MUL;
  case '/': return take(lx, '/') ? TD_TOK_IDIV : TD_TOK_DIV;
  case '%': return TD_TOK_MOD;
  case '^': return TD_TOK_POW;
  case '#': return TD_TOK_LEN;
  case '&': return TD_TOK_BAND;
  case '~': return take(lx, '=') ? TD_TOK_NE : TD_TOK_BXOR;
  case '|': return TD_TOK_BOR;
  case '<': return take(lx, '<') ? TD_TOK_SHL : take(lx, '=') ? TD_TOK_LE : TD_TOK_LT;
  case '>': return take(lx, '>') ? TD_TOK_SHR : take(lx, '=') ? TD_TOK_GE : TD_TOK_GT;
  case '=': return take(lx, '=') ? TD_TOK_EQ : TD_TOK_ASSIGN;
  case '(': return TD_TOK_LPAREN;
  case ')': return TD_TOK_RPAREN;
  case '{': return TD_TOK_LBRACE;
  case '}': return TD_TOK_RBRACE;
  case '[': return TD_TOK_LBRACKET;
  case ']': return TD_TOK_RBRACKET;
  case ';': return TD_TOK_SEMI;
  case ':': return take(lx, ':') ? TD_TOK_DCOLON : TD_TOK_COLON;
  case ',': return TD_TOK_COMMA;
  case '.':
    if (!take(lx, '.')) return TD_TOK_DOT;
    return take(lx, '.') ? TD_TOK_DOTS : TD_TOK_CONCAT;
  default: return TD_TOK_EOF;
  }
}

/* How many bytes the letter at s has that is not of ASCII; 1 if there is none. */
static size_t letter_bytes(const char *s, const char *end) {
  unsigned char c = (unsigned char)*s;
  size_t n = c >= 0xc2 && c < 0xe0 ? 2 : c >= 0xe0 && c < 0xf0 ? 3 : c >= 0xf0 && c < 0xf5 ? 4 : 1;
  if ((size_t)(end - s) < n) return 1;
  for (size_t i = 1; i < n; i++)
    if (((unsigned char)s[i] & 0xc0) != 0x80) return 1;
  return n;
}

/* Says that the character at `at`, of which the first byte was read, begins no token. */
static bool refuse_character(TdLexer *lx, const char *at, TdLoc loc) {
  size_t n = letter_bytes(at, lx->end);
  bool letter = n > 1;
  TdArena *a = lx->diag->arena;
  const char *shown = letter ? td_text_fmt(a, "'%s'", td_arena_strndup(a, at, n))
                             : td_lex_shown(a, &(TdToken){.at = at, .end = lx->at});
  const char *help = letter ? "names are made of the letters a to z, digits and _"
                            : td_habit_help(a, lx->begin, at, lx->end);
  td_diag_set(lx->diag, TD_USAGE, "bad-character", loc, "unexpected character %s", shown);
  if (help) td_diag_help(lx->diag, "%s", help);
  return false;
}

/* Reads the token that begins here (not at the end of the text) into tok; false after an error. */
static bool read_token(TdLexer *lx, TdToken *tok) {
  int c = td_lex_peek(lx), next = td_lex_peek_at(lx, 1);
  if (td_lex_is_letter(c)) {
    read_word(lx, tok);
    return true;
  }
  if (td_lex_is_digit(c) || (c == '.' && td_lex_is_digit(next)))
    return td_lex_literal_number(lx, tok);
  if (c == '"' || c == '\'') return td_lex_literal_string(lx, tok);
  int level = long_level(lx);
  if (level >= 0) return td_lex_literal_long(lx, tok, level, false);
  tok->kind = read_sign(lx);
  TdLoc loc = td_lex_place(lx, tok->at);
  if (tok->kind == TD_TOK_EOF) return refuse_character(lx, tok->at, loc);
  if (tok->kind == TD_TOK_LBRACKET && next == '=')
    return td_diag_set(lx->diag, TD_USAGE, "bad-string", loc,
                       "'[=' begins a long string, but the second '[' is missing");
  return true;
}

TdToken td_lex_next(TdLexer *lx) {
  if (!td_diag_failed(lx->diag)) skip_space(lx);
  TdToken tok = {.kind = TD_TOK_EOF, .loc = td_lex_place(lx, lx->at), .at = lx->at};
  bool more = lx->at < lx->end && !td_diag_failed(lx->diag);
  if (more && !read_token(lx, &tok)) tok.kind = TD_TOK_EOF;
  tok.loc.len = clip(lx->at - tok.at);
  tok.last = lx->line;
  tok.end = lx->at;
  return tok;
}

#define SHOWN 32

const char *td_lex_shown(TdArena *a, const TdToken *tok) {
  if (tok->at == tok->end) return "the end of the input";
  TdText t = td_text_new(a);
  td_text_putc(&t, '\'');
  const char *s = tok->at;
  for (; s < tok->end && s - tok->at < SHOWN; s++)
    if (*s >= ' ' && *s <= '~')
      td_text_putc(&t, *s);
    else
      td_text_putf(&t, "\\%d", (unsigned char)*s);
  td_text_puts(&t, s < tok->end ? "...'" : "'");
  return td_text_str(&t);
}

const char *td_lex_text(TdTokKind kind) {
#define TEXT(kind, text) text,
  static const char *const text[] = {TD_LEX_WORDS(TEXT) TD_LEX_SIGNS(TEXT)};
#undef TEXT
  return text[kind];
}

/* lex.h - Lua source to tokens in one pass; `--@` comments are kept aside. */
#ifndef TD_FRONTEND_LUA_LEX_H
#define TD_FRONTEND_LUA_LEX_H

#include "base/diag.h"
#include "base/sym.h"
#include "frontend/lua/ast.h"

/* X(kind, text): the reserved words, and the other tokens that are always written the same. */
#define TD_LEX_WORDS(X)                                                                            \
  X(AND, "and")                                                                                    \
  X(BREAK, "break")                                                                                \
  X(DO, "do")                                                                                      \
  X(ELSE, "else")                                                                                  \
  X(ELSEIF, "elseif")                                                                              \
  X(END, "end")                                                                                    \
  X(FALSE, "false")                                                                                \
  X(FOR, "for")                                                                                    \
  X(FUNCTION, "function")                                                                          \
  X(GOTO, "goto")                                                                                  \
  X(IF, "if")                                                                                      \
  X(IN, "in")                                                                                      \
  X(LOCAL, "local")                                                                                \
  X(NIL, "nil")                                                                                    \
  X(NOT, "not")                                                                                    \
  X(OR, "or")                                                                                      \
  X(REPEAT, "repeat")                                                                              \
  X(RETURN, "return")                                                                              \
  X(THEN, "then")                                                                                  \
  X(TRUE, "true")                                                                                  \
  X(UNTIL, "until")                                                                                \
  X(WHILE, "while")

#define TD_LEX_SIGNS(X)                                                                            \
  X(ADD, "+")                                                                                      \
  X(SUB, "-")                                                                                      \
  X(MUL, "*")                                                                                      \
  X(DIV, "/")                                                                                      \
  X(IDIV, "//")                                                                                    \
  X(MOD, "%")                                                                                      \
  X(POW, "^")                                                                                      \
  X(LEN, "#")                                                                                      \
  X(BAND, "&")                                                                                     \
  X(BXOR, "~")                                                                                     \
  X(BOR, "|")                                                                                      \
  X(SHL, "<<")                                                                                     \
  X(SHR, ">>")                                                                                     \
  X(EQ, "==")                                                                                      \
  X(NE, "~=")                                                                                      \
  X(LE, "<=")                                                                                      \
  X(GE, ">=")                                                                                      \
  X(LT, "<")                                                                                       \
  X(GT, ">")                                                                                       \
  X(ASSIGN, "=")                                                                                   \
  X(LPAREN, "(")                                                                                   \
  X(RPAREN, ")")                                                                                   \
  X(LBRACE, "{")                                                                                   \
  X(RBRACE, "}")                                                                                   \
  X(LBRACKET, "[")                                                                                 \
  X(RBRACKET, "]")                                                                                 \
  X(DCOLON, "::")                                                                                  \
  X(SEMI, ";")                                                                                     \
  X(COLON, ":")                                                                                    \
  X(COMMA, ",")                                                                                    \
  X(DOT, ".")                                                                                      \
  X(CONCAT, "..")                                                                                  \
  X(DOTS, "...")

#define TD_LEX_KIND(kind, text) TD_TOK_##kind,
typedef enum {
  TD_LEX_WORDS(TD_LEX_KIND) TD_LEX_SIGNS(TD_LEX_KIND) TD_TOK_NAME,
  TD_TOK_INT,
  TD_TOK_FLOAT,
  TD_TOK_STRING,
  TD_TOK_EOF
} TdTokKind;
#undef TD_LEX_KIND

/* A token: the bytes [at, end) of the source; `last` is the line where it ends. */
typedef struct TdToken {
  TdTokKind kind;
  TdLoc loc;
  uint32_t last;
  const char *at, *end;
  union {
    const char *name; /* interned */
    int64_t integer;
    double number;
    struct {
      const char *at; /* in the arena, NUL-terminated */
      size_t n;
    } string;
  };
} TdToken;

typedef struct TdLexer {
  TdArena *arena;
  TdNames *names;
  TdDiag *diag;
  uint32_t source, line;
  const char *begin, *at, *end, *line_start;
  TdText scratch;
  TD_VEC(TdAstMark) marks;
} TdLexer;

/* A lexer at the start of the n bytes of text, which outlive it. */
TdLexer td_lex_open(TdArena *a, TdNames *names, TdDiag *diag, uint32_t source, const char *text,
                    size_t n);

/* Passes over what Lua's loadfile drops: a byte order mark, a first line that begins with '#'. */
void td_lex_skip_file_head(TdLexer *lx);

/* Returns the next token. After an error (here or of the parser) in the diag every token is
 * TD_TOK_EOF. Codes: bad-character, bad-number, bad-string, bad-escape; incomplete when more lines
 * could complete the token. */
TdToken td_lex_next(TdLexer *lx);

/* The token as a message shows it: quoted, cut short, nothing unprintable. Owned by a. */
const char *td_lex_shown(TdArena *a, const TdToken *tok);
/* How a word or sign is written. */
const char *td_lex_text(TdTokKind kind);

/* What the literals of lex_literal.c share with the rest of the lexer. */

/* The next byte, -1 at the end; and that byte i places further. */
int td_lex_peek(const TdLexer *lx);
int td_lex_peek_at(const TdLexer *lx, size_t i);
bool td_lex_is_digit(int c);
bool td_lex_is_letter(int c);
/* Whether the n bytes at s are a name: no word is. */
bool td_lex_is_name(const char *s, size_t n);
bool td_lex_is_blank(int c);
bool td_lex_is_newline(int c);
/* The value of a hexadecimal digit, or -1. */
int td_lex_hex(int c);
/* The place of the bytes from `from`, on the current line, to where the lexer is. */
TdLoc td_lex_place(const TdLexer *lx, const char *from);
/* Passes over a line end: "\n", "\r" or a pair of them. Assumes to be at one. */
void td_lex_newline(TdLexer *lx);

/* Each reads a literal from where the lexer is (a quote, a long bracket, a digit or '.') into tok,
 * past it; false after an error. read_long takes a comment too, whose text it does not keep. */
bool td_lex_literal_string(TdLexer *lx, TdToken *tok);
bool td_lex_literal_long(TdLexer *lx, TdToken *tok, int level, bool comment);
bool td_lex_literal_number(TdLexer *lx, TdToken *tok);

#endif

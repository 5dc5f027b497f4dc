/* colour.h - what Lua text looks like while it is typed: highlighting, indentation, partners of
 * brackets. */
#ifndef TD_COLOUR_H
#define TD_COLOUR_H

#include "repl/style.h"

typedef enum {
  TD_COLOUR_SPACE,
  TD_COLOUR_WORD,
  TD_COLOUR_NUMBER,
  TD_COLOUR_STRING,
  TD_COLOUR_COMMENT,
  TD_COLOUR_SIGN /* one byte */
} TdColourKind;

/* A token of [at, end); open: a string or comment that more text would go on. */
typedef struct TdColourToken {
  TdColourKind kind;
  size_t at, end;
  bool open;
} TdColourToken;

/* The token at offset i < n of Lua text, broken or not. */
TdColourToken td_colour_token(const char *s, size_t n, size_t i);
/* Whether it is a reserved word; all of those, by blanks. */
bool td_colour_is_keyword(const char *s, TdColourToken t);
const char *td_colour_keywords(void);

/* Spans of the tokens of Lua text, broken or not. */
void td_colour_spans(const char *text, size_t n, TdSpans *out);
/* Spaces that the line at offset `line` should begin with: two for each block or bracket open
 * before it. */
int td_colour_indent(const char *text, size_t n, size_t line);
/* Offset of the bracket that matches the one at `at`, strings and comments aside. */
bool td_colour_match(const char *text, size_t n, size_t at, size_t *partner);

#endif

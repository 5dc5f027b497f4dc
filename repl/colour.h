/* colour.h - what Lua text looks like while it is typed: highlighting, indentation, partners of
 * brackets. */
#ifndef TD_COLOUR_H
#define TD_COLOUR_H

#include "repl/style.h"

/* Spans of the tokens of Lua text, broken or not. */
void td_colour_spans(const char *text, size_t n, TdSpans *out);
/* Spaces that the line at offset `line` should begin with: two for each block or bracket open
 * before it. */
int td_colour_indent(const char *text, size_t n, size_t line);
/* Offset of the bracket that matches the one at `at`, strings and comments aside. */
bool td_colour_match(const char *text, size_t n, size_t at, size_t *partner);

#endif

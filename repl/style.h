/* style.h - styles of text on the edit screen, and the spans that wear them. */
#ifndef TD_STYLE_H
#define TD_STYLE_H

#include "base/vec.h"

#define X(name, sgr, plain) TD_STYLE_##name,
typedef enum {
#include "repl/style.def"
  TD_STYLE_COUNT
} TdStyle;
#undef X

typedef struct TdSpan {
  size_t at, n;
  TdStyle style;
} TdSpan;

/* Spans of one text, in order and apart; what none covers is plain. */
typedef struct TdSpans {
  TdArena *arena;
  TD_VEC(TdSpan) spans;
} TdSpans;

/* Adds a span after those that are there. */
void td_style_add(TdSpans *s, size_t at, size_t n, TdStyle style);

/* SGR parameters of a style, empty for plain; colours among them only if has_colour. */
const char *td_style_sgr(TdStyle style, bool has_colour);

#endif

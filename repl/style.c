/* style.c - styles of text on the edit screen. */
#include "repl/style.h"

void td_style_add(TdSpans *s, size_t at, size_t n, TdStyle style) {
  TdSpan span = {.at = at, .n = n, .style = style};
  td_vec_push(s->arena, &s->spans, span);
}

const char *td_style_sgr(TdStyle style, bool has_colour) {
#define X(name, sgr, plain) {plain, sgr},
  static const char *const sgr_of[][2] = {
#include "repl/style.def"
  };
#undef X
  return style < TD_STYLE_COUNT ? sgr_of[style][has_colour] : "";
}

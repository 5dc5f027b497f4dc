/* picture.c - boxes and arrows as Graphviz text. */
#include "analysis/net/picture.h"

#include <string.h>

static void put_quoted(TdText *t, const char *s) {
  td_text_put_quoted(t, s, strlen(s));
}

static void put_dot_end(TdText *t, const TdPicture *p, uint32_t box) {
  put_quoted(t, box == TD_PICTURE_OUTSIDE ? "outside" : p->box[box]);
}

void td_picture_dot(TdText *out, const TdPicture *p) {
  td_text_puts(out, "digraph ");
  put_quoted(out, p->title);
  td_text_puts(out, " {\n  node [shape=box];\n");
  for (uint32_t i = 0; i < p->n; i++) {
    td_text_puts(out, "  ");
    put_dot_end(out, p, i);
    td_text_puts(out, ";\n");
  }
  for (size_t i = 0; i < p->arrow.n; i++) {
    td_text_puts(out, "  ");
    put_dot_end(out, p, p->arrow.at[i].from);
    td_text_puts(out, " -> ");
    put_dot_end(out, p, p->arrow.at[i].to);
    td_text_puts(out, " [label=");
    put_quoted(out, p->arrow.at[i].label);
    td_text_puts(out, "];\n");
  }
  td_text_puts(out, "}\n");
}

/* picture.c - boxes and arrows as Graphviz text, and in layers as an SVG drawing. */
#include "analysis/net/picture.h"

#include <string.h>

/* ---- Graphviz ---- */

static void put_dot_end(TdText *t, const TdPicture *p, uint32_t box) {
  const char *name = box == TD_PICTURE_OUTSIDE ? "outside" : p->box[box];
  td_text_put_quoted(t, name, strlen(name));
}

void td_picture_dot(TdText *out, const TdPicture *p) {
  td_text_putf(out, "digraph \"%s\" {\n  node [shape=box];\n", p->title);
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
    td_text_putf(out, " [label=\"%s\"];\n", p->arrow.at[i].label);
  }
  td_text_puts(out, "}\n");
}

/* ---- SVG ---- */

enum { BOX_W = 120, LETTER_W = 7, BOX_H = 26, GAP_X = 24, GAP_Y = 54, MARGIN = 16 };

/* Puts each box below those that feed it, as far as there is no way back. */
static void set_layers(TdPicture *p) {
  p->layer = TD_NEWN(p->arena, uint32_t, p->n);
  bool moved = true;
  for (size_t turn = 0; moved && turn < p->n; turn++) {
    moved = false;
    for (size_t i = 0; i < p->arrow.n; i++) {
      const TdPictureArrow *x = &p->arrow.at[i];
      if (x->from == TD_PICTURE_OUTSIDE || x->to == TD_PICTURE_OUTSIDE || x->from == x->to)
        continue;
      uint32_t want = p->layer[x->from] + 1;
      if (p->layer[x->to] >= want || want >= p->n) continue;
      p->layer[x->to] = want;
      moved = true;
    }
  }
}

/* Layers without a box are closed up; boxes get their columns in order. Returns how many layers
 * there are, and in *width the boxes of the widest. */
static uint32_t set_columns(TdPicture *p, uint32_t *width) {
  uint32_t *count = TD_NEWN(p->arena, uint32_t, p->n + 1),
           *rank = TD_NEWN(p->arena, uint32_t, p->n + 1);
  uint32_t n = 0;
  p->column = TD_NEWN(p->arena, uint32_t, p->n);
  for (size_t i = 0; i < p->n; i++) p->column[i] = count[p->layer[i]]++;
  *width = 1;
  for (size_t l = 0; l < p->n; l++) {
    rank[l] = n;
    n += count[l] > 0;
    if (count[l] > *width) *width = count[l];
  }
  for (size_t i = 0; i < p->n; i++) p->layer[i] = rank[p->layer[i]];
  return n ? n : 1;
}

static int64_t box_x(const TdPicture *p, uint32_t i) {
  return MARGIN + (int64_t)p->column[i] * (p->wide + GAP_X);
}

static int64_t box_y(const TdPicture *p, uint32_t i) {
  return MARGIN + (int64_t)p->layer[i] * (BOX_H + GAP_Y);
}

/* A curve from the foot of one box to the head of the other; an end outside is above or below. */
static void put_arrow(TdText *t, const TdPicture *p, const TdPictureArrow *x) {
  uint32_t from = x->from == TD_PICTURE_OUTSIDE ? x->to : x->from;
  uint32_t to = x->to == TD_PICTURE_OUTSIDE ? x->from : x->to;
  int64_t x1 = box_x(p, from) + p->wide / 2, y1 = box_y(p, from) + BOX_H;
  int64_t x2 = box_x(p, to) + p->wide / 2, y2 = box_y(p, to);
  if (x->from == TD_PICTURE_OUTSIDE) y1 = y2 - GAP_Y / 2;
  if (x->to == TD_PICTURE_OUTSIDE) y2 = y1 + GAP_Y / 2;
  td_text_putf(t, "  <path d=\"M%lld %lldC%lld %lld %lld %lld %lld %lld\"><title>", (long long)x1,
               (long long)y1, (long long)x1, (long long)y1 + GAP_Y / 2, (long long)x2,
               (long long)y2 - GAP_Y / 2, (long long)x2, (long long)y2);
  td_text_put_xml(t, x->label);
  td_text_puts(t, "</title></path>\n");
}

static void put_box(TdText *t, const TdPicture *p, uint32_t i) {
  td_text_putf(t,
               "  <rect x=\"%lld\" y=\"%lld\" width=\"%d\" height=\"%d\"/>"
               "<text x=\"%lld\" y=\"%lld\">",
               (long long)box_x(p, i), (long long)box_y(p, i), (int)p->wide, BOX_H,
               (long long)box_x(p, i) + p->wide / 2, (long long)box_y(p, i) + 17);
  td_text_put_xml(t, p->box[i]);
  td_text_puts(t, "</text>\n");
}

/* Makes boxes wide enough for what they say. */
static void set_width(TdPicture *p) {
  p->wide = BOX_W;
  for (size_t i = 0; i < p->n; i++) {
    int64_t want = (int64_t)strlen(p->box[i]) * LETTER_W + LETTER_W;
    if (want > p->wide) p->wide = want;
  }
}

void td_picture_svg(TdText *out, TdPicture *p) {
  uint32_t wide;
  set_layers(p);
  set_width(p);
  uint32_t high = set_columns(p, &wide);
  td_text_putf(out,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%lld\" height=\"%lld\" "
               "font-family=\"sans-serif\" font-size=\"11\">\n  <title>",
               2LL * MARGIN + (int64_t)wide * (p->wide + GAP_X) - GAP_X,
               2LL * MARGIN + (int64_t)high * (BOX_H + GAP_Y) - GAP_Y);
  td_text_put_xml(out, p->title);
  td_text_puts(out,
               "</title>\n"
               "  <style>path { fill: none; stroke: #777; marker-end: url(#to) } "
               "rect { fill: #eef3fa; stroke: #345 } text { text-anchor: middle }</style>\n"
               "  <marker id=\"to\" viewBox=\"0 0 6 6\" refX=\"6\" refY=\"3\" orient=\"auto\">"
               "<path d=\"M0 0L6 3L0 6z\" style=\"fill: #777; marker-end: none\"/></marker>\n");
  for (size_t i = 0; i < p->arrow.n; i++) put_arrow(out, p, &p->arrow.at[i]);
  for (uint32_t i = 0; i < p->n; i++) put_box(out, p, i);
  td_text_puts(out, "</svg>\n");
}

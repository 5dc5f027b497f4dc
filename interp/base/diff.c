/* diff.c - line difference of two texts (longest common subsequence on the part that differs). */
#include <string.h>

#include "base/base.h"

typedef struct Line {
  const char *s;
  size_t n;
} Line;

typedef struct Lines {
  Line *at;
  size_t n;
} Lines;

/* The lines of s, without their ends. */
static Lines split_lines(TdArena *a, const char *s) {
  TD_VEC(Line) v = {0};
  while (*s) {
    size_t n = strcspn(s, "\n");
    td_vec_push(a, &v, ((Line){s, n}));
    s += n + (s[n] == '\n');
  }
  return (Lines){v.at, v.n};
}

static bool same(Line x, Line y) {
  return x.n == y.n && memcmp(x.s, y.s, x.n) == 0;
}

/* Fills keep[] of both sides with whether each line is common; middle part only, quadratic. */
static void mark_common(TdArena *a, Lines x, Lines y, bool *keep_x, bool *keep_y) {
  size_t w = y.n + 1;
  uint32_t *len = TD_NEWN(a, uint32_t, (x.n + 1) * w);
  for (size_t i = x.n; i-- > 0;)
    for (size_t j = y.n; j-- > 0;) {
      uint32_t down = len[(i + 1) * w + j], right = len[i * w + j + 1];
      len[i * w + j] =
          same(x.at[i], y.at[j]) ? len[(i + 1) * w + j + 1] + 1 : (down > right ? down : right);
    }
  for (size_t i = 0, j = 0; i < x.n && j < y.n;) {
    if (same(x.at[i], y.at[j]))
      keep_x[i++] = keep_y[j++] = true;
    else if (len[(i + 1) * w + j] >= len[i * w + j + 1])
      i++;
    else
      j++;
  }
}

typedef struct Edit {
  char mark; /* ' ', '-' or '+' */
  Line line;
} Edit;

/* Writes the edits that lie within `context` lines of a change; a gap becomes "  ...". */
static void put_edits(TdText *out, const Edit *e, size_t n, int context) {
  long last_change = -1000000, shown = -1;
  for (size_t i = 0; i < n; i++) {
    if (e[i].mark != ' ') last_change = (long)i;
    bool near_next = false;
    for (size_t j = i; j < n && j <= i + (size_t)context; j++) near_next |= e[j].mark != ' ';
    if (!near_next && (long)i - last_change > context) continue;
    if (shown >= 0 && (long)i != shown + 1) td_text_puts(out, "  ...\n");
    td_text_putf(out, "%c ", e[i].mark);
    td_text_putn(out, e[i].line.s, e[i].line.n);
    td_text_putc(out, '\n');
    shown = (long)i;
  }
}

void td_text_diff(TdText *out, const char *a, const char *b, int context) {
  TdArena *arena = td_arena_scratch(td_arena_ctx(out->arena));
  Lines x = split_lines(arena, a), y = split_lines(arena, b);
  size_t head = 0, tail = 0;
  while (head < x.n && head < y.n && same(x.at[head], y.at[head])) head++;
  while (tail < x.n - head && tail < y.n - head && same(x.at[x.n - 1 - tail], y.at[y.n - 1 - tail]))
    tail++;
  Lines mx = {x.at + head, x.n - head - tail}, my = {y.at + head, y.n - head - tail};
  bool *kx = TD_NEWN(arena, bool, mx.n + 1), *ky = TD_NEWN(arena, bool, my.n + 1);
  if (mx.n * my.n < 4000000) mark_common(arena, mx, my, kx, ky);
  TD_VEC(Edit) e = {0};
  for (size_t i = 0; i < head; i++) td_vec_push(arena, &e, ((Edit){' ', x.at[i]}));
  for (size_t i = 0, j = 0; i < mx.n || j < my.n;) {
    if (i < mx.n && !kx[i]) {
      td_vec_push(arena, &e, ((Edit){'-', mx.at[i++]}));
    } else if (j < my.n && !ky[j]) {
      td_vec_push(arena, &e, ((Edit){'+', my.at[j++]}));
    } else {
      td_vec_push(arena, &e, ((Edit){' ', mx.at[i++]}));
      j++;
    }
  }
  for (size_t i = x.n - tail; i < x.n; i++) td_vec_push(arena, &e, ((Edit){' ', x.at[i]}));
  put_edits(out, e.at, e.n, context);
  td_arena_free(arena);
}

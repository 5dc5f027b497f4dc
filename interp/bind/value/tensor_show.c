/* tensor_show.c - tensors as text. tostring gives one line with the first elements; an echo and
 * t:show() give aligned rows, an echo the corners of what is big. Floats have the digits that
 * matter: six, fewer where fewer say the same number of that type. Only what is shown is read. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bind/value/tensor.h"

#define SHOW_BYTES 20480 /* most that show prints */
#define SLACK 256        /* room for one more cell, and for what is told of the rest */
#define LINE_ELEMENTS 8  /* most that tostring prints */
#define LINE_WIDTH 78    /* of an echo */
#define GAP 5            /* columns of "...", where columns are left out */

/* Puts a float in at most six digits; "1.0", "1e+10", "inf", "nan". */
static void put_float(TdText *out, const TdType *t, double x) {
  char s[40];
  if (isnan(x) || isinf(x)) {
    td_text_puts(out, isnan(x) ? "nan" : x > 0 ? "inf" : "-inf");
    return;
  }
  for (int digits = 1; digits <= 6; digits++) {
    snprintf(s, sizeof s, "%.*g", digits, x);
    if (td_num_round(t, strtod(s, NULL)) == x) break;
  }
  if (strchr(s, 'e') && fabs(x) >= 1 && fabs(x) < 1e6) snprintf(s, sizeof s, "%.0f", x);
  for (char *q = s; *q; q++)
    if (!strchr("0123456789-+e", *q)) *q = '.'; /* whatever the locale has */
  td_text_puts(out, s);
  if (!strpbrk(s, ".e")) td_text_puts(out, ".0");
}

/* Puts the element at an index: "?" if never written, "..." if wider than a number. */
static void put_element(TdText *out, const TdTensor *t, const int64_t *index) {
  const TdType *e = t->type->elem;
  if (!td_tensor_is_written(t, index))
    td_text_putc(out, '?');
  else if (e->w > 64)
    td_text_puts(out, "...");
  else if (e->kind == TD_T_FLOAT)
    put_float(out, e, td_num_double(td_tensor_get(t, index)));
  else
    td_num_print(out, e, td_tensor_get(t, index));
}

/* Puts "{{1, 2}, {3, ...}}": what lies in t below d indices, as long as there is room for elements
 * or empty lists. */
static void put_nested(TdText *out, const TdTensor *t, int d, int64_t *index, int *room) {
  if (d == t->type->rank) {
    put_element(out, t, index);
    --*room;
    return;
  }
  td_text_putc(out, '{');
  for (index[d] = 0; index[d] < t->extent[d]; index[d]++) {
    if (index[d]) td_text_puts(out, ", ");
    if (*room <= 0) {
      td_text_puts(out, "...");
      break;
    }
    int before = *room;
    put_nested(out, t, d + 1, index, room);
    if (*room == before) --*room;
  }
  td_text_putc(out, '}');
}

/* tostring(t): "i8[2][3] {{1, 2, 3}, {4, 5, 6}}", with the first elements. */
int td_bind_tensor_tostring(lua_State *L) {
  const TdTensor *t = td_bind_check_tensor(L, 1);
  TdText text = td_text_new(td_bind_arena(L));
  int64_t index[TD_MAX_RANK];
  int room = LINE_ELEMENTS;
  td_type_print(&text, t->type);
  td_text_putc(&text, ' ');
  put_nested(&text, t, 0, index, &room);
  lua_pushlstring(L, td_text_str(&text), text.n);
  return 1;
}

/* Which indices of a dimension are shown: all, or the first and the last. */
typedef struct Part {
  int64_t extent, first, last;
} Part;

static Part part_of(int64_t extent, int64_t first, int64_t last) {
  return extent <= first + last + 1 ? (Part){extent, extent, 0} : (Part){extent, first, last};
}

static bool is_cut(const Part *p) {
  return p->first < p->extent;
}

static int64_t count_of(const Part *p) {
  return p->first + p->last;
}

/* Index k of those that are shown. */
static int64_t index_of(const Part *p, int64_t k) {
  return k < p->first ? k : p->extent - count_of(p) + k;
}

/* Rows of a tensor on their way out. */
typedef struct Rows {
  TdText *out;
  const TdTensor *t;
  Part part[TD_MAX_RANK];
  int64_t index[TD_MAX_RANK];
  size_t *left, *right; /* characters before, and from, the point of numbers on, by column */
  size_t label, most;   /* characters of a row's label; bytes that there is room for */
  int64_t shown;        /* elements */
  bool full;
} Rows;

/* Bytes of a number before its point or exponent. */
static size_t left_of(const char *s) {
  return strcspn(s, ".e");
}

/* Widens a column by an element; returns its characters. */
static size_t widen(Rows *r, int64_t column) {
  TdText cell = td_text_new(r->out->arena);
  put_element(&cell, r->t, r->index);
  size_t left = left_of(td_text_str(&cell)), right = cell.n - left;
  if (left > r->left[column]) r->left[column] = left;
  if (right > r->right[column]) r->right[column] = right;
  return cell.n;
}

/* Widens the columns by the elements below dimension d, until more than there is room for. */
static void widen_below(Rows *r, int d, size_t *seen) {
  for (int64_t k = 0; k < count_of(&r->part[d]) && *seen < SHOW_BYTES; k++) {
    r->index[d] = index_of(&r->part[d], k);
    if (d + 1 < r->t->type->rank)
      widen_below(r, d + 1, seen);
    else
      *seen += widen(r, k) + 2;
  }
}

/* Sets the widths of the columns that are shown. */
static void measure(Rows *r) {
  int64_t n = count_of(&r->part[r->t->type->rank - 1]);
  size_t columns = n < SHOW_BYTES ? (size_t)n : SHOW_BYTES, seen = 0;
  r->left = TD_NEWN(r->out->arena, size_t, columns + 1);
  r->right = TD_NEWN(r->out->arena, size_t, columns + 1);
  widen_below(r, 0, &seen);
}

/* "[0][1]" before a row, nothing for a vector. */
static void put_label(Rows *r) {
  size_t from = r->out->n;
  td_bind_put_index(r->out, r->index, r->t->type->rank - 1, 0);
  for (size_t n = r->out->n - from; n < r->label; n++) td_text_putc(r->out, ' ');
}

static void put_cell(Rows *r, int64_t column) {
  TdText cell = td_text_new(r->out->arena);
  put_element(&cell, r->t, r->index);
  const char *s = td_text_str(&cell);
  size_t left = left_of(s);
  td_text_putf(r->out, "%*s%s%*s", (int)(r->left[column] - left), "", s,
               (int)(r->right[column] - (cell.n - left)), "");
  r->shown++;
}

/* One row, of the last dimension. */
static void put_row(Rows *r) {
  int d = r->t->type->rank - 1;
  const Part *p = &r->part[d];
  put_label(r);
  for (int64_t k = 0; k < count_of(p) && !r->full; k++) {
    if (k || r->label) td_text_puts(r->out, "  ");
    if (is_cut(p) && k == p->first) td_text_puts(r->out, "...  ");
    r->index[d] = index_of(p, k);
    put_cell(r, k);
    r->full = r->out->n + r->label > r->most;
  }
  while (r->out->at[r->out->n - 1] == ' ') r->out->n--;
  td_text_putc(r->out, '\n');
}

/* The rows below dimension d. */
static void put_rows(Rows *r, int d) {
  if (d == r->t->type->rank - 1) {
    put_row(r);
    return;
  }
  for (int64_t k = 0; k < count_of(&r->part[d]) && !r->full; k++) {
    if (is_cut(&r->part[d]) && k == r->part[d].first) td_text_puts(r->out, "...\n");
    r->index[d] = index_of(&r->part[d], k);
    put_rows(r, d + 1);
  }
}

/* Chooses the rows of an echo, and as many columns as a line holds. */
static void choose_corners(Rows *r) {
  int rank = r->t->type->rank, last = rank - 1;
  for (int d = 0; d < last; d++)
    r->part[d] = last == 1 ? part_of(r->t->extent[d], 7, 4) : part_of(r->t->extent[d], 3, 2);
  r->part[last] = part_of(r->t->extent[last], LINE_WIDTH / 4, LINE_WIDTH / 4);
  measure(r);
  Part *p = &r->part[last];
  int64_t n = count_of(p), first = 0, behind = 0;
  size_t line = LINE_WIDTH - r->label, all = 0, width = GAP;
  for (int64_t k = 0; k < n; k++) all += r->left[k] + r->right[k] + 2;
  if (all <= line && !is_cut(p)) return;
  for (bool front = true; first + behind < n; front = !front) {
    int64_t k = front ? first : n - 1 - behind;
    width += r->left[k] + r->right[k] + 2;
    if (width > line && first && behind) break;
    *(front ? &first : &behind) += 1;
  }
  *p = part_of(r->t->extent[last], first, behind);
}

void td_bind_put_tensor(TdText *out, const TdTensor *t, bool all) {
  int rank = t->type->rank;
  int64_t end[TD_MAX_RANK];
  Rows r = {.out = out, .t = t, .most = out->n + SHOW_BYTES - SLACK};
  TdText label = td_text_new(out->arena);
  for (int d = 0; d < rank; d++) {
    end[d] = t->extent[d] - 1;
    r.part[d] = (Part){t->extent[d], t->extent[d], 0};
  }
  td_bind_put_index(&label, end, rank - 1, 0);
  r.label = label.n;
  td_type_print(out, t->type);
  td_text_putc(out, '\n');
  if (!td_tensor_count(t)) return;
  if (!all) choose_corners(&r);
  measure(&r);
  put_rows(&r, 0);
  if (r.full && r.shown < td_tensor_count(t))
    td_text_putf(out, "... %" PRId64 " more\n", td_tensor_count(t) - r.shown);
}

/* t:show(): prints type and rows, as far as 20 KiB go. */
int td_bind_tensor_show(lua_State *L) {
  const TdTensor *t = td_bind_check_tensor(L, 1);
  TdText out = td_text_new(td_bind_arena(L));
  td_bind_put_tensor(&out, t, true);
  lua_getglobal(L, "print");
  lua_pushlstring(L, td_text_str(&out), out.n - 1);
  lua_call(L, 1, 0);
  return 0;
}

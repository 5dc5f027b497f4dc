/* tensor_show.c - tensors as text: one line for tostring, aligned rows for show. Only what is
 * shown is read, so size does not matter. */
#include <inttypes.h>
#include <string.h>

#include "bind/value/tensor.h"

#define SHOW_BYTES 20480 /* most that show prints */
#define LINE_ELEMENTS 8  /* most that tostring prints */
#define SLACK 128        /* room for the label of a row and its end */

/* Puts the element at an index: "?" if never written, "..." if wider than a number. */
static void put_element(TdText *out, const TdTensor *t, const int64_t *index) {
  const TdType *e = t->type->elem;
  if (!td_tensor_is_written(t, index))
    td_text_putc(out, '?');
  else if (e->w > 64)
    td_text_puts(out, "...");
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

/* The first elements of t as text, one after another. */
typedef struct Cells {
  TdText text;
  TD_VEC(size_t) end; /* of each in text */
  size_t width;       /* of the widest */
} Cells;

/* Prints elements until there is no more to show, or there can be no room for more. */
static Cells cells_of(TdArena *a, const TdTensor *t) {
  Cells c = {.text = td_text_new(a)};
  int64_t index[TD_MAX_RANK] = {0};
  if (!td_tensor_count(t)) return c;
  do {
    size_t first = c.text.n;
    put_element(&c.text, t, index);
    if (c.text.n - first > c.width) c.width = c.text.n - first;
    td_vec_push(a, &c.end, c.text.n);
  } while (c.text.n + c.end.n < SHOW_BYTES && td_tensor_next(t, index));
  return c;
}

/* Puts s, of n bytes, at the right end of `width` columns. */
static void put_right(TdText *out, const char *s, size_t n, size_t width) {
  for (size_t i = n; i < width; i++) td_text_putc(out, ' ');
  td_text_putn(out, s, n);
}

/* "[0][1]" before the row that an index lies in, as wide as that of the last row; nothing for a
 * vector. */
static void put_label(TdText *out, const TdTensor *t, const int64_t *index) {
  int64_t last[TD_MAX_RANK];
  int rank = t->type->rank - 1;
  for (int d = 0; d < rank; d++) last[d] = t->extent[d] - 1;
  TdText label = td_text_new(out->arena), widest = td_text_new(out->arena);
  td_bind_put_index(&label, index, rank, 0);
  td_bind_put_index(&widest, last, rank, 0);
  td_text_puts(out, td_text_str(&label));
  for (size_t i = label.n; i < widest.n; i++) td_text_putc(out, ' ');
}

/* Puts the rows of t, aligned; returns how many elements there was room for. */
static int64_t put_rows(TdText *out, const TdTensor *t, const Cells *c) {
  int64_t index[TD_MAX_RANK] = {0};
  int last = t->type->rank - 1;
  size_t shown = 0, gap = last ? 2 : 0;
  for (; shown < c->end.n && out->n + c->width + SLACK < SHOW_BYTES; shown++) {
    size_t first = shown ? c->end.at[shown - 1] : 0;
    if (index[last] == 0) put_label(out, t, index);
    put_right(out, c->text.at + first, c->end.at[shown] - first,
              c->width + (index[last] ? 2 : gap));
    if (index[last] + 1 == t->extent[last]) td_text_putc(out, '\n');
    td_tensor_next(t, index);
  }
  if (shown && index[last]) td_text_putc(out, '\n');
  return (int64_t)shown;
}

/* t:show(), tide.show(t): prints type and rows, as far as 20 KiB go. */
int td_bind_tensor_show(lua_State *L) {
  const TdTensor *t = td_bind_check_tensor(L, 1);
  TdArena *a = td_bind_arena(L);
  TdText out = td_text_new(a);
  td_type_print(&out, t->type);
  td_text_putc(&out, '\n');
  Cells c = cells_of(a, t);
  int64_t rest = td_tensor_count(t) - put_rows(&out, t, &c);
  if (rest) td_text_putf(&out, "... %" PRId64 " more\n", rest);
  lua_getglobal(L, "print");
  lua_pushlstring(L, td_text_str(&out), out.n - 1);
  lua_call(L, 1, 0);
  return 0;
}

/* table.c - constants as initialisers, with braces for each dimension. */
#include "backends/hls/text.h"

/* An initialiser being written. */
typedef struct Table {
  TdCWriter *w;
  const TdBlob *blob;
  TdText out;
  size_t line; /* where the last line began */
  int64_t at;  /* the next element */
} Table;

static void put_element(Table *t) {
  const TdType *elem = td_type_scalar(t->blob->type);
  const char *data = t->blob->data;
  uint64_t v = td_num_load(elem, data + (size_t)t->at++ * td_type_bytes(elem));
  const TdExpr *e = td_expr_lit(t->w->arena, elem, v, (TdLoc){0});
  td_text_puts(&t->out, t->w->target->value(t->w, e).text);
}

/* The elements of dimension d and those below it, in braces; long lines are broken. */
static void put_dimension(Table *t, int d) {
  int64_t n = 0;
  td_type_extent(t->blob->type, d, &n);
  td_text_putc(&t->out, '{');
  for (int64_t i = 0; i < n; i++) {
    if (i) td_text_putc(&t->out, ',');
    if (t->out.n > t->line + 76) {
      t->line = t->out.n;
      td_text_puts(&t->out, "\n    ");
    } else if (i) {
      td_text_putc(&t->out, ' ');
    }
    if (d + 1 < t->blob->type->rank)
      put_dimension(t, d + 1);
    else
      put_element(t);
  }
  td_text_putc(&t->out, '}');
}

const char *td_hls_table_of(TdCWriter *w, const TdBlob *b) {
  Table t = {.w = w, .blob = b, .out = td_text_new(w->arena)};
  put_dimension(&t, 0);
  return td_text_str(&t.out);
}

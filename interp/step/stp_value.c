/* stp_value.c - the values of a run: counted records in one array, data in blocks by size. */
#include <string.h>

#include "step/stp_finger.h"

TdStpVal td_stp_value_new(TdStpRun *r, TdStpKind kind) {
  if (!r->val.n) td_vec_push(r->arena, &r->val, (TdStpRecord){0});
  TdStpVal v = r->free;
  if (v) {
    r->free = r->val.at[v].next;
  } else {
    v = (TdStpVal)r->val.n;
    td_vec_push(r->arena, &r->val, (TdStpRecord){0});
  }
  TdStpRecord *x = &r->val.at[v];
  TdStpItem *item = x->item;
  uint32_t cap = x->cap;
  *x = (TdStpRecord){.refs = 1, .kind = (uint8_t)kind, .item = item, .cap = cap};
  return v;
}

/* n bytes of zeros. */
static unsigned char *take_data(TdStpRun *r, size_t n, uint8_t *size_class) {
  uint8_t c = 4;
  while (((size_t)1 << c) < n) c++;
  *size_class = c;
  unsigned char *p = r->block[c];
  if (p) {
    memcpy(&r->block[c], p, sizeof(void *));
    memset(p, 0, n);
    return p;
  }
  return td_arena_alloc(r->arena, (size_t)1 << c);
}

void td_stp_value_drop(TdStpRun *r, TdStpVal v) {
  if (!v || --r->val.at[v].refs) return;
  TdStpRecord *x = &r->val.at[v];
  if (x->data) {
    memcpy(x->data, &r->block[x->size_class], sizeof(void *));
    r->block[x->size_class] = x->data;
    x->data = NULL;
  }
  for (uint32_t i = 0; i < r->val.at[v].nitem; i++) td_stp_value_drop(r, r->val.at[v].item[i].val);
  r->val.at[v].next = r->free;
  r->free = v;
}

bool td_stp_value_has_data(const TdStpRun *r, const TdType *elem, int64_t rows, int64_t cols) {
  return r->o->data || r->o->finger || (rows == 1 && cols == 1 && td_type_is_integer(elem));
}

size_t td_stp_value_row(const TdStpRun *r, const TdType *elem, int64_t rows, int64_t cols) {
  if (td_stp_finger_is(r, elem, rows, cols))
    return (r->o->finger == TD_STP_BY_ROWS ? 1 : (size_t)cols) * sizeof(TdHash);
  return (size_t)cols * td_type_bytes(elem);
}

TdStpVal td_stp_value_tile(TdStpRun *r, const TdType *elem, int64_t rows, int64_t cols) {
  TdStpVal v = td_stp_value_new(r, TD_STP_TILE);
  TdStpRecord *x = td_stp_value(r, v);
  x->elem = elem;
  x->rows = x->vrows = rows;
  x->cols = x->vcols = cols;
  if (!td_stp_value_has_data(r, elem, rows, cols)) return v;
  uint8_t size_class;
  unsigned char *data =
      take_data(r, (size_t)rows * td_stp_value_row(r, elem, rows, cols) + 1, &size_class);
  x = td_stp_value(r, v);
  x->data = data;
  x->size_class = size_class;
  return v;
}

TdStpVal td_stp_value_number(TdStpRun *r, const TdType *elem, int64_t n) {
  TdStpVal v = td_stp_value_tile(r, elem, 1, 1);
  TdStpRecord *x = td_stp_value(r, v);
  x->number = n;
  if (x->data) td_num_store(elem, x->data, (uint64_t)n);
  return v;
}

TdStpVal td_stp_value_selector(TdStpRun *r, const int32_t *index, int64_t n) {
  TdStpVal v = td_stp_value_new(r, TD_STP_SELECTOR);
  td_stp_value(r, v)->index = index;
  td_stp_value(r, v)->number = n;
  return v;
}

TdStpVal td_stp_value_copy(TdStpRun *r, TdStpVal v) {
  TdStpRecord was = *td_stp_value(r, v);
  TdStpVal w = td_stp_value_tile(r, was.elem, was.rows, was.cols);
  TdStpRecord *x = td_stp_value(r, w);
  x->vrows = was.vrows, x->vcols = was.vcols, x->mu = was.mu, x->number = was.number;
  if (x->data && was.data)
    memcpy(x->data, was.data, (size_t)was.rows * td_stp_value_row(r, was.elem, was.rows, was.cols));
  return w;
}

int64_t td_stp_element_bytes(const TdStpOptions *o, const TdType *elem) {
  if (o->bytes && elem->kind == TD_T_FLOAT) return o->bytes;
  return (int64_t)td_type_bytes(elem);
}

int64_t td_stp_value_bytes(TdStpRun *r, TdStpVal v) {
  TdStpRecord *x = td_stp_value(r, v);
  int64_t n = 0;
  if (x->kind == TD_STP_TILE) return x->rows * x->cols * td_stp_element_bytes(r->o, x->elem);
  for (uint32_t i = 0; i < x->nitem; i++)
    if (x->item[i].val) n += td_stp_value_bytes(r, x->item[i].val);
  return n;
}

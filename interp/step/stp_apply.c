/* stp_apply.c - functions of step.fn on the values of a run: extents, valid rows and columns,
 * FLOPs, and with data the kernel that defines the function, called on what is valid. Beyond it
 * tiles are zeros. */
#include <string.h>

#include "step/stp_finger.h"
#include "step/stp_kernel.h"

static int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b) {
  return a > b ? a : b;
}

/* The part rows x cols of a tile's data; extents of 1 are repeated. */
static TdTensor view(TdStpRun *r, TdStpVal v, int64_t rows, int64_t cols) {
  const TdStpRecord *x = td_stp_value(r, v);
  int64_t extent[2] = {rows, cols};
  TdTensor t = {.type = td_type_tensor_of(r->g->session, x->elem, 2, extent), .data = x->data};
  t.extent[0] = rows, t.extent[1] = cols;
  t.stride[0] = x->rows == 1 && rows > 1 ? 0 : x->cols;
  t.stride[1] = x->cols == 1 && cols > 1 ? 0 : 1;
  return t;
}

/* Calls the kernel of fn; a number that comes out is noted in its record. */
static bool call(TdStpRun *r, TdStpMachine *m, TdStpFnKind fn, TdTensor *arg, size_t n, TdStpVal v,
                 int64_t rows, int64_t cols) {
  TdTensor out = view(r, v, rows, cols);
  if (!td_tensor_count(&out)) return true;
  if (r->calls->call(r->calls->ud, m->n, fn, arg, n, &out, r->d)) {
    TdStpRecord *x = td_stp_value(r, v);
    if (x->rows == 1 && x->cols == 1 && td_type_is_integer(x->elem))
      x->number = (int64_t)td_num_load(x->elem, x->data);
    return true;
  }
  r->failed = true;
  return false;
}

static TdStpVal refuse(TdStpRun *r, TdStpMachine *m, const char *why) {
  td_stp_fail(r, m, TD_ILLEGAL, "step-function", "%s at run: %s", m->n->fn.name, why);
  return 0;
}

static TdStpVal matmul(TdStpRun *r, TdStpMachine *m, TdStpVal a, TdStpVal b, bool transposed,
                       int64_t *flops) {
  TdStpRecord x = *td_stp_value(r, a), y = *td_stp_value(r, b);
  int64_t yk = transposed ? y.cols : y.rows, yn = transposed ? y.rows : y.cols;
  int64_t vk = transposed ? y.vcols : y.vrows, vn = transposed ? y.vrows : y.vcols;
  if (x.cols != yk)
    return refuse(r, m,
                  td_text_fmt(r->d->arena, "the inner extents are %lld and %lld", (long long)x.cols,
                              (long long)yk));
  *flops = 2 * x.rows * x.cols * yn;
  m->useful += 2 * x.vrows * least(x.vcols, vk) * vn;
  TdStpVal out = td_stp_value_tile(r, x.elem, x.rows, yn);
  td_stp_value(r, out)->vrows = x.vrows;
  td_stp_value(r, out)->vcols = vn;
  if (!td_stp_value(r, out)->data) return out;
  int64_t k = least(x.vcols, vk);
  if (!k) return out;
  if (td_stp_finger_is(r, x.elem, x.rows, yn)) {
    td_stp_finger_matmul(r, a, b, out, k, transposed);
    return out;
  }
  TdTensor arg[2] = {view(r, a, x.vrows, k), transposed ? view(r, b, vn, k) : view(r, b, k, vn)};
  call(r, m, transposed ? TD_STP_FN_MATMUL_T : TD_STP_FN_MATMUL, arg, 2, out, x.vrows, vn);
  return out;
}

/* The extent of x op y, or -1. */
static int64_t joint(int64_t a, int64_t b) {
  return a == b || b == 1 ? a : a == 1 ? b : -1;
}

/* A tile of which nothing beyond the valid part is left. */
static TdStpVal cleared(TdStpRun *r, TdStpVal v) {
  TdStpRecord x = *td_stp_value(r, v);
  if (!x.data || (x.vrows == x.rows && x.vcols == x.cols)) return td_stp_value_keep(r, v);
  TdStpVal w = td_stp_value_tile(r, x.elem, x.rows, x.cols);
  size_t each = td_type_bytes(x.elem);
  for (int64_t i = 0; i < x.vrows; i++)
    memcpy(td_stp_value(r, w)->data + (size_t)(i * x.cols) * each,
           x.data + (size_t)(i * x.cols) * each, (size_t)x.vcols * each);
  return w;
}

/* What is valid of x op y: sums reach as far as either, products as far as both. */
static int64_t valid(int64_t a, int64_t va, int64_t b, int64_t vb, bool sums) {
  if (a != b) return a == 1 ? (va ? vb : 0) : (vb ? va : 0);
  return sums ? most(va, vb) : least(va, vb);
}

static TdStpVal combine(TdStpRun *r, TdStpMachine *m, TdStpFnKind fn, TdStpVal a, TdStpVal b,
                        int64_t *flops) {
  TdStpRecord x = *td_stp_value(r, a), y = *td_stp_value(r, b);
  int64_t rows = joint(x.rows, y.rows), cols = joint(x.cols, y.cols);
  if (rows < 0 || cols < 0)
    return refuse(r, m,
                  td_text_fmt(r->d->arena, "tiles of [%lld, %lld] and [%lld, %lld]",
                              (long long)x.rows, (long long)x.cols, (long long)y.rows,
                              (long long)y.cols));
  *flops = rows * cols;
  bool sums = fn == TD_STP_FN_ADD;
  int64_t vrows = valid(x.rows, x.vrows, y.rows, y.vrows, sums);
  int64_t vcols = valid(x.cols, x.vcols, y.cols, y.vcols, sums);
  m->useful += vrows * vcols;
  TdStpVal out = td_stp_value_tile(r, x.elem, rows, cols);
  td_stp_value(r, out)->vrows = vrows;
  td_stp_value(r, out)->vcols = vcols;
  if (!td_stp_value(r, out)->data) return out;
  if (td_stp_finger_is(r, x.elem, rows, cols)) {
    td_stp_finger_combine(r, fn, a, b, out);
    return out;
  }
  TdStpVal p = cleared(r, a), q = cleared(r, b);
  TdTensor arg[2] = {view(r, p, vrows, vcols), view(r, q, vrows, vcols)};
  call(r, m, fn, arg, 2, out, vrows, vcols);
  td_stp_value_drop(r, p);
  td_stp_value_drop(r, q);
  return out;
}

static TdStpVal unary(TdStpRun *r, TdStpMachine *m, TdStpFnKind fn, TdStpVal a, int64_t *flops) {
  TdStpRecord x = *td_stp_value(r, a);
  bool sums = fn == TD_STP_FN_ROW_SUM;
  int64_t each = fn == TD_STP_FN_SILU ? 8 : fn == TD_STP_FN_EXP ? 4 : 1;
  *flops = x.rows * x.cols * each;
  m->useful += x.vrows * x.vcols * each;
  TdStpVal out = td_stp_value_tile(r, x.elem, x.rows, sums ? 1 : x.cols);
  td_stp_value(r, out)->vrows = x.vrows;
  td_stp_value(r, out)->vcols = sums ? 1 : x.vcols;
  if (!td_stp_value(r, out)->data || !x.vcols) return out;
  if (td_stp_finger_is(r, x.elem, x.rows, sums ? 1 : x.cols)) {
    td_stp_finger_unary(r, fn, a, out);
    return out;
  }
  TdTensor arg = view(r, a, x.vrows, x.vcols);
  call(r, m, fn, &arg, 1, out, x.vrows, sums ? 1 : x.vcols);
  return out;
}

/* Copies n rows of x from row `from` on to row `to` of w. */
static void copy_rows(TdStpRun *r, TdStpVal w, int64_t to, TdStpVal v, int64_t from, int64_t n) {
  const TdStpRecord *x = td_stp_value(r, v), *o = td_stp_value(r, w);
  if (!x->data || n <= 0) return;
  size_t row = td_stp_value_row(r, x->elem, x->rows, x->cols);
  if (row != td_stp_value_row(r, o->elem, o->rows, o->cols)) {
    td_stp_finger_number(r, w, to, x->number);
    return;
  }
  memcpy(o->data + (size_t)to * row, x->data + (size_t)from * row, (size_t)n * row);
}

/* Adds x below the state, in its place where that has room and nobody else reads it. */
static bool append_rows(TdStpRun *r, TdStpVal state, TdStpVal x) {
  TdStpRecord *s = td_stp_value(r, state), *y = td_stp_value(r, x);
  if (s->refs != 1 || s->vrows != s->rows || s->cols != y->cols) return false;
  if (td_stp_finger_is(r, s->elem, s->rows + 1, s->cols) !=
      td_stp_finger_is(r, s->elem, s->rows, s->cols))
    return false;
  size_t need = (size_t)(s->rows + y->rows) * td_stp_value_row(r, s->elem, s->rows, s->cols);
  if (s->data && need > (size_t)1 << s->size_class) return false;
  int64_t at = s->rows;
  s->rows += y->rows;
  s->vrows += y->vrows;
  s->mu = y->mu;
  copy_rows(r, state, at, x, 0, y->rows);
  td_stp_value_keep(r, state);
  return true;
}

static TdStpVal stack_rows(TdStpRun *r, TdStpMachine *m, TdStpVal state, TdStpVal x) {
  TdStpRecord y = *td_stp_value(r, x);
  if (!state) {
    TdStpVal own = td_stp_value_copy(r, x);
    return own;
  }
  if (append_rows(r, state, x)) return state;
  TdStpRecord s = *td_stp_value(r, state);
  if (s.cols != y.cols) return refuse(r, m, "the tiles are of different columns");
  TdStpVal out = td_stp_value_tile(r, y.elem, s.rows + y.rows, y.cols);
  copy_rows(r, out, 0, state, 0, s.vrows);
  copy_rows(r, out, s.vrows, x, 0, y.vrows);
  copy_rows(r, out, s.vrows + y.vrows, state, s.vrows, s.rows - s.vrows);
  copy_rows(r, out, s.rows + y.vrows, x, y.vrows, y.rows - y.vrows);
  TdStpRecord *o = td_stp_value(r, out);
  o->vrows = s.vrows + y.vrows;
  o->vcols = most(s.vcols, y.vcols);
  o->mu = y.mu;
  return out;
}

static TdStpVal stack_columns(TdStpRun *r, TdStpMachine *m, TdStpVal state, TdStpVal x) {
  TdStpRecord y = *td_stp_value(r, x);
  if (!state) return td_stp_value_copy(r, x);
  TdStpRecord s = *td_stp_value(r, state);
  if (s.rows != y.rows) return refuse(r, m, "the tiles are of different rows");
  TdStpVal out = td_stp_value_tile(r, y.elem, y.rows, s.cols + y.cols);
  TdStpRecord *o = td_stp_value(r, out);
  o->vrows = most(s.vrows, y.vrows);
  o->vcols = s.vcols + y.vcols;
  o->mu = y.mu;
  size_t each = td_type_bytes(y.elem);
  if (td_stp_finger_is(r, y.elem, o->rows, o->cols)) {
    td_stp_finger_beside(r, state, x, out);
    return out;
  }
  for (int64_t i = 0; o->data && i < y.rows; i++) {
    unsigned char *row = o->data + (size_t)(i * o->cols) * each;
    memcpy(row, s.data + (size_t)(i * s.cols) * each, (size_t)s.vcols * each);
    memcpy(row + (size_t)s.vcols * each, y.data + (size_t)(i * y.cols) * each,
           (size_t)y.vcols * each);
  }
  return out;
}

/* set_offset and append_row: a copy with other valid rows. */
static TdStpVal set_rows(TdStpRun *r, TdStpMachine *m, TdStpVal a, TdStpVal b, bool appends) {
  TdStpVal out = td_stp_value_copy(r, a);
  TdStpRecord *o = td_stp_value(r, out), *y = td_stp_value(r, b);
  o->mu = 0;
  int64_t rows = appends ? o->vrows + y->rows : y->number;
  if (rows < 0 || rows > o->rows) {
    td_stp_value_drop(r, out);
    return refuse(r, m,
                  td_text_fmt(r->d->arena, "a tile of %lld rows has no %lld valid ones",
                              (long long)td_stp_value(r, a)->rows, (long long)rows));
  }
  if (appends) copy_rows(r, out, o->vrows, b, 0, y->rows);
  td_stp_value(r, out)->vrows = rows;
  return out;
}

/* The selector of one way, which a number says. */
static TdStpVal one_hot(TdStpRun *r, TdStpMachine *m, TdStpVal a) {
  int64_t way = td_stp_value(r, a)->number;
  if (way >= 0 && way < m->n->fn.n) return td_stp_value_selector(r, r->identity + way, 1);
  return refuse(r, m,
                td_text_fmt(r->d->arena, "a selector of n = %lld has no index %lld",
                            (long long)m->n->fn.n, (long long)way));
}

/* ---- kernels ---- */

#define PARTS 16

/* The sizes of a call on these tiles: of whole ones, and of what is valid of all that have them. */
static bool bind_sizes(TdStpRun *r, TdStpMachine *m, const TdStpVal *part, TdStpSizes *s) {
  const TdStpFn *f = &m->n->fn;
  for (size_t i = 0; i < td_stp_kernel_reads(f); i++) {
    const TdParam *p = td_stp_kernel_read(f, i);
    if (!part[i]) continue;
    TdStpRecord x = *td_stp_value(r, part[i]);
    int64_t full[2] = {x.rows, x.cols}, valid[2] = {x.vrows, x.vcols};
    for (int k = 0; k < 2; k++) {
      int at = td_stp_kernel_size(f, p, k, s);
      if (at >= 0 && s->full[at] < 0) s->full[at] = full[k], s->valid[at] = valid[k];
      if (at >= 0) s->valid[at] = least(s->valid[at], valid[k]);
      if (td_stp_kernel_extent(f, p, k, s, false) != full[k])
        return refuse(r, m,
                      td_text_fmt(r->d->arena, "'%s' is [%lld, %lld]", p->sym->name,
                                  (long long)full[0], (long long)full[1])) != 0;
      if (at < 0 && valid[k] != full[k])
        return refuse(r, m,
                      td_text_fmt(r->d->arena,
                                  "'%s' has a fixed extent, and %lld of %lld %s are valid: give "
                                  "it a size without a value",
                                  p->sym->name, (long long)valid[k], (long long)full[k],
                                  k ? "columns" : "rows")) != 0;
    }
  }
  return true;
}

/* Calls a kernel on tiles: on what is valid of them. A fold begins with a state of zeros. */
static TdStpVal apply_kernel(TdStpRun *r, TdStpMachine *m, const TdStpVal *part, int64_t *flops,
                             int64_t *cycles) {
  const TdStpFn *f = &m->n->fn;
  const TdParam *res = td_stp_kernel_result(f);
  TdStpSizes s = {0};
  if (!bind_sizes(r, m, part, &s)) return 0;
  int64_t full[2], valid[2];
  for (int k = 0; k < 2; k++) {
    full[k] = td_stp_kernel_extent(f, res, k, &s, false);
    valid[k] = td_stp_kernel_extent(f, res, k, &s, true);
  }
  *flops = td_stp_kernel_work(r->graph, f, &s, r->d);
  TdStpSizes some = s;
  for (size_t i = 0; i < s.n; i++) some.full[i] = s.valid[i];
  m->useful += *flops < 0 ? 0 : td_stp_kernel_work(r->graph, f, &some, r->d);
  bool timed = *flops >= 0 && td_stp_opt(m->n, TD_STP_KEY_TIME, 0) != 0;
  if (timed) *cycles = r->calls->cycles(r->calls->ud, m->n, &s, r->d);
  if (*flops < 0 || (timed && *cycles < 0)) {
    r->failed = true;
    return 0;
  }
  TdStpVal out = td_stp_value_tile(r, res->type->elem, full[0], full[1]);
  td_stp_value(r, out)->vrows = valid[0];
  td_stp_value(r, out)->vcols = valid[1];
  if (!td_stp_value(r, out)->data || !valid[0] || !valid[1]) return out;
  TdStpVal own[PARTS];
  size_t n = td_stp_kernel_reads(f);
  for (size_t i = 0; i < n; i++)
    own[i] = part[i] ? td_stp_value_keep(r, part[i])
                     : td_stp_value_tile(r, res->type->elem, full[0], full[1]);
  if (td_stp_finger_is(r, res->type->elem, full[0], full[1])) {
    td_stp_finger_kernel(r, f, own, n, out);
  } else {
    TdTensor arg[PARTS];
    for (size_t i = 0; i < n; i++) {
      const TdParam *p = td_stp_kernel_read(f, i);
      arg[i] = view(r, own[i], td_stp_kernel_extent(f, p, 0, &s, true),
                    td_stp_kernel_extent(f, p, 1, &s, true));
    }
    call(r, m, TD_STP_FN_KERNEL, arg, n, out, valid[0], valid[1]);
  }
  for (size_t i = 0; i < n; i++) td_stp_value_drop(r, own[i]);
  return out;
}

/* The sum of two buffers, tile by tile. */
static TdStpVal add_buffers(TdStpRun *r, TdStpMachine *m, TdStpVal a, TdStpVal b, int64_t *flops) {
  uint32_t n = td_stp_value(r, b)->nitem;
  TdStpItem *item = TD_NEWN(r->arena, TdStpItem, n + 1);
  for (uint32_t i = 0; i < n && !r->failed; i++) {
    int64_t one = 0;
    item[i] = td_stp_value(r, b)->item[i];
    TdStpVal x = item[i].val;
    if (a) {
      item[i].val = combine(r, m, TD_STP_FN_ADD, td_stp_value(r, a)->item[i].val, x, &one);
    } else {
      one = td_stp_value(r, x)->rows * td_stp_value(r, x)->cols;
      m->useful += td_stp_value(r, x)->vrows * td_stp_value(r, x)->vcols;
      td_stp_value_keep(r, x);
    }
    *flops += one;
  }
  if (r->failed) return 0;
  TdStpVal out = td_stp_value_new(r, TD_STP_BUFFER);
  TdStpRecord *o = td_stp_value(r, out);
  o->item = item;
  o->nitem = o->cap = n;
  return out;
}

TdStpVal td_stp_apply(TdStpRun *r, TdStpMachine *m, const TdStpVal *part, size_t n, int64_t *flops,
                      int64_t *cycles) {
  TdStpFnKind fn = m->n->fn.kind;
  *flops = 0;
  *cycles = -1;
  (void)n;
  switch (fn) {
  case TD_STP_FN_KERNEL: return apply_kernel(r, m, part, flops, cycles);
  case TD_STP_FN_MATMUL:
  case TD_STP_FN_MATMUL_T: return matmul(r, m, part[0], part[1], fn == TD_STP_FN_MATMUL_T, flops);
  case TD_STP_FN_ADD:
    if (td_stp_value(r, part[1])->kind == TD_STP_BUFFER)
      return add_buffers(r, m, part[0], part[1], flops);
    if (!part[0]) {
      const TdStpRecord *x = td_stp_value(r, part[1]);
      *flops = x->rows * x->cols;
      m->useful += x->vrows * x->vcols;
      return td_stp_value_keep(r, part[1]);
    }
    return combine(r, m, fn, part[0], part[1], flops);
  case TD_STP_FN_MUL:
  case TD_STP_FN_DIV: return combine(r, m, fn, part[0], part[1], flops);
  case TD_STP_FN_SILU:
  case TD_STP_FN_EXP:
  case TD_STP_FN_ROW_SUM: return unary(r, m, fn, part[0], flops);
  case TD_STP_FN_SET_OFFSET:
  case TD_STP_FN_APPEND_ROW:
    *cycles = 1;
    return set_rows(r, m, part[0], part[1], fn == TD_STP_FN_APPEND_ROW);
  case TD_STP_FN_RETILE_ROW: *cycles = 0; return stack_rows(r, m, part[0], part[1]);
  case TD_STP_FN_RETILE_COL: *cycles = 0; return stack_columns(r, m, part[0], part[1]);
  case TD_STP_FN_SIGNAL: *cycles = 1; return td_stp_value_number(r, m->n->out[0].type->elem, 1);
  case TD_STP_FN_ONE_HOT: *cycles = 1; return one_hot(r, m, part[0]);
  case TD_STP_FN_CACHE_SLOT:
    *cycles = 1;
    return td_stp_value_number(r, m->n->out[0].type->elem,
                               m->n->fn.n * td_stp_value(r, part[0])->number +
                                   td_stp_value(r, part[1])->number);
  default: return refuse(r, m, "the function does not stand here");
  }
}

TdStpVal td_stp_apply_sum(TdStpRun *r, TdStpMachine *m, TdStpVal state, TdStpVal x) {
  int64_t flops, useful = m->useful;
  if (!state) return td_stp_value_keep(r, x);
  TdStpVal sum = combine(r, m, TD_STP_FN_ADD, state, x, &flops);
  m->useful = useful;
  return sum;
}

int64_t td_stp_apply_count(TdStpRun *r, TdStpMachine *m, const TdStpVal *part) {
  switch (m->n->fn.kind) {
  case TD_STP_FN_SPLIT_ROWS: return td_stp_value(r, part[0])->vrows;
  case TD_STP_FN_ADDRESSES: return m->n->fn.n;
  case TD_STP_FN_CACHE_ADDRESSES: return td_stp_value(r, part[1])->number;
  default: return td_stp_value(r, part[0])->number;
  }
}

TdStpVal td_stp_apply_element(TdStpRun *r, TdStpMachine *m, const TdStpVal *part, int64_t i) {
  const TdStpRecord *x = td_stp_value(r, part[0]);
  const TdStpType *t = m->n->out[0].type;
  switch (m->n->fn.kind) {
  case TD_STP_FN_SPLIT_ROWS: {
    uint16_t mu = x->mu;
    int64_t vcols = x->vcols;
    TdStpVal row = td_stp_value_tile(r, x->elem, 1, x->cols);
    copy_rows(r, row, 0, part[0], i, 1);
    td_stp_value(r, row)->mu = mu;
    td_stp_value(r, row)->vcols = vcols;
    return row;
  }
  case TD_STP_FN_ADDRESSES: return td_stp_value_number(r, t->elem, m->n->fn.n * x->index[0] + i);
  case TD_STP_FN_CACHE_ADDRESSES:
    return td_stp_value_number(r, t->elem, m->n->fn.n * x->number + i);
  default: return td_stp_value_selector(r, r->identity + (i + 1 == x->number ? 0 : 1), 1);
  }
}

/* stp_finger.c - functions and the off-chip memory on fingerprints.
 *
 * The fingerprint of nothing, which is what lies beyond the valid part, is 0: a sum with it is the
 * other summand. By rows a function is a hash of all that it may read for the row; a tile that it
 * reads whole counts by the hash of its rows. */
#include "step/stp_finger.h"
#include "step/stp_kernel.h"

static TdHash *cells(TdStpRun *r, TdStpVal v) {
  return (void *)td_stp_value(r, v)->data;
}

/* Fingerprints in a row of a tile. */
static int64_t width(const TdStpRun *r, int64_t cols) {
  return r->o->finger == TD_STP_BY_ROWS ? 1 : cols;
}

static TdHash start(uint64_t word) {
  return td_hash_feed((TdHash){0x243f6a8885a308d3u, 0x13198a2e03707344u}, word);
}

static TdHash feed(TdHash h, TdHash x) {
  return (TdHash){td_map_mix(h.lo, x.lo), td_map_mix(h.hi, x.hi)};
}

static bool is_nothing(TdHash x) {
  return !x.lo && !x.hi;
}

/* An operator on two values in any order, or in theirs. */
static TdHash pair(TdStpFnKind fn, TdHash a, TdHash b) {
  bool swaps = fn != TD_STP_FN_DIV && (a.lo > b.lo || (a.lo == b.lo && a.hi > b.hi));
  return swaps ? feed(feed(start(fn), b), a) : feed(feed(start(fn), a), b);
}

static TdHash sum(const TdStpRun *r, TdHash a, TdHash b) {
  if (is_nothing(a)) return b;
  if (is_nothing(b)) return a;
  return r->o->sums ? (TdHash){a.lo + b.lo, a.hi + b.hi} : pair(TD_STP_FN_ADD, a, b);
}

/* Row i of a tile by rows. */
static TdHash row(TdStpRun *r, TdStpVal v, int64_t i) {
  const TdStpRecord *x = td_stp_value(r, v);
  if (x->rows == 1) i = 0;
  return i < x->vrows ? cells(r, v)[i] : (TdHash){0, 0};
}

/* Element i, j of a tile; extents of 1 are repeated. */
static TdHash element(TdStpRun *r, TdStpVal v, int64_t i, int64_t j) {
  const TdStpRecord *x = td_stp_value(r, v);
  if (x->rows == 1) i = 0;
  if (x->cols == 1) j = 0;
  return i < x->vrows && j < x->vcols ? cells(r, v)[i * x->cols + j] : (TdHash){0, 0};
}

void td_stp_finger_matmul(TdStpRun *r, TdStpVal a, TdStpVal b, TdStpVal out, int64_t k,
                          bool transposed) {
  TdStpRecord o = *td_stp_value(r, out), y = *td_stp_value(r, b);
  if (r->o->finger == TD_STP_BY_ROWS) {
    TdHash whole = td_hash_feed(start(transposed), (uint64_t)(transposed ? y.vrows : k));
    whole = td_hash_feed(whole, (uint64_t)(transposed ? k : y.vcols));
    for (int64_t i = 0; i < (transposed ? y.vrows : k); i++) whole = feed(whole, row(r, b, i));
    for (int64_t i = 0; i < o.vrows; i++)
      cells(r, out)[i] = feed(feed(start(TD_STP_FN_MATMUL), row(r, a, i)), whole);
    return;
  }
  for (int64_t i = 0; i < o.vrows; i++)
    for (int64_t j = 0; j < o.vcols; j++) {
      TdHash acc = {0, 0};
      for (int64_t q = 0; q < k; q++) {
        TdHash w = transposed ? element(r, b, j, q) : element(r, b, q, j);
        acc = sum(r, acc, pair(TD_STP_FN_MUL, element(r, a, i, q), w));
      }
      cells(r, out)[i * o.cols + j] = acc;
      td_ctx_tick(r->ctx, (uint64_t)k);
    }
}

void td_stp_finger_combine(TdStpRun *r, TdStpFnKind fn, TdStpVal a, TdStpVal b, TdStpVal out) {
  TdStpRecord o = *td_stp_value(r, out), x = *td_stp_value(r, a), y = *td_stp_value(r, b);
  bool rows = r->o->finger == TD_STP_BY_ROWS, alike = x.vcols == y.vcols;
  TdHash wide = td_hash_feed(td_hash_feed(start(fn), (uint64_t)x.vcols), (uint64_t)y.vcols);
  for (int64_t i = 0; i < o.vrows; i++)
    for (int64_t j = 0; j < (rows ? 1 : o.vcols); j++) {
      TdHash p = rows ? row(r, a, i) : element(r, a, i, j);
      TdHash q = rows ? row(r, b, i) : element(r, b, i, j);
      TdHash *to = &cells(r, out)[i * width(r, o.cols) + j];
      if (rows && !alike)
        *to = feed(feed(wide, p), q);
      else
        *to = fn == TD_STP_FN_ADD ? sum(r, p, q) : pair(fn, p, q);
    }
}

void td_stp_finger_unary(TdStpRun *r, TdStpFnKind fn, TdStpVal a, TdStpVal out) {
  TdStpRecord o = *td_stp_value(r, out), x = *td_stp_value(r, a);
  bool rows = r->o->finger == TD_STP_BY_ROWS, sums = fn == TD_STP_FN_ROW_SUM;
  for (int64_t i = 0; i < o.vrows; i++)
    for (int64_t j = 0; j < (rows ? 1 : o.vcols); j++) {
      TdHash h = start(fn);
      if (rows) {
        h = feed(td_hash_feed(h, (uint64_t)x.vcols), row(r, a, i));
      } else if (sums) {
        h = (TdHash){0, 0};
        for (int64_t q = 0; q < x.vcols; q++) h = sum(r, h, element(r, a, i, q));
      } else {
        h = feed(h, element(r, a, i, j));
      }
      cells(r, out)[i * width(r, o.cols) + j] = h;
    }
}

/* All valid rows of a tile. */
static TdHash whole(TdStpRun *r, TdHash h, TdStpVal v) {
  const TdStpRecord *x = td_stp_value(r, v);
  h = td_hash_feed(td_hash_feed(h, (uint64_t)x->vrows), (uint64_t)x->vcols);
  if (!td_stp_finger_is(r, x->elem, x->rows, x->cols)) return td_hash_feed(h, (uint64_t)x->number);
  for (int64_t i = 0; i < x->vrows * width(r, x->cols); i++)
    if (width(r, x->cols) == 1 || i % x->cols < x->vcols) h = feed(h, cells(r, v)[i]);
  return h;
}

/* Row i of a tile, all its elements. */
static TdHash whole_row(TdStpRun *r, TdHash h, TdStpVal v, int64_t i) {
  const TdStpRecord *x = td_stp_value(r, v);
  h = td_hash_feed(h, (uint64_t)x->vcols);
  int64_t w = width(r, x->cols);
  for (int64_t j = 0; j < (w == 1 ? 1 : x->vcols); j++) h = feed(h, cells(r, v)[i * w + j]);
  return h;
}

void td_stp_finger_kernel(TdStpRun *r, const TdStpFn *f, const TdStpVal *part, size_t n,
                          TdStpVal out) {
  TdStpRecord o = *td_stp_value(r, out);
  TdHash all = start((uint64_t)(uintptr_t)f->prog);
  bool rows = td_stp_kernel_is_by_rows(f);
  bool apart[TD_STP_KERNEL_SIZES + 4] = {false};
  for (size_t k = 0; k < n; k++) {
    apart[k] = rows && td_stp_kernel_has_rows(f, td_stp_kernel_read(f, k));
    if (!apart[k]) all = whole(r, all, part[k]);
  }
  int64_t w = width(r, o.cols);
  for (int64_t i = 0; i < o.vrows; i++) {
    TdHash h = rows ? all : td_hash_feed(all, (uint64_t)i);
    for (size_t k = 0; k < n; k++)
      if (apart[k]) h = whole_row(r, h, part[k], i);
    for (int64_t j = 0; j < (w == 1 ? 1 : o.vcols); j++)
      cells(r, out)[i * w + j] = w == 1 ? h : td_hash_feed(h, (uint64_t)j);
  }
}

void td_stp_finger_beside(TdStpRun *r, TdStpVal s, TdStpVal y, TdStpVal out) {
  TdStpRecord o = *td_stp_value(r, out), left = *td_stp_value(r, s), right = *td_stp_value(r, y);
  for (int64_t i = 0; i < o.vrows; i++) {
    if (r->o->finger == TD_STP_BY_ROWS) {
      TdHash h = td_hash_feed(start(TD_STP_FN_RETILE_COL), (uint64_t)left.vcols);
      h = td_hash_feed(h, (uint64_t)right.vcols);
      cells(r, out)[i] = feed(feed(h, row(r, s, i)), row(r, y, i));
      continue;
    }
    for (int64_t j = 0; j < o.vcols; j++)
      cells(r, out)[i * o.cols + j] =
          j < left.vcols ? element(r, s, i, j) : element(r, y, i, j - left.vcols);
  }
}

/* A constant by its bits; zero is nothing. */
static TdHash constant(uint64_t bits) {
  return bits ? td_hash_feed(start(TD_STP_FNS), bits) : (TdHash){0, 0};
}

void td_stp_finger_number(TdStpRun *r, TdStpVal w, int64_t to, int64_t number) {
  int64_t n = width(r, td_stp_value(r, w)->cols);
  for (int64_t j = 0; j < n; j++) cells(r, w)[to * n + j] = constant((uint64_t)number + 1);
}

void td_stp_finger_constant(TdStpRun *r, TdStpVal v, const TdTensor *t) {
  TdStpRecord x = *td_stp_value(r, v);
  int64_t index[2], n = width(r, x.cols);
  for (index[0] = 0; index[0] < x.rows; index[0]++)
    for (index[1] = 0; index[1] < x.cols; index[1]++) {
      TdHash h = constant(td_tensor_get(t, index));
      TdHash *to = &cells(r, v)[index[0] * n + (n == 1 ? 0 : index[1])];
      bool adds = n == 1 && x.cols > 1 && !is_nothing(h);
      *to = adds ? feed(td_hash_feed(*to, (uint64_t)index[1]), h) : n == 1 && x.cols > 1 ? *to : h;
    }
}

/* ---- the off-chip memory ---- */

/* Where a part of a row lies: of a tensor with data by its address, else by the tensor's number. */
static uint64_t place(const TdStpTensor *t, int64_t rows, int64_t cols, int64_t number, int64_t i,
                      int64_t j, int64_t n) {
  int64_t index[TD_MAX_RANK], across = 1;
  while (t->tile) {
    const TdStpTile *own = &t->tile[number];
    t = own->of;
    number = own->number;
  }
  if (t->data)
    return td_map_mix(
        (uint64_t)(uintptr_t)td_stp_tensor_at(t->data, rows, cols, number, i, j, index),
        (uint64_t)n);
  td_type_extent(t->type, t->type->rank - 1, &across);
  across /= cols;
  uint64_t row = (uint64_t)(number / across * rows + i);
  uint64_t column = (uint64_t)(number % across * cols + j);
  return td_map_mix(td_map_mix(td_map_mix(t->id, row), column), (uint64_t)n);
}

/* The cell at a place, or NULL. */
static TdStpCell *find(TdStpRun *r, uint64_t key) {
  uint64_t at;
  return td_map_get(&r->cells, key, &at) ? &r->cell.at[at] : NULL;
}

void td_stp_finger_load(TdStpRun *r, const TdStpNode *n, int64_t number, TdStpVal v) {
  int64_t w = width(r, n->cols), part = w == 1 ? n->cols : 1;
  for (int64_t i = 0; i < n->rows; i++)
    for (int64_t j = 0; j < w; j++) {
      uint64_t key = place(&n->tensor, n->rows, n->cols, number, i, j, part);
      const TdStpCell *c = find(r, key);
      cells(r, v)[i * w + j] = c ? c->hash : td_hash_feed(start(TD_STP_FNS + 1), key);
    }
}

void td_stp_finger_store(TdStpRun *r, const TdStpNode *n, int64_t number, TdStpVal v) {
  int64_t w = width(r, n->cols), part = w == 1 ? n->cols : 1, vrows = td_stp_value(r, v)->vrows;
  for (int64_t i = 0; i < n->rows; i++)
    for (int64_t j = 0; j < w; j++) {
      uint64_t key = place(&n->tensor, n->rows, n->cols, number, i, j, part);
      TdStpCell *c = find(r, key);
      if (!c) {
        td_map_put(r->arena, &r->cells, key, r->cell.n);
        td_vec_push(r->arena, &r->cell, (TdStpCell){.key = key});
        c = &r->cell.at[r->cell.n - 1];
      }
      c->by = n;
      c->tile = number;
      c->row = i;
      c->hash = i < vrows ? cells(r, v)[i * w + j] : (TdHash){0, 0};
    }
}

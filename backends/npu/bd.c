/* bd.c - the legal ways to write a descriptor as dimensions of a BD, all of them tried: digits in
 * order from the innermost, each whole or as two factors, within the wraps, strides and words of
 * the tile. What is left outside starts the BD again. */
#include "backends/npu/bd.h"

#include <string.h>

typedef struct Factoring {
  const TdTileInfo *tile;
  TdTileKind kind;
  int64_t bytes;
  TdDigit digit[TD_DESC_DIGITS]; /* innermost first */
  int n;
  TdDigit dim[TD_BD_DIMS]; /* chosen, innermost first */
  bool found;
  TdBd best;
  const char *why;
} Factoring;

enum { ITERATIONS = 64 };

/* Whether a digit may be dimension k from the inside; `alone`: there are no others. */
static bool fits(Factoring *f, TdDigit x, int k, bool alone) {
  int64_t words = x.s * f->bytes, size = x.n;
  const char *why = NULL;
  bool iteration = f->kind == TD_TILE_SHIM && k == f->tile->dims;
  if (k == 0 && f->bytes < 4) size = x.n * f->bytes / 4;
  if (iteration ? x.s < 0 : x.s <= 0)
    why = "a stride is not positive, which only the iteration of a shim may have";
  else if (iteration && x.n > ITERATIONS)
    why = "an iteration takes more than 64 turns";
  else if (k == 0 && f->bytes < 4 && (x.s != 1 || x.n * f->bytes % 4))
    why = "the innermost elements are no whole words of 4 bytes side by side";
  else if (k == 0 && f->bytes > 4 && x.s != 1)
    why = "elements wider than 4 bytes are not side by side";
  else if ((k || f->bytes >= 4) && words % 4)
    why = "a stride is no multiple of 4 bytes";
  else if (words / 4 > f->tile->stride)
    why = "a stride is longer than the field that holds it";
  else if (k == 0 && alone && x.s == 1 && size > f->tile->length)
    why = "a linear transfer is longer than the field that holds it";
  else if (k < f->tile->dims - 1 && !(alone && x.s == 1) && size > f->tile->wrap)
    why = "a dimension is larger than its wrap";
  if (why) f->why = why;
  return !why;
}

/* Keeps dims [0, k) with the digits from i on, of which the first has `left` turns, outside. */
static void keep(Factoring *f, int k, int i, TdDigit left) {
  TdBd b = {.n = k, .tasks = 1};
  for (int d = 0; d < k; d++) b.at[k - 1 - d] = f->dim[d];
  for (int d = f->n - 1; d > i; d--) b.outer[b.nouter++] = f->digit[d];
  if (i < f->n && left.n > 1) b.outer[b.nouter++] = left;
  for (int d = 0; d < b.nouter; d++) b.tasks *= b.outer[d].n;
  if (f->kind != TD_TILE_SHIM && b.nouter) {
    f->why = "it takes more dimensions than the DMA has";
    return;
  }
  if (f->found && (f->best.tasks < b.tasks || (f->best.tasks == b.tasks && f->best.n <= b.n)))
    return;
  f->found = true;
  f->best = b;
}

/* Dimension k from digit i on, of which `left` is not yet told. */
static void choose(Factoring *f, int k, int i, TdDigit left) {
  int most = f->tile->dims + (f->kind == TD_TILE_SHIM);
  if (k && !(f->dim[k - 1].n == 1 && f->dim[k - 1].s == 0)) keep(f, k, i, left);
  if (i == f->n || k == most) return;
  if (k && f->kind == TD_TILE_SHIM && left.s <= 0 && k < f->tile->dims) {
    f->dim[k] = (TdDigit){1, 0};
    choose(f, k + 1, i, left);
    return;
  }
  for (int64_t part = left.n; part > 1; part--) {
    TdDigit x = {part, left.s}, rest = {left.n / part, left.s * part};
    if (left.n % part) continue;
    bool alone = k == 0 && i + 1 == f->n && rest.n == 1;
    if (!fits(f, x, k, alone)) continue;
    f->dim[k] = x;
    if (rest.n > 1)
      choose(f, k + 1, i, rest);
    else
      choose(f, k + 1, i + 1, i + 1 < f->n ? f->digit[i + 1] : (TdDigit){1, 1});
  }
}

bool td_bd_of(const TdDesc *d, int64_t bytes, TdTileKind kind, TdBd *out, const char **why) {
  TdDesc normal = td_desc_normal(d);
  Factoring f = {.tile = &td_tiles[kind], .kind = kind, .bytes = bytes, .n = normal.n};
  for (int i = 0; i < normal.n; i++) f.digit[i] = normal.at[normal.n - 1 - i];
  f.why = "it takes more dimensions than the DMA has";
  if (!f.n) f.digit[f.n++] = (TdDigit){1, 1};
  if (f.n == 1 && f.digit[0].n == 1) {
    f.dim[0] = f.digit[0];
    if (bytes % 4 == 0) keep(&f, 1, 1, (TdDigit){1, 1});
  } else {
    choose(&f, 0, 0, f.digit[0]);
  }
  *out = f.best;
  *why = f.why;
  return f.found;
}

bool td_bd_check(const TdDigit *at, int n, int64_t bytes, TdTileKind kind, const char **why) {
  Factoring f = {.tile = &td_tiles[kind], .kind = kind, .bytes = bytes};
  int many = 0;
  *why = "it takes more dimensions than the DMA has";
  if (n > f.tile->dims + (kind == TD_TILE_SHIM)) return false;
  for (int i = 0; i < n; i++) many += at[i].n > 1;
  for (int k = 0; k < n; k++) {
    TdDigit x = at[n - 1 - k];
    *why = "a size is not positive";
    if (x.n < 1) return false;
    bool narrow = k == 0 && bytes < 4 && x.n * bytes % 4;
    if ((x.n > 1 || narrow) && !fits(&f, x, k, k == 0 && many <= 1)) {
      *why = f.why;
      return false;
    }
  }
  return true;
}

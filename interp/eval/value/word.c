/* word.c - words of up to 1024 bits as 64-bit pieces, the lowest first. */
#include "eval/value/word.h"

#include <string.h>

enum { PIECES = TD_MAX_BITS / 64 };

typedef struct Word {
  uint64_t at[PIECES];
} Word;

/* A word of which every piece is x. */
static Word all(uint64_t x) {
  Word w;
  for (int i = 0; i < PIECES; i++) w.at[i] = x;
  return w;
}

/* The bits [from, from + 64) of w; those outside it are 0. */
static uint64_t piece(const Word *w, int64_t from) {
  int64_t i = from < 0 ? -((63 - from) / 64) : from / 64, by = from - i * 64;
  uint64_t low = i >= 0 && i < PIECES ? w->at[i] : 0;
  uint64_t high = i + 1 >= 0 && i + 1 < PIECES ? w->at[i + 1] : 0;
  return by ? low >> by | high << (64 - by) : low;
}

/* w moved up by n bits (down if n is negative). */
static Word moved(const Word *w, int64_t n) {
  Word r;
  for (int i = 0; i < PIECES; i++) r.at[i] = piece(w, i * 64 - n);
  return r;
}

/* The n low bits. */
static Word low_bits(int64_t n) {
  Word ones = all(UINT64_MAX), r = all(0);
  if (n > TD_MAX_BITS) n = TD_MAX_BITS;
  if (n > 0) r = moved(&ones, n - TD_MAX_BITS);
  return r;
}

static Word combined(const Word *x, int op, const Word *y) {
  Word r;
  for (int i = 0; i < PIECES; i++)
    r.at[i] = op == TD_OP_BAND  ? x->at[i] & y->at[i]
              : op == TD_OP_BOR ? x->at[i] | y->at[i]
                                : x->at[i] ^ y->at[i];
  return r;
}

/* Where c is 1 the bits of x, else those of y. */
static Word chosen(const Word *c, const Word *x, const Word *y) {
  Word r;
  for (int i = 0; i < PIECES; i++) r.at[i] = (c->at[i] & x->at[i]) | (~c->at[i] & y->at[i]);
  return r;
}

/* w cut to the width of t, and extended as t's sign says. */
static Word wrapped(const TdType *t, const Word *w) {
  Word mask = low_bits(t->w);
  bool negative = td_type_is_signed(t) && piece(w, t->w - 1) & 1;
  Word rest = all(negative ? UINT64_MAX : 0);
  return chosen(&mask, w, &rest);
}

/* The pieces of a wide value. */
static const Word *pieces(TdValue v) {
  return (const Word *)(uintptr_t)v.lo;
}

/* The word that v, of type t, is: its pieces are those of a wide one, or follow from the low one.
 */
static Word word_of(const TdType *t, TdValue v) {
  bool negative = td_type_is_signed(t) && v.lo >> 63;
  Word w = all(negative ? UINT64_MAX : 0);
  if (td_value_is_wide(v))
    w = *pieces(v);
  else
    w.at[0] = v.lo;
  return w;
}

/* The value of type t with these bits. */
static TdValue value_of(TdArena *a, const TdType *t, const Word *w) {
  Word canonical = wrapped(t, w);
  if (t->w <= 64) return td_value_of(canonical.at[0]);
  const Word *kept = td_arena_copy(a, &canonical, sizeof canonical);
  return (TdValue){(uint64_t)(uintptr_t)kept, TD_VALUE_CONCRETE | TD_VALUE_WIDE};
}

bool td_word_same(TdValue x, TdValue y) {
  return memcmp(pieces(x), pieces(y), sizeof(Word)) == 0;
}

bool td_word_fits(const TdType *t, TdValue v, uint64_t *bits) {
  const Word *w = pieces(v);
  uint64_t rest = td_type_is_signed(t) && w->at[0] >> 63 ? UINT64_MAX : 0;
  *bits = w->at[0];
  for (int i = 1; i < PIECES; i++)
    if (w->at[i] != rest) return false;
  return true;
}

TdHash td_word_feed(TdHash h, TdValue v) {
  for (int i = 0; i < PIECES; i++) h = td_hash_feed(h, pieces(v)->at[i]);
  return h;
}

bool td_word_is_needed(const TdApply *x) {
  bool wide = false;
  for (int i = 0; i < x->n; i++) {
    if (td_value_is_wide(x->v[i])) return true;
    wide |= x->of[i]->w > 64;
  }
  switch (x->op) {
  case TD_APPLY_CAST: return x->type->w > 64;
  case TD_OP_BITCAST:
  case TD_OP_BNOT: return wide || x->type->w > 64;
  default: return wide && !td_ops[x->op].commutes;
  }
}

/* An operator of whose result only low bits matter, on the low words. */
static bool fold_low(const TdApply *x, TdValue *out) {
  TdValue v[4];
  TdApply low = *x;
  TdFault fault = TD_FAULT_NONE;
  if (x->op == TD_APPLY_CAST || !td_ops[x->op].commutes) return false;
  for (int i = 0; i < x->n; i++)
    v[i] = td_value_of(td_value_is_wide(x->v[i]) ? word_of(x->of[i], x->v[i]).at[0] : x->v[i].lo);
  low.v = v;
  *out = td_domain_fold(&low, &fault);
  return fault == TD_FAULT_NONE;
}

bool td_word_fold(TdArena *a, const TdApply *x, TdValue *out) {
  Word w[4], r, mask, ones = all(UINT64_MAX);
  for (int i = 0; i < x->n; i++) {
    if (!td_type_is_integer(x->of[i]) && x->of[i]->kind != TD_T_INDEX &&
        x->of[i]->kind != TD_T_BOOL)
      return false;
    w[i] = word_of(x->of[i], x->v[i]);
  }
  int64_t lo = x->n > 2 ? (int64_t)x->v[1].lo : 0, hi = x->n > 2 ? (int64_t)x->v[2].lo : 0;
  switch (x->op) {
  case TD_APPLY_CAST:
    if (!td_type_is_integer(x->type) || x->type->saturate) return false;
    r = w[0];
    break;
  case TD_OP_BITCAST: r = w[0]; break;
  case TD_OP_GETBITS:
    mask = low_bits(x->of[0]->w);
    r = all(0);
    r = chosen(&mask, &w[0], &r);
    r = moved(&r, -lo);
    break;
  case TD_OP_SETBITS:
    mask = low_bits(hi - lo);
    mask = moved(&mask, lo);
    r = moved(&w[3], lo);
    r = chosen(&mask, &r, &w[0]);
    break;
  case TD_OP_BAND:
  case TD_OP_BOR:
  case TD_OP_BXOR: r = combined(&w[0], x->op, &w[1]); break;
  case TD_OP_BNOT: r = combined(&w[0], TD_OP_BXOR, &ones); break;
  case TD_OP_SELECT: r = x->v[0].lo ? w[1] : w[2]; break;
  case TD_OP_SHL:
    if (x->v[1].lo > INT64_MAX && td_type_is_signed(x->of[1])) return false;
    r = moved(&w[0], x->v[1].lo < TD_MAX_BITS ? (int64_t)x->v[1].lo : TD_MAX_BITS);
    break;
  default: return fold_low(x, out);
  }
  *out = value_of(a, x->type, &r);
  return true;
}

TdValue td_word_load(TdArena *a, const TdType *t, const void *p) {
  if (t->w <= 64) return td_value_of(td_num_load(t, p));
  Word w = all(0);
  memcpy(&w, p, td_type_bytes(t));
  return value_of(a, t, &w);
}

void td_word_store(const TdType *t, void *p, TdValue v) {
  if (t->w <= 64) {
    td_num_store(t, p, v.lo);
    return;
  }
  Word w = word_of(t, v);
  memcpy(p, &w, td_type_bytes(t));
}

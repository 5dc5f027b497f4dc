/* vop.c - operators: operands brought to one width, then Verilog's own operator. */
#include "backends/verilog/vop.h"

TdVlNum td_vop_num(const TdVl *e, const TdType *t) {
  bool fixed = td_type_is_fixed(t);
  return (TdVlNum){e, td_type_is_signed(t) || t->kind == TD_T_INDEX, fixed ? t->f : 0,
                   td_vfloat_is(t) ? t : NULL};
}

int td_vop_width(int64_t lo, int64_t hi, bool *is_signed) {
  int w = 1;
  *is_signed = lo < 0;
  if (lo < 0) {
    while (w < 64 && (lo < -(INT64_C(1) << (w - 1)) || hi >= INT64_C(1) << (w - 1))) w++;
  } else {
    while (w < 63 && hi >> w) w++;
  }
  return w;
}

TdVlNum td_vop_const(TdVlModule *m, int64_t v) {
  bool is_signed;
  int w = td_vop_width(v, v, &is_signed);
  return (TdVlNum){td_vtree_const(m, w, (uint64_t)v), is_signed, 0, NULL};
}

const TdVl *td_vop_fit(TdVlModule *m, TdVlNum x, int width) {
  return td_vtree_fit(m, x.e, width, x.is_signed);
}

/* x with f bits behind the point, more than it has or as many. */
static TdVlNum align(TdVlModule *m, TdVlNum x, int f) {
  if (f > x.f) x.e = td_vtree_cat(m, x.e, td_vtree_const(m, f - x.f, 0));
  x.f = f;
  return x;
}

/* The bits that x needs as a signed number. */
static int signed_width(TdVlNum x) {
  return x.e->width + !x.is_signed;
}

static int max(int x, int y) {
  return x > y ? x : y;
}

/* Both on one width that holds them, signed if either is; false: unsigned. */
static bool meet(TdVlModule *m, TdVlNum *x, TdVlNum *y) {
  int f = max(x->f, y->f);
  *x = align(m, *x, f);
  *y = align(m, *y, f);
  bool is_signed = x->is_signed || y->is_signed;
  int w = is_signed ? max(signed_width(*x), signed_width(*y)) : max(x->e->width, y->e->width);
  *x = (TdVlNum){td_vop_fit(m, *x, w), is_signed, f, NULL};
  *y = (TdVlNum){td_vop_fit(m, *y, w), is_signed, f, NULL};
  return is_signed;
}

static const TdVl *compare(TdVlModule *m, const char *op, TdVlNum x, TdVlNum y) {
  return meet(m, &x, &y) ? td_vtree_signed(m, op, 1, x.e, y.e)
                         : td_vtree_binary(m, op, 1, x.e, y.e);
}

static const TdVl *is_zero(TdVlModule *m, const TdVl *x) {
  uint64_t bits;
  if (td_vtree_is_const(x, &bits)) return td_vtree_const(m, 1, !bits);
  return td_vtree_binary(m, "==", 1, x, td_vtree_const(m, x->width, 0));
}

/* Whether x is below zero. */
static const TdVl *sign(TdVlModule *m, TdVlNum x) {
  uint64_t bits;
  if (!x.is_signed) return td_vtree_const(m, 1, 0);
  if (td_vtree_is_const(x.e, &bits)) return td_vtree_const(m, 1, bits >> (x.e->width - 1));
  return td_vtree_slice(m, td_vtree_sig(m, td_vtree_named(m, "of", x.e)), x.e->width - 1, 1);
}

/* Whether two signs do. */
static const TdVl *differ(TdVlModule *m, const TdVl *x, const TdVl *y) {
  uint64_t bits;
  if (td_vtree_is_const(x, &bits)) return bits ? td_vtree_not(m, y) : y;
  if (td_vtree_is_const(y, &bits)) return bits ? td_vtree_not(m, x) : x;
  return td_vtree_binary(m, "^", 1, x, y);
}

static const TdVl *negate(TdVlModule *m, const TdVl *x) {
  return td_vtree_unary(m, "-", x->width, x);
}

/* A name for what is used more than once. */
static TdVlNum once(TdVlModule *m, TdVlNum x) {
  if (x.e->kind != TD_VL_CONST) x.e = td_vtree_sig(m, td_vtree_named(m, "t", x.e));
  return x;
}

static const TdVl *magnitude(TdVlModule *m, TdVlNum x, int w) {
  x = once(m, x);
  const TdVl *e = td_vop_fit(m, x, w);
  return x.is_signed ? td_vtree_pick(m, sign(m, x), negate(m, e), e) : e;
}

/* x // y and x % y where y is a constant power of two; NULL: it is none. */
static const TdVl *divide_shifting(TdVlModule *m, bool rest, int bits, TdVlNum x, TdVlNum y) {
  uint64_t by;
  int k = 0, w = max(signed_width(x), bits);
  if (!td_vtree_is_const(y.e, &by) || y.is_signed || !by || (by & (by - 1))) return NULL;
  while (by >> (k + 1)) k++;
  if (rest && !k) return td_vtree_const(m, bits, 0);
  w = max(w, k + 1);
  const TdVl *e = td_vop_fit(m, x, w);
  if (rest) return td_vtree_fit(m, td_vtree_slice(m, e, 0, k), bits, false);
  return td_vtree_fit(m, td_vtree_slice(m, e, k, w - k), bits, x.is_signed);
}

static const TdVl *named(TdVlModule *m, const char *name, const TdVl *x) {
  return td_vtree_sig(m, td_vtree_named(m, name, x));
}

/* x // y and x % y: toward minus infinity; by zero 0. On as few bits as hold all results; a sign is
 * put on what dividing magnitudes gives. */
static const TdVl *divide(TdVlModule *m, TdOp op, int bits, TdVlNum x, TdVlNum y) {
  uint64_t negative;
  if (td_vtree_is_const(sign(m, y), &negative) && !negative) y.is_signed = false;
  bool rest = op == TD_OP_MOD, is_signed = x.is_signed || y.is_signed;
  int w = max(signed_width(x), signed_width(y)) + (x.is_signed && y.is_signed);
  x = once(m, x);
  y = once(m, y);
  const TdVl *shifted = divide_shifting(m, rest, bits, x, y);
  if (shifted) return shifted;
  const TdVl *a = named(m, "num", magnitude(m, x, w));
  const TdVl *zero = is_zero(m, y.e), *one = td_vtree_const(m, w, 1);
  const TdVl *b = named(m, "den", td_vtree_pick(m, zero, one, magnitude(m, y, w)));
  const TdVl *r = NULL, *none = NULL, *out;
  if (rest || is_signed) r = named(m, "rest", td_vtree_binary(m, "%", w, a, b));
  if (is_signed) none = is_zero(m, r);
  const TdVl *apart = is_signed ? differ(m, sign(m, x), sign(m, y)) : td_vtree_const(m, 1, 0);
  if (rest) {
    const TdVl *near = is_signed ? td_vtree_pick(m, none, r, td_vtree_binary(m, "-", w, b, r)) : r;
    const TdVl *up = td_vtree_pick(m, apart, near, r);
    if (y.is_signed) up = named(m, "rest", up);
    out = y.is_signed ? td_vtree_pick(m, sign(m, y), negate(m, up), up) : up;
  } else {
    const TdVl *q = named(m, "quot", td_vtree_binary(m, "/", w, a, b)), *low = NULL;
    if (is_signed) low = td_vtree_pick(m, none, q, td_vtree_binary(m, "+", w, q, one));
    out = is_signed ? td_vtree_pick(m, apart, negate(m, named(m, "quot", low)), q) : q;
  }
  out = td_vtree_pick(m, zero, td_vtree_const(m, w, 0), out);
  return td_vtree_fit(m, out, bits, is_signed);
}

/* x << y, x >> y, arithmetically where x is signed. */
static const TdVl *shift(TdVlModule *m, TdOp op, int bits, TdVlNum x, TdVlNum y) {
  if (op == TD_OP_SHL) return td_vtree_binary(m, "<<", bits, td_vop_fit(m, x, bits), y.e);
  int w = max(x.e->width, bits);
  const TdVl *e = td_vop_fit(m, x, w);
  e = x.is_signed ? td_vtree_signed(m, ">>>", w, e, y.e) : td_vtree_binary(m, ">>", w, e, y.e);
  return td_vtree_slice(m, e, 0, bits);
}

/* x with bits [lo, lo + width) replaced by v's. */
static const TdVl *with_bits(TdVlModule *m, int bits, TdVlNum x, int lo, int width, TdVlNum v) {
  const TdVl *e = td_vtree_sig(m, td_vtree_named(m, "t", td_vop_fit(m, x, bits)));
  const TdVl *out = td_vop_fit(m, v, width);
  if (lo) out = td_vtree_cat(m, out, td_vtree_slice(m, e, 0, lo));
  int top = lo + width;
  return top < bits ? td_vtree_cat(m, td_vtree_slice(m, e, top, bits - top), out) : out;
}

/* bits and with_bits, whose places are constants. */
static const TdVl *part(TdVlModule *m, TdOp op, int bits, const TdVlNum *x) {
  uint64_t lo, hi;
  if (!td_vtree_is_const(x[1].e, &lo) || !td_vtree_is_const(x[2].e, &hi)) return NULL;
  int width = (int)(hi - lo);
  if (op == TD_OP_SETBITS) return with_bits(m, bits, x[0], (int)lo, width, x[3]);
  const TdVl *e = td_vop_fit(m, x[0], max(x[0].e->width, (int)hi));
  return td_vtree_fit(m, td_vtree_slice(m, e, (int)lo, width), bits, false);
}

static const char *symbol_of(TdOp op) {
  switch (op) {
  case TD_OP_ADD: return "+";
  case TD_OP_SUB: return "-";
  case TD_OP_MUL: return "*";
  case TD_OP_BAND: return "&";
  case TD_OP_BOR: return "|";
  case TD_OP_BXOR: return "^";
  case TD_OP_EQ: return "==";
  case TD_OP_NE: return "!=";
  case TD_OP_LT: return "<";
  default: return "<=";
  }
}

/* An operator that commutes with truncation, on operands of `bits` bits. */
static const TdVl *direct(TdVlModule *m, TdOp op, const TdType *t, int bits, TdVlNum x, TdVlNum y) {
  bool product = op == TD_OP_MUL;
  if (!product && td_type_is_fixed(t)) {
    x = align(m, x, t->f);
    y = align(m, y, t->f);
  }
  const TdVl *a = td_vop_fit(m, x, bits), *b = td_vop_fit(m, y, bits);
  if (product && (x.is_signed || y.is_signed)) return td_vtree_signed(m, "*", bits, a, b);
  return td_vtree_binary(m, symbol_of(op), bits, a, b);
}

/* The lesser or the greater. */
static const TdVl *extreme(TdVlModule *m, TdOp op, int bits, TdVlNum x, TdVlNum y) {
  x = once(m, x);
  y = once(m, y);
  const TdVl *less = compare(m, op == TD_OP_MIN ? "<=" : ">=", x, y);
  int f = max(x.f, y.f);
  x = align(m, x, f);
  y = align(m, y, f);
  return td_vtree_pick(m, less, td_vop_fit(m, x, bits), td_vop_fit(m, y, bits));
}

static const TdVl *apply(TdVlModule *m, TdOp op, const TdType *t, int bits, const TdVlNum *x) {
  switch (op) {
  case TD_OP_ADD:
  case TD_OP_SUB:
  case TD_OP_MUL:
  case TD_OP_BAND:
  case TD_OP_BOR:
  case TD_OP_BXOR: return direct(m, op, t, bits, x[0], x[1]);
  case TD_OP_NEG: return negate(m, td_vop_fit(m, x[0], bits));
  case TD_OP_BNOT: return td_vtree_unary(m, "~", bits, td_vop_fit(m, x[0], bits));
  case TD_OP_ABS: return magnitude(m, x[0], bits);
  case TD_OP_EQ:
  case TD_OP_NE:
  case TD_OP_LT:
  case TD_OP_LE: return compare(m, symbol_of(op), x[0], x[1]);
  case TD_OP_AND: return td_vtree_and(m, x[0].e, x[1].e);
  case TD_OP_OR: return td_vtree_or(m, x[0].e, x[1].e);
  case TD_OP_NOT: return td_vtree_not(m, x[0].e);
  case TD_OP_MIN:
  case TD_OP_MAX: return extreme(m, op, bits, x[0], x[1]);
  case TD_OP_SELECT: {
    TdVlNum y = td_type_is_fixed(t) ? align(m, x[1], t->f) : x[1];
    TdVlNum z = td_type_is_fixed(t) ? align(m, x[2], t->f) : x[2];
    return td_vtree_pick(m, td_vtree_fit(m, x[0].e, 1, false), td_vop_fit(m, y, bits),
                         td_vop_fit(m, z, bits));
  }
  case TD_OP_SHL:
  case TD_OP_SHR:
  case TD_OP_ASR: return shift(m, op, bits, x[0], x[1]);
  case TD_OP_FLOORDIV:
  case TD_OP_MOD: return divide(m, op, bits, x[0], x[1]);
  case TD_OP_GETBITS:
  case TD_OP_SETBITS: return part(m, op, bits, x);
  case TD_OP_BITCAST: return td_vop_fit(m, x[0], bits);
  default: return NULL;
  }
}

TdVlNum td_vop_apply(TdVlModule *m, TdOp op, const TdType *t, int bits, const TdVlNum *x) {
  TdVlNum out = td_vop_num(NULL, t);
  bool real = td_vfloat_is(t);
  for (int i = 0; i < td_ops[op].arity; i++) real |= x[i].real != NULL;
  if (real && op != TD_OP_BITCAST) return td_vfloat_apply(m, op, t, x);
  out.e = apply(m, op, t, bits, x);
  return out;
}

/* x without the bits below 2^-f, rounded down, or to the nearest (ties to even). */
static TdVlNum round_off(TdVlModule *m, TdVlNum x, int f, bool nearest) {
  int k = x.f - f;
  x = once(m, x);
  const TdVl *wide = td_vop_fit(m, x, max(x.e->width, k) + 1);
  const TdVl *down = td_vtree_slice(m, wide, k, wide->width - k);
  if (nearest) {
    const TdVl *half = td_vtree_slice(m, wide, k - 1, 1), *odd = td_vtree_slice(m, wide, k, 1);
    const TdVl *low = k > 1 ? td_vtree_slice(m, wide, 0, k - 1) : NULL;
    const TdVl *more = low ? td_vtree_not(m, is_zero(m, low)) : NULL;
    const TdVl *up = td_vtree_and(m, half, td_vtree_or(m, odd, more));
    down = td_vtree_fit(m, down, down->width + 1, x.is_signed);
    down = td_vtree_binary(m, "+", down->width, down, td_vtree_fit(m, up, down->width, false));
  }
  return (TdVlNum){down, x.is_signed, f, NULL};
}

/* x, or the bound of t that it is beyond. */
static const TdVl *saturate(TdVlModule *m, const TdType *t, TdVlNum x) {
  bool s = td_type_is_signed(t);
  int w = t->w;
  x = once(m, x);
  if (x.is_signed == s ? x.e->width <= w : !x.is_signed && x.e->width < w)
    return td_vop_fit(m, x, w);
  int v = max(signed_width(x), w + 1);
  const TdVl *e = td_vop_fit(m, x, v);
  uint64_t top = UINT64_MAX >> (64 - (s ? w - 1 : w) % 64);
  if (w - s == 0) top = 0;
  const TdVl *most = td_vtree_const(m, w, top), *least = td_vtree_const(m, w, s ? top + 1 : 0);
  const TdVl *over = td_vtree_signed(m, ">", 1, e, td_vtree_fit(m, most, v, false));
  const TdVl *under = td_vtree_signed(m, "<", 1, e, td_vtree_fit(m, least, v, s));
  return td_vtree_pick(m, over, most, td_vtree_pick(m, under, least, td_vtree_slice(m, e, 0, w)));
}

TdVlNum td_vop_cast(TdVlModule *m, const TdType *t, TdVlNum x) {
  TdVlNum out = td_vop_num(NULL, t);
  if (x.real || td_vfloat_is(t)) return td_vfloat_cast(m, t, x);
  x = x.f > out.f ? round_off(m, x, out.f, t->nearest) : align(m, x, out.f);
  out.e = t->saturate ? saturate(m, t, x) : td_vop_fit(m, x, t->w);
  return out;
}

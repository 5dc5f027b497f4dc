/* cnum.c - integers, fixed point and booleans as C, exactly as ir/num.h defines them.
 *
 * A piece made here holds the raw word of an expression's exact value, in any C type that can; or,
 * where only the low 32 bits are asked for (`low`), possibly in uint32_t a value that agrees in
 * those; or, of a type beyond 64 bits, in uint64_t its low 64. Operators that commute with
 * truncation are computed so, and signed C types only where the exact result fits them: nothing
 * overflows. */
#include "backends/c/cfamily.h"

#include <inttypes.h>
#include <string.h>

#include "ir/num/float.h"

static TdPiece word(TdCWriter *w, const TdExpr *e, bool low);

static bool is_signed(const TdType *t) {
  return td_type_is_signed(t) || t->kind == TD_T_INDEX;
}

/* The least C type that holds integers of w bits; beyond 64, their low word. */
static int holder(bool sign, int w) {
  if (w <= 31 + sign) return TD_C_I32;
  if (w <= 63 + sign) return TD_C_I64;
  return TD_C_U64;
}

static int holder_of(const TdType *t) {
  return holder(is_signed(t), t->w);
}

/* The C type to compute a commuting operator of type t in. */
static int computed(const TdType *t, bool low) {
  int c = holder_of(t);
  return low && c != TD_C_I32 ? TD_C_U32 : c;
}

const char *td_cnum_cell(TdCWriter *w, TdSym sym, const TdType *t) {
  (void)sym;
  static const char *const signed_[] = {"int8_t", "int16_t", "int32_t", "int64_t"};
  static const char *const unsigned_[] = {"uint8_t", "uint16_t", "uint32_t", "uint64_t"};
  if (t->kind == TD_T_FLOAT && t->w >= 32) return t->w == 32 ? "float" : "double";
  if (t->w > 64)
    td_cfamily_refuse(w, "too-wide", (TdLoc){0}, "`retype` to at most 64 bits, or slice it",
                      "an element of %d bits", t->w);
  size_t bytes = td_type_bytes(t);
  int i = bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3;
  return is_signed(t) ? signed_[i] : unsigned_[i];
}

/* The C type that a cell of scalar type t has in an expression. */
static int loaded_type(const TdType *t) {
  if (t->kind == TD_T_FLOAT) return t->w == 32 ? TD_C_F32 : TD_C_F64;
  size_t bytes = td_type_bytes(t);
  if (bytes <= 2) return TD_C_I32;
  if (bytes == 4) return is_signed(t) ? TD_C_I32 : TD_C_U32;
  return is_signed(t) ? TD_C_I64 : TD_C_U64;
}

/* A call of a function of the target's run time, with C type c as its value. */
static TdPiece call(TdCWriter *w, int c, const char *fmt, ...) TD_PRINTF(3, 4);
static TdPiece call(TdCWriter *w, int c, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  const char *text = td_text_vfmt(w->arena, fmt, ap);
  va_end(ap);
  return (TdPiece){text, TD_BIND_ATOM, (uint8_t)c};
}

/* The low t->w bits of p, sign- or zero-extended. */
static TdPiece wrap(TdCWriter *w, TdPiece p, const TdType *t) {
  if (t->w >= 64) return td_cexpr_cast(w, p, is_signed(t) ? TD_C_I64 : TD_C_U64);
  if (t->w == 32 || (is_signed(t) && (t->w == 8 || t->w == 16))) {
    int c = is_signed(t) ? TD_C_I32 : TD_C_U32;
    if (t->w == 32 && p.c == c) return p;
    return td_cexpr_piece(w, TD_BIND_UNARY, c, "(%s)%s", td_cnum_cell(w, NULL, t),
                          td_cexpr_operand(w, p, TD_BIND_UNARY));
  }
  if (is_signed(t)) {
    int c = t->w < 32 ? TD_C_I32 : TD_C_I64;
    return call(w, c, "td_wrap%s(%s, %d)", td_cexpr_suffix(c), p.text, t->w);
  }
  TdPiece kid[] = {p, td_cexpr_integer(w, UINT64_MAX >> (64 - t->w), false)};
  int c = p.c > kid[1].c ? p.c : kid[1].c;
  return td_cexpr_fill(w, TD_OP_BAND, td_ops[TD_OP_BAND].c_int, c, kid, 2);
}

/* Bits of a scalar beside others: an index counts as 32. */
static int width(const TdType *t) {
  return t->kind == TD_T_INDEX ? 32 : t->w;
}

/* p times 2^n for n >= 0, in C type c; 2^31 and 2^63 have no sign in C. */
static TdPiece scale(TdCWriter *w, TdPiece p, int n, int c) {
  if (n == 0) return p;
  int bits = c == TD_C_U32 ? 32 : 64;
  if (n >= bits) return td_cexpr_integer(w, 0, false);
  if ((c == TD_C_I32 && n == 31) || (c == TD_C_I64 && n == 63))
    return td_cexpr_cast(w, scale(w, p, n, c == TD_C_I32 ? TD_C_U32 : TD_C_U64), c);
  TdPiece kid[] = {p, td_cexpr_integer(w, (uint64_t)1 << n, false)};
  return td_cexpr_fill(w, TD_OP_MUL, td_ops[TD_OP_MUL].c_int, c, kid, 2);
}

/* e as raw word with f bits after the point, in the C type that `low` and its width ask for. */
static TdPiece aligned(TdCWriter *w, const TdExpr *e, int f, bool low) {
  int n = f - e->type->f,
      c = n ? holder(is_signed(e->type), width(e->type) + n) : holder_of(e->type);
  if (low && c != TD_C_I32) c = TD_C_U32;
  return scale(w, word(w, e, low && c == TD_C_U32), n, c);
}

/* The raw word of e as 64 unsigned bits, extended as its type is. */
static TdPiece as_u64(TdCWriter *w, const TdExpr *e) {
  return td_cexpr_cast(w, word(w, e, false), TD_C_U64);
}

/* Whether an operator of indices may leave what 64 bits with sign hold, and the target asks. */
static bool may_overflow(TdCWriter *w, const TdExpr *e) {
  bool adds = e->op == TD_OP_ADD || e->op == TD_OP_SUB || e->op == TD_OP_MUL || e->op == TD_OP_NEG;
  if (!w->target->wraps || !adds) return false;
  if (e->type->kind == TD_T_INDEX) return !td_crange_is_near(w, e);
  for (uint32_t i = 0; i < e->nkid; i++)
    if (e->kid[i]->type->kind == TD_T_INDEX && !td_crange_is_near(w, e->kid[i])) return true;
  return false;
}

/* Such an operator, modulo 2^64. */
static TdPiece wrapping(TdCWriter *w, const TdExpr *e) {
  TdPiece kid[2];
  for (uint32_t i = 0; i < e->nkid; i++) {
    kid[i] =
        e->op == TD_OP_MUL ? word(w, e->kid[i], false) : aligned(w, e->kid[i], e->type->f, false);
    kid[i] = td_cexpr_cast(w, kid[i], TD_C_U64);
  }
  TdPiece p = td_cexpr_fill(w, e->op, td_ops[e->op].c_int, TD_C_U64, kid, (int)e->nkid);
  return wrap(w, p, e->type);
}

/* + - * & | ~ and select: kids by number. */
static TdPiece commuting(TdCWriter *w, const TdExpr *e, bool low) {
  int c = computed(e->type, low);
  bool only_low = c == TD_C_U32, align = e->op != TD_OP_MUL;
  if (!only_low && may_overflow(w, e)) return wrapping(w, e);
  TdPiece kid[3];
  size_t checks = 0;
  for (uint32_t i = 0; i < e->nkid; i++) {
    if (e->op == TD_OP_SELECT && i == 0)
      kid[i] = w->target->truth(w, e->kid[i]);
    else
      kid[i] = align ? aligned(w, e->kid[i], e->type->f, only_low) : word(w, e->kid[i], only_low);
    if (i == 0) checks = w->checks;
  }
  const char *form = td_cexpr_select(w, e, checks, td_ops[e->op].c_int);
  TdPiece p = td_cexpr_fill(w, e->op, form, c, kid, (int)e->nkid);
  bool spills = e->op == TD_OP_BNOT && !is_signed(e->type) && !(only_low && e->type->w >= 32);
  return spills ? wrap(w, p, e->type) : p;
}

/* Whether e is an integer constant, and which. */
static bool constant(const TdExpr *e, int64_t *v) {
  return td_expr_is_const(e, v) && (is_signed(e->type) || *v >= 0);
}

/* Whether e is never negative. */
static bool is_nonnegative(TdCWriter *w, const TdExpr *e) {
  if (!is_signed(e->type)) return true;
  return e->type->kind == TD_T_INDEX && td_crange_is_nonnegative(w, e);
}

static int log2_of(int64_t v) {
  int n = 0;
  while (n < 62 && (int64_t)1 << n < v) n++;
  return v > 0 && (int64_t)1 << n == v ? n : -1;
}

/* // and % by a constant where C's own operators do: by a power of two, or of what is not
 * negative. Returns whether p was set. */
static bool divide_by_constant(TdCWriter *w, const TdExpr *e, TdPiece *p) {
  int64_t v;
  if (!constant(e->kid[1], &v) || v <= 0) return false;
  bool div = e->op == TD_OP_FLOORDIV, plain = is_nonnegative(w, e->kid[0]);
  int n = log2_of(v);
  if (!plain && n < 0) return false;
  TdPiece x = word(w, e->kid[0], false);
  if (plain) {
    TdPiece y = td_cexpr_literal(w, e->kid[1]->type, (uint64_t)v);
    *p = td_cexpr_piece(w, TD_BIND_MUL, x.c > y.c ? x.c : y.c, "%s %s %s",
                        td_cexpr_operand(w, x, TD_BIND_MUL), div ? "/" : "%", y.text);
  } else if (div) {
    int most = x.c == TD_C_I32 ? 31 : 63;
    *p = td_cexpr_piece(w, TD_BIND_SHIFT, x.c, "%s >> %d", td_cexpr_operand(w, x, TD_BIND_SHIFT),
                        n < most ? n : most);
  } else {
    TdPiece kid[] = {x, td_cexpr_integer(w, (uint64_t)v - 1, false)};
    *p = td_cexpr_fill(w, TD_OP_BAND, td_ops[TD_OP_BAND].c_int, x.c > kid[1].c ? x.c : kid[1].c,
                       kid, 2);
  }
  return true;
}

/* The greatest of the C types that hold e and its operands; -1 when none holds them all. */
static int common(const TdExpr *e, bool with_result) {
  bool negative = false;
  int c = with_result ? holder_of(e->type) : TD_C_I32, bits = 0;
  for (uint32_t i = 0; i < e->nkid; i++) {
    const TdType *t = e->kid[i]->type;
    int h = holder_of(t);
    negative |= is_signed(t);
    if (t->w > bits) bits = t->w;
    if (h > c) c = h;
  }
  return c == TD_C_U64 && negative ? -1 : c;
}

/* The divisor of e; one that is not known to be other than 0 as the target wants it. */
static TdPiece divisor(TdCWriter *w, const TdExpr *e) {
  int64_t v;
  TdPiece p = word(w, e->kid[1], false);
  bool safe = !w->target->divisor || (constant(e->kid[1], &v) && v != 0);
  if (safe) return p;
  w->checks++;
  return w->target->divisor(w, p, e->loc);
}

static TdPiece flag(bool b) {
  return (TdPiece){b ? "1" : "0", TD_BIND_ATOM, TD_C_I32};
}

/* // and % of integers, / of fixed point. */
static TdPiece divide(TdCWriter *w, const TdExpr *e, bool low) {
  TdPiece p;
  if (e->op != TD_OP_DIV && divide_by_constant(w, e, &p)) return p;
  const TdType *a = e->kid[0]->type, *b = e->kid[1]->type;
  int c = e->op == TD_OP_DIV ? -1 : common(e, !low && e->type->w <= 64);
  if (c >= 0) {
    TdPiece kid[] = {word(w, e->kid[0], false), divisor(w, e)};
    return td_cexpr_fill(w, e->op, td_ops[e->op].c_int, c, kid, 2);
  }
  TdPiece x = as_u64(w, e->kid[0]), y = td_cexpr_cast(w, divisor(w, e), TD_C_U64);
  const char *sx = flag(is_signed(a)).text, *sy = flag(is_signed(b)).text;
  if (e->op == TD_OP_MOD)
    p = call(w, TD_C_U64, "td_rest(%s, %s, %s, %s)", x.text, sx, y.text, sy);
  else
    p = call(w, TD_C_U64, "td_quotient(%s, %s, %s, %s, %d)", x.text, sx, y.text, sy,
             e->type->f + b->f - a->f);
  return wrap(w, p, e->type);
}

/* Whether e's raw word with f bits after the point fits 64 bits, and its C type. */
static int aligned_holder(const TdExpr *e, int f) {
  int n = f - e->type->f, bits = n ? width(e->type) + n : e->type->w;
  return bits > 64 ? -1 : holder(is_signed(e->type), bits);
}

/* The C type in which both operands of e can be compared, or -1. */
static int comparable(const TdExpr *e, int *f) {
  const TdExpr *a = e->kid[0], *b = e->kid[1];
  *f = a->type->f > b->type->f ? a->type->f : b->type->f;
  int x = aligned_holder(a, *f), y = aligned_holder(b, *f), c = x > y ? x : y;
  if (x < 0 || y < 0) return -1;
  return c == TD_C_U64 && (is_signed(a->type) || is_signed(b->type)) ? -1 : c;
}

/* "td_order(a, signed, f, b, signed, f" of the two operands. */
static const char *ordered(TdCWriter *w, const TdExpr *e, const char *function) {
  const TdType *a = e->kid[0]->type, *b = e->kid[1]->type;
  return td_text_fmt(w->arena, "%s(%s, %d, %d, %s, %d, %d", function, as_u64(w, e->kid[0]).text,
                     is_signed(a), a->f, as_u64(w, e->kid[1]).text, is_signed(b), b->f);
}

static TdPiece compare(TdCWriter *w, const TdExpr *e) {
  const TdType *a = e->kid[0]->type, *b = e->kid[1]->type;
  if (a->kind == TD_T_FLOAT || b->kind == TD_T_FLOAT) return td_cfloat_compare(w, e);
  int f, c = comparable(e, &f);
  TdPiece kid[2];
  if (c >= 0) {
    for (int i = 0; i < 2; i++) kid[i] = aligned(w, e->kid[i], f, false);
  } else {
    kid[0] = call(w, TD_C_I32, "%s)", ordered(w, e, "td_order"));
    kid[1] = flag(0);
    c = TD_C_I32;
  }
  return td_cexpr_fill(w, e->op, td_ops[e->op].c_int, c, kid, 2);
}

static TdPiece min_max(TdCWriter *w, const TdExpr *e) {
  int f, c = comparable(e, &f);
  if (c < 0) {
    const char *which = e->op == TD_OP_MIN ? "td_least" : "td_greatest";
    return wrap(w, call(w, TD_C_U64, "%s, %d)", ordered(w, e, which), e->type->f), e->type);
  }
  TdPiece kid[] = {aligned(w, e->kid[0], f, false), aligned(w, e->kid[1], f, false)};
  return td_cexpr_fill(w, e->op, td_ops[e->op].c_int, c, kid, 2);
}

/* << >> asr, by a constant or not. */
static TdPiece shift(TdCWriter *w, const TdExpr *e, bool low) {
  const TdType *t = e->kid[0]->type;
  int64_t n;
  bool by_constant = constant(e->kid[1], &n), left = e->op == TD_OP_SHL;
  low &= left;
  int c = left ? low ? TD_C_U32 : TD_C_U64 : is_signed(t) ? TD_C_I64 : TD_C_U64;
  int bits = c == TD_C_U32 ? 32 : 64;
  TdPiece x = word(w, e->kid[0], low), p;
  if (by_constant && n >= 0 && n < bits && left) {
    if (holder_of(e->type) < TD_C_U64 && e->type->w >= t->w + n)
      return scale(w, x, (int)n, computed(e->type, low));
    p = scale(w, x, (int)n, c);
  } else if (!left && by_constant && n >= 0 && n < t->w && n < (x.c <= TD_C_U32 ? 32 : 64)) {
    return td_cexpr_piece(w, TD_BIND_SHIFT, x.c, "%s >> %" PRId64,
                          td_cexpr_operand(w, x, TD_BIND_SHIFT), n);
  } else {
    TdPiece kid[] = {x, as_u64(w, e->kid[1])};
    p = td_cexpr_fill(w, e->op, td_ops[e->op].c_int, c, kid, 2);
  }
  return low && e->type->w >= 32 ? p : wrap(w, p, e->type);
}

/* The bits of e as an unsigned number: of a float those of its format. */
static TdPiece bits_of(TdCWriter *w, const TdExpr *e) {
  if (e->type->kind == TD_T_FLOAT) return td_cfloat_bits(w, e);
  TdType plain = {.kind = TD_T_UINT, .w = e->type->w};
  TdPiece p = word(w, e, e->type->w <= 32);
  return is_signed(e->type) || e->type->w == 32 ? wrap(w, p, &plain) : p;
}

static TdPiece slice(TdCWriter *w, const TdExpr *e) {
  TdPiece kid[4];
  kid[0] = bits_of(w, e->kid[0]);
  for (uint32_t i = 1; i < e->nkid; i++) kid[i] = as_u64(w, e->kid[i]);
  if (e->op == TD_OP_SETBITS)
    return wrap(w, td_cexpr_fill(w, e->op, td_ops[e->op].c_int, TD_C_U64, kid, 4), e->type);
  int64_t lo, hi;
  bool fixed = constant(e->kid[1], &lo) && constant(e->kid[2], &hi) && 0 <= lo && hi <= 64;
  int room = kid[0].c <= TD_C_U32 ? 32 : 64;
  if (!fixed || lo >= room)
    return wrap(w, td_cexpr_fill(w, e->op, td_ops[e->op].c_int, TD_C_U64, kid, 3), e->type);
  TdPiece p = kid[0];
  if (lo)
    p = td_cexpr_piece(w, TD_BIND_SHIFT, p.c, "%s >> %" PRId64,
                       td_cexpr_operand(w, p, TD_BIND_SHIFT), lo);
  return hi < e->kid[0]->type->w ? wrap(w, p, e->type) : p;
}

/* floor and ceil of fixed point: a shift, of the negated word for ceil. */
static TdPiece round_fixed(TdCWriter *w, const TdExpr *e) {
  int n = e->kid[0]->type->f;
  if (n <= 0) return aligned(w, e->kid[0], 0, false);
  TdPiece x = word(w, e->kid[0], false);
  bool sign = is_signed(e->kid[0]->type);
  int c = sign ? TD_C_I64 : TD_C_U64;
  const char *how = e->op == TD_OP_CEIL ? "ceil" : "floor";
  return call(w, c, "td_%s%s(%s, %d)", how, td_cexpr_suffix(c), x.text, n);
}

/* |x|: a number without sign is its own. */
static TdPiece absolute(TdCWriter *w, const TdExpr *e) {
  TdPiece x = word(w, e->kid[0], false);
  if (!is_signed(e->kid[0]->type)) return x;
  int c = x.c == TD_C_I32 ? TD_C_I32 : TD_C_I64;
  TdPiece p = td_cexpr_fill(w, TD_OP_ABS, td_ops[TD_OP_ABS].c_int, c, &x, 1);
  p.c = c == TD_C_I32 ? TD_C_U32 : TD_C_U64;
  return e->type->kind == TD_T_INDEX ? td_cexpr_cast(w, p, TD_C_I64) : p;
}

/* The raw word p of an x of type `from`, kept to the bits of `to` after the point. */
static TdPiece rescale(TdCWriter *w, const TdType *to, const TdExpr *x) {
  int n = x->type->f - to->f;
  TdPiece p = word(w, x, false);
  int c = is_signed(x->type) ? TD_C_I64 : TD_C_U64;
  if (!to->nearest && n < (p.c <= TD_C_U32 ? 32 : 64))
    return td_cexpr_piece(w, TD_BIND_SHIFT, p.c, "%s >> %d", td_cexpr_operand(w, p, TD_BIND_SHIFT),
                          n);
  return call(w, c, "td_%s%s(%s, %d)", to->nearest ? "even" : "floor", td_cexpr_suffix(c), p.text,
              n);
}

uint64_t td_cnum_most(const TdType *t) {
  int bits = t->w - is_signed(t);
  return bits ? UINT64_MAX >> (64 - bits) : 0;
}

/* A cast that saturates, of an integer or fixed x. */
static TdPiece saturate(TdCWriter *w, const TdType *to, const TdExpr *x) {
  int n = to->f - x->type->f;
  bool sign = is_signed(to);
  uint64_t hi = td_cnum_most(to), lo = sign ? ~hi : 0;
  TdPiece p = n < 0 ? rescale(w, to, x) : word(w, x, false);
  const char *least = td_cexpr_integer(w, lo, sign).text,
             *most = td_cexpr_integer(w, hi, false).text;
  if (n <= 0 && p.c == TD_C_I32 && holder_of(to) == TD_C_I32)
    return call(w, TD_C_I32, "td_clamp_i32(%s, %s, %s)", p.text, least, most);
  int c = is_signed(x->type) ? TD_C_I64 : TD_C_U64;
  p = call(w, TD_C_U64, "td_saturate%s(%s, %d, %s, %s)", td_cexpr_suffix(c), p.text, n < 0 ? 0 : n,
           least, most);
  return td_cexpr_cast(w, p, holder_of(to));
}

/* x as type `to`; neither is a float. */
static TdPiece convert(TdCWriter *w, const TdType *to, const TdExpr *x, bool low) {
  int n = to->f - x->type->f;
  TdType bit = {.kind = TD_T_UINT, .w = 1};
  bool holds = td_promote_holds(to, x->type->kind == TD_T_BOOL ? &bit : x->type);
  if (to->kind == TD_T_BOOL) return word(w, x, false);
  if (holds && n >= 0) return aligned(w, x, to->f, low);
  if (to->saturate) return saturate(w, to, x);
  if (n < 0) return wrap(w, rescale(w, to, x), to);
  TdPiece p = aligned(w, x, to->f, low || to->w <= 32);
  return low && to->w >= 32 ? p : wrap(w, p, to);
}

static TdPiece cast(TdCWriter *w, const TdExpr *e, bool low) {
  const TdExpr *x = e->kid[0];
  if (e->type->kind == TD_T_FLOAT) return td_cfloat_of(w, e->type, x);
  if (x->type->kind == TD_T_FLOAT) return td_cfloat_to_integer(w, e->type, x);
  return convert(w, e->type, x, low);
}

static TdPiece logic(TdCWriter *w, const TdExpr *e) {
  TdPiece kid[2];
  for (uint32_t i = 0; i < e->nkid; i++) kid[i] = w->target->truth(w, e->kid[i]);
  return td_cexpr_fill(w, e->op, td_ops[e->op].c_int, TD_C_I32, kid, (int)e->nkid);
}

static TdPiece bitcast(TdCWriter *w, const TdExpr *e) {
  TdPiece p = bits_of(w, e->kid[0]);
  if (e->type->kind == TD_T_FLOAT) return td_cfloat_of_bits(w, e->type, p);
  return wrap(w, p, e->type);
}

static TdPiece operator(TdCWriter *w, const TdExpr *e, bool low) {
  if (td_ops[e->op].rule == TD_RULE_COMPARE) return compare(w, e);
  if (e->op == TD_OP_BITCAST) return bitcast(w, e);
  if (e->type->kind == TD_T_FLOAT) return td_cfloat_op(w, e);
  switch (td_ops[e->op].rule) {
  case TD_RULE_LOGIC: return logic(w, e);
  case TD_RULE_SHL:
  case TD_RULE_SHR:
  case TD_RULE_ASR: return shift(w, e, low);
  case TD_RULE_FLOORDIV:
  case TD_RULE_MOD:
  case TD_RULE_DIV: return divide(w, e, low);
  case TD_RULE_JOIN: return min_max(w, e);
  case TD_RULE_ABS: return absolute(w, e);
  case TD_RULE_ROUND: return round_fixed(w, e);
  case TD_RULE_GETBITS:
  case TD_RULE_SETBITS: return slice(w, e);
  default: return commuting(w, e, low);
  }
}

/* The piece of e, as the head of the file says. */
static TdPiece word(TdCWriter *w, const TdExpr *e, bool low) {
  if (td_cwide_is_needed(e)) return td_cwide_low(w, e);
  td_ctx_enter(w->session->ctx);
  TdPiece p;
  switch (e->kind) {
  case TD_EXPR_LIT: p = td_cexpr_literal(w, e->type, e->u.bits); break;
  case TD_EXPR_SIZE: p = td_cexpr_size(w, e); break;
  case TD_EXPR_VAR:
    p = td_cexpr_piece(w, TD_BIND_ATOM, loaded_type(e->type), "%s", td_cname_of(w, e->sym)->text);
    if (e->type->kind == TD_T_FLOAT) p = td_cfloat_load(w, e->type, p);
    break;
  case TD_EXPR_LOAD:
    p = td_cexpr_touch(w, e, false);
    p.c = (uint8_t)loaded_type(e->type);
    if (e->type->kind == TD_T_FLOAT) p = td_cfloat_load(w, e->type, p);
    break;
  case TD_EXPR_CAST: p = cast(w, e, low); break;
  case TD_EXPR_OP: p = operator(w, e, low); break;
  default:
    td_cfamily_refuse(w, "tensor-in-scalar", e->loc, "store it in a local first",
                      "a tensor inside this scalar expression");
    p = flag(0);
  }
  td_ctx_leave(w->session->ctx);
  return p;
}

TdPiece td_cnum_value(TdCWriter *w, const TdExpr *e) {
  if (e->kind == TD_EXPR_LIT && e->type->kind == TD_T_FLOAT && e->type->w == 16)
    return td_cexpr_integer(w, td_num_float_word(e->type, td_num_double(e->u.bits)), false);
  TdPiece p = word(w, e, e->type->w <= 32);
  return e->type->kind == TD_T_FLOAT ? td_cfloat_cell(w, e->type, p) : p;
}

TdPiece td_cnum_exact(TdCWriter *w, const TdExpr *e) {
  return word(w, e, false);
}

/* bits.c - shifts, slices of words, and words as other types, in HLS C++. */
#include <inttypes.h>

#include "backends/hls/text.h"

static TdHlsVal val(TdPiece p, const TdType *t, bool loose) {
  return (TdHlsVal){p, t, loose};
}

/* v, an ap_int that stands for an index, as an index. */
static TdHlsVal as_index(TdCWriter *w, TdHlsVal v, const TdType *index) {
  TdPiece p = td_cexpr_piece(w, TD_BIND_ATOM, TD_C_I64, "int64_t(%s)", v.p.text);
  return val(p, index, false);
}

/* "type(x)", of a type that is not the one of x. */
static TdPiece convert(TdCWriter *w, const TdType *t, TdPiece p) {
  return td_cexpr_piece(w, TD_BIND_ATOM, TD_C_OTHER, "%s(%s)", td_hls_num_type(w, t), p.text);
}

/* x * 2^n for a constant n, in type t. */
static TdHlsVal shift_up(TdCWriter *w, TdHlsVal x, int64_t n, const TdType *t) {
  if (n >= t->w) return val(convert(w, t, td_cexpr_integer(w, 0, false)), t, false);
  if (x.t != t) x.p = convert(w, t, x.p);
  return val(td_cexpr_piece(w, TD_BIND_SHIFT, TD_C_OTHER, "%s << %" PRId64,
                            td_cexpr_operand(w, x.p, TD_BIND_UNARY), n),
             t, true);
}

TdHlsVal td_hls_bits_shift(TdCWriter *w, const TdExpr *e, int keep) {
  (void)keep;
  TdHlsVal x = td_hls_num_exact(w, e->kid[0]), r;
  bool index = e->type->kind == TD_T_INDEX, left = e->op == TD_OP_SHL;
  const TdType *t = index ? td_type_int(w->session, 64) : td_type_plain(w->session, e->type);
  int64_t n = -1;
  bool constant = td_expr_is_const(e->kid[1], &n) && n >= 0;
  if (index) x = val(convert(w, t, x.p), t, false);
  if (constant && left) {
    r = shift_up(w, x, n, t);
  } else if (constant && n < x.t->w) {
    r = val(td_cexpr_piece(w, TD_BIND_SHIFT, TD_C_OTHER, "%s >> %" PRId64,
                           td_cexpr_operand(w, x.p, TD_BIND_UNARY), n),
            t, true);
  } else {
    const char *count = td_hls_num_exact(w, e->kid[1]).p.text;
    r = val(td_cexpr_piece(w, TD_BIND_ATOM, TD_C_OTHER, "tide::shift_%s<%d>(%s, %s)",
                           left ? "left" : "right", x.t->w, x.p.text, count),
            t, false);
  }
  return index ? as_index(w, r, e->type) : r;
}

/* The bits of e, of any type, as an integer of its own sign or as ap_uint. */
static TdHlsVal word(TdCWriter *w, const TdExpr *e) {
  const TdType *t = e->type, *plain = td_type_uint(w->session, t->w);
  if (t->kind == TD_T_FLOAT)
    return val(convert(w, plain, td_hls_float_word(w, t, td_hls_float_of(w, e))), plain, false);
  TdHlsVal x = td_hls_num_exact(w, e);
  if (t->kind == TD_T_BOOL) return val(convert(w, plain, x.p), plain, false);
  if (!td_type_is_fixed(t)) return x;
  bool sign = td_type_is_signed(t);
  return val(td_cexpr_piece(w, TD_BIND_ATOM, TD_C_OTHER, "tide::raw(%s)", x.p.text),
             sign ? td_type_int(w->session, t->w) : plain, false);
}

/* The word x, of an ap type, as ap_uint. */
static TdPiece without_sign(TdCWriter *w, TdHlsVal x) {
  return x.t->kind == TD_T_UINT ? x.p : convert(w, td_type_uint(w->session, x.t->w), x.p);
}

static TdHlsVal get_bits(TdCWriter *w, const TdExpr *e) {
  TdHlsVal x = word(w, e->kid[0]);
  int64_t lo;
  if (!td_expr_is_const(e->kid[1], &lo)) {
    TdPiece p = td_cexpr_piece(w, TD_BIND_ATOM, TD_C_OTHER, "tide::shift_right<%d>(%s, %s)", x.t->w,
                               without_sign(w, x).text, td_hls_num_exact(w, e->kid[1]).p.text);
    return val(p, e->type, true);
  }
  TdPiece p = x.p;
  if (lo)
    p = td_cexpr_piece(w, TD_BIND_SHIFT, TD_C_OTHER, "%s >> %" PRId64,
                       td_cexpr_operand(w, p, TD_BIND_UNARY), lo);
  return val(p, e->type, true);
}

/* The position of a bit, as the functions of tide_ops.h take it. */
static const char *position(TdCWriter *w, const TdExpr *e) {
  int64_t v;
  if (td_expr_is_const(e, &v) && v >= 0) return td_text_fmt(w->arena, "%" PRId64, v);
  return td_text_fmt(w->arena, "uint64_t(%s)", td_hls_num_exact(w, e).p.text);
}

static TdHlsVal set_bits(TdCWriter *w, const TdExpr *e) {
  TdHlsVal x = td_hls_num_exact(w, e->kid[0]), v = td_hls_num_exact(w, e->kid[3]);
  bool index = e->type->kind == TD_T_INDEX;
  const TdType *t = index ? td_type_int(w->session, 64) : e->type;
  if (index) x.p = convert(w, t, x.p);
  TdHlsVal r =
      val(td_cexpr_piece(w, TD_BIND_ATOM, TD_C_OTHER, "tide::with_bits<%d>(%s, %s, %s, %s)", t->w,
                         x.p.text, position(w, e->kid[1]), position(w, e->kid[2]), v.p.text),
          t, false);
  return index ? as_index(w, r, e->type) : r;
}

TdHlsVal td_hls_bits_slice(TdCWriter *w, const TdExpr *e) {
  return e->op == TD_OP_GETBITS ? get_bits(w, e) : set_bits(w, e);
}

TdHlsVal td_hls_bits_cast(TdCWriter *w, const TdExpr *e) {
  const TdType *to = td_type_plain(w->session, e->type);
  TdHlsVal x = word(w, e->kid[0]);
  if (to->kind == TD_T_INDEX) return as_index(w, x, e->type);
  if (td_type_is_integer(to)) return val(x.p, to, x.t != to);
  TdPiece p = without_sign(w, x);
  if (to->kind == TD_T_FLOAT)
    p = td_hls_float_of_word(w, to, p);
  else if (to->kind == TD_T_BOOL)
    p = td_cexpr_piece(w, TD_BIND_EQUAL, TD_C_OTHER, "%s != 0", p.text);
  else
    p = td_cexpr_piece(w, TD_BIND_ATOM, TD_C_OTHER, "tide::of_raw<%s>(%s)", td_hls_num_type(w, to),
                       p.text);
  return val(p, to, false);
}

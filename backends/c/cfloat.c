/* cfloat.c - floats as C, exactly as ir/num_float.h defines them.
 *
 * f32 and f64 are float and double. f16 and bf16 are words in memory and doubles in expressions;
 * every operator on them is computed as float.c does, and rounded once. */
#include "backends/c/cfamily.h"

#include "ir/num/float.h"

/* gcc makes one instruction of -fma(a, b, c), which loses the sign of 0. */
#define NEGATED_FMA "td_neg%t(%a)"

/* f16, bf16: the name of the format in the run time, or NULL. */
static const char *narrow(const TdType *t) {
  return t->w > 16 ? NULL : t->brain ? "bf16" : "f16";
}

static int held(const TdType *t) {
  return t->w == 32 ? TD_C_F32 : TD_C_F64;
}

static bool is_float(const TdType *t) {
  return t->kind == TD_T_FLOAT;
}

/* p, a double computed in any way, as a value of float type t. */
static TdPiece rounded(TdCWriter *w, const TdType *t, TdPiece p) {
  if (!narrow(t)) return td_cexpr_cast(w, p, held(t));
  return td_cexpr_piece(w, TD_BIND_ATOM, TD_C_F64, "td_round_%s(%s)", narrow(t), p.text);
}

TdPiece td_cfloat_load(TdCWriter *w, const TdType *t, TdPiece p) {
  if (!narrow(t)) return p;
  return td_cexpr_piece(w, TD_BIND_ATOM, TD_C_F64, "td_load_%s(%s)", narrow(t), p.text);
}

TdPiece td_cfloat_cell(TdCWriter *w, const TdType *t, TdPiece p) {
  if (!narrow(t)) return td_cexpr_cast(w, p, held(t));
  return td_cexpr_piece(w, TD_BIND_ATOM, TD_C_I32, "td_word_%s(%s)", narrow(t), p.text);
}

/* A double that holds p * 2^-f exactly, of a p of at most 53 bits. */
static TdPiece scaled(TdCWriter *w, TdPiece p, int f) {
  p = td_cexpr_cast(w, p, TD_C_F64);
  if (!f) return p;
  return td_cexpr_piece(w, TD_BIND_MUL, TD_C_F64, "%s * 0x1p%d",
                        td_cexpr_operand(w, p, TD_BIND_MUL), -f);
}

/* An integer or fixed e, nearest in float type `to`. */
static TdPiece of_integer(TdCWriter *w, const TdType *to, const TdExpr *e) {
  const TdType *t = e->type;
  TdPiece p = td_cnum_exact(w, e);
  bool sign = td_type_is_signed(t) || t->kind == TD_T_INDEX;
  bool exact = t->w <= 53 && t->f <= 900 && t->f >= -900;
  bool direct = !t->f && !narrow(to) && (sign || exact);
  if (direct) return td_cexpr_cast(w, p, held(to));
  if (exact) return rounded(w, to, scaled(w, p, t->f));
  TdFloatFormat f = td_num_float_format(to);
  p = td_cexpr_piece(w, TD_BIND_ATOM, TD_C_F64, "td_nearest(%s, %d, %d, %d, %d)",
                     td_cexpr_cast(w, p, TD_C_U64).text, sign, t->f, f.precision, f.top);
  return td_cexpr_cast(w, p, held(to));
}

TdPiece td_cfloat_of(TdCWriter *w, const TdType *to, const TdExpr *e) {
  if (!is_float(e->type)) return of_integer(w, to, e);
  TdPiece p = td_cnum_exact(w, e);
  bool same = narrow(to) && narrow(e->type) && to->brain == e->type->brain;
  return same ? p : rounded(w, to, p);
}

/* Operand i of e as float type t has it. */
static TdPiece operand(TdCWriter *w, const TdType *t, const TdExpr *x) {
  return is_float(x->type) ? td_cnum_exact(w, x) : of_integer(w, t, x);
}

/* x // y: the floor of the rounded quotient. */
static TdPiece floor_divide(TdCWriter *w, const TdType *t, TdPiece *p) {
  TdPiece q = td_cexpr_fill(w, TD_OP_DIV, td_ops[TD_OP_DIV].c_float, held(t), p, 2);
  if (narrow(t)) q = rounded(w, t, q);
  return td_cexpr_fill(w, TD_OP_FLOOR, td_ops[TD_OP_FLOOR].c_float, held(t), &q, 1);
}

TdPiece td_cfloat_op(TdCWriter *w, const TdExpr *e) {
  const TdType *t = e->type;
  TdPiece p[3];
  size_t checks = 0;
  for (uint32_t i = 0; i < e->nkid; i++) {
    bool condition = e->op == TD_OP_SELECT && i == 0;
    p[i] = condition ? w->target->truth(w, e->kid[i]) : operand(w, t, e->kid[i]);
    if (i == 0) checks = w->checks;
  }
  if (e->op == TD_OP_FLOORDIV) return rounded(w, t, floor_divide(w, t, p));
  bool single = td_ops[e->op].rule == TD_RULE_FLOAT || td_ops[e->op].rule == TD_RULE_FMA;
  int c = single && t->w < 64 ? TD_C_F32 : held(t);
  bool of_fma = e->op == TD_OP_NEG && e->kid[0]->kind == TD_EXPR_OP && e->kid[0]->op == TD_OP_FMA;
  const char *form = of_fma ? NEGATED_FMA : td_cexpr_select(w, e, checks, td_ops[e->op].c_float);
  TdPiece r = td_cexpr_fill(w, e->op, form, c, p, (int)e->nkid);
  return rounded(w, t, r);
}

TdPiece td_cfloat_compare(TdCWriter *w, const TdExpr *e) {
  const TdExpr *a = e->kid[0], *b = e->kid[1];
  TdPiece p[] = {operand(w, b->type, a), operand(w, a->type, b)};
  int c = p[0].c > p[1].c ? p[0].c : p[1].c;
  return td_cexpr_fill(w, e->op, td_ops[e->op].c_float, c, p, 2);
}

/* x * 2^f without what is after the point; what is beyond every integer stays so. */
static TdPiece whole(TdCWriter *w, const TdType *to, const TdExpr *x) {
  TdPiece p = td_cnum_exact(w, x);
  if (!td_type_is_fixed(to)) return p;
  return td_cexpr_piece(w, TD_BIND_ATOM, TD_C_F64, "td_scaled_%s(%s, %d)",
                        to->nearest ? "even" : "floor", p.text, to->f);
}

TdPiece td_cfloat_to_integer(TdCWriter *w, const TdType *to, const TdExpr *x) {
  bool sign = td_type_is_signed(to);
  uint64_t most = td_cnum_most(to);
  TdPiece p = whole(w, to, x);
  p = td_cexpr_piece(w, TD_BIND_ATOM, sign ? TD_C_I64 : TD_C_U64, "td_to_%s(%s, 0x1p%d, %s)",
                     sign ? "signed" : "unsigned", p.text, to->w - sign,
                     td_cexpr_integer(w, most, false).text);
  return to->w <= 31 + sign ? td_cexpr_cast(w, p, TD_C_I32) : p;
}

TdPiece td_cfloat_bits(TdCWriter *w, const TdExpr *e) {
  TdPiece p = td_cnum_exact(w, e);
  if (narrow(e->type)) return td_cfloat_cell(w, e->type, p);
  int c = e->type->w == 32 ? TD_C_U32 : TD_C_U64;
  return td_cexpr_piece(w, TD_BIND_ATOM, c, "td_bits%s(%s)", td_cexpr_suffix(p.c), p.text);
}

TdPiece td_cfloat_of_bits(TdCWriter *w, const TdType *to, TdPiece bits) {
  if (narrow(to)) return td_cfloat_load(w, to, bits);
  int c = held(to);
  return td_cexpr_piece(w, TD_BIND_ATOM, c, "td_of_bits%s(%s)", td_cexpr_suffix(c), bits.text);
}

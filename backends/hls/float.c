/* float.c - floats as HLS C++: half, float and double have C++'s operators; bf16 is a float in
 * expressions, rounded after each operator, and ap_uint<16> in memory. Functions are those of
 * hls_math.h and tide_ops.h. */
#include "backends/hls/text.h"

/* Powers of two that a double holds with room for any mantissa. */
enum { FAR = 900 };

static bool is_float(const TdType *t) {
  return t->kind == TD_T_FLOAT;
}

static bool is_half(const TdType *t) {
  return t->w == 16 && !t->brain;
}

static TdPiece call(TdCWriter *w, const char *f, TdPiece p) {
  return td_cexpr_piece(w, TD_BIND_ATOM, TD_C_OTHER, "%s(%s)", f, p.text);
}

/* p, a float or double (wide) that is exact or sticky, rounded to t. */
static TdPiece narrowed(TdCWriter *w, const TdType *t, TdPiece p, bool wide) {
  if (t->w == 64) return wide ? p : call(w, "double", p);
  if (t->w == 32) return wide ? call(w, "float", p) : p;
  if (wide) p = call(w, "tide::sticky", p);
  return call(w, t->brain ? "tide::bf16" : "half", p);
}

/* 2^n as text, for an n that FAR allows. */
static const char *power(TdCWriter *w, int n) {
  TdText t = td_text_new(w->arena);
  double x = 1;
  for (; n > 0; n--) x *= 2;
  for (; n < 0; n++) x /= 2;
  td_text_put_double(&t, x);
  return td_text_str(&t);
}

/* A fixed-point x, whose words are of type t, in float type `to`. */
static TdPiece of_fixed(TdCWriter *w, const TdType *to, TdPiece x, const TdType *t) {
  if (t->w <= 53) {
    TdPiece p = td_cexpr_piece(w, TD_BIND_ATOM, TD_C_OTHER, "%s.to_double()",
                               td_cexpr_operand(w, x, TD_BIND_ATOM));
    return narrowed(w, to, p, true);
  }
  const char *word = td_type_is_signed(t) ? "int64_t" : "uint64_t";
  TdPiece p = td_cexpr_piece(w, TD_BIND_ATOM, TD_C_OTHER, "%s(tide::raw(%s))", word, x.text);
  p = call(w, to->w == 64 ? "double" : "tide::sticky", p);
  p = td_cexpr_piece(w, TD_BIND_MUL, TD_C_OTHER, "%s * %s", p.text, power(w, -t->f));
  return narrowed(w, to, p, true);
}

/* An integer, fixed-point or boolean e, nearest in float type `to`. */
static TdPiece of_number(TdCWriter *w, const TdType *to, const TdExpr *e) {
  const TdType *t = e->type;
  bool index = t->kind == TD_T_INDEX, sign = td_type_is_signed(t) || index;
  TdPiece x = index ? td_hls_num_index(w, e) : td_hls_num_exact(w, e).p;
  if (t->f > FAR || t->f < -FAR)
    td_cfamily_refuse(w, "fixed-point-far", e->loc, "cast it to a format nearer to 1 first",
                      "a float of %s", td_type_str(w->arena, t));
  if (td_type_is_fixed(t)) return of_fixed(w, to, x, t);
  if (to->w >= 32) return call(w, to->w == 64 ? "double" : "float", x);
  if (is_half(to) || t->w <= 24) return narrowed(w, to, call(w, "float", x), false);
  if (t->w <= 53) return narrowed(w, to, call(w, "double", x), true);
  x = call(w, "tide::sticky", call(w, sign ? "int64_t" : "uint64_t", x));
  return narrowed(w, to, x, true);
}

/* Value p of float type `from` in float type `to`. */
static TdPiece of_float(TdCWriter *w, const TdType *to, const TdType *from, TdPiece p) {
  if (to->w == from->w && to->brain == from->brain) return p;
  if (is_half(from) && to->w == 32) return call(w, "float", p);
  if (is_half(from)) p = call(w, "float", p);
  return narrowed(w, to, p, from->w == 64);
}

/* e in float type `to`. */
static TdPiece in_type(TdCWriter *w, const TdType *to, const TdExpr *e) {
  if (is_float(e->type)) return of_float(w, to, e->type, td_hls_float_of(w, e));
  return of_number(w, to, e);
}

static TdPiece literal(TdCWriter *w, const TdExpr *e) {
  const TdType *t = e->type->w == 64 ? e->type : td_type_float(w->session, 32);
  TdPiece p = td_cexpr_literal(w, t, e->u.bits);
  p.c = TD_C_OTHER;
  return is_half(e->type) ? call(w, "half", p) : p;
}

/* Operators that are functions, and how they compute f16: in float, rounded to half. */
static const struct Function {
  const char *text;
  bool in_float;
} functions[TD_OPS] = {
    [TD_OP_MOD] = {"tide::float_mod", true}, [TD_OP_MIN] = {"tide::float_min", true},
    [TD_OP_MAX] = {"tide::float_max", true}, [TD_OP_FMA] = {"hls::fma", true},
    [TD_OP_ABS] = {"hls::abs", false},       [TD_OP_SQRT] = {"hls::sqrt", false},
    [TD_OP_EXP] = {"hls::exp", false},       [TD_OP_LOG] = {"hls::log", false},
    [TD_OP_SIN] = {"hls::sin", false},       [TD_OP_COS] = {"hls::cos", false},
    [TD_OP_TANH] = {"hls::tanh", false},     [TD_OP_FLOOR] = {"hls::floor", false},
    [TD_OP_CEIL] = {"hls::ceil", false}};

/* Operator e, a function of pieces in its type. */
static TdPiece function(TdCWriter *w, const TdExpr *e, const TdPiece *p) {
  bool by_float = functions[e->op].in_float && is_half(e->type);
  TdText t = td_text_new(w->arena);
  for (uint32_t i = 0; i < e->nkid; i++)
    td_text_putf(&t, "%s%s", i ? ", " : "", by_float ? call(w, "float", p[i]).text : p[i].text);
  TdPiece r =
      td_cexpr_piece(w, TD_BIND_ATOM, TD_C_OTHER, "%s(%s)", functions[e->op].text, td_text_str(&t));
  return by_float ? call(w, "half", r) : r;
}

/* An operator on floats, rounded to its type. */
static TdPiece operator(TdCWriter *w, const TdExpr *e) {
  TdPiece p[3], r;
  bool select = e->op == TD_OP_SELECT;
  for (uint32_t i = 0; i < e->nkid; i++)
    p[i] = select && i == 0 ? td_hls_num_truth(w, e->kid[0]) : in_type(w, e->type, e->kid[i]);
  bool floor = e->op == TD_OP_FLOORDIV;
  int op = floor ? TD_OP_DIV : e->op;
  if (functions[op].text)
    r = function(w, e, p);
  else
    r = td_cexpr_fill(w, op, td_ops[op].c_float, TD_C_OTHER, p, (int)e->nkid);
  if (e->type->brain && !select) r = call(w, "tide::bf16", r);
  return floor ? call(w, "hls::floor", r) : r;
}

TdPiece td_hls_float_of(TdCWriter *w, const TdExpr *e) {
  TdPiece p;
  switch (e->kind) {
  case TD_EXPR_LIT: return literal(w, e);
  case TD_EXPR_CAST: return in_type(w, e->type, e->kid[0]);
  case TD_EXPR_OP: return e->op == TD_OP_BITCAST ? td_hls_bits_cast(w, e).p : operator(w, e);
  default: break;
  }
  p = e->kind == TD_EXPR_LOAD
          ? td_cexpr_place(w, e)
          : td_cexpr_piece(w, TD_BIND_ATOM, TD_C_OTHER, "%s", td_cname_of(w, e->sym)->text);
  p.c = TD_C_OTHER;
  return e->type->brain ? call(w, "tide::bf16_value", p) : p;
}

TdPiece td_hls_float_compare(TdCWriter *w, const TdExpr *e) {
  const TdType *a = e->kid[0]->type, *b = e->kid[1]->type;
  const TdType *t = is_float(a) && (!is_float(b) || a->w > b->w) ? a : b;
  if (is_float(a) && is_float(b) && a->w == b->w && a->brain != b->brain)
    t = td_type_float(w->session, 32);
  TdPiece p[] = {in_type(w, t, e->kid[0]), in_type(w, t, e->kid[1])};
  return td_cexpr_fill(w, e->op, td_ops[e->op].c_float, TD_C_OTHER, p, 2);
}

TdHlsVal td_hls_float_to_integer(TdCWriter *w, const TdType *to, const TdExpr *x) {
  const TdType *plain = td_type_plain(w->session, to);
  TdPiece p = td_hls_float_of(w, x);
  if (is_half(x->type)) p = call(w, "float", p);
  bool fixed = td_type_is_fixed(to), sign = td_type_is_signed(to);
  if (fixed && (to->f > FAR || to->f < -FAR))
    td_cfamily_refuse(w, "fixed-point-far", x->loc, "cast it to a format nearer to 1 first",
                      "%s of a float", td_type_str(w->arena, to));
  if (fixed)
    p = td_cexpr_piece(w, TD_BIND_ATOM, TD_C_OTHER, "tide::whole_%s(%s, %s)",
                       to->nearest ? "even" : "floor", p.text, power(w, to->f));
  p = td_cexpr_piece(w, TD_BIND_ATOM, TD_C_OTHER, "tide::to_integer<ap_%sint<%d>, %d, %s>(%s)",
                     sign ? "" : "u", to->w, to->w, sign ? "true" : "false", p.text);
  if (fixed)
    p = td_cexpr_piece(w, TD_BIND_ATOM, TD_C_OTHER, "tide::of_raw<%s>(%s)",
                       td_hls_num_type(w, plain), p.text);
  return (TdHlsVal){p, plain, false};
}

TdPiece td_hls_float_word(TdCWriter *w, const TdType *t, TdPiece value) {
  return call(w,
              t->w > 16  ? "tide::word_of"
              : t->brain ? "tide::bf16_word"
                         : "tide::half_word",
              value);
}

TdPiece td_hls_float_of_word(TdCWriter *w, const TdType *t, TdPiece word) {
  static const char *const narrow[] = {"tide::half_of", "tide::bf16_value"};
  if (t->w == 16) return call(w, narrow[t->brain], word);
  return call(w, t->w == 64 ? "tide::double_of" : "tide::float_of", word);
}

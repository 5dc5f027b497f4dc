/* num.c - integers, fixed point and booleans as C++ of ap_int and ap_fixed. Every operator is
 * written with the type of its result (docs/numbers.md), cut to what its store keeps, and at least
 * one operand as wide: no value rests on how ap_int promotes. Indices are C integers. */
#include <inttypes.h>
#include <string.h>

#include "backends/hls/text.h"

static bool is_index(const TdType *t) {
  return t->kind == TD_T_INDEX;
}

static bool is_native(TdHlsVal v) {
  return v.p.c != TD_C_OTHER;
}

static TdHlsVal val(TdPiece p, const TdType *t, bool loose) {
  return (TdHlsVal){p, t, loose};
}

const char *td_hls_num_type(TdCWriter *w, const TdType *t) {
  const char *u = td_type_is_signed(t) ? "" : "u";
  switch (t->kind) {
  case TD_T_INT:
  case TD_T_UINT: return td_text_fmt(w->arena, "ap_%sint<%d>", u, t->w);
  case TD_T_FIXED:
  case TD_T_UFIXED: return td_text_fmt(w->arena, "ap_%sfixed<%d, %d>", u, t->w, t->w - t->f);
  case TD_T_BOOL: return "bool";
  case TD_T_INDEX: return "int64_t";
  default: return t->w == 64 ? "double" : t->w == 32 || t->brain ? "float" : "half";
  }
}

const char *td_hls_num_cell(TdCWriter *w, TdSym sym, const TdType *t) {
  if (is_index(t) && sym && sym->kind == TD_SYM_COORD) return "int";
  return t->kind == TD_T_FLOAT && t->brain ? "ap_uint<16>" : td_hls_num_type(w, t);
}

/* t with no more than `keep` bits before the point. */
static const TdType *cut(TdCWriter *w, const TdType *t, int keep) {
  int bits = keep + t->f > 1 ? keep + t->f : 1;
  TdSession *s = w->session;
  if (is_index(t) || t->w <= bits) return td_type_plain(s, t);
  if (td_type_is_fixed(t)) return td_type_fixed(s, t->kind == TD_T_FIXED, bits, t->f);
  return t->kind == TD_T_INT ? td_type_int(s, bits) : td_type_uint(s, bits);
}

/* The type that an int or int64_t counts as beside other numbers; of others their own. */
static const TdType *number_type(TdCWriter *w, TdHlsVal v) {
  return is_index(v.t) ? td_type_int(w->session, v.p.c == TD_C_I32 ? 32 : 64) : v.t;
}

/* The end of the parentheses that open at s. */
static const char *closing(const char *s) {
  for (int depth = 0; *s; s++) {
    depth += (*s == '(') - (*s == ')');
    if (!depth) break;
  }
  return s;
}

const char *td_hls_num_group(TdCWriter *w, const char *text) {
  size_t type = strcspn(text, "(");
  const char *open = text + type, *end = closing(open);
  bool twice = strncmp(text, "ap_", 3) == 0 && strncmp(open, "(ap_", 4) == 0;
  if (!twice || end[1] == '.') return td_text_fmt(w->arena, "(%s)", text);
  return td_text_fmt(w->arena, "((%.*s)%s)", (int)type, text, open);
}

/* p converted to C++ type `type`. */
static TdPiece convert(TdCWriter *w, const char *type, TdPiece p) {
  return td_cexpr_piece(w, TD_BIND_ATOM, TD_C_OTHER, "%s(%s)", type, p.text);
}

/* v of its own C++ type; small constants and indices stay as they are. */
static TdHlsVal settled(TdCWriter *w, TdHlsVal v) {
  return v.loose ? val(convert(w, td_hls_num_type(w, v.t), v.p), v.t, false) : v;
}

/* v of the C++ type of t, an integer or fixed type that holds it, or the low bits of an integer. */
static TdHlsVal as(TdCWriter *w, TdHlsVal v, const TdType *t) {
  if (v.loose && v.t != t && (t->w > v.t->w || t->f != v.t->f)) v = settled(w, v);
  if (!v.loose && !is_native(v) && v.t == t) return v;
  return val(convert(w, td_hls_num_type(w, t), v.p), t, false);
}

/* e modulo 2^keep, exactly in its type if that has no more bits before the point. */
static TdHlsVal num_of(TdCWriter *w, const TdExpr *e, int keep);

TdHlsVal td_hls_num_exact(TdCWriter *w, const TdExpr *e) {
  TdHlsVal v = settled(w, num_of(w, e, TD_HLS_ALL));
  return is_native(v) && v.t->kind != TD_T_BOOL ? as(w, v, number_type(w, v)) : v;
}

/* The same, but constants and indices stay C integers. */
static TdHlsVal operand(TdCWriter *w, const TdExpr *e, int keep) {
  return settled(w, num_of(w, e, keep));
}

/* Puts parentheses around p unless it binds as tightly as `bind`. */
static TdPiece tight(TdCWriter *w, TdPiece p, int bind) {
  if (p.bind < bind) p.text = td_text_fmt(w->arena, "(%s)", p.text), p.bind = TD_BIND_ATOM;
  return p;
}

/* Operator e on pieces, with parentheses where compilers ask for them. */
static TdPiece fill(TdCWriter *w, const TdExpr *e, int c, TdPiece *p) {
  int rule = td_ops[e->op].rule, n = (int)e->nkid;
  bool mixed = rule == TD_RULE_BITS || rule == TD_RULE_COMPARE;
  for (int i = 0; i < n && rule != TD_RULE_SELECT; i++) {
    if (mixed) p[i] = tight(w, p[i], rule == TD_RULE_BITS ? TD_BIND_UNARY : TD_BIND_ADD);
    if (e->op == TD_OP_OR && p[i].bind == TD_BIND_ANDAND) p[i] = tight(w, p[i], TD_BIND_UNARY);
  }
  return td_cexpr_fill(w, e->op, td_ops[e->op].c_int, c, p, n);
}

/* Whether lo .. end - 1 are values of int. */
bool td_hls_num_is_small(TdCWriter *w, const TdExpr *lo, const TdExpr *end) {
  const int64_t most = (int64_t)1 << 31;
  const TdExpr *from =
      td_lin_plus(w->session, w->arena, lo, td_expr_index(w->session, w->arena, most, lo->loc));
  return td_crange_is_nonnegative(w, from) && td_crange_is_below(w, end, most + 1);
}

static bool is_small(TdCWriter *w, const TdExpr *e) {
  TdSession *s = w->session;
  return td_hls_num_is_small(w, e,
                             td_lin_plus(s, w->arena, e, td_expr_index(s, w->arena, 1, e->loc)));
}

/* An operator of indices that C has: in int where the result is known to fit. */
static TdPiece index_op(TdCWriter *w, const TdExpr *e) {
  TdPiece p[3];
  int c = TD_C_I32;
  for (uint32_t i = 0; i < e->nkid; i++) {
    bool condition = e->op == TD_OP_SELECT && i == 0;
    p[i] = condition ? td_hls_num_truth(w, e->kid[i]) : td_hls_num_index(w, e->kid[i]);
    if (!condition && p[i].c > c) c = p[i].c;
  }
  if (c == TD_C_I32 && !is_small(w, e)) c = TD_C_I64;
  const char *type = c == TD_C_I32 ? "int" : "int64_t";
  switch (e->op) {
  case TD_OP_MIN:
  case TD_OP_MAX:
    return td_cexpr_piece(w, TD_BIND_ATOM, c, "tide::%s<%s>(%s, %s)", td_ops[e->op].lua, type,
                          p[0].text, p[1].text);
  case TD_OP_ABS:
    return td_cexpr_piece(w, TD_BIND_ATOM, c, "tide::magnitude<%s>(%s)", type, p[0].text);
  case TD_OP_FLOOR:
  case TD_OP_CEIL: return p[0];
  default: return fill(w, e, c, p);
  }
}

static int log2_of(int64_t v) {
  int n = 0;
  while (n < 62 && (int64_t)1 << n < v) n++;
  return v > 0 && (int64_t)1 << n == v ? n : -1;
}

/* a // v or a % v for a constant v > 0, by operators of C: of an a that is never negative, or by a
 * power of two. Returns whether it could. */
static bool divide_by_constant(TdCWriter *w, const TdExpr *e, TdPiece a, int64_t v, TdPiece *p) {
  bool div = e->op == TD_OP_FLOORDIV, plain = !td_type_is_signed(e->kid[0]->type);
  int n = log2_of(v);
  if (is_index(e->kid[0]->type)) plain = td_crange_is_nonnegative(w, e->kid[0]);
  if (v <= 0 || (!plain && n < 0)) return false;
  const char *op = plain ? div ? "/" : "%" : div ? ">>" : "&";
  int64_t by = plain ? v : div ? n : v - 1;
  int bind = plain ? TD_BIND_MUL : div ? TD_BIND_SHIFT : TD_BIND_AND;
  *p = td_cexpr_piece(w, bind, a.c, "%s %s %" PRId64,
                      td_cexpr_operand(w, a, plain ? TD_BIND_MUL : TD_BIND_UNARY), op, by);
  return true;
}

/* The integer type that holds values of n types. */
static const TdType *holder(TdCWriter *w, const TdType *const *t, int n) {
  bool sign = false;
  int bits = 1;
  for (int i = 0; i < n; i++) sign |= td_type_is_signed(t[i]);
  for (int i = 0; i < n; i++) {
    int own = t[i]->w + (sign && !td_type_is_signed(t[i]));
    if (own > bits) bits = own;
  }
  return sign ? td_type_int(w->session, bits) : td_type_uint(w->session, bits);
}

/* // and % of integers and indices. */
static TdHlsVal divide(TdCWriter *w, const TdExpr *e) {
  const char *name = e->op == TD_OP_FLOORDIV ? "floor_div" : "floor_mod";
  TdHlsVal a = operand(w, e->kid[0], TD_HLS_ALL), b = operand(w, e->kid[1], TD_HLS_ALL);
  bool index = is_index(e->type);
  int64_t v;
  TdPiece p;
  if (!index && is_native(a)) a = as(w, a, number_type(w, a));
  if (td_expr_is_const(e->kid[1], &v) && divide_by_constant(w, e, a.p, v, &p))
    return val(p, e->type, !index);
  const TdType *held[] = {number_type(w, a), number_type(w, b),
                          index ? td_type_int(w->session, 65) : e->type};
  bool small = index && a.p.c == TD_C_I32 && b.p.c == TD_C_I32;
  const char *type = small ? "int64_t" : td_hls_num_type(w, holder(w, held, 3));
  p = td_cexpr_piece(w, TD_BIND_ATOM, TD_C_OTHER, "tide::%s<%s>(%s, %s)", name, type, a.p.text,
                     b.p.text);
  if (!index) return val(p, e->type, true);
  return val(td_cexpr_piece(w, TD_BIND_ATOM, small ? TD_C_I32 : TD_C_I64, "%s(%s)",
                            small ? "int" : "int64_t", p.text),
             e->type, false);
}

/* x as a fixed-point number: integers are those without a fraction. */
static TdHlsVal as_fixed(TdCWriter *w, TdHlsVal x) {
  const TdType *t = number_type(w, x);
  if (td_type_is_fixed(t)) return x;
  return as(w, x, td_type_fixed(w->session, t->kind == TD_T_INT, t->w, 0));
}

/* / of fixed point: the floor of raw words. */
static TdHlsVal divide_fixed(TdCWriter *w, const TdExpr *e) {
  TdHlsVal a = as_fixed(w, operand(w, e->kid[0], TD_HLS_ALL));
  TdHlsVal b = as_fixed(w, operand(w, e->kid[1], TD_HLS_ALL));
  int up = e->type->f + b.t->f - a.t->f, down = up < 0 ? -up : 0;
  up = up < 0 ? 0 : up;
  int bits = a.t->w + up > b.t->w + down ? a.t->w + up : b.t->w + down;
  if (bits < e->type->w) bits = e->type->w;
  const char *wide = td_text_fmt(w->arena, "ap_int<%d>", bits + 2);
  TdPiece p = td_cexpr_piece(
      w, TD_BIND_ATOM, TD_C_OTHER,
      "tide::of_raw<%s>(tide::floor_div<%s>(%s(tide::raw(%s)) << %d, %s(tide::raw(%s)) << %d))",
      td_hls_num_type(w, e->type), wide, wide, a.p.text, up, wide, b.p.text, down);
  return val(p, e->type, false);
}

/* Converts, of n operands, those that the operator must have in another type than theirs so that it
 * computes all bits of t: of fixed-point operators integers; and one, if none is as wide. */
static void widen(TdCWriter *w, TdHlsVal *v, int n, const TdType *t, bool product) {
  int pick = 0;
  for (int i = 0; i < n; i++) {
    if (td_type_is_fixed(t)) v[i] = as_fixed(w, v[i]);
    bool wide = product ? v[i].t->w >= t->w : v[i].t == t || (!t->f && v[i].t->w >= t->w);
    if (!is_native(v[i]) && wide) return;
    if (is_native(v[pick]) && !is_native(v[i])) pick = i;
  }
  bool fraction = product && td_type_is_fixed(t);
  v[pick] = as(w, v[pick],
               fraction ? td_type_fixed(w->session, td_type_is_signed(t), t->w, v[pick].t->f) : t);
}

/* + - * & | ~, and unary - and ~. Of a factor as many bits count as of the product. */
static TdHlsVal commuting(TdCWriter *w, const TdExpr *e, int keep) {
  const TdType *t = cut(w, e->type, keep);
  TdHlsVal v[2];
  TdPiece p[2];
  int n = (int)e->nkid;
  for (int i = 0; i < n; i++)
    v[i] = operand(w, e->kid[i], t->w - (e->op == TD_OP_MUL ? e->kid[i]->type->f : t->f));
  widen(w, v, n, t, e->op == TD_OP_MUL);
  for (int i = 0; i < n; i++) p[i] = td_type_is_fixed(t) ? as_fixed(w, v[i]).p : v[i].p;
  return val(fill(w, e, TD_C_OTHER, p), t, true);
}

static TdHlsVal choose(TdCWriter *w, const TdExpr *e, int keep) {
  const TdType *t = cut(w, e->type, keep);
  TdPiece p[3] = {td_hls_num_truth(w, e->kid[0])};
  for (int i = 1; i < 3; i++)
    p[i] = t->kind == TD_T_BOOL ? td_hls_num_truth(w, e->kid[i])
                                : as(w, operand(w, e->kid[i], t->w - t->f), t).p;
  return val(fill(w, e, TD_C_OTHER, p), t, false);
}

/* Calls a function of tide_ops.h whose value has the type of e. */
static TdHlsVal call(TdCWriter *w, const TdExpr *e, const char *name) {
  TdText t = td_text_new(w->arena);
  for (uint32_t i = 0; i < e->nkid; i++)
    td_text_putf(&t, "%s%s", i ? ", " : "", td_hls_num_exact(w, e->kid[i]).p.text);
  return val(td_cexpr_piece(w, TD_BIND_ATOM, TD_C_OTHER, "tide::%s<%s>(%s)", name,
                            td_hls_num_type(w, e->type), td_text_str(&t)),
             e->type, false);
}

/* floor and ceil of fixed point. */
static TdHlsVal round_fixed(TdCWriter *w, const TdExpr *e) {
  TdHlsVal x = operand(w, e->kid[0], TD_HLS_ALL);
  const char *type = td_hls_num_type(w, e->type), *u = td_type_is_signed(e->type) ? "" : "u";
  int f = x.t->f, bits = x.t->w;
  if (e->op == TD_OP_FLOOR || f <= 0)
    return val(td_cexpr_piece(w, TD_BIND_ATOM, TD_C_OTHER, "%s(ap_%sfixed<%d, %d>(%s))", type, u,
                              e->type->w, e->type->w, x.p.text),
               e->type, false);
  return val(td_cexpr_piece(w, TD_BIND_ATOM, TD_C_OTHER,
                            "tide::ceil_shift<%s, %d>(ap_int<%d>(tide::raw(%s)))", type,
                            f < bits ? f : bits, bits + 1, x.p.text),
             e->type, false);
}

static TdPiece truth(TdCWriter *w, bool b) {
  return td_cexpr_piece(w, TD_BIND_ATOM, TD_C_OTHER, "%s", b ? "true" : "false");
}

/* Comparisons, by value: in the type that both sides have or join in. */
static TdPiece compare(TdCWriter *w, const TdExpr *e) {
  const TdType *a = e->kid[0]->type, *b = e->kid[1]->type;
  if (a->kind == TD_T_FLOAT || b->kind == TD_T_FLOAT) return td_hls_float_compare(w, e);
  if (td_equal_expr(e->kid[0], e->kid[1])) return truth(w, e->op == TD_OP_EQ || e->op == TD_OP_LE);
  TdPiece p[2];
  TdHlsVal v[2];
  for (int i = 0; i < 2; i++) v[i] = operand(w, e->kid[i], TD_HLS_ALL);
  bool constant = e->kid[0]->kind == TD_EXPR_LIT || e->kid[1]->kind == TD_EXPR_LIT;
  bool native = is_native(v[0]) && is_native(v[1]);
  if (v[0].t != v[1].t && !native && !(constant && (is_native(v[0]) || is_native(v[1])))) {
    const TdType *t = td_promote_join(w->session, number_type(w, v[0]), number_type(w, v[1]));
    for (int i = 0; i < 2 && t; i++) v[i] = as(w, v[i], t);
  }
  for (int i = 0; i < 2; i++) p[i] = v[i].p;
  return fill(w, e, TD_C_OTHER, p);
}

/* "ap_fixed<8, 5, AP_RND_CONV, AP_SAT>": the format with the modes that matter for an x. */
static const char *with_modes(TdCWriter *w, const TdType *to, const TdType *x, bool *plain) {
  bool nearest = to->nearest && x->f > to->f, saturate = to->saturate;
  const char *u = td_type_is_signed(to) ? "" : "u";
  *plain = !nearest && !saturate;
  const char *q = nearest ? ", AP_RND_CONV" : saturate ? ", AP_TRN" : "";
  return td_text_fmt(w->arena, "ap_%sfixed<%d, %d%s%s>", u, to->w, to->w - to->f, q,
                     saturate ? ", AP_SAT" : "");
}

/* Whether a cast from x to `to` is more than a change of the bits before the point. */
static bool rounds(TdCWriter *w, const TdType *to, const TdType *x) {
  (void)w;
  return to->f != x->f || td_type_is_fixed(to) != td_type_is_fixed(x) ||
         (to->saturate && !td_promote_holds(to, x));
}

/* A cast that rounds or saturates goes by way of ap_fixed. */
static TdHlsVal round_to(TdCWriter *w, const TdType *to, TdHlsVal x) {
  bool plain;
  const char *type = with_modes(w, to, number_type(w, x), &plain);
  TdPiece p = convert(w, type, x.p);
  if (td_type_is_fixed(to)) return val(p, td_type_plain(w->session, to), !plain);
  return val(convert(w, td_hls_num_type(w, to), p), td_type_plain(w->session, to), false);
}

/* A cast to an index: an int where the type says so. */
static TdPiece index_of(TdCWriter *w, TdHlsVal v) {
  if (is_native(v)) return v.p;
  int bits = v.t->w + !td_type_is_signed(v.t), c = bits <= 32 ? TD_C_I32 : TD_C_I64;
  return td_cexpr_piece(w, TD_BIND_ATOM, c, "%s(%s)", c == TD_C_I32 ? "int" : "int64_t", v.p.text);
}

static TdHlsVal cast(TdCWriter *w, const TdExpr *e, int keep) {
  const TdExpr *x = e->kid[0];
  const TdType *to = e->type;
  if (x->type->kind == TD_T_FLOAT) return td_hls_float_to_integer(w, to, x);
  if (to->kind == TD_T_BOOL) return val(td_hls_num_truth(w, x), to, false);
  if (x->type->kind == TD_T_BOOL)
    return val(convert(w, td_hls_num_type(w, to), td_hls_num_truth(w, x)), cut(w, to, TD_HLS_ALL),
               false);
  if (is_index(to)) return val(index_of(w, operand(w, x, TD_HLS_ALL)), to, false);
  const TdType *t = cut(w, to, keep);
  const TdType *from = is_index(x->type) ? td_type_int(w->session, 64) : x->type;
  if (rounds(w, to, from)) return round_to(w, to, operand(w, x, TD_HLS_ALL));
  TdHlsVal v = operand(w, x, t->w - t->f);
  if (!is_native(v) && v.t == t) return v;
  return val(v.p, t, true);
}

/* A constant: small integers as they are. */
static TdHlsVal literal(TdCWriter *w, const TdExpr *e) {
  const TdType *t = cut(w, e->type, TD_HLS_ALL);
  if (t->kind == TD_T_BOOL) return val(truth(w, e->u.bits != 0), t, false);
  if (td_type_is_fixed(t) && t->w <= 53 && t->f < 900 && t->f > -900) {
    TdText x = td_text_new(w->arena);
    td_text_put_double(&x, td_num_to_double(t, e->u.bits));
    return val(td_cexpr_piece(w, TD_BIND_ATOM, TD_C_OTHER, "%s(%s)", td_hls_num_type(w, t),
                              td_text_str(&x)),
               t, false);
  }
  TdPiece p = td_cexpr_integer(w, e->u.bits, td_type_is_signed(t) || is_index(t));
  if (td_type_is_fixed(t))
    return val(td_cexpr_piece(w, TD_BIND_ATOM, TD_C_OTHER, "tide::of_raw<%s>(%s)",
                              td_hls_num_type(w, t), p.text),
               t, false);
  if (p.c == TD_C_I32 || is_index(t)) return val(p, t, false);
  return val(convert(w, td_hls_num_type(w, t), p), t, false);
}

/* A variable or element p of type t. */
static TdHlsVal loaded(TdCWriter *w, const TdExpr *e, TdPiece p) {
  p.c = TD_C_OTHER;
  if (is_index(e->type)) p.c = e->kind == TD_EXPR_VAR && is_small(w, e) ? TD_C_I32 : TD_C_I64;
  return val(p, cut(w, e->type, TD_HLS_ALL), false);
}

/* An operator, by its rule; indices have C's. */
static TdHlsVal operator(TdCWriter *w, const TdExpr *e, int keep) {
  switch (td_ops[e->op].rule) {
  case TD_RULE_COMPARE: return val(compare(w, e), e->type, false);
  case TD_RULE_LOGIC: return val(td_hls_num_truth(w, e), e->type, false);
  case TD_RULE_SHL:
  case TD_RULE_SHR:
  case TD_RULE_ASR: return td_hls_bits_shift(w, e, keep);
  case TD_RULE_GETBITS:
  case TD_RULE_SETBITS: return td_hls_bits_slice(w, e);
  case TD_RULE_BITCAST: return td_hls_bits_cast(w, e);
  case TD_RULE_FLOORDIV:
  case TD_RULE_MOD: return divide(w, e);
  default: break;
  }
  if (is_index(e->type)) return val(index_op(w, e), e->type, false);
  switch (td_ops[e->op].rule) {
  case TD_RULE_DIV: return divide_fixed(w, e);
  case TD_RULE_JOIN: return call(w, e, td_ops[e->op].lua);
  case TD_RULE_SELECT: return choose(w, e, keep);
  case TD_RULE_ABS:
    if (!td_type_is_signed(e->kid[0]->type)) return num_of(w, e->kid[0], keep);
    return call(w, e, "magnitude");
  case TD_RULE_ROUND:
    if (!td_type_is_fixed(e->kid[0]->type)) return num_of(w, e->kid[0], keep);
    return round_fixed(w, e);
  default: return commuting(w, e, keep);
  }
}

static TdHlsVal num_of(TdCWriter *w, const TdExpr *e, int keep) {
  TdHlsVal v = {.p = {.text = "0", .bind = TD_BIND_ATOM}, .t = e->type};
  td_ctx_enter(w->session->ctx);
  switch (e->kind) {
  case TD_EXPR_LIT: v = literal(w, e); break;
  case TD_EXPR_SIZE: v = val(td_cexpr_size(w, e), e->type, false); break;
  case TD_EXPR_VAR:
    v = loaded(w, e,
               td_cexpr_piece(w, TD_BIND_ATOM, TD_C_OTHER, "%s", td_cname_of(w, e->sym)->text));
    break;
  case TD_EXPR_LOAD: v = loaded(w, e, td_cexpr_place(w, e)); break;
  case TD_EXPR_CAST: v = cast(w, e, keep); break;
  case TD_EXPR_OP: v = operator(w, e, keep); break;
  default:
    td_cfamily_refuse(w, "tensor-in-scalar", e->loc, "store it in a local first",
                      "a tensor inside this scalar expression");
  }
  td_ctx_leave(w->session->ctx);
  return v;
}

TdPiece td_hls_num_truth(TdCWriter *w, const TdExpr *e) {
  if (e->kind != TD_EXPR_OP || td_ops[e->op].rule != TD_RULE_LOGIC)
    return num_of(w, e, TD_HLS_ALL).p;
  TdPiece p[2];
  for (uint32_t i = 0; i < e->nkid; i++) p[i] = td_hls_num_truth(w, e->kid[i]);
  return fill(w, e, TD_C_OTHER, p);
}

TdPiece td_hls_num_index(TdCWriter *w, const TdExpr *e) {
  return index_of(w, operand(w, e, TD_HLS_ALL));
}

/* v, which converts to its own type, as an assignment to an element of type t takes it. */
static TdPiece bare(TdCWriter *w, TdHlsVal v, const TdType *t) {
  bool low = !t->f && !v.t->f && !td_type_is_fixed(t) && !td_type_is_fixed(v.t);
  bool as_is = v.t == td_type_plain(w->session, t) || (low && v.t->w >= t->w);
  return as_is ? v.p : settled(w, v).p;
}

TdPiece td_hls_num_store(TdCWriter *w, const TdExpr *e) {
  const TdType *t = e->type;
  if (t->kind == TD_T_FLOAT) {
    TdPiece p = td_hls_float_of(w, e);
    return t->brain ? td_hls_float_word(w, t, p) : p;
  }
  if (t->kind == TD_T_BOOL) return td_hls_num_truth(w, e);
  if (is_index(t)) return td_hls_num_index(w, e);
  const TdExpr *x = e;
  bool number = e->kind == TD_EXPR_CAST && e->kid[0]->type->kind < TD_T_FLOAT;
  if (number && !rounds(w, t, e->kid[0]->type)) x = e->kid[0];
  return bare(w, num_of(w, x, t->w - t->f), t);
}

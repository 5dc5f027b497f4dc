/* cwide.c - words of more than 64 bits as C: their cells are structs of 64-bit pieces, the lowest
 * first, whose upper bits repeat the sign (td_word4: 256 bits); in an expression they are td_word,
 * as wide as any. They are moved, cut, put together, & | ~ (ir/wide.h). */
#include "backends/c/cfamily.h"

static int pieces(const TdType *t) {
  return (int)(td_type_bytes(t) / 8);
}

/* Whether e is a word that all of is known of. */
static bool is_whole(const TdExpr *e) {
  return td_type_is_integer(e->type) && e->type->w > 64 && !td_wide_cut(e);
}

bool td_cwide_is_needed(const TdExpr *e) {
  bool made = e->kind == TD_EXPR_OP;
  if (made && e->op == TD_OP_GETBITS && is_whole(e->kid[0])) return true;
  bool bits = made && (e->op == TD_OP_SETBITS || e->op == TD_OP_GETBITS || e->op == TD_OP_BITCAST);
  return is_whole(e) && (!made || bits) && e->kind != TD_EXPR_CAST && e->kind != TD_EXPR_LIT;
}

const char *td_cwide_cell(TdCWriter *w, TdSym sym, const TdType *t) {
  if (!td_type_is_integer(t) || t->w <= 64) return td_cnum_cell(w, sym, t);
  return td_text_fmt(w->arena, "td_word%d", pieces(t));
}

static TdPiece call(TdCWriter *w, const char *fmt, ...) TD_PRINTF(2, 3);
static TdPiece call(TdCWriter *w, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  const char *text = td_text_vfmt(w->arena, fmt, ap);
  va_end(ap);
  return (TdPiece){text, TD_BIND_ATOM, TD_C_OTHER};
}

static TdPiece word(TdCWriter *w, const TdExpr *e);

/* p as a word of type t: cut to its width, and extended. */
static TdPiece wrap(TdCWriter *w, const TdType *t, TdPiece p) {
  return call(w, "td_word_wrap(%s, %d, %d)", p.text, t->w, td_type_is_signed(t));
}

/* A number of 64 bits or fewer. */
static TdPiece extended(TdCWriter *w, const TdExpr *e) {
  bool sign = td_type_is_signed(e->type) || e->type->kind == TD_T_INDEX;
  TdPiece low =
      e->kind == TD_EXPR_LIT ? td_cexpr_literal(w, e->type, e->u.bits) : td_cnum_exact(w, e);
  return call(w, "td_word_low(%s, %d)", td_cexpr_cast(w, low, TD_C_U64).text, sign);
}

/* A cell of such a word: its name or place. */
static const char *cell_text(TdCWriter *w, const TdExpr *e) {
  return e->kind == TD_EXPR_VAR ? td_cname_of(w, e->sym)->text : td_cexpr_touch(w, e, false).text;
}

static const char *position(TdCWriter *w, const TdExpr *e) {
  return td_cexpr_cast(w, td_cnum_exact(w, e), TD_C_I64).text;
}

/* Whether tide.bits e may take bits past the end of its word, which are 0, where a td_word repeats
 * the sign. */
static bool may_take_signs(const TdExpr *e) {
  const TdType *t = e->kid[0]->type;
  int64_t hi;
  return td_type_is_signed(t) && !(td_expr_is_const(e->kid[2], &hi) && hi <= t->w);
}

/* The word that tide.bits e takes bits of. */
static TdPiece bits_of(TdCWriter *w, const TdExpr *e) {
  TdPiece p = word(w, e->kid[0]);
  return may_take_signs(e) ? wrap(w, td_type_uint(w->session, e->kid[0]->type->w), p) : p;
}

/* Both values are evaluated where one may end the run. */
static TdPiece select(TdCWriter *w, const TdExpr *e) {
  TdPiece c = w->target->truth(w, e->kid[0]);
  size_t checks = w->checks;
  TdPiece x = word(w, e->kid[1]), y = word(w, e->kid[2]);
  if (w->checks > checks) return call(w, "td_word_both(%s, %s, %s)", c.text, x.text, y.text);
  return call(w, "(%s ? %s : %s)", td_cexpr_operand(w, c, TD_BIND_OROR), x.text, y.text);
}

static TdPiece operator(TdCWriter *w, const TdExpr *e) {
  const TdExpr *const *kid = e->kid;
  switch (e->op) {
  case TD_OP_BAND:
  case TD_OP_BOR:
  case TD_OP_BXOR: {
    const char *how = e->op == TD_OP_BAND ? "and" : e->op == TD_OP_BOR ? "or" : "xor";
    return call(w, "td_word_%s(%s, %s)", how, word(w, kid[0]).text, word(w, kid[1]).text);
  }
  case TD_OP_BNOT: return wrap(w, e->type, call(w, "td_word_not(%s)", word(w, kid[0]).text));
  case TD_OP_SELECT: return select(w, e);
  case TD_OP_GETBITS:
    return wrap(w, e->type,
                call(w, "td_word_up(%s, -(%s))", bits_of(w, e).text, position(w, kid[1])));
  case TD_OP_SETBITS:
    return wrap(w, e->type,
                call(w, "td_word_with(%s, %s, %s, %s)", word(w, kid[0]).text, position(w, kid[1]),
                     position(w, kid[2]), word(w, kid[3]).text));
  default: return wrap(w, e->type, word(w, kid[0]));
  }
}

/* What e, no number of its own, computes of words. */
static TdPiece computed(TdCWriter *w, const TdExpr *e) {
  if (e->kind == TD_EXPR_VAR || e->kind == TD_EXPR_LOAD)
    return call(w, "td_word_of(%s.at, %d, %d)", cell_text(w, e), pieces(e->type),
                td_type_is_signed(e->type));
  return e->kind == TD_EXPR_CAST ? wrap(w, e->type, word(w, e->kid[0])) : operator(w, e);
}

/* Integer e as a td_word. */
static TdPiece word(TdCWriter *w, const TdExpr *e) {
  td_ctx_enter(w->session->ctx);
  bool number = e->type->w <= 64 || e->kind == TD_EXPR_LIT;
  TdPiece p = number ? extended(w, e) : computed(w, e);
  td_ctx_leave(w->session->ctx);
  return p;
}

TdPiece td_cwide_low(TdCWriter *w, const TdExpr *e) {
  if (e->kind == TD_EXPR_VAR || e->kind == TD_EXPR_LOAD)
    return td_cexpr_piece(w, TD_BIND_ATOM, TD_C_U64, "%s.at[0]", cell_text(w, e));
  const TdExpr *from = e->kind == TD_EXPR_OP && e->op == TD_OP_GETBITS ? e->kid[0] : NULL;
  bool cell = from && e->type->w <= 64 &&
              (from->kind == TD_EXPR_VAR || from->kind == TD_EXPR_LOAD) && !may_take_signs(e);
  TdPiece all = e->kind == TD_EXPR_LIT ? word(w, e) : computed(w, e);
  if (!cell) return td_cexpr_piece(w, TD_BIND_ATOM, TD_C_U64, "td_word_cut(%s)", all.text);
  return td_cexpr_piece(w, TD_BIND_ATOM, TD_C_U64, "td_word_bits(%s.at, %d, %s, %d)",
                        cell_text(w, from), pieces(from->type), position(w, e->kid[1]), e->type->w);
}

TdPiece td_cwide_value(TdCWriter *w, const TdExpr *e) {
  if (!td_type_is_integer(e->type) || e->type->w <= 64) return td_cnum_value(w, e);
  if (e->kind == TD_EXPR_VAR || e->kind == TD_EXPR_LOAD) return call(w, "%s", cell_text(w, e));
  return call(w, "td_word%d_of(%s)", pieces(e->type), word(w, e).text);
}

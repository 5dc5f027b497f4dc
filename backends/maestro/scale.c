/* scale.c - the quantiser: recognised in what a kernel stores, by form, and its arithmetic.
 * clamp(((sum - zp_in) * mult >> shift) + zp_out) in 8 bits. */
#include "backends/maestro/job.h"

/* e without casts that keep every value. */
static const TdExpr *bare(const TdExpr *e) {
  while (e->kind == TD_EXPR_CAST && td_promote_holds(e->type, e->kid[0]->type)) e = e->kid[0];
  return e;
}

/* Whether e is an integer constant, or a size that has a value. */
static bool constant(const TdUnit *u, const TdExpr *e, int64_t *v) {
  while (e->kind == TD_EXPR_CAST) e = e->kid[0];
  if (e->kind == TD_EXPR_SIZE) return td_unit_value(u, e, v);
  if (e->kind != TD_EXPR_LIT || !(td_type_is_integer(e->type) || e->type->kind == TD_T_INDEX))
    return false;
  *v = (int64_t)e->u.bits;
  return true;
}

/* The other operand of `op` with a constant on either side (only the right one unless it commutes);
 * e itself, and *v = none, where e is no such operator. */
static const TdExpr *peel(const TdUnit *u, const TdExpr *e, TdOp op, bool either, int64_t none,
                          int64_t *v) {
  *v = none;
  e = bare(e);
  if (e->kind != TD_EXPR_OP || e->op != op) return e;
  if (constant(u, e->kid[1], v)) return bare(e->kid[0]);
  if (either && constant(u, e->kid[0], v)) return bare(e->kid[1]);
  return e;
}

/* What a constant is added to, or taken from. */
static const TdExpr *peel_offset(const TdUnit *u, const TdExpr *e, int64_t *v) {
  const TdExpr *x = peel(u, e, TD_OP_ADD, true, 0, v);
  if (x != bare(e)) return x;
  x = peel(u, e, TD_OP_SUB, false, 0, v);
  *v = -*v;
  return x;
}

/* The limits of a clamp, in either nesting, inside those of the type. */
static const TdExpr *peel_clamp(const TdUnit *u, const TdExpr *e, const TdType *t,
                                TdMaestroScale *s) {
  bool is_signed = td_type_is_signed(t);
  s->lo = is_signed ? -128 : 0;
  s->hi = is_signed ? 127 : 255;
  for (int i = 0; i < 2; i++) {
    int64_t lo, hi;
    e = peel(u, e, TD_OP_MIN, true, INT64_MAX, &hi);
    e = peel(u, e, TD_OP_MAX, true, INT64_MIN, &lo);
    if (hi < s->hi) s->hi = hi;
    if (lo > s->lo) s->lo = lo;
  }
  return e;
}

/* Whether the clamp that was said keeps the type, so that the store cuts nothing. */
static bool says_clamp(const TdUnit *u, const TdExpr *e, const TdType *t) {
  int64_t v;
  bool low = false, high = false;
  e = bare(e);
  if (t->saturate) return true;
  for (int i = 0; i < 2; i++) {
    const TdExpr *was = e;
    e = peel(u, e, TD_OP_MIN, true, INT64_MAX, &v);
    high |= e != was && v <= (td_type_is_signed(t) ? 127 : 255);
    was = e;
    e = peel(u, e, TD_OP_MAX, true, INT64_MIN, &v);
    low |= e != was && v >= (td_type_is_signed(t) ? -128 : 0);
  }
  return low && high;
}

const char *td_maestro_scale_read(const TdMaestroNest *n, TdMaestroScale *s) {
  const TdType *t = n->result.elem;
  if (!td_type_is_integer(t) || t->w != 8)
    return "what is stored is neither the sum nor 8 bits of the quantiser";
  const TdExpr *e = n->post;
  while (e->kind == TD_EXPR_CAST && e->type->w == 8) e = e->kid[0];
  if (!says_clamp(n->unit, e, t))
    return "the quantiser clamps: what is stored has no limits of its type";
  *s = (TdMaestroScale){0};
  e = peel_clamp(n->unit, e, t, s);
  e = peel_offset(n->unit, e, &s->zp_out);
  const TdExpr *was = e;
  e = peel(n->unit, e, TD_OP_ASR, false, 0, &s->shift);
  if (e == was || s->shift < 1 || s->shift > 62)
    return "the quantiser shifts right: tide.asr(sum * mult, shift) with a shift from 1";
  e = peel(n->unit, e, TD_OP_MUL, true, 1, &s->mult);
  e = peel(n->unit, e, TD_OP_SUB, false, 0, &s->zp_in);
  if (e != bare(n->post_acc))
    return "the quantiser computes ((sum - zp_in) * mult >> shift) + zp_out";
  if (s->mult < 0 || s->mult > INT64_C(1) << (s->shift - 1) || s->mult >= INT64_C(1) << 31)
    return "the quantiser keeps 32 bits: mult is at most 2 ^ (shift - 1)";
  if (s->zp_in) return "the quantiser keeps 32 bits: zp_in is 0 there";
  return NULL;
}

bool td_maestro_scale_registers(const TdUnit *u, const TdExpr *e, const TdExpr *value,
                                int64_t *reg) {
  int64_t half;
  TdMaestroScale s;
  while (e->kind == TD_EXPR_CAST && e->type->w == 8) e = e->kid[0];
  e = peel_clamp(u, e, e->type, &s);
  e = peel_offset(u, e, &reg[2]);
  const TdExpr *was = e;
  e = peel(u, e, TD_OP_ASR, false, 0, &reg[3]);
  if (e == was || reg[3] < 1 || reg[3] > 31) return false;
  e = peel(u, e, TD_OP_ADD, true, 0, &half);
  e = peel(u, e, TD_OP_MUL, true, 1, &reg[1]);
  e = peel(u, e, TD_OP_SUB, false, 0, &reg[0]);
  return e == bare(value) && half == INT64_C(1) << (reg[3] - 1) && reg[1] >= 0 &&
         reg[1] < INT64_C(1) << 32;
}

uint64_t td_maestro_scale_of(const TdMaestroScale *s, int64_t sum) {
  int64_t v = (sum - s->zp_in) * s->mult;
  v >>= s->shift - 1;
  v = (int32_t)(uint32_t)v;
  v >>= 1;
  v += s->zp_out;
  return (uint64_t)(v < s->lo ? s->lo : v > s->hi ? s->hi : v);
}

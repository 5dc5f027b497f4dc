/* lane.c - expressions as vectors. Integers are exact in Tide, and wrap where they are stored: what
 * only the low bits are asked of is computed in lanes of so many, as sums and products of those
 * are those of the low bits; all else in lanes that hold the value. Floats round as their type
 * says: bf16 goes through f32, which rounds once (24 >= 2 * 8 + 2 bits). */
#include "backends/npu/lanes.h"

#include <stdarg.h>

#include "ir/ir.h"

bool td_npu_lane_fail(TdNpuLaneAsk *x, const char *fmt, ...) {
  va_list ap;
  if (x->out->why) return false;
  va_start(ap, fmt);
  x->out->why = td_text_vfmt(x->q->arena, fmt, ap);
  va_end(ap);
  return false;
}

static bool is_exact(const TdType *t) {
  return td_type_is_integer(t) || td_type_is_fixed(t);
}

int td_npu_lane_width(const TdType *t) {
  return t->w + !td_type_is_signed(t);
}

/* Bits of the least lane that holds so many; 0: there is none. */
static int holder(int bits) {
  return bits <= 8 ? 8 : bits <= 16 ? 16 : bits <= 32 ? 32 : 0;
}

const char *td_npu_lane_type(const TdNpuLane *v) {
  if (v->real) return v->bits == 16 ? "bfloat16" : "float";
  return v->bits == 8 ? "int8_t" : v->bits == 16 ? "int16_t" : "int32_t";
}

/* A vector of so many bits; its text, if one is written. */
static TdNpuLane lane(TdNpuLaneAsk *x, int bits, bool real, const char *fmt, ...) TD_PRINTF(4, 5);
static TdNpuLane lane(TdNpuLaneAsk *x, int bits, bool real, const char *fmt, ...) {
  TdNpuLane v = {.bits = bits, .real = real};
  va_list ap;
  va_start(ap, fmt);
  if (x->w) v.text = td_text_vfmt(x->w->arena, fmt, ap);
  va_end(ap);
  if (bits > x->out->widest) x->out->widest = bits;
  return v;
}

/* What goes through an accumulator has lanes of 32 bits there, of which there are 32. */
static void accumulates(TdNpuLaneAsk *x) {
  if (x->out->widest < 16) x->out->widest = 16;
}

/* A vector is the result of an operation. */
static void work(TdNpuLaneAsk *x, const TdNpuLane *v) {
  x->out->work += v->bits / 8.0;
}

static bool computes_with(TdNpuLaneAsk *x) {
  return td_npu_lane_fail(x, "it computes with '%s'", x->out->loop->sym->name);
}

static bool round_by(TdNpuLaneAsk *x, TdNpuRound how) {
  if (x->out->round != TD_NPU_EXACT && x->out->round != how)
    return td_npu_lane_fail(x, "it rounds in two ways, and cores have one mode");
  x->out->round = how;
  return true;
}

/* One value, by its text, in all lanes. */
static TdNpuLane broadcast(TdNpuLaneAsk *x, const char *value, int bits, bool real) {
  TdNpuLane v = {.bits = bits, .real = real};
  const char *type = td_npu_lane_type(&v);
  v = lane(x, bits, real, "aie::broadcast<%s, %d>((%s)(%s))", type, x->out->lanes, type, value);
  v.one = value;
  return v;
}

void td_npu_lane_to(TdNpuLaneAsk *x, TdNpuLane *v, int bits) {
  TdNpuLane to = {.bits = bits, .real = v->real};
  if (v->bits == bits) return;
  if (v->one) {
    *v = broadcast(x, v->one, bits, v->real);
    return;
  }
  if (v->real && bits == 32)
    *v = lane(x, bits, true, "tide_wide(%s)", v->text);
  else
    *v = lane(x, bits, v->real, "tide_to<%s>(%s)", td_npu_lane_type(&to), v->text);
  work(x, v);
}

bool td_npu_lane_varies(const TdNpuLaneAsk *x, const TdExpr *e) {
  if (td_walk_uses_expr(e, x->out->loop->sym)) return true;
  for (size_t i = 0; i < x->nstored; i++)
    if (td_walk_uses_expr(e, x->stored[i]->sym)) return true;
  for (size_t i = 0; i < x->nlocal; i++)
    if (td_walk_uses_expr(e, x->local[i].sym)) return true;
  return false;
}

bool td_npu_lane_walks(TdNpuLaneAsk *x, const TdExpr *place) {
  TdSym var = x->out->loop->sym;
  if (place->kind != TD_EXPR_LOAD || !place->nkid) return false;
  for (uint32_t d = 0; d + 1 < place->nkid; d++)
    if (td_npu_lane_varies(x, place->kid[d])) return false;
  TdLin l = td_lin_of(x->q->prog->store->session, x->q->arena, place->kid[place->nkid - 1]);
  if (td_lin_coef(&l, var) != 1) return false;
  for (size_t i = 0; i < l.n; i++)
    if (!(l.term[i].atom->kind == TD_EXPR_VAR && l.term[i].atom->sym == var) &&
        td_npu_lane_varies(x, l.term[i].atom))
      return false;
  return true;
}

/* Whether what an index adds to the address is a multiple of `unit` elements in the first turn. */
static bool is_multiple(const TdNpuLaneAsk *x, const TdExpr *index, int64_t pitch, int64_t unit) {
  TdLin l = td_lin_of(x->w->session, x->q->arena, index);
  int64_t at = l.constant;
  for (size_t i = 0; i < l.n; i++) {
    if (l.term[i].atom->kind == TD_EXPR_VAR && l.term[i].atom->sym == x->out->loop->sym)
      at += x->out->from * l.term[i].coef;
    else if (l.term[i].coef * pitch % unit)
      return false;
  }
  return at * pitch % unit == 0;
}

const char *td_npu_lane_address(const TdNpuLaneAsk *x, const TdExpr *place, bool *aligned) {
  const TdType *type = td_cname_of(x->w, place->sym)->type;
  int64_t bytes = (int64_t)td_type_bytes(place->type), pitch = 1, extent;
  int64_t vector = bytes * x->out->lanes, most = x->q->generation > 1 ? 64 : 32;
  int64_t unit = (vector < most ? vector : most) / bytes;
  *aligned = x->q->types && type && type->rank == (int)place->nkid;
  for (uint32_t d = place->nkid; d-- > 0 && *aligned;) {
    *aligned = is_multiple(x, place->kid[d], pitch, unit) && td_type_extent(type, (int)d, &extent);
    pitch *= *aligned ? extent : 1;
  }
  return td_text_fmt(x->w->arena, "&%s", td_cexpr_place(x->w, place).text);
}

/* The elements of a load that walks. */
static bool load(TdNpuLaneAsk *x, const TdExpr *e, bool sign, TdNpuLane *out) {
  TdNpuLane cell = {.bits = 8 * (int)td_type_bytes(e->type), .real = e->type->kind == TD_T_FLOAT};
  for (size_t i = 0; i < x->nstored; i++)
    if (x->stored[i]->sym == e->sym && !td_equal_expr(x->stored[i], e))
      return td_npu_lane_fail(x, "a turn reads '%s' where another writes it", e->sym->name);
  if (!td_npu_lane_walks(x, e))
    return td_npu_lane_fail(x, "elements of '%s' do not lie side by side", e->sym->name);
  if (cell.bits > 32 || (cell.real && cell.bits == 16 && !e->type->brain))
    return td_npu_lane_fail(x, "there are no vectors of '%s'", td_type_str(x->q->arena, e->type));
  x->out->load += cell.bits / 8.0;
  bool aligned = false;
  const char *at = x->w ? td_npu_lane_address(x, e, &aligned) : "";
  *out = lane(x, cell.bits, cell.real, "aie::load_%s<%d>((const %s%s *)%s)",
              aligned ? "v" : "unaligned_v", x->out->lanes, sign || cell.real ? "" : "u",
              td_npu_lane_type(&cell), at);
  return true;
}

/* The value of an expression that does not change, in all lanes. */
static bool once(TdNpuLaneAsk *x, const TdExpr *e, int bits, bool real, TdNpuLane *out) {
  *out = broadcast(x, x->w ? td_cnum_exact(x->w, e).text : "", bits, real);
  return true;
}

/* ---- integers and fixed point ---- */

static bool exact(TdNpuLaneAsk *x, const TdExpr *e, int need, TdNpuLane *out);

/* e times 2^(f - its fraction) as the low `need` bits. */
static bool aligned_to(TdNpuLaneAsk *x, const TdExpr *e, int f, int need, TdNpuLane *out) {
  int up = f - e->type->f;
  if (!exact(x, e, need, out)) return false;
  td_npu_lane_to(x, out, holder(need));
  if (!up) return true;
  *out = lane(x, out->bits, false, "aie::upshift(%s, %d)", out->text, up);
  work(x, out);
  return true;
}

/* The width of the wider of two kids, aligned. */
static int joint(const TdExpr *e, uint32_t from, int *f) {
  int most = 0;
  *f = INT16_MIN;
  for (uint32_t i = from; i < e->nkid; i++) *f = e->kid[i]->type->f > *f ? e->kid[i]->type->f : *f;
  for (uint32_t i = from; i < e->nkid; i++) {
    int n = td_npu_lane_width(e->kid[i]->type) + *f - e->kid[i]->type->f;
    most = n > most ? n : most;
  }
  return most;
}

static bool no_vector(TdNpuLaneAsk *x, const TdExpr *e) {
  return td_npu_lane_fail(x, "'%s' has no vector instruction that gives these bits",
                          td_ops[e->op].lua);
}

static bool pair(TdNpuLaneAsk *x, const TdExpr *e, const char *name, int f, int need,
                 TdNpuLane *out) {
  TdNpuLane a, b;
  if (holder(need) == 0)
    return td_npu_lane_fail(x, "a value of %d bits, where lanes have 32", need);
  if (!aligned_to(x, e->kid[0], f, need, &a) || !aligned_to(x, e->kid[1], f, need, &b))
    return false;
  *out = lane(x, a.bits, false, "aie::%s(%s, %s)", name, a.text, b.text);
  work(x, out);
  return true;
}

static bool product(TdNpuLaneAsk *x, const TdExpr *e, int need, TdNpuLane *out) {
  TdNpuLane a, b;
  if (!exact(x, e->kid[0], need, &a) || !exact(x, e->kid[1], need, &b)) return false;
  int most = a.bits > b.bits ? a.bits : b.bits;
  td_npu_lane_to(x, &a, most);
  td_npu_lane_to(x, &b, most);
  TdNpuLane v = {.bits = holder(need), .real = false};
  accumulates(x);
  *out = lane(x, v.bits, false, "aie::mul(%s, %s).to_vector<%s>(0)", a.text, b.text,
              td_npu_lane_type(&v));
  work(x, out);
  return true;
}

static bool absolute(TdNpuLaneAsk *x, const TdExpr *e, TdNpuLane *out) {
  int f = e->kid[0]->type->f;
  if (!aligned_to(x, e->kid[0], f, td_npu_lane_width(e->type), out)) return false;
  *out = lane(x, out->bits, false, "aie::abs(%s)", out->text);
  work(x, out);
  return true;
}

/* The mask of a comparison. */
static bool mask(TdNpuLaneAsk *x, const TdExpr *e, const char **text) {
  static const char *const names[] = {
      [TD_OP_EQ] = "eq", [TD_OP_NE] = "neq", [TD_OP_LT] = "lt", [TD_OP_LE] = "le"};
  TdNpuLane a, b;
  if (e->kind != TD_EXPR_OP || e->op < TD_OP_EQ || e->op > TD_OP_LE)
    return td_npu_lane_fail(x, "a choice that is no comparison");
  const TdType *t = e->kid[0]->type;
  if (is_exact(t) && is_exact(e->kid[1]->type)) {
    int f, need = joint(e, 0, &f);
    if (!holder(need)) return td_npu_lane_fail(x, "a value of %d bits, where lanes have 32", need);
    if (!aligned_to(x, e->kid[0], f, need, &a) || !aligned_to(x, e->kid[1], f, need, &b))
      return false;
  } else if (!td_npu_lane_of(x, e->kid[0], 0, &a) || !td_npu_lane_of(x, e->kid[1], 0, &b)) {
    return false;
  } else if (!a.real || !b.real) {
    return td_npu_lane_fail(x, "a comparison of an integer with a float");
  }
  td_npu_lane_to(x, &a, a.real ? 32 : a.bits);
  td_npu_lane_to(x, &b, a.bits);
  work(x, &a);
  *text = x->w ? td_text_fmt(x->w->arena, "aie::%s(%s, %s)", names[e->op], a.text, b.text) : NULL;
  return true;
}

static bool chosen(TdNpuLaneAsk *x, const TdExpr *e, TdNpuLane a, TdNpuLane b, TdNpuLane *out) {
  const char *m = NULL;
  if (!mask(x, e->kid[0], &m)) return false;
  *out = lane(x, a.bits, a.real, "aie::select(%s, %s, %s)", b.text, a.text, m);
  work(x, out);
  return true;
}

static bool exact_op(TdNpuLaneAsk *x, const TdExpr *e, int need, TdNpuLane *out) {
  int f, all;
  TdNpuLane a, b;
  switch (e->op) {
  case TD_OP_ADD: return pair(x, e, "add", e->type->f, need, out);
  case TD_OP_SUB: return pair(x, e, "sub", e->type->f, need, out);
  case TD_OP_MUL: return product(x, e, need, out);
  case TD_OP_ABS: return absolute(x, e, out);
  case TD_OP_NEG:
    if (!aligned_to(x, e->kid[0], e->type->f, need, out)) return false;
    *out = lane(x, out->bits, false, "aie::neg(%s)", out->text);
    work(x, out);
    return true;
  case TD_OP_MIN:
  case TD_OP_MAX:
    all = joint(e, 0, &f);
    return pair(x, e, e->op == TD_OP_MIN ? "min" : "max", f, all, out);
  case TD_OP_SELECT:
    return aligned_to(x, e->kid[1], e->type->f, need, &a) &&
           aligned_to(x, e->kid[2], e->type->f, need, &b) && chosen(x, e, a, b, out);
  default: return no_vector(x, e);
  }
}

/* The value of integer lanes that wrapped into t, all of which hold t's bits. */
static bool extend(TdNpuLaneAsk *x, const TdType *t, TdNpuLane *v) {
  if (t->w != v->bits)
    return td_npu_lane_fail(x, "'%s' wraps inside of a lane", td_type_str(x->q->arena, t));
  if (td_type_is_signed(t)) return true;
  int bits = holder(t->w + 1);
  if (!bits) return td_npu_lane_fail(x, "a value of 33 bits, where lanes have 32");
  TdNpuLane to = {.bits = bits, .real = false};
  *v = lane(x, bits, false, "tide_unsigned<%s>(%s)", td_npu_lane_type(&to), v->text);
  work(x, v);
  return true;
}

/* Lanes that hold a value, kept within t's range. */
static void clamp(TdNpuLaneAsk *x, const TdType *t, TdNpuLane *v) {
  bool sign = td_type_is_signed(t);
  int64_t most = ((int64_t)1 << (t->w - sign)) - 1, least = sign ? -most - 1 : 0;
  TdNpuLane was = *v;
  const char *type = td_npu_lane_type(&was);
  int n = x->out->lanes;
  if (t->w - sign < v->bits - 1)
    *v = lane(x, v->bits, false, "aie::min(%s, aie::broadcast<%s, %d>((%s)%lld))", v->text, type, n,
              type, (long long)most);
  if (t->w < v->bits || !sign)
    *v = lane(x, v->bits, false, "aie::max(%s, aie::broadcast<%s, %d>((%s)%lld))", v->text, type, n,
              type, (long long)least);
  work(x, v);
  work(x, v);
}

/* A cast between integers and fixed point: a shift, which rounds, and the range. */
static bool exact_cast(TdNpuLaneAsk *x, const TdExpr *e, int need, TdNpuLane *out) {
  const TdType *t = e->type, *from = e->kid[0]->type;
  int down = from->f - t->f, all = td_npu_lane_width(from), wants = need < t->w ? need : t->w;
  bool holds = down <= 0 && td_promote_holds(t, from);
  if (from->kind == TD_T_INDEX) return computes_with(x);
  if (!is_exact(from))
    return td_npu_lane_fail(x, "a float becomes an integer, which vectors round another way");
  if (holds)
    wants = need;
  else if (t->saturate)
    wants = down < 0 ? all - down : all;
  int in = wants + down;
  in = in > all ? all : in < 1 ? 1 : in;
  if (down < 0) {
    if (!holder(wants))
      return td_npu_lane_fail(x, "a value of %d bits, where lanes have 32", wants);
    if (!aligned_to(x, e->kid[0], t->f, wants, out)) return false;
  } else if (!exact(x, e->kid[0], in, out)) {
    return false;
  }
  if (down > 0) {
    if (down > 31 || !round_by(x, t->nearest ? TD_NPU_EVEN : TD_NPU_FLOOR)) return no_vector(x, e);
    accumulates(x);
    *out = lane(x, out->bits, false, "tide_shift(%s, %d)", out->text, down);
    work(x, out);
  }
  if (holds) return true;
  if (t->saturate) {
    clamp(x, t, out);
    return true;
  }
  if (need < td_npu_lane_width(t)) return true;
  td_npu_lane_to(x, out, holder(t->w));
  return extend(x, t, out);
}

/* The low `need` bits of a cell, or its value. */
static bool exact_load(TdNpuLaneAsk *x, const TdExpr *e, int need, TdNpuLane *out) {
  bool sign = td_type_is_signed(e->type) || need <= e->type->w;
  if (!load(x, e, sign, out)) return false;
  if (sign) return true;
  TdNpuLane to = {.bits = holder(need), .real = false};
  if (!to.bits) return td_npu_lane_fail(x, "a value of 33 bits, where lanes have 32");
  if (to.bits > out->bits)
    td_npu_lane_to(x, out, to.bits);
  else
    *out = lane(x, out->bits, false, "aie::vector_cast<%s>(%s)", td_npu_lane_type(&to), out->text);
  return true;
}

static const TdNpuLane *local_of(const TdNpuLaneAsk *x, const TdExpr *e) {
  for (size_t i = 0; i < x->nlocal && e->kind == TD_EXPR_LOAD; i++)
    if (x->local[i].sym == e->sym) return &x->local[i].lane;
  return NULL;
}

static bool exact(TdNpuLaneAsk *x, const TdExpr *e, int need, TdNpuLane *out) {
  int all = e->type->kind == TD_T_INDEX ? 64 : td_npu_lane_width(e->type);
  int bits = need < all ? need : all;
  const TdNpuLane *known = local_of(x, e);
  if (known) {
    *out = *known;
    return true;
  }
  if (!holder(bits)) return td_npu_lane_fail(x, "a value of %d bits, where lanes have 32", bits);
  if (!td_npu_lane_varies(x, e)) return once(x, e, holder(bits), false, out);
  switch (e->kind) {
  case TD_EXPR_LOAD: return exact_load(x, e, bits, out);
  case TD_EXPR_OP: return exact_op(x, e, bits, out);
  case TD_EXPR_CAST: return exact_cast(x, e, bits, out);
  default: return computes_with(x);
  }
}

/* ---- floats ---- */

/* v as its type has it, after operators of f32. */
static bool rounded(TdNpuLaneAsk *x, const TdType *t, TdNpuLane *v) {
  if (t->w == 32) return true;
  if (!round_by(x, TD_NPU_EVEN)) return false;
  td_npu_lane_to(x, v, 16);
  return true;
}

static bool float_cast(TdNpuLaneAsk *x, const TdExpr *e, TdNpuLane *out) {
  const TdType *from = e->kid[0]->type;
  int all = td_npu_lane_width(from);
  if (from->kind == TD_T_FLOAT) {
    if (from->w > 32 || (from->w == 16 && !from->brain))
      return td_npu_lane_fail(x, "there are no vectors of '%s'", td_type_str(x->q->arena, from));
    if (!td_npu_lane_of(x, e->kid[0], 0, out)) return false;
    td_npu_lane_to(x, out, 32);
    return rounded(x, e->type, out);
  }
  if (from->kind == TD_T_INDEX) return computes_with(x);
  if (!is_exact(from) || all > (e->type->w == 16 ? 24 : 32))
    return td_npu_lane_fail(x, "'%s' becomes a float, which vectors round another way",
                            td_type_str(x->q->arena, from));
  if (!exact(x, e->kid[0], all, out) || (all > 24 && !round_by(x, TD_NPU_EVEN))) return false;
  td_npu_lane_to(x, out, 32);
  *out = lane(x, 32, true, "aie::to_float<float>(%s, %d)", out->text, from->f);
  work(x, out);
  return rounded(x, e->type, out);
}

static bool float_op(TdNpuLaneAsk *x, const TdExpr *e, TdNpuLane *out) {
  static const char *const names[] = {
      [TD_OP_ADD] = "add", [TD_OP_SUB] = "sub", [TD_OP_MUL] = "mul", [TD_OP_NEG] = "neg",
      [TD_OP_ABS] = "abs", [TD_OP_MIN] = "min", [TD_OP_MAX] = "max", [TD_OP_SELECT] = "select"};
  TdNpuLane v[2] = {{0}};
  if (e->op > TD_OP_SELECT || !names[e->op]) return no_vector(x, e);
  uint32_t first = e->op == TD_OP_SELECT;
  for (uint32_t i = first; i < e->nkid; i++) {
    if (e->kid[i]->type->kind != TD_T_FLOAT) return td_npu_lane_fail(x, "an integer meets a float");
    if (!td_npu_lane_of(x, e->kid[i], 0, &v[i - first])) return false;
    td_npu_lane_to(x, &v[i - first], 32);
  }
  if (first) return chosen(x, e, v[0], v[1], out) && rounded(x, e->type, out);
  if (e->op == TD_OP_MUL)
    *out = lane(x, 32, true, "aie::mul(%s, %s).to_vector<float>(0)", v[0].text, v[1].text);
  else if (e->nkid == 1)
    *out = lane(x, 32, true, "aie::%s(%s)", names[e->op], v[0].text);
  else
    *out = lane(x, 32, true, "aie::%s(%s, %s)", names[e->op], v[0].text, v[1].text);
  work(x, out);
  return rounded(x, e->type, out);
}

bool td_npu_lane_of(TdNpuLaneAsk *x, const TdExpr *e, int need, TdNpuLane *out) {
  const TdType *t = e->type;
  const TdNpuLane *known = local_of(x, e);
  bool index = t->kind == TD_T_INDEX;
  if (is_exact(t) || index) return exact(x, e, need ? need : td_npu_lane_width(t), out);
  if (t->kind != TD_T_FLOAT || t->w > 32 || (t->w == 16 && !t->brain))
    return td_npu_lane_fail(x, "there are no vectors of '%s'", td_type_str(x->q->arena, t));
  if (known) {
    *out = *known;
    return true;
  }
  if (!td_npu_lane_varies(x, e)) return once(x, e, 32, true, out);
  switch (e->kind) {
  case TD_EXPR_LOAD: return load(x, e, true, out);
  case TD_EXPR_OP: return float_op(x, e, out);
  case TD_EXPR_CAST: return float_cast(x, e, out);
  default: return computes_with(x);
  }
}

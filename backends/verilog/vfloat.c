/* vfloat.c - operators on floats: instances of the cores of float.c. */
#include "backends/verilog/vop.h"

#include "ir/num/float.h"

bool td_vfloat_is(const TdType *t) {
  return t->kind == TD_T_FLOAT;
}

/* Bits of the fraction, and of the exponent. */
static int fraction(const TdType *t) {
  return td_num_float_format(t).precision - 1;
}

static int exponent(const TdType *t) {
  return t->w - 1 - fraction(t);
}

/* An instance of a core for type t, with operands x, y, c as far as there are; its output `pin`. */
static TdVlItem *core(TdVlModule *m, const char *module, const TdType *t, const TdVl *const *x,
                      size_t n) {
  static const char *const name[] = {"x", "y", "c"};
  TdVlItem *i = td_vtree_instance(m, module, module + sizeof "tide_" - 1);
  td_vtree_param(m, i, "E", exponent(t));
  td_vtree_param(m, i, "M", fraction(t));
  for (size_t k = 0; k < n; k++) td_vtree_connect(m, i, name[k], x[k]);
  return i;
}

static const TdVl *output(TdVlModule *m, TdVlItem *i, const char *pin, int width) {
  TdVlSig *s = td_vtree_wire(m, td_text_fmt(m->arena, "%s_%s", i->name, pin), width);
  td_vtree_take(m, i, pin, s);
  return td_vtree_sig(m, s);
}

static const TdVl *named(TdVlModule *m, const TdVl *e) {
  return e->kind == TD_VL_CONST ? e : td_vtree_sig(m, td_vtree_named(m, "real", e));
}

/* A float as another float type. */
static const TdVl *convert(TdVlModule *m, const TdType *t, TdVlNum x) {
  TdVlItem *i = core(m, "tide_ftof", x.real, &x.e, 1);
  td_vtree_param(m, i, "F", exponent(t));
  td_vtree_param(m, i, "N", fraction(t));
  return output(m, i, "z", t->w);
}

/* A number as float type t. */
static const TdVl *as_float(TdVlModule *m, const TdType *t, TdVlNum x) {
  if (x.real) return x.real == t ? x.e : convert(m, t, x);
  TdVlItem *i = core(m, "tide_itof", t, &x.e, 1);
  td_vtree_param(m, i, "W", x.e->width);
  td_vtree_param(m, i, "S", x.is_signed);
  td_vtree_param(m, i, "P", x.f);
  return output(m, i, "z", t->w);
}

static const TdVl *to_whole(TdVlModule *m, const TdType *t, TdVlNum x) {
  bool fixed = td_type_is_fixed(t);
  TdVlItem *i = core(m, "tide_ftoi", x.real, &x.e, 1);
  td_vtree_param(m, i, "W", t->w);
  td_vtree_param(m, i, "S", td_type_is_signed(t) || t->kind == TD_T_INDEX);
  td_vtree_param(m, i, "P", fixed ? t->f : 0);
  td_vtree_param(m, i, "R", !fixed ? 0 : t->nearest ? 2 : 1);
  return output(m, i, "z", t->w);
}

/* All bits but the sign. */
static const TdVl *magnitude(TdVlModule *m, const TdVl *e) {
  return td_vtree_slice(m, named(m, e), 0, e->width - 1);
}

static const TdVl *is_zero(TdVlModule *m, const TdVl *e) {
  return td_vtree_binary(m, "==", 1, magnitude(m, e), td_vtree_const(m, e->width - 1, 0));
}

TdVlNum td_vfloat_cast(TdVlModule *m, const TdType *t, TdVlNum x) {
  TdVlNum out = td_vop_num(NULL, t);
  if (td_vfloat_is(t))
    out.e = as_float(m, t, x);
  else if (t->kind == TD_T_BOOL)
    out.e = td_vtree_not(m, is_zero(m, x.e));
  else
    out.e = to_whole(m, t, x);
  return out;
}

/* -x and |x|; what is no number stays one, without a sign. */
static const TdVl *change_sign(TdVlModule *m, const TdType *t, const TdVl *x, bool absolute) {
  const TdVl *low = magnitude(m, x), *top = td_vtree_slice(m, named(m, x), t->w - 1, 1);
  int p = fraction(t);
  uint64_t inf = ((UINT64_C(1) << exponent(t)) - 1) << p;
  const TdVl *bad = td_vtree_binary(m, ">", 1, low, td_vtree_const(m, t->w - 1, inf));
  const TdVl *sign = absolute ? td_vtree_const(m, 1, 0) : td_vtree_not(m, top);
  const TdVl *none = td_vtree_const(m, t->w, inf | UINT64_C(1) << (p - 1));
  return td_vtree_pick(m, bad, none, td_vtree_cat(m, sign, low));
}

/* The type in which two numbers are compared: one that holds both floats. */
static const TdType *meeting(const TdVlNum *x) {
  if (!x[0].real || !x[1].real) return x[0].real ? x[0].real : x[1].real;
  return fraction(x[0].real) >= fraction(x[1].real) ? x[0].real : x[1].real;
}

static const TdVl *compare(TdVlModule *m, TdOp op, const TdVlNum *x) {
  const TdType *t = meeting(x);
  const TdVl *part[] = {as_float(m, t, x[0]), as_float(m, t, x[1])};
  TdVlItem *i = core(m, "tide_fcmp", t, part, 2);
  td_vtree_param(m, i, "K", op == TD_OP_LT ? 2 : op == TD_OP_LE ? 3 : 1);
  const TdVl *z = output(m, i, "z", 1);
  return op == TD_OP_NE ? td_vtree_not(m, z) : z;
}

/* One of the cores that have two sides: up, or the greater. */
static const TdVl *sided(TdVlModule *m, const char *module, const TdType *t, const TdVl *const *x,
                         size_t n, bool up) {
  TdVlItem *i = core(m, module, t, x, n);
  td_vtree_param(m, i, "UP", up);
  return output(m, i, "z", t->w);
}

/* An operator whose result is a float of type t; NULL: there is no core for it. */
static const TdVl *compute(TdVlModule *m, TdOp op, const TdType *t, const TdVl **x, size_t n) {
  static const char *const module[TD_OPS] = {
      [TD_OP_ADD] = "tide_fadd", [TD_OP_SUB] = "tide_fadd", [TD_OP_MUL] = "tide_fmul",
      [TD_OP_DIV] = "tide_fdiv", [TD_OP_FMA] = "tide_ffma", [TD_OP_SQRT] = "tide_fsqrt"};
  switch (op) {
  case TD_OP_NEG: return change_sign(m, t, x[0], false);
  case TD_OP_ABS: return change_sign(m, t, x[0], true);
  case TD_OP_MIN: return sided(m, "tide_fmin", t, x, 2, false);
  case TD_OP_MAX: return sided(m, "tide_fmin", t, x, 2, true);
  case TD_OP_FLOOR: return sided(m, "tide_ffloor", t, x, 1, false);
  case TD_OP_CEIL: return sided(m, "tide_ffloor", t, x, 1, true);
  case TD_OP_FLOORDIV: {
    const TdVl *q = compute(m, TD_OP_DIV, t, x, 2);
    return sided(m, "tide_ffloor", t, &q, 1, false);
  }
  default: break;
  }
  if (!module[op]) return NULL;
  if (op == TD_OP_SUB) x[1] = change_sign(m, t, x[1], false);
  return output(m, core(m, module[op], t, x, n), "z", t->w);
}

TdVlNum td_vfloat_apply(TdVlModule *m, TdOp op, const TdType *t, const TdVlNum *x) {
  TdVlNum out = td_vop_num(NULL, t);
  const TdVl *part[4] = {NULL};
  size_t n = (size_t)td_ops[op].arity;
  if (op == TD_OP_EQ || op == TD_OP_NE || op == TD_OP_LT || op == TD_OP_LE) {
    out.e = compare(m, op, x);
  } else if (op == TD_OP_SELECT) {
    out.e = td_vtree_pick(m, td_vtree_fit(m, x[0].e, 1, false), as_float(m, t, x[1]),
                          as_float(m, t, x[2]));
  } else if (td_vfloat_is(t)) {
    for (size_t i = 0; i < n; i++) part[i] = as_float(m, t, x[i]);
    out.e = compute(m, op, t, part, n);
  }
  return out;
}

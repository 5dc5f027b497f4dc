/* gen_expr.c - random expressions; their types follow from the promotion table. */
#include "tests/fuzz/gen.h"

/* Wider integers are cut before they are operands, since nothing computes beyond 64 bits. */
enum { MOST_WIDTH = 30 };

static bool is_exact(const TdType *t) {
  return td_type_is_integer(t) || td_type_is_fixed(t) || t->kind == TD_T_INDEX;
}

/* x under a cast to a type of the kernel. */
static Val cast(Gen *g, NamedType t, Val x) {
  return (Val){td_text_fmt(g->arena, "%s(%s)", t.name, x.text), td_type_plain(g->session, t.type)};
}

/* The type of an operator on values of types x and y (NULL: one operand); NULL when it is refused
 * or too wide. */
static const TdType *type_of(Gen *g, TdOp op, const TdType *x, const TdType *y) {
  TdDiag quiet = {.arena = g->arena};
  const TdType *of[] = {x, y};
  const TdType *t = td_promote_op(g->session, (int)op, of, y ? 2 : 1, (TdLoc){0}, &quiet);
  return t && is_exact(t) && t->w > 64 ? NULL : t;
}

/* A literal for a place of type t. */
static Val literal(Gen *g, const TdType *t) {
  int v = rng_below(&g->rng, 8);
  if (t->kind != TD_T_FLOAT)
    return (Val){td_text_fmt(g->arena, "%d", v), td_promote_literal(g->session, v)};
  return (Val){td_text_fmt(g->arena, "%d.%s", v, rng_chance(&g->rng, 50) ? "5" : "25"),
               td_type_float(g->session, 32)};
}

static bool is_readable(const Thing *t) {
  return !gen_is_control(t);
}

/* A leaf that agrees in class with t: floats are not put where exact numbers are wanted. */
static Val leaf(Gen *g, NamedType want) {
  bool exact = is_exact(want.type);
  if (g->nloop && exact && rng_chance(&g->rng, 8)) {
    const char *name = g->loop[rng_below(&g->rng, g->nloop)].name;
    return cast(g, want, (Val){name, td_type_index(g->session)});
  }
  for (int tries = 0; tries < 4; tries++) {
    const Thing *t = gen_find(g, is_readable);
    if (!t || (exact && !is_exact(t->of.type))) continue;
    Val x = {gen_place(g, t), td_type_plain(g->session, t->of.type)};
    return is_exact(x.type) && (x.type->w > MOST_WIDTH || !exact) ? cast(g, want, x) : x;
  }
  return literal(g, want.type);
}

static Val value(Gen *g, NamedType want, int depth);

/* x of a width that operators may take. */
static Val narrow(Gen *g, NamedType want, Val x) {
  return is_exact(x.type) && x.type->w > MOST_WIDTH ? cast(g, want, x) : x;
}

static Val infix(Gen *g, NamedType want, int depth, TdOp op) {
  Val x = narrow(g, want, value(g, want, depth - 1)),
      y = narrow(g, want, value(g, want, depth - 1));
  const TdType *t = type_of(g, op, x.type, y.type);
  if (!t) return x;
  const char *name = td_ops[op].lua;
  if (td_ops[op].form == TD_FORM_CALL)
    return (Val){td_text_fmt(g->arena, "tide.%s(%s, %s)", name, x.text, y.text), t};
  return (Val){td_text_fmt(g->arena, "(%s %s %s)", x.text, name, y.text), t};
}

static Val prefix(Gen *g, NamedType want, int depth, TdOp op) {
  Val x = narrow(g, want, value(g, want, depth - 1));
  const TdType *t = type_of(g, op, x.type, NULL);
  if (!t) return x;
  const char *form = td_ops[op].form == TD_FORM_CALL ? "tide.%s(%s)" : "(%s %s)";
  return (Val){td_text_fmt(g->arena, form, td_ops[op].lua, x.text), t};
}

static Val choice(Gen *g, NamedType want, int depth) {
  Val x = narrow(g, want, value(g, want, depth - 1)),
      y = narrow(g, want, value(g, want, depth - 1));
  if (!is_exact(x.type) != !is_exact(y.type)) return x;
  g->has[FEATURE_SELECT] = true;
  const char *cond = rng_chance(&g->rng, 40) ? gen_affine_condition(g) : NULL;
  if (!cond) cond = gen_data_condition(g);
  return (Val){td_text_fmt(g->arena, "tide.select(%s, %s, %s)", cond, x.text, y.text),
               td_promote_join(g->session, x.type, y.type)};
}

/* x by a number that may be zero. */
static Val divided(Gen *g, Val x, TdOp op, const char *count) {
  const TdType *by = td_type_uint(g->session, 8);
  g->has[FEATURE_FAULT_DIVISION] = true;
  return (Val){td_text_fmt(g->arena, "(%s %s u8(%s))", x.text, td_ops[op].lua, count),
               type_of(g, op, x.type, by)};
}

/* Operators that integers alone have. */
static Val integral(Gen *g, NamedType want, int depth) {
  static const TdOp bits[] = {TD_OP_BAND, TD_OP_BOR, TD_OP_BXOR};
  static const TdOp by[] = {TD_OP_FLOORDIV, TD_OP_MOD};
  Val x = narrow(g, want, value(g, want, depth - 1));
  if (!td_type_is_integer(x.type)) return x;
  int c = 2 + rng_below(&g->rng, 3), w = x.type->w;
  TdSession *s = g->session;
  switch (rng_below(&g->rng, 6)) {
  case 0: g->has[FEATURE_BITS] = true; return infix(g, want, depth, RNG_PICK(&g->rng, bits));
  case 1: {
    TdOp op = RNG_PICK(&g->rng, by);
    const char *count = g->about[ABOUT_FAULT] ? gen_control_count(g, 9) : NULL;
    g->has[FEATURE_DIVISION] = true;
    if (count) return divided(g, x, op, count);
    return (Val){td_text_fmt(g->arena, "(%s %s %d)", x.text, td_ops[op].lua, c),
                 type_of(g, op, x.type, td_promote_literal(s, c))};
  }
  case 2: {
    TdDiag quiet = {.arena = g->arena};
    g->has[FEATURE_SHIFT] = true;
    return (Val){td_text_fmt(g->arena, "(%s << %d)", x.text, c),
                 td_promote_shl(s, x.type, c, (TdLoc){0}, &quiet)};
  }
  case 3:
    g->has[FEATURE_SHIFT] = true;
    if (td_type_is_signed(x.type))
      return (Val){td_text_fmt(g->arena, "tide.asr(%s, %d)", x.text, c), x.type};
    return (Val){td_text_fmt(g->arena, "(%s >> %d)", x.text, c), x.type};
  case 4:
    if (w < 3) return x;
    g->has[FEATURE_BITS] = true;
    return (Val){td_text_fmt(g->arena, "tide.bits(%s, %d, %d)", x.text, 1, w - 1),
                 td_type_uint(s, w - 2)};
  default: g->has[FEATURE_BITS] = true; return prefix(g, want, depth, TD_OP_BNOT);
  }
}

/* A value for a place of type `want`, of its class. */
static Val value(Gen *g, NamedType want, int depth) {
  static const TdOp two[] = {TD_OP_ADD, TD_OP_ADD, TD_OP_ADD, TD_OP_MUL,
                             TD_OP_MUL, TD_OP_SUB, TD_OP_MIN, TD_OP_MAX};
  static const TdOp one[] = {TD_OP_NEG, TD_OP_ABS};
  if (depth <= 0) return leaf(g, want);
  int kind = rng_below(&g->rng, 20);
  if (kind < 4) return leaf(g, want);
  if (kind < 14) return infix(g, want, depth, RNG_PICK(&g->rng, two));
  if (kind < 15) return prefix(g, want, depth, RNG_PICK(&g->rng, one));
  if (kind < 16) return choice(g, want, depth);
  if (kind < 17) return cast(g, want, value(g, want, depth - 1));
  if (td_type_is_integer(want.type)) return integral(g, want, depth);
  if (want.type->kind == TD_T_FLOAT && kind < 18) return infix(g, want, depth, TD_OP_DIV);
  return leaf(g, want);
}

/* x as the source of a store to type t. */
static const char *stored(Gen *g, NamedType t, Val x) {
  bool needs = !td_promote_can_store(t.type, x.type) || x.type->w > 64;
  return needs || rng_chance(&g->rng, 40) ? cast(g, t, x).text : x.text;
}

const char *gen_value(Gen *g, NamedType t, int depth) {
  return stored(g, t, value(g, t, depth));
}

const char *gen_accumulation(Gen *g, NamedType t, const char *old) {
  static const TdOp ops[] = {TD_OP_ADD, TD_OP_ADD, TD_OP_ADD, TD_OP_ADD, TD_OP_MAX, TD_OP_MUL};
  TdOp op = RNG_PICK(&g->rng, ops);
  const TdType *plain = td_type_plain(g->session, t.type);
  Val y = rng_chance(&g->rng, 60) ? infix(g, t, 1, TD_OP_MUL) : value(g, t, 1);
  if (gen_distinct || !type_of(g, op, plain, y.type)) y = cast(g, t, y);
  if (!type_of(g, op, plain, y.type)) op = TD_OP_ADD;
  g->has[FEATURE_REDUCTION] = true;
  y.text = gen_tagged(g, t, y.text);
  const char *form = op == TD_OP_MAX   ? "tide.max(%s, %s)"
                     : op == TD_OP_MUL ? "(%s * %s)"
                                       : "(%s + %s)";
  return cast(g, t, (Val){td_text_fmt(g->arena, form, old, y.text), plain}).text;
}

const char *gen_use(Gen *g, NamedType t, const char *of) {
  const char *other = leaf(g, t).text;
  if (rng_chance(&g->rng, 30)) return td_text_fmt(g->arena, "%s(%s)", t.name, of);
  return td_text_fmt(g->arena, "%s(%s(%s) + %s(%s))", t.name, t.name, of, t.name, other);
}

const char *gen_data_condition(Gen *g) {
  static const char *const compare[] = {"<", "<=", "==", "~=", ">"};
  NamedType t = gen_pick_type(g);
  Val x = leaf(g, t), y = leaf(g, t);
  return td_text_fmt(g->arena, "%s %s %s", x.text, RNG_PICK(&g->rng, compare), y.text);
}

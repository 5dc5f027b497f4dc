/* trace_op.c - operators in a trace: folded, shared with equal ones, or a node of their own. */
#include "analysis/time/trace.h"

/* What tells nodes and columns apart. */
enum { OPERATOR = 1, OPAQUE, CONVERSION, CHOICE, CONSTANT, INDEX, FROM_ZERO };

TdTraceValue td_trace_const(int64_t v) {
  return (TdTraceValue){.affine = true, .form = td_sys_const(v)};
}

TdTraceValue td_trace_node(uint32_t n) {
  return (TdTraceValue){.node = n};
}

/* Whether v is a constant, and which. */
static bool is_const(TdTraceValue v, int64_t *c) {
  return v.affine && td_sys_is_const(v.form, c);
}

uint64_t td_trace_hash(TdTraceValue v) {
  if (!v.affine) return td_map_mix(v.node, 1);
  uint64_t h = td_map_mix((uint64_t)v.form.c, 2);
  for (uint32_t i = 0; i < v.form.n; i++) {
    h = td_map_mix(h, (uint64_t)v.form.m[i].coef);
    h = td_map_mix(h, (uint64_t)v.form.m[i].col);
  }
  return h;
}

/* How a value of columns `f` moves. */
static TdColumnKind motion(const TdTrace *t, TdAff f) {
  TdColumnKind most = TD_COLUMN_STILL;
  for (uint32_t i = 0; i < f.n; i++) {
    TdColumnKind k = t->column.at[-1 - f.m[i].col].kind;
    if (k > most) most = k;
  }
  return most;
}

TdTraceValue td_trace_column(TdTrace *t, const void *key, TdColumn what) {
  int32_t col = td_lower_param(t->space, key, "", false);
  while (t->column.n < t->space->at.n) td_vec_push(t->arena, &t->column, what);
  TdColumn *c = &t->column.at[-1 - col];
  if (!c->sym && !c->loop && !c->low && !c->node) *c = what;
  return (TdTraceValue){.affine = true, .form = td_sys_col(t->arena, col)};
}

/* A column that no symbol has. */
static TdTraceValue new_column(TdTrace *t, TdColumnKind kind, uint32_t node) {
  return td_trace_column(t, td_arena_alloc(t->arena, 1), (TdColumn){.kind = kind, .node = node});
}

TdAff td_trace_form(TdTrace *t, TdTraceValue v) {
  if (v.affine) return v.form;
  uint64_t hash = td_map_mix(td_map_mix(INDEX, v.node), 0), col;
  if (td_map_get(&t->same, hash, &col)) return td_sys_col(t->arena, (int32_t)(int64_t)col);
  TdAff f = new_column(t, TD_COLUMN_WILD, v.node).form;
  td_map_put(t->arena, &t->same, hash, (uint64_t)(int64_t)f.m[0].col);
  return f;
}

/* The quotient or rest of x by a constant, if the columns of x do not matter to it. */
static bool fold_division(TdTrace *t, TdOp op, TdAff x, int64_t k, TdTraceValue *out) {
  if (k <= 0) return false;
  for (uint32_t i = 0; i < x.n; i++)
    if (x.m[i].coef % k) return false;
  int64_t q = td_sys_floor64(x.c, k);
  if (op == TD_OP_MOD) {
    *out = td_trace_const(x.c - q * k);
    return true;
  }
  TdAff f = td_sys_const(q);
  for (uint32_t i = 0; i < x.n; i++)
    f = td_sys_plus(t->arena, f, x.m[i].coef / k, td_sys_col(t->arena, x.m[i].col));
  *out = (TdTraceValue){.affine = true, .form = f};
  return true;
}

/* A comparison of two forms that differ by a constant, or min and max of them. */
static bool fold_compare(TdTrace *t, TdOp op, TdTraceValue x, TdTraceValue y, TdTraceValue *out) {
  int64_t d;
  if (!td_sys_is_const(td_sys_plus(t->arena, x.form, -1, y.form), &d)) return false;
  switch (op) {
  case TD_OP_EQ: *out = td_trace_const(d == 0); return true;
  case TD_OP_NE: *out = td_trace_const(d != 0); return true;
  case TD_OP_LT: *out = td_trace_const(d < 0); return true;
  case TD_OP_LE: *out = td_trace_const(d <= 0); return true;
  case TD_OP_MIN: *out = d <= 0 ? x : y; return true;
  case TD_OP_MAX: *out = d <= 0 ? y : x; return true;
  default: return false;
  }
}

/* Operators whose operands are known, or affine. */
static bool fold(TdTrace *t, const TdExpr *e, const TdTraceValue *x, TdTraceValue *out) {
  int64_t c;
  if (e->op == TD_OP_SELECT && is_const(x[0], &c)) {
    *out = x[c ? 1 : 2];
    return true;
  }
  if ((e->op == TD_OP_AND || e->op == TD_OP_OR) && is_const(x[0], &c)) {
    *out = (c != 0) == (e->op == TD_OP_AND) ? x[1] : x[0];
    return true;
  }
  for (uint32_t i = 0; i < e->nkid; i++)
    if (!x[i].affine) return false;
  out->affine = true;
  out->node = 0;
  switch (e->op) {
  case TD_OP_ADD: out->form = td_sys_plus(t->arena, x[0].form, 1, x[1].form); break;
  case TD_OP_SUB: out->form = td_sys_plus(t->arena, x[0].form, -1, x[1].form); break;
  case TD_OP_NEG: out->form = td_sys_scale(t->arena, -1, x[0].form, 0); break;
  case TD_OP_NOT: out->form = td_sys_scale(t->arena, -1, x[0].form, 1); break;
  case TD_OP_MUL:
    if (is_const(x[1], &c))
      out->form = td_sys_scale(t->arena, c, x[0].form, 0);
    else if (is_const(x[0], &c))
      out->form = td_sys_scale(t->arena, c, x[1].form, 0);
    else
      return false;
    break;
  case TD_OP_FLOORDIV:
  case TD_OP_MOD: return is_const(x[1], &c) && fold_division(t, e->op, x[0].form, c, out);
  default: return e->nkid == 2 && fold_compare(t, e->op, x[0], x[1], out);
  }
  return !out->form.bad;
}

/* Whether v is a constant power of two. */
static bool is_power(TdTraceValue v) {
  int64_t c;
  return is_const(v, &c) && c > 0 && (c & (c - 1)) == 0;
}

/* The cost key of e with these operands; NULL when wires do it. */
static const char *key_of(const TdExpr *e, const TdType *type, const TdTraceValue *x) {
  int64_t c;
  bool real = type->kind == TD_T_FLOAT;
  switch (e->op) {
  case TD_OP_NEG:
  case TD_OP_ABS: return real ? NULL : td_ops[e->op].cost;
  case TD_OP_FLOOR:
  case TD_OP_CEIL: return real ? "ftoi" : td_ops[e->op].cost;
  case TD_OP_MUL: return !real && (is_power(x[0]) || is_power(x[1])) ? NULL : td_ops[e->op].cost;
  case TD_OP_FLOORDIV:
  case TD_OP_MOD: return !real && is_power(x[1]) ? NULL : td_ops[e->op].cost;
  case TD_OP_SHL:
  case TD_OP_SHR:
  case TD_OP_ASR: return is_const(x[1], &c) ? NULL : td_ops[e->op].cost;
  case TD_OP_GETBITS:
  case TD_OP_SETBITS:
  case TD_OP_BITCAST: return NULL;
  default: return td_ops[e->op].cost;
  }
}

/* The operand whose type decides what an operator costs. */
static const TdType *deciding_type(const TdExpr *e) {
  const TdType *t = td_type_scalar(e->kid[e->op == TD_OP_SELECT ? 1 : 0]->type);
  for (uint32_t i = 1; i < e->nkid; i++) {
    const TdType *u = td_type_scalar(e->kid[i]->type);
    if (e->op != TD_OP_SELECT && u->kind == TD_T_FLOAT && t->kind != TD_T_FLOAT) t = u;
  }
  return t;
}

/* The bits that an operator computes with: those of the result that matter, or of its operands. */
static int bits_of(const TdExpr *e, const TdType *type, int want) {
  if (type->kind == TD_T_FLOAT) return type->w;
  int w = td_type_scalar(e->type)->w;
  bool operands = e->op == TD_OP_MUL || td_ops[e->op].boolean || !td_ops[e->op].commutes;
  if (operands) {
    w = 0;
    for (uint32_t i = 0; i < e->nkid; i++) {
      int k = td_type_scalar(e->kid[i]->type)->w;
      if (k > w) w = k;
    }
  }
  return td_ops[e->op].commutes && want < w ? want : w;
}

/* The hash of an operation `what` on n values. */
static uint64_t hash_of(uint64_t what, const TdTraceValue *x, size_t n) {
  uint64_t hash = td_map_mix(what, n);
  for (size_t i = 0; i < n; i++) hash = td_map_mix(hash, td_trace_hash(x[i]));
  return hash;
}

uint32_t td_trace_source(const TdTrace *t, TdTraceValue v) {
  uint32_t node = v.node;
  for (uint32_t i = 0; v.affine && i < v.form.n; i++)
    if (t->column.at[-1 - v.form.m[i].col].node) node = t->column.at[-1 - v.form.m[i].col].node;
  return node;
}

void td_trace_note(TdTrace *t, uint32_t node, TdTraceCell what) {
  while (t->cell.n <= node) td_vec_push(t->arena, &t->cell, (TdTraceCell){0});
  what.stmt = t->stmt;
  t->cell.at[node] = what;
}

uint32_t td_trace_condition(TdTrace *t, TdTraceWhat what, uint32_t x, uint32_t y) {
  uint32_t node = td_flow_add(&t->flow, (TdFlowNode){0}, (uint32_t[]){x, y}, 2);
  TdTraceCell c = {.what = what, .n = y ? 2 : 1, .type = td_type_bool(t->session), .bits = 1};
  c.x[0] = td_trace_node(x);
  c.x[1] = td_trace_node(y);
  td_trace_note(t, node, c);
  return node;
}

bool td_trace_goes_on(const TdTrace *t) {
  return !t->broken.always && !t->returned.always;
}

uint32_t td_trace_rest(TdTrace *t, uint32_t outer) {
  const TdTraceLeft *left[] = {&t->broken, &t->returned};
  for (int i = 0; i < 2; i++) {
    if (!left[i]->any) continue;
    uint32_t stays = td_trace_condition(t, TD_TRACE_NOT, left[i]->when, 0);
    outer = outer ? td_trace_condition(t, TD_TRACE_BOTH, outer, stays) : stays;
  }
  return outer;
}

void td_trace_leave(TdTrace *t, TdTraceLeft *left) {
  if (!t->guard) {
    left->always = true;
    return;
  }
  left->when = left->any ? td_trace_condition(t, TD_TRACE_EITHER, left->when, t->guard) : t->guard;
  left->any = true;
}

/* The node of an operator on at most 4 values: an equal one, or a new one that does `cell`. */
static TdTraceValue apply(TdTrace *t, TdOperator op, uint64_t what, const TdTraceValue *x, size_t n,
                          TdTraceCell cell) {
  int width = cell.bits;
  uint64_t hash = hash_of(what, x, n), node;
  if (td_map_get(&t->same, hash, &node)) return td_trace_node((uint32_t)node);
  uint32_t after[4] = {0};
  for (size_t i = 0; i < n; i++) after[i] = td_trace_source(t, x[i]);
  TdFlowNode v = {.stages = op.stages, .delay = op.delay, .width = (uint32_t)width};
  node = td_flow_add(&t->flow, v, after, n);
  td_map_put(t->arena, &t->same, hash, node);
  cell.n = (uint8_t)n;
  for (size_t i = 0; i < n; i++) cell.x[i] = x[i];
  td_trace_note(t, (uint32_t)node, cell);
  if (op.key) td_vec_push(t->arena, &t->op, ((TdTraceOp){op, (uint32_t)node, t->stmt}));
  return td_trace_node((uint32_t)node);
}

/* A column of its own for what an index operation gives: it moves as its operands do. */
static TdTraceValue opaque(TdTrace *t, uint64_t what, const TdTraceValue *x, size_t n,
                           TdTraceCell cell) {
  uint64_t hash = hash_of(what, x, n), col;
  if (td_map_get(&t->same, hash, &col))
    return (TdTraceValue){.affine = true, .form = td_sys_col(t->arena, (int32_t)(int64_t)col)};
  TdColumnKind kind = TD_COLUMN_STILL;
  uint32_t after[4] = {0};
  for (size_t i = 0; i < n; i++) {
    if (motion(t, td_trace_form(t, x[i])) != TD_COLUMN_STILL) kind = TD_COLUMN_WILD;
    after[i] = td_trace_source(t, x[i]);
  }
  uint32_t node = td_flow_add(&t->flow, (TdFlowNode){0}, after, n);
  cell.n = (uint8_t)n;
  for (size_t i = 0; i < n; i++) cell.x[i] = x[i];
  td_trace_note(t, node, cell);
  TdTraceValue v = new_column(t, kind, node);
  td_map_put(t->arena, &t->same, hash, (uint64_t)(int64_t)v.form.m[0].col);
  return v;
}

/* The column of a quotient or remainder x op y, which notes what it is of where y is a constant. */
static TdTraceValue divided(TdTrace *t, TdOp op, TdTraceValue v, const TdTraceValue *x) {
  TdColumn *c = &t->column.at[-1 - v.form.m[0].col];
  int64_t by;
  if (!x[0].affine || !x[1].affine || !td_sys_is_const(x[1].form, &by) || by <= 0) return v;
  c->of = x[0].form;
  c->by = by;
  c->rest = op == TD_OP_MOD;
  return v;
}

static uint64_t what_of(int family, uint64_t x, const TdType *type, int want) {
  return td_map_mix(td_map_mix(td_map_mix((uint64_t)family, x), type->id), (uint64_t)want);
}

TdTraceValue td_trace_op(TdTrace *t, const TdExpr *e, int want, const TdTraceValue *x) {
  TdTraceValue v;
  if (fold(t, e, x, &v)) return v;
  const TdType *type = deciding_type(e), *to = td_type_scalar(e->type);
  if (to->kind == TD_T_INDEX) {
    TdTraceCell cell = {.what = TD_TRACE_OPERATOR, .op = e->op, .type = to, .bits = to->w};
    v = opaque(t, what_of(OPAQUE, e->op, to, 0), x, e->nkid, cell);
    return e->op == TD_OP_FLOORDIV || e->op == TD_OP_MOD ? divided(t, (TdOp)e->op, v, x) : v;
  }
  const char *key = key_of(e, type, x);
  int bits = bits_of(e, type, want);
  if (key && (e->op == TD_OP_MUL || e->op == TD_OP_FMA)) t->multiplies++;
  TdOperator op = key ? td_target_operator(t->target, key, type, bits) : (TdOperator){0};
  TdTraceCell cell = {.what = TD_TRACE_OPERATOR, .op = e->op, .type = to};
  cell.bits = to->w < want ? to->w : want;
  return apply(t, op, what_of(OPERATOR, e->op, to, want), x, e->nkid, cell);
}

TdTraceValue td_trace_parameter(TdTrace *t, TdSym sym, const TdType *type) {
  TdTraceCell cell = {.what = TD_TRACE_PARAMETER, .type = type, .sym = sym};
  return apply(t, (TdOperator){0}, what_of(CONSTANT, td_map_mix(sym->id, 1), type, 1), NULL, 0,
               cell);
}

TdTraceValue td_trace_literal(TdTrace *t, const TdType *type, uint64_t bits) {
  bool whole = td_type_is_integer(type) || type->kind == TD_T_INDEX || type->kind == TD_T_BOOL;
  bool fits = type->kind != TD_T_UINT || type->w < 64 || (int64_t)bits >= 0;
  if (whole && fits) return td_trace_const((int64_t)bits);
  TdTraceCell cell = {.what = TD_TRACE_LITERAL, .type = type, .literal = bits};
  return apply(t, (TdOperator){0}, what_of(CONSTANT, bits, type, 0), NULL, 0, cell);
}

TdTraceValue td_trace_first_term(TdTrace *t, TdOp op, const TdType *type, TdTraceValue x) {
  if (op != TD_OP_ADD || type->kind != TD_T_FLOAT || x.affine) return x;
  TdTraceCell cell = {.what = TD_TRACE_FROM_ZERO, .type = type, .bits = type->w};
  return apply(t, (TdOperator){0}, what_of(FROM_ZERO, 0, type, type->w), &x, 1, cell);
}

/* The cost key of a conversion; NULL when wires do it. */
static const char *conversion(const TdType *to, const TdType *from) {
  bool real = to->kind == TD_T_FLOAT, was = from->kind == TD_T_FLOAT;
  if (real && was) return to == from ? NULL : "ftof";
  if (real) return "itof";
  if (was) return "ftoi";
  return to->saturate && !td_promote_holds(to, from) ? "cmp" : NULL;
}

/* Whether an affine value is one of integer type t. */
static bool is_held(TdTrace *t, const TdType *type, TdTraceValue x) {
  int64_t lo, hi, most = type->w < 63 ? (INT64_C(1) << (type->w - td_type_is_signed(type))) : 0;
  if (!x.affine || type->kind == TD_T_BOOL || !td_trace_range(t, x.form, &lo, &hi)) return false;
  if (!most) return lo >= 0 || td_type_is_signed(type);
  return lo >= (td_type_is_signed(type) ? -most : 0) && hi < most;
}

TdTraceValue td_trace_cast(TdTrace *t, const TdExpr *e, TdTraceValue x) {
  const TdType *to = td_type_scalar(e->type), *from = td_type_scalar(e->kid[0]->type);
  bool index = to->kind == TD_T_INDEX || from->kind == TD_T_INDEX;
  bool whole = (td_type_is_integer(to) || index) && (td_type_is_integer(from) || index);
  whole = whole && !td_type_is_fixed(to) && !td_type_is_fixed(from);
  bool keeps = to->kind == TD_T_INDEX || td_promote_holds(to, from);
  int64_t c;
  if (whole && (keeps || is_held(t, to, x))) return x;
  const char *key = is_const(x, &c) ? NULL : conversion(to, from);
  const TdType *type = from->kind != TD_T_FLOAT && to->kind == TD_T_FLOAT ? to : from;
  TdOperator op = key ? td_target_operator(t->target, key, type, type->w) : (TdOperator){0};
  TdTraceCell cell = {.what = TD_TRACE_CONVERT, .type = to, .bits = to->w};
  return apply(t, op, what_of(CONVERSION, 0, to, 0), &x, 1, cell);
}

TdTraceValue td_trace_mux(TdTrace *t, uint32_t cond, TdTraceValue x, TdTraceValue y,
                          const TdType *type) {
  TdOperator op = td_target_operator(t->target, "mux", type, type->w);
  TdTraceValue part[] = {td_trace_node(cond), x, y};
  TdTraceCell cell = {.what = TD_TRACE_CHOOSE, .type = type, .bits = type->w};
  return apply(t, op, what_of(CHOICE, 0, type, 0), part, 3, cell);
}

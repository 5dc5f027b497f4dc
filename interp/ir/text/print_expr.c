/* print_expr.c - expressions as Lua. A literal prints bare only where the loader would give it the
 * same type back. */
#include <string.h>

#include "ir/num/num.h"
#include "ir/text/printer.h"

enum { PREC_UNARY = 11 };

const char *const td_printer_words[TD_PRINTER_WORDS] = {"i8",   "i16", "i32", "i64",  "u8",
                                                        "u16",  "u32", "u64", "bool", "f16",
                                                        "bf16", "f32", "f64", "index"};

static void put(TdPrinter *p, const TdExpr *e, int prec, const TdType *beside);

/* Which word of the printed form the n bytes at s are, or -1. */
static int word_at(const char *s, size_t n) {
  for (int i = 0; i < TD_PRINTER_WORDS; i++)
    if (strlen(td_printer_words[i]) == n && strncmp(td_printer_words[i], s, n) == 0) return i;
  return -1;
}

void td_printer_type(TdPrinter *p, const TdType *t) {
  TdText s = td_text_new(p->out->arena);
  td_type_print(&s, t);
  const char *at = td_text_str(&s), *letters = "abcdefghijklmnopqrstuvwxyz0123456789_";
  for (size_t n; *at; at += n ? n : 1) {
    n = strspn(at, letters);
    int word = word_at(at, n);
    bool hidden = word >= 0 && (p->hidden >> word & 1);
    if (hidden) td_text_puts(p->out, "tide.");
    if (word >= 0 && !hidden) p->words |= 1u << word;
    td_text_putn(p->out, at, n ? n : 1);
  }
}

bool td_printer_is_plain(const TdType *t, uint64_t bits) {
  if (t->kind != TD_T_FIXED && t->kind != TD_T_UFIXED) return true;
  static const TdType number = {.kind = TD_T_FLOAT, .w = 64};
  TdFault fault = TD_FAULT_NONE;
  double x = td_num_to_double(t, bits);
  return td_num_cast(t, &number, td_num_of_double(x), &fault) == bits;
}

void td_printer_number(TdPrinter *p, const TdType *t, uint64_t bits) {
  bool integer = t->kind == TD_T_INT || t->kind == TD_T_UINT || t->kind == TD_T_INDEX;
  bool beyond = t->kind == TD_T_UINT ? bits >> 63 : bits == (uint64_t)1 << 63;
  if (integer && beyond)
    td_text_putf(p->out, "0x%016llx", (unsigned long long)bits);
  else
    td_num_print(p->out, t, bits);
}

/* Whether a word of fixed point is an integer, which a bare literal can be. */
static bool is_whole_number(const TdType *t, uint64_t bits) {
  bool whole = t->f <= 0 || (t->f < 64 ? bits << (64 - t->f) == 0 : bits == 0);
  return whole && td_printer_is_plain(t, bits);
}

/* Whether a bare number where `beside` is expected (NULL: by itself) loads back as this literal. */
static bool bare_ok(const TdExpr *e, const TdType *beside) {
  const TdType *t = e->type;
  switch (t->kind) {
  case TD_T_BOOL: return true;
  case TD_T_FLOAT: return beside ? beside == t : t->w == 32;
  case TD_T_INDEX: return beside && beside->kind == TD_T_INDEX;
  case TD_T_INT: return beside ? beside == t : td_promote_is_least(t, e->u.bits);
  case TD_T_UINT:
    return beside ? beside == t : !(e->u.bits >> 63) && td_promote_is_least(t, e->u.bits);
  default: return beside == t && is_whole_number(t, e->u.bits);
  }
}

/* A word of fixed point that no Lua number holds, by its bits. */
static void put_word(TdPrinter *p, const TdExpr *e) {
  const char *kind = e->type->kind == TD_T_FIXED ? "int" : "uint";
  td_text_puts(p->out, "tide.bitcast(");
  td_printer_type(p, e->type);
  td_text_putf(p->out, ", tide.%s(%d)(0x%016llx))", kind, e->type->w,
               (unsigned long long)e->u.bits);
}

void td_printer_literal(TdPrinter *p, const TdExpr *e, bool bare) {
  if (!td_printer_is_plain(e->type, e->u.bits)) {
    put_word(p, e);
    return;
  }
  if (!bare) {
    td_printer_type(p, e->type);
    td_text_putc(p->out, '(');
  }
  td_printer_number(p, e->type, e->u.bits);
  if (!bare) td_text_putc(p->out, ')');
}

static bool is_shift(const TdExpr *e) {
  return e->op == TD_OP_SHL || e->op == TD_OP_SHR || e->op == TD_OP_ASR;
}

/* The type of a float or index beside operand i of e, which a bare literal there takes; NULL if
 * there is none. */
static const TdType *type_beside(const TdExpr *e, uint32_t i) {
  if (is_shift(e)) return NULL;
  if (e->op == TD_OP_GETBITS || e->op == TD_OP_SETBITS) {
    bool position = i == 1 || i == 2;
    return position && e->kid[i]->type->kind == TD_T_INDEX ? e->kid[i]->type : NULL;
  }
  for (uint32_t k = e->op == TD_OP_SELECT ? 1 : 0; k < e->nkid; k++) {
    const TdType *t = td_type_scalar(e->kid[k]->type);
    if (k == i || e->kid[k]->kind == TD_EXPR_LIT) continue;
    if (t->kind == TD_T_FLOAT || t->kind == TD_T_INDEX) return t;
  }
  return NULL;
}

static bool all_literals(const TdExpr *e) {
  for (uint32_t k = 0; k < e->nkid; k++)
    if (e->kid[k]->kind != TD_EXPR_LIT) return false;
  return true;
}

/* Whether a literal beside operand i of e spells a type that a bare one there would take. */
static bool is_beside_typed(const TdExpr *e, uint32_t i) {
  if (is_shift(e) || e->op == TD_OP_GETBITS || e->op == TD_OP_SETBITS) return false;
  for (uint32_t k = e->op == TD_OP_SELECT ? 1 : 0; k < e->nkid; k++) {
    TdTypeKind kind = e->kid[k]->type->kind;
    if (k == i || e->kid[k]->kind != TD_EXPR_LIT || bare_ok(e->kid[k], NULL)) continue;
    if (kind == TD_T_FLOAT || kind == TD_T_INDEX) return true;
  }
  return false;
}

/* Operand i; an operator on literals alone (one that could not be folded) spells their types. */
static void put_operand(TdPrinter *p, const TdExpr *e, uint32_t i, int prec) {
  const TdExpr *kid = e->kid[i];
  const TdType *beside = type_beside(e, i);
  bool known =
      all_literals(e) || (td_ops[e->op].lazy && i == 0) || (!beside && is_beside_typed(e, i));
  bool shifted =
      e->op == TD_OP_SHL && i == 0 && (e->kid[1]->kind != TD_EXPR_LIT || !bare_ok(e->kid[1], NULL));
  if (kid->kind == TD_EXPR_LIT && shifted)
    td_printer_literal(p, kid, td_promote_is_shifted(kid->type, kid->u.bits));
  else if (kid->kind == TD_EXPR_LIT && known)
    td_printer_literal(p, kid, false);
  else
    put(p, kid, prec, beside);
}

static void put_infix(TdPrinter *p, const TdExpr *e, int prec) {
  const TdOpInfo *op = &td_ops[e->op];
  bool paren = op->prec < prec;
  if (paren) td_text_putc(p->out, '(');
  put_operand(p, e, 0, op->rule == TD_RULE_COMPARE ? op->prec + 1 : op->prec);
  td_text_putf(p->out, " %s ", op->lua);
  put_operand(p, e, 1, op->prec + 1);
  if (paren) td_text_putc(p->out, ')');
}

/* A minus before a minus would start a comment, so it is parenthesised. */
static void put_prefix(TdPrinter *p, const TdExpr *e, int prec) {
  bool paren = PREC_UNARY < prec;
  TdText inner = td_text_new(p->out->arena), *out = p->out;
  size_t first = td_printer_marks(p);
  p->out = &inner;
  put_operand(p, e, 0, PREC_UNARY);
  p->out = out;
  bool clash = e->op == TD_OP_NEG && inner.n && inner.at[0] == '-';
  td_text_putf(out, "%s%s%s%s", paren ? "(" : "", td_ops[e->op].lua, e->op == TD_OP_NOT ? " " : "",
               clash ? "(" : "");
  td_printer_move_marks(p, first, out->n);
  td_text_putf(out, "%s%s", td_text_str(&inner), clash ? ")" : "");
  if (paren) td_text_putc(out, ')');
}

static void put_call(TdPrinter *p, const TdExpr *e) {
  td_text_putf(p->out, "tide.%s(", td_ops[e->op].lua);
  if (e->op == TD_OP_BITCAST) {
    td_printer_type(p, e->type);
    td_text_puts(p->out, ", ");
  }
  for (uint32_t i = 0; i < e->nkid; i++) {
    if (i) td_text_puts(p->out, ", ");
    put_operand(p, e, i, 0);
  }
  td_text_putc(p->out, ')');
}

void td_printer_index(TdPrinter *p, const TdExpr *e) {
  put(p, e, 0, e->type->kind == TD_T_INDEX ? e->type : NULL);
}

static void put_brackets(TdPrinter *p, const TdExpr *e, uint32_t n) {
  td_text_puts(p->out, e->sym->name);
  for (uint32_t i = 0; i < n; i++) {
    td_text_putc(p->out, '[');
    td_printer_index(p, e->kid[i]);
    td_text_putc(p->out, ']');
  }
}

static const TdExpr *view_extent(const TdExpr *v, uint32_t d) {
  return v->type->dim[v->u.dim[d].out];
}

/* Whether dimension d of view v takes all of its base. */
static bool is_whole(const TdExpr *v, uint32_t d, const TdType *base) {
  int64_t lo;
  return v->u.dim[d].out >= 0 && v->u.dim[d].step == 1 && td_expr_is_const(v->kid[d], &lo) &&
         lo == 0 && base && base->dim[d] == view_extent(v, d);
}

/* "{lo, hi}" or "{lo, hi, step}" with hi just past the last element; an end that is not affine
 * prints as a sum. */
static void put_range(TdPrinter *p, const TdExpr *v, uint32_t d) {
  TdArena *a = p->out->arena;
  const TdExpr *n = view_extent(v, d), *lo = v->kid[d];
  int64_t step = v->u.dim[d].step, k;
  const TdType *index = n->type;
  TdLoc none = {0};
  const TdExpr *span = n;
  if (step != 1) {
    const TdExpr *minus =
        td_expr_op2(a, TD_OP_MUL, index, n, td_expr_lit(a, index, (uint64_t)step, none));
    span =
        td_expr_op2(a, TD_OP_ADD, index, minus, td_expr_lit(a, index, (uint64_t)(1 - step), none));
  }
  const TdExpr *hi = td_expr_op2(a, TD_OP_ADD, index, lo, span);
  if (td_expr_is_const(lo, &k) && k == 0) hi = span;
  td_text_putc(p->out, '{');
  td_printer_index(p, lo);
  td_text_puts(p->out, ", ");
  td_printer_index(p, p->session ? td_lin_simplify(p->session, a, hi) : hi);
  if (step != 1) td_text_putf(p->out, ", %lld", (long long)step);
  td_text_putc(p->out, '}');
}

/* `A`, `A[i]`, `A:slice(i, {lo, hi}, {})`, each perhaps transposed. */
static void put_view(TdPrinter *p, const TdExpr *v) {
  const TdType *base = td_map_getp(&p->type, v->sym);
  uint32_t fixed = 0;
  while (fixed < v->nkid && v->u.dim[fixed].out < 0) fixed++;
  bool simple = true, reversed = false;
  for (uint32_t d = fixed, last = 0; d < v->nkid; d++) {
    simple &= is_whole(v, d, base);
    if (v->u.dim[d].out < 0) continue;
    reversed |= d > fixed && (uint32_t)v->u.dim[d].out < last;
    last = (uint32_t)v->u.dim[d].out;
  }
  if (simple || v->type->kind == TD_T_PORT) {
    put_brackets(p, v, fixed);
  } else {
    td_text_putf(p->out, "%s:slice(", v->sym->name);
    for (uint32_t d = 0; d < v->nkid; d++) {
      if (d) td_text_puts(p->out, ", ");
      if (v->u.dim[d].out < 0)
        td_printer_index(p, v->kid[d]);
      else if (is_whole(v, d, base))
        td_text_puts(p->out, "{}");
      else
        put_range(p, v, d);
    }
    td_text_putc(p->out, ')');
  }
  if (reversed) td_text_puts(p->out, ":transpose()");
}

/* The accumulator type that matmul and reduce use when none is given. */
static const TdType *default_acc(const TdPrinter *p, const TdExpr *e) {
  return p->session ? td_promote_accumulator(p->session, td_type_scalar(e->kid[0]->type)) : NULL;
}

static void put_tensor_op(TdPrinter *p, const TdExpr *e) {
  td_text_putf(p->out, "tide.%s(", td_ops[e->op].lua);
  for (uint32_t i = 0; i < e->nkid; i++) {
    if (i) td_text_puts(p->out, ", ");
    put(p, e->kid[i], 0, NULL);
  }
  if (e->op != TD_OP_MATMUL) td_text_putf(p->out, ", \"%s\"", td_ops[e->reduce].lua);
  if (e->op == TD_OP_REDUCE) td_text_putf(p->out, ", %d", e->axis);
  const TdType *acc = td_type_scalar(e->type);
  if (e->op != TD_OP_ALLREDUCE && acc != default_acc(p, e)) {
    td_text_puts(p->out, ", {acc = ");
    td_printer_type(p, acc);
    td_text_putc(p->out, '}');
  }
  td_text_putc(p->out, ')');
}

/* A conversion. A bare float in it would take a type by what it is converted to. */
static void put_cast(TdPrinter *p, const TdExpr *e, int prec, const TdType *beside) {
  if (e->implicit) {
    put(p, e->kid[0], prec, beside);
    return;
  }
  td_printer_type(p, e->type);
  td_text_putc(p->out, '(');
  if (e->kid[0]->kind == TD_EXPR_LIT && e->kid[0]->type->kind == TD_T_FLOAT)
    td_printer_literal(p, e->kid[0], false);
  else
    put(p, e->kid[0], 0, NULL);
  td_text_putc(p->out, ')');
}

static void put_op(TdPrinter *p, const TdExpr *e, int prec) {
  switch (td_ops[e->op].form) {
  case TD_FORM_INFIX: put_infix(p, e, prec); break;
  case TD_FORM_PREFIX: put_prefix(p, e, prec); break;
  default: put_call(p, e);
  }
}

static void put(TdPrinter *p, const TdExpr *e, int prec, const TdType *beside) {
  size_t from = p->out->n;
  switch ((TdExprKind)e->kind) {
  case TD_EXPR_LIT: td_printer_literal(p, e, bare_ok(e, beside)); break;
  case TD_EXPR_SIZE: td_text_puts(p->out, e->u.name); break;
  case TD_EXPR_VAR: td_text_puts(p->out, e->sym->name); break;
  case TD_EXPR_LOAD: put_brackets(p, e, e->nkid); break;
  case TD_EXPR_OP: put_op(p, e, prec); break;
  case TD_EXPR_CAST: put_cast(p, e, prec, beside); break;
  case TD_EXPR_VIEW: put_view(p, e); break;
  case TD_EXPR_TENSOR: put_tensor_op(p, e); break;
  case TD_EXPR_KINDS: break;
  }
  td_printer_mark(p, TD_PRINT_EXPR, from, NULL, e->type, e->loc);
}

void td_printer_expr(TdPrinter *p, const TdExpr *e, const TdType *beside) {
  put(p, e, 0, beside);
}

void td_print_expr(TdText *out, const TdExpr *e) {
  TdPrinter p = {.out = out};
  put(&p, e, 0, NULL);
}

const char *td_print_expr_str(TdArena *a, const TdExpr *e) {
  TdText t = td_text_new(a);
  td_print_expr(&t, e);
  return td_text_str(&t);
}

/* print.c - prints trees of MLIR, one operation a line: in generic form what has no other. */
#include <math.h>
#include <string.h>

#include "backends/npu/mlir/pretty.h"

/* The types, parenthesised. */
static void types(TdText *out, const TdMlirType *const *at, size_t n, TdMlirForm form) {
  td_text_putc(out, '(');
  for (size_t i = 0; i < n; i++) {
    if (i) td_text_puts(out, ", ");
    td_mlir_print_type(out, at[i], form);
  }
  td_text_putc(out, ')');
}

/* What stands behind the arrow: one type bare, unless it is a function's. */
static void results(TdText *out, const TdMlirType *const *at, size_t n, TdMlirForm form) {
  td_text_puts(out, " -> ");
  if (n == 1 && at[0]->kind != TD_MLIR_FUNCTION)
    td_mlir_print_type(out, at[0], form);
  else
    types(out, at, n, form);
}

void td_mlir_print_type(TdText *out, const TdMlirType *t, TdMlirForm form) {
  if (t->kind == TD_MLIR_FUNCTION) {
    types(out, t->in, t->nin, form);
    results(out, t->out, t->nout, form);
    return;
  }
  if (t->kind == TD_MLIR_DIALECT) td_text_putc(out, '!');
  td_text_puts(out, t->name);
  if (form == TD_MLIR_CHECK && strcmp(t->name, "aie.objectfifo") == 0) td_text_puts(out, "_t");
  if (!t->nin) return;
  td_text_putc(out, '<');
  for (size_t i = 0; i < t->rank; i++) {
    if (t->shape[i] < 0)
      td_text_puts(out, "?x");
    else
      td_text_putf(out, "%lldx", (long long)t->shape[i]);
  }
  for (size_t i = 0; i < t->nin; i++) {
    if (i) td_text_puts(out, ", ");
    td_mlir_print_type(out, t->in[i], form);
  }
  td_text_putc(out, '>');
}

/* Bytes between quotes: what is no plain letter as two hexadecimal digits. */
static void string(TdText *out, const char *s, size_t n) {
  td_text_putc(out, '"');
  for (size_t i = 0; i < n; i++) {
    unsigned char c = (unsigned char)s[i];
    if (c == '\\')
      td_text_puts(out, "\\\\");
    else if (c < 32 || c > 126 || c == '"')
      td_text_putf(out, "\\%02X", c);
    else
      td_text_putc(out, (char)c);
  }
  td_text_putc(out, '"');
}

void td_mlir_print_symbol(TdText *out, const char *s, size_t n) {
  bool plain = n && !(s[0] >= '0' && s[0] <= '9');
  for (size_t i = 0; i < n; i++)
    plain &=
        s[i] == '_' || (s[i] >= '0' && s[i] <= '9') || ((s[i] | 32) >= 'a' && (s[i] | 32) <= 'z');
  td_text_putc(out, '@');
  if (plain)
    td_text_putn(out, s, n);
  else
    string(out, s, n);
}

/* The bits of an infinity or of no number in a float of that type. */
static uint64_t special(double f, const TdMlirType *t) {
  static const struct {
    const char *name;
    int exponent, fraction;
  } form[] = {{"bf16", 8, 7}, {"f16", 5, 10}, {"f32", 8, 23}, {"f64", 11, 52}};
  size_t i = 0;
  while (i < 3 && strcmp(form[i].name, t->name) != 0) i++;
  uint64_t bits = (((uint64_t)1 << form[i].exponent) - 1) << form[i].fraction;
  if (isnan(f)) bits |= (uint64_t)1 << (form[i].fraction - 1);
  return signbit(f) && !isnan(f) ? bits | (uint64_t)1 << (t->width - 1) : bits;
}

/* A float as MLIR spells it: with a point, or its bits. */
static void real(TdText *out, double f, const TdMlirType *t) {
  if (isnan(f) || isinf(f)) {
    td_text_putf(out, "0x%0*llX", t->width / 4, (unsigned long long)special(f, t));
    return;
  }
  TdText x = td_text_new(out->arena);
  td_text_put_double(&x, f);
  const char *s = td_text_str(&x), *e = strchr(s, 'e');
  size_t n = e ? (size_t)(e - s) : strlen(s);
  td_text_putn(out, s, n);
  if (!memchr(s, '.', n)) td_text_puts(out, ".0");
  if (e) td_text_puts(out, e);
}

/* The elements of dense<..>, nested as its shape is. */
static size_t elements(TdText *out, const TdMlirAttr *a, size_t level, size_t k) {
  const TdMlirType *t = a->type;
  if (a->n == 1 || level == t->rank) {
    if (a->real)
      real(out, a->real[k], t->in[0]);
    else
      td_text_putf(out, "%lld", (long long)a->num[k]);
    return k + 1;
  }
  td_text_putc(out, '[');
  for (int64_t i = 0; i < t->shape[level]; i++) {
    if (i) td_text_puts(out, ", ");
    k = elements(out, a, level + 1, k);
  }
  td_text_putc(out, ']');
  return k;
}

void td_mlir_print_dims(TdText *out, const TdMlirAttr *a, TdMlirForm form) {
  td_text_putc(out, '[');
  for (size_t i = 0; i + 1 < a->n; i += 2)
    td_text_putf(
        out, form == TD_MLIR_CHECK ? "%sarray<i64: %lld, %lld>" : "%s<size = %lld, stride = %lld>",
        i ? ", " : "", (long long)a->num[i], (long long)a->num[i + 1]);
  td_text_putc(out, ']');
}

/* The attributes of a list between brackets, 64-bit integers without their type. */
static void list(TdText *out, const TdMlirAttr *a, TdMlirForm form) {
  td_text_putc(out, '[');
  for (size_t i = 0; i < a->n; i++) {
    const TdMlirAttr *x = a->at[i];
    if (i) td_text_puts(out, ", ");
    if (x->kind == TD_MLIR_A_INT && strcmp(x->type->name, "i64") == 0)
      td_text_putf(out, "%lld", (long long)x->i);
    else if (a->kind == TD_MLIR_A_DIMS_LIST)
      td_mlir_print_dims(out, x, form);
    else
      td_mlir_print_attr(out, x, form);
  }
  td_text_putc(out, ']');
}

/* array<type: ..> */
static void ints(TdText *out, const TdMlirAttr *a) {
  td_text_putf(out, "array<%s", a->type->name);
  for (size_t i = 0; i < a->n; i++)
    td_text_putf(out, "%s%lld", i ? ", " : ": ", (long long)a->num[i]);
  td_text_putc(out, '>');
}

void td_mlir_print_attr(TdText *out, const TdMlirAttr *a, TdMlirForm form) {
  bool own = form != TD_MLIR_CHECK;
  switch (a->kind) {
  case TD_MLIR_A_INT: td_text_putf(out, "%lld : %s", (long long)a->i, a->type->name); break;
  case TD_MLIR_A_FLOAT:
    real(out, a->f, a->type);
    td_text_putf(out, " : %s", a->type->name);
    break;
  case TD_MLIR_A_BOOL: td_text_puts(out, a->i ? "true" : "false"); break;
  case TD_MLIR_A_UNIT: td_text_puts(out, "unit"); break;
  case TD_MLIR_A_STRING: string(out, a->s, a->n); break;
  case TD_MLIR_A_SYMBOL: td_mlir_print_symbol(out, a->s, a->n); break;
  case TD_MLIR_A_TYPE: td_mlir_print_type(out, a->type, form); break;
  case TD_MLIR_A_ARRAY: list(out, a, form); break;
  case TD_MLIR_A_INTS: ints(out, a); break;
  case TD_MLIR_A_DENSE:
    td_text_puts(out, "dense<");
    if (a->n) elements(out, a, 0, 0);
    td_text_puts(out, "> : ");
    td_mlir_print_type(out, a->type, form);
    break;
  case TD_MLIR_A_DIMS:
    if (own) td_text_puts(out, "#aie<bd_dim_layout_array");
    td_mlir_print_dims(out, a, form);
    if (own) td_text_putc(out, '>');
    break;
  case TD_MLIR_A_DIMS_LIST:
    if (own) td_text_puts(out, "#aie<bd_dim_layout_array_array");
    list(out, a, form);
    if (own) td_text_putc(out, '>');
    break;
  }
}

/* ---- operations ---- */

static void indent(TdText *out, int depth) {
  for (int i = 0; i < depth; i++) td_text_puts(out, "  ");
}

/* The values' names, or their types, separated by commas. */
static void values(TdText *out, TdMlirValue *const *at, size_t n) {
  for (size_t i = 0; i < n; i++) td_text_putf(out, "%s%%%s", i ? ", " : "", at[i]->name);
}

static void attributes(TdText *out, const TdMlirOp *op, TdMlirForm form) {
  if (!op->attr.n) return;
  td_text_puts(out, form == TD_MLIR_CHECK ? " {" : " <{");
  for (size_t i = 0; i < op->attr.n; i++) {
    if (i) td_text_puts(out, ", ");
    td_text_putf(out, "%s", op->attr.at[i].name);
    if (op->attr.at[i].attr->kind == TD_MLIR_A_UNIT) continue;
    td_text_puts(out, " = ");
    td_mlir_print_attr(out, op->attr.at[i].attr, form);
  }
  td_text_puts(out, form == TD_MLIR_CHECK ? "}" : "}>");
}

static void successors(TdText *out, const TdMlirOp *op) {
  if (!op->successor.n) return;
  td_text_putc(out, '[');
  for (size_t i = 0; i < op->successor.n; i++)
    td_text_putf(out, "%s^%s", i ? ", " : "", op->successor.at[i]->label);
  td_text_putc(out, ']');
}

/* The function type of an operation and the end of its line. */
static void signature(TdText *out, const TdMlirOp *op, TdMlirForm form) {
  const TdMlirType **in = TD_NEWN(out->arena, const TdMlirType *, op->operand.n + 1);
  const TdMlirType **res = TD_NEWN(out->arena, const TdMlirType *, op->result.n + 1);
  for (size_t i = 0; i < op->operand.n; i++) in[i] = op->operand.at[i]->type;
  for (size_t i = 0; i < op->result.n; i++) res[i] = op->result.at[i]->type;
  td_text_puts(out, " : ");
  types(out, in, op->operand.n, form);
  results(out, res, op->result.n, form);
}

static void print_op(TdText *out, const TdMlirOp *op, TdMlirForm form, int depth);

void td_mlir_print_block(TdText *out, const TdMlirBlock *b, TdMlirForm form, int depth, bool label,
                         bool last) {
  if (label) {
    indent(out, depth);
    td_text_putf(out, "^%s", b->label ? b->label : "bb0");
    if (b->arg.n) td_text_putc(out, '(');
    for (size_t k = 0; k < b->arg.n; k++) {
      td_text_putf(out, "%s%%%s: ", k ? ", " : "", b->arg.at[k]->name);
      td_mlir_print_type(out, b->arg.at[k]->type, form);
    }
    td_text_puts(out, b->arg.n ? "):\n" : ":\n");
  }
  for (size_t k = 0; k + !last < b->op.n; k++) print_op(out, b->op.at[k], form, depth + 1);
}

static void print_region(TdText *out, const TdMlirRegion *r, TdMlirForm form, int depth) {
  for (size_t i = 0; i < r->block.n; i++) {
    const TdMlirBlock *b = r->block.at[i];
    td_mlir_print_block(out, b, form, depth, i || b->arg.n || b->label, true);
  }
}

static bool is(const TdMlirOp *op, const char *name) {
  return strcmp(op->name, name) == 0;
}

/* In check form: a terminator that stands for what ends a block, where IRDL has none. */
static void terminate(TdText *out, const TdMlirOp *op) {
  if (is(op, "aie.end")) td_text_puts(out, " \"llvm.unreachable\"() : () -> ()");
  if (is(op, "aie.next_bd")) {
    td_text_puts(out, " \"cf.br\"()");
    successors(out, op);
    td_text_puts(out, " : () -> ()");
  }
  if (is(op, "aie.dma_start") && op->result.n) {
    td_text_putf(out, " \"cf.cond_br\"(%%%s)", op->result.at[0]->name);
    successors(out, op);
    td_text_puts(out, " {operandSegmentSizes = array<i32: 1, 0, 0>} : (i1) -> ()");
  }
}

/* The regions of an operation; in check form the body of a device is a symbol table of its own. */
static void regions(TdText *out, const TdMlirOp *op, TdMlirForm form, int depth) {
  static const char end[] = "\"llvm.unreachable\"() : () -> ()\n";
  bool check = form == TD_MLIR_CHECK;
  td_text_puts(out, " (");
  for (size_t i = 0; i < op->region.n; i++) {
    td_text_puts(out, i ? ", {" : "{");
    if (check && is(op, "aie.device")) td_text_puts(out, " \"builtin.module\"() ({");
    td_text_putc(out, '\n');
    print_region(out, op->region.at[i], form, depth);
    if (check && (is(op, "aie.runtime_sequence") || is(op, "aiex.runtime_sequence") ||
                  is(op, "aiex.configure"))) {
      const TdMlirBlock *b = td_mlir_body(op);
      if (!b || !b->op.n || !is(b->op.at[b->op.n - 1], "aie.end")) td_text_puts(out, end);
    }
    indent(out, depth);
    if (check && is(op, "aie.device")) td_text_putf(out, "}) : () -> () %s", end);
    td_text_putc(out, '}');
  }
  td_text_putc(out, ')');
}

/* In check form, the run of a sequence: one for each argument, as IRDL gives operands of any number
 * one type. */
static void print_run(TdText *out, const TdMlirOp *op, int depth) {
  for (size_t i = 0; i < op->operand.n; i++) {
    indent(out, depth);
    td_text_putf(out, "\"%s\"(%%%s)", op->name, op->operand.at[i]->name);
    attributes(out, op, TD_MLIR_CHECK);
    td_text_puts(out, " : (");
    td_mlir_print_type(out, op->operand.at[i]->type, TD_MLIR_CHECK);
    td_text_puts(out, ") -> ()\n");
  }
}

static void print_op(TdText *out, const TdMlirOp *op, TdMlirForm form, int depth) {
  bool check = form == TD_MLIR_CHECK;
  if (check && is(op, "aiex.run")) {
    print_run(out, op, depth);
    return;
  }
  bool moved = check && (is(op, "aie.dma_start") || is(op, "aie.next_bd"));
  indent(out, depth);
  if (form >= TD_MLIR_PRETTY && td_mlir_pretty_op(out, op, form, depth)) return;
  values(out, op->result.at, op->result.n);
  td_text_putf(out, "%s\"%s\"(", op->result.n ? " = " : "", op->name);
  values(out, op->operand.at, op->operand.n);
  td_text_putc(out, ')');
  if (!moved) successors(out, op);
  if (!check) attributes(out, op, form);
  if (op->region.n) regions(out, op, form, depth);
  if (check) attributes(out, op, form);
  signature(out, op, form);
  if (check) terminate(out, op);
  td_text_putc(out, '\n');
}

void td_mlir_print(TdText *out, const TdMlir *m, TdMlirForm form) {
  print_op(out, m->module, form, 0);
}

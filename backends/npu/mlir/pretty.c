/* pretty.c - prints operations as dialect.def spells them. An operation of which no row says
 * all that it has is printed in generic form, which readers of MLIR take anywhere. */
#include "backends/npu/mlir/pretty.h"

#include <stdlib.h>
#include <string.h>

/* ---- whether a row says all ---- */

typedef struct Fit {
  const TdMlirOp *op;
  int version;
  size_t told, operands, successors; /* attributes; operands and successors */
  bool dict, result, body;
} Fit;

static bool is(const TdSpelled *x, const char *kind) {
  return strcmp(x->kind, kind) == 0;
}

/* Whether an operation has an attribute of that name, kind and, unless "", type. */
static bool has(Fit *f, const TdSpelled *x, TdMlirAttrKind kind, const char *type) {
  const TdMlirAttr *a = td_mlir_get(f->op, x->name);
  f->told++;
  return a && a->kind == kind && (!*type || strcmp(a->type->name, type) == 0);
}

/* The like of `has` for one that may be missing. */
static bool may_have(Fit *f, const TdSpelled *x, TdMlirAttrKind kind) {
  return !td_mlir_get(f->op, x->name) || has(f, x, kind, "");
}

static bool fits_word(Fit *f, const TdSpelled *x) {
  const char *table = *x->more[1] ? x->more[1] : x->name;
  return has(f, x, TD_MLIR_A_INT, x->more[0]) &&
         td_spelling_word(f->version, table, td_mlir_get(f->op, x->name)->i);
}

/* Whether a body is one block that ends as its row leaves out, or any blocks that have operations
 * and of which the first has no arguments that are not told. */
static bool fits_body(Fit *f, const TdSpelled *x) {
  const TdMlirRegion *r = f->op->region.n == 1 ? f->op->region.at[0] : NULL;
  bool told = f->body;
  f->body = true;
  if (!r || !r->block.n) return false;
  const TdMlirBlock *b = r->block.at[0];
  if ((!told && b->arg.n) || (!b->op.n && !b->arg.n)) return false;
  if (!*x->name) return true;
  const TdMlirOp *last = r->block.n == 1 && b->op.n ? b->op.at[b->op.n - 1] : NULL;
  return last && strcmp(last->name, x->name) == 0 && !last->attr.n && !last->operand.n &&
         !last->result.n && !last->region.n;
}

/* The block whose arguments a row tells. */
static bool fits_arguments(Fit *f, const TdSpelled *x) {
  const TdMlirBlock *b = td_mlir_body(f->op);
  f->body = true;
  if (!b || b->op.n == 0) return false;
  return is(x, "args") || (b->arg.n == 1 && strcmp(b->arg.at[0]->type->name, x->name) == 0);
}

static bool fits_set(Fit *f, const TdSpelled *x, const char *end) {
  int64_t want[TD_SPELLED_SET];
  size_t n = td_spelling_set(x, end, want);
  if (!has(f, x, TD_MLIR_A_INTS, "i32")) return false;
  const TdMlirAttr *a = td_mlir_get(f->op, x->name);
  return a->n == n && memcmp(a->num, want, n * sizeof *want) == 0;
}

static bool fits_const(Fit *f, const TdSpelled *x) {
  if (!has(f, x, TD_MLIR_A_STRING, "")) return false;
  const TdMlirAttr *a = td_mlir_get(f->op, x->name);
  return strcmp(a->s, x->more[0]) == 0;
}

/* The result's type as a row has it without writing it. */
static bool fits_result(Fit *f, const TdSpelled *x) {
  const TdMlirOp *op = f->op;
  const TdMlirAttr *a = td_mlir_get(op, x->name);
  f->result = true;
  if (is(x, "types")) return true;
  if (op->result.n != 1) return false;
  const TdMlirType *t = op->result.at[0]->type;
  if (is(x, "is")) return strcmp(t->name, x->name) == 0;
  if (is(x, "same")) return op->operand.n && td_mlir_same_type(t, op->operand.at[0]->type);
  if (is(x, "of")) return a && a->type && td_mlir_same_type(t, a->type);
  return true;
}

/* A symbol's text without zero bytes or anything that quotes change. */
static bool fits_string(Fit *f, const TdSpelled *x) {
  if (!has(f, x, TD_MLIR_A_STRING, "")) return false;
  const TdMlirAttr *a = td_mlir_get(f->op, x->name);
  return a->n && strlen(a->s) == a->n;
}

static bool fits_takes(Fit *f, const TdSpelled *x) {
  if (!has(f, x, TD_MLIR_A_TYPE, "")) return false;
  const TdMlirAttr *a = td_mlir_get(f->op, x->name);
  return a->type->kind == TD_MLIR_FUNCTION && !a->type->nout;
}

/* Consumers: an operand of each, from the second on, with dims. */
static bool fits_from(Fit *f, const TdSpelled *x) {
  f->operands = f->op->operand.n;
  return has(f, x, TD_MLIR_A_DIMS_LIST, "") && f->op->operand.n > 1 &&
         td_mlir_get(f->op, x->name)->n + 1 == f->op->operand.n;
}

static bool count(size_t *n, const TdSpelled *x) {
  size_t k = (size_t)atoi(x->name) + 1;
  *n = k > *n ? k : *n;
  return true;
}

static bool fits_piece(Fit *f, const TdSpelled *x, const char *end) {
  if (is(x, "more") && !td_mlir_get(f->op, x->name)) return true;
  if (is(x, "int") || is(x, "more")) return has(f, x, TD_MLIR_A_INT, x->more[0]);
  if (is(x, "word")) return fits_word(f, x);
  if (is(x, "attr") || is(x, "set") || is(x, "takes"))
    return is(x, "attr")    ? (f->told++, td_mlir_get(f->op, x->name) != NULL)
           : is(x, "takes") ? fits_takes(f, x)
                            : fits_set(f, x, end);
  if (is(x, "maybe") && !td_mlir_get(f->op, x->name)) return true;
  if (is(x, "string") || is(x, "maybe")) return fits_string(f, x);
  if (is(x, "const")) return fits_const(f, x);
  if (is(x, "symbol")) return has(f, x, TD_MLIR_A_SYMBOL, "");
  if (is(x, "ints")) return has(f, x, TD_MLIR_A_INTS, "i64");
  if (is(x, "also")) return may_have(f, x, TD_MLIR_A_DIMS);
  if (is(x, "to")) return has(f, x, TD_MLIR_A_DIMS, "");
  if (is(x, "from")) return fits_from(f, x);
  if (is(x, "value")) return count(&f->operands, x);
  if (is(x, "block")) return count(&f->successors, x);
  if (is(x, "values")) return (f->operands = f->op->operand.n, true);
  if (is(x, "dict")) return (f->dict = true);
  if (is(x, "args") || is(x, "arg")) return fits_arguments(f, x);
  if (is(x, "body")) return fits_body(f, x);
  if (is(x, "empty"))
    return (f->body = true, f->op->region.n == 1 && !f->op->region.at[0]->block.n);
  if (is(x, "type") || is(x, "given")) return true;
  return fits_result(f, x);
}

static bool fits(const TdMlirOp *op, const TdSpelling *row, int version) {
  Fit f = {.op = op, .version = version};
  TdSpelled x;
  for (const char *at = row->text; td_spelling_next(&at, &x);)
    if (!x.text && !fits_piece(&f, &x, at - 1)) return false;
  return f.operands == op->operand.n && f.successors == op->successor.n &&
         (f.dict || f.told == op->attr.n) && (f.result || !op->result.n) &&
         (f.body || !op->region.n);
}

/* ---- printing ---- */

typedef struct Print {
  TdText *out;
  const TdMlirOp *op;
  const TdSpelling *row;
  TdMlirForm form;
  int depth;
} Print;

/* Whether the row of an operation tells an attribute of that name elsewhere. */
static bool is_told(const TdSpelling *row, const char *name) {
  TdSpelled x;
  for (const char *at = row->text; td_spelling_next(&at, &x);)
    if (!x.text && strcmp(x.name, name) == 0) return true;
  return false;
}

static void put_dict(const Print *p) {
  bool any = false;
  for (size_t i = 0; i < p->op->attr.n; i++) {
    const TdMlirNamed *a = &p->op->attr.at[i];
    if (is_told(p->row, a->name)) continue;
    td_text_putf(p->out, "%s%s", any ? ", " : " {", a->name);
    any = true;
    if (a->attr->kind == TD_MLIR_A_UNIT) continue;
    td_text_puts(p->out, " = ");
    td_mlir_print_attr(p->out, a->attr, p->form);
  }
  if (any) td_text_putc(p->out, '}');
}

static void put_body(const Print *p, bool last) {
  const TdMlirRegion *r = p->op->region.at[0];
  td_text_puts(p->out, " {\n");
  for (size_t i = 0; i < r->block.n; i++) {
    bool label = i || (r->block.at[i]->label && !r->block.at[i]->arg.n);
    td_mlir_print_block(p->out, r->block.at[i], p->form, p->depth, label, last);
  }
  for (int i = 0; i < p->depth; i++) td_text_puts(p->out, "  ");
  td_text_putc(p->out, '}');
}

static void put_args(const Print *p) {
  const TdMlirBlock *b = td_mlir_body(p->op);
  td_text_putc(p->out, '(');
  for (size_t k = 0; k < b->arg.n; k++) {
    td_text_putf(p->out, "%s%%%s: ", k ? ", " : "", b->arg.at[k]->name);
    td_mlir_print_type(p->out, b->arg.at[k]->type, p->form);
  }
  td_text_putc(p->out, ')');
}

static void put_types(const Print *p, const TdMlirType *const *t, size_t n) {
  td_text_putc(p->out, '(');
  for (size_t i = 0; i < n; i++) {
    if (i) td_text_puts(p->out, ", ");
    td_mlir_print_type(p->out, t[i], p->form);
  }
  td_text_putc(p->out, ')');
}

/* (types of operands) */
static void put_given(const Print *p) {
  const TdMlirType **t = TD_NEWN(p->out->arena, const TdMlirType *, p->op->operand.n + 1);
  for (size_t i = 0; i < p->op->operand.n; i++) t[i] = p->op->operand.at[i]->type;
  put_types(p, t, p->op->operand.n);
}

/* (types of operands) -> (types of results) */
static void put_signature(const Print *p) {
  const TdMlirType **r = TD_NEWN(p->out->arena, const TdMlirType *, p->op->result.n + 1);
  for (size_t i = 0; i < p->op->result.n; i++) r[i] = p->op->result.at[i]->type;
  put_given(p);
  td_text_puts(p->out, " -> ");
  put_types(p, r, p->op->result.n);
}

static void put_ints(const Print *p, const TdMlirAttr *a) {
  for (size_t i = 0; i < a->n; i++)
    td_text_putf(p->out, "%s%lld", i ? ", " : "[", (long long)a->num[i]);
  td_text_puts(p->out, a->n ? "]" : "[]");
}

static void put_from(const Print *p, const TdMlirAttr *a) {
  for (size_t i = 0; i < a->n; i++) {
    td_text_putf(p->out, "%s%%%s", i ? ", " : "{", p->op->operand.at[i + 1]->name);
    if (!a->at[i]->n) continue;
    td_text_puts(p->out, " dimensionsFromStream ");
    td_mlir_print_dims(p->out, a->at[i], p->form);
  }
  td_text_putc(p->out, '}');
}

static void put_dims(const Print *p, const TdMlirAttr *a, const char *before) {
  if (!a || (!a->n && *before == ' ')) return;
  td_text_puts(p->out, before);
  td_mlir_print_dims(p->out, a, p->form);
}

static void put_values(const Print *p, size_t first) {
  for (size_t i = first; i < p->op->operand.n; i++)
    td_text_putf(p->out, "%s%%%s", i > first ? ", " : "", p->op->operand.at[i]->name);
}

static void put_symbol(const Print *p, const TdMlirAttr *a, const char *before) {
  if (!a) return;
  td_text_puts(p->out, before);
  td_mlir_print_symbol(p->out, a->s, a->n);
}

static void put_piece(const Print *p, const TdSpelled *x) {
  const TdMlirOp *op = p->op;
  const TdMlirAttr *a = td_mlir_get(op, x->name);
  size_t n = (size_t)atoi(x->name);
  if (is(x, "int")) td_text_putf(p->out, "%lld", (long long)a->i);
  if (is(x, "more") && a) td_text_putf(p->out, ", %s = %lld", x->name, (long long)a->i);
  if (is(x, "word"))
    td_text_puts(p->out, td_spelling_word(td_spelling_version(p->form),
                                          *x->more[1] ? x->more[1] : x->name, a->i));
  if (is(x, "attr")) td_mlir_print_attr(p->out, a, p->form);
  if (is(x, "string") || is(x, "symbol")) put_symbol(p, a, "");
  if (is(x, "maybe")) put_symbol(p, a, " ");
  if (is(x, "ints")) put_ints(p, a);
  if (is(x, "also")) put_dims(p, a, ", ");
  if (is(x, "to")) put_dims(p, a, " dimensionsToStream ");
  if (is(x, "from")) put_from(p, a);
  if (is(x, "value")) td_text_putf(p->out, "%%%s", op->operand.at[n]->name);
  if (is(x, "values")) put_values(p, n);
  if (is(x, "type")) td_mlir_print_type(p->out, op->operand.at[n]->type, p->form);
  if (is(x, "given")) put_given(p);
  if (is(x, "types")) put_signature(p);
  if (is(x, "takes")) put_types(p, a->type->in, a->type->nin);
  if (is(x, "gives")) td_mlir_print_type(p->out, op->result.at[0]->type, p->form);
  if (is(x, "block")) td_text_putf(p->out, "^%s", op->successor.at[n]->label);
  if (is(x, "dict")) put_dict(p);
  if (is(x, "args")) put_args(p);
  if (is(x, "arg")) td_text_putf(p->out, "%%%s", td_mlir_body(op)->arg.at[0]->name);
  if (is(x, "body")) put_body(p, !*x->name);
}

bool td_mlir_pretty_op(TdText *out, const TdMlirOp *op, TdMlirForm form, int depth) {
  int version = td_spelling_version(form);
  const TdSpelling *row = td_spelling_of(version, op->name);
  Print p = {out, op, row, form, depth};
  TdSpelled x;
  if (!row || !fits(op, row, version)) return false;
  for (size_t i = 0; i < op->result.n; i++)
    td_text_putf(out, "%s%%%s", i ? ", " : "", op->result.at[i]->name);
  if (op->result.n) td_text_puts(out, " = ");
  for (const char *at = row->text; td_spelling_next(&at, &x);)
    if (x.text)
      td_text_putn(out, x.text, x.n);
    else
      put_piece(&p, &x);
  td_text_putc(out, '\n');
  return true;
}

/* pretty_read.c - reads operations as dialect.def spells them: the rows that print them, the
 * other way round. */
#include "backends/npu/mlir/pretty.h"

#include <stdlib.h>
#include <string.h>

typedef struct Read {
  TdMlirParse *p;
  TdMlirOp *op;
  TdMap *blocks;
  TdMlirBlock *body; /* whose arguments were read, or NULL */
  size_t n;
  const TdMlirType **result;
} Read;

static bool is(const TdSpelled *x, const char *kind) {
  return strcmp(x->kind, kind) == 0;
}

static bool set(const Read *r, const char *name, const TdMlirAttr *a) {
  if (!a) return false;
  if (td_mlir_get(r->op, name)) return td_mlir_parse_fail(r->p, "%s is set twice", name);
  td_mlir_set(r->p->m, r->op, name, a);
  return true;
}

/* Words as they stand, spaces between them or not. */
static bool text(const Read *r, const TdSpelled *x) {
  for (size_t i = 0, n; i < x->n; i += n) {
    while (i < x->n && x->text[i] == ' ') i++;
    for (n = 0; i + n < x->n && x->text[i + n] != ' ';) n++;
    if (n && !td_mlir_parse_need(r->p, td_arena_strndup(r->p->m->arena, x->text + i, n)))
      return false;
  }
  return true;
}

static bool integer(const Read *r, const TdSpelled *x) {
  int64_t i;
  return td_mlir_parse_int(r->p, &i) && set(r, x->name, td_mlir_int(r->p->m, i, x->more[0]));
}

static bool word(const Read *r, const TdSpelled *x) {
  td_mlir_parse_peek(r->p);
  const char *at = r->p->at, *w = td_mlir_parse_word(r->p);
  int64_t i = 0;
  bool known = w && td_spelling_number(td_spelling_version(TD_MLIR_PRETTY),
                                       *x->more[1] ? x->more[1] : x->name, w, &i);
  if (!known) r->p->at = at;
  if (!known) return td_mlir_parse_fail(r->p, "'%s' is no %s", w ? w : "", x->name);
  return set(r, x->name, td_mlir_int(r->p->m, i, x->more[0]));
}

static bool symbol(const Read *r, const TdSpelled *x) {
  if (is(x, "maybe") && td_mlir_parse_peek(r->p) != '@') return true;
  if (td_mlir_parse_peek(r->p) != '@') return td_mlir_parse_fail(r->p, "expected a symbol's name");
  const TdMlirAttr *a = td_mlir_parse_attr(r->p);
  if (a && !is(x, "symbol")) a = td_mlir_string(r->p->m, a->s, a->n);
  return set(r, x->name, a);
}

static bool ints(const Read *r, const TdSpelled *x) {
  TD_VEC(int64_t) v = {0};
  int64_t i;
  if (!td_mlir_parse_need(r->p, "[")) return false;
  while (td_mlir_parse_peek(r->p) != ']') {
    if ((v.n && !td_mlir_parse_need(r->p, ",")) || !td_mlir_parse_int(r->p, &i)) return false;
    td_vec_push(r->p->m->arena, &v, i);
  }
  r->p->at++;
  TdMlir *m = r->p->m;
  return set(r, x->name, td_mlir_ints(m, TD_MLIR_A_INTS, v.at, v.n, td_mlir_scalar(m, "i64")));
}

static bool fixed(const Read *r, const TdSpelled *x, const char *end) {
  TdMlir *m = r->p->m;
  int64_t num[TD_SPELLED_SET];
  if (is(x, "const")) return set(r, x->name, td_mlir_string(m, x->more[0], strlen(x->more[0])));
  size_t n = td_spelling_set(x, end, num);
  return set(r, x->name, td_mlir_ints(m, TD_MLIR_A_INTS, num, n, td_mlir_scalar(m, "i32")));
}

/* Dims that may be missing: then there is no attribute, or one of none. */
static bool dims(const Read *r, const TdSpelled *x) {
  TdMlir *m = r->p->m;
  if (is(x, "also"))
    return !td_mlir_parse_take(r->p, ",") || set(r, x->name, td_mlir_parse_dims(r->p));
  return set(r, x->name,
             td_mlir_parse_take(r->p, "dimensionsToStream")
                 ? td_mlir_parse_dims(r->p)
                 : td_mlir_ints(m, TD_MLIR_A_DIMS, NULL, 0, NULL));
}

/* {%a dimensionsFromStream [..], %b} */
static bool consumers(const Read *r, const TdSpelled *x) {
  TdMlir *m = r->p->m;
  TD_VEC(const TdMlirAttr *) each = {0};
  if (!td_mlir_parse_need(r->p, "{")) return false;
  do {
    if (!td_mlir_parse_operand(r->p, r->op)) return false;
    const TdMlirAttr *a = td_mlir_parse_take(r->p, "dimensionsFromStream")
                              ? td_mlir_parse_dims(r->p)
                              : td_mlir_ints(m, TD_MLIR_A_DIMS, NULL, 0, NULL);
    if (!a) return false;
    td_vec_push(m->arena, &each, a);
  } while (td_mlir_parse_take(r->p, ","));
  return td_mlir_parse_need(r->p, "}") &&
         set(r, x->name, td_mlir_array(m, TD_MLIR_A_DIMS_LIST, each.at, each.n));
}

static bool values(const Read *r) {
  while (td_mlir_parse_peek(r->p) == '%') {
    if (!td_mlir_parse_operand(r->p, r->op)) return false;
    if (!td_mlir_parse_take(r->p, ",")) break;
  }
  return true;
}

/* The type of operand n, as it was defined. */
static bool type_of(const Read *r, size_t n) {
  td_mlir_parse_peek(r->p);
  const char *at = r->p->at;
  const TdMlirType *t = td_mlir_parse_type(r->p);
  if (!t) return false;
  if (n < r->op->operand.n && td_mlir_same_type(t, r->op->operand.at[n]->type)) return true;
  r->p->at = at;
  return td_mlir_parse_fail(r->p, "a type that is not that of the operand");
}

/* (types) of the operands, as they were defined. */
static bool given(const Read *r) {
  if (!td_mlir_parse_need(r->p, "(")) return false;
  for (size_t i = 0; i < r->op->operand.n; i++)
    if ((i && !td_mlir_parse_need(r->p, ",")) || !type_of(r, i)) return false;
  return td_mlir_parse_need(r->p, ")");
}

static bool types(const Read *r) {
  td_mlir_parse_peek(r->p);
  const char *at = r->p->at;
  const TdMlirType *t = td_mlir_parse_function(r->p);
  if (!t) return false;
  bool same = t->nin == r->op->operand.n && t->nout == r->n;
  for (size_t i = 0; same && i < t->nin; i++)
    same = td_mlir_same_type(t->in[i], r->op->operand.at[i]->type);
  for (size_t i = 0; same && i < r->n; i++) r->result[i] = t->out[i];
  if (!same) r->p->at = at;
  return same || td_mlir_parse_fail(r->p, "a type that is not that of the operands and results");
}

/* (types) of a function that gives nothing. */
static bool takes(const Read *r, const TdSpelled *x) {
  TdMlir *m = r->p->m;
  TD_VEC(const TdMlirType *) v = {0};
  if (!td_mlir_parse_need(r->p, "(")) return false;
  while (td_mlir_parse_peek(r->p) != ')') {
    const TdMlirType *t = NULL;
    if ((v.n && !td_mlir_parse_need(r->p, ",")) || !(t = td_mlir_parse_type(r->p))) return false;
    td_vec_push(m->arena, &v, t);
  }
  r->p->at++;
  return set(r, x->name, td_mlir_type_attr(m, td_mlir_function(m, v.at, v.n, NULL, 0)));
}

static bool result(const Read *r, const TdSpelled *x) {
  const TdMlirAttr *a = td_mlir_get(r->op, x->name);
  const TdMlirType *t = is(x, "gives")                      ? td_mlir_parse_type(r->p)
                        : is(x, "is")                       ? td_mlir_scalar(r->p->m, x->name)
                        : is(x, "same") && r->op->operand.n ? r->op->operand.at[0]->type
                                                            : NULL;
  if (is(x, "of")) t = a ? a->type : NULL;
  if (r->n) r->result[0] = t;
  return t && r->n == 1 ? true
                        : td_diag_set(r->p->d, TD_USAGE, "mlir-text", r->op->loc,
                                      "%s gives one result", r->op->name);
}

static TdMlirBlock *body_of(Read *r) {
  if (!r->body) r->body = TD_NEW(r->p->m->arena, TdMlirBlock);
  return r->body;
}

static bool arguments(Read *r, const TdSpelled *x) {
  TdMlir *m = r->p->m;
  TdMlirBlock *b = body_of(r);
  b->label = td_names_str(m->names, "bb0");
  if (is(x, "arg")) return td_mlir_parse_argument(r->p, b, td_mlir_scalar(m, x->name));
  if (!td_mlir_parse_need(r->p, "(")) return false;
  while (td_mlir_parse_peek(r->p) != ')')
    if ((b->arg.n && !td_mlir_parse_need(r->p, ",")) || !td_mlir_parse_argument(r->p, b, NULL))
      return false;
  r->p->at++;
  if (!b->arg.n) b->label = NULL;
  return true;
}

/* A body, ended by the operation that its text leaves out. */
static bool body(Read *r, const TdSpelled *x) {
  TdMlir *m = r->p->m;
  if (!td_mlir_parse_region(r->p, r->op, r->body)) return false;
  TdMlirRegion *g = r->op->region.at[0];
  if (!*x->name) return true;
  TdMlirBlock *b = g->block.n ? g->block.at[g->block.n - 1] : td_mlir_block(m, g, NULL);
  if (!b->op.n || strcmp(b->op.at[b->op.n - 1]->name, x->name) != 0)
    td_mlir_op(m, b, x->name)->loc = r->op->loc;
  return true;
}

static bool piece(Read *r, const TdSpelled *x, const char *end) {
  size_t n = (size_t)atoi(x->name);
  if (x->text) return text(r, x);
  if (is(x, "more")) {
    if (!td_mlir_parse_take(r->p, ",")) return true;
    if (!td_mlir_parse_need(r->p, x->name) || !td_mlir_parse_need(r->p, "=")) return false;
  }
  if (is(x, "int") || is(x, "more")) return integer(r, x);
  if (is(x, "word")) return word(r, x);
  if (is(x, "attr")) return set(r, x->name, td_mlir_parse_attr(r->p));
  if (is(x, "string") || is(x, "maybe") || is(x, "symbol")) return symbol(r, x);
  if (is(x, "ints")) return ints(r, x);
  if (is(x, "set") || is(x, "const")) return fixed(r, x, end);
  if (is(x, "also") || is(x, "to")) return dims(r, x);
  if (is(x, "from")) return consumers(r, x);
  if (is(x, "value")) return td_mlir_parse_operand(r->p, r->op);
  if (is(x, "values")) return values(r);
  if (is(x, "type")) return type_of(r, n);
  if (is(x, "types")) return types(r);
  if (is(x, "given")) return given(r);
  if (is(x, "takes")) return takes(r, x);
  if (is(x, "block"))
    return td_mlir_parse_successor(r->p, r->op, r->op->block ? r->op->block->region : NULL,
                                   r->blocks);
  if (is(x, "dict"))
    return !td_mlir_parse_take(r->p, "{") || td_mlir_parse_attributes(r->p, r->op, "}");
  if (is(x, "args") || is(x, "arg")) return arguments(r, x);
  if (is(x, "body")) return body(r, x);
  if (is(x, "empty")) return td_mlir_region(r->p->m, r->op) != NULL;
  return result(r, x);
}

bool td_mlir_pretty_read(TdMlirParse *p, TdMlirOp *op, const TdSpelling *row, TdMap *blocks,
                         size_t n, const TdMlirType **result) {
  Read r = {.p = p, .op = op, .blocks = blocks, .n = n, .result = result};
  TdSpelled x;
  const char *at = row->text;
  td_spelling_next(&at, &x);
  size_t word = strcspn(x.text, " (<");
  x.text += word;
  x.n -= word;
  do {
    if (!piece(&r, &x, at - 1)) return false;
  } while (td_spelling_next(&at, &x));
  return true;
}

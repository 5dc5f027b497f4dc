/* read.c - reads MLIR back into a tree: operations in generic form, or as dialect.def spells
 * them. */
#include <string.h>

#include "backends/npu/mlir/pretty.h"

/* The values that are visible, and what they hide, to be undone where a region ends. */
typedef struct Scope {
  TdMap value;
  TD_VEC(const char *) defined;
} Scope;

static uint64_t key(const char *name) {
  return (uint64_t)(uintptr_t)name;
}

/* %name, ^name: the word behind a mark that is next to it; NULL with an error. */
static const char *marked(TdMlirParse *p, const char *mark) {
  if (!td_mlir_parse_need(p, mark)) return NULL;
  bool apart = p->at == p->end || *p->at <= ' ' || *p->at == '/';
  const char *word = apart ? NULL : td_mlir_parse_word(p);
  if (!word) td_mlir_parse_fail(p, "expected a name behind '%s'", mark);
  return word;
}

/* Makes a value visible under its name. */
static bool define(TdMlirParse *p, TdMlirValue *v, const char *at) {
  Scope *s = p->scope;
  if (td_map_get(&s->value, key(v->name), NULL)) {
    p->at = at;
    return td_mlir_parse_fail(p, "%%%s is defined twice", v->name);
  }
  td_map_putp(p->m->arena, &s->value, v->name, v);
  td_vec_push(p->m->arena, &s->defined, v->name);
  return true;
}

/* ---- parts of an operation ---- */

typedef TD_VEC(const char *) Words;

/* "%a, %b =" before an operation, with where each stands. */
static bool result_names(TdMlirParse *p, Words *name, Words *at) {
  while (td_mlir_parse_peek(p) == '%' || name->n) {
    td_mlir_parse_peek(p);
    const char *place = p->at, *word = marked(p, "%");
    if (!word) return false;
    if (td_mlir_parse_peek(p) == ':')
      return td_mlir_parse_fail(p, "results are named one by one: %%%s, ..", word);
    td_vec_push(p->m->arena, name, word);
    td_vec_push(p->m->arena, at, place);
    if (td_mlir_parse_take(p, "=")) return true;
    if (!td_mlir_parse_need(p, ",")) return false;
  }
  return true;
}

bool td_mlir_parse_operand(TdMlirParse *p, TdMlirOp *op) {
  const Scope *s = p->scope;
  td_mlir_parse_peek(p);
  const char *at = p->at, *name = marked(p, "%");
  TdMlirValue *v = name ? td_map_getp(&s->value, name) : NULL;
  if (name && !v) {
    p->at = at;
    return td_mlir_parse_fail(p, "%%%s is not defined before it is used", name);
  }
  if (v) td_mlir_operand(p->m, op, v);
  return v != NULL;
}

static bool operands(TdMlirParse *p, TdMlirOp *op) {
  if (!td_mlir_parse_need(p, "(")) return false;
  while (td_mlir_parse_peek(p) != ')') {
    if (op->operand.n && !td_mlir_parse_need(p, ",")) return false;
    if (!td_mlir_parse_operand(p, op)) return false;
  }
  p->at++;
  return true;
}

/* The block of that label, made when it was not met before: it has no region yet. */
static TdMlirBlock *block_named(TdMlirParse *p, TdMap *blocks, const char *label) {
  TdMlirBlock *b = td_map_getp(blocks, label);
  if (b) return b;
  b = TD_NEW(p->m->arena, TdMlirBlock);
  b->label = label;
  td_map_putp(p->m->arena, blocks, label, b);
  return b;
}

bool td_mlir_parse_successor(TdMlirParse *p, TdMlirOp *op, TdMlirRegion *r, TdMap *blocks) {
  const char *label = marked(p, "^");
  if (!label) return false;
  if (!r) return td_mlir_parse_fail(p, "a successor outside of a region");
  td_mlir_successor(p->m, op, block_named(p, blocks, label));
  return true;
}

static bool successors(TdMlirParse *p, TdMlirOp *op, TdMlirRegion *r, TdMap *blocks) {
  if (!td_mlir_parse_take(p, "[")) return true;
  while (td_mlir_parse_peek(p) != ']') {
    if (op->successor.n && !td_mlir_parse_need(p, ",")) return false;
    if (!td_mlir_parse_successor(p, op, r, blocks)) return false;
  }
  p->at++;
  return true;
}

bool td_mlir_parse_attributes(TdMlirParse *p, TdMlirOp *op, const char *end) {
  for (bool first = true; !td_mlir_parse_take(p, end); first = false) {
    size_t n;
    if (!first && !td_mlir_parse_need(p, ",")) return false;
    const char *name =
        td_mlir_parse_peek(p) == '"' ? td_mlir_parse_string(p, &n) : td_mlir_parse_word(p);
    const TdMlirAttr *x;
    TdMlirAttr unit = {.kind = TD_MLIR_A_UNIT};
    if (!name || !td_mlir_parse_is_word(name, strlen(name)))
      return td_mlir_parse_fail(p, "expected the name of an attribute");
    if (td_mlir_get(op, name)) return td_mlir_parse_fail(p, "%s is set twice", name);
    if (td_mlir_parse_take(p, "="))
      x = td_mlir_parse_attr(p);
    else
      x = td_arena_copy(p->m->arena, &unit, sizeof unit);
    if (!x) return false;
    td_mlir_set(p->m, op, name, x);
  }
  return true;
}

static bool read_op(TdMlirParse *p, TdMlirBlock *at, TdMap *blocks, TdMlirOp **out);

bool td_mlir_parse_argument(TdMlirParse *p, TdMlirBlock *b, const TdMlirType *t) {
  td_mlir_parse_peek(p);
  const char *name = marked(p, "%");
  if (!name || (!t && (!td_mlir_parse_need(p, ":") || !(t = td_mlir_parse_type(p))))) return false;
  TdMlirValue *v = TD_NEW(p->m->arena, TdMlirValue);
  *v = (TdMlirValue){.name = name, .type = t, .block = b};
  td_vec_push(p->m->arena, &b->arg, v);
  return true;
}

/* "(%a: type, ..)" behind a label. */
static bool arguments(TdMlirParse *p, TdMlirBlock *b) {
  if (!td_mlir_parse_take(p, "(")) return true;
  while (td_mlir_parse_peek(p) != ')') {
    if (b->arg.n && !td_mlir_parse_need(p, ",")) return false;
    td_mlir_parse_peek(p);
    const char *at = p->at;
    if (!td_mlir_parse_argument(p, b, NULL) || !define(p, b->arg.at[b->arg.n - 1], at))
      return false;
  }
  p->at++;
  return true;
}

/* A block's label and arguments. */
static TdMlirBlock *head(TdMlirParse *p, TdMlirRegion *r, TdMap *blocks) {
  const char *at = p->at, *label = marked(p, "^");
  if (!label) return NULL;
  TdMlirBlock *b = block_named(p, blocks, label);
  if (b->region) {
    p->at = at;
    td_mlir_parse_fail(p, "^%s is defined twice", label);
    return NULL;
  }
  b->region = r;
  td_vec_push(p->m->arena, &r->block, b);
  return arguments(p, b) && td_mlir_parse_need(p, ":") ? b : NULL;
}

/* Whether every block that is a successor in this region is one of its blocks. */
static bool blocks_defined(TdMlirParse *p, const TdMlirRegion *r) {
  for (size_t i = 0; i < r->block.n; i++)
    for (size_t k = 0; k < r->block.at[i]->op.n; k++) {
      const TdMlirOp *op = r->block.at[i]->op.at[k];
      for (size_t s = 0; s < op->successor.n; s++)
        if (!op->successor.at[s]->region)
          return td_diag_set(p->d, TD_USAGE, "mlir-text", op->loc, "no block ^%s in this region",
                             op->successor.at[s]->label);
    }
  return true;
}

bool td_mlir_parse_region(TdMlirParse *p, TdMlirOp *op, TdMlirBlock *first) {
  Scope *s = p->scope;
  size_t defined = s->defined.n;
  TdMap blocks = {0};
  TdMlirRegion *r = td_mlir_region(p->m, op);
  TdMlirBlock *b = first;
  TdMlirOp *inner;
  if (first) {
    first->region = r;
    td_vec_push(p->m->arena, &r->block, first);
  }
  for (size_t i = 0; first && i < first->arg.n; i++)
    if (!define(p, first->arg.at[i], p->at)) return false;
  if (!td_mlir_parse_need(p, "{")) return false;
  while (td_mlir_parse_peek(p) != '}') {
    if (td_mlir_parse_peek(p) == '^') {
      if (!(b = head(p, r, &blocks))) return false;
      continue;
    }
    if (!b) b = td_mlir_block(p->m, r, NULL);
    if (!read_op(p, b, &blocks, &inner)) return false;
  }
  p->at++;
  while (s->defined.n > defined) td_map_drop(&s->value, key(s->defined.at[--s->defined.n]));
  return blocks_defined(p, r);
}

static bool regions(TdMlirParse *p, TdMlirOp *op) {
  if (td_mlir_parse_peek(p) != '(') return true;
  p->at++;
  do {
    if (!td_mlir_parse_region(p, op, NULL)) return false;
  } while (td_mlir_parse_take(p, ","));
  return td_mlir_parse_need(p, ")");
}

/* The results of an operation, whose names are visible from here on. */
static bool add_results(TdMlirParse *p, TdMlirOp *op, const Words *name, const Words *at,
                        const TdMlirType *const *type) {
  for (size_t i = 0; i < name->n; i++) {
    TdMlirValue *v = TD_NEW(p->m->arena, TdMlirValue);
    *v = (TdMlirValue){.name = name->at[i], .type = type[i], .op = op, .block = op->block};
    td_vec_push(p->m->arena, &op->result, v);
    if (!define(p, v, at->at[i])) return false;
  }
  return true;
}

/* ": (types) -> types", held against the operands and names. */
static bool signature(TdMlirParse *p, TdMlirOp *op, const Words *name, const Words *at) {
  if (!td_mlir_parse_need(p, ":")) return false;
  td_mlir_parse_peek(p);
  const char *place = p->at;
  const TdMlirType *t = td_mlir_parse_function(p);
  if (!t) return false;
  bool same = t->nin == op->operand.n && t->nout == name->n;
  for (size_t i = 0; same && i < t->nin; i++)
    same = td_mlir_same_type(t->in[i], op->operand.at[i]->type);
  if (!same) {
    p->at = place;
    return td_mlir_parse_fail(p, "a type that is not that of the operands and results");
  }
  return add_results(p, op, name, at, t->out);
}

/* The rest of an operation that begins with a word. */
static bool pretty(TdMlirParse *p, TdMlirOp *op, const TdSpelling *row, TdMap *blocks,
                   const Words *name, const Words *at) {
  const TdMlirType **type = TD_NEWN(p->m->arena, const TdMlirType *, name->n + 1);
  if (!td_mlir_pretty_read(p, op, row, blocks, name->n, type)) return false;
  for (size_t i = 0; i < name->n; i++)
    if (!type[i])
      return td_diag_set(p->d, TD_USAGE, "mlir-text", op->loc, "%s gives other results", op->name);
  return add_results(p, op, name, at, type);
}

/* The operation that is next, at the end of a block (NULL: of none). */
static bool one_op(TdMlirParse *p, TdMlirBlock *at, TdMap *blocks, TdMlirOp **out) {
  Words name = {0}, place = {0};
  size_t n = 0;
  if (!result_names(p, &name, &place)) return false;
  bool is_word = td_mlir_parse_peek(p) != '"' && td_mlir_parse_is_word(p->at, p->at < p->end);
  const char *begin = p->at;
  TdLoc loc = td_mlir_parse_loc(p, p->at);
  const char *word = is_word ? td_mlir_parse_word(p) : td_mlir_parse_string(p, &n);
  if (!word) return false;
  if (is_word) {
    const TdSpelling *row = td_spelling_find(td_spelling_version(TD_MLIR_PRETTY), word);
    if (!row) {
      p->at = begin;
      return td_mlir_parse_fail(p, "'%s' is no operation that dialect v1.3 spells so", word);
    }
    *out = td_mlir_op(p->m, at, row->op);
    (*out)->loc = loc;
    return pretty(p, *out, row, blocks, &name, &place);
  }
  if (!td_mlir_parse_is_word(word, n)) return td_mlir_parse_fail(p, "an operation without a name");
  TdMlirOp *op = *out = td_mlir_op(p->m, at, word);
  op->loc = loc;
  if (!operands(p, op) || !successors(p, op, at ? at->region : NULL, blocks)) return false;
  if (td_mlir_parse_take(p, "<{") &&
      (!td_mlir_parse_attributes(p, op, "}") || !td_mlir_parse_need(p, ">")))
    return false;
  if (!regions(p, op)) return false;
  if (td_mlir_parse_take(p, "{") && !td_mlir_parse_attributes(p, op, "}")) return false;
  return signature(p, op, &name, &place);
}

static bool read_op(TdMlirParse *p, TdMlirBlock *at, TdMap *blocks, TdMlirOp **out) {
  bool done = td_mlir_parse_enter(p) && one_op(p, at, blocks, out);
  p->depth--;
  return done;
}

TdMlir *td_mlir_read(TdArena *a, uint32_t source, const char *text, size_t n, TdDiag *d) {
  Scope scope = {0};
  TdMlir *m = td_mlir_new(a);
  TdMlirParse p = {.m = m,
                   .d = d,
                   .begin = text,
                   .at = text,
                   .end = text + n,
                   .source = source,
                   .scope = &scope};
  if (!read_op(&p, NULL, NULL, &m->module)) return NULL;
  if (p.at < p.end && td_mlir_parse_peek(&p)) {
    td_mlir_parse_fail(&p, "expected the end of the text");
    return NULL;
  }
  return m;
}

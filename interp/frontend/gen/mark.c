/* mark.c - attributes, as comments `--@ name(args)` at the end of the line that they mark. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/gen/irgen.h"

void td_irgen_collect_marks(TdIrgen *l, uint32_t first, uint32_t last) {
  const TdAst *ast = l->frame->ast;
  for (size_t i = 0; i < ast->marks.n; i++) {
    uint32_t line = ast->marks.at[i].loc.line;
    if (line >= first && line <= last) td_map_put(l->arena, &l->frame->marks, line, i + 1);
  }
}

void td_irgen_drop_marks(TdIrgen *l, uint32_t first, uint32_t last) {
  const TdAst *ast = l->frame->ast;
  for (size_t i = 0; i < ast->marks.n; i++) {
    uint32_t line = ast->marks.at[i].loc.line;
    if (line >= first && line <= last) td_map_drop(&l->frame->marks, line);
  }
}

static const char *skip_blanks(const char *s) {
  return s + strspn(s, " \t,");
}

/* What a letter of attrs.def asks for, as people say it. */
static const char *words_of(char letter) {
  switch (letter) {
  case 'n': return "an integer from 0 on";
  case 'p': return "an integer from 1 on";
  case 's': return "a text, or a layout or text that the function uses";
  case 'y': return "an array";
  case 'd': return "integers";
  default: return "a word";
  }
}

/* An integer that fits its letter, of at most 32 bits; false if there is none. */
static bool read_integer(const char **at, char letter, int64_t *out) {
  char *end;
  long long v = strtoll(*at, &end, 10);
  bool fits = end != *at && v >= (letter == 'p') && v <= INT32_MAX;
  *out = v;
  *at = end;
  return fits;
}

/* The integers up to the parenthesis; false if something else stands there. */
static bool read_integers(TdIrgen *l, const char **at, TdAttrArg *out) {
  TD_VEC(int64_t) list = {0};
  for (*at = skip_blanks(*at); **at && **at != ')'; *at = skip_blanks(*at)) {
    char *end;
    long long v = strtoll(*at, &end, 10);
    if (end == *at || v < INT32_MIN || v > INT32_MAX) return false;
    td_vec_push(l->arena, &list, (int64_t)v);
    *at = end;
  }
  out->ints = td_attr_ints(l->arena, list.at, list.n);
  return true;
}

/* The text of the string or layout that the function sees under the n bytes at s, as an upvalue or
 * a global; NULL: none. */
static const char *text_named(TdIrgen *l, const char *s, size_t n) {
  const TdAstFn *fn = l->frame->source;
  const char *name = td_names_of(l->session->names, s, n);
  TdConst c = {0};
  bool found = false;
  for (size_t i = 0; fn && !found && i < fn->upvals.n; i++)
    if (strcmp(fn->upvals.at[i]->name, name) == 0)
      found = l->host->upvalue(l->host->ud, l->frame->fn, (int)i, &c);
  if (!found) l->host->global(l->host->ud, l->frame->fn, name, &c);
  if (c.kind != TD_C_STRING && c.kind != TD_C_LAYOUT) return NULL;
  return td_names_of(l->session->names, c.u.string.at, c.u.string.n);
}

/* One argument of an attribute: integer, word or string; false if it does not fit letter `kind`, or
 * is none of the words. */
static bool read_argument(TdIrgen *l, const char **at, char kind, const char *words,
                          TdAttrArg *out) {
  const char *s = skip_blanks(*at);
  if (kind == 'd') return read_integers(l, at, out);
  if (td_attr_is_integer(kind)) {
    *at = s;
    return read_integer(at, kind, &out->i);
  }
  size_t n = kind == 's' ? 0 : strcspn(s, " ,()");
  if (kind == 's' && *s != '"') {
    n = strcspn(s, " ,()");
    *at = s + n;
    out->s = n ? text_named(l, s, n) : NULL;
    return out->s != NULL;
  }
  if (kind == 's') {
    if (*s++ != '"') return false;
    n = strcspn(s, "\"");
    if (!s[n]) return false;
  }
  out->s = td_names_of(l->session->names, s, n);
  *at = s + n + (kind == 's');
  return n > 0 && (kind != 'w' || td_text_is_listed(words, out->s));
}

/* Says what the arguments of attribute x are. */
static bool refuse_arguments(TdIrgen *l, TdLoc loc, const TdAttrInfo *x) {
  TdText t = td_text_new(l->arena);
  for (const char *c = x->args; *c; c++)
    td_text_putf(&t, "%s%s", c == x->args ? "" : ", ",
                 *c == 'w' && *x->words ? x->words : words_of(*c));
  td_irgen_fail(l, "attribute", loc, "'%s' takes %s%s%s", x->name, *x->args ? "(" : "no arguments",
                td_text_str(&t), *x->args ? ")" : "");
  td_diag_help(l->diag, "%s", x->summary);
  return false;
}

static bool refuse_unknown(TdIrgen *l, TdLoc loc, const char *name) {
  const char *names[TD_ATTRS];
  for (int k = 0; k < TD_ATTRS; k++) names[k] = td_attrs[k].name;
  td_irgen_fail(l, "attribute", loc, "there is no attribute '%s'", name);
  const char *near = td_text_nearest(name, names, TD_ATTRS);
  if (near) td_diag_help(l->diag, "did you mean '%s'?", near);
  return false;
}

/* Reads "name(args)" at *at into x; symbols stay names. */
static bool read_attribute(TdIrgen *l, const char **at, TdLoc loc, TdAttr *x) {
  size_t n = strcspn(*at, " \t(,");
  const char *name = td_arena_strndup(l->arena, *at, n);
  int kind = td_attr_find(name);
  if (kind < 0) return refuse_unknown(l, loc, name);
  *x = (TdAttr){.kind = (uint8_t)kind};
  const char *args = td_attrs[kind].args, *s = *at + n;
  bool ok = *args ? *s++ == '(' : *s != '(';
  for (int k = 0; ok && args[k]; k++)
    ok = read_argument(l, &s, args[k], td_attrs[kind].words, &x->arg[k]);
  s = *args && ok ? skip_blanks(s) : s;
  if (ok && *args) ok = *s++ == ')';
  if (!ok) return refuse_arguments(l, loc, &td_attrs[kind]);
  *at = s;
  return true;
}

/* The symbol of the innermost array called name, or NULL. */
static TdSym array_named(const TdIrgen *l, const char *name) {
  TdSym found = NULL;
  const TdMap *bound = &l->frame->bound;
  for (size_t i = 0; i < bound->cap; i++) {
    if (!bound->full[i]) continue;
    const TdBinding *b = (const TdBinding *)(uintptr_t)bound->val[i];
    if (b->sym && b->sym->name == name && (!found || b->sym->id > found->id)) found = b->sym;
  }
  return found;
}

/* Turns the names among x's arguments into symbols. */
static bool resolve(TdIrgen *l, TdAttr *x, TdLoc loc) {
  const char *args = td_attrs[x->kind].args;
  for (int k = 0; args[k]; k++) {
    if (args[k] != 'y') continue;
    const char *name = x->arg[k].s;
    x->arg[k].sym = array_named(l, name);
    if (!x->arg[k].sym)
      return td_irgen_fail(l, "attribute", loc, "'%s': no array '%s' here", td_attrs[x->kind].name,
                           name);
  }
  return true;
}

/* A mark being read: its attributes in turn. */
typedef struct Reader {
  const TdAstMark *mark;
  const char *at;
  uint64_t index, taken;
} Reader;

static Reader reader_of(const TdIrgen *l, size_t index) {
  const TdAstMark *m = &l->frame->ast->marks.at[index];
  Reader r = {.mark = m, .at = skip_blanks(m->text), .index = index};
  td_map_get(&l->frame->taken, index, &r.taken);
  return r;
}

bool td_irgen_marks(TdIrgen *l, uint32_t line, char on, TdAttrs *out) {
  uint64_t index;
  if (!td_map_get(&l->frame->marks, line, &index)) return true;
  Reader r = reader_of(l, index - 1);
  for (uint64_t bit = 1; *r.at; bit <<= 1, r.at = skip_blanks(r.at)) {
    TdAttr x;
    if (!read_attribute(l, &r.at, r.mark->loc, &x)) return false;
    if (r.taken & bit || !strchr(td_attrs[x.kind].on, on)) continue;
    if (!resolve(l, &x, r.mark->loc)) return false;
    r.taken |= bit;
    *out = td_attrs_add(l->arena, *out, x);
  }
  td_map_put(l->arena, &l->frame->taken, r.index, r.taken);
  return true;
}

bool td_irgen_check_banks(TdIrgen *l, TdLoc loc, TdAttrs attrs, const TdType *t) {
  int64_t seen = 0, extent;
  int rank = t->kind == TD_T_TENSOR ? t->rank : 0;
  for (size_t i = 0; i < attrs.n; i++) {
    const TdAttr *x = &attrs.at[i];
    if (x->kind != TD_ATTR_PARTITION) continue;
    int64_t dim = x->arg[0].i, factor = x->arg[2].i;
    bool complete = strcmp(x->arg[1].s, "complete") == 0;
    const char *why = dim >= rank                ? "there is no such dimension"
                      : seen & INT64_C(1) << dim ? "the dimension is partitioned already"
                      : complete && factor       ? "a complete partition takes no factor: 0"
                      : !complete && !factor     ? "the factor is at least 1"
                                                 : NULL;
    if (!why && td_type_extent(t, (int)dim, &extent) && factor > extent)
      why = "there are more banks than elements";
    if (why)
      return td_irgen_fail(l, "attribute", loc, "partition(%" PRId64 ", %s, %" PRId64 "): %s", dim,
                           x->arg[1].s, factor, why);
    seen |= INT64_C(1) << dim;
  }
  return true;
}

/* Whether each attribute of mark number `index` was taken. */
static bool check_mark(TdIrgen *l, size_t index) {
  Reader r = reader_of(l, index);
  for (uint64_t bit = 1; *r.at; bit <<= 1, r.at = skip_blanks(r.at)) {
    TdAttr x;
    if (!read_attribute(l, &r.at, r.mark->loc, &x)) return false;
    if (!(r.taken & bit))
      return td_irgen_fail(l, "attribute", r.mark->loc,
                           "this line begins nothing that '%s' can mark", td_attrs[x.kind].name);
  }
  return true;
}

bool td_irgen_check_marks(TdIrgen *l) {
  for (size_t i = 0; i < l->frame->ast->marks.n; i++) {
    uint64_t index;
    uint32_t line = l->frame->ast->marks.at[i].loc.line;
    bool waits = td_map_get(&l->frame->marks, line, &index) && index == i + 1;
    if (waits && !check_mark(l, i)) return false;
  }
  return true;
}

bool td_irgen_marks_at(TdStore *st, const TdAst *ast, uint32_t line, const char *on, TdAttrs *out,
                       TdDiag *d) {
  TdFrame frame = {.ast = ast};
  TdIrgen l = {.session = st->session, .store = st, .arena = st->arena, .diag = d, .frame = &frame};
  TdAttrs others = {0};
  td_irgen_collect_marks(&l, line, line);
  for (const char *c = on; *c; c++)
    if (!td_irgen_marks(&l, line, *c, c == on ? out : &others)) return false;
  return td_irgen_check_marks(&l);
}

/* irgen.c - names, scopes, attributes and blocks of the lowering. */
#include "frontend/irgen.h"

#include <stdlib.h>
#include <string.h>

bool td_irgen_fail(TdIrgen *l, const char *code, TdLoc loc, const char *fmt, ...) {
  TdText t = td_text_new(l->diag->arena);
  va_list ap;
  va_start(ap, fmt);
  td_text_vputf(&t, fmt, ap);
  va_end(ap);
  return td_diag_set(l->diag, TD_USAGE, code, loc, "%s", td_text_str(&t));
}

TdVal td_irgen_failed(void) {
  return (TdVal){.kind = TD_V_FAILED};
}

bool td_irgen_ok(const TdVal *v) {
  return v->kind != TD_V_FAILED;
}

void td_irgen_emit(TdIrgen *l, const TdStmt *s) {
  if (s) td_vec_push(l->arena, l->out, s);
}

/* Words of the printed form that a declaration must not hide. */
static bool is_reserved(const char *name) {
  static const char *const words[] = {"tide", "i8",   "i16", "i32",  "i64", "u8",  "u16",   "u32",
                                      "u64",  "bool", "f16", "bf16", "f32", "f64", "index", "d"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strcmp(words[i], name) == 0) return true;
  return false;
}

const char *td_irgen_name(TdIrgen *l, const char *want) {
  const char *name = td_names_str(l->session->names, want);
  if (strcmp(want, "_") == 0) return name;
  for (int i = 1; is_reserved(name) || td_map_getp(&l->visible, name); i++)
    name = td_names_str(l->session->names, td_text_fmt(l->arena, "%s_%d", want, i));
  return name;
}

TdSym td_irgen_declare(TdIrgen *l, const char *want, TdSymKind kind) {
  TdSym s = td_store_sym(l->store, td_irgen_name(l, want), kind);
  uint64_t n = 0;
  td_map_get(&l->visible, (uint64_t)(uintptr_t)s->name, &n);
  td_map_put(l->arena, &l->visible, (uint64_t)(uintptr_t)s->name, n + 1);
  return s;
}

/* Ends the scope of the names that the statements of a block declared. */
static void hide_names(TdIrgen *l, const TdStmts *block) {
  for (size_t i = 0; i < block->n; i++) {
    const TdStmt *s = block->at[i];
    bool declares = s->kind == TD_STMT_LOCAL || s->kind == TD_STMT_GET || s->kind == TD_STMT_SLOT;
    uint64_t n;
    if (declares && s->sym && td_map_get(&l->visible, (uint64_t)(uintptr_t)s->sym->name, &n) && n)
      td_map_put(l->arena, &l->visible, (uint64_t)(uintptr_t)s->sym->name, n - 1);
  }
}

TdBinding *td_irgen_bind(TdIrgen *l, const TdAstLocal *v, TdBinding b) {
  TdBinding *copy = td_arena_copy(l->arena, &b, sizeof b);
  td_map_putp(l->arena, &l->bound, v, copy);
  return copy;
}

bool td_irgen_block(TdIrgen *l, const TdAstBlock *b) {
  td_ctx_enter(l->session->ctx);
  bool ok = true;
  for (size_t i = 0; ok && i < b->n; i++) ok = td_irgen_stmt(l, b->at[i]);
  td_ctx_leave(l->session->ctx);
  return ok;
}

const TdStmt *td_irgen_body(TdIrgen *l, const TdAstBlock *b, TdLoc loc) {
  TdStmts list = {0}, *out = l->out;
  l->out = &list;
  bool ok = td_irgen_block(l, b);
  l->out = out;
  hide_names(l, &list);
  return ok ? td_stmt_block(l->store, list.at, list.n, loc) : NULL;
}

static const char *skip_blanks(const char *s) {
  return s + strspn(s, " \t,");
}

/* One argument of an attribute: integer, word or string; false if it does not fit letter `kind`. */
static bool mark_argument(TdIrgen *l, const char **at, char kind, TdAttrArg *out) {
  const char *s = skip_blanks(*at);
  char *end;
  if (kind == 'i') {
    out->i = strtoll(s, &end, 10);
    *at = end;
    return end != s;
  }
  size_t n = kind == 's' ? 0 : strcspn(s, " ,)");
  if (kind == 's') {
    if (*s++ != '"') return false;
    n = strcspn(s, "\"");
    if (!s[n]) return false;
  }
  out->s = td_names_of(l->session->names, s, n);
  *at = s + n + (kind == 's');
  return n > 0;
}

/* The symbol of the innermost visible array called name, for attributes that name one. */
static TdSym array_named(const TdIrgen *l, const char *name) {
  TdSym found = NULL;
  for (size_t i = 0; i < l->bound.cap; i++) {
    if (!l->bound.full[i]) continue;
    const TdBinding *b = (const TdBinding *)(uintptr_t)l->bound.val[i];
    if (b->sym && b->sym->name == name && (!found || b->sym->id > found->id)) found = b->sym;
  }
  return found;
}

/* Reads "name(args)" at *at into x. */
static bool parse_mark(TdIrgen *l, const char **at, TdLoc loc, char on, TdAttr *x) {
  size_t n = strcspn(*at, " (");
  char *name = td_arena_strndup(l->arena, *at, n);
  int kind = td_attr_find(name);
  if (kind < 0) {
    const char *names[TD_ATTRS];
    for (int k = 0; k < TD_ATTRS; k++) names[k] = td_attrs[k].name;
    td_irgen_fail(l, "attribute", loc, "there is no attribute '%s'", name);
    const char *near = td_text_nearest(name, names, TD_ATTRS);
    if (near) td_diag_help(l->diag, "did you mean '%s'?", near);
    return false;
  }
  if (!strchr(td_attrs[kind].on, on))
    return td_irgen_fail(l, "attribute", loc, "'%s' cannot mark this", name);
  *x = (TdAttr){.kind = (uint8_t)kind};
  const char *args = td_attrs[kind].args, *s = *at + n;
  bool ok = *args ? *s++ == '(' : true;
  for (int k = 0; ok && args[k]; k++) {
    ok = mark_argument(l, &s, args[k], &x->arg[k]);
    if (ok && args[k] == 'y') ok = (x->arg[k].sym = array_named(l, x->arg[k].s)) != NULL;
  }
  s = *args ? skip_blanks(s) : s;
  if (ok && *args) ok = *s++ == ')';
  if (!ok) return td_irgen_fail(l, "attribute", loc, "'%s' takes (%s)", name, args);
  *at = s;
  return true;
}

bool td_irgen_marks(TdIrgen *l, uint32_t line, char on, TdAttrs *out) {
  uint64_t index;
  if (!td_map_get(&l->marks, line, &index) || !index) return true;
  td_map_put(l->arena, &l->marks, line, 0);
  const TdAstMark *m = &l->ast->marks.at[index - 1];
  for (const char *s = skip_blanks(m->text); *s; s = skip_blanks(s)) {
    TdAttr x;
    if (!parse_mark(l, &s, m->loc, on, &x)) return false;
    *out = td_attrs_add(l->arena, *out, x);
  }
  return true;
}

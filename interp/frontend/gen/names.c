/* names.c - names of what a unit declares: the printed form is loaded again, so a name must
 * not hide another that is used below it. */
#include <string.h>

#include "frontend/gen/irgen.h"

/* Words of the printed form. */
static bool is_reserved(const char *name) {
  static const char *const words[] = {"tide", "i8",   "i16", "i32",  "i64", "u8",  "u16",  "u32",
                                      "u64",  "bool", "f16", "bf16", "f32", "f64", "index"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strcmp(words[i], name) == 0) return true;
  return false;
}

/* Whether the map holds this interned name. */
static bool has(const TdMap *m, const char *name) {
  uint64_t n = 0;
  return td_map_get(m, (uint64_t)(uintptr_t)name, &n) && n;
}

/* Adds k to the number that the map holds for a name. */
static void count(TdIrgen *l, TdMap *m, const char *name, int k) {
  uint64_t n = 0;
  td_map_get(m, (uint64_t)(uintptr_t)name, &n);
  td_map_put(l->arena, m, (uint64_t)(uintptr_t)name, n + (uint64_t)(int64_t)k);
}

typedef bool (*IsFree)(const TdIrgen *l, const char *name);

/* Free from here on. */
static bool is_free_now(const TdIrgen *l, const char *name) {
  return !is_reserved(name) && !has(&l->visible, name) && !has(&l->outer, name) &&
         !td_sizes_has(l->sizes, name);
}

/* Free everywhere in the unit. */
static bool is_free_ever(const TdIrgen *l, const char *name) {
  return is_free_now(l, name) && !has(&l->ever, name);
}

/* Free everywhere for the thing outside that goes by it. */
static bool is_free_own(const TdIrgen *l, const char *name) {
  return !is_reserved(name) && !has(&l->ever, name);
}

/* A symbol called want, or want_1.. when that is not free. */
static TdSym declare(TdIrgen *l, const char *want, TdSymKind kind, IsFree is_free) {
  const char *name = td_names_str(l->session->names, want);
  bool anonymous = strcmp(name, "_") == 0;
  for (int i = 1; !anonymous && !is_free(l, name); i++)
    name = td_names_str(l->session->names, td_text_fmt(l->arena, "%s_%d", want, i));
  if (!anonymous) count(l, &l->visible, name, 1);
  if (!anonymous) count(l, &l->ever, name, 1);
  return td_store_sym(l->store, name, kind);
}

TdSym td_irgen_declare(TdIrgen *l, const char *want, TdSymKind kind) {
  return declare(l, want, kind, is_free_now);
}

TdSym td_irgen_declare_new(TdIrgen *l, const char *want, TdSymKind kind) {
  return declare(l, want, kind, is_free_ever);
}

TdSym td_irgen_declare_data(TdIrgen *l, const char *want, bool own) {
  TdSym s = declare(l, want, TD_SYM_LOCAL, own ? is_free_own : is_free_ever);
  td_sizes_ban(l->sizes, s->name);
  return s;
}

TdSym td_irgen_declare_param(TdIrgen *l, const char *name, TdSymKind kind) {
  TdSym s = td_store_sym(l->store, name, kind);
  count(l, &l->visible, s->name, 1);
  count(l, &l->ever, s->name, 1);
  td_sizes_ban(l->sizes, s->name);
  return s;
}

void td_irgen_hide(TdIrgen *l, TdSym s) {
  if (has(&l->visible, s->name)) count(l, &l->visible, s->name, -1);
}

void td_irgen_hide_all(TdIrgen *l, const TdStmts *block) {
  for (size_t i = 0; i < block->n; i++) {
    const TdStmt *s = block->at[i];
    bool declares = s->kind == TD_STMT_LOCAL || s->kind == TD_STMT_GET || s->kind == TD_STMT_SLOT;
    if (declares && s->sym) td_irgen_hide(l, s->sym);
  }
}

void td_irgen_note_outer_name(TdIrgen *l, const char *name) {
  if (!has(&l->outer, name)) count(l, &l->outer, name, 1);
}

static bool note_name(void *ud, const TdAstExpr *e) {
  bool outside = e->kind == TD_AST_NAME && e->name.binding != TD_AST_IS_LOCAL;
  if (outside) td_irgen_note_outer_name(ud, e->name.id);
  return true;
}

void td_irgen_note_outer(TdIrgen *l, const TdAstFn *fn) {
  TdAstVisitor v = {.expr = note_name, .ud = l};
  td_walk_ast_block(&v, &fn->body);
}

void td_irgen_note_design(TdIrgen *l, const TdUnit *design) {
  for (size_t i = 0; i < design->nparam; i++) count(l, &l->ever, design->param[i].sym->name, 1);
  for (size_t i = 0; i < design->nstream; i++) {
    count(l, &l->ever, design->stream[i].sym->name, 1);
    td_irgen_note_outer_name(l, design->stream[i].sym->name);
  }
}

bool td_irgen_is_taken(const TdIrgen *l, const char *name) {
  return is_reserved(name) || has(&l->ever, name);
}

bool td_irgen_is_unit_taken(void *ud, const char *name) {
  const TdIrgen *l = ud;
  return td_irgen_is_taken(l, name) || td_sizes_has(l->sizes, name);
}

void td_irgen_note_called(TdIrgen *l, const char *name) {
  if (!has(&l->called, name)) count(l, &l->called, name, 1);
}

bool td_irgen_is_called(void *ud, const char *name) {
  const TdIrgen *l = ud;
  return td_irgen_is_unit_taken(ud, name) || has(&l->called, name);
}

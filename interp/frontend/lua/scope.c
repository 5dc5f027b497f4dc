/* scope.c - variables in scope, upvalues, and Lua's limits on them. */
#include "frontend/lua/scope.h"

void td_scope_open(TdScope *s, TdArena *a, TdNames *names, TdDiag *diag) {
  *s = (TdScope){.arena = a, .diag = diag, .env = td_names_str(names, "_ENV")};
  TdAstFn *chunk = TD_NEW(a, TdAstFn);
  td_scope_open_fn(s, &s->chunk, chunk);
  td_scope_declare(s, s->env, (TdLoc){0});
  td_scope_activate(s, 1);
}

void td_scope_open_fn(TdScope *s, TdScopeFn *f, TdAstFn *fn) {
  *f = (TdScopeFn){.outer = s->fn, .fn = fn, .first = s->variables.n, .first_label = s->labels.n};
  s->fn = f;
  td_scope_open_block(s, &f->body, false);
}

void td_scope_close_fn(TdScope *s) {
  TdScopeFn *f = s->fn;
  td_scope_close_block(s);
  f->fn->upvals = (TdAstLocals){f->upvals.at, f->upvals.n};
  if (s->gotos.n > f->body.gotos) {
    const TdAstStmt *stmt = s->gotos.at[f->body.gotos].stmt;
    td_diag_set(s->diag, TD_USAGE, "goto-undefined", stmt->loc,
                "no visible label '%s' for this goto", stmt->jump.name);
  }
  s->fn = f->outer;
}

void td_scope_open_block(TdScope *s, TdScopeBlock *b, bool is_loop) {
  TdScopeFn *f = s->fn;
  *b = (TdScopeBlock){.outer = f->block,
                      .variables = f->variables,
                      .registers = f->registers,
                      .labels = s->labels.n,
                      .gotos = s->gotos.n,
                      .is_loop = is_loop};
  f->block = b;
}

void td_scope_close_block(TdScope *s) {
  TdScopeFn *f = s->fn;
  const TdScopeBlock *b = f->block;
  f->block = b->outer;
  f->variables = b->variables;
  f->registers = b->registers;
  s->variables.n = f->first + b->variables;
  s->labels.n = b->labels;
  for (size_t i = b->gotos; i < s->gotos.n; i++) s->gotos.at[i].variables = b->variables;
}

/* Pushes a variable that is not yet in scope; "too-many-locals" at `loc`. */
static void push(TdScope *s, TdAstLocal *v, TdLoc loc) {
  if (s->variables.n - s->fn->first == TD_SCOPE_MAX_LOCALS)
    td_diag_set(s->diag, TD_USAGE, "too-many-locals", loc,
                "more than %d local variables in a function", TD_SCOPE_MAX_LOCALS);
  td_vec_push(s->arena, &s->variables, v);
}

TdAstLocal *td_scope_declare(TdScope *s, const char *name, TdLoc loc) {
  TdAstLocal *v = TD_NEW(s->arena, TdAstLocal);
  *v = (TdAstLocal){.name = name, .loc = loc, .level = s->fn->fn->level};
  push(s, v, loc);
  return v;
}

void td_scope_declare_hidden(TdScope *s, size_t n, TdLoc loc) {
  while (n--) push(s, NULL, loc);
}

void td_scope_activate(TdScope *s, size_t n) {
  TdScopeFn *f = s->fn;
  for (; n; n--, f->variables++) {
    const TdAstLocal *v = s->variables.at[f->first + f->variables];
    if (!v || !v->constant) f->registers++;
  }
}

/* The variable of this name in scope in f, or NULL. */
static TdAstLocal *find_in(const TdScope *s, const TdScopeFn *f, const char *name) {
  for (size_t i = f->first + f->variables; i-- > f->first;) {
    TdAstLocal *v = s->variables.at[i];
    if (v && v->name == name) return v;
  }
  return NULL;
}

/* The variable of this name in scope here or in a function around, or NULL. */
static TdAstLocal *find(const TdScope *s, const char *name) {
  for (const TdScopeFn *f = s->fn; f; f = f->outer) {
    TdAstLocal *v = find_in(s, f, name);
    if (v) return v;
  }
  return NULL;
}

/* The place of v among the upvalues of f, made there and in the functions between where it is
 * missing; -1 when f needs none. */
static int upvalue(TdScope *s, TdScopeFn *f, const TdAstLocal *v, TdLoc loc) {
  if (v->level == f->fn->level || v->constant) return -1;
  for (size_t i = 0; i < f->upvals.n; i++)
    if (f->upvals.at[i] == v) return (int)i;
  upvalue(s, f->outer, v, loc);
  if (f->upvals.n == TD_SCOPE_MAX_UPVALS)
    td_diag_set(s->diag, TD_USAGE, "too-many-upvalues", loc, "more than %d upvalues in a function",
                TD_SCOPE_MAX_UPVALS);
  td_vec_push(s->arena, &f->upvals, v);
  return (int)f->upvals.n - 1;
}

TdAstName td_scope_resolve(TdScope *s, const char *id, TdLoc loc) {
  TdAstLocal *v = find(s, id);
  bool is_global = !v;
  if (is_global) v = find(s, s->env);
  bool is_local = v->level == s->fn->fn->level;
  if (!is_local) v->captured = true;
  return (TdAstName){.id = id,
                     .binding = is_global  ? TD_AST_IS_GLOBAL
                                : is_local ? TD_AST_IS_LOCAL
                                           : TD_AST_IS_UPVAL,
                     .upval = upvalue(s, s->fn, v, loc),
                     .var = v};
}

void td_scope_assign(TdScope *s, const TdAstExpr *target) {
  if (target->kind != TD_AST_NAME || target->name.binding == TD_AST_IS_GLOBAL) return;
  TdAstLocal *v = find(s, target->name.id);
  if (!v->assigned) v->assigned_at = target->loc;
  v->assigned = true;
  if (v->attrib == TD_AST_PLAIN) return;
  if (td_diag_failed(s->diag)) return;
  td_diag_set(s->diag, TD_USAGE, "const-assign", target->loc,
              "'%s' is a constant: it cannot be assigned", v->name);
  td_diag_note(s->diag, v->loc, "declared here");
}

void td_scope_reserve(TdScope *s, size_t n, TdLoc loc) {
  s->fn->registers += n;
  if (s->fn->registers >= TD_SCOPE_MAX_REGISTERS)
    td_diag_set(s->diag, TD_USAGE, "too-many-values", loc,
                "too many variables and values at once: Lua has %d registers for a function",
                TD_SCOPE_MAX_REGISTERS - 1);
}

void td_scope_release(TdScope *s, size_t n) {
  s->fn->registers -= n;
}

/* settle.c - which declarations hide something, and their new names. */
#include "ir/text/settle.h"

#include <string.h>

/* A search for the first declaration that hides something. */
typedef struct Search {
  TdCtx *ctx;
  TdArena *arena;
  TdMap known;   /* name -> the thing first seen under it */
  TdMap shared;  /* names of several things */
  TdMap visible; /* name -> how many declarations in scope have it */
  TdSym hiding;
} Search;

/* One scope: what `sym` declares, and what is declared and used inside. */
typedef struct Scope {
  TdArena *arena;
  TdSym sym;
  TdMap inner; /* symbols declared inside */
  bool hides;
} Scope;

static bool is_declaration(const TdStmt *s) {
  return s->sym && (s->kind == TD_STMT_FOR || s->kind == TD_STMT_LOCAL || s->kind == TD_STMT_GET ||
                    s->kind == TD_STMT_SLOT);
}

/* Notes a thing under a name: a symbol, or the name of a size for itself. */
static void know(Search *q, const char *name, const void *thing) {
  const void *other = td_map_getp(&q->known, name);
  if (!other) td_map_putp(q->arena, &q->known, name, (void *)(uintptr_t)thing);
  if (other && other != thing) td_map_putp(q->arena, &q->shared, name, q);
}

static bool know_expr(void *ud, const TdExpr *e) {
  if (e->sym) know(ud, e->sym->name, e->sym);
  return true;
}

static bool know_stmt(void *ud, const TdStmt *s) {
  if (s->sym) know(ud, s->sym->name, s->sym);
  return true;
}

static bool note_inner(void *ud, const TdStmt *s) {
  Scope *c = ud;
  if (is_declaration(s)) td_map_putp(c->arena, &c->inner, s->sym, c);
  return true;
}

/* Whether the use of a thing (a symbol, or a size's name) in scope c is one that c hides. */
static bool is_hidden(const Scope *c, const char *name, TdSym sym) {
  return name == c->sym->name && sym != c->sym && !(sym && td_map_getp(&c->inner, sym));
}

static bool look_expr(void *ud, const TdExpr *e) {
  Scope *c = ud;
  if (e->kind == TD_EXPR_SIZE) c->hides |= is_hidden(c, e->u.name, NULL);
  if (e->sym) c->hides |= is_hidden(c, e->sym->name, e->sym);
  return !c->hides;
}

/* The units and the extents that s names; its expressions are seen by look_expr. */
static bool look_stmt(void *ud, const TdStmt *s) {
  Scope *c = ud;
  if (s->kind == TD_STMT_CALL) c->hides |= is_hidden(c, s->sym->name, s->sym);
  for (int d = 0; s->type && s->type->kind == TD_T_TENSOR && d < s->type->rank; d++)
    td_walk_expr(s->type->dim[d], look_expr, c);
  for (uint32_t i = 0; i < s->nexpr && !c->hides; i++) td_walk_expr(s->expr[i], look_expr, c);
  return !c->hides;
}

/* Whether what `sym` declares hides something used in the n statements of its scope, or in the
 * condition that follows them (or NULL). */
static bool hides(const Search *q, TdSym sym, const TdStmt *const *scope, size_t n,
                  const TdExpr *cond) {
  if (!td_map_getp(&q->shared, sym->name)) return false;
  Scope c = {.arena = q->arena, .sym = sym};
  for (size_t i = 0; i < n; i++) td_walk_stmt(q->ctx, scope[i], note_inner, &c);
  for (size_t i = 0; i < n && !c.hides; i++) td_walk_stmt(q->ctx, scope[i], look_stmt, &c);
  if (cond && !c.hides) td_walk_expr(cond, look_expr, &c);
  return c.hides;
}

/* Counts one more, or one less, declaration in scope under a name. */
static void show(Search *q, const char *name, int by) {
  uint64_t key = (uint64_t)(uintptr_t)name, n = 0;
  td_map_get(&q->visible, key, &n);
  td_map_put(q->arena, &q->visible, key, n + (uint64_t)by);
}

/* Takes the declaration of sym, whose scope is as for hides. */
static void declare(Search *q, TdSym sym, const TdStmt *const *scope, size_t n,
                    const TdExpr *cond) {
  bool seen = td_map_getp(&q->visible, sym->name) && strcmp(sym->name, "_") != 0;
  if (!q->hiding && (seen || hides(q, sym, scope, n, cond))) q->hiding = sym;
  show(q, sym->name, 1);
}

/* Looks at the declarations of s and below; `cond` is what follows the statements of a block. */
static void search(Search *q, const TdStmt *s, const TdExpr *cond) {
  td_ctx_enter(q->ctx);
  if (s->kind == TD_STMT_FOR) declare(q, s->sym, s->kid, 1, NULL);
  bool post = s->kind == TD_STMT_WHILE && s->post, block = s->kind == TD_STMT_BLOCK;
  for (uint32_t i = 0; i < s->nkid && !q->hiding; i++) {
    const TdStmt *d = s->kid[i];
    search(q, d, post ? s->expr[0] : NULL);
    if (block && is_declaration(d) && d->kind != TD_STMT_FOR)
      declare(q, d->sym, s->kid + i + 1, s->nkid - i - 1, cond);
  }
  if (s->kind == TD_STMT_FOR) show(q, s->sym->name, -1);
  for (uint32_t i = 0; block && i < s->nkid && !q->hiding; i++)
    if (is_declaration(s->kid[i]) && s->kid[i]->kind != TD_STMT_FOR)
      show(q, s->kid[i]->sym->name, -1);
  td_ctx_leave(q->ctx);
}

/* A symbol of u, a task of `design` (or NULL), that must change its name, or NULL. */
static TdSym find_hiding(TdStore *st, const TdUnit *u, const TdUnit *design) {
  TdArena *a = td_arena_scratch(st->session->ctx);
  Search q = {.ctx = st->session->ctx, .arena = a};
  for (size_t i = 0; i < u->nsize; i++) know(&q, u->size[i].name, u->size[i].name);
  for (size_t i = 0; i < u->nparam; i++) show(&q, u->param[i].sym->name, 1);
  for (size_t i = 0; i < u->ncoord; i++) show(&q, u->coord[i]->name, 1);
  for (size_t i = 0; design && i < design->nstream; i++) show(&q, design->stream[i].sym->name, 1);
  td_walk_stmt(q.ctx, u->body, know_stmt, &q);
  td_walk_exprs(q.ctx, u->body, know_expr, &q);
  search(&q, u->body, NULL);
  td_arena_free(a);
  return q.hiding;
}

/* Tokens that a unit gets, and the symbols that it uses. */
typedef struct Tokens {
  TdArena *arena;
  TdMap used;
  TD_VEC(TdSym) got;
} Tokens;

static bool note_use(void *ud, const TdExpr *e) {
  Tokens *t = ud;
  if (e->sym) td_map_putp(t->arena, &t->used, e->sym, t);
  return true;
}

static bool note_get(void *ud, const TdStmt *s) {
  Tokens *t = ud;
  bool named = s->kind == TD_STMT_GET && s->sym && strcmp(s->sym->name, "_") != 0;
  if (named) td_vec_push(t->arena, &t->got, s->sym);
  return true;
}

/* u with "_" for each token that is got and used nowhere: source that names it is refused. */
static const TdUnit *drop_tokens(TdStore *st, const TdUnit *u) {
  TdCtx *ctx = st->session->ctx;
  Tokens t = {.arena = td_arena_scratch(ctx)};
  TdSubst rename = td_subst_new(st);
  bool any = false;
  td_walk_stmt(ctx, u->body, note_get, &t);
  if (t.got.n) td_walk_exprs(ctx, u->body, note_use, &t);
  for (size_t i = 0; i < t.got.n; i++) {
    TdSym old = t.got.at[i];
    if (td_map_getp(&t.used, old)) continue;
    td_subst_sym(&rename, old, td_store_sym(st, "_", (TdSymKind)old->kind));
    any = true;
  }
  td_arena_free(t.arena);
  return any ? td_unit_with_body(st, u, td_subst_in_stmt(&rename, u->body)) : u;
}

/* A name like `want` that is free in u and is none of a stream of `design` (or NULL). */
static const char *fresh_name(TdStore *st, const TdUnit *u, const TdUnit *design,
                              const char *want) {
  const char *name = td_edit_fresh_name(st, u, want);
  size_t i = 0;
  for (int n = 1; design && i < design->nstream; i++) {
    if (design->stream[i].sym->name != name) continue;
    do name = td_names_str(st->session->names, td_text_fmt(st->arena, "%s_%d", want, n++));
    while (td_edit_fresh_name(st, u, name) != name);
    i = (size_t)-1;
  }
  return name;
}

const TdUnit *td_settle_names(TdStore *st, const TdUnit *u, const TdUnit *design) {
  TdSym old;
  if (u->body) u = drop_tokens(st, u);
  while (u->body && (old = find_hiding(st, u, design))) {
    const char *name = fresh_name(st, u, design, old->name);
    TdSubst rename = td_subst_new(st);
    td_subst_sym(&rename, old, td_store_sym(st, name, (TdSymKind)old->kind));
    u = td_unit_with_body(st, u, td_subst_in_stmt(&rename, u->body));
  }
  return u;
}

/* stp_site.c - which call in the source makes a node: nodes of one call are a family. */
#include <string.h>

#include "bind/step/stp.h"

/* The calls of one operator on one line, in order of evaluation. */
typedef struct Line {
  size_t n;
  TdStpSite *site;
  uint64_t calls;
} Line;

typedef struct Search {
  TdArena *arena;
  uint32_t line;
  const char *name;
  TD_VEC(const TdAstExpr *) found;
} Search;

/* The place of the name that e calls, if that is the operator. */
static const TdLoc *called_at(const TdAstExpr *e, const char *name) {
  if (e->kind == TD_AST_METHOD && strcmp(e->call.method, name) == 0) return &e->loc;
  if (e->kind != TD_AST_CALL || e->call.callee->kind != TD_AST_FIELD) return NULL;
  return strcmp(e->call.callee->field.key, name) == 0 ? &e->call.callee->loc : NULL;
}

static bool look(void *ud, const TdAstExpr *e) {
  Search *s = ud;
  const TdLoc *loc = called_at(e, s->name);
  if (loc && loc->line == s->line) td_vec_push(s->arena, &s->found, e);
  return true;
}

typedef struct Inside {
  const TdAstExpr *what;
  bool found;
} Inside;

static bool look_inside(void *ud, const TdAstExpr *e) {
  Inside *s = ud;
  s->found |= e == s->what;
  return !s->found;
}

/* Whether a runs before b: it is an operand of b, or stands before it. */
static bool runs_before(const TdAstExpr *a, const TdAstExpr *b) {
  Inside in = {.what = a}, out = {.what = b};
  td_walk_ast_expr(&(TdAstVisitor){.expr = look_inside, .ud = &in}, b);
  if (in.found) return true;
  td_walk_ast_expr(&(TdAstVisitor){.expr = look_inside, .ud = &out}, a);
  return !out.found && a->loc.col < b->loc.col;
}

/* The calls of an operator on a line of a source. */
static Line *make_line(lua_State *L, TdStpBox *b, uint32_t source, uint32_t line,
                       const char *name) {
  Line *l = TD_NEW(b->arena, Line);
  const TdAst *ast = source ? td_bind_ast(L, source) : NULL;
  Search s = {.arena = b->arena, .line = line, .name = name};
  if (ast) td_walk_ast_block(&(TdAstVisitor){.expr = look, .ud = &s}, &ast->main->body);
  for (size_t i = 1; i < s.found.n; i++)
    for (size_t k = i; k && runs_before(s.found.at[k], s.found.at[k - 1]); k--) {
      const TdAstExpr *t = s.found.at[k];
      s.found.at[k] = s.found.at[k - 1];
      s.found.at[k - 1] = t;
    }
  l->n = s.found.n ? s.found.n : 1;
  l->site = TD_NEWN(b->arena, TdStpSite, l->n);
  for (size_t i = 0; i < l->n; i++) {
    l->site[i] = (TdStpSite){.loc = {.source = source, .line = line}, .id = b->nsite++};
    if (i >= s.found.n) continue;
    l->site[i].loc = *called_at(s.found.at[i], name);
    l->site[i].name = td_context_name(ast, s.found.at[i]);
  }
  return l;
}

TdStpSite td_stp_site(lua_State *L, TdStpBox *b, const char *name) {
  lua_Debug ar;
  uint32_t source = td_bind_level_source(L, 1);
  uint32_t line = 0;
  if (lua_getstack(L, 1, &ar) && lua_getinfo(L, "l", &ar) && ar.currentline > 0)
    line = (uint32_t)ar.currentline;
  uint64_t key = td_map_mix((uint64_t)source << 32 | line, td_map_hash(name, strlen(name))), at;
  if (!td_map_get(&b->sites, key, &at)) {
    at = (uint64_t)(uintptr_t)make_line(L, b, source, line, name);
    td_map_put(b->arena, &b->sites, key, at);
  }
  Line *l = (Line *)(uintptr_t)at;
  return l->site[l->calls++ % l->n];
}

/* method_call.c - which call of a method in the source is the one being made: of several on a line
 * the n-th, by how many were seen. */
#include <string.h>

#include "bind/bind.h"
#include "frontend/lua/walk_ast.h"

/* The calls of method `name` that begin at a line, in source order. */
typedef struct MethodSearch {
  const char *name;
  uint32_t line;
  size_t want;
  const TdAstExpr *found;
} MethodSearch;

static bool look_method(void *ud, const TdAstExpr *e) {
  MethodSearch *s = ud;
  if (e->kind == TD_AST_METHOD && e->first == s->line && strcmp(e->call.method, s->name) == 0 &&
      s->want-- == 0)
    s->found = e;
  return !s->found;
}

const TdAstExpr *td_bind_method_call(lua_State *L, TdArena *a, TdMap *calls, const char *name,
                                     const TdAst **ast, uint32_t *source) {
  lua_Debug ar;
  if (!lua_getstack(L, 1, &ar) || !lua_getinfo(L, "Sl", &ar) || ar.currentline <= 0) return NULL;
  TdBind *b = td_bind_enter(L);
  *source = td_sources_find(b->session->sources, ar.source);
  *ast = *source ? td_bind_ast(L, *source) : NULL;
  if (!*ast) return NULL;
  uint64_t key = ((uint64_t)*source << 40) + (uint64_t)ar.currentline * 2 + (*name == 's'),
           seen = 0;
  td_map_get(calls, key, &seen);
  td_map_put(a, calls, key, seen + 1);
  MethodSearch s = {.name = name, .line = (uint32_t)ar.currentline, .want = (size_t)seen};
  TdAstVisitor v = {.expr = look_method, .ud = &s};
  td_walk_ast_block(&v, &(*ast)->main->body);
  return s.found;
}

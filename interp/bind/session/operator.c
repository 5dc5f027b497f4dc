/* operator.c - the operator or index of a line whose metamethod is running. */
#include "bind/session/operator.h"

#include <string.h>

#include "bind/session/fault.h"
#include "frontend/lua/walk_ast.h"

/* Events of metamethods by the names that lua_getinfo gives, and the operators. */
static const struct {
  const char *event, *sign;
} events[] = {{"add", "+"},     {"sub", "-"},  {"mul", "*"},  {"div", "/"},
              {"idiv", "//"},   {"mod", "%"},  {"pow", "^"},  {"band", "&"},
              {"bor", "|"},     {"bxor", "~"}, {"shl", "<<"}, {"shr", ">>"},
              {"concat", ".."}, {"unm", "-"},  {"bnot", "~"}, {"len", "#"}};

/* Looks for what may be running on a line. */
typedef struct Search {
  TdLuaFault at;      /* the function whose line it is */
  const char *sign;   /* of an operator, or NULL */
  bool unary, direct; /* the arguments of the metamethod are the first on the stack */
  const TdAstExpr *found;
  size_t n;
} Search;

/* Whether e may have the value at idx: false if it is known to be another. */
static bool may_be(Search *s, const TdAstExpr *e, int idx) {
  lua_State *L = s->at.L;
  const TdAstExpr *c = e->constant;
  if (c && c->kind == TD_AST_INT) {
    int is = 0;
    lua_Integer x = lua_tointegerx(L, idx, &is);
    return is && x == c->integer;
  }
  if (!td_fault_push_value(&s->at, e)) return true;
  bool same = lua_rawequal(L, -1, idx);
  lua_pop(L, 1);
  return same;
}

static bool look(void *ud, const TdAstExpr *e) {
  Search *s = ud;
  if (e->loc.line != s->at.line) return true;
  bool fits = false;
  if (e->kind == TD_AST_INDEX && !s->sign)
    fits = !s->direct || (may_be(s, e->index.of, 1) && may_be(s, e->index.key, 2));
  else if (e->kind == TD_AST_BINARY && s->sign && !s->unary)
    fits = strcmp(td_ast_binary_text(e->binary.op), s->sign) == 0 &&
           (!s->direct || (may_be(s, e->binary.left, 1) && may_be(s, e->binary.right, 2)));
  else if (e->kind == TD_AST_UNARY && s->sign && s->unary)
    fits = strcmp(td_ast_unary_text(e->unary.op), s->sign) == 0;
  if (fits) s->found = s->n++ ? NULL : e;
  return true;
}

const TdAstExpr *td_bind_find_operator(lua_State *L, const TdAst *ast, uint32_t line, int level,
                                       const char *event) {
  Search s = {.at = {.L = L, .level = level, .line = line}};
  for (size_t i = 0; i < sizeof events / sizeof *events; i++)
    if (strcmp(events[i].event, event) == 0) s.sign = events[i].sign;
  if (!s.sign && !strstr(event, "index")) return NULL;
  s.unary = strcmp(event, "unm") == 0 || strcmp(event, "bnot") == 0 || strcmp(event, "len") == 0;
  s.direct = level == 1 && lua_gettop(L) >= 2;
  TdAstVisitor v = {.expr = look, .ud = &s};
  td_walk_ast_block(&v, &ast->main->body);
  return s.found;
}

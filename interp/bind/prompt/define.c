/* define.c - for editors: where the name at a place of a text is declared, whether a text is Lua,
 * the help on what stands at a place, and waiting for one of several inputs. */
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "bind/prompt/prompt.h"
#include "frontend/lua/parse.h"
#include "frontend/lua/walk_ast.h"

/* A name that is looked for: first the expression at a place, then the declaration of a global. */
typedef struct Search {
  uint32_t line, col;
  const char *id;          /* of a global; NULL: not found yet */
  const TdAstLocal *local; /* or this variable */
  TdLoc found;             /* of the global: its first assignment or definition */
} Search;

static bool covers(TdLoc loc, uint32_t line, uint32_t col, size_t n) {
  return loc.line == line && loc.col <= col && col <= loc.col + n;
}

static bool look_name(void *ud, const TdAstExpr *e) {
  Search *s = ud;
  if (e->kind != TD_AST_NAME || !covers(e->loc, s->line, s->col, strlen(e->name.id))) return true;
  if (e->name.binding == TD_AST_IS_GLOBAL)
    s->id = e->name.id;
  else
    s->local = e->name.var;
  return true;
}

/* The variables that a statement declares, when the place is on one of them. */
static bool look_declared(void *ud, const TdAstStmt *st) {
  Search *s = ud;
  TdAstLocals vars = {0};
  if (st->kind == TD_AST_LOCAL) vars = st->local.vars;
  if (st->kind == TD_AST_FOR || st->kind == TD_AST_FOR_IN) vars = st->each.vars;
  for (size_t i = 0; i < vars.n; i++)
    if (covers(vars.at[i]->loc, s->line, s->col, strlen(vars.at[i]->name))) s->local = vars.at[i];
  return true;
}

/* Notes the first place where the global gets a value. */
static void note_target(Search *s, const TdAstExpr *target) {
  if (target->kind == TD_AST_NAME && target->name.binding == TD_AST_IS_GLOBAL &&
      strcmp(target->name.id, s->id) == 0 && !s->found.line)
    s->found = target->loc;
}

static bool look_global(void *ud, const TdAstStmt *st) {
  Search *s = ud;
  if (st->kind == TD_AST_DEFINE) note_target(s, st->function.target);
  for (size_t i = 0; st->kind == TD_AST_ASSIGN && i < st->assign.targets.n; i++)
    note_target(s, st->assign.targets.at[i]);
  return true;
}

/* The tree of the text at slot 1, or NULL with d filled; in arena a. */
static const TdAst *parse(lua_State *L, TdArena *a, TdSources *sources, TdDiag *d) {
  size_t n;
  const char *text = luaL_checklstring(L, 1, &n);
  uint32_t id = td_sources_add(sources, "=text", text, n);
  return td_parse_chunk(a, td_names_new(a), sources, id, TD_PARSE_FILE, d);
}

/* session.define(text, line, column): line and column of the declaration of the name there, its
 * name; nil when there is none. */
static int l_define(lua_State *L) {
  TdArena *a = td_bind_arena(L);
  TdDiag d = td_bind_diag(a);
  Search s = {.line = (uint32_t)luaL_checkinteger(L, 2), .col = (uint32_t)luaL_checkinteger(L, 3)};
  const TdAst *ast = parse(L, a, td_sources_new(a), &d);
  if (!ast) return 0;
  td_walk_ast_block(&(TdAstVisitor){.expr = look_name, .stmt = look_declared, .ud = &s},
                    &ast->main->body);
  if (s.id) td_walk_ast_block(&(TdAstVisitor){.stmt = look_global, .ud = &s}, &ast->main->body);
  TdLoc at = s.local ? s.local->loc : s.found;
  if (!at.line) return 0;
  lua_pushinteger(L, at.line);
  lua_pushinteger(L, at.col);
  lua_pushstring(L, s.local ? s.local->name : s.id);
  return 3;
}

/* session.syntax(text): nil, or {line =, col =, message =, help =} of what is no Lua. */
static int l_syntax(lua_State *L) {
  TdArena *a = td_bind_arena(L);
  TdDiag d = td_bind_diag(a);
  if (parse(L, a, td_sources_new(a), &d)) return 0;
  lua_createtable(L, 0, 5);
  td_bind_set_integer(L, "line", d.loc.line);
  td_bind_set_integer(L, "col", d.loc.col);
  td_bind_set_string(L, "message", d.message);
  td_bind_set_string(L, "help", d.help);
  td_bind_set_string(L, "code", d.code);
  return 1;
}

/* session.inspect(text, cursor): help on what stands at that byte, or nil. */
static int l_inspect(lua_State *L) {
  size_t n;
  const char *text = luaL_checklstring(L, 1, &n);
  lua_Integer cursor = luaL_checkinteger(L, 2);
  luaL_argcheck(L, cursor >= 0 && (size_t)cursor <= n, 2, "outside the text");
  TdText out = td_text_new(td_bind_arena(L));
  if (!td_prompt_inspect(L, text, n, (size_t)cursor, &out)) return 0;
  lua_pushlstring(L, td_text_str(&out), out.n);
  return 1;
}

/* session.wait(seconds, file, [file]): the number of the first file that has input or is at its
 * end, or nil after that many seconds, if they are not nil. Files without a buffer. */
static int l_wait(lua_State *L) {
  struct pollfd input[2];
  nfds_t n = 0;
  int limit = lua_isnoneornil(L, 1) ? -1 : (int)(1000 * luaL_checknumber(L, 1));
  for (int i = 2; i <= lua_gettop(L) && n < sizeof input / sizeof *input; i++) {
    luaL_Stream *file = luaL_checkudata(L, i, LUA_FILEHANDLE);
    luaL_argcheck(L, file->closef, i, "closed");
    input[n++] = (struct pollfd){.fd = fileno(file->f), .events = POLLIN};
  }
  if (poll(input, n, limit) <= 0) return 0;
  for (nfds_t i = 0; i < n; i++) {
    if (!input[i].revents) continue;
    lua_pushinteger(L, (lua_Integer)i + 1);
    return 1;
  }
  return 0;
}

void td_define_functions(lua_State *L) {
  static const luaL_Reg functions[] = {{"define", l_define},
                                       {"syntax", l_syntax},
                                       {"inspect", l_inspect},
                                       {"wait", l_wait},
                                       {NULL, NULL}};
  luaL_setfuncs(L, functions, 0);
}

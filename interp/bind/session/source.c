/* source.c - every chunk of Lua that is loaded is kept, so that functions have a source and
 * errors a caret. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/home.h"
#include "bind/bind.h"
#include "bind/session/operator.h"
#include "bind/session/which.h"
#include "frontend/lua/parse.h"
#include "frontend/lua/walk_ast.h"

uint32_t td_bind_keep_source(lua_State *L, const char *chunkname, const char *text, size_t n) {
  TdBind *b = td_bind_enter(L);
  uint32_t id = td_sources_find(b->session->sources, chunkname);
  size_t have;
  const char *old = id ? td_sources_text(b->session->sources, id, &have) : NULL;
  if (old && have == n && memcmp(old, text, n) == 0) return id;
  return td_sources_add(b->session->sources, chunkname, text, n);
}

const TdAst *td_bind_parse(lua_State *L, uint32_t id, TdDiag *d) {
  TdBind *b = td_bind_enter(L);
  const TdAst *ast = td_map_getp(&b->asts, (void *)(uintptr_t)id);
  if (ast) return ast;
  const char *chunk = td_sources_chunk(b->session->sources, id);
  bool input = strncmp(chunk, "=tide:", 6) == 0;
  ast = td_parse_chunk(b->session->arena, b->session->names, b->session->sources, id,
                       *chunk == '@' ? TD_PARSE_FILE
                       : input       ? TD_PARSE_INPUT
                                     : 0,
                       d);
  if (ast) td_map_putp(b->session->arena, &b->asts, (void *)(uintptr_t)id, (void *)(uintptr_t)ast);
  return ast;
}

const TdAst *td_bind_ast(lua_State *L, uint32_t id) {
  TdDiag d = {.arena = td_bind_enter(L)->session->arena};
  return td_bind_parse(L, id, &d);
}

/* Reads a whole file onto the stack as a string; false with an error message there instead. */
static bool push_file(lua_State *L, const char *path) {
  FILE *f = path ? fopen(path, "rb") : stdin;
  if (!f) {
    lua_pushfstring(L, "cannot open %s: %s", path, strerror(errno));
    return false;
  }
  luaL_Buffer buffer;
  luaL_buffinit(L, &buffer);
  size_t n;
  do {
    char *p = luaL_prepbuffer(&buffer);
    n = fread(p, 1, LUAL_BUFFERSIZE, f);
    luaL_addsize(&buffer, n);
  } while (n);
  bool bad = ferror(f) != 0;
  if (path) fclose(f);
  luaL_pushresult(&buffer);
  if (!bad) return true;
  lua_pop(L, 1);
  lua_pushfstring(L, "cannot read %s", path ? path : "stdin");
  return false;
}

/* Where the code of a file begins for luaL_loadbuffer: past a byte order mark; a '#' line becomes a
 * comment. */
static void skip_start(lua_State *L) {
  size_t n;
  const char *s = lua_tolstring(L, -1, &n);
  size_t bom = n >= 3 && memcmp(s, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
  if (n > bom && s[bom] == '#') {
    lua_pushliteral(L, "--");
    lua_pushlstring(L, s + bom, n - bom);
    lua_concat(L, 2);
  } else if (bom) {
    lua_pushlstring(L, s + bom, n - bom);
  } else {
    return;
  }
  lua_remove(L, -2);
}

/* Loads the text on top of the stack under a chunk name and keeps it; leaves function, or nil and
 * message. */
static int load_kept(lua_State *L, const char *chunkname, bool file) {
  size_t n;
  const char *text = lua_tolstring(L, -1, &n);
  bool binary = n && *text == *LUA_SIGNATURE;
  if (!binary) td_bind_keep_source(L, chunkname, text, n);
  if (file) skip_start(L);
  text = lua_tolstring(L, -1, &n);
  return luaL_loadbufferx(L, text, n, chunkname, NULL);
}

/* loadfile(path, mode, env). */
static int l_loadfile(lua_State *L) {
  const char *path = luaL_optstring(L, 1, NULL);
  lua_settop(L, 3);
  if (!push_file(L, path)) {
    lua_pushnil(L);
    lua_insert(L, -2);
    return 2;
  }
  const char *chunk = path ? lua_pushfstring(L, "@%s", path) : lua_pushliteral(L, "=stdin");
  lua_insert(L, -2);
  if (load_kept(L, chunk, true) != LUA_OK) {
    lua_pushnil(L);
    lua_insert(L, -2);
    return 2;
  }
  if (!lua_isnil(L, 3)) {
    lua_pushvalue(L, 3);
    if (!lua_setupvalue(L, -2, 1)) lua_pop(L, 1);
  }
  return 1;
}

/* dofile(path). */
static int l_dofile(lua_State *L) {
  const char *path = luaL_optstring(L, 1, NULL);
  lua_settop(L, 1);
  if (!push_file(L, path)) return lua_error(L);
  const char *chunk = path ? lua_pushfstring(L, "@%s", path) : lua_pushliteral(L, "=stdin");
  lua_insert(L, -2);
  if (load_kept(L, chunk, true) != LUA_OK) return lua_error(L);
  int below = lua_gettop(L) - 1;
  lua_call(L, 0, LUA_MULTRET);
  return lua_gettop(L) - below;
}

/* The pieces that a reader function gives, joined on top of the stack. */
static void push_pieces(lua_State *L) {
  luaL_Buffer buffer;
  luaL_buffinit(L, &buffer);
  for (;;) {
    lua_pushvalue(L, 1);
    lua_call(L, 0, 1);
    size_t n = 0;
    if (!lua_isnil(L, -1) && !lua_isstring(L, -1))
      luaL_error(L, "reader function must return a string");
    lua_tolstring(L, -1, &n);
    if (n == 0) break;
    luaL_addvalue(&buffer);
  }
  lua_pop(L, 1);
  luaL_pushresult(&buffer);
}

/* Pushes the chunk name for a text that is called `name`: "=gen" is "=gen#2" when another text has
 * that name, so that the functions of both keep their sources. Files keep their paths. */
static const char *push_chunk_name(lua_State *L, const char *name, const char *text, size_t n) {
  TdSources *sources = td_bind_enter(L)->session->sources;
  const char *own = lua_pushstring(L, name);
  for (int i = 2; *name == '='; i++) {
    size_t have;
    uint32_t id = td_sources_find(sources, own);
    const char *old = id ? td_sources_text(sources, id, &have) : NULL;
    if (!old || (have == n && memcmp(old, text, n) == 0)) break;
    lua_pop(L, 1);
    own = lua_pushfstring(L, "%s#%d", name, i);
  }
  return own;
}

/* load(chunk, name, mode, env): upvalue 1 is Lua's own load, which does everything but keep the
 * text. */
static int l_load(lua_State *L) {
  bool has_env = !lua_isnone(L, 4);
  int type = lua_type(L, 1);
  luaL_argexpected(L, type == LUA_TSTRING || type == LUA_TFUNCTION, 1, "string or function");
  lua_settop(L, 4);
  if (type == LUA_TFUNCTION) {
    push_pieces(L);
    lua_replace(L, 1);
  }
  size_t n;
  const char *text = lua_tolstring(L, 1, &n);
  const char *name = luaL_optstring(L, 2, type == LUA_TFUNCTION ? "=(load)" : text);
  name = push_chunk_name(L, name, text, n);
  lua_replace(L, 2);
  if (!(n && *text == *LUA_SIGNATURE)) td_bind_keep_source(L, name, text, n);
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  if (!has_env) lua_settop(L, 4);
  lua_call(L, has_env ? 4 : 3, LUA_MULTRET);
  return lua_gettop(L);
}

/* Whether a chunk is a file of stdlib, which lies in folder home; none does in NULL. */
static bool is_stdlib(const char *source, const char *home) {
  static const char below[] = "/stdlib/";
  size_t n = home ? strlen(home) : 0;
  return n && *source == '@' && strncmp(source + 1, home, n) == 0 &&
         strncmp(source + 1 + n, below, sizeof below - 1) == 0;
}

/* Whether a chunk is a file of Tide's own stdlib. */
static bool is_own(const char *source) {
  char home[4096];
  return strstr(source, "/stdlib/") && td_home_find("stdlib", home, sizeof home) &&
         is_stdlib(source, home);
}

/* The searcher of require for Lua files. */
static int l_searcher(lua_State *L) {
  const char *name = luaL_checkstring(L, 1);
  td_stdlib_push_global(L, "package");
  lua_getfield(L, -1, "searchpath");
  lua_pushvalue(L, 1);
  lua_getfield(L, -3, "path");
  lua_call(L, 2, 2);
  if (lua_isnil(L, -2)) return 1;
  lua_pop(L, 1);
  const char *path = lua_tostring(L, -1);
  if (!push_file(L, path)) return lua_error(L);
  const char *chunk = lua_pushfstring(L, "@%s", path);
  lua_insert(L, -2);
  if (load_kept(L, chunk, true) != LUA_OK)
    return luaL_error(L, "error loading module '%s' from file '%s':\n\t%s", name, path,
                      lua_tostring(L, -1));
  if (is_own(chunk)) td_stdlib_enclose(L);
  lua_pushstring(L, path);
  return 2;
}

void td_bind_open_source(lua_State *L) {
  lua_getglobal(L, "load");
  lua_pushcclosure(L, l_load, 1);
  lua_setglobal(L, "load");
  lua_pushcfunction(L, l_loadfile);
  lua_setglobal(L, "loadfile");
  lua_pushcfunction(L, l_dofile);
  lua_setglobal(L, "dofile");
  lua_getglobal(L, "package");
  lua_getfield(L, -1, "searchers");
  lua_pushcfunction(L, l_searcher);
  lua_rawseti(L, -2, 2);
  lua_pop(L, 2);
}

/* The source of the function described by ar: kept when it was loaded, or read again from its file.
 */
static uint32_t source_of(lua_State *L, const lua_Debug *ar) {
  TdBind *b = td_bind_enter(L);
  uint32_t id = td_sources_find(b->session->sources, ar->source);
  if (id || *ar->source == '=') return id;
  if (*ar->source != '@') return td_bind_keep_source(L, ar->source, ar->source, strlen(ar->source));
  if (push_file(L, ar->source + 1)) {
    size_t n;
    const char *text = lua_tolstring(L, -1, &n);
    id = td_bind_keep_source(L, ar->source, text, n);
  }
  lua_pop(L, 1);
  return id;
}

/* Whether fn has the parameters and upvalues of the Lua function at idx. */
static bool fits(lua_State *L, int idx, const TdAstFn *fn, const lua_Debug *ar) {
  if (fn->params.n != ar->nparams || fn->upvals.n != ar->nups ||
      fn->is_vararg != (ar->isvararg != 0))
    return false;
  for (size_t i = 0; i < fn->params.n; i++) {
    lua_pushvalue(L, idx);
    const char *name = lua_getlocal(L, NULL, (int)i + 1);
    lua_pop(L, 1);
    if (name && strcmp(name, fn->params.at[i]->name) != 0) return false;
  }
  for (size_t i = 0; i < fn->upvals.n; i++) {
    const char *name = lua_getupvalue(L, idx, (int)i + 1);
    if (name) lua_pop(L, 1);
    if (name && strcmp(name, fn->upvals.at[i]->name) != 0) return false;
  }
  return true;
}

bool td_bind_function(lua_State *L, int idx, const TdAst **ast, const TdAstFn **fn, TdDiag *d) {
  TdLoc none = {0};
  lua_Debug ar;
  idx = lua_absindex(L, idx);
  lua_pushvalue(L, idx);
  lua_getinfo(L, ">Su", &ar);
  if (*ar.what == 'C')
    return td_diag_set(d, TD_USAGE, "no-source", none, "a C function has no source");
  uint32_t id = source_of(L, &ar);
  *ast = id ? td_bind_ast(L, id) : NULL;
  if (!*ast) {
    if (td_version_is_module(L)) td_diag_help(d, "run this with the program tide");
    return td_diag_set(d, TD_USAGE, "no-source", none,
                       "the source of this function is not known "
                       "(chunk %s): load it from a file or a string",
                       ar.short_src);
  }
  TdAstFns all =
      td_ast_functions(*ast, d->arena, (uint32_t)ar.linedefined, (uint32_t)ar.lastlinedefined);
  TD_VEC(const TdAstFn *) list = {0};
  for (size_t i = 0; i < all.n; i++)
    if (fits(L, idx, all.at[i], &ar)) td_vec_push(d->arena, &list, all.at[i]);
  int top = lua_gettop(L);
  *fn = list.n == 1 ? list.at[0] : list.n ? td_which_function(L, idx, id, list.at, list.n) : NULL;
  td_bind_settop(L, top);
  if (*fn) return true;
  TdLoc at = {.source = id, .line = (uint32_t)ar.linedefined, .col = 1, .len = 1};
  if (!list.n)
    return td_diag_set(d, TD_USAGE, "no-source", at,
                       "the source no longer holds this function: "
                       "was it edited since it was loaded?");
  return td_diag_set(d, TD_USAGE, "ambiguous-function", at,
                     "several functions on this line cannot be "
                     "told apart: give each a line of its own");
}

/* Looks for the call that the Lua code at a line is making. */
typedef struct CallSearch {
  uint32_t line;
  const char *name;  /* of the function called, or NULL */
  bool of_element;   /* what is called is an element, as in i8[4](0), which has no name */
  const char *text;  /* a string literal among its arguments, or NULL */
  const char *event; /* it is no call but the operator or index of this metamethod, or NULL */
  const TdAstExpr *call, *argument;
} CallSearch;

static const char *called_name(const TdAstExpr *e) {
  if (e->kind == TD_AST_METHOD) return e->call.method;
  const TdAstExpr *f = e->call.callee;
  return f->kind == TD_AST_NAME ? f->name.id : f->kind == TD_AST_FIELD ? f->field.key : NULL;
}

static bool look_call(void *ud, const TdAstExpr *e) {
  CallSearch *s = ud;
  if (e->kind != TD_AST_CALL && e->kind != TD_AST_METHOD) return true;
  if (s->line < e->first || s->line > e->last) return true;
  const char *name = called_name(e);
  bool of_element = e->kind == TD_AST_CALL && e->call.callee->kind == TD_AST_INDEX;
  if (s->of_element ? !of_element : s->name && (!name || strcmp(name, s->name) != 0)) return true;
  for (size_t i = 0; s->text && i < e->call.args.n; i++) {
    const TdAstExpr *a = e->call.args.at[i];
    if (a->kind == TD_AST_STRING && strcmp(a->string.at, s->text) == 0) {
      s->call = e;
      s->argument = a;
      return true;
    }
  }
  if (!s->argument && (!s->call || e->loc.line == s->line)) s->call = e;
  return true;
}

/* Whether a name is what Lua calls an element by a number or a variable. */
static bool is_element(const char *name) {
  return name && (strcmp(name, "integer index") == 0 || strcmp(name, "?") == 0);
}

/* The call that Lua code is making of the running C function: its tree, and in *loc the best place
 * known. Files of the stdlib in folder `home` are passed over, if one is given. */
static CallSearch find_call(lua_State *L, const char *home, const char *text, const TdAst **ast,
                            TdLoc *loc) {
  lua_Debug ar;
  CallSearch s = {.text = text};
  *loc = (TdLoc){0};
  *ast = NULL;
  for (int level = 0; lua_getstack(L, level, &ar); level++) {
    lua_getinfo(L, "Sln", &ar);
    if (*ar.what == 'C' || is_stdlib(ar.source, home)) {
      s.of_element = is_element(ar.name);
      s.name = ar.name;
      s.event = strcmp(ar.namewhat, "metamethod") == 0 ? ar.name : NULL;
      continue;
    }
    if (ar.currentline <= 0) return s;
    uint32_t id = source_of(L, &ar);
    s.line = (uint32_t)ar.currentline;
    *loc = (TdLoc){.source = id, .line = s.line};
    *ast = id ? td_bind_ast(L, id) : NULL;
    TdAstVisitor v = {.expr = look_call, .ud = &s};
    if (*ast && s.event)
      s.call = td_bind_find_operator(L, *ast, s.line, level, s.event);
    else if (*ast)
      td_walk_ast_block(&v, &(*ast)->main->body);
    return s;
  }
  return s;
}

const TdAstExpr *td_bind_find_call(const TdAst *ast, uint32_t line, const char *name) {
  CallSearch s = {.line = line, .name = name};
  TdAstVisitor v = {.expr = look_call, .ud = &s};
  td_walk_ast_block(&v, &ast->main->body);
  return s.call;
}

uint32_t td_bind_level_source(lua_State *L, int level) {
  lua_Debug ar;
  if (!lua_getstack(L, level, &ar) || !lua_getinfo(L, "S", &ar) || *ar.what == 'C') return 0;
  return source_of(L, &ar);
}

TdLoc td_bind_level_call(lua_State *L, int level) {
  lua_Debug at, called;
  TdLoc loc = {.source = td_bind_level_source(L, level)};
  if (!loc.source || !lua_getstack(L, level, &at) || !lua_getinfo(L, "l", &at)) return (TdLoc){0};
  if (is_own(td_sources_chunk(td_bind_enter(L)->session->sources, loc.source))) return (TdLoc){0};
  loc.line = (uint32_t)at.currentline;
  bool has = level && lua_getstack(L, level - 1, &called) && lua_getinfo(L, "n", &called);
  const TdAst *ast = has && called.name ? td_bind_ast(L, loc.source) : NULL;
  const TdAstExpr *call = ast ? td_bind_find_call(ast, loc.line, called.name) : NULL;
  return call ? call->loc : loc;
}

/* Looks for a field or method of some name on a line. */
typedef struct KeySearch {
  uint32_t line;
  const char *key;
  TdLoc found;
} KeySearch;

static bool look_key(void *ud, const TdAstExpr *e) {
  KeySearch *s = ud;
  const char *key = e->kind == TD_AST_METHOD  ? e->call.method
                    : e->kind == TD_AST_FIELD ? e->field.key
                                              : NULL;
  if (key && s->line >= e->first && s->line <= e->last && strcmp(key, s->key) == 0 &&
      !s->found.line)
    s->found = e->loc;
  return true;
}

TdLoc td_bind_caller_key(lua_State *L, const char *key) {
  const TdAst *ast;
  TdLoc loc;
  CallSearch call = find_call(L, NULL, NULL, &ast, &loc);
  KeySearch s = {.line = loc.line, .key = key};
  TdAstVisitor v = {.expr = look_key, .ud = &s};
  if (ast) td_walk_ast_block(&v, &ast->main->body);
  return s.found.line ? s.found : call.event && call.call ? call.call->loc : loc;
}

TdLoc td_bind_caller_argument(lua_State *L, const char *text) {
  const TdAst *ast;
  TdLoc loc;
  CallSearch s = find_call(L, NULL, text, &ast, &loc);
  return s.argument ? s.argument->loc : s.call ? s.call->loc : loc;
}

const TdAstExpr *td_bind_call_expr(lua_State *L, const TdAst **ast) {
  TdLoc loc;
  CallSearch s = find_call(L, NULL, NULL, ast, &loc);
  return s.event ? NULL : s.call;
}

TdLoc td_bind_caller(lua_State *L) {
  return td_bind_caller_argument(L, NULL);
}

TdLoc td_bind_user(lua_State *L) {
  const TdAst *ast;
  TdLoc loc;
  char home[4096];
  bool found = td_home_find("stdlib", home, sizeof home);
  CallSearch s = find_call(L, found ? home : NULL, NULL, &ast, &loc);
  return s.call ? s.call->loc : loc;
}

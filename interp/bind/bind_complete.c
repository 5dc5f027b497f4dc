/* bind_complete.c - completions at the prompt: names, fields, methods, and inside strings what a
   primitive's argument can name. Values are read raw: no user code runs. */
#include <ctype.h>
#include <string.h>

#include "bind/prompt.h"
#include "rewrite/prim.h"

static bool is_word(char ch) {
  return isalnum((unsigned char)ch) || ch == '_';
}

static void add(TdPromptItems *out, const char *name, const char *help) {
  for (size_t i = 0; i < out->list.n; i++)
    if (strcmp(out->list.at[i].insert, name) == 0) return;
  TdPromptItem item = {td_arena_strdup(out->arena, name), help};
  td_vec_push(out->arena, &out->list, item);
}

static bool starts_with(const char *s, const char *prefix, size_t n) {
  return strncmp(s, prefix, n) == 0;
}

/* Adds the string keys of the table on top that begin with the prefix. */
static void add_keys(lua_State *L, TdPromptItems *out, const char *prefix, size_t n) {
  lua_pushnil(L);
  while (lua_next(L, -2)) {
    if (lua_type(L, -2) == LUA_TSTRING && starts_with(lua_tostring(L, -2), prefix, n))
      add(out, lua_tostring(L, -2), NULL);
    lua_pop(L, 1);
  }
}

static int by_name(const void *x, const void *y) {
  return strcmp(((const TdPromptItem *)x)->insert, ((const TdPromptItem *)y)->insert);
}

static void sort(TdPromptItems *out) {
  for (size_t i = 1; i < out->list.n; i++)
    for (size_t k = i; k && by_name(&out->list.at[k - 1], &out->list.at[k]) > 0; k--) {
      TdPromptItem t = out->list.at[k];
      out->list.at[k] = out->list.at[k - 1];
      out->list.at[k - 1] = t;
    }
}

/* Pushes the value of a dotted path of globals read raw, or nil. */
static void push_path(lua_State *L, const char *path, size_t n) {
  lua_pushglobaltable(L);
  for (size_t i = 0; i < n;) {
    size_t len = 0;
    while (i + len < n && is_word(path[i + len])) len++;
    if (!lua_istable(L, -1) || !len) {
      lua_pop(L, 1);
      lua_pushnil(L);
      return;
    }
    lua_pushlstring(L, path + i, len);
    lua_rawget(L, -2);
    lua_remove(L, -2);
    i += len + 1;
  }
}

/* Replaces the value on top by the table of its fields or methods; false if it has none. */
static bool to_members(lua_State *L) {
  if (lua_istable(L, -1)) return true;
  if (lua_type(L, -1) == LUA_TSTRING) {
    lua_getglobal(L, "string");
    lua_replace(L, -2);
    return lua_istable(L, -1);
  }
  if (!lua_getmetatable(L, -1)) return false;
  lua_getfield(L, -1, "methods");
  lua_replace(L, -3);
  lua_pop(L, 1);
  return lua_istable(L, -1);
}

/* Start of the path (names, dots, a colon) that ends at `end`. */
static size_t path_start(const char *s, size_t end) {
  while (end && (is_word(s[end - 1]) || s[end - 1] == '.' || s[end - 1] == ':')) end--;
  return end;
}

/* Fields or methods after "path." or "path:", or names. */
static void complete_name(lua_State *L, const char *text, size_t cursor, TdPromptItems *out) {
  size_t from = cursor;
  while (from && is_word(text[from - 1])) from--;
  out->from = from;
  bool member = from && (text[from - 1] == '.' || text[from - 1] == ':');
  if (member) {
    size_t start = path_start(text, from - 1);
    push_path(L, text + start, from - 1 - start);
    if (to_members(L)) add_keys(L, out, text + from, cursor - from);
    lua_pop(L, 1);
    return;
  }
  static const char *const words[] = {"and",   "break", "do",       "else", "elseif", "end",
                                      "false", "for",   "function", "goto", "if",     "in",
                                      "local", "nil",   "not",      "or",   "repeat", "return",
                                      "then",  "true",  "until",    "while"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (starts_with(words[i], text + from, cursor - from)) add(out, words[i], NULL);
  lua_pushglobaltable(L);
  add_keys(L, out, text + from, cursor - from);
  lua_pop(L, 1);
}

/* The call around a string that is open at the cursor: `path:method(arg, arg, "`. */
typedef struct OpenCall {
  size_t path, npath; /* of the object */
  size_t method, nmethod;
  int argument;  /* position of the string, from 0 */
  size_t string; /* offset after the quote */
} OpenCall;

/* Finds the quote that is open at the cursor; false if none is. */
static bool open_quote(const char *s, size_t n, size_t *at) {
  char quote = 0;
  for (size_t i = 0; i < n; i++) {
    if (quote && s[i] == '\\')
      i++;
    else if (quote && s[i] == quote)
      quote = 0;
    else if (!quote && (s[i] == '"' || s[i] == '\'')) {
      quote = s[i];
      *at = i;
    }
  }
  return quote != 0;
}

/* Walks back from the quote to the parenthesis (or the method, for s:f "x") counting commas. */
static bool find_call(const char *s, size_t quote, OpenCall *c) {
  size_t i = quote;
  int depth = 0;
  c->string = quote + 1;
  c->argument = 0;
  while (i && isspace((unsigned char)s[i - 1])) i--;
  if (!(i && is_word(s[i - 1]))) {
    for (;; i--) {
      if (!i) return false;
      char ch = s[i - 1];
      if (ch == ')' || ch == '}' || ch == ']') depth++;
      if (ch == '(' || ch == '{' || ch == '[') {
        if (depth == 0 && ch == '(') break;
        if (depth > 0) depth--;
      }
      if (ch == ',' && depth == 0) c->argument++;
    }
    i--;
  }
  size_t end = i;
  while (i && is_word(s[i - 1])) i--;
  if (!i || s[i - 1] != ':' || i == end) return false;
  c->method = i;
  c->nmethod = end - i;
  c->path = path_start(s, i - 1);
  c->npath = i - 1 - c->path;
  return true;
}

/* The spec of a primitive's positional argument number n. */
static const TdArgSpec *positional(const TdPrim *p, int n) {
  for (int i = 0; i < TD_PRIM_ARGS && p->args[i].kind != TD_ARG_END; i++) {
    if (p->args[i].place == TD_ARG_OPTION) continue;
    if (n-- == 0 || p->args[i].place == TD_ARG_REST) return &p->args[i];
  }
  return NULL;
}

static bool add_array(void *ud, const TdStmt *s) {
  TdPromptItems *out = ud;
  if (s->kind == TD_STMT_LOCAL && s->type->kind == TD_T_TENSOR) add(out, s->sym->name, "local");
  return true;
}

/* Names that an argument of this kind can have in program p. */
static void add_names(TdPromptItems *out, const TdProg *p, TdArgKind kind) {
  TdCtx *ctx = td_arena_ctx(out->arena);
  if (kind == TD_ARG_LOOP || kind == TD_ARG_BAND) {
    const char *const *specs;
    size_t n = td_cursor_list_loops(out->arena, p, &specs);
    for (size_t i = 0; i < n; i++) add(out, specs[i], "loop");
  }
  for (size_t i = 0; i < p->nunit; i++) {
    const TdUnit *u = p->unit[i];
    bool root = u == td_prog_root(p);
    if (kind == TD_ARG_UNIT && !root) add(out, u->sym->name, "unit");
    if (kind == TD_ARG_STREAM)
      for (size_t k = 0; k < u->nstream; k++) add(out, u->stream[k].sym->name, "stream");
    if (kind != TD_ARG_ARRAY) continue;
    for (size_t k = 0; k < u->nparam; k++) add(out, u->param[k].sym->name, "parameter");
    if (u->body) td_walk_stmt(ctx, u->body, add_array, out);
  }
}

/* Inside a string that is an argument of a schedule's method. */
static bool complete_string(lua_State *L, const char *text, size_t cursor, TdPromptItems *out) {
  size_t quote;
  OpenCall c;
  if (!open_quote(text, cursor, &quote)) return false;
  out->from = quote + 1;
  if (!find_call(text, quote, &c)) return true;
  push_path(L, text + c.path, c.npath);
  const TdProg *p = td_bind_test_schedule(L, -1);
  lua_pop(L, 1);
  const char *method = td_arena_strndup(out->arena, text + c.method, c.nmethod);
  const TdPrim *prim = td_prim_find(method);
  const TdArgSpec *spec = prim ? positional(prim, c.argument) : NULL;
  if (!p || !spec) return true;
  TdPromptItems all = {.arena = out->arena};
  add_names(&all, p, spec->kind);
  for (size_t i = 0; i < all.list.n; i++)
    if (starts_with(all.list.at[i].insert, text + out->from, cursor - out->from))
      add(out, all.list.at[i].insert, all.list.at[i].help);
  return true;
}

/* After ':' at the start: commands; after '?': names that help knows. */
static bool complete_special(const char *text, size_t cursor, TdPromptItems *out) {
  if (!cursor || (text[0] != ':' && text[0] != '?')) return false;
  size_t from = 1;
  while (text[0] == '?' && from < cursor && text[from] == '?') from++;
  if (memchr(text, ' ', cursor)) return false;
  out->from = from;
  const char *summary;
  for (size_t i = 0; text[0] == ':' && td_commands[i].name; i++)
    if (starts_with(td_commands[i].name, text + from, cursor - from))
      add(out, td_commands[i].name, td_commands[i].summary);
  const char *name;
  for (size_t i = 0; text[0] == '?' && (name = td_help_name(i, &summary)); i++)
    if (starts_with(name, text + from, cursor - from)) add(out, name, summary);
  return true;
}

void td_prompt_complete(lua_State *L, const char *text, size_t cursor, TdPromptItems *out) {
  int top = lua_gettop(L);
  luaL_checkstack(L, 16, "completion");
  if (!complete_special(text, cursor, out) && !complete_string(L, text, cursor, out))
    complete_name(L, text, cursor, out);
  sort(out);
  td_bind_settop(L, top);
}

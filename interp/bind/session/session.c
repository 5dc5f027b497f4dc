/* session.c - the module tide.session: inputs run as at the prompt with what they print
 * caught, for documents and notebooks. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bind/prompt/prompt.h"
#include "repl/markdown.h"

/* Standard output and error while they lead to a file. */
typedef struct Capture {
  FILE *file;
  int out, err; /* what they were */
} Capture;

static void close_file(void *file) {
  fclose(file);
}

/* Leads standard output and error, also of child processes, to a temporary file, which a closes;
 * false if there is none. */
static bool capture_start(Capture *c, TdArena *a) {
  fflush(stdout);
  fflush(stderr);
  c->file = tmpfile();
  if (!c->file) return false;
  td_arena_defer(a, close_file, c->file);
  c->out = dup(STDOUT_FILENO);
  c->err = dup(STDERR_FILENO);
  dup2(fileno(c->file), STDOUT_FILENO);
  dup2(fileno(c->file), STDERR_FILENO);
  return true;
}

/* Leads a stream back to where it led before. */
static void restore(int was, int stream) {
  if (was < 0) return;
  dup2(was, stream);
  close(was);
}

/* Leads them back. */
static void capture_stop(Capture *c) {
  fflush(stdout);
  fflush(stderr);
  restore(c->out, STDOUT_FILENO);
  restore(c->err, STDERR_FILENO);
}

/* Appends what was caught. */
static void capture_take(Capture *c, TdText *out) {
  char block[4096];
  rewind(c->file);
  for (size_t n; (n = fread(block, 1, sizeof block, c->file)) > 0;) td_text_putn(out, block, n);
}

/* session.open(): tide's names become global, as at the prompt. */
static int l_open(lua_State *L) {
  td_prompt_open(L);
  return 0;
}

/* Sets a field of the table on top to what an input showed, with its newline. */
static void set_shown(lua_State *L, const char *key, const char *text, bool shown) {
  if (!shown) return;
  lua_pushfstring(L, "%s\n", text);
  lua_setfield(L, -2, key);
}

/* session.run(input), which Ctrl-C ends with what called it: {ok =, printed =, page =, shown =,
 * error =, code =, value =, class =}; the value is the first that it showed, if it showed one. */
static int l_run(lua_State *L) {
  size_t n;
  const char *text = luaL_checklstring(L, 1, &n);
  TdText printed = td_text_new(td_bind_arena(L));
  TdPromptResult r = {.arena = printed.arena};
  Capture c;
  if (!capture_start(&c, printed.arena)) return luaL_error(L, "no temporary file can be made");
  bool ok = td_prompt_eval(L, text, n, &r);
  capture_stop(&c);
  capture_take(&c, &printed);
  if (r.code && strcmp(r.code, "interrupted") == 0) td_prompt_interrupt(L);
  lua_createtable(L, 0, 8);
  td_bind_set_boolean(L, "ok", ok);
  lua_pushlstring(L, td_text_str(&printed), printed.n);
  lua_setfield(L, -2, "printed");
  td_bind_set_string(L, "page", r.page);
  set_shown(L, "shown", r.shown, r.values > 0);
  set_shown(L, "error", r.error, !ok);
  td_bind_set_string(L, "code", r.code);
  if (r.values == 1) {
    lua_getfield(L, LUA_REGISTRYINDEX, TD_PROMPT_ANSWER);
    if (luaL_getmetafield(L, -1, "__name")) lua_setfield(L, -3, "class");
    lua_setfield(L, -2, "value");
  }
  return 1;
}

/* session.diff(a, b): the changed lines with three lines around them. */
static int l_diff(lua_State *L) {
  TdText out = td_text_new(td_bind_arena(L));
  td_text_diff(&out, luaL_checkstring(L, 1), luaL_checkstring(L, 2), 3);
  lua_pushlstring(L, td_text_str(&out), out.n);
  return 1;
}

/* session.complete(text, [cursor]): what could stand at byte `cursor`, by default the end, as a
 * list, and how many bytes before it that replaces. */
static int l_complete(lua_State *L) {
  size_t n;
  const char *text = luaL_checklstring(L, 1, &n);
  lua_Integer cursor = luaL_optinteger(L, 2, (lua_Integer)n);
  luaL_argcheck(L, cursor >= 0 && (size_t)cursor <= n, 2, "outside the text");
  TdPromptItems found = {.arena = td_bind_arena(L)};
  td_prompt_complete(L, text, (size_t)cursor, &found);
  lua_createtable(L, (int)found.list.n, 0);
  for (size_t i = 0; i < found.list.n; i++) {
    lua_pushstring(L, found.list.at[i].insert);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_pushinteger(L, cursor - (lua_Integer)found.from);
  return 2;
}

/* session.markdown(text): HTML; nil and why where libcmark is missing. */
static int l_markdown(lua_State *L) {
  size_t n;
  const char *text = luaL_checklstring(L, 1, &n);
  TdText out = td_text_new(td_bind_arena(L));
  if (!td_markdown_html(&out, text, n)) {
    lua_pushnil(L);
    lua_pushliteral(L, "pages are rendered by libcmark, which is not here: apt-get install "
                       "libcmark-dev");
    return 2;
  }
  lua_pushlstring(L, td_text_str(&out), out.n);
  return 1;
}

/* The loader of the module. */
static int l_load(lua_State *L) {
  static const luaL_Reg functions[] = {{"open", l_open},           {"run", l_run},
                                       {"complete", l_complete},   {"progress", td_progress_note},
                                       {"search", td_bind_search}, {"diff", l_diff},
                                       {"markdown", l_markdown},   {NULL, NULL}};
  luaL_newlib(L, functions);
  td_replay_functions(L);
  td_define_functions(L);
  return 1;
}

void td_bind_open_session(lua_State *L) {
  td_bind_set_module(L, "tide.session", l_load);
}

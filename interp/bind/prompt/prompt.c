/* prompt.c - one input of the prompt: what it is, running it, showing what it gives. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "bind/prompt/complete.h"
#include "frontend/lua/input.h"
#include "frontend/lua/parse.h"

#define KEY_INPUTS "tide.inputs"
#define ANSWERS 9

TdCtx *td_prompt_ctx(lua_State *L) {
  return td_bind_enter(L)->ctx;
}

/* What os.exit does first. */
static struct {
  void (*fn)(void *ud);
  void *ud;
} leaving;

void td_prompt_at_exit(void (*fn)(void *ud), void *ud) {
  leaving.fn = fn;
  leaving.ud = ud;
}

/* os.exit, which is upvalue 1. */
static int l_exit(lua_State *L) {
  if (leaving.fn) leaving.fn(leaving.ud);
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_call(L, lua_gettop(L) - 1, 0);
  return 0;
}

/* Has os.exit tell that the session ends by itself. */
static void open_exit(lua_State *L) {
  lua_getglobal(L, "os");
  lua_getfield(L, -1, "exit");
  lua_pushcclosure(L, l_exit, 1);
  lua_setfield(L, -2, "exit");
  lua_pop(L, 1);
}

void td_prompt_open(lua_State *L) {
  td_stdlib_push_module(L, "tide.globals");
  lua_pop(L, 1);
  td_bind_enter(L)->setting[TD_SET_CHECK] = TD_CHECK_QUICK;
  td_prompt_open_coroutines(L);
  open_exit(L);
}

int td_prompt_bell(void) {
  return td_job_bell();
}

const char *td_prompt_hear(TdArena *a, size_t *n) {
  TdText text = td_text_new(a);
  td_job_hear(&text);
  *n = text.n;
  return td_text_str(&text);
}

void td_prompt_close(void) {
  td_job_close();
}

bool td_prompt_has_ghost(lua_State *L) {
  return td_bind_enter(L)->setting[TD_SET_GHOST] != 0;
}

bool td_prompt_has_journal(lua_State *L) {
  return td_bind_enter(L)->setting[TD_SET_JOURNAL] != 0;
}

size_t td_prompt_kept(lua_State *L) {
  luaL_getsubtable(L, LUA_REGISTRYINDEX, TD_PROMPT_KEPT);
  size_t n = lua_rawlen(L, -1);
  lua_pop(L, 1);
  return n;
}

bool td_prompt_quits(lua_State *L) {
  lua_getfield(L, LUA_REGISTRYINDEX, "tide.quit");
  bool quits = lua_toboolean(L, -1) != 0;
  lua_pop(L, 1);
  return quits;
}

/* Whether the input is a command, a question or a shell line, none of which is Lua. */
static bool is_special(const char *text, size_t n) {
  while (n && isspace((unsigned char)*text)) text++, n--;
  if (n && strchr("?:!", *text) && !(n > 1 && text[0] == ':' && text[1] == ':')) return true;
  while (n && isspace((unsigned char)text[n - 1])) n--;
  return n > 1 && text[n - 1] == '?';
}

/* What people type for a command of the prompt where other shells have a word. */
static const struct {
  const char *word, *input;
} spoken[] = {{"help", "?"}, {"exit", ":quit"}, {"quit", ":quit"}, {"tutorial", ":tutorial"}};

/* The name that stands in `rest`, as in ` split`, ` "split"`, `("split")` or `()`; NULL: it is
 * something else. */
static const char *named(TdArena *a, const char *rest) {
  const char *sign = " (\"')", *from = rest + strspn(rest, sign);
  size_t n = strspn(from, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:.-");
  if (from[n + strspn(from + n, sign)] || (n && from == rest)) return NULL;
  return td_arena_strndup(a, from, n);
}

/* The input that a word of other shells stands for, in arena a, unless a global has that name;
 * NULL: the text is no such word. */
static const char *spoken_input(lua_State *L, TdArena *a, const char *text, size_t n) {
  for (size_t i = 0; i < sizeof spoken / sizeof *spoken; i++) {
    size_t length = strlen(spoken[i].word);
    const char *line = td_arena_strndup(a, text, n);
    line += strspn(line, " \t\n");
    if (strncmp(line, spoken[i].word, length) != 0) continue;
    const char *name = named(a, line + length);
    bool asks = *spoken[i].input == '?';
    if (!name || (*name && !asks)) return NULL;
    lua_pushglobaltable(L);
    lua_pushstring(L, spoken[i].word);
    lua_rawget(L, -2);
    bool free = lua_isnil(L, -1);
    lua_pop(L, 2);
    return !free ? NULL : asks ? td_text_fmt(a, "?%s", name) : spoken[i].input;
  }
  return NULL;
}

TdPromptState td_prompt_state(lua_State *L, const char *text, size_t n) {
  if (is_special(text, n)) return TD_PROMPT_WHOLE;
  TdBind *b = td_bind_enter(L);
  TdArena *a = td_arena_scratch(b->ctx);
  if (spoken_input(L, a, text, n)) {
    td_arena_free(a);
    return TD_PROMPT_WHOLE;
  }
  TdSources *s = td_sources_new(a);
  TdDiag d = {.arena = a};
  uint32_t id = td_sources_add(s, "=input", text, n);
  bool ok = td_parse_chunk(a, td_names_new(a), s, id, TD_PARSE_INPUT, &d) != NULL;
  TdPromptState state = ok                           ? TD_PROMPT_WHOLE
                        : td_parse_is_incomplete(&d) ? TD_PROMPT_MORE
                                                     : TD_PROMPT_WRONG;
  td_arena_free(a);
  return state;
}

/* Parses and rewrites the input, keeps it under its own chunk name, which has at least that number,
 * and loads it; whether its values are to be shown. Raises on an error. */
static bool load_input(lua_State *L, const char *text, size_t n, int least) {
  TdBind *b = td_bind_enter(L);
  TdArena *a = td_bind_arena(L);
  TdDiag d = td_bind_diag(a);
  lua_getfield(L, LUA_REGISTRYINDEX, KEY_INPUTS);
  int number = (int)lua_tointeger(L, -1) + 1;
  if (number < least) number = least;
  lua_pushinteger(L, number);
  lua_setfield(L, LUA_REGISTRYINDEX, KEY_INPUTS);
  const char *chunk = td_text_fmt(a, "=tide:%d", number);
  uint32_t id = td_sources_add(b->session->sources, chunk, text, n);
  const TdAst *ast =
      td_parse_chunk(a, b->session->names, b->session->sources, id, TD_PARSE_INPUT, &d);
  TdInputCode code;
  if (!ast || !td_input_rewrite(a, text, n, ast, &code, &d)) td_bind_raise(L, &d);
  td_sources_set_code(b->session->sources, id, code.tree, code.ntree);
  if (luaL_loadbufferx(L, code.lua, code.nlua, chunk, "t") != LUA_OK) lua_error(L);
  return code.shows;
}

void td_prompt_keep(lua_State *L, int first) {
  int top = lua_gettop(L);
  td_replay_note_answer(L);
  lua_pushvalue(L, first);
  lua_setglobal(L, "_");
  lua_pushvalue(L, first);
  lua_setfield(L, LUA_REGISTRYINDEX, TD_PROMPT_ANSWER);
  for (int i = first; i <= top && i - first < ANSWERS; i++) {
    const char *name = lua_pushfstring(L, "_%d", i - first + 1);
    lua_pushvalue(L, i);
    lua_setglobal(L, name);
    lua_pop(L, 1);
  }
}

/* Keeps the values from slot `first` on and echoes them into out. */
static void show_results(lua_State *L, int first, TdPromptResult *out) {
  int top = lua_gettop(L);
  td_prompt_keep(L, first);
  TdText t = td_text_new(td_bind_arena(L));
  for (int i = first; i <= top; i++) {
    td_show_value(L, &t, i, false);
    if (i < top) td_text_puts(&t, t.n && t.at[t.n - 1] == '\n' ? "" : "\t");
  }
  out->values = top - first + 1;
  size_t end = t.n && t.at[t.n - 1] == '\n' ? t.n - 1 : t.n;
  out->shown = td_arena_strndup(out->arena, td_text_str(&t), end);
}

/* Runs Lua input; argument 1 is the text, argument 2 the TdPromptResult. */
static int run_lua(lua_State *L) {
  size_t n;
  const char *text = lua_tolstring(L, 1, &n);
  TdPromptResult *out = lua_touserdata(L, 2);
  bool shows = load_input(L, text, n, out->number);
  int base = lua_gettop(L);
  lua_call(L, 0, LUA_MULTRET);
  if (shows && lua_gettop(L) >= base) show_results(L, base, out);
  return 0;
}

/* The name that `?name`, `??name` or `name?` asks about, in arena a. */
static const char *question(TdArena *a, const char *text, size_t n) {
  size_t from = 0;
  while (from < n && (text[from] == '?' || isspace((unsigned char)text[from]))) from++;
  while (n > from && (text[n - 1] == '?' || isspace((unsigned char)text[n - 1]))) n--;
  return td_arena_strndup(a, text + from, n - from);
}

/* Runs a command: `:name arguments`. */
static void run_command(lua_State *L, TdArena *a, const char *text, TdText *out) {
  size_t len = strcspn(text, " \t\n");
  const char *name = td_arena_strndup(a, text, len);
  const char *args = text + len + strspn(text + len, " \t\n");
  const TdCommand *c = td_command_find(name);
  if (c) {
    td_command_run(L, c, args, out);
    return;
  }
  const char *names[64];
  size_t n = 0;
  for (; td_commands[n].name && n < 64; n++) names[n] = td_commands[n].name;
  const char *near = td_text_nearest(name, names, n);
  td_bind_fail(L, "command", "there is no command ':%s'%s%s%s", name,
               near ? " (did you mean ':" : "", near ? near : "", near ? "'?)" : "; ? lists them");
}

/* Puts how a line of the shell ended, unless it went well. */
static void put_status(TdText *out, int status) {
  if (status == -1)
    td_text_putf(out, "cannot run a shell: %s\n", strerror(errno));
  else if (WIFSIGNALED(status))
    td_text_putf(out, "ended by signal %d\n", WTERMSIG(status));
  else if (WEXITSTATUS(status))
    td_text_putf(out, "exit status %d\n", WEXITSTATUS(status));
}

/* Says that there is no help on a name, and on what of nearly that name there is. */
static void refuse_question(lua_State *L, TdArena *a, const char *name) {
  TD_VEC(const char *) names = {0};
  const char *have, *summary, *given = strrchr(name, ':');
  for (size_t i = 0; (have = td_help_name(i, &summary)); i++) {
    const char *member = strrchr(have, ':');
    td_vec_push(a, &names, member ? member + 1 : have);
  }
  TdPromptItems codes = {.arena = a};
  td_complete_add_library(L, TD_HELP_CODES, &codes);
  for (size_t i = 0; i < codes.list.n; i++) td_vec_push(a, &names, codes.list.at[i].insert);
  const char *near = td_text_nearest(given ? given + 1 : name, names.at, names.n);
  const char *help = near ? td_text_fmt(a, "did you mean '?%s'?", near) : NULL;
  td_bind_refuse(L, TD_USAGE, "help", help, "there is no help on '%s'", name);
}

/* Runs an input that is not Lua; argument 1 is the text, argument 2 the TdPromptResult. */
static int run_special(lua_State *L) {
  size_t n;
  const char *text = lua_tolstring(L, 1, &n);
  TdPromptResult *result = lua_touserdata(L, 2);
  TdArena *a = td_bind_arena(L);
  TdText out = td_text_new(a);
  while (n && isspace((unsigned char)*text)) text++, n--;
  if (*text == '!') {
    fflush(stdout);
    put_status(&out, system(text + 1));
  } else if (*text == ':') {
    char *line = td_arena_strndup(a, text + 1, n - 1);
    for (size_t k = strlen(line); k && isspace((unsigned char)line[k - 1]);) line[--k] = 0;
    run_command(L, a, line, &out);
  } else {
    const char *name = question(a, text, n);
    bool wants_source = n > 1 && text[0] == '?' && text[1] == '?';
    if (!(wants_source && td_help_source(L, &out, name)) && !td_help_show(L, &out, name))
      refuse_question(L, a, name);
    result->page = td_arena_strndup(result->arena, td_text_str(&out), out.n);
    return 0;
  }
  td_page_put(L, td_text_str(&out), out.n);
  return 0;
}

bool td_prompt_is_floor(lua_CFunction f) {
  return f == run_lua || f == run_special;
}

/* Puts the code of the error at slot 1 into the TdPromptResult at slot 2, read raw. */
static int l_code(lua_State *L) {
  TdPromptResult *out = lua_touserdata(L, 2);
  if (!lua_istable(L, 1)) return 0;
  lua_pushliteral(L, "code");
  lua_rawget(L, 1);
  if (lua_type(L, -1) == LUA_TSTRING) out->code = td_arena_strdup(out->arena, lua_tostring(L, -1));
  return 0;
}

/* Puts the error on top of the stack, which it pops, into out. */
static void take_error(lua_State *L, TdPromptResult *out) {
  out->values = 0;
  out->shown = "";
  lua_pushcfunction(L, l_code);
  lua_pushvalue(L, -2);
  lua_pushlightuserdata(L, out);
  if (lua_pcall(L, 2, 0, 0) != LUA_OK) lua_pop(L, 1);
  out->error = td_report_text(L, out->arena);
}

bool td_prompt_eval(lua_State *L, const char *text, size_t n, TdPromptResult *out) {
  int top = lua_gettop(L);
  const char *meant = spoken_input(L, out->arena, text, n);
  if (meant) text = meant, n = strlen(meant);
  bool special = is_special(text, n);
  out->values = 0;
  out->shown = "";
  out->page = out->error = out->code = NULL;
  if (!special) td_replay_mark(L);
  lua_pushcfunction(L, td_fault_handle);
  int handler = lua_gettop(L);
  lua_pushcfunction(L, special ? run_special : run_lua);
  lua_pushlstring(L, text, n);
  lua_pushlightuserdata(L, out);
  bool ok = lua_pcall(L, 2, 0, handler) == LUA_OK;
  lua_remove(L, handler);
  bool interrupted = !ok && td_prompt_was_interrupted();
  if (!special) {
    if (!ok) lua_insert(L, -2);
    td_replay_note(L, text, n, ok);
  }
  td_prompt_clear(L);
  if (!ok) take_error(L, out);
  if (interrupted) out->code = out->error = "interrupted";
  fflush(stdout);
  td_bind_settop(L, top);
  return ok;
}

/* A call of C that may raise. */
typedef struct Guarded {
  TdPromptCall *run;
  void *ud;
} Guarded;

static int l_guarded(lua_State *L) {
  Guarded *g = lua_touserdata(L, 1);
  g->run(L, td_bind_arena(L), g->ud);
  return 0;
}

bool td_prompt_guard(lua_State *L, TdPromptCall *run, void *ud) {
  Guarded g = {run, ud};
  lua_pushcfunction(L, l_guarded);
  lua_pushlightuserdata(L, &g);
  if (lua_pcall(L, 1, 0, 0) == LUA_OK) return true;
  td_report_error(L);
  return false;
}

/* An input to be run for a terminal, and whether it succeeded. */
typedef struct Input {
  const char *text;
  size_t n;
  bool ok;
} Input;

/* Prints what the lesson under way, if one is, says of an input. */
static void hear_lesson(lua_State *L, const char *text, size_t n, const TdPromptResult *r) {
  if (is_special(text, n) || !td_command_push_tutorial(L, "hear")) return;
  lua_pushlstring(L, text, n);
  lua_pushstring(L, r->shown);
  lua_pushstring(L, r->error);
  if (lua_pcall(L, 3, 1, 0) == LUA_OK && lua_isstring(L, -1)) fputs(lua_tostring(L, -1), stdout);
  lua_pop(L, 1);
  fflush(stdout);
}

static void run_input(lua_State *L, TdArena *a, void *ud) {
  Input *input = ud;
  TdPromptResult r = {.arena = a};
  input->ok = td_prompt_eval(L, input->text, input->n, &r);
  if (r.page) td_page_put(L, r.page, strlen(r.page));
  if (r.values) printf("%s\n", r.shown);
  fflush(stdout);
  if (r.error) fprintf(stderr, "%s\n", r.error);
  hear_lesson(L, input->text, input->n, &r);
}

bool td_prompt_run(lua_State *L, const char *text, size_t n) {
  Input input = {text, n, false};
  return td_prompt_guard(L, run_input, &input) && input.ok;
}

/* main.c - the command line: options -> Lua state -> script, verbs, prompt. Exit 0 ok, 1 failed, 2
 * usage, 130 interrupted. */
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/home.h"
#include "gen/version.h"
#include "repl/repl.h"
#include "tide.h"

enum { OK = 0, FAILED = 1, USAGE = 2, INTERRUPTED = 130 };

/* What the arguments ask for. */
typedef struct Options {
  int argc;
  char **argv;
  int script; /* index of the script, or argc */
  bool interactive, version, help, ignore_env, ran;
  int status;
} Options;

/* A word of the command line: an option (-x, or --name), or a verb. */
typedef struct Word {
  char letter;             /* 0: a verb */
  const char *name, *args; /* NULL: none */
  const char *summary;
} Word;

static const Word words[] = {
    {'e', NULL, "code", "run code"},
    {'l', NULL, "mod", "require mod"},
    {'i', NULL, NULL, "prompt afterwards"},
    {'E', NULL, NULL, "ignore LUA_ and TIDE_ environment variables"},
    {'v', "version", NULL, "say the versions of Tide and of what it is made with"},
    {'h', "help", NULL, "say this"},
    {'-', NULL, NULL, "end of options"},
    {0, "doc", NULL, "the reference page"},
    {0, "check", "script [args]", "run a script, each step of its schedules checked"},
    {0, "init", NULL, "files that editors and luacheck expect in a folder of designs"},
};
enum { WORDS = sizeof words / sizeof *words };

static void usage(FILE *to) {
  fputs("usage: tide [options] [script [args]]\n", to);
  for (size_t i = 0; i < WORDS; i++) {
    const Word *w = &words[i];
    char shown[32];
    const char *args = w->args ? w->args : "";
    if (!w->letter)
      snprintf(shown, sizeof shown, "%s %s", w->name, args);
    else if (w->name)
      snprintf(shown, sizeof shown, "-%c --%s %s", w->letter, w->name, args);
    else
      snprintf(shown, sizeof shown, "-%c %s", w->letter, args);
    fprintf(to, "  %-20s %s\n", shown, w->summary);
  }
  fputs("'-' is the script on standard input; a script named like a verb is ./doc.\n"
        "require searches the script's folder first.\n",
        to);
}

/* Adds "dir/?.lua" in front of package.path. */
static void add_path(lua_State *L, const char *dir) {
  lua_getglobal(L, "package");
  lua_getfield(L, -1, "path");
  lua_pushfstring(L, "%s/?.lua;%s/?/init.lua;%s", dir, dir, lua_tostring(L, -1));
  lua_setfield(L, -3, "path");
  lua_pop(L, 2);
}

/* The folder of a path, "." when it has none. */
static const char *folder_of(lua_State *L, const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? lua_pushlstring(L, path, (size_t)(slash - path)) : lua_pushliteral(L, ".");
}

/* Pushes the folder that holds stdlib and backends ("." when there is none); it is also kept as
   registry field "tide.home". */
static const char *push_home(lua_State *L) {
  char path[4096];
  lua_pushstring(L, td_home_find("stdlib", path, sizeof path) ? path : ".");
  lua_pushvalue(L, -1);
  lua_setfield(L, LUA_REGISTRYINDEX, "tide.home");
  return lua_tostring(L, -1);
}

static void open_libraries(lua_State *L, bool ignore_env) {
  if (ignore_env) {
    lua_pushboolean(L, 1);
    lua_setfield(L, LUA_REGISTRYINDEX, "LUA_NOENV");
  }
  luaL_openlibs(L);
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
  lua_pushcfunction(L, luaopen_tide);
  lua_setfield(L, -2, "tide");
  lua_pop(L, 1);
  add_path(L, lua_pushfstring(L, "%s/stdlib", push_home(L)));
  lua_getglobal(L, "require");
  lua_pushliteral(L, "tide");
  lua_call(L, 1, 0);
  lua_settop(L, 2);
}

static void print_version(lua_State *L) {
  printf("Tide %s%s%s  %s  %s\n", TIDE_VERSION, *TIDE_COMMIT ? " " : "", TIDE_COMMIT, LUA_RELEASE,
         td_prompt_libraries(L));
  lua_pop(L, 1);
}

/* Prints the error value on top of the stack. */
static void report(lua_State *L) {
  size_t n;
  fflush(stdout);
  const char *s = luaL_tolstring(L, -1, &n);
  fwrite(s, 1, n, stderr);
  if (!n || s[n - 1] != '\n') fputc('\n', stderr);
  lua_pop(L, 2);
}

/* Turns a plain Lua error string into one with a traceback; error tables stay as they are. */
static int add_traceback(lua_State *L) {
  if (lua_type(L, 1) != LUA_TSTRING) return 1;
  luaL_traceback(L, L, lua_tostring(L, 1), 1);
  return 1;
}

/* Calls the function with n arguments on top of the stack; false after reporting an error. */
static bool call(lua_State *L, int n) {
  int base = lua_gettop(L) - n;
  lua_pushcfunction(L, add_traceback);
  lua_insert(L, base);
  td_prompt_watch(L, true);
  int status = lua_pcall(L, n, 0, base);
  bool stopped = td_prompt_was_interrupted();
  td_prompt_watch(L, false);
  lua_remove(L, base);
  if (status == LUA_OK) return true;
  if (stopped) {
    fputs("interrupted\n", stderr);
    exit(INTERRUPTED);
  }
  report(L);
  return false;
}

/* The global arg: script at 0, its arguments after it, what stands before at negative indices. */
static void make_arg(lua_State *L, const Options *o) {
  lua_createtable(L, o->argc - o->script, o->script);
  for (int i = 0; i < o->argc; i++) {
    lua_pushstring(L, o->argv[i]);
    lua_rawseti(L, -2, i - o->script);
  }
  lua_setglobal(L, "arg");
}

static bool run_script(lua_State *L, const Options *o) {
  const char *name = o->argv[o->script];
  bool input = strcmp(name, "-") == 0;
  if (!input) add_path(L, folder_of(L, name));
  lua_settop(L, 2);
  lua_getglobal(L, "loadfile");
  if (input)
    lua_pushnil(L);
  else
    lua_pushstring(L, name);
  lua_call(L, 1, 2);
  if (lua_isnil(L, -2)) {
    report(L);
    return false;
  }
  lua_pop(L, 1);
  int n = 0;
  for (int i = o->script + 1; i < o->argc; i++, n++) lua_pushstring(L, o->argv[i]);
  return call(L, n);
}

/* -e code, with tide's names global. */
static bool run_code(lua_State *L, const char *code) {
  td_prompt_open(L);
  lua_getglobal(L, "load");
  lua_pushstring(L, code);
  lua_pushliteral(L, "=(command line)");
  lua_call(L, 2, 2);
  if (lua_isnil(L, -2)) {
    report(L);
    return false;
  }
  lua_pop(L, 1);
  return call(L, 0);
}

/* -l mod: a global of its last name, as lua does. */
static bool run_library(lua_State *L, const char *name) {
  lua_getglobal(L, "require");
  lua_pushstring(L, name);
  if (lua_pcall(L, 1, 1, 0) != LUA_OK) {
    report(L);
    return false;
  }
  lua_setglobal(L, name);
  return true;
}

/* Whether option i takes a value, in *value: attached, or the next argument. */
static bool option_value(const Options *o, int *i, const char **value) {
  *value = o->argv[*i] + 2;
  if (!**value) *value = ++*i < o->argc ? o->argv[*i] : NULL;
  return *value != NULL;
}

/* The option that an argument spells: -x, -xvalue where it takes a value, or --name; or NULL. */
static const Word *find_option(const char *a) {
  for (size_t i = 0; i < WORDS; i++) {
    const Word *w = &words[i];
    bool named = w->name && a[1] == '-' && strcmp(a + 2, w->name) == 0;
    if (w->letter && (named || (w->letter == a[1] && (!a[2] || w->args)))) return w;
  }
  return NULL;
}

/* Finds the script and the flags that must be known first; false on bad usage. */
static bool scan(Options *o) {
  const char *value;
  bool more = true;
  int i = 1;
  for (; more && i < o->argc && o->argv[i][0] == '-' && o->argv[i][1]; i++) {
    const char *a = o->argv[i];
    const Word *w = find_option(a);
    if (!w) {
      fprintf(stderr, "tide: no option '%s'\n", a);
      return false;
    }
    o->interactive |= w->letter == 'i';
    o->version |= w->letter == 'v';
    o->help |= w->letter == 'h';
    o->ignore_env |= w->letter == 'E';
    o->ran |= w->letter == 'e';
    more = w->letter != '-';
    if (w->args && !option_value(o, &i, &value)) {
      fprintf(stderr, "tide: '%s' takes %s\n", a, w->args);
      return false;
    }
  }
  o->script = i;
  return true;
}

/* Runs -e and -l in order. */
static bool run_options(lua_State *L, const Options *o) {
  for (int i = 1; i < o->script; i++) {
    const char *value;
    char kind = o->argv[i][1];
    if (kind != 'e' && kind != 'l') continue;
    option_value(o, &i, &value);
    if (kind == 'e' ? !run_code(L, value) : !run_library(L, value)) return false;
  }
  return true;
}

/* LUA_INIT_5_4 or LUA_INIT, as lua reads them. */
static bool run_init(lua_State *L) {
  const char *init = getenv("LUA_INIT_5_4");
  if (!init) init = getenv("LUA_INIT");
  if (!init) return true;
  lua_getglobal(L, *init == '@' ? "loadfile" : "load");
  lua_pushstring(L, *init == '@' ? init + 1 : init);
  lua_call(L, 1, 2);
  if (lua_isnil(L, -2)) {
    report(L);
    return false;
  }
  lua_pop(L, 1);
  return call(L, 0);
}

/* A verb of the command line is a function of the Lua module tide.cli. */
static bool is_verb(const char *word) {
  for (size_t i = 0; i < WORDS; i++)
    if (!words[i].letter && strcmp(words[i].name, word) == 0) return true;
  return false;
}

static int run_verb(lua_State *L, const Options *o) {
  lua_getglobal(L, "require");
  lua_pushliteral(L, "tide.cli");
  if (lua_pcall(L, 1, 1, 0) != LUA_OK) {
    report(L);
    return FAILED;
  }
  lua_getfield(L, -1, o->argv[o->script]);
  int n = 0;
  for (int i = o->script + 1; i < o->argc; i++, n++) lua_pushstring(L, o->argv[i]);
  if (lua_pcall(L, n, 1, 0) != LUA_OK) {
    report(L);
    return FAILED;
  }
  return lua_isinteger(L, -1) ? (int)lua_tointeger(L, -1) : OK;
}

static int run_prompt(lua_State *L) {
  if (isatty(STDIN_FILENO)) print_version(L);
  td_prompt_open(L);
  return td_repl_run(L);
}

/* Everything, protected; arguments: the options. Sets o->status. */
static int protected_main(lua_State *L) {
  Options *o = lua_touserdata(L, 1);
  lua_settop(L, 2);
  open_libraries(L, o->ignore_env);
  make_arg(L, o);
  o->status = FAILED;
  if (o->version) print_version(L);
  if (!o->ignore_env && !run_init(L)) return 0;
  if (!run_options(L, o)) return 0;
  bool script = o->script < o->argc;
  if (script && is_verb(o->argv[o->script])) {
    o->status = run_verb(L, o);
    return 0;
  }
  if (script && !run_script(L, o)) return 0;
  o->status = OK;
  bool nothing = !script && !o->ran && !o->version;
  if (o->interactive || (nothing && isatty(STDIN_FILENO))) {
    o->status = run_prompt(L);
  } else if (nothing) {
    char *self[] = {o->argv[0], "-", NULL};
    Options input = {.argc = 2, .argv = self, .script = 1};
    o->status = run_script(L, &input) ? OK : FAILED;
  }
  return 0;
}

int main(int argc, char **argv) {
  Options o = {.argc = argc, .argv = argv, .status = FAILED};
  bool good = scan(&o);
  if (!good || o.help) {
    usage(good ? stdout : stderr);
    return good ? OK : USAGE;
  }
  signal(SIGXFSZ, SIG_IGN); /* a limit on files is an error of the write */
  lua_State *L = luaL_newstate();
  if (!L) {
    fputs("tide: not enough memory\n", stderr);
    return FAILED;
  }
  lua_pushcfunction(L, protected_main);
  lua_pushlightuserdata(L, &o);
  if (lua_pcall(L, 1, 0, 0) != LUA_OK) report(L);
  lua_close(L);
  return o.status;
}

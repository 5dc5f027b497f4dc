/* main.c - the command line: options -> Lua state -> script, verbs, prompt. Exit 0 ok, 1 failed, 2
 * usage, 130 interrupted. */
#include <fcntl.h>
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
  bool interactive, version, help, ignore_env, ran, resumes;
  const char *dump, *diagnostics; /* NULL: not asked for */
  int status;
} Options;

/* A word of the command line: an option or a verb. */
typedef struct Word {
  bool verb;
  char letter;             /* 0: none */
  const char *name, *args; /* NULL: none */
  const char *summary;
} Word;

static const Word words[] = {
#define TD_OPTION(letter, name, args, summary) {false, letter, name, args, summary},
#define TD_VERB(name, args, summary) {true, 0, name, args, summary},
#include "words.def"
};
enum { WORDS = sizeof words / sizeof *words };

/* "-e code", "-v --version", "--dump-ir=dir", "check script [args]" in buffer, which holds n bytes.
 */
static const char *spell(const Word *w, char *buffer, size_t n) {
  const char *args = w->args ? w->args : "", *space = w->args ? " " : "";
  if (w->verb)
    snprintf(buffer, n, "%s%s%s", w->name, space, args);
  else if (!w->letter)
    snprintf(buffer, n, "--%s%s%s", w->name, w->args ? "=" : "", args);
  else if (w->name)
    snprintf(buffer, n, "-%c --%s%s%s", w->letter, w->name, space, args);
  else
    snprintf(buffer, n, "-%c%s%s", w->letter, space, args);
  return buffer;
}

/* Prints a word and what it does, which has a line of its own below a long word. */
static void explain(FILE *to, const Word *w) {
  char shown[128];
  spell(w, shown, sizeof shown);
  fprintf(to, "  %-20s", shown);
  if (strlen(shown) > 20) fprintf(to, "\n%22s", "");
  fprintf(to, " %s\n", w->summary);
}

static void usage(FILE *to) {
  fputs("usage: tide [options] [script [args]]\n", to);
  for (size_t i = 0; i < WORDS; i++) explain(to, &words[i]);
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
 * registry field "tide.home". */
static const char *push_home(lua_State *L) {
  char path[4096];
  lua_pushstring(L, td_home_find("stdlib", path, sizeof path) ? path : ".");
  lua_pushvalue(L, -1);
  lua_setfield(L, LUA_REGISTRYINDEX, "tide.home");
  return lua_tostring(L, -1);
}

/* Takes Tide's own variables out of the environment. */
static void forget_variables(void) {
  static const char *const names[] = {
#define TD_VARIABLE(name, summary) name,
#include "words.def"
  };
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strncmp(names[i], "TIDE_", 5) == 0) unsetenv(names[i]);
}

static void open_libraries(lua_State *L, bool ignore_env) {
  if (ignore_env) {
    forget_variables();
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

/* Turns an error of plain Lua into one with its place, or with a traceback where it has none; error
 * tables stay as they are. */
static int add_place(lua_State *L) {
  td_fault_handle(L);
  if (lua_type(L, 1) != LUA_TSTRING) return 1;
  luaL_traceback(L, L, lua_tostring(L, 1), 1);
  return 1;
}

/* Calls the function with n arguments on top of the stack; false after reporting an error. */
static bool call(lua_State *L, int n) {
  int base = lua_gettop(L) - n;
  lua_pushcfunction(L, add_place);
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
  td_report_error(L);
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
    td_report_error(L);
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
    td_report_error(L);
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
    td_report_error(L);
    return false;
  }
  lua_setglobal(L, name);
  return true;
}

/* Whether argument a is --name, or --name=value where w takes a value. */
static bool is_named(const Word *w, const char *a) {
  size_t n = w->name ? strlen(w->name) : 0;
  if (!n || strncmp(a, "--", 2) != 0 || strncmp(a + 2, w->name, n) != 0) return false;
  return !a[2 + n] || (w->args && a[2 + n] == '=');
}

/* The option that an argument spells: -x, -xvalue where it takes a value, --name, --name=value; or
 * NULL. */
static const Word *find_option(const char *a) {
  for (size_t i = 0; i < WORDS; i++) {
    const Word *w = &words[i];
    bool lettered = w->letter && w->letter == a[1] && (!a[2] || w->args);
    if (!w->verb && (lettered || is_named(w, a))) return w;
  }
  return NULL;
}

/* The value of option w at argument i: attached, or the next argument; NULL when it is missing. */
static const char *option_value(const Options *o, const Word *w, int *i) {
  const char *a = o->argv[*i], *attached = a[1] == '-' ? strchr(a, '=') : a + 2;
  if (!w->args) return NULL;
  if (attached && a[1] == '-') return attached + 1;
  if (attached && *attached) return attached;
  return ++*i < o->argc ? o->argv[*i] : NULL;
}

/* Notes what must be known before anything runs. */
static void note_option(Options *o, const Word *w, const char *value) {
  o->interactive |= w->letter == 'i';
  o->version |= w->letter == 'v';
  o->help |= w->letter == 'h';
  o->ignore_env |= w->letter == 'E';
  o->ran |= w->letter == 'e';
  if (w->letter) return;
  if (strcmp(w->name, "resume") == 0)
    o->resumes = o->interactive = true;
  else if (strcmp(w->name, "dump-ir") == 0)
    o->dump = value;
  else
    o->diagnostics = value;
}

/* Finds the script and the flags that must be known first; false on bad usage. */
static bool scan(Options *o) {
  bool more = true;
  int i = 1;
  for (; more && i < o->argc && o->argv[i][0] == '-' && o->argv[i][1]; i++) {
    const char *a = o->argv[i];
    const Word *w = find_option(a);
    if (!w) {
      fprintf(stderr, "tide: no option '%s'\n", a);
      return false;
    }
    const char *value = option_value(o, w, &i);
    bool other = !w->letter && value && strcmp(w->args, "json") == 0 && strcmp(value, "json") != 0;
    if (w->args && (!value || other)) {
      fprintf(stderr, "tide: '%s' takes %s\n", a, w->args);
      return false;
    }
    note_option(o, w, value);
    more = w->letter != '-';
  }
  o->script = i;
  return true;
}

/* Runs -e and -l in order. */
static bool run_options(lua_State *L, const Options *o) {
  for (int i = 1; i < o->script; i++) {
    const Word *w = find_option(o->argv[i]);
    const char *value = option_value(o, w, &i);
    if (w->letter == 'e' && !run_code(L, value)) return false;
    if (w->letter == 'l' && !run_library(L, value)) return false;
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
    td_report_error(L);
    return false;
  }
  lua_pop(L, 1);
  return call(L, 0);
}

/* A verb of the command line is a function of the Lua module tide.cli. */
static bool is_verb(const char *word) {
  for (size_t i = 0; i < WORDS; i++)
    if (words[i].verb && strcmp(words[i].name, word) == 0) return true;
  return false;
}

static int run_verb(lua_State *L, const Options *o) {
  lua_getglobal(L, "require");
  lua_pushliteral(L, "tide.tool.cli");
  if (lua_pcall(L, 1, 1, 0) != LUA_OK) {
    td_report_error(L);
    return FAILED;
  }
  lua_getfield(L, -1, o->argv[o->script]);
  int n = 0;
  for (int i = o->script + 1; i < o->argc; i++, n++) lua_pushstring(L, o->argv[i]);
  int base = lua_gettop(L) - n;
  lua_pushcfunction(L, td_fault_handle);
  lua_insert(L, base);
  td_prompt_watch(L, true);
  bool ok = lua_pcall(L, n, 1, base) == LUA_OK, stopped = td_prompt_was_interrupted();
  td_prompt_watch(L, false);
  if (stopped) {
    fputs("interrupted\n", stderr);
    return INTERRUPTED;
  }
  if (!ok) {
    td_report_error(L);
    return FAILED;
  }
  return lua_isinteger(L, -1) ? (int)lua_tointeger(L, -1) : OK;
}

/* Pushes the path of the start file: TIDE_INIT, or init.lua in tide's folder of the user's
 * settings.
 */
static const char *push_start(lua_State *L) {
  const char *own = getenv("TIDE_INIT"), *config = getenv("XDG_CONFIG_HOME"),
             *home = getenv("HOME");
  if (own) return lua_pushstring(L, own);
  if (config && *config) return lua_pushfstring(L, "%s/tide/init.lua", config);
  return lua_pushfstring(L, "%s/.config/tide/init.lua", home ? home : "");
}

/* Runs the start file, if there is one; an error in it is reported and the prompt opens. */
static void run_start(lua_State *L) {
  const char *path = push_start(L);
  lua_getglobal(L, "loadfile");
  lua_pushstring(L, path);
  if (!*path || access(path, F_OK) != 0) return;
  lua_call(L, 1, 2);
  if (lua_isnil(L, -2)) {
    td_report_error(L);
    return;
  }
  lua_pop(L, 1);
  call(L, 0);
}

static int run_prompt(lua_State *L, const Options *o) {
  if (isatty(STDIN_FILENO)) {
    print_version(L);
    puts("? lists what there is, ?name explains it; tutorial is a first lesson");
  }
  td_prompt_open(L);
  if (!o->ignore_env) run_start(L);
  return td_repl_run(L, o->resumes);
}

/* Everything, protected; arguments: the options. Sets o->status. */
static int protected_main(lua_State *L) {
  Options *o = lua_touserdata(L, 1);
  lua_settop(L, 2);
  open_libraries(L, o->ignore_env);
  make_arg(L, o);
  o->status = FAILED;
  td_progress_open(L);
  if (o->diagnostics) td_report_as_json(L);
  if (o->dump) td_dump_to(L, o->dump);
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
    o->status = run_prompt(L, o);
  } else if (nothing) {
    char *self[] = {o->argv[0], "-", NULL};
    Options input = {.argc = 2, .argv = self, .script = 1};
    o->status = run_script(L, &input) ? OK : FAILED;
  }
  return 0;
}

/* All of it; returns the exit status. */
static int run(int argc, char **argv) {
  Options o = {.argc = argc, .argv = argv, .status = FAILED};
  bool good = scan(&o);
  if (!good || o.help) {
    usage(good ? stdout : stderr);
    return good ? OK : USAGE;
  }
  lua_State *L = luaL_newstate();
  if (!L) {
    fputs("tide: not enough memory\n", stderr);
    return FAILED;
  }
  lua_pushcfunction(L, protected_main);
  lua_pushlightuserdata(L, &o);
  if (lua_pcall(L, 1, 0, 0) != LUA_OK) td_report_error(L);
  lua_close(L);
  return o.status;
}

/* Mends what the process may have inherited: children of a parent that ignores them cannot be
 * waited for, and where 0, 1 or 2 is closed the next file that is opened would be that, and take
 * what is printed. What stands there then fails as a closed one does. */
static void mend_inherited(void) {
  signal(SIGCHLD, SIG_DFL);
  for (int fd = 0; fd <= 2; fd++)
    if (fcntl(fd, F_GETFD) < 0) open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
}

static int status = OK; /* that main comes to */

/* At the end, also by os.exit: a status of success holds only if all that was printed arrived. */
static void check_output(void) {
  if (fflush(stdout) == 0 && !ferror(stdout)) return;
  fputs("tide: not all of the output could be written\n", stderr);
  _exit(status ? status : FAILED);
}

int main(int argc, char **argv) {
  signal(SIGXFSZ, SIG_IGN); /* a limit on files is an error of the write */
  mend_inherited();
  atexit(check_output);
  status = run(argc, argv);
  return status;
}

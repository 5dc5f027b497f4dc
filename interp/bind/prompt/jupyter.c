/* jupyter.c - the module tide.jupyter: loads the Jupyter kernel, a shared object, when it is
 * asked for, so that nothing else needs its libraries. */
#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

#include "base/home.h"
#include "bind/prompt/prompt.h"
#include "repl/jupyter/jupyter.h"

#define FILE_NAME "jupyter.so"
#define BUILT_FROM "libzmq3-dev libjansson-dev libssl-dev"
#define RUNS_WITH "libzmq5 libjansson4 libssl3"

/* The path of the shared object in a, or NULL. */
static const char *find(TdArena *a) {
  char home[4096];
  return td_home_find(FILE_NAME, home, sizeof home) ? td_text_fmt(a, "%s/" FILE_NAME, home) : NULL;
}

/* The kernel; NULL with *why filled where the shared object or one of its libraries is missing. */
static TdJupyterServe *load(TdArena *a, TdText *why) {
  const char *path = find(a);
  if (!path) {
    td_text_puts(why, FILE_NAME " is not here: apt-get install " BUILT_FROM ", then make kernel");
    return NULL;
  }
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  void *symbol = library ? dlsym(library, "td_jupyter_serve") : NULL;
  TdJupyterServe *serve;
  memcpy(&serve, &symbol, sizeof serve);
  if (!symbol) td_text_putf(why, "%s\n(apt-get install " RUNS_WITH ")", dlerror());
  return serve;
}

bool td_jupyter_is_here(TdArena *a) {
  TdText why = td_text_new(a);
  return load(a, &why) != NULL;
}

/* jupyter.missing(): nil, or why there can be no kernel here. */
static int l_missing(lua_State *L) {
  TdText why = td_text_new(td_bind_arena(L));
  if (load(why.arena, &why)) return 0;
  lua_pushstring(L, td_text_str(&why));
  return 1;
}

/* jupyter.serve(connection, info): serves until a front end ends it; nil and why where it cannot.
 */
static int l_serve(lua_State *L) {
  const char *connection = luaL_checkstring(L, 1), *info = luaL_checkstring(L, 2);
  TdText why = td_text_new(td_bind_arena(L));
  TdJupyterServe *serve = load(why.arena, &why);
  td_prompt_open(L);
  if (serve && serve(L, connection, info, &why)) {
    lua_pushboolean(L, 1);
    return 1;
  }
  lua_pushnil(L);
  lua_pushstring(L, td_text_str(&why));
  return 2;
}

/* jupyter.program(): the path of the program that runs. */
static int l_program(lua_State *L) {
  char path[4096];
  ssize_t n = readlink("/proc/self/exe", path, sizeof path);
  lua_pushlstring(L, path, n > 0 ? (size_t)n : 0);
  return 1;
}

/* The loader of the module. */
static int l_load(lua_State *L) {
  static const luaL_Reg functions[] = {
      {"missing", l_missing}, {"serve", l_serve}, {"program", l_program}, {NULL, NULL}};
  luaL_newlib(L, functions);
  return 1;
}

void td_bind_open_jupyter(lua_State *L) {
  td_bind_set_module(L, "tide.jupyter", l_load);
}

/* version.c - what this Tide is made with and can do here: versions, tide.features(). */
#include <dlfcn.h>
#include <string.h>

#include "backends/cpu/cpu.h"
#include "backends/host/ffi.h"
#include "base/home.h"
#include "bind/prompt/prompt.h"
#include "gen/version.h"
#include "repl/markdown.h"

/* The version of the GMP that isl computes with, or NULL when isl has its own numbers. */
static const char *gmp_version(void) {
  void *self = dlopen(NULL, RTLD_NOW);
  const char *const *version = self ? dlsym(self, "__gmp_version") : NULL;
  const char *text = version ? *version : NULL;
  if (self) dlclose(self);
  return text;
}

/* isl's number out of "isl-0.25-GMP". */
static const char *isl_number(TdArena *a) {
  const char *all = td_affine_version(), *from = strchr(all, '-');
  from = from ? from + 1 : all;
  return td_arena_strndup(a, from, strcspn(from, "-\n"));
}

const char *td_prompt_libraries(lua_State *L) {
  TdArena *a = td_arena_scratch(td_bind_enter(L)->ctx);
  TdText t = td_text_new(a);
  const char *gmp = gmp_version(), *tcc = td_cpu_tcc_version(a);
  td_text_putf(&t, "isl %s", isl_number(a));
  if (gmp) td_text_putf(&t, "  GMP %s", gmp);
  td_text_putf(&t, "  libffi %s", td_ffi_version());
  if (tcc) td_text_putf(&t, "  libtcc %s", tcc);
  lua_pushstring(L, td_text_str(&t));
  td_arena_free(a);
  return lua_tostring(L, -1);
}

#define KEY_MODULE "tide.module"

void td_version_note_module(lua_State *L, const char *file) {
  char home[4096];
  lua_pushboolean(L, 1);
  lua_setfield(L, LUA_REGISTRYINDEX, KEY_MODULE);
  td_home_begin(file);
  if (!td_home_find("stdlib", home, sizeof home)) return;
  lua_getglobal(L, "package");
  lua_getfield(L, -1, "path");
  lua_pushfstring(L, "%s;%s/stdlib/?.lua", lua_tostring(L, -1), home);
  lua_setfield(L, -3, "path");
  lua_pop(L, 2);
}

bool td_version_is_module(lua_State *L) {
  lua_getfield(L, LUA_REGISTRYINDEX, KEY_MODULE);
  bool module = lua_toboolean(L, -1) != 0;
  lua_pop(L, 1);
  return module;
}

/* tide.features(): {version, libraries, program, memory_compiler, pages, notebooks, home,
 * missing}. */
static int l_features(lua_State *L) {
  TdArena *a = td_bind_arena(L);
  char home[4096];
  lua_createtable(L, 0, 8);
  td_bind_set_string(L, "version", TIDE_VERSION);
  td_prompt_libraries(L);
  lua_setfield(L, -2, "libraries");
  td_bind_set_boolean(L, "program", !td_version_is_module(L));
  td_bind_set_boolean(L, "memory_compiler", td_cpu_tcc_version(a) != NULL);
  td_bind_set_boolean(L, "pages", td_markdown_is_here());
  td_bind_set_boolean(L, "notebooks", td_jupyter_is_here(a));
  if (td_home_find("stdlib", home, sizeof home)) td_bind_set_string(L, "home", home);
  if (td_version_is_module(L))
    td_bind_set_string(
        L, "missing",
        "the prompt, the verbs, Ctrl-C during a run, and kernels in code that is in no file "
        "and was loaded before tide: run the program tide for these");
  return 1;
}

void td_bind_open_version(lua_State *L) {
  lua_pushcfunction(L, l_features);
  lua_setfield(L, -2, "features");
}

/* bind_version.c - the libraries that Tide runs with, as they name themselves. */
#include <dlfcn.h>
#include <string.h>

#include "backends/cpu/cpu.h"
#include "bind/bind.h"
#include "tide.h"

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
  if (tcc) td_text_putf(&t, "  libtcc %s", tcc);
  lua_pushstring(L, td_text_str(&t));
  td_arena_free(a);
  return lua_tostring(L, -1);
}

/* clang.c - libclang is looked for under the names that its packages give it. */
#include "backends/ip/clang.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

enum { OLDEST = 11, NEWEST = 22 };

/* Puts the address of a function into *to; whether it is there. */
static bool find(void *library, const char *name, void *to) {
  void *symbol = dlsym(library, name);
  memcpy(to, &symbol, sizeof symbol);
  return symbol;
}

static void *open_any(void) {
  void *library = dlopen("libclang.so.1", RTLD_NOW | RTLD_LOCAL);
  for (int v = NEWEST; !library && v >= OLDEST; v--) {
    char name[32];
    snprintf(name, sizeof name, "libclang-%d.so.1", v);
    library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  }
  return library;
}

bool td_clang_load(TdClang *c) {
  void *library = open_any();
  bool all = library;
#define FIND(result, name, list) all = all && find(library, "clang_" #name, &c->name);
  TD_CLANG_FUNCTIONS(FIND)
#undef FIND
  return all;
}

/* library.c - shared objects are opened and closed on guard: their constructors and destructors
 * are foreign code, and their files may have been cut short. */
#include <dlfcn.h>
#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "backends/host/library.h"

/* An object being opened. */
typedef struct Opening {
  const char *path;
  void *library;
  volatile int foreign;
} Opening;

static void open_it(void *opening) {
  Opening *o = opening;
  o->library = dlopen(o->path, RTLD_NOW | RTLD_LOCAL);
}

static void close_it(void *library) {
  dlclose(library);
}

/* Whatever its destructors do. */
static void close_on_guard(void *library) {
  static const volatile int foreign = 1;
  td_guard_call(close_it, library, &foreign);
}

/* Whether a file is no ELF object that ends before its section headers do, which are its end: the
 * dynamic linker would read past it, and keep what it had of it for ever. */
static bool is_whole(const char *path) {
  Elf64_Ehdr h;
  FILE *f = fopen(path, "rb");
  if (!f) return true;
  bool is_elf = fread(&h, sizeof h, 1, f) == 1 && memcmp(h.e_ident, ELFMAG, SELFMAG) == 0 &&
                h.e_ident[EI_CLASS] == ELFCLASS64;
  bool known = fseek(f, 0, SEEK_END) == 0;
  long size = ftell(f);
  fclose(f);
  return !is_elf || !known || (uint64_t)size >= h.e_shoff + (uint64_t)h.e_shnum * h.e_shentsize;
}

TdLibrary td_library_open(TdArena *a, const char *path) {
  if (!is_whole(path)) return (TdLibrary){.why = "its file was cut short"};
  Opening o = {.path = path, .foreign = 1};
  TdGuardEnd end = td_guard_call(open_it, &o, &o.foreign);
  if (o.library) td_arena_defer(a, close_on_guard, o.library);
  const char *said = end.how     ? td_guard_text(a, end)
                     : o.library ? "it has no such symbol"
                                 : td_arena_strdup(a, dlerror());
  return (TdLibrary){o.library, said, end};
}

bool td_library_tell(const TdLibrary *x, TdDiag *d) {
  return td_diag_set(d, TD_ILLEGAL, "crash", (TdLoc){0}, "the foreign code %s when it was loaded",
                     x->why);
}

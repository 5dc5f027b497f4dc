/* cpu_tcc.c - compiling in memory with libtcc. It keeps its state in globals, so one program is
   compiled at a time. -DTIDE_NO_TCC leaves it out. */
#include "backends/cpu/cpu_code.h"

#include <dlfcn.h>
#include <string.h>

#include "backends/compiler.h"

#ifdef TIDE_NO_TCC

bool td_cpu_tcc_is_there(void) {
  return false;
}

const char *td_cpu_tcc_version(TdArena *a) {
  (void)a;
  return NULL;
}

bool td_cpu_tcc_compile(TdArena *a, const TdCpuInput *in, TdCpuCode *code, TdDiag *d) {
  (void)a, (void)in, (void)code;
  td_diag_set(d, TD_UNSUPPORTED, "no-tcc", (TdLoc){0}, "this Tide was built without libtcc");
  td_diag_help(d, "run with tier = \"cc\"");
  return false;
}

#else

#  include <libtcc.h>
#  include <locale.h>

bool td_cpu_tcc_is_there(void) {
  return true;
}

static void delete_state(void *state) {
  tcc_delete(state);
}

/* What libtcc complained about. */
static void note(void *ud, const char *message) {
  td_text_putf(ud, "%s\n", message);
}

static void *find(void *state, const char *name) {
  return tcc_get_symbol(state, name);
}

/* Gives the program the foreign functions of libraries. What has only a source is compiled with
   it. */
static bool add_foreign(TdArena *a, TCCState *s, const TdForeign *f, TdDiag *d) {
  if (f->source) return tcc_add_file(s, f->source) == 0;
  TdCpuLibrary x = td_cpu_library_open(a, f->library);
  void *symbol = x.handle ? dlsym(x.handle, f->symbol) : NULL;
  if (symbol) return tcc_add_symbol(s, f->symbol, symbol) == 0;
  return x.crashed ? td_cpu_library_tell(&x, d)
                   : td_diag_set(d, TD_USAGE, "no-symbol", (TdLoc){0}, "'%s' is not found: %s",
                                 f->symbol, x.why);
}

/* libtcc has no function that tells its version: it is asked to compile it. */
const char *td_cpu_tcc_version(TdArena *a) {
  TCCState *s = tcc_new();
  if (!s) return NULL;
  tcc_set_options(s, "-nostdlib");
  tcc_set_output_type(s, TCC_OUTPUT_MEMORY);
  const int *v = NULL;
  if (tcc_compile_string(s, "int version = __TINYC__;") == 0 &&
      tcc_relocate(s, TCC_RELOCATE_AUTO) == 0)
    v = tcc_get_symbol(s, "version");
  const char *text = v ? td_text_fmt(a, "%d.%d.%d", *v / 1000, *v / 100 % 10, *v % 100) : "unknown";
  tcc_delete(s);
  return text;
}

static void leave_locale(void *before) {
  freelocale(uselocale((locale_t)before));
}

/* Until `scratch` is freed, numbers are written as C writes them: libtcc reads them as the locale
   does. */
static void enter_locale(TdArena *scratch) {
  locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  if (!c) td_ctx_escape(td_arena_ctx(scratch), TD_WHY_MEMORY);
  td_arena_defer(scratch, leave_locale, (void *)uselocale(c));
}

/* Compiles all of `in`, to what s then holds. */
static bool compile_all(TdArena *a, TCCState *s, const TdCpuInput *in, TdDiag *d) {
  TdArena *scratch = td_arena_scratch(td_arena_ctx(a));
  enter_locale(scratch);
  bool ok = tcc_compile_string(s, in->text) == 0;
  for (size_t i = 0; ok && i < in->nforeign; i++) ok = add_foreign(a, s, in->foreign[i], d);
  ok = ok && tcc_relocate(s, TCC_RELOCATE_AUTO) == 0;
  td_arena_free(scratch);
  return ok;
}

bool td_cpu_tcc_compile(TdArena *a, const TdCpuInput *in, TdCpuCode *code, TdDiag *d) {
  static const TdCompiler libtcc = {.language = "in-memory C"};
  TdText said = td_text_new(a);
  if (!td_cpu_foreign_check(in, d)) return false;
  if (in->bytes > INT32_MAX)
    return td_diag_set(d, TD_USAGE, "compiler-failed", (TdLoc){0},
                       "the compiler in memory knows no programs that hold 2 GiB or more");
  td_ctx_need_room(td_arena_ctx(a));
  TCCState *s = tcc_new();
  if (!s) td_ctx_escape(td_arena_ctx(a), TD_WHY_MEMORY);
  td_arena_defer(a, delete_state, s);
  tcc_set_error_func(s, &said, note);
  tcc_set_options(s, "-w");
  tcc_define_symbol(s, "TD_THREADS", "1");
  tcc_set_output_type(s, TCC_OUTPUT_MEMORY);
  if (compile_all(a, s, in, d) && td_cpu_code_link(code, find, s)) return true;
  const char *why = td_text_str(&said);
  return !td_diag_failed(d) && !td_cpu_foreign_complain(in, why, d) &&
         td_compiler_complain(&libtcc, why, "<string>", in->text, d);
}

#endif

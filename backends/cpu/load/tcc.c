/* tcc.c - compiling in memory with libtcc, under guard; where memory ends, it exits. It keeps
 * its state in globals, so one program is compiled at a time, and none any more once it was left in
 * the midst of one. -DTIDE_NO_TCC leaves it out. */
#include "backends/cpu/load/code.h"

#include <string.h>

#include "backends/host/compiler.h"

/* Refuses the tier; returns false. */
static bool refuse(TdDiag *d, const char *why) {
  td_diag_set(d, TD_UNSUPPORTED, "no-tcc", (TdLoc){0}, "%s", why);
  td_diag_help(d, "run with tier = \"cc\"");
  return false;
}

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
  return refuse(d, "this Tide was built without libtcc");
}

#else

#  include <libtcc.h>
#  include <locale.h>

/* A program in libtcc's hands; what is in it is there before libtcc begins, because nothing may
 * escape through libtcc. */
typedef struct Work {
  const TdCpuInput *in;
  TCCState *state;
  char said[8192]; /* the first complaints */
  size_t n;        /* bytes of them */
  TdCpuCode *code;
  bool done;
} Work;

/* libtcc was left in the midst of its work: what it holds is not to be touched. */
static volatile bool is_lost;

bool td_cpu_tcc_is_there(void) {
  return !is_lost;
}

/* Has libtcc work, where Ctrl-C cannot leave it: it may be in malloc. How it ended. */
static TdGuardEnd guard(void (*fn)(void *work), Work *w) {
  static const volatile int never = 0;
  TdGuardEnd end = td_guard_call(fn, w, &never);
  is_lost |= end.how != 0;
  return end;
}

static void delete_state(void *state) {
  tcc_delete(state);
}

/* What libtcc complained about. */
static void note(void *work, const char *message) {
  Work *w = work;
  size_t n = strlen(message), room = sizeof w->said - w->n - 1;
  if (n + 1 > room) return;
  memcpy(w->said + w->n, message, n);
  w->n += n;
  w->said[w->n++] = '\n';
}

static void *find(void *state, const char *name) {
  return tcc_get_symbol(state, name);
}

/* Compiles a line that tells the version: libtcc has no function for it. */
static void ask_version(void *work) {
  Work *w = work;
  w->state = tcc_new();
  if (!w->state) return;
  tcc_set_options(w->state, "-nostdlib");
  tcc_set_output_type(w->state, TCC_OUTPUT_MEMORY);
  w->done = tcc_compile_string(w->state, "int version = __TINYC__;") == 0 &&
            tcc_relocate(w->state, TCC_RELOCATE_AUTO) == 0;
}

const char *td_cpu_tcc_version(TdArena *a) {
  Work w = {.done = false};
  if (is_lost || guard(ask_version, &w).how || !w.state) return NULL;
  const int *v = w.done ? tcc_get_symbol(w.state, "version") : NULL;
  int n = v ? *v : 0;
  tcc_delete(w.state);
  return n ? td_text_fmt(a, "%d.%d.%d", n / 1000, n / 100 % 10, n % 100) : "unknown";
}

static void leave_locale(void *before) {
  freelocale(uselocale((locale_t)before));
}

/* Until `scratch` is freed, numbers are written as C writes them: libtcc reads them as the locale
 * does. */
static void enter_locale(TdArena *scratch) {
  locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  if (!c) td_ctx_escape(td_arena_ctx(scratch), TD_WHY_MEMORY);
  td_arena_defer(scratch, leave_locale, (void *)uselocale(c));
}

/* Compiles all of the program. */
static void compile_all(void *work) {
  Work *w = work;
  w->state = tcc_new();
  if (!w->state) return;
  tcc_set_error_func(w->state, w, note);
  tcc_set_options(w->state, "-w");
  tcc_define_symbol(w->state, "TD_THREADS", "1");
  tcc_set_output_type(w->state, TCC_OUTPUT_MEMORY);
  w->done = tcc_compile_string(w->state, w->in->text) == 0;
  w->done = w->done && tcc_relocate(w->state, TCC_RELOCATE_AUTO) == 0 &&
            td_cpu_code_link(w->code, find, w->state);
}

/* Tells why there is no program; returns false. Escapes where that is want of memory. */
static bool complain(TdArena *a, const Work *w, TdGuardEnd end, TdDiag *d) {
  static const TdCompiler libtcc = {.language = "in-memory C"};
  bool full = !end.how && !w->state;
  if (full || strstr(w->said, "memory full")) td_ctx_escape(td_arena_ctx(a), TD_WHY_MEMORY);
  if (end.how) return refuse(d, td_text_fmt(a, "the compiler in memory %s", td_guard_text(a, end)));
  return td_compiler_complain(&libtcc, w->said, "<string>", w->in->text, d);
}

bool td_cpu_tcc_compile(TdArena *a, const TdCpuInput *in, TdCpuCode *code, TdDiag *d) {
  if (is_lost) return refuse(d, "the compiler in memory ended in the midst of its work before");
  if (in->bytes > INT32_MAX)
    return td_diag_set(d, TD_USAGE, "compiler-failed", (TdLoc){0},
                       "the compiler in memory knows no programs that hold 2 GiB or more");
  TdArena *scratch = td_arena_scratch(td_arena_ctx(a));
  Work *w = TD_NEW(scratch, Work);
  *w = (Work){.in = in, .code = code};
  enter_locale(scratch);
  td_ctx_need_room(td_arena_ctx(a));
  TdGuardEnd end = guard(compile_all, w);
  if (!end.how && w->state) td_arena_defer(a, delete_state, w->state);
  bool ok = (!end.how && w->done) || complain(a, w, end, d);
  td_arena_free(scratch);
  return ok;
}

#endif

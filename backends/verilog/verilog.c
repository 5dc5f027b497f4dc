/* verilog.c - Verilog as a target of builds: its options, its files. */
#include "backends/verilog/verilog.h"

#include <string.h>

#include "backends/verilog/tool/ask.h"
#include "backends/verilog/vname.h"
#include "backends/verilog/shell/shell.h"
#include "eval/time/ready.h"
#include "lower/lower.h"

static const TdOption options[TD_VERILOG_OPTIONS] = {
    [TD_VERILOG_DEVICE] = {"device", TD_OPTION_WORD, "rtl|ice40|ideal|u280",
                           "whose operation times the schedule has"},
    [TD_VERILOG_TOP] = {"top", TD_OPTION_WORD, "", "name of the top module; else the kernel's"},
    [TD_VERILOG_SIM] = {"sim", TD_OPTION_WORD, "auto|verilator|icarus",
                        "what runs it; auto: Icarus where little is to do"},
    [TD_VERILOG_CHECK] = {"check", TD_OPTION_BOOL, "true",
                          "compare values and cycles with the timed run"},
    [TD_VERILOG_MOST] = {"most", TD_OPTION_INT, "100000000",
                         "cycles after which a run is taken to hang"},
    [TD_VERILOG_SECONDS] = {"seconds", TD_OPTION_INT, "60", "most time of a simulation"},
    [TD_VERILOG_READY] = {"ready", TD_OPTION_CYCLES, NULL,
                          "of a stream of the top: the cycles from which its tokens are there, or "
                          "have their places"},
    [TD_VERILOG_CONTROL] = {"control", TD_OPTION_WORD, "auto|static|handshake",
                            "streams whose cycles are known are delay lines: where it is proved, "
                            "everywhere, nowhere"},
    [TD_VERILOG_INTERFACE] = {"interface", TD_OPTION_WORD, "ram|stream",
                              "the top's pins: ports of memories, or AXI4-Stream"},
    [TD_VERILOG_CLOCK] = {"clock", TD_OPTION_WORD, "clk", "name of the top's clock"},
    [TD_VERILOG_RESET] = {"reset", TD_OPTION_WORD, "rst",
                          "name of the top's reset; active while it is low if it ends in _n"},
    [TD_VERILOG_LOCATION] = {"location", TD_OPTION_BOOL, "true",
                             "comments name the file and line of the source"},
    [TD_VERILOG_MATH] = {TD_MATH_OPTION, TD_OPTION_WORD, "core", TD_MATH_HELP},
};

const char *td_verilog_option(const TdBuild *b, int option) {
  const char *said = td_backend_option(&td_backend_verilog, b, (size_t)option);
  if (!said || option == TD_VERILOG_READY) return said;
  return td_arena_strndup(b->arena, said, strcspn(said, "|"));
}

/* Whether some file has an instance of a module. */
static bool uses(TdArena *a, const TdFile *f, size_t n, const char *module) {
  for (size_t i = 0; i < n; i++)
    if (strstr(f[i].text, td_text_fmt(a, "  %s ", module))) return true;
  return false;
}

/* Adds what files use of a library. */
static void put_library(TdArena *a, const TdFile *x, TdFile *f, size_t *n) {
  for (; x->name; x++)
    if (uses(a, f, *n, x->name)) f[(*n)++] = (TdFile){td_text_fmt(a, "%s.sv", x->name), x->text};
}

/* The top, the tasks, and what they use of the libraries. */
static void put_files(TdArena *a, TdVlogText *t, const TdVlogFiles *task) {
  enum { LIBRARY = 32 };
  TdFile *f = TD_NEWN(a, TdFile, 2 + task->at.n + LIBRARY);
  f[t->nfile++] = (TdFile){td_text_fmt(a, "%s.sv", t->top->name), t->top->text};
  if (t->core != t->top)
    f[t->nfile++] = (TdFile){td_text_fmt(a, "%s.sv", t->core->name), t->core->text};
  for (size_t i = 0; i < task->at.n; i++) f[t->nfile++] = task->at.at[i];
  put_library(a, td_verilog_library, f, &t->nfile);
  put_library(a, td_verilog_floats, f, &t->nfile);
  t->file = f;
}

/* The module of a program, and the files of its tasks. */
static const TdVlogModule *core_of(const TdVlogProg *p, TdVlogFiles *files, TdDiag *d) {
  const TdUnit *root = td_prog_root(p->prog);
  return root->kind == TD_UNIT_DESIGN ? td_vdesign_module(p, files, d)
                                      : td_vunit_kernel(p, root, d);
}

const TdVlogText *td_verilog_text_of(const TdVlogProg *p, TdDiag *d) {
  TdVlogText *out = TD_NEW(p->arena, TdVlogText);
  TdVlogFiles files = {{0}};
  out->top = out->core = core_of(p, &files, d);
  if (!out->top) return NULL;
  put_files(p->arena, out, &files);
  return out;
}

/* What the options say of the top. */
static TdShell shell_of(const TdBuild *b, const TdUnit *root) {
  const char *top = td_verilog_option(b, TD_VERILOG_TOP);
  return (TdShell){.name = *top ? top : td_vname_module(b->arena, root->sym->name),
                   .clock = td_verilog_option(b, TD_VERILOG_CLOCK),
                   .reset = td_verilog_option(b, TD_VERILOG_RESET),
                   .interface = td_verilog_option(b, TD_VERILOG_INTERFACE)};
}

/* Whether the top of p is as it comes, without a shell. */
static bool is_bare(const TdShell *o, const TdProg *p) {
  return !td_prog_has_state(p) && strcmp(o->interface, "ram") == 0 &&
         strcmp(o->clock, "clk") == 0 && strcmp(o->reset, "rst") == 0;
}

const TdVlogText *td_verilog_text(const TdBuild *b, TdDiag *d) {
  TdArena *a = b->arena;
  TdAffine *affine = td_affine_new(a);
  const TdTarget *t = td_target_find(td_verilog_option(b, TD_VERILOG_DEVICE));
  TdSched sched = {.affine = affine, .arena = a, .prog = b->prog, .target = t};
  const TdTimes *times = td_firing_times(affine, a, b->prog, t, d);
  if (!times) return NULL;
  TdVlogProg p = {.arena = a, .prog = b->prog, .sched = &sched, .times = times};
  p.top = td_verilog_option(b, TD_VERILOG_TOP);
  p.control = td_verilog_option(b, TD_VERILOG_CONTROL);
  TdVlogText *out = TD_NEW(a, TdVlogText);
  TdVlogFiles files = {{0}};
  TdShell shell = shell_of(b, td_prog_root(b->prog));
  bool bare = is_bare(&shell, b->prog);
  p.placeless = strcmp(td_verilog_option(b, TD_VERILOG_LOCATION), "false") == 0;
  if (!bare) p.top = td_text_fmt(a, "%s_core", p.around = shell.name);
  out->core = core_of(&p, &files, d);
  out->top = !out->core || bare ? out->core : td_shell_module(a, &shell, out->core, d);
  if (!out->top) return NULL;
  put_files(a, out, &files);
  out->bench = td_verilog_bench(a, out->top, &shell);
  out->main = td_verilog_library_main;
  return out;
}

/* Whether an option is a name in Verilog. */
static bool is_name(const TdBuild *b, int option, const char *of) {
  const char *said = td_verilog_option(b, option);
  bool taken = option == TD_VERILOG_TOP ? td_vname_is_module(said) : td_vname_is_reserved(said);
  if (!*said || (strcmp(td_vname_plain(b->arena, said), said) == 0 && !taken)) return true;
  return td_diag_set(b->diag, TD_USAGE, "option", (TdLoc){0},
                     "'%s' is the name of a Verilog %s, not '%s'", options[option].name, of, said);
}

/* Whether clock and reset have names of their own. */
static bool are_apart(const TdBuild *b) {
  const char *clock = td_verilog_option(b, TD_VERILOG_CLOCK);
  const char *reset = td_verilog_option(b, TD_VERILOG_RESET);
  const TdUnit *u = td_prog_root(b->prog);
  const char *top = td_verilog_option(b, TD_VERILOG_TOP);
  bool apart = strcmp(clock, reset) != 0 && strcmp(top, clock) != 0 && strcmp(top, reset) != 0;
  for (size_t i = 0; i < u->nparam; i++)
    apart &= strcmp(u->param[i].sym->name, clock) != 0 && strcmp(u->param[i].sym->name, reset) != 0;
  return apart || td_diag_set(b->diag, TD_USAGE, "option", (TdLoc){0},
                              "'clock' and 'reset' are names of pins that nothing else has");
}

static bool validate(const TdBuild *b) {
  if (!is_name(b, TD_VERILOG_TOP, "module") || !is_name(b, TD_VERILOG_CLOCK, "pin") ||
      !is_name(b, TD_VERILOG_RESET, "pin") || !are_apart(b))
    return false;
  const char *ready = td_verilog_option(b, TD_VERILOG_READY);
  if (ready && strcmp(td_verilog_option(b, TD_VERILOG_INTERFACE), "ram") != 0)
    return td_diag_set(b->diag, TD_USAGE, "option", (TdLoc){0},
                       "'ready' tells when tokens move at the interface \"ram\" alone");
  return (!ready || td_ready_read(b->arena, b->prog, ready, b->diag)) &&
         td_verilog_text(b, b->diag) != NULL;
}

/* The clock of the device, for tools that place and route. */
static const char *constraints(const TdBuild *b) {
  const TdTarget *t = td_target_find(td_verilog_option(b, TD_VERILOG_DEVICE));
  return td_text_fmt(b->arena, "create_clock -name clk -period %.3f [get_ports %s]\n",
                     (double)t->clock / 1000, td_verilog_option(b, TD_VERILOG_CLOCK));
}

static const TdFile *emit(const TdBuild *b, size_t *nfile) {
  enum { OTHERS = 16 };
  const TdVlogText *t = td_verilog_text(b, b->diag);
  if (!t) return NULL;
  TdFile *f = TD_NEWN(b->arena, TdFile, t->nfile + OTHERS);
  TdText list = td_text_new(b->arena), words = td_text_new(b->arena);
  size_t n = 0;
  for (; n < t->nfile; n++) {
    f[n] = t->file[n];
    td_text_putf(&list, "%s\n", t->file[n].name);
    td_text_putf(&words, " %s", t->file[n].name);
  }
  f[n++] = (TdFile){"bench.sv", t->bench};
  f[n++] = (TdFile){"bench.cpp", t->main};
  f[n++] = (TdFile){"files.f", td_text_str(&list)};
  f[n++] = (TdFile){td_text_fmt(b->arena, "%s.sdc", t->top->name), constraints(b)};
  const TdFile *script = td_cost_scripts(b->arena, t->top->name, td_text_str(&words));
  for (; script->name; script++) f[n++] = *script;
  *nfile = n;
  return f;
}

static void *open_run(const TdBuild *b) {
  return td_verilog_run_new(b);
}

static bool call_run(void *run, const TdCallArg *arg, size_t narg, TdDiag *d) {
  (void)narg;
  return td_verilog_run_call(run, arg, d);
}

static void reset_run(void *run) {
  td_verilog_run_reset(run);
}

static const TdTimed *timed_run(const void *run) {
  return td_verilog_run_timed(run);
}

static const TdQuestion *const questions[] = {&td_verilog_lint, &td_verilog_cost, &td_verilog_prove,
                                              NULL};

const TdBackend td_backend_verilog = {
    .name = "verilog",
    .summary = "Verilog in the cycles of the timed run, with a bench",
    .option = options,
    .noption = TD_VERILOG_OPTIONS,
    .passes = 0,
    .check_option = "check",
    .validate = validate,
    .emit = emit,
    .open = open_run,
    .call = call_run,
    .reset = reset_run,
    .timed = timed_run,
    .question = questions,
};

/* simulator.c - Icarus and Verilator as child processes. */
#include "backends/verilog/tool/simulator.h"

#include <string.h>

#include "backends/host/child.h"
#include "gen/version.h"

enum { COMPILE_SECONDS = 600, MOST_WORDS = 32 };

TdSimulator td_simulator_new(TdArena *a, const char *sim, TdDiag *d) {
  return (TdSimulator){.arena = a, .diag = d, .icarus = strcmp(sim, "verilator") != 0};
}

bool td_simulator_open(TdSimulator *s) {
  return td_cache_open(&s->cache, s->arena, s->diag) && (s->folder = td_cache_aside(&s->cache));
}

const char *td_simulator_path(const TdSimulator *s, const char *name) {
  return td_text_fmt(s->arena, "%s/%s", s->folder, name);
}

bool td_simulator_write(TdSimulator *s, const char *name, const char *text) {
  const char *file = td_simulator_path(s, name);
  return td_cache_write_file(file, text) || td_cache_fail(&s->cache, "cannot write", file);
}

/* What ended badly, with the first line that the tool said of it. */
static bool complain(TdSimulator *s, const char *tool, TdChildEnd end, const char *log) {
  const char *said = td_cache_read_file(s->arena, log);
  if (end == TD_CHILD_ABSENT) {
    td_diag_set(s->diag, TD_UNSUPPORTED, "no-tool", (TdLoc){0}, "%s is not on PATH", tool);
    td_diag_help(s->diag, "m:write(dir) writes the files; Debian's packages are iverilog and "
                          "verilator");
    return false;
  }
  if (end == TD_CHILD_LATE)
    return td_diag_set(s->diag, TD_LIMIT, "verilog-time", (TdLoc){0}, "%s did not end in time",
                       tool);
  if (end == TD_CHILD_STOPPED)
    return td_diag_set(s->diag, TD_LIMIT, "interrupted", (TdLoc){0}, "interrupted");
  return td_diag_set(s->diag, TD_BUG, "verilog-tool", (TdLoc){0}, "%s: %.300s", tool,
                     said ? said : "");
}

static bool run_tool(TdSimulator *s, const char *const *word, int seconds) {
  int status;
  const char *log = td_simulator_path(s, "log");
  TdChildEnd end = td_child_run(td_arena_ctx(s->arena), word, log, seconds, &status);
  return end == TD_CHILD_DONE || complain(s, word[0], end, log);
}

/* Compiles the files aside; the file made. */
static const char *compile_aside(TdSimulator *s) {
  const char *to = td_simulator_path(s, s->icarus ? "run.vvp" : "obj/Vbench");
  const char *design = td_simulator_path(s, "design.sv"), *bench = td_simulator_path(s, "bench.sv");
  const char *obj = td_simulator_path(s, "obj"), *main = td_simulator_path(s, "bench.cpp");
  const char *icarus[] = {"iverilog", "-g2012", "-DTIDE_CLOCK", "-DTIDE_EVENTS", "-s", "clocked",
                          "-o",       to,       design,         bench,           NULL};
  const char *verilator[] = {"verilator",  "--cc",         "--exe",      "--build",      "-j",
                             "2",          "--top-module", "bench",      "-Mdir",        obj,
                             "-Wno-fatal", "-Wno-lint",    "-MAKEFLAGS", "OPT_FAST=-O1", design,
                             bench,        main,           NULL};
  return run_tool(s, s->icarus ? icarus : verilator, COMPILE_SECONDS) ? to : NULL;
}

bool td_simulator_compile(TdSimulator *s, const char *design, const char *bench, const char *main) {
  TdText key = td_text_new(s->arena);
  td_text_putf(&key, "%s\n%s\n%s\n%s", TIDE_VERSION " " TIDE_COMMIT, design, bench, main);
  s->program = td_cache_path(&s->cache, key.at, key.n, s->icarus ? ".vvp" : ".vsim");
  if (td_cache_has(&s->cache, s->program)) return true;
  if (!td_simulator_write(s, "design.sv", design) || !td_simulator_write(s, "bench.sv", bench) ||
      !td_simulator_write(s, "bench.cpp", main))
    return false;
  const char *made = compile_aside(s);
  return made && td_cache_keep(&s->cache, made, s->program);
}

bool td_simulator_run(TdSimulator *s, const char *const *word, int seconds) {
  const char *all[MOST_WORDS] = {"vvp", "-N"};
  size_t n = s->icarus ? 2 : 0;
  all[n++] = s->program;
  all[n++] = td_text_fmt(s->arena, "+dir=%s", s->folder);
  while (*word && n + 1 < MOST_WORDS) all[n++] = *word++;
  all[n] = NULL;
  return run_tool(s, all, seconds);
}

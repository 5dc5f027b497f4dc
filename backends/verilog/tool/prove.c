/* prove.c - m:prove {depth =}: the library's modules by induction; the top from reset against the
 * reference on all inputs, by unrolling as many cycles as a call takes. yosys-smtbmc asks z3. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/time/cost.h"
#include "backends/verilog/tool/prove.h"

enum { DEPTH, OPTIONS };
static const TdOption options[OPTIONS] = {
    [DEPTH] = {"depth", TD_OPTION_INT, "0",
               "cycles that are looked at; 0: as many as a call takes"},
};

/* What came of a question to the solver. */
typedef enum { HOLDS, FAILS, LATE, ERROR } Verdict;

/* Runs the solver on a file of the folder; ERROR with the diagnostic filled. */
static Verdict solve(TdVlogAsk *k, const char *smt2, const char *how, int64_t steps) {
  const char *command = td_text_fmt(
      k->arena, "yosys-smtbmc -s z3 --noinfo --unroll %s -t %" PRId64 " %s", how, steps, smt2);
  if (!td_child_find(k->arena, "z3")) {
    td_diag_set(k->diag, TD_UNSUPPORTED, "no-tool", (TdLoc){0}, "z3 is not on PATH");
    td_diag_help(k->diag, "it solves what yosys-smtbmc asks; Debian's package is z3");
    return ERROR;
  }
  TdChildEnd end = td_ask_run(k, command, "solver.log");
  const char *said = td_ask_read(k, "solver.log");
  if (end == TD_CHILD_LATE) return LATE;
  if (end == TD_CHILD_DONE && strstr(said, "Status: PASSED")) return HOLDS;
  if (end == TD_CHILD_FAILED && strstr(said, "Status: FAILED")) return FAILS;
  td_ask_need(k, command, "solver.log");
  return ERROR;
}

/* Writes the states of a top module for the solver. */
static bool translate(TdVlogAsk *k, const char *define, const char *files, const char *top,
                      const char *params, const char *smt2) {
  const char *command = td_text_fmt(
      k->arena,
      "yosys -q -p 'read_verilog -sv -formal%s%s; %s%s%s hierarchy -check -top %s; prep -flatten "
      "-top %s; memory_map; opt -fast; dffunmap; opt_clean; write_smt2 -wires %s'",
      define, files, *params ? "chparam " : "", params,
      *params ? td_text_fmt(k->arena, " %s;", top) : "", top, top, smt2);
  return td_ask_need(k, command, "translate.log");
}

static void tell(TdVlogAsk *k, const char *name, const char *what, const char *verdict) {
  td_text_putf(&k->lines, "%s %s\n", name, verdict);
  td_text_putf(&k->out, "%-12s %s%s%s\n", name, verdict, *what ? ": " : "", what);
}

/* The modules of the library that the text uses, by induction. */
static bool prove_units(TdVlogAsk *k) {
  const char *told = "";
  for (const TdProveUnit *u = td_prove_units; u->module; u++) {
    const char *name = td_text_fmt(k->arena, "%s.sv", u->module);
    if (!strstr(td_ask_files(k), name)) continue;
    const char *text = td_library_text(u->module), *end = strstr(text, "endmodule");
    const char *whole =
        td_text_fmt(k->arena, "%.*s%s%s", (int)(end - text), text, u->property, end);
    if (!td_ask_write(k, "unit.sv", whole) ||
        !translate(k, "", " unit.sv", u->module, u->params, "unit.smt2"))
      return false;
    Verdict base = solve(k, "unit.smt2", "", 4), step = base;
    if (base == HOLDS) step = solve(k, "unit.smt2", "-i", 4);
    if (base == ERROR || step == ERROR) return false;
    if (base == FAILS)
      return td_diag_set(k->diag, TD_BUG, "verilog-differs", (TdLoc){0},
                         "%s does not keep what it promises: %.300s", u->module,
                         td_ask_read(k, "solver.log"));
    const char *verdict = step == HOLDS   ? "proved"
                          : base == HOLDS ? "holds for 4 cycles"
                                          : "not decided";
    if (strcmp(told, u->module) != 0 || step != HOLDS) tell(k, u->module, "", verdict);
    told = u->module;
  }
  return true;
}

/* Cycles after which a call has ended: twice the estimate, for waits. */
static int64_t bound(TdVlogAsk *k) {
  TdDiag why = {.arena = k->arena};
  TdCost c;
  const TdTarget *t = td_target_find(td_verilog_option(k->build, TD_VERILOG_DEVICE));
  const TdProg *p = k->build->prog;
  bool known = td_cost_estimate(td_affine_new(k->arena), k->arena, p, t, &c, &why);
  bool design = td_prog_root(p)->kind == TD_UNIT_DESIGN;
  return known ? c.cycles * (design ? 2 : 1) + (design ? 16 : 4) : 64;
}

static void tell_top(TdVlogAsk *k, Verdict v, bool ends, int64_t steps) {
  const char *all =
      td_text_fmt(k->arena, "all inputs, a call of at most %" PRId64 " cycles", steps);
  const char *held = td_text_fmt(k->arena, "holds for %" PRId64 " cycles", steps);
  const char *late = "the solver did not end in time";
  tell(k, k->text->core->name,
       v == LATE ? late
       : ends    ? all
                 : "",
       v == LATE ? "not decided"
       : ends    ? "proved"
                 : held);
}

/* The top against the reference. */
static bool prove_top(TdVlogAsk *k) {
  const TdVlogModule *top = k->text->core;
  int64_t depth = strtoll(td_ask_option(k, DEPTH), NULL, 10), steps = depth ? depth : bound(k);
  TdDiag why = {.arena = k->arena};
  if (top->nport) {
    tell(k, top->name, "tokens come from outside", "not decided");
    return true;
  }
  const char *reference = td_reference_module(k->arena, k->build->prog, &why);
  const char *bench = reference ? td_prove_bench(k->arena, top, steps) : NULL;
  if (!bench) {
    tell(k, top->name, reference ? "too many words" : why.message, "not decided");
    return true;
  }
  const char *files = td_text_fmt(k->arena, "%s reference.sv prove.sv", td_ask_files(k));
  if (!td_ask_write(k, "reference.sv", reference) || !td_ask_write(k, "prove.sv", bench))
    return false;
  for (int ends = 1; ends >= 0; ends--) {
    if (!translate(k, ends ? " -D TIDE_ENDS" : "", files, "tide_prove", "", "prove.smt2"))
      return false;
    Verdict v = solve(k, "prove.smt2", "", steps + 1);
    if (v == ERROR) return false;
    if (v == FAILS && ends) continue;
    if (v == FAILS)
      return td_diag_set(k->diag, TD_BUG, "verilog-differs", td_prog_root(k->build->prog)->loc,
                         "%s leaves something else than its program for some input", top->name);
    tell_top(k, v, ends, steps);
    return true;
  }
  return true;
}

static bool prove(TdVlogAsk *k) {
  return prove_units(k) && prove_top(k);
}

static bool ask(const TdQuestion *q, const TdBuild *b, const char *const *value, TdAnswer *answer) {
  return td_ask(q, b, value, answer, prove);
}

const TdQuestion td_verilog_prove = {
    .name = "prove",
    .option = options,
    .noption = OPTIONS,
    .ask = ask,
};

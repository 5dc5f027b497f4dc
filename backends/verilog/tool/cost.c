/* cost.c - m:cost {flow =}: cells of each module times its instances as yosys counts them, the
 * longest path, and the clock that nextpnr reaches; beside the estimate. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/time/cost.h"
#include "backends/verilog/tool/ask.h"

enum { FLOW, PNR, OPTIONS };
static const TdOption options[OPTIONS] = {
    [FLOW] = {"flow", TD_OPTION_WORD, "generic|xilinx|ice40", "what yosys maps to"},
    [PNR] = {"pnr", TD_OPTION_BOOL, "false", "place and route, for MHz (ice40)"},
};

/* What a flow's cells are. */
typedef enum { DSP, RAM, FF, LUT, CARRY, KINDS } Kind;
static const char *const kinds[KINDS] = {"dsp", "ram", "ff", "lut", "carry"};

typedef struct Cell {
  const char *prefix;
  Kind kind;
} Cell;
typedef struct Flow {
  const char *name, *synth; /* synth: the command, its top module behind it */
  const char *sequential;   /* cells at which paths end, as a selection */
  Cell cell[10];
} Flow;

static const Flow flows[] = {
    {"generic",
     "synth -lut 4",
     "",
     {{"$_DFF", FF}, {"$_SDFF", FF}, {"$_ALDFF", FF}, {"$_DLATCH", FF}, {"$lut", LUT}}},
    {"xilinx",
     "synth_xilinx -family xc7 -noiopad",
     " w:* t:* t:FD* %d t:DSP48E1 %d t:RAM* %d",
     {{"DSP48", DSP},
      {"RAMB", RAM},
      {"FD", FF},
      {"LUT", LUT},
      {"RAM", LUT},
      {"SRL", LUT},
      {"INV", LUT},
      {"CARRY", CARRY}}},
    {"ice40",
     "synth_ice40 -noflatten",
     " w:* t:* t:SB_DFF* %d t:SB_RAM* %d",
     {{"SB_MAC16", DSP}, {"SB_RAM", RAM}, {"SB_DFF", FF}, {"SB_LUT4", LUT}, {"SB_CARRY", CARRY}}},
};

static const Flow *flow_of(const char *name) {
  const Flow *x = flows;
  while (strcmp(x->name, name) != 0) x++;
  return x;
}

/* The script of a flow. */
static const char *script_of(TdArena *a, const Flow *x, const char *top, const char *files) {
  return td_text_fmt(a,
                     "read_verilog -sv%s\n"
                     "%s -top %s\n"
                     "tee -q -o cells.txt stat -top %s\n"
                     "flatten\n"
                     "opt_clean\n"
                     "tee -q -o path.txt ltp -noff%s\n",
                     files, x->synth, top, top, x->sequential);
}

const TdFile *td_cost_scripts(TdArena *a, const char *top, const char *files) {
  enum { FLOWS = sizeof flows / sizeof *flows };
  TdFile *f = TD_NEWN(a, TdFile, FLOWS + 1);
  for (size_t i = 0; i < FLOWS; i++)
    f[i] = (TdFile){td_text_fmt(a, "%s.ys", flows[i].name), script_of(a, &flows[i], top, files)};
  return f;
}

/* A module of the netlist. */
typedef struct Module {
  const char *name;
  int64_t instances, count[KINDS];
} Module;
typedef TD_VEC(Module) Modules;

/* A name as users know it: yosys has "$paramod\tide_fifo\W=8", "$paramod$<hash>\tide_fifo". */
static const char *plain(TdArena *a, const char *s, size_t n) {
  char *name = td_arena_strndup(a, s, n), *slash = strchr(name, '\\');
  if (strncmp(name, "$paramod", 8) != 0 || !slash) return name;
  slash[1 + strcspn(slash + 1, "\\")] = 0;
  return slash + 1;
}

/* The module of a name as yosys has it, made if it is new. */
static Module *module_of(TdVlogAsk *k, Modules *list, const char *name) {
  for (size_t i = 0; i < list->n; i++)
    if (strcmp(list->at[i].name, name) == 0) return &list->at[i];
  td_vec_push(k->arena, list, ((Module){.name = name}));
  return &list->at[list->n - 1];
}

static void count_cell(const Flow *f, Module *m, const char *name, int64_t n) {
  for (const Cell *c = f->cell; c->prefix; c++)
    if (strncmp(name, c->prefix, strlen(c->prefix)) == 0) {
      m->count[c->kind] += n;
      return;
    }
}

/* Reads `stat`: sections of modules, lines of "name count". */
static void read_cells(TdVlogAsk *k, const Flow *f, const char *text, Modules *list) {
  Module *m = NULL;
  bool hierarchy = false, cells = false;
  for (const char *s = text; *s; s += strcspn(s, "\n"), s += *s == '\n') {
    s += strspn(s, " ");
    size_t n = strcspn(s, " \n"), line = strcspn(s, "\n");
    if (strncmp(s, "===", 3) == 0) {
      const char *name = s + 4;
      size_t len = strcspn(name, "\n");
      hierarchy = strncmp(name, "design hierarchy", 16) == 0;
      cells = false;
      if (!hierarchy) m = module_of(k, list, td_arena_strndup(k->arena, name, len - 4));
      continue;
    }
    if (strncmp(s, "Number of", 9) == 0) {
      cells = strncmp(s, "Number of cells", 15) == 0;
      if (hierarchy) return;
      continue;
    }
    if (n == line || !n) continue;
    int64_t count = strtoll(s + n, NULL, 10);
    const char *name = td_arena_strndup(k->arena, s, n);
    if (hierarchy) module_of(k, list, name)->instances = count;
    if (cells && m) count_cell(f, m, name, count);
  }
}

/* Cells on the longest path; 0: not known. */
static int64_t read_path(const char *text) {
  const char *s = strstr(text, "(length=");
  return s ? strtoll(s + 8, NULL, 10) : 0;
}

/* The last figure of nextpnr's for the clock; 0: it has none. */
static double read_mhz(const char *text) {
  double mhz = 0;
  for (const char *s = text; (s = strstr(s, "Max frequency for clock")); s++) {
    const char *colon = strstr(s, "': ");
    if (colon) mhz = strtod(colon + 3, NULL);
  }
  return mhz;
}

/* Places and routes the top between registers. */
static bool place(TdVlogAsk *k, double *mhz) {
  static const char script[] =
      "yosys -q -p 'read_verilog -sv%s fit.sv%s; synth_ice40 -top tide_fit -json fit.json'";
  static const char route[] = "nextpnr-ice40 --hx8k --package ct256 --json fit.json --freq 100 "
                              "--timing-allow-fail --pcf-allow-unconstrained --seed 1";
  const char *ram = strstr(td_ask_files(k), " tide_ram.sv") ? "" : " tide_ram.sv";
  if (!td_ask_write(k, "tide_ram.sv", td_library_text("tide_ram")) ||
      !td_ask_write(k, "fit.sv", td_fit_module(k->arena, k->text->core)) ||
      !td_ask_need(k, td_text_fmt(k->arena, script, td_ask_files(k), ram), "fit.log") ||
      !td_ask_need(k, route, "route.log"))
    return false;
  *mhz = read_mhz(td_ask_read(k, "route.log"));
  return true;
}

static void put_row(TdVlogAsk *k, const char *name, int64_t instances, const int64_t *count) {
  td_text_putf(&k->out, "%-24s", name);
  if (instances)
    td_text_putf(&k->out, "%10" PRId64, instances);
  else
    td_text_putf(&k->out, "%10s", "");
  for (int i = 0; i < KINDS; i++) td_text_putf(&k->out, "%8" PRId64, count[i]);
  td_text_putc(&k->out, '\n');
}

/* The modules and their sum. */
static void put_modules(TdVlogAsk *k, const Modules *list) {
  Module sum = {0};
  td_text_putf(&k->out, "%-24s%10s", "module", "instances");
  for (int i = 0; i < KINDS; i++) td_text_putf(&k->out, "%8s", kinds[i]);
  td_text_putc(&k->out, '\n');
  for (size_t m = 0; m < list->n; m++) {
    const Module *x = &list->at[m];
    const char *name = plain(k->arena, x->name, strlen(x->name));
    td_text_putf(&k->lines, "modules.%zu.name %s\nmodules.%zu.instances %" PRId64 "\n", m + 1, name,
                 m + 1, x->instances);
    for (int i = 0; i < KINDS; i++) {
      td_text_putf(&k->lines, "modules.%zu.%s %" PRId64 "\n", m + 1, kinds[i], x->count[i]);
      sum.count[i] += x->count[i] * x->instances;
    }
    put_row(k, name, x->instances, x->count);
  }
  put_row(k, "all", 0, sum.count);
  for (int i = 0; i < KINDS; i++)
    td_text_putf(&k->lines, "%s %" PRId64 "\n", kinds[i], sum.count[i]);
}

/* The estimate at the device of the build, under the sum. */
static void put_estimate(TdVlogAsk *k) {
  TdDiag why = {.arena = k->arena};
  TdCost c;
  const TdTarget *t = td_target_find(td_verilog_option(k->build, TD_VERILOG_DEVICE));
  if (!td_cost_estimate(td_affine_new(k->arena), k->arena, k->build->prog, t, &c, &why)) return;
  const int64_t count[KINDS] = {
      [DSP] = c.area.dsp, [RAM] = c.area.bram, [FF] = c.area.ff, [LUT] = c.area.lut};
  put_row(k, td_text_fmt(k->arena, "estimate (%s)", t->name), 0, count);
  for (int i = 0; i < CARRY; i++)
    td_text_putf(&k->lines, "estimate.%s %" PRId64 "\n", kinds[i], count[i]);
  td_text_putf(&k->lines, "estimate.path %.3f\n", (double)c.path / 1000);
}

static bool count(TdVlogAsk *k) {
  const Flow *f = flow_of(td_ask_option(k, FLOW));
  bool pnr = strcmp(td_ask_option(k, PNR), "true") == 0;
  double mhz = 0;
  Modules list = {0};
  if (pnr && strcmp(f->name, "ice40") != 0)
    return td_diag_set(k->diag, TD_USAGE, "option-value", (TdLoc){0},
                       "'pnr' is for flow = \"ice40\", not \"%s\"", f->name);
  const char *file = td_text_fmt(k->arena, "%s.ys", f->name);
  const char *script = script_of(k->arena, f, k->text->top->name, td_ask_files(k));
  if (!td_ask_write(k, file, script) ||
      !td_ask_need(k, td_text_fmt(k->arena, "yosys -q -s %s", file), "cost.log") ||
      (pnr && !place(k, &mhz)))
    return false;
  int64_t path = read_path(td_ask_read(k, "path.txt"));
  read_cells(k, f, td_ask_read(k, "cells.txt"), &list);
  for (size_t i = 0; i < list.n; i++)
    if (strcmp(list.at[i].name, k->text->top->name) == 0) list.at[i].instances = 1;
  td_text_putf(&k->out, "%s, by yosys for %s\n", k->text->top->name, f->name);
  td_text_putf(&k->lines, "flow %s\npath %" PRId64 "\n", f->name, path);
  put_modules(k, &list);
  put_estimate(k);
  td_text_putf(&k->out, "longest path: %" PRId64 " cells", path);
  if (pnr) td_text_putf(&k->out, "; %.1f MHz on hx8k by nextpnr", mhz);
  if (pnr) td_text_putf(&k->lines, "mhz %.2f\n", mhz);
  return true;
}

static bool ask(const TdQuestion *q, const TdBuild *b, const char *const *value, TdAnswer *answer) {
  return td_ask(q, b, value, answer, count);
}

const TdQuestion td_verilog_cost = {
    .name = "cost",
    .option = options,
    .noption = OPTIONS,
    .ask = ask,
};

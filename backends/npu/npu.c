/* npu.c - the backend: its options, what it takes, the files that it writes. */
#include "backends/npu/npu.h"

#include <stdlib.h>
#include <string.h>

#include "backends/npu/tool/files.h"
#include "lower/lower.h"

enum { DEVICE, MATH, DIALECT, DATA, TOOL, SECONDS, OPTIONS };

static const TdOption options[OPTIONS] = {
    [DEVICE] = {"device", TD_OPTION_WORD, TD_DEVICE_NAMES, "the array of tiles"},
    [MATH] = {"math", TD_OPTION_WORD, "vector|host",
              "exp and its kin: of the core, or of this host"},
    [DIALECT] = {"dialect", TD_OPTION_WORD, "v1.3|v1.0", "the version that " TD_NPU_TEXT " is for"},
    [DATA] = {"data", TD_OPTION_BOOL, "true", "arguments for host.cpp, and what it is to give"},
    [TOOL] = {"tool", TD_OPTION_BOOL, "true", "aiecc.py and XRT are called where they are there"},
    [SECONDS] = {"seconds", TD_OPTION_INT, "3600", "the longest that a tool may take"},
};

/* The word that is said of an option, or its default. */
static const char *word_of(const TdBuild *b, int i) {
  const char *said = td_backend_option(&td_backend_npu, b, (size_t)i);
  return td_arena_strndup(b->arena, said, strcspn(said, "|"));
}

static const TdDevice *device_of(const TdBuild *b) {
  return td_device_find(word_of(b, DEVICE));
}

static int columns(const TdBuild *b) {
  const TdDevice *device = device_of(b);
  return device ? device->cols : 1;
}

static const char *text_of(TdArena *a, const TdMlir *m, TdMlirForm form) {
  TdText t = td_text_new(a);
  td_text_puts(&t, form == TD_MLIR_PRETTY_1_0 ? TD_NPU_DIALECT "0\n" : TD_NPU_DIALECT "3\n");
  td_mlir_print(&t, m, form);
  return td_text_str(&t);
}

/* One design of a host program as a device of m; false with the diagnostic filled. */
static bool make_part(const TdBuild *b, const TdProg *p, const TdUnit *design, const char *name,
                      TdMlir *m, TdNpuKernels *k, TdNpuPart *out) {
  size_t at = 0;
  while (p->unit[at] != design) at++;
  p = td_prog_new(p->store, p->unit, at + 1);
  TdNpuForm *f = td_npu_form_of(b->arena, p, device_of(b), b->diag);
  TdNpuPlan *plan = f ? td_npu_plan_of(f, device_of(b)) : NULL;
  TdNpuSequence *s = plan ? td_npu_sequence_of(plan) : NULL;
  const TdMlirOp *op = s ? td_npu_emit(m, name, plan, s, k) : NULL;
  TdNpuMachine *x = op ? td_npu_machine_new(b->arena, op, b->diag) : NULL;
  *out = (TdNpuPart){plan, s, x};
  return x && td_npu_verify(x, device_of(b), b->diag);
}

/* All that a build comes to; false with the diagnostic filled. */
static bool make(const TdBuild *b, TdNpuMade *out) {
  TdArena *a = b->arena;
  const TdProg *p = td_npu_blocks(a, b->lowered->prog);
  const TdDevice *device = device_of(b);
  const TdNpuHost *h = td_npu_host_of(a, p, b->diag);
  if (!h) return false;
  TdNpuKernels *k = td_npu_kernels_new(a, p, device->generation, b->diag);
  TdNpuPart *part = TD_NEWN(a, TdNpuPart, h->design.n);
  TdMlir *m = td_mlir_new(a);
  k->libm = strcmp(word_of(b, MATH), "host") == 0;
  for (size_t i = 0; i < h->design.n; i++) {
    const char *name = h->one ? "main" : td_npu_device_name(h->design.at[i]);
    if (!make_part(b, p, h->design.at[i], name, m, k, &part[i])) return false;
  }
  TdNpuStarts starts;
  if (!h->one) td_npu_host_emit(h, m, device->number);
  if (!td_npu_starts_of(a, m, &starts, b->diag)) return false;
  bool old = strcmp(word_of(b, DIALECT), "v1.0") == 0;
  *out = (TdNpuMade){b, device, h, part, k, m, NULL, NULL, td_npu_kernels_text(k)};
  out->pretty = text_of(a, m, old ? TD_MLIR_PRETTY_1_0 : TD_MLIR_PRETTY);
  out->generic = text_of(a, m, TD_MLIR_GENERIC);
  return out->text != NULL;
}

/* A program that is lowered is looked at when it is emitted. */
static bool validate(const TdBuild *b) {
  if (device_of(b)) return true;
  return td_diag_set(b->diag, TD_USAGE, "option", (TdLoc){0},
                     "'device' is one of " TD_DEVICE_NAMES);
}

static const TdFile *emit(const TdBuild *b, size_t *nfile) {
  TdNpuMade m;
  if (!make(b, &m)) return NULL;
  const TdFile file[] = {{TD_NPU_TEXT, m.pretty},
                         {TD_NPU_GENERIC, m.generic},
                         {TD_NPU_KERNELS, m.text},
                         {"Makefile", td_npu_files_makefile(&m)},
                         {"host.cpp", td_npu_files_host(&m)},
                         {"report.json", td_npu_report(&m)},
                         {"schedule.lua", td_npu_files_schedule(&m)}};
  *nfile = sizeof file / sizeof *file;
  return td_arena_copy(b->arena, file, sizeof file);
}

static const TdFile *data(const TdBuild *b, const TdCallArg *before, const TdCallArg *after,
                          size_t *nfile) {
  TdNpuMade m;
  return make(b, &m) ? td_npu_files_data(&m, before, after, nfile) : NULL;
}

static bool tool(const TdBuild *b, const char *folder, const char **said, const char **report) {
  TdNpuMade m;
  *report = NULL;
  if (strcmp(word_of(b, TOOL), "true") != 0) {
    *said = "no tool of the vendor ran";
    return true;
  }
  int seconds = (int)strtol(word_of(b, SECONDS), NULL, 10);
  return make(b, &m) && td_npu_run_tools(&m, folder, seconds, said);
}

static void *open_run(const TdBuild *b) {
  TdNpuMade m;
  TdNpuRun *r = make(b, &m) ? td_npu_run_new(b->arena, 0, m.generic, m.text, b->diag) : NULL;
  const TdUnit *d = td_prog_root(b->lowered->prog);
  const TdType **type = TD_NEWN(b->arena, const TdType *, d->nparam + 1);
  for (size_t i = 0; i < d->nparam; i++) type[i] = td_type_scalar(d->param[i].type);
  if (r) td_npu_run_set_types(r, type);
  return r;
}

static void reset_run(void *run) {
  td_npu_run_reset(run);
}

static bool call_run(void *run, const TdCallArg *arg, size_t narg, TdDiag *d) {
  return td_npu_run_call(run, arg, narg, d);
}

static const TdTimed *timed(const void *run) {
  return td_npu_run_timed(run);
}

static const TdTimed *simulate(void *run, TdDiag *d) {
  return td_npu_run_times(run, d);
}

const TdBackend td_backend_npu = {
    .name = "npu",
    .summary = "MLIR-AIE and C++ kernels for AMD's NPUs, run from their text",
    .option = options,
    .noption = OPTIONS,
    .passes = TD_LOWER_COLLECTIVES,
    .looks = true,
    .columns = columns,
    .validate = validate,
    .emit = emit,
    .data = data,
    .data_option = "data",
    .tool = tool,
    .open = open_run,
    .call = call_run,
    .reset = reset_run,
    .timed = timed,
    .simulate = simulate,
};

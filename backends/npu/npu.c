/* npu.c - the backend: its options, what it takes, the files that it writes. */
#include "backends/npu/npu.h"

#include <string.h>

#include "backends/npu/emit.h"
#include "backends/npu/machine.h"
#include "lower/lower.h"

enum { DEVICE, MATH, DIALECT, OPTIONS };

static const TdOption options[OPTIONS] = {
    [DEVICE] = {"device", TD_OPTION_WORD, TD_DEVICE_NAMES, "the array of tiles"},
    [MATH] = {"math", TD_OPTION_WORD, "vector|host",
              "exp and its kin: of the core, or of this host"},
    [DIALECT] = {"dialect", TD_OPTION_WORD, "v1.3|v1.0", "the version that " TD_NPU_TEXT " is for"},
};

/* The texts of a build. */
typedef struct Texts {
  const char *pretty, *generic, *kernels;
} Texts;

/* The word that is said of an option, or its default. */
static const char *word_of(const TdBuild *b, int i) {
  const char *said = td_backend_option(&td_backend_npu, b, (size_t)i);
  return td_arena_strndup(b->arena, said, strcspn(said, "|"));
}

static const TdDevice *device_of(const TdBuild *b) {
  return td_device_find(word_of(b, DEVICE));
}

static const char *text_of(TdArena *a, const TdMlir *m, TdMlirForm form) {
  TdText t = td_text_new(a);
  td_text_puts(&t, form == TD_MLIR_PRETTY_1_0 ? TD_NPU_DIALECT "0\n" : TD_NPU_DIALECT "3\n");
  td_mlir_print(&t, m, form);
  return td_text_str(&t);
}

static bool texts_of(const TdBuild *b, const TdProg *p, Texts *out) {
  TdArena *a = b->arena;
  TdNpuForm *f = td_npu_form_of(a, p, b->diag);
  TdNpuPlan *plan = f ? td_npu_plan_of(f, device_of(b)) : NULL;
  TdNpuSequence *s = plan ? td_npu_sequence_of(plan) : NULL;
  TdNpuKernels *k = s ? td_npu_kernels_new(a, p, device_of(b)->generation, b->diag) : NULL;
  TdMlir *m = k ? td_npu_emit(plan, s, k) : NULL;
  TdNpuMachine *x = m ? td_npu_machine_new(a, m, b->diag) : NULL;
  if (!x || !td_npu_verify(x, device_of(b), b->diag)) return false;
  bool old = strcmp(word_of(b, DIALECT), "v1.0") == 0;
  out->pretty = text_of(a, m, old ? TD_MLIR_PRETTY_1_0 : TD_MLIR_PRETTY);
  out->generic = text_of(a, m, TD_MLIR_GENERIC);
  out->kernels = td_npu_kernels_text(k);
  return out->kernels != NULL;
}

/* A program that is lowered is looked at when it is emitted. */
static bool validate(const TdBuild *b) {
  if (device_of(b)) return true;
  return td_diag_set(b->diag, TD_USAGE, "option", (TdLoc){0},
                     "'device' is one of " TD_DEVICE_NAMES);
}

/* How the vendor's tools are called: Peano compiles the kernels, aiecc the design. */
static const char *makefile_of(const TdBuild *b) {
  const char *core = device_of(b)->generation == 1 ? "aie2" : "aie2p";
  return td_text_fmt(
      b->arena,
      "# Peano's clang++ in PEANO, aiecc.py on PATH; the headers of aie_api in AIE_API.\n"
      "PEANO ?= /opt/peano\nAIE_API ?= /opt/aie_api/include\n\n"
      "design.xclbin: " TD_NPU_TEXT " kernels.o\n"
      "\taiecc.py --alloc-scheme=basic-sequential --aie-generate-xclbin "
      "--no-compile-host \\\n"
      "\t  --xclbin-name=$@ --no-xchesscc --no-xbridge --peano $(PEANO) \\\n"
      "\t  --aie-generate-npu-insts --npu-insts-name=insts.txt " TD_NPU_TEXT "\n\n"
      "kernels.o: " TD_NPU_KERNELS "\n"
      "\t$(PEANO)/bin/clang++ --target=%s-none-unknown-elf -O2 -std=c++20 "
      "-I $(AIE_API) -c $< -o $@\n",
      core);
}

static const TdFile *emit(const TdBuild *b, size_t *nfile) {
  Texts t;
  TdFile *f = TD_NEWN(b->arena, TdFile, 4);
  if (!texts_of(b, b->lowered->prog, &t)) return NULL;
  f[0] = (TdFile){TD_NPU_TEXT, t.pretty};
  f[1] = (TdFile){TD_NPU_GENERIC, t.generic};
  f[2] = (TdFile){TD_NPU_KERNELS, t.kernels};
  f[3] = (TdFile){"Makefile", makefile_of(b)};
  *nfile = 4;
  return f;
}

static void *open_run(const TdBuild *b) {
  Texts t;
  if (!texts_of(b, b->lowered->prog, &t)) return NULL;
  return td_npu_run_new(b->arena, 0, t.generic, t.kernels, b->diag);
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
    .isolates = true,
    .validate = validate,
    .emit = emit,
    .open = open_run,
    .call = call_run,
    .timed = timed,
    .simulate = simulate,
};

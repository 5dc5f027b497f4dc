/* cpu_backend.c - the CPU as a target of builds. */
#include "backends/cpu/cpu.h"

#include <stdlib.h>
#include <string.h>

enum { TIER, THREADS, SECONDS, OPTIONS };

static const TdOption options[OPTIONS] = {
    [TIER] =
        {"tier", TD_OPTION_WORD, "auto|tcc|cc",
         "compile in memory (tcc), by the system's compiler (cc), or in memory until much is done"},
    [THREADS] = {"threads", TD_OPTION_INT, "0", "of parallel loops; 0: one for each processor"},
    [SECONDS] = {"seconds", TD_OPTION_INT, "60", "most time of the system's compiler"}};

TdCpuOptions td_cpu_options_of(const TdBuild *b) {
  const char *tier = td_backend_option(&td_cpu_backend, b, TIER);
  TdCpuOptions o = {.tier = strcmp(tier, "tcc") == 0  ? TD_TIER_TCC
                            : strcmp(tier, "cc") == 0 ? TD_TIER_CC
                                                      : TD_TIER_AUTO};
  o.threads = atoi(td_backend_option(&td_cpu_backend, b, THREADS));
  o.seconds = atoi(td_backend_option(&td_cpu_backend, b, SECONDS));
  return o;
}

static bool validate(const TdBuild *b) {
  return td_cpu_text_of(b->arena, b->prog, b->diag) != NULL;
}

static const TdFile *emit(const TdBuild *b, size_t *nfile) {
  const TdCpuText *t = td_cpu_text_of(b->arena, b->prog, b->diag);
  if (!t) return NULL;
  TdFile *f = TD_NEW(b->arena, TdFile);
  f->name = "kernel.c";
  f->text = t->text;
  *nfile = 1;
  return f;
}

const TdBackend td_cpu_backend = {.name = "cpu",
                                  .summary = "C for this machine, compiled and run",
                                  .option = options,
                                  .noption = OPTIONS,
                                  .validate = validate,
                                  .emit = emit};

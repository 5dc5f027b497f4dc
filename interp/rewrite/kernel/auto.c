/* auto.c - auto: a schedule that was searched for. */
#include <string.h>

#include "rewrite/task/search_auto.h"
#include "rewrite/task/search_budget.h"

enum { TARGET, DEVICE, DSP, BRAM, THREADS, STEPS, SECONDS };

static const TdProg *refuse(TdRewrite *r, const char *code, const char *why) {
  return td_util_refuse(r, TD_USAGE, code, td_prog_root(r->prog)->loc, "%s", why);
}

static int64_t limit(const TdArgValue *v, int64_t has) {
  return v->given ? v->integer : has ? has : -1;
}

static const TdProg *apply(TdRewrite *r) {
  bool cpu = r->arg[TARGET].given && strcmp(r->arg[TARGET].text, "cpu") == 0;
  bool parts = r->arg[DEVICE].given || r->arg[DSP].given || r->arg[BRAM].given;
  TdAutoAsk ask = {.dsp = -1, .bram = -1, .threads = r->arg[THREADS].integer};
  if (cpu && (!r->arg[THREADS].given || ask.threads < 1))
    return refuse(r, "threads", "a schedule for the cpu needs threads, at least 1");
  if (cpu && parts) return refuse(r, "target", "device, dsp and bram are of the target hls");
  if (!cpu && r->arg[THREADS].given) return refuse(r, "target", "threads are of the target cpu");
  if (!cpu) {
    ask.device = td_target_find(r->arg[DEVICE].given ? r->arg[DEVICE].text : "u280");
    ask.dsp = limit(&r->arg[DSP], ask.device->dsp);
    ask.bram = limit(&r->arg[BRAM], ask.device->bram);
  }
  if (!td_search_budget(r, &r->arg[STEPS], &r->arg[SECONDS], &ask.search)) return NULL;
  return td_search_auto(r, &ask);
}

const TdPrim td_prim_auto = {
    .name = "auto",
    .on = "kernel",
    .summary =
        "Find a schedule: orders of loops, buffers, pipelines, copies and banks, or threads.",
    .args = {{"target", TD_ARG_WORD, TD_ARG_OPTION, "what it is for", "hls|cpu"},
             {"device", TD_ARG_DEVICE, TD_ARG_OPTION,
              "hls: whose estimates count (default: u280), and whose DSP and BRAM are kept to",
              NULL},
             {"dsp", TD_ARG_INT, TD_ARG_OPTION, "hls: DSP that may be used", NULL},
             {"bram", TD_ARG_INT, TD_ARG_OPTION, "hls: block RAMs that may be used", NULL},
             {"threads", TD_ARG_INT, TD_ARG_OPTION, "cpu: threads that there are", NULL},
             {"steps", TD_ARG_INT, TD_ARG_OPTION,
              "moves to try, with the same result everywhere (default: 1500)", NULL},
             {"seconds", TD_ARG_NUMBER, TD_ARG_OPTION,
              "cut it short after so many; the best so far is taken", NULL}},
    .rewrite = "the program  =>  the program after the steps of the best schedule found",
    .legal = "each step is one of the primitives, with its rule; without a better schedule nothing "
             "changes",
    .errors = "threads target steps seconds infeasible size-unknown trip-unknown",
    .example = "s:auto({device = \"u280\", dsp = 200})",
    .apply = apply,
};

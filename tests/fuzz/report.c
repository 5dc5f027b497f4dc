/* report.c - what a campaign tells: scripts of failures, and the table of counts. */
#include "tests/fuzz/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/step.h"

/* Tries of a primitive from which on its share means something. */
enum { TRIES = 60 };

/* Adds one kind of refusal. */
static void add_reason(Counts *x, const Reason *r) {
  uint64_t i = 0;
  while (i < x->nreason && (x->reason[i].prim != r->prim || x->reason[i].kind != r->kind ||
                            strcmp(x->reason[i].code, r->code) != 0))
    i++;
  if (i == REASONS) return;
  if (i == x->nreason) {
    x->reason[x->nreason++] = *r;
    return;
  }
  x->reason[i].n += r->n;
  x->reason[i].forced += r->forced;
  x->reason[i].same += r->same;
  x->reason[i].chance += r->chance;
}

void report_add(Counts *x, const Counts *y) {
  x->cases += y->cases;
  x->kernels_refused += y->kernels_refused;
  x->undecided += y->undecided;
  x->regrouped += y->regrouped;
  x->uncompiled += y->uncompiled;
  x->pinned += y->pinned;
  x->accepted += y->accepted;
  x->refused += y->refused;
  x->points += y->points;
  x->nanoseconds += y->nanoseconds;
  x->work += y->work;
  x->libtcc += y->libtcc;
  x->cc += y->cc;
  for (int i = 0; i < PRIMS; i++) {
    x->prim_tried[i] += y->prim_tried[i];
    x->prim_accepted[i] += y->prim_accepted[i];
  }
  for (int i = 0; i < FEATURES; i++) x->feature[i] += y->feature[i];
  for (uint64_t i = 0; i < y->nreason; i++) add_reason(x, &y->reason[i]);
}

/* Text as the lines of a comment. */
static void put_comment(FILE *f, const char *text) {
  while (*text) {
    size_t n = strcspn(text, "\n");
    fprintf(f, "-- %.*s\n", (int)n, text);
    text += n + (text[n] == '\n');
  }
}

/* What the script ends with, by the kind of failure. */
static const char *closing(Wrong wrong) {
  switch (wrong) {
  case WRONG_DIFFERS:
  case WRONG_FAULT:
  case WRONG_PARALLEL: return "print(s)\nprint(select(2, s:verify()))\n";
  case WRONG_PRINT:
  case WRONG_ROUND_TRIP:
    return "print(s)\nassert(tostring(load(tostring(s))()) == tostring(s), \"round trip\")\n";
  case WRONG_REPLAY: return "assert(tostring(load(s:log())(kernel)) == tostring(s), \"replay\")\n";
  default: return "print(s)\n";
  }
}

/* The Lua text that returns a callee of the script's kernel: its chunk with another end. */
static void put_callee(FILE *f, const Script *script, const char *name) {
  size_t n = strlen(script->kernel);
  const char *end = strstr(script->kernel, "\nreturn ");
  if (end) n = (size_t)(end - script->kernel) + 1;
  fprintf(f, "local %s = tide.schedule(load [==[\n%.*sreturn %s\n]==]())\n", name, (int)n,
          script->kernel, name);
}

/* The kernels that a step takes. */
static void put_libraries(FILE *f, TdArena *a, const Step *s) {
  for (int i = 0; i < TD_PRIM_ARGS && s->prim->args[i].kind != TD_ARG_END; i++)
    if (s->prim->args[i].kind == TD_ARG_KERNEL && s->arg[i].given)
      fprintf(f, "local %s = load [==[\n%s]==]()\n", step_library_name(a, s->arg[i].text),
              s->arg[i].text);
}

/* One step; what may be refused on the way to the last one is. */
static void put_step(FILE *f, TdArena *a, const Script *script, const Step *s, bool last) {
  if (s->of) put_callee(f, script, s->of);
  put_libraries(f, a, s);
  for (int k = 0; k < s->nsub; k++) {
    put_libraries(f, a, &s->sub[k]);
    fprintf(f, "pcall(function() %s:%s end)\n", s->of, step_text(a, &s->sub[k]));
  }
  fprintf(f, last ? "s:%s\n" : "pcall(function() s:%s end)\n", step_text(a, s));
}

void report_script(const char *path, const Script *script, Outcome out, uint64_t seed,
                   uint64_t number) {
  FILE *f = fopen(path, "w");
  if (!f) {
    fprintf(stderr, "cannot write %s\n", path);
    return;
  }
  fprintf(f, "-- seed %" PRIu64 ", case %" PRIu64 ": %s\n", seed, number, wrong_text[out.wrong]);
  put_comment(f, out.words ? out.words : "");
  fprintf(f,
          "local tide = require \"tide\"\nlocal kernel = load [==[\n%s]==]()\n"
          "local s = tide.schedule(kernel)\n",
          script->kernel);
  TdCtx *ctx = td_ctx_new();
  TdArena *a = td_arena_new(ctx);
  for (int k = 0; k < script->nstep; k++)
    put_step(f, a, script, &script->step[k], k == script->nstep - 1);
  fputs(closing(out.wrong), f);
  td_arena_free(a);
  td_ctx_free(ctx);
  fclose(f);
}

/* x of y in percent. */
static double percent(uint64_t x, uint64_t y) {
  return y ? 100.0 * (double)x / (double)y : 0.0;
}

/* Forced rewrites of illegal refusals that were right, and all refusals of kind illegal. */
static void sum_illegal(const Counts *n, int prim, uint64_t *all, uint64_t *forced, uint64_t *same,
                        uint64_t *chance) {
  *all = *forced = *same = *chance = 0;
  for (uint64_t i = 0; i < n->nreason; i++) {
    const Reason *r = &n->reason[i];
    if (r->prim != prim || r->kind != TD_ILLEGAL) continue;
    *all += r->n;
    *forced += r->forced;
    *same += r->same;
    *chance += r->chance;
  }
}

static void put_primitives(FILE *f, const Counts *n) {
  fprintf(f, "\n%-14s %9s %9s %7s   %8s %8s %8s %8s %7s\n", "primitive", "tried", "accepted",
          "share", "illegal", "forced", "same", "chance", "rate");
  for (int i = 0; td_prims[i]; i++) {
    uint64_t all, forced, same, chance;
    sum_illegal(n, i, &all, &forced, &same, &chance);
    fprintf(f,
            "%-14s %9" PRIu64 " %9" PRIu64 " %6.1f%%   %8" PRIu64 " %8" PRIu64 " %8" PRIu64
            " %8" PRIu64 " %6.2f%%\n",
            td_prims[i]->name, n->prim_tried[i], n->prim_accepted[i],
            percent(n->prim_accepted[i], n->prim_tried[i]), all, forced, same, chance,
            percent(same - chance, all));
  }
}

static int by_prim(const void *x, const void *y) {
  const Reason *a = x, *b = y;
  if (a->prim != b->prim) return a->prim < b->prim ? -1 : 1;
  return a->n > b->n ? -1 : a->n < b->n ? 1 : strcmp(a->code, b->code);
}

static void put_reasons(FILE *f, const Counts *n) {
  Counts copy = *n;
  qsort(copy.reason, copy.nreason, sizeof *copy.reason, by_prim);
  fprintf(f, "\n%-14s %-12s %-22s %9s %8s %8s %8s\n", "refusals of", "kind", "code", "", "forced",
          "same", "chance");
  for (uint64_t i = 0; i < copy.nreason; i++) {
    const Reason *r = &copy.reason[i];
    fprintf(f, "%-14s %-12s %-22s %9" PRIu64 " %8" PRIu64 " %8" PRIu64 " %8" PRIu64 "\n",
            td_prims[r->prim]->name, td_diag_kind_name((TdDiagKind)r->kind), r->code, r->n,
            r->forced, r->same, r->chance);
  }
}

void report_counts(FILE *f, const Counts *n) {
  double seconds = (double)n->nanoseconds / 1e9;
  fprintf(f,
          "%" PRIu64 " cases, %" PRIu64 " accepted steps, %" PRIu64 " refused, %" PRIu64
          " comparisons at a point; %.0f s, %.0f accepted steps/s\n",
          n->cases, n->accepted, n->refused, n->points, seconds,
          seconds > 0 ? (double)n->accepted / seconds : 0.0);
  fprintf(f,
          "%-14" PRIu64 " programs compiled by libtcc, %" PRIu64 " by cc; %" PRIu64
          " units of work\n",
          n->libtcc, n->cc, n->work);
  fprintf(f, "%-14" PRIu64 " kernels drawn again because they fault or do not load\n",
          n->kernels_refused);
  fprintf(f, "%-14" PRIu64 " symbolic runs that do not decide\n", n->undecided);
  fprintf(f, "%-14" PRIu64 " sums in another order that only their values show to be equal\n",
          n->regrouped);
  fprintf(f, "%-14" PRIu64 " programs that the CPU backend does not take\n", n->uncompiled);
  fprintf(f, "%-14" PRIu64 " programs whose printed form pins a size when it is loaded\n",
          n->pinned);
  put_primitives(f, n);
  put_reasons(f, n);
  fputs("\nkernels with\n", f);
  for (int i = 0; i < FEATURES; i++)
    fprintf(f, "  %-34s %9" PRIu64 "\n", feature_text[i], n->feature[i]);
}

/* One TAP line. */
static int point(int *number, bool good, const char *name, const char *of) {
  printf("%s %d - %s%s\n", good ? "ok" : "not ok", ++*number, name, of);
  return !good;
}

/* What a campaign costs, counted: whatever the machine, a slice of so many steps takes no more. */
static int report_cost(int *number, const Counts *n) {
  const struct {
    const char *of;
    uint64_t count, most; /* most: for 100 accepted steps */
  } cost[] = {{"units of work", n->work, 1500000},
              {"comparisons at a point", n->points, 300},
              {"programs compiled by libtcc", n->libtcc, 150},
              {"programs compiled by cc", n->cc, 1}};
  int bad = 0;
  for (size_t i = 0; i < sizeof cost / sizeof *cost; i++) {
    printf("# %" PRIu64 " %s for %" PRIu64 " steps\n", cost[i].count, cost[i].of, n->accepted);
    bad +=
        point(number, cost[i].count * 100 <= cost[i].most * n->accepted, "bounded: ", cost[i].of);
  }
  return bad;
}

/* Primitives that are drawn, and seldom accepted: tests/known.md says why. */
static const char *const seldom[] = {"wire"};

/* Primitives that few random kernels have something for (tests/known.md): not asked for. */
static const char *const rare[] = {"rfactor"};

static bool is_among(const char *name, const char *const *list, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (strcmp(name, list[i]) == 0) return true;
  return false;
}

int report_tests(const Counts *n, uint64_t failures, int share) {
  int number = 0, bad = 0;
  bad += point(&number, failures == 0 && n->cases > 0, "no chain of steps goes wrong", "");
  for (int i = 0; td_prims[i]; i++) {
    if (is_among(td_prims[i]->name, rare, sizeof rare / sizeof *rare)) continue;
    bool enough = is_among(td_prims[i]->name, seldom, sizeof seldom / sizeof *seldom)
                      ? n->prim_accepted[i] > 0
                      : percent(n->prim_accepted[i], n->prim_tried[i]) >= share;
    bad += point(&number, n->prim_tried[i] >= TRIES, "often tried: ", td_prims[i]->name);
    bad += point(&number, enough, "often accepted: ", td_prims[i]->name);
  }
  for (int i = 0; i < FEATURES; i++)
    bad += point(&number, n->feature[i] > 0, "kernels have: ", feature_text[i]);
  bad += report_cost(&number, n);
  printf("1..%d\n", number);
  return bad;
}

/* admit.c - footprints are asked first; tables, counters and while loops, which are not affine, are
 * followed by a run on symbols, which ends where data would decide. */
#include "admit.h"

#include <string.h>

#include "analysis/net/depths.h"
#include "analysis/net/races.h"
#include "analysis/net/streams.h"

/* Looks for elements that two instances surely touch, one of them to write: false if there are.
 *open becomes NULL if there are none whatever the data. */
static bool follow_elements(const TdAsk *q, const char **open, TdDiag *d) {
  const TdEvalOptions o = {.steps = 1 << 21, .bytes = 1 << 28};
  TdArena *a = td_arena_scratch(td_affine_ctx(q->affine));
  const TdValue **cell = TD_NEWN(a, const TdValue *, q->unit->nparam);
  TdDiag why = {.arena = d->arena};
  bool ran = td_eval_symbolic(a, q->prog, TD_LEVEL_STRICT, NULL, &o, cell, &why);
  bool raced = !ran && why.kind == TD_ILLEGAL && strcmp(why.code, "race") == 0;
  if (ran && !td_prog_has_state(q->prog)) *open = NULL;
  if (raced) {
    td_diag_help(&why, "pass it through a stream, or give each instance its own part");
    *d = why;
  }
  td_arena_free(a);
  return !raced;
}

bool td_admit_design(const TdAsk *q, const char **open, TdDiag *d) {
  TdStreamsOpen left;
  *open = NULL;
  if (!td_streams_check(q, &left, d)) return false;
  if (left.shared && !follow_elements(q, &left.shared, d)) return false;
  *open = left.order ? left.order : left.shared;
  return true;
}

bool td_admit_needs_watch(TdArena *a, const TdProg *p) {
  TdAffine *affine = NULL;
  bool open = false;
  for (size_t i = 0; i < p->nunit && !open; i++) {
    if (p->unit[i]->kind != TD_UNIT_DESIGN) continue;
    TdProg *part = td_arena_copy(a, p, sizeof *part);
    part->nunit = i + 1;
    if (!affine) affine = td_affine_new(a);
    TdAsk q = {affine, a, part, p->unit[i]};
    TdDiag quiet = {.arena = a};
    const char *why = NULL;
    open =
        !td_races_check(&q, &why, &quiet) || (why && (!follow_elements(&q, &why, &quiet) || why));
  }
  return open;
}

/* Runs of a design at other depths. */
typedef struct Trial {
  const TdTraffic *net;
  const TdEvalArg *arg;
  TdDiag why; /* the first failure that is no deadlock; code NULL: none */
} Trial;

/* u, a copy of unit `of` of the net, with these depths of its streams. */
static const TdUnit *at_depths(TdStore *st, const TdTraffic *n, const TdUnit *of, const TdUnit *u,
                               const int64_t *depth) {
  TdUnit *x = td_unit_copy(st, u);
  TdStream *stream = td_arena_copy(st->arena, u->stream, u->nstream * sizeof *stream);
  for (size_t i = 0; i < u->nstream; i++)
    for (size_t l = 0; l < n->line.n; l++)
      if (n->line.at[l].sym == of->stream[i].sym)
        stream[i].depth = td_expr_index(st->session, st->arena, depth[l], stream[i].loc);
  x->stream = stream;
  return x;
}

static bool ends_at(void *ud, const int64_t *depth) {
  Trial *t = ud;
  TdCtx *c = t->net->prog->store->session->ctx;
  TdArena *a = td_arena_scratch(c);
  TdStore *st = td_store_inner(a, t->net->prog->store->session);
  const TdProg *p = td_clone_prog(st, t->net->prog, true);
  for (size_t i = 0; i < p->nunit; i++)
    if (p->unit[i]->nstream)
      p = td_prog_with(p, at_depths(st, t->net, t->net->prog->unit[i], p->unit[i], depth));
  size_t n = td_prog_root(p)->nparam;
  TdEvalArg *arg = td_arena_copy(a, t->arg, n * sizeof *arg);
  for (size_t i = 0; i < n; i++) {
    if (!arg[i].tensor) continue;
    arg[i].tensor = td_tensor_new(a, t->arg[i].tensor->type, true);
    td_tensor_copy(c, arg[i].tensor, t->arg[i].tensor);
  }
  const TdEvalOptions o = {0};
  TdEvalResult result;
  TdDiag d = {.arena = t->why.arena};
  bool ran = td_eval_run(a, p, arg, n, &o, &d, &result);
  if (!ran && strcmp(d.code, "deadlock") != 0 && !t->why.code) t->why = d;
  td_arena_free(a);
  return ran || t->why.code;
}

bool td_admit_depths(TdArena *a, const TdTraffic *n, const TdEvalArg *arg, int64_t *depth,
                     TdDiag *d) {
  enum { MOST = 1 << 20 };
  Trial t = {.net = n, .arg = arg, .why = {.arena = a}};
  TdDepthsAnswer answer = td_depths_least_by(n, ends_at, &t, MOST, depth);
  if (t.why.code) *d = t.why;
  if (t.why.code) return false;
  return answer == TD_DEPTHS_FOUND ||
         td_diag_set(d, TD_ILLEGAL, "deadlock", (TdLoc){0},
                     "no depths let this design run to its end on this input");
}

/* judge.c - footprints are asked first; tables, counters and while loops, which are not affine, are
 * followed by a run on symbols, which ends where data would decide. */
#include "judge.h"

#include <string.h>

#include "analysis/streams.h"
#include "eval/eval.h"

static bool is_no_state(void *ud, const TdStmt *s) {
  (void)ud;
  return s->kind != TD_STMT_LOCAL || s->cls != TD_LOCAL_STATE;
}

/* Whether a later call may do other things than the first. */
static bool has_state(const TdProg *p) {
  for (size_t i = 0; i < p->nunit; i++)
    if (p->unit[i]->body &&
        !td_walk_stmt(p->store->session->ctx, p->unit[i]->body, is_no_state, NULL))
      return true;
  return false;
}

/* Looks for elements that two instances surely touch, one of them to write: false if there are.
 *open becomes NULL if there are none whatever the data. */
static bool follow_elements(const TdAsk *q, const char **open, TdDiag *d) {
  const TdEvalOptions o = {.steps = 1 << 21, .bytes = 1 << 28};
  TdArena *a = td_arena_scratch(td_affine_ctx(q->affine));
  const TdValue **cell = TD_NEWN(a, const TdValue *, q->unit->nparam);
  TdDiag why = {.arena = d->arena};
  bool ran = td_eval_symbolic(a, q->prog, TD_LEVEL_STRICT, NULL, &o, cell, &why);
  bool raced = !ran && why.kind == TD_ILLEGAL && strcmp(why.code, "race") == 0;
  if (ran && !has_state(q->prog)) *open = NULL;
  if (raced) {
    td_diag_help(&why, "pass it through a stream, or give each instance its own part");
    *d = why;
  }
  td_arena_free(a);
  return !raced;
}

bool td_judge_design(const TdAsk *q, const char **open, TdDiag *d) {
  TdStreamsOpen left;
  *open = NULL;
  if (!td_streams_check(q, &left, d)) return false;
  if (left.shared && !follow_elements(q, &left.shared, d)) return false;
  *open = left.order ? left.order : left.shared;
  return true;
}

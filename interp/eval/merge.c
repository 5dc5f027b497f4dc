/* merge.c - an `if` on a symbolic condition: both arms are run, and what they wrote becomes a
 * select. */
#include "eval/machine.h"

#include <string.h>

static TdRan run_arm(TdTask *t, const TdStmt *s);

/* A loop of an arm, whose bounds are numbers. */
static TdRan run_loop(TdTask *t, const TdStmt *s) {
  int64_t at;
  uint64_t trips;
  if (!td_exec_range(t, s, &at, &trips)) return TD_FAILED;
  TdRan ran = TD_RAN;
  for (; trips && ran == TD_RAN; trips--, at = (int64_t)((uint64_t)at + (uint64_t)s->step)) {
    if (!td_fault_tick(t->machine, 1)) return TD_FAILED;
    td_scalar_slot(t, s->sym)->value = td_value_of((uint64_t)at);
    ran = run_arm(t, s->kid[0]);
  }
  return ran;
}

/* A statement of an arm: anything but a `while`, a call, a stream or a jump. */
static TdRan run_statement(TdTask *t, const TdStmt *s) {
  static const char *const what[TD_STMT_KINDS] = {
      [TD_STMT_WHILE] = "a loop",   [TD_STMT_GET] = "a get",   [TD_STMT_SLOT] = "a slot",
      [TD_STMT_PUT] = "a put",      [TD_STMT_CALL] = "a call", [TD_STMT_BREAK] = "a break",
      [TD_STMT_RETURN] = "a return"};
  if (what[s->kind]) {
    td_fault_symbolic(
        t, s->loc, t->machine->condition,
        td_text_fmt(t->machine->arena, "%s depends on a condition on", what[s->kind]));
    return TD_FAILED;
  }
  if (!td_fault_tick(t->machine, 1)) return TD_FAILED;
  if (s->kind == TD_STMT_BLOCK) return run_arm(t, s);
  if (s->kind == TD_STMT_FOR) return run_loop(t, s);
  if (s->kind != TD_STMT_IF) return td_exec_plain(t, s);
  TdValue cond = td_scalar_eval(t, s->expr[0]);
  if (!td_value_is_defined(cond)) return TD_FAILED;
  if (td_value_is_symbolic(cond)) return td_merge_if(t, s, cond);
  uint32_t arm = cond.lo ? 0 : 1;
  return arm < s->nkid ? run_arm(t, s->kid[arm]) : TD_RAN;
}

static TdRan run_arm(TdTask *t, const TdStmt *block) {
  TdRan ran = TD_RAN;
  td_ctx_enter(t->machine->session->ctx);
  for (uint32_t i = 0; i < block->nkid && ran == TD_RAN; i++) ran = run_statement(t, block->kid[i]);
  td_ctx_leave(t->machine->session->ctx);
  return ran;
}

/* Runs an arm (NULL: nothing) with its writes going to j. */
static TdRan record(TdTask *t, const TdExpr *condition, const TdStmt *arm, TdJournal *j) {
  TdMachine *m = t->machine;
  TdJournal *outer = m->journal;
  const TdExpr *above = m->condition;
  m->journal = j;
  m->condition = condition;
  m->speculative++;
  TdRan ran = arm ? run_arm(t, arm) : TD_RAN;
  m->speculative--;
  m->journal = outer;
  m->condition = above;
  return ran;
}

/* select(cond, yes, no) for a cell. */
static TdValue choose(TdTask *t, TdValue cond, const TdStmt *s, const TdType *type, TdValue yes,
                      TdValue no) {
  if (td_value_same(yes, no)) return yes;
  const TdType *of[] = {s->expr[0]->type, type, type};
  const TdValue v[] = {cond, yes, no};
  return td_slice_apply(&t->machine->slices, &(TdApply){TD_OP_SELECT, 3, type, of, v, s->loc});
}

/* A journal with nothing in it, from those that were given back. */
static TdJournal *take_journal(TdMachine *m) {
  return m->journals.n ? m->journals.at[--m->journals.n] : TD_NEW(m->arena, TdJournal);
}

static void give_journal(TdMachine *m, TdJournal *j) {
  j->cell.n = 0;
  if (j->seen.n) memset(j->seen.full, 0, j->seen.cap);
  j->seen.n = 0;
  td_vec_push(m->arena, &m->journals, j);
}

/* Gives a cell its merged value as one write, whose old value is what it held before the `if`. */
static void merge(TdTask *t, const TdOldCell *c, TdValue v) {
  *c->cell = c->old;
  td_memory_assign(t->machine, c->cell, c->type, v);
}

TdRan td_merge_if(TdTask *t, const TdStmt *s, TdValue cond) {
  TdMachine *m = t->machine;
  TdJournal *then = take_journal(m), *otherwise = take_journal(m);
  if (record(t, s->expr[0], s->kid[0], then) != TD_RAN) return TD_FAILED;
  for (size_t i = 0; i < then->cell.n; i++) {
    TdOldCell *c = &then->cell.at[i];
    c->then = *c->cell;
    *c->cell = c->old;
  }
  if (record(t, s->expr[0], s->nkid > 1 ? s->kid[1] : NULL, otherwise) != TD_RAN) return TD_FAILED;
  for (size_t i = 0; i < then->cell.n; i++) {
    const TdOldCell *c = &then->cell.at[i];
    merge(t, c, choose(t, cond, s, c->type, c->then, *c->cell));
  }
  for (size_t i = 0; i < otherwise->cell.n; i++) {
    const TdOldCell *c = &otherwise->cell.at[i];
    if (td_map_getp(&then->seen, c->cell)) continue;
    merge(t, c, choose(t, cond, s, c->type, c->old, *c->cell));
  }
  give_journal(m, otherwise);
  give_journal(m, then);
  return TD_RAN;
}

/* exec.c - statements on a stack of cursors: a task stops at any of them and goes on later. */
#include "eval/machine.h"
#include "eval/watch.h"

static TdRan ran_if(bool ok) {
  return ok ? TD_RAN : TD_FAILED;
}

static TdCursor *top(TdTask *t) {
  return &t->stack.at[t->stack.n - 1];
}

static void push(TdTask *t, TdCursor c) {
  c.frame = t->frame;
  td_vec_push(t->machine->arena, &t->stack, c);
}

/* Leaves the innermost cursor and what its scope held. */
static void pop(TdTask *t) {
  const TdTime *loop = top(t)->time;
  if (loop && loop->kind != TD_TIME_COPIES) td_clock_leave(t->clock, t->stack.n);
  t->stack.n--;
  if (t->held.n) td_channel_release(t, t->stack.n);
  if (t->stack.n) t->frame = top(t)->frame;
}

void td_exec_enter(TdTask *t, TdFrame *f) {
  t->frame = f;
  push(t, (TdCursor){.stmt = f->plan->unit->body});
}

/* What begins with s, or NULL. */
static const TdTime *time_of(const TdTask *t, const TdStmt *s) {
  return td_times_of(t->machine->options->times, s);
}

/* Begins a loop. */
static void push_loop(TdTask *t, TdCursor c) {
  if (t->clock) c.time = td_clock_enter(t->clock, time_of(t, c.stmt), t->stack.n + 1);
  push(t, c);
}

/* Begins an iteration of it. */
static void push_body(TdTask *t, TdCursor *loop) {
  if (loop->time) td_clock_iterate(t->clock, loop->time, loop->count++);
  push(t, (TdCursor){.stmt = loop->stmt->kid[0]});
}

bool td_exec_range(TdTask *t, const TdStmt *s, int64_t *lo, uint64_t *trips) {
  int64_t hi;
  if (!td_scalar_index(t, td_for_lo(s), "a loop bound", lo)) return false;
  if (!td_scalar_index(t, td_for_hi(s), "a loop bound", &hi)) return false;
  uint64_t span = *lo < hi ? (uint64_t)hi - (uint64_t)*lo : 0, step = (uint64_t)s->step;
  *trips = span / step + (span % step != 0);
  return true;
}

/* Reads the bounds of a loop, once. */
static TdRan enter_for(TdTask *t, const TdStmt *s) {
  TdCursor c = {.stmt = s};
  if (!td_exec_range(t, s, &c.value, &c.left)) return TD_FAILED;
  push_loop(t, c);
  return TD_RAN;
}

static TdRan step_for(TdTask *t, TdCursor *c) {
  if (!c->left) {
    pop(t);
    return TD_RAN;
  }
  c->left--;
  td_scalar_slot(t, c->stmt->sym)->value = td_value_of((uint64_t)c->value);
  c->value = (int64_t)((uint64_t)c->value + (uint64_t)c->stmt->step);
  push_body(t, c);
  return TD_RAN;
}

static TdRan step_while(TdTask *t, TdCursor *c) {
  const TdStmt *s = c->stmt;
  if (!c->at) {
    int64_t go;
    if (!td_scalar_index(t, s->expr[0], "the condition of a loop", &go)) return TD_FAILED;
    if (!go) {
      if (c->time) td_clock_test(t->clock, c->time);
      pop(t);
      return TD_RAN;
    }
  }
  c->at = 0;
  push_body(t, c);
  return TD_RAN;
}

static TdRan enter_if(TdTask *t, const TdStmt *s) {
  TdValue cond = td_scalar_eval(t, s->expr[0]);
  if (!td_value_is_defined(cond)) return TD_FAILED;
  if (td_value_is_symbolic(cond)) return td_merge_if(t, s, cond);
  uint32_t arm = cond.lo ? 0 : 1;
  if (arm < s->nkid) push(t, (TdCursor){.stmt = s->kid[arm]});
  return TD_RAN;
}

/* Leaves cursors down to the innermost loop, it included. */
static TdRan jump_out_of_loop(TdTask *t) {
  bool loop = false;
  while (!loop) {
    loop = top(t)->stmt->kind == TD_STMT_FOR || top(t)->stmt->kind == TD_STMT_WHILE;
    pop(t);
  }
  return TD_RAN;
}

/* Leaves all cursors of the unit. */
static TdRan jump_out_of_unit(TdTask *t) {
  const TdFrame *f = t->frame;
  while (t->stack.n && top(t)->frame == f) pop(t);
  return TD_RAN;
}

/* Evaluates the arguments of a call into the callee's slots. */
static bool bind_arguments(TdTask *t, const TdStmt *s, TdFrame *f) {
  const TdUnit *u = f->plan->unit;
  for (uint32_t i = 0; i < s->nexpr; i++) {
    const TdExpr *e = s->expr[i];
    TdView v;
    if (e->kind == TD_EXPR_VIEW) {
      if (!td_scalar_view(t, e, &v)) return false;
      td_frame_show(t->machine, &f->slot[i], &v);
      continue;
    }
    TdValue x = td_scalar_eval(t, e);
    f->slot[i].value = td_scalar_cast(t, u->param[i].type, e->type, x, e->loc);
    if (t->machine->failed) return false;
  }
  return true;
}

/* Written arguments may overlap nothing else that is passed. */
static bool check_arguments(TdTask *t, const TdStmt *s, const TdFrame *f) {
  for (uint32_t i = 0; i < s->nexpr; i++)
    for (uint32_t k = 0; k < i; k++) {
      const TdView *x = f->slot[k].view, *y = f->slot[i].view;
      bool written = f->plan->written[i] || f->plan->written[k];
      if (!x || !y || !written || !x->memory || !td_memory_overlap(x, y)) continue;
      return td_fault_set(t, "overlap", s->loc, "%s", td_stmt_overlap(t->machine->arena, s, k, i));
    }
  return true;
}

static TdRan call(TdTask *t, const TdStmt *s) {
  TdMachine *m = t->machine;
  if (t->awaits) {
    if (t->awaits->left) return TD_BLOCKED;
    if (t->clock) td_clock_await(t->clock, t->awaits->ended, false);
    if (t->clock) td_clock_wait(t->clock, t->awaits->over, (int64_t)t->awaits->ntask, 0);
    t->awaits = NULL;
    return TD_RAN;
  }
  const TdUnitPlan *u = td_plan_unit(m->plan, s->sym);
  if (!u) return ran_if(td_call_out_run(t, s));
  TdFrame *f = td_frame_callee(m, t->frame, u);
  if (!bind_arguments(t, s, f) || !check_arguments(t, s, f) || !td_frame_check(t, f))
    return TD_FAILED;
  if (u->unit->kind == TD_UNIT_KERNEL) {
    td_exec_enter(t, f);
    return TD_RAN;
  }
  if (t->clock) m->now = td_clock_close(t->clock);
  if (!td_network_start(m, f, t)) return TD_FAILED;
  if (!f->network->left) return TD_RAN;
  t->awaits = f->network;
  return TD_BLOCKED;
}

static TdRan local(TdTask *t, const TdStmt *s) {
  TdMachine *m = t->machine;
  if (s->type->kind != TD_T_TENSOR) {
    TdValue v = {0, 0};
    if (s->nexpr) v = td_scalar_eval(t, s->expr[0]);
    if (s->nexpr) v = td_scalar_cast(t, s->type, s->expr[0]->type, v, s->loc);
    if (m->failed) return TD_FAILED;
    td_memory_assign(m, &td_scalar_slot(t, s->sym)->value, s->type, v);
    return TD_RAN;
  }
  if (!td_frame_declare(t, s)) return TD_FAILED;
  if (!s->nexpr) return TD_RAN;
  return ran_if(td_bulk_set(t, td_scalar_slot(t, s->sym)->view, s->expr[0], &s->loc));
}

static TdRan store(TdTask *t, const TdStmt *s) {
  const TdExpr *place = s->expr[0];
  TdValue v = td_scalar_eval(t, s->expr[1]);
  v = td_scalar_cast(t, place->type, s->expr[1]->type, v, s->loc);
  if (t->machine->failed) return TD_FAILED;
  if (!place->nkid) {
    td_memory_assign(t->machine, &td_scalar_slot(t, place->sym)->value, place->type, v);
    return TD_RAN;
  }
  const TdView *view;
  int64_t offset;
  if (!td_scalar_place(t, place, &view, &offset)) return TD_FAILED;
  return ran_if(td_memory_write(t, view, offset, v, &place->loc));
}

static TdRan set(TdTask *t, const TdStmt *s) {
  TdView target;
  if (!td_scalar_view(t, s->expr[0], &target)) return TD_FAILED;
  return ran_if(td_bulk_set(t, &target, s->expr[1], &s->loc));
}

TdRan td_exec_plain(TdTask *t, const TdStmt *s) {
  switch (s->kind) {
  case TD_STMT_LOCAL: return local(t, s);
  case TD_STMT_STORE: return store(t, s);
  default: return set(t, s);
  }
}

/* Begins a statement; simple ones are done at once. */
static TdRan dispatch(TdTask *t, const TdStmt *s) {
  switch (s->kind) {
  case TD_STMT_FOR: return enter_for(t, s);
  case TD_STMT_WHILE: push_loop(t, (TdCursor){.stmt = s, .at = s->post}); return TD_RAN;
  case TD_STMT_IF: return enter_if(t, s);
  case TD_STMT_BLOCK: push(t, (TdCursor){.stmt = s}); return TD_RAN;
  case TD_STMT_CALL: return call(t, s);
  case TD_STMT_BREAK: return jump_out_of_loop(t);
  case TD_STMT_RETURN: return jump_out_of_unit(t);
  case TD_STMT_GET: return td_channel_get(t, s);
  case TD_STMT_PUT: return td_channel_put(t, s);
  case TD_STMT_SLOT: return td_channel_slot(t, s);
  default: return td_exec_plain(t, s);
  }
}

/* dispatch, after the instances that meet in s have met. */
static TdRan execute(TdTask *t, const TdStmt *s) {
  if (!t->machine->plan->meets) return dispatch(t, s);
  TdRan ran = td_meeting_join(t, s);
  if (ran == TD_RAN) ran = dispatch(t, s);
  if (ran == TD_RAN) td_meeting_leave(t, s);
  return ran;
}

/* The next statement of a block, or its end. A statement that blocks is tried again. */
static TdRan step_block(TdTask *t, TdCursor *c) {
  if (c->at == c->stmt->nkid) {
    pop(t);
    return TD_RAN;
  }
  const TdStmt *s = c->stmt->kid[c->at++];
  if (!td_fault_tick(t->machine, 1)) return TD_FAILED;
  t->doing = s;
  const TdWatch *watch = t->machine->options->watch;
  if (watch && !t->again && !watch->step(watch->ud, &(TdWatched){t, s}))
    return ran_if(td_fault_set(t, "ended", s->loc, "the run was ended here"));
  if (t->clock && !t->again) td_clock_before(t->clock, time_of(t, s));
  TdRan ran = execute(t, s);
  t->again = ran == TD_BLOCKED;
  if (ran == TD_BLOCKED) {
    top(t)->at--;
    t->stopped = s;
  }
  return ran;
}

TdRan td_exec_run(TdTask *t, bool *progress) {
  while (t->stack.n) {
    TdCursor *c = top(t);
    TdRan ran = c->stmt->kind == TD_STMT_BLOCK ? step_block(t, c)
                : c->stmt->kind == TD_STMT_FOR ? step_for(t, c)
                                               : step_while(t, c);
    if (ran != TD_RAN) return t->machine->failed ? TD_FAILED : ran;
    *progress = true;
  }
  return TD_RAN;
}

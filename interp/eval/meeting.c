/* meeting.c - allreduce: instances of a run that differ only in the axes that it combines over
 * bring their parts, and all of them take the result. */
#include "eval/machine.h"

/* One allreduce of such instances. In a round each brings its part once, in any order; when all
 * are there the result is made, and each takes it before the next round begins. */
typedef struct TdMeeting {
  const TdExpr *e;
  const TdNetwork *network;
  const TdRun *run;
  int64_t id[TD_MAX_RANK]; /* of its instances, 0 in the axes */
  uint32_t axes, n;        /* instances */
  TdMemory **part, *result;
  bool *here; /* of each instance: it is in this round */
  uint32_t brought, leaving;
  int64_t cycle; /* when the last part was brought */
  int64_t sync;  /* number of this round, of those that clocks wait for */
} TdMeeting;

/* The axes of t's map; a kernel that runs alone has none. */
static int rank_of(const TdTask *t) {
  return t->run ? t->run->rank : 0;
}

/* Whether t is one of the instances of x. */
static bool is_member(const TdMeeting *x, const TdTask *t) {
  for (int d = 0; d < rank_of(t); d++)
    if (!(x->axes >> d & 1) && x->id[d] != t->id[d]) return false;
  return true;
}

/* The meeting of t at e, or NULL. */
static TdMeeting *find(const TdTask *t, const TdExpr *e) {
  const TdMachine *m = t->machine;
  for (size_t i = 0; i < m->meeting.n; i++) {
    TdMeeting *x = m->meeting.at[i];
    if (x->e == e && x->network == t->network && x->run == t->run && is_member(x, t)) return x;
  }
  return NULL;
}

/* The number of t in x, ids ascending; and how many there are. */
static uint32_t seat_of(const TdMeeting *x, const TdTask *t, uint32_t *count) {
  uint32_t seat = 0;
  *count = 1;
  for (int d = 0; d < rank_of(t); d++) {
    int64_t extent = 1;
    if (!(x->axes >> d & 1)) continue;
    td_frame_value(t->network->frame->plan->unit, t->run->map[d], &extent);
    seat = seat * (uint32_t)extent + (uint32_t)t->id[d];
    *count *= (uint32_t)extent;
  }
  return seat;
}

/* A new meeting; NULL when it failed. */
static TdMeeting *make(TdTask *t, const TdExpr *e) {
  TdMachine *m = t->machine;
  const TdType *type = td_frame_type(m, t->frame->plan->unit, e->kid[0]->type, e->loc);
  int64_t count;
  if (!type || !td_type_count(type, &count)) return NULL;
  TdMeeting *x = TD_NEW(m->arena, TdMeeting);
  *x = (TdMeeting){.e = e, .network = t->network, .run = t->run};
  x->axes = e->axis ? e->axis : UINT32_MAX;
  seat_of(x, t, &x->n);
  for (int d = 0; d < rank_of(t); d++) x->id[d] = x->axes >> d & 1 ? 0 : t->id[d];
  if (!td_fault_room(m, count * (int64_t)(x->n + 1), e->loc)) return NULL;
  x->part = TD_NEWN(m->arena, TdMemory *, x->n);
  x->here = TD_NEWN(m->arena, bool, x->n);
  for (uint32_t i = 0; i < x->n; i++) x->part[i] = td_memory_new(m->arena, type, "a part");
  x->result = td_memory_new(m->arena, type, "an allreduce");
  x->result->elem = td_type_scalar(e->type);
  td_vec_push(m->arena, &m->meeting, x);
  return x;
}

/* Combines the parts, instances ascending. */
static bool combine(TdTask *t, TdMeeting *x) {
  const TdExpr *e = x->e;
  for (int64_t k = 0; k < x->result->count; k++) {
    TdValue acc = td_bulk_start(e->reduce);
    for (uint32_t i = 0; i < x->n && !t->machine->failed; i++)
      acc = td_bulk_accumulate(t, e->reduce, x->result->elem, acc, x->part[i]->cell[k],
                               x->part[i]->elem, e->loc);
    if (!td_fault_tick(t->machine, x->n)) return false;
    x->result->cell[k] = acc;
  }
  return !t->machine->failed;
}

/* Brings t's part if it is not yet there, and waits for the others. */
static TdRan join(TdTask *t, const TdExpr *e) {
  TdMeeting *x = find(t, e);
  if (!x && !(x = make(t, e))) return TD_FAILED;
  uint32_t n, seat = seat_of(x, t, &n);
  t->meeting = x;
  if (!x->here[seat]) {
    if (x->leaving) return TD_BLOCKED;
    TdView part = td_memory_view(x->part[seat]);
    if (!td_bulk_set(t, &part, e->kid[0], &e->loc)) return TD_FAILED;
    x->here[seat] = true;
    if (!x->brought) x->sync = td_timed_sync(t->machine);
    if (t->clock) td_clock_signal(t->clock, x->sync);
    if (t->clock && td_clock_close(t->clock) > x->cycle) x->cycle = td_clock_close(t->clock);
    if (++x->brought == n) {
      if (!combine(t, x)) return TD_FAILED;
      x->brought = 0;
      x->leaving = n;
    }
  }
  if (!x->leaving) return TD_BLOCKED;
  t->meeting = NULL;
  return TD_RAN;
}

/* Joins, or leaves, every allreduce below e, operands first. */
static TdRan visit(TdTask *t, const TdExpr *e, bool leaving) {
  for (uint32_t i = 0; i < e->nkid; i++) {
    TdRan ran = visit(t, e->kid[i], leaving);
    if (ran != TD_RAN) return ran;
  }
  if (e->kind != TD_EXPR_TENSOR || e->op != TD_OP_ALLREDUCE) return TD_RAN;
  if (!leaving) return join(t, e);
  TdMeeting *x = find(t, e);
  uint32_t n, seat = x ? seat_of(x, t, &n) : 0;
  if (x && x->here[seat] && x->leaving) {
    x->here[seat] = false;
    int64_t fold = t->clock ? td_times_fold(t->machine->options->times, e, n) : 0;
    if (t->clock) td_clock_await(t->clock, x->cycle + fold, true);
    if (t->clock) td_clock_wait(t->clock, x->sync, n, fold);
    if (!--x->leaving) x->cycle = 0;
  }
  return TD_RAN;
}

TdRan td_meeting_join(TdTask *t, const TdStmt *s) {
  TdRan ran = TD_RAN;
  for (uint32_t i = 0; i < s->nexpr && ran == TD_RAN; i++) ran = visit(t, s->expr[i], false);
  return ran;
}

TdMemory *td_meeting_result(const TdTask *t, const TdExpr *allreduce) {
  return find(t, allreduce)->result;
}

void td_meeting_leave(TdTask *t, const TdStmt *s) {
  for (uint32_t i = 0; i < s->nexpr; i++) visit(t, s->expr[i], true);
}

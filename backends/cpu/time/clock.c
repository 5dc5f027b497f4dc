/* clock.c - tasks of runs with a clock: at each statement that has a time, and each token that
 * moves, the clock of the task is told, as the evaluator tells it. */
#include <inttypes.h>

#include "backends/cpu/text.h"

static const TdTime *time_of(const TdCpuProg *p, const TdStmt *s) {
  return p->times ? td_times_of(p->times, s) : NULL;
}

const char *td_cpu_clock_known(TdCpuProg *p, const void *t) {
  size_t i = 0;
  while (i < p->known.n && p->known.at[i] != t) i++;
  if (i == p->known.n) td_vec_push(p->w->arena, &p->known, t);
  return td_text_fmt(p->w->arena, "TD_TIMED->known[%zu]", i);
}

bool td_cpu_clock_is_inside(const TdCpuProg *p, const TdStmt *s) {
  for (uint32_t i = 0; p->times && i < s->nkid; i++)
    if (time_of(p, s->kid[i]) || td_cpu_clock_is_inside(p, s->kid[i])) return true;
  return false;
}

void td_cpu_clock_begin(TdCpuProg *p, const TdStmt *s) {
  const TdTime *t = time_of(p, s);
  if (t) td_text_line(&p->w->out, "TD_TIMED->before(me->clock, %s);", td_cpu_clock_known(p, t));
}

static const char *enter_text(TdCpuProg *p, const TdTime *t) {
  return td_text_fmt(p->w->arena, "TD_TIMED->enter(me->clock, %s, me->level + %d)",
                     td_cpu_clock_known(p, t), p->task->loops + 1);
}

const char *td_cpu_clock_enter(TdCpuProg *p, const TdStmt *loop, const char *v) {
  TdArena *a = p->w->arena;
  const TdTime *t = time_of(p, loop);
  if (!t) return NULL;
  const char *name = td_cname_fresh(p->w, td_text_fmt(a, "%s_time", v));
  td_cname_put(p->w, NULL, name, NULL, NULL);
  td_cpu_task_keep(p, td_text_fmt(a, "const void *%s", name), name, false);
  td_text_line(&p->w->out, "%s = %s;", name, enter_text(p, t));
  if (t->lanes == 1) return name;
  const char *count = td_text_fmt(a, "%s_count", name);
  td_cpu_task_keep(p, td_text_fmt(a, "int64_t %s", count), count, false);
  td_text_line(&p->w->out, "%s = 0;", count);
  return name;
}

void td_cpu_clock_iterate(TdCpuProg *p, const TdStmt *loop, const char *time) {
  if (!time) return;
  const char *n = time_of(p, loop)->lanes == 1 ? "0" : td_text_fmt(p->w->arena, "%s_count++", time);
  td_text_line(&p->w->out, "if (%s) TD_TIMED->iterate(me->clock, %s, %s);", time, time, n);
}

void td_cpu_clock_leave(TdCpuProg *p, const TdStmt *loop, const char *time) {
  if (time && time_of(p, loop)->kind != TD_TIME_COPIES)
    td_text_line(&p->w->out, "TD_TIMED->leave(me->clock, me->level + %d);", p->task->loops + 1);
}

void td_cpu_clock_return(TdCpuProg *p) {
  if (p->times) td_text_line(&p->w->out, "TD_TIMED->leave(me->clock, me->level + 1);");
}

void td_cpu_clock_pass(TdCpuProg *p, const TdStmt *loop) {
  TdCWriter *w = p->w;
  TdPiece lo = w->target->index(w, td_for_lo(loop)), hi = w->target->index(w, td_for_hi(loop));
  td_text_line(&w->out, "{");
  w->out.indent++;
  td_text_line(&w->out, "int64_t td_trip = %s - %s;", td_cexpr_operand(w, hi, TD_BIND_ADD),
               td_cexpr_operand(w, lo, TD_BIND_MUL));
  td_text_line(&w->out, "td_trip = td_trip > 0 ? (td_trip + %" PRId64 ") / %" PRId64 " : 0;",
               loop->step - 1, loop->step);
  td_text_line(&w->out, "const void *td_time = %s;", enter_text(p, time_of(p, loop)));
  td_text_line(&w->out, "if (td_time) TD_TIMED->pass(me->clock, td_time, td_trip);");
  td_text_line(&w->out, "TD_TIMED->leave(me->clock, me->level + %d);", p->task->loops + 1);
  w->out.indent--;
  td_text_line(&w->out, "}");
}

void td_cpu_clock_move(TdCpuProg *p, const TdStmt *s, const char *what, const char *ring,
                       const char *how) {
  if (p->times)
    td_text_line(&p->w->out, "TD_TIMED->%s(me->clock, TD_TIMED->wire[%s->number]%s%s, %s);", what,
                 ring, how ? ", " : "", how ? how : "", td_cpu_clock_known(p, s));
}

void td_cpu_clock_free(TdCpuProg *p, const char *ring) {
  if (p->times)
    td_text_line(&p->w->out, "TD_TIMED->free(me->clock, TD_TIMED->wire[%s->number]);", ring);
}

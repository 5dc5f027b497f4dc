/* firing_host.c - stages on the host in runs with a clock: what they compute takes no time of the
 * device's, their tokens one cycle each. */
#include "analysis/time/firing.h"

typedef struct Host {
  TdArena *arena;
  const TdTimes *times;
} Host;

/* The firings of a leaf without time. */
static void free_firings(const Host *h, TdTime *t) {
  TdFiring *f = TD_NEWN(h->arena, TdFiring, t->nfiring + 1);
  for (size_t i = 0; i < t->nfiring; i++)
    f[i] = (TdFiring){.first = t->firing[i].first, .skid = t->firing[i].skid};
  t->firing = f;
  t->length = 0;
  t->nwork = 0;
  t->multiplies = t->multipliers = 0;
}

/* What begins with s, without time; a pipelined loop keeps a cycle for each iteration with tokens,
 * others run at once. */
static bool free_time(void *ud, const TdStmt *s) {
  Host *h = ud;
  TdTime *t = (TdTime *)(uintptr_t)td_times_of(h->times, s);
  if (!t) return true;
  free_firings(h, t);
  t->enter = t->again = t->after = t->test = 0;
  if (t->kind == TD_TIME_PIPE) {
    t->ii = t->length = t->nevent ? 1 : 0;
    t->kind = t->nevent ? TD_TIME_PIPE : TD_TIME_PLAIN;
  }
  if (t->pipe && t->pipe->kind != TD_TIME_PIPE) t->pipe = NULL;
  if (!t->body) return true;
  TdTime *body = td_arena_copy(h->arena, t->body, sizeof *body);
  free_firings(h, body);
  t->body = body;
  return true;
}

void td_firing_host(TdArena *a, const TdProg *p, const TdTimes *times) {
  Host h = {a, times};
  for (size_t i = 0; i < p->nunit; i++)
    for (size_t r = 0; r < p->unit[i]->nrun; r++) {
      const TdRun *run = &p->unit[i]->run[r];
      const TdUnit *u = td_prog_unit(p, run->unit);
      if (td_attrs_get(run->attrs, TD_ATTR_HOST) && u->body)
        td_walk_stmt(td_arena_ctx(a), u->body, free_time, &h);
    }
}

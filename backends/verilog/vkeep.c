/* vkeep.c - conditions and loops on ids. The module of a class may do without what ids decide, and
 * has numbers for ids that all its instances share; a timed run has one schedule for all instances
 * of a task, in which conditions, and what stands under those that are false, have their time, and
 * loops from an id on drain. Where the times of what takes place are not the same, the class
 * keeps the whole body of its task. */
#include "analysis/net/classes.h"
#include "backends/verilog/vdesign.h"

/* The times of what takes place in a body, one number after the other. */
typedef struct Times {
  TdArena *arena;
  const TdTimes *times;
  const TdMap *fate; /* of `of`, of which the body is a copy; or NULL: all takes place */
  TdMap dead;        /* its statements that never run */
  TD_VEC(int64_t) at;
} Times;

static void push(Times *x, int64_t n) {
  td_vec_push(x->arena, &x->at, n);
}

static uint64_t fate_of(const Times *x, const TdStmt *of) {
  uint64_t fate = TD_FATE_STAYS;
  if (x->fate) td_map_get(x->fate, of->uid, &fate);
  return fate;
}

/* Whether kid i of a statement of this fate is left. */
static bool is_left(uint64_t fate, uint32_t i) {
  if (fate == TD_FATE_THEN || fate == TD_FATE_ELSE) return (fate == TD_FATE_ELSE) == (i == 1);
  return fate == TD_FATE_STAYS;
}

/* Notes the statements that never run. */
static void find_dead(Times *x, const TdStmt *s, const TdStmt *of, bool dead) {
  uint64_t fate = fate_of(x, of);
  dead |= fate == TD_FATE_GONE;
  if (dead) td_map_putp(x->arena, &x->dead, s, (void *)(uintptr_t)s);
  td_ctx_enter(td_arena_ctx(x->arena));
  for (uint32_t i = 0; i < s->nkid; i++)
    find_dead(x, s->kid[i], of->kid[i], dead || !is_left(fate, i));
  td_ctx_leave(td_arena_ctx(x->arena));
}

/* Whether something is put in firing number n of a leaf. */
static bool has_puts(const Times *x, const TdTime *t, int32_t n) {
  for (size_t i = 0; i < t->nevent; i++) {
    const TdEvent *e = &t->event[i];
    if (e->firing == n && e->stmt->kind == TD_STMT_PUT && !td_map_getp(&x->dead, e->stmt))
      return true;
  }
  return false;
}

/* The firings of a leaf that take place, by their tokens; what puts nothing is never late. */
static void put_firings(Times *x, const TdTime *t) {
  for (size_t i = 0; i < t->nevent; i++) {
    const TdEvent *e = &t->event[i];
    if (e->firing < 0 || td_map_getp(&x->dead, e->stmt)) continue;
    const TdFiring *f = &t->firing[e->firing];
    push(x, f->from);
    push(x, f->at);
    push(x, has_puts(x, t, e->firing) ? f->latency : -1);
    push(x, has_puts(x, t, e->firing) ? f->skid : -1);
    push(x, e->cycle);
  }
}

static void put_time(Times *x, const TdTime *t) {
  if (!t || t->kind == TD_TIME_COPIES || (t->kind == TD_TIME_BLOCK && !t->length)) return;
  push(x, t->kind);
  push(x, t->length);
  push(x, t->ii);
  push(x, t->before);
  push(x, t->lanes);
  push(x, t->enter);
  push(x, t->again);
  push(x, t->after);
  push(x, t->test);
  push(x, t->shares);
  push(x, t->pipe != NULL);
  put_firings(x, t);
  if (t->body) put_time(x, t->body);
}

static void put_times(Times *x, const TdStmt *s, const TdStmt *of) {
  uint64_t fate = fate_of(x, of);
  put_time(x, td_times_of(x->times, s));
  td_ctx_enter(td_arena_ctx(x->arena));
  for (uint32_t i = 0; i < s->nkid; i++)
    if (is_left(fate, i)) put_times(x, s->kid[i], of->kid[i]);
  td_ctx_leave(td_arena_ctx(x->arena));
}

/* The times of class c of d's network. */
static Times times_of(TdVdDesign *d, const TdNetClass *c) {
  Times x = {.arena = d->arena, .fate = c->kept ? &c->fate : NULL};
  const TdStmt *body = c->kernel->body, *of = c->kept ? c->kept : body;
  x.times = td_vdesign_own(d, c).times;
  if (!x.times) return x;
  find_dead(&x, body, of, false);
  put_times(&x, body, of);
  return x;
}

static bool is_same(const Times *x, const Times *y) {
  bool same = x->at.n == y->at.n;
  for (size_t i = 0; i < x->at.n && same; i++) same = x->at.at[i] == y->at.at[i];
  return same;
}

/* Leaves in keep[] the classes of d's network whose times differ from those of `whole`, which has
 * the whole bodies; whether there are any. */
static bool compare(TdVdDesign *d, TdNet *whole, bool *keep) {
  TdNet *cut = d->net;
  bool any = false;
  for (size_t i = 0; i < cut->cls.n; i++) {
    if (!keep[i]) continue;
    d->net = whole;
    Times x = times_of(d, whole->cls.at[i]);
    d->net = cut;
    Times y = times_of(d, cut->cls.at[i]);
    keep[i] = x.times && y.times && !is_same(&x, &y);
    any |= keep[i];
  }
  return any;
}

bool td_vkeep_settle(TdVdDesign *d) {
  TdNet *net = d->net, whole = {0};
  TdDiag *diag = d->diag, why = {.arena = diag->arena};
  bool *keep = TD_NEWN(d->arena, bool, net->cls.n + 1), any = false;
  for (size_t i = 0; i < net->cls.n; i++) {
    keep[i] = net->cls.at[i]->fate.n > 0 || net->cls.at[i]->numbered;
    any |= keep[i];
  }
  if (!any) return true;
  d->diag = &why;
  any = td_vdesign_net(d, net->store, net->prog, keep, &whole) && whole.cls.n == net->cls.n &&
        compare(d, &whole, keep);
  if (any && td_vdesign_net(d, net->store, net->prog, keep, &whole)) *net = whole;
  d->diag = diag;
  return true;
}

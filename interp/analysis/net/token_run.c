/* token_run.c - instances as counted loops over moves, run until all end or none can go on. */
#include "analysis/net/token_run.h"

#include <string.h>

enum { MOST_STEPS = 1 << 24, MOST_LEVELS = 64, QUANTUM = 4096 };
#define ENDLESS (INT64_C(1) << 40) /* places, or tokens, of the end that is left out */
enum { PUTS, GETS };

/* ---- preparation ---- */

static void emit(TdOrder *o, TdStep s) {
  td_vec_push(o->arena, &o->step, s);
}

/* Notes who is at the ends of x's channel. */
static void note_end(TdOrder *o, const TdMove *x, uint32_t inst) {
  bool puts = x->kind == TD_MOVE_PUT || x->kind == TD_MOVE_SLOT;
  bool gets = x->kind == TD_MOVE_GET || x->kind == TD_MOVE_HOLD;
  if (puts || gets) o->end[gets ? GETS : PUTS][x->at] = inst;
}

/* Writes the steps of x, which is `level` loops deep; *deepest grows with them. */
static void compile(TdOrder *o, const TdMove *x, uint32_t inst, uint8_t level, uint32_t *deepest) {
  if (x->kind == TD_MOVE_SEQ) {
    for (uint32_t i = 0; i < x->n; i++) compile(o, x->kid[i], inst, level, deepest);
    return;
  }
  if (x->kind < TD_MOVE_SEQ) {
    note_end(o, x, inst);
    emit(o, (TdStep){x->kind, level, x->at, 1, x->stmt});
    return;
  }
  const TdMove *body = x->kid[0];
  if (body->kind == TD_MOVE_GET || body->kind == TD_MOVE_PUT) {
    note_end(o, body, inst);
    emit(o, (TdStep){body->kind, level, body->at, x->lo, body->stmt});
    return;
  }
  if (*deepest < level + 1u) *deepest = level + 1u;
  emit(o, (TdStep){.kind = TD_STEP_LOOP, .level = level, .n = x->lo});
  uint32_t begin = (uint32_t)o->step.n;
  compile(o, body, inst, (uint8_t)(level + 1), deepest);
  emit(o, (TdStep){.kind = TD_STEP_TURN, .level = level, .at = begin});
}

/* How deep the loops of x nest. */
static unsigned depth_of(const TdMove *x) {
  unsigned most = 0;
  for (uint32_t i = 0; i < x->n; i++) {
    unsigned d = depth_of(x->kid[i]);
    if (d > most) most = d;
  }
  return most + (x->kind == TD_MOVE_REPEAT);
}

/* Leaves an instance out: what it holds never keeps others waiting. */
static void leave_out(TdOrder *o, uint32_t inst) {
  const TdMove *x = o->net->inst.at[inst].move;
  o->partial = true;
  o->start[inst] = TD_TRAFFIC_NONE;
  for (size_t i = 0; i < x->ncount; i++) {
    if (x->count[i].put.hi) o->loose[x->count[i].channel] |= 1;
    if (x->count[i].get.hi) o->loose[x->count[i].channel] |= 2;
  }
  for (size_t i = 0; i < o->net->meet.n; i++) {
    const TdMeet *m = &o->net->meet.at[i];
    o->meet[i].open |= td_traffic_seat(m, inst) < m->n;
  }
}

static TdOrderState new_state(TdArena *a, size_t insts, size_t counters, size_t chans) {
  return (TdOrderState){TD_NEWN(a, uint32_t, insts), TD_NEWN(a, int64_t, insts),
                        TD_NEWN(a, int64_t, counters), TD_NEWN(a, int64_t, chans),
                        TD_NEWN(a, int64_t, chans)};
}

/* Makes room for all that changes. */
static void make_state(TdOrder *o, size_t counters) {
  TdArena *a = o->arena;
  const TdTraffic *n = o->net;
  o->now = new_state(a, n->inst.n, counters, n->chan.n);
  o->turn.seen = new_state(a, n->inst.n, counters, n->chan.n);
  o->lap.seen = new_state(a, n->inst.n, counters, n->chan.n);
  for (int k = 0; k < 2; k++) o->waiter[k] = TD_NEWN(a, uint32_t, n->chan.n);
  o->queue = TD_NEWN(a, uint32_t, n->inst.n);
  o->queued = TD_NEWN(a, bool, n->inst.n);
  o->ended = TD_NEWN(a, bool, n->inst.n);
  o->running = TD_NEWN(a, uint32_t, n->group.n);
}

TdOrder *td_token_run_new(TdArena *a, const TdTraffic *n) {
  TdOrder *o = TD_NEW(a, TdOrder);
  *o = (TdOrder){.arena = a, .net = n, .ctx = td_arena_ctx(a)};
  o->leaps = n->group.n == 1 && !n->meet.n;
  o->start = TD_NEWN(a, uint32_t, n->inst.n);
  o->first = TD_NEWN(a, uint32_t, n->inst.n + 1);
  o->loose = TD_NEWN(a, uint8_t, n->chan.n);
  o->meet = TD_NEWN(a, TdOrderMeeting, n->meet.n);
  for (size_t i = 0; i < n->meet.n; i++) o->meet[i].here = TD_NEWN(a, bool, n->meet.at[i].n);
  for (int k = 0; k < 2; k++) {
    o->end[k] = TD_NEWN(a, uint32_t, n->chan.n);
    for (size_t i = 0; i < n->chan.n; i++) o->end[k][i] = TD_TRAFFIC_NONE;
  }
  uint64_t length = 0;
  uint32_t counters = 0;
  for (uint32_t i = 0; i < n->inst.n; i++) {
    const TdMove *x = n->inst.at[i].move;
    uint32_t levels = 0;
    o->first[i] = counters;
    if (!x->fixed || depth_of(x) > MOST_LEVELS) {
      leave_out(o, i);
      continue;
    }
    length += x->length;
    if (length > MOST_STEPS) return NULL;
    td_ctx_tick(o->ctx, x->length);
    o->start[i] = (uint32_t)o->step.n;
    compile(o, x, i, 0, &levels);
    emit(o, (TdStep){.kind = TD_STEP_END});
    counters += levels;
  }
  o->first[n->inst.n] = counters;
  for (size_t i = 0; i < n->chan.n; i++)
    if (n->line.at[n->chan.at[i].line].outside) o->loose[i] = 3;
  make_state(o, counters);
  return o;
}

/* ---- execution ---- */

static void wake(TdOrder *o, uint32_t inst) {
  if (inst == TD_TRAFFIC_NONE || o->queued[inst] || o->ended[inst]) return;
  uint32_t at = o->head + o->nqueue++, cap = (uint32_t)o->net->inst.n;
  o->queue[at < cap ? at : at - cap] = inst;
  o->queued[inst] = true;
}

/* Starts the instances of a group at their first step. */
static void start_group(TdOrder *o, uint32_t g) {
  const TdGroup *group = &o->net->group.at[g];
  o->running[g] = 0;
  for (uint32_t i = group->first; i < group->first + group->n; i++) {
    if (o->start[i] == TD_TRAFFIC_NONE) continue;
    o->now.pc[i] = o->start[i];
    o->now.left[i] = o->step.at[o->start[i]].n;
    o->ended[i] = false;
    o->running[g]++;
    wake(o, i);
  }
}

void td_token_run_reset(TdOrder *o, const int64_t *depth) {
  const TdTraffic *n = o->net;
  memset(o->now.counter, 0, o->first[n->inst.n] * sizeof *o->now.counter);
  memset(o->now.left, 0, n->inst.n * sizeof *o->now.left);
  for (size_t i = 0; i < n->chan.n; i++) {
    uint32_t line = n->chan.at[i].line;
    o->now.full[i] = o->loose[i] & 1 ? ENDLESS : 0;
    o->now.unused[i] = o->loose[i] & 2 ? ENDLESS : depth ? depth[line] : n->line.at[line].depth;
    o->waiter[PUTS][i] = o->waiter[GETS][i] = TD_TRAFFIC_NONE;
  }
  for (size_t i = 0; i < n->inst.n; i++) {
    o->now.pc[i] = o->start[i];
    o->queued[i] = false;
    o->ended[i] = true;
  }
  for (size_t i = 0; i < n->meet.n; i++) {
    o->meet[i].brought = o->meet[i].leaving = 0;
    memset(o->meet[i].here, 0, n->meet.at[i].n * sizeof *o->meet[i].here);
  }
  o->head = o->nqueue = 0;
  o->steps = 0;
  td_token_run_forget(o);
  start_group(o, 0);
}

/* Moves as many tokens as there are, from what is left of the step, between two counts of a
 * channel; whether that was all. `to` may be NULL. */
static bool transfer(int64_t *left, int64_t *from, int64_t *to) {
  int64_t k = *left < *from ? *left : *from;
  *from -= k;
  if (to) *to += k;
  *left -= k;
  return *left == 0;
}

/* A move that takes tokens (or places) and gives places (or tokens); false: it waits. */
static bool exchange(TdOrder *o, uint32_t inst, const TdStep *s, int64_t *left) {
  uint32_t c = s->at;
  int64_t *full = &o->now.full[c], *unused = &o->now.unused[c];
  bool gets = s->kind == TD_MOVE_GET || s->kind == TD_MOVE_HOLD;
  bool gives = s->kind == TD_MOVE_GET || s->kind == TD_MOVE_PUT;
  int64_t before = *left;
  bool all = transfer(left, gets ? full : unused, !gives ? NULL : gets ? unused : full);
  uint32_t *other = &o->waiter[gets ? PUTS : GETS][c];
  if (gives && *left < before && *other != TD_TRAFFIC_NONE) {
    wake(o, *other);
    *other = TD_TRAFFIC_NONE;
  }
  if (!all) o->waiter[gets ? GETS : PUTS][c] = inst;
  return all;
}

/* HAND and FREE: adds to one count of a channel. */
static void give(TdOrder *o, const TdStep *s) {
  bool token = s->kind == TD_MOVE_HAND;
  uint32_t *other = &o->waiter[token ? GETS : PUTS][s->at];
  *(token ? &o->now.full[s->at] : &o->now.unused[s->at]) += 1;
  wake(o, *other);
  *other = TD_TRAFFIC_NONE;
}

static void wake_all(TdOrder *o, const TdMeet *m) {
  for (uint32_t i = 0; i < m->n; i++) wake(o, m->inst[i]);
}

/* JOIN; false: it waits. */
static bool join(TdOrder *o, uint32_t inst, uint32_t at) {
  const TdMeet *m = &o->net->meet.at[at];
  TdOrderMeeting *x = &o->meet[at];
  bool *here = &x->here[td_traffic_seat(m, inst)];
  if (x->open) return true;
  if (!*here) {
    if (x->leaving) return false;
    *here = true;
    if (++x->brought == m->n) {
      x->brought = 0;
      x->leaving = m->n;
      wake_all(o, m);
    }
  }
  return x->leaving > 0;
}

static void leave(TdOrder *o, uint32_t inst, uint32_t at) {
  const TdMeet *m = &o->net->meet.at[at];
  TdOrderMeeting *x = &o->meet[at];
  if (x->open) return;
  x->here[td_traffic_seat(m, inst)] = false;
  if (--x->leaving == 0) wake_all(o, m);
}

/* FORK: starts a group (left is 1), or waits for it (left is 0); whether it has ended. */
static bool fork_group(TdOrder *o, uint32_t g, int64_t *left) {
  if (*left) start_group(o, g);
  *left = 0;
  return !o->running[g];
}

/* An instance ends; the last of a group wakes its caller. */
static void end_instance(TdOrder *o, uint32_t inst) {
  uint32_t g = o->net->inst.at[inst].group;
  o->ended[inst] = true;
  if (!--o->running[g]) wake(o, o->net->group.at[g].caller);
}

/* Runs an instance until it waits, ends, or had its turn. */
static void run(TdOrder *o, uint32_t inst) {
  const TdStep *step = o->step.at;
  int64_t *counter = o->now.counter + o->first[inst], left = o->now.left[inst];
  uint32_t pc = o->now.pc[inst];
  uint64_t taken = 0;
  bool on = true;
  for (; on && taken < QUANTUM; taken++) {
    const TdStep *s = &step[pc];
    switch (s->kind) {
    case TD_MOVE_GET:
    case TD_MOVE_PUT:
    case TD_MOVE_SLOT:
    case TD_MOVE_HOLD: on = exchange(o, inst, s, &left); break;
    case TD_MOVE_HAND:
    case TD_MOVE_FREE: give(o, s); break;
    case TD_MOVE_JOIN: on = join(o, inst, s->at); break;
    case TD_MOVE_LEAVE: leave(o, inst, s->at); break;
    case TD_MOVE_FORK: on = fork_group(o, s->at, &left); break;
    case TD_STEP_LOOP: counter[s->level] = s->n; break;
    case TD_STEP_TURN:
      if (--counter[s->level]) pc = s->at - 1;
      break;
    default:
      end_instance(o, inst);
      on = false;
      break;
    }
    if (on) left = step[++pc].n;
  }
  o->now.pc[inst] = pc;
  o->now.left[inst] = left;
  o->steps += taken;
  td_ctx_tick(o->ctx, taken);
  if (on) wake(o, inst);
}

TdOrderEnd td_token_run_go(TdOrder *o, uint64_t budget) {
  uint64_t most = o->steps + budget;
  while (o->nqueue) {
    for (uint32_t n = o->nqueue; n; n--) {
      uint32_t inst = o->queue[o->head];
      o->head = o->head + 1 == o->net->inst.n ? 0 : o->head + 1;
      o->nqueue--;
      o->queued[inst] = false;
      if (!o->ended[inst]) run(o, inst);
    }
    if (o->steps > most) return TD_ORDER_LONG;
    if (o->leaps) td_token_run_leap(o);
  }
  return o->running[0] ? TD_ORDER_STUCK : TD_ORDER_DONE;
}

void td_token_run_deepen(TdOrder *o, uint32_t line, int64_t by) {
  for (size_t i = 0; i < o->net->chan.n; i++) {
    if (o->net->chan.at[i].line != line) continue;
    o->now.unused[i] += by;
    wake(o, o->waiter[PUTS][i]);
    o->waiter[PUTS][i] = TD_TRAFFIC_NONE;
  }
  td_token_run_forget(o);
}

/* ---- what came of it ---- */

uint32_t td_token_run_leftover(const TdOrder *o) {
  for (uint32_t i = 0; i < o->net->chan.n; i++)
    if (!o->loose[i] && o->now.full[i]) return i;
  return TD_TRAFFIC_NONE;
}

const TdStep *td_token_run_wait(const TdOrder *o, uint32_t inst) {
  return o->ended[inst] ? NULL : &o->step.at[o->now.pc[inst]];
}

/* The first instance of a group that has not ended. */
static uint32_t first_running(const TdOrder *o, const TdGroup *g) {
  uint32_t i = g->first;
  while (o->ended[i]) i++;
  return i;
}

/* Whom an instance waits for in a meeting: one that is missing, or has not yet left the last. */
static uint32_t first_missing(const TdOrder *o, uint32_t inst, uint32_t meet) {
  const TdMeet *m = &o->net->meet.at[meet];
  const TdOrderMeeting *x = &o->meet[meet];
  bool late = !x->here[td_traffic_seat(m, inst)];
  uint32_t i = 0;
  while (x->here[i] != late) i++;
  return m->inst[i];
}

uint32_t td_token_run_other(const TdOrder *o, uint32_t inst) {
  const TdStep *s = td_token_run_wait(o, inst);
  const TdTraffic *n = o->net;
  if (!s) return TD_TRAFFIC_NONE;
  if (s->kind == TD_MOVE_FORK) return first_running(o, &n->group.at[s->at]);
  if (s->kind == TD_MOVE_JOIN) return first_missing(o, inst, s->at);
  uint32_t other = o->end[s->kind == TD_MOVE_GET || s->kind == TD_MOVE_HOLD ? PUTS : GETS][s->at];
  while (other != TD_TRAFFIC_NONE && o->ended[other] &&
         n->inst.at[other].group != n->chan.at[s->at].group)
    other = n->group.at[n->inst.at[other].group].caller;
  return other;
}

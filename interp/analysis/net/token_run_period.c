/* token_run_period.c - periods of an order, repeated at one stroke.
 *
 * Two states with the same pcs and fills, in which each instance differs in the counter of one
 * loop at most, lie a period apart: the moves between them can be made again, with the same effect
 * on each counter, for as long as no counter runs out. `turn` watches every round and finds the
 * periods of inner loops; `lap` watches the states after such leaps, and finds those of the loops
 * around them. */
#include "analysis/net/token_run.h"

#include <string.h>

static void copy_state(const TdOrder *o, TdOrderState *to, const TdOrderState *from) {
  size_t insts = o->net->inst.n, chans = o->net->chan.n, counters = o->first[insts];
  memcpy(to->pc, from->pc, insts * sizeof *to->pc);
  memcpy(to->left, from->left, insts * sizeof *to->left);
  memcpy(to->counter, from->counter, counters * sizeof *to->counter);
  memcpy(to->full, from->full, chans * sizeof *to->full);
  memcpy(to->unused, from->unused, chans * sizeof *to->unused);
}

void td_token_run_forget(TdOrder *o) {
  o->turn.set = o->lap.set = false;
}

/* How often a counter can fall by as much as from `old` to `now` and stay above 0; *changed counts
 * the counters that did. */
static int64_t times_left(int64_t old, int64_t now, int *changed) {
  if (old == now) return INT64_MAX;
  ++*changed;
  return old > now && now > 0 ? (now - 1) / (old - now) : 0;
}

/* How often the period of one instance can be repeated. */
static int64_t repeats_of(const TdOrder *o, const TdOrderState *seen, uint32_t inst) {
  int changed = 0;
  int64_t most = times_left(seen->left[inst], o->now.left[inst], &changed);
  for (uint32_t k = o->first[inst]; k < o->first[inst + 1]; k++) {
    int64_t n = times_left(seen->counter[k], o->now.counter[k], &changed);
    if (n < most) most = n;
  }
  return changed > 1 ? 0 : most;
}

/* How often the period from `seen` to now can be repeated; 0 if it is none. */
static int64_t repeats(const TdOrder *o, const TdOrderState *seen) {
  size_t insts = o->net->inst.n, chans = o->net->chan.n;
  if (memcmp(seen->pc, o->now.pc, insts * sizeof *seen->pc) ||
      memcmp(seen->full, o->now.full, chans * sizeof *seen->full) ||
      memcmp(seen->unused, o->now.unused, chans * sizeof *seen->unused))
    return 0;
  int64_t most = INT64_MAX;
  for (uint32_t i = 0; i < insts && most; i++) {
    int64_t n = repeats_of(o, seen, i);
    if (n < most) most = n;
  }
  return most == INT64_MAX ? 0 : most;
}

/* Repeats the period from `seen` to now n times. */
static void apply(TdOrder *o, const TdOrderState *seen, int64_t n) {
  size_t insts = o->net->inst.n;
  for (size_t i = 0; i < insts; i++) o->now.left[i] -= n * (seen->left[i] - o->now.left[i]);
  for (size_t k = 0; k < o->first[insts]; k++)
    o->now.counter[k] -= n * (seen->counter[k] - o->now.counter[k]);
}

/* Looks whether the watched state has come again, and leaps; else watches on. */
static bool watch(TdOrder *o, TdOrderWatch *w) {
  int64_t n = w->set ? repeats(o, &w->seen) : 0;
  if (n) {
    apply(o, &w->seen, n);
    w->set = false;
    return true;
  }
  if (w->set && ++w->age < w->power) return false;
  w->power = w->set ? w->power * 2 : 1;
  w->age = 0;
  w->set = true;
  copy_state(o, &w->seen, &o->now);
  return false;
}

void td_token_run_leap(TdOrder *o) {
  if (watch(o, &o->turn) && watch(o, &o->lap)) o->turn.set = false;
}

/* deadlock_report.c - who waits for whom in a deadlock, and what would help. */
#include "analysis/net/deadlock_report.h"

enum { MOST_SHOWN = 12, DEPTH_BUDGET = 1 << 24 };

/* An instance from which waiting leads back to itself, or TD_TRAFFIC_NONE. */
static uint32_t find_cycle(const TdOrder *o) {
  size_t n = o->net->inst.n;
  uint32_t *seen = TD_NEWN(o->arena, uint32_t, n);
  for (uint32_t i = 0; i < n; i++) {
    uint32_t at = i;
    while (at != TD_TRAFFIC_NONE && td_token_run_wait(o, at) && !seen[at]) {
      seen[at] = i + 1;
      at = td_token_run_other(o, at);
    }
    if (at != TD_TRAFFIC_NONE && td_token_run_wait(o, at) && seen[at] == i + 1) return at;
  }
  return TD_TRAFFIC_NONE;
}

/* The last instance that waits, on the way from the first one, where that ends with one that does
 * not. */
static uint32_t last_waiting(const TdOrder *o) {
  uint32_t i = 0, next;
  while (!td_token_run_wait(o, i)) i++;
  while ((next = td_token_run_other(o, i)) != TD_TRAFFIC_NONE && td_token_run_wait(o, next))
    i = next;
  return i;
}

static bool is_on_channel(const TdStep *s) {
  return s->kind <= TD_MOVE_HOLD;
}

/* "sBA", "an allreduce", "the tasks of top". */
static const char *what(TdArena *a, const TdOrder *o, const TdStep *s) {
  if (s->kind == TD_MOVE_JOIN) return "an allreduce";
  if (s->kind == TD_MOVE_FORK)
    return td_text_fmt(a, "the tasks of %s", o->net->group.at[s->at].design->sym->name);
  return td_traffic_chan_name(a, o->net, s->at);
}

/* "which holds 2/2", or, where a buffer is waited for, "1 in all: 0 full, 1 taken". */
static const char *fill(TdArena *a, const TdOrder *o, const TdStep *s) {
  long long depth = o->net->line.at[o->net->chan.at[s->at].line].depth, full = o->now.full[s->at];
  if (s->kind != TD_MOVE_SLOT) return td_text_fmt(a, ", which holds %lld/%lld", full, depth);
  return td_text_fmt(a, " (%lld in all: %lld full, %lld taken)", depth, full, depth - full);
}

/* Tells what an instance waits for. */
static void note_wait(const TdOrder *o, TdDiag *d, uint32_t inst) {
  static const char *const how[] = {"to get from", "to put to", "for a free buffer of", "",
                                    "to get from"};
  const TdStep *s = td_token_run_wait(o, inst);
  const char *name = td_traffic_inst_name(d->arena, o->net, inst), *of = what(d->arena, o, s);
  uint32_t other = td_token_run_other(o, inst);
  bool over = other == TD_TRAFFIC_NONE || !td_token_run_wait(o, other);
  if (!is_on_channel(s)) {
    td_diag_note(d, s->stmt->loc, "%s waits in %s for %s%s", name, of,
                 td_traffic_inst_name(d->arena, o->net, other), over ? ", which has ended" : "");
    return;
  }
  td_diag_note(d, s->stmt->loc, "%s waits %s %s%s%s", name, how[s->kind], of, fill(d->arena, o, s),
               over ? ": the task at the other end has ended" : "");
}

/* "func0 -> sBA -> func1 -> sAB -> func0" with a note for each; long cycles are cut in the text. */
static const char *tell_cycle(const TdOrder *o, TdDiag *d, uint32_t first) {
  TdText t = td_text_new(d->arena);
  uint32_t at = first;
  size_t n = 0;
  td_text_puts(&t, td_traffic_inst_name(d->arena, o->net, at));
  do {
    const TdStep *s = td_token_run_wait(o, at);
    at = td_token_run_other(o, at);
    if (++n < MOST_SHOWN)
      td_text_putf(&t, " -> %s -> %s", what(d->arena, o, s),
                   td_traffic_inst_name(d->arena, o->net, at));
  } while (at != first);
  if (n >= MOST_SHOWN)
    td_text_putf(&t, " -> .. (%zu tasks) -> %s", n, td_traffic_inst_name(d->arena, o->net, first));
  return td_text_str(&t);
}

/* Says with which depths it would run. */
static void suggest(TdOrder *o, TdDiag *d) {
  const TdTraffic *n = o->net;
  int64_t *declared = TD_NEWN(o->arena, int64_t, n->line.n);
  int64_t *depth = TD_NEWN(o->arena, int64_t, n->line.n);
  for (size_t i = 0; i < n->line.n; i++) declared[i] = n->line.at[i].depth;
  switch (td_depths_least(o, declared, depth, DEPTH_BUDGET)) {
  case TD_DEPTHS_NONE: td_diag_help(d, "no depth helps: no task waits for a free place"); return;
  case TD_DEPTHS_UNKNOWN: return;
  case TD_DEPTHS_FOUND: break;
  }
  TdText t = td_text_new(d->arena);
  for (size_t i = 0; i < n->line.n; i++)
    if (depth[i] != declared[i])
      td_text_putf(&t, "%s%s of depth %lld", t.n ? ", " : "", n->line.at[i].sym->name,
                   (long long)depth[i]);
  td_diag_help(d, "it would run with %s", td_text_str(&t));
}

bool td_deadlock_report_report(TdOrder *o, TdDiag *d) {
  uint32_t first = find_cycle(o);
  if (first != TD_TRAFFIC_NONE) {
    const char *cycle = tell_cycle(o, d, first);
    td_diag_set(d, TD_ILLEGAL, "deadlock", td_token_run_wait(o, first)->stmt->loc, "deadlock: %s",
                cycle);
    size_t shown = 0;
    uint32_t at = first;
    do {
      note_wait(o, d, at);
      at = td_token_run_other(o, at);
    } while (at != first && ++shown < MOST_SHOWN);
  } else {
    first = last_waiting(o);
    td_diag_set(d, TD_ILLEGAL, "deadlock", td_token_run_wait(o, first)->stmt->loc,
                "deadlock: %s waits for a task that has ended",
                td_traffic_inst_name(d->arena, o->net, first));
    note_wait(o, d, first);
  }
  suggest(o, d);
  return false;
}

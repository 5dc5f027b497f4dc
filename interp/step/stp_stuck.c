/* stp_stuck.c - a run that cannot go on: who waits for whom, and which FIFOs are full. */
#include <string.h>

#include "step/stp_machine.h"

/* The machine that m waits for. */
static uint32_t waits_for(const TdStpRun *r, const TdStpMachine *m) {
  if (m->why == TD_STP_FULL) return r->chan[m->port[m->where].chan].to;
  if (m->why == TD_STP_BY_ARRIVAL) {
    for (uint32_t i = 0; i < m->nin; i++)
      if (!r->chan[m->in[i]].count && !r->chan[m->in[i]].closed) return r->chan[m->in[i]].from;
  }
  return r->chan[m->in[m->where]].from;
}

static uint32_t channel_of(const TdStpMachine *m) {
  return m->why == TD_STP_FULL ? m->port[m->where].chan : m->in[m->where];
}

static const char *name_of(TdStpRun *r, const TdStpMachine *m) {
  const char *name = td_stp_graph_name(r->d->arena, m->n);
  return m->step == td_stp_exec_broadcast ? td_text_fmt(r->d->arena, "broadcast of %s", name)
                                          : name;
}

/* A note for one machine: what it waits for, at which fill. */
static void tell(TdStpRun *r, const TdStpMachine *m) {
  const TdStpChan *c = &r->chan[channel_of(m)];
  const TdStpMachine *other = &r->machine[waits_for(r, m)];
  if (m->why == TD_STP_FULL)
    td_diag_note(
        r->d, m->n->loc, "'%s' waits for a place in its stream to '%s', which holds %lld of %lld",
        name_of(r, m), name_of(r, other), (long long)(c->put - c->got), (long long)c->depth);
  else
    td_diag_note(r->d, m->n->loc, "'%s' waits for an element from '%s'", name_of(r, m),
                 name_of(r, other));
}

void td_stp_stuck(TdStpRun *r) {
  uint32_t at = 0;
  while (r->machine[at].over) at++;
  uint32_t *seen = TD_NEWN(r->d->arena, uint32_t, r->nmachine + 1), n = 1;
  while (!seen[at]) {
    seen[at] = n++;
    uint32_t next = waits_for(r, &r->machine[at]);
    if (r->machine[next].over) break;
    at = next;
  }
  uint32_t start = at, full = 0, length = 0;
  do {
    full += r->machine[at].why == TD_STP_FULL;
    length++;
    at = waits_for(r, &r->machine[at]);
  } while (at != start && !r->machine[at].over && length < r->nmachine);
  at = start;
  td_stp_fail(r, &r->machine[start], TD_ILLEGAL, "step-deadlock",
              "the graph stops: %u operators wait for each other in a circle", length);
  for (uint32_t i = 0; i < length && i < 40; i++) {
    tell(r, &r->machine[at]);
    at = waits_for(r, &r->machine[at]);
  }
  if (full)
    td_diag_help(r->d, "%u stream%s of the circle %s full: a greater depth there may end it", full,
                 full == 1 ? "" : "s", full == 1 ? "is" : "are");
}

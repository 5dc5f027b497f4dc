/* ends.c - one producer and one consumer for each stream, at every level of designs. */
#include "analysis/net/ends.h"

/* Holders within the group that is looked at. */
typedef struct Holders {
  const TdTraffic *net;
  TdDiag *diag;
  TdEnds *all; /* the result: of each channel, in its own group */
  TdEnds *now;
  uint32_t *group; /* that `now` is about, + 1 */
} Holders;

/* Notes where an instance puts or gets. */
static void note(const Holders *h, uint32_t inst, uint32_t chan, bool put) {
  TdArena *a = h->diag->arena;
  td_diag_note(h->diag, td_traffic_stmt(h->net, inst, chan, put)->loc, "%s %s it here",
               td_traffic_inst_name(a, h->net, inst), put ? "puts to" : "gets from");
}

static bool refuse_two(const Holders *h, uint32_t chan, bool put, uint32_t x, uint32_t y) {
  TdArena *a = h->diag->arena;
  td_diag_set(h->diag, TD_ILLEGAL, put ? "producers" : "consumers",
              td_traffic_stmt(h->net, y, chan, put)->loc,
              "stream %s has two %s, %s and %s: an element has one",
              td_traffic_chan_name(a, h->net, chan), put ? "producers" : "consumers",
              td_traffic_inst_name(a, h->net, x), td_traffic_inst_name(a, h->net, y));
  note(h, x, chan, put);
  note(h, y, chan, put);
  return false;
}

/* Gives one end of a channel to an instance of group g; false if another has it. */
static bool hold(Holders *h, uint32_t g, uint32_t inst, uint32_t chan, bool put) {
  if (h->group[chan] != g + 1) h->now[chan] = (TdEnds){TD_TRAFFIC_NONE, TD_TRAFFIC_NONE};
  h->group[chan] = g + 1;
  uint32_t *end = put ? &h->now[chan].producer : &h->now[chan].consumer;
  if (*end != TD_TRAFFIC_NONE && *end != inst) return refuse_two(h, chan, put, *end, inst);
  *end = inst;
  return true;
}

static bool hold_all(Holders *h, uint32_t inst) {
  const TdInst *x = &h->net->inst.at[inst];
  for (size_t i = 0; i < x->move->ncount; i++) {
    const TdCount *c = &x->move->count[i];
    if (c->put.hi && !hold(h, x->group, inst, c->channel, true)) return false;
    if (c->get.hi && !hold(h, x->group, inst, c->channel, false)) return false;
    if (h->net->chan.at[c->channel].group == x->group && h->group[c->channel] == x->group + 1)
      h->all[c->channel] = h->now[c->channel];
  }
  return true;
}

/* Refuses a stream with a single end. */
static bool check_pair(const Holders *h, uint32_t chan) {
  const TdEnds *e = &h->all[chan];
  const TdLine *line = &h->net->line.at[h->net->chan.at[chan].line];
  bool put = e->producer != TD_TRAFFIC_NONE, get = e->consumer != TD_TRAFFIC_NONE;
  if (put == get || line->outside) return true;
  TdArena *a = h->diag->arena;
  uint32_t inst = put ? e->producer : e->consumer;
  const TdStmt *s = td_traffic_stmt(h->net, inst, chan, put);
  td_diag_set(h->diag, TD_ILLEGAL, put ? "no-consumer" : "no-producer", s->loc,
              "stream %s has no %s: only %s %s it", td_traffic_chan_name(a, h->net, chan),
              put ? "consumer" : "producer", td_traffic_inst_name(a, h->net, inst),
              put ? "puts to" : "gets from");
  td_diag_note(h->diag, line->loc, "'%s' is declared here", line->sym->name);
  return false;
}

const TdEnds *td_ends_of(TdArena *a, const TdTraffic *n, TdDiag *d) {
  Holders h = {.net = n, .diag = d};
  h.all = TD_NEWN(a, TdEnds, n->chan.n);
  h.now = TD_NEWN(a, TdEnds, n->chan.n);
  h.group = TD_NEWN(a, uint32_t, n->chan.n);
  for (size_t i = 0; i < n->chan.n; i++) h.all[i] = (TdEnds){TD_TRAFFIC_NONE, TD_TRAFFIC_NONE};
  for (uint32_t i = 0; i < n->inst.n; i++)
    if (!hold_all(&h, i)) return NULL;
  for (uint32_t i = 0; i < n->chan.n; i++)
    if (!check_pair(&h, i)) return NULL;
  return h.all;
}

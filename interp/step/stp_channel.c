/* stp_channel.c - elements between machines, and the rule of their times. */
#include <string.h>

#include "step/stp_machine.h"

enum { MOST_EVENTS = 1 << 18 };

void td_stp_wake(TdStpRun *r, uint32_t machine) {
  TdStpMachine *m = &r->machine[machine];
  if (m->queued || m->over) return;
  m->queued = true;
  r->queue[(r->qhead + r->qcount++) % r->nmachine] = machine;
}

void td_stp_fail(TdStpRun *r, TdStpMachine *m, TdDiagKind kind, const char *code, const char *fmt,
                 ...) {
  va_list ap;
  va_start(ap, fmt);
  td_diag_vset(r->d, kind, code, m->n ? m->n->loc : (TdLoc){0}, fmt, ap);
  va_end(ap);
  r->failed = true;
}

TdStpLook td_stp_look(TdStpRun *r, TdStpMachine *m, uint32_t i) {
  TdStpChan *c = &r->chan[m->in[i]];
  if (c->count) return TD_STP_HAVE;
  if (c->closed) {
    td_stp_until(m, c->closed_at + 1, TD_STP_EMPTY, m->in[i]);
    return TD_STP_OVER;
  }
  m->why = TD_STP_EMPTY;
  m->where = i;
  return TD_STP_WAIT;
}

void td_stp_see(TdStpRun *r, TdStpMachine *m, uint32_t i) {
  td_stp_until(m, td_stp_head(r, m, i)->time, TD_STP_EMPTY, m->in[i]);
}

/* Makes room for one more item. */
static void grow_items(TdStpRun *r, TdStpChan *c) {
  uint32_t cap = c->cap ? 2 * c->cap : 4;
  TdStpItem *item = TD_NEWN(r->arena, TdStpItem, cap);
  for (uint32_t i = 0; i < c->count; i++) item[i] = c->item[(c->head + i) & (c->cap - 1)];
  c->item = item;
  c->cap = cap;
  c->head = 0;
}

/* Keeps when the place of element c->got was free. */
static void keep_credit(TdStpRun *r, TdStpChan *c, int64_t at) {
  int64_t base = c->put > c->depth ? c->put - c->depth : 0;
  if (c->got - base >= (int64_t)c->ccap) {
    uint32_t cap = c->ccap ? 2 * c->ccap : 4;
    int64_t *credit = TD_NEWN(r->arena, int64_t, cap);
    for (int64_t k = base; k < c->got; k++) credit[k & (cap - 1)] = c->credit[k & (c->ccap - 1)];
    c->credit = credit;
    c->ccap = cap;
  }
  c->credit[c->got & (c->ccap - 1)] = at;
}

TdStpItem td_stp_take(TdStpRun *r, TdStpMachine *m, uint32_t i) {
  TdStpChan *c = &r->chan[m->in[i]];
  TdStpItem it = c->item[c->head];
  c->head = (c->head + 1) & (c->cap - 1);
  c->count--;
  m->turn = TD_STP_TURN_NONE;
  if (m->begin < 0) m->begin = m->clock;
  if (it.from) return it;
  int64_t at = it.time > m->clock ? it.time : m->clock;
  if (c->depth) keep_credit(r, c, at + 1);
  if (r->keep) td_vec_push(r->arena, &c->got_at, at);
  c->got++;
  td_stp_wake(r, c->from);
  return it;
}

void td_stp_unread(TdStpRun *r, TdStpMachine *m, uint32_t i, int from, int stop, int64_t time) {
  TdStpChan *c = &r->chan[m->in[i]];
  if (c->count == c->cap) grow_items(r, c);
  c->head = (c->head + c->cap - 1) & (c->cap - 1);
  c->count++;
  c->item[c->head] = td_stp_nothing(from, stop);
  c->item[c->head].time = time;
}

bool td_stp_room(TdStpRun *r, TdStpMachine *m, uint32_t p) {
  if (m->port[p].chan == UINT32_MAX) return true;
  TdStpChan *c = &r->chan[m->port[p].chan];
  if (!c->depth || c->put - c->got < c->depth) return true;
  m->why = TD_STP_FULL;
  m->where = p;
  return false;
}

int64_t td_stp_free_at(TdStpRun *r, TdStpMachine *m, uint32_t p) {
  if (m->port[p].chan == UINT32_MAX) return 0;
  TdStpChan *c = &r->chan[m->port[p].chan];
  if (!c->depth || c->put < c->depth) return 0;
  return c->credit[(c->put - c->depth) & (c->ccap - 1)];
}

/* Counts the extents of an assumed shape: the list of level l + 1 gets an element more. */
static void check_assumed(TdStpRun *r, TdStpMachine *m, TdStpPort *p, TdStpItem it) {
  const TdStpNode *n = p->assumed;
  if (!it.from) p->open[0]++;
  for (int l = it.from ? it.from : 1; l <= it.stop && l <= n->assumed.ndim; l++) {
    int64_t want;
    if (l < n->assumed.ndim && td_stp_expr_is_const(n->assumed.dim[l - 1].extent, &want) &&
        !n->assumed.dim[l - 1].ragged && p->open[l - 1] != want) {
      td_stp_fail(r, m, TD_ILLEGAL, "step-assume",
                  "a list of dimension %d has %lld element%s, where %lld are assumed", l - 1,
                  (long long)p->open[l - 1], p->open[l - 1] == 1 ? "" : "s", (long long)want);
      r->d->loc = n->loc;
      return;
    }
    p->open[l - 1] = 0;
    p->open[l]++;
  }
}

/* An element as a token, its parts too. */
static TdStpToken token_of(TdStpRun *r, TdStpItem it) {
  TdStpToken t = {.from = it.from, .stop = it.stop, .nindex = -1};
  if (it.from) return t;
  const TdStpRecord *x = td_stp_value(r, it.val);
  t.kind = (TdStpKind)x->kind;
  t.rows = x->rows, t.cols = x->cols, t.valid_rows = x->vrows, t.valid_cols = x->vcols;
  t.number = x->number;
  t.elem = x->elem;
  t.index = x->index;
  t.nindex = x->kind == TD_STP_SELECTOR ? x->number : -1;
  if (x->data)
    t.data = td_arena_copy(r->arena, x->data,
                           (size_t)x->rows * td_stp_value_row(r, x->elem, x->rows, x->cols));
  if (x->kind != TD_STP_TUPLE && x->kind != TD_STP_BUFFER) return t;
  TdStpToken *part = TD_NEWN(r->arena, TdStpToken, x->nitem + 1);
  for (uint32_t i = 0; i < x->nitem; i++) part[i] = token_of(r, x->item[i]);
  t.part = part;
  t.nparts = x->nitem;
  return t;
}

/* Counts an element that passes a port. */
static void count(TdStpRun *r, TdStpMachine *m, TdStpPort *p, TdStpItem it) {
  if (!it.from) {
    const TdStpRecord *x = td_stp_value(r, it.val);
    p->seen[0]++;
    if (x->rows > p->most_rows) p->most_rows = x->rows;
    if (x->cols > p->most_cols) p->most_cols = x->cols;
  }
  for (int l = it.from ? it.from : 1; l <= it.stop; l++) p->seen[l]++;
  if (p->open) check_assumed(r, m, p, it);
  if (p->tap) td_vec_push(r->arena, &p->tap->token, token_of(r, it));
}

bool td_stp_give(TdStpRun *r, TdStpMachine *m, uint32_t p, TdStpItem it, int64_t t) {
  if (!it.from && !td_stp_room(r, m, p)) return false;
  TdStpPort *port = &m->port[p];
  if (m->begin < 0) m->begin = m->clock;
  count(r, m, port, it);
  if (port->chan == UINT32_MAX) {
    td_stp_value_drop(r, it.val);
    return true;
  }
  TdStpChan *c = &r->chan[port->chan];
  if (!it.from && c->depth && c->put >= c->depth)
    td_stp_until(m, td_stp_free_at(r, m, p), TD_STP_FULL, port->chan);
  it.time = t > m->clock + 1 ? t : m->clock + 1;
  if (c->count == c->cap) grow_items(r, c);
  c->item[(c->head + c->count++) & (c->cap - 1)] = it;
  if (!it.from) {
    c->put++;
    if (c->put - c->got > c->most) c->most = c->put - c->got;
    if (r->keep) {
      td_vec_push(r->arena, &c->put_at, it.time - 1);
      r->keep = ++r->events < MOST_EVENTS;
    }
  }
  td_stp_wake(r, c->to);
  return true;
}

void td_stp_finish(TdStpRun *r, TdStpMachine *m) {
  m->over = true;
  for (uint32_t p = 0; p < m->nout; p++) {
    if (m->port[p].chan == UINT32_MAX) continue;
    TdStpChan *c = &r->chan[m->port[p].chan];
    c->closed = true;
    c->closed_at = m->clock;
    td_stp_wake(r, c->to);
  }
}

/* What input i holds next, in words. */
static const char *told(TdStpRun *r, TdStpMachine *m, uint32_t i) {
  TdStpChan *c = &r->chan[m->in[i]];
  if (!c->count) return "has ended";
  const TdStpItem *it = td_stp_head(r, m, i);
  if (it->from) return td_text_fmt(r->d->arena, "ends a list of level %d", it->from);
  return "has an element more";
}

TdStpLook td_stp_meet(TdStpRun *r, TdStpMachine *m, uint32_t n, TdStpItem *it) {
  uint32_t over = 0;
  for (uint32_t i = 0; i < n; i++) {
    TdStpLook l = td_stp_look(r, m, i);
    if (l == TD_STP_WAIT) return l;
    over += l == TD_STP_OVER;
  }
  if (over == n) return TD_STP_OVER;
  *it = over ? (TdStpItem){0} : *td_stp_head(r, m, 0);
  for (uint32_t i = 0; i < n; i++) {
    const TdStpItem *x = over ? NULL : td_stp_head(r, m, i);
    if (!x || x->from != it->from) {
      uint32_t other = i ? i : 1;
      td_stp_fail(r, m, TD_ILLEGAL, "step-pairs",
                  "the inputs of '%s' end apart: after %lld pairs the first %s, and input %u %s",
                  td_stp_graph_name(r->d->arena, m->n), (long long)r->chan[m->in[0]].got,
                  told(r, m, 0), other + 1, told(r, m, other));
      return TD_STP_WAIT;
    }
    if (x->stop < it->stop) it->stop = x->stop;
    td_stp_see(r, m, i);
  }
  return TD_STP_HAVE;
}

void td_stp_consume(TdStpRun *r, TdStpMachine *m, uint32_t n, TdStpItem it) {
  for (uint32_t i = 0; i < n; i++) {
    TdStpItem x = td_stp_take(r, m, i);
    td_stp_value_drop(r, x.val);
    if (x.stop > it.stop) td_stp_unread(r, m, i, it.stop + 1, x.stop, x.time);
  }
}

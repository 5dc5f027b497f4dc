/* vtask.c - tokens. The gets of a firing latch one by one, in order; it starts when the last one is
 * there and a credit is left; its results, latency cycles later, queue in front of a put unit,
 * which puts them one by one and gives the credit back. A firing that cannot start holds what
 * stands in the cycles up to its own (the front); what has started goes on. */
#include <inttypes.h>

#include "backends/verilog/vunit.h"

/* A wire of `name`_`what`, which is given x. */
static const TdVl *wire(TdVkUnit *k, const char *name, const char *what, const TdVl *x) {
  TdVlSig *s = td_vtree_wire(k->m, td_text_fmt(k->arena, "%s_%s", name, what), x->width);
  td_vtree_assign(k->m, s, x);
  return td_vtree_sig(k->m, s);
}

void td_vtask_find_side(TdVkUnit *k, const TdVkLeaf *l) {
  for (size_t i = 0; i < l->t->reach.n; i++) {
    const TdReach *r = &l->t->reach.at[i];
    if (r->array->kind != TD_CELL_MEMORY || r->spot != TD_TRACE_ALL) continue;
    if (r->write && !r->array->token) continue;
    const TdVkView *v = td_vstore_view(l->frame, r->array->sym);
    if (!v && !td_vbuffer_is(r)) td_vec_push(k->arena, &k->side, r->array->sym);
  }
}

bool td_vtask_has_tokens(const TdTrace *t) {
  for (size_t i = 0; t && i < t->reach.n; i++)
    if (t->reach.at[i].array->kind != TD_CELL_MEMORY) return true;
  return false;
}

/* The times of firing i; of a put whose token is computed before, those of the put alone. */
static const TdFiring *time_of(TdVkUnit *k, const TdVkLeaf *l, size_t i) {
  if (!l->time || i >= l->time->nfiring) return NULL;
  if (!l->computed) return &l->time->firing[i];
  TdFiringTimes x = td_trace_times(l->t, i);
  TdFiring f = {.from = x.from, .at = x.at, .latency = x.latency};
  return td_arena_copy(k->arena, &f, sizeof f);
}

/* The firings of a leaf, as the schedule cuts them. */
static void cut(TdVkUnit *k, TdVkLeaf *l) {
  for (size_t i = 0; i < l->t->firing.n; i++) {
    const TdTraceFiring *from = &l->t->firing.at[i];
    TdVkFiring *f = TD_NEW(k->arena, TdVkFiring);
    f->time = time_of(k, l, i);
    for (size_t j = 0; j < from->get.n; j++)
      td_vec_push(k->arena, &f->got, ((TdVkGot){.reach = &l->t->reach.at[from->get.at[j]]}));
    for (size_t j = 0; j < from->put.n; j++)
      td_vec_push(k->arena, &f->put, &l->t->reach.at[from->put.at[j]]);
    td_vec_push(k->arena, &l->firing, f);
  }
}

static bool not_built(TdVkUnit *k, TdLoc loc, const char *what) {
  return td_vunit_refuse(k, "not-built", loc, "build it for the CPU, timed",
                         "Verilog of %s is not built yet", what);
}

/* What this file cannot do yet. */
static bool admit(TdVkUnit *k, const TdVkLeaf *l) {
  for (size_t i = 0; i < l->firing.n; i++)
    if (!l->firing.at[i]->time)
      return not_built(k, l->step->stmt->loc, "this order of gets and puts");
  return true;
}

/* The firing of a get, or NULL. */
static TdVkFiring *firing_of(const TdVkLeaf *l, const TdReach *r) {
  for (size_t i = 0; i < l->firing.n; i++)
    for (size_t j = 0; j < l->firing.at[i]->got.n; j++)
      if (l->firing.at[i]->got.at[j].reach == r) return l->firing.at[i];
  return NULL;
}

int64_t td_vtask_start(const TdVkLeaf *l, const TdReach *r) {
  const TdVkFiring *f = firing_of(l, r);
  return f ? f->time->at : 0;
}

bool td_vtask_open(TdVkUnit *k, TdVkLeaf *l) {
  if (!td_vtask_has_tokens(l->t)) return true;
  cut(k, l);
  if (!admit(k, l)) return false;
  l->front = l->firing.at[l->firing.n - 1]->time->at;
  l->stall = td_vtree_wire(k->m, td_text_fmt(k->arena, "%s_stall", l->name), 1);
  l->pending = td_vtree_wire(k->m, td_text_fmt(k->arena, "%s_pending", l->name), 1);
  return true;
}

/* The condition of an access in a cycle: NULL is always. */
bool td_vtask_guard(TdVkUnit *k, TdVkLeaf *l, const TdReach *r, int64_t cycle, const TdVl **out) {
  *out = NULL;
  if (!r->guard) return true;
  TdVlNum g = td_vdata_value(k, l, td_trace_node(r->guard), cycle);
  *out = g.e;
  return g.e != NULL;
}

/* Whether put or get j of a list is of the stream of an earlier one, i. */
static bool is_same(const TdReach *x, const TdReach *y) {
  return x->array == y->array;
}

/* Whether the firings before number n that start in cycle c have. */
static const TdVl *started(TdVkUnit *k, const TdVkLeaf *l, size_t n, int64_t c) {
  TdVlModule *m = k->m;
  const TdVl *all = NULL;
  for (size_t i = 0; i < n; i++) {
    const TdVkFiring *g = l->firing.at[i];
    const TdVl *fired = g->fired ? td_vtree_sig(m, g->fired) : NULL;
    if (g->time->at == c) all = td_vtree_and(m, all, td_vtree_or(m, fired, g->start));
  }
  return all;
}

/* Whether a token is of one and the same stream each time. */
static bool is_fixed(const TdReach *r) {
  const TdSpot *s = &r->array->spot.at[r->spot];
  int64_t c;
  for (int d = 0; d < r->array->rank; d++)
    if (!td_sys_is_const(s->at[d], &c)) return false;
  return true;
}

/* The first cycle in which a get of firing f may happen: its own; outside of pipelines, where those
 * before it may not take place, the firing's first, once its condition is known. */
static int64_t earliest(const TdVkLeaf *l, const TdVkFiring *f, const TdReach *r) {
  int64_t own = td_flow_cycle(&l->t->flow, l->t->flow.node.at[r->node].start);
  int64_t first = f->time->from;
  if (l->pipe || !is_fixed(r)) return own;
  if (r->guard) {
    int64_t known = td_flow_cycle(&l->t->flow, l->t->flow.node.at[r->guard].end);
    if (known > first) first = known;
  }
  return first < own ? first : own;
}

/* Whether get j of firing number n may happen now, and of which stream: up to the cycle of the
 * start. */
static bool may_take(TdVkUnit *k, TdVkLeaf *l, size_t n, TdVkGot *x, const TdVl **may) {
  TdVlModule *m = k->m;
  const TdReach *r = x->reach;
  int64_t at = l->firing.at[n]->time->at;
  int64_t from = earliest(l, l->firing.at[n], r);
  *may = NULL;
  for (int64_t c = from < at ? from : at; c <= at; c++) {
    if (!td_vtask_guard(k, l, r, c, &x->on)) return false;
    const TdVl *there = td_vdata_there(k, l, c), *which = td_vport_which(k, l, r, c);
    const TdVl *now = td_vtree_and(m, td_vtree_and(m, there, started(k, l, n, c)), x->on);
    *may = td_vtree_or(m, *may, now);
    x->which =
        x->which && which->kind != TD_VL_CONST ? td_vtree_pick(m, there, which, x->which) : which;
  }
  return true;
}

/* One get: taken as soon as all before it are there or taken now; *begun is that they are, *all
 * that they are over. */
static bool latch(TdVkUnit *k, TdVkLeaf *l, size_t n, size_t j, const TdVl **begun,
                  const TdVl **all) {
  TdVlModule *m = k->m;
  TdVkFiring *f = l->firing.at[n];
  TdVkGot *x = &f->got.at[j];
  const TdReach *r = x->reach;
  TdVkPort *p = td_vport_of(k, l, r);
  const TdVl *may;
  if (!may_take(k, l, n, x, &may)) return false;
  const char *name = td_text_fmt(k->arena, "%s_l%u", p->name, r->stmt->loc.line);
  if (k->held) {
    x->take = wire(k, name, "take", td_vtree_and(m, may, *begun));
    td_vec_push(k->arena, &p->drive, ((TdVkDrive){x->take, x->which, NULL}));
    *begun = *all = td_vtree_and(m, *begun, td_vport_ready(k, p, x->which));
    return true;
  }
  x->flag = td_vtree_reg(m, td_text_fmt(k->arena, "%s_got", name), 1);
  TdVkBuffer *buffer = td_vbuffer_is(r) ? td_vbuffer_of(k, l->frame, r->stmt) : NULL;
  if (!buffer) x->latch = td_vtree_reg(m, td_text_fmt(k->arena, "%s_held", name), p->width);
  if (p->beats > 1) x->begun = td_vtree_reg(m, td_text_fmt(k->arena, "%s_begun", name), 1);
  const TdVl *flag = td_vtree_sig(m, x->flag), *own = x->begun ? td_vtree_sig(m, x->begun) : flag;
  const TdVl *take = td_vtree_and(m, may, td_vtree_not(m, own));
  take = td_vtree_and(m, take, td_vport_ready(k, p, x->which));
  take = td_vtree_and(m, take, *begun);
  for (size_t i = 0; i < j; i++) {
    const TdVkGot *y = &f->got.at[i];
    const TdVl *same = td_vport_same(k, x->which, y->which);
    if (is_same(y->reach, r))
      take = td_vtree_and(m, take, td_vtree_not(m, td_vtree_and(m, y->take, same)));
  }
  x->take = wire(k, name, "take", take);
  td_vec_push(k->arena, &p->drive, ((TdVkDrive){x->take, x->which, NULL}));
  x->now = x->take;
  if (x->begun)
    x->now =
        td_vtree_and(m, td_vtree_and(m, own, td_vtree_not(m, flag)), td_vport_last(k, p, x->which));
  x->now = wire(k, name, "now", x->now);
  if (buffer) td_vbuffer_take(k, buffer, x);
  const TdVl *off = x->on ? td_vtree_not(m, x->on) : td_vtree_const(m, 1, 0);
  *begun = td_vtree_and(m, *begun, td_vtree_or(m, td_vtree_or(m, own, x->take), off));
  *all = td_vtree_and(m, *all, td_vtree_or(m, td_vtree_or(m, flag, x->now), off));
  return true;
}

/* The latches change with the clock, and are free again where the start's stage moves on. */
static void keep_latches(TdVkUnit *k, TdVkLeaf *l, const TdVkFiring *f) {
  TdVlModule *m = k->m;
  const TdVl *one = td_vtree_const(m, 1, 1), *zero = td_vtree_const(m, 1, 0);
  if (!f->got.n || k->held) return;
  const TdVl *off = td_vtree_or(m, td_vtree_sig(m, k->rst), td_vdata_moves(k, l, f->time->at));
  for (size_t j = 0; j < f->got.n; j++) {
    const TdVkGot *x = &f->got.at[j];
    TdVkPort *p = td_vport_of(k, l, x->reach);
    TdVlDo *take = td_vtree_block(m), *none = td_vtree_block(m), *run = td_vtree_block(m);
    td_vtree_add(m, take, td_vtree_set(m, x->flag, one));
    if (x->latch) td_vtree_add(m, take, td_vtree_set(m, x->latch, td_vport_data(k, p, x->which)));
    td_vtree_add(m, run, td_vtree_if(m, x->now, take, NULL));
    td_vtree_add(m, none, td_vtree_set(m, x->flag, zero));
    if (x->begun) {
      td_vtree_add(m, run, td_vtree_if(m, x->take, td_vtree_set(m, x->begun, one), NULL));
      td_vtree_add(m, none, td_vtree_set(m, x->begun, zero));
    }
    td_vtree_always(m, td_vunit_place(k, x->reach->stmt->loc), td_vtree_if(m, off, none, run));
  }
}

/* Whether another firing starts in the same cycle of the schedule, and where it is. */
static bool has_twin(const TdVkLeaf *l, size_t n) {
  for (size_t i = 0; i < l->firing.n; i++)
    if (i != n && l->firing.at[i]->time->at == l->firing.at[n]->time->at) return true;
  return false;
}

/* What computes the puts of firing f from its start on, where a later firing may wait. */
static void add_path(TdVkUnit *k, TdVkLeaf *l, TdVkFiring *f, size_t n) {
  TdVkLeaf *p = TD_NEW(k->arena, TdVkLeaf);
  *p = (TdVkLeaf){
      .number = l->number + ((n + 1) << TD_VK_PATH), .step = l->step, .t = l->t, .frame = l->frame};
  p->name = l->name;
  p->pipe = true;
  p->ii = INT64_MAX;
  p->state = l->state;
  p->go = f->start;
  for (size_t i = 0; i < l->nest.n; i++) td_vec_push(k->arena, &p->nest, l->nest.at[i]);
  p->main = l;
  p->root = f->time->at;
  f->path = p;
}

/* Whether a node's value is there in cycle c. */
static bool is_known(const TdVkLeaf *l, uint32_t node, int64_t c) {
  const TdFlowNode *x = &l->t->flow.node.at[node];
  return td_flow_cycle(&l->t->flow, x->start) + x->stages <= c;
}

/* Whether firing f takes place in the iteration at its start: it gets or puts something. NULL:
 * always, or that is known later only. */
static bool takes_place(TdVkUnit *k, TdVkLeaf *l, const TdVkFiring *f, const TdVl **out) {
  const TdVl *any = NULL, *on;
  *out = NULL;
  for (size_t j = 0; j < f->got.n; j++) {
    if (!f->got.at[j].on) return true;
    any = td_vtree_or(k->m, any, f->got.at[j].on);
  }
  for (size_t j = 0; j < f->put.n; j++) {
    const TdReach *r = f->put.at[j];
    if (!r->guard || !is_known(l, r->guard, f->time->at)) return true;
    if (!td_vtask_guard(k, l, r, f->time->at, &on)) return false;
    any = td_vtree_or(k->m, any, on);
  }
  *out = any;
  return true;
}

/* Whether a firing takes place, of guards as they are in cycle c, by which they are known. NULL:
 * always. */
static bool takes_by(TdVkUnit *k, TdVkLeaf *l, const TdVkFiring *f, int64_t c, const TdVl **out) {
  const TdVl *any = NULL, *on;
  *out = NULL;
  for (size_t j = 0; j < f->got.n + f->put.n; j++) {
    const TdReach *r = j < f->got.n ? f->got.at[j].reach : f->put.at[j - f->got.n];
    if (!td_vtask_guard(k, l, r, c, &on)) return false;
    if (!on) return true;
    any = td_vtree_or(k->m, any, on);
  }
  *out = any;
  return true;
}

/* Whether all guards of firings that put are known by the first of their starts. */
static bool are_known(const TdVkLeaf *l) {
  int64_t first = INT64_MAX;
  for (size_t i = 0; i < l->firing.n; i++)
    if (l->firing.at[i]->put.n && l->firing.at[i]->time->at < first)
      first = l->firing.at[i]->time->at;
  for (size_t i = 0; i < l->firing.n; i++) {
    const TdVkFiring *f = l->firing.at[i];
    for (size_t j = 0; j < f->got.n + f->put.n && f->put.n; j++) {
      const TdReach *r = j < f->got.n ? f->got.at[j].reach : f->put.at[j - f->got.n];
      if (r->guard && !is_known(l, r->guard, first)) return false;
    }
  }
  return true;
}

/* Of several firings that put: whether f takes place, and whether any of them does, at f's start.
 */
static bool some_take(TdVkUnit *k, TdVkLeaf *l, TdVkFiring *f) {
  const TdVl *some = NULL, *on;
  bool always = false;
  int64_t c = f->time->at;
  if (!are_known(l)) return true;
  if (!takes_by(k, l, f, c, &f->takes)) return false;
  for (size_t i = 0; i < l->firing.n; i++) {
    if (!l->firing.at[i]->put.n) continue;
    if (!takes_by(k, l, l->firing.at[i], c, &on)) return false;
    always |= !on;
    some = td_vtree_or(k->m, some, on);
  }
  f->some = always ? NULL : some;
  return true;
}

/* A register that counts results that may be under way, and what starts with one of them. */
static bool add_credit(TdVkUnit *k, TdVkLeaf *l, size_t n, const TdVl **all) {
  TdVlModule *m = k->m;
  TdVkFiring *f = l->firing.at[n];
  int64_t most = f->time->skid;
  int w = 1;
  size_t putting = 0;
  if (!l->pipe || !f->put.n || k->free) return true;
  for (size_t i = 0; i < l->firing.n; i++) putting += l->firing.at[i]->put.n > 0;
  if (putting > 1 ? !some_take(k, l, f) : !takes_place(k, l, f, &f->takes)) return false;
  if (putting == 1) f->some = f->takes;
  while (most >> w) w++;
  f->credit = td_vtree_reg(m, td_text_fmt(k->arena, "%s_f%zu_credit", l->name, n), w);
  const TdVl *none = td_vtree_const(m, w, 0);
  const TdVl *some = td_vtree_binary(m, "!=", 1, td_vtree_sig(m, f->credit), none);
  if (f->takes) some = td_vtree_or(m, some, td_vtree_not(m, f->takes));
  *all = td_vtree_and(m, *all, some);
  return true;
}

/* A wait in a pipeline of which stages share something is whole intervals: counts it, from when
 * the firing is due; returns whether it may start now. */
static const TdVl *in_phase(TdVkUnit *k, TdVkLeaf *l, const char *name, const TdVl *waits) {
  TdVlModule *m = k->m;
  int w = 1;
  while ((l->ii - 1) >> w) w++;
  TdVlSig *phase = td_vtree_reg(m, td_text_fmt(k->arena, "%s_phase", name), w);
  const TdVl *at = td_vtree_sig(m, phase), *zero = td_vtree_const(m, w, 0);
  const TdVl *last = td_vtree_binary(m, "==", 1, at, td_vtree_const(m, w, (uint64_t)l->ii - 1));
  const TdVl *next = td_vtree_binary(m, "+", w, at, td_vtree_const(m, w, 1));
  TdVlDo *count = td_vtree_set(m, phase, td_vtree_pick(m, last, zero, next));
  td_vtree_always(m, td_text_fmt(k->arena, "%s: delays are whole intervals", name),
                  td_vtree_if(m, waits, count, td_vtree_set(m, phase, zero)));
  return td_vtree_binary(m, "==", 1, at, zero);
}

/* Keeps that firing f started while others of its stage wait. */
static void keep_fired(TdVkUnit *k, TdVkLeaf *l, const TdVkFiring *f, const TdVl *here) {
  TdVlModule *m = k->m;
  const TdVl *stays = td_vtree_and(m, here, td_vtree_sig(m, l->stall));
  const TdVl *off = td_vtree_or(m, td_vtree_sig(m, k->rst), td_vtree_not(m, stays));
  TdVlDo *on = td_vtree_if(m, f->start, td_vtree_set(m, f->fired, td_vtree_const(m, 1, 1)), NULL);
  td_vtree_always(m, NULL,
                  td_vtree_if(m, off, td_vtree_set(m, f->fired, td_vtree_const(m, 1, 0)), on));
}

/* Firing number n of the leaf: when it starts; adds what holds the front to *stall. */
static bool start(TdVkUnit *k, TdVkLeaf *l, size_t n, const TdVl **stall) {
  TdVlModule *m = k->m;
  TdVkFiring *f = l->firing.at[n];
  const TdVl *here = td_vdata_there(k, l, f->time->at), *all = NULL, *begun = NULL;
  const char *name = td_text_fmt(k->arena, "%s_f%zu", l->name, n);
  for (size_t j = 0; j < f->got.n; j++)
    if (!latch(k, l, n, j, &begun, &all)) return false;
  if (!add_credit(k, l, n, &all)) return false;
  bool whole = l->pipe && l->time->shares && l->ii > 1 && all;
  const TdVl *due = started(k, l, n, f->time->at);
  all = td_vtree_and(m, all, due);
  const TdVl *fired = NULL;
  if (has_twin(l, n)) {
    f->fired = td_vtree_reg(m, td_text_fmt(k->arena, "%s_fired", name), 1);
    fired = td_vtree_sig(m, f->fired);
  }
  TdVlSig *waits = whole ? td_vtree_wire(m, td_text_fmt(k->arena, "%s_waits", name), 1) : NULL;
  if (whole) all = td_vtree_and(m, all, in_phase(k, l, name, td_vtree_sig(m, waits)));
  const TdVl *ready = all ? wire(k, name, "ready", all) : NULL;
  const TdVl *begins = td_vtree_and(m, here, ready);
  if (fired) begins = td_vtree_and(m, begins, td_vtree_not(m, fired));
  f->start = wire(k, name, "start", begins);
  for (size_t j = 0; j < f->got.n && k->held; j++)
    td_vport_of(k, l, f->got.at[j].reach)->done = f->start;
  const TdVl *over = td_vtree_or(m, f->start, fired);
  const TdVl *holds = all ? td_vtree_and(m, here, td_vtree_not(m, over)) : NULL;
  if (whole) td_vtree_assign(m, waits, td_vtree_and(m, holds, due));
  *stall = td_vtree_or(m, *stall, holds);
  if (f->fired) keep_fired(k, l, f, here);
  if (f->put.n && n + 1 < l->firing.n && f->time->latency > 0) add_path(k, l, f, n);
  keep_latches(k, l, f);
  return true;
}

TdVlNum td_vtask_got(TdVkUnit *k, TdVkLeaf *l, const TdReach *r) {
  for (size_t i = 0; i < l->firing.n; i++)
    for (size_t j = 0; j < l->firing.at[i]->got.n; j++) {
      const TdVkGot *x = &l->firing.at[i]->got.at[j];
      if (x->reach != r) continue;
      TdVkPort *p = td_vport_of(k, l, r);
      if (k->held) return td_vop_num(td_vport_data(k, p, x->which), r->array->element);
      const TdVl *v = td_vtree_pick(k->m, td_vtree_sig(k->m, x->flag), td_vtree_sig(k->m, x->latch),
                                    td_vport_data(k, p, x->which));
      return td_vop_num(v, r->array->element);
    }
  return (TdVlNum){0};
}

bool td_vtask_leaf(TdVkUnit *k, TdVkLeaf *l) {
  const TdVl *stall = NULL, *pending = NULL;
  if (!l->stall) return true;
  for (size_t i = 0; i < l->firing.n; i++)
    if (!start(k, l, i, &stall)) return false;
  td_vtree_assign(k->m, l->stall, stall ? stall : td_vtree_const(k->m, 1, 0));
  if (!td_vput_leaf(k, l, &pending)) return false;
  td_vtree_assign(k->m, l->pending, pending ? pending : td_vtree_const(k->m, 1, 0));
  return true;
}

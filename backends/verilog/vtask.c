/* vtask.c - tokens. The gets of a firing latch one by one, in order; it starts when the last one is
 * there and a credit is left; its results, latency cycles later, queue in front of a put unit,
 * which puts them one by one and gives the credit back. A firing that cannot start holds what
 * stands in the cycles up to its own (the front); what has started goes on. */
#include "backends/verilog/vunit.h"

#include <inttypes.h>

/* A wire of `name`_`what`, which is given x. */
static const TdVl *wire(TdVkUnit *k, const char *name, const char *what, const TdVl *x) {
  TdVlSig *s = td_vtree_wire(k->m, td_text_fmt(k->arena, "%s_%s", name, what), x->width);
  td_vtree_assign(k->m, s, x);
  return td_vtree_sig(k->m, s);
}

/* The elements of a token of the module's stream `sym`. */
static int64_t token_elements(const TdVkUnit *k, TdSym sym) {
  const TdParam *p = td_unit_param(k->unit, sym);
  int64_t n = 1, extent;
  const TdType *t = p ? p->type->elem : NULL;
  for (int d = 0; t && t->kind == TD_T_TENSOR && d < t->rank; d++)
    if (td_unit_value(k->unit, t->dim[d], &extent)) n *= extent;
  return n;
}

void td_vtask_find_side(TdVkUnit *k, const TdVkLeaf *l) {
  for (size_t i = 0; i < l->t->reach.n; i++) {
    const TdReach *r = &l->t->reach.at[i];
    if (r->array->kind != TD_CELL_MEMORY || r->spot != TD_TRACE_ALL) continue;
    if (r->write && !r->array->token) continue;
    const TdVkView *v = td_vstore_view(l->frame, r->array->sym);
    if (!v) td_vec_push(k->arena, &k->side, r->array->sym);
  }
}

/* The end of a stream that leaf l moves tokens at. */
static TdVkPort *port_of(TdVkUnit *k, const TdVkLeaf *l, const TdPlaced *p, bool put) {
  const TdVkView *v = td_vstore_view(l->frame, p->sym);
  TdSym sym = v ? v->stream : p->sym;
  for (size_t i = 0; i < k->port.n; i++)
    if (k->port.at[i]->sym == sym && k->port.at[i]->put == put) return k->port.at[i];
  TdVkPort *x = TD_NEW(k->arena, TdVkPort);
  *x = (TdVkPort){.sym = sym, .put = put, .width = p->width * (int)token_elements(k, sym)};
  x->name = td_vtree_name(k->m, sym->name);
  x->ready =
      td_vtree_input(k->m, td_text_fmt(k->arena, "%s_%s", x->name, put ? "room" : "valid"), 1);
  if (!put) x->data = td_vtree_input(k->m, td_text_fmt(k->arena, "%s_data", x->name), x->width);
  td_vec_push(k->arena, &k->port, x);
  return x;
}

/* What put r puts: a number, or elements of one, or of all the same, next to each other. */
static const TdVl *put_value(TdVkUnit *k, TdVkLeaf *l, const TdReach *r, int64_t c) {
  int width = port_of(k, l, r->array, true)->width, w = r->array->width;
  const TdVl *all = NULL;
  for (size_t i = 0; i < r->element.n; i++) {
    TdVlNum v = td_vdata_value(k, l, r->element.at[i], c);
    if (!v.e) return NULL;
    const TdVl *e = td_vop_fit(k->m, v, w);
    all = all ? td_vtree_cat(k->m, e, all) : e;
  }
  if (all) return all->width == width ? all : NULL;
  TdVlNum v = td_vdata_value(k, l, r->value, c);
  const TdTraceCell *cell = r->value.affine ? NULL : &l->t->cell.at[r->value.node];
  bool part =
      cell && cell->what == TD_TRACE_ACCESS && l->t->reach.at[cell->reach].spot == TD_TRACE_ALL;
  if (!v.e || v.e->width == width) return v.e;
  if (part) return NULL;
  const TdVl *one = td_vop_fit(k->m, v, w);
  for (int at = 0; at < width; at += w) all = all ? td_vtree_cat(k->m, one, all) : one;
  return all;
}

bool td_vtask_has_tokens(const TdTrace *t) {
  for (size_t i = 0; t && i < t->reach.n; i++)
    if (t->reach.at[i].array->kind != TD_CELL_MEMORY) return true;
  return false;
}

/* The firings of a leaf, as the schedule cuts them. */
static void cut(TdVkUnit *k, TdVkLeaf *l) {
  bool putting = false;
  for (size_t i = 0; i < l->t->reach.n; i++) {
    const TdReach *r = &l->t->reach.at[i];
    if (r->array->kind == TD_CELL_MEMORY) continue;
    if (!l->firing.n || (putting && !r->write)) {
      TdVkFiring *f = TD_NEW(k->arena, TdVkFiring);
      f->time = l->time && l->firing.n < l->time->nfiring ? &l->time->firing[l->firing.n] : NULL;
      td_vec_push(k->arena, &l->firing, f);
      putting = false;
    }
    TdVkFiring *f = l->firing.at[l->firing.n - 1];
    putting |= r->write;
    if (r->write)
      td_vec_push(k->arena, &f->put, r);
    else
      td_vec_push(k->arena, &f->got, ((TdVkGot){.reach = r}));
  }
}

static bool not_built(TdVkUnit *k, TdLoc loc, const char *what) {
  return td_vunit_refuse(k, "not-built", loc, "build it for the CPU, timed",
                         "Verilog of %s is not built yet", what);
}

/* What this file cannot do yet. */
static bool admit(TdVkUnit *k, const TdVkLeaf *l) {
  size_t putting = 0;
  for (size_t i = 0; i < l->firing.n; i++) {
    const TdVkFiring *f = l->firing.at[i];
    if (!f->time) return not_built(k, l->step->stmt->loc, "this order of gets and puts");
    putting += f->put.n > 0;
    for (size_t j = 0; j < f->got.n; j++)
      if (f->got.at[j].reach->beats > 1)
        return not_built(k, f->got.at[j].reach->stmt->loc, "tokens of several beats");
    for (size_t j = 0; j < f->put.n; j++)
      if (f->put.at[j]->beats > 1)
        return not_built(k, f->put.at[j]->stmt->loc, "tokens of several beats");
  }
  if (l->pipe && putting > 1)
    return not_built(k, l->step->stmt->loc, "several firings of an iteration");
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
static bool guard(TdVkUnit *k, TdVkLeaf *l, const TdReach *r, int64_t cycle, const TdVl **out) {
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

/* Whether get j of firing f may happen now: from its own cycle on to that of the start. */
static bool may_take(TdVkUnit *k, TdVkLeaf *l, const TdVkFiring *f, const TdReach *r,
                     const TdVl **may, const TdVl **on) {
  int64_t at = f->time->at, from = td_flow_cycle(&l->t->flow, l->t->flow.node.at[r->node].start);
  *may = NULL;
  for (int64_t c = from < at ? from : at; c <= at; c++) {
    if (!guard(k, l, r, c, on)) return false;
    const TdVl *now = td_vtree_and(k->m, td_vdata_there(k, l, c), *on);
    *may = td_vtree_or(k->m, *may, now);
  }
  return true;
}

/* One get: taken as soon as all before it are there or taken now. */
static bool latch(TdVkUnit *k, TdVkLeaf *l, TdVkFiring *f, size_t j, const TdVl **all) {
  TdVlModule *m = k->m;
  TdVkGot *x = &f->got.at[j];
  const TdReach *r = x->reach;
  TdVkPort *p = port_of(k, l, r->array, false);
  const TdVl *on, *may;
  if (!may_take(k, l, f, r, &may, &on)) return false;
  const char *name = td_text_fmt(k->arena, "%s_l%u", p->name, r->stmt->loc.line);
  x->flag = td_vtree_reg(m, td_text_fmt(k->arena, "%s_got", name), 1);
  x->latch = td_vtree_reg(m, td_text_fmt(k->arena, "%s_held", name), p->width);
  const TdVl *flag = td_vtree_sig(m, x->flag);
  const TdVl *take = td_vtree_and(m, may, td_vtree_not(m, flag));
  take = td_vtree_and(m, take, td_vtree_sig(m, p->ready));
  take = td_vtree_and(m, take, *all);
  for (size_t i = 0; i < j; i++)
    if (is_same(f->got.at[i].reach, r))
      take = td_vtree_and(m, take, td_vtree_not(m, f->got.at[i].take));
  x->take = wire(k, name, "take", take);
  td_vec_push(k->arena, &p->drive, ((TdVkDrive){x->take, NULL}));
  const TdVl *there = td_vtree_or(m, flag, x->take);
  if (on) there = td_vtree_or(m, there, td_vtree_not(m, on));
  *all = td_vtree_and(m, *all, there);
  return true;
}

/* The latches change with the clock, and are free again where the start's stage moves on. */
static void keep_latches(TdVkUnit *k, TdVkLeaf *l, const TdVkFiring *f) {
  TdVlModule *m = k->m;
  const TdVl *one = td_vtree_const(m, 1, 1);
  if (!f->got.n) return;
  const TdVl *off = td_vtree_or(m, td_vtree_sig(m, k->rst), td_vdata_moves(k, l, f->time->at));
  for (size_t j = 0; j < f->got.n; j++) {
    const TdVkGot *x = &f->got.at[j];
    TdVkPort *p = port_of(k, l, x->reach->array, false);
    TdVlDo *take = td_vtree_block(m);
    td_vtree_add(m, take, td_vtree_set(m, x->flag, one));
    td_vtree_add(m, take, td_vtree_set(m, x->latch, td_vtree_sig(m, p->data)));
    TdVlDo *none = td_vtree_set(m, x->flag, td_vtree_const(m, 1, 0));
    td_vtree_always(m, td_vunit_place(k, x->reach->stmt->loc),
                    td_vtree_if(m, off, none, td_vtree_if(m, x->take, take, NULL)));
  }
}

/* Whether another firing starts in the same cycle of the schedule, and where it is. */
static bool has_twin(const TdVkLeaf *l, size_t n) {
  for (size_t i = 0; i < l->firing.n; i++)
    if (i != n && l->firing.at[i]->time->at == l->firing.at[n]->time->at) return true;
  return false;
}

/* What computes the puts of firing f from its start on, where a later firing may wait. */
static void add_path(TdVkUnit *k, TdVkLeaf *l, TdVkFiring *f) {
  TdVkLeaf *p = TD_NEW(k->arena, TdVkLeaf);
  *p = (TdVkLeaf){.number = l->number, .step = l->step, .t = l->t, .frame = l->frame};
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

/* Firing number n of the leaf: when it starts; adds what holds the front to *stall. */
static bool start(TdVkUnit *k, TdVkLeaf *l, size_t n, const TdVl **stall) {
  TdVlModule *m = k->m;
  TdVkFiring *f = l->firing.at[n];
  const TdVl *here = td_vdata_there(k, l, f->time->at), *all = NULL;
  const char *name = td_text_fmt(k->arena, "%s_f%zu", l->name, n);
  for (size_t j = 0; j < f->got.n; j++)
    if (!latch(k, l, f, j, &all)) return false;
  if (l->pipe && f->put.n) {
    int64_t most = f->time->skid;
    int w = 1;
    while (most >> w) w++;
    f->credit = td_vtree_reg(m, td_text_fmt(k->arena, "%s_credit", name), w);
    const TdVl *some =
        td_vtree_binary(m, "!=", 1, td_vtree_sig(m, f->credit), td_vtree_const(m, w, 0));
    all = td_vtree_and(m, all, some);
  }
  for (size_t i = 0; i < n; i++) {
    const TdVkFiring *g = l->firing.at[i];
    if (g->time->at != f->time->at) continue;
    all = td_vtree_and(m, all, td_vtree_or(m, td_vtree_sig(m, g->fired), g->start));
  }
  const TdVl *ready = all ? wire(k, name, "ready", all) : NULL, *fired = NULL;
  const TdVl *begins = td_vtree_and(m, here, ready);
  if (has_twin(l, n)) {
    f->fired = td_vtree_reg(m, td_text_fmt(k->arena, "%s_fired", name), 1);
    fired = td_vtree_sig(m, f->fired);
    begins = td_vtree_and(m, begins, td_vtree_not(m, fired));
  }
  f->start = wire(k, name, "start", begins);
  const TdVl *over = td_vtree_or(m, f->start, fired);
  *stall = td_vtree_or(m, *stall, td_vtree_and(m, here, td_vtree_not(m, over)));
  if (f->fired) {
    const TdVl *stays = td_vtree_and(m, here, td_vtree_sig(m, l->stall));
    const TdVl *off = td_vtree_or(m, td_vtree_sig(m, k->rst), td_vtree_not(m, stays));
    TdVlDo *on = td_vtree_if(m, f->start, td_vtree_set(m, f->fired, td_vtree_const(m, 1, 1)), NULL);
    td_vtree_always(m, NULL,
                    td_vtree_if(m, off, td_vtree_set(m, f->fired, td_vtree_const(m, 1, 0)), on));
  }
  if (f->put.n && n + 1 < l->firing.n && f->time->at + f->time->latency > f->time->at)
    add_path(k, l, f);
  keep_latches(k, l, f);
  return true;
}

TdVlNum td_vtask_got(TdVkUnit *k, TdVkLeaf *l, const TdReach *r) {
  for (size_t i = 0; i < l->firing.n; i++)
    for (size_t j = 0; j < l->firing.at[i]->got.n; j++) {
      const TdVkGot *x = &l->firing.at[i]->got.at[j];
      if (x->reach != r) continue;
      TdVkPort *p = port_of(k, l, r->array, false);
      const TdVl *v = td_vtree_pick(k->m, td_vtree_sig(k->m, x->flag), td_vtree_sig(k->m, x->latch),
                                    td_vtree_sig(k->m, p->data));
      return td_vop_num(v, r->array->element);
    }
  return (TdVlNum){0};
}

/* A put unit under way: entries that wait are (guards, values), the value of put 0 lowest. */
typedef struct Unit {
  TdVkUnit *k;
  const TdVkLeaf *l;
  const TdVkFiring *f;
  const char *name;
  int cap;                   /* entries */
  int *at;                   /* place of each put's value; its guard follows it */
  const TdVl *bus, *arrives; /* what comes now */
  TdVlSig *count, **entry, **flag;
  const TdVl **now, **next; /* each put happens now: of the first entry, of the one behind it */
  const TdVl *done;
} Unit;

/* Value and condition of put j in an entry. */
static const TdVl *value_in(Unit *u, const TdVl *entry, size_t j) {
  return td_vtree_slice(u->k->m, entry, u->at[j], u->at[j + 1] - u->at[j] - 1);
}

static const TdVl *wanted_in(Unit *u, const TdVl *entry, size_t j) {
  return td_vtree_slice(u->k->m, entry, u->at[j + 1] - 1, 1);
}

static const TdVl *counts(Unit *u, const char *op, int n) {
  TdVlModule *m = u->k->m;
  return td_vtree_binary(m, op, 1, td_vtree_sig(m, u->count),
                         td_vtree_const(m, u->count->width, (uint64_t)n));
}

/* Gathers the values of a firing's puts in the cycle in which they are there. */
static bool gather(Unit *u, TdVkLeaf *l) {
  TdVkUnit *k = u->k;
  const TdVkFiring *f = u->f;
  int64_t c = f->time->at + f->time->latency;
  TdVkLeaf *path = f->path ? f->path : l;
  u->at = TD_NEWN(k->arena, int, f->put.n + 1);
  for (size_t j = 0; j < f->put.n; j++) {
    const TdReach *r = f->put.at[j];
    const TdVl *on;
    const TdVl *e = put_value(k, path, r, c);
    if (!e || !guard(k, path, r, c, &on)) return not_built(k, r->stmt->loc, "this token");
    e = td_vtree_cat(k->m, on ? on : td_vtree_const(k->m, 1, 1), e);
    u->bus = u->bus ? td_vtree_cat(k->m, e, u->bus) : e;
    u->at[j + 1] = u->bus->width;
  }
  u->bus = wire(k, u->name, "result", u->bus);
  bool at_once = l->firing.at[l->firing.n - 1] != f && !f->path;
  u->arrives = wire(k, u->name, "arrives", at_once ? f->start : td_vdata_moves(k, path, c));
  return true;
}

/* Puts of one entry, in order, from where they stand; all before them happened if `may`. */
static const TdVl *put_entry(Unit *u, const TdVl *entry, const TdVl *may, bool behind,
                             const TdVl **now) {
  TdVlModule *m = u->k->m;
  const TdVl *all = may;
  for (size_t j = 0; j < u->f->put.n; j++) {
    TdVkPort *p = port_of(u->k, u->l, u->f->put.at[j]->array, true);
    const TdVl *on = wanted_in(u, entry, j), *flag = behind ? NULL : td_vtree_sig(m, u->flag[j]);
    const TdVl *go = td_vtree_and(m, td_vtree_and(m, all, on), td_vtree_sig(m, p->ready));
    if (flag) go = td_vtree_and(m, go, td_vtree_not(m, flag));
    for (size_t i = 0; i < u->f->put.n; i++)
      if (is_same(u->f->put.at[i], u->f->put.at[j])) {
        if (behind) go = td_vtree_and(m, go, td_vtree_not(m, u->now[i]));
        if (i < j) go = td_vtree_and(m, go, td_vtree_not(m, now[i]));
      }
    now[j] = wire(u->k, u->name, behind ? "next" : "put", go);
    TdVkDrive d = {now[j], value_in(u, entry, j)};
    td_vec_push(u->k->arena, &p->drive, d);
    const TdVl *over = td_vtree_or(m, now[j], td_vtree_not(m, on));
    if (flag) over = td_vtree_or(m, over, flag);
    all = td_vtree_and(m, all, over);
  }
  return all;
}

/* Entries and flags change with the clock. */
static void keep_entries(Unit *u, const char *note) {
  TdVlModule *m = u->k->m;
  const TdVl *zero = td_vtree_const(m, 1, 0), *done = u->done;
  const TdVl *count = td_vtree_sig(m, u->count), *one = td_vtree_const(m, u->count->width, 1);
  TdVlDo *act = td_vtree_block(m), *reset = td_vtree_block(m), *run = td_vtree_block(m);
  int w = u->count->width;
  td_vtree_add(m, reset, td_vtree_set(m, u->count, td_vtree_const(m, w, 0)));
  TdVlDo *more = td_vtree_set(m, u->count, td_vtree_binary(m, "+", w, count, one));
  TdVlDo *less = td_vtree_set(m, u->count, td_vtree_binary(m, "-", w, count, one));
  const TdVl *come = td_vtree_and(m, u->arrives, td_vtree_not(m, done));
  const TdVl *go = td_vtree_and(m, done, td_vtree_not(m, u->arrives));
  td_vtree_add(m, run, td_vtree_if(m, come, more, td_vtree_if(m, go, less, NULL)));
  for (size_t j = 0; j < u->f->put.n; j++) {
    const TdVl *flag = td_vtree_or(m, td_vtree_sig(m, u->flag[j]), u->now[j]);
    const TdVl *after = u->next[j] ? u->next[j] : zero;
    td_vtree_add(m, reset, td_vtree_set(m, u->flag[j], zero));
    td_vtree_add(m, run, td_vtree_set(m, u->flag[j], td_vtree_pick(m, done, after, flag)));
  }
  for (int i = 0; i < u->cap; i++) {
    const TdVl *here = td_vtree_and(m, u->arrives, counts(u, "==", i));
    TdVlDo *take = td_vtree_set(m, u->entry[i], u->bus);
    TdVlDo *stay = td_vtree_if(m, here, take, NULL);
    if (i + 1 < u->cap) {
      const TdVl *last = td_vtree_and(m, u->arrives, counts(u, "==", i + 1));
      TdVlDo *shift = td_vtree_set(m, u->entry[i], td_vtree_sig(m, u->entry[i + 1]));
      stay = td_vtree_if(m, done, td_vtree_if(m, last, take, shift), stay);
    } else {
      const TdVl *last = td_vtree_and(m, u->arrives, counts(u, "==", i + 1));
      stay = td_vtree_if(m, td_vtree_or(m, td_vtree_and(m, done, last), here), take, NULL);
    }
    td_vtree_add(m, run, stay);
  }
  td_vtree_add(m, act, td_vtree_if(m, td_vtree_sig(m, u->k->rst), reset, run));
  td_vtree_always(m, note, act);
}

/* The put unit of firing f; *pending: something waits after this cycle. `before`: what must have
 * ended. */
static bool put_unit(TdVkUnit *k, TdVkLeaf *l, TdVkFiring *f, size_t n, const TdVl *before,
                     const TdVl **pending) {
  TdVlModule *m = k->m;
  size_t np = f->put.n;
  Unit u = {.k = k, .l = l, .f = f, .name = td_text_fmt(k->arena, "%s_f%zu", l->name, n)};
  u.cap = l->pipe ? (int)f->time->skid : 1;
  if (!gather(&u, l)) return false;
  int w = 1;
  while (u.cap >> w) w++;
  u.count = td_vtree_reg(m, td_text_fmt(k->arena, "%s_waiting", u.name), w);
  u.entry = TD_NEWN(k->arena, TdVlSig *, (size_t)u.cap);
  u.flag = TD_NEWN(k->arena, TdVlSig *, np);
  u.now = TD_NEWN(k->arena, const TdVl *, np);
  u.next = TD_NEWN(k->arena, const TdVl *, np);
  for (int i = 0; i < u.cap; i++)
    u.entry[i] = td_vtree_reg(m, td_text_fmt(k->arena, "%s_entry%d", u.name, i), u.bus->width);
  for (size_t j = 0; j < np; j++)
    u.flag[j] = td_vtree_reg(m, td_text_fmt(k->arena, "%s_done%zu", u.name, j), 1);
  const TdVl *none = counts(&u, "==", 0);
  const TdVl *head =
      wire(k, u.name, "first", td_vtree_pick(m, none, u.bus, td_vtree_sig(m, u.entry[0])));
  const TdVl *have = td_vtree_or(m, td_vtree_not(m, none), u.arrives);
  u.done =
      wire(k, u.name, "done", put_entry(&u, head, td_vtree_and(m, have, before), false, u.now));
  if (np > 1 && u.cap > 1) {
    const TdVl *one = counts(&u, "==", 1);
    const TdVl *behind = td_vtree_pick(m, one, u.bus, td_vtree_sig(m, u.entry[1]));
    const TdVl *more = td_vtree_pick(m, one, u.arrives, td_vtree_not(m, none));
    behind = wire(k, u.name, "second", behind);
    put_entry(&u, behind, wire(k, u.name, "more", td_vtree_and(m, u.done, more)), true, u.next);
  }
  keep_entries(&u,
               td_text_fmt(k->arena, "%s: put unit", td_vunit_place(k, f->put.at[0]->stmt->loc)));
  const TdVl *alone = td_vtree_pick(m, u.arrives, none, counts(&u, "==", 1));
  const TdVl *last = td_vtree_and(m, u.done, alone);
  *pending = td_vtree_or(m, *pending, td_vtree_and(m, have, td_vtree_not(m, last)));
  f->done = u.done;
  if (f->credit) {
    const TdVl *credit = td_vtree_sig(m, f->credit), *unit = td_vtree_const(m, f->credit->width, 1);
    TdVlDo *full =
        td_vtree_set(m, f->credit, td_vtree_const(m, f->credit->width, (uint64_t)f->time->skid));
    TdVlDo *less = td_vtree_set(m, f->credit, td_vtree_binary(m, "-", credit->width, credit, unit));
    TdVlDo *more = td_vtree_set(m, f->credit, td_vtree_binary(m, "+", credit->width, credit, unit));
    const TdVl *begin = td_vtree_and(m, f->start, td_vtree_not(m, u.done));
    const TdVl *end = td_vtree_and(m, u.done, td_vtree_not(m, f->start));
    TdVlDo *act = td_vtree_if(m, begin, less, td_vtree_if(m, end, more, NULL));
    td_vtree_always(m, td_text_fmt(k->arena, "%s: results that may be under way", u.name),
                    td_vtree_if(m, td_vtree_sig(m, k->rst), full, act));
  }
  return true;
}

/* Whether firing f of a block ended in this execution of it: then later ones may put. */
static const TdVl *ended(TdVkUnit *k, TdVkLeaf *l, const TdVkFiring *f, size_t n) {
  TdVlModule *m = k->m;
  TdVlSig *s = td_vtree_reg(m, td_text_fmt(k->arena, "%s_f%zu_ended", l->name, n), 1);
  const TdVl *first = td_vdata_there(k, l, 0), *rst = td_vtree_sig(m, k->rst);
  const TdVl *state = td_vdata_state(k, l);
  const TdVl *off = td_vtree_or(m, rst, td_vtree_not(m, state));
  (void)first;
  TdVlDo *on = td_vtree_if(m, f->done, td_vtree_set(m, s, td_vtree_const(m, 1, 1)), NULL);
  td_vtree_always(m, NULL, td_vtree_if(m, off, td_vtree_set(m, s, td_vtree_const(m, 1, 0)), on));
  return td_vtree_or(m, td_vtree_sig(m, s), f->done);
}

bool td_vtask_leaf(TdVkUnit *k, TdVkLeaf *l) {
  const TdVl *stall = NULL, *pending = NULL, *before = NULL;
  if (!l->stall) return true;
  for (size_t i = 0; i < l->firing.n; i++)
    if (!start(k, l, i, &stall)) return false;
  td_vtree_assign(k->m, l->stall, stall ? stall : td_vtree_const(k->m, 1, 0));
  for (size_t i = 0; i < l->firing.n; i++) {
    TdVkFiring *f = l->firing.at[i];
    if (!f->put.n) continue;
    if (!put_unit(k, l, f, i, before, &pending)) return false;
    bool more = false;
    for (size_t j = i + 1; j < l->firing.n; j++) more |= l->firing.at[j]->put.n > 0;
    if (more) before = ended(k, l, f, i);
  }
  td_vtree_assign(k->m, l->pending, pending ? pending : td_vtree_const(k->m, 1, 0));
  return true;
}

void td_vtask_finish(TdVkUnit *k) {
  TdVlModule *m = k->m;
  for (size_t i = 0; i < k->port.n; i++) {
    const TdVkPort *p = k->port.at[i];
    const TdVl *on = NULL, *data = NULL;
    for (size_t j = p->drive.n; j-- > 0;) {
      const TdVkDrive *d = &p->drive.at[j];
      on = td_vtree_or(m, on, d->on);
      if (p->put) data = data ? td_vtree_pick(m, d->on, d->data, data) : d->data;
    }
    const char *what = p->put ? "put" : "take";
    TdVlSig *out = td_vtree_output(m, td_text_fmt(k->arena, "%s_%s", p->name, what), 1);
    td_vtree_assign(m, out, on);
    if (!p->put) continue;
    out = td_vtree_output(m, td_text_fmt(k->arena, "%s_data", p->name), p->width);
    td_vtree_assign(m, out, data);
  }
}

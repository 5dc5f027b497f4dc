/* traffic.c - the instances of a design, one by one, and those of the designs that they call. */
#include "analysis/net/traffic.h"

#include "analysis/net/abstract_run.h"

enum { MOST_CHANNELS = 1 << 24, MOST_INSTANCES = 1 << 22 };

/* Ends the walk because the net cannot be had; `why` is kept. */
static bool give_up(TdFollow *f, const char *why) {
  f->net->open = why;
  f->stop = true;
  return false;
}

/* The extents of a port, and how many streams it is. */
static int64_t shape_of(const TdType *port, TdWire *w) {
  int64_t n = 1;
  w->rank = port->rank;
  for (int d = port->rank - 1; d >= 0; d--) {
    td_type_extent(port, d, &w->extent[d]);
    w->stride[d] = n;
    n = td_span_times(n, w->extent[d]);
  }
  return n;
}

/* The number of a line; streams of one declaration share it. */
static uint32_t line_of(TdTraffic *n, TdLine line) {
  for (size_t i = 0; i < n->line.n; i++)
    if (n->line.at[i].sym == line.sym) return (uint32_t)i;
  td_vec_push(n->arena, &n->line, line);
  return (uint32_t)n->line.n - 1;
}

/* Makes the streams of one declaration of unit u in group g. */
static bool add_streams(TdFollow *f, const TdUnit *u, uint32_t g, TdLine line,
                        const TdExpr *depth) {
  TdTraffic *n = f->net;
  line.type = td_unit_type(f->session, u, line.type);
  if (!line.type || (depth && !td_unit_value(u, depth, &line.depth)))
    return give_up(f, "a size of a stream has no value");
  TdWire w = {.chan = (uint32_t)n->chan.n};
  int64_t count = shape_of(line.type, &w);
  if (count > MOST_CHANNELS - (int64_t)n->chan.n) return give_up(f, "there are too many streams");
  uint32_t l = line_of(n, line);
  for (int64_t i = 0; i < count; i++)
    td_vec_push(n->arena, &n->chan, ((TdChan){.line = l, .group = g, .ordinal = i}));
  f->known[line.sym->id].wire = w;
  return true;
}

/* The extents of a run's map. */
static bool map_of(TdFollow *f, const TdUnit *u, const TdRun *r, int64_t *extent, int64_t *count) {
  *count = 1;
  for (int d = 0; d < r->rank; d++) {
    if (!td_unit_value(u, r->map[d], &extent[d])) return give_up(f, "a size of a map has no value");
    *count = td_span_times(*count, extent[d]);
  }
  bool room = *count <= MOST_INSTANCES - (int64_t)f->net->inst.n;
  return room || give_up(f, "there are too many instances");
}

/* Adds the instances of a run, not yet followed. */
static bool add_instances(TdFollow *f, const TdUnit *u, const TdRun *r, uint32_t g) {
  int64_t extent[TD_MAX_RANK], count;
  const TdUnit *k = td_prog_unit(f->net->prog, r->unit);
  if (!map_of(f, u, r, extent, &count)) return false;
  if (!k || k->kind != TD_UNIT_KERNEL) return give_up(f, "a task has no kernel");
  for (int64_t i = 0; i < count; i++) {
    TdInst x = {.run = r, .kernel = k, .group = g, .rank = r->rank};
    int64_t rest = i;
    for (int d = r->rank - 1; d >= 0; rest /= extent[d], d--) x.id[d] = rest % extent[d];
    td_vec_push(f->net->arena, &f->net->inst, x);
  }
  return true;
}

/* Follows an instance whose design's parameters and streams are known. */
static bool follow_instance(TdFollow *f, uint32_t inst) {
  const TdInst x = f->net->inst.at[inst];
  const TdMove *move = td_token_trace_nothing(&f->net->moves);
  f->inst = inst;
  if (td_abstract_run_moves(f, x.kernel)) {
    for (size_t i = 0; i < x.run->nbind; i++)
      f->known[x.run->bind[i].param->id] = f->known[x.run->bind[i].arg->id];
    size_t skip = x.rank > x.kernel->ncoord ? x.rank - x.kernel->ncoord : 0;
    for (size_t i = 0; i < x.kernel->ncoord && i + skip < x.rank; i++)
      f->known[x.kernel->coord[i]->id].value = td_span_const(x.id[i + skip]);
    move = td_abstract_run_body(f, x.kernel);
  }
  f->net->inst.at[inst].move = move;
  return move != NULL;
}

/* Follows all instances of group g. */
static bool follow_group(TdFollow *f, uint32_t g) {
  const TdGroup group = f->net->group.at[g];
  uint32_t end = group.first + group.n;
  for (uint32_t i = group.first; i < end; i++) {
    const TdRun *r = f->net->inst.at[i].run;
    if (i == group.first || r != f->net->inst.at[i - 1].run) {
      f->first = i;
      for (f->of = 0; i + f->of < end && f->net->inst.at[i + f->of].run == r;) f->of++;
    }
    if (!follow_instance(f, i)) return false;
  }
  return true;
}

uint32_t td_traffic_start(TdFollow *f, const TdUnit *u, const TdStmt *s) {
  TdTraffic *n = f->net;
  const uint32_t inst = f->inst, first = f->first, of = f->of;
  uint32_t g = (uint32_t)n->group.n;
  TdGroup group = {
      .design = u, .caller = s ? f->inst : TD_TRAFFIC_NONE, .first = (uint32_t)n->inst.n};
  bool ok = true;
  td_vec_push(n->arena, &n->group, group);
  for (size_t i = 0; i < u->nstream && ok; i++) {
    const TdStream *z = &u->stream[i];
    TdLine line = {.sym = z->sym, .loc = z->loc, .type = z->type};
    ok = add_streams(f, u, g, line, z->depth);
  }
  for (size_t r = 0; r < u->nrun && ok; r++) ok = add_instances(f, u, &u->run[r], g);
  n->group.at[g].n = (uint32_t)n->inst.n - group.first;
  ok = ok && follow_group(f, g);
  f->inst = inst, f->first = first, f->of = of;
  return ok ? g : TD_TRAFFIC_NONE;
}

uint32_t td_traffic_seat(const TdMeet *m, uint32_t inst) {
  uint32_t lo = 0, hi = m->n;
  while (lo < hi) {
    uint32_t mid = lo + (hi - lo) / 2;
    if (m->inst[mid] < inst)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo < m->n && m->inst[lo] == inst ? lo : m->n;
}

/* The meetings of an allreduce among the instances of a run: places are numbered row-major by the
 * axes that it does not combine over. */
typedef struct Tables {
  TdMap of; /* first instance of the run -> its table: meeting + 1 by place */
} Tables;

/* The extents of the run under way, of which all instances are known. */
static void extents_of(const TdFollow *f, int64_t *extent) {
  const TdInst *last = &f->net->inst.at[f->first + f->of - 1];
  for (int d = 0; d < last->rank; d++) extent[d] = last->id[d] + 1;
}

/* The place of f's instance among these axes (`in`), or among all others, and how many there are.
 */
static int64_t place_among(const TdFollow *f, const int64_t *extent, uint32_t axes, bool in,
                           int64_t *count) {
  const TdInst *me = &f->net->inst.at[f->inst];
  int64_t place = 0;
  *count = 1;
  for (int d = 0; d < me->rank; d++) {
    if ((axes >> d & 1) != in) continue;
    place = place * extent[d] + me->id[d];
    *count *= extent[d];
  }
  return place;
}

/* Adds the meeting of f's instance with those that differ from it in these axes only. */
static uint32_t add_meeting(TdFollow *f, const TdExpr *e, const int64_t *extent, uint32_t axes) {
  TdTraffic *n = f->net;
  const TdInst *me = &n->inst.at[f->inst];
  int64_t count;
  place_among(f, extent, axes, true, &count);
  uint32_t *all = TD_NEWN(n->arena, uint32_t, count);
  for (int64_t i = 0; i < count; i++) {
    int64_t rest = i, step = 1, at = f->first;
    for (int d = me->rank - 1; d >= 0; step *= extent[d], d--) {
      bool in = axes >> d & 1;
      at += step * (in ? rest % extent[d] : me->id[d]);
      if (in) rest /= extent[d];
    }
    all[i] = (uint32_t)at;
  }
  td_vec_push(n->arena, &n->meet, ((TdMeet){e, (uint32_t)count, all}));
  return (uint32_t)n->meet.n - 1;
}

/* Whether meeting number - 1 is that of f's instance: others stand there once moves were taken back
 * and followed otherwise. */
static bool is_meeting(const TdFollow *f, const TdExpr *e, uint32_t number) {
  const TdTraffic *n = f->net;
  if (!number || number > n->meet.n || n->meet.at[number - 1].expr != e) return false;
  return td_traffic_seat(&n->meet.at[number - 1], f->inst) < n->meet.at[number - 1].n;
}

uint32_t td_traffic_meet(TdFollow *f, const TdExpr *e) {
  TdArena *a = f->net->arena;
  uint32_t axes = e->axis ? e->axis : UINT32_MAX;
  int64_t extent[TD_MAX_RANK], count;
  extents_of(f, extent);
  int64_t place = place_among(f, extent, axes, false, &count);
  Tables *t = td_map_getp(&f->tables, e);
  uint64_t word = 0;
  if (!t) td_map_putp(a, &f->tables, e, t = TD_NEW(a, Tables));
  td_map_get(&t->of, f->first, &word);
  uint32_t *table = (uint32_t *)(uintptr_t)word;
  if (!table) {
    table = TD_NEWN(a, uint32_t, count);
    td_map_put(a, &t->of, f->first, (uint64_t)(uintptr_t)table);
  }
  if (!is_meeting(f, e, table[place])) table[place] = add_meeting(f, e, extent, axes) + 1;
  return table[place] - 1;
}

static bool is_not_allreduce(void *ud, const TdExpr *e) {
  (void)ud;
  return e->kind != TD_EXPR_TENSOR || e->op != TD_OP_ALLREDUCE;
}

/* Whether some statement of p holds an allreduce. */
static bool has_meetings(const TdProg *p) {
  for (size_t i = 0; i < p->nunit; i++)
    if (p->unit[i]->body &&
        !td_walk_exprs(p->store->session->ctx, p->unit[i]->body, is_not_allreduce, NULL))
      return true;
  return false;
}

TdTraffic *td_traffic_of(TdArena *a, const TdProg *p, TdDiag *d) {
  const TdUnit *u = td_prog_root(p);
  TdTraffic *n = TD_NEW(a, TdTraffic);
  *n = (TdTraffic){.arena = a, .prog = p, .moves = {.arena = a}};
  TdFollow f = {.net = n, .session = p->store->session, .diag = d, .meets = has_meetings(p)};
  f.known = TD_NEWN(a, TdKnown, p->store->next_sym + 1);
  bool ok = true;
  for (size_t i = 0; i < u->nparam && ok; i++) {
    TdLine line = {.sym = u->param[i].sym, .loc = u->param[i].loc, .type = u->param[i].type};
    line.outside = true;
    line.depth = 1;
    f.known[line.sym->id].value = td_span_data(td_type_scalar(line.type));
    if (line.type->kind == TD_T_PORT) ok = add_streams(&f, u, 0, line, NULL);
  }
  if (ok) td_traffic_start(&f, u, NULL);
  return td_diag_failed(d) ? NULL : n;
}

/* The events that put to a channel, or get from it. */
typedef struct Events {
  const TdTraffic *net;
  uint32_t chan;
  bool put;
  TdArena *arena; /* NULL: the first will do */
  const TdStmt *first;
  TdNetStmts all;
} Events;

static void add_event(Events *q, const TdStmt *s) {
  if (!q->first) q->first = s;
  for (size_t i = 0; i < q->all.n; i++)
    if (q->all.at[i] == s) return;
  if (q->arena) td_vec_push(q->arena, &q->all, s);
}

/* Adds the events of x and below. */
static void find_events(Events *q, const TdMove *x) {
  const TdCount *k = td_token_trace_count(x, q->chan);
  if (!k || !(q->put ? k->put.hi : k->get.hi) || (q->first && !q->arena)) return;
  if (x->kind < TD_MOVE_FORK) add_event(q, x->stmt);
  for (uint32_t i = 0; i < x->n; i++) find_events(q, x->kid[i]);
  const TdGroup *g = x->kind == TD_MOVE_FORK ? &q->net->group.at[x->at] : NULL;
  for (uint32_t i = 0; g && i < g->n; i++) find_events(q, q->net->inst.at[g->first + i].move);
}

const TdStmt *td_traffic_stmt(const TdTraffic *n, uint32_t inst, uint32_t chan, bool put) {
  Events q = {.net = n, .chan = chan, .put = put};
  find_events(&q, n->inst.at[inst].move);
  return q.first;
}

TdNetStmts td_traffic_stmts(TdArena *a, const TdTraffic *n, uint32_t inst, uint32_t chan,
                            bool put) {
  Events q = {.net = n, .chan = chan, .put = put, .arena = a};
  find_events(&q, n->inst.at[inst].move);
  return q.all;
}

/* Writes the indices of place `ordinal` of an array of streams. */
static void put_indices(TdText *t, const TdType *port, int64_t ordinal) {
  TdWire w = {0};
  shape_of(port, &w);
  for (int d = 0; d < w.rank; d++)
    td_text_putf(t, "[%lld]", (long long)(ordinal / w.stride[d] % w.extent[d]));
}

static void put_inst(TdText *t, const TdTraffic *n, uint32_t inst) {
  const TdInst *x = &n->inst.at[inst];
  uint32_t caller = n->group.at[x->group].caller;
  if (caller != TD_TRAFFIC_NONE) {
    put_inst(t, n, caller);
    td_text_putc(t, ':');
  }
  td_text_puts(t, x->run->sym->name);
  for (int d = 0; d < x->rank; d++) td_text_putf(t, "[%lld]", (long long)x->id[d]);
}

const char *td_traffic_inst_name(TdArena *a, const TdTraffic *n, uint32_t inst) {
  TdText t = td_text_new(a);
  put_inst(&t, n, inst);
  return td_text_str(&t);
}

const char *td_traffic_chan_name(TdArena *a, const TdTraffic *n, uint32_t chan) {
  const TdLine *l = &n->line.at[n->chan.at[chan].line];
  TdText t = td_text_new(a);
  td_text_puts(&t, l->sym->name);
  put_indices(&t, l->type, n->chan.at[chan].ordinal);
  return td_text_str(&t);
}

/* stp_run.c - a run: machines made of a graph, driven until nothing goes on; what they did. */
#include <string.h>

#include "step/stp_finger.h"
#include "step/stp_metric.h"

/* From the last thing that an operator does to the end: its channels and the memory close. */
enum { LAST_CYCLES = 2 };

TdStpOptions td_stp_run_defaults(void) {
  return (TdStpOptions){.depth = 2, .pmu = 64, .memory = td_offchip_of(td_offchip_find("queue"))};
}

/* ---- making machines ---- */

/* How the outputs of nodes become channels. */
typedef struct Plan {
  TdStpRun *r;
  uint32_t **reads;   /* by uid and output: how many read it */
  uint32_t **machine; /* by uid and output: what gives it, and from which port it is read next */
  uint32_t *first;    /* by uid: the node's machine */
  bool *fused;        /* by uid: a zip that its only reader takes apart */
} Plan;

static uint32_t new_machine(TdStpRun *r, const TdStpNode *n, uint32_t nin, uint32_t nout) {
  uint32_t id = r->nmachine++;
  TdStpMachine *m = &r->machine[id];
  m->n = n;
  m->id = id;
  m->nin = nin;
  m->nout = nout;
  m->begin = -1;
  m->in = TD_NEWN(r->arena, uint32_t, nin + 1);
  m->port = TD_NEWN(r->arena, TdStpPort, nout + 1);
  for (uint32_t p = 0; p < nout; p++) m->port[p].chan = UINT32_MAX;
  return id;
}

/* A channel from port p of one machine to input i of another. */
static void join(TdStpRun *r, uint32_t from, uint32_t p, uint32_t to, uint32_t i, int64_t depth) {
  TdStpChan *c = &r->chan[r->nchan];
  c->from = from;
  c->to = to;
  c->depth = depth;
  r->machine[from].port[p].chan = r->nchan;
  r->machine[to].in[i] = r->nchan++;
}

static bool takes_parts(TdStpOp op) {
  return op == TD_STP_MAP || op == TD_STP_ACCUM || op == TD_STP_MAP_ACCUM || op == TD_STP_SCAN ||
         op == TD_STP_FLAT_MAP || op == TD_STP_ZIP;
}

/* The streams that node n reads, a fused zip's in place of its own. */
static void inputs_of(Plan *p, const TdStpNode *n, TdStpRef *out, uint32_t *count) {
  for (size_t i = 0; i < n->nin; i++) {
    TdStpRef s = td_stp_graph_source(p->r->g, n->in[i]);
    if (p->fused[s.uid])
      inputs_of(p, td_stp_graph_node(p->r->g, s.uid), out, count);
    else
      out[(*count)++] = s;
  }
}

static bool is_alias(const TdStpNode *n) {
  return n->op == TD_STP_ASSUME_SHAPE || n->op == TD_STP_FEEDBACK;
}

/* Counts the readers of every stream, then finds the zips that one operator takes apart. */
static void count_readers(Plan *p) {
  const TdStpGraph *g = p->r->g;
  for (size_t i = 0; i < g->node.n; i++) {
    const TdStpNode *n = g->node.at[i];
    for (size_t k = 0; !is_alias(n) && k < n->nin; k++) {
      TdStpRef s = td_stp_graph_source(g, n->in[k]);
      p->reads[s.uid][s.out]++;
    }
  }
  for (size_t i = 0; i < g->output.n; i++) {
    TdStpRef s = td_stp_graph_source(g, g->output.at[i]);
    if (td_stp_graph_node(g, s.uid)->op == TD_STP_ZIP) p->reads[s.uid][s.out] += 2;
  }
  for (size_t i = 0; i < g->node.n; i++) {
    const TdStpNode *n = g->node.at[i];
    if (!takes_parts(n->op)) continue;
    for (size_t k = 0; k < n->nin; k++) {
      TdStpRef s = td_stp_graph_source(g, n->in[k]);
      const TdStpNode *from = td_stp_graph_node(g, s.uid);
      if (from->op == TD_STP_ZIP && p->reads[s.uid][0] == 1) p->fused[s.uid] = true;
    }
  }
}

static void (*const steps[])(TdStpRun *, TdStpMachine *) = {
    [TD_STP_LOAD] = td_stp_exec_load,
    [TD_STP_LOAD_AT] = td_stp_exec_load,
    [TD_STP_STORE] = td_stp_exec_store,
    [TD_STP_STORE_AT] = td_stp_exec_store_at,
    [TD_STP_SELECTORS] = td_stp_exec_selectors,
    [TD_STP_VALUES] = td_stp_exec_values,
    [TD_STP_SINK] = td_stp_exec_sink,
    [TD_STP_FEEDBACK] = NULL,
    [TD_STP_BUFFERIZE] = td_stp_exec_bufferize,
    [TD_STP_STREAMIFY] = td_stp_exec_streamify,
    [TD_STP_PARTITION] = td_stp_exec_partition,
    [TD_STP_REASSEMBLE] = td_stp_exec_reassemble,
    [TD_STP_EAGER_MERGE] = td_stp_exec_eager_merge,
    [TD_STP_PARALLELIZE] = td_stp_exec_parallelize,
    [TD_STP_ZIP] = td_stp_exec_zip,
    [TD_STP_MAP] = td_stp_exec_map,
    [TD_STP_ACCUM] = td_stp_exec_accum,
    [TD_STP_MAP_ACCUM] = td_stp_exec_accum,
    [TD_STP_SCAN] = td_stp_exec_scan,
    [TD_STP_FLAT_MAP] = td_stp_exec_flat_map,
    [TD_STP_FLATTEN] = td_stp_exec_flatten,
    [TD_STP_RESHAPE] = td_stp_exec_reshape,
    [TD_STP_PROMOTE] = td_stp_exec_promote,
    [TD_STP_EXPAND] = td_stp_exec_expand,
    [TD_STP_REP] = td_stp_exec_rep,
    [TD_STP_ASSUME_SHAPE] = NULL,
};

/* A machine for node n, with room for what its operator keeps. */
static void make_node(Plan *p, const TdStpNode *n) {
  TdStpRun *r = p->r;
  TdStpRef in[256];
  uint32_t nin = 0, most = (uint32_t)n->nin + 1;
  TdStpRef *list = n->nin < 200 ? in : TD_NEWN(r->arena, TdStpRef, n->nin + 56);
  inputs_of(p, n, list, &nin);
  uint32_t id = new_machine(r, n, nin, (uint32_t)n->nout);
  TdStpMachine *m = &r->machine[id];
  m->step = steps[n->op];
  m->is_merge = n->op == TD_STP_EAGER_MERGE;
  if (most < 16) most = 16;
  if (n->op == TD_STP_REASSEMBLE || n->op == TD_STP_FLAT_MAP) {
    m->order = TD_NEWN(r->arena, int64_t, most);
    m->arrival = TD_NEWN(r->arena, int64_t, most);
  }
  if (td_stp_ops[n->op].bytes[0] != '0') td_stp_memory_open(r, m);
  p->first[n->uid] = id;
}

/* A machine of its own for each reader of a list of selectors. */
static uint32_t generator(Plan *p, const TdStpNode *n) {
  TdStpRun *r = p->r;
  if (r->machine[p->first[n->uid]].port[0].chan == UINT32_MAX) return p->first[n->uid];
  uint32_t id = new_machine(r, n, 0, 1);
  r->machine[id].step = td_stp_exec_selectors;
  return id;
}

/* Joins the inputs of every machine, through a broadcast where a stream has several readers. */
static void join_inputs(Plan *p, const TdStpNode *n) {
  TdStpRun *r = p->r;
  TdStpMachine *m = &r->machine[p->first[n->uid]];
  TdStpRef in[256];
  uint32_t nin = 0;
  TdStpRef *list = n->nin < 200 ? in : TD_NEWN(r->arena, TdStpRef, n->nin + 56);
  inputs_of(p, n, list, &nin);
  for (uint32_t i = 0; i < nin; i++) {
    TdStpRef s = list[i];
    const TdStpNode *from = td_stp_graph_node(r->g, s.uid);
    int64_t depth = td_stp_opt(from, TD_STP_KEY_DEPTH, r->o->depth);
    uint32_t readers = p->reads[s.uid][s.out], *at = &p->machine[s.uid][s.out];
    if (readers > 1 && from->op == TD_STP_SELECTORS) {
      join(r, generator(p, from), s.out, m->id, i, depth);
      continue;
    }
    if (readers < 2) {
      join(r, p->first[s.uid], s.out, m->id, i, depth);
      continue;
    }
    if (!*at) {
      uint32_t b = new_machine(r, from, 1, 0);
      r->machine[b].step = td_stp_exec_broadcast;
      r->machine[b].port = TD_NEWN(r->arena, TdStpPort, readers);
      join(r, p->first[s.uid], s.out, b, 0, depth);
      *at = b + 1;
    }
    TdStpMachine *b = &r->machine[*at - 1];
    join(r, b->id, b->nout++, m->id, i, depth);
  }
}

/* Data that nodes begin with: fills of reshape, starts of folds. */
static void make_fixed(TdStpRun *r, TdStpMachine *m) {
  const TdStpNode *n = m->n;
  if (!n->extra.type || m->step == td_stp_exec_broadcast) return;
  int64_t rows = 0, cols = 0;
  td_type_extent(n->extra.type, 0, &rows);
  td_type_extent(n->extra.type, 1, &cols);
  m->fixed = td_stp_value_tile(r, n->extra.type->elem, rows, cols);
  TdStpRecord *x = td_stp_value(r, m->fixed);
  if (n->op == TD_STP_RESHAPE) x->vrows = 0;
  if (!x->data || !n->extra.data) return;
  if (td_stp_finger_is(r, x->elem, rows, cols)) {
    td_stp_finger_constant(r, m->fixed, n->extra.data);
    return;
  }
  size_t each = td_type_bytes(x->elem);
  int64_t index[2];
  for (index[0] = 0; index[0] < rows; index[0]++)
    for (index[1] = 0; index[1] < cols; index[1]++)
      memcpy(x->data + (size_t)(index[0] * cols + index[1]) * each,
             td_tensor_at(n->extra.data, index), each);
  if (rows == 1 && cols == 1 && td_type_is_integer(x->elem))
    x->number = (int64_t)td_num_load(x->elem, x->data);
}

/* What watches streams: outputs of the graph, assumed shapes. */
static void make_taps(Plan *p, TdStpReport *report) {
  TdStpRun *r = p->r;
  const TdStpGraph *g = r->g;
  report->output = TD_NEWN(r->arena, TdStpOutput, g->output.n + 1);
  for (size_t i = 0; i < g->output.n; i++) {
    TdStpRef s = td_stp_graph_source(g, g->output.at[i]);
    r->machine[p->first[s.uid]].port[s.out].tap = &report->output[i];
  }
  for (size_t i = 0; i < g->node.n; i++) {
    const TdStpNode *n = g->node.at[i];
    if (n->op != TD_STP_ASSUME_SHAPE) continue;
    TdStpRef s = td_stp_graph_source(g, n->in[0]);
    if (p->fused[s.uid]) continue;
    TdStpPort *port = &r->machine[p->first[s.uid]].port[s.out];
    port->assumed = n;
    port->open = TD_NEWN(r->arena, int64_t, TD_STP_RANK + 2);
  }
}

static Plan make(TdStpRun *r, TdStpReport *report) {
  const TdStpGraph *g = r->g;
  Plan p = {.r = r};
  size_t n = g->by_uid.n, ways = 1, outs = 0, ins = 0;
  p.reads = TD_NEWN(r->arena, uint32_t *, n + 1);
  p.machine = TD_NEWN(r->arena, uint32_t *, n + 1);
  p.first = TD_NEWN(r->arena, uint32_t, n + 1);
  p.fused = TD_NEWN(r->arena, bool, n + 1);
  for (size_t i = 0; i < g->node.n; i++) {
    const TdStpNode *x = g->node.at[i];
    p.reads[x->uid] = TD_NEWN(r->arena, uint32_t, x->nout + 1);
    p.machine[x->uid] = TD_NEWN(r->arena, uint32_t, x->nout + 1);
    outs += x->nout;
    ins += x->nin;
    if (x->nin > ways) ways = x->nin;
    if (x->nout > ways) ways = x->nout;
    if (x->fn.kind == TD_STP_FN_ONE_HOT && (size_t)x->fn.n > ways) ways = (size_t)x->fn.n;
  }
  count_readers(&p);
  r->machine = TD_NEWN(r->arena, TdStpMachine, g->node.n + outs + ins + 1);
  r->chan = TD_NEWN(r->arena, TdStpChan, ins + outs + 1);
  r->active = TD_NEWN(r->arena, uint32_t, g->node.n + 1);
  r->memory = r->o->memory.model->open(r->arena, &r->o->memory);
  int32_t *identity = TD_NEWN(r->arena, int32_t, ways + 2);
  for (size_t i = 0; i < ways + 2; i++) identity[i] = (int32_t)i;
  r->identity = identity;
  for (size_t i = 0; i < g->node.n; i++)
    if (!is_alias(g->node.at[i]) && !p.fused[g->node.at[i]->uid]) make_node(&p, g->node.at[i]);
  for (size_t i = 0; i < g->node.n; i++)
    if (!is_alias(g->node.at[i]) && !p.fused[g->node.at[i]->uid]) join_inputs(&p, g->node.at[i]);
  make_taps(&p, report);
  td_stp_scratch_open(r);
  for (uint32_t i = 0; i < r->nmachine; i++) make_fixed(r, &r->machine[i]);
  return p;
}

/* ---- driving ---- */

static void run_queue(TdStpRun *r) {
  while (r->qcount && !r->failed) {
    uint32_t id = r->queue[r->qhead];
    r->qhead = (r->qhead + 1) % r->nmachine;
    r->qcount--;
    TdStpMachine *m = &r->machine[id];
    m->queued = false;
    if (m->over) continue;
    m->step(r, m);
    if (r->o->most && ++r->turns > r->o->most)
      td_stp_fail(r, m, TD_LIMIT, "limit", "the run takes more than %llu turns of operators",
                  (unsigned long long)r->o->most);
    if (++r->ticks > 4096) {
      td_ctx_tick(r->ctx, r->ticks);
      r->ticks = 0;
    }
  }
}

/* The merge that waits with the earliest head, or NULL. */
static TdStpMachine *earliest_merge(TdStpRun *r, const uint32_t *merge, uint32_t n) {
  TdStpMachine *first = NULL;
  for (uint32_t i = 0; i < n; i++) {
    TdStpMachine *m = &r->machine[merge[i]];
    if (m->over || m->phase != 0 || m->why != TD_STP_BY_ARRIVAL || m->at == INT64_MAX) continue;
    if (!first || m->at < first->at) first = m;
  }
  return first;
}

static void drive(TdStpRun *r) {
  uint32_t *merge = TD_NEWN(r->arena, uint32_t, r->nmachine + 1), n = 0;
  for (uint32_t i = 0; i < r->nmachine; i++) {
    if (r->machine[i].is_merge && r->machine[i].step != td_stp_exec_broadcast) merge[n++] = i;
    td_stp_wake(r, i);
  }
  for (;;) {
    run_queue(r);
    if (r->failed) return;
    TdStpMachine *m = earliest_merge(r, merge, n);
    int64_t next = td_stp_memory_next(r), turn = td_stp_scratch_next(r);
    if (turn != INT64_MAX && turn <= next && (!m || turn < m->at)) {
      td_stp_scratch_serve(r);
    } else if (m && m->at <= next) {
      m->held = true;
      td_stp_wake(r, m->id);
    } else if (next != INT64_MAX) {
      int64_t until = m ? m->at : INT64_MAX;
      td_stp_memory_serve(r, turn < until ? turn : until);
    } else {
      return;
    }
  }
}

/* Whether all machines are done, and nothing is left over. */
static bool check_done(TdStpRun *r) {
  for (uint32_t i = 0; i < r->nchan; i++) {
    TdStpChan *c = &r->chan[i];
    const TdStpMachine *m = &r->machine[c->to];
    if (!c->count || !m->over) continue;
    td_stp_fail(r, &r->machine[c->to], TD_ILLEGAL, "step-left",
                "'%s' is done, and %u element%s left over in the stream from '%s'",
                td_stp_graph_name(r->d->arena, m->n), c->count, c->count == 1 ? " is" : "s are",
                td_stp_graph_name(r->d->arena, r->machine[c->from].n));
    return false;
  }
  for (uint32_t i = 0; i < r->nmachine; i++)
    if (!r->machine[i].over) {
      td_stp_stuck(r);
      return false;
    }
  return true;
}

/* ---- what it did ---- */

/* Values of the graph's symbols, from what passed. */
static void measure_symbols(Plan *p, TdStpReport *report) {
  TdStpRun *r = p->r;
  const TdStpGraph *g = r->g;
  int64_t *v = TD_NEWN(r->kept, int64_t, g->symbol.n + 1);
  for (size_t i = 0; i < g->symbol.n; i++) {
    const TdStpSymbol *s = &g->symbol.at[i];
    TdStpRef of = td_stp_graph_source(g, s->of);
    if (p->fused[of.uid]) continue;
    const TdStpPort *port = &r->machine[p->first[of.uid]].port[of.out];
    if (s->dim < 0) {
      v[i] = s->dim == -1 ? port->most_rows : port->most_cols;
      continue;
    }
    const int64_t *seen = port->seen;
    int ndim = td_stp_graph_stream(g, s->of)->ndim;
    int64_t lists = s->ragged || s->dim + 1 >= ndim ? 1 : seen[s->dim + 1];
    v[i] = lists ? seen[s->dim] / lists : 0;
  }
  report->symbol = v;
}

/* Symbols by name, for expressions. */
typedef struct Values {
  const TdStpGraph *g;
  const int64_t *value;
} Values;

static bool look_up(void *ud, const char *name, int64_t *v) {
  const Values *x = ud;
  for (size_t i = 0; i < x->g->symbol.n; i++)
    if (!strcmp(x->g->symbol.at[i].name, name)) {
      *v = x->value[i];
      return true;
    }
  return false;
}

/* Sums the memory of the nodes, and of those that held an element. */
static void measure_memory(Plan *p, TdStpReport *report) {
  TdStpRun *r = p->r;
  TdStpGraph *g = r->graph;
  Values values = {g, report->symbol};
  TdStpMetric o = {.as = TD_STP_AS_ARTIFACT, .bytes = r->o->bytes};
  for (size_t i = 0; i < g->node.n; i++) {
    const TdStpNode *n = g->node.at[i];
    if (is_alias(n) || p->fused[n->uid]) continue;
    const TdStpExpr *e = td_stp_metric_memory_of(g, n, o);
    int64_t v = 0;
    if (!td_stp_expr_is_const(e, &v))
      td_stp_expr_is_const(td_stp_expr_at(g->exprs, e, look_up, &values), &v);
    report->memory += v;
    if (r->machine[p->first[n->uid]].begin >= 0) report->memory_live += v;
  }
}

static void describe_tasks(TdStpRun *r, TdStpReport *report) {
  TdTimedTask *task = TD_NEWN(r->kept, TdTimedTask, r->nmachine + 1);
  size_t n = 0;
  for (uint32_t i = 0; i < r->nmachine; i++) {
    const TdStpMachine *m = &r->machine[i];
    if (m->step == td_stp_exec_broadcast) continue;
    TdTimedTask *t = &task[n++];
    t->name = td_stp_graph_name(r->kept, m->n);
    t->run = m->n->name;
    t->begin = m->begin < 0 ? 0 : m->begin;
    t->end = m->clock > t->begin ? m->clock : t->begin;
    t->busy = m->busy;
    TdTimedStall *stall = TD_NEWN(r->kept, TdTimedStall, 3);
    static const TdStall why[] = {TD_STALL_EMPTY, TD_STALL_FULL, TD_STALL_MEMORY};
    for (int k = 0; k < 3; k++) {
      if (!m->stall[k]) continue;
      uint32_t at = k == TD_STP_BY_MEMORY ? UINT32_MAX : (uint32_t)m->cause[k];
      stall[t->nstall++] = (TdTimedStall){.stream = at, .why = why[k], .cycles = m->stall[k]};
      t->stalled += m->stall[k];
    }
    t->stall = stall;
    report->flops += m->flops;
    report->useful += m->useful;
    if (m->n->has >> TD_STP_KEY_BW & 1) report->allocated += m->n->opt[TD_STP_KEY_BW];
  }
  report->timed.task = task;
  report->timed.ntask = n;
}

static void describe_streams(TdStpRun *r, TdStpReport *report) {
  TdTimedStream *s = TD_NEWN(r->kept, TdTimedStream, r->nchan + 1);
  for (uint32_t i = 0; i < r->nchan; i++) {
    const TdStpChan *c = &r->chan[i];
    s[i] = (TdTimedStream){
        .name = td_text_fmt(r->kept, "%s -> %s", td_stp_graph_name(r->kept, r->machine[c->from].n),
                            td_stp_graph_name(r->kept, r->machine[c->to].n)),
        .depth = c->depth,
        .tokens = c->put,
        .most = c->most,
        .put = td_arena_copy(r->kept, c->put_at.at, c->put_at.n * sizeof *c->put_at.at),
        .got = td_arena_copy(r->kept, c->got_at.at, c->got_at.n * sizeof *c->got_at.at),
        .nput = c->put_at.n,
        .ngot = c->got_at.n,
        .beats = 1};
  }
  report->timed.stream = s;
  report->timed.nstream = r->nchan;
}

static void describe(Plan *p, TdStpReport *report) {
  TdStpRun *r = p->r;
  int64_t end = 0;
  for (uint32_t i = 0; i < r->nmachine; i++)
    if (r->machine[i].clock > end) end = r->machine[i].clock;
  end += LAST_CYCLES;
  report->timed.design = "";
  report->timed.target = "step";
  report->timed.cycles = end;
  report->timed.kept = r->keep;
  report->moved = r->moved;
  report->traffic = r->traffic;
  measure_symbols(p, report);
  measure_memory(p, report);
  describe_tasks(r, report);
  describe_streams(r, report);
  if (report->allocated && end)
    report->timed.utilisation = (double)report->flops / ((double)end * (double)report->allocated);
}

bool td_stp_run(TdArena *a, TdArena *kept, TdStpGraph *g, const TdStpOptions *o,
                const TdStpCalls *calls, TdStpReport *report, TdDiag *d) {
  TdStpRun r = {.arena = a,
                .kept = kept,
                .ctx = td_arena_ctx(a),
                .g = g,
                .graph = g,
                .o = o,
                .calls = calls,
                .d = d};
  *report = (TdStpReport){0};
  r.keep = o->keep;
  const TdStpNode *open = td_stp_graph_open(g);
  if (open)
    return td_diag_set(d, TD_USAGE, "step-size", open->loc,
                       "the extents of %s have no values: g:at {..} gives some",
                       td_type_str(d->arena, open->tensor.type));
  td_vec_push(a, &r.val, (TdStpRecord){0});
  Plan p = make(&r, report);
  r.queue = TD_NEWN(a, uint32_t, r.nmachine + 1);
  drive(&r);
  if (r.failed || !check_done(&r)) return false;
  describe(&p, report);
  report->cell = r.cell.at;
  report->ncell = r.cell.n;
  return true;
}

/* sched_pipe.c - the initiation interval of a pipelined loop, and why it is what it is. */
#include "analysis/time/sched.h"

/* The access at a node, or NULL. */
static const TdReach *reach_at(const TdTrace *t, uint32_t node) {
  for (size_t i = 0; i < t->reach.n; i++)
    if (t->reach.at[i].node == node) return &t->reach.at[i];
  return NULL;
}

static const TdTraceOp *op_at(const TdTrace *t, uint32_t node) {
  for (size_t i = 0; i < t->op.n; i++)
    if (t->op.at[i].node == node) return &t->op.at[i];
  return NULL;
}

static const char *name_of(const TdTrace *t, const TdOperator *op) {
  if (!op->type) return op->key;
  return td_text_fmt(t->arena, "%s %s", op->key, td_type_str(t->arena, op->type));
}

/* Adds "3 add f32" to a list. */
static void put_run(TdText *out, const char *name, int64_t n) {
  if (!n) return;
  td_text_puts(out, out->n ? ", " : "");
  if (n > 1)
    td_text_putf(out, "%lld %s", (long long)n, name);
  else
    td_text_puts(out, name);
}

/* What happens on the way around a cycle, equal things next to each other counted. */
static const char *way(const TdTrace *t, const TdFlowCycle *c) {
  TdText out = td_text_new(t->arena);
  const char *last = "";
  const TdOperator *same = NULL;
  int64_t n = 0;
  for (size_t i = 0; i < c->n; i++) {
    const TdFlowNode *x = &t->flow.node.at[c->node[i]];
    if (!x->stages && !x->delay) continue;
    const TdTraceOp *op = op_at(t, c->node[i]);
    const TdReach *r = reach_at(t, c->node[i]);
    const char *name = op ? name_of(t, &op->op) : !r ? "?" : r->write ? "write" : "read";
    bool again = op && same && op->op.key == same->key && op->op.type == same->type;
    if (!again) {
      put_run(&out, last, n);
      n = 0;
    }
    n++;
    last = name;
    same = op ? &op->op : NULL;
  }
  put_run(&out, last, n);
  return td_text_str(&out);
}

/* Notes that a cycle of waiting decides. */
static void blame_cycle(TdSchedStep *step, const TdTrace *t, const TdFlowCycle *c) {
  const TdReach *r = reach_at(t, c->node[0]);
  const TdTraceOp *op = NULL;
  for (size_t i = c->n; i-- > 0 && !op;) op = op_at(t, c->node[i]);
  step->by = TD_BY_RECURRENCE;
  step->at = op ? op->stmt->loc : r && r->stmt ? r->stmt->loc : step->stmt->loc;
  step->why = td_text_fmt(t->arena, "%s of the iteration %lld before: %lld cycle%s (%s)",
                          r ? r->array->sym->name : "a value", (long long)c->distance,
                          (long long)c->cycles, c->cycles == 1 ? "" : "s", way(t, c));
}

static void blame_ports(TdSchedStep *step, const TdTrace *t, const TdReach *r, int64_t n) {
  step->by = TD_BY_PORTS;
  step->at = r->stmt ? r->stmt->loc : step->stmt->loc;
  const char *name = r->array->sym->name;
  if (r->array->kind != TD_CELL_MEMORY)
    step->why = td_text_fmt(t->arena, "%s: %lld tokens an iteration", name, (long long)n);
  else if (r->array->bytes && r->array->users > 1)
    step->why = td_text_fmt(
        t->arena, "%s: %lld elements through a port of %lld bytes a cycle, for 1 of %lld tasks",
        name, (long long)n, (long long)r->array->bytes, (long long)r->array->users);
  else if (r->array->bytes)
    step->why = td_text_fmt(t->arena, "%s: %lld elements through a port of %lld bytes a cycle",
                            name, (long long)n, (long long)r->array->bytes);
  else
    step->why =
        td_text_fmt(t->arena, "%s: %lld accesses to one bank, which has %lld port%s", name,
                    (long long)n, (long long)r->array->ports, r->array->ports == 1 ? "" : "s");
}

/* The operator that starts least often. */
static const TdTraceOp *slowest(const TdTrace *t) {
  const TdTraceOp *most = NULL;
  for (size_t i = 0; i < t->op.n; i++)
    if (!most || t->op.at[i].op.interval > most->op.interval) most = &t->op.at[i];
  return most;
}

/* Whether each node comes after one that waits for an earlier iteration (or, `up`, before one that
 * a later iteration waits for). */
static bool *along(const TdTrace *t, bool up) {
  const TdFlow *f = &t->flow;
  bool *at = TD_NEWN(t->arena, bool, f->node.n);
  for (size_t i = 0; i < f->back.n; i++) at[up ? f->back.at[i].from : f->back.at[i].to] = true;
  for (size_t k = 1; k < f->node.n; k++) {
    size_t v = up ? f->node.n - k : k;
    const TdFlowNode *x = &f->node.at[v];
    for (uint32_t i = 0; i < x->n; i++) {
      uint32_t u = f->operand.at[x->first + i];
      if (up)
        at[u] |= at[v];
      else
        at[v] |= at[u];
    }
  }
  return at;
}

/* Takes the short form of operators that recurrences lead through; returns whether there are any.
 */
static bool shorten(TdTrace *t) {
  const bool *after = along(t, false), *before = along(t, true);
  bool any = false;
  for (size_t i = 0; i < t->op.n; i++) {
    TdTraceOp *op = &t->op.at[i];
    if (!after[op->node] || !before[op->node] || op->op.pressed == op->op.stages) continue;
    t->flow.node.at[op->node].stages = op->op.pressed;
    any = true;
  }
  return any;
}

/* Notes that a unit which node v takes has no cycle left at less. */
static void blame_pool(TdSchedStep *step, const TdTrace *t, uint32_t v) {
  const TdReach *r = reach_at(t, v);
  const TdTraceOp *op = op_at(t, v);
  const TdFlowUse *u = &t->flow.use.at[t->flow.node.at[v].use];
  int64_t n = 0;
  for (size_t i = 0; i < t->flow.use.n; i++) n += t->flow.use.at[i].pool == u->pool;
  if (r) {
    blame_ports(step, t, r, n);
  } else if (op) {
    step->by = TD_BY_OPERATOR;
    step->at = op->stmt->loc;
    step->why = td_text_fmt(t->arena, "%lld of %s take turns", (long long)n, name_of(t, &op->op));
  }
}

/* Notes what keeps the interval from being less. */
static void blame(TdSchedStep *step, const TdTrace *t, const TdFlowCycle *c) {
  if (c->n)
    blame_cycle(step, t, c);
  else if (c->crowded)
    blame_pool(step, t, c->crowded);
}

void td_sched_pipe(TdSchedStep *step, TdTrace *t, int64_t trip) {
  const TdReach *busy;
  int64_t accesses, ports, ii = step->asked;
  td_trace_carry(t, trip);
  ports = td_trace_ports(t, &busy, &accesses);
  td_trace_fire(t);
  td_trace_place(t);
  td_sched_place_operators(t);
  const TdTraceOp *slow = slowest(t);
  step->by = TD_BY_ASKED;
  step->why = "as asked";
  step->at = step->stmt->loc;
  if (slow && slow->op.interval > ii) {
    ii = slow->op.interval;
    step->by = TD_BY_OPERATOR;
    step->at = slow->stmt->loc;
    step->why =
        td_text_fmt(t->arena, "%s starts every %lld cycles", name_of(t, &slow->op), (long long)ii);
  }
  if (ports > ii) {
    ii = ports;
    blame_ports(step, t, busy, accesses);
  }
  TdFlowCycle cycle = {0};
  step->ii = td_flow_settle(&t->flow, ii, &cycle);
  if (step->ii > ii && shorten(t)) step->ii = td_flow_settle(&t->flow, ii, &cycle);
  while (td_trace_hazards(t)) {
    TdFlowCycle longer;
    int64_t settled = td_flow_settle(&t->flow, step->ii, &longer);
    if (settled > step->ii) cycle = longer;
    step->ii = settled;
  }
  if (step->ii > ii) blame(step, t, &cycle);
  step->length = td_trace_length(t);
  if (step->length < 1) step->length = 1;
  if (t->target->ports && t->loads) step->before = t->target->read + td_trace_turns(t, false);
  step->around = step->before + (t->target->ports ? td_trace_turns(t, true) : 0);
  step->trace = t;
  td_sched_need(step, t);
}

const char *td_sched_drains(const TdSchedStep *inner, const TdTraceNest *nest) {
  TdTrace t = *inner->trace;
  if (t.broken.any || t.broken.always)
    return td_text_fmt(t.arena, "a 'break' leaves '%s'", inner->stmt->sym->name);
  if (t.stores)
    return td_text_fmt(t.arena, "what stays in registers is stored where '%s' ends",
                       inner->stmt->sym->name);
  for (size_t i = 0; i < t.placed.n; i++) {
    const TdPlaced *p = t.placed.at[i];
    if (p->kind != TD_CELL_MEMORY || p->fresh || !p->written) continue;
    for (uint32_t from = 0; from < p->line.n; from++)
      for (uint32_t to = 0; to < p->line.n; to++) {
        int64_t d = td_trace_distance(&t, p, from, to, nest);
        if (d && d * inner->ii < inner->length)
          return td_text_fmt(
              t.arena, "%s is used again after %lld cycle%s, the pipeline has a depth of %lld",
              p->sym->name, (long long)(d * inner->ii), d * inner->ii == 1 ? "" : "s",
              (long long)inner->length);
      }
  }
  return NULL;
}

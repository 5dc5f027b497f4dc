/* trace_hazard.c - writes after what comes before them in the program: reads, and other writes, of
 * what may be the same element. Most writes come late anyway, so waits are added only where a
 * schedule without them breaks one. */
#include "analysis/time/trace.h"

/* The cycle of an access, and the last one in which it may begin. */
static int64_t begins(const TdTrace *t, const TdReach *r) {
  return td_flow_cycle(&t->flow, t->flow.node.at[r->node].start);
}

/* Whether r takes part: an access to an element of a memory. */
static bool counts(const TdReach *r) {
  return r->array->kind == TD_CELL_MEMORY && !r->hidden && r->spot != TD_TRACE_ALL;
}

/* Whether the loop of t says that it carries no dependence on p. */
static bool is_free(const TdTrace *t, const TdPlaced *p) {
  for (size_t i = 0; i < t->loop->attrs.n; i++)
    if (t->loop->attrs.at[i].kind == TD_ATTR_DEP && t->loop->attrs.at[i].arg[0].sym == p->sym)
      return true;
  return false;
}

/* By how much dimension d of a spot moves in an iteration; *wild: nobody knows. */
static int64_t motion(const TdTrace *t, const TdSpot *s, int d, bool *wild) {
  int64_t by = 0;
  for (uint32_t i = 0; i < s->at[d].n; i++) {
    const TdColumn *c = &t->column.at[-1 - s->at[d].m[i].col];
    *wild |= c->kind == TD_COLUMN_WILD;
    if (c->kind == TD_COLUMN_STEPS) by += s->at[d].m[i].coef;
  }
  return by;
}

/* The least number of iterations, one at least, after which y may be the element that x is now; 0:
 * never. */
static int64_t distance(const TdTrace *t, const TdPlaced *p, const TdSpot *x, const TdSpot *y) {
  int64_t best = 0;
  bool wild = false;
  if (x->line != y->line) return td_trace_is_apart(t, p, x, y, true) ? 0 : 1;
  for (int d = 0; d < p->rank; d++) {
    int64_t by = motion(t, x, d, &wild), gap = x->at[d].c - y->at[d].c;
    if (wild) return 1;
    if (!by && gap) return 0;
    if (!by) continue;
    if (gap % by || gap / by < 1 || (best && best != gap / by)) return 0;
    best = gap / by;
  }
  return best ? best : 1;
}

/* Whether x and y may be one element in one iteration. */
static bool may_meet(const TdTrace *t, const TdPlaced *p, const TdReach *x, const TdReach *y) {
  const TdSpot *a = &p->spot.at[x->spot], *b = &p->spot.at[y->spot];
  return x->spot == y->spot || (a->line != b->line && !td_trace_is_apart(t, p, a, b, false));
}

/* Has write w wait for access x of `ago` iterations before, if it does not. */
static bool keep(TdTrace *t, const TdReach *x, const TdReach *w, int64_t ago) {
  if (begins(t, x) <= begins(t, w) + ago * t->flow.ii) return false;
  TdFlowWait e = {.from = x->node, .to = w->node, .distance = ago, .starts = true};
  td_vec_push(t->arena, &t->flow.back, e);
  return true;
}

/* The writes that take part, by number. */
typedef TD_VEC(size_t) Writes;
static Writes find_writes(const TdTrace *t) {
  Writes found = {0};
  for (size_t i = 0; i < t->reach.n; i++)
    if (t->reach.at[i].write && counts(&t->reach.at[i])) td_vec_push(t->arena, &found, i);
  return found;
}

/* The first cycle in which an element of p is written, or -1: none is. */
static int64_t first_write(const TdTrace *t, const Writes *writes, const TdPlaced *p) {
  int64_t first = -1;
  for (size_t i = 0; p->written && i < writes->n; i++) {
    const TdReach *r = &t->reach.at[writes->at[i]];
    if (r->array == p && (first < 0 || begins(t, r) < first)) first = begins(t, r);
  }
  return first;
}

/* The waits that writes after access number i lack. */
static bool keep_behind(TdTrace *t, const Writes *writes, size_t i, bool carried) {
  const TdReach *x = &t->reach.at[i];
  const TdPlaced *p = x->array;
  bool any = false;
  td_ctx_tick(t->session->ctx, writes->n);
  for (size_t n = 0; n < writes->n; n++) {
    size_t k = writes->at[n];
    const TdReach *w = &t->reach.at[k];
    if (w->array != p || k == i) continue;
    if (k > i && may_meet(t, p, x, w)) any |= keep(t, x, w, 0);
    int64_t ago = carried ? distance(t, p, &p->spot.at[x->spot], &p->spot.at[w->spot]) : 0;
    if (ago) any |= keep(t, x, w, ago);
  }
  return any;
}

bool td_trace_hazards(TdTrace *t) {
  Writes writes = find_writes(t);
  bool any = false;
  for (size_t i = 0; i < t->reach.n; i++) {
    const TdReach *x = &t->reach.at[i];
    if (!counts(x)) continue;
    int64_t first = first_write(t, &writes, x->array);
    bool carried = t->loop && t->flow.ii && !is_free(t, x->array);
    if (first >= 0 && begins(t, x) > first) any |= keep_behind(t, &writes, i, carried);
  }
  return any;
}

const TdStmt *td_trace_reads_at_once(const TdTrace *t) {
  for (size_t i = 0; i < t->reach.n; i++) {
    const TdReach *w = &t->reach.at[i];
    if (!w->write || w->dead || !counts(w)) continue;
    td_ctx_tick(t->session->ctx, t->reach.n);
    for (size_t k = i + 1; k < t->reach.n; k++) {
      const TdReach *r = &t->reach.at[k];
      if (r->array != w->array || r->write || r->dead || !counts(r)) continue;
      if (begins(t, r) == begins(t, w) && may_meet(t, w->array, w, r)) return r->stmt;
    }
  }
  return NULL;
}

int64_t *td_trace_latest(const TdTrace *t) {
  int64_t *latest = TD_NEWN(t->arena, int64_t, t->flow.node.n);
  Writes writes = find_writes(t);
  for (size_t v = 0; v < t->flow.node.n; v++) latest[v] = INT64_MAX;
  for (size_t i = 0; i < t->reach.n; i++) {
    const TdReach *x = &t->reach.at[i];
    if (x->write || !counts(x) || !x->array->written) continue;
    td_ctx_tick(t->session->ctx, writes.n);
    for (size_t n = 0; n < writes.n; n++) {
      size_t k = writes.at[n];
      const TdReach *w = &t->reach.at[k];
      if (w->array != x->array) continue;
      if (k < i && !t->flow.ii) continue;
      int64_t by = begins(t, w) + (k < i ? t->flow.ii : 0);
      if (by < latest[x->node]) latest[x->node] = by;
    }
  }
  return latest;
}

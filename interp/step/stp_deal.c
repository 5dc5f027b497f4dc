/* stp_deal.c - the loop that deals requests: an eager_merge of the regions' idle streams says which
 * is free, and its selectors come back as those of the next requests. */
#include "step/stp_deal.h"

static const char *named(const TdStpEdit *e, const char *name) {
  return td_names_str(e->r->g->session->names, name);
}

static TdStpNode make(const TdStpEdit *e, const TdStpNode *like, TdStpOp op, const char *name) {
  return (TdStpNode){.op = op, .name = named(e, name), .loc = like->loc, .site = like->site};
}

static void set(TdStpNode *n, TdStpKey k, int64_t v) {
  n->opt[k] = v;
  n->has |= 1u << k;
}

static TdStpRef add(TdStpEdit *e, TdStpNode n, const TdStpRef *in, size_t nin) {
  n.in = in;
  n.nin = nin;
  return (TdStpRef){td_stp_edit_add(e, UINT32_MAX, &n), 0};
}

/* A list of selectors of one index each. */
static const TdStpSelectors *list_selectors(TdArena *a, const int32_t *index, size_t n) {
  TdStpSelectors *s = TD_NEW(a, TdStpSelectors);
  uint32_t *first = TD_NEWN(a, uint32_t, n + 1);
  TdText text = td_text_new(a);
  td_text_puts(&text, "{ ");
  for (size_t i = 0; i < n; i++) {
    first[i] = (uint32_t)i;
    td_text_putf(&text, "%s{ %d }", i ? ", " : "", index[i]);
  }
  td_text_puts(&text, " }");
  first[n] = (uint32_t)n;
  s->ndim = 1;
  s->extent[0] = (int64_t)n;
  s->n = n;
  s->first = first;
  s->index = td_arena_copy(a, index, n * sizeof *index);
  s->text = td_text_str(&text);
  return s;
}

/* n selectors of `ways`: the i-th names i % cycle before `turns`, then 1. */
static TdStpRef add_list(TdStpEdit *e, const TdStpNode *like, const char *name, int64_t n,
                         int64_t turns, int64_t cycle, int64_t ways) {
  int32_t *index = TD_NEWN(e->r->arena, int32_t, n + 1);
  for (int64_t i = 0; i < n; i++) index[i] = i < turns ? (int32_t)(i % cycle) : 1;
  TdStpNode s = make(e, like, TD_STP_SELECTORS, name);
  s.sel = list_selectors(e->r->store->arena, index, (size_t)n);
  set(&s, TD_STP_KEY_N, ways);
  return add(e, s, NULL, 0);
}

TdStpRef td_stp_deal_signal(TdStpEdit *e, const TdStpNode *like, TdStpRef x, int ndim) {
  TdStpNode signal = make(e, like, TD_STP_ACCUM, "idle");
  if (ndim < 2) return x;
  signal.fn = (TdStpFn){.kind = TD_STP_FN_SIGNAL, .name = named(e, "fn.signal")};
  set(&signal, TD_STP_KEY_RANK, ndim - 1);
  return add(e, signal, &x, 1);
}

TdStpRef td_stp_deal_free(TdStpEdit *e, const TdStpNode *like, const TdStpRef *idle, int64_t n,
                          int64_t requests) {
  int64_t turns = requests < n ? requests : n;
  TdStpNode loop = make(e, like, TD_STP_FEEDBACK, "free");
  set(&loop, TD_STP_KEY_N, n);
  TdStpRef free = add(e, loop, NULL, 0);
  TdStpRef start = add_list(e, like, "start", turns, turns, n, n);
  TdStpRef whose = add_list(e, like, "whose", requests, turns, 1, 2);
  TdStpRef in[] = {start, free, whose};
  TdStpRef go = add(e, make(e, like, TD_STP_REASSEMBLE, "go_list"), in, 3);
  TdStpNode flat = make(e, like, TD_STP_FLATTEN, "go");
  flat.lo = 0, flat.hi = 1;
  go = add(e, flat, &go, 1);
  TdStpRef done = add(e, make(e, like, TD_STP_EAGER_MERGE, "done"), idle, (size_t)n);
  TdStpRef again = add_list(e, like, "again", requests, requests - turns, 1, 2);
  TdStpRef route[] = {{done.uid, 1}, again};
  TdStpNode ask = make(e, like, TD_STP_PARTITION, "ask");
  set(&ask, TD_STP_KEY_N, 2);
  TdStpRef asks = add(e, ask, route, 2);
  TdStpRef over = {asks.uid, 1};
  TdStpNode *back = td_stp_edit_node(e, free.uid);
  back->in = td_arena_copy(e->r->arena, &asks, sizeof asks);
  back->nin = 1;
  add(e, make(e, like, TD_STP_SINK, "sink"), &done, 1);
  add(e, make(e, like, TD_STP_SINK, "sink"), &over, 1);
  return go;
}

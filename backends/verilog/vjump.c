/* vjump.c - BREAK and RETURN in pipelined loops. One is met in a cycle of the schedule that is the
 * same in all iterations; those behind it, which had no effect yet (trace_carry.c), are dropped,
 * and the loop drains as if the iteration that met it were its last. */
#include "backends/verilog/vunit.h"

static bool jumps(const TdTraceLeft *x) {
  return x->any || x->always;
}

void td_vjump_open(TdVkUnit *k, TdVkLeaf *l) {
  const TdTrace *t = l->t;
  if (!jumps(&t->broken) && !jumps(&t->returned)) return;
  bool always = t->broken.always || t->returned.always;
  l->left_at = always ? 0 : td_flow_cycle(&t->flow, t->flow.node.at[t->jump].start);
  l->left = td_vtree_wire(k->m, td_text_fmt(k->arena, "%s_left", l->name), 1);
}

/* Whether an iteration meets x: in cycle c, from which on it is known. e NULL: refused. */
static TdVlNum meets(TdVkUnit *k, TdVkLeaf *l, const TdTraceLeft *x, int64_t c) {
  if (x->any) return td_vdata_value(k, l, td_trace_node(x->when), c);
  return (TdVlNum){td_vtree_const(k->m, 1, x->always), false, 0, NULL};
}

bool td_vjump_leaf(TdVkUnit *k, TdVkLeaf *l) {
  const TdTrace *t = l->t;
  const TdVl *on = NULL;
  if (!l->left) return true;
  if (!t->broken.always && !t->returned.always) {
    TdVlNum x = meets(k, l, &t->broken, l->left_at), y = meets(k, l, &t->returned, l->left_at);
    if (!x.e || !y.e) return false;
    on = td_vtree_or(k->m, x.e, y.e);
  }
  td_vtree_assign(k->m, l->left, td_vtree_and(k->m, td_vdata_moves(k, l, l->left_at), on));
  return true;
}

TdVlDo *td_vjump_act(TdVkUnit *k, const TdVkLeaf *l, size_t next) {
  TdVlModule *m = k->m;
  const TdVkState *drain = l->state + 1 < k->state.n ? &k->state.at[l->state + 1] : NULL;
  if (drain && drain->leaf != l) drain = NULL;
  int64_t rest = l->step->length - 1 + l->step->around - l->step->before;
  int64_t tick = l->left_at < rest ? l->left_at : rest - 1;
  TdVlDo *stay = td_vtree_block(m), *go = td_vtree_block(m);
  if (drain)
    td_vtree_add(
        m, stay,
        td_vtree_set(m, k->at, td_vtree_label(m, k->at_width, l->state + 2, drain->label)));
  if (k->tick) {
    td_vtree_add(
        m, stay,
        td_vtree_set(m, k->tick, td_vtree_const(m, k->tick_width, tick > 0 ? (uint64_t)tick : 0)));
    td_vtree_add(m, go, td_vtree_set(m, k->tick, td_vtree_const(m, k->tick_width, 0)));
  }
  td_vcontrol_walk(k, next, go);
  const TdVlDo *act = l->left_at < rest ? stay : go;
  if (act == go && l->pending) act = td_vtree_if(m, td_vtree_sig(m, l->pending), stay, go);
  return td_vtree_if(m, td_vtree_sig(m, l->left), act, NULL);
}

const TdVl *td_vjump_returned(TdVkUnit *k, TdVkLeaf *l) {
  TdVlModule *m = k->m;
  const TdTrace *t = l->t;
  bool last = t->returned.always && t->broken.any; /* where no BREAK comes before it */
  const TdTraceLeft *x = last ? &t->broken : &t->returned;
  int64_t c = l->left_at, known = t->jump ? t->flow.node.at[t->jump].start : 0;
  known = td_flow_cycle(&t->flow, known);
  if (known > c) c = known;
  TdVlNum v = meets(k, l, x, c);
  if (!v.e) return NULL;
  const TdVl *e = last ? td_vtree_not(m, v.e) : v.e, *here = td_vdata_moves(k, l, c);
  TdVlSig *s = td_vtree_reg(m, td_text_fmt(k->arena, "%s_returned", l->name), 1);
  td_vtree_always(m, NULL, td_vtree_if(m, here, td_vtree_set(m, s, e), NULL));
  return td_vtree_pick(m, here, e, td_vtree_sig(m, s));
}

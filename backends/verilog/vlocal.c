/* vlocal.c - arrays that an iteration makes for itself. Several iterations are under way, each with
 * its own, so such an array is no memory: what a read gives is chosen among what the writes before
 * it wrote, the last one that wrote the element. */
#include "backends/verilog/vunit.h"

bool td_vlocal_is(const TdVkLeaf *l, const TdPlaced *p) {
  return p->kind == TD_CELL_MEMORY && l->t->loop && p->fresh && !p->buffer;
}

/* Whether elements at two places are the same one, in a cycle. NULL: they are; *never: they are
 * not. */
static const TdVl *is_same(TdVkUnit *k, TdVkLeaf *l, const TdPlaced *p, const TdAff *x,
                           const TdAff *y, int64_t cycle, bool *never) {
  const TdVl *all = NULL;
  for (int d = 0; d < p->rank; d++) {
    TdAff gap = td_sys_plus(k->arena, x[d], -1, y[d]);
    bool is_signed;
    int64_t c;
    int w = td_vop_width(-p->extent[d], p->extent[d], &is_signed);
    if (td_sys_is_const(gap, &c)) {
      *never |= c != 0;
      continue;
    }
    const TdVl *bits = td_vform_bits(k, l, gap, cycle, w);
    all = td_vtree_and(k->m, all, td_vtree_binary(k->m, "==", 1, bits, td_vtree_const(k->m, w, 0)));
  }
  return all;
}

/* What write w gives the element at a place, and when it does (NULL: always). False: refused, or
 * (*never) it is another element. */
static bool written(TdVkUnit *k, TdVkLeaf *l, const TdReach *w, const TdAff *at, int64_t cycle,
                    const TdVl **value, const TdVl **on, bool *never) {
  const TdPlaced *p = w->array;
  const TdVl *same = NULL;
  bool whole = w->spot == TD_TRACE_ALL;
  *never = false;
  if (!whole) same = is_same(k, l, p, at, p->spot.at[w->spot].at, cycle, never);
  if (*never || !td_vtask_guard(k, l, w, cycle, on)) return false;
  *on = td_vtree_and(k->m, same, *on);
  TdVlNum v = whole && w->token ? td_vdata_element(k, l, w->value, p, at, cycle)
                                : td_vdata_value(k, l, w->value, cycle);
  *value = v.e ? td_vop_fit(k->m, v, p->width) : NULL;
  return v.e != NULL;
}

TdVlNum td_vlocal_read(TdVkUnit *k, TdVkLeaf *l, const TdReach *r, int64_t cycle) {
  const TdPlaced *p = r->array;
  const TdSpot *spot = &p->spot.at[r->spot];
  const TdVl *out = NULL, *value, *on;
  bool never;
  for (const TdReach *w = l->t->reach.at; w < r; w++) {
    if (w->array != p || !w->write || w->hidden) continue;
    if (w->spot != TD_TRACE_ALL && td_trace_is_apart(l->t, p, spot, &p->spot.at[w->spot], false))
      continue;
    if (written(k, l, w, spot->at, cycle, &value, &on, &never))
      out = out ? td_vtree_pick(k->m, on ? on : td_vtree_const(k->m, 1, 1), value, out) : value;
    else if (!never)
      return (TdVlNum){0};
  }
  return td_vop_num(out ? out : td_vtree_const(k->m, p->width, 0), p->element);
}

/* vbox.c - the box of an argument that an instance of a task touches: in each dimension in one bank
 * indices are a sum of ids, the same in all accesses, and a part that has a range. Where there is
 * no such sum the instance has all of the dimension. */
#include "backends/verilog/vunit.h"

/* Number of a coordinate of the module's unit, or -1. */
static int coord_of(const TdVkUnit *k, TdSym sym) {
  for (size_t i = 0; sym && i < k->unit->ncoord; i++)
    if (k->unit->coord[i] == sym) return (int)i;
  return -1;
}

/* A form without ids; by how much each of them counts in it. */
static TdAff without_ids(const TdVkUnit *k, const TdTrace *t, TdAff f, int64_t *by) {
  TdAff rest = td_sys_const(f.c);
  for (uint32_t i = 0; i < f.n; i++) {
    int at = coord_of(k, t->column.at[-1 - f.m[i].col].sym);
    if (at >= 0)
      by[at] += f.m[i].coef;
    else
      rest = td_sys_plus(k->arena, rest, f.m[i].coef, td_sys_col(k->arena, f.m[i].col));
  }
  return rest;
}

/* Widens box x by index f of dimension d; false: no box is known. */
static bool widen(const TdVkUnit *k, TdVkBox *x, const TdTrace *t, int d, TdAff f) {
  size_t n = k->unit->ncoord;
  int64_t *by = TD_NEWN(k->arena, int64_t, n + 1), lo, hi;
  if (!td_trace_range((TdTrace *)t, without_ids(k, t, f, by), &lo, &hi)) return false;
  bool first = !x->by[d];
  if (first) x->by[d] = by;
  for (size_t i = 0; i < n; i++)
    if (x->by[d][i] != by[i]) return false;
  if (first || lo < x->lo[d]) x->lo[d] = lo;
  if (first || hi > x->hi[d]) x->hi[d] = hi;
  return true;
}

/* Whether all accesses of a symbol in a trace are of known elements; widens its box by them. */
static bool add_trace(const TdVkUnit *k, TdVkBox *x, const TdTrace *t, TdSym sym) {
  for (size_t i = 0; i < t->reach.n; i++) {
    const TdReach *r = &t->reach.at[i];
    const TdPlaced *p = r->array;
    if (p->sym != sym) continue;
    if (r->spot == TD_TRACE_ALL || p->filled) return false;
    for (int d = 0; d < p->rank; d++) x->whole[d] |= !widen(k, x, t, d, p->spot.at[r->spot].at[d]);
  }
  return true;
}

TdVkBox *td_vbox_of(TdVkUnit *k, const TdPlaced *p) {
  TdVkBox *x = TD_NEW(k->arena, TdVkBox);
  bool any = false;
  if (!k->boxes || k->call.n || p->decl) return NULL;
  for (size_t i = 0; i < k->leaf.n; i++)
    if (!add_trace(k, x, k->leaf.at[i]->t, p->sym)) return NULL;
  for (int d = 0; d < p->rank; d++) {
    bool cut = p->part[d] != TD_PART_NONE && !p->registers;
    x->whole[d] |= cut || !x->by[d] || x->hi[d] - x->lo[d] + 1 >= p->extent[d];
    any |= !x->whole[d];
  }
  return any ? x : NULL;
}

TdAff td_vbox_inside(const TdVkUnit *k, const TdVkBox *x, const TdTrace *t, int d, TdAff f) {
  if (!x || x->whole[d]) return f;
  f = without_ids(k, t, f, TD_NEWN(k->arena, int64_t, k->unit->ncoord + 1));
  f.c -= x->lo[d];
  return f;
}

/* reliance.c - the symbolic indices of a run, kept by their values. */
#include "eval/reliance.h"

static TdReliance *find(const TdReliances *s, TdValue index) {
  uint64_t place;
  bool known = td_map_get(&s->place, td_map_mix(index.lo, index.hi), &place);
  return known ? &s->of.at[place - 1] : NULL;
}

void td_reliance_note(TdArena *a, TdReliances *s, TdReliance r) {
  TdReliance *was = find(s, r.index);
  if (was) {
    if (r.extent < was->extent) was->extent = r.extent;
    was->certain |= r.certain;
    return;
  }
  td_vec_push(a, &s->of, r);
  td_map_put(a, &s->place, td_map_mix(r.index.lo, r.index.hi), s->of.n);
}

const TdReliance *td_reliance_beyond(const TdReliances *second, const TdReliances *first) {
  for (size_t i = 0; i < second->of.n; i++) {
    const TdReliance *r = &second->of.at[i], *was = find(first, r->index);
    if (!was || was->extent > r->extent || was->certain < r->certain) return r;
  }
  return NULL;
}

/* reliance.c - what a run relies on, kept by kind and value. */
#include "eval/reliance.h"

static uint64_t key_of(const TdReliance *r) {
  uint64_t key = td_map_mix(r->value.lo, r->value.hi);
  return r->kind == TD_RELY_INDEX ? key : td_map_mix(key, r->kind);
}

static TdReliance *find(const TdReliances *s, const TdReliance *r) {
  uint64_t place;
  bool known = td_map_get(&s->place, key_of(r), &place);
  return known ? &s->of.at[place - 1] : NULL;
}

void td_reliance_note(TdArena *a, TdReliances *s, TdReliance r) {
  TdReliance *was = find(s, &r);
  if (was) {
    if (r.extent < was->extent) was->extent = r.extent;
    was->certain |= r.certain;
    return;
  }
  td_vec_push(a, &s->of, r);
  td_map_put(a, &s->place, key_of(&r), s->of.n);
}

const TdReliance *td_reliance_beyond(const TdReliances *second, const TdReliances *first) {
  for (size_t i = 0; i < second->of.n; i++) {
    const TdReliance *r = &second->of.at[i], *was = find(first, r);
    if (!was || was->extent > r->extent || was->certain < r->certain) return r;
  }
  return NULL;
}

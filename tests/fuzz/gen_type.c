/* gen_type.c - types, extents, names and what is in scope of a random kernel. */
#include "tests/fuzz/gen.h"

static const char *const size_name[SIZE_NAMES] = {"M", "N", "K"};

const char *const feature_text[FEATURES] = {
#define FEATURE(id, text) text,
#include "tests/fuzz/features.def"
};

/* A random scalar type; its features are noted. */
static const TdType *random_type(Gen *g) {
  TdSession *s = g->session;
  if (gen_distinct) return rng_chance(&g->rng, 60) ? td_type_float(s, 32) : td_type_int(s, 32);
  int w = 3 + rng_below(&g->rng, 20), f = 1 + rng_below(&g->rng, 5);
  switch (rng_below(&g->rng, 16)) {
  case 0: g->has[FEATURE_ODD_WIDTH] = true; return td_type_int(s, w);
  case 1: g->has[FEATURE_UNSIGNED] = true; return td_type_uint(s, 8);
  case 2: g->has[FEATURE_UNSIGNED] = g->has[FEATURE_ODD_WIDTH] = true; return td_type_uint(s, w);
  case 3: g->has[FEATURE_SATURATE] = true; return td_type_with(s, td_type_int(s, 8), true, false);
  case 4: g->has[FEATURE_FIXED] = true; return td_type_fixed(s, true, w + f, f);
  case 5: g->has[FEATURE_FIXED] = true; return td_type_fixed(s, false, w, f);
  case 6: g->has[FEATURE_F64] = true; return td_type_float(s, 64);
  case 7: g->has[FEATURE_HALF] = true; return td_type_float(s, 16);
  case 8: g->has[FEATURE_HALF] = true; return td_type_bf16(s);
  case 9:
  case 10: g->has[FEATURE_F32] = true; return td_type_float(s, 32);
  case 11: return td_type_int(s, 16);
  case 12: return td_type_int(s, 64);
  case 13: return td_type_int(s, 8);
  default: return td_type_int(s, 32);
  }
}

void gen_types(Gen *g) {
  for (int i = 0; i < GEN_TYPES; i++) {
    const TdType *t = random_type(g);
    int same = 0;
    while (g->type[same].type != t && same < i) same++;
    g->type[i] = same < i ? g->type[same] : (NamedType){td_text_fmt(g->arena, "t%d", i), t};
    if (same == i)
      td_text_line(&g->out, "local t%d = %s%s", i,
                   td_type_str(g->arena, t)[0] == 't' ? "" : "tide.", td_type_str(g->arena, t));
  }
}

NamedType gen_pick_type(Gen *g) {
  return g->type[rng_below(&g->rng, GEN_TYPES)];
}

Range gen_extent(Gen *g) {
  if (g->has_usual && rng_chance(&g->rng, 55)) return g->usual[rng_below(&g->rng, 2)];
  if (g->sized && rng_chance(&g->rng, 75)) {
    g->has[FEATURE_SYMBOLIC] = true;
    return (Range){0, rng_chance(&g->rng, 85) ? 0 : 1, rng_below(&g->rng, SIZE_NAMES)};
  }
  return (Range){0, 4 + rng_below(&g->rng, 5), -1};
}

const char *gen_extent_text(const Gen *g, Range r) {
  if (r.size < 0) return td_text_fmt(g->arena, "%lld", (long long)r.hi);
  if (!r.hi) return size_name[r.size];
  return td_text_fmt(g->arena, "%s %c %lld", size_name[r.size], r.hi < 0 ? '-' : '+',
                     (long long)(r.hi < 0 ? -r.hi : r.hi));
}

const char *gen_shape_text(const Gen *g, const Thing *t) {
  TdText text = td_text_new(g->arena);
  td_text_puts(&text, t->of.name);
  for (int d = 0; d < t->rank; d++) td_text_putf(&text, "[%s]", gen_extent_text(g, t->extent[d]));
  return td_text_str(&text);
}

const char *gen_fresh_name(Gen *g, const char *stem) {
  return td_text_fmt(g->arena, "%s%d", stem, g->names++);
}

bool gen_is_control(const Thing *t) {
  return t->name[0] == CONTROL_PREFIX;
}

bool gen_is_array(const Thing *t) {
  return t->rank > 0 && !gen_is_control(t);
}

bool gen_is_target(const Thing *t) {
  return gen_is_array(t) && t->writable;
}

bool gen_is_moved(const Thing *t) {
  return gen_is_control(t) && t->writable && t->rank;
}

bool gen_same_extents(const Range *x, const Range *y, int rank) {
  for (int d = 0; d < rank; d++)
    if (x[d].hi != y[d].hi || x[d].size != y[d].size) return false;
  return true;
}

const Thing *gen_find(Gen *g, bool (*fits)(const Thing *t)) {
  int found = 0;
  const Thing *one = NULL;
  for (int i = 0; i < g->nthing; i++)
    if (fits(&g->thing[i]) && rng_below(&g->rng, ++found) == 0) one = &g->thing[i];
  return one;
}

/* gen_wide.c - words of more than 64 bits, in local arrays: filled from narrow elements, moved,
 * cut, put together, & | ~ of them taken, and read a part at a time. */
#include "tests/fuzz/gen.h"

/* The wide word of a kernel, and one of its narrow parts. */
typedef struct Wide {
  Gen *g;
  Thing array[2];
  int bits;
  bool is_signed;
} Wide;

enum { WIDE_PART = 24 };

/* A part of a wide word: [lo, lo + n). */
static int part_of(Wide *w, int *lo) {
  int n = 1 + rng_below(&w->g->rng, WIDE_PART);
  *lo = rng_below(&w->g->rng, w->bits - n + 1);
  if (rng_chance(&w->g->rng, 25)) *lo = w->bits - n;
  return n;
}

static bool is_integer_array(const Thing *t) {
  return gen_is_array(t) && td_type_is_integer(t->of.type) && t->of.type->w <= 64;
}

/* An element of one of the wide arrays. */
static const char *wide_leaf(Wide *w) {
  return gen_place(w->g, &w->array[rng_below(&w->g->rng, 2)]);
}

/* A narrow integer of n bits. */
static const char *narrow(Wide *w, int n) {
  const Thing *t = gen_find(w->g, is_integer_array);
  const char *x = t ? gen_place(w->g, t) : "3";
  return td_text_fmt(w->g->arena, "tide.uint(%d)(%s)", n, x);
}

static const char *wide_value(Wide *w, int depth) {
  Gen *g = w->g;
  static const char *const op[] = {"&", "|", "~"};
  int lo, n, kind = depth > 0 ? rng_below(&g->rng, 10) : 0;
  if (kind < 2) return wide_leaf(w);
  const char *x = wide_value(w, depth - 1);
  if (kind < 3) return td_text_fmt(g->arena, "(~%s)", x);
  if (kind < 7)
    return td_text_fmt(g->arena, "(%s %s %s)", x, RNG_PICK(&g->rng, op), wide_value(w, depth - 1));
  if (kind < 8) return td_text_fmt(g->arena, "%s(%s)", w->array[0].of.name, narrow(w, 20));
  n = part_of(w, &lo);
  return td_text_fmt(g->arena, "tide.with_bits(%s, %d, %d, %s)", x, lo, lo + n, narrow(w, n));
}

/* One store to a wide array. */
static void put_store(Wide *w) {
  Gen *g = w->g;
  const char *to = gen_place(g, &w->array[rng_below(&g->rng, 2)]);
  td_text_line(&g->out, "%s = %s(%s)", to, w->array[0].of.name, wide_value(w, 2));
}

/* Bits of a wide word to a narrow element. */
static void put_read(Wide *w) {
  Gen *g = w->g;
  const Thing *t = gen_find(g, gen_is_target);
  int lo, n = part_of(w, &lo);
  td_text_line(&g->out, "%s = %s(tide.bits(%s, %d, %d))", gen_place(g, t), t->of.name, wide_leaf(w),
               lo, lo + n);
}

/* A loop over all of the arrays, with some statements. */
static void put_loop(Wide *w, void (*put)(Wide *w)) {
  Scope s = gen_open_scope(w->g);
  gen_open_over(w->g, w->array[0].extent[0], 0);
  put(w);
  if (rng_chance(&w->g->rng, 25)) put_store(w);
  gen_close_loops(w->g, s);
}

/* Both arrays, the second as the first or with elements of its own. */
static void declare(Wide *w) {
  Gen *g = w->g;
  const char *type = gen_fresh_name(g, "w");
  td_text_line(&g->out, "local %s = tide.%s(%d)", type, w->is_signed ? "int" : "uint", w->bits);
  for (int i = 0; i < 2; i++) {
    w->array[i] = (Thing){.name = gen_fresh_name(g, "b"), .of = {type, NULL}, .rank = 1};
    w->array[i].extent[0] = i ? w->array[0].extent[0] : gen_extent(g);
    td_text_line(&g->out, "local %s = %s(%d)", w->array[i].name, gen_shape_text(g, &w->array[i]),
                 rng_below(&g->rng, 3));
  }
}

void gen_wide(Gen *g) {
  Wide w = {.g = g, .bits = 65 + rng_below(&g->rng, 100), .is_signed = rng_chance(&g->rng, 40)};
  if (g->work > 8 || g->nloop + 1 > GEN_LOOPS) return;
  if (rng_chance(&g->rng, 30)) w.bits = 64 * (2 + rng_below(&g->rng, 15));
  declare(&w);
  for (int n = 1 + rng_below(&g->rng, 2); n > 0; n--) put_loop(&w, put_store);
  if (rng_chance(&g->rng, 30))
    td_text_line(&g->out, "%s:set(%s)", w.array[0].name, w.array[1].name);
  put_loop(&w, put_read);
  g->statements -= 3;
  g->has[FEATURE_WIDE] = true;
}

/* gen.c - a whole random kernel. */
#include "tests/fuzz/gen.h"

/* A parameter, in scope from here on. */
static void add(Gen *g, Thing t) {
  g->thing[g->nthing++] = t;
}

/* Two to four arrays, some of one shape; scalars; what control reads. */
static void make_parameters(Gen *g) {
  static const char *const array[] = {"A", "B", "C", "D"};
  int n = 2 + rng_below(&g->rng, 3);
  for (int i = 0; i < n; i++) {
    Thing t = {.name = array[i], .of = gen_pick_type(g), .rank = 1 + rng_below(&g->rng, 2)};
    if (rng_chance(&g->rng, 8)) t.rank = 3;
    for (int d = 0; d < t.rank; d++) t.extent[d] = gen_extent(g);
    if (i && rng_chance(&g->rng, 40)) {
      t = g->thing[i - 1];
      t.name = array[i];
    }
    t.writable = i == 0 || gen_distinct || rng_chance(&g->rng, 50);
    add(g, t);
  }
  if (rng_chance(&g->rng, 25)) {
    add(g, (Thing){.name = "q", .of = gen_pick_type(g)});
    g->has[FEATURE_SCALAR_PARAM] = true;
  }
  if (gen_distinct) return;
  NamedType byte = {"u8", td_type_uint(g->session, 8)};
  bool needs = g->about[ABOUT_FAULT] || g->about[ABOUT_INDEX] || g->about[ABOUT_SHARED];
  if (rng_chance(&g->rng, needs ? 80 : 25))
    add(g, (Thing){.name = "c0", .of = byte, .rank = 1, .extent = {gen_extent(g)}});
  if (rng_chance(&g->rng, 10)) add(g, (Thing){.name = "c1", .of = byte});
  if (g->about[ABOUT_MEMORY])
    add(g, (Thing){"c2", byte, .rank = 1, .extent = {gen_extent(g)}, .writable = true});
}

/* The kernels that it calls; each may call those before it. */
static void make_callees(Gen *g) {
  bool about = g->about[ABOUT_STATE] || g->about[ABOUT_INDEX] || g->about[ABOUT_SHARED];
  int n = rng_chance(&g->rng, about ? 100 : 30);
  while (n < GEN_CALLEES && n && rng_chance(&g->rng, about ? 50 : 20)) n++;
  for (int k = 0; k < n && g->ncallee < GEN_CALLEES; k++) gen_callee(g);
  if (rng_chance(&g->rng, 12)) gen_twins(g);
}

/* The kernel itself, around its body. */
static void put_kernel(Gen *g) {
  TdText names = td_text_new(g->arena);
  int n = g->nthing;
  if (g->about[ABOUT_STATE] && rng_chance(&g->rng, 50)) gen_state(g);
  td_text_line(&g->out, "local fuzzed = tide.kernel {");
  for (int i = 0; i < n; i++) {
    td_text_line(&g->out, "  %s = %s,", g->thing[i].name, gen_shape_text(g, &g->thing[i]));
    td_text_putf(&names, "%s%s", i ? ", " : "", g->thing[i].name);
  }
  td_text_line(&g->out, "  function(%s)", td_text_str(&names));
  g->out.indent = 2;
  if (g->ncallee && rng_chance(&g->rng, 60)) gen_call(g);
  if (g->has_twins) gen_twin_calls(g);
  if (rng_chance(&g->rng, 36))
    gen_stages(g);
  else
    gen_body(g, 1 + rng_below(&g->rng, 4));
  g->out.indent = 0;
  td_text_line(&g->out, "  end,");
  td_text_line(&g->out, "}");
  td_text_line(&g->out, "return fuzzed");
}

bool gen_distinct;
const char *gen_about = "", *gen_not_about = "";

const char *gen_kernel(TdSession *s, TdArena *a, Rng rng, bool *has) {
  Gen *g = TD_NEW(a, Gen);
  g->rng = rng;
  g->session = s;
  g->arena = a;
  g->out = td_text_new(a);
  g->work = 1;
  g->statements = 7;
  g->sized = rng_chance(&g->rng, 55);
  td_text_line(&g->out, "local tide = require \"tide\"");
  td_text_line(&g->out, "local u8 = tide.u8");
  td_text_line(&g->out, "local M, N, K = %d, %d, %d", LEAST_SIZE + rng_below(&g->rng, 4),
               LEAST_SIZE + rng_below(&g->rng, 4), LEAST_SIZE + rng_below(&g->rng, 4));
  for (int k = 0; k < 2; k++) g->usual[k] = gen_extent(g);
  g->has_usual = true;
  gen_draw_about(g);
  gen_types(g);
  if (g->about[ABOUT_TILES]) {
    gen_design(g);
  } else {
    make_parameters(g);
    if (!gen_distinct) make_callees(g);
    put_kernel(g);
  }
  for (int f = 0; f < FEATURES; f++) has[f] = g->has[f];
  return td_text_str(&g->out);
}

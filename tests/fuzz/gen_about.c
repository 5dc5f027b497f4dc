/* gen_about.c - what kernels are about besides the rest: control that the body moves, states,
 * callees with preconditions, parts of one array, faults, wide words. */
#include "tests/fuzz/gen.h"

#include "tests/fuzz/step.h"

/* Names of abouts, and their shares of the kernels in percent. */
static const struct {
  const char *name;
  int share;
} abouts[ABOUTS] = {{"memory", 9}, {"state", 8}, {"index", 8}, {"shared", 8},
                    {"fault", 8},  {"wide", 5},  {"tiles", 14}};

void gen_draw_about(Gen *g) {
  for (int k = 0; k < ABOUTS; k++) {
    const char *name = abouts[k].name;
    bool off = gen_distinct || step_is_listed(gen_not_about, name);
    bool drawn = rng_chance(&g->rng, abouts[k].share);
    g->about[k] = !off && (*gen_about ? step_is_listed(gen_about, name) : drawn);
  }
}

void gen_state(Gen *g) {
  if (g->nthing == GEN_THINGS) return;
  Thing t = {.name = gen_fresh_name(g, "st"), .of = gen_pick_type(g), .rank = 1, .writable = true};
  t.extent[0] = (Range){0, 1 + rng_below(&g->rng, 4), -1};
  td_text_line(&g->out, "local %s = tide.state(%s, %d)", t.name, gen_shape_text(g, &t),
               rng_below(&g->rng, 3));
  g->thing[g->nthing++] = t;
  g->has[FEATURE_STATE] = true;
}

/* ---- control that the body moves ---- */

static const char *moved_place(Gen *g) {
  return gen_place(g, gen_find(g, gen_is_moved));
}

bool gen_move(Gen *g) {
  if (!gen_find(g, gen_is_moved)) return false;
  const char *to = moved_place(g), *from = rng_chance(&g->rng, 60) ? to : moved_place(g);
  static const char *const op[] = {"+", "+", "*", "-"};
  td_text_line(&g->out, "%s = u8(%s %s %d)", to, from, RNG_PICK(&g->rng, op),
               1 + rng_below(&g->rng, 3));
  g->has[FEATURE_MOVED_CONTROL] = true;
  return true;
}

/* A loop up to `last` with a statement, after which control may move. */
static void put_loop(Gen *g, const char *last, bool moves) {
  Scope s = gen_open_scope(g);
  gen_open_to(g, last, LEAST_SIZE - 1);
  gen_statements(g, 1);
  if (moves) gen_move(g);
  gen_close_loops(g, s);
}

/* Two loops with one bound, which the first may move. */
static void put_same_bounds(Gen *g) {
  const char *last = gen_control_count(g, LEAST_SIZE - 1);
  put_loop(g, last, rng_chance(&g->rng, 60));
  if (rng_chance(&g->rng, 20)) gen_move(g);
  put_loop(g, last, rng_chance(&g->rng, 40));
}

/* A loop over loops whose bounds it moves, or between bounds that the body of the inner moves. */
static void put_moving_nest(Gen *g) {
  Scope s = gen_open_scope(g);
  Range four = {0, 2 + rng_below(&g->rng, 3), -1};
  gen_open_over(g, four, 0);
  const char *last = gen_control_count(g, LEAST_SIZE - 1), *lo = moved_place(g);
  if (rng_chance(&g->rng, 40)) {
    Scope inner = gen_open_scope(g);
    gen_open_to(g, "2", 3);
    const char *own = gen_fresh_name(g, "w");
    td_text_line(&g->out, "for %s = %s %% 3, %s %% 3 + %d do", own, lo, lo, rng_below(&g->rng, 4));
    g->loop[g->nloop++] = (LoopVar){own, {0, 5, -1}};
    g->out.indent++;
    g->work *= 4;
    gen_statements(g, 1);
    gen_move(g);
    gen_close_loops(g, inner);
  } else {
    put_loop(g, last, true);
    if (rng_chance(&g->rng, 30)) put_loop(g, last, false);
  }
  gen_close_loops(g, s);
}

/* A number that is read before control moves and used after that. */
static void put_early_read(Gen *g) {
  const char *name = gen_fresh_name(g, "n");
  const char *count = gen_control_count(g, LEAST_SIZE - 1);
  td_text_line(&g->out, "local %s = tide.index(%s)", name, count);
  if (rng_chance(&g->rng, 70)) gen_move(g);
  Scope s = gen_open_scope(g);
  g->loop[g->nloop++] = (LoopVar){name, {0, LEAST_SIZE - 2, -1}};
  if (rng_chance(&g->rng, 50)) gen_statements(g, 1);
  gen_open_to(g, rng_chance(&g->rng, 60) ? name : count, LEAST_SIZE - 1);
  gen_statements(g, 1);
  gen_move(g);
  g->out.indent--;
  td_text_line(&g->out, "end");
  gen_close_scope(g, s);
}

static void put_memory(Gen *g) {
  switch (rng_below(&g->rng, 4)) {
  case 0: put_same_bounds(g); break;
  case 1: put_early_read(g); break;
  default: put_moving_nest(g); break;
  }
}

/* ---- faults ---- */

/* Opens a loop of this name over all of an extent. */
static void open_named(Gen *g, const char *name, Range extent) {
  extent.hi--;
  td_text_line(&g->out, "for %s = 0, %s do", name, gen_extent_text(g, extent));
  g->loop[g->nloop++] = (LoopVar){name, extent};
  g->out.indent++;
  g->work *= MOST_SIZE;
}

/* A condition on a loop variable or on control. */
static const char *some_condition(Gen *g, const char *v) {
  const char *count = rng_chance(&g->rng, 50) ? gen_control_count(g, 5) : NULL;
  if (count) return td_text_fmt(g->arena, "%s ~= 0", count);
  if (rng_chance(&g->rng, 50)) return td_text_fmt(g->arena, "%s > %d", v, rng_below(&g->rng, 2));
  return td_text_fmt(g->arena, "%s %% %d ~= 1", v, 2 + rng_below(&g->rng, 2));
}

/* A local array, some elements of which are written, and read under that condition or without. */
static void put_partly_written(Gen *g) {
  if (g->nthing == GEN_THINGS || g->work > 8 || g->nloop + 1 > GEN_LOOPS) return;
  const Thing *to = gen_find(g, gen_is_target);
  Thing t = {.name = gen_fresh_name(g, "b"), .of = to->of, .rank = 1, .writable = true};
  const char *v = gen_fresh_name(g, "v"), *cond = NULL;
  t.extent[0] = gen_extent(g);
  td_text_line(&g->out, "local %s = %s()", t.name, gen_shape_text(g, &t));
  for (int reads = 0; reads < 2; reads++) {
    Scope s = gen_open_scope(g);
    open_named(g, v, t.extent[0]);
    if (!cond) cond = some_condition(g, v);
    const char *place = reads ? gen_place(g, to) : td_text_fmt(g->arena, "%s[%s]", t.name, v);
    const char *value = reads ? td_text_fmt(g->arena, "%s[%s]", t.name, v) : gen_value(g, t.of, 1);
    if (reads && rng_chance(&g->rng, 25))
      td_text_line(&g->out, "%s = %s", place, value);
    else
      td_text_line(&g->out, "if %s then %s = %s end", cond, place, value);
    gen_close_loops(g, s);
    if (!reads && rng_chance(&g->rng, 25)) gen_move(g);
  }
  g->has[FEATURE_FAULT_UNWRITTEN] = true;
  g->statements -= 2;
}

bool gen_about_phase(Gen *g) {
  int found = 0, one = -1;
  for (int k = 0; k < ABOUTS; k++)
    if (g->about[k] && rng_below(&g->rng, ++found) == 0) one = k;
  switch (one) {
  case ABOUT_MEMORY:
    if (!gen_find(g, gen_is_moved) || g->work > 20) return false;
    put_memory(g);
    return true;
  case ABOUT_STATE:
  case ABOUT_INDEX: return gen_call(g);
  case ABOUT_SHARED: return rng_chance(&g->rng, 25) ? gen_set(g) : gen_call(g);
  case ABOUT_FAULT: put_partly_written(g); return true;
  case ABOUT_WIDE: gen_wide(g); return true;
  default: return false;
  }
}

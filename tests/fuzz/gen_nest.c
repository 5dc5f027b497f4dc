/* gen_nest.c - statements that hold others: nests, while loops, and arrays that are filled and then
 * read. */
#include "tests/fuzz/gen.h"

#include <string.h>

Scope gen_open_scope(const Gen *g) {
  return (Scope){g->nthing, g->nloop, g->out.indent, g->work};
}

void gen_close_scope(Gen *g, Scope s) {
  g->nthing = s.nthing;
  g->nloop = s.nloop;
  g->out.indent = s.indent;
  g->work = s.work;
}

/* break, under a condition. */
static void put_break(Gen *g) {
  const char *cond = gen_control_condition(g);
  bool leaves = rng_chance(&g->rng, 25);
  td_text_line(&g->out, "if %s then %s end", cond, leaves ? "return" : "break");
  g->has[leaves ? FEATURE_RETURN : FEATURE_BREAK] = true;
}

/* A local array that starts filled; false when there is no room for it. */
static bool declare_array(Gen *g, Thing *t) {
  if (g->nthing == GEN_THINGS) return false;
  *t = (Thing){.name = gen_fresh_name(g, "b"), .of = gen_pick_type(g), .writable = true};
  t->rank = 1 + rng_below(&g->rng, 2);
  for (int d = 0; d < t->rank; d++) t->extent[d] = gen_extent(g);
  bool empty = g->about[ABOUT_FAULT] && rng_chance(&g->rng, 25);
  td_text_line(&g->out, "local %s = %s(%s)", t->name, gen_shape_text(g, t), empty ? "" : "0");
  g->thing[g->nthing++] = *t;
  g->has[FEATURE_FAULT_UNWRITTEN] |= empty;
  g->has[g->nloop ? FEATURE_ARRAY_LOCAL_IN_LOOP : FEATURE_ARRAY_LOCAL] = true;
  return true;
}

/* An accumulation over a loop in a scalar that is then stored. */
static void put_sum(Gen *g) {
  const Thing *t = gen_find(g, gen_is_target);
  if (g->nthing == GEN_THINGS) return;
  Thing x = {.name = gen_fresh_name(g, "s"), .of = t->of, .writable = true};
  td_text_line(&g->out, "local %s = %s(0)", x.name, x.of.name);
  g->thing[g->nthing++] = x;
  g->has[FEATURE_SCALAR_LOCAL_IN_LOOP] = true;
  Scope s = gen_open_scope(g);
  if (gen_open_loop(g)) {
    td_text_line(&g->out, "%s = %s", x.name, gen_accumulation(g, x.of, x.name));
    gen_close_scope(g, s);
    td_text_line(&g->out, "end");
  }
  td_text_line(&g->out, "%s = %s", gen_place(g, t), x.name);
  g->statements--;
}

void gen_nest(Gen *g, int depth) {
  Scope s = gen_open_scope(g);
  int was = g->nloop;
  if (!gen_open_loop(g)) {
    gen_statements(g, 1);
    return;
  }
  bool grid = g->nloop > was + 1;
  Thing scratch;
  if (!gen_distinct && rng_chance(&g->rng, 4)) declare_array(g, &scratch);
  if (depth > 1 && !grid) {
    bool before = rng_chance(&g->rng, 20), after = rng_chance(&g->rng, 15);
    g->has[FEATURE_IMPERFECT] |= before || after;
    if (before) gen_statements(g, 1);
    gen_nest(g, depth - 1);
    if (rng_chance(&g->rng, 12)) gen_nest(g, 1);
    if (after) gen_statements(g, 1);
  } else if (!gen_distinct && rng_chance(&g->rng, 12)) {
    put_sum(g);
  } else {
    bool leaves = !grid && !gen_distinct && rng_chance(&g->rng, 4), first = rng_chance(&g->rng, 50);
    if (leaves && first) put_break(g);
    gen_statements(g, rng_chance(&g->rng, 75) ? 1 : 2);
    if (leaves && !first) put_break(g);
  }
  gen_close_scope(g, s);
  td_text_line(&g->out, "end");
}

/* The loops over all of an array, and the element at which they stand. */
static const char *open_over(Gen *g, const Thing *t) {
  TdText place = td_text_new(g->arena);
  td_text_puts(&place, t->name);
  for (int d = 0; d < t->rank; d++) {
    gen_open_over(g, t->extent[d], 0);
    td_text_putf(&place, "[%s]", g->loop[g->nloop - 1].name);
  }
  return td_text_str(&place);
}

void gen_close_loops(Gen *g, Scope s) {
  for (int d = g->nloop - s.nloop; d > 0; d--) {
    g->out.indent--;
    td_text_line(&g->out, "end");
  }
  gen_close_scope(g, s);
}

void gen_pair(Gen *g) {
  Thing t, u = *gen_find(g, gen_is_target);
  bool local = !gen_distinct && rng_chance(&g->rng, 40) && declare_array(g, &t);
  if (!local) t = *gen_find(g, gen_is_target);
  bool same_class = (t.of.type->kind == TD_T_FLOAT) == (u.of.type->kind == TD_T_FLOAT);
  if (!same_class || t.rank > 2 || g->work > 4) {
    gen_nest(g, 2);
    return;
  }
  Scope s = gen_open_scope(g);
  const char *place = open_over(g, &t);
  td_text_line(&g->out, "%s = %s", place, gen_tagged(g, t.of, gen_value(g, t.of, 2)));
  gen_close_loops(g, s);
  place = open_over(g, &t);
  td_text_line(&g->out, "%s = %s", gen_place(g, &u), gen_tagged(g, u.of, gen_use(g, u.of, place)));
  gen_close_loops(g, s);
  g->statements -= 2;
}

/* Leaves only what is never written in scope. */
static void keep_inputs(Gen *g) {
  int n = 0;
  for (int i = 0; i < g->nthing; i++)
    if (!g->thing[i].writable) g->thing[n++] = g->thing[i];
  g->nthing = n;
}

/* A type of the same class. */
static NamedType similar_type(Gen *g, NamedType t) {
  NamedType other = gen_pick_type(g);
  return (other.type->kind == TD_T_FLOAT) == (t.type->kind == TD_T_FLOAT) ? other : t;
}

/* One stage: loops over t that store to it what comes from the same place of `from`, if any. */
static void put_stage(Gen *g, const Thing *t, const char *from) {
  Scope s = gen_open_scope(g);
  const char *place = open_over(g, t), *at = place + strlen(t->name);
  const char *value =
      from ? gen_use(g, t->of, td_text_fmt(g->arena, "%s%s", from, at)) : gen_value(g, t->of, 2);
  td_text_line(&g->out, "%s = %s", place, gen_tagged(g, t->of, value));
  gen_close_loops(g, s);
}

void gen_stages(Gen *g) {
  Gen before = *g;
  Thing last = *gen_find(g, gen_is_target);
  const char *from = NULL;
  keep_inputs(g);
  for (int n = rng_below(&g->rng, 5) / 2; n > 0; n--) {
    Thing t = last;
    t.name = gen_fresh_name(g, "b");
    t.of = similar_type(g, last.of);
    td_text_line(&g->out, "local %s = %s()", t.name, gen_shape_text(g, &t));
    put_stage(g, &t, from);
    from = t.name;
  }
  put_stage(g, &last, from);
  memcpy(g->thing, before.thing, sizeof before.thing);
  g->nthing = before.nthing;
  g->has[FEATURE_STAGES] = true;
}

/* An element of t at the loops of its dimensions, `by` further in dimension dim. */
static const char *neighbour(Gen *g, const Thing *t, int dim, int by) {
  TdText text = td_text_new(g->arena);
  td_text_puts(&text, t->name);
  for (int d = 0; d < t->rank; d++) {
    const char *v = g->loop[g->nloop - t->rank + d].name;
    if (d == dim && by)
      td_text_putf(&text, "[%s %c 1]", v, by < 0 ? '-' : '+');
    else
      td_text_putf(&text, "[%s]", v);
  }
  return td_text_str(&text);
}

void gen_window(Gen *g) {
  const Thing *t = gen_find(g, gen_is_array);
  Thing from = *t, *to = NULL;
  for (int i = 0; i < g->nthing; i++)
    if (gen_is_target(&g->thing[i]) && &g->thing[i] != t) to = &g->thing[i];
  bool in_place = from.writable && rng_chance(&g->rng, 40);
  if (in_place) to = &from;
  if (!to || from.rank > 2 ||
      (from.of.type->kind == TD_T_FLOAT) != (to->of.type->kind == TD_T_FLOAT)) {
    gen_nest(g, 2);
    return;
  }
  Scope s = gen_open_scope(g);
  for (int d = 0; d < from.rank; d++) gen_open_over(g, from.extent[d], 1);
  int dim = rng_below(&g->rng, from.rank);
  TdText sum = td_text_new(g->arena);
  for (int by = -1; by <= 1; by++)
    if (by == 0 || rng_chance(&g->rng, 75))
      td_text_putf(&sum, "%s%s(%s)", sum.n ? " + " : "", to->of.name, neighbour(g, &from, dim, by));
  if (rng_chance(&g->rng, 40))
    td_text_putf(&sum, " + %s(%s)", to->of.name,
                 neighbour(g, &from, rng_below(&g->rng, from.rank), 1));
  const char *place = in_place ? neighbour(g, to, dim, 0) : gen_place(g, to);
  td_text_line(&g->out, "%s = %s(%s)", place, to->of.name, td_text_str(&sum));
  gen_close_loops(g, s);
  g->statements--;
  g->has[FEATURE_STENCIL] = g->has[FEATURE_WINDOW] = true;
}

void gen_while(Gen *g) {
  Scope s = gen_open_scope(g);
  if (g->nthing == GEN_THINGS || g->work * 4 > 400) return;
  const char *count = gen_control_count(g, 4), *name = gen_fresh_name(g, "w");
  bool post = rng_chance(&g->rng, 40);
  td_text_line(&g->out, "local %s = %s(%s)", name, "tide.i8", count && !post ? count : "3");
  td_text_line(&g->out, post ? "repeat" : "while %s > 0 do", name);
  g->out.indent++;
  g->work *= 4;
  if (rng_chance(&g->rng, 50))
    gen_nest(g, 1);
  else
    gen_statements(g, 1);
  td_text_line(&g->out, "%s = tide.i8(%s - 1)", name, name);
  gen_close_scope(g, s);
  td_text_line(&g->out, post ? "until %s <= 0" : "end", name);
  g->has[post ? FEATURE_REPEAT : FEATURE_WHILE] = true;
}

void gen_buffer(Gen *g) {
  Thing t;
  if (declare_array(g, &t)) gen_nest(g, t.rank);
  gen_nest(g, 1 + rng_below(&g->rng, 2));
}

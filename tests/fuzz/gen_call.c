/* gen_call.c - kernels that others call, calls of them, and tensor statements. */
#include "tests/fuzz/gen.h"

#include <string.h>

/* Writes "NAME = SHAPE," for each parameter, and then "function(NAMES)". */
static void put_parameters(Gen *g, const Callee *c) {
  TdText names = td_text_new(g->arena);
  for (int i = 0; i < c->nparam; i++) {
    td_text_line(&g->out, "%s = %s,", c->param[i].name, gen_shape_text(g, &c->param[i]));
    td_text_putf(&names, "%s%s", i ? ", " : "", c->param[i].name);
  }
  if (c->indexed) td_text_line(&g->out, "n = tide.index,");
  td_text_line(&g->out, "function(%s%s)", td_text_str(&names), c->indexed ? ", n" : "");
}

/* p as a part of it: a row, or where it has no rows and several parts of one array are asked for,
 * some elements. */
static void take_part(Gen *g, Thing *p) {
  bool parts = g->about[ABOUT_SHARED];
  if (p->rank > 1 && rng_chance(&g->rng, parts ? 80 : 40)) {
    p->rank--;
    memmove(p->extent, p->extent + 1, (size_t)p->rank * sizeof *p->extent);
  } else if (parts && p->rank == 1 && p->extent[0].size < 0 && p->extent[0].hi > 2) {
    p->extent[0].hi -= 1 + rng_below(&g->rng, (int)p->extent[0].hi - 2);
  }
}

/* The parameters of a callee: parts or wholes of the caller's arrays, the first one written; and
 * the control that it moves. */
static int callee_parameters(Gen *g, Thing *p) {
  static const char *const name[] = {"X", "Y", "Z"};
  const Thing *moved = gen_find(g, gen_is_moved);
  int n = 1 + rng_below(&g->rng, 3);
  if (g->about[ABOUT_SHARED] && n == 1) n = 2;
  for (int i = 0; i < n; i++) {
    p[i] = *gen_find(g, i ? gen_is_array : gen_is_target);
    if (i && rng_chance(&g->rng, g->about[ABOUT_SHARED] ? 85 : 50))
      p[i] = p[i - 1];
    else
      take_part(g, &p[i]);
    p[i].name = name[i];
    p[i].writable = i == 0 || (g->about[ABOUT_SHARED] && rng_chance(&g->rng, 20));
  }
  if (moved && rng_chance(&g->rng, 50)) {
    p[n] = *moved;
    p[n++].name = "c3";
    g->has[FEATURE_CALL_MOVES] = true;
  }
  return n;
}

/* Puts what a callee assumes of its index; sometimes it assumes nothing, and it is checked where it
 * is used. */
static void put_assumption(Gen *g, const Callee *c) {
  if (rng_chance(&g->rng, 25)) return;
  Range last = c->index;
  last.hi++;
  td_text_line(&g->out,
               rng_chance(&g->rng, 70) ? "tide.assume(n >= 0, n < %s)"
                                       : "tide.assume(0 <= n and n < %s)",
               gen_extent_text(g, last));
  g->has[FEATURE_ASSUME] = true;
}

/* A loop that its index says how often runs, around one whose bound divides by it. */
static void put_divided_nest(Gen *g, const Callee *c) {
  const Thing *t = gen_find(g, gen_is_target);
  Scope s = gen_open_scope(g);
  gen_open_to(g, "n - 1", (int)c->index.hi);
  gen_open_to(g, td_text_fmt(g->arena, "%d // n", 2 + rng_below(&g->rng, 3)), LEAST_SIZE);
  const char *place = gen_place(g, t);
  td_text_line(&g->out, "%s = %s", place, gen_accumulation(g, t->of, place));
  gen_close_loops(g, s);
  g->has[FEATURE_FAULT_DIVISION] = true;
  g->statements--;
}

/* The body of a callee. */
static void put_callee_body(Gen *g, const Callee *c) {
  g->statements = 2;
  g->work = 8;
  if (c->indexed) {
    put_assumption(g, c);
    g->loop[g->nloop++] = (LoopVar){"n", c->index};
    if (rng_chance(&g->rng, 40)) gen_statements(g, 1);
    if (c->index.size < 0 && rng_chance(&g->rng, 35)) put_divided_nest(g, c);
  }
  bool calls = g->ncallee && rng_chance(&g->rng, 60), first = rng_chance(&g->rng, 50);
  if (calls && first) g->has[FEATURE_NESTED_CALL] |= gen_call(g);
  if (!g->about[ABOUT_MEMORY] || rng_chance(&g->rng, 60) || !gen_about_phase(g))
    gen_nest(g, 1 + rng_below(&g->rng, 2));
  if (calls && !first) g->has[FEATURE_NESTED_CALL] |= gen_call(g);
  if (rng_chance(&g->rng, 60)) gen_move(g);
  if (c->indexed) g->nloop--;
}

/* Counts in the state, which is the newest thing, and stores what depends on the count. */
static void put_count(Gen *g) {
  const Thing *st = &g->thing[g->nthing - 1], *to = &g->thing[0];
  const char *count = td_text_fmt(g->arena, "%s[0]", st->name);
  td_text_line(&g->out, "%s = %s", count, gen_accumulation(g, st->of, count));
  if ((to->of.type->kind == TD_T_FLOAT) == (st->of.type->kind == TD_T_FLOAT))
    td_text_line(&g->out, "%s = %s", gen_place(g, to), gen_use(g, to->of, count));
}

/* Writes a kernel, which c describes but for its name. */
static void put_callee(Gen *g, Callee *c) {
  Gen outer = *g;
  bool keeps = g->about[ABOUT_STATE] && rng_chance(&g->rng, 70);
  c->name = gen_fresh_name(g, "sub");
  memcpy(g->thing, c->param, (size_t)c->nparam * sizeof *c->param);
  g->nthing = c->nparam;
  if (keeps) gen_state(g);
  g->has[FEATURE_STATE_BELOW] |= keeps;
  td_text_line(&g->out, "local %s = tide.kernel {", c->name);
  g->out.indent++;
  put_parameters(g, c);
  g->out.indent++;
  if (keeps && g->nthing > c->nparam) put_count(g);
  put_callee_body(g, c);
  g->out.indent--;
  td_text_line(&g->out, "end,");
  g->out.indent--;
  td_text_line(&g->out, "}");
  memcpy(g->thing, outer.thing, sizeof outer.thing);
  g->nthing = outer.nthing;
  g->statements = outer.statements;
  g->work = outer.work;
}

/* Another instance of a callee. */
static void put_instance(Gen *g, const Callee *of) {
  Callee c = *of;
  c.name = gen_fresh_name(g, "sub");
  td_text_line(&g->out, "local %s = %s:as \"%s\"", c.name, of->name, c.name);
  g->callee[g->ncallee++] = c;
  g->has[FEATURE_INSTANCE] = true;
}

void gen_callee(Gen *g) {
  Callee c = {0};
  c.nparam = callee_parameters(g, c.param);
  c.indexed = rng_chance(&g->rng, g->about[ABOUT_INDEX] ? 85 : 0);
  if (c.indexed) {
    c.index = c.param[0].extent[0];
    c.index.hi--;
    g->has[FEATURE_INDEX_PARAM] = true;
  }
  put_callee(g, &c);
  g->callee[g->ncallee++] = c;
  if (g->about[ABOUT_STATE] && g->ncallee < GEN_CALLEES && rng_chance(&g->rng, 25))
    put_instance(g, &c);
}

static bool has_rows(const Thing *t) {
  return gen_is_array(t) && t->rank > 1;
}

static bool has_writable_rows(const Thing *t) {
  return has_rows(t) && t->writable;
}

void gen_twins(Gen *g) {
  static const char *const name[] = {"X", "Y"};
  const Thing *of[] = {gen_find(g, has_writable_rows), gen_find(g, has_rows)};
  Thing param[2];
  if (!of[0] || of[0] == of[1]) return;
  for (int i = 0; i < 2; i++) {
    param[i] = *of[i];
    param[i].name = name[i];
    param[i].rank--;
    param[i].writable = i == 0;
    memmove(param[i].extent, param[i].extent + 1, (size_t)param[i].rank * sizeof *param[i].extent);
    g->rows[i] = of[i]->name;
  }
  for (int i = 0; i < 2; i++) {
    g->twin[i] = (Callee){.param = {param[0], param[1]}, .nparam = 2};
    put_callee(g, &g->twin[i]);
  }
  g->has_twins = true;
}

void gen_twin_calls(Gen *g) {
  int n = 2 + rng_below(&g->rng, 2);
  for (int row = 0; row < n; row++) {
    const char *name = g->twin[row < 2 ? row : rng_below(&g->rng, 2)].name;
    td_text_line(&g->out, "%s(%s[%d], %s[%d])", name, g->rows[0], row, g->rows[1], row);
  }
  g->has[FEATURE_CALL] = g->has[FEATURE_CALL_VIEW] = g->has[FEATURE_TWINS] = true;
}

/* Elements of t, an array of one dimension, as many as p has, from one that data or loops tell. */
static const char *slice(Gen *g, const Thing *t, const Thing *p) {
  Range room = t->extent[0], n = p->extent[0];
  bool fits = t->rank == 1 && p->rank == 1 && room.size < 0 && n.size < 0 && room.hi > n.hi;
  if (!fits) return NULL;
  Range starts = {0, room.hi - n.hi + 1, -1};
  const char *at = rng_chance(&g->rng, 50) ? gen_data_index(g, starts) : NULL;
  if (at) g->has[FEATURE_DATA_VIEW] = true;
  if (!at) at = gen_index(g, starts);
  return td_text_fmt(g->arena, "%s:slice({%s, %s + %lld})", t->name, at, at, (long long)n.hi);
}

/* A row of t, seldom one that data tells. */
static const char *row(Gen *g, const Thing *t) {
  bool often = g->about[ABOUT_SHARED] || g->about[ABOUT_MEMORY];
  const char *at = rng_chance(&g->rng, often ? 45 : 2) ? gen_data_index(g, t->extent[0]) : NULL;
  if (at) g->has[FEATURE_DATA_VIEW] = true;
  g->has[FEATURE_CALL_VIEW] = true;
  return td_text_fmt(g->arena, "%s[%s]", t->name, at ? at : gen_index(g, t->extent[0]));
}

/* An array, or a part of one, that may be passed for p and shares nothing with `not` unless kernels
 * are about that; *of is the array. */
static const char *argument(Gen *g, const Thing *p, const Thing * not, const Thing **of) {
  bool moved = gen_is_control(p);
  for (int tries = 0; tries < 8; tries++) {
    const Thing *t = gen_find(g, moved ? gen_is_moved : p->writable ? gen_is_target : gen_is_array);
    if (!t) return NULL;
    int rows = t->rank - p->rank;
    bool shared = t == not &&g->about[ABOUT_SHARED] && !moved;
    if ((t == not &&!shared) || t->of.type != p->of.type || rows < 0 || rows > 1) continue;
    *of = t;
    if (!moved && rows == 0) {
      const char *text = slice(g, t, p);
      if (text) return text;
    }
    if (!gen_same_extents(t->extent + rows, p->extent, p->rank)) continue;
    if (rows) return row(g, t);
    if (!shared) return t->name;
  }
  return NULL;
}

/* How often data may break what a callee assumes of its index, in percent. */
enum { BEYOND = 15 };

/* An index for a callee's parameter. */
static const char *index_argument(Gen *g, const Callee *c) {
  Range extent = c->index;
  extent.hi++;
  Range reach = extent;
  bool beyond = extent.size < 0 && rng_chance(&g->rng, BEYOND);
  if (beyond) reach.hi += 3;
  const char *at = beyond || rng_chance(&g->rng, 40) ? gen_data_index(g, reach) : NULL;
  g->has[FEATURE_FAULT_INDEX] |= beyond && at;
  return at ? at : gen_index(g, extent);
}

bool gen_call(Gen *g) {
  if (!g->ncallee || g->work > 40) return false;
  const Callee *c = &g->callee[rng_below(&g->rng, g->ncallee)];
  const Thing *of[GEN_PARAMS] = {0};
  TdText text = td_text_new(g->arena);
  bool data = g->has[FEATURE_DATA_VIEW];
  td_text_putf(&text, "%s(", c->name);
  for (int i = 0; i < c->nparam; i++) {
    const char *arg = argument(g, &c->param[i], of[0], &of[i]);
    if (!arg) g->has[FEATURE_DATA_VIEW] = data;
    if (!arg) return false;
    td_text_putf(&text, "%s%s", i ? ", " : "", arg);
  }
  if (c->indexed) td_text_putf(&text, ", %s", index_argument(g, c));
  td_text_line(&g->out, "%s)", td_text_str(&text));
  g->has[FEATURE_CALL] = true;
  for (int i = 1; i < c->nparam; i++)
    g->has[of[i] == of[0] ? FEATURE_CALL_SHARED : FEATURE_CALL_TWICE] |=
        of[i] == of[0] || of[i] == of[i - 1];
  return true;
}

/* t:set(t) of two rows, at least one of them at a place that data tells. */
static bool put_row_set(Gen *g, const Thing *t) {
  if (!g->about[ABOUT_SHARED] || t->rank < 2 || g->work * MOST_SIZE * MOST_SIZE > 800) return false;
  const char *to = row(g, t), *from = row(g, t);
  td_text_line(&g->out, "%s:set(%s)", to, from);
  g->has[FEATURE_SET] = true;
  return true;
}

bool gen_set(Gen *g) {
  const Thing *t = gen_find(g, gen_is_target);
  const Thing *x = gen_find(g, gen_is_array);
  int64_t cells = 1;
  if (rng_chance(&g->rng, 50) && put_row_set(g, t)) return true;
  for (int d = 0; d < t->rank; d++) cells *= MOST_SIZE;
  if (g->work * cells > 800) return false;
  bool copies = x != t && x->rank == t->rank && x->of.type == t->of.type &&
                gen_same_extents(x->extent, t->extent, t->rank);
  if (copies)
    td_text_line(&g->out, "%s:set(%s)", t->name, x->name);
  else
    td_text_line(&g->out, "%s:set(%d)", t->name, rng_below(&g->rng, 3));
  g->has[FEATURE_SET] = true;
  return true;
}

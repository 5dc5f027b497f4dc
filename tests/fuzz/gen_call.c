/* gen_call.c - kernels that others call, calls of them, and tensor statements. */
#include "tests/fuzz/gen.h"

#include <string.h>

/* Whether things of these extents have one shape. */
static bool same_extents(const Range *x, const Range *y, int rank) {
  for (int d = 0; d < rank; d++)
    if (x[d].hi != y[d].hi || x[d].size != y[d].size) return false;
  return true;
}

/* Writes "NAME = SHAPE," for each parameter, and then "function(NAMES)". */
static void put_parameters(Gen *g, const Thing *p, int n) {
  TdText names = td_text_new(g->arena);
  for (int i = 0; i < n; i++) {
    td_text_line(&g->out, "%s = %s,", p[i].name, gen_shape_text(g, &p[i]));
    td_text_putf(&names, "%s%s", i ? ", " : "", p[i].name);
  }
  td_text_line(&g->out, "function(%s)", td_text_str(&names));
}

/* The parameters of a callee: rows or wholes of the caller's arrays, the first one written. */
static int callee_parameters(Gen *g, Thing *p) {
  static const char *const name[] = {"X", "Y", "Z"};
  int n = 1 + rng_below(&g->rng, 3);
  for (int i = 0; i < n; i++) {
    p[i] = *gen_find(g, i ? gen_is_array : gen_is_target);
    if (i && rng_chance(&g->rng, 50)) p[i] = p[i - 1];
    if (p[i].rank > 1 && rng_chance(&g->rng, 40)) {
      p[i].rank--;
      memmove(p[i].extent, p[i].extent + 1, (size_t)p[i].rank * sizeof *p[i].extent);
    }
    p[i].name = name[i];
    p[i].writable = i == 0;
  }
  return n;
}

/* Writes a kernel with these parameters. */
static Callee put_callee(Gen *g, const Thing *param, int n) {
  Gen outer = *g;
  Callee c = {.name = gen_fresh_name(g, "sub"), .nparam = n};
  memcpy(c.param, param, (size_t)n * sizeof *param);
  memcpy(g->thing, param, (size_t)n * sizeof *param);
  g->nthing = n;
  td_text_line(&g->out, "local %s = tide.kernel {", c.name);
  g->out.indent++;
  put_parameters(g, c.param, c.nparam);
  g->out.indent++;
  g->statements = 2;
  g->work = 8;
  gen_nest(g, 1 + rng_below(&g->rng, 2));
  g->out.indent--;
  td_text_line(&g->out, "end,");
  g->out.indent--;
  td_text_line(&g->out, "}");
  memcpy(g->thing, outer.thing, sizeof outer.thing);
  g->nthing = outer.nthing;
  g->statements = outer.statements;
  g->work = outer.work;
  return c;
}

void gen_callee(Gen *g) {
  Thing param[3];
  int n = callee_parameters(g, param);
  g->callee[g->ncallee++] = put_callee(g, param, n);
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
  for (int i = 0; i < 2; i++) g->twin[i] = put_callee(g, param, 2);
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

/* An array, or a row of one, that may be passed for p and shares nothing with `not`; *of is the
 * array. */
static const char *argument(Gen *g, const Thing *p, const Thing * not, const Thing **of) {
  for (int tries = 0; tries < 8; tries++) {
    const Thing *t = gen_find(g, p->writable ? gen_is_target : gen_is_array);
    int rows = t->rank - p->rank;
    if (t == not || t->of.type != p->of.type || rows < 0 || rows > 1) continue;
    if (!same_extents(t->extent + rows, p->extent, p->rank)) continue;
    *of = t;
    if (!rows) return t->name;
    Thing head = *t;
    head.rank = 1;
    g->has[FEATURE_CALL_VIEW] = true;
    return gen_place(g, &head);
  }
  return NULL;
}

bool gen_call(Gen *g) {
  if (!g->ncallee || g->work > 40) return false;
  const Callee *c = &g->callee[rng_below(&g->rng, g->ncallee)];
  const Thing *of[3] = {0};
  TdText text = td_text_new(g->arena);
  td_text_putf(&text, "%s(", c->name);
  for (int i = 0; i < c->nparam; i++) {
    const char *arg = argument(g, &c->param[i], of[0], &of[i]);
    if (!arg) return false;
    td_text_putf(&text, "%s%s", i ? ", " : "", arg);
  }
  td_text_line(&g->out, "%s)", td_text_str(&text));
  g->has[FEATURE_CALL] = true;
  if (c->nparam == 3 && of[1] == of[2]) g->has[FEATURE_CALL_TWICE] = true;
  return true;
}

bool gen_set(Gen *g) {
  const Thing *t = gen_find(g, gen_is_target);
  const Thing *x = gen_find(g, gen_is_array);
  int64_t cells = 1;
  for (int d = 0; d < t->rank; d++) cells *= MOST_SIZE;
  if (g->work * cells > 800) return false;
  bool copies = x != t && x->rank == t->rank && x->of.type == t->of.type &&
                same_extents(x->extent, t->extent, t->rank);
  if (copies)
    td_text_line(&g->out, "%s:set(%s)", t->name, x->name);
  else
    td_text_line(&g->out, "%s:set(%d)", t->name, rng_below(&g->rng, 3));
  g->has[FEATURE_SET] = true;
  return true;
}

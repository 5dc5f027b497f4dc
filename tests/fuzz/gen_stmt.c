/* gen_stmt.c - single statements, and bodies made of phases. */
#include "tests/fuzz/gen.h"

static bool is_scalar_local(const Thing *t) {
  return t->rank == 0 && t->writable;
}

/* A local scalar, in scope from here on. */
static void declare_scalar(Gen *g) {
  if (g->nthing == GEN_THINGS) return;
  NamedType t = gen_pick_type(g);
  Thing x = {.name = gen_fresh_name(g, "s"), .of = t, .writable = true};
  td_text_line(&g->out, "local %s = %s(%s)", x.name, t.name, gen_value(g, t, 1));
  g->thing[g->nthing++] = x;
  g->has[g->nloop ? FEATURE_SCALAR_LOCAL_IN_LOOP : FEATURE_SCALAR_LOCAL] = true;
}

const char *gen_tagged(Gen *g, NamedType t, const char *value) {
  if (!gen_distinct) return value;
  TdText tag = td_text_new(g->arena);
  td_text_putf(&tag, "%d", 100 * g->names++);
  for (int i = 0, by = 1; i < g->nloop; i++, by *= 11)
    td_text_putf(&tag, " + %d * %s", by, g->loop[i].name);
  return td_text_fmt(g->arena, "%s(%s(%s) + %s(%s))", t.name, t.name, value, t.name,
                     td_text_str(&tag));
}

/* An assignment or accumulation. */
static void put_store(Gen *g) {
  const Thing *t = rng_chance(&g->rng, 15) ? gen_find(g, is_scalar_local) : NULL;
  bool own = false;
  if (!t) t = gen_find(g, gen_is_target);
  const char *place = gen_distinct ? gen_own_place(g, t, &own) : gen_place(g, t);
  bool accumulates = gen_distinct ? !own : rng_chance(&g->rng, 40);
  const char *value = accumulates ? gen_accumulation(g, t->of, place)
                                  : gen_tagged(g, t->of, gen_value(g, t->of, 2));
  td_text_line(&g->out, "%s = %s", place, value);
}

/* if .. then store [else store] end. */
static void put_if(Gen *g) {
  const char *cond = gen_distinct || rng_chance(&g->rng, 75) ? gen_affine_condition(g) : NULL;
  g->has[cond ? FEATURE_AFFINE_GUARD : FEATURE_DATA_IF] = true;
  td_text_line(&g->out, "if %s then", cond ? cond : gen_data_condition(g));
  g->out.indent++;
  put_store(g);
  if (rng_chance(&g->rng, 25)) {
    g->out.indent--;
    td_text_line(&g->out, "else");
    g->out.indent++;
    put_store(g);
    g->has[FEATURE_ELSE] = true;
  }
  g->out.indent--;
  td_text_line(&g->out, "end");
}

/* One statement without loops of its own, or a call. */
static void put_plain(Gen *g) {
  int kind = gen_distinct ? (rng_chance(&g->rng, 10) ? 20 : 99) : rng_below(&g->rng, 100);
  g->statements--;
  if (rng_chance(&g->rng, 25) && gen_move(g)) return;
  if (kind < 9) {
    declare_scalar(g);
    put_store(g);
  } else if (kind < 21) {
    put_if(g);
  } else if (kind < 25 && gen_call(g)) {
    return;
  } else if (kind < 27 && gen_set(g)) {
    return;
  } else {
    put_store(g);
  }
}

/* return, under a condition. */
static void put_return(Gen *g) {
  const char *count = gen_control_count(g, 5);
  const char *cond = count ? td_text_fmt(g->arena, "%s == 0", count) : gen_affine_condition(g);
  if (!cond) return;
  td_text_line(&g->out, "if %s then return end", cond);
  g->has[FEATURE_RETURN] = true;
}

void gen_body(Gen *g, int phases) {
  for (int k = 0; k < phases && g->statements > 0; k++) {
    int kind = rng_below(&g->rng, gen_distinct ? 62 : 100);
    if (rng_chance(&g->rng, 45) && gen_about_phase(g)) continue;
    if (kind < 40)
      gen_nest(g, 1 + rng_below(&g->rng, 3));
    else if (kind < 62)
      gen_pair(g);
    else if (kind < 68)
      gen_window(g);
    else if (kind < 72)
      gen_while(g);
    else if (kind < 82)
      gen_buffer(g);
    else if (kind < 85)
      put_return(g);
    else if (kind < 88 && gen_call(g))
      continue;
    else if (kind < 91 && gen_set(g))
      continue;
    else
      put_plain(g);
  }
  if (phases > 1) g->has[FEATURE_ADJACENT] = true;
}

void gen_statements(Gen *g, int n) {
  for (int k = 0; k < n; k++) put_plain(g);
}

/* step.c - random calls of primitives, drawn from their argument specs: mostly names that exist and
   belong together, sometimes nonsense. */
#include <string.h>

#include "tests/fuzz/chain.h"

enum { NONSENSE = 4, MOST_LOOPS = 64, MOST_NAMES = 96 };

/* A loop of the program, and where it stands. */
typedef struct Site {
  const TdUnit *unit;
  const TdStmt *loop, *block; /* block: the one that holds it */
  int parent;                 /* the loop around it, or -1 */
} Site;

typedef struct Draw {
  Rng *rng;
  TdArena *arena;
  const TdProg *prog;
  Site site[MOST_LOOPS];
  int nsite;
  int focus; /* the loop that the call is about, or -1 */
  int loops; /* loop arguments drawn so far */
} Draw;

/* Notes the loops below s, outermost first. */
static void collect(Draw *d, const TdUnit *u, const TdStmt *s, const TdStmt *block, int parent) {
  if (s->kind == TD_STMT_FOR && d->nsite < MOST_LOOPS) {
    d->site[d->nsite] = (Site){u, s, block, parent};
    parent = d->nsite++;
  }
  for (uint32_t i = 0; i < s->nkid; i++) collect(d, u, s->kid[i], s, parent);
}

static const char *spec_of(const Draw *d, int site) {
  const Site *x = &d->site[site];
  return td_arena_strdup(d->arena, td_cursor_spec(d->arena, d->prog, x->unit, x->loop));
}

/* A name that fits nowhere, or not here. */
static const char *nonsense(Draw *d) {
  static const char *const list[] = {"",   "zz", "i#9",    "no:i", "end",
                                     "1x", "A",  "fuzzed", "i/j",  ":"};
  return RNG_PICK(d->rng, list);
}

/* The next loop after another in its block (`right`: with nothing between them), or -1. */
static int next_sibling(const Draw *d, int site, bool right) {
  const Site *x = &d->site[site];
  uint32_t at = 0;
  while (x->block->kid[at] != x->loop) at++;
  for (int i = site + 1; i < d->nsite; i++)
    if (d->site[i].block == x->block)
      return !right || x->block->kid[at + 1] == d->site[i].loop ? i : -1;
  return -1;
}

/* The focus; as a second loop, one that is near it: after it, inside what comes after it, or
   around it. */
static int some_loop(Draw *d) {
  int near = d->focus;
  if (d->loops++ == 0 || d->focus < 0) return near;
  int sibling = next_sibling(d, d->focus, false);
  if (sibling >= 0 && rng_chance(d->rng, 70)) {
    near = sibling;
    if (near + 1 < d->nsite && d->site[near + 1].parent == near && rng_chance(d->rng, 40)) near++;
  } else if (d->site[d->focus].parent >= 0) {
    near = d->site[d->focus].parent;
  }
  return near;
}

static const char *draw_loop(Draw *d) {
  int site = some_loop(d);
  return site < 0 || rng_chance(d->rng, NONSENSE) ? nonsense(d) : spec_of(d, site);
}

/* The names of a band, or of a loop. */
static const char *draw_band(Draw *d) {
  int site = some_loop(d);
  if (site < 0 || rng_chance(d->rng, NONSENSE)) return nonsense(d);
  const TdAttr *band = td_attrs_get(d->site[site].loop->attrs, TD_ATTR_BAND);
  return band && rng_chance(d->rng, 60) ? td_arena_strdup(d->arena, band->arg[0].s)
                                        : spec_of(d, site);
}

/* Swaps entries of a list at random. */
static void shuffle(Draw *d, const char **list, int n) {
  for (int i = n - 1; i > 0; i--) {
    int j = rng_below(d->rng, i + 1);
    const char *t = list[i];
    list[i] = list[j];
    list[j] = t;
  }
}

/* Loops that end at the focus, one inside the other; how many. */
static int nested(Draw *d, const char **list) {
  int want = 2 + rng_below(d->rng, 2), n = 0;
  for (int at = d->focus; at >= 0 && n < want; at = d->site[at].parent) n++;
  int left = n;
  for (int at = d->focus; left > 0; at = d->site[at].parent) list[--left] = spec_of(d, at);
  return n;
}

/* The focus and the loops after it in its block. */
static int in_a_row(Draw *d, const char **list) {
  int n = 0, most = 2 + rng_chance(d->rng, 15);
  for (int at = d->focus; at >= 0 && n < most; at = next_sibling(d, at, rng_chance(d->rng, 90)))
    list[n++] = spec_of(d, at);
  return n;
}

/* Whether a loop is all of the body of the loop around it. */
static bool is_perfect(const Draw *d, int site) {
  int parent = d->site[site].parent;
  return parent >= 0 && d->site[site].block == td_for_body(d->site[parent].loop) &&
         d->site[site].block->nkid == 1;
}

/* Moves the focus to where a list of loops can be drawn: a loop inside another, or before one. */
static void refocus(Draw *d, bool nest, bool perfect) {
  for (int tries = 0; d->nsite && tries < 30; tries++) {
    int at = rng_below(d->rng, d->nsite);
    bool fits = !nest     ? next_sibling(d, at, perfect) >= 0
                : perfect ? is_perfect(d, at)
                          : d->site[at].parent >= 0;
    if (!fits) continue;
    d->focus = at;
    return;
  }
}

/* Moves the focus to a nest with another one behind it. */
static void refocus_outside(Draw *d) {
  for (int tries = 0; d->nsite && tries < 30; tries++) {
    int at = rng_below(d->rng, d->nsite);
    if (d->site[at].parent >= 0 && rng_chance(d->rng, 90)) continue;
    if (next_sibling(d, at, rng_chance(d->rng, 80)) < 0) continue;
    d->focus = at;
    return;
  }
}

/* Two loops or more, as a list that takes the rest of the arguments. */
static void draw_loops(Draw *d, const TdPrim *prim, TdArgValue *v) {
  const char **list = TD_NEWN(d->arena, const char *, 4);
  int n = 0, kind = rng_below(d->rng, 100);
  if (d->nsite) {
    bool reorders = strcmp(prim->name, "reorder") == 0;
    bool nest = kind < (reorders ? 92 : 50);
    refocus(d, nest, rng_chance(d->rng, 85));
    n = nest ? nested(d, list) : in_a_row(d, list);
    if (nest && (reorders ? kind < 90 : kind < 5)) shuffle(d, list, n);
  }
  while (n < 2 && rng_chance(d->rng, 90))
    list[n++] = d->nsite ? spec_of(d, rng_below(d->rng, d->nsite)) : nonsense(d);
  if (n && rng_chance(d->rng, NONSENSE)) list[rng_below(d->rng, n)] = nonsense(d);
  v->names = list;
  v->n = (size_t)n;
}

/* Things with names: collected, then one is drawn. */
typedef struct Pool {
  Draw *draw;
  const TdUnit *unit;
  const char *name[MOST_NAMES];
  int n;
  bool scalars, arrays;
} Pool;

/* Adds a thing of the pool's unit under the spec that finds it. */
static void add_name(Pool *p, const char *name, const TdType *t) {
  bool array = t->kind == TD_T_TENSOR;
  if (p->n == MOST_NAMES || !(array ? p->arrays : p->scalars)) return;
  const TdUnit *root = td_prog_root(p->draw->prog);
  bool other = p->unit != root;
  p->name[p->n++] = td_text_fmt(p->draw->arena, "%s%s%s", other ? p->unit->sym->name : "",
                                other ? ":" : "", name);
}

static bool add_local(void *ud, const TdStmt *s) {
  if (s->kind == TD_STMT_LOCAL) add_name(ud, s->sym->name, s->type);
  return true;
}

/* The parameters and locals of u that are used below s (NULL: anywhere). */
static void add_things(Pool *p, const TdUnit *u, const TdStmt *s) {
  TdCtx *ctx = p->draw->prog->store->session->ctx;
  p->unit = u;
  for (size_t i = 0; i < u->nparam; i++)
    if (!s || td_walk_uses(ctx, s, u->param[i].sym))
      add_name(p, u->param[i].sym->name, u->param[i].type);
  if (u->body) td_walk_stmt(ctx, u->body, add_local, p);
}

/* An array, mostly one that the focus uses. */
static const char *draw_array(Draw *d) {
  Pool p = {.draw = d, .arrays = true, .scalars = rng_chance(d->rng, 3)};
  const Site *at = d->focus >= 0 ? &d->site[d->focus] : NULL;
  bool near = at && rng_chance(d->rng, 85);
  add_things(&p, at ? at->unit : td_prog_root(d->prog), near ? at->loop : NULL);
  return p.n && !rng_chance(d->rng, NONSENSE) ? p.name[rng_below(d->rng, p.n)] : nonsense(d);
}

static bool add_written(void *ud, const TdStmt *s) {
  Pool *p = ud;
  bool shared = s->kind == TD_STMT_STORE && s->expr[0]->nkid > 0;
  if (shared && p->n < MOST_NAMES)
    p->name[p->n++] = td_arena_strdup(p->draw->arena, s->expr[0]->sym->name);
  return true;
}

/* An array that the focus writes. */
static const char *draw_product(Draw *d) {
  Pool p = {.draw = d};
  if (d->focus < 0) return nonsense(d);
  td_walk_stmt(d->prog->store->session->ctx, d->site[d->focus].loop, add_written, &p);
  d->loops++;
  return p.n && !rng_chance(d->rng, NONSENSE) ? p.name[rng_below(d->rng, p.n)] : nonsense(d);
}

/* A callee. */
static const char *draw_unit(Draw *d) {
  int n = (int)d->prog->nunit - 1;
  if (n == 0 || rng_chance(d->rng, NONSENSE)) return nonsense(d);
  return td_arena_strdup(d->arena, d->prog->unit[rng_below(d->rng, n)]->sym->name);
}

/* An integer: often a divisor of how often the focus runs. */
static int64_t draw_int(Draw *d) {
  static const int64_t odd[] = {0, -1, 1, 7, 64};
  int64_t trip = 0;
  if (d->focus >= 0) {
    const TdStmt *l = d->site[d->focus].loop;
    int64_t lo, hi;
    const TdUnit *u = d->site[d->focus].unit;
    if (td_unit_value(u, td_for_lo(l), &lo) && td_unit_value(u, td_for_hi(l), &hi)) trip = hi - lo;
  }
  if (rng_chance(d->rng, NONSENSE)) return RNG_PICK(d->rng, odd);
  for (int64_t k = 2 + rng_below(d->rng, 3); rng_chance(d->rng, 60) && k < trip; k++)
    if (trip % k == 0) return k;
  return 2 + rng_below(d->rng, 3);
}

/* A new name, sometimes one that is taken or cannot be one. */
static const char *draw_name(Draw *d) {
  if (rng_chance(d->rng, NONSENSE)) return nonsense(d);
  return td_text_fmt(d->arena, "z%d", rng_below(d->rng, 1000));
}

/* One of the words of a spec. */
static const char *draw_word(Draw *d, const char *words) {
  int n = 1;
  for (const char *w = words; *w; w++) n += *w == '|';
  const char *at = words;
  for (int k = rng_below(d->rng, n); k > 0; k--) at = strchr(at, '|') + 1;
  return td_arena_strndup(d->arena, at, strcspn(at, "|"));
}

/* A few dimensions. */
static void draw_ints(Draw *d, TdArgValue *v) {
  int n = 1 + rng_chance(d->rng, 20);
  int64_t *list = TD_NEWN(d->arena, int64_t, n);
  for (int i = 0; i < n; i++) list[i] = rng_chance(d->rng, NONSENSE) ? 9 : rng_below(d->rng, 2);
  v->ints = list;
  v->n = (size_t)n;
}

static void draw_names(Draw *d, TdArgValue *v) {
  const char **list = TD_NEWN(d->arena, const char *, 2);
  for (int i = 0; i < 2; i++) list[i] = draw_name(d);
  v->names = list;
  v->n = rng_chance(d->rng, NONSENSE) ? 1 : 2;
}

/* A value for a spec of a primitive. */
static void draw_value(Draw *d, const TdPrim *prim, const TdArgSpec *spec, TdArgValue *v) {
  v->given = true;
  if (spec->place == TD_ARG_REST) {
    draw_loops(d, prim, v);
    return;
  }
  switch (spec->kind) {
  case TD_ARG_LOOP: v->text = draw_loop(d); break;
  case TD_ARG_BAND:
    refocus_outside(d);
    v->text = rng_chance(d->rng, 60) ? draw_band(d) : draw_product(d);
    break;
  case TD_ARG_ARRAY: v->text = draw_array(d); break;
  case TD_ARG_UNIT: v->text = draw_unit(d); break;
  case TD_ARG_NAME: v->text = draw_name(d); break;
  case TD_ARG_INT: v->integer = draw_int(d); break;
  case TD_ARG_FLAG: v->integer = rng_chance(d->rng, 60); break;
  case TD_ARG_INTS: draw_ints(d, v); break;
  case TD_ARG_NAMES: draw_names(d, v); break;
  case TD_ARG_WORD: v->text = draw_word(d, spec->words); break;
  default: v->text = nonsense(d); break;
  }
}

/* Whether a list of names, separated by commas, holds one. */
static bool is_listed(const char *list, const char *name) {
  size_t n = strlen(name);
  for (const char *at = list; (at = strstr(at, name)); at += n)
    if ((at == list || at[-1] == ',') && (at[n] == 0 || at[n] == ',')) return true;
  return false;
}

const char *step_only = "", *step_without = "";

/* Whether a primitive has an argument of a kind. */
static bool takes(const TdPrim *prim, TdArgKind kind) {
  for (int i = 0; i < TD_PRIM_ARGS && prim->args[i].kind != TD_ARG_END; i++)
    if (prim->args[i].kind == kind) return true;
  return false;
}

static bool is_no_product(void *ud, const TdExpr *e) {
  (void)ud;
  return e->kind != TD_EXPR_OP || e->op != TD_OP_MUL || e->type->kind != TD_T_FLOAT;
}

/* Whether a primitive finds something to work on in a program: what it names exists. Schedules and
   types are not drawn. */
static bool is_at_home(const Draw *d, const TdPrim *prim) {
  const TdUnit *root = td_prog_root(d->prog);
  TdCtx *ctx = d->prog->store->session->ctx;
  if (takes(prim, TD_ARG_SCHEDULE) || takes(prim, TD_ARG_TYPE) || takes(prim, TD_ARG_COUNTS))
    return false;
  if (takes(prim, TD_ARG_STREAM)) return root->nstream > 0;
  if (rng_chance(d->rng, NONSENSE)) return true;
  if (takes(prim, TD_ARG_UNIT)) return d->prog->nunit > 1;
  if (strcmp(prim->name, "fma") == 0)
    return root->body && !td_walk_exprs(ctx, root->body, is_no_product, NULL);
  return d->nsite > 0;
}

/* One of the primitives that are in use, or NULL. */
static const TdPrim *draw_prim(const Draw *d) {
  int found = 0;
  const TdPrim *one = NULL;
  for (int i = 0; td_prims[i]; i++) {
    const char *name = td_prims[i]->name;
    if ((*step_only && !is_listed(step_only, name)) || is_listed(step_without, name) ||
        !is_at_home(d, td_prims[i]))
      continue;
    if (rng_below(d->rng, ++found) == 0) one = td_prims[i];
  }
  return one;
}

Step step_draw(Rng *rng, TdArena *a, const TdProg *p) {
  Draw d = {.rng = rng, .arena = a, .prog = p};
  for (size_t i = 0; i < p->nunit; i++)
    if (p->unit[i]->body) collect(&d, p->unit[i], p->unit[i]->body, NULL, -1);
  d.focus = d.nsite ? rng_below(rng, d.nsite) : -1;
  Step s = {.prim = draw_prim(&d)};
  for (int i = 0; s.prim && i < TD_PRIM_ARGS && s.prim->args[i].kind != TD_ARG_END; i++) {
    const TdArgSpec *spec = &s.prim->args[i];
    int chance = spec->place == TD_ARG_OPTION ? 25 : spec->place == TD_ARG_OPTIONAL ? 50 : 100;
    if (rng_chance(rng, chance)) draw_value(&d, s.prim, spec, &s.arg[i]);
  }
  return s;
}

/* step.c - random calls of primitives, drawn from their argument specs: mostly names that exist and
 * belong together, sometimes nonsense. */
#include "tests/fuzz/step.h"

#include <string.h>

#include "tests/fuzz/draw.h"

/* LIBRARIES: the share of steps before which a nest is looked at as a kernel, in percent. */
enum { MOST_SUB = 3, LIBRARIES = 12 };

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
  if (rng_chance(d->rng, NONSENSE)) return draw_nonsense(d);
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

/* One of the first dimensions, or axes of a band of `rank` loops. */
static int64_t draw_dimension(Draw *d, int rank) {
  return rng_chance(d->rng, NONSENSE) ? 9 : rng_below(d->rng, rank);
}

/* A few dimensions. */
static void draw_ints(Draw *d, int rank, TdArgValue *v) {
  int n = 1 + rng_chance(d->rng, 20);
  int64_t *list = TD_NEWN(d->arena, int64_t, n);
  for (int i = 0; i < n; i++) list[i] = draw_dimension(d, rank);
  v->ints = list;
  v->n = (size_t)n;
}

/* Two new names, or what the words of a spec say: loops around each other, or an array. */
static void draw_names(Draw *d, const char *words, TdArgValue *v) {
  if (words && strcmp(words, "loop") == 0) {
    draw_loops(d, false, v);
    return;
  }
  const char **list = TD_NEWN(d->arena, const char *, 2);
  for (int i = 0; i < 2; i++) list[i] = draw_name(d);
  bool array = words && strcmp(words, "array") == 0;
  if (array) list[0] = draw_array(d);
  v->names = list;
  v->n = array || rng_chance(d->rng, NONSENSE) ? 1 : 2;
}

/* A few counts, of these names. */
static void draw_counts(Draw *d, const char *words, TdArgValue *v) {
  v->n = 1;
  for (const char *w = words; *w; w++) v->n += *w == '|';
  int64_t *list = TD_NEWN(d->arena, int64_t, v->n);
  for (size_t i = 0; i < v->n; i++) list[i] = rng_below(d->rng, 6) - 1;
  v->ints = list;
}

/* Whether a primitive has an argument of a kind. */
static bool takes(const TdPrim *prim, TdArgKind kind) {
  for (int i = 0; i < TD_PRIM_ARGS && prim->args[i].kind != TD_ARG_END; i++)
    if (prim->args[i].kind == kind) return true;
  return false;
}

/* Whether a primitive moves what one loop computes to another. */
static bool takes_producer(const TdPrim *prim) {
  return takes(prim, TD_ARG_BAND) && takes(prim, TD_ARG_LOOP);
}

/* Whether a primitive works on an array that one unit hands to another. */
static bool takes_passed(const TdPrim *prim) {
  return takes(prim, TD_ARG_ARRAY) && takes(prim, TD_ARG_UNIT);
}

/* A call under way: its primitive, and the rank of the band it is about. */
typedef struct Filling {
  Draw *draw;
  const TdPrim *prim;
  int rank;
} Filling;

static const char *fill_band(Filling *f) {
  Draw *d = f->draw;
  if (!takes_producer(f->prim)) return draw_band(d, &f->rank);
  draw_producer(d);
  d->loops = d->array != NULL;
  if (d->array && rng_chance(d->rng, 40)) return d->array;
  d->loops = 0;
  return draw_band(d, &f->rank);
}

static int64_t fill_int(Filling *f, const TdArgSpec *spec) {
  bool dimension = strcmp(spec->name, "axis") == 0 || strcmp(spec->name, "dim") == 0;
  return dimension ? draw_dimension(f->draw, 2) : draw_int(f->draw);
}

/* A value for a spec of the primitive. */
static void fill(Filling *f, const TdArgSpec *spec, TdArgValue *v) {
  Draw *d = f->draw;
  v->given = true;
  if (spec->place == TD_ARG_REST) {
    draw_loops(d, strcmp(f->prim->name, "reorder") == 0, v);
    return;
  }
  bool passed = takes_passed(f->prim);
  switch (spec->kind) {
  case TD_ARG_LOOP: v->text = draw_loop(d); break;
  case TD_ARG_BAND: v->text = fill_band(f); break;
  case TD_ARG_ARRAY: v->text = passed ? draw_passed(d) : draw_array(d); break;
  case TD_ARG_UNIT: v->text = passed ? draw_reader(d) : draw_unit(d); break;
  case TD_ARG_STREAM: v->text = draw_stream(d); break;
  case TD_ARG_NAME: v->text = draw_name(d); break;
  case TD_ARG_INT: v->integer = fill_int(f, spec); break;
  case TD_ARG_FLAG: v->integer = rng_chance(d->rng, 60); break;
  case TD_ARG_INTS: draw_ints(d, f->rank, v); break;
  case TD_ARG_NAMES: draw_names(d, spec->words, v); break;
  case TD_ARG_WORD: v->text = draw_word(d, spec->words); break;
  case TD_ARG_TYPE: v->integer = rng_below(d->rng, STEP_TYPES); break;
  case TD_ARG_DEVICE: v->text = draw_word(d, "ideal|u280"); break;
  case TD_ARG_COUNTS: draw_counts(d, spec->words, v); break;
  case TD_ARG_KERNEL: v->text = draw_foreign_library; break;
  default: break;
  }
}

bool step_is_listed(const char *list, const char *name) {
  size_t n = strlen(name);
  for (const char *at = list; (at = strstr(at, name)); at += n)
    if ((at == list || at[-1] == ',') && (at[n] == 0 || at[n] == ',')) return true;
  return false;
}

const char *step_only = "", *step_without = "";

static bool is_no_product(void *ud, const TdExpr *e) {
  (void)ud;
  bool sum = e->kind == TD_EXPR_OP && e->op == TD_OP_ADD && e->type->kind == TD_T_FLOAT;
  for (uint32_t i = 0; sum && i < e->nkid; i++)
    if (e->kid[i]->kind == TD_EXPR_OP && e->kid[i]->op == TD_OP_MUL && e->kid[i]->type == e->type)
      return false;
  return true;
}

/* What units of a program hold: loops whose range another loop decides, or a division by what is no
 * number; states. */
typedef struct Holds {
  bool stream, product, triangle, division, state;
} Holds;

static bool is_no_loop_variable(void *ud, const TdExpr *e) {
  (void)ud;
  return e->kind != TD_EXPR_VAR || e->sym->kind != TD_SYM_LOOP;
}

static bool is_no_division(void *ud, const TdExpr *e) {
  int64_t c;
  (void)ud;
  bool divides = e->kind == TD_EXPR_OP && (e->op == TD_OP_FLOORDIV || e->op == TD_OP_MOD);
  return !divides || td_expr_is_const(e->kid[1], &c);
}

static bool look_stmt(void *ud, const TdStmt *s) {
  Holds *h = ud;
  h->state |= s->kind == TD_STMT_LOCAL && s->cls == TD_LOCAL_STATE;
  for (uint32_t i = 0; s->kind == TD_STMT_FOR && i < s->nexpr; i++) {
    h->triangle |= !td_walk_expr(s->expr[i], is_no_loop_variable, NULL);
    h->division |= !td_walk_expr(s->expr[i], is_no_division, NULL);
  }
  return true;
}

static Holds look(const TdProg *p) {
  Holds h = {0};
  TdCtx *ctx = p->store->session->ctx;
  for (size_t i = 0; i < p->nunit; i++) {
    const TdUnit *u = p->unit[i];
    h.stream |= u->nstream > 0;
    if (u->body) td_walk_stmt(ctx, u->body, look_stmt, &h);
    h.product |=
        u == td_prog_root(p) && u->body && !td_walk_exprs(ctx, u->body, is_no_product, NULL);
  }
  return h;
}

/* Whether a primitive finds something to work on in a program: what it names exists. */
static bool is_at_home(Draw *d, const Holds *h, const TdProg *kernel, const TdPrim *prim) {
  if (takes(prim, TD_ARG_KERNEL) && !rng_chance(d->rng, LIBRARIES)) return false;
  if (takes(prim, TD_ARG_SCHEDULE)) return kernel->nunit > 1 && !td_prog_root(kernel)->nrun;
  if (draw_is_known(prim)) return draw_known(d, prim, (TdArgValue[TD_PRIM_ARGS]){{0}});
  if (takes(prim, TD_ARG_STREAM)) return h->stream;
  if (rng_chance(d->rng, NONSENSE)) return true;
  if (takes_passed(prim)) return draw_has_passed(d);
  if (takes_producer(prim)) return draw_has_producer(d);
  if (takes(prim, TD_ARG_UNIT)) return d->prog->nunit > 1;
  if (strcmp(prim->name, "fma") == 0) return h->product;
  return d->nsite > 0;
}

/* Primitives that often follow another. */
static const struct Habit {
  const char *after, *then;
} habit[] = {{"outline", "dataflow"}, {"outline", "inline"},    {"dataflow", "relay"},
             {"unfold", "relay"},     {"relay", "depth"},       {"dataflow", "depth"},
             {"buffer_at", "unfold"}, {"split", "reorder"},     {"unfold", "bundle"},
             {"relay", "chain"},      {"dataflow", "chain"},    {"unfold", "place"},
             {"buffer_at", "pack"},   {"buffer_at", "reshape"}, {"buffer_at", "collapse"},
             {"pack", "pack"},        {"buffer_at", "hoist"},   {"unfold", "isolate"},
             {"isolate", "coalesce"}, {"relay", "deal"},        {"coalesce", "coalesce"},
             {"isolate", "isolate"},  {"deal", "merge"},        {"relay", "merge"},
             {"relay", "vectorize"},  {"split", "rfactor"}};

static bool is_habit(const TdPrim *after, const TdPrim *then) {
  for (size_t i = 0; after && i < sizeof habit / sizeof *habit; i++)
    if (strcmp(habit[i].after, after->name) == 0 && strcmp(habit[i].then, then->name) == 0)
      return true;
  return false;
}

/* How much likelier than others a primitive is that few programs have something for. */
static const struct Odds {
  const char *name;
  int weight;
} odds[] = {
    {"bundle", 300}, {"chain", 60},     {"unify", 14}, {"compose", 4},      {"relay", 6},
    {"reuse_at", 6}, {"depth", 10},     {"place", 6},  {"fold_storage", 6}, {"collapse", 70},
    {"fma", 2},      {"dataflow", 2},   {"unfold", 2}, {"inject", 20},      {"search", 5},
    {"isolate", 12}, {"coalesce", 900}, {"deal", 120}, {"expand", 10},      {"hoist", 60},
    {"merge", 40},   {"vectorize", 60}, {"widen", 4},  {"wire", 3},         {"rfactor", 900},
};
/* Where the kernel is a design, others find much too: a share of it. */
enum { OF_DESIGN = 3 };

/* How much likelier primitives are that may go wrong with what a program holds. */
enum { SPLIT_TRIANGLE = 6, REORDER_DIVISION = 12, MOVE_STATE = 5 };

static int favour_of(const TdPrim *prim, const Holds *h) {
  const struct {
    const char *name;
    bool holds;
    int times;
  } favour[] = {{"split", h->triangle, SPLIT_TRIANGLE},
                {"reorder", h->division, REORDER_DIVISION},
                {"inline", h->state, MOVE_STATE},
                {"outline", h->state, MOVE_STATE},
                {"unify", h->state, MOVE_STATE}};
  for (size_t i = 0; i < sizeof favour / sizeof *favour; i++)
    if (favour[i].holds && strcmp(favour[i].name, prim->name) == 0) return favour[i].times;
  return 1;
}

static int weight_of(const TdPrim *prim, const Holds *h, bool design) {
  for (size_t i = 0; i < sizeof odds / sizeof *odds; i++)
    if (strcmp(odds[i].name, prim->name) == 0)
      return favour_of(prim, h) *
             (design ? (odds[i].weight + OF_DESIGN - 1) / OF_DESIGN : odds[i].weight);
  return favour_of(prim, h);
}

/* One of the primitives that are in use, or NULL. */
static const TdPrim *draw_prim(Draw *d, const TdPrim *last, const TdProg *kernel) {
  int found = 0;
  const TdPrim *one = NULL;
  Holds h = look(d->prog);
  bool follows = rng_chance(d->rng, 40), design = td_prog_root(kernel)->nrun > 0;
  for (int i = 0; td_prims[i]; i++) {
    const char *name = td_prims[i]->name;
    bool off =
        (*step_only && !step_is_listed(step_only, name)) || step_is_listed(step_without, name);
    if (off || !is_at_home(d, &h, kernel, td_prims[i])) continue;
    int weight = follows && is_habit(last, td_prims[i]) ? 20 : weight_of(td_prims[i], &h, design);
    found += weight;
    if (rng_below(d->rng, found) < weight) one = td_prims[i];
  }
  return one;
}

static void draw_sub(Draw *d, const TdProg *kernel, Step *s);

Step step_draw(Rng *rng, TdArena *a, TdAffine *affine, const TdVersion *now, const TdProg *kernel) {
  Draw d = draw_start(rng, a, affine, now->prog);
  Step s = {.prim = draw_prim(&d, now->prim, kernel)};
  Filling f = {&d, s.prim, 2};
  if (s.prim && draw_is_known(s.prim) && !rng_chance(rng, NONSENSE) &&
      draw_known(&d, s.prim, s.arg))
    return s;
  for (int i = 0; s.prim && i < TD_PRIM_ARGS && s.prim->args[i].kind != TD_ARG_END; i++) {
    const TdArgSpec *spec = &s.prim->args[i];
    bool optional = spec->place == TD_ARG_OPTION || spec->place == TD_ARG_OPTIONAL;
    bool seldom = spec->place == TD_ARG_OPTION && spec->kind != TD_ARG_WORD;
    int chance = seldom ? 25 : optional ? 50 : 100;
    bool fits = strcmp(spec->name, "by") != 0 || rng_chance(rng, NONSENSE);
    if (rng_chance(rng, chance) && fits) fill(&f, spec, &s.arg[i]);
  }
  if (s.prim && takes(s.prim, TD_ARG_SCHEDULE)) draw_sub(&d, kernel, &s);
  return s;
}

/* Draws the schedule that s takes: a callee and some steps, all on the callee as it was captured.
 */
static void draw_sub(Draw *d, const TdProg *kernel, Step *s) {
  Step *sub = TD_NEWN(d->arena, Step, MOST_SUB);
  const TdUnit *u = kernel->unit[rng_below(d->rng, (int)kernel->nunit - 1)];
  s->of = td_arena_strdup(d->arena, u->sym->name);
  TdVersion now = {.prog = step_callee(kernel, s->of)};
  int n = 1 + rng_below(d->rng, MOST_SUB);
  for (int k = 0; k < n; k++) {
    Step x = step_draw(d->rng, d->arena, d->affine, &now, now.prog);
    if (x.prim) sub[s->nsub++] = x;
  }
  s->sub = sub;
}

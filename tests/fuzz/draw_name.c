/* draw_name.c - arrays, units and streams for a random call. */
#include <string.h>

#include "tests/fuzz/draw.h"

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

const char *draw_array(Draw *d) {
  Pool p = {.draw = d, .arrays = true, .scalars = rng_chance(d->rng, 3)};
  const Site *at = d->focus >= 0 ? &d->site[d->focus] : NULL;
  bool near = at && rng_chance(d->rng, 85);
  add_things(&p, at ? at->unit : td_prog_root(d->prog), near ? at->loop : NULL);
  return p.n && !rng_chance(d->rng, NONSENSE) ? p.name[rng_below(d->rng, p.n)] : draw_nonsense(d);
}

/* The tasks of a program: the units that some design runs, and the name of each run. */
static const TdRun *run_of(const TdProg *p, const TdUnit *u) {
  for (size_t i = 0; i < p->nunit; i++)
    for (size_t k = 0; k < p->unit[i]->nrun; k++)
      if (p->unit[i]->run[k].unit == u->sym) return &p->unit[i]->run[k];
  return NULL;
}

/* A search for arrays that are passed on, one of which is chosen. */
typedef struct Passed {
  const Draw *draw;
  const TdUnit *unit;
  Rng *rng; /* NULL: the first will do */
  int found;
  const TdStmt *one;
  const TdUnit *of;
} Passed;

/* Whether two statements of the body use what s declares, and no other. */
static bool is_passed_on(const Passed *p, const TdStmt *s) {
  const TdStmt *body = p->unit->body;
  int n = 0;
  for (uint32_t i = 0; i < body->nkid; i++)
    n +=
        body->kid[i] != s && td_walk_uses(p->draw->prog->store->session->ctx, body->kid[i], s->sym);
  return n == 2 && s->init == TD_INIT_NONE;
}

static bool look_passed(void *ud, const TdStmt *s) {
  Passed *p = ud;
  bool array = s->kind == TD_STMT_LOCAL && s->type->kind == TD_T_TENSOR;
  if (!array || !(run_of(p->draw->prog, p->unit) || is_passed_on(p, s))) return true;
  if (p->rng && rng_below(p->rng, ++p->found)) return true;
  p->one = s;
  p->of = p->unit;
  return p->rng;
}

static Passed find_passed(const Draw *d, Rng *rng) {
  Passed p = {.draw = d, .rng = rng};
  for (size_t i = 0; i < d->prog->nunit; i++) {
    p.unit = d->prog->unit[i];
    if (p.unit->body) td_walk_stmt(d->prog->store->session->ctx, p.unit->body, look_passed, &p);
  }
  return p;
}

bool draw_has_passed(const Draw *d) {
  return find_passed(d, NULL).one;
}

const char *draw_passed(Draw *d) {
  Passed p = find_passed(d, d->rng);
  if (!p.one || rng_chance(d->rng, NONSENSE)) return draw_array(d);
  d->array = td_arena_strdup(d->arena, p.one->sym->name);
  d->unit = p.of;
  const TdRun *run = run_of(d->prog, d->unit);
  return run ? td_text_fmt(d->arena, "%s:%s", run->sym->name, d->array) : d->array;
}

/* Whether a statement uses an array of its unit. */
static bool uses(const Draw *d, const TdStmt *s, const char *array) {
  TdPlace at;
  TdDiag quiet = {.arena = d->arena};
  return td_cursor_array(d->arena, d->prog, array, d->unit, &at, &quiet) &&
         td_walk_uses(d->prog->store->session->ctx, s, at.sym);
}

const char *draw_reader(Draw *d) {
  const TdRun *run = d->array ? run_of(d->prog, d->unit) : NULL;
  if (!d->array || rng_chance(d->rng, NONSENSE)) return draw_unit(d);
  if (run) return td_arena_strdup(d->arena, run->sym->name);
  const TdStmt *body = d->unit->body, *last = NULL;
  for (uint32_t i = 0; i < body->nkid; i++)
    if (uses(d, body->kid[i], d->array)) last = body->kid[i];
  if (last && last->kind == TD_STMT_CALL) return td_arena_strdup(d->arena, last->sym->name);
  if (last && last->kind == TD_STMT_FOR)
    return td_arena_strdup(d->arena, td_cursor_spec(d->arena, d->prog, d->unit, last));
  return draw_unit(d);
}

const char *draw_unit(Draw *d) {
  int n = (int)d->prog->nunit - 1;
  if (n == 0 || rng_chance(d->rng, NONSENSE)) return draw_nonsense(d);
  return td_arena_strdup(d->arena, d->prog->unit[rng_below(d->rng, n)]->sym->name);
}

const char *draw_stream(Draw *d) {
  int found = 0;
  const char *name = NULL;
  for (size_t i = 0; i < d->prog->nunit; i++)
    for (size_t k = 0; k < d->prog->unit[i]->nstream; k++)
      if (rng_below(d->rng, ++found) == 0) name = d->prog->unit[i]->stream[k].sym->name;
  return name && !rng_chance(d->rng, NONSENSE) ? td_arena_strdup(d->arena, name) : draw_nonsense(d);
}

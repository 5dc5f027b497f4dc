/* draw_loop.c - loops for a random call: one, two that are near each other, lists of them. */
#include <string.h>

#include "tests/fuzz/draw.h"

/* Notes the loops below s, outermost first. */
static void collect(Draw *d, const TdUnit *u, const TdStmt *s, const TdStmt *block, int parent) {
  if (s->kind == TD_STMT_FOR && d->nsite < MOST_LOOPS) {
    d->site[d->nsite] = (Site){u, s, block, parent};
    parent = d->nsite++;
  }
  for (uint32_t i = 0; i < s->nkid; i++) collect(d, u, s->kid[i], s, parent);
}

Draw draw_start(Rng *rng, TdArena *a, TdAffine *affine, const TdProg *p) {
  Draw d = {.rng = rng, .arena = a, .affine = affine, .prog = p, .second = -1};
  for (size_t i = 0; i < p->nunit; i++)
    if (p->unit[i]->body) collect(&d, p->unit[i], p->unit[i]->body, NULL, -1);
  d.focus = d.nsite ? rng_below(rng, d.nsite) : -1;
  return d;
}

const char *draw_spec(const Draw *d, int site) {
  const Site *x = &d->site[site];
  return td_arena_strdup(d->arena, td_cursor_spec(d->arena, d->prog, x->unit, x->loop));
}

const char *draw_nonsense(Draw *d) {
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
 * around it. */
static int some_loop(Draw *d) {
  int near = d->focus;
  if (d->loops++ == 0 || d->focus < 0) return near;
  if (d->second >= 0) return d->second;
  int sibling = next_sibling(d, d->focus, false);
  if (sibling >= 0 && rng_chance(d->rng, 70)) {
    near = sibling;
    if (near + 1 < d->nsite && d->site[near + 1].parent == near && rng_chance(d->rng, 40)) near++;
  } else if (d->site[d->focus].parent >= 0) {
    near = d->site[d->focus].parent;
  }
  return near;
}

const char *draw_loop(Draw *d) {
  int site = some_loop(d);
  return site < 0 || rng_chance(d->rng, NONSENSE) ? draw_nonsense(d) : draw_spec(d, site);
}

/* How many loops of a unit are in a band. */
static int loops_of_band(const Draw *d, const TdUnit *u, const char *band) {
  int n = 0;
  for (int i = 0; i < d->nsite; i++) {
    const TdAttr *x = td_attrs_get(d->site[i].loop->attrs, TD_ATTR_BAND);
    n += d->site[i].unit == u && x && strcmp(x->arg[0].s, band) == 0;
  }
  return n;
}

const char *draw_band(Draw *d, int *rank) {
  int site = some_loop(d);
  *rank = 1;
  if (site < 0 || rng_chance(d->rng, NONSENSE)) return draw_nonsense(d);
  const TdAttr *band = td_attrs_get(d->site[site].loop->attrs, TD_ATTR_BAND);
  if (!band || rng_chance(d->rng, 40)) return draw_spec(d, site);
  *rank = loops_of_band(d, d->site[site].unit, band->arg[0].s);
  return td_arena_strdup(d->arena, band->arg[0].s);
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
  for (int at = d->focus; left > 0; at = d->site[at].parent) list[--left] = draw_spec(d, at);
  return n;
}

/* The focus and the loops after it in its block. */
static int in_a_row(Draw *d, const char **list) {
  int n = 0, most = 2 + rng_chance(d->rng, 15);
  for (int at = d->focus; at >= 0 && n < most; at = next_sibling(d, at, rng_chance(d->rng, 90)))
    list[n++] = draw_spec(d, at);
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

void draw_loops(Draw *d, bool reorders, TdArgValue *v) {
  const char **list = TD_NEWN(d->arena, const char *, MOST_ROW);
  int n = 0, kind = rng_below(d->rng, 100);
  if (d->nsite) {
    bool nest = kind < (reorders ? 92 : 50);
    refocus(d, nest, rng_chance(d->rng, 85));
    n = nest ? nested(d, list) : in_a_row(d, list);
    if (nest && (reorders ? kind < 90 : kind < 5)) shuffle(d, list, n);
  }
  while (n < 2 && rng_chance(d->rng, 90))
    list[n++] = d->nsite ? draw_spec(d, rng_below(d->rng, d->nsite)) : draw_nonsense(d);
  if (n && rng_chance(d->rng, NONSENSE)) list[rng_below(d->rng, n)] = draw_nonsense(d);
  v->names = list;
  v->n = (size_t)n;
}

/* Whether two loops run over the same values, as far as the text tells. */
static bool same_range(const Site *x, const Site *y) {
  return x->loop->step == y->loop->step && td_equal_expr(td_for_lo(x->loop), td_for_lo(y->loop)) &&
         td_equal_expr(td_for_hi(x->loop), td_for_hi(y->loop));
}

/* An array that one loop writes and another uses. */
typedef struct Flow {
  const Draw *draw;
  const TdStmt *reader;
  const char *array;
} Flow;

static bool find_flow(void *ud, const TdStmt *s) {
  Flow *f = ud;
  TdCtx *ctx = f->draw->prog->store->session->ctx;
  if (s->kind == TD_STMT_STORE && s->expr[0]->nkid && td_walk_uses(ctx, f->reader, s->expr[0]->sym))
    f->array = s->expr[0]->sym->name;
  return !f->array;
}

/* The array through which what x computes reaches y, or NULL. */
static const char *flow(const Draw *d, const Site *x, const Site *y) {
  Flow f = {d, y->loop, NULL};
  td_walk_stmt(d->prog->store->session->ctx, x->loop, find_flow, &f);
  return f.array ? td_arena_strdup(d->arena, f.array) : NULL;
}

/* Moves focus and second inwards, mostly as far as the ranges are equal. */
static void go_inside(Draw *d) {
  for (;;) {
    int x = d->focus + 1, y = d->second + 1;
    bool inner = x < d->nsite && y < d->nsite && d->site[x].parent == d->focus &&
                 d->site[y].parent == d->second && rng_chance(d->rng, 60);
    if (!inner || !(same_range(&d->site[x], &d->site[y]) || rng_chance(d->rng, 10))) return;
    d->focus = x;
    d->second = y;
  }
}

bool draw_has_producer(const Draw *d) {
  for (int i = 0; i < d->nsite; i++)
    for (int j = next_sibling(d, i, false); j >= 0; j = next_sibling(d, j, false))
      if (flow(d, &d->site[i], &d->site[j])) return true;
  return false;
}

void draw_producer(Draw *d) {
  int found = 0, from = -1, to = -1;
  for (int i = 0; i < d->nsite; i++)
    for (int j = next_sibling(d, i, false); j >= 0; j = next_sibling(d, j, false)) {
      const char *array = flow(d, &d->site[i], &d->site[j]);
      bool equal = array && same_range(&d->site[i], &d->site[j]);
      if (!array || (!equal && rng_chance(d->rng, 85))) continue;
      if (rng_below(d->rng, ++found)) continue;
      from = i;
      to = j;
      d->array = array;
    }
  if (!found) return;
  d->focus = from;
  d->second = to;
  go_inside(d);
}

/* gen_design.c - random designs: tasks on a grid that move blocks of their arguments through
 * locals, and pairs of tasks between which elements or blocks go by streams. */
#include "tests/fuzz/gen.h"

#include <string.h>

/* The instances of a task. */
typedef struct Grid {
  int rank;
  int64_t n[2];
  const char *id[2];
} Grid;

/* An argument of a task: what each instance has of it, and the axis of the grid that cuts each
 * dimension, or -1. */
typedef struct Arg {
  Thing part;
  int axis[GEN_RANK];
} Arg;

enum { MOST_ARGS = 3 };

/* A task under construction. The dimension `turned` of its first argument is gone through in
 * `turns` parts, one at a time, if turns > 1. */
typedef struct Task {
  Grid grid;
  Arg arg[MOST_ARGS]; /* the last is written */
  int narg;
  int64_t turns;
  int turned;
  const char *turn; /* the loop over the parts, where it is open */
  bool host;
} Task;

static Grid draw_grid(Gen *g, int least) {
  Grid r = {.rank = least + rng_below(&g->rng, 3 - least)};
  for (int i = 0; i < r.rank; i++) {
    r.n[i] = 2 + rng_below(&g->rng, 2);
    r.id[i] = gen_fresh_name(g, "id");
  }
  return r;
}

/* An extent of what an instance has: small, or a size. */
static Range part_extent(Gen *g) {
  if (g->sized && rng_chance(&g->rng, 20)) return gen_extent(g);
  return (Range){0, 2 + rng_below(&g->rng, 3), -1};
}

/* An argument; all axes of the grid cut one that is written, so that no two instances meet. */
static Arg draw_arg(Gen *g, const Grid *grid, const char *stem, bool written) {
  Arg x = {.part = {.name = gen_fresh_name(g, stem), .of = gen_pick_type(g), .writable = written}};
  int least = written && grid->rank ? grid->rank : 1, at[GEN_RANK] = {0, 1, 2};
  x.part.rank = least + rng_below(&g->rng, 3 - least);
  for (int d = 0; d < x.part.rank; d++) {
    x.part.extent[d] = part_extent(g);
    x.axis[d] = -1;
  }
  for (int d = x.part.rank - 1; d > 0; d--) {
    int e = rng_below(&g->rng, d + 1), t = at[d];
    at[d] = at[e];
    at[e] = t;
  }
  for (int i = 0; i < grid->rank && i < x.part.rank; i++)
    if (written || rng_chance(&g->rng, 60)) x.axis[at[i]] = i;
  return x;
}

/* Writes "map = {..}," and the types of the arguments, and opens the function. */
static void open_task(Gen *g, const char *name, const Task *t) {
  TdText head = td_text_new(g->arena);
  td_text_line(&g->out, "d.%s = tide.task {%s", name, t->host ? " --@ host" : "");
  g->out.indent++;
  for (int i = 0; i < t->grid.rank; i++)
    td_text_putf(&head, "%s%lld", i ? ", " : "map = {", (long long)t->grid.n[i]);
  if (t->grid.rank) td_text_line(&g->out, "%s},", td_text_str(&head));
  TdText names = td_text_new(g->arena);
  for (int k = 0; k < t->narg; k++) {
    const Arg *x = &t->arg[k];
    TdText type = td_text_new(g->arena);
    td_text_puts(&type, x->part.of.name);
    for (int d = 0; d < x->part.rank; d++) {
      const char *part = gen_extent_text(g, x->part.extent[d]);
      if (x->axis[d] < 0)
        td_text_putf(&type, "[%s]", part);
      else
        td_text_putf(&type, "[%lld * (%s)]", (long long)t->grid.n[x->axis[d]], part);
    }
    if (t->grid.rank) td_text_puts(&type, ":layout \"");
    for (int d = 0; t->grid.rank && d < x->part.rank; d++)
      td_text_puts(&type, x->axis[d] < 0 ? "R" : x->axis[d] ? "S1" : "S0");
    td_text_line(&g->out, "%s = %s%s,", x->part.name, td_text_str(&type), t->grid.rank ? "\"" : "");
    td_text_putf(&names, "%s%s", k ? ", " : "", x->part.name);
  }
  for (int i = 0; i < t->grid.rank; i++) td_text_putf(&names, ", %s", t->grid.id[i]);
  td_text_line(&g->out, "function(%s)", td_text_str(&names));
  g->out.indent++;
  g->nthing = g->nloop = 0;
  g->work = 1;
  for (int i = 0; i < t->grid.rank; i++)
    g->loop[g->nloop++] = (LoopVar){t->grid.id[i], {0, t->grid.n[i] - 1, -1}};
}

static void close_task(Gen *g) {
  g->out.indent--;
  td_text_line(&g->out, "end,");
  g->out.indent--;
  td_text_line(&g->out, "}");
}

/* Opens loops over all of t, from dimension `from` on; "[i][j]" is where they stand. */
static const char *open_over(Gen *g, const Thing *t, int from) {
  TdText place = td_text_new(g->arena);
  for (int d = from; d < t->rank; d++) {
    gen_open_over(g, t->extent[d], 0);
    td_text_putf(&place, "[%s]", g->loop[g->nloop - 1].name);
  }
  return td_text_str(&place);
}

/* The place of the argument that a place of its local was filled from. */
static const char *source(Gen *g, const Task *t, const Arg *x, const char *at) {
  int first = g->nloop - x->part.rank;
  if (!t->turn || x != &t->arg[0]) return td_text_fmt(g->arena, "%s%s", x->part.name, at);
  TdText text = td_text_new(g->arena);
  td_text_puts(&text, x->part.name);
  for (int d = 0; d < x->part.rank; d++) {
    const char *v = g->loop[first + d].name;
    int64_t n = x->part.extent[d].hi / t->turns;
    if (d == t->turned)
      td_text_putf(&text, "[%s * %lld + %s]", t->turn, (long long)n, v);
    else
      td_text_putf(&text, "[%s]", v);
  }
  return td_text_str(&text);
}

/* A local that a copy of an argument fills, in scope from here on. Sometimes its first row is
 * zeros, or what is copied is changed on the way or later. */
static Thing put_fill(Gen *g, const Task *t, const Arg *x, const char *declared) {
  Thing b = x->part;
  b.name = declared ? declared : gen_fresh_name(g, "b");
  b.writable = false;
  if (t->turn && x == &t->arg[0]) b.extent[t->turned].hi /= t->turns;
  if (!declared) td_text_line(&g->out, "local %s = %s()", b.name, gen_shape_text(g, &b));
  if (!t->turn && rng_chance(&g->rng, 25)) {
    td_text_line(&g->out, "%s:set(%s)", b.name, x->part.name);
    g->has[FEATURE_SET] = true;
  } else {
    Scope s = gen_open_scope(g);
    const char *at = open_over(g, &b, 0), *from = source(g, t, x, at), *v = g->loop[s.nloop].name;
    bool border = !t->turn && rng_chance(&g->rng, 12), changed = rng_chance(&g->rng, 5);
    if (border)
      td_text_line(&g->out, "if %s > 0 then %s%s = %s else %s%s = %s(0) end", v, b.name, at, from,
                   b.name, at, b.of.name);
    else
      td_text_line(&g->out, "%s%s = %s", b.name, at, changed ? gen_use(g, b.of, from) : from);
    gen_close_loops(g, s);
  }
  if (rng_chance(&g->rng, 4)) {
    b.writable = true;
    td_text_line(&g->out, "%s = %s(1)", gen_place(g, &b), b.of.name);
  }
  g->thing[g->nthing++] = b;
  return b;
}

/* "C:set(c)", or loops that copy. */
static void put_drain(Gen *g, const Arg *to, const Thing *c) {
  if (rng_chance(&g->rng, 30)) {
    td_text_line(&g->out, "%s:set(%s)", to->part.name, c->name);
    g->has[FEATURE_SET] = true;
    return;
  }
  Scope s = gen_open_scope(g);
  const char *at = open_over(g, c, 0), *from = td_text_fmt(g->arena, "%s%s", c->name, at);
  bool changed = rng_chance(&g->rng, 6);
  td_text_line(&g->out, "%s%s = %s", to->part.name, at, changed ? gen_use(g, c->of, from) : from);
  gen_close_loops(g, s);
}

/* Whether the elements of x may be stored to t as they are. */
static bool is_storable(const Gen *g, const Thing *t, const Thing *x) {
  return x->rank == t->rank && gen_same_extents(x->extent, t->extent, t->rank) &&
         td_promote_can_store(t->of.type, td_type_plain(g->session, x->of.type));
}

/* A statement on whole tensors that sets c from what is in scope; false when nothing fits. */
static bool put_tensor(Gen *g, const Thing *c) {
  for (int i = 0; i < g->nthing; i++) {
    const Thing *x = &g->thing[i], *y = i + 1 < g->nthing ? x + 1 : NULL;
    bool product = y && x->rank == 2 && y->rank == 2 && c->rank == 2 &&
                   gen_same_extents(&x->extent[1], y->extent, 1) &&
                   gen_same_extents(x->extent, c->extent, 1) &&
                   gen_same_extents(&y->extent[1], &c->extent[1], 1) &&
                   x->of.type->kind == TD_T_FLOAT && x->of.type == y->of.type &&
                   x->of.type == c->of.type;
    if (!product && !is_storable(g, c, x)) continue;
    if (product)
      td_text_line(&g->out, "%s:set(tide.matmul(%s, %s))", c->name, x->name, y->name);
    else if (x->of.type->kind == TD_T_FLOAT && rng_chance(&g->rng, 60))
      td_text_line(&g->out, "%s:set(%s * 2.0 + %s)", c->name, x->name, x->name);
    else
      td_text_line(&g->out, "%s:set(%s)", c->name, x->name);
    g->has[FEATURE_SET] = true;
    return true;
  }
  return false;
}

/* Computes c, element by element or as a whole; `sums`: on top of what it holds. */
static void put_compute(Gen *g, const Thing *c, bool sums) {
  if (!sums && rng_chance(&g->rng, 30) && put_tensor(g, c)) return;
  Scope s = gen_open_scope(g);
  const char *to = td_text_fmt(g->arena, "%s%s", c->name, open_over(g, c, 0));
  if (rng_chance(&g->rng, 30)) gen_open_over(g, (Range){0, 2 + rng_below(&g->rng, 2), -1}, 0);
  const char *value = sums ? gen_accumulation(g, c->of, to) : gen_value(g, c->of, 2);
  td_text_line(&g->out, "%s = %s", to, value);
  gen_close_loops(g, s);
}

/* Locals for most of what is read, perhaps in turns, and what is computed from them. */
static void put_body(Gen *g, Task *t) {
  const Arg *out = &t->arg[t->narg - 1];
  Thing c = out->part;
  bool local = rng_chance(&g->rng, 70), zero = t->turns > 1 || rng_chance(&g->rng, 50);
  if (local) {
    c.name = gen_fresh_name(g, "b");
    td_text_line(&g->out, "local %s = %s(%s)", c.name, gen_shape_text(g, &c), zero ? "0" : "");
  }
  Scope s = gen_open_scope(g);
  if (t->turns > 1) {
    gen_open_over(g, (Range){0, t->turns, -1}, 0);
    t->turn = g->loop[g->nloop - 1].name;
  } else if (t->grid.rank && rng_chance(&g->rng, 4)) {
    gen_open_to(g, t->grid.id[0], (int)t->grid.n[0]);
  }
  for (int k = 0; k + 1 < t->narg; k++) {
    if (rng_chance(&g->rng, 85))
      put_fill(g, t, &t->arg[k], NULL);
    else
      g->thing[g->nthing++] = t->arg[k].part;
  }
  put_compute(g, &c, local ? zero : t->turns > 1);
  gen_close_loops(g, s);
  if (local) put_drain(g, out, &c);
}

/* A task on a grid whose operands go through locals. */
static void put_tiles(Gen *g) {
  Task t = {.grid = draw_grid(g, 1), .narg = 2 + rng_below(&g->rng, 2)};
  for (int k = 0; k < t.narg; k++)
    t.arg[k] = draw_arg(g, &t.grid, k + 1 < t.narg ? "A" : "C", k + 1 == t.narg);
  if (rng_chance(&g->rng, 25))
    for (int k = 1; k < t.narg; k++) t.arg[k].part.of = t.arg[0].part.of;
  if (rng_chance(&g->rng, 25)) {
    Arg *c = &t.arg[t.narg - 1], *a = &t.arg[t.narg - 2];
    memcpy(c->part.extent, a->part.extent, sizeof c->part.extent);
    if (c->part.rank > a->part.rank) c->part.extent[1] = part_extent(g);
  }
  t.turned = rng_below(&g->rng, t.arg[0].part.rank);
  Range *most = &t.arg[0].part.extent[t.turned];
  if (most->size < 0 && rng_chance(&g->rng, 35)) {
    t.turns = 2 + rng_below(&g->rng, 2);
    most->hi *= t.turns;
  }
  open_task(g, gen_fresh_name(g, "pe"), &t);
  put_body(g, &t);
  close_task(g);
  g->has[FEATURE_TILES] = true;
}

/* ---- two tasks and a stream ---- */

/* Two tasks, the stream from one to the other, and how tokens go. */
typedef struct Pair {
  const char *stream; /* with its indices */
  Task from, to;
  int outer;                /* of a block stream: dimensions of the loops around the tokens */
  bool block, guarded, odd; /* odd: gets in a nest of another shape */
} Pair;

/* Opens the condition under which tokens of a guarded stream go; loops are open. */
static bool open_guard(Gen *g, const Pair *p, int first) {
  if (!p->guarded || first >= g->nloop) return false;
  td_text_line(&g->out, "if %s > 0 then", g->loop[first].name);
  g->out.indent++;
  return true;
}

static void close_guard(Gen *g, bool open) {
  if (!open) return;
  g->out.indent--;
  td_text_line(&g->out, "end");
}

/* The task that puts, element by element. */
static void put_maker(Gen *g, Pair *p, const char *name) {
  const Thing *e = &p->from.arg[0].part;
  open_task(g, name, &p->from);
  g->thing[g->nthing++] = *e;
  Scope s = gen_open_scope(g);
  const char *at = open_over(g, e, 0);
  bool guard = open_guard(g, p, s.nloop);
  const char *value =
      rng_chance(&g->rng, 50) ? td_text_fmt(g->arena, "%s%s", e->name, at) : gen_value(g, e->of, 1);
  td_text_line(&g->out, "%s:put(%s)", p->stream, value);
  close_guard(g, guard);
  gen_close_loops(g, s);
  close_task(g);
}

/* The task that gets, element by element. */
static void put_taker(Gen *g, Pair *p, const char *name) {
  const Thing *f = &p->to.arg[0].part;
  open_task(g, name, &p->to);
  Scope s = gen_open_scope(g);
  const char *at = NULL, *v = gen_fresh_name(g, "s");
  if (p->odd) {
    gen_open_over(g, (Range){0, f->extent[0].hi * f->extent[1].hi, -1}, 0);
    const char *n = g->loop[g->nloop - 1].name;
    at = td_text_fmt(g->arena, "[%s // %lld][%s %% %lld]", n, (long long)f->extent[1].hi, n,
                     (long long)f->extent[1].hi);
  } else {
    at = open_over(g, f, 0);
  }
  bool guard = open_guard(g, p, s.nloop);
  td_text_line(&g->out, "local %s = %s:get()", v, p->stream);
  td_text_line(&g->out, "%s%s = %s", f->name, at, gen_use(g, f->of, v));
  close_guard(g, guard);
  gen_close_loops(g, s);
  close_task(g);
}

/* Opens the loops around the blocks of a pair; the place of a block in its argument. */
static const char *open_blocks(Gen *g, const Pair *p, const Thing *t) {
  Thing outer = *t;
  outer.rank = p->outer;
  return open_over(g, &outer, 0);
}

/* The task that puts blocks: slots that it fills. */
static void put_block_maker(Gen *g, Pair *p, const char *name) {
  const Thing *e = &p->from.arg[0].part;
  open_task(g, name, &p->from);
  Scope s = gen_open_scope(g);
  const char *at = open_blocks(g, p, e), *b = gen_fresh_name(g, "b");
  td_text_line(&g->out, "local %s = %s:slot()", b, p->stream);
  Scope inner = gen_open_scope(g);
  const char *in = open_over(g, e, p->outer);
  const char *from = td_text_fmt(g->arena, "%s%s%s", e->name, at, in);
  td_text_line(&g->out, "%s%s = %s", b, in,
               rng_chance(&g->rng, 25) ? gen_use(g, e->of, from) : from);
  gen_close_loops(g, inner);
  td_text_line(&g->out, "%s:put(%s)", p->stream, b);
  gen_close_loops(g, s);
  close_task(g);
}

/* The task that gets them. */
static void put_block_taker(Gen *g, Pair *p, const char *name) {
  const Thing *f = &p->to.arg[0].part;
  open_task(g, name, &p->to);
  Scope s = gen_open_scope(g);
  const char *at = open_blocks(g, p, f), *b = gen_fresh_name(g, "b");
  td_text_line(&g->out, "local %s = %s:get()", b, p->stream);
  Scope inner = gen_open_scope(g);
  const char *in = open_over(g, f, p->outer), *from = td_text_fmt(g->arena, "%s%s", b, in);
  bool plain = f->of.type == p->from.arg[0].part.of.type && rng_chance(&g->rng, 50);
  td_text_line(&g->out, "%s%s%s = %s", f->name, at, in, plain ? from : gen_use(g, f->of, from));
  gen_close_loops(g, inner);
  gen_close_loops(g, s);
  close_task(g);
}

/* Declares the stream of a pair, one for each instance. */
static void put_stream(Gen *g, Pair *p) {
  const Thing *e = &p->from.arg[0].part;
  const Grid *grid = &p->from.grid;
  const char *name = gen_fresh_name(g, "Z");
  TdText end = td_text_new(g->arena), opts = td_text_new(g->arena), type = td_text_new(g->arena);
  td_text_puts(&end, name);
  td_text_puts(&type, e->of.name);
  for (int i = 0; i < grid->rank; i++) {
    td_text_putf(&end, "[%s]", grid->id[i]);
    td_text_putf(&opts, "%lld, ", (long long)grid->n[i]);
  }
  for (int d = p->outer; p->block && d < e->rank; d++)
    td_text_putf(&type, "[%s]", gen_extent_text(g, e->extent[d]));
  td_text_line(&g->out, "local %s = d:stream(%s, {%sdepth = %d%s})", name, td_text_str(&type),
               td_text_str(&opts), 1 + rng_below(&g->rng, 3), p->block ? ", block = true" : "");
  p->stream = td_text_str(&end);
}

/* A task that puts what its argument holds, and one that gets it. */
static void put_pair(Gen *g) {
  Pair p = {.block = rng_chance(&g->rng, 60)};
  Grid grid = draw_grid(g, rng_chance(&g->rng, 20) ? 0 : 1);
  p.from = (Task){.grid = grid, .narg = 1, .arg = {draw_arg(g, &grid, "E", true)}};
  p.to = (Task){.grid = grid, .narg = 1, .arg = {p.from.arg[0]}};
  p.to.arg[0].part.name = gen_fresh_name(g, "F");
  p.from.arg[0].part.writable = false;
  if (rng_chance(&g->rng, 30))
    for (int d = 0; d < p.from.arg[0].part.rank; d++)
      if (p.from.arg[0].axis[d] == grid.rank - 1) p.from.arg[0].axis[d] = -1;
  p.from.host = p.block && rng_chance(&g->rng, 85);
  p.to.host = p.block && rng_chance(&g->rng, 85);
  const Thing *e = &p.from.arg[0].part;
  p.outer = e->rank - 1 - (e->rank > 1 && rng_chance(&g->rng, 30));
  p.odd = !p.block && e->rank == 2 && e->extent[0].size < 0 && e->extent[1].size < 0 &&
          rng_chance(&g->rng, 12);
  p.guarded = !p.block && !p.odd && rng_chance(&g->rng, 10);
  put_stream(g, &p);
  const char *from = gen_fresh_name(g, "mk"), *to = gen_fresh_name(g, "tk");
  (p.block ? put_block_maker : put_maker)(g, &p, from);
  (p.block ? put_block_taker : put_taker)(g, &p, to);
  g->has[p.block ? FEATURE_BLOCK_STREAM : FEATURE_TOKEN_STREAM] = true;
}

void gen_design(Gen *g) {
  bool tiles = rng_chance(&g->rng, 65);
  td_text_line(&g->out, "local fuzzed = tide.design(function(d)");
  g->out.indent++;
  if (tiles) put_tiles(g);
  if (!tiles || rng_chance(&g->rng, 30)) put_pair(g);
  if (rng_chance(&g->rng, 15)) put_pair(g);
  g->out.indent--;
  td_text_line(&g->out, "end)");
  td_text_line(&g->out, "return fuzzed");
}

/* draw_stream.c - calls of primitives on what moves through designs: copies between arguments and
 * locals, blocks, the streams that carry them, statements on tensors. */
#include "analysis/order/effects.h"
#include "tests/fuzz/draw.h"

/* A search over the units of a program, one of the things found being drawn. */
typedef struct Search {
  Draw *draw;
  const TdUnit *unit;
  TdSym local; /* that look_copies asks about */
  TdSym one;   /* what was drawn */
  const TdUnit *of;
  int met, takes, puts;
  bool copied;
} Search;

/* One of things that are met in turn, each as likely as any other. */
static bool choose(Search *s) {
  return rng_below(s->draw->rng, ++s->met) == 0;
}

static void give_text(Draw *d, TdArgValue *v, const char *text) {
  *v = (TdArgValue){.given = true, .text = td_arena_strdup(d->arena, text)};
}

/* Gives the spec of a thing of a unit. */
static void give_thing(const Search *s, TdArgValue *v) {
  Draw *d = s->draw;
  bool root = s->of == td_prog_root(d->prog);
  give_text(
      d, v,
      td_text_fmt(d->arena, "%s%s%s", root ? "" : s->of->sym->name, root ? "" : ":", s->one->name));
}

/* Walks the bodies of all units. */
static void walk_units(Search *s, bool (*look)(void *ud, const TdStmt *x)) {
  const TdProg *p = s->draw->prog;
  for (size_t i = 0; i < p->nunit; i++) {
    s->unit = p->unit[i];
    if (s->unit->body) td_walk_stmt(p->store->session->ctx, s->unit->body, look, s);
  }
}

/* The run of a unit in the root, or NULL. */
static const TdRun *run_of(const TdProg *p, TdSym unit) {
  const TdUnit *u = td_prog_root(p);
  for (size_t i = 0; i < u->nrun; i++)
    if (u->run[i].unit == unit) return &u->run[i];
  return NULL;
}

/* ---- expand ---- */

static bool look_set(void *ud, const TdStmt *x) {
  Search *s = ud;
  TdSym array = x->kind == TD_STMT_SET ? x->expr[0]->sym : NULL;
  if (!array || !choose(s)) return true;
  s->one = array;
  s->of = s->unit;
  return true;
}

bool draw_expand(Draw *d, TdArgValue *arg) {
  Search s = {.draw = d};
  walk_units(&s, look_set);
  if (!s.met) return false;
  if (rng_chance(d->rng, 25))
    give_text(d, &arg[0], s.of->sym->name);
  else
    give_thing(&s, &arg[0]);
  return true;
}

/* ---- isolate ---- */

/* Whether an element goes as it is between the local and a parameter. */
static bool look_copies(void *ud, const TdStmt *x) {
  Search *s = ud;
  if (x->kind != TD_STMT_STORE && x->kind != TD_STMT_SET) return true;
  const TdExpr *from = x->expr[1];
  while (from->kind == TD_EXPR_CAST) from = from->kid[0];
  TdSym to = x->expr[0]->sym, was = from->sym;
  s->copied |= (to == s->local && was && td_unit_param(s->unit, was)) ||
               (was == s->local && td_unit_param(s->unit, to));
  return true;
}

static bool look_local(void *ud, const TdStmt *x) {
  Search *s = ud;
  bool array = x->kind == TD_STMT_LOCAL && x->cls == TD_LOCAL_AUTO &&
               x->type->kind == TD_T_TENSOR && run_of(s->draw->prog, s->unit->sym);
  if (!array) return true;
  s->local = x->sym;
  s->copied = false;
  td_walk_stmt(s->draw->prog->store->session->ctx, s->unit->body, look_copies, s);
  if (!s->copied && !rng_chance(s->draw->rng, 10)) return true;
  if (!choose(s)) return true;
  s->one = x->sym;
  s->of = s->unit;
  return true;
}

bool draw_isolate(Draw *d, TdArgValue *arg) {
  static const char *const place[] = {"host", "mem", "device"};
  Search s = {.draw = d};
  const TdUnit *u = td_prog_root(d->prog);
  walk_units(&s, look_local);
  bool stream = u->nstream && (!s.met || rng_chance(d->rng, 20));
  if (!s.met && !stream) return false;
  if (stream)
    give_text(d, &arg[0], u->stream[rng_below(d->rng, (int)u->nstream)].sym->name);
  else
    give_thing(&s, &arg[0]);
  if (rng_chance(d->rng, 30)) give_text(d, &arg[2], RNG_PICK(d->rng, place));
  if (rng_chance(d->rng, 25))
    arg[3] = (TdArgValue){.given = true, .integer = 1 + rng_below(d->rng, 3)};
  return true;
}

/* ---- hoist ---- */

/* Counts copies into the local and out of it, and (`met`) all that writes it. */
static bool look_way(void *ud, const TdStmt *x) {
  Search *s = ud;
  if (x->kind != TD_STMT_STORE && x->kind != TD_STMT_SET) return true;
  bool moved = x->expr[1]->kind == TD_EXPR_LOAD || x->expr[1]->kind == TD_EXPR_VIEW;
  s->met += x->expr[0]->sym == s->local;
  s->takes += moved && x->expr[0]->sym == s->local && x->expr[1]->sym != s->local;
  s->puts += moved && x->expr[1]->sym == s->local && x->expr[0]->sym != s->local;
  return true;
}

/* Whether the first statement of a body that uses a local copies into it and, if others write it,
 * the last copies out. */
static bool is_hoistable(const Search *s, const TdStmt *body, uint32_t at) {
  TdCtx *ctx = s->draw->prog->store->session->ctx;
  Search first = {.local = s->local}, all = first, last = first;
  for (uint32_t k = at + 1; k < body->nkid; k++) {
    const TdStmt *x = body->kid[k];
    if (!td_walk_uses(ctx, x, s->local)) continue;
    td_walk_stmt(ctx, x, look_way, &all);
    if (!first.copied) td_walk_stmt(ctx, x, look_way, &first);
    first.copied = true;
    last = (Search){.local = s->local};
    td_walk_stmt(ctx, x, look_way, &last);
  }
  return first.takes == 1 && first.met == 1 && (all.met == 1 || last.puts == 1);
}

/* A local that a loop's body declares at its top, copies in, and perhaps out. */
bool draw_hoist(Draw *d, TdArgValue *arg) {
  Search s = {.draw = d};
  int loop = -1;
  for (int i = 0; i < d->nsite; i++) {
    const TdStmt *body = td_for_body(d->site[i].loop);
    s.unit = d->site[i].unit;
    for (uint32_t k = 0; k < body->nkid; k++) {
      const TdStmt *x = body->kid[k];
      if (x->kind != TD_STMT_LOCAL || x->cls != TD_LOCAL_AUTO || x->type->kind != TD_T_TENSOR)
        continue;
      s.local = x->sym;
      if (!is_hoistable(&s, body, k) || !choose(&s)) continue;
      s.one = x->sym;
      s.of = s.unit;
      loop = i;
    }
  }
  if (loop < 0) return false;
  give_thing(&s, &arg[0]);
  give_text(d, &arg[1], draw_spec(d, loop));
  return true;
}

/* ---- coalesce ---- */

static bool look_ends(void *ud, const TdStmt *x) {
  Search *s = ud;
  bool take = x->kind == TD_STMT_SLOT || x->kind == TD_STMT_GET;
  bool block = take && x->sym && x->type && x->type->kind == TD_T_TENSOR;
  s->takes += take;
  s->copied |= block && x->expr[0]->kind == TD_EXPR_VIEW;
  s->puts += x->kind == TD_STMT_PUT ? 1 : x->kind == TD_STMT_SLOT ? -1 : 0;
  return true;
}

/* A task on the host that moves a block at a time, by a slot and its put or by a get. */
bool draw_coalesce(Draw *d, TdArgValue *arg) {
  Search s = {.draw = d};
  const TdUnit *root = td_prog_root(d->prog);
  const TdRun *one = NULL;
  for (size_t i = 0; i < root->nrun; i++) {
    const TdUnit *u = td_prog_unit(d->prog, root->run[i].unit);
    if (!root->run[i].rank || !u || !u->body) continue;
    s.takes = s.puts = 0;
    s.copied = false;
    td_walk_stmt(d->prog->store->session->ctx, u->body, look_ends, &s);
    bool moves =
        s.takes == 1 && s.puts == 0 && s.copied && td_attrs_get(root->run[i].attrs, TD_ATTR_HOST);
    if (moves && choose(&s)) one = &root->run[i];
  }
  if (!one) return false;
  give_text(d, &arg[0], one->sym->name);
  int axis = rng_below(d->rng, one->rank);
  if (axis || rng_chance(d->rng, 50)) arg[1] = (TdArgValue){.given = true, .integer = axis};
  if (rng_chance(d->rng, 30))
    arg[2] = (TdArgValue){.given = true, .integer = 1 + rng_below(d->rng, 3)};
  return true;
}

/* ---- deal ---- */

static bool look_put(void *ud, const TdStmt *x) {
  Search *s = ud;
  bool slot = x->kind == TD_STMT_SLOT && x->expr[0]->sym == s->local;
  s->copied |= slot;
  s->takes += x->kind == TD_STMT_GET && x->expr[0]->sym == s->local;
  if (x->kind != TD_STMT_PUT || x->expr[0]->sym != s->local) return true;
  s->of = s->unit;
  s->puts++;
  return true;
}

/* The loops of a unit below which a stream is put, as specs; how many. */
static int loops_around(Draw *d, const TdUnit *u, TdSym stream, const char **list) {
  Search s = {.draw = d, .unit = u, .local = stream};
  int n = 0;
  for (int i = 0; i < d->nsite && n < MOST_ROW; i++) {
    s.puts = 0;
    if (d->site[i].unit != u) continue;
    td_walk_stmt(d->prog->store->session->ctx, d->site[i].loop, look_put, &s);
    if (s.puts) list[n++] = draw_spec(d, i);
  }
  return n;
}

/* A stream that one statement puts, and some loops around it. */
bool draw_deal(Draw *d, TdArgValue *arg) {
  Search s = {.draw = d};
  const TdUnit *root = td_prog_root(d->prog), *of = NULL;
  const char **list = TD_NEWN(d->arena, const char *, MOST_ROW);
  for (size_t i = 0; i < root->nstream; i++) {
    s.local = root->stream[i].sym;
    s.puts = 0;
    s.copied = false;
    s.takes = 0;
    walk_units(&s, look_put);
    if (root->stream[i].type->rank > 2 || s.copied || s.takes != 1 || s.puts != 1 ||
        !loops_around(d, s.of, s.local, list) || !choose(&s))
      continue;
    s.one = s.local;
    of = s.of;
  }
  if (!s.one) return false;
  int n = loops_around(d, of, s.one, list), want = 1 + rng_chance(d->rng, 25);
  int first = rng_below(d->rng, n);
  const char *name = list[first];
  if (want < n || n == 1) {
    list[0] = name;
    want = 1;
  }
  give_text(d, &arg[0], s.one->name);
  arg[1] = (TdArgValue){.given = true, .names = list, .n = (size_t)(want < n ? want : n)};
  return true;
}

/* ---- merge ---- */

/* An array of streams along an axis, or two streams of the same tokens. */
bool draw_merge(Draw *d, TdArgValue *arg) {
  Search s = {.draw = d};
  const TdUnit *root = td_prog_root(d->prog);
  const char **list = TD_NEWN(d->arena, const char *, 2);
  size_t n = 0;
  int axes = 0;
  for (size_t i = 0; i < root->nstream; i++) {
    const TdType *t = root->stream[i].type;
    if (t->rank && choose(&s)) {
      list[0] = root->stream[i].sym->name;
      n = 1;
      axes = t->rank;
    }
    for (size_t k = 0; k < i; k++) {
      const TdType *other = root->stream[k].type;
      if (t->elem != other->elem || t->block != other->block || t->rank != other->rank) continue;
      if (!choose(&s)) continue;
      list[0] = root->stream[k].sym->name;
      list[1] = root->stream[i].sym->name;
      n = 2;
      axes = t->rank;
    }
  }
  if (!n) return false;
  arg[0] = (TdArgValue){.given = true, .names = list, .n = n};
  if (n == 1 || (axes && rng_chance(d->rng, 25)))
    arg[1] = (TdArgValue){.given = true, .integer = rng_below(d->rng, axes)};
  if (arg[1].given && rng_chance(d->rng, 25))
    arg[2] = (TdArgValue){.given = true, .integer = 1 + rng_below(d->rng, 3)};
  if (rng_chance(d->rng, 25))
    arg[3] = (TdArgValue){.given = true, .integer = 1 + rng_below(d->rng, 6)};
  return true;
}

/* ---- vectorize ---- */

/* Whether a loop has no loop in it. */
static bool is_innermost(const Draw *d, const TdStmt *loop) {
  for (int i = 0; i < d->nsite; i++)
    if (d->site[i].parent >= 0 && d->site[d->site[i].parent].loop == loop) return false;
  return true;
}

/* Counts the puts and gets of a stream. */
static bool look_moves(void *ud, const TdStmt *x) {
  Search *s = ud;
  bool of = (x->kind == TD_STMT_PUT || x->kind == TD_STMT_GET) && x->expr[0]->sym == s->local;
  s->puts += of && x->kind == TD_STMT_PUT;
  s->takes += of && x->kind == TD_STMT_GET;
  return true;
}

/* Whether a stream of scalars is put and got in innermost loops. */
static bool is_of_lanes(Draw *d, const TdStream *stream) {
  Search in = {.draw = d, .local = stream->sym}, all = in;
  if (stream->type->elem->kind == TD_T_TENSOR) return false;
  walk_units(&all, look_moves);
  for (int i = 0; i < d->nsite; i++)
    if (is_innermost(d, d->site[i].loop))
      td_walk_stmt(d->prog->store->session->ctx, d->site[i].loop, look_moves, &in);
  return in.puts && in.takes &&
         (rng_chance(d->rng, 25) || (in.puts == all.puts && in.takes == all.takes));
}

bool draw_vectorize(Draw *d, TdArgValue *arg) {
  Search s = {.draw = d};
  const TdUnit *root = td_prog_root(d->prog);
  for (size_t i = 0; i < root->nstream; i++)
    if (is_of_lanes(d, &root->stream[i]) && choose(&s)) s.one = root->stream[i].sym;
  if (!s.one) return false;
  give_text(d, &arg[0], s.one->name);
  if (rng_chance(d->rng, 25))
    arg[1] = (TdArgValue){.given = true, .integer = 2 + rng_below(d->rng, 3)};
  return true;
}

/* ---- wire ---- */

/* Whether two statements leave alone what the other writes, but for a local. */
static bool is_apart(Draw *d, const TdStmt *first, const TdStmt *second, TdSym local) {
  TdAsk q = {
      .affine = d->affine, .arena = d->arena, .prog = d->prog, .unit = td_prog_root(d->prog)};
  const TdEffect *x, *y;
  size_t nx = td_effects_of(&q, first, &x), ny = td_effects_of(&q, second, &y);
  for (size_t i = 0; i < nx; i++)
    for (size_t k = 0; k < ny; k++)
      if (x[i].sym == y[k].sym && x[i].sym != local && (x[i].write || y[k].write)) return false;
  return true;
}

/* Whether two loops of a block use a local, nothing else does, and nothing else joins them. */
static bool is_between(Draw *d, const TdStmt *block, TdSym local) {
  const TdStmt *end[2] = {NULL, NULL};
  int n = 0;
  for (uint32_t i = 0; i < block->nkid; i++) {
    const TdStmt *s = block->kid[i];
    if (s->sym == local || !td_walk_uses(d->prog->store->session->ctx, s, local)) continue;
    if (n == 2 || s->kind != TD_STMT_FOR) return false;
    end[n++] = s;
  }
  return n == 2 && is_apart(d, end[0], end[1], local);
}

/* Whether tasks write an argument of their design. */
static bool is_written(Draw *d, TdSym arg) {
  const TdUnit *u = td_prog_root(d->prog);
  for (size_t i = 0; i < u->nrun; i++)
    for (size_t b = 0; b < u->run[i].nbind; b++) {
      const TdUnit *task = td_prog_unit(d->prog, u->run[i].unit);
      if (u->run[i].bind[b].arg != arg || !task->body) continue;
      TdAsk q = {.affine = d->affine, .arena = d->arena, .prog = d->prog, .unit = task};
      const TdEffect *x;
      size_t n = td_effects_of(&q, task->body, &x);
      for (size_t k = 0; k < n; k++)
        if (x[k].sym == u->run[i].bind[b].param && x[k].write) return true;
    }
  return false;
}

/* A local array between two loops of the root, or an argument that a design only reads. */
bool draw_wire(Draw *d, TdArgValue *arg) {
  Search s = {.draw = d, .of = td_prog_root(d->prog)};
  const TdUnit *u = s.of;
  for (uint32_t i = 0; u->body && !u->nrun && i < u->body->nkid; i++) {
    const TdStmt *x = u->body->kid[i];
    bool array = x->kind == TD_STMT_LOCAL && x->cls == TD_LOCAL_AUTO &&
                 x->type->kind == TD_T_TENSOR && is_between(d, u->body, x->sym);
    if (array && choose(&s)) s.one = x->sym;
  }
  for (size_t i = 0; u->nrun && i < u->nparam; i++)
    if (u->param[i].type->kind == TD_T_TENSOR && !is_written(d, u->param[i].sym) && choose(&s))
      s.one = u->param[i].sym;
  if (!s.one) return false;
  give_thing(&s, &arg[0]);
  if (rng_chance(d->rng, 20))
    arg[4] = (TdArgValue){.given = true, .integer = 1 + rng_below(d->rng, 3)};
  return true;
}

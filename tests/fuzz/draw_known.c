/* draw_known.c - calls of primitives that need more than things that exist: all arguments are drawn
 * together, around what a primitive is for. */
#include <string.h>

#include "affine/access.h"
#include "tests/fuzz/draw.h"

/* One of things that are met in turn, each as likely as any other. */
static bool choose(Draw *d, int *met) {
  return rng_below(d->rng, ++*met) == 0;
}

static void give_text(Draw *d, TdArgValue *v, const char *text) {
  *v = (TdArgValue){.given = true, .text = td_arena_strdup(d->arena, text)};
}

static void give_int(TdArgValue *v, int64_t n) {
  *v = (TdArgValue){.given = true, .integer = n};
}

static void give_ints(Draw *d, TdArgValue *v, const int64_t *list, size_t n) {
  const int64_t *kept = td_arena_copy(d->arena, list, n * sizeof *list);
  *v = (TdArgValue){.given = true, .ints = kept, .n = n};
}

/* How a loop reads one dimension of an array: the first index, and whether all others are at fixed
 * distances from it, some of them not 0. */
typedef struct Reach {
  TdSym array;
  int dim;
  const TdExpr *first;
  bool fixed, window;
} Reach;

/* A search for arrays that iterations of a loop read at several distances. */
typedef struct Windows {
  Draw *draw;
  const Site *site;
  Reach reach[MOST_NAMES];
  int n, met;
} Windows;

/* Notes an index of a dimension of an array. */
static void look_index(Windows *w, const TdExpr *load, int dim) {
  const TdExpr *index = load->kid[dim];
  int64_t by;
  int i = 0;
  while (i < w->n && (w->reach[i].array != load->sym || w->reach[i].dim != dim)) i++;
  if (i == MOST_NAMES) return;
  Reach *x = &w->reach[i];
  if (i == w->n) {
    bool moves = td_walk_uses_expr(index, w->site->loop->sym);
    w->reach[w->n++] = (Reach){load->sym, dim, index, moves, false};
    return;
  }
  x->fixed &= td_lin_diff(w->draw->prog->store->session, index, x->first, &by);
  x->window |= x->fixed && by != 0;
}

static bool look_load(void *ud, const TdExpr *e) {
  for (uint32_t k = 0; e->kind == TD_EXPR_LOAD && k < e->nkid; k++) look_index(ud, e, (int)k);
  return true;
}

static bool is_no_store(void *ud, const TdStmt *s) {
  return s->kind != TD_STMT_STORE || s->expr[0]->sym != ud;
}

/* Whether the loop writes the array of a window nowhere; now and then one that it writes is asked
 * for as well. */
static bool is_worth_it(Windows *w, TdSym array) {
  TdCtx *c = w->draw->prog->store->session->ctx;
  return td_walk_stmt(c, w->site->loop, is_no_store, (void *)(uintptr_t)array) ||
         rng_chance(w->draw->rng, 40);
}

/* Gives one of the windows of the loop that was looked at. */
static void choose_window(Windows *w, TdArgValue *arg) {
  Draw *d = w->draw;
  for (int i = 0; i < w->n; i++) {
    const Reach *x = &w->reach[i];
    bool window = x->fixed && x->window && is_worth_it(w, x->array);
    if (!window || !choose(d, &w->met)) continue;
    give_text(d, &arg[0], x->array->name);
    give_text(d, &arg[1], td_cursor_spec(d->arena, d->prog, w->site->unit, w->site->loop));
  }
}

/* An array and a loop whose iterations read it at several distances. */
static bool draw_reuse_at(Draw *d, TdArgValue *arg) {
  Windows w = {.draw = d};
  for (int i = 0; i < d->nsite; i++) {
    w.site = &d->site[i];
    w.n = 0;
    td_walk_exprs(d->prog->store->session->ctx, w.site->loop, look_load, &w);
    choose_window(&w, arg);
  }
  return w.met > 0;
}

/* A search for local arrays of which only elements are used. */
typedef struct Locals {
  Draw *draw;
  const TdUnit *unit;
  int met;
  const TdStmt *one;
  const TdUnit *of;
} Locals;

static bool is_no_view(void *ud, const TdExpr *e) {
  return e->kind != TD_EXPR_VIEW || e->sym != ud;
}

static bool look_local(void *ud, const TdStmt *s) {
  Locals *l = ud;
  bool array = s->kind == TD_STMT_LOCAL && s->cls == TD_LOCAL_AUTO && s->type->kind == TD_T_TENSOR;
  if (!array || !td_walk_exprs(l->draw->prog->store->session->ctx, l->unit->body, is_no_view,
                               (void *)(uintptr_t)s->sym))
    return true;
  if (choose(l->draw, &l->met)) {
    l->one = s;
    l->of = l->unit;
  }
  return true;
}

/* A local array in parts, in *arg, and its extents; NULL when there is none. */
static const TdStmt *draw_parts(Draw *d, TdArgValue *arg, int64_t *extent) {
  Locals l = {.draw = d};
  for (size_t i = 0; i < d->prog->nunit; i++) {
    l.unit = d->prog->unit[i];
    if (l.unit->body) td_walk_stmt(d->prog->store->session->ctx, l.unit->body, look_local, &l);
  }
  for (int k = 0; l.one && k < l.one->type->rank; k++)
    if (!td_unit_value(l.of, l.one->type->dim[k], &extent[k])) return NULL;
  if (!l.one) return NULL;
  bool root = l.of == td_prog_root(d->prog);
  give_text(d, arg,
            td_text_fmt(d->arena, "%s%s%s", root ? "" : l.of->sym->name, root ? "" : ":",
                        l.one->sym->name));
  return l.one;
}

int64_t draw_divisor(Draw *d, int64_t n) {
  int64_t one = 2;
  int met = 0;
  for (int64_t k = 2; k <= n && k <= 16; k++)
    if (n % k == 0 && choose(d, &met)) one = k;
  return one;
}

static bool draw_reshape(Draw *d, TdArgValue *arg) {
  int64_t was[TD_MAX_RANK], now[TD_MAX_RANK + 1], all = 1;
  const TdStmt *local = draw_parts(d, &arg[0], was);
  if (!local) return false;
  int rank = local->type->rank, at = rng_below(d->rng, rank), n = 0;
  for (int k = 0; k < rank; k++) all *= was[k];
  if (rank > 1 && rng_chance(d->rng, 40)) {
    now[n++] = all;
  } else {
    int64_t by = draw_divisor(d, was[at]);
    for (int k = 0; k < rank; k++) {
      if (k == at) now[n++] = by;
      now[n++] = k == at ? was[k] / by : was[k];
    }
  }
  give_ints(d, &arg[1], now, (size_t)n);
  return true;
}

static bool draw_pack(Draw *d, TdArgValue *arg) {
  int64_t extent[TD_MAX_RANK];
  const TdStmt *local = draw_parts(d, &arg[0], extent);
  if (!local) return false;
  int dim = 0, met = 0;
  for (int k = 0; k < local->type->rank; k++)
    if ((extent[k] % 2 == 0 || extent[k] % 3 == 0) && choose(d, &met)) dim = k;
  const TdType *t = td_type_scalar(local->type);
  bool words = t->kind == TD_T_UINT && t->w > 8 && rng_chance(d->rng, 40);
  give_int(&arg[1], dim);
  give_int(&arg[2], words ? 1 : draw_divisor(d, extent[dim]));
  return true;
}

/* A search for stores that move an element from an array to another, one of them a local. */
typedef struct Copies {
  Draw *draw;
  const TdUnit *unit;
  TdArgValue *arg;
  int met;
} Copies;

static bool is_not_local(void *ud, const TdStmt *s) {
  return s->kind != TD_STMT_LOCAL || s->sym != ud;
}

/* How many statements store to an array, or (reads) how many expressions read it. */
typedef struct Tally {
  TdSym array;
  bool reads;
  int n;
} Tally;

static bool tally_expr(void *ud, const TdExpr *e) {
  Tally *t = ud;
  t->n += e->kind == TD_EXPR_LOAD && e->sym == t->array;
  return true;
}

static bool tally_stmt(void *ud, const TdStmt *s) {
  Tally *t = ud;
  bool store = s->kind == TD_STMT_STORE;
  if (!t->reads) t->n += store && s->expr[0]->sym == t->array;
  for (uint32_t i = store; t->reads && i < s->nexpr; i++) td_walk_expr(s->expr[i], tally_expr, t);
  return true;
}

/* Gives a local array of the unit at hand that is stored to (or read) at one place, in parts. */
static void give_local(Copies *c, TdSym sym, bool reads) {
  TdCtx *ctx = c->draw->prog->store->session->ctx;
  Tally t = {sym, reads, 0};
  bool local = !td_walk_stmt(ctx, c->unit->body, is_not_local, (void *)(uintptr_t)sym);
  td_walk_stmt(ctx, c->unit->body, tally_stmt, &t);
  if (!local || t.n != 1 ||
      !td_walk_exprs(ctx, c->unit->body, is_no_view, (void *)(uintptr_t)sym) ||
      !choose(c->draw, &c->met))
    return;
  bool root = c->unit == td_prog_root(c->draw->prog);
  give_text(c->draw, c->arg,
            td_text_fmt(c->draw->arena, "%s%s%s", root ? "" : c->unit->sym->name, root ? "" : ":",
                        sym->name));
}

static bool look_copy(void *ud, const TdStmt *s) {
  const TdExpr *to = s->kind == TD_STMT_STORE ? s->expr[0] : NULL;
  const TdExpr *from = to && s->expr[1]->kind == TD_EXPR_LOAD ? s->expr[1] : NULL;
  if (!from || !to->nkid || !from->nkid || to->sym == from->sym) return true;
  give_local(ud, to->sym, false);
  give_local(ud, from->sym, true);
  return true;
}

static bool draw_collapse(Draw *d, TdArgValue *arg) {
  Copies c = {.draw = d, .arg = arg};
  for (size_t i = 0; i < d->prog->nunit; i++) {
    c.unit = d->prog->unit[i];
    if (c.unit->body) td_walk_stmt(d->prog->store->session->ctx, c.unit->body, look_copy, &c);
  }
  return c.met > 0;
}

/* How many statements of a block from `at` on are calls of one of two kernels. */
static int calls_in_a_row(const TdStmt *block, uint32_t at, TdSym a, TdSym b) {
  uint32_t end = at;
  while (end < block->nkid && block->kid[end]->kind == TD_STMT_CALL &&
         (block->kid[end]->sym == a || block->kid[end]->sym == b))
    end++;
  return (int)(end - at);
}

/* A search for calls of two kernels in a row. */
typedef struct Calls {
  Draw *draw;
  TdArgValue *arg;
  int met;
} Calls;

static bool look_calls(void *ud, const TdStmt *s) {
  Calls *c = ud;
  for (uint32_t i = 1; s->kind == TD_STMT_BLOCK && i < s->nkid; i++) {
    const TdStmt *x = s->kid[i - 1], *y = s->kid[i];
    bool two = x->kind == TD_STMT_CALL && y->kind == TD_STMT_CALL && x->sym != y->sym &&
               x->nexpr == y->nexpr;
    if (!two || !choose(c->draw, &c->met)) continue;
    give_text(c->draw, &c->arg[0], x->sym->name);
    give_text(c->draw, &c->arg[1], y->sym->name);
    give_int(&c->arg[2], calls_in_a_row(s, i - 1, x->sym, y->sym));
  }
  return true;
}

static bool draw_unify(Draw *d, TdArgValue *arg) {
  Calls c = {.draw = d, .arg = arg};
  for (size_t i = 0; i < d->prog->nunit; i++)
    if (d->prog->unit[i]->body)
      td_walk_stmt(d->prog->store->session->ctx, d->prog->unit[i]->body, look_calls, &c);
  return c.met > 0;
}

/* A run of the root with ids, or (any) one at all; NULL when there is none. */
static const TdRun *draw_run(Draw *d, bool any) {
  const TdUnit *u = td_prog_root(d->prog);
  const TdRun *one = NULL;
  int met = 0;
  for (size_t i = 0; i < u->nrun; i++)
    if ((any || u->run[i].rank) && choose(d, &met)) one = &u->run[i];
  return one;
}

static bool draw_bundle(Draw *d, TdArgValue *arg) {
  const TdRun *run = draw_run(d, false);
  int64_t extent;
  if (!run) return false;
  const char **list = TD_NEWN(d->arena, const char *, 1);
  list[0] = td_arena_strdup(d->arena, run->sym->name);
  arg[0] = (TdArgValue){.given = true, .names = list, .n = 1};
  int axis = rng_below(d->rng, run->rank);
  if (run->rank > 1 || rng_chance(d->rng, 50)) give_int(&arg[1], axis);
  bool known = td_unit_value(td_prog_root(d->prog), run->map[axis], &extent);
  if (known && rng_chance(d->rng, 25)) give_int(&arg[2], draw_divisor(d, extent));
  return true;
}

/* Whether a unit puts to (or gets from) a stream, which calls may do for it. */
typedef struct Ends {
  TdSym stream;
  TdStmtKind kind;
} Ends;

static bool is_no_end(void *ud, const TdStmt *s) {
  const Ends *e = ud;
  return s->kind != e->kind || s->expr[0]->sym != e->stream;
}

static bool is_end(const Draw *d, const TdRun *run, TdSym stream, TdStmtKind kind) {
  const TdUnit *u = td_prog_unit(d->prog, run->unit);
  Ends e = {stream, kind};
  return u && u->body && !td_walk_stmt(d->prog->store->session->ctx, u->body, is_no_end, &e);
}

/* Two tasks of one rank between which a stream leads. */
static bool draw_chain(Draw *d, TdArgValue *arg) {
  const TdUnit *u = td_prog_root(d->prog);
  int met = 0;
  for (size_t k = 0; k < u->nstream; k++)
    for (size_t i = 0; i < u->nrun; i++)
      for (size_t j = 0; j < u->nrun; j++) {
        const TdRun *x = &u->run[i], *y = &u->run[j];
        if (i == j || x->rank != y->rank || !is_end(d, x, u->stream[k].sym, TD_STMT_PUT) ||
            !is_end(d, y, u->stream[k].sym, TD_STMT_GET) || !choose(d, &met))
          continue;
        give_text(d, &arg[0], x->sym->name);
        give_text(d, &arg[1], y->sym->name);
      }
  return met > 0;
}

static bool draw_place(Draw *d, TdArgValue *arg) {
  const TdRun *run = draw_run(d, true);
  if (!run) return false;
  int64_t at[] = {rng_below(d->rng, 8), rng_below(d->rng, 8)}, extent;
  TdText spec = td_text_new(d->arena);
  td_text_puts(&spec, run->sym->name);
  for (int k = 0; k < run->rank; k++) {
    if (!td_unit_value(td_prog_root(d->prog), run->map[k], &extent) || extent < 1) return false;
    td_text_putf(&spec, "[%d]", rng_below(d->rng, (int)extent));
  }
  give_text(d, &arg[0], td_text_str(&spec));
  give_ints(d, &arg[1], at, 2);
  return true;
}

/* A nest, and a kernel of a library for it. */
static bool draw_inject(Draw *d, TdArgValue *arg) {
  for (int tries = 0; d->nsite && tries < 3; tries++) {
    int site = rng_below(d->rng, d->nsite);
    if (!draw_library(d, site, &arg[1])) continue;
    give_text(d, &arg[0], draw_spec(d, site));
    return true;
  }
  return false;
}

/* How many processing elements a design is to take, and perhaps how many ports. */
static bool draw_search(Draw *d, TdArgValue *arg) {
  const TdUnit *u = td_prog_root(d->prog);
  if (!u->nrun) return false;
  give_int(&arg[0], 1 + rng_below(d->rng, 2 * (int)u->nrun));
  int64_t port[] = {2 + rng_below(d->rng, 5), 1 + rng_below(d->rng, 4), -1, -1};
  if (rng_chance(d->rng, 25)) give_ints(d, &arg[1], port, sizeof port / sizeof *port);
  give_int(&arg[3], 20 + rng_below(d->rng, 80));
  return true;
}

/* Loops of a program for which a search of its own is not too much work. */
enum { MOST_OF_AUTO = 4 };

/* Few steps, for hardware with few or many DSP. */
static bool draw_auto(Draw *d, TdArgValue *arg) {
  if (d->nsite > MOST_OF_AUTO) return false;
  if (rng_chance(d->rng, 50)) give_int(&arg[2], rng_below(d->rng, 100));
  give_int(&arg[5], 3 + rng_below(d->rng, 6));
  return true;
}

/* A loop, one around it, and how far the first moves with the second. */
static bool draw_skew(Draw *d, TdArgValue *arg) {
  int met = 0, inner = -1;
  for (int i = 0; i < d->nsite; i++)
    if (d->site[i].parent >= 0 && choose(d, &met)) inner = i;
  if (inner < 0) return false;
  int outer = d->site[inner].parent;
  if (d->site[outer].parent >= 0 && rng_chance(d->rng, 25)) outer = d->site[outer].parent;
  give_text(d, &arg[0], draw_spec(d, outer));
  give_text(d, &arg[1], draw_spec(d, inner));
  give_int(&arg[2], rng_below(d->rng, 2) ? 1 + rng_below(d->rng, 3) : -1 - rng_below(d->rng, 2));
  return true;
}

/* Whether the range of a loop depends on one around it. */
static bool varies(const Draw *d, int i) {
  const TdStmt *loop = d->site[i].loop;
  for (int k = d->site[i].parent; k >= 0; k = d->site[k].parent) {
    TdSym v = d->site[k].loop->sym;
    if (td_walk_uses_expr(td_for_lo(loop), v) || td_walk_uses_expr(td_for_hi(loop), v)) return true;
  }
  return false;
}

/* A loop whose range depends on one around it. */
static bool draw_widen(Draw *d, TdArgValue *arg) {
  int met = 0, found = -1;
  for (int i = 0; i < d->nsite; i++)
    if (varies(d, i) && choose(d, &met)) found = i;
  if (found < 0) return false;
  give_text(d, &arg[0], draw_spec(d, found));
  return true;
}

/* The statement of a block that alone uses a local, if it is a loop. */
static const TdStmt *only_user(const Draw *d, const TdStmt *block, TdSym local) {
  const TdStmt *one = NULL;
  for (uint32_t i = 0; i < block->nkid; i++) {
    const TdStmt *s = block->kid[i];
    if (s->sym == local || !td_walk_uses(d->prog->store->session->ctx, s, local)) continue;
    if (one || s->kind != TD_STMT_FOR) return NULL;
    one = s;
  }
  return one;
}

static bool look_folding(void *ud, const TdStmt *s) {
  Copies *c = ud;
  for (uint32_t i = 0; s->kind == TD_STMT_BLOCK && i < s->nkid; i++) {
    const TdStmt *decl = s->kid[i];
    bool array = decl->kind == TD_STMT_LOCAL && decl->cls == TD_LOCAL_AUTO &&
                 decl->type->kind == TD_T_TENSOR;
    const TdStmt *user = array ? only_user(c->draw, s, decl->sym) : NULL;
    if (!user || !td_walk_uses(c->draw->prog->store->session->ctx, td_for_body(user), decl->sym) ||
        !choose(c->draw, &c->met))
      continue;
    bool root = c->unit == td_prog_root(c->draw->prog);
    give_text(c->draw, c->arg,
              td_text_fmt(c->draw->arena, "%s%s%s", root ? "" : c->unit->sym->name, root ? "" : ":",
                          decl->sym->name));
  }
  return true;
}

/* A local array that one loop alone uses: what it holds may die in an iteration. */
static bool draw_fold_storage(Draw *d, TdArgValue *arg) {
  Copies c = {.draw = d, .arg = arg};
  for (size_t i = 0; i < d->prog->nunit; i++) {
    c.unit = d->prog->unit[i];
    if (c.unit->body) td_walk_stmt(d->prog->store->session->ctx, c.unit->body, look_folding, &c);
  }
  return c.met > 0;
}

/* A look for a sum that goes to one place in all iterations of two loops, and is all that is done
 * there. */
typedef struct Sums {
  const TdStmt *in, *around;
  TdCtx *ctx;
  TdSym sym;
  int uses;
  bool found;
} Sums;

static bool count_use(void *ud, const TdExpr *e) {
  Sums *k = ud;
  k->uses += e->sym == k->sym;
  return true;
}

static bool look_sum(void *ud, const TdStmt *s) {
  Sums *k = ud;
  bool ring;
  if (s->kind == TD_STMT_FOR) return k->found = false;
  if (s->kind != TD_STMT_STORE ||
      td_access_accumulates(s->expr[1], s->expr[0], &ring) != TD_OP_ADD ||
      td_walk_uses_expr(s->expr[0], k->in->sym) || td_walk_uses_expr(s->expr[0], k->around->sym))
    return true;
  k->sym = s->expr[0]->sym;
  k->uses = 0;
  td_walk_exprs(k->ctx, k->around, count_use, k);
  k->found |= k->uses == 2;
  return true;
}

/* An innermost loop that adds up as the one around it does, and mostly that any order will do. */
static bool draw_rfactor(Draw *d, TdArgValue *arg) {
  int met = 0;
  for (int i = 0; i < d->nsite; i++) {
    const Site *x = &d->site[i];
    int64_t lo, hi;
    if (x->parent < 0 || !td_unit_value(x->unit, td_for_lo(x->loop), &lo) ||
        !td_unit_value(x->unit, td_for_hi(x->loop), &hi) || hi - lo < 2 || x->loop->step != 1)
      continue;
    Sums k = {.in = x->loop, .around = d->site[x->parent].loop};
    k.ctx = d->prog->store->session->ctx;
    td_walk_stmt(k.ctx, td_for_body(x->loop), look_sum, &k);
    if (k.found && choose(d, &met)) give_text(d, &arg[0], draw_spec(d, i));
  }
  if (rng_chance(d->rng, 90)) give_int(&arg[1], 1);
  return met > 0;
}

static const struct Known {
  const char *name;
  bool (*draw)(Draw *d, TdArgValue *arg);
} known[] = {
    {"reuse_at", draw_reuse_at}, {"reshape", draw_reshape},   {"pack", draw_pack},
    {"unify", draw_unify},       {"bundle", draw_bundle},     {"chain", draw_chain},
    {"place", draw_place},       {"collapse", draw_collapse}, {"inject", draw_inject},
    {"search", draw_search},     {"skew", draw_skew},         {"fold_storage", draw_fold_storage},
    {"auto", draw_auto},         {"expand", draw_expand},     {"isolate", draw_isolate},
    {"coalesce", draw_coalesce}, {"deal", draw_deal},         {"hoist", draw_hoist},
    {"merge", draw_merge},       {"widen", draw_widen},       {"vectorize", draw_vectorize},
    {"wire", draw_wire},         {"rfactor", draw_rfactor},
};

bool draw_is_known(const TdPrim *prim) {
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (strcmp(known[i].name, prim->name) == 0) return true;
  return false;
}

bool draw_known(Draw *d, const TdPrim *prim, TdArgValue *arg) {
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (strcmp(known[i].name, prim->name) == 0) return known[i].draw(d, arg);
  return false;
}

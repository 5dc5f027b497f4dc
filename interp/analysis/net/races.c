/* races.c - pairs of instances that touch one element, found among the nests of a flat design. */
#include "analysis/net/races.h"

#include "analysis/order/conflict.h"
#include "analysis/net/flat.h"

/* Two runs, or one with itself. */
typedef struct Share {
  const TdAsk *ask;
  const TdUnit *design;
  const TdRun *x, *y;
  int axis; /* the first in which two instances of one run differ; -1: two runs */
  const char **open;
  TdDiag *d;
} Share;

/* Says that the ids of the two instances differ first in s->axis. */
static void add_order(const Share *s, TdConflict *c) {
  TdArena *a = c->space->arena;
  for (int d = 0; d <= s->axis; d++) {
    size_t k = (size_t)d;
    TdAff x = td_conflict_loop_was(c, false, k), y = td_conflict_loop_was(c, true, k);
    if (d < s->axis)
      td_sys_zero(a, &c->sys, td_sys_plus(a, x, -1, y));
    else
      td_sys_lt(a, &c->sys, x, y);
  }
}

/* "pe[0][1]". */
static const char *name_of(TdArena *a, const TdRun *r, const int64_t *id) {
  TdText t = td_text_new(a);
  td_text_puts(&t, r->sym->name);
  for (int d = 0; d < r->rank; d++) td_text_putf(&t, "[%lld]", (long long)id[d]);
  return td_text_str(&t);
}

/* The ids of two instances that clash, which c->sys is then held to. */
static bool fix_ids(const Share *s, TdConflict *c, int64_t *id) {
  int32_t col[2 * TD_MAX_RANK];
  size_t n = 0;
  for (size_t k = 0; k < s->x->rank; k++) col[n++] = td_conflict_loop_was(c, false, k).m->col;
  for (size_t k = 0; k < s->y->rank; k++) col[n++] = td_conflict_loop_was(c, true, k).m->col;
  if (td_affine_point(s->ask->affine, &c->sys, col, n, id) != TD_YES) return false;
  TdArena *a = c->space->arena;
  for (size_t k = 0; k < n; k++)
    td_sys_zero(a, &c->sys, td_sys_plus(a, td_sys_col(a, col[k]), -1, td_sys_const(id[k])));
  return true;
}

static bool refuse(const Share *s, TdConflict *c) {
  int64_t id[2 * TD_MAX_RANK];
  TdArena *a = s->d->arena;
  TdWitness w;
  const char *sizes;
  if (!fix_ids(s, c, id) || td_conflict_witness(c, &w, &sizes) != TD_YES) return true;
  const char *one = name_of(a, s->x, id), *two = name_of(a, s->y, id + s->x->rank);
  bool both = c->a->write && c->b->write;
  td_diag_set(s->d, TD_ILLEGAL, "race", w.second, "%s is written by %s and %s %s", w.element,
              c->a->write ? one : two, both ? "by" : "read by", c->a->write ? two : one);
  td_diag_help(s->d, "pass it through a stream, or give each instance its own part");
  td_diag_witness(s->d, (TdWitness){w.array, w.element, w.first, w.second, one, two});
  return false;
}

static bool visit(void *ud, TdConflict *c) {
  const Share *s = ud;
  if (c->a->cell->kind != TD_CELL_MEMORY || !td_unit_param(s->design, c->a->cell->sym)) return true;
  add_order(s, c);
  TdTruth meets = td_affine_has_point(s->ask->affine, &c->sys);
  if (meets == TD_NO) return true;
  if (meets == TD_YES && c->exact) return refuse(s, c);
  *s->open = td_text_fmt(s->ask->arena, "whether tasks share an element of '%s' depends on data",
                         c->a->cell->sym->name);
  return true;
}

/* The pairs of leaves of two nests, at the instances that s speaks of. */
static bool check_pairs(Share *s, const TdAsk *flat, const TdLeaves *l, size_t x, size_t y,
                        const TdNest *context) {
  for (size_t i = l->start[x]; i < l->start[x + 1]; i++)
    for (size_t k = l->start[y]; k < l->start[y + 1]; k++) {
      const TdLeaf *p = &l->at.at[i], *q = &l->at.at[k];
      if (!td_conflict_visit(flat, l, context, (TdInstance){p, p, NULL}, (TdInstance){q, q, NULL},
                             visit, s))
        return false;
    }
  return true;
}

static bool check_runs(Share *s, const TdAsk *flat, const TdLeaves *l, const TdNest *context) {
  for (size_t x = 0; x < s->design->nrun; x++)
    for (size_t y = x; y < s->design->nrun; y++) {
      s->x = &s->design->run[x], s->y = &s->design->run[y];
      int first = x == y ? 0 : -1, last = x == y ? s->x->rank - 1 : -1;
      for (s->axis = first; s->axis <= last; s->axis++)
        if (!check_pairs(s, flat, l, x, y, context)) return false;
    }
  return true;
}

bool td_races_check(const TdAsk *q, const char **open, TdDiag *d) {
  TdArena *a = td_arena_scratch(td_affine_ctx(q->affine));
  TdFlat flat;
  Share s = {.ask = q, .design = td_prog_root(q->prog), .open = open, .d = d};
  bool ok = true;
  if (!td_flat_of(a, q->affine, q->prog, &flat)) {
    *open = "a size has no value";
  } else if (flat.unit->body->nkid) {
    TdAsk ask = {q->affine, q->arena, flat.prog, flat.unit};
    TdSpace *space = td_access_space(a);
    TdNestMaker m = {flat.prog->store->session, space, &(TdEnv){.unit = flat.unit}};
    const TdNest *context = td_nest_context(&m, flat.unit->body->kid[0]);
    const TdLeaves *l = td_access_list(&ask, space, flat.unit->body->kid, flat.unit->body->nkid);
    s.design = flat.unit;
    ok = check_runs(&s, &ask, l, context);
  }
  td_arena_free(a);
  return ok;
}

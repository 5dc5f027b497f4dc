/* deal.c - deal: a stream becomes an array of streams, to which its tokens go by the iteration of
 * loops around its ends. Both ends run the same nest: token n is that of iteration n there and
 * here, so each finds the tokens of an element in the order in which they were put. */
#include "rewrite/kernel/lift.h"
#include "rewrite/stream/stream.h"

enum { STREAM, LOOPS };

/* One end of a stream: its statement, and the loops around it. */
typedef struct End {
  const TdUnit *unit;
  const TdStmt *at;
  const TdStmt *loop[TD_MAX_DEPTH];
  size_t nloop, uses;
  TD_VEC(const TdExpr *) cond; /* that it is under, of loops alone */
} End;

typedef struct Deal {
  TdRewrite *r;
  const TdUnit *design;
  const TdStream *stream;
  End end[2];                /* that puts, that gets */
  size_t level[TD_MAX_RANK]; /* of the loops that deal, among those around the ends */
  size_t n;
  const TdUnit *unit; /* that look looks at */
} Deal;

static bool refuse(const Deal *d, TdDiagKind kind, const char *code, TdLoc loc, const char *why) {
  td_util_refuse(d->r, kind, code, loc, "'%s' %s", d->stream->sym->name, why);
  return false;
}

static bool look(void *ud, const TdStmt *s) {
  Deal *d = ud;
  bool put = s->kind == TD_STMT_PUT, get = s->kind == TD_STMT_GET || s->kind == TD_STMT_SLOT;
  if ((!put && !get) || s->expr[0]->sym != d->stream->sym) return true;
  End *e = &d->end[put ? 0 : 1];
  e->unit = d->unit;
  e->at = s;
  e->uses++;
  return true;
}

/* The loops and conditions around an end, which alone decide how often it runs. */
static bool find_loops(Deal *d, End *e) {
  TdRewrite *r = d->r;
  TdPath p = td_edit_path(r->arena, e->unit->body, e->at->uid);
  for (size_t i = 0; i + 1 < p.n; i++) {
    const TdStmt *s = p.at[i];
    if (s->kind == TD_STMT_BLOCK) continue;
    if (td_util_is_guard(s)) {
      td_vec_push(r->arena, &e->cond, s->expr[0]);
      continue;
    }
    if (s->kind != TD_STMT_FOR || td_util_leaves_by_break(td_for_body(s)))
      return refuse(d, TD_ILLEGAL, "access", e->at->loc, "moves where not loops alone decide");
    if (td_util_varies(td_util_trip(r, s)))
      return refuse(d, TD_ILLEGAL, "extent", s->loc, "moves in a loop whose range varies");
    if (e->nloop == TD_MAX_DEPTH) return refuse(d, TD_LIMIT, "extent", s->loc, "is too deep");
    e->loop[e->nloop++] = s;
  }
  return true;
}

/* Whether each condition of end x is one of end y too, where both are in one iteration. */
static bool is_under(const Deal *d, const End *x, const End *y) {
  TdSubst sub = td_subst_new(d->r->store);
  for (size_t i = 0; i < x->nloop; i++)
    td_subst_expr(&sub, x->loop[i]->sym, td_util_var(d->r, y->loop[i]->sym));
  for (size_t i = 0; i < x->cond.n; i++) {
    const TdExpr *e = td_subst_in_expr(&sub, x->cond.at[i]);
    size_t k = 0;
    while (k < y->cond.n && !td_equal_expr(e, y->cond.at[k])) k++;
    if (k == y->cond.n) return false;
  }
  return true;
}

/* Whether two loops count alike. */
static bool is_same_count(const Deal *d, const TdStmt *x, const TdStmt *y) {
  int64_t less;
  return x->step == y->step && td_lin_diff(d->r->session, td_for_lo(x), td_for_lo(y), &less) &&
         !less;
}

/* Whether both ends run in the same iterations of their nests. */
static bool check_conditions(const Deal *d) {
  const End *x = &d->end[0], *y = &d->end[1];
  bool same = is_under(d, x, y) && is_under(d, y, x);
  for (size_t i = 0; i < x->nloop && x->cond.n; i++)
    same &= is_same_count(d, x->loop[i], y->loop[i]);
  return same ||
         refuse(d, TD_ILLEGAL, "ranges", y->at->loc, "is put and got under conditions that differ");
}

/* Finds the two ends; their nests have equal ranges, loop by loop. */
static bool find_ends(Deal *d) {
  TdRewrite *r = d->r;
  for (size_t i = 0; i < d->design->nrun; i++) {
    d->unit = td_prog_unit(r->prog, d->design->run[i].unit);
    if (d->unit->body) td_walk_stmt(r->session->ctx, d->unit->body, look, d);
  }
  if (d->end[0].uses != 1 || d->end[1].uses != 1)
    return refuse(d, TD_UNSUPPORTED, "ends", d->stream->loc,
                  "has not one statement that puts and one that gets");
  if (!find_loops(d, &d->end[0]) || !find_loops(d, &d->end[1])) return false;
  if (d->end[0].nloop != d->end[1].nloop)
    return refuse(d, TD_ILLEGAL, "ranges", d->end[1].at->loc,
                  "has nests of different depths at its ends");
  for (size_t i = 0; i < d->end[0].nloop; i++) {
    const TdStmt *x = d->end[0].loop[i], *y = d->end[1].loop[i];
    int64_t less;
    if (td_lin_diff(r->session, td_util_trip(r, x), td_util_trip(r, y), &less) && !less) continue;
    td_util_refuse(r, TD_ILLEGAL, "ranges", y->loc,
                   "'%s' is put and got in nests of different ranges: '%s' and '%s'",
                   d->stream->sym->name, x->sym->name, y->sym->name);
    return false;
  }
  return check_conditions(d);
}

/* Which loops deal: those that the user names, at the end that puts. */
static bool find_levels(Deal *d) {
  const TdArgValue *v = &d->r->arg[LOOPS];
  for (size_t i = 0; i < v->n; i++) {
    TdPlace at;
    size_t k = 0;
    if (!td_cursor_loop(d->r->arena, d->r->prog, v->names[i], &at, d->r->diag)) return false;
    while (k < d->end[0].nloop && d->end[0].loop[k] != at.stmt) k++;
    if (k == d->end[0].nloop)
      return refuse(d, TD_USAGE, "loops", at.stmt->loc, "is not put in that loop");
    if (d->n + d->stream->type->rank == TD_MAX_RANK)
      return refuse(d, TD_LIMIT, "loops", at.stmt->loc, "has too many dimensions");
    d->level[d->n++] = k;
  }
  return d->n > 0 || refuse(d, TD_USAGE, "loops", d->stream->loc, "is dealt by at least one loop");
}

/* The number of the iteration of a loop. */
static const TdExpr *iteration(const Deal *d, const TdStmt *loop) {
  TdRewrite *r = d->r;
  TdArena *a = r->store->arena;
  const TdExpr *from = td_lin_minus(r->session, a, td_util_var(r, loop->sym), td_for_lo(loop));
  return loop->step == 1 ? from : td_lin_floordiv(r->session, a, from, loop->step);
}

/* An end with indices for the loops that deal. */
static const TdStmt *end_with(const Deal *d, const End *e) {
  TdRewrite *r = d->r;
  const TdExpr *was = e->at->expr[0], *index[TD_MAX_RANK], *list[2];
  TdViewDim dim[TD_MAX_RANK];
  size_t n = was->nkid;
  for (size_t i = 0; i < n; i++) index[i] = was->kid[i];
  for (size_t i = 0; i < d->n; i++) index[n++] = iteration(d, e->loop[d->level[i]]);
  for (size_t i = 0; i < n; i++) dim[i] = (TdViewDim){.step = 1, .out = -1};
  for (uint32_t i = 0; i < e->at->nexpr; i++) list[i] = e->at->expr[i];
  list[0] = td_expr_view(r->store->arena, d->stream->sym, was->type, index, dim, (int)n, was->loc);
  return td_stmt_with_exprs(r->store, e->at, list, e->at->nexpr);
}

static const TdUnit *design_with(const Deal *d) {
  TdRewrite *r = d->r;
  TdUnit *u = td_unit_copy(r->store, d->design);
  TdStream *stream = td_arena_copy(r->store->arena, u->stream, u->nstream * sizeof *stream);
  TdStream *s = &stream[d->stream - d->design->stream];
  const TdType *t = s->type;
  const TdExpr *dim[TD_MAX_RANK];
  int n = t->rank;
  for (int i = 0; i < n; i++) dim[i] = t->dim[i];
  for (size_t i = 0; i < d->n; i++) dim[n++] = td_util_trip(r, d->end[0].loop[d->level[i]]);
  s->type = td_type_port(r->session, t->elem, n, dim, t->block);
  u->stream = stream;
  return td_lift_tidy(r, u);
}

static const TdProg *apply(TdRewrite *r) {
  TdStreamAt at;
  if (!td_stream_find(r, r->arg[STREAM].text, &at)) return NULL;
  Deal d = {.r = r, .design = at.design, .stream = &at.design->stream[at.at]};
  if (!find_ends(&d) || !find_levels(&d)) return NULL;
  const TdProg *p = r->prog;
  for (int i = 0; i < 2; i++) {
    const End *e = &d.end[i];
    const TdStmt *now = end_with(&d, e);
    const TdUnit *u = td_prog_unit(p, e->unit->sym);
    const TdStmt *body = td_edit_replace(r->store, u->body, e->at->uid, &now, 1);
    p = td_prog_with(p, td_unit_with_body(r->store, u, body));
  }
  return td_prog_with(p, design_with(&d));
}

const TdPrim td_prim_deal = {
    .name = "deal",
    .on = "stream",
    .summary = "Deal the tokens of a stream to streams of their own, by loops around its ends.",
    .args = {{"stream", TD_ARG_STREAM, TD_ARG_NEEDED, "the stream", NULL},
             {"loops", TD_ARG_NAMES, TD_ARG_NEEDED,
              "loops of the task that puts, in the order of the new dimensions", "loop"}},
    .rewrite = "for i: for p: Z:put(x)  |  for i: for q: y = Z:get()  =>  "
               "for i: for p: Z[p]:put(x)  |  for i: for q: y = Z[q]:get()",
    .legal =
        "one statement puts and one gets, in nests of equal ranges and conditions that loops alone "
        "decide",
    .errors = "no-stream ambiguous-stream ends access extent ranges loops deadlock",
    .example = "blur:buffer_at(\"B\", \"x\"):unfold(\"y\", {loops = {\"y\"}, name = \"row\"}); "
               "blur:relay(\"B_x\", \"row\", {axis = -1}):deal(\"B_x\", {\"row:x\"})",
    .apply = apply,
};

/* buf_reuse_at.c - reuse_at: a line or window buffer that moves over an array along a loop: each
 * iteration shifts it and loads only what the one before did not have. */
#include "rewrite/buffer.h"

enum { ARRAY, LOOP, NAME };

/* A buffer of the box that an iteration reads. Along `dim` its elements are counted from the side
 * that an iteration leaves: `keep` of them are those of the iteration before, `size` are new. */
typedef struct Window {
  TdBuffer b;
  int dim;
  bool down; /* the box moves towards index 0 */
  int64_t size;
  const TdExpr *keep;
} Window;

/* Whether an iteration reads the array, and nothing in the loop changes it. */
static bool check_use(const Window *w) {
  const TdBuffer *b = &w->b;
  TdAsk q = td_util_ask(b->r, b->unit);
  const TdEffect *effect;
  size_t n = td_effects_of(&q, b->body, &effect);
  const TdEffect *e = td_effects_find(effect, n, b->array);
  if (!e) return td_buffer_refuse(b, TD_USAGE, "untouched", "is not used in the loop");
  if (!e->write) return true;
  td_buffer_refuse(b, TD_ILLEGAL, "written",
                   "is written in the loop: what an iteration has read may be old in the next");
  td_diag_help(b->r->diag, "buffer_at keeps what is written, for one iteration");
  return false;
}

/* Finds the box and how it moves: along one dimension, by less than its extent. */
static bool measure(Window *w) {
  TdBuffer *b = &w->b;
  TdRewrite *r = b->r;
  TdAsk q = td_util_ask(r, b->unit);
  TdFootprint f;
  TdFootprintStep move;
  int64_t extent;
  q.arena = r->store->arena;
  if (!td_footprint_of(&q, b->body, b->array, b->type, &f))
    return td_buffer_refuse(b, TD_ILLEGAL, "footprint",
                            "is touched nowhere, or in places that no box holds");
  b->box = f.box;
  if (!td_footprint_step(&q, &b->box, b->loop, &move))
    return td_buffer_refuse(b, TD_ILLEGAL, "motion",
                            "is read in places that do not move along one dimension by a constant");
  if (move.dim < 0) {
    td_buffer_refuse(b, TD_ILLEGAL, "no-motion",
                     "is read in the same places in all iterations, as far as can be told");
    td_diag_help(r->diag, "buffer_at the loop around it keeps them");
    return false;
  }
  w->dim = move.dim;
  w->down = move.shift < 0;
  w->size = w->down ? -move.shift : move.shift;
  w->keep = td_lin_minus(r->session, q.arena, b->box.extent[w->dim], td_util_const(r, w->size));
  if (td_expr_is_const(w->keep, &extent) && extent <= 0)
    return td_buffer_refuse(b, TD_ILLEGAL, "no-overlap",
                            "shares no element between one iteration and the next");
  return td_buffer_is_below(b, b->body, td_util_const(r, 0), w->keep) ||
         td_buffer_assume(b, td_buffer_compare(b, TD_OP_LE, td_util_const(r, 0), w->keep));
}

/* A count from 0 to before n: of loop variable v, or (NULL) 0. */
typedef struct Count {
  TdSym v;
  const TdExpr *n, *value;
} Count;

/* Statements in the making, for one element of the buffer in each other dimension than w->dim. */
typedef struct Step {
  Window *w;
  bool first; /* before the loop, else in an iteration */
  Count count[TD_MAX_RANK];
} Step;

/* A new count to n, with a loop "<stem>_<suffix>" unless n is 1. */
static Count count_to(const Window *w, const TdExpr *n, const char *stem, const char *suffix) {
  TdRewrite *r = w->b.r;
  int64_t fixed;
  if (td_expr_is_const(n, &fixed) && fixed == 1) return (Count){NULL, n, td_util_const(r, 0)};
  const char *want = td_text_fmt(r->arena, "%s_%s", stem, suffix);
  TdSym v = td_store_sym(r->store, td_util_name(r, w->b.unit, NULL, want), TD_SYM_LOOP);
  return (Count){v, n, td_util_var(r, v)};
}

/* The block under the loop of a count, if it has one, as a block. */
static const TdStmt *counted(const Window *w, const Count *c, const TdStmt *block) {
  TdRewrite *r = w->b.r;
  if (!c->v) return block;
  return td_util_block1(
      r, td_stmt_for(r->store, c->v, td_util_const(r, 0), c->n, 1, block, w->b.loop->loc));
}

/* Element `count` of the buffer along w->dim, counted from the side that an iteration leaves. */
static const TdExpr *position(const Window *w, const TdExpr *count) {
  TdRewrite *r = w->b.r;
  TdArena *a = r->store->arena;
  if (!w->down) return count;
  const TdExpr *last = td_lin_minus(r->session, a, w->b.box.extent[w->dim], td_util_const(r, 1));
  return td_lin_minus(r->session, a, last, count);
}

/* Whether `fact` holds in each iteration, at the first and the last value of a count. */
static bool is_always(const Window *w, const Count *c, const TdExpr *fact) {
  TdRewrite *r = w->b.r;
  TdAsk q = td_util_ask(r, w->b.unit);
  const TdExpr *last = td_lin_minus(r->session, r->store->arena, c->n, td_util_const(r, 1));
  const TdExpr *end[] = {td_util_const(r, 0), last};
  bool holds = true;
  for (int i = 0; i < 2 && holds; i++) {
    TdSubst sub = td_subst_new(r->store);
    if (c->v) td_subst_expr(&sub, c->v, end[i]);
    holds = td_range_holds(&q, w->b.body, td_subst_in_expr(&sub, fact), false) == TD_YES;
  }
  return holds;
}

/* Adds a fact to *cond (NULL: none yet); one of sizes alone is assumed. */
static void require(Window *w, const TdExpr *fact, const TdExpr **cond) {
  if (!td_util_varies(fact))
    td_buffer_assume(&w->b, fact);
  else
    *cond = *cond ? td_buffer_compare(&w->b, TD_OP_AND, *cond, fact) : fact;
}

/* Adds to *cond that index `at`, of which c is a part, lies in dimension d, where that is not
 * always so. */
static void require_inside(Window *w, const Count *c, const TdExpr *at, int d,
                           const TdExpr **cond) {
  TdSession *ss = w->b.r->session;
  TdArena *a = w->b.r->store->arena;
  const TdExpr *by = td_util_const(w->b.r, td_lin_of(ss, a, at).constant);
  const TdExpr *above =
      td_buffer_compare(&w->b, TD_OP_LE, td_lin_times(ss, a, by, -1), td_lin_minus(ss, a, at, by));
  const TdExpr *before = td_buffer_compare(&w->b, TD_OP_LT, at, w->b.type->dim[d]);
  if (!is_always(w, c, above)) require(w, above, cond);
  if (!is_always(w, c, before)) require(w, before, cond);
}

/* Moves an element to `to` of the buffer along w->dim: from `from` of it, or (NULL) from the array;
 * where the element, number `of` of the box, is one of the array. c is what they count. */
static const TdStmt *move(const Step *s, const Count *c, const TdExpr *to, const TdExpr *from,
                          const TdExpr *of) {
  Window *w = s->w;
  TdBuffer *b = &w->b;
  TdRewrite *r = b->r;
  const TdExpr *in[TD_MAX_RANK], *out[TD_MAX_RANK], *at[TD_MAX_RANK], *cond = NULL;
  TdSubst first = td_subst_new(r->store);
  if (s->first) td_subst_expr(&first, b->loop->sym, td_for_lo(b->loop));
  for (int d = 0; d < b->box.rank; d++) {
    bool along = d == w->dim;
    const TdExpr *pos = s->count[d].value;
    in[d] = along ? position(w, to) : pos;
    out[d] = along && from ? position(w, from) : pos;
    at[d] = td_lin_plus(r->session, r->store->arena, b->box.lo[d], along ? position(w, of) : pos);
    at[d] = td_subst_in_expr(&first, at[d]);
    require_inside(w, along ? c : &s->count[d], at[d], d, &cond);
  }
  const TdExpr *value = td_buffer_element(b, !from, from ? out : at);
  const TdStmt *store =
      td_stmt_store(r->store, td_buffer_element(b, false, in), value, b->loop->loc);
  return td_util_guard(r, cond, store);
}

typedef enum { FILL, SHIFT, LOAD } Part;

/* The loop over the n elements of one part, called after the loop that indexes them. */
static const TdStmt *part_of(const Step *s, Part part, const TdExpr *n) {
  static const char *const suffix[] = {"init", "shift", "load"};
  const Window *w = s->w;
  TdRewrite *r = w->b.r;
  TdArena *a = r->store->arena;
  const char *stem = td_buffer_stem(&w->b, w->dim);
  Count c = count_to(w, n, stem ? stem : w->b.loop->sym->name, suffix[part]);
  const TdExpr *q = c.value, *far = td_lin_plus(r->session, a, q, td_util_const(r, w->size));
  const TdExpr *fresh = td_lin_plus(r->session, a, q, w->keep);
  const TdStmt *body = part == FILL    ? move(s, &c, far, NULL, q)
                       : part == SHIFT ? move(s, &c, q, far, q)
                                       : move(s, &c, fresh, NULL, fresh);
  return counted(w, &c, td_util_block1(r, body))->kid[0];
}

/* The loops over the other dimensions from d on; in them what is to be done. A block. */
static const TdStmt *steps_from(Step *s, int d) {
  const TdBuffer *b = &s->w->b;
  TdRewrite *r = b->r;
  if (d == b->box.rank) {
    const TdStmt *part[] = {part_of(s, s->first ? FILL : SHIFT, s->w->keep), NULL};
    if (!s->first) part[1] = part_of(s, LOAD, td_util_const(r, s->w->size));
    return td_stmt_block(r->store, part, s->first ? 1 : 2, b->loop->loc);
  }
  if (d == s->w->dim) return steps_from(s, d + 1);
  const char *stem = td_buffer_stem(b, d);
  if (!stem) stem = td_text_fmt(r->arena, "d%d", d);
  s->count[d] = count_to(s->w, b->box.extent[d], stem, s->first ? "init" : "load");
  const TdStmt *body = steps_from(s, d + 1);
  return counted(s->w, &s->count[d], body);
}

/* What comes before the loop: the buffer, and in it what the first iteration finds, one step back.
 * Where the loop may not run at all, nothing is read. Returns how many statements there are. */
static size_t prepare(Window *w, const TdStmt **list) {
  TdBuffer *b = &w->b;
  TdRewrite *r = b->r;
  TdAsk q = td_util_ask(r, b->unit);
  Step s = {.w = w, .first = true};
  list[0] = td_stmt_local(r->store, b->local, td_buffer_type(b), TD_INIT_NONE, NULL, b->loop->loc);
  const TdStmt *fill = steps_from(&s, 0);
  const TdExpr *runs = NULL;
  if (!td_range_runs(&q, b->loop, false))
    require(w, td_buffer_compare(b, TD_OP_LT, td_for_lo(b->loop), td_for_hi(b->loop)), &runs);
  list[1] = td_util_guard(r, runs, fill->kid[0]);
  return 2;
}

static const TdProg *apply(TdRewrite *r) {
  Window w = {.dim = -1};
  TdBuffer *b = &w.b;
  if (!td_buffer_find(b, r, ARRAY, LOOP) || !check_use(&w) || !measure(&w) ||
      !td_buffer_check_calls(b) ||
      !td_buffer_shape(b, r->arg[NAME].given ? r->arg[NAME].text : NULL))
    return NULL;
  const TdStmt *list[3], *body = td_buffer_body(b);
  const TdStmt **kid = TD_NEWN(r->store->arena, const TdStmt *, body->nkid + 2);
  size_t n = prepare(&w, list), k = 0;
  Step s = {.w = &w};
  const TdStmt *step = steps_from(&s, 0);
  for (uint32_t i = 0; i < step->nkid; i++) kid[k++] = step->kid[i];
  for (uint32_t i = 0; i < body->nkid; i++) kid[k++] = body->kid[i];
  if (td_diag_failed(r->diag)) return NULL;
  body = td_stmt_with_kids(r->store, body, kid, k);
  list[n++] = td_stmt_with_kids(r->store, b->loop, &body, 1);
  const TdProg *p = td_util_with_stmts(r, b->now, b->loop->uid, list, n);
  return b->box.exact || td_buffer_check_defined(b, p) ? p : NULL;
}

const TdPrim td_prim_buf_reuse_at = {
    .name = "reuse_at",
    .on = "array",
    .summary = "Keep what iterations of a loop read again in a line or window buffer.",
    .args = {{"array", TD_ARG_ARRAY, TD_ARG_NEEDED, "the array, or a buffer of it", NULL},
             {"loop", TD_ARG_LOOP, TD_ARG_NEEDED, "the loop along which the buffer moves", NULL},
             {"name", TD_ARG_NAME, TD_ARG_OPTION, "name of the buffer", NULL}},
    .rewrite = "for i: S(A[i], A[i+1], A[i+2])  =>  local A_i = T[3](); A_i[1], A_i[2] = A[0], "
               "A[1]; for i: A_i[0] = A_i[1]; A_i[1] = A_i[2]; A_i[2] = A[i+2]; "
               "S(A_i[0], A_i[1], A_i[2])",
    .legal = "the loop does not write the array, and what an iteration reads lies in a box that "
             "moves along one dimension by a constant, less than its extent",
    .errors = "units not-an-array slot scope untouched written footprint motion no-motion "
              "no-overlap unwritten call name",
    .example = "blur:reuse_at(\"A\", \"x\")",
    .apply = apply,
};

/* reuse_at.c - reuse_at: a line or window buffer that moves over an array along a loop: each
 * iteration shifts it and loads only what the one before did not have. */
#include <string.h>

#include "rewrite/array/buffer.h"
#include "rewrite/loop/slide.h"

enum { ARRAY, LOOP, NAME };

/* How a box moves from one iteration to the next: along `dim`, where its elements are counted from
 * the side that an iteration leaves; `keep` of them are those of the iteration before, `size` are
 * new. */
typedef struct Motion {
  int dim;
  bool down; /* towards index 0 */
  int64_t size;
  const TdExpr *keep;
} Motion;

/* A loop in the body that moves over another dimension: the buffer is brought up to date there, as
 * far as each of its iterations needs. */
typedef struct Sweep {
  const TdStmt *loop; /* NULL: none */
  Motion along;
  const TdExpr *lo; /* of its box, less that of the buffer */
} Sweep;

typedef struct Window {
  TdBuffer b;
  Motion along;
  TdMoved touched; /* what an iteration reads */
  Sweep sweep;
  size_t pre; /* statements of the loop's body up to the last that writes the array; b.body is the
               * rest */
} Window;

/* How statement s uses the array, or NULL. */
static const TdEffect *effect_of(const TdBuffer *b, const TdStmt *s) {
  TdAsk q = td_util_ask(b->r, b->unit);
  const TdEffect *effect;
  size_t n = td_effects_of(&q, s, &effect);
  return td_effects_find(effect, n, b->array);
}

/* Parts the loop's body after the last write of the array: an iteration reads it in the rest. */
static bool part_body(Window *w) {
  TdBuffer *b = &w->b;
  const TdStmt *body = b->body;
  if (!effect_of(b, body))
    return td_buffer_refuse(b, TD_USAGE, "untouched", "is not used in the loop");
  for (uint32_t i = 0; i < body->nkid; i++) {
    const TdEffect *e = effect_of(b, body->kid[i]);
    if (e && e->write) w->pre = i + 1;
  }
  if (!w->pre) return true;
  b->body = td_edit_slice(b->r->store, body, w->pre, body->nkid);
  const TdEffect *e = effect_of(b, b->body);
  if (e && !e->inside) return true;
  td_buffer_refuse(b, TD_ILLEGAL, "written",
                   "is written in the loop: what an iteration has read may be old in the next");
  td_diag_help(b->r->diag, "buffer_at keeps what is written, for one iteration");
  return false;
}

/* Reads how a box of the array moves along a loop; the code of a refusal, or NULL. */
static const char *read_motion(const TdBuffer *b, const TdBox *box, const TdStmt *loop, Motion *m) {
  TdRewrite *r = b->r;
  TdAsk q = td_util_ask(r, b->unit);
  TdFootprintStep move;
  int64_t extent;
  q.arena = r->store->arena;
  if (!td_footprint_step(&q, box, loop, &move)) return "motion";
  if (move.dim < 0) return "no-motion";
  m->dim = move.dim;
  m->down = move.shift < 0;
  m->size = m->down ? -move.shift : move.shift;
  m->keep = td_lin_minus(r->session, q.arena, box->extent[m->dim], td_util_const(r, m->size));
  return td_expr_is_const(m->keep, &extent) && extent <= 0 ? "no-overlap" : NULL;
}

/* Finds the box and how it moves: along one dimension, by less than its extent. */
static bool measure(Window *w) {
  TdBuffer *b = &w->b;
  TdRewrite *r = b->r;
  TdAsk q = td_util_ask(r, b->unit);
  TdFootprint f;
  q.arena = r->store->arena;
  TdMoved stored;
  if (!td_footprint_of(&q, b->body, b->array, b->type, &f) ||
      !td_footprint_moves(&q, b->body, b->array, b->type, &w->touched, &stored))
    return td_buffer_refuse(b, TD_ILLEGAL, "footprint",
                            "is touched nowhere, or in places that no box holds");
  b->box = f.box;
  const char *code = read_motion(b, &b->box, b->loop, &w->along);
  if (!code)
    return td_buffer_is_below(b, b->body, td_util_const(r, 0), w->along.keep) ||
           td_buffer_assume(b, td_buffer_compare(b, TD_OP_LE, td_util_const(r, 0), w->along.keep));
  bool still = strcmp(code, "no-motion") == 0;
  td_buffer_refuse(b, TD_ILLEGAL, code,
                   still ? "is read in the same places in all iterations, as far as can be told"
                   : strcmp(code, "motion") == 0
                       ? "is read in places that do not move along one dimension by a constant"
                       : "shares no element between one iteration and the next");
  if (still) td_diag_help(r->diag, "buffer_at the loop around it keeps them");
  return false;
}

/* Whether what the body does before it reads changes nothing that the buffer keeps: it touches the
 * array beyond what an iteration and the one before have in common. */
static bool check_pre(const Window *w) {
  const TdBuffer *b = &w->b;
  TdRewrite *r = b->r;
  TdArena *a = r->store->arena;
  TdAsk q = td_util_ask(r, b->unit);
  TdFootprint f;
  int d = w->along.dim;
  if (!w->pre) return true;
  q.arena = a;
  const TdStmt *pre = td_edit_slice(r->store, td_for_body(b->loop), 0, w->pre);
  bool known = td_footprint_of(&q, pre, b->array, b->type, &f);
  const TdExpr *kept = td_lin_plus(r->session, a, b->box.lo[d],
                                   w->along.down ? td_util_const(r, w->along.size) : w->along.keep);
  if (known && !w->along.down && td_buffer_is_below(b, b->body, kept, f.box.lo[d])) return true;
  const TdExpr *end = known ? td_lin_plus(r->session, a, f.box.lo[d], f.box.extent[d]) : NULL;
  if (known && w->along.down && td_buffer_is_below(b, b->body, end, kept)) return true;
  td_buffer_refuse(b, TD_ILLEGAL, "written",
                   "is written in the loop: what an iteration has read may be old in the next");
  return false;
}

static bool is_no_load(void *ud, const TdExpr *e) {
  (void)ud;
  return e->kind != TD_EXPR_LOAD;
}

/* Whether a loop below w's has the same range in each iteration of w's, and runs to its end. */
static bool is_steady(const Window *w, const TdStmt *loop) {
  for (int i = 0; i < 2; i++)
    if (td_walk_uses_expr(loop->expr[i], w->b.loop->sym) ||
        !td_walk_expr(loop->expr[i], is_no_load, NULL))
      return false;
  return !td_util_leaves_by_break(td_for_body(loop)) && td_for_body(loop)->nkid > 0;
}

/* The box of the sweep at its first iteration, less that of the buffer. */
static const TdExpr *sweep_start(const Window *w) {
  TdSubst first = td_subst_new(w->b.r->store);
  td_subst_expr(&first, w->sweep.loop->sym, td_for_lo(w->sweep.loop));
  return td_subst_in_expr(&first, w->sweep.lo);
}

/* Whether [lo, lo + n) lies in the buffer along the sweep, at statement s. */
static bool is_within(const Window *w, const TdStmt *s, const TdExpr *lo, const TdExpr *n) {
  TdRewrite *r = w->b.r;
  const TdExpr *end = td_lin_plus(r->session, r->store->arena, lo, n);
  return td_buffer_is_below(&w->b, s, td_util_const(r, 0), lo) &&
         td_buffer_is_below(&w->b, s, end, w->b.box.extent[w->sweep.along.dim]);
}

/* Finds the one loop of the body in which the array is used, if it moves over another dimension. */
static void find_sweep(Window *w) {
  TdBuffer *b = &w->b;
  TdRewrite *r = b->r;
  TdAsk q = td_util_ask(r, b->unit);
  Sweep *v = &w->sweep;
  const TdStmt *loop = NULL;
  TdFootprint f;
  int64_t fixed;
  size_t uses = 0;
  for (uint32_t i = 0; i < b->body->nkid; i++)
    if (td_walk_uses(r->session->ctx, b->body->kid[i], b->array)) loop = b->body->kid[i], uses++;
  q.arena = r->store->arena;
  if (uses != 1 || loop->kind != TD_STMT_FOR || !is_steady(w, loop) ||
      !td_footprint_of(&q, td_for_body(loop), b->array, b->type, &f) ||
      read_motion(b, &f.box, loop, &v->along) || v->along.down || v->along.dim == w->along.dim ||
      !td_expr_is_const(v->along.keep, &fixed))
    return;
  int d = v->along.dim;
  v->loop = loop;
  v->lo = td_lin_minus(r->session, r->store->arena, f.box.lo[d], b->box.lo[d]);
  if (!is_within(w, td_for_body(loop), v->lo, f.box.extent[d]) ||
      !is_within(w, b->body, sweep_start(w), v->along.keep))
    v->loop = NULL;
}

/* A count from 0 to before n: of loop variable v, or (NULL) 0. */
typedef struct Count {
  TdSym v;
  const TdExpr *n, *value;
} Count;

/* When elements are moved: all before the loop; all in an iteration; or, of a sweep, those that its
 * first iteration finds, and those that each one adds. */
typedef enum { BEFORE, ITERATION, SWEEP_START, SWEEP } When;

/* Statements in the making, for one element of the buffer in each other dimension than that along
 * which it moves; of the new elements along it, n from number `first` on are loaded. */
typedef struct Step {
  Window *w;
  When when;
  bool shifts; /* what is kept, before */
  int64_t first, n;
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

/* Element `count` of the buffer along w->along.dim, counted from the side that an iteration leaves.
 */
static const TdExpr *position(const Window *w, const TdExpr *count) {
  TdRewrite *r = w->b.r;
  TdArena *a = r->store->arena;
  if (!w->along.down) return count;
  const TdExpr *last =
      td_lin_minus(r->session, a, w->b.box.extent[w->along.dim], td_util_const(r, 1));
  return td_lin_minus(r->session, a, last, count);
}

/* Whether `fact` holds where s is done, at the first and the last value of a count, if it has any.
 */
static bool is_always(const Step *s, const Count *c, const TdExpr *fact) {
  const Window *w = s->w;
  const TdStmt *where = s->when == SWEEP ? td_for_body(w->sweep.loop) : w->b.body;
  TdRewrite *r = w->b.r;
  TdAsk q = td_util_ask(r, w->b.now);
  const TdExpr *last = td_lin_minus(r->session, r->store->arena, c->n, td_util_const(r, 1));
  const TdExpr *end[] = {td_util_const(r, 0), last};
  const TdExpr *none = td_buffer_compare(&w->b, TD_OP_LE, c->n, end[0]);
  bool holds = true;
  for (int i = 0; i < 2 && holds; i++) {
    TdSubst sub = td_subst_new(r->store);
    if (c->v) td_subst_expr(&sub, c->v, end[i]);
    const TdExpr *either = td_buffer_compare(&w->b, TD_OP_OR, none, td_subst_in_expr(&sub, fact));
    holds = td_range_holds(&q, where, either, false) == TD_YES;
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
static void require_inside(const Step *s, const Count *c, const TdExpr *at, int d,
                           const TdExpr **cond) {
  Window *w = s->w;
  TdSession *ss = w->b.r->session;
  TdArena *a = w->b.r->store->arena;
  const TdExpr *by = td_util_const(w->b.r, td_lin_of(ss, a, at).constant);
  const TdExpr *above =
      td_buffer_compare(&w->b, TD_OP_LE, td_lin_times(ss, a, by, -1), td_lin_minus(ss, a, at, by));
  const TdExpr *before = td_buffer_compare(&w->b, TD_OP_LT, at, w->b.type->dim[d]);
  if (!is_always(s, c, above)) require(w, above, cond);
  if (!is_always(s, c, before)) require(w, before, cond);
}

/* Adds to *cond the bounds of what is read in dimension d that hold in all iterations, besides
 * those of the array: elements beyond them may not be there, and no iteration needs them. */
static void require_touched(const Step *s, const Count *c, const TdExpr *at, int d,
                            const TdExpr **cond) {
  Window *w = s->w;
  const TdStmt *sweep = w->sweep.loop;
  for (int up = 0; up < 2; up++) {
    TdParts bound = td_util_parts(w->b.r, up ? w->touched.to[d] : w->touched.from[d],
                                  up ? TD_OP_MIN : TD_OP_MAX);
    for (size_t i = 0; i < bound.n; i++) {
      const TdExpr *e = bound.at[i];
      const TdExpr *end = up ? w->b.type->dim[d] : td_util_const(w->b.r, 0);
      int64_t inside;
      if (td_walk_uses_expr(e, w->b.loop->sym) || (sweep && td_walk_uses_expr(e, sweep->sym)) ||
          (td_lin_diff(w->b.r->session, e, end, &inside) && !inside))
        continue;
      const TdExpr *fact = up ? td_buffer_compare(&w->b, TD_OP_LT, at, e)
                              : td_buffer_compare(&w->b, TD_OP_LE, e, at);
      if (!is_always(s, c, fact)) require(w, fact, cond);
    }
  }
}

/* Moves an element to `to` of the buffer along w->along.dim: from `from` of it, or (NULL) from the
 * array; where the element, number `of` of the box, is one of the array. c is what they count. */
static const TdStmt *move(const Step *s, const Count *c, const TdExpr *to, const TdExpr *from,
                          const TdExpr *of) {
  Window *w = s->w;
  TdBuffer *b = &w->b;
  TdRewrite *r = b->r;
  const TdExpr *in[TD_MAX_RANK], *out[TD_MAX_RANK], *at[TD_MAX_RANK], *cond = NULL;
  TdSubst first = td_subst_new(r->store);
  if (s->when == BEFORE) td_subst_expr(&first, b->loop->sym, td_for_lo(b->loop));
  for (int d = 0; d < b->box.rank; d++) {
    bool along = d == w->along.dim;
    const TdExpr *pos = s->count[d].value;
    in[d] = along ? position(w, to) : pos;
    out[d] = along && from ? position(w, from) : pos;
    at[d] = td_lin_plus(r->session, r->store->arena, b->box.lo[d], along ? position(w, of) : pos);
    at[d] = td_subst_in_expr(&first, at[d]);
    require_inside(s, along ? c : &s->count[d], at[d], d, &cond);
    if (w->touched.any) require_touched(s, along ? c : &s->count[d], at[d], d, &cond);
  }
  const TdExpr *value = td_buffer_element(b, !from, from ? out : at);
  const TdStmt *store =
      td_stmt_store(r->store, td_buffer_element(b, false, in), value, b->loop->loc);
  return td_util_guard(r, cond, store);
}

typedef enum { FILL, SHIFT, LOAD } Part;

/* The elements of one part along w->along.dim, counted by a loop that is called after the loop that
 * indexes them. */
static Count count_part(const Step *s, Part part) {
  static const char *const suffix[] = {"init", "shift", "load"};
  const Window *w = s->w;
  const char *stem = td_buffer_stem(&w->b, w->along.dim);
  const TdExpr *n = part == LOAD ? td_util_const(w->b.r, s->n) : w->along.keep;
  return count_to(w, n, stem ? stem : w->b.loop->sym->name, suffix[part]);
}

/* Moves element c of a part. */
static const TdStmt *move_part(const Step *s, Part part, const Count *c) {
  const Window *w = s->w;
  TdRewrite *r = w->b.r;
  TdArena *a = r->store->arena;
  const TdExpr *q = c->value, *far = td_lin_plus(r->session, a, q, td_util_const(r, w->along.size));
  const TdExpr *fresh = td_lin_plus(r->session, a, q, w->along.keep);
  fresh = td_lin_plus(r->session, a, fresh, td_util_const(r, s->first));
  return part == FILL    ? move(s, c, far, NULL, q)
         : part == SHIFT ? move(s, c, q, far, q)
                         : move(s, c, fresh, NULL, fresh);
}

/* The loop over the elements of one part. */
static const TdStmt *part_of(const Step *s, Part part) {
  Count c = count_part(s, part);
  return counted(s->w, &c, td_util_block1(s->w->b.r, move_part(s, part, &c)))->kid[0];
}

/* What dimension d counts: the whole extent, or along a sweep the part of it that is moved. */
static Count count_of(const Step *s, int d) {
  const Window *w = s->w;
  TdRewrite *r = w->b.r;
  TdArena *a = r->store->arena;
  const Motion *m = &w->sweep.along;
  const char *stem = td_buffer_stem(&w->b, d), *suffix = s->when == BEFORE ? "init" : "load";
  if (!stem) stem = td_text_fmt(r->arena, "d%d", d);
  bool part = s->when >= SWEEP_START && d == m->dim;
  if (!part) return count_to(w, w->b.box.extent[d], stem, suffix);
  bool start = s->when == SWEEP_START;
  Count c = count_to(w, start ? m->keep : td_util_const(r, m->size), stem, suffix);
  const TdExpr *from = start ? sweep_start(w) : td_lin_plus(r->session, a, w->sweep.lo, m->keep);
  c.value = td_lin_plus(r->session, a, from, c.value);
  return c;
}

/* The loops over the other dimensions from d on; in them element c of a part is moved, or (NULL)
 * what there is to shift and then to load. A block. */
static const TdStmt *steps_from(Step *s, int d, Part part, const Count *c) {
  const TdBuffer *b = &s->w->b;
  TdRewrite *r = b->r;
  if (d == b->box.rank) {
    const TdStmt *kid[2];
    size_t n = 0;
    if (c) return td_util_block1(r, move_part(s, part, c));
    if (s->shifts) kid[n++] = part_of(s, SHIFT);
    if (s->n) kid[n++] = part_of(s, LOAD);
    return td_stmt_block(r->store, kid, n, b->loop->loc);
  }
  if (d == s->w->along.dim) return steps_from(s, d + 1, part, c);
  s->count[d] = count_of(s, d);
  const TdStmt *body = steps_from(s, d + 1, part, c);
  return counted(s->w, &s->count[d], body);
}

/* A part that reads the array, in the order in which the iterations do: outermost the elements
 * along which the buffer moves. A block. */
static const TdStmt *read_part(Step *s, Part part) {
  Count c = count_part(s, part);
  return counted(s->w, &c, steps_from(s, 0, part, &c));
}

/* All that a step moves, as a block. */
static const TdStmt *make_step(Step s) {
  TdRewrite *r = s.w->b.r;
  if (s.when == BEFORE) return read_part(&s, FILL);
  if (s.n <= 1) return steps_from(&s, 0, LOAD, NULL);
  Step shift = s, load = s;
  shift.n = 0;
  const TdStmt *kid[2];
  size_t n = 0;
  if (s.shifts) kid[n++] = steps_from(&shift, 0, LOAD, NULL)->kid[0];
  kid[n++] = read_part(&load, LOAD)->kid[0];
  return td_stmt_block(r->store, kid, n, s.w->b.loop->loc);
}

/* What comes before the loop: the buffer, and in it what the first iteration finds, one step back.
 * Where the loop may not run at all, nothing is read. Returns how many statements there are. */
static size_t prepare(Window *w, const TdStmt **list) {
  TdBuffer *b = &w->b;
  TdRewrite *r = b->r;
  TdAsk q = td_util_ask(r, b->unit);
  list[0] = td_stmt_local(r->store, b->local, td_buffer_type(b), TD_INIT_NONE, NULL, b->loop->loc);
  const TdStmt *fill = make_step((Step){.w = w, .when = BEFORE});
  const TdExpr *runs = NULL;
  if (!td_range_runs(&q, b->loop, false))
    require(w, td_buffer_compare(b, TD_OP_LT, td_for_lo(b->loop), td_for_hi(b->loop)), &runs);
  list[1] = td_util_guard(r, runs, fill->kid[0]);
  return 2;
}

/* The loop's body with the buffer for the array, brought up to date first; the last of the new
 * elements along which it moves in the sweep, if there is one. */
static const TdStmt *make_body(Window *w) {
  TdBuffer *b = &w->b;
  TdStore *st = b->r->store;
  const TdStmt *whole = td_for_body(b->loop), *rest = td_buffer_body(b), *sweep = w->sweep.loop;
  int64_t size = w->along.size, early = sweep ? size - 1 : size;
  const TdStmt *none = td_stmt_block(st, NULL, 0, b->loop->loc), *start = none, *step = none;
  if (early) step = make_step((Step){.w = w, .when = ITERATION, .shifts = true, .n = early});
  if (sweep) {
    Step last = {.w = w, .when = SWEEP_START, .shifts = !early, .first = early, .n = 1};
    start = make_step(last);
    last.when = SWEEP;
    const TdStmt *more = make_step(last);
    rest = td_edit_insert(st, rest, td_for_body(sweep)->kid[0]->uid, false, more->kid, more->nkid);
  }
  const TdStmt *part[] = {td_edit_slice(st, whole, 0, w->pre), step, start, rest};
  size_t n = 0;
  for (int i = 0; i < 4; i++) n += part[i]->nkid;
  const TdStmt **kid = TD_NEWN(st->arena, const TdStmt *, n);
  n = 0;
  for (int i = 0; i < 4; i++)
    for (uint32_t k = 0; k < part[i]->nkid; k++) kid[n++] = part[i]->kid[k];
  return td_stmt_with_kids(st, whole, kid, n);
}

/* Has what the loop computes anew in each iteration computed once, where it can be. */
static void slide(TdBuffer *b) {
  TdRewrite *r = b->r;
  const TdUnit *u = td_slide_window(r, b->unit, b->loop, b->array);
  if (!u) return;
  r->prog = td_prog_with(r->prog, u);
  b->unit = b->now = u;
  b->loop = td_edit_find(r->session->ctx, u->body, b->loop->uid);
  b->body = td_for_body(b->loop);
}

static const TdProg *apply(TdRewrite *r) {
  Window w = {.pre = 0};
  TdBuffer *b = &w.b;
  TdPlace loop;
  if (!td_util_loop(r, LOOP, &loop) || !td_buffer_find(b, r, ARRAY, LOOP)) return NULL;
  slide(b);
  if (!part_body(&w) || !measure(&w) || !check_pre(&w) || !td_buffer_check_calls(b) ||
      !td_buffer_shape(b, r->arg[NAME].given ? r->arg[NAME].text : NULL))
    return NULL;
  const TdStmt *list[3];
  find_sweep(&w);
  size_t n = prepare(&w, list);
  const TdStmt *body = make_body(&w);
  if (td_diag_failed(r->diag)) return NULL;
  list[n++] = td_stmt_with_kids(r->store, b->loop, &body, 1);
  const TdProg *p = td_util_with_stmts(r, b->now, b->loop->uid, list, n);
  return b->box.exact || td_buffer_check_defined(b, p) ? p : NULL;
}

const TdPrim td_prim_reuse_at = {
    .name = "reuse_at",
    .on = "array",
    .summary = "Keep what iterations of a loop read again in a line or window buffer.",
    .args = {{"array", TD_ARG_ARRAY, TD_ARG_NEEDED, "the array, or a buffer of it", NULL},
             {"loop", TD_ARG_LOOP, TD_ARG_NEEDED, "the loop along which the buffer moves", NULL},
             {"name", TD_ARG_NAME, TD_ARG_OPTION, "name of the buffer", NULL}},
    .rewrite = "for i: S(A[i], A[i+1], A[i+2])  =>  local A_i = T[3](); A_i[1], A_i[2] = A[0], "
               "A[1]; for i: A_i[0] = A_i[1]; A_i[1] = A_i[2]; A_i[2] = A[i+2]; "
               "S(A_i[0], A_i[1], A_i[2])",
    .legal =
        "what an iteration reads of the array lies in a box that moves along one dimension by a "
        "constant, less than its extent; the loop does not write what the box keeps, or computes "
        "it again, each "
        "element from its own indices and from data that it leaves alone",
    .errors = "units not-an-array slot scope untouched written footprint motion no-motion "
              "no-overlap unwritten call name",
    .example = "blur:reuse_at(\"A\", \"x\")",
    .apply = apply,
};

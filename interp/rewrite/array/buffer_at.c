/* buffer_at.c - buffer_at: a local tensor in a loop's body stands for what one iteration
 * touches of an array. */
#include "rewrite/array/buffer.h"

enum { ARRAY, LOOP, NAME, TENSOR };

/* The buffer, and what goes in and out of it. */
typedef struct Moves {
  TdBuffer b;
  TdMoved load, store;
} Moves;

static bool is_not_return(void *ud, const TdStmt *s) {
  (void)ud;
  return s->kind != TD_STMT_RETURN;
}

/* Finds what an iteration touches, and what must go in and out; what goes out must get there. */
static bool measure(Moves *m) {
  TdBuffer *b = &m->b;
  TdRewrite *r = b->r;
  TdAsk q = td_util_ask(r, b->unit);
  const TdEffect *effect;
  size_t n = td_effects_of(&q, b->body, &effect);
  TdFootprint f;
  if (!td_effects_find(effect, n, b->array))
    return td_buffer_refuse(b, TD_USAGE, "untouched", "is not used in the loop");
  q.arena = r->store->arena;
  if (!td_footprint_of(&q, b->body, b->array, b->type, &f) ||
      !td_footprint_moves(&q, b->body, b->array, b->type, &m->load, &m->store))
    return td_buffer_refuse(b, TD_ILLEGAL, "footprint",
                            "is touched nowhere, or in places that no box holds");
  b->box = f.box;
  bool ends_early = td_util_leaves_by_break(b->body) ||
                    !td_walk_stmt(r->session->ctx, b->body, is_not_return, NULL);
  return !m->store.any || !ends_early ||
         td_buffer_refuse(b, TD_ILLEGAL, "break",
                          "is written, and an iteration may end before it is stored");
}

/* The copy of elements m between the array and the buffer. */
typedef struct Copy {
  TdBuffer *b;
  const TdMoved *m;
  bool back;
  const TdExpr *at[TD_MAX_RANK];     /* index in the array */
  const TdExpr *inside[TD_MAX_RANK]; /* in the buffer */
} Copy;

/* The move of one element. */
static const TdStmt *move_element(const Copy *c) {
  const TdExpr *out = td_buffer_element(c->b, true, c->at);
  const TdExpr *in = td_buffer_element(c->b, false, c->inside);
  return td_stmt_store(c->b->r->store, c->back ? out : in, c->back ? in : out, c->b->loc);
}

/* The greatest (op MAX), or least, of bounds, counted from the first element of the box. */
static const TdExpr *inside_box(const Copy *c, TdOp op, TdParts bound, const TdExpr *first) {
  TdRewrite *r = c->b->r;
  const TdExpr *e = NULL;
  for (size_t i = 0; i < bound.n; i++) {
    const TdExpr *x = td_lin_minus(r->session, r->store->arena, bound.at[i], first);
    e = e ? td_expr_op2(r->store->arena, op, x->type, e, x) : x;
  }
  return e;
}

/* Adds a condition to *cond (NULL: none yet); one on sizes alone is assumed instead. */
static void require(TdBuffer *b, const TdExpr *fact, const TdExpr **cond) {
  if (!td_util_varies(fact))
    td_buffer_assume(b, fact);
  else
    *cond = *cond ? td_buffer_compare(b, TD_OP_AND, *cond, fact) : fact;
}

/* The bounds of the elements moved in one dimension: a range, and a condition on index `at` for
 * what it does not say. A range of constant extent stays, others take all bounds in
 * where they may. */
typedef struct Range {
  const TdExpr *lo, *hi, *cond;
} Range;

static Range range_of(const Copy *c, int d, const TdExpr *at) {
  const TdBuffer *b = c->b;
  TdRewrite *r = b->r;
  const TdExpr *first = b->box.lo[d], *extent = b->box.extent[d];
  const TdExpr *end = td_lin_plus(r->session, r->store->arena, first, extent);
  int64_t fixed;
  bool steady = td_expr_is_const(extent, &fixed);
  Range g = {td_util_const(r, 0), extent, NULL};
  TdParts from = td_util_parts(r, c->m->from[d], TD_OP_MAX);
  TdParts to = td_util_parts(r, c->m->to[d], TD_OP_MIN);
  if (b->kept[d] && (from.n == 1 || (!steady && td_util_varies(c->m->from[d]))))
    g.lo = inside_box(c, TD_OP_MAX, from, first);
  else
    for (size_t i = 0; i < from.n; i++)
      if (!td_buffer_is_below(b, b->body, from.at[i], first))
        require(c->b, td_buffer_compare(b, TD_OP_LE, from.at[i], at), &g.cond);
  if (b->kept[d] && (to.n == 1 || (!steady && td_util_varies(c->m->to[d]))))
    g.hi = inside_box(c, TD_OP_MIN, to, first);
  else
    for (size_t i = 0; i < to.n; i++)
      if (!td_buffer_is_below(b, b->body, end, to.at[i]))
        require(c->b, td_buffer_compare(b, TD_OP_LT, at, to.at[i]), &g.cond);
  return g;
}

/* The moves of dimensions d and up. */
static const TdStmt *move_from(Copy *c, int d) {
  const TdBuffer *b = c->b;
  TdRewrite *r = b->r;
  if (d == b->box.rank) return move_element(c);
  c->at[d] = b->box.lo[d];
  if (!b->kept[d]) {
    const TdExpr *cond = range_of(c, d, c->at[d]).cond;
    return td_util_guard(c->b->r, cond, move_from(c, d + 1));
  }
  const char *stem = td_buffer_stem(b, d);
  if (!stem) stem = td_text_fmt(r->arena, "d%d", d);
  const char *want = td_text_fmt(r->arena, "%s_%s", stem, c->back ? "back" : "init");
  TdSym v = td_store_sym(r->store, td_util_name(r, b->unit, NULL, want), TD_SYM_LOOP);
  c->inside[d] = td_util_var(r, v);
  c->at[d] = td_lin_plus(r->session, r->store->arena, c->at[d], td_util_var(r, v));
  Range g = range_of(c, d, c->at[d]);
  const TdStmt *body = td_util_guard(c->b->r, g.cond, move_from(c, d + 1));
  return td_stmt_for(r->store, v, g.lo, g.hi, 1, td_util_block1(r, body), b->loc);
}

/* The declaration of the buffer and what fills it; a single element is its first value. Returns how
 * many statements there are. */
static size_t declare(Moves *m, const TdStmt **list) {
  TdBuffer *b = &m->b;
  Copy in = {.b = b, .m = &m->load};
  const TdStmt *load = m->load.any ? move_from(&in, 0) : NULL;
  bool value = load && load->kind == TD_STMT_STORE;
  list[0] =
      td_stmt_local(b->r->store, b->local, td_buffer_type(b), value ? TD_INIT_VALUE : TD_INIT_NONE,
                    value ? load->expr[1] : NULL, b->loc);
  if (load && !value) list[1] = load;
  return load && !value ? 2 : 1;
}

static const TdProg *apply(TdRewrite *r) {
  Moves m = {0};
  TdBuffer *b = &m.b;
  if (!td_buffer_find(b, r, ARRAY, LOOP) || !measure(&m) || !td_buffer_check_calls(b)) return NULL;
  if (r->arg[TENSOR].given && r->arg[TENSOR].integer) b->kept[b->box.rank - 1] = true;
  if (!td_buffer_shape(b, r->arg[NAME].given ? r->arg[NAME].text : NULL)) return NULL;
  const TdStmt *body = td_buffer_body(b);
  const TdStmt **list = TD_NEWN(r->store->arena, const TdStmt *, body->nkid + 3);
  size_t n = td_stmt_preamble(body);
  for (size_t i = 0; i < n; i++) list[i] = body->kid[i];
  n += declare(&m, list + n);
  for (size_t i = td_stmt_preamble(body); i < body->nkid; i++) list[n++] = body->kid[i];
  Copy out = {.b = b, .m = &m.store, .back = true};
  if (m.store.any) list[n++] = move_from(&out, 0);
  if (td_diag_failed(r->diag)) return NULL;
  const TdProg *p =
      td_util_with_stmt(r, b->now, body->uid, td_stmt_with_kids(r->store, body, list, n));
  return !m.load.any || m.load.read || td_buffer_check_defined(b, p) ? p : NULL;
}

const TdPrim td_prim_buffer_at = {
    .name = "buffer_at",
    .on = "array",
    .summary = "Let a local buffer stand for what each iteration of a loop touches of an array.",
    .args = {{"array", TD_ARG_ARRAY, TD_ARG_NEEDED, "the array", NULL},
             {"loop", TD_ARG_UNIT, TD_ARG_NEEDED,
              "the loop in whose body the buffer lives, or a task or kernel", "task|kernel|loop"},
             {"name", TD_ARG_NAME, TD_ARG_OPTION, "name of the buffer", NULL},
             {"tensor", TD_ARG_FLAG, TD_ARG_OPTION,
              "a single element is a tensor of one too, as tokens of streams are", NULL}},
    .rewrite = "for i: for j: S(C[i][j])  =>  for i: local C_i = T[n](); "
               "for j_init: C_i[j_init] = C[i][j_init]; for j: S(C_i[j]); "
               "for j_back: C[i][j_back] = C_i[j_back]",
    .legal =
        "what an iteration touches lies in a box of known extents, and it ends where it stores "
        "what it wrote; loaded is what is read before it is written, or perhaps not written",
    .errors = "units not-an-array slot scope untouched footprint unwritten break call name",
    .example = "s:buffer_at(\"A\", \"j\")",
    .apply = apply,
};

/* buf_buffer_at.c - buffer_at: a local tensor in a loop's body stands for what one iteration
 * touches of an array. */
#include "rewrite/util.h"

enum { ARRAY, LOOP, NAME };

typedef struct Buffer {
  TdRewrite *r;
  const TdUnit *unit;
  const TdStmt *loop, *body;
  TdSym array, local;
  const TdType *type; /* of the array */
  TdBox box;          /* what an iteration touches */
  TdMoved load, store;
  bool undefined;         /* the array is a local that starts with nothing written */
  bool kept[TD_MAX_RANK]; /* dimensions of the array that the buffer has */
  const TdUnit *now;      /* the unit with what had to be assumed */
} Buffer;

static bool refuse(const Buffer *b, TdDiagKind kind, const char *code, const char *why) {
  td_util_refuse(b->r, kind, code, b->loop->loc, "'%s' %s", b->array->name, why);
  return false;
}

/* The loop, and the array as it is seen there. */
static bool find(Buffer *b) {
  TdRewrite *r = b->r;
  TdPlace loop, array;
  if (!td_util_loop(r, LOOP, &loop)) return false;
  if (!td_cursor_array(r->arena, r->prog, r->arg[ARRAY].text, loop.unit, &array, r->diag))
    return false;
  b->unit = loop.unit;
  b->loop = loop.stmt;
  b->body = td_for_body(loop.stmt);
  b->array = array.sym;
  b->type = array.stmt ? array.stmt->type : td_unit_param(array.unit, array.sym)->type;
  b->undefined = array.stmt && array.stmt->kind == TD_STMT_LOCAL &&
                 array.stmt->cls == TD_LOCAL_AUTO && array.stmt->init == TD_INIT_NONE;
  if (array.unit != loop.unit)
    return refuse(b, TD_USAGE, "units", "is not an array of the loop's kernel");
  if (b->type->kind == TD_T_PORT || array.sym->kind == TD_SYM_SCALAR)
    return refuse(b, TD_USAGE, "not-an-array", "is no array");
  if (array.stmt && array.stmt->kind == TD_STMT_SLOT)
    return refuse(b, TD_UNSUPPORTED, "slot", "is a buffer of its stream already");
  if (array.stmt && td_edit_find(r->session->ctx, b->body, array.stmt->uid))
    return refuse(b, TD_ILLEGAL, "scope",
                  "is declared inside the loop: it is new at each iteration");
  return true;
}

static bool is_not_return(void *ud, const TdStmt *s) {
  (void)ud;
  return s->kind != TD_STMT_RETURN;
}

/* Finds what an iteration touches, and what must go in and out; what goes out must get there. */
static bool measure(Buffer *b) {
  TdRewrite *r = b->r;
  TdAsk q = td_util_ask(r, b->unit);
  const TdEffect *effect;
  size_t n = td_effects_of(&q, b->body, &effect);
  TdFootprint f;
  if (!td_effects_find(effect, n, b->array))
    return refuse(b, TD_USAGE, "untouched", "is not used in the loop");
  q.arena = r->store->arena;
  if (!td_footprint_of(&q, b->body, b->array, b->type, &f) ||
      !td_footprint_moves(&q, b->body, b->array, b->type, &b->load, &b->store))
    return refuse(b, TD_ILLEGAL, "footprint", "is touched in places that no box holds");
  b->box = f.box;
  if (b->load.any && !b->load.read && b->undefined)
    return refuse(b, TD_ILLEGAL, "unwritten",
                  "may hold elements that were never written, which would be read to fill the "
                  "buffer");
  bool ends_early = td_util_leaves_by_break(b->body) ||
                    !td_walk_stmt(r->session->ctx, b->body, is_not_return, NULL);
  return !b->store.any || !ends_early ||
         refuse(b, TD_ILLEGAL, "break", "is written, and an iteration may end before it is stored");
}

/* Whether x <= y at statement s for all sizes. */
static bool is_below(const Buffer *b, const TdStmt *s, const TdExpr *x, const TdExpr *y) {
  TdAsk q = td_util_ask(b->r, b->unit);
  const TdExpr *le = td_expr_op2(b->r->arena, TD_OP_LE, td_type_bool(b->r->session), x, y);
  return td_range_holds(&q, s, le, false) == TD_YES;
}

/* Whether the view v, which the call s passes on, lies in the box: what is called may see it all.
 */
static bool is_inside(const Buffer *b, const TdStmt *s, const TdExpr *v) {
  TdSession *ss = b->r->session;
  TdArena *a = b->r->arena;
  for (uint32_t d = 0; d < v->nkid; d++) {
    const TdExpr *last = v->kid[d], *end = td_lin_plus(ss, a, b->box.lo[d], b->box.extent[d]);
    int out = v->u.dim[d].out;
    if (out >= 0) {
      const TdExpr *n = td_lin_minus(ss, a, v->type->dim[out], td_util_const(b->r, 1));
      last = td_lin_plus(ss, a, last, td_lin_times(ss, a, n, v->u.dim[d].step));
    }
    last = td_lin_plus(ss, a, last, td_util_const(b->r, 1));
    if (!is_below(b, s, b->box.lo[d], v->kid[d]) || !is_below(b, s, last, end)) return false;
  }
  return true;
}

/* Refuses calls that are passed more than the box. */
static bool check_call(void *ud, const TdStmt *s) {
  const Buffer *b = ud;
  for (uint32_t i = 0; s->kind == TD_STMT_CALL && i < s->nexpr; i++) {
    const TdExpr *v = s->expr[i];
    if (v->kind != TD_EXPR_VIEW || v->sym != b->array || is_inside(b, s, v)) continue;
    td_util_refuse(b->r, TD_ILLEGAL, "call", s->loc,
                   "the call of '%s' is passed more of '%s' than it touches: '%s'", s->sym->name,
                   b->array->name, td_print_expr_str(b->r->arena, v));
    td_diag_help(b->r->diag, "pass the part that is used, or inline '%s' first", s->sym->name);
    return false;
  }
  return true;
}

/* Keeps the dimensions that views of the array keep. */
static bool keep_viewed(void *ud, const TdExpr *e) {
  Buffer *b = ud;
  for (uint32_t d = 0; e->kind == TD_EXPR_VIEW && e->sym == b->array && d < e->nkid; d++)
    b->kept[d] |= e->u.dim[d].out >= 0;
  return true;
}

/* Assumes a fact about sizes; false when it does not hold at the unit's values. */
static bool assume(Buffer *b, const TdExpr *fact) {
  int64_t holds;
  b->now = td_util_assume(b->r, b->now, fact);
  return !td_unit_value(b->unit, fact, &holds) || holds ||
         refuse(b, TD_ILLEGAL, "footprint", "is touched outside its extents");
}

static const TdExpr *compare(const Buffer *b, TdOp op, const TdExpr *x, const TdExpr *y) {
  return td_expr_op2(b->r->store->arena, op, td_type_bool(b->r->session), x, y);
}

/* Decides the buffer's dimensions: all but those of one element; extents must not be negative. */
static bool choose_shape(Buffer *b) {
  TdRewrite *r = b->r;
  int64_t n;
  td_walk_exprs(r->session->ctx, b->body, keep_viewed, b);
  for (int d = 0; d < b->box.rank; d++) {
    const TdExpr *extent = b->box.extent[d], *zero = td_util_const(r, 0);
    bool constant = td_expr_is_const(extent, &n);
    b->kept[d] |= !constant || n != 1;
    if (!constant && !is_below(b, b->body, zero, extent) &&
        !assume(b, compare(b, TD_OP_LE, zero, extent)))
      return false;
  }
  const char *given = r->arg[NAME].given ? r->arg[NAME].text : NULL;
  const char *want = td_text_fmt(r->arena, "%s_%s", b->array->name, b->loop->sym->name);
  const char *name = td_util_name(r, b->unit, given, want);
  if (!name) return false;
  td_util_made(r, name);
  b->local = td_store_sym(r->store, name, TD_SYM_LOCAL);
  return true;
}

/* The array as a view of the buffer: what its elements and views become. */
static const TdExpr *array_as_view(const Buffer *b) {
  TdRewrite *r = b->r;
  const TdExpr *lo[TD_MAX_RANK];
  TdViewDim dim[TD_MAX_RANK];
  int n = 0;
  for (int d = 0; d < b->box.rank; d++)
    if (b->kept[d]) {
      lo[n] = td_lin_times(r->session, r->store->arena, b->box.lo[d], -1);
      dim[n++] = (TdViewDim){.step = 1, .out = d};
    }
  return td_expr_view(r->store->arena, b->local, b->type, lo, dim, n, b->loop->loc);
}

/* A search for the loop of the body that indexes dimension d. */
typedef struct Stem {
  const Buffer *b;
  int dim;
  TdSym found;
} Stem;

static bool is_not_loop_of(void *ud, const TdStmt *s) {
  return s->kind != TD_STMT_FOR || s->sym != ud;
}

static bool look_var(void *ud, const TdExpr *e) {
  Stem *k = ud;
  if (e->kind == TD_EXPR_VAR &&
      !td_walk_stmt(k->b->r->session->ctx, k->b->body, is_not_loop_of, (void *)(uintptr_t)e->sym))
    k->found = e->sym;
  return !k->found;
}

static bool look_index(void *ud, const TdExpr *e) {
  Stem *k = ud;
  bool part = e->kind == TD_EXPR_LOAD || e->kind == TD_EXPR_VIEW;
  return !part || e->sym != k->b->array || td_walk_expr(e->kid[k->dim], look_var, k);
}

/* "j" of "j_init": the first loop in the body that indexes dimension d, or else "d0". */
static const char *stem_of(const Buffer *b, int d) {
  Stem k = {b, d, NULL};
  td_walk_exprs(b->r->session->ctx, b->body, look_index, &k);
  return k.found ? k.found->name : td_text_fmt(b->r->arena, "d%d", d);
}

/* The copy of elements m between the array and the buffer. */
typedef struct Copy {
  Buffer *b;
  const TdMoved *m;
  bool back;
  const TdExpr *at[TD_MAX_RANK];     /* index in the array */
  const TdExpr *inside[TD_MAX_RANK]; /* in the buffer */
  int n;                             /* dimensions of the buffer so far */
} Copy;

/* The move of one element. */
static const TdStmt *move_element(const Copy *c) {
  const Buffer *b = c->b;
  TdArena *a = b->r->store->arena;
  const TdType *t = td_type_scalar(b->type);
  const TdExpr *out = td_expr_load(a, b->array, t, c->at, b->box.rank, b->loop->loc);
  const TdExpr *in = td_expr_load(a, b->local, t, c->inside, c->n, b->loop->loc);
  return td_stmt_store(b->r->store, c->back ? out : in, c->back ? in : out, b->loop->loc);
}

/* The greatest (op MAX), or least, of n bounds, counted from the first element of the box. */
static const TdExpr *inside_box(const Copy *c, TdOp op, const TdExpr *const *bound, size_t n,
                                const TdExpr *first) {
  TdRewrite *r = c->b->r;
  const TdExpr *e = NULL;
  for (size_t i = 0; i < n; i++) {
    const TdExpr *x = td_lin_minus(r->session, r->store->arena, bound[i], first);
    e = e ? td_expr_op2(r->store->arena, op, x->type, e, x) : x;
  }
  return e;
}

/* Adds a condition to *cond (NULL: none yet); one on sizes alone is assumed instead. */
static void require(Buffer *b, const TdExpr *fact, const TdExpr **cond) {
  if (!td_util_varies(fact))
    assume(b, fact);
  else
    *cond = *cond ? compare(b, TD_OP_AND, *cond, fact) : fact;
}

/* The bounds of the elements moved in one dimension: a range, and a condition on index `at` for
 * what it does not say. A range of constant extent stays, others take all bounds in
 * where they may. */
typedef struct Range {
  const TdExpr *lo, *hi, *cond;
} Range;

static Range range_of(const Copy *c, int d, const TdExpr *at) {
  const Buffer *b = c->b;
  TdRewrite *r = b->r;
  const TdExpr *part[TD_UTIL_PARTS], *first = b->box.lo[d], *extent = b->box.extent[d];
  const TdExpr *end = td_lin_plus(r->session, r->store->arena, first, extent);
  int64_t fixed;
  bool steady = td_expr_is_const(extent, &fixed);
  Range g = {td_util_const(r, 0), extent, NULL};
  size_t n = td_util_parts(c->m->from[d], TD_OP_MAX, part, 0);
  if (b->kept[d] && (n == 1 || (!steady && td_util_varies(c->m->from[d]))))
    g.lo = inside_box(c, TD_OP_MAX, part, n, first);
  else
    for (size_t i = 0; i < n; i++)
      if (!is_below(b, b->body, part[i], first))
        require(c->b, compare(b, TD_OP_LE, part[i], at), &g.cond);
  n = td_util_parts(c->m->to[d], TD_OP_MIN, part, 0);
  if (b->kept[d] && (n == 1 || (!steady && td_util_varies(c->m->to[d]))))
    g.hi = inside_box(c, TD_OP_MIN, part, n, first);
  else
    for (size_t i = 0; i < n; i++)
      if (!is_below(b, b->body, end, part[i]))
        require(c->b, compare(b, TD_OP_LT, at, part[i]), &g.cond);
  return g;
}

/* s under a condition, if there is one. */
static const TdStmt *guarded(const Copy *c, const TdExpr *cond, const TdStmt *s) {
  TdRewrite *r = c->b->r;
  return cond ? td_stmt_if(r->store, cond, td_util_block1(r, s), NULL, s->loc) : s;
}

/* The moves of dimensions d and up. */
static const TdStmt *move_from(Copy *c, int d) {
  const Buffer *b = c->b;
  TdRewrite *r = b->r;
  if (d == b->box.rank) return move_element(c);
  c->at[d] = b->box.lo[d];
  if (!b->kept[d]) {
    const TdExpr *cond = range_of(c, d, c->at[d]).cond;
    return guarded(c, cond, move_from(c, d + 1));
  }
  const char *want = td_text_fmt(r->arena, "%s_%s", stem_of(b, d), c->back ? "back" : "init");
  TdSym v = td_store_sym(r->store, td_util_name(r, b->unit, NULL, want), TD_SYM_LOOP);
  c->inside[c->n++] = td_util_var(r, v);
  c->at[d] = td_lin_plus(r->session, r->store->arena, c->at[d], td_util_var(r, v));
  Range g = range_of(c, d, c->at[d]);
  const TdStmt *body = guarded(c, g.cond, move_from(c, d + 1));
  return td_stmt_for(r->store, v, g.lo, g.hi, 1, td_util_block1(r, body), b->loop->loc);
}

/* The declaration of the buffer and what fills it; a single element is its first value. Returns how
 * many statements there are. */
static size_t declare(Buffer *b, const TdStmt **list) {
  TdRewrite *r = b->r;
  const TdType *t = td_type_scalar(b->type);
  const TdExpr *dim[TD_MAX_RANK];
  int n = 0;
  for (int d = 0; d < b->box.rank; d++)
    if (b->kept[d]) dim[n++] = b->box.extent[d];
  Copy in = {.b = b, .m = &b->load};
  const TdStmt *load = b->load.any ? move_from(&in, 0) : NULL;
  bool value = load && load->kind == TD_STMT_STORE;
  if (n) t = td_type_tensor(r->session, t, n, dim);
  list[0] = td_stmt_local(r->store, b->local, t, value ? TD_INIT_VALUE : TD_INIT_NONE,
                          value ? load->expr[1] : NULL, b->loop->loc);
  if (load && !value) list[1] = load;
  return load && !value ? 2 : 1;
}

static const TdProg *apply(TdRewrite *r) {
  Buffer b = {.r = r};
  if (!find(&b) || !measure(&b)) return NULL;
  if (!td_walk_stmt(r->session->ctx, b.body, check_call, &b)) return NULL;
  b.now = b.unit;
  if (!choose_shape(&b)) return NULL;
  TdSubst sub = td_subst_new(r->store);
  td_subst_view(&sub, b.array, array_as_view(&b));
  const TdStmt *body = td_subst_in_stmt(&sub, b.body);
  const TdStmt **list = TD_NEWN(r->store->arena, const TdStmt *, body->nkid + 3);
  size_t n = declare(&b, list);
  for (uint32_t i = 0; i < body->nkid; i++) list[n++] = body->kid[i];
  Copy out = {.b = &b, .m = &b.store, .back = true};
  if (b.store.any) list[n++] = move_from(&out, 0);
  if (td_diag_failed(r->diag)) return NULL;
  return td_util_with_stmt(r, b.now, body->uid, td_stmt_with_kids(r->store, body, list, n));
}

const TdPrim td_prim_buf_buffer_at = {
    .name = "buffer_at",
    .on = "array",
    .summary = "Let a local buffer stand for what each iteration of a loop touches of an array.",
    .args = {{"array", TD_ARG_ARRAY, TD_ARG_NEEDED, "the array", NULL},
             {"loop", TD_ARG_LOOP, TD_ARG_NEEDED, "the loop in whose body the buffer lives", NULL},
             {"name", TD_ARG_NAME, TD_ARG_OPTION, "name of the buffer", NULL}},
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

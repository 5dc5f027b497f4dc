/* buffer.c - what buffer_at and reuse_at share: the array, the shape of the buffer, its uses. */
#include "rewrite/array/buffer.h"

#include "rewrite/array/call_aliases.h"

bool td_buffer_refuse(const TdBuffer *b, TdDiagKind kind, const char *code, const char *why) {
  td_util_refuse(b->r, kind, code, b->loc, "'%s' %s", b->array->name, why);
  return false;
}

/* Whether an array starts with nothing written. */
static bool is_undefined(const TdPlace *array) {
  const TdStmt *s = array->stmt;
  return s && s->kind == TD_STMT_LOCAL && s->cls == TD_LOCAL_AUTO && s->init == TD_INIT_NONE;
}

/* A search for a unit in what calls run. */
typedef struct Reach {
  TdRewrite *r;
  const TdUnit *unit;
} Reach;

static bool is_elsewhere(void *ud, const TdStmt *s);

/* Whether running the unit of a symbol does not run x's. */
static bool avoids(const Reach *x, TdSym sym) {
  const TdUnit *u = td_prog_unit(x->r->prog, sym);
  if (!u || u == x->unit) return !u;
  for (size_t i = 0; i < u->nrun; i++)
    if (!avoids(x, u->run[i].unit)) return false;
  Reach inner = *x;
  return !u->body || td_walk_stmt(x->r->session->ctx, u->body, is_elsewhere, &inner);
}

static bool is_elsewhere(void *ud, const TdStmt *s) {
  return s->kind != TD_STMT_CALL || avoids(ud, s->sym);
}

/* Whether two extents are equal, at least at the sizes that the unit has. */
static bool is_same_extent(TdRewrite *r, const TdUnit *u, const TdExpr *x, const TdExpr *y) {
  int64_t less, m, n;
  if (td_lin_diff(r->session, x, y, &less)) return less == 0;
  bool same = td_unit_value(u, x, &m) && td_unit_value(u, y, &n) && m == n;
  r->used_value |= same;
  return same;
}

/* Whether all of a local array is written before the first statement of its block that reads it or
 * runs unit u. */
static bool is_filled_first(TdRewrite *r, const TdPlace *array, const TdUnit *u) {
  TdAsk q = td_util_ask(r, array->unit);
  TdPath p = td_edit_path(r->arena, array->unit->body, array->stmt->uid);
  const TdStmt *block = p.at[p.n - 2];
  size_t at = 0, end;
  TdFootprint f;
  while (block->kid[at] != p.at[p.n - 1]) at++;
  for (end = at + 1; end < block->nkid; end++) {
    const TdEffect *effect;
    size_t n = td_effects_of(&q, block->kid[end], &effect);
    const TdEffect *e = td_effects_find(effect, n, array->sym);
    Reach x = {r, u};
    if ((e && e->read) || !td_walk_stmt(r->session->ctx, block->kid[end], is_elsewhere, &x)) break;
  }
  const TdStmt *before = td_edit_slice(r->store, block, at + 1, end);
  bool filled =
      end > at + 1 && td_footprint_of(&q, before, array->sym, array->stmt->type, &f) && f.filled;
  for (int d = 0; filled && d < f.box.rank; d++) {
    int64_t lo;
    filled = td_expr_is_const(f.box.lo[d], &lo) && !lo &&
             is_same_extent(r, array->unit, f.box.extent[d], array->stmt->type->dim[d]);
  }
  return filled;
}

/* Notes the arrays that are passed as the one that argument i names, a parameter, and may have such
 * elements still. */
static void find_open(TdBuffer *b, int i) {
  TdPassed p = {0};
  bool found = td_call_aliases_find_parts(&p, b->r, i);
  for (size_t k = 0; found && k < p.array.n; k++)
    if (is_undefined(&p.array.at[k]) && !is_filled_first(b->r, &p.array.at[k], b->unit))
      td_vec_push(b->r->arena, &b->open, p.array.at[k]);
}

/* The unit that an argument names, of which it is no loop, or NULL. */
static const TdUnit *unit_of(TdRewrite *r, int arg) {
  const TdUnit *u;
  TdPlace loop;
  TdDiag quiet = {.arena = r->arena};
  if (td_cursor_loop(r->arena, r->prog, r->arg[arg].text, &loop, &quiet)) return NULL;
  return td_cursor_unit(r->arena, r->prog, r->arg[arg].text, &u, &quiet) && u->body ? u : NULL;
}

bool td_buffer_find(TdBuffer *b, TdRewrite *r, int array_arg, int loop_arg) {
  TdPlace loop = {.unit = unit_of(r, loop_arg)}, array;
  if (!loop.unit && !td_util_loop(r, loop_arg, &loop)) return false;
  if (!td_cursor_array(r->arena, r->prog, r->arg[array_arg].text, loop.unit, &array, r->diag))
    return false;
  *b = (TdBuffer){.r = r, .unit = loop.unit, .now = loop.unit, .loop = loop.stmt};
  b->body = loop.stmt ? td_for_body(loop.stmt) : loop.unit->body;
  b->loc = loop.stmt ? loop.stmt->loc : loop.unit->loc;
  b->where = loop.stmt ? loop.stmt->sym->name : loop.unit->sym->name;
  b->array = array.sym;
  b->decl = array.stmt;
  b->type = array.stmt ? array.stmt->type : td_unit_param(array.unit, array.sym)->type;
  b->undefined = is_undefined(&array);
  if (array.unit != loop.unit)
    return td_buffer_refuse(b, TD_USAGE, "units", "is not an array of the loop's kernel");
  if (b->type->kind == TD_T_PORT || array.sym->kind == TD_SYM_SCALAR)
    return td_buffer_refuse(b, TD_USAGE, "not-an-array", "is no array");
  if (array.stmt && array.stmt->kind == TD_STMT_SLOT)
    return td_buffer_refuse(b, TD_UNSUPPORTED, "slot", "is a buffer of its stream already");
  if (array.stmt && td_edit_find(r->session->ctx, b->body, array.stmt->uid))
    return td_buffer_refuse(b, TD_ILLEGAL, "scope",
                            "is declared inside the loop: it is new at each iteration");
  if (!array.stmt) find_open(b, array_arg);
  return true;
}

bool td_buffer_is_below(const TdBuffer *b, const TdStmt *s, const TdExpr *x, const TdExpr *y) {
  TdAsk q = td_util_ask(b->r, b->now);
  const TdExpr *le = td_expr_op2(b->r->arena, TD_OP_LE, td_type_bool(b->r->session), x, y);
  return td_range_holds(&q, s, le, false) == TD_YES;
}

/* Whether the view v, which the call s passes on, lies in the box: what is called may see it all.
 */
static bool is_inside(const TdBuffer *b, const TdStmt *s, const TdExpr *v) {
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
    if (!td_buffer_is_below(b, s, b->box.lo[d], v->kid[d]) || !td_buffer_is_below(b, s, last, end))
      return false;
  }
  return true;
}

/* Refuses calls that are passed more than the box. */
static bool check_call(void *ud, const TdStmt *s) {
  const TdBuffer *b = ud;
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

bool td_buffer_check_calls(TdBuffer *b) {
  return td_walk_stmt(b->r->session->ctx, b->body, check_call, b);
}

/* Keeps the dimensions that views of the array keep. */
static bool keep_viewed(void *ud, const TdExpr *e) {
  TdBuffer *b = ud;
  for (uint32_t d = 0; e->kind == TD_EXPR_VIEW && e->sym == b->array && d < e->nkid; d++)
    b->kept[d] |= e->u.dim[d].out >= 0;
  return true;
}

bool td_buffer_assume(TdBuffer *b, const TdExpr *fact) {
  int64_t holds;
  b->now = td_util_assume(b->r, b->now, fact);
  return !td_unit_value(b->unit, fact, &holds) || holds ||
         td_buffer_refuse(b, TD_ILLEGAL, "footprint", "is touched outside its extents");
}

const TdExpr *td_buffer_compare(const TdBuffer *b, TdOp op, const TdExpr *x, const TdExpr *y) {
  return td_expr_op2(b->r->store->arena, op, td_type_bool(b->r->session), x, y);
}

bool td_buffer_shape(TdBuffer *b, const char *given) {
  TdRewrite *r = b->r;
  int64_t n;
  td_walk_exprs(r->session->ctx, b->body, keep_viewed, b);
  for (int d = 0; d < b->box.rank; d++) {
    const TdExpr *extent = b->box.extent[d], *zero = td_util_const(r, 0);
    bool constant = td_expr_is_const(extent, &n);
    b->kept[d] |= !constant || n != 1;
    if (!constant && !td_buffer_is_below(b, b->body, zero, extent) &&
        !td_buffer_assume(b, td_buffer_compare(b, TD_OP_LE, zero, extent)))
      return false;
  }
  const char *want = td_text_fmt(r->arena, "%s_%s", b->array->name, b->where);
  const char *name = td_util_name(r, b->unit, given, want);
  if (!name) return false;
  td_util_made(r, name);
  b->local = td_store_sym(r->store, name, TD_SYM_LOCAL);
  return true;
}

const TdStmt *td_buffer_body(const TdBuffer *b) {
  TdRewrite *r = b->r;
  const TdExpr *lo[TD_MAX_RANK];
  TdViewDim dim[TD_MAX_RANK];
  TdSubst sub = td_subst_new(r->store);
  int n = 0;
  for (int d = 0; d < b->box.rank; d++)
    if (b->kept[d]) {
      lo[n] = td_lin_times(r->session, r->store->arena, b->box.lo[d], -1);
      dim[n++] = (TdViewDim){.step = 1, .out = d};
    }
  const TdExpr *view = td_expr_view(r->store->arena, b->local, b->type, lo, dim, n, b->loc);
  td_subst_view(&sub, b->array, view);
  return td_subst_in_stmt(&sub, b->body);
}

const TdType *td_buffer_type(const TdBuffer *b) {
  const TdType *t = td_type_scalar(b->type);
  const TdExpr *dim[TD_MAX_RANK];
  int n = 0;
  for (int d = 0; d < b->box.rank; d++)
    if (b->kept[d]) dim[n++] = b->box.extent[d];
  return n ? td_type_tensor(b->r->session, t, n, dim) : t;
}

/* A search for the loop of the body that indexes dimension d. */
typedef struct Stem {
  const TdBuffer *b;
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

const char *td_buffer_stem(const TdBuffer *b, int d) {
  Stem k = {b, d, NULL};
  td_walk_exprs(b->r->session->ctx, b->body, look_index, &k);
  return k.found ? k.found->name : NULL;
}

const TdExpr *td_buffer_element(const TdBuffer *b, bool of_array, const TdExpr *const *at) {
  TdArena *a = b->r->store->arena;
  const TdType *t = td_type_scalar(b->type);
  const TdExpr *index[TD_MAX_RANK];
  int n = 0;
  if (of_array) return td_expr_load(a, b->array, t, at, b->box.rank, b->loc);
  for (int d = 0; d < b->box.rank; d++)
    if (b->kept[d]) index[n++] = at[d];
  return td_expr_load(a, b->local, t, index, n, b->loc);
}

static bool refuse_unwritten(const TdBuffer *b) {
  return td_buffer_refuse(b, TD_ILLEGAL, "unwritten",
                          "may hold elements that were never written, which would be read to "
                          "fill the buffer");
}

/* Whether what follows the array's declaration, in `now`, reads of it only what it has written. */
static bool is_prepared(const TdBuffer *b, const TdProg *now, const TdPlace *array) {
  TdRewrite *r = b->r;
  TdFootprint f;
  TdAsk q = td_util_ask(r, td_prog_unit(now, array->unit->sym));
  q.prog = now;
  if (!q.unit->body) return false;
  TdPath p = td_edit_path(r->arena, q.unit->body, array->stmt->uid);
  const TdStmt *block = p.at[p.n - 2];
  size_t at = 0;
  while (block->kid[at] != p.at[p.n - 1]) at++;
  const TdStmt *scope = td_edit_slice(r->store, block, at + 1, block->nkid);
  return td_footprint_of(&q, scope, array->sym, array->stmt->type, &f) && f.prepared;
}

bool td_buffer_check_defined(const TdBuffer *b, const TdProg *now) {
  for (size_t i = 0; i < b->open.n; i++)
    if (b->open.at[i].stmt->kind != TD_STMT_LOCAL || !is_prepared(b, now, &b->open.at[i]))
      return refuse_unwritten(b);
  if (!b->undefined) return true;
  TdPlace own = {b->unit, b->decl, b->array};
  return is_prepared(b, now, &own) || refuse_unwritten(b);
}

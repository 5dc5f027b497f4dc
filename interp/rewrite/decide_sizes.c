/* decide_sizes.c - choices and sizes that a program does not depend on any more. */
#include "rewrite/decide_sizes.h"

/* A choice that sizes alone decide: a condition, or a min or max in a bound. */
typedef struct Choice {
  const TdUnit *unit;
  const TdStmt *at;
  const TdExpr *extreme; /* NULL: it is the condition of `at` */
  int64_t value;         /* of the condition, or whether the first operand is less or equal */
} Choice;

/* x <= y. */
static const TdExpr *at_most(TdRewrite *r, const TdExpr *x, const TdExpr *y) {
  return td_expr_op2(r->store->arena, TD_OP_LE, td_type_bool(r->session), x, y);
}

static bool is_extreme(const TdExpr *e) {
  return e->kind == TD_EXPR_OP && (e->op == TD_OP_MIN || e->op == TD_OP_MAX);
}

static bool is_plain(void *ud, const TdExpr *e) {
  (void)ud;
  return !is_extreme(e);
}

/* Finds an extreme of operands without one. */
static bool look_extreme(void *ud, const TdExpr *e) {
  Choice *k = ud;
  int64_t x, y;
  if (!is_extreme(e) || td_util_varies(e) || !td_walk_expr(e->kid[0], is_plain, NULL) ||
      !td_walk_expr(e->kid[1], is_plain, NULL) || !td_unit_value(k->unit, e->kid[0], &x) ||
      !td_unit_value(k->unit, e->kid[1], &y))
    return true;
  k->extreme = e;
  k->value = x <= y;
  return false;
}

static bool look_choice(void *ud, const TdStmt *s) {
  Choice *k = ud;
  bool found = s->kind == TD_STMT_IF && !td_util_varies(s->expr[0]) &&
               td_unit_value(k->unit, s->expr[0], &k->value);
  for (int i = 0; s->kind == TD_STMT_FOR && i < 2 && !found; i++)
    found = !td_walk_expr(s->expr[i], look_extreme, k);
  if (found) k->at = s;
  return !found;
}

/* That cond is `truth`, as an expression. */
static const TdExpr *as_fact(TdRewrite *r, const TdExpr *cond, bool truth) {
  TdArena *a = r->store->arena;
  bool less = cond->kind == TD_EXPR_OP && (cond->op == TD_OP_LT || cond->op == TD_OP_LE);
  if (truth) return cond;
  if (!less) return td_expr_op(a, TD_OP_NOT, cond->type, &cond, 1, cond->loc);
  return td_expr_op2(a, cond->op == TD_OP_LT ? TD_OP_LE : TD_OP_LT, cond->type, cond->kid[1],
                     cond->kid[0]);
}

/* An expression in the place of another one. */
typedef struct Exchange {
  const TdExpr *old, *now;
} Exchange;

static const TdExpr *exchange(void *ud, const TdExpr *e) {
  const Exchange *x = ud;
  return e == x->old ? x->now : e;
}

/* The body of k's unit with a bound that has the operand chosen. */
static const TdStmt *choose_operand(TdRewrite *r, const Choice *k) {
  bool least = k->extreme->op == TD_OP_MIN;
  Exchange x = {k->extreme, k->extreme->kid[least == (k->value != 0) ? 0 : 1]};
  const TdExpr *bound[2];
  for (int i = 0; i < 2; i++) {
    bound[i] = td_walk_map_expr(r->store->arena, k->at->expr[i], exchange, &x);
    if (bound[i] != k->at->expr[i])
      bound[i] = td_lin_simplify(r->session, r->store->arena, bound[i]);
  }
  const TdStmt *now = td_stmt_with_exprs(r->store, k->at, bound, 2);
  return td_edit_replace(r->store, k->unit->body, k->at->uid, &now, 1);
}

/* The body of k's unit with the arm that is taken for its condition. */
static const TdStmt *choose_arm(TdRewrite *r, const Choice *k) {
  const TdStmt *arm = k->value ? k->at->kid[0] : k->at->nkid > 1 ? k->at->kid[1] : NULL;
  bool scope = arm && td_util_declares(arm);
  const TdStmt *const *now = scope ? &arm : arm ? arm->kid : NULL;
  size_t n = scope ? 1 : arm ? arm->nkid : 0;
  return td_edit_replace(r->store, k->unit->body, k->at->uid, now, n);
}

const TdUnit *td_decide_choices(TdRewrite *r, const TdProg *p, const TdUnit *u) {
  for (;;) {
    Choice k = {.unit = u};
    td_walk_stmt(r->session->ctx, u->body, look_choice, &k);
    if (!k.at) return u;
    TdAsk q = {.affine = r->affine, .arena = r->arena, .prog = p, .unit = u};
    const TdExpr *e = k.extreme;
    const TdExpr *fact = as_fact(r, e ? at_most(r, e->kid[0], e->kid[1]) : k.at->expr[0], k.value);
    bool known = td_range_holds(&q, k.at, fact, false) == TD_YES;
    u = td_unit_with_body(r->store, u, e ? choose_operand(r, &k) : choose_arm(r, &k));
    if (!known) u = td_util_assume(r, u, fact);
    r->used_value |= !known;
    p = td_prog_with(p, u);
  }
}

/* A search for a size in the types and loop bounds of a unit. */
typedef struct SizeUse {
  const char *name;
  bool found;
} SizeUse;

static bool is_other_size(void *ud, const TdExpr *e) {
  SizeUse *k = ud;
  k->found |= e->kind == TD_EXPR_SIZE && e->u.name == k->name;
  return !k->found;
}

static void look_type(SizeUse *k, const TdType *t) {
  if (!t || (t->kind != TD_T_TENSOR && t->kind != TD_T_PORT)) return;
  for (int d = 0; d < t->rank; d++) td_walk_expr(t->dim[d], is_other_size, k);
  look_type(k, t->elem);
}

static bool look_stmt(void *ud, const TdStmt *s) {
  SizeUse *k = ud;
  look_type(k, s->type);
  for (int i = 0; s->kind == TD_STMT_FOR && i < 2; i++) td_walk_expr(s->expr[i], is_other_size, k);
  return !k->found;
}

/* Looks at the tokens of streams of the design around, whose types are the design's. */
static bool look_stream(void *ud, const TdExpr *e) {
  SizeUse *k = ud;
  if (e->kind == TD_EXPR_VIEW && e->sym->kind == TD_SYM_STREAM) look_type(k, e->type);
  return !k->found;
}

static bool is_in_params(const TdUnit *u, const char *name) {
  SizeUse k = {name, false};
  for (size_t i = 0; i < u->nparam; i++) look_type(&k, u->param[i].type);
  return k.found;
}

/* Whether a dimension of t is this size and nothing else. */
static bool is_extent(const TdType *t, const char *name) {
  if (!t || (t->kind != TD_T_TENSOR && t->kind != TD_T_PORT)) return false;
  for (int d = 0; d < t->rank; d++)
    if (t->dim[d]->kind == TD_EXPR_SIZE && t->dim[d]->u.name == name) return true;
  return is_extent(t->elem, name);
}

/* Whether the function names the size: in its body, or in what it assumes. */
static bool is_named(TdRewrite *r, const TdUnit *u, const char *name) {
  SizeUse k = {name, false};
  for (size_t i = 0; i < u->nassert; i++) td_walk_expr(u->assert_[i], is_other_size, &k);
  return k.found || !td_walk_exprs(r->session->ctx, u->body, is_other_size, &k);
}

/* Whether a size shapes unit u of p: what the printed form has elsewhere only would load as a
 * number. A task has its parameters' types from the arguments of its design. */
static bool is_shaping(TdRewrite *r, const TdProg *p, const TdUnit *u, const char *name) {
  SizeUse k = {name, false};
  for (size_t i = 0; i < u->nparam; i++)
    if (is_extent(u->param[i].type, name)) return true;
  td_walk_stmt(r->session->ctx, u->body, look_stmt, &k);
  td_walk_exprs(r->session->ctx, u->body, look_stream, &k);
  if (k.found || !is_in_params(u, name)) return k.found;
  return td_prog_is_task(p, u->sym) || is_named(r, u, name);
}

/* The parameters of u, their types after the substitution. */
static const TdParam *with_types(const TdSubst *sub, const TdUnit *u) {
  TdParam *param = td_arena_copy(sub->store->arena, u->param, u->nparam * sizeof *param);
  for (size_t i = 0; i < u->nparam; i++) param[i].type = td_subst_in_type(sub, param[i].type);
  return param;
}

/* u without size i, which has its value everywhere, also in what is assumed. */
static const TdUnit *pin_size(TdRewrite *r, const TdUnit *u, size_t i) {
  TdUnit *copy = td_unit_copy(r->store, u);
  TdSize *size = td_arena_copy(r->store->arena, u->size, u->nsize * sizeof *size);
  const TdExpr **fact = td_arena_copy(r->store->arena, u->assert_, u->nassert * sizeof *fact);
  TdSubst sub = td_subst_new(r->store);
  td_subst_size(&sub, u->size[i].name, td_util_const(r, u->size[i].value));
  copy->nassert = 0;
  for (size_t n = 0; n < u->nassert; n++) {
    const TdExpr *e = td_subst_in_expr(&sub, u->assert_[n]);
    if (e->kind != TD_EXPR_LIT || !e->u.bits) fact[copy->nassert++] = e;
  }
  for (size_t n = i; n + 1 < u->nsize; n++) size[n] = u->size[n + 1];
  copy->nsize--;
  copy->size = size;
  copy->assert_ = fact;
  copy->param = with_types(&sub, u);
  copy->body = td_subst_in_stmt(&sub, u->body);
  return copy;
}

/* Whether the root shares size z of another unit. */
static bool is_shared(const TdUnit *root, const TdSize *z) {
  const TdSize *same = td_unit_size(root, z->name);
  return same && same->known && same->value == z->value;
}

/* Sizes of a unit that the root does not share. */
typedef struct Own {
  const TdUnit *unit, *root;
} Own;

static bool is_common(void *ud, const TdExpr *e) {
  const Own *k = ud;
  return e->kind != TD_EXPR_SIZE || is_shared(k->root, td_unit_size(k->unit, e->u.name));
}

/* The root with what u assumes of size z; *left: some of that it cannot say. */
static const TdUnit *assume_asserts(TdRewrite *r, const TdUnit *root, const TdUnit *u,
                                    const TdSize *z, bool *left) {
  Own own = {u, root};
  for (size_t i = 0; i < u->nassert; i++) {
    SizeUse k = {z->name, false};
    td_walk_expr(u->assert_[i], is_other_size, &k);
    bool sizes = !td_util_varies(u->assert_[i]) && td_walk_expr(u->assert_[i], is_common, &own);
    if (k.found && sizes) root = td_util_assume(r, root, u->assert_[i]);
    *left |= k.found && !sizes;
  }
  return root;
}

/* The root, which assumes of size z, if it shares it, what u assumes of it and, if u has it in its
 * body or parameters, or in an assumption that the root cannot say, that it keeps its value. */
static const TdUnit *assume_shared(TdRewrite *r, const TdUnit *root, const TdUnit *u,
                                   const TdSize *z) {
  if (root->sym == u->sym || !is_shared(root, z)) return root;
  bool left = false;
  root = assume_asserts(r, root, u, z, &left);
  SizeUse k = {z->name, is_in_params(u, z->name)};
  td_walk_exprs(r->session->ctx, u->body, is_other_size, &k);
  if (!k.found && !left) return root;
  TdLoc none = {0};
  TdArena *a = r->store->arena;
  r->used_value = true;
  return td_util_assume(r, root,
                        td_expr_op2(a, TD_OP_EQ, td_type_bool(r->session),
                                    td_expr_size(r->session, a, z->name, none),
                                    td_util_const(r, z->value)));
}

const TdProg *td_decide_sizes(TdRewrite *r, const TdProg *p, const TdUnit *u) {
  for (size_t i = u->nsize; i-- > 0;) {
    if (!u->size[i].known || is_shaping(r, p, u, u->size[i].name)) continue;
    p = td_prog_with(p, assume_shared(r, td_prog_root(p), u, &u->size[i]));
    u = pin_size(r, u, i);
  }
  return td_prog_with(p, u);
}

/* math.c - exp and its like become integers: the statements of a kernel that computes one are
 * copied in front of the statement that uses it, innermost uses first. */
#include "lower/math.h"

#include "ir/edit.h"
#include "lower/tensor_loops.h"

/* Whether e applies a function of floats. */
static bool is_function(const TdExpr *e) {
  return e->kind == TD_EXPR_OP && td_ops[e->op].rule == TD_RULE_FLOAT;
}

static TdMathUse *find_use(const TdMathUses *l, const TdExpr *e) {
  for (size_t i = 0; i < l->n; i++)
    if (l->at[i].op == (TdOp)e->op && l->at[i].type == td_type_scalar(e->type)) return &l->at[i];
  return NULL;
}

typedef struct Collect {
  TdArena *arena;
  TdMathUses uses;
} Collect;

static bool collect(void *ud, const TdExpr *e) {
  Collect *c = ud;
  if (is_function(e) && !find_use(&c->uses, e)) {
    TdMathUse u = {.op = (TdOp)e->op, .type = td_type_scalar(e->type), .loc = e->loc};
    td_vec_push(c->arena, &c->uses, u);
  }
  return true;
}

TdMathUses td_math_uses(TdArena *a, const TdProg *p) {
  Collect c = {.arena = a};
  for (size_t i = 0; i < p->nunit; i++)
    if (p->unit[i]->body) td_walk_exprs(p->store->session->ctx, p->unit[i]->body, collect, &c);
  return c.uses;
}

/* An expansion under way: of the use `e` of `kernel`, in statement `stmt`. */
typedef struct Expand {
  TdStore *store;
  const TdMathUses *uses;
  TdDiag *diag;
  const TdStmt *stmt;
  const TdExpr *e;
  const TdUnit *kernel;
  bool lazily; /* e is computed only if what stands before it in an and, or holds */
  TdSym x;     /* the local that holds its operand */
} Expand;

/* Finds the use in e that has no other inside. */
static void find_inside(Expand *w, const TdExpr *e, bool lazily) {
  for (uint32_t i = 0; i < e->nkid && !w->e; i++) {
    bool lazy = e->kind == TD_EXPR_OP && td_ops[e->op].lazy && i > 0;
    find_inside(w, e->kid[i], lazily || lazy);
  }
  const TdMathUse *u = !w->e && is_function(e) ? find_use(w->uses, e) : NULL;
  if (!u || !u->kernel) return;
  w->e = e;
  w->kernel = u->kernel;
  w->lazily = lazily;
}

static bool find_stmt(void *ud, const TdStmt *s) {
  Expand *w = ud;
  for (uint32_t i = 0; i < s->nexpr && !w->e; i++) find_inside(w, s->expr[i], false);
  w->stmt = s;
  return !w->e;
}

/* Whether e itself is no element whose place depends. */
static bool reads_safely(void *ud, const TdExpr *e) {
  int64_t at;
  (void)ud;
  for (uint32_t i = 0; i < e->nkid && e->kind == TD_EXPR_LOAD; i++)
    if (!td_expr_is_const(e->kid[i], &at)) return false;
  return true;
}

/* Whether the use can be computed before its statement. */
static bool can_lift(const Expand *w) {
  bool loop = w->stmt->kind == TD_STMT_WHILE;
  bool fault = w->lazily && !td_walk_expr(w->e, reads_safely, NULL);
  if (!loop && !fault) return true;
  td_diag_set(w->diag, TD_UNSUPPORTED, "not-built", w->e->loc, "'%s' in integers is not built %s",
              td_ops[w->e->op].lua,
              loop ? "in the test of a loop" : "of what is read only if the test before it holds");
  td_diag_help(w->diag, "hold it in a local %s",
               loop ? "that the body sets" : "in a statement before, under an if");
  return false;
}

/* The operand in place of x[0]. */
static const TdExpr *take_operand(void *ud, const TdExpr *e) {
  const Expand *w = ud;
  if (e->kind != TD_EXPR_LOAD || e->sym != w->kernel->param[0].sym) return e;
  return td_expr_load(w->store->arena, w->x, e->type, NULL, 0, e->loc);
}

typedef struct Swap {
  const TdExpr *from, *to;
} Swap;

static const TdExpr *swap(void *ud, const TdExpr *e) {
  const Swap *w = ud;
  return e == w->from ? w->to : e;
}

/* The statement with the use replaced by `to`. */
static const TdStmt *with_value(const Expand *w, const TdExpr *to) {
  TdArena *a = w->store->arena;
  const TdExpr **e = TD_NEWN(a, const TdExpr *, w->stmt->nexpr);
  Swap x = {w->e, to};
  for (uint32_t i = 0; i < w->stmt->nexpr; i++)
    e[i] = td_walk_map_expr(a, w->stmt->expr[i], swap, &x);
  return td_stmt_with_exprs(w->store, w->stmt, e, w->stmt->nexpr);
}

/* The body of u with the use computed before its statement. */
static const TdStmt *lift(Expand *w, const TdStmt *body) {
  TdArena *a = w->store->arena;
  TD_VEC(const TdStmt *) with = {0};
  const TdExpr *operand = w->e->kid[0];
  w->x = td_store_sym(w->store, "x", TD_SYM_LOCAL);
  td_vec_push(a, &with,
              td_stmt_local(w->store, w->x, operand->type, TD_INIT_VALUE, operand, w->stmt->loc));
  const TdStmt *own = td_walk_map(w->store, w->kernel->body, take_operand, w);
  own = td_walk_copy(w->store, own, NULL);
  for (uint32_t i = 0; i + 1 < own->nkid; i++) td_vec_push(a, &with, own->kid[i]);
  const TdExpr *result = own->kid[own->nkid - 1]->expr[1];
  TdSym y = td_store_sym(w->store, td_ops[w->e->op].lua, TD_SYM_LOCAL);
  td_vec_push(a, &with,
              td_stmt_local(w->store, y, result->type, TD_INIT_VALUE, result, w->stmt->loc));
  td_vec_push(a, &with, with_value(w, td_expr_load(a, y, result->type, NULL, 0, w->e->loc)));
  return td_edit_replace(w->store, body, w->stmt->uid, with.at, with.n);
}

/* The body with the statement, of tensors, as loops. */
static const TdStmt *spell(Expand *w, const TdStmt *body) {
  TdTensorLoops t = {w->store->session, w->store->arena, w->store, w->diag};
  const TdStmt *s = td_tensor_loops_of(&t, w->stmt);
  if (td_diag_failed(w->diag)) return NULL;
  if (s != w->stmt && s->kind == TD_STMT_BLOCK)
    return td_edit_replace(w->store, body, w->stmt->uid, s->kid, s->nkid);
  if (s != w->stmt) return td_edit_replace(w->store, body, w->stmt->uid, &s, 1);
  td_diag_set(w->diag, TD_UNSUPPORTED, "not-built", w->e->loc,
              "'%s' of a tensor in integers is not built here", td_ops[w->e->op].lua);
  td_diag_help(w->diag, "write it as a loop over elements");
  return NULL;
}

/* The body with one use less; body itself: there is none. NULL: refused. */
static const TdStmt *expand_one(Expand *w, const TdStmt *body) {
  w->e = NULL;
  td_ctx_tick(td_arena_ctx(w->store->arena), 1);
  td_walk_stmt(w->store->session->ctx, body, find_stmt, w);
  if (!w->e) return body;
  if (!can_lift(w)) return NULL;
  return w->e->type->kind == TD_T_TENSOR ? spell(w, body) : lift(w, body);
}

const TdProg *td_math_expand(TdArena *a, const TdProg *p, const TdMathUses *uses, TdDiag *d) {
  p = td_clone_prog(td_store_inner(a, p->store->session), p, true);
  for (size_t i = 0; i < p->nunit; i++) {
    const TdStmt *body = p->unit[i]->body, *next = body;
    Expand w = {.store = p->store, .uses = uses, .diag = d};
    if (!body) continue;
    do {
      body = next;
      next = expand_one(&w, body);
    } while (next && next != body);
    if (!next) return NULL;
    if (body != p->unit[i]->body)
      p = td_prog_with(p, td_unit_with_body(p->store, p->unit[i], body));
  }
  return p;
}

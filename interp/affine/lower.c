/* lower.c - quasi-affine lowering: `//` and `%` become existential columns, cases become choices.
 */
#include "affine/lower.h"

int32_t td_lower_param(TdSpace *s, const void *key, const char *name, bool is_size) {
  uint64_t p;
  if (!td_map_get(&s->index, (uint64_t)(uintptr_t)key, &p)) {
    p = s->at.n;
    td_vec_push(s->arena, &s->at, ((TdParamCol){key, name, is_size}));
    td_map_put(s->arena, &s->index, (uint64_t)(uintptr_t)key, p);
  }
  return -1 - (int32_t)p;
}

bool td_lower_next(TdLower *w) {
  w->at = 0;
  while (w->n && ++w->pick[w->n - 1] == w->ways[w->n - 1]) w->n--;
  return w->n > 0;
}

/* Which of two cases to take now, or -1 when there are too many. */
static int choose(TdLower *w) {
  if (w->at == w->n) {
    if (w->n == TD_LOWER_CHOICES) {
      w->inexact = true;
      return -1;
    }
    w->pick[w->n] = 0;
    w->ways[w->n++] = 2;
  }
  return w->pick[w->at++];
}

/* Whether a cast from `from` to `to` keeps every value that an index or integer can have there. */
static bool keeps(const TdType *to, const TdType *from) {
  bool index = from->kind == TD_T_INDEX;
  if (to->kind == TD_T_INDEX) return index || td_type_is_integer(from);
  if (!td_type_is_integer(to)) return false;
  return index ? to->w >= 32 : td_type_is_integer(from) && td_promote_holds(to, from);
}

/* Position of parameter `sym` of u, or nparam. */
static size_t param_index(const TdUnit *u, TdSym sym) {
  size_t k = 0;
  while (k < u->nparam && u->param[k].sym != sym) k++;
  return k;
}

/* e lowered in another unit's terms. */
static bool lower_in(TdLower *w, const TdEnv *env, const TdExpr *e, TdAff *out) {
  const TdEnv *here = w->env;
  w->env = env;
  bool ok = td_lower_expr(w, e, out);
  w->env = here;
  return ok;
}

/* A value that only exists: a column without rows. */
static bool lower_unknown(TdLower *w, TdAff *out) {
  w->inexact = true;
  *out = td_sys_fresh(w->space->arena, w->sys);
  return true;
}

/* A scalar parameter of a callee, as the argument that it gets. */
static bool lower_argument(TdLower *w, TdSym sym, TdAff *out) {
  const TdEnv *env = w->env;
  size_t k = param_index(env->unit, sym);
  if (k < env->unit->nparam && k < env->call->nexpr &&
      keeps(env->unit->param[k].type, env->call->expr[k]->type) &&
      lower_in(w, env->up, env->call->expr[k], out))
    return true;
  return lower_unknown(w, out);
}

/* VAR: a loop of the nest, an argument, or a parameter of the query. */
static bool lower_var(TdLower *w, const TdExpr *e, TdAff *out) {
  TdArena *a = w->space->arena;
  for (size_t d = w->nloop; d-- > 0;)
    if (w->loop[d]->stmt->sym == e->sym) {
      *out = td_sys_col(a, (int32_t)d);
      return true;
    }
  if (w->env->up) return lower_argument(w, e->sym, out);
  *out = td_sys_col(a, td_lower_param(w->space, e->sym, e->sym->name, false));
  return true;
}

/* Gives q = the size `name` of the callee where extent `dim` (k * size + c) of a parameter meets
 * the argument's; false if dim does not have that form. */
static bool solve_extent(TdLower *w, const char *name, const TdExpr *dim, const TdExpr *given,
                         TdAff *q) {
  TdArena *a = w->space->arena;
  TdLin lin = td_lin_of(w->session, a, dim);
  TdAff extent;
  if (lin.n != 1 || lin.term[0].atom->kind != TD_EXPR_SIZE || lin.term[0].atom->u.name != name ||
      !lower_in(w, w->env->up, given, &extent))
    return false;
  extent = td_sys_plus(a, extent, -1, td_sys_const(lin.constant));
  if (lin.term[0].coef == 1) {
    *q = extent;
    return true;
  }
  *q = td_sys_fresh(a, w->sys);
  td_sys_zero(a, w->sys, td_sys_plus(a, extent, -lin.term[0].coef, *q));
  return true;
}

/* Whether a unit has a size of that name and value: then it is the same one (ir/at.h). */
static bool shares(const TdUnit *u, const TdSize *size) {
  const TdSize *own = td_unit_size(u, size->name);
  return own && own->known == size->known && own->value == size->value;
}

/* A size of a callee that no shape of its arguments tells: its caller's, or the root's, if they
 * have it; else its value. */
static bool lower_shared_size(TdLower *w, const TdSize *size, TdAff *out) {
  const TdEnv *up = w->env->up;
  while (up->up && !td_unit_size(up->unit, size->name)) up = up->up;
  if (shares(up->unit, size)) {
    TdLoc none = {0};
    return lower_in(w, up, td_expr_size(w->session, w->space->arena, size->name, none), out);
  }
  if (!size->known || shares(w->env->root, size)) return lower_unknown(w, out);
  *out = td_sys_const(size->value);
  return true;
}

/* A size of a callee. */
static bool lower_callee_size(TdLower *w, const char *name, TdAff *out) {
  const TdUnit *u = w->env->unit;
  const TdStmt *call = w->env->call;
  for (size_t k = 0; k < u->nparam && k < call->nexpr; k++) {
    const TdType *t = u->param[k].type, *given = call->expr[k]->type;
    for (int d = 0; d < t->rank && given->rank == t->rank; d++)
      if (solve_extent(w, name, t->dim[d], given->dim[d], out)) return true;
  }
  const TdSize *size = td_unit_size(u, name);
  return size ? lower_shared_size(w, size, out) : lower_unknown(w, out);
}

/* The quotient of x by k > 0, rounded down. */
static TdAff quotient(TdLower *w, TdAff x, int64_t k) {
  TdArena *a = w->space->arena;
  int64_t v;
  if (td_sys_is_const(x, &v)) return td_sys_const(td_sys_floor64(v, k));
  TdAff q = td_sys_fresh(a, w->sys), rest = td_sys_plus(a, x, -k, q);
  td_sys_nonneg(a, w->sys, rest);
  td_sys_nonneg(a, w->sys, td_sys_scale(a, -1, rest, k - 1));
  return q;
}

/* x // y or x % y for a constant y. */
static bool lower_division(TdLower *w, TdOp op, TdAff x, TdAff y, TdAff *out) {
  TdArena *a = w->space->arena;
  int64_t k;
  if (!td_sys_is_const(y, &k) || k == 0 || k <= -TD_SYS_MOST || k >= TD_SYS_MOST) return false;
  TdAff q = k > 0 ? quotient(w, x, k) : quotient(w, td_sys_scale(a, -1, x, 0), -k);
  *out = op == TD_OP_MOD ? td_sys_plus(a, x, -k, q) : q;
  return true;
}

/* min(x, y) or max(x, y): one of the two, case by case. */
static bool lower_extreme(TdLower *w, TdOp op, TdAff x, TdAff y, TdAff *out) {
  TdArena *a = w->space->arena;
  TdAff less = op == TD_OP_MIN ? x : y, more = op == TD_OP_MIN ? y : x;
  int64_t gap;
  if (td_sys_is_const(td_sys_plus(a, more, -1, less), &gap)) {
    *out = gap >= 0 ? x : y;
    return true;
  }
  int pick = choose(w);
  if (pick < 0) return false;
  if (pick)
    td_sys_lt(a, w->sys, more, less);
  else
    td_sys_le(a, w->sys, less, more);
  *out = pick ? y : x;
  return true;
}

/* select: one arm under its condition, case by case. */
static bool lower_select(TdLower *w, const TdExpr *e, TdAff *out) {
  int pick = choose(w);
  if (pick < 0) return false;
  td_lower_cond(w, e->kid[0], pick == 0);
  return td_lower_expr(w, e->kid[1 + pick], out);
}

/* An operator of integer value; false for those that are not affine. */
static bool lower_op(TdLower *w, const TdExpr *e, TdAff *out) {
  TdArena *a = w->space->arena;
  if (e->op == TD_OP_SELECT) return lower_select(w, e, out);
  if (!e->nkid || e->nkid > 2) return false;
  TdAff x, y = {0};
  int64_t k;
  if (!td_lower_expr(w, e->kid[0], &x)) return false;
  if (e->nkid == 2 && !td_lower_expr(w, e->kid[1], &y)) return false;
  switch (e->op) {
  case TD_OP_ADD: *out = td_sys_plus(a, x, 1, y); return true;
  case TD_OP_SUB: *out = td_sys_plus(a, x, -1, y); return true;
  case TD_OP_NEG: *out = td_sys_scale(a, -1, x, 0); return true;
  case TD_OP_MUL:
    if (td_sys_is_const(x, &k))
      *out = td_sys_scale(a, k, y, 0);
    else if (td_sys_is_const(y, &k))
      *out = td_sys_scale(a, k, x, 0);
    else
      return false;
    return true;
  case TD_OP_FLOORDIV:
  case TD_OP_MOD: return lower_division(w, e->op, x, y, out);
  case TD_OP_MIN:
  case TD_OP_MAX: return lower_extreme(w, e->op, x, y, out);
  default: return false;
  }
}

/* td_lower_expr without the bound on recursion. */
static bool lower_node(TdLower *w, const TdExpr *e, TdAff *out) {
  switch (e->kind) {
  case TD_EXPR_LIT:
    *out = td_sys_const((int64_t)e->u.bits);
    return td_type_is_signed(e->type) || e->type->kind == TD_T_INDEX || out->c >= 0;
  case TD_EXPR_SIZE:
    if (w->env->up) return lower_callee_size(w, e->u.name, out);
    *out = td_sys_col(w->space->arena, td_lower_param(w->space, e->u.name, e->u.name, true));
    return true;
  case TD_EXPR_VAR: return lower_var(w, e, out);
  case TD_EXPR_OP: return lower_op(w, e, out);
  case TD_EXPR_CAST: return keeps(e->type, e->kid[0]->type) && td_lower_expr(w, e->kid[0], out);
  default: return false;
  }
}

bool td_lower_expr(TdLower *w, const TdExpr *e, TdAff *out) {
  if (e->type->kind != TD_T_INDEX && !td_type_is_integer(e->type)) return false;
  td_ctx_enter(w->session->ctx);
  bool ok = lower_node(w, e, out) && !out->bad;
  td_ctx_leave(w->session->ctx);
  return ok;
}

/* Whether e applies op. */
static bool is_op(const TdExpr *e, TdOp op) {
  return e->kind == TD_EXPR_OP && e->op == op;
}

void td_lower_le(TdLower *w, const TdExpr *x, const TdExpr *y, int64_t k) {
  TdArena *a = w->space->arena;
  TdAff fx, fy;
  if (is_op(x, TD_OP_MAX)) {
    td_lower_le(w, x->kid[0], y, k);
    td_lower_le(w, x->kid[1], y, k);
  } else if (is_op(y, TD_OP_MIN)) {
    td_lower_le(w, x, y->kid[0], k);
    td_lower_le(w, x, y->kid[1], k);
  } else if (td_lower_expr(w, x, &fx) && td_lower_expr(w, y, &fy)) {
    td_sys_le(a, w->sys, td_sys_scale(a, 1, fx, k), fy);
  } else {
    w->inexact = true;
  }
}

/* Adds x == y, or x ~= y. */
static void add_equal(TdLower *w, const TdExpr *x, const TdExpr *y, bool equal) {
  TdAff fx, fy;
  if (!td_lower_expr(w, x, &fx) || !td_lower_expr(w, y, &fy)) {
    w->inexact = true;
    return;
  }
  if (equal) {
    td_sys_zero(w->space->arena, w->sys, td_sys_plus(w->space->arena, fx, -1, fy));
    return;
  }
  int pick = choose(w);
  if (pick >= 0) td_sys_lt(w->space->arena, w->sys, pick ? fy : fx, pick ? fx : fy);
}

/* Adds that both kids of `and`, or one of them, have a truth value. */
static void add_logic(TdLower *w, const TdExpr *e, bool truth) {
  if ((e->op == TD_OP_AND) == truth) {
    td_lower_cond(w, e->kid[0], truth);
    td_lower_cond(w, e->kid[1], truth);
    return;
  }
  int pick = choose(w);
  if (pick >= 0) td_lower_cond(w, e->kid[pick], truth);
}

/* td_lower_cond on an operator. */
static void add_cond_op(TdLower *w, const TdExpr *e, bool truth) {
  switch (e->op) {
  case TD_OP_NOT: td_lower_cond(w, e->kid[0], !truth); break;
  case TD_OP_AND:
  case TD_OP_OR: add_logic(w, e, truth); break;
  case TD_OP_EQ:
  case TD_OP_NE: add_equal(w, e->kid[0], e->kid[1], (e->op == TD_OP_EQ) == truth); break;
  case TD_OP_LT:
  case TD_OP_LE:
    if (truth)
      td_lower_le(w, e->kid[0], e->kid[1], e->op == TD_OP_LT);
    else
      td_lower_le(w, e->kid[1], e->kid[0], e->op == TD_OP_LE);
    break;
  default: w->inexact = true;
  }
}

void td_lower_cond(TdLower *w, const TdExpr *e, bool truth) {
  td_ctx_enter(w->session->ctx);
  if (e->kind == TD_EXPR_LIT && e->type->kind == TD_T_BOOL) {
    if ((e->u.bits != 0) != truth) td_sys_nonneg(w->space->arena, w->sys, td_sys_const(-1));
  } else if (e->kind == TD_EXPR_OP) {
    add_cond_op(w, e, truth);
  } else {
    w->inexact = true;
  }
  td_ctx_leave(w->session->ctx);
}

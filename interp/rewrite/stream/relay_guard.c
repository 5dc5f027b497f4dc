/* relay_guard.c - conditions between the loops of a task that an operand is moved under, as clamps
 * of tiles, differ from instance to instance. They are sunk (a condition distributes over what it
 * holds) until each statement beside the move has its own copy; the move keeps those that its
 * element needs and is without the others: what is loaded too much is not used. A loop whose range
 * differs runs over that of all instances, under a condition. */
#include "rewrite/stream/relay_guard.h"

typedef struct Guard {
  TdRewrite *r;
  const TdRelayGuard *ask;
  bool fits; /* each statement can stand under a condition */
} Guard;

typedef TD_VEC(const TdStmt *) List;

static bool holds(const Guard *g, const TdStmt *s) {
  return td_edit_find(g->r->session->ctx, s, g->ask->move->uid) != NULL;
}

/* Splits what declares a scalar with a value, or with a token, in two; what there is besides the
 * declaration, NULL if that is all. */
static const TdStmt *split(Guard *g, const TdStmt *s, List *out) {
  TdStore *st = g->r->store;
  bool got = s->kind == TD_STMT_GET && s->sym, local = s->kind == TD_STMT_LOCAL;
  if (!got && !local) {
    g->fits &= s->kind != TD_STMT_SLOT;
    return s;
  }
  bool whole = s->type->kind == TD_T_TENSOR;
  if (local && (s->init == TD_INIT_NONE || s->cls != TD_LOCAL_AUTO ||
                (whole && td_util_is_steady(s->expr[0])))) {
    td_vec_push(g->r->arena, out, s);
    return NULL;
  }
  g->fits &= !whole;
  td_vec_push(g->r->arena, out, td_stmt_local(st, s->sym, s->type, TD_INIT_NONE, NULL, s->loc));
  const TdExpr *place = td_expr_load(st->arena, s->sym, s->type, NULL, 0, s->loc);
  return got ? td_stmt_get(st, s->expr[0], NULL, s->type, place, s->loc)
             : td_stmt_store(st, place, s->expr[0], s->loc);
}

/* Whether the element that is moved does without the condition: along the axis it is the same. */
static bool drops(const TdRelayGuard *q, const TdExpr *cond) {
  bool needs = q->gather || !q->axis;
  for (uint32_t d = 0; d < q->load->nkid; d++) needs |= td_walk_uses_expr(q->load->kid[d], q->axis);
  return !needs && td_walk_uses_expr(cond, q->axis);
}

static const TdStmt *sink(Guard *g, const TdExpr *cond, const TdStmt *s);

/* A block whose statements are under the condition, each that holds the move as deep as may be. */
static const TdStmt *sink_block(Guard *g, const TdExpr *cond, const TdStmt *block) {
  TdRewrite *r = g->r;
  List list = {0}, under = {0};
  for (uint32_t i = 0; i <= block->nkid; i++) {
    const TdStmt *s = i < block->nkid ? block->kid[i] : NULL;
    bool in = s && holds(g, s);
    if (s && !in) s = split(g, s, &list);
    if (s && !in) td_vec_push(r->arena, &under, s);
    if (under.n && (in || i == block->nkid)) {
      const TdStmt *all = td_stmt_block(r->store, under.at, under.n, block->loc);
      td_vec_push(r->arena, &list, td_stmt_if(r->store, cond, all, NULL, block->loc));
      under.n = 0;
    }
    if (in && s != g->ask->move) td_vec_push(r->arena, &list, sink(g, cond, s));
    if (in && s == g->ask->move)
      td_vec_push(r->arena, &list, drops(g->ask, cond) ? s : td_util_guard(r, cond, s));
  }
  return td_stmt_with_kids(r->store, block, list.at, list.n);
}

/* s, which holds the move, with the condition inside. */
static const TdStmt *sink(Guard *g, const TdExpr *cond, const TdStmt *s) {
  const TdStmt *kid[2];
  g->fits &= s->kind == TD_STMT_IF || s->kind == TD_STMT_FOR;
  for (uint32_t i = 0; s->kind == TD_STMT_FOR && i < s->nexpr; i++)
    g->fits &= td_util_is_steady(s->expr[i]);
  if (!g->fits) return s;
  for (uint32_t k = 0; k < s->nkid; k++) {
    bool in = holds(g, s->kid[k]);
    kid[k] = in ? sink_block(g, cond, s->kid[k])
                : td_util_block1(g->r, td_stmt_if(g->r->store, cond, s->kid[k], NULL, s->loc));
  }
  return td_stmt_with_kids(g->r->store, s, kid, s->nkid);
}

bool td_relay_differs(const TdRelayGuard *q, const TdExpr *cond) {
  for (size_t i = 0; i < q->ncoord; i++)
    if (td_walk_uses_expr(cond, q->coord[i])) return true;
  return false;
}

/* The outermost condition or loop around the move that differs, and does not hold it alone. */
static const TdStmt *outermost(const TdRewrite *r, const TdRelayGuard *q, const TdUnit *u) {
  TdPath p = td_edit_path(r->arena, u->body, q->move->uid);
  size_t nest = p.n - 1;
  while (nest >= 2 && p.at[nest - 1]->nkid == 1 &&
         (p.at[nest - 2]->kind == TD_STMT_FOR || td_util_is_guard(p.at[nest - 2])))
    nest -= 2;
  for (size_t i = 0; i < nest; i++) {
    const TdStmt *s = p.at[i];
    bool loop = s->kind == TD_STMT_FOR &&
                (td_relay_differs(q, td_for_lo(s)) || td_relay_differs(q, td_for_hi(s)));
    if (loop || (td_util_is_guard(s) && td_relay_differs(q, s->expr[0]))) return s;
  }
  for (size_t i = nest; i + 1 < p.n; i++)
    if (td_util_is_guard(p.at[i]) && drops(q, p.at[i]->expr[0])) return p.at[i];
  return NULL;
}

/* Whether the load stays inside its array at statement `at` of u. */
static bool is_inside(TdRewrite *r, const TdUnit *u, const TdStmt *at, const TdExpr *load) {
  TdAsk q = td_util_ask(r, u);
  const TdType *bool_ = td_type_bool(r->session), *t = td_unit_param(u, load->sym)->type;
  for (uint32_t d = 0; d < load->nkid; d++) {
    const TdExpr *low = td_expr_op2(r->arena, TD_OP_LE, bool_, td_util_const(r, 0), load->kid[d]);
    const TdExpr *high = td_expr_op2(r->arena, TD_OP_LT, bool_, load->kid[d], t->dim[d]);
    if (td_range_holds(&q, at, low, false) != TD_YES) return false;
    if (td_range_holds(&q, at, high, false) != TD_YES) return false;
  }
  return true;
}

/* The task with the move as a store, where it declares its buffer. */
static const TdUnit *as_store(Guard *g, TdRelayGuard *q, const TdUnit *u) {
  List list = {0};
  const TdStmt *store = split(g, q->move, &list);
  if (store == q->move) return u;
  td_vec_push(g->r->arena, &list, store);
  const TdStmt *body = td_edit_replace(g->r->store, u->body, q->move->uid, list.at, list.n);
  q->move = store;
  return td_unit_with_body(g->r->store, u, body);
}

/* The unit with condition s, of two parts, as two. */
static const TdUnit *apart(TdRewrite *r, const TdUnit *u, const TdStmt *s) {
  const TdExpr *e = s->expr[0];
  const TdStmt *inner = td_stmt_if(r->store, e->kid[1], s->kid[0], NULL, s->loc);
  const TdStmt *now = td_stmt_if(r->store, e->kid[0], td_util_block1(r, inner), NULL, s->loc);
  return td_unit_with_body(r->store, u, td_edit_replace(r->store, u->body, s->uid, &now, 1));
}

/* What should be the least of a bound over all instances (op MIN), or the greatest: where it moves
 * one way along each axis. NULL: not known. */
static const TdExpr *over_all(Guard *g, const TdExpr *e, TdOp op) {
  TdRewrite *r = g->r;
  TdArena *a = r->store->arena;
  for (size_t i = 0; e && i < g->ask->ncoord; i++) {
    const TdExpr *end[2];
    int64_t less;
    for (int k = 0; k < 2; k++) {
      const TdExpr *last = td_lin_minus(r->session, a, g->ask->extent[i], td_util_const(r, 1));
      TdSubst sub = td_subst_new(r->store);
      td_subst_expr(&sub, g->ask->coord[i], k ? last : td_util_const(r, 0));
      end[k] = td_lin_simplify(r->session, a, td_subst_in_expr(&sub, e));
    }
    TdLin x = td_lin_of(r->session, r->arena, e);
    if (!td_lin_diff(r->session, end[1], end[0], &less)) less = td_lin_coef(&x, g->ask->coord[i]);
    e = less || end[0] == end[1] || td_equal_expr(end[0], end[1])
            ? end[(less > 0) == (op == TD_OP_MAX)]
            : NULL;
  }
  return e;
}

/* The unit where the loop runs over the range of all instances, and what it holds is under a
 * condition. */
static const TdUnit *widen(Guard *g, const TdUnit *u, const TdStmt *loop) {
  TdRewrite *r = g->r;
  TdArena *a = r->store->arena;
  TdAsk q = td_util_ask(r, u);
  const TdType *bool_ = td_type_bool(r->session);
  const TdExpr *own[] = {td_for_lo(loop), td_for_hi(loop)}, *v = td_util_var(r, loop->sym);
  const TdExpr *all[] = {over_all(g, own[0], TD_OP_MIN), over_all(g, own[1], TD_OP_MAX)};
  const TdStmt *body = td_for_body(loop);
  g->fits &= all[0] && all[1] && loop->step == 1;
  for (int k = 0; k < 2 && g->fits; k++) {
    const TdExpr *wider = td_expr_op2(a, TD_OP_LE, bool_, k ? own[1] : all[0], k ? all[1] : own[0]);
    const TdExpr *inside =
        td_expr_op2(a, k ? TD_OP_LT : TD_OP_LE, bool_, k ? v : own[0], k ? own[1] : v);
    g->fits &= td_range_holds(&q, loop, wider, false) == TD_YES;
    if (td_relay_differs(g->ask, own[k]))
      body = td_util_block1(r, td_stmt_if(r->store, inside, body, NULL, loop->loc));
  }
  if (!g->fits) return u;
  const TdStmt *now = td_util_reloop(r, loop, loop->sym, all[0], all[1], 1, body);
  return td_unit_with_body(r->store, u, td_edit_replace(r->store, u->body, loop->uid, &now, 1));
}

const TdUnit *td_relay_unguard(TdRewrite *r, const TdRelayGuard *q, const TdUnit *task) {
  TdRelayGuard now = *q;
  Guard g = {.r = r, .ask = &now, .fits = true};
  if (!outermost(r, q, task)) return task;
  const TdUnit *u = as_store(&g, &now, task);
  for (const TdStmt *s; g.fits && (s = outermost(r, &now, u));) {
    td_ctx_tick(r->session->ctx, 1);
    if (s->kind == TD_STMT_FOR) {
      u = widen(&g, u, s);
      continue;
    }
    if (s->expr[0]->kind == TD_EXPR_OP && s->expr[0]->op == TD_OP_AND) {
      u = apart(r, u, s);
      continue;
    }
    const TdStmt *body = sink_block(&g, s->expr[0], s->kid[0]);
    u = td_unit_with_body(r->store, u,
                          td_edit_replace(r->store, u->body, s->uid, body->kid, body->nkid));
  }
  const TdStmt *at = g.fits ? td_edit_find(r->session->ctx, u->body, now.move->uid) : NULL;
  return at && (q->gather || is_inside(r, u, at, q->load)) ? u : task;
}

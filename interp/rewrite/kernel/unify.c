/* unify.c - unify: consecutive calls of two kernels become one call of a kernel that is
 * both, told by a selector which one to be. */
#include "rewrite/loop/merge_arms.h"
#include "rewrite/kernel/lift.h"

enum { FIRST, SECOND, COUNT };

typedef struct Unify {
  TdRewrite *r;
  const TdUnit *kernel[2], *caller;
  const TdStmt *block; /* calls [at, at + n) of it */
  size_t at, n;
  TdSym call, which; /* number of the call; 0 or 1 for each */
  const char *name;  /* of the kernel that is both */
} Unify;

static bool refuse(const Unify *u, TdDiagKind kind, const char *code, TdLoc loc, const char *what) {
  td_util_refuse(u->r, kind, code, loc, "'%s' and '%s' %s", u->kernel[0]->sym->name,
                 u->kernel[1]->sym->name, what);
  return false;
}

/* Which of the two kernels s calls, or -1. */
static int called(const Unify *u, const TdStmt *s) {
  for (int k = 0; s->kind == TD_STMT_CALL && k < 2; k++)
    if (s->sym == u->kernel[k]->sym) return k;
  return -1;
}

/* Notes the first run of n calls in a block that calls both. */
static bool look_run(void *ud, const TdStmt *s) {
  Unify *u = ud;
  size_t run = 0;
  for (uint32_t i = 0; s->kind == TD_STMT_BLOCK && i < s->nkid && !u->block; i++) {
    bool seen[2] = {false, false};
    run = called(u, s->kid[i]) >= 0 ? run + 1 : 0;
    for (size_t c = 0; c < u->n && run >= u->n; c++) seen[called(u, s->kid[i - c])] = true;
    if (!seen[0] || !seen[1]) continue;
    u->block = s;
    u->at = i + 1 - u->n;
  }
  return !u->block;
}

/* Whether parameters in one place that are alike but for their extents have the same: else one
 * kernel would have two interfaces. */
static bool check_shapes(const Unify *u) {
  const TdUnit *x = u->kernel[0], *y = u->kernel[1];
  for (size_t i = 0; x->nparam == y->nparam && i < x->nparam; i++) {
    const TdType *p = x->param[i].type, *q = y->param[i].type;
    if (p->kind != TD_T_TENSOR || q->kind != TD_T_TENSOR || p->rank != q->rank ||
        td_type_scalar(p) != td_type_scalar(q))
      continue;
    for (int d = 0; d < p->rank; d++) {
      int64_t m, n;
      if (!td_unit_value(x, p->dim[d], &m) || !td_unit_value(y, q->dim[d], &n) || m == n) continue;
      td_util_refuse(u->r, TD_ILLEGAL, "shape", y->loc,
                     "'%s' of '%s' has %lld elements in dimension %d, and '%s' of '%s' has %lld: "
                     "they have no interface in common",
                     x->param[i].sym->name, x->sym->name, (long long)m, d, y->param[i].sym->name,
                     y->sym->name, (long long)n);
      td_diag_help(u->r->diag, "give both %lld elements, and loops that use as many as they need",
                   (long long)(m > n ? m : n));
      return false;
    }
  }
  return true;
}

/* The kernels, and the calls that are meant. */
static bool find(Unify *u) {
  TdRewrite *r = u->r;
  for (int k = 0; k < 2; k++)
    if (!td_cursor_unit(r->arena, r->prog, r->arg[k].text, &u->kernel[k], r->diag)) return false;
  TdLoc loc = u->kernel[1]->loc;
  if (u->kernel[0] == u->kernel[1]) return refuse(u, TD_USAGE, "same", loc, "are one kernel");
  if (r->arg[COUNT].integer < 2)
    return refuse(u, TD_USAGE, "count", loc, "are called at least twice together");
  u->n = (size_t)r->arg[COUNT].integer;
  for (int k = 0; k < 2; k++) {
    if (u->kernel[k]->kind != TD_UNIT_KERNEL)
      return refuse(u, TD_UNSUPPORTED, "not-a-kernel", loc, "are not both kernels");
    if (td_unit_has_state(r->session->ctx, u->kernel[k]))
      return refuse(u, TD_ILLEGAL, "state", loc, "cannot be one: one of them keeps a state");
  }
  for (size_t i = r->prog->nunit; i-- > 0 && !u->block;) {
    u->caller = r->prog->unit[i];
    if (u->caller->body) td_walk_stmt(r->session->ctx, u->caller->body, look_run, u);
  }
  return u->block || refuse(u, TD_USAGE, "not-called", loc,
                            td_text_fmt(r->arena, "are not called in %zu calls in a row", u->n));
}

/* Index x of call i and y of call k, as a function of the number of the call; NULL: none. */
static const TdExpr *between(const Unify *u, size_t i, const TdExpr *x, size_t k, const TdExpr *y) {
  TdSession *ss = u->r->session;
  TdArena *a = u->r->store->arena;
  int64_t d, apart = (int64_t)(k - i);
  if (!td_lin_diff(ss, y, x, &d) || d % apart) return NULL;
  const TdExpr *from = td_lin_plus(ss, a, x, td_util_const(u->r, -d / apart * (int64_t)i));
  return td_lin_plus(ss, a, from, td_lin_times(ss, a, td_util_var(u->r, u->call), d / apart));
}

/* The view that is x at call i and y at call k; NULL if there is none. */
static const TdExpr *view_between(const Unify *u, size_t i, const TdExpr *x, size_t k,
                                  const TdExpr *y) {
  const TdExpr *lo[TD_MAX_RANK];
  if (x->kind != TD_EXPR_VIEW || y->kind != TD_EXPR_VIEW || x->sym != y->sym || x->type != y->type)
    return td_equal_expr(x, y) ? x : NULL;
  for (uint32_t d = 0; d < x->nkid; d++) {
    bool same = x->u.dim[d].out == y->u.dim[d].out && x->u.dim[d].step == y->u.dim[d].step;
    lo[d] = same ? between(u, i, x->kid[d], k, y->kid[d]) : NULL;
    if (!lo[d]) return NULL;
  }
  return td_expr_with_kids(u->r->store->arena, x, lo);
}

/* e with the number of the call replaced by i. */
static const TdExpr *at_call(const Unify *u, const TdExpr *e, size_t i) {
  TdSubst sub = td_subst_new(u->r->store);
  td_subst_expr(&sub, u->call, td_util_const(u->r, (int64_t)i));
  return td_subst_in_expr(&sub, e);
}

/* Argument p of the calls of kernel k, or (-1) of both, as a function of the number of the call;
 * NULL, and in *odd the call that does not fit. */
static const TdExpr *function_of(const Unify *u, int k, uint32_t p, const TdStmt **odd) {
  const TdExpr *e = NULL, *first = NULL;
  size_t from = 0, others = 0;
  for (size_t i = 0; i < u->n; i++) {
    const TdStmt *s = *odd = u->block->kid[u->at + i];
    if (k >= 0 && called(u, s) != k) continue;
    if (p >= s->nexpr) return NULL;
    if (!first) {
      e = first = s->expr[p];
      from = i;
      continue;
    }
    if (others++ == 0) e = view_between(u, from, first, i, s->expr[p]);
    if (!e || !td_equal_expr(at_call(u, e, i), s->expr[p])) return NULL;
  }
  return e;
}

/* The call of kernel k as a function of the number of the call: one that fits both, if there is. */
static const TdStmt *arm(const Unify *u, int k) {
  const TdUnit *kernel = u->kernel[k];
  const TdExpr **arg = TD_NEWN(u->r->store->arena, const TdExpr *, kernel->nparam);
  for (uint32_t p = 0; p < kernel->nparam; p++) {
    const TdStmt *odd;
    arg[p] = function_of(u, -1, p, &odd);
    if (!arg[p]) arg[p] = function_of(u, k, p, &odd);
    if (arg[p]) continue;
    const char *text = td_print_expr_str(u->r->arena, odd->expr[p]);
    refuse(u, TD_ILLEGAL, "arguments", odd->loc,
           td_text_fmt(u->r->arena, "cannot be called in one loop: '%s' is not the next in a row",
                       text));
    td_diag_help(u->r->diag, "pass parts of one array, such as X[0], X[1], X[2]");
    return NULL;
  }
  const TdStmt *call =
      td_stmt_call(u->r->store, kernel->sym, arg, kernel->nparam, u->block->kid[u->at]->loc);
  return td_util_block1(u->r, call);
}

/* Element `index` of the selector. */
static const TdExpr *selector(const Unify *u, const TdExpr *index) {
  const TdType *t = td_type_uint(u->r->session, 8);
  return td_expr_load(u->r->store->arena, u->which, t, &index, 1, (TdLoc){0});
}

/* Whether the selector of the loop's call is 0. */
static const TdExpr *is_first(const Unify *u) {
  TdArena *a = u->r->store->arena;
  const TdExpr *zero = td_expr_lit(a, td_type_uint(u->r->session, 1), 0, (TdLoc){0});
  const TdExpr *which = selector(u, td_util_var(u->r, u->call));
  return td_expr_op2(a, TD_OP_EQ, td_type_bool(u->r->session), which, zero);
}

/* The loop in which one of the two kernels is called, or NULL. */
static const TdStmt *make_loop(const Unify *u) {
  TdStore *st = u->r->store;
  TdLoc loc = u->block->kid[u->at]->loc;
  const TdStmt *then = arm(u, 0), *other = then ? arm(u, 1) : NULL;
  if (!other) return NULL;
  const TdStmt *choice = td_stmt_if(st, is_first(u), then, other, loc);
  const TdExpr *n = td_util_const(u->r, (int64_t)u->n);
  return td_stmt_for(st, u->call, td_util_const(u->r, 0), n, 1, td_util_block1(u->r, choice), loc);
}

/* The caller with the calls replaced by the selector and the loop. */
static const TdUnit *put_loop(const Unify *u, const TdStmt *loop) {
  TdStore *st = u->r->store;
  const TdType *byte = td_type_uint(u->r->session, 8);
  const TdType *t = td_type_tensor_of(u->r->session, byte, 1, &(int64_t){(int64_t)u->n});
  const TdStmt **kid = TD_NEWN(st->arena, const TdStmt *, u->block->nkid + 2);
  size_t n = 0;
  for (size_t i = 0; i < u->at; i++) kid[n++] = u->block->kid[i];
  kid[n++] = td_stmt_local(st, u->which, t, TD_INIT_NONE, NULL, loop->loc);
  for (size_t i = 0; i < u->n; i++) {
    uint64_t k = (uint64_t)called(u, u->block->kid[u->at + i]);
    const TdExpr *place = selector(u, td_util_const(u->r, (int64_t)i));
    kid[n++] = td_stmt_store(st, place, td_expr_lit(st->arena, byte, k, loop->loc), loop->loc);
  }
  kid[n++] = loop;
  for (size_t i = u->at + u->n; i < u->block->nkid; i++) kid[n++] = u->block->kid[i];
  const TdStmt *block = td_stmt_with_kids(st, u->block, kid, n);
  return td_unit_with_body(st, u->caller,
                           td_edit_replace(st, u->caller->body, u->block->uid, &block, 1));
}

/* The program with the loop in a kernel of its own, which is called in its place. */
static const TdProg *lift_loop(const Unify *u) {
  TdRewrite inner = *u->r;
  TdStore *st = u->r->store;
  TdLifted l;
  const TdStmt *loop = make_loop(u);
  if (!loop) return NULL;
  const TdUnit *caller = put_loop(u, loop);
  inner.prog = td_prog_with(u->r->prog, caller);
  if (!td_lift(&inner, caller, &loop, 1, u->name, &l)) return NULL;
  const TdStmt *call = td_stmt_call(st, l.unit->sym, l.arg, l.unit->nparam, loop->loc);
  const TdStmt *body = td_edit_replace(st, caller->body, loop->uid, &call, 1);
  const TdProg *p = td_prog_insert(inner.prog, l.unit, caller->sym);
  p = td_prog_with(p, td_lift_tidy(&inner, td_unit_with_body(st, caller, body)));
  return td_lift_in_order(&inner, p);
}

/* p with kernel k inlined in the new one. */
static const TdProg *inlined(const Unify *u, const TdProg *p, int k) {
  TdRewrite inner = *u->r;
  TdArgValue arg[TD_PRIM_ARGS] = {0};
  inner.prog = p;
  inner.arg = arg;
  inner.naming = (TdNaming){0};
  arg[0].given = true;
  arg[0].text = td_text_fmt(u->r->arena, "%s:%s", u->name, u->kernel[k]->sym->name);
  p = td_prim_find("inline")->apply(&inner);
  u->r->note.at = inner.note.at;
  u->r->note.n = inner.note.n;
  u->r->note.cap = inner.note.cap;
  u->r->used_value |= inner.used_value;
  return p;
}

static bool look_choice(void *ud, const TdStmt *s) {
  const TdStmt **found = ud;
  if (s->kind == TD_STMT_IF) *found = s;
  return !*found;
}

static const TdProg *apply(TdRewrite *r) {
  Unify u = {.r = r};
  if (!find(&u) || !check_shapes(&u)) return NULL;
  u.name = td_lift_unit_name(
      r, r->prog, td_text_fmt(r->arena, "%s_%s", u.kernel[0]->sym->name, u.kernel[1]->sym->name));
  u.call = td_store_sym(r->store, td_util_name(r, u.caller, NULL, "call"), TD_SYM_LOOP);
  u.which = td_store_sym(r->store, td_util_name(r, u.caller, NULL, "which"), TD_SYM_LOCAL);
  const TdProg *p = lift_loop(&u);
  for (int k = 0; k < 2 && p; k++) p = inlined(&u, p, k);
  if (!p) return NULL;
  const TdUnit *both = td_prog_find(p, u.name);
  const TdStmt *choice = NULL;
  td_walk_stmt(r->session->ctx, both->body, look_choice, &choice);
  const TdStmt *merged = td_merge_arms_merge(r, choice->expr[0], choice->kid[0], choice->kid[1]);
  const TdStmt *body =
      td_edit_replace(r->store, both->body, choice->uid, merged->kid, merged->nkid);
  td_util_made(r, u.name);
  return td_prog_prune(td_prog_with(p, td_unit_with_body(r->store, both, body)));
}

const TdPrim td_prim_unify = {
    .name = "unify",
    .on = "kernel",
    .summary = "Make one kernel of two, with a selector that says which one each call is.",
    .args = {{"a", TD_ARG_UNIT, TD_ARG_NEEDED, "a kernel", "kernel"},
             {"b", TD_ARG_UNIT, TD_ARG_NEEDED, "another kernel", "kernel"},
             {"n", TD_ARG_INT, TD_ARG_NEEDED, "how many calls of them in a row are one call then",
              NULL}},
    .rewrite = "f(X[0]); g(X[1])  =>  f_g(which, X)  with  f_g = kernel(which, X): "
               "for call: for i: if which[call] == 0: F(X[call][i]) else G(X[call][i])",
    .legal = "n calls of the two stand in a row; what each kernel is passed moves on by as much "
             "from call to call; both return at their ends only and keep no state; parameters in "
             "one place that are "
             "alike have the same extents",
    .errors = "same count not-a-kernel state not-called arguments return shape size overlap",
    .example = "s:split(\"k\", 3, {tail = \"cut\"}); s:outline(\"k_o\", \"most\"); "
               "s:outline(\"k_t\", \"rest\"); s:unify(\"most\", \"rest\", 2)",
    .apply = apply,
};

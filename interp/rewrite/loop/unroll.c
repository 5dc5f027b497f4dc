/* unroll.c - unroll: copies of the body side by side, as an attribute or spelt out. */
#include "rewrite/copied.h"
#include "rewrite/util.h"

enum { LOOP, FACTOR, REPLACE };

#define MOST_COPIES 4096

/* unroll(f) as an attribute; 0 is all iterations. */
static const TdProg *mark(TdRewrite *r, const TdPlace *at, int64_t factor) {
  const TdStmt *loop =
      td_util_mark(r, at->stmt, (TdAttr){.kind = TD_ATTR_UNROLL, .arg = {{.i = factor}}});
  return td_util_with_stmt(r, at->unit, at->stmt->uid, loop);
}

/* The body with the loop variable replaced by v; copies after the first get uids of their own. */
static const TdStmt *instance(TdRewrite *r, const TdPlace *at, const TdExpr *v, bool first) {
  TdSubst u = td_subst_new(r->store);
  const TdStmt *body = td_for_body(at->stmt);
  td_subst_expr(&u, at->stmt->sym, td_util_written_out(r->store->arena, v));
  return td_subst_in_stmt(&u, first ? body : td_util_copy(r, at->unit, body));
}

/* Adds a body to a list: its statements, or a block when it declares names that copies would
 * repeat. */
static void add_instance(TdRewrite *r, const TdStmt *body, const TdStmt ***list, size_t *n) {
  const TdStmt **all = TD_NEWN(r->store->arena, const TdStmt *, *n + body->nkid + 1);
  for (size_t i = 0; i < *n; i++) all[i] = (*list)[i];
  if (td_util_declares(body))
    all[(*n)++] = body;
  else
    for (uint32_t i = 0; i < body->nkid; i++) all[(*n)++] = body->kid[i];
  *list = all;
}

/* Every iteration spelt out; the loop must run a constant number of times. */
static const TdProg *replace_all(TdRewrite *r, const TdPlace *at) {
  const TdExpr *trip = td_util_trip(r, at->stmt);
  int64_t n;
  if (!td_unit_value(at->unit, trip, &n))
    return td_util_refuse(r, TD_ILLEGAL, "trip-unknown", at->stmt->loc,
                          "'%s' does not run a known number of times", at->stmt->sym->name);
  if (n > MOST_COPIES)
    return td_util_refuse(r, TD_LIMIT, "too-many-copies", at->stmt->loc,
                          "'%s' runs %lld times: at most %d copies are written out",
                          at->stmt->sym->name, (long long)n, MOST_COPIES);
  const TdExpr *lo = td_for_lo(at->stmt);
  if (n > 0 && !td_copied_bounds(r, at->unit, at->stmt, false)) return NULL;
  const TdUnit *u = at->unit;
  int64_t fixed;
  if (!td_expr_is_const(trip, &fixed)) {
    const TdExpr *fact =
        td_expr_op2(r->store->arena, n > 0 ? TD_OP_EQ : TD_OP_LE, td_type_bool(r->session), trip,
                    td_util_const(r, n > 0 ? n : 0));
    u = td_util_assume(r, u, fact);
    r->used_value = true;
    td_vec_push(r->arena, &r->relative,
                td_text_fmt(r->arena, "unroll %s {replace}", at->stmt->sym->name));
  }
  const TdStmt **list = NULL;
  size_t count = 0;
  TdArena *a = r->store->arena;
  for (int64_t i = 0; i < n; i++) {
    const TdExpr *v = td_lin_plus(r->session, a, lo, td_util_const(r, i * at->stmt->step));
    add_instance(r, instance(r, at, v, i == 0), &list, &count);
  }
  return td_util_with_stmts(r, u, at->stmt->uid, list, count);
}

/* Groups of `factor` copies under one loop; the trip count must be a multiple. */
static const TdProg *replace_some(TdRewrite *r, const TdPlace *at, int64_t factor) {
  TdArena *a = r->store->arena;
  const TdExpr *rest = td_lin_mod(r->session, a, td_util_trip(r, at->stmt), factor);
  int64_t v;
  if (!td_unit_value(at->unit, rest, &v) || v)
    return td_util_refuse(r, TD_ILLEGAL, "not-divisible", at->stmt->loc,
                          "%lld does not divide the iterations of '%s'", (long long)factor,
                          at->stmt->sym->name);
  const TdUnit *u = at->unit;
  if (!td_expr_is_const(rest, &v))
    u = td_util_assume(
        r, u, td_expr_op2(a, TD_OP_EQ, td_type_bool(r->session), rest, td_util_const(r, 0)));
  const TdStmt **list = NULL;
  size_t count = 0;
  for (int64_t i = 0; i < factor; i++) {
    const TdExpr *x = td_lin_plus(r->session, a, td_util_var(r, at->stmt->sym),
                                  td_util_const(r, i * at->stmt->step));
    add_instance(r, i ? instance(r, at, x, false) : td_for_body(at->stmt), &list, &count);
  }
  const TdStmt *body = td_stmt_block(r->store, list, count, at->stmt->loc);
  const TdStmt *loop = td_util_reloop(r, at->stmt, at->stmt->sym, td_for_lo(at->stmt),
                                      td_for_hi(at->stmt), at->stmt->step * factor, body);
  return td_util_with_stmt(r, u, at->stmt->uid, loop);
}

static const TdProg *apply(TdRewrite *r) {
  TdPlace at;
  if (!td_util_loop(r, LOOP, &at)) return NULL;
  int64_t factor = r->arg[FACTOR].given ? r->arg[FACTOR].integer : 0;
  if (factor < 0)
    return td_util_refuse(r, TD_USAGE, "factor", at.stmt->loc,
                          "the factor must not be negative (%lld)", (long long)factor);
  if (!r->arg[REPLACE].given || !r->arg[REPLACE].integer) return mark(r, &at, factor);
  if (td_util_leaves_by_break(td_for_body(at.stmt)))
    return td_util_refuse(r, TD_ILLEGAL, "break", at.stmt->loc, "'%s' is left by break",
                          at.stmt->sym->name);
  return factor ? replace_some(r, &at, factor) : replace_all(r, &at);
}

const TdPrim td_prim_unroll = {
    .name = "unroll",
    .on = "loop",
    .summary = "Lay copies of the loop's body side by side.",
    .args = {{"loop", TD_ARG_LOOP, TD_ARG_NEEDED, "the loop", NULL},
             {"factor", TD_ARG_INT, TD_ARG_OPTIONAL, "copies; all iterations by default", NULL},
             {"replace", TD_ARG_FLAG, TD_ARG_OPTION, "write the copies out in the program", NULL}},
    .rewrite = "for i: S  =>  for i: S  --@ unroll(f);  with replace: S[i := 0]; S[i := 1]; ..",
    .legal =
        "always as an attribute; with replace the number of iterations must be known (or a "
        "multiple of the factor), no break leave the loop, nor its body write what a bound reads",
    .errors = "factor trip-unknown too-many-copies not-divisible break bound-written",
    .example = "s:unroll(\"k\", 8)",
    .apply = apply,
};

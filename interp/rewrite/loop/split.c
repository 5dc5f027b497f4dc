/* split.c - split: one loop into two nested loops. */
#include <string.h>

#include "rewrite/copied.h"
#include "rewrite/util.h"

enum { LOOP, FACTOR, NAMES, TAIL };
typedef enum { GUARD, CUT, PERFECT } Tail;

/* What a split is about. */
typedef struct Split {
  TdRewrite *r;
  const TdUnit *unit;
  const TdStmt *loop;
  int64_t factor;
  const TdExpr *trip; /* iterations of the loop */
  bool far;           /* its bounds may be near where 64 bits end */
  TdSym outer, inner;
} Split;

/* lo + step * n: the value of the old variable at iteration n. */
static const TdExpr *value_at(const Split *s, const TdExpr *n) {
  TdRewrite *r = s->r;
  TdArena *a = r->store->arena;
  return td_lin_plus(r->session, a, td_for_lo(s->loop),
                     td_lin_times(r->session, a, n, s->loop->step));
}

/* Whether the factor divides the trip count, for all sizes. */
static bool divides(const Split *s) {
  TdRewrite *r = s->r;
  const TdExpr *rest = td_lin_mod(r->session, r->arena, s->trip, s->factor);
  int64_t v;
  if (td_expr_is_const(rest, &v)) return v == 0;
  TdAsk q = td_util_ask(r, s->unit);
  const TdExpr *zero =
      td_expr_op2(r->arena, TD_OP_EQ, td_type_bool(r->session), rest, td_util_const(r, 0));
  return td_range_holds(&q, s->loop, zero, false) == TD_YES;
}

static bool check(Split *s) {
  TdRewrite *r = s->r;
  TdLoc at = s->loop->loc;
  int64_t n;
  if (s->factor < 1)
    return td_util_refuse(r, TD_USAGE, "factor", at, "the factor must be at least 1, not %lld",
                          (long long)s->factor);
  if (td_unit_value(s->unit, s->trip, &n) && s->factor >= n && n > 0)
    return td_util_refuse(r, TD_USAGE, "factor", at,
                          "factor %lld does not split '%s', which runs %lld times",
                          (long long)s->factor, s->loop->sym->name, (long long)n);
  if (td_util_leaves_by_break(td_for_body(s->loop)))
    return td_util_refuse(r, TD_ILLEGAL, "break", at,
                          "'%s' is left by break, which would leave only the inner loop",
                          s->loop->sym->name);
  return true;
}

/* The variables, named as given or i_o and i_i. */
static bool make_variables(Split *s) {
  TdRewrite *r = s->r;
  const TdArgValue *names = &r->arg[NAMES];
  const char *stem = s->loop->sym->name;
  TdSym made[2];
  if (names->given && (names->n != 2 || strcmp(names->names[0], names->names[1]) == 0))
    return td_util_refuse(r, TD_USAGE, "names", s->loop->loc, "names takes two different names");
  for (int i = 0; i < 2; i++) {
    const char *given = names->given ? names->names[i] : NULL;
    bool own = given && i == 0 && strcmp(given, stem) == 0;
    const char *want = td_text_fmt(r->arena, "%s_%c", stem, "oi"[i]);
    const char *name = own ? stem : td_util_name(r, s->unit, given, want);
    if (!name) return false;
    td_util_made(r, name);
    made[i] = td_store_sym(r->store, name, TD_SYM_LOOP);
  }
  s->outer = made[0];
  s->inner = made[1];
  return true;
}

/* The iteration that outer and inner stand for: factor * outer + inner. */
static const TdExpr *iteration(const Split *s) {
  TdRewrite *r = s->r;
  TdArena *a = r->store->arena;
  const TdExpr *base = td_lin_times(r->session, a, td_util_var(r, s->outer), s->factor);
  return td_lin_plus(r->session, a, base, td_util_var(r, s->inner));
}

/* The body with the old variable replaced, inside a guard when `guarded`. */
static const TdStmt *make_body(const Split *s, bool guarded) {
  TdRewrite *r = s->r;
  TdArena *a = r->store->arena;
  const TdExpr *v = td_util_written_out(a, value_at(s, iteration(s)));
  TdSubst u = td_subst_new(r->store);
  td_subst_expr(&u, s->loop->sym, v);
  const TdStmt *body = td_subst_in_stmt(&u, td_for_body(s->loop));
  if (!guarded) return body;
  const TdExpr *cond = td_expr_op2(a, TD_OP_LT, td_type_bool(r->session), v, td_for_hi(s->loop));
  if (s->far) cond = td_expr_op2(a, TD_OP_LT, td_type_bool(r->session), iteration(s), s->trip);
  return td_util_block1(r, td_stmt_if(r->store, cond, body, NULL, s->loop->loc));
}

/* The two loops over `groups` groups of factor iterations. */
static const TdStmt *make_nest(const Split *s, const TdExpr *groups, bool guarded) {
  TdRewrite *r = s->r;
  TdArena *a = r->store->arena;
  const TdStmt *inner =
      td_stmt_for(r->store, s->inner, td_util_const(r, 0), td_util_const(r, s->factor), 1,
                  make_body(s, guarded), s->loop->loc);
  inner = td_stmt_with_attrs(r->store, inner, td_attrs_keep(a, s->loop->attrs, "ib"));
  const TdStmt *outer = td_util_reloop(r, s->loop, s->outer, td_util_const(r, 0), groups, 1,
                                       td_util_block1(r, inner));
  return td_stmt_with_attrs(r->store, outer, td_attrs_keep(a, s->loop->attrs, "b"));
}

/* Whether the range of the loop never ends before it begins. */
static bool is_forward(const Split *s) {
  TdRewrite *r = s->r;
  TdAsk q = td_util_ask(r, s->unit);
  const TdExpr *forward = td_expr_op2(r->arena, TD_OP_LE, td_type_bool(r->session),
                                      td_for_lo(s->loop), td_for_hi(s->loop));
  return td_range_holds(&q, s->loop, forward, false) == TD_YES;
}

/* Whether e is a number, a size, or what a loop counts or data of at most 32 bits holds. */
static bool is_near_atom(void *ud, const TdExpr *e) {
  (void)ud;
  if (e->kind == TD_EXPR_VAR) return e->sym->kind == TD_SYM_LOOP || e->type->w <= 32;
  return e->kind != TD_EXPR_LOAD || (td_type_is_integer(e->type) && e->type->w <= 32);
}

/* Whether a bound of the loop is neither near by what it is made of nor known to be. */
static bool is_far(const Split *s, const TdExpr *bound) {
  const int64_t far = (int64_t)1 << 40;
  TdAsk q = td_util_ask(s->r, s->unit);
  int64_t lo, hi;
  if (td_walk_expr(bound, is_near_atom, NULL)) return false;
  return !td_range_of(&q, s->loop, bound, &lo, &hi) || lo < -far || hi > far;
}

/* The iterations of a loop that is far, without a difference that 64 bits do not hold: that of a
 * bound from 0 on, or of one that is no less than where the loop begins. */
static const TdExpr *trip_of_far(const Split *s) {
  TdRewrite *r = s->r;
  TdArena *a = r->store->arena;
  const TdExpr *lo = td_for_lo(s->loop), *hi = td_for_hi(s->loop);
  int64_t v;
  bool plain = (td_expr_is_const(lo, &v) && v <= 0) || is_forward(s);
  if (!plain) hi = td_expr_op2(a, TD_OP_MAX, td_type_index(r->session), lo, hi);
  return td_lin_ceildiv(r->session, a, td_lin_minus(r->session, a, hi, lo), s->loop->step);
}

/* The iterations that whole groups leave of a loop that is far, by their numbers: only values of
 * the variable that it has are computed. */
static const TdStmt *make_far_tail(const Split *s, const TdExpr *whole) {
  TdRewrite *r = s->r;
  TdArena *a = r->store->arena;
  const TdStmt *body = td_util_copy(r, s->unit, td_for_body(s->loop));
  TdSym v = td_util_loop_var(r, s->unit, td_text_fmt(r->arena, "%s_t", s->loop->sym->name));
  TdSubst u = td_subst_new(r->store);
  td_subst_expr(&u, s->loop->sym, td_util_written_out(a, value_at(s, td_util_var(r, v))));
  const TdExpr *lo = td_lin_times(r->session, a, whole, s->factor);
  lo = td_expr_op2(a, TD_OP_MAX, td_type_index(r->session), lo, td_util_const(r, 0));
  const TdStmt *tail =
      td_stmt_for(r->store, v, lo, s->trip, 1, td_subst_in_stmt(&u, body), s->loop->loc);
  return td_stmt_with_attrs(r->store, tail, s->loop->attrs);
}

/* The iterations that whole groups leave, as a loop of their own over a copy of the body. Where the
 * range may end before it begins, so may the groups: the tail begins no earlier than the loop. */
static const TdStmt *make_tail(const Split *s, const TdExpr *whole) {
  TdRewrite *r = s->r;
  TdArena *a = r->store->arena;
  const TdStmt *body = td_util_copy(r, s->unit, td_for_body(s->loop));
  TdSym v = td_util_loop_var(r, s->unit, td_text_fmt(r->arena, "%s_t", s->loop->sym->name));
  TdSubst u = td_subst_new(r->store);
  td_subst_expr(&u, s->loop->sym, td_util_var(r, v));
  body = td_subst_in_stmt(&u, body);
  const TdExpr *begin = td_for_lo(s->loop);
  const TdExpr *lo = value_at(s, td_lin_times(r->session, a, whole, s->factor));
  bool forward = is_forward(s), varies = td_util_varies(begin) || td_util_varies(lo);
  if (!forward && varies) lo = td_expr_op2(a, TD_OP_MAX, td_type_index(r->session), begin, lo);
  if (!forward && !varies) {
    const TdExpr *inside =
        td_expr_op2(a, TD_OP_LE, td_type_bool(r->session), begin, td_util_var(r, v));
    body = td_util_block1(r, td_stmt_if(r->store, inside, body, NULL, s->loop->loc));
  }
  const TdStmt *tail =
      td_stmt_for(r->store, v, lo, td_for_hi(s->loop), s->loop->step, body, s->loop->loc);
  return td_stmt_with_attrs(r->store, tail, s->loop->attrs);
}

static const TdProg *apply_cut(Split *s) {
  TdRewrite *r = s->r;
  const TdExpr *whole = td_lin_floordiv(r->session, r->store->arena, s->trip, s->factor);
  const TdStmt *parts[] = {make_nest(s, whole, false),
                           s->far ? make_far_tail(s, whole) : make_tail(s, whole)};
  return td_util_with_stmts(r, s->unit, s->loop->uid, parts, 2);
}

/* perfect: where divisibility is not known, a fact on sizes is assumed; on variables it cannot be.
 */
static const TdProg *apply_perfect(Split *s) {
  TdRewrite *r = s->r;
  TdArena *a = r->store->arena;
  const TdExpr *rest = td_lin_mod(r->session, a, s->trip, s->factor);
  const TdExpr *groups = td_lin_floordiv(r->session, a, s->trip, s->factor);
  int64_t v;
  bool known = td_unit_value(s->unit, rest, &v);
  if (known && v)
    return td_util_refuse(r, TD_ILLEGAL, "not-divisible", s->loop->loc,
                          "%lld does not divide the %s iterations of '%s'", (long long)s->factor,
                          td_print_expr_str(r->arena, s->trip), s->loop->sym->name);
  if (!known && !divides(s))
    return td_util_refuse(r, TD_ILLEGAL, "not-divisible", s->loop->loc,
                          "%lld does not always divide the %s iterations of '%s'",
                          (long long)s->factor, td_print_expr_str(r->arena, s->trip),
                          s->loop->sym->name);
  const TdUnit *u = s->unit;
  if (!divides(s)) {
    const TdExpr *fact =
        td_expr_op2(a, TD_OP_EQ, td_type_bool(r->session), rest, td_util_const(r, 0));
    u = td_util_assume(r, u, fact);
    r->used_value = true;
  }
  return td_util_with_stmt(r, u, s->loop->uid, make_nest(s, groups, false));
}

static const TdProg *apply(TdRewrite *r) {
  static const char *const tails[] = {"guard", "cut", "perfect"};
  TdPlace at;
  if (!td_util_loop(r, LOOP, &at)) return NULL;
  Split s = {.r = r, .unit = at.unit, .loop = at.stmt, .factor = r->arg[FACTOR].integer};
  s.far = is_far(&s, td_for_lo(at.stmt)) || is_far(&s, td_for_hi(at.stmt));
  s.trip = s.far ? trip_of_far(&s) : td_util_trip(r, at.stmt);
  if (!check(&s) || !make_variables(&s)) return NULL;
  Tail tail = GUARD;
  for (int i = 0; r->arg[TAIL].given && i < 3; i++)
    if (strcmp(r->arg[TAIL].text, tails[i]) == 0) tail = (Tail)i;
  if (tail == PERFECT && !td_copied_bounds(r, s.unit, s.loop, false)) return NULL;
  if (tail == PERFECT) return apply_perfect(&s);
  bool exact = divides(&s);
  if (!td_copied_bounds(r, s.unit, s.loop, !exact)) return NULL;
  if (tail == CUT && !exact) return apply_cut(&s);
  const TdExpr *groups = td_lin_ceildiv(r->session, r->store->arena, s.trip, s.factor);
  return td_util_with_stmt(r, s.unit, s.loop->uid, make_nest(&s, groups, !exact));
}

const TdPrim td_prim_split = {
    .name = "split",
    .on = "loop",
    .summary = "Split one loop into two nested loops.",
    .args = {{"loop", TD_ARG_LOOP, TD_ARG_NEEDED, "the loop", NULL},
             {"factor", TD_ARG_INT, TD_ARG_NEEDED, "iterations of the inner loop", NULL},
             {"names", TD_ARG_NAMES, TD_ARG_OPTION, "names of the outer and the inner loop", NULL},
             {"tail", TD_ARG_WORD, TD_ARG_OPTION, "what to do with the remainder",
              "guard|cut|perfect"}},
    .rewrite = "for i in 0..n: S  =>  for i_o in 0..ceil(n/f): for i_i in 0..f: "
               "if f*i_o+i_i < n: S[i := f*i_o+i_i]",
    .legal = "always with guard or cut; perfect needs f | n, which it assumes where sizes are "
             "symbolic; not when the loop is left by break",
    .errors = "factor not-divisible break bound-written names name",
    .example = "s:split(\"k\", 8)",
    .apply = apply,
};

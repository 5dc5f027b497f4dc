/* fuse.c - fuse: a perfect nest becomes one loop; adjacent loops of equal range become one. */
#include <string.h>

#include "rewrite/accept.h"
#include "rewrite/copied.h"

enum { LOOPS };

/* The loops that the arguments name, all of one unit. */
static bool find_loops(TdRewrite *r, TdPlace *at, size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (!td_cursor_loop(r->arena, r->prog, r->arg[LOOPS].names[i], &at[i], r->diag)) return false;
    if (at[i].unit == at[0].unit) continue;
    td_util_refuse(r, TD_USAGE, "units", at[i].stmt->loc, "'%s' and '%s' are in different kernels",
                   at[0].stmt->sym->name, at[i].stmt->sym->name);
    return false;
  }
  return true;
}

/* Whether each loop is the whole body of the one before. */
static bool is_nest(const TdPlace *at, size_t n) {
  for (size_t i = 1; i < n; i++)
    if (td_util_whole_body(at[i - 1].stmt) != at[i].stmt) return false;
  return true;
}

/* The body of the last loop of a nest, under the conditions between the loops. */
static const TdStmt *guarded_body(TdRewrite *r, const TdPlace *at, size_t n) {
  const TdStmt *s = td_for_body(at[n - 1].stmt);
  for (size_t i = n - 1; i-- > 0;) {
    TdPath p = td_edit_path(r->arena, td_for_body(at[i].stmt), at[i + 1].stmt->uid);
    for (size_t k = p.n; k-- > 0;)
      if (td_util_is_guard(p.at[k])) s = td_util_block1(r, td_util_guard(r, p.at[k]->expr[0], s));
  }
  return s;
}

/* Whether the bounds of loop k mention the variable of a loop that is fused with it. */
static bool is_rectangular(const TdPlace *at, size_t n) {
  for (size_t k = 1; k < n; k++)
    for (size_t i = 0; i < k; i++)
      if (td_walk_uses_expr(td_for_lo(at[k].stmt), at[i].stmt->sym) ||
          td_walk_uses_expr(td_for_hi(at[k].stmt), at[i].stmt->sym))
        return false;
  return true;
}

static const char *joined_name(TdRewrite *r, const TdPlace *at, size_t n) {
  TdText t = td_text_new(r->arena);
  for (size_t i = 0; i < n; i++) td_text_putf(&t, "%s%s", i ? "_" : "", at[i].stmt->sym->name);
  return td_text_str(&t);
}

/* Attributes that all of the loops have. */
static TdAttrs common_attrs(TdRewrite *r, const TdPlace *at, size_t n) {
  TdAttrs out = {0};
  for (size_t i = 0; i < at[0].stmt->attrs.n; i++) {
    TdAttr x = at[0].stmt->attrs.at[i];
    bool all = true;
    for (size_t k = 1; k < n; k++) {
      const TdAttr *y = td_attrs_get(at[k].stmt->attrs, (TdAttrKind)x.kind);
      all &= y && td_attrs_equal((TdAttrs){&x, 1}, (TdAttrs){y, 1});
    }
    if (all) out = td_attrs_add(r->store->arena, out, x);
  }
  return out;
}

/* The extents of the inner loops must be known numbers, since a variable is recovered by dividing
 * by them. */
static bool known_extents(TdRewrite *r, const TdPlace *at, size_t n, int64_t *extent,
                          const TdUnit **u) {
  *u = at[0].unit;
  for (size_t i = 1; i < n; i++) {
    const TdExpr *t = td_util_trip(r, at[i].stmt);
    if (td_expr_is_const(t, &extent[i])) continue;
    if (!td_unit_value(at[0].unit, t, &extent[i])) {
      td_util_refuse(r, TD_ILLEGAL, "trip-unknown", at[i].stmt->loc,
                     "'%s' does not run a known number of times", at[i].stmt->sym->name);
      return false;
    }
    const TdExpr *fact = td_expr_op2(r->store->arena, TD_OP_EQ, td_type_bool(r->session), t,
                                     td_util_const(r, extent[i]));
    *u = td_util_assume(r, *u, fact);
    r->used_value = true;
  }
  return true;
}

/* The value of loop i at fused iteration v: lo + step * (v // inner % extent). */
static const TdExpr *recover(TdRewrite *r, const TdStmt *loop, const TdExpr *v, int64_t inner,
                             int64_t extent, bool outermost) {
  TdArena *a = r->store->arena;
  const TdExpr *n = td_lin_floordiv(r->session, a, v, inner);
  if (!outermost) n = td_lin_mod(r->session, a, n, extent);
  return td_lin_plus(r->session, a, td_for_lo(loop), td_lin_times(r->session, a, n, loop->step));
}

static const TdProg *collapse(TdRewrite *r, const TdPlace *at, size_t n) {
  int64_t *extent = TD_NEWN(r->arena, int64_t, n), inner = 1;
  const TdUnit *u;
  if (!is_rectangular(at, n))
    return td_util_refuse(r, TD_ILLEGAL, "not-rectangular", at[0].stmt->loc,
                          "the range of an inner loop depends on an outer one");
  if (td_util_leaves_by_break(td_for_body(at[n - 1].stmt)))
    return td_util_refuse(r, TD_ILLEGAL, "break", at[n - 1].stmt->loc, "'%s' is left by break",
                          at[n - 1].stmt->sym->name);
  if (!known_extents(r, at, n, extent, &u)) return NULL;
  for (size_t i = 0; i < n; i++)
    if (!td_copied_bounds(r, at[0].unit, at[i].stmt, false)) return NULL;
  for (size_t i = 1; i < n; i++)
    if (extent[i] <= 0)
      return td_util_refuse(r, TD_ILLEGAL, "trip-unknown", at[i].stmt->loc, "'%s' never runs",
                            at[i].stmt->sym->name);
  TdSym v = td_util_loop_var(r, at[0].unit, joined_name(r, at, n));
  TdSubst sub = td_subst_new(r->store);
  for (size_t i = n; i-- > 0;) {
    const TdExpr *was = recover(r, at[i].stmt, td_util_var(r, v), inner, extent[i], i == 0);
    td_subst_expr(&sub, at[i].stmt->sym, td_util_written_out(r->store->arena, was));
    if (i) inner *= extent[i];
  }
  const TdStmt *body = td_subst_in_stmt(&sub, guarded_body(r, at, n));
  const TdExpr *hi = td_lin_times(r->session, r->store->arena, td_util_trip(r, at[0].stmt), inner);
  const TdStmt *loop = td_util_reloop(r, at[0].stmt, v, td_util_const(r, 0), hi, 1, body);
  loop = td_stmt_with_attrs(r->store, loop, common_attrs(r, at, n));
  return td_util_with_stmt(r, u, at[0].stmt->uid, loop);
}

/* The loops that are to become one, and what stands in their block. */
typedef struct Row {
  TdRewrite *r;
  const TdPlace *at;
  size_t n, first, last;          /* places of the first and the last loop in the block */
  const TdStmt *parent, *merged;  /* the block; the loop that they become */
  TD_VEC(const TdStmt *) between; /* what stands between them, in order */
} Row;

/* Fills the places of the loops, in one block and in order; false where they are not. */
static bool find_row(Row *w) {
  size_t k = 0;
  for (size_t i = 0; i < w->parent->nkid; i++) {
    const TdStmt *s = w->parent->kid[i];
    bool is = k < w->n && s == w->at[k].stmt;
    if (is && k == 0) w->first = i;
    if (is) w->last = i;
    if (!is && k > 0 && k < w->n) td_vec_push(w->r->arena, &w->between, s);
    k += is;
  }
  return k == w->n;
}

/* Tells, of loops `one` and `two` as the user called them, which of them to shift or peel, and how
 * far; nothing where their ranges do not differ by numbers. */
static void tell_step(TdRewrite *r, const char *one, const char *two, const TdStmt *x,
                      const TdStmt *y) {
  int64_t lo, hi;
  if (x->step != 1 || y->step != 1 || !td_lin_diff(r->session, td_for_lo(x), td_for_lo(y), &lo) ||
      !td_lin_diff(r->session, td_for_hi(x), td_for_hi(y), &hi))
    return;
  if (lo == hi) {
    td_diag_help(r->diag, "s:shift(\"%s\", %lld) makes them equal", two, (long long)lo);
  } else if (lo) {
    td_diag_help(r->diag, "s:peel(\"%s\", %lld) gives the first iterations a loop of their own",
                 lo < 0 ? one : two, (long long)(lo < 0 ? -lo : lo));
  } else {
    td_diag_help(r->diag,
                 "s:peel(\"%s\", %lld, {at = \"end\"}) gives the last iterations a loop of their "
                 "own",
                 hi > 0 ? one : two, (long long)(hi > 0 ? hi : -hi));
  }
}

/* Equal ranges, or a refusal that names both. */
static bool equal_ranges(TdRewrite *r, const TdPlace *at, size_t n, const TdUnit **u) {
  *u = at[0].unit;
  for (size_t i = 1; i < n; i++) {
    const TdStmt *x = at[0].stmt, *y = at[i].stmt;
    const TdExpr *fact[2] = {NULL, NULL};
    bool same = x->step == y->step &&
                td_util_same_value(r, at[0].unit, x, td_for_lo(x), td_for_lo(y), &fact[0]) &&
                td_util_same_value(r, at[0].unit, x, td_for_hi(x), td_for_hi(y), &fact[1]);
    if (!same) {
      td_util_refuse(r, TD_ILLEGAL, "ranges", y->loc,
                     "the ranges of '%s' ({%s, %s}) and '%s' ({%s, %s}) are not provably equal",
                     x->sym->name, td_print_expr_str(r->arena, td_for_lo(x)),
                     td_print_expr_str(r->arena, td_for_hi(x)), y->sym->name,
                     td_print_expr_str(r->arena, td_for_lo(y)),
                     td_print_expr_str(r->arena, td_for_hi(y)));
      tell_step(r, r->arg[LOOPS].names[0], r->arg[LOOPS].names[i], x, y);
      return false;
    }
    for (int k = 0; k < 2; k++)
      if (fact[k]) *u = td_util_assume(r, *u, fact[k]), r->used_value = true;
  }
  return true;
}

/* Bodies one after the other under the first loop. Names that two of them declare keep apart in
 * blocks. */
static const TdStmt *merged_body(TdRewrite *r, const TdPlace *at, size_t n) {
  TD_VEC(const TdStmt *) list = {0};
  for (size_t i = 0; i < n; i++) {
    TdSubst sub = td_subst_new(r->store);
    td_subst_expr(&sub, at[i].stmt->sym, td_util_var(r, at[0].stmt->sym));
    const TdStmt *body = td_for_body(at[i].stmt);
    if (i) body = td_subst_in_stmt(&sub, body);
    if (i && td_util_declares(body)) {
      td_vec_push(r->store->arena, &list, body);
      continue;
    }
    for (uint32_t k = 0; k < body->nkid; k++) td_vec_push(r->store->arena, &list, body->kid[k]);
  }
  return td_stmt_block(r->store, list.at, list.n, at[0].stmt->loc);
}

/* The block, or (`part`) its statements from the first loop to the last, with the merged loop for
 * them all; what stands between comes after it, or else before. */
static const TdStmt *rebuild(const Row *w, bool part, bool after) {
  TdRewrite *r = w->r;
  TdArena *a = r->store->arena;
  TD_VEC(const TdStmt *) list = {0};
  for (size_t i = 0; !part && i < w->first; i++) td_vec_push(a, &list, w->parent->kid[i]);
  if (after) td_vec_push(a, &list, w->merged);
  for (size_t i = 0; i < w->between.n; i++) td_vec_push(a, &list, w->between.at[i]);
  if (!after) td_vec_push(a, &list, w->merged);
  for (size_t i = w->last + 1; !part && i < w->parent->nkid; i++)
    td_vec_push(a, &list, w->parent->kid[i]);
  return part ? td_stmt_block(r->store, list.at, list.n, w->merged->loc)
              : td_stmt_with_kids(r->store, w->parent, list.at, list.n);
}

/* Whether `after` may take the place of `before`, a block, where it gives `now`. */
static bool is_kept(const Row *w, const TdStmt *before, const TdStmt *after, const TdProg *now) {
  TdRewrite *r = w->r;
  const TdPlace *at = w->at;
  TdDepsMap *map = TD_NEWN(r->arena, TdDepsMap, w->n);
  for (size_t i = 1; i < w->n; i++)
    map[i - 1] = (TdDepsMap){.old = at[i].stmt->sym, .expr = td_util_var(r, at[0].stmt->sym)};
  TdAsk q = td_util_ask(r, at[0].unit);
  TdVerdict v = td_deps_order(&q, before, after, map, w->n - 1);
  const char *what = td_text_fmt(r->arena, "fusing '%s' and '%s'", at[0].stmt->sym->name,
                                 at[w->n - 1].stmt->sym->name);
  return td_accept_rewrite(r, &v, false, at[0].stmt->loc, what, now);
}

/* The program of unit u with the merged loop, or NULL with r->diag filled. */
static const TdProg *accept(const Row *w, const TdUnit *u, bool after) {
  TdRewrite *r = w->r;
  const TdStmt *before = td_edit_slice(r->store, w->parent, w->first, w->last + 1);
  const TdProg *now = td_util_with_stmt(r, u, w->parent->uid, rebuild(w, false, after));
  return is_kept(w, before, rebuild(w, true, after), now) ? now : NULL;
}

/* Whether the loops could be one if nothing stood between them; else r->diag tells why not. */
static bool is_kept_alone(const Row *w) {
  TdRewrite *r = w->r;
  const TdStmt **loop = TD_NEWN(r->arena, const TdStmt *, w->n);
  for (size_t i = 0; i < w->n; i++) loop[i] = w->at[i].stmt;
  const TdStmt *before = td_stmt_block(r->store, loop, w->n, w->merged->loc);
  const TdStmt *after = td_stmt_block(r->store, &w->merged, 1, w->merged->loc);
  return is_kept(w, before, after, r->prog);
}

/* As accept, where something stands between the loops: it goes after, or before them. */
static const TdProg *accept_apart(const Row *w, const TdUnit *u) {
  TdRewrite *r = w->r;
  if (!is_kept_alone(w)) return NULL;
  TdDiag *diag = r->diag, tried = {.arena = r->arena};
  const TdStmt *between = td_stmt_block(r->store, w->between.at, w->between.n, w->merged->loc);
  const TdProg *now = NULL;
  r->diag = &tried;
  if (!td_walk_leaves(between)) {
    if (!td_util_declares(between)) now = accept(w, u, true);
    if (!now) now = accept(w, u, false);
  }
  r->diag = diag;
  if (now) return now;
  td_util_refuse(
      r, TD_ILLEGAL, "not-adjacent", w->at[0].stmt->loc,
      "the loops are not next to each other, and what stands between them may go neither "
      "before '%s' nor after '%s'",
      w->at[0].stmt->sym->name, w->at[w->n - 1].stmt->sym->name);
  return NULL;
}

/* Whether the loops, the last one first, are a perfect nest. */
static bool is_nest_inside_out(TdRewrite *r, const TdPlace *at, size_t n) {
  TdPlace *turned = TD_NEWN(r->arena, TdPlace, n);
  for (size_t i = 0; i < n; i++) turned[i] = at[n - 1 - i];
  return is_nest(turned, n);
}

static const TdProg *merge(TdRewrite *r, const TdPlace *at, size_t n) {
  TdPath path = td_edit_path(r->arena, at[0].unit->body, at[0].stmt->uid);
  Row w = {.r = r, .at = at, .n = n, .parent = path.at[path.n - 2]};
  const TdUnit *u;
  if (w.parent->kind != TD_STMT_BLOCK || !find_row(&w)) {
    td_util_refuse(r, TD_ILLEGAL, "not-adjacent", at[0].stmt->loc,
                   "the loops are neither one perfect nest nor next to each other");
    if (is_nest_inside_out(r, at, n))
      td_diag_help(r->diag, "of a nest, name the outermost loop first");
    return NULL;
  }
  for (size_t i = 0; i < n; i++)
    if (td_util_leaves_by_break(td_for_body(at[i].stmt)))
      return td_util_refuse(r, TD_ILLEGAL, "break", at[i].stmt->loc, "'%s' is left by break",
                            at[i].stmt->sym->name);
  if (!equal_ranges(r, at, n, &u)) return NULL;
  const TdStmt *x = at[0].stmt;
  w.merged =
      td_util_reloop(r, x, x->sym, td_for_lo(x), td_for_hi(x), x->step, merged_body(r, at, n));
  w.merged = td_stmt_with_attrs(r->store, w.merged, common_attrs(r, at, n));
  const TdProg *now = w.between.n ? accept_apart(&w, u) : accept(&w, u, true);
  if (now) td_util_made(r, x->sym->name);
  return now;
}

static const TdProg *apply(TdRewrite *r) {
  size_t n = r->arg[LOOPS].n;
  TdLoc none = {0};
  if (n < 2) return td_util_refuse(r, TD_USAGE, "arguments", none, "fuse takes two loops or more");
  TdPlace *at = TD_NEWN(r->arena, TdPlace, n);
  if (!find_loops(r, at, n)) return NULL;
  return is_nest(at, n) ? collapse(r, at, n) : merge(r, at, n);
}

const TdPrim td_prim_fuse = {
    .name = "fuse",
    .on = "loop",
    .summary = "Make one loop of a perfect nest, or of adjacent loops of equal range.",
    .args = {{"loops", TD_ARG_LOOP, TD_ARG_REST, "the loops, outermost or first one first", NULL}},
    .rewrite = "for i in 0..m: for j in 0..n: S  =>  for i_j in 0..m*n: S[i := i_j//n, j := i_j%n];"
               "  for i: S; for j: T  =>  for i: S; T[j := i]",
    .legal = "a nest, also with conditions on indices between the loops: always when its ranges do "
             "not depend on each other nor on what the body writes; a row: ranges provably equal "
             "and no dependence turned round, by what stands "
             "between them and moves either",
    .errors =
        "arguments units not-rectangular trip-unknown bound-written not-adjacent ranges break "
        "dependence reassociation not-decided",
    .example = "s:fuse(\"i\", \"j\")",
    .apply = apply,
};

/* reorder.c - reorder: the loops of a nest in another order; an imperfect nest is distributed
 * first. */
#include <string.h>

#include "analysis/order/faults.h"
#include "rewrite/accept.h"
#include "rewrite/loop/nest.h"

enum { LOOPS, REASSOCIATE };

typedef struct Reorder {
  TdRewrite *r;
  const TdUnit *unit;
  const TdStmt *
      *chain; /* all loops from the outermost named to the innermost named, outermost first */
  size_t n;
  size_t *order;                 /* chain index that each place gets */
  TD_VEC(const TdStmt *) guards; /* conditions between the loops, outermost first */
  TD_VEC(size_t) inside;         /* how many loops are around each guard */
} Reorder;

/* The loops from `top` down to `bottom`, or false when bottom is not inside top. */
static bool make_chain(Reorder *o, const TdStmt *top, const TdStmt *bottom) {
  TdPath p = td_edit_path(o->r->arena, top, bottom->uid);
  o->chain = TD_NEWN(o->r->arena, const TdStmt *, p.n);
  o->n = 0;
  for (size_t i = 0; i < p.n; i++)
    if (p.at[i]->kind == TD_STMT_FOR) o->chain[o->n++] = p.at[i];
  return p.n > 0;
}

/* Position of a loop in the chain, or n. */
static size_t chain_index(const Reorder *o, const TdStmt *loop) {
  for (size_t i = 0; i < o->n; i++)
    if (o->chain[i] == loop) return i;
  return o->n;
}

/* The named loops of one unit, and the chain that they lie in. */
static bool find_chain(Reorder *o, TdPlace *at, size_t n) {
  TdRewrite *r = o->r;
  for (size_t i = 0; i < n; i++) {
    if (!td_cursor_loop(r->arena, r->prog, r->arg[LOOPS].names[i], &at[i], r->diag)) return false;
    for (size_t k = 0; k < i; k++)
      if (at[k].stmt == at[i].stmt)
        return td_util_refuse(r, TD_USAGE, "arguments", at[i].stmt->loc, "'%s' is named twice",
                              at[i].stmt->sym->name);
  }
  o->unit = at[0].unit;
  for (size_t top = 0; top < n; top++)
    for (size_t bottom = 0; bottom < n; bottom++) {
      if (!make_chain(o, at[top].stmt, at[bottom].stmt)) continue;
      bool all = true;
      for (size_t i = 0; i < n; i++) all &= chain_index(o, at[i].stmt) < o->n;
      if (all) return true;
    }
  return td_util_refuse(r, TD_ILLEGAL, "not-a-nest", at[0].stmt->loc,
                        "the loops are not inside one another");
}

/* Places held by named loops get them in the order given; others stay. */
static void make_order(Reorder *o, const TdPlace *at, size_t n) {
  bool *named = TD_NEWN(o->r->arena, bool, o->n);
  o->order = TD_NEWN(o->r->arena, size_t, o->n);
  for (size_t i = 0; i < n; i++) named[chain_index(o, at[i].stmt)] = true;
  for (size_t place = 0, next = 0; place < o->n; place++)
    o->order[place] = named[place] ? chain_index(o, at[next++].stmt) : place;
}

/* The block around loop k + 1: the body of loop k, or what guards alone in it hold. Notes the
 * guards if `note`. */
static const TdStmt *block_of_next(Reorder *o, size_t k, bool note) {
  const TdStmt *b = td_for_body(o->chain[k]);
  while (b->nkid == 1 && td_util_is_guard(b->kid[0])) {
    if (note) td_vec_push(o->r->arena, &o->guards, b->kid[0]);
    if (note) td_vec_push(o->r->arena, &o->inside, k + 1);
    b = b->kid[0]->kid[0];
  }
  return b;
}

/* Whether loop k + 1 is all of the body of loop k, guards aside. */
static bool is_perfect(Reorder *o, size_t k) {
  const TdStmt *b = block_of_next(o, k, false);
  return b->nkid == 1 && b->kid[0] == o->chain[k + 1];
}

/* The statement of loop k's body that holds the next loop of the chain. */
static size_t position_of_next(const Reorder *o, size_t k) {
  const TdStmt *body = td_for_body(o->chain[k]);
  size_t at = 0;
  while (body->kid[at] != o->chain[k + 1]) at++;
  return at;
}

/* Whether some statement of b in [lo, hi) declares a name that those in [from, to) use. */
static const TdStmt *shared_local(TdRewrite *r, const TdStmt *b, size_t lo, size_t hi, size_t from,
                                  size_t to) {
  for (size_t i = lo; i < hi; i++) {
    const TdStmt *s = b->kid[i];
    bool declares = s->kind == TD_STMT_LOCAL || s->kind == TD_STMT_GET || s->kind == TD_STMT_SLOT;
    for (size_t k = from; declares && s->sym && k < to; k++)
      if (td_walk_uses(r->session->ctx, b->kid[k], s->sym)) return s;
  }
  return NULL;
}

/* s inside copies of the guards that alone are in b, a loop's body. */
static const TdStmt *copy_guards(const Reorder *o, TdSubst *u, const TdStmt *b, const TdStmt *s) {
  TdRewrite *r = o->r;
  if (b->nkid != 1 || !td_util_is_guard(b->kid[0])) return s;
  const TdStmt *g = b->kid[0];
  s = td_util_block1(r, copy_guards(o, u, g->kid[0], s));
  return td_stmt_if(r->store, td_subst_in_expr(u, g->expr[0]), s, NULL, g->loc);
}

/* A copy of the loops [0, k] of the chain, and the guards between them, around statements [lo, hi)
 * of loop k's body. */
static const TdStmt *copy_around(const Reorder *o, size_t k, size_t lo, size_t hi) {
  TdRewrite *r = o->r;
  TdSubst u = td_subst_new(r->store);
  TdSym *v = TD_NEWN(r->arena, TdSym, k + 1);
  for (size_t i = 0; i <= k; i++) {
    const char *name = td_util_name(r, o->unit, NULL, o->chain[i]->sym->name);
    v[i] = td_store_sym(r->store, name, TD_SYM_LOOP);
    td_subst_expr(&u, o->chain[i]->sym, td_util_var(r, v[i]));
  }
  const TdStmt *s = td_edit_slice(r->store, td_for_body(o->chain[k]), lo, hi);
  s = td_subst_in_stmt(&u, s);
  for (size_t i = k + 1; i-- > 0;) {
    const TdStmt *loop = o->chain[i];
    TdStmt *copy = (TdStmt *)(uintptr_t)td_util_reloop(
        r, loop, v[i], td_subst_in_expr(&u, td_for_lo(loop)), td_subst_in_expr(&u, td_for_hi(loop)),
        loop->step, i == k ? s : td_util_block1(r, copy_guards(o, &u, td_for_body(loop), s)));
    copy->origin = loop->uid;
    copy->uid = td_store_uid(r->store);
    s = copy;
  }
  return s;
}

typedef TD_VEC(const TdStmt *) Stmts;

/* Distributes the chain: what stands before and after the next loop gets loops of its own. Fills
 * before and after. */
static bool distribute(Reorder *o, Stmts *before, Stmts *after) {
  TdRewrite *r = o->r;
  TdArena *a = r->store->arena;
  for (size_t k = 0; k + 1 < o->n; k++) {
    if (is_perfect(o, k)) continue;
    const TdStmt *body = td_for_body(o->chain[k]), *shared;
    size_t at = position_of_next(o, k), n = body->nkid;
    shared = shared_local(r, body, 0, at, at, n);
    if (!shared) shared = shared_local(r, body, at, at + 1, at + 1, n);
    if (shared) {
      td_util_refuse(r, TD_ILLEGAL, "scope", o->chain[k]->loc,
                     "'%s' would have to be distributed over its body, but '%s' is declared in one "
                     "part and used in another",
                     o->chain[k]->sym->name, shared->sym->name);
      td_diag_help(r->diag, "declare '%s' outside the loop, or one for each iteration",
                   shared->sym->name);
      return false;
    }
    if (at > 0) td_vec_push(a, before, copy_around(o, k, 0, at));
    if (at + 1 < n) td_vec_push(a, after, copy_around(o, k, at + 1, n));
  }
  return true;
}

/* Whether a condition uses the variable of a loop in place `place`. */
static bool uses_place(const Reorder *o, const TdStmt *guard, size_t place) {
  return td_walk_uses_expr(guard->expr[0], o->chain[o->order[place]]->sym);
}

/* The place of the loop right below which guard i belongs: the innermost one whose variable it uses
 * (the first place for one that uses none). */
static size_t place_of_guard(const Reorder *o, size_t i) {
  size_t place = o->n - 1;
  while (place > 0 && !uses_place(o, o->guards.at[i], place)) place--;
  return place;
}

/* Refuses if e, part of the statement s, may fault where it would be evaluated from now on, in
 * place k, though one of the first `around` loops of the chain does not run, or a guard before
 * number `guards` does not hold: they were around it, and are not any more. */
static bool check_reached(const Reorder *o, const TdStmt *s, const TdExpr *e, size_t around,
                          size_t guards, size_t k) {
  TdRewrite *r = o->r;
  TdAsk q = td_util_ask(r, o->unit);
  const TdExpr *bad = td_faults_may(&q, o->chain[0], e);
  const TdStmt *gone = NULL;
  for (size_t p = k; bad && p < o->n; p++)
    if (o->order[p] < around && !td_range_runs(&q, o->chain[o->order[p]], false))
      gone = o->chain[o->order[p]];
  for (size_t i = 0; bad && i < guards; i++)
    if (o->inside.at[i] <= around && place_of_guard(o, i) >= k) gone = o->guards.at[i];
  if (!gone) return true;
  td_util_refuse(r, TD_ILLEGAL, "may-fault", s->loc,
                 "'%s' may fault, and would be evaluated also where line %u does not reach it",
                 td_print_expr_str(r->arena, bad), gone->loc.line);
  td_diag_note(r->diag, gone->loc, "what was around it and would be inside");
  td_diag_help(r->diag, "assume what keeps '%s' from it, or compute it before the loops",
               td_print_expr_str(r->arena, bad));
  return false;
}

/* Whether no bound and no guard that may fault is evaluated where it was not. */
static bool check_faults(const Reorder *o, const TdExpr *const *lo, const TdExpr *const *hi) {
  for (size_t k = 0; k < o->n; k++) {
    size_t c = o->order[k], guards = 0;
    while (guards < o->guards.n && o->inside.at[guards] <= c) guards++;
    if (!check_reached(o, o->chain[c], lo[k], c, guards, k) ||
        !check_reached(o, o->chain[c], hi[k], c, guards, k))
      return false;
  }
  for (size_t i = 0; i < o->guards.n; i++)
    if (!check_reached(o, o->guards.at[i], o->guards.at[i]->expr[0], o->inside.at[i], i,
                       place_of_guard(o, i) + 1))
      return false;
  return true;
}

/* s inside the guards that belong right below the loop in place k. */
static const TdStmt *add_guards(const Reorder *o, size_t k, const TdStmt *s) {
  for (size_t i = o->guards.n; i-- > 0;) {
    const TdStmt *g = o->guards.at[i];
    if (place_of_guard(o, i) == k)
      s = td_util_block1(o->r, td_stmt_with_kids(o->r->store, g, &s, 1));
  }
  return s;
}

/* The chain as a perfect nest in its new order around the innermost body. */
static const TdStmt *rebuild(Reorder *o) {
  TdRewrite *r = o->r;
  const TdExpr **lo = TD_NEWN(r->arena, const TdExpr *, o->n);
  const TdExpr **hi = TD_NEWN(r->arena, const TdExpr *, o->n);
  TdNestLoops nest = {o->chain, o->n};
  if (!td_nest_bounds(r, o->unit, nest, o->order, lo, hi)) return NULL;
  const TdStmt *s = td_for_body(o->chain[o->n - 1]);
  for (size_t k = 0; k + 1 < o->n; k++) block_of_next(o, k, true);
  if (!check_faults(o, lo, hi)) return NULL;
  for (size_t k = o->n; k-- > 0;) {
    const TdStmt *loop = o->chain[o->order[k]];
    s = td_util_reloop(r, loop, loop->sym, lo[k], hi[k], loop->step, add_guards(o, k, s));
    if (k) s = td_util_block1(r, s);
  }
  return s;
}

/* A loop between the named ones must not be left by break, nor hold anything but loops on the way
 * down. */
static bool check_chain(Reorder *o) {
  for (size_t k = 0; k < o->n; k++) {
    if (td_util_leaves_by_break(td_for_body(o->chain[k])))
      return td_util_refuse(o->r, TD_ILLEGAL, "break", o->chain[k]->loc, "'%s' is left by break",
                            o->chain[k]->sym->name);
    if (k + 1 == o->n) break;
    const TdStmt *body = td_for_body(o->chain[k]);
    bool direct = is_perfect(o, k);
    for (uint32_t i = 0; i < body->nkid; i++) direct |= body->kid[i] == o->chain[k + 1];
    if (!direct)
      return td_util_refuse(o->r, TD_ILLEGAL, "not-a-nest", o->chain[k + 1]->loc,
                            "'%s' is inside a condition or while, so it cannot change places with "
                            "'%s'",
                            o->chain[k + 1]->sym->name, o->chain[k]->sym->name);
  }
  return true;
}

static const TdProg *apply(TdRewrite *r) {
  size_t n = r->arg[LOOPS].n;
  TdLoc none = {0};
  if (n < 2)
    return td_util_refuse(r, TD_USAGE, "arguments", none, "reorder takes two loops or more");
  Reorder o = {.r = r};
  TdPlace *at = TD_NEWN(r->arena, TdPlace, n);
  if (!find_chain(&o, at, n) || !check_chain(&o)) return NULL;
  make_order(&o, at, n);
  Stmts all = {0}, after = {0};
  if (!distribute(&o, &all, &after)) return NULL;
  const TdStmt *nest = rebuild(&o);
  if (!nest) return NULL;
  td_vec_push(r->store->arena, &all, nest);
  for (size_t i = after.n; i-- > 0;) td_vec_push(r->store->arena, &all, after.at[i]);
  const TdStmt *old = td_util_block1(r, o.chain[0]);
  const TdStmt *now = td_stmt_block(r->store, all.at, all.n, nest->loc);
  TdAsk q = td_util_ask(r, o.unit);
  TdVerdict v = td_deps_order(&q, old, now, NULL, 0);
  bool reassociate = r->arg[REASSOCIATE].given && r->arg[REASSOCIATE].integer;
  const char *what = td_text_fmt(r->arena, "the order %s outside %s",
                                 o.chain[o.order[0]]->sym->name, o.chain[o.order[1]]->sym->name);
  const TdProg *p = td_util_with_stmts(r, o.unit, o.chain[0]->uid, all.at, all.n);
  return td_accept_rewrite(r, &v, reassociate, o.chain[0]->loc, what, p) ? p : NULL;
}

const TdPrim td_prim_reorder = {
    .name = "reorder",
    .on = "loop",
    .summary = "Put the loops of a nest in another order.",
    .args = {{"loops", TD_ARG_LOOP, TD_ARG_REST,
              "the loops, outermost first, in the places they hold", NULL},
             {"reassociate", TD_ARG_FLAG, TD_ARG_OPTION, "accept another order of an accumulation",
              NULL}},
    .rewrite = "for i: for j: S  =>  for j: for i: S",
    .legal = "no dependence is turned round; statements beside an inner loop get loops of their "
             "own first, if no local ties them to it",
    .errors =
        "arguments not-a-nest scope bounds break may-fault dependence reassociation not-decided",
    .example = "s:reorder(\"k\", \"j\")",
    .apply = apply,
};

/* inject.c - inject: a kernel of a library takes the place of a loop nest that computes the
 * same. */
#include <string.h>

#include "analysis/order/apart.h"
#include "analysis/range/assume.h"
#include "analysis/range/bounds.h"
#include "rewrite/kernel/inject.h"
#include "rewrite/take.h"

enum { LOOP, KERNEL, REASSOCIATE };

/* p with the units of the library, so far as it has not got them, before unit u, which may not be
 * one of them; `sub` is told what became of those that it has. */
static const TdProg *add_library(TdRewrite *r, const TdProg *p, const TdContract *lib, TdSym u,
                                 TdSubst *sub) {
  for (size_t i = 0; i < lib->prog->nunit; i++) {
    const TdUnit *x = lib->prog->unit[i], *same = td_prog_find(p, x->sym->name);
    if (!same) {
      p = td_prog_insert(p, td_subst_in_unit(sub, x), u);
      continue;
    }
    if (!td_equal_unit(r->session->ctx, same, x)) {
      td_util_refuse(r, TD_USAGE, "name", x->loc, "another kernel is called '%s' here",
                     x->sym->name);
      td_diag_help(r->diag, "give one of them another name: name = \"..\"");
      return NULL;
    }
    if (same->sym == u) {
      td_util_refuse(r, TD_ILLEGAL, "recursion", x->loc,
                     "'%s' would call itself: its nest is in it", u->name);
      td_diag_help(r->diag, "inject it where '%s' is called, or under another name", u->name);
      return NULL;
    }
    td_subst_sym(sub, x->sym, same->sym);
  }
  return p;
}

/* The call in the place of the nest. */
static const TdStmt *make_call(const TdInject *j) {
  TdRewrite *r = j->r;
  TdSym *sym = TD_NEWN(r->arena, TdSym, j->ntile);
  const TdExpr *const **lo = TD_NEWN(r->arena, const TdExpr *const *, j->ntile);
  const TdExpr **scalar = TD_NEWN(r->arena, const TdExpr *, j->lib->n);
  for (size_t i = 0; i < j->ntile; i++) {
    sym[i] = j->tile[i].sym;
    lo[i] = j->tile[i].box.lo;
  }
  for (size_t i = 0; i < j->lib->n; i++)
    if (j->lib->at[i].type->kind != TD_T_TENSOR) scalar[i] = j->lifted.arg[j->scalar[i]];
  TdInjectPlace at = {j->unit, sym, lo, scalar};
  return td_inject_call(j, &at);
}

/* Notes what was taken for what, and at what cost. */
static void note(const TdInject *j) {
  const TdAttr *cost = td_attrs_get(j->lib->unit->attrs, TD_ATTR_COST);
  TdRewrite *r = j->r;
  for (size_t i = 0; i < j->lib->n; i++)
    if (j->lib->at[i].type->kind == TD_T_TENSOR)
      td_util_note(r, "'%s' is '%s'", j->lib->at[i].param->sym->name,
                   j->tile[j->given[i].tile].sym->name);
  if (cost)
    td_util_note(r, "'%s': interval %lld, latency %lld", j->lib->unit->sym->name,
                 (long long)cost->arg[0].i, (long long)cost->arg[1].i);
}

/* Whether the tiles that the call and its copies touch lie in their arrays, which boxes around what
 * a nest touches need not. Where they do at the values of the sizes alone, *p assumes those. */
static bool check_tiles(const TdInject *j, const TdProg **p, const TdStmt *call) {
  TdRewrite *r = j->r;
  const TdUnit *u = td_prog_unit(*p, j->unit->sym);
  TdAsk q = td_util_ask(r, u);
  const TdBoundsItem *item;
  size_t n;
  bool exact = true, at_values = false;
  for (size_t i = 0; i < j->ntile; i++) exact &= j->tile[i].box.exact;
  if (exact) return true;
  q.prog = *p;
  TdDiag quiet = {.arena = r->arena};
  bool inside = td_bounds_check(&q, &item, &n, &quiet);
  for (size_t i = 0; inside && i < n; i++) {
    if (!td_edit_find(r->session->ctx, call, item[i].stmt->uid)) continue;
    inside = item[i].kind == TD_BOUNDS_AT_VALUES;
    at_values = true;
  }
  if (inside && at_values) *p = td_prog_with(*p, td_util_assume_sizes(r, u, u));
  if (!inside)
    td_util_refuse(r, TD_ILLEGAL, "operands", j->nest->loc,
                   "the box around what the nest touches may stick out of the array");
  return inside;
}

/* A statement among which a kernel is called. */
typedef struct Called {
  TdSym sym;
  const TdStmt *call;
} Called;

static bool look_call(void *ud, const TdStmt *s) {
  Called *c = ud;
  if (s->kind == TD_STMT_CALL && s->sym == c->sym) c->call = s;
  return !c->call;
}

/* Whether what the kernel assumes of its scalars is known where it is called: the nest assumed
 * nothing. Where it is at the values of the sizes alone, *p assumes those. */
static bool check_assumed(const TdInject *j, const TdProg **p, const TdStmt *call, TdSym lib) {
  TdRewrite *r = j->r;
  const TdUnit *u = td_prog_unit(*p, lib), *caller = td_prog_unit(*p, j->unit->sym);
  Called c = {lib, NULL};
  TdAsk q = td_util_ask(r, caller);
  bool at_values = false;
  td_walk_stmt(r->session->ctx, call, look_call, &c);
  q.prog = *p;
  const TdApart *open;
  if (c.call && td_apart_open(&q, c.call, &open)) {
    td_util_refuse(r, TD_ILLEGAL, "overlap", j->nest->loc, "what the nest touches may overlap: %s",
                   open->what);
    return false;
  }
  if (u->foreign && u->foreign->model) u = td_prog_unit(*p, u->foreign->model);
  for (size_t i = 0; c.call && i < u->nassert; i++) {
    bool always = td_assume_holds(&q, u, i, c.call, false);
    at_values |= !always;
    if (always || td_assume_holds(&q, u, i, c.call, true)) continue;
    td_util_refuse(r, TD_ILLEGAL, "assume", j->nest->loc, "%s, which is not known here",
                   td_unit_assumes(r->arena, u, i));
    td_diag_note(r->diag, u->assert_[i]->loc, "assumed here");
    td_diag_help(r->diag, "assume it of '%s', or put the nest under a condition",
                 j->unit->sym->name);
    return false;
  }
  if (at_values) *p = td_prog_with(*p, td_util_assume_sizes(r, caller, caller));
  return true;
}

static bool is_no_copy(void *ud, const TdStmt *s) {
  return s->kind != TD_STMT_STORE || s->expr[1]->kind != TD_EXPR_LOAD || s->expr[1]->sym != ud;
}

/* Whether the nest reads each element of a tile before it may write it; *at_values is set where
 * that holds at the values of sizes. */
static bool is_read_first(const TdInject *j, const TdTile *t, bool *at_values) {
  TdAsk q = td_util_ask(j->r, j->unit);
  TdMoved load, store;
  bool all =
      td_footprint_moves(&q, j->nest, t->sym, t->type, &load, &store) && load.any && load.read;
  for (int d = 0; all && d < t->box.rank; d++) {
    int64_t n, to, from;
    if (!td_lin_diff(j->r->session, load.to[d], load.from[d], &n)) {
      all = td_unit_value(j->unit, load.to[d], &to) && td_unit_value(j->unit, load.from[d], &from);
      *at_values = true;
      n = all ? to - from : 0;
    }
    all = all && n == t->extent[d];
  }
  return all;
}

/* Whether what is copied for the call has been written: it is an argument of the program, or read
 * by the nest too. */
static bool check_copies(const TdInject *j, const TdProg **p, const TdStmt *call) {
  TdRewrite *r = j->r;
  bool at_values = false;
  bool root = j->unit->sym == td_prog_root(r->prog)->sym;
  for (size_t i = 0; i < j->ntile; i++) {
    const TdTile *t = &j->tile[i];
    bool copied = !td_walk_stmt(r->session->ctx, call, is_no_copy, (void *)(uintptr_t)t->sym);
    if (!copied || (root && td_unit_param(j->unit, t->sym)) || is_read_first(j, t, &at_values))
      continue;
    td_util_refuse(r, TD_ILLEGAL, "operands", j->nest->loc,
                   "'%s' may hold elements that were never written, which would be copied for '%s'",
                   t->sym->name, j->lib->unit->sym->name);
    return false;
  }
  const TdUnit *caller = td_prog_unit(*p, j->unit->sym);
  if (at_values) *p = td_prog_with(*p, td_util_assume_sizes(r, caller, caller));
  return true;
}

/* The call in the place of the nest as it is. */
static const TdProg *replace(TdRewrite *r, const TdContract *lib, const TdPlace *at) {
  TdInject j;
  if (!td_inject_find(&j, r, lib, at->unit, at->stmt)) return NULL;
  j.reassociate = r->arg[REASSOCIATE].given && r->arg[REASSOCIATE].integer;
  if (!td_inject_match(&j)) return NULL;
  TdSubst sub = td_subst_new(r->store);
  const TdProg *p = add_library(r, r->prog, lib, at->unit->sym, &sub);
  if (!p) return NULL;
  const TdStmt *call = td_subst_in_stmt(&sub, make_call(&j));
  const TdStmt *body =
      td_edit_replace(r->store, j.unit->body, at->stmt->uid, call->kid, call->nkid);
  p = td_prog_with(p, td_lift_tidy(r, td_unit_with_body(r->store, j.unit, body)));
  if (!check_tiles(&j, &p, call) || !check_copies(&j, &p, call)) return NULL;
  TdSym called = td_map_getp(&sub.sym, lib->unit->sym);
  if (!check_assumed(&j, &p, call, called ? called : lib->unit->sym)) return NULL;
  note(&j);
  td_util_made(r, lib->unit->sym->name);
  for (uint32_t i = 0; i < call->nkid; i++)
    if (call->kid[i]->kind == TD_STMT_LOCAL) td_util_made(r, call->kid[i]->sym->name);
  return td_lift_in_order(r, p);
}

/* The kernel in the place of the nest, or of tiles of it. */
static const TdProg *put(TdRewrite *r, const TdContract *lib, const TdPlace *at, TdDiag *d) {
  TdDiag *diag = r->diag, whole = {.arena = r->arena}, tiled = {.arena = r->arena};
  r->diag = &whole;
  const TdProg *p = replace(r, lib, at);
  r->diag = &tiled;
  if (!p) p = td_inject_tiled(r, lib, at->unit, at->stmt);
  r->diag = diag;
  if (!p) *d = td_diag_failed(&tiled) ? tiled : whole;
  return p;
}

/* Puts the values of sizes, which are assumed then, into the nest: quotients of them are extents
 * that no box tells. False: the nest has none. */
static bool fix_sizes(TdRewrite *r, TdPlace *at) {
  const TdUnit *u = at->unit;
  TdSubst sub = td_subst_new(r->store);
  for (size_t i = 0; i < u->nsize; i++)
    if (u->size[i].known) td_subst_size(&sub, u->size[i].name, td_util_const(r, u->size[i].value));
  const TdStmt *nest = td_subst_in_stmt(&sub, at->stmt);
  if (nest == at->stmt) return false;
  const TdStmt *body = td_edit_replace(r->store, u->body, at->stmt->uid, &nest, 1);
  TdUnit part = *td_unit_with_body(r->store, u, at->stmt);
  part.nparam = part.nassert = 0;
  at->unit = td_util_assume_sizes(r, td_unit_with_body(r->store, u, body), &part);
  at->stmt = td_edit_find(r->session->ctx, at->unit->body, nest->uid);
  r->prog = td_prog_with(r->prog, at->unit);
  return true;
}

static const TdProg *apply(TdRewrite *r) {
  TdPlace at;
  TdContract lib;
  TdDiag why = {.arena = r->arena}, fixed = {.arena = r->arena};
  if (!td_util_loop(r, LOOP, &at) || !td_contract_read(&lib, r, r->arg[KERNEL].prog)) return NULL;
  const TdProg *p = put(r, &lib, &at, &why);
  if (p || strcmp(why.code, "operands") != 0 || !fix_sizes(r, &at)) {
    if (!p) *r->diag = why;
    return p;
  }
  p = put(r, &lib, &at, &fixed);
  if (!p) *r->diag = fixed;
  return p;
}

const TdPrim td_prim_inject = {
    .name = "inject",
    .on = "loop",
    .summary = "Let a kernel of a library take the place of a loop nest that computes the same.",
    .args = {{"loop", TD_ARG_LOOP, TD_ARG_NEEDED, "the outermost loop of the nest", NULL},
             {"kernel", TD_ARG_KERNEL, TD_ARG_NEEDED,
              "a kernel, or a foreign function with a model", NULL},
             {"reassociate", TD_ARG_FLAG, TD_ARG_OPTION,
              "accept a kernel that makes sums and products in another order", NULL}},
    .rewrite = "for i, j, k: C[x + i][y + j] += A[x + i][k] * B[k][y + j]  =>  "
               "mm(A:slice({x, x + 8}, {}), B:slice({}, {y, y + 8}), C:slice(..))",
    .legal = "each array of the nest is an operand of the kernel, tile by tile of equal shape; the "
             "kernel (the model of a foreign one), with copies into the orders that it takes, is "
             "proved to compute what the nest does. A perfect nest over more is first split into "
             "tiles, whose sizes divide it",
    .errors = "shape type layout width operands differs not-decided no-model name scalar return "
              "break state recursion assume",
    .example = "s:inject(\"i\", gemm:as(\"tile\"):at({M = 4, N = 4, K = 8}))",
    .apply = apply,
};

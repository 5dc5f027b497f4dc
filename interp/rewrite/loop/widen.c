/* widen.c - widen: a loop whose range depends on loops around it gets the range of all its
 * iterations (Fourier-Motzkin), with its body under a condition. */
#include "rewrite/copied.h"
#include "rewrite/loop/nest.h"

enum { LOOP };

/* What a widen is about. */
typedef struct Widen {
  TdRewrite *r;
  const TdUnit *unit;
  const TdStmt *loop;
  TdNestLoops nest; /* from the outermost loop that the range depends on to the loop itself */
} Widen;

static bool uses(const TdStmt *loop, TdSym v) {
  return td_walk_uses_expr(td_for_lo(loop), v) || td_walk_uses_expr(td_for_hi(loop), v);
}

/* Finds the nest; n is 1 if the range depends on no loop. */
static void find_nest(Widen *w) {
  TdArena *a = w->r->arena;
  TdPath p = td_edit_path(a, w->unit->body, w->loop->uid);
  const TdStmt *const *around;
  size_t n = td_edit_loops(a, p, &around), first = n;
  const TdStmt **chain = TD_NEWN(a, const TdStmt *, n + 1);
  for (size_t i = 0; i < n; i++) chain[i] = around[i];
  chain[n] = w->loop;
  for (size_t i = n; i-- > 0;)
    for (size_t k = n + 1; k-- > first;)
      if (uses(chain[k], chain[i]->sym)) first = i;
  w->nest = (TdNestLoops){chain + first, n + 1 - first};
}

static bool check(Widen *w) {
  TdRewrite *r = w->r;
  const char *name = w->loop->sym->name;
  if (w->loop->step != 1)
    return td_util_refuse(r, TD_UNSUPPORTED, "step", w->loop->loc, "'%s' goes in steps of %lld",
                          name, (long long)w->loop->step);
  find_nest(w);
  if (w->nest.n == 1)
    return td_util_refuse(r, TD_ILLEGAL, "ranges", w->loop->loc,
                          "the range of '%s' depends on no loop around it", name);
  for (size_t i = 0; i < w->nest.n; i++)
    if (!td_copied_bounds(r, w->unit, w->nest.loop[i], true)) return false;
  return true;
}

/* The condition that v is inside a bound, or NULL: one test for each part that varies. */
static const TdExpr *inside(const Widen *w, const TdExpr *cond, const TdExpr *bound, TdOp of) {
  TdRewrite *r = w->r;
  TdArena *a = r->store->arena;
  const TdType *b = td_type_bool(r->session);
  TdParts parts = td_util_parts(r, bound, of);
  for (size_t i = 0; i < parts.n; i++) {
    if (!td_util_varies(parts.at[i])) continue;
    const TdExpr *v = td_util_var(r, w->loop->sym), *x = td_util_written_out(a, parts.at[i]);
    const TdExpr *test =
        of == TD_OP_MAX ? td_expr_op2(a, TD_OP_LE, b, x, v) : td_expr_op2(a, TD_OP_LT, b, v, x);
    cond = cond ? td_expr_op2(a, TD_OP_AND, b, cond, test) : test;
  }
  return cond;
}

static const TdProg *apply(TdRewrite *r) {
  TdPlace at;
  if (!td_util_loop(r, LOOP, &at)) return NULL;
  Widen w = {.r = r, .unit = at.unit, .loop = at.stmt};
  if (!check(&w)) return NULL;
  size_t n = w.nest.n, *order = TD_NEWN(r->arena, size_t, n);
  const TdExpr **lo = TD_NEWN(r->arena, const TdExpr *, n);
  const TdExpr **hi = TD_NEWN(r->arena, const TdExpr *, n);
  for (size_t i = 0; i < n; i++) order[i] = i ? i - 1 : n - 1;
  if (!td_nest_bounds(r, w.unit, w.nest, order, lo, hi)) return NULL;
  const TdExpr *cond = inside(&w, NULL, td_for_lo(w.loop), TD_OP_MAX);
  cond = inside(&w, cond, td_for_hi(w.loop), TD_OP_MIN);
  const TdStmt *body = td_for_body(w.loop);
  if (cond) body = td_util_block1(r, td_stmt_if(r->store, cond, body, NULL, w.loop->loc));
  const TdStmt *now = td_util_reloop(r, w.loop, w.loop->sym, lo[0], hi[0], 1, body);
  return td_util_with_stmt(r, w.unit, w.loop->uid, now);
}

const TdPrim td_prim_widen = {
    .name = "widen",
    .on = "loop",
    .summary =
        "Give a loop whose range depends on loops around it the range of all its iterations.",
    .args = {{"loop", TD_ARG_LOOP, TD_ARG_NEEDED, "the loop", NULL}},
    .rewrite = "for k in 0..n: for i in k..n: S  =>  for k in 0..n: for i in 0..n: if k <= i: S",
    .legal = "always, where ranges are affine from the outermost loop on that the loop's range "
             "depends on, and bodies do not write what bounds their loops",
    .errors = "ranges step bounds bound-written",
    .example = "s:skew(\"i\", \"j\", 1); s:widen(\"j\")",
    .apply = apply,
};

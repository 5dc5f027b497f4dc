/* steady.c - what the bounds of a loop read, and whether its body writes it. */
#include "rewrite/steady.h"

typedef struct BoundReads {
  const TdEffect *effect;
  size_t n;
  const TdExpr *written;
} BoundReads;

static bool look_written(void *ud, const TdExpr *e) {
  BoundReads *b = ud;
  const TdEffect *f = e->kind == TD_EXPR_LOAD ? td_effects_find(b->effect, b->n, e->sym) : NULL;
  if (f && f->write) b->written = e;
  return !b->written;
}

bool td_steady_bounds(TdRewrite *r, const TdUnit *u, const TdStmt *loop) {
  TdAsk q = td_util_ask(r, u);
  BoundReads b = {0};
  b.n = td_effects_of(&q, td_for_body(loop), &b.effect);
  td_walk_expr(td_for_lo(loop), look_written, &b);
  td_walk_expr(td_for_hi(loop), look_written, &b);
  if (!b.written) return true;
  td_util_refuse(r, TD_UNSUPPORTED, "bound-written", loop->loc,
                 "the body writes '%s', which the bounds of '%s' read", b.written->sym->name,
                 loop->sym->name);
  td_diag_help(r->diag, "hold the bound in a local before the loop");
  return false;
}

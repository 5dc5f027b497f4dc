/* parallel.c - parallel: iterations run side by side. */
#include "analysis/order/proofs.h"
#include "rewrite/loop/private.h"

enum { LOOP };

/* Whether the loop of unit u may be parallel; else d says why not. */
static bool is_parallel(const TdRewrite *r, const TdUnit *u, const TdStmt *loop, TdDiag *d) {
  TdAsk q = td_util_ask(r, u);
  return td_proofs_parallel(&q, loop, d);
}

static const TdProg *apply(TdRewrite *r) {
  TdPlace at;
  if (!td_util_loop(r, LOOP, &at)) return NULL;
  const TdStmt *loop = at.stmt;
  const TdUnit *u = at.unit;
  TdDiag quiet = {.arena = r->arena};
  if (!is_parallel(r, u, loop, &quiet)) {
    u = td_private_locals(r, at.unit, loop->uid);
    loop = td_edit_find(r->session->ctx, u->body, loop->uid);
    if (!is_parallel(r, u, loop, r->diag)) return NULL;
  }
  loop = td_util_mark(r, loop, (TdAttr){.kind = TD_ATTR_PARALLEL});
  return td_util_with_stmt(r, u, loop->uid, loop);
}

const TdPrim td_prim_parallel = {
    .name = "parallel",
    .on = "loop",
    .summary = "Run the iterations of the loop side by side.",
    .args = {{"loop", TD_ARG_LOOP, TD_ARG_NEEDED, "the loop", NULL}},
    .rewrite = "for i: S  =>  for i: S  --@ parallel",
    .legal =
        "no iteration reads or writes what another one writes; a local of which each iteration "
        "reads only what it has written becomes its own; none puts to or gets from a stream",
    .errors = "dependence not-decided stream",
    .example = "s:parallel(\"i\")",
    .apply = apply,
};

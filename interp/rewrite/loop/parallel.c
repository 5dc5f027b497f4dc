/* parallel.c - parallel: iterations run side by side. */
#include "rewrite/loop/private.h"

enum { LOOP };

/* What the loop of unit u carries; an accumulation is carried. */
static TdVerdict carried(const TdRewrite *r, const TdUnit *u, const TdStmt *loop) {
  TdAsk q = td_util_ask(r, u);
  TdVerdict v = td_loop_carried_loop(&q, loop);
  if (v.kind == TD_VERDICT_REASSOC) {
    v.kind = TD_VERDICT_ILLEGAL;
    v.exact = true;
  }
  return v;
}

static const TdProg *apply(TdRewrite *r) {
  TdPlace at;
  if (!td_util_loop(r, LOOP, &at)) return NULL;
  const TdStmt *loop = at.stmt;
  const TdUnit *u = at.unit;
  TdVerdict v = carried(r, u, loop);
  if (v.kind != TD_VERDICT_LEGAL) {
    u = td_private_locals(r, at.unit, loop->uid);
    loop = td_edit_find(r->session->ctx, u->body, loop->uid);
    if (u != at.unit) v = carried(r, u, loop);
  }
  const char *what = td_text_fmt(r->arena, "running '%s' in parallel", loop->sym->name);
  if (!td_verdict_accept(&v, false, r->diag, loop->loc, what)) return NULL;
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
        "reads only what it has written becomes its own",
    .errors = "dependence not-decided",
    .example = "s:parallel(\"i\")",
    .apply = apply,
};

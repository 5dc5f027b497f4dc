/* loop_parallel.c - parallel: iterations run side by side. */
#include "rewrite/util.h"

enum { LOOP };

static const TdProg *apply(TdRewrite *r) {
  TdPlace at;
  if (!td_util_loop(r, LOOP, &at)) return NULL;
  TdAsk q = td_util_ask(r, at.unit);
  TdVerdict v = td_carry_loop(&q, at.stmt);
  if (v.kind == TD_VERDICT_REASSOC) {
    v.kind = TD_VERDICT_ILLEGAL;
    v.exact = true;
  }
  const char *what = td_text_fmt(r->arena, "running '%s' in parallel", at.stmt->sym->name);
  if (!td_verdict_accept(&v, false, r->diag, at.stmt->loc, what)) return NULL;
  const TdStmt *loop = td_util_mark(r, at.stmt, (TdAttr){.kind = TD_ATTR_PARALLEL});
  return td_util_with_stmt(r, at.unit, at.stmt->uid, loop);
}

const TdPrim td_prim_loop_parallel = {
    .name = "parallel",
    .on = "loop",
    .summary = "Run the iterations of the loop side by side.",
    .args = {{"loop", TD_ARG_LOOP, TD_ARG_NEEDED, "the loop", NULL}},
    .rewrite = "for i: S  =>  for i: S  --@ parallel",
    .legal = "no iteration reads or writes what another one writes",
    .errors = "dependence not-decided",
    .example = "s:parallel(\"i\")",
    .apply = apply,
};

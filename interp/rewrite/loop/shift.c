/* shift.c - shift: the range of a loop moves by a number. */
#include "rewrite/loop/moved.h"

enum { LOOP, AMOUNT };

static const TdProg *apply(TdRewrite *r) {
  TdPlace at;
  int64_t n;
  if (!td_util_loop(r, LOOP, &at) || !td_moved_amount(r, AMOUNT, at.stmt->loc, &n)) return NULL;
  const TdStmt *loop = td_moved_loop(r, at.stmt, td_util_const(r, n));
  return td_util_with_stmt(r, at.unit, at.stmt->uid, loop);
}

const TdPrim td_prim_shift = {
    .name = "shift",
    .on = "loop",
    .summary = "Move the range of a loop by a number.",
    .args = {{"loop", TD_ARG_LOOP, TD_ARG_NEEDED, "the loop", NULL},
             {"n", TD_ARG_INT, TD_ARG_NEEDED, "how far: added to both ends", NULL}},
    .rewrite = "for i in a..b: S  =>  for i in a+n..b+n: S[i := i-n]",
    .legal = "always",
    .errors = "amount",
    .example = "s:shift(\"k\", 1)",
    .apply = apply,
};

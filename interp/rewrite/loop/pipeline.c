/* pipeline.c - pipeline: iterations of a loop overlap, one starting every ii cycles. */
#include "rewrite/util.h"

enum { LOOP, II, REWIND };

static const TdProg *apply(TdRewrite *r) {
  TdPlace at;
  if (!td_util_loop(r, LOOP, &at)) return NULL;
  int64_t ii = r->arg[II].given ? r->arg[II].integer : 1;
  if (ii < 1)
    return td_util_refuse(r, TD_USAGE, "ii", at.stmt->loc,
                          "the initiation interval must be at least 1, not %lld", (long long)ii);
  const TdStmt *loop =
      td_util_mark(r, at.stmt, (TdAttr){.kind = TD_ATTR_PIPELINE, .arg = {{.i = ii}}});
  loop = td_stmt_with_attrs(r->store, loop,
                            td_attrs_drop(r->store->arena, loop->attrs, TD_ATTR_REWIND));
  if (r->arg[REWIND].given && r->arg[REWIND].integer)
    loop = td_util_mark(r, loop, (TdAttr){.kind = TD_ATTR_REWIND});
  return td_util_with_stmt(r, at.unit, at.stmt->uid, loop);
}

const TdPrim td_prim_pipeline = {
    .name = "pipeline",
    .on = "loop",
    .summary = "Start an iteration of the loop every ii cycles.",
    .args = {{"loop", TD_ARG_LOOP, TD_ARG_NEEDED, "the loop", NULL},
             {"ii", TD_ARG_INT, TD_ARG_OPTIONAL, "cycles between starts, default 1", NULL},
             {"rewind", TD_ARG_FLAG, TD_ARG_OPTION, "restart without draining", NULL}},
    .rewrite = "for i: S  =>  for i: S  --@ pipeline(ii)",
    .legal = "always: an attribute changes no value",
    .errors = "ii",
    .example = "s:pipeline(\"k\")",
    .apply = apply,
};

/* outline.c - outline: a loop nest becomes a kernel of its own, called in its place. */
#include "rewrite/kernel/lift.h"

enum { LOOP, NAME };

static const TdProg *apply(TdRewrite *r) {
  TdPlace at;
  TdLifted l;
  if (!td_util_loop(r, LOOP, &at)) return NULL;
  const char *name = r->arg[NAME].text;
  if (!td_edit_name_fits(r->prog, name) || td_edit_name_hidden(r->prog, at.unit, name))
    return td_util_refuse(r, TD_USAGE, "name", at.stmt->loc, "'%s' cannot name a kernel here",
                          name);
  if (!td_lift(r, at.unit, &at.stmt, 1, name, &l)) return NULL;
  const TdStmt *call = td_stmt_call(r->store, l.unit->sym, l.arg, l.unit->nparam, at.stmt->loc);
  const TdStmt *body = td_edit_replace(r->store, at.unit->body, at.stmt->uid, &call, 1);
  const TdUnit *caller = td_lift_tidy(r, td_unit_with_body(r->store, at.unit, body));
  const TdProg *p = td_prog_insert(r->prog, l.unit, at.unit->sym);
  td_util_made(r, l.unit->sym->name);
  return td_lift_in_order(r, td_prog_with(p, caller));
}

const TdPrim td_prim_outline = {
    .name = "outline",
    .on = "loop",
    .summary = "Make a loop nest a kernel of its own, called in its place.",
    .args = {{"loop", TD_ARG_LOOP, TD_ARG_NEEDED, "the outermost loop of the nest", NULL},
             {"name", TD_ARG_NAME, TD_ARG_NEEDED, "name of the kernel", NULL}},
    .rewrite = "for i: S(A, x)  =>  f(A, x)  with  f = kernel(A, x): for i: S(A, x)",
    .legal =
        "the nest assigns no scalar that is declared outside it (it may write tensors), does "
        "not return, shares no state, also of what it calls, with other statements, and uses one "
        "end of a stream",
    .errors = "name scalar return break state stream",
    .example = "s:outline(\"k\", \"dot\")",
    .apply = apply,
};

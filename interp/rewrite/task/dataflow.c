/* dataflow.c - dataflow: the stages of a kernel, or of a loop's body, become tasks. */
#include "rewrite/task/stages.h"

#include "ir/text/printer.h"

enum { NAME };

/* Finds what to take apart: the root, a kernel, or a loop. */
static bool find(TdRewrite *r, TdStages *s) {
  TdPlace at;
  TdDiag quiet = {.arena = r->arena};
  s->unit = td_prog_root(r->prog);
  if (!r->arg[NAME].given) return true;
  if (td_cursor_unit(r->arena, r->prog, r->arg[NAME].text, &s->unit, &quiet)) return true;
  if (!td_cursor_loop(r->arena, r->prog, r->arg[NAME].text, &at, r->diag)) return false;
  s->unit = at.unit;
  s->loop = at.stmt;
  return true;
}

static bool is_data(void *ud, const TdExpr *e) {
  (void)ud;
  return e->kind != TD_EXPR_LOAD;
}

/* Whether each stage can run the loop for itself. */
static bool check_loop(TdRewrite *r, const TdStmt *loop) {
  bool fixed =
      td_walk_expr(td_for_lo(loop), is_data, NULL) && td_walk_expr(td_for_hi(loop), is_data, NULL);
  if (fixed && !td_util_leaves_by_break(td_for_body(loop))) return true;
  td_util_refuse(r, TD_ILLEGAL, "trip-unknown", loop->loc, "data decides how often '%s' runs",
                 loop->sym->name);
  return false;
}

static const TdProg *apply(TdRewrite *r) {
  TdStages s = {.r = r};
  if (!find(r, &s)) return NULL;
  if (s.unit->kind == TD_UNIT_DESIGN) {
    td_util_note(r, "'%s' is a design already", s.unit->sym->name);
    return r->prog;
  }
  if (s.unit->kind != TD_UNIT_KERNEL)
    return td_util_refuse(r, TD_USAGE, "not-a-kernel", s.unit->loc, "'%s' has no statements",
                          s.unit->sym->name);
  if (s.loop && !check_loop(r, s.loop)) return NULL;
  s.block = s.loop ? td_for_body(s.loop) : s.unit->body;
  s.lo = s.loop ? 0 : td_stmt_preamble(s.block);
  s.hi = s.block->nkid;
  return td_stages_put(&s);
}

const TdPrim td_prim_dataflow = {
    .name = "dataflow",
    .on = "kernel",
    .summary = "Run the stages of a kernel at the same time, as tasks.",
    .args = {{"name", TD_ARG_UNIT, TD_ARG_OPTIONAL, "a kernel, or a loop whose body has the stages",
              "kernel|loop"}},
    .rewrite = "local t = T(); f(a, t); g(t, b)  =>  task f: slot t; f(a, t); put t  |  "
               "task g: get t; g(t, b)",
    .legal = "each local tensor is written by one stage, before those that read it; what comes "
             "from outside and is written by one stage is used by no other; no scalar is shared. "
             "In a loop that leaves no dependence from a stage to an earlier one",
    .errors = "not-a-kernel stages shared scalar trip-unknown return break state stream deadlock",
    .example = "s:outline(\"i\", \"mac\"); s:dataflow()",
    .apply = apply,
};

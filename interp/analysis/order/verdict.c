/* verdict.c - collecting broken orders, and refusing in words. */
#include "analysis/order/verdict.h"

void td_verdict_unknown(TdVerdict *v, const char *why) {
  if (v->kind >= TD_VERDICT_UNKNOWN) return;
  v->kind = TD_VERDICT_UNKNOWN;
  v->why = why;
}

/* Whether both accesses of c are accumulations under one operator. */
static bool is_accumulation(const TdConflict *c) {
  return c->a->reduction && c->b->reduction && c->x.was->reduce == c->y.was->reduce;
}

/* Notes an exchange of accumulations. */
static void note_reassociation(TdVerdict *v, TdConflict *c, bool ring) {
  if (v->kind == TD_VERDICT_REASSOC) {
    v->ring &= ring;
    return;
  }
  if (v->kind != TD_VERDICT_LEGAL || td_conflict_witness(c, &v->witness, &v->sizes) != TD_YES)
    return;
  v->kind = TD_VERDICT_REASSOC;
  v->op = c->x.was->reduce;
  v->ring = ring;
}

bool td_verdict_broken(TdVerdict *v, TdConflict *c, bool order) {
  bool excused = order && is_accumulation(c);
  bool ring = excused && c->x.was->ring && c->y.was->ring;
  if (excused && v->kind != TD_VERDICT_LEGAL && (v->kind != TD_VERDICT_REASSOC || !v->ring || ring))
    return true;
  TdTruth t = td_conflict_witness(c, NULL, NULL);
  if (t == TD_NO) return true;
  if (t == TD_YES && excused) {
    note_reassociation(v, c, ring);
    if (v->kind == TD_VERDICT_REASSOC) return true;
    t = TD_UNKNOWN;
  }
  if (t == TD_YES && td_conflict_witness(c, &v->witness, &v->sizes) == TD_YES) {
    v->kind = TD_VERDICT_ILLEGAL;
    v->exact = c->exact;
    v->stream = c->a->cell->kind == TD_CELL_MEMORY ? NULL : c->a->cell->sym;
    return false;
  }
  td_verdict_unknown(v, "the question was too hard for the time given");
  return true;
}

/* The two instances as the witness of an error, and the sizes at which they clash. */
static void note_instances(const TdVerdict *v, TdDiag *d) {
  TdLoc none = {0};
  if (v->sizes) td_diag_note(d, none, "for example when %s", v->sizes);
  td_diag_witness(d, v->witness);
}

bool td_verdict_accept(const TdVerdict *v, bool reassociate, TdDiag *d, TdLoc loc,
                       const char *what) {
  switch (v->kind) {
  case TD_VERDICT_LEGAL: return true;
  case TD_VERDICT_REASSOC:
    if (reassociate || v->ring) return true;
    td_diag_set(d, TD_ILLEGAL, "reassociation", loc,
                "%s changes the order in which '%s' accumulates under '%s'", what, v->witness.array,
                td_ops[v->op].lua);
    note_instances(v, d);
    td_diag_help(d, "give reassociate = true to allow it");
    return false;
  case TD_VERDICT_UNKNOWN:
    return td_diag_set(d, TD_ILLEGAL, "not-decided", loc, "%s is not proved: %s", what, v->why);
  default:
    td_diag_set(d, TD_ILLEGAL, "dependence", loc, "%s %s a dependence on '%s'", what,
                v->exact ? "breaks" : "may break", v->witness.array);
    note_instances(v, d);
    return false;
  }
}

/* check.c - what statements rest on and nothing proves, checked as the program runs:
 * assumptions of a unit that is entered, and that views of one array lie apart. */
#include <inttypes.h>

#include "analysis/order/apart.h"
#include "analysis/range/assume.h"
#include "backends/cpu/text.h"

static TdAsk ask_of(TdCpuProg *p, const TdUnit *u) {
  TdCWriter *w = p->w;
  if (!p->affine) p->affine = td_affine_new(w->arena);
  return (TdAsk){.affine = p->affine, .arena = w->arena, .prog = w->prog, .unit = u};
}

void td_cpu_check_assumed(TdCpuProg *p, const TdCpuUnit *u) {
  TdCWriter *w = p->w;
  const TdUnit *unit = u->unit;
  if (!unit->nassert || unit == td_prog_root(w->prog)) return;
  TdAsk q = ask_of(p, unit);
  const bool *open = td_assume_open(&q);
  size_t known = w->known.n;
  w->known.n = 0;
  for (size_t i = 0; i < unit->nassert; i++) {
    const TdExpr *e = unit->assert_[i];
    if (!open[i] || (p->taint && td_cpu_taint_reaches(p->taint, e))) continue;
    TdPiece cond = w->target->truth(w, e);
    td_text_line(&w->out, "if (!%s) {", td_cexpr_operand(w, cond, TD_BIND_UNARY));
    td_text_line(&w->out, "  td_fault(run, %d, %d, %zu, %zu);", TD_CPU_ASSUME,
                 td_cpu_unit_place(p, e->loc), (size_t)(u - p->unit), i);
    td_text_line(&w->out, "  %s;", p->stop);
    td_text_line(&w->out, "}");
  }
  w->known.n = known;
}

bool td_cpu_check_apart(TdCWriter *w, const TdStmt *s) {
  TdCpuProg *p = w->ud;
  if (s->kind != TD_STMT_CALL && s->kind != TD_STMT_SET) return false;
  TdAsk q = ask_of(p, w->unit);
  const TdApart *open;
  size_t n = td_apart_open(&q, s, &open);
  TdText all = td_text_new(w->arena);
  for (size_t i = 0; i < n; i++) {
    if (p->taint && td_cpu_taint_reaches(p->taint, open[i].meet)) continue;
    td_vec_push(w->arena, &p->apart, open[i].what);
    td_text_putf(&all, "%std_apart(run, %d, %zu, %s)", all.n ? " && " : "",
                 td_cpu_unit_place(p, open[i].loc), p->apart.n - 1,
                 w->target->truth(w, open[i].meet).text);
  }
  if (all.n) td_text_line(&w->out, "if (%s) {", td_text_str(&all));
  return all.n;
}

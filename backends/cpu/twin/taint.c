/* taint.c - which variables hold symbolic values: those that are computed from such, in any
 * unit, and those stored to where a symbolic condition decides. */
#include "backends/cpu/text.h"

bool td_cpu_taint_has(const TdCpuTaint *t, TdSym sym) {
  return sym && td_map_getp(&t->symbol, sym) != NULL;
}

static bool is_clean(void *ud, const TdExpr *e) {
  return !td_cpu_taint_has(ud, e->sym);
}

bool td_cpu_taint_reaches(const TdCpuTaint *t, const TdExpr *e) {
  union {
    const TdCpuTaint *from;
    void *to;
  } ud = {t};
  return !td_walk_expr(e, is_clean, ud.to);
}

static void add(TdCpuTaint *t, TdSym sym, bool when) {
  if (!when || td_cpu_taint_has(t, sym)) return;
  union {
    TdSym from;
    void *to;
  } value = {sym};
  td_map_putp(t->arena, &t->symbol, sym, value.to);
  t->grows = true;
}

/* What a call gives to its unit, and through tensors takes back. */
static void spread_call(TdCpuTaint *t, const TdProg *p, const TdStmt *s) {
  const TdUnit *u = td_prog_unit(p, s->sym);
  for (uint32_t i = 0; u && i < s->nexpr; i++) {
    const TdExpr *e = s->expr[i];
    add(t, u->param[i].sym, td_cpu_taint_reaches(t, e));
    if (e->kind == TD_EXPR_VIEW) add(t, e->sym, td_cpu_taint_has(t, u->param[i].sym));
  }
}

/* Adds what s and the statements below it compute; `under` a symbolic condition. */
static void spread(TdCpuTaint *t, const TdProg *p, const TdStmt *s, bool under) {
  if (s->kind == TD_STMT_STORE || s->kind == TD_STMT_SET)
    add(t, s->expr[0]->sym, under || td_cpu_taint_reaches(t, s->expr[1]));
  if (s->kind == TD_STMT_LOCAL && s->nexpr) add(t, s->sym, td_cpu_taint_reaches(t, s->expr[0]));
  if (s->kind == TD_STMT_CALL) spread_call(t, p, s);
  if (s->kind == TD_STMT_IF) under |= td_cpu_taint_reaches(t, s->expr[0]);
  for (uint32_t i = 0; i < s->nkid; i++) spread(t, p, s->kid[i], under);
}

void td_cpu_taint_spread(TdCpuTaint *t, const TdProg *p) {
  do {
    t->grows = false;
    for (size_t i = 0; i < p->nunit; i++)
      if (p->unit[i]->body) spread(t, p, p->unit[i]->body, false);
  } while (t->grows);
}

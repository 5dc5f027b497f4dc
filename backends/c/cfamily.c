/* cfamily.c - the writer: its unit, sizes, refusals. */
#include "backends/c/cfamily.h"

TdCWriter *td_cfamily_new(TdArena *a, const TdProg *prog, const TdCTarget *target, void *ud,
                          TdDiag *d) {
  TdCWriter *w = TD_NEW(a, TdCWriter);
  w->target = target;
  w->ud = ud;
  w->session = prog->store->session;
  w->arena = a;
  w->store = td_store_inner(a, w->session);
  w->prog = prog;
  w->out = td_text_new(a);
  w->diag = d;
  return w;
}

void td_cfamily_enter(TdCWriter *w, const TdUnit *u, const int64_t *map) {
  w->unit = u;
  w->name.n = 0;
  w->known.n = 0;
  TdLoc none = {0};
  for (size_t i = 0; map && i < u->ncoord; i++)
    td_crange_push_loop(w, u->coord[i], td_expr_index(w->session, w->arena, 0, none),
                        td_expr_index(w->session, w->arena, map[i], none));
  for (size_t i = 0; i < u->nassert; i++) td_crange_push_cond(w, u->assert_[i], true);
}

/* Says that sizes of the unit have no value, and how they get one. */
static void refuse_sizes(TdCWriter *w, TdLoc loc) {
  td_cfamily_refuse(w, "unbound-size", loc, td_unit_help_sizes(w->arena, w->unit),
                    "'%s' has sizes without a value", w->unit->sym->name);
}

int64_t td_cfamily_size(TdCWriter *w, const TdExpr *e) {
  int64_t v = 0;
  if (!td_unit_value(w->unit, e, &v)) refuse_sizes(w, e->loc);
  return v;
}

const TdType *td_cfamily_type(TdCWriter *w, const TdType *t) {
  const TdType *known = td_unit_type(w->session, w->unit, t);
  int64_t count;
  if (known && (td_type_is_scalar(known) || td_type_count(known, &count))) return known;
  refuse_sizes(w, w->unit->loc);
  return td_type_tensor_of(w->session, td_type_scalar(t), 1, &(int64_t){1});
}

bool td_cfamily_refuse(TdCWriter *w, const char *code, TdLoc loc, const char *help, const char *fmt,
                       ...) {
  if (td_diag_failed(w->diag)) return false;
  va_list ap;
  va_start(ap, fmt);
  td_diag_vset(w->diag, TD_UNSUPPORTED, code, loc, fmt, ap);
  va_end(ap);
  td_diag_help(w->diag, "%s", help);
  return false;
}

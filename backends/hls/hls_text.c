/* hls_text.c - a whole program as HLS C++: functions, callees first; the last is the top. */
#include "backends/hls/hls_text.h"

#include <string.h>

#include "backends/hls/hls_lower.h"

/* Gives each unit the name of its function. */
static void name_units(TdHlsProg *p) {
  TdCWriter *w = p->w;
  size_t n = w->prog->nunit;
  p->name = TD_NEWN(w->arena, const char *, n);
  w->target = &td_hls_unit_names;
  const char *top = *p->style->top ? p->style->top : w->prog->unit[n - 1]->sym->name;
  for (size_t i = n; i-- > 0;) {
    const TdUnit *u = w->prog->unit[i];
    p->name[i] = td_cname_fresh(w, i == n - 1 ? top : u->sym->name);
    td_cname_put(w, u->sym, p->name[i], NULL, NULL);
  }
  w->target = &td_hls_unit_target;
}

const TdHlsText *td_hls_text_of(TdArena *a, const TdProg *prog, const TdHlsStyle *style,
                                TdDiag *d) {
  prog = td_hls_lower_prog(a, prog, d);
  if (!prog) return NULL;
  TdHlsProg p = {.style = style,
                 .ask = {.affine = td_affine_new(a), .arena = a, .prog = prog},
                 .sizes = td_text_new(a),
                 .functions = td_text_new(a)};
  p.w = td_cfamily_new(a, prog, &td_hls_unit_target, &p, d);
  name_units(&p);
  for (size_t i = 0; i < prog->nunit && !td_diag_failed(d); i++) td_hls_unit_put(&p, i);
  if (td_diag_failed(d)) return NULL;
  TdHlsText *t = TD_NEW(a, TdHlsText);
  *t = (TdHlsText){.top = p.name[prog->nunit - 1],
                   .sizes = td_text_str(&p.sizes),
                   .body = td_text_str(&p.functions),
                   .param = p.param.at,
                   .nparam = p.param.n,
                   .state = p.state.at,
                   .nstate = p.state.n};
  return t;
}

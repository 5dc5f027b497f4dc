/* hls_facts.c - where the index expressions of a body lie at one instance: coordinates have values,
   loops their ranges, scalars that are never stored to what they began with. */
#include "backends/hls/hls_net.h"

static bool note_declaration(void *ud, const TdStmt *s) {
  TdHlsFacts *f = ud;
  bool scalar = s->kind == TD_STMT_LOCAL && s->nexpr && td_type_is_scalar(s->type);
  if (s->kind == TD_STMT_FOR || scalar)
    td_map_putp(f->arena, &f->decl, s->sym, (void *)(uintptr_t)s);
  return true;
}

static bool note_store(void *ud, const TdStmt *s) {
  TdHlsFacts *f = ud;
  const TdExpr *place = s->kind == TD_STMT_STORE                 ? s->expr[0]
                        : s->kind == TD_STMT_GET && s->nexpr > 1 ? s->expr[1]
                                                                 : NULL;
  if (place) td_map_drop(&f->decl, (uint64_t)(uintptr_t)place->sym);
  return true;
}

TdHlsFacts td_hls_facts_of(TdArena *a, TdSession *s, const TdUnit *u) {
  TdHlsFacts f = {.arena = a, .session = s, .unit = u};
  td_walk_stmt(s->ctx, u->body, note_declaration, &f);
  td_walk_stmt(s->ctx, u->body, note_store, &f);
  for (size_t i = 0; i < u->ncoord; i++)
    td_map_put(a, &f.coord, (uint64_t)(uintptr_t)u->coord[i], i + 1);
  return f;
}

/* The values of a loop's variable. */
static TdSpan loop_span(TdHlsFacts *f, const TdStmt *s) {
  TdSpan lo = td_hls_facts_span(f, f->at, td_for_lo(s));
  TdSpan hi = td_hls_facts_span(f, f->at, td_for_hi(s));
  lo.hi = hi.hi == INT64_MAX ? hi.hi : hi.hi - 1;
  lo.data |= hi.data;
  return lo;
}

static TdSpan look(void *ud, const TdExpr *e, const TdSpan *index) {
  TdHlsFacts *f = ud;
  uint64_t coord;
  (void)index;
  if (td_map_get(&f->coord, (uint64_t)(uintptr_t)e->sym, &coord))
    return td_span_const(f->at[coord - 1]);
  const TdStmt *s = td_map_getp(&f->decl, e->sym);
  TdSpan x = td_span_data(td_type_scalar(e->type));
  if (!s || (e->kind == TD_EXPR_LOAD && e->nkid)) return x;
  td_ctx_enter(f->session->ctx);
  if (s->kind == TD_STMT_FOR)
    x = loop_span(f, s);
  else
    x = td_span_cast(s->type, s->expr[0]->type, td_hls_facts_span(f, f->at, s->expr[0]));
  td_ctx_leave(f->session->ctx);
  return x;
}

TdSpan td_hls_facts_span(TdHlsFacts *f, const int64_t *at, const TdExpr *e) {
  f->at = at;
  TdSpanEnv env = {f->session, f->unit, look, f};
  return td_span_of(&env, e);
}

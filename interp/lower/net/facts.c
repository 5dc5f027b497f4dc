/* facts.c - where the index expressions of a body lie at one instance: coordinates have values,
 * loops their ranges, scalars that are never stored to what they began with. */
#include "lower/net/net.h"

static bool note_declaration(void *ud, const TdStmt *s) {
  TdNetFacts *f = ud;
  bool scalar = s->kind == TD_STMT_LOCAL && s->nexpr && td_type_is_scalar(s->type);
  bool table = s->kind == TD_STMT_LOCAL && s->cls == TD_LOCAL_CONST;
  if (s->kind == TD_STMT_FOR || scalar || table)
    td_map_putp(f->arena, &f->decl, s->sym, (void *)(uintptr_t)s);
  return true;
}

static bool note_store(void *ud, const TdStmt *s) {
  TdNetFacts *f = ud;
  const TdExpr *place = s->kind == TD_STMT_STORE                 ? s->expr[0]
                        : s->kind == TD_STMT_GET && s->nexpr > 1 ? s->expr[1]
                                                                 : NULL;
  if (place) td_map_drop(&f->decl, (uint64_t)(uintptr_t)place->sym);
  return true;
}

TdNetFacts td_net_facts_of(TdArena *a, TdSession *s, const TdUnit *u) {
  TdNetFacts f = {.arena = a, .session = s, .unit = u};
  td_walk_stmt(s->ctx, u->body, note_declaration, &f);
  td_walk_stmt(s->ctx, u->body, note_store, &f);
  for (size_t i = 0; i < u->ncoord; i++)
    td_map_put(a, &f.coord, (uint64_t)(uintptr_t)u->coord[i], i + 1);
  return f;
}

/* The values of a loop's variable. */
static TdSpan loop_span(TdNetFacts *f, const TdStmt *s) {
  TdSpan lo = td_net_facts_span(f, f->at, td_for_lo(s));
  TdSpan hi = td_net_facts_span(f, f->at, td_for_hi(s));
  int64_t last = hi.hi == INT64_MAX ? hi.hi : hi.hi - 1;
  if (td_span_is_one(lo) && last != INT64_MAX && last > lo.lo) last -= (last - lo.lo) % s->step;
  lo.hi = last;
  lo.data |= hi.data;
  return lo;
}

/* An element of a table at known indices. */
static TdSpan element(TdNetFacts *f, const TdStmt *s, const TdExpr *e, const TdSpan *index) {
  const TdType *t = td_type_scalar(s->blob->type);
  int64_t at = 0, extent;
  bool number = t->kind == TD_T_INT || t->kind == TD_T_UINT || t->kind == TD_T_INDEX;
  for (uint32_t d = 0; d < e->nkid; d++) {
    if (!td_type_extent(s->blob->type, (int)d, &extent)) return td_span_data(t);
    if (!td_span_is_one(index[d]) || index[d].lo < 0 || index[d].lo >= extent)
      return td_span_data(t);
    at = at * extent + index[d].lo;
  }
  if (!number || t->w > 64) return td_span_data(t);
  uint64_t v = td_num_load(t, (const char *)s->blob->data + (size_t)at * td_type_bytes(t));
  TdFault none = {0};
  return td_span_const((int64_t)td_num_cast(td_type_int(f->session, 64), t, v, &none));
}

static TdSpan look(void *ud, const TdExpr *e, const TdSpan *index) {
  TdNetFacts *f = ud;
  uint64_t coord;
  if (td_map_get(&f->coord, (uint64_t)(uintptr_t)e->sym, &coord))
    return td_span_const(f->at[coord - 1]);
  const TdStmt *s = td_map_getp(&f->decl, e->sym);
  TdSpan x = td_span_data(td_type_scalar(e->type));
  if (s && s->kind == TD_STMT_LOCAL && s->blob && e->kind == TD_EXPR_LOAD)
    return element(f, s, e, index);
  if (!s || (e->kind == TD_EXPR_LOAD && e->nkid)) return x;
  td_ctx_enter(f->session->ctx);
  if (s->kind == TD_STMT_FOR)
    x = loop_span(f, s);
  else
    x = td_span_cast(s->type, s->expr[0]->type, td_net_facts_span(f, f->at, s->expr[0]));
  td_ctx_leave(f->session->ctx);
  return x;
}

TdSpan td_net_facts_span(TdNetFacts *f, const int64_t *at, const TdExpr *e) {
  f->at = at;
  TdSpanEnv env = {f->unit, look, f};
  return td_span_of(&env, e);
}

const TdExpr *td_net_facts_index(TdStore *st, const TdUnit *u, const TdExpr *e) {
  TdSubst sizes = td_subst_new(st);
  for (size_t i = 0; i < u->nsize; i++)
    if (u->size[i].known)
      td_subst_size(&sizes, u->size[i].name,
                    td_expr_index(st->session, st->arena, u->size[i].value, e->loc));
  return td_subst_in_expr(&sizes, e);
}

int64_t td_net_facts_gcd(int64_t x, int64_t y) {
  while (y) {
    int64_t r = x % y;
    x = y, y = r;
  }
  return x < 0 ? -x : x;
}

/* The same for an atom of a linear form. */
static int64_t atom_stride(TdNetFacts *f, const TdExpr *e) {
  const TdStmt *s = e->kind == TD_EXPR_VAR ? td_map_getp(&f->decl, e->sym) : NULL;
  if (td_span_is_one(td_net_facts_span(f, f->at, e))) return 0;
  if (!s || s->kind != TD_STMT_FOR) return 1;
  return td_net_facts_gcd(s->step, td_net_facts_stride(f, f->at, td_for_lo(s)));
}

int64_t td_net_facts_stride(TdNetFacts *f, const int64_t *at, const TdExpr *e) {
  f->at = at;
  td_ctx_enter(f->session->ctx);
  TdLin x = td_lin_of(f->session, f->arena, e);
  int64_t all = 0;
  for (size_t i = 0; i < x.n; i++)
    all = td_net_facts_gcd(all, x.term[i].coef * atom_stride(f, x.term[i].atom));
  td_ctx_leave(f->session->ctx);
  return all;
}

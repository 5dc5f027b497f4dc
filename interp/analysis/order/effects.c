/* effects.c - the leaves of a statement, summed up by cell. */
#include "analysis/order/effects.h"

size_t td_effects_of(const TdAsk *q, const TdStmt *s, const TdEffect **out) {
  TdArena *a = td_arena_scratch(td_affine_ctx(q->affine));
  TdLeaves *l = td_access_list(q, td_access_space(a), &s, 1);
  TD_VEC(TdEffect) all = {0};
  TdMap index = {0};
  for (size_t i = 0; i < l->at.n; i++)
    for (size_t k = 0; k < l->at.at[i].naccess; k++) {
      const TdAccess *x = &l->at.at[i].access[k];
      uint64_t key = (uint64_t)(uintptr_t)x->cell, at;
      if (!td_map_get(&index, key, &at)) {
        at = all.n;
        td_map_put(a, &index, key, at);
        TdEffect e = {.sym = x->cell->sym, .kind = x->cell->kind, .inside = x->cell->nest != NULL};
        td_vec_push(q->arena, &all, e);
      }
      all.at[at].read |= x->read;
      all.at[at].write |= x->write;
    }
  td_arena_free(a);
  *out = all.at;
  return all.n;
}

const TdEffect *td_effects_find(const TdEffect *e, size_t n, TdSym sym) {
  for (size_t i = 0; i < n; i++)
    if (e[i].sym == sym && e[i].kind == TD_CELL_MEMORY) return &e[i];
  return NULL;
}

/* Whether the body of kernel u writes parameter sym. */
static bool writes(const TdAsk *q, const TdUnit *u, TdSym sym) {
  TdAsk of = *q;
  of.unit = u;
  const TdEffect *e;
  size_t n = u->body ? td_effects_of(&of, u->body, &e) : 0;
  const TdEffect *f = n ? td_effects_find(e, n, sym) : NULL;
  return f && f->write;
}

const bool *td_effects_written(const TdAsk *q) {
  const TdUnit *u = q->unit;
  bool *written = TD_NEWN(q->arena, bool, u->nparam + 1);
  for (size_t i = 0; i < u->nparam; i++) {
    written[i] = u->body && writes(q, u, u->param[i].sym);
    for (size_t r = 0; r < u->nrun && !written[i]; r++)
      for (size_t b = 0; b < u->run[r].nbind && !written[i]; b++)
        written[i] = u->run[r].bind[b].arg == u->param[i].sym &&
                     writes(q, td_prog_unit(q->prog, u->run[r].unit), u->run[r].bind[b].param);
  }
  return written;
}

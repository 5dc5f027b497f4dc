/* effects.c - the leaves of a statement, summed up by cell. */
#include "analysis/effects.h"

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

/* wire_stage.c - which statements of a kernel are one stage: those that keep locals together. */
#include "rewrite/stream/wire.h"

bool td_wire_is_own(const TdStmt *s, const TdStmt *const *array, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (array[i] == s) return false;
  return s->kind == TD_STMT_LOCAL && s->cls == TD_LOCAL_AUTO;
}

uint32_t td_wire_stage_end(TdRewrite *r, const TdStmt *root, uint32_t from, uint32_t at,
                           const TdStmt *const *array, size_t n, const TdStmt **kept) {
  uint32_t end = at;
  for (uint32_t l = from; l <= end; l++) {
    if (!td_wire_is_own(root->kid[l], array, n)) continue;
    uint32_t last = root->nkid - 1;
    while (last > end && !td_walk_uses(r->session->ctx, root->kid[last], root->kid[l]->sym)) last--;
    if (last > end) *kept = root->kid[l];
    end = last;
  }
  return end;
}

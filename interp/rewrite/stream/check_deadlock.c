/* check_deadlock.c - a step may keep the order on each stream and still make tasks wait for each
 * other. */
#include "rewrite/stream/check_deadlock.h"

#include "analysis/net/streams.h"

/* The program whose root is unit n of p. */
static const TdProg *rooted_at(const TdProg *p, size_t n) {
  return td_prog_prune(td_prog_new(p->store, p->unit, n + 1));
}

/* Whether the old program has the same units, all of them. */
static bool is_unchanged(const TdProg *old, const TdProg *p) {
  for (size_t i = 0; i < p->nunit; i++)
    if (td_prog_unit(old, p->unit[i]->sym) != p->unit[i]) return false;
  return true;
}

bool td_check_deadlock_check(TdRewrite *r, const TdProg *p) {
  for (size_t i = 0; i < p->nunit; i++) {
    if (p->unit[i]->kind != TD_UNIT_DESIGN) continue;
    const TdProg *part = rooted_at(p, i);
    TdAsk q = {.affine = r->affine, .arena = r->arena, .prog = part, .unit = p->unit[i]};
    if (!is_unchanged(r->prog, part) && !td_streams_check(&q, NULL, r->diag)) return false;
  }
  return true;
}

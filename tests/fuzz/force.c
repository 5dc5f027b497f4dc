/* force.c - the rewrite that a refusal kept from happening, made in private to measure refusals of
   what is right. */
#include <string.h>

#include "tests/fuzz/chain.h"
#include "tests/fuzz/wrap.h"

bool force_step(Chain *c, const Step *s, bool *same) {
  const TdVersion *before = c->schedule.now;
  TdDiag d = {.arena = c->scratch};
  const char *const *made;
  size_t n;
  TdMark mark = td_arena_mark(c->store->arena);
  wrap_forcing = true;
  wrap_forcing_parallel = strcmp(s->prim->name, "parallel") == 0;
  bool could = td_schedule_apply(&c->schedule, c->side->affine, s->prim, s->arg, &made, &n, &d);
  wrap_forcing = wrap_forcing_parallel = false;
  if (could) {
    Oracle o = {c->side, c->scratch, &c->points, c->counts};
    *same = oracle_is_same(&o, c->schedule.now->prog);
  }
  c->schedule.now = before;
  c->store->next_uid = before->next_uid;
  c->store->next_sym = before->next_sym;
  td_arena_release(c->store->arena, mark);
  return could;
}

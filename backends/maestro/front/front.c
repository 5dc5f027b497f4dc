/* front.c - streamers in front of a design: what its tasks load and store is traced, fitted to the
 * streamers' loops, and placed in memory. */
#include "backends/maestro/front/front.h"

/* Places the operands: where the user says, else the n-th in group n mod G of its mode, behind
 * those that are there. */
static bool place(TdMaestroFront *f, const TdMaestroFrontAsk *ask, TdDiag *d) {
  const TdMaestroMemory *m = &f->system.memory;
  TdMaestroRegion at[TD_MAESTRO_STREAMERS];
  for (int i = 0; i < f->system.n; i++) {
    const TdMaestroFeed *x = &f->feed[i];
    const char *name = f->system.at[i].name;
    int mode = ask->mode[i] >= 0 ? ask->mode[i] : 0;
    int64_t groups = m->banks / m->mode[mode].banks;
    at[i] = (TdMaestroRegion){.bytes = x->bytes, .mode = mode};
    at[i].base =
        ask->base[i] >= 0 ? ask->base[i] : td_maestro_region_behind(m, at, i, mode, i % groups);
    if (at[i].base % m->word)
      return td_diag_set(d, TD_USAGE, "maestro-base", (TdLoc){0},
                         "streamer %s: base %lld is no multiple of a word of %lld bytes", name,
                         (long long)at[i].base, (long long)m->word);
    if (at[i].base + x->bytes > td_maestro_system_bytes(m))
      return td_diag_set(d, TD_UNSUPPORTED, "maestro-memory", (TdLoc){0},
                         "streamer %s takes bytes %lld to %lld of a memory of %lld", name,
                         (long long)at[i].base, (long long)(at[i].base + x->bytes),
                         (long long)td_maestro_system_bytes(m));
    for (int k = 0; k < i; k++)
      if (td_maestro_region_meets(m, &at[i], &at[k]))
        return td_diag_set(d, TD_UNSUPPORTED, "maestro-overlap", (TdLoc){0},
                           "the operands of streamers %s and %s lie on each other", name,
                           f->system.at[k].name);
    f->pattern[i].mode = mode;
    f->pattern[i].base += at[i].base;
    f->feed[i].region = at[i].base;
  }
  return true;
}

bool td_maestro_front_make(TdMaestroFront *f, TdAsk q, const TdMaestroFrontAsk *ask, TdDiag *d) {
  if (q.unit->kind != TD_UNIT_DESIGN)
    return td_diag_set(d, TD_USAGE, "maestro-front", q.unit->loc,
                       "streamers stand in front of a design of tasks, and '%s' is a kernel",
                       q.unit->sym->name);
  if (!td_maestro_front_trace(f, q, d)) return false;
  for (int i = 0; i < f->system.n; i++)
    if (!td_maestro_front_fit(f, i, ask->order[i], q.arena, d)) return false;
  return place(f, ask, d);
}

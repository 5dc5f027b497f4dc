/* order.c - a run of a design in NPU form, of which only blocks count. */
#include "backends/npu/sequence.h"

typedef struct Run {
  TdNpuForm *f;
  int64_t *full, *spare; /* of each stream */
  size_t *at;            /* of each instance */
  uint64_t **time, now;
} Run;

/* Whether the next event of an instance can happen; then it does. */
static bool step(Run *r, size_t inst) {
  const TdNpuEvent *e = &r->f->inst.at[inst].event.at[r->at[inst]];
  int64_t *from = e->act == TD_NPU_SLOT  ? &r->spare[e->chan]
                  : e->act == TD_NPU_GET ? &r->full[e->chan]
                                         : NULL;
  if (from && !*from) return false;
  if (from) --*from;
  if (e->act == TD_NPU_PUT) r->full[e->chan]++;
  if (e->act == TD_NPU_FREE) r->spare[e->chan]++;
  r->time[inst][r->at[inst]++] = r->now++;
  return true;
}

const uint64_t *const *td_npu_order_of(TdNpuForm *f) {
  size_t n = f->inst.n, left = 0;
  Run r = {.f = f};
  r.full = TD_NEWN(f->arena, int64_t, f->chan.n + 1);
  r.spare = TD_NEWN(f->arena, int64_t, f->chan.n + 1);
  r.at = TD_NEWN(f->arena, size_t, n + 1);
  r.time = TD_NEWN(f->arena, uint64_t *, n + 1);
  for (size_t i = 0; i < f->chan.n; i++) r.spare[i] = f->chan.at[i].depth;
  for (size_t i = 0; i < n; i++) {
    r.time[i] = TD_NEWN(f->arena, uint64_t, f->inst.at[i].event.n + 1);
    left += f->inst.at[i].event.n;
  }
  for (bool moved = true; moved && left;) {
    moved = false;
    for (size_t i = 0; i < n; i++)
      while (r.at[i] < f->inst.at[i].event.n && step(&r, i)) {
        td_ctx_tick(td_arena_ctx(f->arena), 1);
        moved = true;
        left--;
      }
  }
  if (!left) return (const uint64_t *const *)r.time;
  td_diag_set(f->diag, TD_ILLEGAL, "deadlock", f->design->loc,
              "the tasks of %s wait for each other", f->design->sym->name);
  return NULL;
}

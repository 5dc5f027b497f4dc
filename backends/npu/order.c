/* order.c - a run of a design in NPU form, of which only blocks count; whether the host's
 * transfers, which start as they can, do what its tasks do in their order. */
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

/* ---- what a host task reads again ---- */

/* The moves of one stream, in order. */
typedef struct Moves {
  TD_VEC(const TdNpuMove *) at;
  size_t next;
} Moves;

/* Notes that elements of a move are written, or tells whether one of them is; by byte. */
static bool mark(const TdNpuForm *f, const TdNpuMove *m, unsigned char *written, bool write) {
  td_ctx_tick(td_arena_ctx(f->arena), (uint64_t)f->chan.at[m->chan].count);
  for (int64_t i = 0; i < f->chan.at[m->chan].count; i++) {
    unsigned char *cell = &written[td_desc_place(m->at, i) + m->shift];
    if (!write && *cell) return true;
    *cell |= write;
  }
  return false;
}

static bool has_both(const TdNpuForm *f, uint32_t inst, uint32_t param) {
  const TdNpuInst *x = &f->inst.at[inst];
  bool in = false, out = false;
  for (size_t i = 0; i < x->move.n; i++) {
    if (x->move.at[i].param != param) continue;
    in |= f->chan.at[x->move.at[i].chan].from == inst;
    out |= f->chan.at[x->move.at[i].chan].to == inst;
  }
  return in && out;
}

/* Whether a host task reads no element of an argument that it wrote before. */
static bool check_param(TdNpuForm *f, uint32_t inst, uint32_t param) {
  const TdNpuInst *x = &f->inst.at[inst];
  const TdParam *p = &f->design->param[param];
  Moves *of = TD_NEWN(f->arena, Moves, f->chan.n + 1);
  int64_t n = 0;
  td_type_count(td_unit_type(f->prog->store->session, f->design, p->type), &n);
  unsigned char *written = TD_NEWN(f->arena, unsigned char, n + 1);
  for (size_t i = 0; i < x->move.n; i++)
    td_vec_push(f->arena, &of[x->move.at[i].chan].at, &x->move.at[i]);
  for (size_t i = 0; i < x->event.n; i++) {
    const TdNpuEvent *e = &x->event.at[i];
    if (e->act != TD_NPU_GET && e->act != TD_NPU_PUT) continue;
    const TdNpuMove *m = of[e->chan].at.at[of[e->chan].next++];
    if (m->param != param || !mark(f, m, written, e->act == TD_NPU_GET)) continue;
    td_diag_set(f->diag, TD_UNSUPPORTED, "npu-sequence", f->chan.at[e->chan].loc,
                "%s sends elements of '%s' that it wrote before: transfers of a launch do not wait "
                "for each other",
                x->name, p->sym->name);
    td_diag_help(f->diag, "hoist keeps them on the core; or make it two launches");
    return false;
  }
  return true;
}

bool td_npu_order_check(TdNpuForm *f) {
  for (uint32_t i = 0; i < f->inst.n; i++)
    for (uint32_t k = 0; k < f->design->nparam && f->inst.at[i].role == TD_NPU_HOST; k++)
      if (has_both(f, i, k) && !check_param(f, i, k)) return false;
  return true;
}

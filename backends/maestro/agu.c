/* agu.c - address generation: each dimension has a counter of iterations and one of bytes,
 * so that nothing is multiplied or divided; modes permute bits of the sum. */
#include "backends/maestro/maestro.h"

/* The exponent of a power of two. */
static int log2_of(int64_t x) {
  int n = 0;
  for (int k = 32; k > 0; k /= 2)
    if (x >> k) x >>= k, n += k;
  return n;
}

int64_t td_maestro_system_bytes(const TdMaestroMemory *m) {
  return m->banks * m->word * m->rows;
}

int64_t td_maestro_agu_repeats(const TdMaestroStreamer *s, const TdMaestroPattern *p) {
  return !s->writer && s->loops > 0 && p->stride[0] == 0 && p->bound[0] > 1 ? p->bound[0] : 1;
}

int64_t td_maestro_agu_count(const TdMaestroStreamer *s, const TdMaestroPattern *p) {
  int64_t n = p->used ? 1 : 0;
  for (int d = 0; d < s->loops; d++) n *= p->bound[d];
  return n;
}

TdMaestroAgu td_maestro_agu_start(const TdMaestroStreamer *s, const TdMaestroPattern *p) {
  TdMaestroAgu g = {.p = p, .nloop = (int)s->loops, .address = p->base, .busy = p->used};
  for (int d = 0; d < g.nloop; d++) g.busy &= p->bound[d] > 0;
  g.first = td_maestro_agu_repeats(s, p) > 1;
  return g;
}

void td_maestro_agu_tick(TdMaestroAgu *g) {
  for (int d = g->first; d < g->nloop; d++) {
    if (g->index[d] + 1 < g->p->bound[d]) {
      g->index[d]++;
      g->offset[d] += g->p->stride[d];
      g->address += g->p->stride[d];
      return;
    }
    g->address -= g->offset[d];
    g->index[d] = g->offset[d] = 0;
  }
  g->busy = false;
}

int64_t td_maestro_agu_lane(const TdMaestroStreamer *s, const TdMaestroPattern *p, int channel) {
  int64_t sum = 0, rest = channel;
  for (int j = 0; j < s->nlane; rest /= s->lane[j], j++)
    sum += rest % s->lane[j] * p->lane_stride[j];
  return sum;
}

TdMaestroRemap td_maestro_agu_remap(const TdMaestroMemory *m, int mode) {
  return (TdMaestroRemap){.low = log2_of(m->mode[mode].banks * m->word),
                          .row = log2_of(m->rows),
                          .high = log2_of(m->banks * m->word),
                          .last = (uint64_t)td_maestro_system_bytes(m) - 1};
}

int64_t td_maestro_agu_place(const TdMaestroRemap *r, int64_t address) {
  uint64_t a = (uint64_t)address & r->last, byte = a & ((UINT64_C(1) << r->low) - 1);
  uint64_t row = a >> r->low & ((UINT64_C(1) << r->row) - 1), group = a >> r->low >> r->row;
  return (int64_t)(row << r->high | group << r->low | byte);
}

int64_t td_maestro_agu_physical(const TdMaestroMemory *m, int mode, int64_t address) {
  TdMaestroRemap r = td_maestro_agu_remap(m, mode);
  return td_maestro_agu_place(&r, address);
}

TdDesc td_maestro_agu_mode(const TdMaestroMemory *m, int mode) {
  int64_t group = m->mode[mode].banks * m->word, all = m->banks * m->word;
  return (TdDesc){.n = 3, .at = {{all / group, group}, {m->rows, all}, {group, 1}}};
}

/* trace_ports.c - accesses against the ports of the banks that they may reach. */
#include "analysis/time/trace.h"

/* Banks of one array that are counted one by one; beyond, an access takes a port of all. */
enum { MOST_BANKS = 1 << 16 };

/* Banks first, first + stride.. of one dimension. */
typedef struct Banks {
  int64_t first, stride, n;
} Banks;

/* Cyclic banks of a form: its constant decides, up to what its columns add. */
static Banks cyclic(TdAff f, int64_t banks) {
  int64_t g = banks;
  for (uint32_t i = 0; i < f.n; i++) g = td_sys_gcd64(g, f.m[i].coef);
  int64_t first = f.c - td_sys_floor64(f.c, g) * g;
  return (Banks){first, g, banks / g};
}

/* Blocks of consecutive elements. */
static Banks block(TdTrace *t, TdAff f, int64_t extent, int64_t banks) {
  int64_t lo, hi, each = (extent + banks - 1) / banks;
  Banks all = {0, 1, banks};
  if (!td_trace_range(t, f, &lo, &hi) || lo < 0) return all;
  lo /= each;
  hi /= each;
  return hi < banks ? (Banks){lo, 1, hi - lo + 1} : all;
}

/* The banks of dimension d that an access at form f may reach. */
static Banks reached(TdTrace *t, const TdPlaced *p, int d, TdAff f) {
  switch (p->part[d]) {
  case TD_PART_COMPLETE:
  case TD_PART_CYCLIC: return cyclic(f, p->banks[d]);
  case TD_PART_BLOCK: return block(t, f, p->extent[d], p->banks[d]);
  default: return (Banks){0, 1, 1};
  }
}

/* Counts an access in all banks that it may reach. */
static void count(TdTrace *t, const TdReach *r, int64_t *used) {
  const TdPlaced *p = r->array;
  Banks b[TD_MAX_RANK];
  int64_t i[TD_MAX_RANK] = {0};
  for (int d = 0; d < p->rank; d++)
    b[d] = r->spot == TD_TRACE_ALL ? (Banks){0, 1, p->banks[d]}
                                   : reached(t, p, d, p->spot.at[r->spot].at[d]);
  for (;;) {
    int64_t bank = 0;
    for (int d = 0; d < p->rank; d++) bank = bank * p->banks[d] + b[d].first + i[d] * b[d].stride;
    used[bank] += r->beats;
    td_ctx_tick(t->session->ctx, 1);
    int d = p->rank;
    while (d-- > 0 && ++i[d] == b[d].n) i[d] = 0;
    if (d < 0) return;
  }
}

/* The accesses to the busiest bank of p; *one is one of them. */
static int64_t busiest(TdTrace *t, const TdPlaced *p, const TdReach **one) {
  int64_t banks = 1, most = 0;
  for (int d = 0; d < p->rank; d++) banks *= p->banks[d] < MOST_BANKS ? p->banks[d] : MOST_BANKS;
  bool each = banks <= MOST_BANKS;
  int64_t *used = TD_NEWN(t->arena, int64_t, each ? banks : 1);
  for (size_t i = 0; i < t->reach.n; i++) {
    const TdReach *r = &t->reach.at[i];
    if (r->array != p || r->dead) continue;
    *one = r;
    if (each)
      count(t, r, used);
    else
      *used += r->beats;
  }
  for (int64_t i = 0; i < (each ? banks : 1); i++)
    if (used[i] > most) most = used[i];
  return most;
}

/* The cycles in which the port of an argument moves what is accessed, n elements: one turn in so
 * many as it has users. */
static int64_t port_cycles(const TdTrace *t, const TdPlaced *p, const TdReach **one, int64_t *n) {
  *n = 0;
  for (size_t i = 0; i < t->reach.n; i++) {
    const TdReach *r = &t->reach.at[i];
    if (r->array != p || r->dead) continue;
    *one = r;
    *n += r->beats;
  }
  return (*n * p->users * ((p->width + 7) / 8) + p->bytes - 1) / p->bytes;
}

int64_t td_trace_ports(TdTrace *t, const TdReach **busy, int64_t *n) {
  int64_t need = 1;
  *busy = NULL;
  for (size_t i = 0; i < t->placed.n; i++) {
    TdPlaced *p = t->placed.at[i];
    const TdReach *one = NULL;
    if (p->registers || (!p->ports && !p->bytes)) continue;
    int64_t most = 0, cycles = p->bytes ? port_cycles(t, p, &one, &most) : 0;
    if (!p->bytes) {
      most = busiest(t, p, &one);
      cycles = (most + p->ports - 1) / p->ports;
    }
    if (cycles <= need) continue;
    need = cycles;
    *busy = one;
    *n = most;
  }
  return need;
}

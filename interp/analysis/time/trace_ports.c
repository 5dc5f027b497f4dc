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

/* Calls for the number of each bank that an access may reach. */
static void each_bank(TdTrace *t, const TdReach *r, void (*does)(void *, int64_t), void *ud) {
  const TdPlaced *p = r->array;
  Banks b[TD_MAX_RANK];
  int64_t i[TD_MAX_RANK] = {0};
  for (int d = 0; d < p->rank; d++)
    b[d] = r->spot == TD_TRACE_ALL ? (Banks){0, 1, p->banks[d]}
                                   : reached(t, p, d, p->spot.at[r->spot].at[d]);
  for (;;) {
    int64_t bank = 0;
    for (int d = 0; d < p->rank; d++) bank = bank * p->banks[d] + b[d].first + i[d] * b[d].stride;
    does(ud, bank);
    td_ctx_tick(t->session->ctx, 1);
    int d = p->rank;
    while (d-- > 0 && ++i[d] == b[d].n) i[d] = 0;
    if (d < 0) return;
  }
}

/* Counts an access in all banks that it may reach. */
typedef struct Count {
  const TdReach *r;
  int64_t *used;
} Count;
static void count(void *ud, int64_t bank) {
  const Count *c = ud;
  c->used[bank] += c->r->beats;
}

/* The banks of an array, or -1: too many. */
static int64_t banks_of(const TdPlaced *p) {
  int64_t banks = 1;
  for (int d = 0; d < p->rank && banks <= MOST_BANKS; d++)
    banks *= p->banks[d] < MOST_BANKS ? p->banks[d] : MOST_BANKS + 1;
  return banks <= MOST_BANKS ? banks : -1;
}

/* The accesses to the busiest bank of p; *one is one of them. */
static int64_t busiest(TdTrace *t, const TdPlaced *p, const TdReach **one) {
  int64_t banks = banks_of(p), most = 0;
  bool each = banks >= 0;
  int64_t *used = TD_NEWN(t->arena, int64_t, each ? banks : 1);
  for (size_t i = 0; i < t->reach.n; i++) {
    const TdReach *r = &t->reach.at[i];
    if (r->array != p || r->dead) continue;
    *one = r;
    if (each)
      each_bank(t, r, count, &(Count){r, used});
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
    if (p->kind != TD_CELL_MEMORY || p->registers || (!p->ports && !p->bytes)) continue;
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

/* Pools of a trace, while accesses are given theirs. */
typedef struct Places {
  TdTrace *t;
  const TdReach *r;
  int64_t cycles, ports; /* of the access, on so many ports of each bank */
  TdMap pool;            /* array and bank, or spot -> pool, plus 1 */
} Places;

static uint32_t pool_of(Places *m, uint64_t key, TdFlowPool what) {
  uint64_t at;
  if (!td_map_get(&m->pool, key, &at)) {
    at = td_flow_pool(&m->t->flow, what);
    td_map_put(m->t->arena, &m->pool, key, at);
  }
  return (uint32_t)at;
}

/* Has the access take ports of a bank. */
static void take_bank(void *ud, int64_t bank) {
  Places *m = ud;
  const TdPlaced *p = m->r->array;
  uint64_t key = td_map_mix(p->number, (uint64_t)bank);
  uint32_t pool = pool_of(m, key, (TdFlowPool){.n = p->ports});
  for (int64_t i = 0; i < m->ports; i++)
    td_flow_use(&m->t->flow, m->r->node, pool, m->cycles, NULL);
}

/* An access to a memory; one that takes several beats shares them among the ports. */
static void place_access(Places *m) {
  const TdPlaced *p = m->r->array;
  int64_t beats = m->r->beats;
  m->ports = beats < p->ports ? beats : p->ports;
  m->cycles = (beats + m->ports - 1) / m->ports;
  m->t->flow.node.at[m->r->node].stages += (int32_t)(m->cycles - 1);
  if (banks_of(p) >= 0)
    each_bank(m->t, m->r, take_bank, m);
  else
    take_bank(m, 0);
}

/* An access through the port of an argument, of whose turns each instance has one, or a part of
 * each; elements that are no part or multiple of what it moves in a cycle are counted only. */
static void place_argument(Places *m) {
  const TdPlaced *p = m->r->array;
  int64_t width = (p->width + 7) / 8;
  if (m->r->beats > 1 || (p->bytes % width && width % p->bytes)) return;
  int64_t side = p->bytes >= width ? p->bytes / width : 1;
  int64_t cycles = p->bytes >= width ? 1 : width / p->bytes, own = side / p->users;
  uint32_t pool = pool_of(m, td_map_mix(p->number, 0), (TdFlowPool){.n = own ? own : 1});
  int64_t turns = own ? 1 : (p->users + side - 1) / side;
  m->t->flow.node.at[m->r->node].stages += (int32_t)(cycles - 1);
  td_flow_use(&m->t->flow, m->r->node, pool, cycles * turns, NULL);
}

/* The spot that stands for those of a stream end that may be one stream: the least. */
static uint32_t same_stream(const TdTrace *t, const TdPlaced *p, uint32_t spot) {
  uint32_t least = spot;
  for (uint32_t i = 0; p->line.n > 1 && i < least; i++)
    if (i != spot && !td_trace_is_apart(t, p, &p->spot.at[i], &p->spot.at[spot], false))
      least = same_stream(t, p, i);
  return least;
}

/* A token takes its end of the stream, unless it is under another arm of a condition. */
static void place_token(Places *m) {
  const TdReach *r = m->r;
  uint64_t key = td_map_mix(td_map_mix(r->array->number, same_stream(m->t, r->array, r->spot)),
                            1 + (uint64_t)r->slot);
  uint32_t pool = pool_of(m, key, (TdFlowPool){.n = 1, .loose = true});
  td_flow_use(&m->t->flow, r->node, pool, r->beats, r->arm);
}

void td_trace_place(TdTrace *t) {
  Places m = {.t = t};
  for (size_t i = 0; i < t->reach.n; i++) {
    const TdReach *r = &t->reach.at[i];
    m.r = r;
    if (r->dead || r->array->registers) continue;
    if (r->array->kind != TD_CELL_MEMORY)
      place_token(&m);
    else if (r->array->bytes)
      place_argument(&m);
    else if (r->array->ports)
      place_access(&m);
  }
}

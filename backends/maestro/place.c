/* place.c - where the operands of a job lie: each in a group of banks of its mode, behind
 * those that are there already. */
#include "backends/maestro/job.h"

/* The banks and rows that an operand takes in one group. */
typedef struct Box {
  int64_t bank, banks, row, rows;
} Box;

/* Bytes of a group in a mode. */
static int64_t group_bytes(const TdMaestroMemory *m, int mode) {
  return m->mode[mode].banks * m->word * m->rows;
}

/* The box of bytes [at, at + n) that lie in one group. */
static Box box_of(const TdMaestroMemory *m, int mode, int64_t at, int64_t n) {
  int64_t size = group_bytes(m, mode), line = m->mode[mode].banks * m->word, in = at % size;
  int64_t first = in / line, last = (in + n - 1) / line;
  return (Box){at / size * m->mode[mode].banks, m->mode[mode].banks, first, last - first + 1};
}

static bool meet(Box x, Box y) {
  return x.bank < y.bank + y.banks && y.bank < x.bank + x.banks && x.row < y.row + y.rows &&
         y.row < x.row + x.rows;
}

/* Whether bytes of two regions are the same places. Exact where both have one mode. */
static bool overlap(const TdMaestroMemory *m, int mx, int64_t x, int64_t nx, int my, int64_t y,
                    int64_t ny) {
  if (mx == my) return x < y + ny && y < x + nx;
  int64_t size = group_bytes(m, mx), other = group_bytes(m, my);
  for (int64_t a = x; a < x + nx; a += size - a % size) {
    int64_t na = size - a % size < x + nx - a ? size - a % size : x + nx - a;
    for (int64_t b = y; b < y + ny; b += other - b % other) {
      int64_t nb = other - b % other < y + ny - b ? other - b % other : y + ny - b;
      if (meet(box_of(m, mx, a, na), box_of(m, my, b, nb))) return true;
    }
  }
  return false;
}

typedef TdMaestroRegion Region;

typedef struct Place {
  TdMaestroJob *j;
  const TdMaestroAsk *ask;
  Region at[TD_MAESTRO_ROLES];
  int n; /* operands so far */
  TdDiag *d;
} Place;

int64_t td_maestro_region_behind(const TdMaestroMemory *m, const Region *list, int count, int mode,
                                 int64_t group) {
  int64_t size = group_bytes(m, mode), line = m->mode[mode].banks * m->word, at = 0;
  for (int i = 0; i < count; i++) {
    const Region *r = &list[i];
    Box all = {group * m->mode[mode].banks, m->mode[mode].banks, 0, m->rows};
    int64_t theirs = group_bytes(m, r->mode), end = r->base + r->bytes;
    for (int64_t a = r->base, n; a < end; a += n) {
      n = theirs - a % theirs < end - a ? theirs - a % theirs : end - a;
      Box b = box_of(m, r->mode, a, n);
      if (!meet(all, b)) continue;
      int64_t to = r->mode == mode ? a % size + n : (b.row + b.rows) * line;
      if (to > at) at = to;
    }
  }
  return group * size + (at + m->word - 1) / m->word * m->word;
}

/* The place behind all that lies in the banks of a group of a mode. */
static int64_t behind(const Place *p, int mode, int64_t group) {
  return td_maestro_region_behind(&p->j->system->memory, p->at, p->n, mode, group);
}

bool td_maestro_region_meets(const TdMaestroMemory *m, const Region *x, const Region *y) {
  return overlap(m, x->mode, x->base, x->bytes, y->mode, y->base, y->bytes);
}

/* Refuses a region that another one has bytes of, or that leaves the memory. */
static bool check_region(const Place *p, const Region *r) {
  const TdMaestroJob *j = p->j;
  const TdMaestroMemory *m = &j->system->memory;
  const TdMaestroStream *x = &j->stream[r->role];
  const char *name = x->x->sym->name;
  if (r->base < 0 || r->base % m->word)
    return td_diag_set(p->d, TD_USAGE, "maestro-base", (TdLoc){0},
                       "streamer %s: base %lld is no multiple of a word of %lld bytes",
                       j->system->at[x->streamer].name, (long long)r->base, (long long)m->word);
  if (r->base + r->bytes > td_maestro_system_bytes(m)) {
    td_diag_set(p->d, TD_UNSUPPORTED, "maestro-memory", (TdLoc){0},
                "streamer %s: '%s' takes bytes %lld to %lld of a memory of %lld",
                j->system->at[x->streamer].name, name, (long long)r->base,
                (long long)(r->base + r->bytes), (long long)td_maestro_system_bytes(m));
    td_diag_help(p->d, "another `base` or `mode`, a smaller kernel, or a larger memory");
    return false;
  }
  for (int i = 0; i < p->n; i++) {
    const Region *o = &p->at[i];
    if (!td_maestro_region_meets(m, r, o)) continue;
    td_diag_set(p->d, TD_UNSUPPORTED, "maestro-overlap", (TdLoc){0},
                "'%s' of streamer %s (%lld bytes from %lld in mode %s) lies on '%s' of streamer %s "
                "(%lld bytes from %lld in mode %s)",
                name, j->system->at[x->streamer].name, (long long)r->bytes, (long long)r->base,
                m->mode[r->mode].name, j->stream[o->role].x->sym->name,
                j->system->at[j->stream[o->role].streamer].name, (long long)o->bytes,
                (long long)o->base, m->mode[o->mode].name);
    td_diag_help(p->d, "another `base` or `mode` for one of them");
    return false;
  }
  return true;
}

/* Whether two operands are the same elements of one tensor, in the same order. */
static bool is_same(const TdMaestroStream *x, const TdMaestroStream *y) {
  const TdMaestroOperand *a = x->x, *b = y->x;
  if (a->param != b->param || a->rank != b->rank || x->order.bytes != y->order.bytes ||
      x->order.at.n != y->order.at.n)
    return false;
  for (int k = 0; k < a->rank; k++)
    if (a->origin[k] != b->origin[k] || a->extent[k] != b->extent[k] ||
        x->order.room[k] != y->order.room[k])
      return false;
  for (int i = 0; i < x->order.at.n; i++)
    if (x->order.at.at[i].n != y->order.at.at[i].n || x->order.at.at[i].s != y->order.at.at[i].s)
      return false;
  return true;
}

/* The earlier role whose operand lies where this one's does; -1: none. */
static int shared_with(const TdMaestroJob *j, int role) {
  for (int i = 0; i < role; i++)
    if (j->stream[i].used && j->stream[i].x && is_same(&j->stream[i], &j->stream[role])) return i;
  return -1;
}

/* Places one operand. */
static bool place(Place *p, int role) {
  TdMaestroJob *j = p->j;
  TdMaestroStream *x = &j->stream[role];
  TdMaestroPattern *q = &j->pattern[x->streamer];
  const TdMaestroMemory *m = &j->system->memory;
  int mode = p->ask->mode && p->ask->mode[x->streamer] >= 0 ? p->ask->mode[x->streamer] : 0;
  int twin = shared_with(j, role);
  if (role == TD_MAESTRO_OTHER) mode = q->mode;
  Region r = {.bytes = x->order.bytes, .mode = mode, .role = role};
  if (twin >= 0) {
    const TdMaestroPattern *t = &j->pattern[j->stream[twin].streamer];
    r.mode = q->mode = t->mode;
    r.base = x->base = t->base - j->stream[twin].nest.offset;
    q->base = r.base + x->nest.offset;
    return true;
  }
  int64_t groups = m->banks / m->mode[mode].banks;
  bool grouped = p->ask->group && p->ask->group[x->streamer] >= 0;
  r.base = behind(p, mode, grouped ? p->ask->group[x->streamer] % groups : p->n % groups);
  if (role == TD_MAESTRO_OTHER)
    r.base = behind(p, mode, p->at[0].base / group_bytes(m, mode));
  else if (p->ask->base && p->ask->base[x->streamer] >= 0)
    r.base = p->ask->base[x->streamer];
  if (!check_region(p, &r)) return false;
  p->at[p->n++] = r;
  x->base = r.base;
  if (role == TD_MAESTRO_OTHER) {
    q->stride[0] = r.base + x->nest.offset - q->base;
    return true;
  }
  q->mode = mode;
  q->base = r.base + x->nest.offset;
  return true;
}

bool td_maestro_job_place(TdMaestroJob *j, const TdMaestroAsk *ask, TdDiag *d) {
  Place p = {.j = j, .ask = ask, .d = d};
  for (int role = 0; role < TD_MAESTRO_ROLES; role++)
    if (j->stream[role].used && j->stream[role].x && !place(&p, role)) return false;
  return true;
}

bool td_maestro_job_shares(const TdMaestroJob *j, int role) {
  return shared_with(j, role) >= 0;
}

TdMaestroSpread td_maestro_job_spread(const TdMaestroJob *j, int streamer, int mode) {
  enum { VECTORS = 1 << 12 };
  const TdMaestroStreamer *s = &j->system->at[streamer];
  const TdMaestroMemory *m = &j->system->memory;
  TdMaestroPattern p = j->pattern[streamer];
  TdMaestroSpread r = {m->banks, 0, 1, true};
  for (int role = 0; role < TD_MAESTRO_ROLES; role++)
    if (j->stream[role].used && j->stream[role].streamer == streamer)
      r.fits = j->stream[role].order.bytes <= group_bytes(m, mode);
  p.mode = mode;
  p.base = 0;
  TdMaestroAgu g = td_maestro_agu_start(s, &p);
  for (int n = 0; g.busy && n < VECTORS; n++, td_maestro_agu_tick(&g)) {
    int words[TD_MAESTRO_BANKS] = {0};
    for (int c = 0; c < s->channels; c++) {
      if (!(p.mask >> c & 1)) continue;
      int64_t at = td_maestro_agu_physical(m, mode, g.address + td_maestro_agu_lane(s, &p, c));
      int64_t bank = at / m->word % m->mode[mode].banks;
      if (++words[bank] > r.cycles) r.cycles = words[bank];
      if (bank < r.lo) r.lo = bank;
      if (bank > r.hi) r.hi = bank;
    }
  }
  if (r.lo > r.hi) r.lo = r.hi = 0;
  return r;
}

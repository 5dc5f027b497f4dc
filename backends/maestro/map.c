/* map.c - an operand's access, composed with its order in memory, as the registers of a
 * streamer: from the inside out a word, the channels, and what is left are temporal loops. */
#include "backends/maestro/job.h"

#include <string.h>

typedef struct Map {
  TdMaestroJob *j;
  TdMaestroStream *x;
  const TdMaestroStreamer *s;
  TdMaestroPattern *p;
  int role;
  TdArena *a;
  TdDiag *d;
} Map;

/* A digit of the nest, and the loop that it is of. */
typedef struct Digits {
  TdDesc y;
  int loop[TD_DESC_DIGITS];
} Digits;

int64_t td_maestro_job_trips(const TdMaestroJob *j, int loop) {
  int64_t t = j->tile[loop];
  return (j->nest.loop[loop].extent + t - 1) / t;
}

/* By how many ordinals of the order one iteration of a loop moves the operand. */
static int64_t moves(const Map *m, int loop) {
  int64_t sum = 0, weight = 1;
  if (loop < 0) return 0;
  for (int k = m->x->x->rank; k-- > 0; weight *= m->x->order.room[k])
    sum += m->x->x->coef[k][loop] * weight;
  return sum;
}

/* The ordinal of the first element that is touched. */
static int64_t first_ordinal(const Map *m) {
  int64_t sum = 0, weight = 1;
  for (int k = m->x->x->rank; k-- > 0; weight *= m->x->order.room[k])
    sum += m->x->x->start[k] * weight;
  return sum;
}

static void add_digit(Digits *g, int64_t n, int64_t s, int loop) {
  g->loop[g->y.n] = loop;
  g->y.at[g->y.n++] = (TdDigit){n, s};
}

/* What goes across m, n or k. */
static void add_across(const Map *m, Digits *g, int which) {
  const int loop[2] = {m->j->outer[which], m->j->spatial[which]};
  for (int i = 0; i < 2; i++)
    if (loop[i] >= 0) add_digit(g, m->j->tile[loop[i]], moves(m, loop[i]), loop[i]);
}

/* The ordinals that the streamer must deliver, in order. */
static Digits digits_of(const Map *m) {
  Digits g = {.y = {.offset = first_ordinal(m)}};
  const TdMaestroJob *j = m->j;
  if (m->role >= TD_MAESTRO_FROM) {
    for (int i = 0; i < m->x->nwalk; i++) {
      const TdMaestroWalk *w = &m->x->walk[i];
      add_digit(&g, w->n, moves(m, w->loop) * w->step, w->loop);
    }
    return g;
  }
  bool sums = m->role >= TD_MAESTRO_C;
  for (int i = 0; i < j->nest.nloop; i++) {
    int l = j->temporal[i];
    if (sums && j->nest.loop[l].reduces) continue;
    add_digit(&g, td_maestro_job_trips(j, l), moves(m, l) * j->tile[l], l);
  }
  int row = td_maestro_tile[m->role].row, column = td_maestro_tile[m->role].column;
  int first = m->x->swapped ? column : row, last = m->x->swapped ? row : column;
  if (!m->x->copied) add_across(m, &g, first);
  add_across(m, &g, last);
  return g;
}

static const char *loop_name(const Map *m, int loop) {
  return loop < 0 ? "-" : m->j->nest.loop[loop].name;
}

/* Says which loop carries out of which part of the order, and what would not. */
static bool refuse_carry(const Map *m, const Digits *g) {
  const TdOrderBytes *o = &m->x->order;
  TdDesc out;
  TdDescCarry why = {-1, -1};
  int bad = g->y.n;
  while (bad-- > 0) {
    TdDesc part = {.offset = g->y.offset, .n = g->y.n - bad};
    memcpy(part.at, g->y.at + bad, sizeof *part.at * (size_t)part.n);
    if (!td_desc_compose(&o->at, &part, &out, &why)) break;
  }
  const char *name = bad < 0 ? "-" : loop_name(m, g->loop[bad]);
  const char *part =
      why.outer < 0 ? "the tensor" : td_order_part(m->a, &o->order, o->part[why.outer]);
  td_diag_set(m->d, TD_UNSUPPORTED, "maestro-carry", m->x->x->loc,
              "streamer %s: loop '%s' carries out of '%s' of the order of '%s'", m->s->name, name,
              part, m->x->x->sym->name);
  td_diag_help(m->d,
               "'%s': a part that the loop's steps divide, or with room for what is beyond "
               "(\"%s/8 .. %s%%8\" pads to a multiple of 8)",
               m->x->text,
               why.outer < 0 ? "x" : o->order.name[o->order.place[o->part[why.outer]].name],
               why.outer < 0 ? "x" : o->order.name[o->order.place[o->part[why.outer]].name]);
  return false;
}

/* Refuses a digit, and says which order would fit. */
static bool refuse_digit(const Map *m, const char *code, const char *what, TdDigit g) {
  td_diag_set(m->d, TD_UNSUPPORTED, code, m->x->x->loc,
              "streamer %s: %s: digit (%lld, %lld) of '%s' in order \"%s\"", m->s->name, what,
              (long long)g.n, (long long)g.s, m->x->x->sym->name, m->x->text);
  td_diag_help(m->d, "order = {%s = \"%s\"}", m->x->x->sym->name,
               td_maestro_order_fitting(m->j, m->role, &m->x->order.order, m->a));
  return false;
}

/* Takes `n` values off the innermost digit of z, `step` apart; false when it has not that many. */
static bool take_inner(TdDesc *z, int64_t n, int64_t *step) {
  *step = 0;
  if (n == 1) return true;
  if (!z->n) return false;
  TdDigit *g = &z->at[z->n - 1];
  if (g->n % n) return false;
  *step = g->s;
  *g = (TdDigit){g->n / n, g->s * n};
  if (g->n == 1) z->n--;
  return true;
}

/* The innermost digit, for messages. */
static TdDigit inner(const TdDesc *z) {
  return z->n ? z->at[z->n - 1] : (TdDigit){1, 0};
}

/* The channels: of words `words`, fewer than there are if the streamer has a mask. */
static bool take_lanes(Map *m, TdDesc *z, int64_t words) {
  uint64_t mask = 0;
  int64_t left = words, here[TD_MAESTRO_DIMS];
  for (int k = 0; k < m->s->nlane; k++) {
    here[k] = left < m->s->lane[k] ? left : m->s->lane[k];
    TdDigit g = inner(z);
    if (left % here[k] || !take_inner(z, here[k], &m->p->lane_stride[k]))
      return refuse_digit(m, "maestro-lanes", "the channels are not filled by one stride", g);
    left /= here[k];
  }
  for (int64_t c = 0; c < m->s->channels; c++) {
    bool on = true;
    int64_t rest = c;
    for (int k = 0; k < m->s->nlane; rest /= m->s->lane[k++]) on &= rest % m->s->lane[k] < here[k];
    mask |= (uint64_t)on << c;
  }
  m->p->mask = mask;
  return true;
}

/* The temporal loops, and those that are not needed. */
static bool take_loops(Map *m, TdDesc *z) {
  TdDesc t = td_desc_normal(z);
  if (t.n > m->s->loops) {
    td_diag_set(m->d, TD_UNSUPPORTED, "maestro-loops", m->x->x->loc,
                "streamer %s: '%s' needs %d temporal loops, and it has %lld", m->s->name,
                m->x->x->sym->name, t.n, (long long)m->s->loops);
    td_diag_help(m->d, "an order in which neighbouring loops are one step apart merges them, as "
                       "does another order of `loops`");
    return false;
  }
  for (int d = 0; d < m->s->loops; d++) {
    TdDigit g = d < t.n ? t.at[t.n - 1 - d] : (TdDigit){1, 0};
    if (g.s < 0) return refuse_digit(m, "maestro-negative", "counters cannot count down", g);
    m->p->bound[d] = g.n;
    m->p->stride[d] = g.s;
  }
  return true;
}

/* Whether every word begins where a word of the memory does. */
static bool check_words(const Map *m, const TdDesc *z) {
  int64_t word = m->j->system->memory.word;
  if (z->offset % word)
    return refuse_digit(m, "maestro-word", "the first word begins inside of another",
                        (TdDigit){1, z->offset});
  for (int i = 0; i < z->n; i++)
    if (z->at[i].n > 1 && z->at[i].s % word)
      return refuse_digit(m, "maestro-word", "words begin inside of others", z->at[i]);
  return true;
}

/* The registers for the tile as x->swapped and x->copied say. */
static bool try_tile(Map *m) {
  Digits g = digits_of(m);
  TdDescCarry why;
  TdDesc z;
  int64_t step, word = m->j->system->memory.word, e = m->x->element;
  *m->p = (TdMaestroPattern){.used = true, .ext = m->p->ext, .bytes = UINT32_MAX};
  if (!td_desc_compose(&m->x->order.at, &g.y, &z, &why)) return refuse_carry(m, &g);
  m->x->nest = z;
  m->p->base = z.offset;
  TdDigit first = inner(&z);
  if (e > word || word % e || !take_inner(&z, word / e, &step) || (step != e && word > e))
    return refuse_digit(m, "maestro-word", "a word is not contiguous", first);
  if (!check_words(m, &z)) return false;
  int64_t bits = m->s->channels * word * 8;
  if (m->x->copied) bits = td_maestro_order_across(m->j, td_maestro_tile[m->role].column) * e * 8;
  return take_lanes(m, &z, bits / (8 * word)) && take_loops(m, &z);
}

/* The extension of a kind, whose place it returns; -1: there is none. */
static int find_ext(const TdMaestroStreamer *s, int kind) {
  for (int i = 0; i < s->next; i++)
    if (s->ext[i].kind == kind) return i;
  return -1;
}

/* Whether the streamer can repeat one row of a tile for all rows, and that is wanted. */
static int copies(const Map *m) {
  const TdMaestroJob *j = m->j;
  int i = find_ext(m->s, TD_MAESTRO_EXT_BROADCAST), row = td_maestro_tile[m->role].row;
  if (i < 0 || !m->s->mask || m->s->writer || moves(m, j->spatial[row]) || moves(m, j->outer[row]))
    return -1;
  int64_t bits = td_maestro_order_across(j, td_maestro_tile[m->role].column) * m->x->element * 8;
  return m->s->ext[i].arg[0] == bits && m->s->ext[i].arg[1] == m->s->width ? i : -1;
}

/* Whether the streamer can turn tiles round. */
static int swaps(const Map *m) {
  int i = find_ext(m->s, TD_MAESTRO_EXT_TRANSPOSE);
  if (i < 0) return -1;
  const TdMaestroExt *x = &m->s->ext[i];
  int64_t row = td_maestro_order_across(m->j, td_maestro_tile[m->role].row),
          column = td_maestro_order_across(m->j, td_maestro_tile[m->role].column);
  if (m->s->writer) return x->arg[0] == row && x->arg[1] == column ? i : -1;
  return x->arg[0] == column && x->arg[1] == row ? i : -1;
}

bool td_maestro_map_stream(TdMaestroJob *j, int role, TdMaestroPattern *p, TdArena *a, TdDiag *d) {
  TdMaestroStream *x = &j->stream[role];
  Map m = {.j = j, .x = x, .s = &j->system->at[x->streamer], .role = role, .a = a, .d = d};
  m.p = p ? p : &j->pattern[x->streamer];
  x->swapped = x->copied = false;
  if (role >= TD_MAESTRO_FROM) return try_tile(&m);
  TdDiag plain = {.arena = d->arena}, other = {.arena = d->arena};
  int copy = copies(&m), swap = swaps(&m);
  m.d = &other;
  x->copied = copy >= 0;
  m.p->ext = copy >= 0 ? UINT32_C(1) << copy : 0;
  if (x->copied && try_tile(&m)) return true;
  x->copied = false;
  m.p->ext = 0;
  m.d = &plain;
  if (try_tile(&m)) return true;
  x->swapped = swap >= 0;
  m.p->ext = swap >= 0 ? UINT32_C(1) << swap : 0;
  other = (TdDiag){.arena = d->arena};
  m.d = &other;
  if (x->swapped && try_tile(&m)) return true;
  *d = plain;
  return false;
}

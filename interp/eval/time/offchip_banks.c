/* offchip_banks.c - memory of banks with open rows and refresh, command by command.
 *
 * A controller for each pseudo-channel issues a command a cycle, the first that may be: a read or
 * write of an open row before others, then the oldest (FR-FCFS); an older request of a bank is
 * overtaken `hits` times at most. All banks are refreshed together. Nothing is stepped: a command
 * is issued at the least cycle that the times of the standard let it (JESD235; the preset is
 * HBM2_2Gb at HBM2_2Gbps of Ramulator 2, a cycle a nanosecond). From the lowest bits a line's
 * address is its channel, its place in the row, pseudo-channel, group, bank and row. */
#include "eval/time/offchip.h"

enum { HALVES = 2, WINDOW = 4 }; /* pseudo-channels of a channel; activates in `faw` */

/* A line that is asked for, of an ask that is answered when all of its lines are. */
typedef struct Want {
  int64_t row, cycle, number;
  uint32_t ask;
  bool write;
} Want;

typedef struct Bank {
  int64_t row, hits;             /* open row, or -1; requests that overtook an older one */
  int64_t act, pre, read, write; /* from when on each command may be */
  TD_VEC(Want) want;             /* in order of age, from `first` on */
  size_t first;
} Bank;

/* From when on commands may be, of a group or a pseudo-channel. */
typedef struct Gate {
  int64_t act, read, write;
} Gate;

typedef enum { NOTHING, ACCESS, ACTIVATE, PRECHARGE } Command;

typedef struct Half {
  Bank *bank;
  Gate *group, all;
  int64_t acts[WINDOW], nact;
  int64_t now, refresh; /* next free cycle of its commands; when all banks are refreshed next */
  /* The next command: its cycle, bank, and request in there. */
  Command what;
  int64_t when;
  size_t at, which;
} Half;

typedef struct Ask {
  int64_t id, left, at;
} Ask;

typedef struct Banks {
  TdArena *arena;
  const int64_t *f; /* fields */
  Half *half;
  int64_t nhalf, now, number;
  TD_VEC(Ask) ask;
  TD_VEC(uint32_t) done; /* asks that nobody was told of, from `told` on */
  size_t told;
} Banks;

static int64_t later(int64_t x, int64_t y) {
  return x > y ? x : y;
}

static void raise_to(int64_t *x, int64_t y) {
  if (y > *x) *x = y;
}

static int64_t field(const Banks *s, TdOffchipFieldKind k) {
  return s->f[k];
}

static void *banks_open(TdArena *a, const TdOffchip *o) {
  Banks *s = TD_NEW(a, Banks);
  *s = (Banks){.arena = a, .f = o->field};
  int64_t groups = o->field[TD_OFFCHIP_GROUPS], banks = groups * o->field[TD_OFFCHIP_BANKS];
  s->nhalf = o->field[TD_OFFCHIP_CHANNELS] * HALVES;
  s->half = TD_NEWN(a, Half, s->nhalf);
  for (int64_t i = 0; i < s->nhalf; i++) {
    Half *h = &s->half[i];
    h->bank = TD_NEWN(a, Bank, banks);
    h->group = TD_NEWN(a, Gate, groups);
    h->when = INT64_MAX;
    h->refresh = o->field[TD_OFFCHIP_REFI] ? o->field[TD_OFFCHIP_REFI] : INT64_MAX;
    for (int64_t b = 0; b < banks; b++) h->bank[b].row = -1;
    for (int k = 0; k < WINDOW; k++) h->acts[k] = INT64_MIN / 2;
  }
  return s;
}

/* The request of a bank that is next: the oldest, or one of the open row. */
static size_t choose(const Banks *s, const Bank *b) {
  const Want *w = b->want.at;
  if (b->row < 0 || w[b->first].row == b->row || b->hits >= field(s, TD_OFFCHIP_HITS))
    return b->first;
  for (size_t i = b->first + 1; i < b->want.n; i++)
    if (w[i].row == b->row) return i;
  return b->first;
}

/* What request w of bank number n needs next; *when it may be. */
static Command need(const Banks *s, const Half *h, int64_t n, const Want *w, int64_t *when) {
  const Bank *b = &h->bank[n];
  const Gate *g = &h->group[n / field(s, TD_OFFCHIP_BANKS)];
  int64_t t = later(h->now, w->cycle + 1);
  if (b->row == w->row) {
    t = w->write ? later(later(t, b->write), later(g->write, h->all.write))
                 : later(later(t, b->read), later(g->read, h->all.read));
    *when = t;
    return ACCESS;
  }
  if (b->row >= 0) {
    *when = later(t, b->pre);
    return PRECHARGE;
  }
  int64_t window = h->acts[h->nact % WINDOW] + field(s, TD_OFFCHIP_FAW);
  *when = later(later(later(t, b->act), later(g->act, h->all.act)), window);
  return ACTIVATE;
}

/* Settles the next command of h. */
static void settle(const Banks *s, Half *h) {
  int64_t banks = field(s, TD_OFFCHIP_GROUPS) * field(s, TD_OFFCHIP_BANKS), oldest = 0;
  h->what = NOTHING;
  h->when = INT64_MAX;
  for (int64_t n = 0; n < banks; n++) {
    const Bank *b = &h->bank[n];
    if (b->first == b->want.n) continue;
    size_t i = choose(s, b);
    const Want *w = &b->want.at[i];
    int64_t when;
    Command what = need(s, h, n, w, &when);
    bool before = what == h->what ? w->number < oldest : what < h->what;
    if (h->what != NOTHING && (when > h->when || (when == h->when && !before))) continue;
    h->what = what;
    h->when = when;
    h->at = (size_t)n;
    h->which = i;
    oldest = w->number;
  }
}

/* Refreshes all banks of h: those with an open row are precharged first. */
static void refresh(const Banks *s, Half *h) {
  int64_t banks = field(s, TD_OFFCHIP_GROUPS) * field(s, TD_OFFCHIP_BANKS);
  int64_t t = later(h->refresh, h->now);
  bool open = false;
  for (int64_t n = 0; n < banks; n++) {
    t = later(t, h->bank[n].row >= 0 ? h->bank[n].pre : h->bank[n].act);
    open |= h->bank[n].row >= 0;
  }
  if (open) t += field(s, TD_OFFCHIP_RP);
  h->now = t + 1;
  for (int64_t n = 0; n < banks; n++) {
    h->bank[n].row = -1;
    h->bank[n].hits = 0;
    raise_to(&h->bank[n].act, t + field(s, TD_OFFCHIP_RFC));
  }
  h->refresh += field(s, TD_OFFCHIP_REFI);
}

static void activate(const Banks *s, Half *h, Bank *b, Gate *g, int64_t row) {
  int64_t t = h->when;
  b->row = row;
  b->hits = 0;
  raise_to(&b->read, t + field(s, TD_OFFCHIP_RCD));
  raise_to(&b->write, t + field(s, TD_OFFCHIP_RCD));
  raise_to(&b->pre, t + field(s, TD_OFFCHIP_RAS));
  raise_to(&b->act, t + field(s, TD_OFFCHIP_RC));
  raise_to(&g->act, t + field(s, TD_OFFCHIP_RRDL));
  raise_to(&h->all.act, t + field(s, TD_OFFCHIP_RRDS));
  h->acts[h->nact++ % WINDOW] = t;
}

/* What an access lets follow it; the cycle after its data. */
static int64_t occupy(const Banks *s, Half *h, Bank *b, Gate *g, bool write) {
  int64_t t = h->when, bl = field(s, TD_OFFCHIP_BL), wide = later(bl, field(s, TD_OFFCHIP_CCDS));
  int64_t near = later(bl, field(s, TD_OFFCHIP_CCDL));
  if (!write) {
    raise_to(&h->all.read, t + wide);
    raise_to(&g->read, t + near);
    raise_to(&h->all.write, t + field(s, TD_OFFCHIP_RTW) + bl);
    raise_to(&b->pre, t + field(s, TD_OFFCHIP_RTP));
    return t + field(s, TD_OFFCHIP_CL) + bl;
  }
  int64_t end = t + field(s, TD_OFFCHIP_CWL) + bl;
  raise_to(&h->all.write, t + wide);
  raise_to(&g->write, t + near);
  raise_to(&h->all.read, end + field(s, TD_OFFCHIP_WTRS));
  raise_to(&g->read, end + field(s, TD_OFFCHIP_WTRL));
  raise_to(&b->pre, end + field(s, TD_OFFCHIP_WR));
  return end;
}

/* Takes the request that is served from its bank. */
static void take(Bank *b, size_t i) {
  b->hits = i > b->first ? b->hits + 1 : 0;
  for (; i > b->first; i--) b->want.at[i] = b->want.at[i - 1];
  b->first++;
  if (b->first < b->want.n) return;
  b->first = b->want.n = 0;
}

/* Issues the next command of h. */
static void issue(Banks *s, Half *h) {
  Bank *b = &h->bank[h->at];
  Gate *g = &h->group[(int64_t)h->at / field(s, TD_OFFCHIP_BANKS)];
  Want w = b->want.at[h->which];
  h->now = h->when + 1;
  if (h->what == ACTIVATE) {
    activate(s, h, b, g, w.row);
  } else if (h->what == PRECHARGE) {
    b->row = -1;
    raise_to(&b->act, h->when + field(s, TD_OFFCHIP_RP));
  } else {
    Ask *a = &s->ask.at[w.ask];
    raise_to(&a->at, occupy(s, h, b, g, w.write));
    take(b, h->which);
    if (!--a->left) td_vec_push(s->arena, &s->done, w.ask);
  }
}

static int64_t banks_cycles(void *state, int64_t until) {
  Banks *s = state;
  while (s->told == s->done.n) {
    Half *h = NULL;
    for (int64_t i = 0; i < s->nhalf; i++)
      if (!h || s->half[i].when < h->when) h = &s->half[i];
    if (!h || h->when >= until) return until;
    td_ctx_tick(td_arena_ctx(s->arena), 1);
    s->now = h->when;
    if (h->when >= h->refresh)
      refresh(s, h);
    else
      issue(s, h);
    settle(s, h);
  }
  return s->now;
}

static int64_t banks_request(void *state, const TdOffchipAsk *ask) {
  Banks *s = state;
  int64_t line = ask->address / field(s, TD_OFFCHIP_REQUEST);
  uint32_t number = (uint32_t)s->ask.n;
  td_vec_push(s->arena, &s->ask, ((Ask){.id = ask->id, .left = ask->n}));
  for (int64_t i = 0; i < ask->n; i++) {
    int64_t x = line + i, channel = x % field(s, TD_OFFCHIP_CHANNELS);
    x = x / field(s, TD_OFFCHIP_CHANNELS) / field(s, TD_OFFCHIP_LINES);
    Half *h = &s->half[channel * HALVES + x % HALVES];
    int64_t group = x / HALVES % field(s, TD_OFFCHIP_GROUPS);
    x = x / HALVES / field(s, TD_OFFCHIP_GROUPS);
    Bank *b = &h->bank[group * field(s, TD_OFFCHIP_BANKS) + x % field(s, TD_OFFCHIP_BANKS)];
    Want w = {.row = x / field(s, TD_OFFCHIP_BANKS),
              .cycle = ask->cycle,
              .number = s->number++,
              .ask = number,
              .write = ask->write};
    td_vec_push(s->arena, &b->want, w);
    settle(s, h);
  }
  return -1;
}

static bool banks_answer(void *state, int64_t *id, int64_t *cycle) {
  Banks *s = state;
  if (s->told == s->done.n) {
    s->told = s->done.n = 0;
    return false;
  }
  const Ask *a = &s->ask.at[s->done.at[s->told++]];
  *id = a->id;
  *cycle = a->at;
  return true;
}

/* Fields that it does not read. */
#define NOT_READ                                                                                   \
  ((uint64_t)1 << TD_OFFCHIP_LATENCY | (uint64_t)1 << TD_OFFCHIP_INTERVAL |                        \
   (uint64_t)1 << TD_OFFCHIP_STARTUP)

const TdOffchipModel td_offchip_banks = {
    .name = "banks",
    .help = "HBM2: banks with open rows and refresh, placed by address",
    .has = (((uint64_t)1 << TD_OFFCHIP_NFIELDS) - 1) & ~NOT_READ,
    .initial = {[TD_OFFCHIP_CHANNELS] = 32, [TD_OFFCHIP_REQUEST] = 64, [TD_OFFCHIP_GROUPS] = 4,
                [TD_OFFCHIP_BANKS] = 2,     [TD_OFFCHIP_LINES] = 32,   [TD_OFFCHIP_HITS] = 16,
                [TD_OFFCHIP_BL] = 4,        [TD_OFFCHIP_CL] = 7,       [TD_OFFCHIP_CWL] = 2,
                [TD_OFFCHIP_RCD] = 7,       [TD_OFFCHIP_RP] = 7,       [TD_OFFCHIP_RAS] = 17,
                [TD_OFFCHIP_RC] = 19,       [TD_OFFCHIP_WR] = 8,       [TD_OFFCHIP_RTP] = 3,
                [TD_OFFCHIP_CCDS] = 1,      [TD_OFFCHIP_CCDL] = 2,     [TD_OFFCHIP_RRDS] = 2,
                [TD_OFFCHIP_RRDL] = 3,      [TD_OFFCHIP_WTRS] = 3,     [TD_OFFCHIP_WTRL] = 4,
                [TD_OFFCHIP_RTW] = 3,       [TD_OFFCHIP_FAW] = 15,     [TD_OFFCHIP_RFC] = 160,
                [TD_OFFCHIP_REFI] = 3900},
    .open = banks_open,
    .request = banks_request,
    .cycles = banks_cycles,
    .answer = banks_answer};

/* model.c - a system cycle by cycle, without data: what the array does never depends on it.
 * In each cycle words leave the FIFOs, then channels ask for banks, arbiters grant, responses of
 * earlier grants enter the FIFOs, and the AGUs push addresses; what is pushed is seen from the next
 * cycle on. */
#include "backends/maestro/maestro.h"
#include "base/ctx.h"

/* A streamer under way. Channels move on their own: each has taken some of the vectors of addresses
 * that its AGU has pushed, and has words in its FIFO. */
typedef struct Mover {
  const TdMaestroStreamer *s;
  const TdMaestroPattern *p;
  TdMaestroAgu agu;
  TdMaestroChain chain;
  uint64_t in_flight[TD_MAESTRO_LATENCY + 1]; /* grants of the last cycles */
  int64_t pushed, popped;                     /* vectors, wide words */
  int64_t repeats, handed;              /* times that a word is handed over, was handed over */
  int64_t taken[TD_MAESTRO_CHANNELS];   /* addresses that were granted */
  int64_t arrived[TD_MAESTRO_CHANNELS]; /* words in the FIFO, and those that left it */
  uint8_t *bank;                        /* of the addresses in the queue: [slot][channel] */
  uint64_t request, grant;
  bool pops; /* a wide word leaves in this cycle (reader) or comes (writer) */
} Mover;

/* One bank in one cycle. */
typedef struct Bank {
  int winner, level, asks; /* port + 1; what it is among levels; requests */
  int64_t distance;        /* of the winner from the port behind the last one that was granted */
} Bank;

/* The array: two stages of registers, then the products, then the result that they end in. */
typedef struct Array {
  bool stage[2], result, quantised;
  int64_t step, tiles; /* done */
  int64_t quantise;    /* cycles that the quantiser still works, 0: idle or done */
} Array;

typedef struct Model {
  const TdMaestroRun *r;
  const TdMaestroSystem *sys;
  TdMaestroReport *out;
  Mover mover[TD_MAESTRO_STREAMERS];
  Bank bank[TD_MAESTRO_BANKS];
  int last[TD_MAESTRO_BANKS]; /* port that each bank granted last */
  Array array;
  int a, b, c, d, e;  /* streamers of the array, -1: not there, or off */
  bool late;          /* a writer's full queue accepts what is granted in the cycle: grants first */
  int64_t now, moved; /* the cycle, and the last one in which something moved */
  int64_t quantiser;  /* cycles that it needs for a result */
  bool fire;
} Model;

static int used_streamer(const Model *m, const char *name) {
  int i = td_maestro_system_find(m->sys, name);
  return i >= 0 && m->mover[i].agu.busy ? i : -1;
}

static void start_mover(Model *m, int i) {
  Mover *v = &m->mover[i];
  v->s = &m->sys->at[i];
  v->p = &m->r->pattern[i];
  v->agu = td_maestro_agu_start(v->s, v->p);
  v->chain = (TdMaestroChain){.s = v->s, .p = v->p};
  v->repeats = td_maestro_agu_repeats(v->s, v->p);
  v->bank = TD_NEWN(m->r->arena, uint8_t, (size_t)(v->s->addr_depth * v->s->channels));
}

static void start(Model *m) {
  for (int i = 0; i < m->sys->n; i++) start_mover(m, i);
  for (int b = 0; b < m->sys->memory.banks; b++) m->last[b] = m->sys->ports - 1;
  m->a = used_streamer(m, "A");
  m->b = used_streamer(m, "B");
  m->c = m->r->work.with_c ? used_streamer(m, "C") : -1;
  m->d = m->r->work.quantised ? -1 : used_streamer(m, "D");
  m->e = m->r->work.quantised ? used_streamer(m, "E") : -1;
  const TdMaestroArray *x = &m->sys->array;
  if (x->here) m->quantiser = (x->m * x->n + x->lanes - 1) / x->lanes;
  int w = m->r->work.path ? m->r->work.to : m->d >= 0 ? m->d : m->e;
  m->late = w >= 0 && !m->sys->at[w].data_full;
}

/* ---- words between FIFOs and array ---- */

/* Whether a wide word is in the FIFO. */
static bool has_fetched(const Mover *v) {
  for (int c = 0; c < v->s->channels; c++)
    if (v->arrived[c] == v->popped) return false;
  return true;
}

/* Whether a beat is ready behind the extensions. */
static bool has_word(const Model *m, int i) {
  const Mover *v = &m->mover[i];
  return td_maestro_chain_valid(&v->chain, has_fetched(v));
}

/* Hands the word of the FIFO on; it leaves with the last time. */
static void hand_over(Mover *v) {
  if (++v->handed < v->repeats) return;
  v->handed = 0;
  v->pops = true;
}

/* Takes a beat. */
static void take_word(Model *m, int i) {
  Mover *v = &m->mover[i];
  if (td_maestro_chain_take(&v->chain)) hand_over(v);
}

/* Whether a writer's FIFO has room for a wide word. */
static bool has_space(const Mover *v) {
  for (int c = 0; c < v->s->channels; c++) {
    int64_t taken = v->taken[c] + (int64_t)(!v->s->data_full && v->grant >> c & 1);
    if (v->popped - taken >= v->s->depth) return false;
  }
  return true;
}

/* Whether a writer takes a beat. */
static bool has_room(const Model *m, int i) {
  const Mover *v = &m->mover[i];
  return td_maestro_chain_ready(&v->chain, has_space(v));
}

/* Gives a writer a beat. */
static void give_word(Model *m, int i) {
  Mover *v = &m->mover[i];
  v->pops |= td_maestro_chain_give(&v->chain);
}

/* Moves a result that waits on to its writer or the quantiser; whether it went. */
static bool move_result(Model *m) {
  Array *x = &m->array;
  if (x->quantised && has_room(m, m->e)) {
    give_word(m, m->e);
    x->quantised = false;
  }
  if (!x->result) return true;
  if (m->d >= 0) {
    if (!has_room(m, m->d)) return false;
    give_word(m, m->d);
  } else if (m->e >= 0) {
    if (x->quantise || x->quantised) return false;
    x->quantise = m->quantiser;
  }
  x->result = false;
  return true;
}

/* Why the second stage cannot multiply, or -1. */
static int blocked(const Model *m, bool free) {
  const Array *x = &m->array;
  if (!free) return TD_MAESTRO_STALL_FULL;
  if (!x->stage[1])
    return m->a >= 0 && has_word(m, m->a) ? TD_MAESTRO_STALL_EMPTY_B : TD_MAESTRO_STALL_EMPTY_A;
  bool first = x->step == 0 && m->c >= 0;
  return first && !has_word(m, m->c) ? TD_MAESTRO_STALL_EMPTY_C : -1;
}

/* One product of tiles. */
static void multiply(Model *m) {
  Array *x = &m->array;
  if (x->step == 0 && m->c >= 0) take_word(m, m->c);
  x->stage[1] = false;
  if (++x->step == m->r->work.steps) {
    x->step = 0;
    x->tiles++;
    x->result = true;
  }
  if (!m->out->fires++) m->out->first = m->now;
  m->out->last = m->now;
}

/* The array in one cycle, from its output to its inputs. */
static void step_array(Model *m) {
  Array *x = &m->array;
  bool done = x->tiles == m->r->work.tiles;
  bool free = move_result(m);
  int why = done ? TD_MAESTRO_STALL_DRAIN : blocked(m, free);
  m->fire = why < 0;
  if (m->fire)
    multiply(m);
  else
    m->out->stall[!m->out->fires ? TD_MAESTRO_STALL_START : why]++;
  if (x->quantise && --x->quantise == 0) x->quantised = true;
  if (x->stage[0] && !x->stage[1]) {
    x->stage[1] = true;
    x->stage[0] = false;
  }
  if (!x->stage[0] && m->a >= 0 && m->b >= 0 && has_word(m, m->a) && has_word(m, m->b)) {
    take_word(m, m->a);
    take_word(m, m->b);
    x->stage[0] = true;
  }
}

/* A beat from a reader to a writer, past the array. */
static void step_path(Model *m) {
  int from = m->r->work.from, to = m->r->work.to;
  m->fire = has_word(m, from) && has_room(m, to);
  if (!m->fire) {
    m->out->stall[!m->out->fires      ? TD_MAESTRO_STALL_START
                  : has_word(m, from) ? TD_MAESTRO_STALL_FULL
                                      : TD_MAESTRO_STALL_EMPTY_A]++;
    return;
  }
  take_word(m, from);
  give_word(m, to);
  if (!m->out->fires++) m->out->first = m->now;
  m->out->last = m->now;
}

/* Words and beats of one cycle, from the writers' FIFOs to those of the readers. */
static void step_words(Model *m) {
  for (int i = 0; i < m->sys->n; i++) {
    Mover *v = &m->mover[i];
    if (v->s->writer && v->s->next) v->pops |= td_maestro_chain_drain(&v->chain, has_space(v));
  }
  m->fire = false;
  if (m->r->work.path)
    step_path(m);
  else if (m->sys->array.here)
    step_array(m);
  for (int i = 0; i < m->sys->n; i++) {
    Mover *v = &m->mover[i];
    if (!v->s->writer && v->s->next && td_maestro_chain_pull(&v->chain, has_fetched(v)))
      hand_over(v);
  }
}

/* ---- requests and grants ---- */

/* The channels of a reader that ask: an address, and a place for what comes. */
static uint64_t reader_requests(const Mover *v) {
  uint64_t set = 0;
  int64_t out = v->popped + (v->pops && !v->s->data_full);
  for (int c = 0; c < v->s->channels; c++)
    if (v->taken[c] < v->pushed && v->taken[c] - out < v->s->depth) set |= UINT64_C(1) << c;
  return set;
}

/* Those of a writer: an address and a word. */
static uint64_t writer_requests(const Mover *v) {
  uint64_t set = 0;
  for (int c = 0; c < v->s->channels; c++)
    if (v->taken[c] < v->pushed && v->taken[c] < v->popped) set |= UINT64_C(1) << c;
  return set;
}

/* Which channels ask in this cycle; a writer keeps the reader that it shares ports with waiting. */
static void find_requests(Model *m) {
  for (int i = 0; i < m->sys->n; i++) {
    Mover *v = &m->mover[i];
    v->request = v->s->writer ? writer_requests(v) : reader_requests(v);
    v->grant = v->request & ~v->p->mask;
    v->request &= v->p->mask;
  }
  for (int i = 0; i < m->sys->n; i++) {
    const Mover *v = &m->mover[i];
    if (v->s->shares < 0 || !v->request) continue;
    Mover *reader = &m->mover[v->s->shares];
    for (uint64_t set = reader->request; set; set &= set - 1)
      m->out->streamer[v->s->shares].shared++;
    reader->request = 0;
  }
}

/* The bank that channel c asks for. */
static int bank_of(const Mover *v, int c) {
  return v->bank[v->taken[c] % v->s->addr_depth * v->s->channels + c];
}

/* Has the bank of a port's request know it; the least distance in the highest level wins. */
static void ask(Model *m, int bank, int port, int level) {
  Bank *b = &m->bank[bank];
  int distance = port - m->last[bank] - 1;
  if (distance < 0) distance += m->sys->ports;
  if (!b->asks++ || level < b->level || (level == b->level && distance < b->distance))
    *b = (Bank){.winner = port + 1, .level = level, .asks = b->asks, .distance = distance};
}

static int level_of(const Model *m, int i) {
  return m->sys->priority && i != m->a && i != m->b;
}

/* All requests to their banks, then the grants. */
static void arbitrate(Model *m) {
  for (int b = 0; b < m->sys->memory.banks; b++) m->bank[b].asks = m->bank[b].winner = 0;
  for (int i = 0; i < m->sys->n; i++) {
    const Mover *v = &m->mover[i];
    if (!v->request) continue;
    int level = level_of(m, i);
    for (int c = 0; c < v->s->channels; c++)
      if (v->request >> c & 1) ask(m, bank_of(v, c), v->s->first + c, level);
  }
  for (int i = 0; i < m->sys->n; i++) {
    Mover *v = &m->mover[i];
    for (int c = 0; v->request && c < v->s->channels; c++) {
      if (!(v->request >> c & 1)) continue;
      int bank = bank_of(v, c), port = v->s->first + c;
      bool won = m->bank[bank].winner == port + 1;
      v->grant |= (uint64_t)won << c;
      if (won) m->last[bank] = port;
      m->out->bank[bank] += won;
      m->out->bank_conflicts[bank] += !won;
      m->out->streamer[i].accesses += won;
      m->out->streamer[i].conflicts += !won;
    }
  }
}

/* ---- the end of a cycle ---- */

/* Words of earlier grants come into the FIFOs; those of channels that are masked come at once. */
static void respond(Model *m, Mover *v) {
  int64_t latency = m->sys->memory.latency;
  uint64_t *now = &v->in_flight[m->now % (latency + 1)];
  *now = v->grant & v->p->mask;
  uint64_t came = v->in_flight[(m->now + 1) % (latency + 1)] | (v->grant & ~v->p->mask);
  for (int c = 0; came >> c && c < v->s->channels; c++) v->arrived[c] += (int64_t)(came >> c & 1);
}

/* Whether the address queues of all channels have room. */
static bool can_push(const Mover *v, uint64_t granted) {
  for (int c = 0; c < v->s->channels; c++) {
    int64_t taken = v->taken[c] - (v->s->addr_full && granted >> c & 1);
    if (v->pushed - taken >= v->s->addr_depth) return false;
  }
  return true;
}

/* One vector of addresses, as banks. */
static void push(Model *m, Mover *v) {
  const TdMaestroMemory *mem = &m->sys->memory;
  uint8_t *bank = &v->bank[v->pushed % v->s->addr_depth * v->s->channels];
  for (int c = 0; c < v->s->channels; c++) {
    int64_t at = v->agu.address + td_maestro_agu_lane(v->s, v->p, c);
    int64_t place = td_maestro_agu_physical(mem, v->p->mode, at);
    bank[c] = (uint8_t)(place / mem->word % mem->banks);
  }
  v->pushed++;
  td_maestro_agu_tick(&v->agu);
}

/* Wide words in the FIFOs of a streamer at the end of a cycle: of the channel that has most. */
static int64_t words_of(const Mover *v) {
  int64_t most = 0;
  for (int c = 0; c < v->s->channels; c++) {
    int64_t n = v->s->writer ? v->popped - v->taken[c] : v->arrived[c] - v->popped;
    if (n > most) most = n;
  }
  return most;
}

/* Grants, responses, addresses; whether anything moved. */
static bool end_mover(Model *m, Mover *v) {
  bool moved = v->grant || v->pops;
  for (int c = 0; c < v->s->channels; c++) v->taken[c] += (int64_t)(v->grant >> c & 1);
  if (!v->s->writer) respond(m, v);
  v->popped += v->pops;
  v->pops = false;
  TdMaestroCount *n = &m->out->streamer[v - m->mover];
  int64_t words = words_of(v);
  n->occupancy += words;
  if (words > n->most) n->most = words;
  if (!v->agu.busy || !can_push(v, v->grant)) return moved;
  push(m, v);
  return true;
}

/* Whether something is left to do: addresses, or a result on its way to the quantiser. */
static bool is_busy(const Model *m) {
  for (int i = 0; i < m->sys->n; i++) {
    const Mover *v = &m->mover[i];
    if (v->agu.busy) return true;
    for (int c = 0; c < v->s->channels; c++)
      if (v->taken[c] < v->pushed) return true;
  }
  return false;
}

static void tell(const Model *m) {
  TdMaestroCycle c = {.cycle = m->now, .fire = m->fire};
  for (int i = 0; i < m->sys->n; i++) {
    c.request[i] = m->mover[i].request;
    c.grant[i] = m->mover[i].grant;
    c.words[i] = words_of(&m->mover[i]);
  }
  m->r->watch(m->r->ud, &c);
}

bool td_maestro_model_run(const TdMaestroRun *r, TdMaestroReport *out, TdDiag *d) {
  Model *m = TD_NEW(r->arena, Model);
  *m = (Model){.r = r, .sys = r->system, .out = out};
  *out = (TdMaestroReport){0};
  start(m);
  enum { PATIENCE = 1000 };
  for (; is_busy(m); m->now++) {
    td_ctx_tick(r->ctx, 1);
    if (!m->late) step_words(m);
    find_requests(m);
    arbitrate(m);
    if (m->late) step_words(m);
    if (r->watch) tell(m);
    bool moved = m->fire;
    for (int i = 0; i < m->sys->n; i++) moved |= end_mover(m, &m->mover[i]);
    if (moved) m->moved = m->now;
    if (m->now - m->moved > PATIENCE)
      return td_diag_set(d, TD_ILLEGAL, "maestro-stuck", (TdLoc){0},
                         "nothing moves any more after cycle %lld", (long long)m->moved);
  }
  out->cycles = m->now;
  return true;
}

/* model.c - a system cycle by cycle, without data: what the array does never depends on it.
 * In each cycle words leave the FIFOs, then channels ask for banks, arbiters grant, responses of
 * earlier grants enter the FIFOs, and the AGUs push addresses; what is pushed is seen from the next
 * cycle on. */
#include <string.h>

#include "base/ctx.h"
#include "backends/maestro/maestro.h"

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
  int64_t offset[TD_MAESTRO_CHANNELS];  /* of each channel's address */
  TdMaestroRemap remap;
  uint64_t request, grant, access; /* access: channels that do not do without memory */
  bool pops;                       /* a wide word leaves in this cycle (reader) or comes (writer) */
  size_t job, ahead;      /* that its words, that its addresses are of: at most one further */
  int64_t border, before; /* vectors before the job ahead, before the one before that */
  int64_t limit;          /* those that are pushed at all, 0: all */
  const TdMaestroPattern *next;
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
  size_t job, result_job, quantised_job; /* that it multiplies for, that results are of */
} Array;

struct TdMaestroModel {
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
  int why; /* it does not */
};
typedef struct TdMaestroModel Model;

/* The registers of all streamers in a job; what its array does. */
static const TdMaestroPattern *patterns(const Model *m, size_t job) {
  return job ? m->r->next[job - 1].pattern : m->r->pattern;
}

static const TdMaestroWork *work_of(const Model *m) {
  size_t job = m->array.job;
  return job ? &m->r->next[job - 1].work : &m->r->work;
}

static int used_streamer(const Model *m, const char *name) {
  int i = td_maestro_system_find(m->sys, name);
  if (i < 0) return -1;
  return td_maestro_agu_start(&m->sys->at[i], &patterns(m, m->array.job)[i]).busy ? i : -1;
}

/* Starts addresses of the job ahead. */
static void start_addresses(Model *m, Mover *v, int i) {
  v->next = &patterns(m, v->ahead)[i];
  v->agu = td_maestro_agu_start(v->s, v->next);
  for (int c = 0; c < v->s->channels; c++) v->offset[c] = td_maestro_agu_lane(v->s, v->next, c);
  v->remap = td_maestro_agu_remap(&m->sys->memory, v->next->mode);
  v->before = v->border;
  v->border = v->pushed;
}

/* Goes on to words of the job ahead. */
static void start_words(Mover *v) {
  v->job = v->ahead;
  v->p = v->next;
  v->chain = (TdMaestroChain){.s = v->s, .p = v->p};
  v->repeats = td_maestro_agu_repeats(v->s, v->p);
}

static void start_mover(Model *m, int i) {
  Mover *v = &m->mover[i];
  v->s = &m->sys->at[i];
  v->bank = TD_NEWN(m->r->arena, uint8_t, (size_t)(v->s->addr_depth * v->s->channels));
  start_addresses(m, v, i);
  start_words(v);
  int64_t words = td_maestro_agu_count(v->s, v->p) / v->repeats;
  if (m->r->tiles) v->limit = (words * m->r->tiles - 1) / m->r->work.tiles + 1;
}

/* The streamers of the array in its job. */
static void start_array(Model *m) {
  const TdMaestroWork *w = work_of(m);
  m->a = used_streamer(m, "A");
  m->b = used_streamer(m, "B");
  m->c = w->with_c ? used_streamer(m, "C") : -1;
  m->d = w->quantised ? -1 : used_streamer(m, "D");
  m->e = w->quantised ? used_streamer(m, "E") : -1;
  const TdMaestroArray *x = &m->sys->array;
  if (x->here) m->quantiser = (x->m * x->n + x->lanes - 1) / x->lanes;
  int out = w->path ? w->to : m->d >= 0 ? m->d : m->e;
  m->late = out >= 0 && !m->sys->at[out].data_full;
}

static void start(Model *m) {
  for (int i = 0; i < m->sys->n; i++) start_mover(m, i);
  for (int b = 0; b < m->sys->memory.banks; b++)
    m->last[b] = m->r->last ? m->r->last[b] : m->sys->ports - 1;
  start_array(m);
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
  return v->job == m->array.job && td_maestro_chain_valid(&v->chain, has_fetched(v));
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
static bool has_room(const Model *m, int i, size_t job) {
  const Mover *v = &m->mover[i];
  return v->job == job && td_maestro_chain_ready(&v->chain, has_space(v));
}

/* Gives a writer a beat. */
static void give_word(Model *m, int i) {
  Mover *v = &m->mover[i];
  v->pops |= td_maestro_chain_give(&v->chain);
}

/* Moves a result that waits on to its writer or the quantiser; whether it went. */
static bool move_result(Model *m) {
  Array *x = &m->array;
  if (x->quantised && has_room(m, m->e, x->quantised_job)) {
    give_word(m, m->e);
    x->quantised = false;
  }
  if (!x->result) return true;
  if (m->d >= 0) {
    if (!has_room(m, m->d, x->result_job)) return false;
    give_word(m, m->d);
  } else if (m->e >= 0) {
    if (x->quantise || x->quantised) return false;
    x->quantise = m->quantiser;
    x->quantised_job = x->result_job;
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
  if (++x->step == work_of(m)->steps) {
    x->step = 0;
    x->tiles++;
    x->result = true;
    x->result_job = x->job;
  }
  if (!m->out->fires++) m->out->first = m->now;
  m->out->last = m->now;
}

/* Goes to the next job; results of this one have left before those of another writer come. */
static void next_work(Model *m) {
  Array *x = &m->array;
  if (x->tiles < work_of(m)->tiles || x->job == m->r->nnext) return;
  bool same = m->r->next[x->job].work.quantised == work_of(m)->quantised;
  if (x->result || (!same && (x->quantise || x->quantised))) return;
  x->job++;
  x->tiles = 0;
  start_array(m);
}

/* The array in one cycle, from its output to its inputs. */
static void step_array(Model *m) {
  Array *x = &m->array;
  bool free = move_result(m);
  next_work(m);
  bool done = x->tiles == work_of(m)->tiles;
  int why = done ? TD_MAESTRO_STALL_DRAIN : blocked(m, free);
  m->fire = why < 0;
  m->why = m->fire || m->out->fires ? why : TD_MAESTRO_STALL_START;
  if (m->fire)
    multiply(m);
  else
    m->out->stall[m->why]++;
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
  int from = work_of(m)->from, to = work_of(m)->to;
  m->fire = has_word(m, from) && has_room(m, to, m->array.job);
  m->why = !m->out->fires      ? TD_MAESTRO_STALL_START
           : has_word(m, from) ? TD_MAESTRO_STALL_FULL
                               : TD_MAESTRO_STALL_EMPTY_A;
  if (!m->fire) {
    m->out->stall[m->why]++;
    return;
  }
  take_word(m, from);
  give_word(m, to);
  if (!m->out->fires++) m->out->first = m->now;
  m->out->last = m->now;
}

/* Beats in the extensions of the writers move on to their FIFOs. */
static void drain_chains(Model *m) {
  for (int i = 0; i < m->sys->n; i++) {
    Mover *v = &m->mover[i];
    if (v->s->writer && v->s->next) v->pops |= td_maestro_chain_drain(&v->chain, has_space(v));
  }
}

/* Those of the readers move on from them. */
static void pull_chains(Model *m) {
  for (int i = 0; i < m->sys->n; i++) {
    Mover *v = &m->mover[i];
    if (!v->s->writer && v->s->next && td_maestro_chain_pull(&v->chain, has_fetched(v)))
      hand_over(v);
  }
}

/* Words and beats of one cycle, from the writers' FIFOs to those of the readers. */
static void step_words(Model *m) {
  drain_chains(m);
  m->fire = false;
  if (work_of(m)->path)
    step_path(m);
  else if (m->sys->array.here)
    step_array(m);
  pull_chains(m);
}

/* Words of the readers, or the writers, of what the caller steps: streams are between the two, so
 * that neither waits for the other within a cycle. */
static void step_outer(Model *m, bool writers) {
  if (writers) drain_chains(m);
  bool moved = m->r->outer->words(m->r->outer->ud, m, writers);
  if (!writers) pull_chains(m);
  m->fire = moved || (writers && m->fire);
  if (!writers || !m->fire) return;
  if (!m->out->fires++) m->out->first = m->now;
  m->out->last = m->now;
}

bool td_maestro_model_has_word(const Model *m, int streamer) {
  return has_word(m, streamer);
}

void td_maestro_model_take(Model *m, int streamer) {
  take_word(m, streamer);
}

bool td_maestro_model_has_room(const Model *m, int streamer) {
  return has_room(m, streamer, m->array.job);
}

void td_maestro_model_give(Model *m, int streamer) {
  give_word(m, streamer);
}

int64_t td_maestro_model_now(const Model *m) {
  return m->now;
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

/* The channels that access memory, each for the address that is next. */
static uint64_t mask_of(const Mover *v) {
  if (v->p == v->next || v->p->mask == v->next->mask) return v->next->mask;
  uint64_t set = 0;
  for (int c = 0; c < v->s->channels; c++) {
    uint64_t mask = v->taken[c] < v->border ? v->p->mask : v->next->mask;
    set |= mask & UINT64_C(1) << c;
  }
  return set;
}

/* Which channels ask in this cycle; a writer keeps the reader that it shares ports with waiting. */
static void find_requests(Model *m) {
  for (int i = 0; i < m->sys->n; i++) {
    Mover *v = &m->mover[i];
    v->request = v->s->writer ? writer_requests(v) : reader_requests(v);
    uint64_t mask = v->access = mask_of(v);
    v->grant = v->request & ~mask;
    v->request &= mask;
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
  *now = v->grant & v->access;
  uint64_t came = v->in_flight[(m->now + 1) % (latency + 1)] | (v->grant & ~v->access);
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
    int64_t place = td_maestro_agu_place(&v->remap, v->agu.address + v->offset[c]);
    bank[c] = (uint8_t)(place / mem->word % mem->banks);
  }
  v->pushed++;
  td_maestro_agu_tick(&v->agu);
  if (v->pushed == v->limit) v->agu.busy = false;
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

/* Whether addresses are left. */
static bool has_addresses(const Mover *v) {
  if (v->agu.busy) return true;
  for (int c = 0; c < v->s->channels; c++)
    if (v->taken[c] < v->pushed) return true;
  return false;
}

/* Whether something is left to do. */
bool td_maestro_model_is_busy(const Model *m) {
  for (int i = 0; i < m->sys->n; i++)
    if (m->mover[i].job < m->r->nnext || has_addresses(&m->mover[i])) return true;
  return false;
}

/* Whether all words of job `job` and those before are written. */
static bool has_written(const Mover *v, size_t job) {
  if (v->ahead == job) return !has_addresses(v);
  for (int c = 0; c < v->s->channels; c++)
    if (v->taken[c] < (v->ahead == job + 1 ? v->border : v->before)) return false;
  return true;
}

/* Whether a reader must wait for what job `job` writes. */
static bool must_wait(const Model *m, const Mover *v, size_t job) {
  int d = td_maestro_system_find(m->sys, "D");
  return m->r->next[job].sums && d >= 0 && strcmp(v->s->name, "C") == 0 &&
         !has_written(&m->mover[d], job);
}

/* Starts streamers whose addresses, whose words of a job are done on the next one. */
static void next_jobs(Model *m) {
  for (int i = 0; i < m->sys->n; i++) {
    Mover *v = &m->mover[i];
    if (v->ahead > v->job && v->popped == v->border && !td_maestro_chain_is_under_way(&v->chain))
      start_words(v);
    if (v->agu.busy || v->ahead > v->job || v->ahead == m->r->nnext || must_wait(m, v, v->ahead))
      continue;
    v->ahead++;
    start_addresses(m, v, i);
  }
}

/* Wide words that came whole, and those that left. */
static void count_words(const Mover *v, int64_t *in, int64_t *out) {
  int64_t least = INT64_MAX;
  for (int c = 0; c < v->s->channels; c++) {
    int64_t n = v->s->writer ? v->taken[c] : v->arrived[c];
    if (n < least) least = n;
  }
  *in = v->s->writer ? v->popped : least;
  *out = v->s->writer ? least : v->popped;
}

static void tell(const Model *m) {
  TdMaestroCycle c = {.cycle = m->now, .fire = m->fire, .stall = m->why};
  for (int i = 0; i < m->sys->n; i++) {
    count_words(&m->mover[i], &c.in[i], &c.out[i]);
    c.request[i] = m->mover[i].request;
    c.grant[i] = m->mover[i].grant;
    c.access[i] = m->mover[i].grant & m->mover[i].access;
    c.words[i] = words_of(&m->mover[i]);
  }
  for (int b = 0; b < m->sys->memory.banks; b++) c.bank[b] = m->bank[b].winner != 0;
  m->r->watch(m->r->ud, &c);
}

TdMaestroModel *td_maestro_model_new(const TdMaestroRun *r, TdMaestroReport *out) {
  Model *m = TD_NEW(r->arena, Model);
  *m = (Model){.r = r, .sys = r->system, .out = out};
  *out = (TdMaestroReport){0};
  start(m);
  return m;
}

bool td_maestro_model_cycle(Model *m) {
  td_ctx_tick(m->r->ctx, 1);
  bool outer = m->r->outer != NULL, moved = false;
  for (int i = 0; i < m->sys->n; i++)
    if (m->sys->at[i].next) moved |= td_maestro_chain_tick(&m->mover[i].chain);
  if (outer)
    step_outer(m, false);
  else if (!m->late)
    step_words(m);
  find_requests(m);
  arbitrate(m);
  if (outer)
    step_outer(m, true);
  else if (m->late)
    step_words(m);
  if (m->r->watch) tell(m);
  moved |= m->fire;
  for (int i = 0; i < m->sys->n; i++) moved |= end_mover(m, &m->mover[i]);
  if (m->r->nnext) next_jobs(m);
  m->now++;
  m->out->cycles = m->now;
  return moved;
}

bool td_maestro_model_run(const TdMaestroRun *r, TdMaestroReport *out, TdDiag *d) {
  Model *m = td_maestro_model_new(r, out);
  enum { PATIENCE = 1000 };
  while (td_maestro_model_is_busy(m)) {
    if (td_maestro_model_cycle(m)) m->moved = m->now - 1;
    if (m->now - m->moved > PATIENCE)
      return td_diag_set(d, TD_ILLEGAL, "maestro-stuck", (TdLoc){0},
                         "nothing moves any more after cycle %lld", (long long)m->moved);
  }
  for (int b = 0; r->last && b < m->sys->memory.banks; b++) r->last[b] = m->last[b];
  return true;
}

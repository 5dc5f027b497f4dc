/* data.c - a job on data: the memory as it is before, the words that streamers hand over,
 * extensions, the array, and the memory as it is then. Time is model.c's. */
#include <string.h>

#include "base/ctx.h"
#include "backends/maestro/job.h"

/* A reader or writer going through its addresses. */
typedef struct Port {
  const TdMaestroStreamer *s;
  const TdMaestroPattern *p;
  TdMaestroAgu agu;
  int64_t offset[TD_MAESTRO_CHANNELS];
  int64_t repeats, handed;
  uint8_t *word, *other; /* at the array; room for extensions */
} Port;

typedef struct Data {
  const TdMaestroJob *j;
  TdArena *a;
  TdCtx *ctx;
  TdTensor *const *param;
  uint8_t *memory, *written; /* by physical address */
  Port port[TD_MAESTRO_ROLES];
  uint64_t *left, *right, *sum; /* of one tile */
  TdDiag *d;
} Data;

/* Bytes of the longest word on the way through the extensions. */
static size_t widest(const TdMaestroStreamer *s, int64_t word) {
  int64_t most = s->channels * word;
  for (int i = 0; i < s->next; i++) {
    const TdMaestroExt *x = &s->ext[i];
    if (x->in * x->take / 8 > most) most = x->in * x->take / 8;
    if (x->out * x->give / 8 > most) most = x->out * x->give / 8;
  }
  return (size_t)most;
}

static void open_port(Data *m, int role) {
  Port *x = &m->port[role];
  int i = td_maestro_system_find(m->j->system, td_maestro_role_name[role]);
  if (i < 0 || !m->j->pattern[i].used) return;
  x->s = &m->j->system->at[i];
  x->p = &m->j->pattern[i];
  x->agu = td_maestro_agu_start(x->s, x->p);
  x->repeats = td_maestro_agu_repeats(x->s, x->p);
  for (int c = 0; c < x->s->channels; c++) x->offset[c] = td_maestro_agu_lane(x->s, x->p, c);
  size_t n = widest(x->s, m->j->system->memory.word);
  x->word = TD_NEWN(m->a, uint8_t, n);
  x->other = TD_NEWN(m->a, uint8_t, n);
}

/* The physical place of a channel's word. */
static int64_t place(const Data *m, const Port *x, int channel) {
  return td_maestro_agu_physical(&m->j->system->memory, x->p->mode,
                                 x->agu.address + x->offset[channel]);
}

/* The words of all channels as they lie in memory; those without access are 0. */
static void fetch(const Data *m, Port *x) {
  size_t w = (size_t)m->j->system->memory.word;
  for (int c = 0; c < x->s->channels; c++)
    if (x->p->mask >> c & 1)
      memcpy(x->word + (size_t)c * w, m->memory + place(m, x, c), w);
    else
      memset(x->word + (size_t)c * w, 0, w);
  td_maestro_agu_tick(&x->agu);
}

/* Runs the word through the extensions that are on. */
static void extend(Port *x) {
  for (int i = 0; i < x->s->next; i++) {
    if (!(x->p->ext >> i & 1)) continue;
    const TdMaestroExt *e = &x->s->ext[i];
    td_maestro_ext_info[e->kind].beat(e, x->p->reg[i], x->word, x->other);
    uint8_t *was = x->word;
    x->word = x->other;
    x->other = was;
  }
}

/* The next word of a reader, at the array. */
static void read_word(const Data *m, Port *x) {
  if (x->handed++ % x->repeats) return;
  fetch(m, x);
  extend(x);
}

/* Stores the word of a writer. */
static void write_word(const Data *m, Port *x) {
  size_t w = (size_t)m->j->system->memory.word;
  extend(x);
  for (int c = 0; c < x->s->channels; c++) {
    if (!(x->p->mask >> c & 1)) continue;
    int64_t at = place(m, x, c);
    memcpy(m->memory + at, x->word + (size_t)c * w, w);
    memset(m->written + at, 1, w);
  }
  td_maestro_agu_tick(&x->agu);
}

/* ---- the array ---- */

/* The elements of a word as numbers. */
static void unpack(const Port *x, const TdType *t, int64_t n, uint64_t *to) {
  size_t bytes = td_type_bytes(t);
  for (int64_t i = 0; i < n; i++) to[i] = td_num_load(t, x->word + (size_t)i * bytes);
}

/* sum + a * b as the kernel computes it. */
static uint64_t add_product(const TdMaestroNest *n, uint64_t sum, uint64_t a, uint64_t b) {
  TdFault fault = TD_FAULT_NONE;
  const TdType *t[2] = {n->factor[0].elem, n->factor[1].elem};
  uint64_t p = td_num_op(TD_OP_MUL, n->product, t, (uint64_t[]){a, b}, 2, &fault);
  const TdType *u[2] = {n->acc, n->product};
  uint64_t s = td_num_op(TD_OP_ADD, n->sum, u, (uint64_t[]){sum, p}, 2, &fault);
  return td_num_cast(n->acc, n->sum, s, &fault);
}

/* Whether sums of a type are the same however they are made, modulo 2^64. */
static bool wraps(const TdType *t) {
  return td_type_is_integer(t) && !t->saturate;
}

/* One step: k products for each result. */
static void multiply(Data *m) {
  const TdMaestroArray *x = &m->j->system->array;
  bool fast = wraps(m->j->nest.acc);
  for (int64_t r = 0; r < x->m; r++)
    for (int64_t c = 0; c < x->n; c++) {
      uint64_t sum = m->sum[r * x->n + c];
      const uint64_t *a = &m->left[r * x->k], *b = &m->right[c * x->k];
      if (fast)
        for (int64_t k = 0; k < x->k; k++) sum += a[k] * b[k];
      else
        for (int64_t k = 0; k < x->k; k++) sum = add_product(&m->j->nest, sum, a[k], b[k]);
      m->sum[r * x->n + c] = sum;
    }
}

/* What a tile of sums begins with. */
static void begin_tile(Data *m) {
  int64_t n = m->j->system->array.m * m->j->system->array.n;
  Port *c = &m->port[TD_MAESTRO_C];
  if (c->s && m->j->work.with_c) read_word(m, c);
  if (c->s && m->j->work.with_c)
    unpack(c, m->j->nest.acc, n, m->sum);
  else
    memset(m->sum, 0, (size_t)n * sizeof *m->sum);
}

static void end_tile(Data *m) {
  const TdType *t = m->j->nest.acc;
  int64_t n = m->j->system->array.m * m->j->system->array.n;
  bool small = m->j->work.quantised;
  Port *x = &m->port[small ? TD_MAESTRO_E : TD_MAESTRO_D];
  for (int64_t i = 0; i < n; i++) {
    uint64_t v = td_num_wrap(t, m->sum[i]);
    if (small)
      x->word[i] = (uint8_t)td_maestro_scale_of(&m->j->work.scale, (int64_t)v);
    else
      td_num_store(t, x->word + (size_t)i * td_type_bytes(t), v);
  }
  write_word(m, x);
}

static void run_array(Data *m) {
  const TdMaestroArray *x = &m->j->system->array;
  for (int64_t t = 0; t < m->j->work.tiles; t++) {
    begin_tile(m);
    for (int64_t s = 0; s < m->j->work.steps; s++) {
      td_ctx_tick(m->ctx, 1);
      read_word(m, &m->port[TD_MAESTRO_A]);
      read_word(m, &m->port[TD_MAESTRO_B]);
      unpack(&m->port[TD_MAESTRO_A], x->a, x->m * x->k, m->left);
      unpack(&m->port[TD_MAESTRO_B], x->b, x->n * x->k, m->right);
      multiply(m);
    }
    end_tile(m);
  }
}

/* ---- the memory before and after ---- */

/* The physical place of an element of an operand. */
static int64_t element_place(const Data *m, const TdMaestroStream *x, const int64_t *index) {
  int64_t ordinal = 0;
  for (int k = 0; k < x->x->rank; k++) ordinal = ordinal * x->order.room[k] + index[k];
  const TdMaestroPattern *p = &m->j->pattern[x->streamer];
  int64_t base = p->base - x->nest.offset;
  return td_maestro_agu_physical(&m->j->system->memory, p->mode,
                                 base + td_desc_place(&x->order.at, ordinal));
}

/* The elements of a tensor that an operand keeps in memory. */
static TdTensor kept(const Data *m, const TdMaestroStream *x) {
  const TdTensor *t = m->param[x->x->param];
  TdTensor r = *t;
  int64_t first = 0;
  for (int k = 0; k < td_tensor_rank(t); k++) {
    first += x->x->origin[k] * t->stride[k];
    r.extent[k] = x->x->extent[k];
  }
  r.data += first * (int64_t)td_type_bytes(x->x->elem);
  if (r.written) r.written += first;
  return r;
}

static void load(Data *m, const TdMaestroStream *x) {
  TdTensor t = kept(m, x);
  int64_t index[TD_MAX_RANK] = {0};
  do {
    td_num_store(x->x->elem, m->memory + element_place(m, x, index), td_tensor_get(&t, index));
    td_ctx_tick(m->ctx, 1);
  } while (td_tensor_next(&t, index));
}

/* Takes back what was written. */
static void store(Data *m, const TdMaestroStream *x) {
  TdTensor t = kept(m, x);
  int64_t index[TD_MAX_RANK] = {0};
  do {
    int64_t at = element_place(m, x, index);
    if (m->written[at]) td_tensor_put(&t, index, td_num_load(x->x->elem, m->memory + at));
    td_ctx_tick(m->ctx, 1);
  } while (td_tensor_next(&t, index));
}

bool td_maestro_data_run(const TdMaestroJob *j, TdArena *a, TdTensor *const *param, TdDiag *d) {
  Data m = {.j = j, .a = a, .ctx = td_arena_ctx(a), .param = param, .d = d};
  const TdMaestroArray *x = &j->system->array;
  size_t bytes = (size_t)td_maestro_system_bytes(&j->system->memory);
  m.memory = TD_NEWN(a, uint8_t, bytes);
  m.written = TD_NEWN(a, uint8_t, bytes);
  m.left = TD_NEWN(a, uint64_t, x->m * x->k);
  m.right = TD_NEWN(a, uint64_t, x->n * x->k);
  m.sum = TD_NEWN(a, uint64_t, x->m * x->n);
  for (int role = 0; role < TD_MAESTRO_ROLES; role++) {
    open_port(&m, role);
    if (j->stream[role].used && role < TD_MAESTRO_D) load(&m, &j->stream[role]);
  }
  run_array(&m);
  store(&m, &j->stream[j->work.quantised ? TD_MAESTRO_E : TD_MAESTRO_D]);
  return true;
}

/* data.c - a job on data: the memory as it is before, the words that streamers hand over,
 * extensions, the array, and the memory as it is then. Time is model.c's. */
#include <string.h>

#include "base/ctx.h"
#include "backends/maestro/job.h"
#include "backends/maestro/user.h"

/* A reader or writer going through its addresses. */
typedef struct Port {
  const TdMaestroStreamer *s;
  const TdMaestroPattern *p;
  TdMaestroAgu agu;
  int64_t offset[TD_MAESTRO_CHANNELS];
  TdMaestroRemap remap;
  int64_t repeats, handed;
  uint8_t *word;                                       /* at the array */
  uint8_t *raw;                                        /* at the FIFO */
  uint8_t *in[TD_MAESTRO_EXTS], *out[TD_MAESTRO_EXTS]; /* beats that come, that were made */
  int64_t count[TD_MAESTRO_EXTS], left[TD_MAESTRO_EXTS];
} Port;

typedef struct Data {
  const TdMaestroJob *j;
  TdArena *a;
  TdCtx *ctx;
  TdTensor *const *param;
  uint8_t *memory, *written; /* by physical address */
  Port port[TD_MAESTRO_ROLES];
  uint64_t *left, *right, *sum; /* of one tile */
  TdMaestroWork work;           /* with the values of its columns */
  TdDiag *d;
} Data;

/* Room for the beats of the extensions. */
static void open_exts(const Data *m, Port *x) {
  for (int k = 0; k < x->s->next; k++) {
    const TdMaestroExt *e = &x->s->ext[k];
    x->in[k] = TD_NEWN(m->a, uint8_t, e->in / 8 * td_maestro_ext_takes(e, x->p->reg[k]));
    x->out[k] = TD_NEWN(m->a, uint8_t, e->out / 8 * e->give);
  }
}

static void open_port(Data *m, Port *x, int i) {
  if (i < 0 || !m->j->pattern[i].used) return;
  x->s = &m->j->system->at[i];
  x->p = &m->j->pattern[i];
  x->agu = td_maestro_agu_start(x->s, x->p);
  x->repeats = td_maestro_agu_repeats(x->s, x->p);
  x->remap = td_maestro_agu_remap(&m->j->system->memory, x->p->mode);
  for (int c = 0; c < x->s->channels; c++) x->offset[c] = td_maestro_agu_lane(x->s, x->p, c);
  int64_t raw = x->s->channels * m->j->system->memory.word, most = x->s->width / 8;
  x->raw = TD_NEWN(m->a, uint8_t, raw);
  x->word = TD_NEWN(m->a, uint8_t, most > raw ? most : raw);
  open_exts(m, x);
}

/* The physical place of a channel's word. */
static int64_t place(const Port *x, int channel) {
  return td_maestro_agu_place(&x->remap, x->agu.address + x->offset[channel]);
}

/* The words of all channels as they lie in memory; those without access are 0. */
static void fetch(const Data *m, Port *x) {
  size_t w = (size_t)m->j->system->memory.word;
  if (x->handed++ % x->repeats) return;
  for (int c = 0; c < x->s->channels; c++)
    if (x->p->mask >> c & 1)
      memcpy(x->raw + (size_t)c * w, m->memory + place(x, c), w);
    else
      memset(x->raw + (size_t)c * w, 0, w);
  td_maestro_agu_tick(&x->agu);
}

/* What extension k makes of the beats that came. */
static void compute(const Data *m, Port *x, int k) {
  const TdMaestroExt *e = &x->s->ext[k];
  if (e->user)
    td_maestro_user_run(e, m->a, x->in[k], x->out[k], m->d);
  else
    td_maestro_ext_info[e->kind].beat(e, x->p->reg[k], x->in[k], x->out[k]);
}

/* The next beat behind extension k: of the FIFO, if k is -1. */
static void pull(const Data *m, Port *x, int k, uint8_t *to) {
  while (k >= 0 && !(x->p->ext >> k & 1)) k--;
  if (k < 0) {
    fetch(m, x);
    memcpy(to, x->raw, (size_t)(x->s->channels * m->j->system->memory.word));
    return;
  }
  const TdMaestroExt *e = &x->s->ext[k];
  if (!x->left[k]) {
    int64_t n = td_maestro_ext_takes(e, x->p->reg[k]);
    for (int64_t i = 0; i < n; i++) pull(m, x, k - 1, x->in[k] + i * (e->in / 8));
    compute(m, x, k);
    x->left[k] = e->give;
  }
  memcpy(to, x->out[k] + (e->give - x->left[k]--) * (e->out / 8), (size_t)(e->out / 8));
}

/* The next word of a reader, at the array. */
static void read_word(const Data *m, Port *x) {
  pull(m, x, x->s->next - 1, x->word);
}

/* Stores a word of the FIFO: the bytes that the mask has. */
static void flush(const Data *m, Port *x, const uint8_t *word) {
  int64_t w = m->j->system->memory.word;
  for (int c = 0; c < x->s->channels; c++) {
    if (!(x->p->mask >> c & 1)) continue;
    int64_t at = place(x, c);
    for (int64_t b = 0; b < w; b++) {
      if (!(x->p->bytes >> b & 1)) continue;
      m->memory[at + b] = word[c * w + b];
      m->written[at + b] = 1;
    }
  }
  td_maestro_agu_tick(&x->agu);
}

/* Gives a beat to extension k of a writer: to the FIFO, if k is -1. */
static void push(const Data *m, Port *x, int k, const uint8_t *beat) {
  while (k >= 0 && !(x->p->ext >> k & 1)) k--;
  if (k < 0) {
    flush(m, x, beat);
    return;
  }
  const TdMaestroExt *e = &x->s->ext[k];
  memcpy(x->in[k] + x->count[k]++ * (e->in / 8), beat, (size_t)(e->in / 8));
  if (x->count[k] < td_maestro_ext_takes(e, x->p->reg[k])) return;
  x->count[k] = 0;
  compute(m, x, k);
  for (int64_t i = 0; i < e->give; i++) push(m, x, k - 1, x->out[k] + i * (e->out / 8));
}

/* Stores the word of a writer. */
static void write_word(const Data *m, Port *x) {
  push(m, x, x->s->next - 1, x->word);
}

/* ---- the array ---- */

/* Whether sums of a type are the same however they are made, modulo 2^64. */
static bool wraps(const TdType *t) {
  return td_type_is_integer(t) && !t->saturate;
}

/* The elements of a word as numbers. */
static void unpack(const Port *x, const TdType *t, int64_t n, uint64_t *to) {
  size_t bytes = td_type_bytes(t);
  bool negative = td_type_is_signed(t);
  if (wraps(t) && t->w == 8) {
    for (int64_t i = 0; i < n; i++)
      to[i] = negative ? (uint64_t)(int64_t)(int8_t)x->word[i] : x->word[i];
    return;
  }
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
      x->word[i] = (uint8_t)td_maestro_scale_of(
          &m->work.scale, m->work.column[i % m->j->system->array.n], (int64_t)v);
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

/* Beats from a reader to a writer until its addresses end. */
static void run_path(Data *m) {
  Port *from = &m->port[TD_MAESTRO_FROM], *to = &m->port[TD_MAESTRO_TO];
  while (to->agu.busy) {
    td_ctx_tick(m->ctx, 1);
    read_word(m, from);
    memcpy(to->word, from->word, (size_t)(to->s->width / 8));
    write_word(m, to);
  }
}

/* ---- the memory before and after ---- */

/* Where the elements of an operand lie: a sum of one place for each index. */
typedef struct Places {
  TdMaestroRemap remap;
  int64_t base, *at[TD_MAX_RANK];
  int rank;
} Places;

/* Fills them. */
static Places places_of(const Data *m, const TdMaestroStream *x) {
  const TdOrderBytes *o = &x->order;
  int mode = m->j->pattern[x->streamer].mode;
  Places p = {.remap = td_maestro_agu_remap(&m->j->system->memory, mode),
              .base = x->base + o->at.offset,
              .rank = x->x->rank};
  int64_t weight = 1;
  for (int k = p.rank; k-- > 0; weight *= o->room[k]) {
    p.at[k] = TD_NEWN(m->a, int64_t, x->x->extent[k]);
    for (int64_t i = 0; i < x->x->extent[k]; i++)
      p.at[k][i] = td_desc_place(&o->at, i * weight) - o->at.offset;
  }
  return p;
}

/* The physical place of an element. */
static int64_t element_place(const Places *p, const int64_t *index) {
  int64_t sum = p->base;
  for (int k = 0; k < p->rank; k++) sum += p->at[k][index[k]];
  return td_maestro_agu_place(&p->remap, sum);
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
  Places p = places_of(m, x);
  int64_t index[TD_MAX_RANK] = {0};
  do {
    int64_t at = element_place(&p, index);
    td_num_store(x->x->elem, m->memory + at, td_tensor_get(&t, index));
    td_ctx_tick(m->ctx, 1);
  } while (td_tensor_next(&t, index));
}

/* Takes back what was written. */
static void store(Data *m, const TdMaestroStream *x) {
  TdTensor t = kept(m, x);
  Places p = places_of(m, x);
  int64_t index[TD_MAX_RANK] = {0};
  do {
    int64_t at = element_place(&p, index);
    if (m->written[at]) td_tensor_put(&t, index, td_num_load(x->x->elem, m->memory + at));
    td_ctx_tick(m->ctx, 1);
  } while (td_tensor_next(&t, index));
}

bool td_maestro_job_reads(int role) {
  return role < TD_MAESTRO_D || role == TD_MAESTRO_FROM || role == TD_MAESTRO_OTHER;
}

bool td_maestro_data_run(const TdMaestroJob *j, TdArena *a, TdTensor *const *param, TdDiag *d) {
  Data m = {.j = j, .a = a, .ctx = td_arena_ctx(a), .param = param, .d = d};
  if (!td_maestro_scale_fill(j, param, &m.work, d)) return false;
  const TdMaestroArray *x = &j->system->array;
  size_t bytes = (size_t)td_maestro_system_bytes(&j->system->memory);
  m.memory = TD_NEWN(a, uint8_t, bytes);
  m.written = TD_NEWN(a, uint8_t, bytes);
  m.left = TD_NEWN(a, uint64_t, x->m * x->k);
  m.right = TD_NEWN(a, uint64_t, x->n * x->k);
  m.sum = TD_NEWN(a, uint64_t, x->m * x->n);
  for (int role = 0; role < TD_MAESTRO_ROLES; role++) {
    open_port(&m, &m.port[role], j->stream[role].streamer);
    if (j->stream[role].used && td_maestro_job_reads(role)) load(&m, &j->stream[role]);
  }
  if (j->work.path)
    run_path(&m);
  else
    run_array(&m);
  if (td_diag_failed(d)) return false;
  for (int role = 0; role < TD_MAESTRO_ROLES; role++)
    if (j->stream[role].used && !td_maestro_job_reads(role)) store(&m, &j->stream[role]);
  return true;
}

void td_maestro_data_image(const TdMaestroJob *j, TdArena *a, TdTensor *const *param,
                           uint8_t *memory, uint8_t *touched) {
  Data m = {.j = j, .a = a, .ctx = td_arena_ctx(a), .param = param};
  m.memory = memory;
  for (int role = 0; role < TD_MAESTRO_ROLES; role++) {
    const TdMaestroStream *x = &j->stream[role];
    if (!x->used || !td_maestro_job_reads(role)) continue;
    load(&m, x);
    for (int64_t b = 0; b < x->order.bytes; b++)
      touched[td_maestro_agu_physical(&j->system->memory, j->pattern[x->streamer].mode,
                                      x->base + b)] = 1;
  }
}

void td_maestro_data_results(const TdMaestroJob *j, TdArena *a, TdTensor *const *param,
                             uint8_t *marked) {
  Data m = {.j = j, .a = a, .ctx = td_arena_ctx(a), .param = param};
  for (int role = 0; role < TD_MAESTRO_ROLES; role++) {
    const TdMaestroStream *x = &j->stream[role];
    if (!x->used || td_maestro_job_reads(role)) continue;
    TdTensor t = kept(&m, x);
    Places p = places_of(&m, x);
    int64_t index[TD_MAX_RANK] = {0};
    do memset(marked + element_place(&p, index), 1, (size_t)x->element);
    while (td_tensor_next(&t, index));
  }
}

void td_maestro_data_take(const TdMaestroJob *j, TdArena *a, TdTensor *const *param,
                          uint8_t *memory, uint8_t *written) {
  Data m = {.j = j, .a = a, .ctx = td_arena_ctx(a), .param = param};
  m.memory = memory;
  m.written = written;
  for (int role = 0; role < TD_MAESTRO_ROLES; role++)
    if (j->stream[role].used && !td_maestro_job_reads(role)) store(&m, &j->stream[role]);
}

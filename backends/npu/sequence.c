/* sequence.c - blocks that a host task moves one after the other become few transfers: where they
 * begin is a descriptor again, and with that of the blocks one of a BD. */
#include "backends/npu/sequence.h"

#include <stdlib.h>

typedef struct Maker {
  TdNpuPlan *p;
  TdNpuSequence *s;
  const TdNpuInst *host;
  const uint64_t *when; /* of each block of the stream */
  size_t fifo;
  int64_t bytes;
} Maker;

static bool refuse(const Maker *k, const char *why) {
  const TdNpuFifo *x = &k->p->fifo.at[k->fifo];
  td_diag_set(k->p->form->diag, TD_UNSUPPORTED, "npu-dma", k->host->run->loc,
              "no DMA of a shim moves the blocks of '%s': %s", x->name, why);
  td_diag_help(k->p->form->diag, "let a task in row 1, or a core, arrange the elements");
  return false;
}

/* Adds the transfers of a BD that starts at each of its outer places. */
static void add(Maker *k, const TdBd *b, uint32_t param, int64_t offset, size_t first,
                int64_t block) {
  int64_t at[TD_DESC_DIGITS] = {0}, moved = 0, each = 1;
  for (int i = 0; i < b->n; i++) each *= b->at[i].n;
  for (int64_t t = 0; t < b->tasks; t++) {
    TdNpuTransfer x = {.fifo = k->fifo, .param = param, .offset = offset, .n = b->n};
    for (int i = 0; i < b->nouter; i++) x.offset += at[i] * b->outer[i].s;
    for (int i = 0; i < b->n; i++) x.at[i] = b->at[i];
    x.when = k->when[first + (size_t)(moved / block)];
    x.number = k->s->transfer.n;
    td_vec_push(k->p->form->arena, &k->s->transfer, x);
    moved += each;
    for (int i = b->nouter - 1; i >= 0 && ++at[i] == b->outer[i].n; i--) at[i] = 0;
  }
}

/* Transfers for n blocks from the first on, whose places are one descriptor `at` moved by theirs.
 */
static bool add_blocks(Maker *k, const TdNpuMove *m, size_t first, size_t n) {
  TdArena *a = k->p->form->arena;
  int64_t *shift = TD_NEWN(a, int64_t, n), block = k->p->fifo.at[k->fifo].count;
  TdDesc turns, all;
  TdBd bd;
  const char *why;
  for (size_t i = 0; i < n; i++) shift[i] = m[i].shift;
  if (!td_desc_of_places(shift, (int64_t)n, &turns) || turns.n + m->at->n > TD_DESC_DIGITS) {
    if (n == 1) return refuse(k, "too many digits");
    return add_blocks(k, m, first, n / 2) && add_blocks(k, m + n / 2, first + n / 2, n - n / 2);
  }
  all = (TdDesc){.offset = m->at->offset + turns.offset, .n = turns.n + m->at->n};
  for (int i = 0; i < all.n; i++) all.at[i] = i < turns.n ? turns.at[i] : m->at->at[i - turns.n];
  if (!td_bd_of(&all, k->bytes, TD_TILE_SHIM, &bd, &why)) return refuse(k, why);
  if (all.offset * k->bytes % 4) return refuse(k, "it does not begin at a word of 4 bytes");
  for (int i = 0; i < bd.nouter; i++)
    if (bd.outer[i].s * k->bytes % 4) return refuse(k, "it does not begin at a word of 4 bytes");
  add(k, &bd, m->param, all.offset, first, block);
  return true;
}

/* The transfers of one stream of a host task. */
static bool add_stream(Maker *k, const TdNpuMove *m, size_t n) {
  for (size_t i = 0, j; i < n; i = j) {
    for (j = i + 1; j < n && m[j].at == m[i].at && m[j].param == m[i].param;) j++;
    if (!add_blocks(k, m + i, i, j - i)) return false;
  }
  return true;
}

static int by_time(const void *x, const void *y) {
  const TdNpuTransfer *a = x, *b = y;
  if (a->when != b->when) return a->when < b->when ? -1 : 1;
  return a->number < b->number ? -1 : a->number > b->number;
}

/* The moves of a stream by a host task, and when each happens. */
static bool add_host(TdNpuPlan *p, TdNpuSequence *s, uint32_t inst, const uint64_t *time) {
  const TdNpuForm *f = p->form;
  const TdNpuInst *x = &f->inst.at[inst];
  for (uint32_t c = 0; c < f->chan.n; c++) {
    bool in = f->chan.at[c].from == inst;
    if (!in && f->chan.at[c].to != inst) continue;
    TD_VEC(TdNpuMove) move = {0};
    TD_VEC(uint64_t) when = {0};
    for (size_t i = 0; i < x->move.n; i++)
      if (x->move.at[i].chan == c) td_vec_push(f->arena, &move, x->move.at[i]);
    for (size_t i = 0; i < x->event.n; i++)
      if (x->event.at[i].chan == c && x->event.at[i].act == (in ? TD_NPU_SLOT : TD_NPU_GET))
        td_vec_push(f->arena, &when, time[i]);
    if (!move.n) continue;
    Maker k = {p,
               s,
               x,
               when.at,
               p->fifo_of[c],
               (int64_t)td_type_bytes(td_type_scalar(f->chan.at[c].type))};
    if (!add_stream(&k, move.at, move.n)) return false;
  }
  return true;
}

TdNpuSequence *td_npu_sequence_of(TdNpuPlan *p) {
  TdNpuForm *f = p->form;
  TdNpuSequence *s = TD_NEW(f->arena, TdNpuSequence);
  const uint64_t *const *time = td_npu_order_of(f);
  if (!time || !td_npu_order_check(f)) return NULL;
  for (uint32_t i = 0; i < f->inst.n; i++)
    if (f->inst.at[i].role == TD_NPU_HOST && !add_host(p, s, i, time[i])) return NULL;
  qsort(s->transfer.at, s->transfer.n, sizeof *s->transfer.at, by_time);
  return s;
}

/* factor.c - which DMA on the way of a block arranges its elements. How a block lies in a memory
 * tile shows nowhere, so of the orders in which a host's task and a link would move it, one may be
 * taken over by the other: the host's transfers then go through the argument in the order of its
 * places, in long runs, and the link sends what the tasks of cores expect. */
#include <stdlib.h>

#include "backends/npu/bd.h"
#include "backends/npu/form.h"

typedef struct Factor {
  TdNpuForm *f;
  uint32_t host, chan;  /* an instance, and its stream to or from the row of memories */
  TdNpuInst *link;      /* at the other end */
  int64_t n, bytes;     /* elements of a block; of an element */
  const TdDesc *at;     /* of all blocks */
  int64_t *now, *place; /* [k]: the old element that is to be element k; and the other way */
} Factor;

int64_t td_npu_fill_place(const TdNpuForm *f, const TdNpuFill *x, int64_t i) {
  int64_t at = x->map[i] % TD_NPU_PART;
  for (int64_t k = 0; k < x->map[i] / TD_NPU_PART; k++) at += f->chan.at[x->from[k]].count;
  return at;
}

/* ---- the order of the argument ---- */

typedef struct Place {
  int64_t place, element;
} Place;

static int by_place(const void *x, const void *y) {
  const Place *a = x, *b = y;
  if (a->place != b->place) return a->place < b->place ? -1 : 1;
  return a->element < b->element ? -1 : a->element > b->element;
}

/* Sorts the elements of a block by where they lie in the argument. False: they do already. */
static bool sort(Factor *k) {
  TdArena *a = k->f->arena;
  Place *p = TD_NEWN(a, Place, k->n);
  bool same = true;
  for (int64_t i = 0; i < k->n; i++) p[i] = (Place){td_desc_place(k->at, i), i};
  qsort(p, (size_t)k->n, sizeof *p, by_place);
  k->now = TD_NEWN(a, int64_t, k->n);
  k->place = TD_NEWN(a, int64_t, k->n);
  for (int64_t i = 0; i < k->n; i++) {
    k->now[i] = p[i].element;
    k->place[p[i].element] = i;
    same &= p[i].element == i;
  }
  return !same;
}

/* ---- the link ---- */

/* The block of a fill where the elements of the stream lie in their new order. */
static const int64_t *turned(const Factor *k, const TdNpuFill *x) {
  bool out = x->chan == k->chan;
  int64_t n = k->f->chan.at[x->chan].count, *map = TD_NEWN(k->f->arena, int64_t, n);
  for (int64_t i = 0; i < n; i++) {
    int64_t from = x->map[out ? k->now[i] : i], part = from / TD_NPU_PART;
    if (!out && x->from[part] == k->chan) from = part * TD_NPU_PART + k->place[from % TD_NPU_PART];
    map[i] = from;
  }
  return map;
}

static bool is_touched(const Factor *k, const TdNpuFill *x) {
  bool touched = x->chan == k->chan;
  for (size_t i = 0; i < x->n; i++) touched |= x->from[i] == k->chan;
  return touched;
}

/* Whether a memory tile can send a block in the order of this fill. */
static bool can_send(const Factor *k, const TdNpuFill *x) {
  int64_t n = k->f->chan.at[x->chan].count, *place = TD_NEWN(k->f->arena, int64_t, n), least;
  TdDesc d;
  TdBd bd;
  const char *why;
  for (int64_t i = 0; i < n; i++) place[i] = td_npu_fill_place(k->f, x, i);
  least = place[0];
  for (int64_t i = 0; i < n; i++) least = place[i] < least ? place[i] : least;
  if (!td_desc_of_places(place, n, &d)) return false;
  d.offset -= least;
  return td_bd_of(&d, k->bytes, TD_TILE_MEM, &bd, &why);
}

/* The fills of the link with the new order, if they can be sent; NULL: they cannot. */
static TdNpuFill *turn_fills(const Factor *k) {
  TdNpuFill *list = TD_NEWN(k->f->arena, TdNpuFill, k->link->fill.n + 1);
  TdMap known = {0};
  for (size_t i = 0; i < k->link->fill.n; i++) {
    TdNpuFill *x = &list[i];
    *x = k->link->fill.at[i];
    if (!is_touched(k, x)) continue;
    const int64_t *was = x->map, *map = td_map_getp(&known, was);
    bool first = !map;
    if (first) map = turned(k, x);
    td_map_putp(k->f->arena, &known, was, (void *)(uintptr_t)map);
    x->map = map;
    if (first && !can_send(k, x)) return NULL;
  }
  return list;
}

/* ---- a stream ---- */

/* Whether all blocks of the stream lie alike in the argument. */
static bool find_order(Factor *k) {
  const TdNpuInst *h = &k->f->inst.at[k->host];
  for (size_t i = 0; i < h->move.n; i++) {
    if (h->move.at[i].chan != k->chan) continue;
    if (k->at && k->at != h->move.at[i].at) return false;
    k->at = h->move.at[i].at;
  }
  return k->at != NULL;
}

/* Gives the order of the stream's elements to the link, where that can be. */
static void factor(Factor *k) {
  TdNpuInst *h = &k->f->inst.at[k->host];
  TdDesc *at = TD_NEW(k->f->arena, TdDesc);
  if (!find_order(k) || !sort(k)) return;
  int64_t *place = TD_NEWN(k->f->arena, int64_t, k->n);
  for (int64_t i = 0; i < k->n; i++) place[i] = td_desc_place(k->at, k->now[i]);
  TdNpuFill *fill = td_desc_of_places(place, k->n, at) ? turn_fills(k) : NULL;
  if (!fill) return;
  k->link->fill.at = fill;
  for (size_t i = 0; i < h->move.n; i++)
    if (h->move.at[i].chan == k->chan) h->move.at[i].at = at;
}

void td_npu_factor(TdNpuForm *f) {
  for (uint32_t c = 0; c < f->chan.n; c++) {
    const TdNpuChan *x = &f->chan.at[c];
    if (!x->puts) continue;
    bool in = f->inst.at[x->from].role == TD_NPU_HOST;
    uint32_t host = in ? x->from : x->to, link = in ? x->to : x->from;
    if (f->inst.at[host].role != TD_NPU_HOST || f->inst.at[link].role != TD_NPU_MEM) continue;
    Factor k = {.f = f, .host = host, .chan = c, .link = &f->inst.at[link], .n = x->count};
    k.bytes = (int64_t)td_type_bytes(td_type_scalar(x->type));
    factor(&k);
  }
}

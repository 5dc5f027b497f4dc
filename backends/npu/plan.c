/* plan.c - which streams become one objectFIFO, how those through the row of memories are linked,
 * and on which tiles their ends are. */
#include "backends/npu/plan.h"

#include <string.h>

static bool refuse(const TdNpuPlan *p, const char *code, TdLoc loc, const char *who,
                   const char *what) {
  return td_diag_set(p->form->diag, TD_UNSUPPORTED, code, loc, "%s: %s", who, what);
}

size_t td_npu_plan_tile(TdNpuPlan *p, int64_t col, int64_t row) {
  for (size_t i = 0; i < p->tile.n; i++)
    if (p->tile.at[i].col == col && p->tile.at[i].row == row) return i;
  static const char *const kinds[] = {"shim", "mem", "core"};
  TdTileKind kind = td_device_row(row);
  TdNpuTile t = {col, row, kind, NULL};
  t.name = td_text_fmt(p->form->arena, kind == TD_TILE_CORE ? "%s_%lld_%lld" : "%s_%lld",
                       kinds[kind], (long long)col, (long long)row);
  td_vec_push(p->form->arena, &p->tile, t);
  return p->tile.n - 1;
}

/* ---- objectFIFOs ---- */

/* The name of several streams: that of the first, with x for an index that differs. */
static const char *name_of(const TdNpuPlan *p, const uint32_t *chan, size_t n) {
  const TdNpuChan *first = &p->form->chan.at[chan[0]];
  TdText t = td_text_new(p->form->arena);
  size_t stem = strlen(first->sym->name);
  const char *at = first->name + stem;
  td_text_putn(&t, first->name, stem);
  for (int part = 0; *at; part++) {
    size_t len = 1 + strcspn(at + 1, "_");
    bool same = true;
    for (size_t i = 1; i < n; i++) {
      const TdNpuChan *c = &p->form->chan.at[chan[i]];
      const char *other = c->name + strlen(c->sym->name);
      for (int k = 0; k < part && *other; k++) other += 1 + strcspn(other + 1, "_");
      same = same && strncmp(at, other, len) == 0 && (!other[len] || other[len] == '_');
    }
    td_text_putn(&t, same ? at : "_x", same ? len : 2);
    at += len;
  }
  return td_text_str(&t);
}

/* Whether a name is that of a function of some task: the task's and a number. */
static bool is_kernels(const TdNpuPlan *p, const char *name) {
  for (size_t i = 0; i < p->form->design->nrun; i++) {
    const char *task = p->form->design->run[i].sym->name;
    size_t n = strlen(task);
    if (strncmp(name, task, n) == 0 && name[n] == '_' && name[n + 1] &&
        !name[n + 1 + strspn(name + n + 1, "0123456789")])
      return true;
  }
  return false;
}

/* A name like this one that no objectFIFO has, nor a function. */
static const char *free_name(const TdNpuPlan *p, const char *name) {
  const char *free = name;
  bool taken = true;
  for (int n = 2; taken; n++) {
    taken = is_kernels(p, free);
    for (size_t i = 0; i < p->fifo.n; i++) taken |= strcmp(p->fifo.at[i].name, free) == 0;
    if (taken) free = td_text_fmt(p->form->arena, "%s_n%d", name, n);
  }
  return free;
}

/* An objectFIFO of these streams, which have one producer. */
static size_t add_fifo(TdNpuPlan *p, const uint32_t *chan, size_t n) {
  const TdNpuForm *f = p->form;
  const TdNpuChan *c = &f->chan.at[chan[0]];
  TdNpuFifo x = {.name = free_name(p, name_of(p, chan, n)),
                 .loc = c->loc,
                 .type = c->type,
                 .count = c->count,
                 .depth = c->depth,
                 .from = c->from,
                 .to = c->to};
  for (size_t i = 0; i < n; i++) {
    td_vec_push(f->arena, &x.chan, chan[i]);
    p->fifo_of[chan[i]] = p->fifo.n;
  }
  td_vec_push(f->arena, &p->fifo, x);
  return p->fifo.n - 1;
}

/* What a stream that a task in row 1 puts is made of, each time: NULL with the diagnostic filled
 * where that changes. */
static const TdNpuFill *fill_of(const TdNpuPlan *p, const TdNpuInst *x, uint32_t chan) {
  const TdNpuFill *first = NULL;
  int64_t number = 0;
  for (size_t i = 0; i < x->fill.n; i++) {
    const TdNpuFill *e = &x->fill.at[i];
    if (e->chan != chan) continue;
    first = first ? first : e;
    bool same =
        e->n == first->n &&
        (e->map == first->map ||
         memcmp(e->map, first->map, (size_t)p->form->chan.at[chan].count * sizeof *e->map) == 0);
    for (size_t k = 0; same && k < e->n; k++)
      same = e->from[k] == first->from[k] && e->token[k] == number;
    if (!same) {
      refuse(p, "npu-link", x->run->loc, x->name,
             "does not make its blocks the same way each time, from the next of each stream");
      return NULL;
    }
    number++;
  }
  for (size_t k = 0; first && k < first->n; k++)
    if (p->form->chan.at[first->from[k]].gets != number) {
      refuse(p, "npu-link", x->run->loc, x->name, "puts other numbers of blocks than it gets");
      return NULL;
    }
  return first;
}

static bool is_whole(const TdDesc *d, int64_t count) {
  TdDesc normal = td_desc_normal(d);
  int64_t n;
  return td_desc_count(&normal, &n) && n == count && td_desc_is_identity(&normal);
}

/* The order in which an object is sent: places of n elements, from the least. NULL with the
 * diagnostic filled; *none: as it lies. */
static const TdDesc *order_of(const TdNpuPlan *p, const TdNpuInst *x, const int64_t *place,
                              int64_t n, int64_t *least, bool *none) {
  TdDesc *d = TD_NEW(p->form->arena, TdDesc);
  if (!td_desc_of_places(place, n, d)) {
    refuse(p, "npu-copy", x->run->loc, x->name, "an order of elements that no DMA makes");
    return NULL;
  }
  *least = place[0];
  for (int64_t i = 0; i < n; i++) *least = place[i] < *least ? place[i] : *least;
  d->offset -= *least;
  *none = is_whole(d, n) && d->offset == 0;
  return d;
}

static size_t in_fifo(TdNpuPlan *p, uint32_t chan) {
  if (p->fifo_of[chan] == SIZE_MAX) add_fifo(p, &chan, 1);
  return p->fifo_of[chan];
}

/* Streams of one source: those with equal blocks become one, the link hands the parts out. */
static bool distribute(TdNpuPlan *p, uint32_t inst, uint32_t in) {
  const TdNpuForm *f = p->form;
  const TdNpuInst *x = &f->inst.at[inst];
  TdNpuLink l = {.inst = inst};
  td_vec_push(f->arena, &l.in, in_fifo(p, in));
  for (uint32_t c = 0; c < f->chan.n; c++) {
    if (f->chan.at[c].from != inst || p->fifo_of[c] != SIZE_MAX) continue;
    const TdNpuFill *a = fill_of(p, x, c);
    if (!a) return false;
    if (a->n != 1 || a->from[0] != in) continue;
    TD_VEC(uint32_t) same = {0};
    for (uint32_t k = c; k < f->chan.n; k++) {
      if (f->chan.at[k].from != inst || p->fifo_of[k] != SIZE_MAX) continue;
      const TdNpuFill *b = fill_of(p, x, k);
      if (!b) return false;
      size_t bytes = (size_t)f->chan.at[c].count * sizeof *a->map;
      if (b->n == 1 && b->from[0] == in && f->chan.at[k].type == f->chan.at[c].type &&
          f->chan.at[k].depth == f->chan.at[c].depth && memcmp(a->map, b->map, bytes) == 0)
        td_vec_push(f->arena, &same, k);
    }
    size_t at = add_fifo(p, same.at, same.n);
    TdNpuFifo *o = &p->fifo.at[at];
    bool none;
    o->order = order_of(p, x, a->map, o->count, &o->offset, &none);
    if (!o->order) return false;
    if (none) o->order = NULL;
    td_vec_push(f->arena, &l.out, at);
  }
  td_vec_push(f->arena, &p->link, l);
  return true;
}

/* A stream of several sources: they lie one behind the other, and are sent in its order. */
static bool join(TdNpuPlan *p, uint32_t inst, uint32_t out, const TdNpuFill *e) {
  const TdNpuForm *f = p->form;
  const TdNpuInst *x = &f->inst.at[inst];
  int64_t n = f->chan.at[out].count, at = 0;
  int64_t *place = TD_NEWN(f->arena, int64_t, n), least;
  bool none;
  TdNpuLink l = {.inst = inst};
  for (size_t k = 0; k < e->n; k++) {
    if (p->fifo_of[e->from[k]] != SIZE_MAX)
      return refuse(p, "npu-link", x->run->loc, x->name, "joins a stream that it also hands out");
    size_t in = in_fifo(p, e->from[k]);
    p->fifo.at[in].offset = at;
    at += f->chan.at[e->from[k]].count;
    td_vec_push(f->arena, &l.in, in);
  }
  if (at != n) return refuse(p, "npu-link", x->run->loc, x->name, "joins more than it puts");
  for (int64_t i = 0; i < n; i++) place[i] = td_npu_fill_place(f, e, i);
  size_t to = add_fifo(p, &out, 1);
  const TdDesc *order = order_of(p, x, place, n, &least, &none);
  if (!order) return false;
  p->fifo.at[to].order = none ? NULL : order;
  td_vec_push(f->arena, &l.out, to);
  td_vec_push(f->arena, &p->link, l);
  return true;
}

/* The links of a task in row 1. */
static bool add_links(TdNpuPlan *p, uint32_t inst) {
  const TdNpuForm *f = p->form;
  const TdNpuInst *x = &f->inst.at[inst];
  for (uint32_t c = 0; c < f->chan.n; c++) {
    if (f->chan.at[c].from != inst || p->fifo_of[c] != SIZE_MAX || !f->chan.at[c].puts) continue;
    const TdNpuFill *e = fill_of(p, x, c);
    if (!e) return false;
    if (!(e->n == 1 ? distribute(p, inst, e->from[0]) : join(p, inst, c, e))) return false;
  }
  return true;
}

/* ---- shims ---- */

/* The column of a shim with a free channel in a direction, the nearest to a column; -1: none. */
static int64_t shim_for(const TdNpuPlan *p, const int *used, int most, int64_t col) {
  int64_t best = -1;
  for (int64_t k = 0; k < p->device->cols; k++) {
    int64_t far = k > col ? k - col : col - k, was = best > col ? best - col : col - best;
    if (used[k] < most && (best < 0 || far < was)) best = k;
  }
  return best;
}

/* The ends of all objectFIFOs on tiles: those on the host at the nearest shim with a channel. */
static bool put_tiles(TdNpuPlan *p) {
  const TdNpuForm *f = p->form;
  int used[2][16] = {{0}};
  for (int near = 0; near < 2; near++)
    for (size_t i = 0; i < p->fifo.n; i++) {
      TdNpuFifo *x = &p->fifo.at[i];
      const TdNpuInst *from = &f->inst.at[x->from], *to = &f->inst.at[x->to];
      bool in = from->role == TD_NPU_HOST, out = to->role == TD_NPU_HOST;
      if (near == 1 && (in || out)) continue;
      if (near == 0 && !in && !out) continue;
      int64_t col = 0;
      if (in && out) return refuse(p, "npu-form", x->loc, x->name, "leads from host to host");
      if (in || out) {
        const TdTileInfo *shim = &td_tiles[TD_TILE_SHIM];
        col = shim_for(p, used[in], in ? shim->mm2s : shim->s2mm, in ? to->col : from->col);
        if (col < 0) {
          refuse(p, "npu-channels", x->loc, x->name,
                 in ? "the shims have no channel left to read from memory"
                    : "the shims have no channel left to write to memory");
          td_diag_help(f->diag, "%s has %d: coalesce makes fewer streams of more", p->device->name,
                       p->device->cols * (in ? shim->mm2s : shim->s2mm));
          return false;
        }
        used[in][col]++;
      }
      x->from_tile = in ? td_npu_plan_tile(p, col, 0) : td_npu_plan_tile(p, from->col, from->row);
      for (size_t k = 0; k < x->chan.n; k++) {
        const TdNpuInst *t = &f->inst.at[f->chan.at[x->chan.at[k]].to];
        size_t tile = out ? td_npu_plan_tile(p, col, 0) : td_npu_plan_tile(p, t->col, t->row);
        td_vec_push(f->arena, &x->to_tile, tile);
      }
    }
  return true;
}

TdNpuPlan *td_npu_plan_of(TdNpuForm *f, const TdDevice *device) {
  TdNpuPlan *p = TD_NEW(f->arena, TdNpuPlan);
  *p = (TdNpuPlan){.form = f, .device = device};
  td_npu_factor(f);
  p->fifo_of = TD_NEWN(f->arena, size_t, f->chan.n + 1);
  for (size_t i = 0; i < f->chan.n; i++) p->fifo_of[i] = SIZE_MAX;
  if (!td_npu_place(p)) return NULL;
  for (uint32_t i = 0; i < f->inst.n; i++)
    if (f->inst.at[i].role == TD_NPU_MEM && !add_links(p, i)) return NULL;
  for (uint32_t c = 0; c < f->chan.n; c++)
    if (p->fifo_of[c] == SIZE_MAX && f->chan.at[c].puts) add_fifo(p, &c, 1);
  return put_tiles(p) ? p : NULL;
}

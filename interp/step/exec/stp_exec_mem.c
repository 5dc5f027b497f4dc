/* stp_exec_mem.c - what sources, sinks and off-chip accesses do to elements. */
#include <string.h>

#include "step/stp_finger.h"

/* Entry i of a nested list of these extents (outermost first), whose outermost list is closed with
 * `outer` more levels by its last entry (-1: it is not closed). Returns how many entries there are;
 * an extent of 0 makes each list that is cut off one entry. */
static int64_t entries(const int64_t *extent, int n, int *cut) {
  int64_t all = 1;
  *cut = n;
  for (int k = 0; k < n; k++) {
    if (!extent[k]) {
      *cut = k;
      return all;
    }
    all *= extent[k];
  }
  return all;
}

/* The item of entry i: without value; from > 0 where a list is empty. */
static TdStpItem entry(const int64_t *extent, int n, int cut, int64_t i, int outer) {
  int stop = n - cut, k = cut;
  while (k > 0 && i % extent[k - 1] == extent[k - 1] - 1) {
    i /= extent[--k];
    if (k || outer >= 0) stop++;
  }
  if (!k && outer >= 0) stop += outer;
  TdStpItem it = {.stop = (int16_t)stop};
  if (cut < n) it.from = (int16_t)(n - cut);
  return it;
}

/* Copies tile `number` of a tensor into tile v, or back. */
static void move_tile(TdStpRun *r, TdTensor *t, int64_t number, TdStpVal v, bool store) {
  TdStpRecord x = *td_stp_value(r, v);
  int64_t index[TD_MAX_RANK];
  size_t each = td_type_bytes(x.elem);
  for (int64_t i = 0; i < x.rows; i++)
    for (int64_t j = 0; j < x.cols; j++) {
      unsigned char *at = td_stp_tensor_at(t, x.rows, x.cols, number, i, j, index);
      unsigned char *mine = x.data + (size_t)(i * x.cols + j) * each;
      memcpy(store ? at : mine, store ? mine : at, each);
      if (!store || !t->written) continue;
      int64_t place = 0;
      for (int d = 0; d < t->type->rank; d++) place += index[d] * t->stride[d];
      t->written[place] = 1;
    }
}

/* The number of tiles of the node's tensor. */
static int64_t tiles_of(const TdStpMachine *m) {
  int64_t n = 1, extent;
  const TdType *t = m->n->tensor.type;
  for (int d = 0; d < t->rank; d++)
    if (td_type_extent(t, d, &extent)) n *= extent;
  return n / (m->n->rows * m->n->cols);
}

/* A tile as it comes from off-chip memory. */
static TdStpVal loaded(TdStpRun *r, TdStpMachine *m, int64_t number) {
  const TdType *elem = m->n->tensor.type->elem;
  if (td_stp_finger_is(r, elem, m->n->rows, m->n->cols)) {
    TdStpVal own = td_stp_value_tile(r, elem, m->n->rows, m->n->cols);
    td_stp_value(r, own)->mu = TD_STP_MU_OWN;
    td_stp_finger_load(r, m->n, number, own);
    return own;
  }
  bool has = td_stp_value_has_data(r, elem, m->n->rows, m->n->cols) && m->n->tensor.data;
  if (!has) {
    if (!m->fixed) {
      m->fixed = td_stp_value_tile(r, elem, m->n->rows, m->n->cols);
      td_stp_value(r, m->fixed)->mu = TD_STP_MU_OWN;
    }
    return td_stp_value_keep(r, m->fixed);
  }
  TdStpVal v = td_stp_value_tile(r, elem, m->n->rows, m->n->cols);
  td_stp_value(r, v)->mu = TD_STP_MU_OWN;
  move_tile(r, m->n->tensor.data, number, v, false);
  TdStpRecord *x = td_stp_value(r, v);
  if (m->n->rows == 1 && m->n->cols == 1 && td_type_is_integer(elem))
    x->number = (int64_t)td_num_load(elem, x->data);
  return v;
}

static bool check_tile(TdStpRun *r, TdStpMachine *m, int64_t number) {
  int64_t tiles = tiles_of(m);
  if (number >= 0 && number < tiles) return true;
  td_stp_fail(r, m, TD_ILLEGAL, "step-address", "'%s' asks for tile %lld of %s, which has %lld",
              td_stp_graph_name(r->d->arena, m->n), (long long)number,
              td_type_str(r->d->arena, m->n->tensor.type), (long long)tiles);
  return false;
}

/* The valid rows that stream `valid` tells for a tile; false: it is not there. */
static bool set_valid(TdStpRun *r, TdStpMachine *m, TdStpVal *v, uint32_t input) {
  TdStpLook l = td_stp_look(r, m, input);
  while (l == TD_STP_HAVE && td_stp_head(r, m, input)->from) {
    td_stp_take(r, m, input);
    l = td_stp_look(r, m, input);
  }
  if (l == TD_STP_WAIT) return false;
  if (l == TD_STP_OVER) {
    td_stp_fail(r, m, TD_ILLEGAL, "step-pairs", "valid of '%s' has ended before its tiles",
                td_stp_graph_name(r->d->arena, m->n));
    return false;
  }
  td_stp_see(r, m, input);
  TdStpItem it = td_stp_take(r, m, input);
  int64_t rows = td_stp_value(r, it.val)->number;
  td_stp_value_drop(r, it.val);
  if (rows < 0 || rows > m->n->rows) {
    td_stp_fail(r, m, TD_ILLEGAL, "step-address", "%lld valid rows in a tile of %lld",
                (long long)rows, (long long)m->n->rows);
    return false;
  }
  TdStpVal own = td_stp_value_copy(r, *v);
  td_stp_value_drop(r, *v);
  td_stp_value(r, own)->vrows = rows;
  *v = own;
  return true;
}

/* ---- loads ---- */

enum { LOAD_BEGIN, LOAD_TILES };

/* Whether the memory has answered: then the machine's clock is there. */
static bool answered(TdStpMachine *m, const TdStpFlight *f) {
  if (f->answered < 0) {
    m->why = TD_STP_BY_MEMORY;
    return false;
  }
  td_stp_until(m, f->answered, TD_STP_BY_MEMORY, UINT32_MAX);
  return true;
}

/* The next tile of an affine read, or what closes lists. */
static TdStpLook next_tile(TdStpRun *r, TdStpMachine *m, TdStpFlight *f) {
  const TdStpNode *n = m->n;
  int cut;
  int64_t all = entries(n->shape, n->nshape, &cut);
  if (m->phase == LOAD_BEGIN) {
    if (!n->has_ref && (m->held || !cut)) return TD_STP_OVER;
    m->sel = td_stp_item(0, 0);
    m->held = true;
    m->i = 0;
    if (n->has_ref) {
      TdStpLook l = td_stp_look(r, m, 0);
      if (l != TD_STP_HAVE) return l;
      td_stp_see(r, m, 0);
      m->sel = td_stp_take(r, m, 0);
      td_stp_value_drop(r, m->sel.val);
      if (m->sel.from) {
        f->item = td_stp_nothing(m->sel.from + n->nshape, m->sel.stop + n->nshape);
        return l;
      }
    }
    m->phase = LOAD_TILES;
  }
  f->item = entry(n->shape, n->nshape, cut, m->i, n->has_ref ? m->sel.stop : -1);
  if (!f->item.from) f->number = td_stp_tensor_number(n, m->i);
  if (++m->i == all) m->phase = LOAD_BEGIN;
  return TD_STP_HAVE;
}

/* The tile of the next address, or what closes lists. */
static TdStpLook next_address(TdStpRun *r, TdStpMachine *m, TdStpFlight *f) {
  TdStpLook l = td_stp_look(r, m, 0);
  if (l != TD_STP_HAVE) return l;
  td_stp_see(r, m, 0);
  f->item = td_stp_take(r, m, 0);
  if (f->item.from) return l;
  f->number = td_stp_value(r, f->item.val)->number + td_stp_opt(m->n, TD_STP_KEY_BASE, 0);
  td_stp_value_drop(r, f->item.val);
  f->item.val = 0;
  return l;
}

/* Asks for the next tile where the ring has a place for it and all requests of the one before are
 * handed over. This has a clock of its own; as what gives waits for it, its waits are told there.
 */
static TdStpLook ask_next(TdStpRun *r, TdStpMachine *m) {
  if (m->nflight == m->window || m->latest->left) return TD_STP_WAIT;
  TdStpFlight *f = &m->flight[(m->oldest + m->nflight) % m->window];
  int64_t gives = m->clock, stall = m->stall[TD_STP_EMPTY];
  m->clock = m->asks > f->given ? m->asks : f->given;
  if (m->clock < m->next - 1) m->clock = m->next - 1;
  TdStpLook l = m->n->op == TD_STP_LOAD ? next_tile(r, m, f) : next_address(r, m, f);
  m->asks = f->asked = m->clock;
  if (l == TD_STP_HAVE) {
    m->nflight++;
    f->valid = !m->n->has_valid;
    if (!f->item.from && check_tile(r, m, f->number))
      td_stp_memory_ask(r, m, f, td_stp_element_bytes(r->o, m->n->tensor.type->elem));
  }
  m->clock = gives;
  m->stall[TD_STP_EMPTY] = stall;
  return r->failed ? TD_STP_WAIT : l;
}

/* Gives the tiles that have come, in order; false: it waits. */
static bool give_tiles(TdStpRun *r, TdStpMachine *m) {
  for (; m->nflight; m->nflight--) {
    TdStpFlight *f = &m->flight[m->oldest];
    td_stp_until(m, f->asked, TD_STP_EMPTY, m->nin ? m->in[0] : UINT32_MAX);
    if (!f->item.from && !f->item.val) {
      if (!answered(m, f)) return false;
      f->item.val = loaded(r, m, f->number);
    }
    if (!f->item.from && !f->valid && !set_valid(r, m, &f->item.val, m->nin - 1)) return false;
    f->valid = true;
    if (!td_stp_give(r, m, 0, f->item, m->clock)) return false;
    f->given = m->clock;
    m->oldest = (m->oldest + 1) % m->window;
  }
  return true;
}

void td_stp_exec_load(TdStpRun *r, TdStpMachine *m) {
  while (!r->failed) {
    bool gives = give_tiles(r, m);
    TdStpWhy why = m->why;
    uint32_t where = m->where;
    if (r->failed) return;
    TdStpLook l = ask_next(r, m);
    if (l == TD_STP_HAVE) continue;
    if (!gives) {
      m->why = why, m->where = where;
    } else if (l == TD_STP_OVER) {
      td_stp_until(m, m->asks, TD_STP_EMPTY, m->nin ? m->in[0] : UINT32_MAX);
      td_stp_finish(r, m);
    }
    return;
  }
}

/* ---- stores ---- */

/* Whether tile x fits the store, and its place was not written before; marks it. */
static bool check_store(TdStpRun *r, TdStpMachine *m, TdStpVal v, int64_t number) {
  const TdStpRecord *x = td_stp_value(r, v);
  if (x->rows != m->n->rows || x->cols != m->n->cols) {
    td_stp_fail(r, m, TD_ILLEGAL, "step-shape",
                "'%s' stores tiles of [%lld, %lld], not [%lld, %lld]",
                td_stp_graph_name(r->d->arena, m->n), (long long)m->n->rows, (long long)m->n->cols,
                (long long)x->rows, (long long)x->cols);
    return false;
  }
  if (!check_tile(r, m, number)) return false;
  if (!m->written) m->written = td_arena_alloc(r->arena, (size_t)(tiles_of(m) + 7) / 8);
  uint8_t bit = (uint8_t)(1u << (number & 7));
  if (m->written[number >> 3] & bit) {
    td_stp_fail(r, m, TD_ILLEGAL, "step-twice", "'%s' writes tile %lld twice",
                td_stp_graph_name(r->d->arena, m->n), (long long)number);
    return false;
  }
  m->written[number >> 3] |= bit;
  return true;
}

/* The phases of a write of v; false: it is not done. */
static bool write_tile(TdStpRun *r, TdStpMachine *m, TdStpVal v, int64_t number) {
  if (m->phase == 0) {
    if (!check_store(r, m, v, number)) return false;
    m->flight->number = number;
    td_stp_memory_ask(r, m, m->flight, td_stp_element_bytes(r->o, m->n->tensor.type->elem));
    m->phase = 1;
  }
  if (m->phase == 1) {
    if (!answered(m, m->flight)) return false;
    if (td_stp_finger_is(r, m->n->tensor.type->elem, m->n->rows, m->n->cols))
      td_stp_finger_store(r, m->n, number, v);
    if (r->o->data && m->n->tensor.data) move_tile(r, m->n->tensor.data, number, v, true);
    m->phase = 2;
  }
  return true;
}

void td_stp_exec_store(TdStpRun *r, TdStpMachine *m) {
  while (!r->failed) {
    TdStpLook l = td_stp_look(r, m, 0);
    if (l == TD_STP_OVER) td_stp_finish(r, m);
    if (l != TD_STP_HAVE) return;
    td_stp_see(r, m, 0);
    TdStpItem it = *td_stp_head(r, m, 0);
    if (!it.from) {
      if (!write_tile(r, m, it.val, m->i)) return;
      m->i++;
    }
    td_stp_value_drop(r, td_stp_take(r, m, 0).val);
    m->phase = 0;
  }
}

/* Passes or drops what closes lists at the head of an input; the acknowledgements follow one. */
static TdStpLook skip_closings(TdStpRun *r, TdStpMachine *m, uint32_t i, uint32_t base) {
  for (;;) {
    TdStpLook l = td_stp_look(r, m, i);
    if (l != TD_STP_HAVE || !td_stp_head(r, m, i)->from) return l;
    td_stp_see(r, m, i);
    TdStpItem it = td_stp_take(r, m, i);
    if (i == base) td_stp_give(r, m, 0, it, m->clock);
  }
}

void td_stp_exec_store_at(TdStpRun *r, TdStpMachine *m) {
  uint32_t base = td_stp_opt(m->n, TD_STP_KEY_ACK, 0) ? 1 : 0;
  while (!r->failed) {
    TdStpLook a = skip_closings(r, m, 0, base), x = skip_closings(r, m, 1, base);
    if (a == TD_STP_WAIT || x == TD_STP_WAIT) return;
    if (a == TD_STP_OVER && x == TD_STP_OVER) {
      td_stp_finish(r, m);
      return;
    }
    if (a == TD_STP_OVER || x == TD_STP_OVER) {
      td_stp_fail(r, m, TD_ILLEGAL, "step-pairs", "the %s of '%s' have ended, and the %s have not",
                  a == TD_STP_OVER ? "addresses" : "tiles", td_stp_graph_name(r->d->arena, m->n),
                  a == TD_STP_OVER ? "tiles" : "addresses");
      return;
    }
    td_stp_see(r, m, 0);
    td_stp_see(r, m, 1);
    int64_t number =
        td_stp_value(r, td_stp_head(r, m, 0)->val)->number + td_stp_opt(m->n, TD_STP_KEY_BASE, 0);
    if (!write_tile(r, m, td_stp_head(r, m, 1)->val, number)) return;
    if (!td_stp_room(r, m, 0)) return;
    TdStpVal ack = td_stp_value_number(r, m->n->out[0].type->elem, 1);
    td_stp_give(r, m, 0, td_stp_item(ack, td_stp_head(r, m, base)->stop), m->clock);
    td_stp_value_drop(r, td_stp_take(r, m, 0).val);
    td_stp_value_drop(r, td_stp_take(r, m, 1).val);
    m->phase = 0;
  }
}

/* ---- others ---- */

/* The place of way i of n in the permutation that a routing draws. */
static int64_t permuted(uint64_t routing, int64_t n, int64_t i) {
  int64_t place = 0;
  uint64_t own = td_map_mix(td_map_mix(routing, (uint64_t)n), (uint64_t)i);
  for (int64_t k = 0; k < n; k++) {
    uint64_t other = td_map_mix(td_map_mix(routing, (uint64_t)n), (uint64_t)k);
    place += other < own || (other == own && k < i);
  }
  return place;
}

/* Selector i of a list. A routing other than the list's takes, for each place of the outermost
 * dimension, the selectors of a place that is drawn by the extent, their ways permuted by how many
 * there are: lists that go together still do. */
static TdStpVal select_at(TdStpRun *r, const TdStpSelectors *s, int64_t ways, int64_t i) {
  bool draws = r->o->routing && td_map_getp(r->o->drawn, s);
  uint64_t routing = draws ? r->o->routing : 0;
  if (routing) {
    uint64_t outer = (uint64_t)s->extent[0], inner = (uint64_t)s->n / outer;
    uint64_t from = td_map_mix(td_map_mix(routing, outer), (uint64_t)i / inner + 1) % outer;
    i = (int64_t)(from * inner + (uint64_t)i % inner);
  }
  uint32_t first = s->first[i], n = s->first[i + 1] - first;
  if (!routing) return td_stp_value_selector(r, s->index + first, n);
  int32_t *index = TD_NEWN(r->arena, int32_t, n + 1);
  for (uint32_t k = 0; k < n; k++) {
    int32_t way = (int32_t)permuted(routing, ways, s->index[first + k]);
    uint32_t at = k;
    for (; at && index[at - 1] > way; at--) index[at] = index[at - 1];
    index[at] = way;
  }
  return td_stp_value_selector(r, index, n);
}

void td_stp_exec_selectors(TdStpRun *r, TdStpMachine *m) {
  const TdStpSelectors *s = m->n->sel;
  int cut;
  int64_t all = entries(s->extent, s->ndim, &cut);
  if (!cut) all = 0;
  for (; m->i < all; m->i++) {
    TdStpItem it = entry(s->extent, s->ndim, cut, m->i, -1);
    if (!it.from) {
      if (!td_stp_room(r, m, 0)) return;
      it.val = select_at(r, s, m->n->opt[TD_STP_KEY_N], m->i);
    }
    td_stp_give(r, m, 0, it, m->clock + 1);
    if (!it.from) td_stp_work(m, 1);
  }
  td_stp_finish(r, m);
}

void td_stp_exec_values(TdStpRun *r, TdStpMachine *m) {
  TdTensor *t = m->n->tensor.data;
  int cut, rank = t->type->rank;
  int64_t all = entries(t->extent, rank, &cut), index[TD_MAX_RANK];
  if (!cut) all = 0;
  for (; m->i < all; m->i++) {
    TdStpItem it = entry(t->extent, rank, cut, m->i, -1);
    if (!it.from) {
      if (!td_stp_room(r, m, 0)) return;
      int64_t i = m->i;
      for (int d = rank; d-- > 0; i /= t->extent[d]) index[d] = i % t->extent[d];
      it.val = td_stp_value_number(r, t->type->elem, (int64_t)td_tensor_get(t, index));
    }
    td_stp_give(r, m, 0, it, m->i);
  }
  td_stp_finish(r, m);
}

void td_stp_exec_sink(TdStpRun *r, TdStpMachine *m) {
  for (;;) {
    TdStpLook l = td_stp_look(r, m, 0);
    if (l == TD_STP_OVER) td_stp_finish(r, m);
    if (l != TD_STP_HAVE) return;
    td_stp_see(r, m, 0);
    TdStpItem it = td_stp_take(r, m, 0);
    td_stp_value_drop(r, it.val);
    if (!it.from) td_stp_work(m, 1);
  }
}

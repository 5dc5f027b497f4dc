/* stp_exec_shape.c - what the shape operators and those of on-chip memory do to elements. */
#include "step/stp_machine.h"

static int64_t rank_of(const TdStpMachine *m, int64_t otherwise) {
  return td_stp_opt(m->n, TD_STP_KEY_RANK, otherwise);
}

/* Takes the head of input 0 into m->hold when its time has come. */
static TdStpLook hold(TdStpRun *r, TdStpMachine *m) {
  TdStpLook l = td_stp_look(r, m, 0);
  if (l != TD_STP_HAVE) return l;
  td_stp_see(r, m, 0);
  m->hold = td_stp_take(r, m, 0);
  return l;
}

/* An element with its levels as flatten(lo, hi) leaves them; false: nothing is left of it. */
static bool flattened(const TdStpMachine *m, TdStpItem *it) {
  int lo = (int)m->n->lo, hi = (int)m->n->hi, s = it->stop, from = it->from;
  it->stop = (int16_t)(s <= lo ? s : s <= hi ? lo : s - (hi - lo));
  if (!from || from <= lo) return true;
  if (from <= hi + 1) {
    it->from = (int16_t)(lo + 1);
    return s > hi;
  }
  it->from = (int16_t)(from - (hi - lo));
  return true;
}

void td_stp_exec_flatten(TdStpRun *r, TdStpMachine *m) {
  for (;;) {
    if (m->phase == 0) {
      TdStpLook l = hold(r, m);
      if (l == TD_STP_OVER) td_stp_finish(r, m);
      if (l != TD_STP_HAVE) return;
      if (!flattened(m, &m->hold)) continue;
      m->phase = 1;
    }
    if (!td_stp_give(r, m, 0, m->hold, m->clock)) return;
    m->phase = 0;
  }
}

/* The outermost dimension: the last element closes it, so each waits for the next. */
static void promote_outermost(TdStpRun *r, TdStpMachine *m) {
  int level = (int)m->n->opt[TD_STP_KEY_AT];
  for (;;) {
    if (!m->held) {
      TdStpLook l = hold(r, m);
      if (l == TD_STP_OVER) td_stp_finish(r, m);
      if (l != TD_STP_HAVE) return;
      m->held = true;
    }
    TdStpItem it = m->hold;
    TdStpLook l = td_stp_look(r, m, 0);
    if (l == TD_STP_WAIT) return;
    if (l == TD_STP_HAVE) td_stp_see(r, m, 0);
    if (l == TD_STP_OVER) it.stop = (int16_t)level;
    if (!td_stp_give(r, m, 0, it, m->clock)) return;
    m->held = false;
  }
}

void td_stp_exec_promote(TdStpRun *r, TdStpMachine *m) {
  int p = (int)m->n->opt[TD_STP_KEY_AT];
  if (p == td_stp_graph_stream(r->g, m->n->in[0])->ndim) {
    promote_outermost(r, m);
    return;
  }
  for (;;) {
    if (m->phase == 0) {
      TdStpLook l = hold(r, m);
      if (l == TD_STP_OVER) td_stp_finish(r, m);
      if (l != TD_STP_HAVE) return;
      if (m->hold.from > p) m->hold.from++;
      if (m->hold.stop >= p) m->hold.stop++;
      m->phase = 1;
    }
    if (!td_stp_give(r, m, 0, m->hold, m->clock)) return;
    m->phase = 0;
  }
}

/* ---- reshape ---- */

enum { RESHAPE_TAKE, RESHAPE_LOOK, RESHAPE_GIVE, RESHAPE_PAD };

/* Puts an element, and beside it whether it is padding where somebody reads that. */
static bool give_padded(TdStpRun *r, TdStpMachine *m, TdStpItem it, bool pads) {
  if (m->port[1].chan == UINT32_MAX && !m->port[1].tap) return td_stp_give(r, m, 0, it, m->clock);
  if (!it.from && (!td_stp_room(r, m, 0) || !td_stp_room(r, m, 1))) return false;
  TdStpItem flag = it;
  if (!it.from) flag.val = td_stp_value_number(r, m->n->out[1].type->elem, pads);
  td_stp_give(r, m, 0, it, m->clock);
  return td_stp_give(r, m, 1, flag, m->clock);
}

/* The rest of a group is filled, and its last element gets this stop. */
static void pad(TdStpRun *r, TdStpMachine *m, int stop) {
  int64_t chunk = m->n->opt[TD_STP_KEY_CHUNK];
  m->n_left = chunk - m->i;
  m->k = stop;
  m->i = 0;
  m->phase = RESHAPE_PAD;
  if (!m->n->extra.type)
    td_stp_fail(r, m, TD_ILLEGAL, "step-pad",
                "a dimension ends %lld short of a chunk of %lld, and reshape has no pad",
                (long long)m->n_left, (long long)chunk);
}

/* What an element does to groups of dimension 0; the phase says what follows. */
static void group(TdStpRun *r, TdStpMachine *m) {
  int64_t chunk = m->n->opt[TD_STP_KEY_CHUNK];
  TdStpItem *it = &m->hold;
  m->phase = RESHAPE_GIVE;
  m->k = -1;
  if (it->from) {
    if (m->i && it->from == 1) {
      pad(r, m, it->stop + 1);
      return;
    }
    it->from++;
    it->stop++;
    return;
  }
  m->i++;
  if (m->i == chunk) {
    m->i = 0;
    if (!it->stop && td_stp_opt(m->n, TD_STP_KEY_OUTER, 0)) m->phase = RESHAPE_LOOK;
    it->stop++;
  } else if (it->stop) {
    m->k = it->stop + 1;
    it->stop = 0;
  }
}

static void reshape_inner(TdStpRun *r, TdStpMachine *m) {
  bool outer = td_stp_opt(m->n, TD_STP_KEY_OUTER, 0) != 0;
  while (!r->failed) {
    TdStpLook l = TD_STP_HAVE;
    switch (m->phase) {
    case RESHAPE_TAKE:
      l = hold(r, m);
      if (l == TD_STP_WAIT) return;
      if (l == TD_STP_HAVE) {
        group(r, m);
      } else if (m->i) {
        pad(r, m, outer ? 2 : 1);
      } else {
        td_stp_finish(r, m);
        return;
      }
      break;
    case RESHAPE_LOOK:
      l = td_stp_look(r, m, 0);
      if (l == TD_STP_WAIT) return;
      if (l == TD_STP_HAVE) td_stp_see(r, m, 0);
      if (l == TD_STP_OVER) m->hold.stop++;
      m->phase = RESHAPE_GIVE;
      break;
    case RESHAPE_GIVE:
      if (!give_padded(r, m, m->hold, false)) return;
      m->phase = RESHAPE_TAKE;
      if (m->k >= 0) pad(r, m, (int)m->k);
      break;
    default: {
      TdStpItem it = td_stp_item(m->fixed, m->n_left == 1 ? (int)m->k : 0);
      td_stp_value_keep(r, m->fixed);
      if (!give_padded(r, m, it, true)) {
        td_stp_value_drop(r, m->fixed);
        return;
      }
      if (!--m->n_left) m->phase = RESHAPE_TAKE;
    }
    }
  }
}

void td_stp_exec_reshape(TdStpRun *r, TdStpMachine *m) {
  int64_t b = rank_of(m, 0), chunk = m->n->opt[TD_STP_KEY_CHUNK];
  if (!b) {
    reshape_inner(r, m);
    return;
  }
  for (;;) {
    if (m->phase == 0) {
      TdStpLook l = hold(r, m);
      if (l == TD_STP_OVER) td_stp_finish(r, m);
      if (l != TD_STP_HAVE) return;
      TdStpItem *it = &m->hold;
      if (it->from > b) {
        it->from++;
        it->stop++;
      } else if (it->stop >= b) {
        m->i = (m->i + 1) % chunk;
        if (!m->i) it->stop++;
      }
      m->phase = 1;
    }
    if (!give_padded(r, m, m->hold, false)) return;
    m->phase = 0;
  }
}

/* ---- repeats ---- */

void td_stp_exec_rep(TdStpRun *r, TdStpMachine *m) {
  int64_t n = m->n->opt[TD_STP_KEY_N];
  for (;;) {
    TdStpLook l = td_stp_look(r, m, 0);
    if (l == TD_STP_OVER) td_stp_finish(r, m);
    if (l != TD_STP_HAVE) return;
    td_stp_see(r, m, 0);
    TdStpItem it = *td_stp_head(r, m, 0);
    if (it.from) {
      td_stp_give(r, m, 0, td_stp_nothing(it.from + 1, it.stop + 1), m->clock);
      td_stp_take(r, m, 0);
      continue;
    }
    for (; m->i < n; m->i++) {
      if (!td_stp_room(r, m, 0)) return;
      td_stp_value_keep(r, it.val);
      td_stp_give(r, m, 0, td_stp_item(it.val, m->i == n - 1 ? it.stop + 1 : 0), m->clock + m->i);
    }
    td_stp_work(m, n);
    td_stp_value_drop(r, td_stp_take(r, m, 0).val);
    m->i = 0;
  }
}

/* Whether both inputs hold the same closing of lists above rank b; takes and passes it. */
static bool pass_closing(TdStpRun *r, TdStpMachine *m, int b, int shift) {
  TdStpItem x = *td_stp_head(r, m, 0), ref = *td_stp_head(r, m, 1);
  if (x.from + b != ref.from) {
    td_stp_fail(
        r, m, TD_ILLEGAL, "step-pairs",
        "the stream and the ref of '%s' end apart: %s closes a list where the other goes on",
        td_stp_graph_name(r->d->arena, m->n), x.from ? "the stream" : "ref");
    return false;
  }
  int stop = x.stop + b < ref.stop ? x.stop + b : ref.stop;
  td_stp_see(r, m, 0);
  td_stp_see(r, m, 1);
  td_stp_take(r, m, 0);
  td_stp_take(r, m, 1);
  if (x.stop + b > stop) td_stp_unread(r, m, 0, stop - b + 1, x.stop, x.time);
  if (ref.stop > stop) td_stp_unread(r, m, 1, stop + 1, ref.stop, ref.time);
  td_stp_give(r, m, 0, td_stp_nothing(ref.from + shift, stop + shift), m->clock);
  return true;
}

/* After the last ref of an element: the element goes; what closes more on one side stays. Returns
 * the stop that both have, in levels of ref. */
static int advance(TdStpRun *r, TdStpMachine *m, int b, TdStpItem ref) {
  TdStpItem x = td_stp_take(r, m, 0);
  td_stp_value_drop(r, x.val);
  int mine = x.stop + b, stop = mine < ref.stop ? mine : ref.stop;
  if (mine > stop) td_stp_unread(r, m, 0, stop - b + 1, x.stop, x.time);
  if (ref.stop > stop) td_stp_unread(r, m, 1, stop + 1, ref.stop, ref.time);
  return stop;
}

/* Both inputs have ended, or they have not: what end is left over is told. */
static void end_pair(TdStpRun *r, TdStpMachine *m, TdStpLook x, TdStpLook ref) {
  if (x == TD_STP_OVER && ref == TD_STP_OVER) {
    td_stp_finish(r, m);
    return;
  }
  td_stp_fail(r, m, TD_ILLEGAL, "step-pairs", "%s of '%s' has ended, and %s has not",
              x == TD_STP_OVER ? "the stream" : "ref", td_stp_graph_name(r->d->arena, m->n),
              x == TD_STP_OVER ? "ref" : "the stream");
}

/* expand: levels of x below b stand for one element each, so x's stops are ref's. */
void td_stp_exec_expand(TdStpRun *r, TdStpMachine *m) {
  int b = (int)rank_of(m, 1);
  bool whole = td_stp_graph_stream(r->g, m->n->in[0])->ndim == b;
  while (!r->failed) {
    if (m->phase == 1) {
      if (!td_stp_give(r, m, 0, m->hold, m->clock)) return;
      m->phase = 0;
    }
    TdStpLook x = td_stp_look(r, m, 0), ref = td_stp_look(r, m, 1);
    if (whole && x == TD_STP_HAVE && ref == TD_STP_OVER) {
      td_stp_value_drop(r, td_stp_take(r, m, 0).val);
      continue;
    }
    if (x == TD_STP_WAIT || ref == TD_STP_WAIT) return;
    if (x == TD_STP_OVER || ref == TD_STP_OVER) {
      end_pair(r, m, x, ref);
      return;
    }
    TdStpItem in = *td_stp_head(r, m, 0), at = *td_stp_head(r, m, 1);
    if (in.from > b || at.from > b) {
      if (!pass_closing(r, m, 0, 0)) return;
      continue;
    }
    td_stp_see(r, m, 0);
    td_stp_see(r, m, 1);
    at = td_stp_take(r, m, 1);
    td_stp_value_drop(r, at.val);
    m->hold = at;
    m->hold.val = at.from ? 0 : td_stp_value_keep(r, in.val);
    if (at.stop >= b && !whole) m->hold.stop = (int16_t)advance(r, m, 0, at);
    m->phase = 1;
  }
}

/* ---- buffers ---- */

static void keep_item(TdStpRun *r, TdStpMachine *m, TdStpItem it) {
  if (m->nlist == m->caplist) {
    uint32_t cap = m->caplist ? 2 * m->caplist : 8;
    TdStpItem *list = TD_NEWN(r->arena, TdStpItem, cap);
    for (uint32_t i = 0; i < m->nlist; i++) list[i] = m->list[i];
    m->list = list;
    m->caplist = cap;
  }
  m->list[m->nlist++] = it;
}

/* The collected items as a buffer, which the machine then holds with this stop. */
static void close_buffer(TdStpRun *r, TdStpMachine *m, int stop) {
  TdStpVal v = td_stp_value_new(r, TD_STP_BUFFER);
  TdStpRecord *x = td_stp_value(r, v);
  if (x->cap < m->nlist) {
    x->cap = m->nlist;
    x->item = NULL;
  }
  if (!x->item) x->item = TD_NEWN(r->arena, TdStpItem, x->cap + 1);
  for (uint32_t i = 0; i < m->nlist; i++) x->item[i] = m->list[i];
  x->nitem = m->nlist;
  m->nlist = 0;
  m->hold = td_stp_item(v, stop);
  m->phase = 1;
}

void td_stp_exec_bufferize(TdStpRun *r, TdStpMachine *m) {
  int b = (int)rank_of(m, 1);
  for (;;) {
    if (m->phase == 1) {
      if (!td_stp_give(r, m, 0, m->hold, m->clock)) return;
      m->phase = 0;
    }
    TdStpLook l = td_stp_look(r, m, 0);
    if (l == TD_STP_OVER) td_stp_finish(r, m);
    if (l != TD_STP_HAVE) return;
    td_stp_see(r, m, 0);
    TdStpItem *head = td_stp_head(r, m, 0);
    if (!head->from && !td_stp_scratch_write(r, m, &head->val)) return;
    TdStpItem it = td_stp_take(r, m, 0);
    if (it.from > b) {
      td_stp_give(r, m, 0, td_stp_nothing(it.from - b, it.stop - b), m->clock);
      continue;
    }
    int stop = it.stop;
    if (it.stop > b) it.stop = (int16_t)b;
    keep_item(r, m, it);
    if (stop >= b)
      close_buffer(r, m, stop - b);
    else if (!it.from)
      td_stp_work(m, 1);
  }
}

/* Item k of an affine read of a buffer. */
static TdStpItem viewed(const TdStpNode *n, const TdStpItem *item, int64_t k) {
  int64_t at = 0, i = k, done = k + 1;
  int stop = 0;
  for (int d = n->nview; d-- > 0; i /= n->view[d]) at += i % n->view[d] * n->stride[d];
  for (int d = n->nview; d-- > 0 && done % n->view[d] == 0; done /= n->view[d]) stop++;
  return td_stp_item(item[at].val, stop);
}

/* Gives items of the buffer at the head of input 0, the last with this stop; false: no place. */
static bool pour(TdStpRun *r, TdStpMachine *m, int last_stop) {
  TdStpVal v = td_stp_head(r, m, 0)->val;
  int64_t n = m->n->nview ? 1 : td_stp_value(r, v)->nitem;
  for (int d = 0; d < m->n->nview; d++) n *= m->n->view[d];
  for (; m->k < n; m->k++) {
    const TdStpItem *item = td_stp_value(r, v)->item;
    TdStpItem it = m->n->nview ? viewed(m->n, item, m->k) : item[m->k];
    if (!it.from && !td_stp_room(r, m, 0)) return false;
    if (m->k == n - 1) it.stop = (int16_t)last_stop;
    td_stp_value_keep(r, it.val);
    td_stp_give(r, m, 0, it, m->clock);
    if (!it.from) td_stp_work(m, 1);
  }
  m->k = 0;
  return true;
}

/* Dimensions of what is read of a buffer. */
static int buffer_rank(TdStpRun *r, const TdStpMachine *m) {
  return m->n->nview ? m->n->nview : td_stp_graph_stream(r->g, m->n->in[0])->type->ndim;
}

/* streamify {times =}: repetition m->i of all. */
static void streamify_times(TdStpRun *r, TdStpMachine *m) {
  int b = buffer_rank(r, m), dims = m->n->nshape;
  int64_t all = 1;
  for (int k = 0; k < dims; k++) all *= m->n->shape[k];
  for (;;) {
    TdStpLook l = td_stp_look(r, m, 0);
    if (l == TD_STP_OVER) td_stp_finish(r, m);
    if (l != TD_STP_HAVE) return;
    td_stp_see(r, m, 0);
    TdStpItem in = *td_stp_head(r, m, 0);
    if (in.from) {
      td_stp_give(r, m, 0, td_stp_nothing(in.from + b + dims, in.stop + b + dims), m->clock);
      td_stp_take(r, m, 0);
      continue;
    }
    for (; m->i < all; m->i++) {
      int stop = b;
      int64_t done = m->i + 1;
      for (int k = dims; k-- > 0 && done % m->n->shape[k] == 0; done /= m->n->shape[k]) stop++;
      if (m->i == all - 1) stop = b + dims + in.stop;
      if (!pour(r, m, stop)) return;
    }
    m->i = 0;
    td_stp_value_drop(r, td_stp_take(r, m, 0).val);
  }
}

void td_stp_exec_streamify(TdStpRun *r, TdStpMachine *m) {
  if (!m->n->has_ref) {
    streamify_times(r, m);
    return;
  }
  int b = buffer_rank(r, m);
  int c =
      td_stp_graph_stream(r->g, m->n->in[1])->ndim - td_stp_graph_stream(r->g, m->n->in[0])->ndim;
  while (!r->failed) {
    if (m->phase == 1) {
      int stop = m->hold.stop;
      if (m->held && !m->hold.from) {
        TdStpItem in = *td_stp_head(r, m, 0);
        if (in.stop + c < stop) stop = in.stop + c;
      }
      if (!m->hold.from && !pour(r, m, stop + b)) return;
      if (m->held) stop = advance(r, m, c, m->hold);
      if (m->hold.from) td_stp_give(r, m, 0, td_stp_nothing(m->hold.from + b, stop + b), m->clock);
      m->phase = 0;
    }
    TdStpLook x = td_stp_look(r, m, 0), ref = td_stp_look(r, m, 1);
    if (x == TD_STP_WAIT || ref == TD_STP_WAIT) return;
    if (x == TD_STP_OVER || ref == TD_STP_OVER) {
      end_pair(r, m, x, ref);
      return;
    }
    TdStpItem in = *td_stp_head(r, m, 0), at = *td_stp_head(r, m, 1);
    if (in.from || at.from > c) {
      if (!pass_closing(r, m, c, b)) return;
      continue;
    }
    td_stp_see(r, m, 0);
    td_stp_see(r, m, 1);
    at = td_stp_take(r, m, 1);
    td_stp_value_drop(r, at.val);
    m->hold = at;
    m->held = at.stop >= c;
    m->phase = 1;
  }
}

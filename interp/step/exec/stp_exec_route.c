/* stp_exec_route.c - what routing and merging operators do to elements. */
#include "step/stp_machine.h"

static int rank_of(const TdStpMachine *m) {
  return (int)td_stp_opt(m->n, TD_STP_KEY_RANK, 0);
}

/* One element to all readers of a stream, when all have a place. */
void td_stp_exec_broadcast(TdStpRun *r, TdStpMachine *m) {
  for (;;) {
    if (m->phase == 0) {
      TdStpLook l = td_stp_look(r, m, 0);
      if (l == TD_STP_OVER) td_stp_finish(r, m);
      if (l != TD_STP_HAVE) return;
      td_stp_see(r, m, 0);
      m->hold = td_stp_take(r, m, 0);
      m->phase = 1;
    }
    if (!m->hold.from)
      for (uint32_t p = 0; p < m->nout; p++)
        if (!td_stp_room(r, m, p)) return;
    if (!m->hold.from)
      for (uint32_t p = 0; p < m->nout; p++)
        td_stp_until(m, td_stp_free_at(r, m, p), TD_STP_FULL, m->port[p].chan);
    for (uint32_t p = 0; p < m->nout; p++) {
      if (p) td_stp_value_keep(r, m->hold.val);
      td_stp_give(r, m, p, m->hold, m->clock);
    }
    m->phase = 0;
  }
}

/* ---- partition ---- */

enum { PARTITION_SELECT, PARTITION_TAKE, PARTITION_GIVE };

/* A closing of outer lists: x and the selectors have it both. */
static bool pass_outer(TdStpRun *r, TdStpMachine *m, int b) {
  TdStpLook l = td_stp_look(r, m, 0);
  if (l == TD_STP_WAIT) return false;
  TdStpItem sel = *td_stp_head(r, m, 1);
  TdStpItem x = l == TD_STP_HAVE ? *td_stp_head(r, m, 0) : td_stp_nothing(0, 0);
  if (x.from != sel.from + b) {
    td_stp_fail(r, m, TD_ILLEGAL, "step-pairs",
                "the selectors of '%s' close a list of level %d, and its input does not",
                td_stp_graph_name(r->d->arena, m->n), sel.from);
    return false;
  }
  int stop = x.stop < sel.stop + b ? x.stop : sel.stop + b;
  td_stp_take(r, m, 0);
  td_stp_take(r, m, 1);
  if (x.stop > stop) td_stp_unread(r, m, 0, stop + 1, x.stop, x.time);
  if (sel.stop + b > stop) td_stp_unread(r, m, 1, stop - b + 1, sel.stop, sel.time);
  return true;
}

/* The end of a chunk: its stop and the selector's say the same, or one closes more later. */
static void end_chunk(TdStpRun *r, TdStpMachine *m, int b) {
  int mine = m->hold.stop - b, sel = m->sel.stop;
  if (mine > sel) td_stp_unread(r, m, 0, sel + b + 1, m->hold.stop, m->hold.time);
  if (sel > mine) td_stp_unread(r, m, 1, mine + 1, sel, m->sel.time);
  m->hold.stop = (int16_t)b;
  m->held = true;
}

/* Takes the next element of a chunk into m->hold; false: the machine waits or failed. */
static bool take_of_chunk(TdStpRun *r, TdStpMachine *m, int b) {
  TdStpLook l = td_stp_look(r, m, 0);
  if (l == TD_STP_WAIT) return false;
  const TdStpItem *x = l == TD_STP_HAVE ? td_stp_head(r, m, 0) : NULL;
  if (!x || x->from > b) {
    td_stp_fail(r, m, TD_ILLEGAL, "step-pairs",
                "the input of '%s' %s where its selectors route a chunk more",
                td_stp_graph_name(r->d->arena, m->n), x ? "closes a list" : "has ended");
    return false;
  }
  td_stp_see(r, m, 0);
  bool some = td_stp_value(r, m->sel.val)->number > 0;
  if (!x->from) {
    int64_t load = td_stp_scratch_read(r, m, &x->val, 1);
    if (load < 0) return false;
    td_stp_work(m, load);
  }
  m->hold = td_stp_take(r, m, 0);
  if (!m->hold.from && some) td_stp_work(m, 1);
  if (!m->hold.from && td_stp_value(r, m->hold.val)->mu) {
    TdStpVal copy = td_stp_value_copy(r, m->hold.val);
    td_stp_value_drop(r, m->hold.val);
    td_stp_value(r, copy)->mu = 0;
    m->hold.val = copy;
  }
  m->held = false;
  if (m->hold.stop >= b) end_chunk(r, m, b);
  m->i = 0;
  return true;
}

/* Gives m->hold to every selected output; false: one has no place. */
static bool give_selected(TdStpRun *r, TdStpMachine *m) {
  for (; m->i < td_stp_value(r, m->sel.val)->number; m->i++) {
    uint32_t p = (uint32_t)td_stp_value(r, m->sel.val)->index[m->i];
    if (!m->hold.from && !td_stp_room(r, m, p)) return false;
    td_stp_value_keep(r, m->hold.val);
    td_stp_give(r, m, p, m->hold, m->clock);
  }
  td_stp_value_drop(r, m->hold.val);
  return true;
}

void td_stp_exec_partition(TdStpRun *r, TdStpMachine *m) {
  int b = rank_of(m);
  while (!r->failed) {
    if (m->phase == PARTITION_SELECT) {
      TdStpLook l = td_stp_look(r, m, 1);
      if (l == TD_STP_OVER) td_stp_finish(r, m);
      if (l != TD_STP_HAVE) return;
      td_stp_see(r, m, 1);
      if (td_stp_head(r, m, 1)->from) {
        if (!pass_outer(r, m, b)) return;
        continue;
      }
      m->sel = td_stp_take(r, m, 1);
      m->phase = PARTITION_TAKE;
    }
    if (m->phase == PARTITION_TAKE) {
      if (!take_of_chunk(r, m, b)) return;
      m->phase = PARTITION_GIVE;
    }
    if (!give_selected(r, m)) return;
    m->phase = m->held ? PARTITION_SELECT : PARTITION_TAKE;
    if (m->held) td_stp_value_drop(r, m->sel.val);
  }
}

/* ---- reassemble ---- */

enum { GATHER_SELECT, GATHER_WAIT, GATHER_TAKE, GATHER_GIVE };

/* Waits for a head at every selected input, and puts them in order; false: not yet. */
static bool gather(TdStpRun *r, TdStpMachine *m) {
  const TdStpRecord *sel = td_stp_value(r, m->sel.val);
  for (int64_t i = 0; i < sel->number; i++) {
    TdStpLook l = td_stp_look(r, m, (uint32_t)sel->index[i]);
    if (l == TD_STP_WAIT) return false;
    if (l == TD_STP_OVER) {
      td_stp_fail(r, m, TD_ILLEGAL, "step-pairs",
                  "input %d of '%s' has ended, and is selected again", sel->index[i] + 1,
                  td_stp_graph_name(r->d->arena, m->n));
      return false;
    }
  }
  bool by_index = r->o->by_index || td_stp_opt(m->n, TD_STP_KEY_ORDER, 0) != 0;
  for (int64_t i = 0; i < sel->number; i++) {
    int64_t t = td_stp_head(r, m, (uint32_t)sel->index[i])->time, k = i;
    while (!by_index && k && m->arrival[k - 1] > t) {
      m->arrival[k] = m->arrival[k - 1];
      m->order[k] = m->order[k - 1];
      k--;
    }
    m->arrival[k] = t;
    m->order[k] = sel->index[i];
  }
  return true;
}

/* Takes the next element of chunk m->i into m->hold, with its stop; false: it is not there. */
static bool take_gathered(TdStpRun *r, TdStpMachine *m, int b) {
  uint32_t i = (uint32_t)m->order[m->i];
  TdStpLook l = td_stp_look(r, m, i);
  if (l == TD_STP_WAIT) return false;
  if (l == TD_STP_OVER) {
    td_stp_fail(r, m, TD_ILLEGAL, "step-pairs", "input %u of '%s' ends in the middle of a chunk",
                i + 1, td_stp_graph_name(r->d->arena, m->n));
    return false;
  }
  td_stp_see(r, m, i);
  const TdStpItem *x = td_stp_head(r, m, i);
  if (!x->from) {
    int64_t load = td_stp_scratch_read(r, m, &x->val, 1);
    if (load < 0) return false;
    td_stp_until(m, m->arrival[m->i] + 1 + load, TD_STP_EMPTY, m->in[i]);
  }
  m->hold = td_stp_take(r, m, i);
  if (!m->hold.from && td_stp_value(r, m->hold.val)->mu) {
    TdStpVal copy = td_stp_value_copy(r, m->hold.val);
    td_stp_value_drop(r, m->hold.val);
    td_stp_value(r, copy)->mu = 0;
    m->hold.val = copy;
  }
  m->held = m->hold.stop >= b;
  bool last = m->i + 1 == td_stp_value(r, m->sel.val)->number;
  if (m->held && last) m->hold.stop = (int16_t)(b + 1 + m->sel.stop);
  return true;
}

/* Begins with the next selector; false: the machine waits or is done. */
static bool begin_gather(TdStpRun *r, TdStpMachine *m, int b) {
  uint32_t at = m->nin - 1;
  TdStpLook l = td_stp_look(r, m, at);
  if (l == TD_STP_OVER) td_stp_finish(r, m);
  if (l != TD_STP_HAVE) return false;
  td_stp_see(r, m, at);
  m->sel = td_stp_take(r, m, at);
  if (m->sel.from) {
    TdStpItem it = td_stp_nothing(m->sel.from + b + 1, m->sel.stop + b + 1);
    return td_stp_give(r, m, 0, it, m->clock);
  }
  if (!td_stp_value(r, m->sel.val)->number) {
    td_stp_value_drop(r, m->sel.val);
    return td_stp_give(r, m, 0, td_stp_nothing(b + 1, b + 1 + m->sel.stop), m->clock);
  }
  m->i = 0;
  m->phase = GATHER_WAIT;
  return true;
}

void td_stp_exec_reassemble(TdStpRun *r, TdStpMachine *m) {
  int b = rank_of(m);
  while (!r->failed) {
    if (m->phase == GATHER_SELECT) {
      if (!begin_gather(r, m, b)) return;
      continue;
    }
    if (m->phase == GATHER_WAIT) {
      if (!gather(r, m)) return;
      m->phase = GATHER_TAKE;
    }
    if (m->phase == GATHER_TAKE) {
      if (!take_gathered(r, m, b)) return;
      m->phase = GATHER_GIVE;
    }
    if (!td_stp_give(r, m, 0, m->hold, m->clock)) return;
    m->phase = GATHER_TAKE;
    if (!m->held) continue;
    if (++m->i < td_stp_value(r, m->sel.val)->number) continue;
    td_stp_value_drop(r, m->sel.val);
    m->phase = GATHER_SELECT;
  }
}

/* ---- eager_merge ---- */

enum { MERGE_CHOOSE, MERGE_TELL, MERGE_TAKE, MERGE_GIVE };

/* The input whose head came first, in m->k; TD_STP_WAIT: one may still come earlier. m->at is the
 * time of the earliest so far, INT64_MAX: none. */
static TdStpLook choose(TdStpRun *r, TdStpMachine *m) {
  uint32_t over = 0, waits = 0;
  m->at = INT64_MAX;
  for (uint32_t i = 0; i < m->nin; i++) {
    TdStpChan *c = &r->chan[m->in[i]];
    if (!c->count) {
      over += c->closed;
      waits += !c->closed;
    } else if (td_stp_head(r, m, i)->time < m->at) {
      m->at = td_stp_head(r, m, i)->time;
      m->k = i;
    }
  }
  if (over == m->nin) {
    for (uint32_t i = 0; i < m->nin; i++) td_stp_look(r, m, i);
    return TD_STP_OVER;
  }
  m->why = TD_STP_BY_ARRIVAL;
  return waits ? TD_STP_WAIT : TD_STP_HAVE;
}

/* Whether the scheduler told it to take what is there (m->held). */
void td_stp_exec_eager_merge(TdStpRun *r, TdStpMachine *m) {
  int a = rank_of(m);
  while (!r->failed) {
    if (m->phase == MERGE_CHOOSE) {
      TdStpLook l = choose(r, m);
      if (l == TD_STP_OVER) td_stp_finish(r, m);
      if (l == TD_STP_OVER || (l == TD_STP_WAIT && !m->held)) return;
      m->held = false;
      td_stp_see(r, m, (uint32_t)m->k);
      m->phase = MERGE_TELL;
    }
    if (m->phase == MERGE_TELL) {
      if (!td_stp_room(r, m, 1)) return;
      TdStpVal v = td_stp_value_selector(r, r->identity + m->k, 1);
      td_stp_give(r, m, 1, td_stp_item(v, 0), m->clock);
      m->phase = MERGE_TAKE;
    }
    if (m->phase == MERGE_TAKE) {
      TdStpLook l = td_stp_look(r, m, (uint32_t)m->k);
      if (l == TD_STP_WAIT) return;
      if (l == TD_STP_OVER) {
        td_stp_fail(r, m, TD_ILLEGAL, "step-pairs",
                    "input %lld of '%s' ends in the middle of a chunk", (long long)m->k + 1,
                    td_stp_graph_name(r->d->arena, m->n));
        return;
      }
      td_stp_see(r, m, (uint32_t)m->k);
      m->hold = td_stp_take(r, m, (uint32_t)m->k);
      m->phase = MERGE_GIVE;
    }
    if (!td_stp_give(r, m, 0, m->hold, m->clock)) return;
    m->phase = m->hold.stop >= a ? MERGE_CHOOSE : MERGE_TAKE;
    if (m->phase == MERGE_TAKE && !m->hold.from) td_stp_work(m, 1);
  }
}

/* ---- the others ---- */

void td_stp_exec_parallelize(TdStpRun *r, TdStpMachine *m) {
  int b = rank_of(m);
  for (;;) {
    if (m->phase == 0) {
      TdStpLook l = td_stp_look(r, m, 0);
      if (l == TD_STP_OVER) td_stp_finish(r, m);
      if (l != TD_STP_HAVE) return;
      td_stp_see(r, m, 0);
      m->hold = td_stp_take(r, m, 0);
      m->phase = 1;
    }
    if (!td_stp_give(r, m, (uint32_t)m->k, m->hold, m->clock + 1)) return;
    if (m->hold.stop >= b) m->k = (m->k + 1) % m->nout;
    m->phase = 0;
  }
}

/* Pairs that somebody reads as such. */
void td_stp_exec_zip(TdStpRun *r, TdStpMachine *m) {
  TdStpItem it;
  for (;;) {
    TdStpLook l = td_stp_meet(r, m, m->nin, &it);
    if (l == TD_STP_OVER) td_stp_finish(r, m);
    if (l != TD_STP_HAVE) return;
    TdStpItem out = it;
    if (!it.from) {
      if (!td_stp_room(r, m, 0)) return;
      out.val = td_stp_value_new(r, TD_STP_TUPLE);
      TdStpRecord *own = td_stp_value(r, out.val);
      TdStpItem *part =
          own->cap >= TD_STP_PARTS ? own->item : TD_NEWN(r->arena, TdStpItem, TD_STP_PARTS);
      uint32_t n = 0;
      for (uint32_t i = 0; i < m->nin; i++) {
        TdStpVal v = td_stp_head(r, m, i)->val;
        TdStpRecord *x = td_stp_value(r, v);
        for (uint32_t k = 0; x->kind == TD_STP_TUPLE && k < x->nitem && n < TD_STP_PARTS; k++)
          part[n++] = td_stp_item(td_stp_value_keep(r, x->item[k].val), 0);
        if (x->kind != TD_STP_TUPLE && n < TD_STP_PARTS)
          part[n++] = td_stp_item(td_stp_value_keep(r, v), 0);
      }
      td_stp_value(r, out.val)->item = part;
      td_stp_value(r, out.val)->nitem = n;
      td_stp_value(r, out.val)->cap = TD_STP_PARTS;
    }
    td_stp_give(r, m, 0, out, m->clock);
    td_stp_consume(r, m, m->nin, it);
  }
}

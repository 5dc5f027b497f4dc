/* stp_exec_fn.c - what the operators with a function do to elements. A tuple that only they read
 * comes as several inputs. */
#include "step/stp_machine.h"

#define PARTS 16

/* The parts of the element at the heads of all inputs, from part[at] on; returns their number. */
static size_t gather(TdStpRun *r, TdStpMachine *m, TdStpVal *part, size_t at) {
  for (uint32_t i = 0; i < m->nin; i++) {
    TdStpVal v = td_stp_head(r, m, i)->val;
    const TdStpRecord *x = td_stp_value(r, v);
    if (x->kind != TD_STP_TUPLE) {
      part[at++] = v;
      continue;
    }
    for (uint32_t k = 0; k < x->nitem && at < PARTS; k++) part[at++] = x->item[k].val;
  }
  return at;
}

/* Cycles to read the element at the heads of all inputs from memory units; -1: wait. */
static int64_t load_cycles(TdStpRun *r, TdStpMachine *m) {
  TdStpVal part[PARTS];
  return td_stp_scratch_read(r, m, part, gather(r, m, part, 0));
}

/* Cycles of a computation: constant, or FLOPs over the node's bandwidth; without one, none. */
static int64_t compute_cycles(TdStpMachine *m, int64_t flops, int64_t constant) {
  int64_t bw = td_stp_opt(m->n, TD_STP_KEY_BW, 0);
  m->flops += flops;
  if (constant >= 0) return constant;
  return bw ? (flops + bw - 1) / bw : 0;
}

static int64_t store_cycles(TdStpRun *r, TdStpMachine *m, TdStpVal out) {
  if (!td_stp_opt(m->n, TD_STP_KEY_WRITE_BACK, 0)) return 0;
  return (td_stp_value_bytes(r, out) + r->o->pmu - 1) / r->o->pmu;
}

static int64_t most(int64_t a, int64_t b) {
  return a > b ? a : b;
}

/* Whether the function passes on that its input lies in a memory unit. */
static bool keeps_place(const TdStpMachine *m) {
  return m->n->fn.kind == TD_STP_FN_RETILE_ROW || m->n->fn.kind == TD_STP_FN_RETILE_COL;
}

static void set_place(TdStpRun *r, TdStpMachine *m, TdStpVal *v) {
  bool back = td_stp_opt(m->n, TD_STP_KEY_WRITE_BACK, 0) != 0;
  if (keeps_place(m) || td_stp_value(r, *v)->mu == back) return;
  if (td_stp_value(r, *v)->refs > 1) {
    TdStpVal copy = td_stp_value_copy(r, *v);
    td_stp_value_drop(r, *v);
    *v = copy;
  }
  td_stp_value(r, *v)->mu = back;
}

void td_stp_exec_map(TdStpRun *r, TdStpMachine *m) {
  TdStpItem it;
  while (!r->failed) {
    TdStpLook l = td_stp_meet(r, m, m->nin, &it);
    if (l == TD_STP_OVER) td_stp_finish(r, m);
    if (l != TD_STP_HAVE) return;
    TdStpItem out = it;
    if (!it.from) {
      TdStpVal part[PARTS];
      int64_t flops, constant, load = load_cycles(r, m);
      if (load < 0 || !td_stp_room(r, m, 0)) return;
      size_t n = gather(r, m, part, 0);
      out.val = td_stp_apply(r, m, part, n, &flops, &constant);
      if (r->failed) return;
      set_place(r, m, &out.val);
      int64_t c = most(load, compute_cycles(m, flops, constant));
      td_stp_work(m, most(c, store_cycles(r, m, out.val)));
    }
    td_stp_give(r, m, 0, out, m->clock);
    td_stp_consume(r, m, m->nin, it);
  }
}

/* The state of a fold in which nothing came: init, or zeros. */
static TdStpVal start_of(TdStpRun *r, TdStpMachine *m) {
  const TdStpType *t = m->n->out[0].type;
  int64_t rows = 0, cols = 0;
  if (m->fixed) return td_stp_value_keep(r, m->fixed);
  bool stacks = keeps_place(m);
  if (!td_stp_expr_is_const(t->rows, &rows) || (stacks && m->n->fn.kind == TD_STP_FN_RETILE_ROW))
    rows = 0;
  if (!td_stp_expr_is_const(t->cols, &cols) || (stacks && m->n->fn.kind == TD_STP_FN_RETILE_COL))
    cols = 0;
  return td_stp_value_tile(r, t->elem, rows, cols);
}

/* Takes one element, which `load` cycles bring, into the state; its cycles besides a store. */
static int64_t fold(TdStpRun *r, TdStpMachine *m, int64_t load) {
  TdStpVal part[PARTS] = {m->acc};
  int64_t flops, constant;
  bool maps = m->n->op == TD_STP_MAP_ACCUM;
  size_t n = gather(r, m, part, 1);
  if (!m->acc && m->fixed) part[0] = m->acc = td_stp_value_keep(r, m->fixed);
  TdStpVal next = maps ? td_stp_apply(r, m, part + 1, n - 1, &flops, &constant)
                       : td_stp_apply(r, m, part, n, &flops, &constant);
  if (r->failed) return 0;
  if (maps) {
    TdStpVal sum = td_stp_apply_sum(r, m, m->acc, next);
    td_stp_value_drop(r, next);
    next = sum;
    if (r->failed) return 0;
  }
  td_stp_value_drop(r, m->acc);
  m->acc = next;
  return most(load, compute_cycles(m, flops, constant));
}

/* The state, taken out of the machine. */
static TdStpVal release(TdStpRun *r, TdStpMachine *m) {
  if (!m->acc && m->n->out[0].type->kind == TD_STP_BUFFER) {
    td_stp_fail(r, m, TD_ILLEGAL, "step-function", "%s at run: there is no buffer to begin with",
                m->n->fn.name);
    return 0;
  }
  TdStpVal v = m->acc ? m->acc : start_of(r, m);
  m->acc = 0;
  set_place(r, m, &v);
  return v;
}

void td_stp_exec_accum(TdStpRun *r, TdStpMachine *m) {
  int b = (int)td_stp_opt(m->n, TD_STP_KEY_RANK, 1);
  while (!r->failed) {
    if (m->phase == 1) {
      if (!td_stp_give(r, m, 0, m->hold, m->clock)) return;
      m->phase = 0;
    }
    TdStpItem it;
    TdStpLook l = td_stp_meet(r, m, m->nin, &it);
    if (l == TD_STP_OVER) td_stp_finish(r, m);
    if (l != TD_STP_HAVE) return;
    bool ends = it.stop >= b;
    if (it.from > b) {
      td_stp_consume(r, m, m->nin, it);
      td_stp_give(r, m, 0, td_stp_nothing(it.from - b, it.stop - b), m->clock);
      continue;
    }
    int64_t c = it.from ? 0 : load_cycles(r, m);
    if (c < 0) return;
    if (!it.from) c = fold(r, m, c);
    if (r->failed) return;
    if (ends) {
      m->hold = td_stp_item(release(r, m), it.stop - b);
      if (r->failed) return;
      bool stores = !keeps_place(m) && !it.from;
      if (stores) c = most(c, store_cycles(r, m, m->hold.val));
      m->phase = 1;
    }
    td_stp_work(m, c);
    td_stp_consume(r, m, m->nin, it);
  }
}

void td_stp_exec_scan(TdStpRun *r, TdStpMachine *m) {
  int b = (int)td_stp_opt(m->n, TD_STP_KEY_RANK, 1);
  bool before = td_stp_opt(m->n, TD_STP_KEY_EMIT, 0) != 0;
  while (!r->failed) {
    TdStpItem it;
    TdStpLook l = td_stp_meet(r, m, m->nin, &it);
    if (l == TD_STP_OVER) td_stp_finish(r, m);
    if (l != TD_STP_HAVE) return;
    TdStpItem out = it;
    if (!it.from) {
      int64_t c = load_cycles(r, m);
      if (c < 0 || !td_stp_room(r, m, 0)) return;
      out.val = m->acc ? td_stp_value_keep(r, m->acc) : before ? start_of(r, m) : 0;
      c = fold(r, m, c);
      if (r->failed) return;
      if (!before) {
        td_stp_value_drop(r, out.val);
        out.val = td_stp_value_keep(r, m->acc);
      }
      set_place(r, m, &out.val);
      td_stp_work(m, most(c, store_cycles(r, m, out.val)));
    }
    if (it.stop >= b) {
      td_stp_value_drop(r, m->acc);
      m->acc = 0;
    }
    td_stp_give(r, m, 0, out, m->clock);
    td_stp_consume(r, m, m->nin, it);
  }
}

/* ---- flat_map ---- */

/* Takes an element apart: its parts are kept in m->order until all its elements are out. */
static TdStpLook begin_flat(TdStpRun *r, TdStpMachine *m, int b) {
  TdStpItem it;
  TdStpLook l = td_stp_meet(r, m, m->nin, &it);
  if (l == TD_STP_OVER) td_stp_finish(r, m);
  if (l != TD_STP_HAVE) return l;
  m->hold = it;
  m->held = true;
  m->i = m->n_left = 0;
  if (!it.from) {
    TdStpVal part[PARTS];
    m->k = (int64_t)gather(r, m, part, 0);
    for (int64_t k = 0; k < m->k; k++) m->order[k] = td_stp_value_keep(r, part[k]);
    m->n_left = td_stp_apply_count(r, m, part);
    const TdStpRecord *x = td_stp_value(r, part[0]);
    if (m->n->fn.kind == TD_STP_FN_ADDRESSES && x->number != 1)
      td_stp_fail(r, m, TD_ILLEGAL, "step-function",
                  "%s at run: a selector of %lld ways, where it takes one", m->n->fn.name,
                  (long long)x->number);
    else if (m->n_left < 0)
      td_stp_fail(r, m, TD_ILLEGAL, "step-function", "%s at run: a length of %lld", m->n->fn.name,
                  (long long)m->n_left);
    m->at = m->clock;
  }
  td_stp_consume(r, m, m->nin, it);
  (void)b;
  return l;
}

/* What closes lists where an element came to nothing, or where nothing came. */
static bool close_flat(TdStpRun *r, TdStpMachine *m, int b) {
  TdStpItem it = m->hold;
  if (it.from) return td_stp_give(r, m, 0, td_stp_nothing(it.from + b, it.stop + b), m->clock);
  if (m->n_left || it.stop + b == 0) return true;
  return td_stp_give(r, m, 0, td_stp_nothing(1, it.stop + b), m->clock);
}

void td_stp_exec_flat_map(TdStpRun *r, TdStpMachine *m) {
  int b = (int)td_stp_opt(m->n, TD_STP_KEY_RANK, 0);
  bool paced = m->n->fn.kind == TD_STP_FN_CACHE_ADDRESSES;
  while (!r->failed) {
    if (!m->held && begin_flat(r, m, b) != TD_STP_HAVE) return;
    if (r->failed) return;
    TdStpVal part[PARTS] = {0};
    for (int64_t k = 0; k < m->k; k++) part[k] = (TdStpVal)m->order[k];
    for (; !m->hold.from && m->i < m->n_left; m->i++) {
      if (!td_stp_room(r, m, 0)) return;
      int stop = m->i == m->n_left - 1 ? m->hold.stop + b : 0;
      TdStpVal v = td_stp_apply_element(r, m, part, m->i);
      td_stp_give(r, m, 0, td_stp_item(v, stop), paced ? m->at + m->i : m->clock);
    }
    close_flat(r, m, b);
    for (int64_t k = 0; !m->hold.from && k < m->k; k++) td_stp_value_drop(r, part[k]);
    m->held = false;
  }
}

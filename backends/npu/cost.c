/* cost.c - what a kernel takes of a core: MACs by kind, other operations in vectors or one by one.
 * A line of the kernels' text says so, which the model of time reads. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "affine/access.h"
#include "backends/npu/lanes.h"

static TdNpuMacs *macs_of(TdNpuCost *c, const TdMac *mac) {
  size_t i = 0;
  while (i < c->nmac && c->mac[i].mac != mac) i++;
  if (i == c->nmac) c->mac[c->nmac++] = (TdNpuMacs){.mac = mac};
  return &c->mac[i];
}

/* ---- statements ---- */

/* A count of operations; the kind of the first product. */
typedef struct Count {
  const TdNpuAsk *q;
  int64_t ops;
  const TdMac *mac;
} Count;

static const TdExpr *bare(const TdExpr *e) {
  while (e->kind == TD_EXPR_CAST) e = e->kid[0];
  return e;
}

static bool look_op(void *ud, const TdExpr *e) {
  Count *k = ud;
  if (e->kind != TD_EXPR_OP) return true;
  if (e->type->kind == TD_T_INDEX) return false;
  k->ops++;
  if (e->op == TD_OP_MUL && e->nkid == 2 && !k->mac)
    k->mac =
        td_device_mac(k->q->generation, td_npu_vector_factor(k->q->arena, bare(e->kid[0])->type),
                      td_npu_vector_factor(k->q->arena, bare(e->kid[1])->type));
  return true;
}

/* One execution of a statement that stores or sets. */
static void add_store(const TdNpuAsk *q, const TdStmt *s, double times, TdNpuCost *c) {
  Count k = {.q = q};
  bool ring;
  for (uint32_t i = 0; i < s->nexpr; i++) {
    const TdExpr *e = s->expr[i];
    if (s->kind != TD_STMT_STORE || i) td_walk_expr(e, look_op, &k);
  }
  bool sums =
      s->kind == TD_STMT_STORE && td_access_accumulates(s->expr[1], s->expr[0], &ring) == TD_OP_ADD;
  if (sums && k.mac && k.ops == 2)
    macs_of(c, k.mac)->scalar += times;
  else
    c->scalar += times * (double)(k.ops + 1);
}

static double trip_of(const TdNpuAsk *q, const TdStmt *s) {
  int64_t lo, hi;
  if (!td_unit_value(q->unit, td_for_lo(s), &lo) || !td_unit_value(q->unit, td_for_hi(s), &hi))
    return 1;
  return hi > lo ? (double)((hi - lo + s->step - 1) / s->step) : 0;
}

static double count_of(const TdNpuAsk *q, const TdType *t) {
  const TdType *at = td_unit_type(q->prog->store->session, q->unit, t);
  int64_t n = 1;
  return at && td_type_count(at, &n) ? (double)n : 1;
}

static void add_call(const TdNpuAsk *q, const TdStmt *s, double times, TdNpuCost *c) {
  TdNpuAsk in = *q;
  in.unit = td_prog_unit(q->prog, s->sym);
  in.types = NULL;
  in.fill = NULL;
  if (in.unit && in.unit->body) td_npu_cost_add(&in, in.unit->body, times, c);
}

void td_npu_cost_add(const TdNpuAsk *q, const TdStmt *s, double times, TdNpuCost *c) {
  const TdStmt *store;
  TdNpuMmul m;
  int64_t n;
  double bytes = td_model[TD_MODEL_VECTOR_BYTES].value;
  if (td_npu_vector_fill(q, s, &store, &n)) {
    c->vector += times * (double)n * (double)td_type_bytes(store->expr[0]->type) / bytes;
    return;
  }
  if (td_npu_vector_mmul(q, s, &m)) {
    double all = (double)(m.m * m.mac->r) * (double)(m.n * m.mac->t) * (double)(m.k * m.mac->s);
    macs_of(c, m.mac)->n += times * all;
    return;
  }
  TdNpuLanes x;
  if (td_npu_lanes_of(q, s, &x) && x.lanes) {
    double rest = (double)td_npu_lanes_rest(&x);
    c->vector += times * td_npu_lanes_cycles(&x);
    if (x.mac) macs_of(c, x.mac)->lanes += times * ((double)x.trips - rest);
    times *= rest;
  } else if (s->kind == TD_STMT_FOR) {
    times *= trip_of(q, s);
  }
  if (s->kind == TD_STMT_CALL) add_call(q, s, times, c);
  if (s->kind == TD_STMT_STORE) add_store(q, s, times, c);
  if (s->kind == TD_STMT_SET) add_store(q, s, times * count_of(q, s->expr[0]->type), c);
  for (uint32_t i = 0; i < s->nkid; i++) td_npu_cost_add(q, s->kid[i], times, c);
}

/* ---- text ---- */

void td_npu_cost_print(TdText *out, const TdNpuCost *c) {
  for (size_t i = 0; i < c->nmac; i++)
    td_text_putf(out, " %s*%s %.0f+%.0f+%.0f", c->mac[i].mac->a, c->mac[i].mac->b, c->mac[i].n,
                 c->mac[i].lanes, c->mac[i].scalar);
  td_text_putf(out, " vector %.0f scalar %.0f", c->vector, c->scalar);
}

void td_npu_cost_read(const char *line, int generation, TdNpuCost *c) {
  char a[16], b[16];
  double n, m, o;
  int used;
  *c = (TdNpuCost){.nmac = 0};
  while (sscanf(line, " %15[a-z0-9]*%15[a-z0-9] %lf+%lf+%lf%n", a, b, &n, &m, &o, &used) == 5) {
    const TdMac *mac = td_device_mac(generation, a, b);
    if (mac) *macs_of(c, mac) = (TdNpuMacs){mac, n, m, o};
    line += used;
  }
  if (sscanf(line, " vector %lf scalar %lf", &n, &m) == 2) c->vector = n, c->scalar = m;
}

/* ---- cycles ---- */

double td_npu_cost_cycles(const TdNpuCost *c) {
  double vector = c->vector, scalar = c->scalar;
  for (size_t i = 0; i < c->nmac; i++) {
    vector += c->mac[i].n / c->mac[i].mac->macs;
    scalar += c->mac[i].scalar;
  }
  return vector / td_model[TD_MODEL_VECTOR].value + scalar + td_model[TD_MODEL_CALL].value;
}

double td_npu_cost_macs(const TdNpuCost *c) {
  double n = 0;
  for (size_t i = 0; i < c->nmac; i++) n += c->mac[i].n + c->mac[i].lanes + c->mac[i].scalar;
  return n;
}

int64_t td_npu_cost_peak(const TdNpuCost *c) {
  int64_t most = 0;
  for (size_t i = 0; i < c->nmac; i++)
    if (c->mac[i].mac->macs > most) most = c->mac[i].mac->macs;
  return most;
}

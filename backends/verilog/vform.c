/* vform.c - affine forms and index expressions as numbers of counters. */
#include "backends/verilog/vunit.h"

#include "analysis/range/range.h"

size_t td_vform_counter(TdVkUnit *k, const void *key, const char *name, const TdStmt *loop,
                        int64_t trip, int64_t most, int64_t stride) {
  for (size_t i = 0; i < k->counter.n; i++)
    if (k->counter.at[i].key == key && k->counter.at[i].frame == k->frame) return i;
  bool is_signed;
  int w = td_vop_width(0, most > 1 ? most - 1 : 1, &is_signed);
  TdVkCounter c = {.key = key, .name = name, .loop = loop, .trip = trip, .stride = stride};
  c.frame = k->frame;
  c.n = td_vtree_reg(k->m, name, w);
  td_vec_push(k->arena, &k->counter, c);
  return k->counter.n - 1;
}

/* Whether counter i moves while leaf l has iterations under way. */
static bool moves(const TdVkLeaf *l, size_t i) {
  for (size_t k = 0; k < l->nest.n; k++)
    if (l->nest.at[k] == i) return l->pipe;
  return false;
}

/* What a column of the trace is in a cycle. */
static TdVlNum column(TdVkUnit *k, TdVkLeaf *l, int32_t col, int64_t cycle) {
  size_t at = (size_t)(-1 - col);
  const TdColumn *c = &l->t->column.at[at];
  if (c->node) return td_vdata_value(k, l, td_trace_node(c->node), cycle);
  if (c->sym) {
    TdVlSig *s = td_map_getp(&k->scalar, c->sym);
    bool is_signed = false;
    const TdParam *p = td_unit_param(l->frame->unit, c->sym);
    if (p) is_signed = td_type_is_signed(p->type) || p->type->kind == TD_T_INDEX;
    if (s) return (TdVlNum){td_vtree_sig(k->m, s), is_signed, 0, NULL};
  }
  for (size_t i = 0; i < k->counter.n && c->low; i++)
    if (k->counter.at[i].loop == c->low && k->counter.at[i].frame == l->frame)
      return k->counter.at[i].kept[0];
  for (size_t i = 0; i < k->counter.n; i++) {
    const TdVkCounter *x = &k->counter.at[i];
    bool own = c->loop ? x->key == c->loop && x->frame == l->frame
                       : l->element && i == l->element - 1 + at;
    if (!own) continue;
    const TdVl *e = td_vtree_sig(k->m, x->n);
    if (moves(l, i)) e = td_vdata_delay(k, l, x->name, e, 0, cycle, UINT64_C(1) << 62 | i);
    return (TdVlNum){e, false, 0, NULL};
  }
  td_vunit_refuse(k, "not-built", l->step->stmt->loc, "", "an index that nothing here counts");
  return td_vop_const(k->m, 0);
}

const TdVl *td_vform_bits(TdVkUnit *k, TdVkLeaf *l, TdAff f, int64_t cycle, int width) {
  const TdVl *sum = NULL;
  for (uint32_t i = 0; i < f.n; i++) {
    TdVlNum x = column(k, l, f.m[i].col, cycle);
    int64_t by = f.m[i].coef < 0 ? -f.m[i].coef : f.m[i].coef;
    int shift = 0;
    while (by > 1 && by % 2 == 0) by /= 2, shift++;
    if (shift >= width) continue;
    const TdVl *e = td_vop_fit(k->m, x, width - shift);
    if (by > 1)
      e = td_vtree_binary(k->m, "*", e->width, e, td_vtree_const(k->m, e->width, (uint64_t)by));
    if (shift) e = td_vtree_cat(k->m, e, td_vtree_const(k->m, shift, 0));
    bool minus = f.m[i].coef < 0;
    if (!sum && !minus)
      sum = e;
    else
      sum = td_vtree_binary(k->m, minus ? "-" : "+", width,
                            sum ? sum : td_vtree_const(k->m, width, 0), e);
  }
  if (!sum) return td_vtree_const(k->m, width, (uint64_t)f.c);
  if (!f.c) return sum;
  uint64_t c = f.c < 0 ? -(uint64_t)f.c : (uint64_t)f.c;
  return td_vtree_binary(k->m, f.c < 0 ? "-" : "+", width, sum, td_vtree_const(k->m, width, c));
}

TdVlNum td_vform_num(TdVkUnit *k, TdVkLeaf *l, TdAff f, int64_t cycle) {
  int64_t lo, hi, c;
  bool is_signed = true;
  if (td_sys_is_const(f, &c)) return td_vop_const(k->m, c);
  if (f.n == 1 && f.m[0].coef == 1 && f.c == 0) return column(k, l, f.m[0].col, cycle);
  int w = 64;
  if (td_trace_range((TdTrace *)l->t, f, &lo, &hi)) w = td_vop_width(lo, hi, &is_signed);
  return (TdVlNum){td_vform_bits(k, l, f, cycle, w), is_signed, 0, NULL};
}

/* An index expression over loops, coordinates, sizes; e NULL with the diagnostic filled. */
static TdVlNum index_of(TdVkUnit *k, const TdExpr *e);

bool td_vform_bounds(TdVkUnit *k, const TdVkCounter *c, bool first, TdVlNum *lo, TdVlNum *hi) {
  k->frame = (TdVkFrame *)c->frame;
  *lo = c->bounds ? (first ? c->now[0] : c->kept[0]) : index_of(k, td_for_lo(c->loop));
  *hi = c->bounds ? (first ? c->now[1] : c->kept[1]) : index_of(k, td_for_hi(c->loop));
  return lo->e && hi->e;
}

/* The variable of a loop around. */
static TdVlNum variable(TdVkUnit *k, const TdExpr *e) {
  TdVlSig *s = td_map_getp(&k->scalar, e->sym);
  if (s) return td_vop_num(td_vtree_sig(k->m, s), e->type);
  for (size_t i = 0; i < k->counter.n; i++) {
    const TdVkCounter *c = &k->counter.at[i];
    if (!c->loop || c->loop->sym != e->sym || c->frame != k->frame) continue;
    TdVlNum lo, hi, n = {td_vtree_sig(k->m, c->n), false, 0, NULL};
    if (!td_vform_bounds(k, c, false, &lo, &hi)) return (TdVlNum){0};
    TdVlNum by[2] = {n, td_vop_const(k->m, c->stride)};
    const TdType *index = td_type_index(k->prog->store->session);
    int w = n.e->width + by[1].e->width + 1;
    if (c->stride != 1) n = td_vop_apply(k->m, TD_OP_MUL, index, w, by);
    uint64_t zero;
    if (td_vtree_is_const(lo.e, &zero) && !zero) return (TdVlNum){n.e, false, 0, NULL};
    w = (w > lo.e->width ? w : lo.e->width) + 2;
    return td_vop_apply(k->m, TD_OP_ADD, index, w, (TdVlNum[]){lo, n});
  }
  td_vunit_refuse(k, "not-built", e->loc, "make it a loop over all, with an if inside",
                  "Verilog of bounds and conditions from data is not built yet");
  return (TdVlNum){0};
}

/* The bits that hold whatever op gives. */
static int result_width(TdOp op, const TdVlNum *x, uint32_t n) {
  int a = x[0].e->width + 1, b = n > 1 ? x[1].e->width + 1 : 0, most = a > b ? a : b;
  int w = op == TD_OP_MUL ? a + b : most + 1;
  return td_ops[op].boolean ? 1 : w > 64 ? 64 : w;
}

static TdVlNum index_of(TdVkUnit *k, const TdExpr *e) {
  TdVlNum x[4] = {{0}};
  int64_t v;
  if (td_unit_value(k->frame->unit, e, &v)) return td_vop_const(k->m, v);
  if (e->kind == TD_EXPR_LIT) return td_vop_const(k->m, (int64_t)e->u.bits);
  if (e->kind == TD_EXPR_VAR) return variable(k, e);
  bool cast = e->kind == TD_EXPR_CAST;
  if (!cast && (e->kind != TD_EXPR_OP || e->nkid > 4)) {
    td_vunit_refuse(k, "not-built", e->loc, "read it into a local before",
                    "Verilog of bounds and conditions from data is not built yet");
    return (TdVlNum){0};
  }
  for (uint32_t i = 0; i < e->nkid; i++)
    if (!(x[i] = index_of(k, e->kid[i])).e) return x[i];
  if (cast && e->type->kind == TD_T_INDEX) return x[0];
  if (cast) return td_vop_cast(k->m, e->type, x[0]);
  TdVlNum out = td_vop_apply(k->m, (TdOp)e->op, e->type, result_width((TdOp)e->op, x, e->nkid), x);
  if (!out.e) td_vunit_refuse(k, "not-built", e->loc, "", "no Verilog for this operator yet");
  if (out.e) out.e = td_vtree_sig(k->m, td_vtree_named(k->m, "bound", out.e));
  return out;
}

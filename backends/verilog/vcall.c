/* vcall.c - calls: scalar arguments in registers, arrays as views of those of the caller, whose
 * places are registers where data or loops decide them. */
#include "backends/verilog/vunit.h"

/* A register that takes v in the last cycle of a call; constants stay what they are. */
static TdVlNum keep(TdVkUnit *k, TdVlDo *act, const char *name, TdVlNum v) {
  if (v.e->kind == TD_VL_CONST) return v;
  TdVlSig *s = td_vtree_reg(k->m, name, v.e->width);
  td_vtree_add(k->m, act, td_vtree_set(k->m, s, v.e));
  v.e = td_vtree_sig(k->m, s);
  return v;
}

/* base + step * x, exactly. */
static TdVlNum moved(TdVkUnit *k, TdVlNum base, int64_t step, TdVlNum x) {
  const TdType *index = td_type_index(k->prog->store->session);
  TdVlNum by = td_vop_const(k->m, step);
  int w = x.e->width + by.e->width + 1;
  if (step != 1) x = td_vop_apply(k->m, TD_OP_MUL, index, w > 63 ? 63 : w, (TdVlNum[]){x, by});
  if (!base.e) return x;
  w = (x.e->width > base.e->width ? x.e->width : base.e->width) + 2;
  return td_vop_apply(k->m, TD_OP_ADD, index, w > 63 ? 63 : w, (TdVlNum[]){base, x});
}

/* The array that leaf l has for a symbol. */
static const TdPlaced *placed_of(const TdVkLeaf *l, TdSym sym) {
  for (size_t i = 0; i < l->t->placed.n; i++)
    if (l->t->placed.at[i]->sym == sym) return l->t->placed.at[i];
  return NULL;
}

/* All of a store, or what a parameter of the caller shows of it. */
static TdVkView whole(TdVkUnit *k, TdVkLeaf *l, TdSym sym) {
  const TdVkView *outer = td_vstore_view(l->frame, sym);
  if (outer) return *outer;
  const TdPlaced *p = placed_of(l, sym);
  TdVkView v = {.sym = sym};
  if (p) v.store = td_vstore_of(k, l->frame, p);
  for (int d = 0; d < TD_MAX_RANK; d++) {
    v.step[d] = 1;
    v.out[d] = d;
  }
  return v;
}

/* An array that is passed: the view's indices are results number `at` and on. */
static bool pass_array(TdVkUnit *k, const TdVkCall *c, size_t i, size_t at, TdVlDo *act) {
  const TdExpr *e = c->stmt->expr[i];
  TdVkLeaf *l = (TdVkLeaf *)c->leaf;
  TdVkView of = whole(k, l, e->sym), v = of;
  int64_t cycle = k->state.at[l->state].length - 1;
  if (!of.store) return false;
  v.sym = c->callee->unit->param[i].sym;
  for (int d = 0; d < of.store->rank; d++) {
    int m = of.out[d];
    if (m < 0 || (uint32_t)m >= e->nkid) continue;
    TdVlNum x = td_vdata_value(k, l, l->t->result.at[at + (size_t)m], cycle);
    if (!x.e) return false;
    const char *name = td_text_fmt(k->arena, "%s_at%d", v.sym->name, d);
    v.base[d] = keep(k, act, name, moved(k, of.base[d], of.step[d], x));
    v.out[d] = e->u.dim[m].out;
    v.step[d] = of.step[d] * e->u.dim[m].step;
  }
  td_vec_push(k->arena, &c->callee->view, v);
  return true;
}

/* A stream, or a row of them: the view's indices are results number `at` and on. */
static bool pass_stream(TdVkUnit *k, const TdVkCall *c, size_t i, size_t at, TdVlDo *act) {
  const TdExpr *e = c->stmt->expr[i];
  TdVkLeaf *l = (TdVkLeaf *)c->leaf;
  const TdVkView *outer = td_vstore_view(l->frame, e->sym);
  TdVkView v = outer ? *outer : (TdVkView){.stream = e->sym};
  const TdParam *p = td_unit_param(k->unit, v.stream);
  if (!p) return false;
  for (int d = 0; d < p->type->rank; d++) {
    int m = outer ? outer->out[d] : d;
    if (!outer) v.step[d] = 1, v.out[d] = d;
    if (m < 0 || (uint32_t)m >= e->nkid) continue;
    TdVlNum x =
        td_vdata_value(k, l, l->t->result.at[at + (size_t)m], k->state.at[l->state].length - 1);
    if (!x.e) return false;
    const char *name = td_text_fmt(k->arena, "%s_at%d", c->callee->unit->param[i].sym->name, d);
    v.base[d] = keep(k, act, name, moved(k, v.base[d], v.step[d], x));
    v.out[d] = e->u.dim[m].out;
    v.step[d] *= e->u.dim[m].step;
  }
  v.sym = c->callee->unit->param[i].sym;
  td_vec_push(k->arena, &c->callee->view, v);
  return true;
}

/* A scalar that is passed: result number `at`. All calls set one register. */
static bool pass_scalar(TdVkUnit *k, const TdVkCall *c, size_t i, size_t at) {
  const TdParam *p = &c->callee->unit->param[i];
  TdVkLeaf *l = (TdVkLeaf *)c->leaf;
  TdVlSig *s = td_map_getp(&k->scalar, p->sym);
  TdVlNum v = td_vdata_value(k, l, l->t->result.at[at], k->state.at[l->state].length - 1);
  if (!v.e) return false;
  if (!s) {
    s = td_vtree_reg(k->m, p->sym->name, p->type->w);
    TdVlDo *handed = td_vtree_block(k->m);
    td_map_putp(k->arena, &k->scalar, p->sym, s);
    td_map_putp(k->arena, &k->handed, p->sym, handed);
    td_vtree_always(k->m, td_vunit_place(k, p->loc), handed);
  }
  const TdVl *now = td_vdata_moves(k, l, k->state.at[l->state].length - 1);
  const TdVlDo *take = td_vtree_set(k->m, s, td_vop_fit(k->m, v, p->type->w));
  td_vtree_add(k->m, td_map_getp(&k->handed, p->sym), td_vtree_if(k->m, now, take, NULL));
  return true;
}

bool td_vcall_open(TdVkUnit *k, const TdVkCall *c) {
  TdVkLeaf *l = (TdVkLeaf *)c->leaf;
  TdVlDo *act = td_vtree_block(k->m);
  const TdUnit *u = c->callee->unit;
  size_t at = 0;
  for (uint32_t i = 0; i < c->stmt->nexpr && i < u->nparam; i++) {
    const TdExpr *e = c->stmt->expr[i];
    bool view = e->kind == TD_EXPR_VIEW, stream = e->type->kind == TD_T_PORT, ok = true;
    if (stream) {
      ok = pass_stream(k, c, i, at, act);
    } else {
      ok = view ? pass_array(k, c, i, at, act) : pass_scalar(k, c, i, at);
    }
    if (!ok) return false;
    at += view ? e->nkid : 1;
  }
  if (!act->kid.n) return true;
  const TdVl *now = td_vdata_moves(k, l, k->state.at[l->state].length - 1);
  td_vtree_always(k->m, td_vunit_place(k, c->stmt->loc), td_vtree_if(k->m, now, act, NULL));
  return true;
}

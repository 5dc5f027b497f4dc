/* inject_call.c - the call of a library kernel and the copies that arrange its operands. */
#include <string.h>

#include "rewrite/kernel/inject.h"

typedef struct Call {
  const TdInject *j;
  const TdInjectPlace *at;
  TD_VEC(const TdStmt *) before, after;
} Call;

/* The element of tile t at index x[] of the operand's names. */
static const TdExpr *tile_element(const Call *c, size_t operand, const TdExpr *const *x) {
  const TdGiven *g = &c->j->given[operand];
  const TdTile *t = &c->j->tile[g->tile];
  TdRewrite *r = c->j->r;
  const TdExpr *index[TD_MAX_RANK];
  for (int d = 0; d < t->box.rank; d++) index[d] = c->at->lo[g->tile][d];
  for (int i = 0; i < c->j->lib->at[operand].order.nname; i++)
    if (g->dim[i] >= 0)
      index[g->dim[i]] = td_lin_plus(r->session, r->store->arena, index[g->dim[i]], x[i]);
  return td_expr_load(r->store->arena, c->at->sym[g->tile], t->type->elem, index, t->box.rank,
                      c->j->nest->loc);
}

/* The element of the operand's buffer there. */
static const TdExpr *buffer_element(const Call *c, size_t operand, TdSym buffer,
                                    const TdExpr *const *x) {
  const TdOperand *o = &c->j->lib->at[operand];
  TdRewrite *r = c->j->r;
  TdArena *a = r->store->arena;
  const TdExpr *index[TD_MAX_RANK];
  for (int k = 0; k < o->order.nplace; k++) {
    const TdOrderPlace *p = &o->order.place[k];
    index[k] = td_lin_floordiv(r->session, a, x[p->name], p->div);
    if (p->mod && p->div * p->mod < o->order.extent[p->name])
      index[k] = td_lin_mod(r->session, a, index[k], p->mod);
  }
  return td_expr_load(a, buffer, o->type->elem, index, o->order.nplace, c->j->nest->loc);
}

/* The nest that copies a tile to its buffer, or back. */
static const TdStmt *copy(const Call *c, size_t operand, TdSym buffer, bool back) {
  const TdOperand *o = &c->j->lib->at[operand];
  TdRewrite *r = c->j->r;
  const TdExpr *x[TD_ORDER_DIMS];
  TdSym var[TD_ORDER_DIMS];
  for (int i = 0; i < o->order.nname; i++) {
    const char *name = td_util_name(r, c->at->unit, NULL, o->order.name[i]);
    var[i] = td_store_sym(r->store, name, TD_SYM_LOOP);
    x[i] = td_util_var(r, var[i]);
  }
  const TdExpr *in = buffer_element(c, operand, buffer, x), *out = tile_element(c, operand, x);
  const TdStmt *s = td_stmt_store(r->store, back ? out : in, back ? in : out, c->j->nest->loc);
  for (int i = o->order.nname; i-- > 0;)
    s = td_stmt_for(r->store, var[i], td_util_const(r, 0), td_util_const(r, o->order.extent[i]), 1,
                    td_util_block1(r, s), c->j->nest->loc);
  return s;
}

/* A buffer in the operand's order, filled before the call where it is read, and stored after it. */
static const TdExpr *arranged(Call *c, size_t operand) {
  const TdOperand *o = &c->j->lib->at[operand];
  TdRewrite *r = c->j->r;
  TdLoc loc = c->j->nest->loc;
  const char *name = td_util_name(r, c->at->unit, NULL, o->param->sym->name);
  if (strcmp(name, o->param->sym->name) == 0)
    name = td_util_name(r, c->at->unit, NULL, o->param->sym->name);
  TdSym buffer = td_store_sym(r->store, name, TD_SYM_LOCAL);
  td_vec_push(r->arena, &c->before,
              td_stmt_local(r->store, buffer, o->type, TD_INIT_NONE, NULL, loc));
  if (o->read) td_vec_push(r->arena, &c->before, copy(c, operand, buffer, false));
  if (o->write) td_vec_push(r->arena, &c->after, copy(c, operand, buffer, true));
  return td_expr_whole(r->session, r->store->arena, buffer, o->type, loc);
}

/* Whether the tile's innermost dimension is the operand's, and lies in whole vectors of its array.
 */
static bool is_in_vectors(const Call *c, size_t operand) {
  const TdOperand *o = &c->j->lib->at[operand];
  const TdGiven *g = &c->j->given[operand];
  const TdTile *t = &c->j->tile[g->tile];
  int last = t->box.rank - 1;
  TdRewrite *r = c->j->r;
  if (o->lanes == 1) return true;
  if (g->dim[o->order.nname - 1] != last) return false;
  const TdExpr *lo = td_lin_mod(r->session, r->arena, t->box.lo[last], o->lanes);
  const TdExpr *row = td_lin_mod(r->session, r->arena, t->type->dim[last], o->lanes);
  int64_t v;
  return td_expr_is_const(lo, &v) && v == 0 && td_unit_value(c->j->unit, row, &v) && v == 0;
}

/* The tile itself, as a view. */
static const TdExpr *seen(const Call *c, size_t operand) {
  const TdOperand *o = &c->j->lib->at[operand];
  const TdGiven *g = &c->j->given[operand];
  const TdTile *t = &c->j->tile[g->tile];
  TdViewDim dim[TD_MAX_RANK];
  for (int d = 0; d < t->box.rank; d++) dim[d] = (TdViewDim){1, -1};
  for (int i = 0; i < o->order.nname; i++) dim[g->dim[i]].out = i;
  return td_expr_view(c->j->r->store->arena, c->at->sym[g->tile], o->type, c->at->lo[g->tile], dim,
                      t->box.rank, c->j->nest->loc);
}

/* Whether every dimension of an operand is one of its tile. */
static bool is_whole(const Call *c, size_t operand) {
  const TdOperand *o = &c->j->lib->at[operand];
  for (int i = 0; i < o->order.nname; i++)
    if (c->j->given[operand].dim[i] < 0) return false;
  return true;
}

const TdStmt *td_inject_call(const TdInject *j, const TdInjectPlace *at) {
  TdRewrite *r = j->r;
  Call c = {.j = j, .at = at};
  const TdExpr **arg = TD_NEWN(r->arena, const TdExpr *, j->lib->n);
  for (size_t i = 0; i < j->lib->n; i++) {
    const TdOperand *o = &j->lib->at[i];
    bool direct = !o->arranged && is_whole(&c, i) && is_in_vectors(&c, i);
    arg[i] = o->type->kind != TD_T_TENSOR ? at->scalar[i] : direct ? seen(&c, i) : arranged(&c, i);
  }
  td_vec_push(r->arena, &c.before,
              td_stmt_call(r->store, j->lib->unit->sym, arg, j->lib->n, j->nest->loc));
  for (size_t i = 0; i < c.after.n; i++) td_vec_push(r->arena, &c.before, c.after.at[i]);
  return td_stmt_block(r->store, c.before.at, c.before.n, j->nest->loc);
}

/* frame.c - the tree of frames: one for each unit at each place of runs and calls. */
#include "eval/machine.h"

TdFrame *td_frame_new(TdMachine *m, const TdUnitPlan *u, TdFrame *up) {
  TdFrame *f = TD_NEW(m->arena, TdFrame);
  f->plan = u;
  f->up = up;
  f->slot = TD_NEWN(m->arena, TdSlot, u->nslot);
  return f;
}

TdFrame *td_frame_callee(TdMachine *m, TdFrame *caller, const TdUnitPlan *u) {
  TdFrame *f = td_map_getp(&caller->callee, u);
  if (f) return f;
  f = td_frame_new(m, u, caller);
  td_map_putp(m->arena, &caller->callee, u, f);
  return f;
}

bool td_frame_check(TdTask *t, TdFrame *f) {
  const TdUnit *u = f->plan->unit;
  TdFrame *before = t->frame;
  t->frame = f;
  for (size_t i = 0; i < u->nassert && !t->machine->failed; i++) {
    TdValue v = td_scalar_eval(t, u->assert_[i]);
    if (!td_value_is_concrete(v) || v.lo) continue;
    td_fault_set(t, "assume", u->assert_[i]->loc, "%s", td_unit_assumes(t->machine->arena, u, i));
  }
  t->frame = before;
  return !t->machine->failed;
}

bool td_frame_value(const TdUnit *u, const TdExpr *e, int64_t *v) {
  return td_expr_is_const(e, v) || td_unit_value(u, e, v);
}

const TdType *td_frame_type(TdMachine *m, const TdUnit *u, const TdType *t, TdLoc loc) {
  const TdType *c = td_unit_type(m->session, u, t);
  int64_t count;
  if (!c)
    td_diag_set(m->diag, TD_USAGE, "unbound-size", loc, "a size of %s has no value", u->sym->name);
  else if (c->kind == TD_T_TENSOR && !td_type_count(c, &count))
    td_diag_set(m->diag, TD_LIMIT, "limit", loc, "limit of memory");
  m->failed |= td_diag_failed(m->diag);
  return m->failed ? NULL : c;
}

void td_frame_show(TdMachine *m, TdSlot *s, const TdView *v) {
  if (!s->room) s->room = TD_NEW(m->arena, TdView);
  *s->room = *v;
  s->view = s->room;
}

/* Memory of a constant table, loaded once per run. */
static TdMemory *constant(TdMachine *m, const TdStmt *s) {
  TdMemory *x = td_map_getp(&m->constant, s->sym);
  if (x) return x;
  x = td_memory_new(m->arena, s->type, s->sym->name);
  td_memory_load_blob(m->arena, x, s->blob);
  td_map_putp(m->arena, &m->constant, s->sym, x);
  return x;
}

/* The first declaration of a tensor in a frame. */
static bool make(TdTask *t, const TdStmt *s, TdSlot *slot) {
  TdMachine *m = t->machine;
  const TdType *type = td_frame_type(m, t->frame->plan->unit, s->type, s->loc);
  int64_t count = 0;
  if (!type || !td_type_count(type, &count) || !td_fault_room(m, count, s->loc)) return false;
  if (s->cls == TD_LOCAL_CONST)
    slot->own = constant(m, s);
  else if (s->cls == TD_LOCAL_STATE)
    slot->own = td_state_open(m, t->frame, s);
  else
    slot->own = td_memory_new(m->arena, type, s->sym->name);
  TdView v = td_memory_view(slot->own);
  td_frame_show(m, slot, &v);
  return true;
}

bool td_frame_declare(TdTask *t, const TdStmt *s) {
  TdSlot *slot = td_scalar_slot(t, s->sym);
  slot->value = (TdValue){0, 0};
  if (s->type->kind != TD_T_TENSOR) return true;
  if (!slot->own) return make(t, s, slot);
  if (s->cls == TD_LOCAL_AUTO) td_memory_clear(slot->own);
  return true;
}

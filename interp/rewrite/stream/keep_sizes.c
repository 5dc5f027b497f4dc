/* keep_sizes.c - a kernel's sizes are told by the extents of its arrays; a stream has none. */
#include "rewrite/stream/keep_sizes.h"

#include "ir/subst.h"

/* Whether an extent of t, or of its tokens, is just this size. */
static bool tells(const TdType *t, const char *name) {
  if (t->kind != TD_T_TENSOR && t->kind != TD_T_PORT) return false;
  for (int d = 0; d < t->rank; d++)
    if (t->dim[d]->kind == TD_EXPR_SIZE && t->dim[d]->u.name == name) return true;
  return tells(t->elem, name);
}

static bool is_told(const TdUnit *u, const char *name) {
  for (size_t i = 0; i < u->nparam; i++)
    if (tells(u->param[i].type, name)) return true;
  return false;
}

/* u with the size at this place of its list, called as `size` is. */
static const TdUnit *rename_size(TdRewrite *r, const TdUnit *u, size_t at, const TdExpr *size) {
  TdArena *a = r->store->arena;
  TdSubst sub = td_subst_new(r->store);
  td_subst_size(&sub, u->size[at].name, size);
  TdUnit *copy = td_subst_in_unit(&sub, u);
  TdSize *list = td_arena_copy(a, u->size, u->nsize * sizeof *list);
  list[at].name = size->u.name;
  copy->size = list;
  TdParam *param = td_arena_copy(a, u->param, u->nparam * sizeof *param);
  for (size_t i = 0; i < u->nparam; i++) param[i].type = td_subst_in_type(&sub, param[i].type);
  copy->param = param;
  const TdExpr **fact = td_arena_copy(a, u->assert_, u->nassert * sizeof *fact);
  for (size_t i = 0; i < u->nassert; i++) fact[i] = td_subst_in_expr(&sub, fact[i]);
  copy->assert_ = fact;
  return copy;
}

const TdUnit *td_keep_sizes(TdRewrite *r, const TdUnit *callee, const TdType *was,
                            const TdType *arg) {
  for (int d = 0; d < was->rank; d++) {
    const TdExpr *own = was->dim[d], *caller = arg->dim[d];
    if (own->kind != TD_EXPR_SIZE || caller->kind != TD_EXPR_SIZE || own->u.name == caller->u.name)
      continue;
    const TdSize *size = td_unit_size(callee, own->u.name);
    if (!size || is_told(callee, own->u.name) || td_unit_size(callee, caller->u.name)) continue;
    callee = rename_size(r, callee, (size_t)(size - callee->size), caller);
  }
  return callee;
}

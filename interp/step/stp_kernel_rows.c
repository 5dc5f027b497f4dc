/* stp_kernel_rows.c - decides whether a kernel treats each row by itself.
 *
 * Arrays with the rows of the result are row arrays. In a loop over all rows they are accessed at
 * its variable alone, which stands nowhere else, and what else is written is declared in the loop;
 * outside of loops, tensor operations keep rows. */
#include <string.h>

#include "step/stp_kernel.h"

typedef struct Rows {
  const char *size; /* the number of rows */
  TdSym var;        /* of the loop over them, or NULL */
  TdMap row, inner; /* row arrays; locals of the loop */
  TdArena *arena;
} Rows;

static bool is_size(const TdExpr *e, const char *name) {
  return e->kind == TD_EXPR_SIZE && strcmp(e->u.name, name) == 0;
}

static bool mentions(const TdType *t, const char *name) {
  for (int i = 0; t->kind == TD_T_TENSOR && i < t->rank; i++)
    if (t->dim[i]->kind != TD_EXPR_LIT &&
        (t->dim[i]->kind != TD_EXPR_SIZE || is_size(t->dim[i], name)))
      return true;
  return false;
}

static bool has_rows(const TdType *t, const char *name) {
  return t->kind == TD_T_TENSOR && t->rank >= 1 && is_size(t->dim[0], name);
}

static bool is_row_array(const Rows *r, TdSym s) {
  return td_map_getp(&r->row, s) != NULL;
}

/* An expression whose value is of the row at hand, or of none. */
static bool expr_fits(const Rows *r, const TdExpr *e) {
  if (e->kind == TD_EXPR_SIZE) return !is_size(e, r->size);
  if (e->kind == TD_EXPR_VAR) return e->sym != r->var;
  if (e->kind == TD_EXPR_TENSOR || e->kind == TD_EXPR_VIEW) return false;
  uint32_t from = 0;
  if (e->kind == TD_EXPR_LOAD && is_row_array(r, e->sym)) {
    if (!r->var || e->kid[0]->kind != TD_EXPR_VAR || e->kid[0]->sym != r->var) return false;
    from = 1;
  }
  for (uint32_t i = from; i < e->nkid; i++)
    if (!expr_fits(r, e->kid[i])) return false;
  return true;
}

/* A tensor of which row i is made of rows i. */
static bool tensor_fits(const Rows *r, const TdExpr *e) {
  if (e->kind == TD_EXPR_VIEW)
    return is_row_array(r, e->sym) ? td_expr_keeps_dims(e, e->sym) : !mentions(e->type, r->size);
  if (e->type->kind != TD_T_TENSOR) return expr_fits(r, e);
  if (e->kind == TD_EXPR_TENSOR) {
    if (e->op != TD_OP_MATMUL) return false;
    return tensor_fits(r, e->kid[0]) && !mentions(e->kid[1]->type, r->size) &&
           tensor_fits(r, e->kid[1]);
  }
  if (e->kind != TD_EXPR_OP && e->kind != TD_EXPR_CAST) return false;
  for (uint32_t i = 0; i < e->nkid; i++)
    if (!tensor_fits(r, e->kid[i])) return false;
  return true;
}

static bool stmt_fits(Rows *r, const TdStmt *s);

static bool kids_fit(Rows *r, const TdStmt *s) {
  for (uint32_t i = 0; i < s->nkid; i++)
    if (!stmt_fits(r, s->kid[i])) return false;
  return true;
}

static bool exprs_fit(const Rows *r, const TdStmt *s) {
  for (uint32_t i = 0; i < s->nexpr; i++)
    if (!expr_fits(r, s->expr[i])) return false;
  return true;
}

static bool loop_fits(Rows *r, const TdStmt *s) {
  int64_t lo;
  bool rows = !r->var && td_expr_is_const(td_for_lo(s), &lo) && !lo && s->step == 1 &&
              is_size(td_for_hi(s), r->size);
  if (!rows) return exprs_fit(r, s) && kids_fit(r, s);
  r->var = s->sym;
  bool ok = kids_fit(r, s);
  r->var = NULL;
  return ok;
}

static bool local_fits(Rows *r, const TdStmt *s) {
  if (!r->var && has_rows(s->type, r->size)) {
    td_map_putp(r->arena, &r->row, s->sym, (void *)(uintptr_t)s);
    return exprs_fit(r, s);
  }
  if (s->cls == TD_LOCAL_STATE || mentions(s->type, r->size)) return false;
  if (r->var) td_map_putp(r->arena, &r->inner, s->sym, (void *)(uintptr_t)s);
  return exprs_fit(r, s);
}

static bool stmt_fits(Rows *r, const TdStmt *s) {
  switch ((TdStmtKind)s->kind) {
  case TD_STMT_BLOCK: return kids_fit(r, s);
  case TD_STMT_FOR: return loop_fits(r, s);
  case TD_STMT_LOCAL: return local_fits(r, s);
  case TD_STMT_IF: return r->var && exprs_fit(r, s) && kids_fit(r, s);
  case TD_STMT_STORE: {
    TdSym to = s->expr[0]->sym;
    bool known = is_row_array(r, to) || td_map_getp(&r->inner, to);
    return r->var && known && exprs_fit(r, s);
  }
  case TD_STMT_SET:
    return !r->var && is_row_array(r, s->expr[0]->sym) && tensor_fits(r, s->expr[0]) &&
           tensor_fits(r, s->expr[1]);
  default: return false;
  }
}

bool td_stp_kernel_has_rows(const TdStpFn *f, const TdParam *p) {
  const TdExpr *m = td_stp_kernel_result(f)->type->dim[0];
  return m->kind == TD_EXPR_SIZE && has_rows(p->type, m->u.name);
}

bool td_stp_kernel_is_by_rows(const TdStpFn *f) {
  const TdUnit *u = td_prog_root(f->prog);
  const TdExpr *m = td_stp_kernel_result(f)->type->dim[0];
  if (u->kind != TD_UNIT_KERNEL || m->kind != TD_EXPR_SIZE) return false;
  const TdSize *size = td_unit_size(u, m->u.name);
  if (!size || size->known) return false;
  TdArena *a = td_arena_new(td_arena_ctx(f->prog->store->arena));
  Rows r = {.size = m->u.name, .arena = a};
  bool ok = true;
  for (size_t i = 0; i < u->nparam; i++) {
    const TdType *t = u->param[i].type;
    if (has_rows(t, r.size))
      td_map_putp(a, &r.row, u->param[i].sym, (void *)(uintptr_t)&u->param[i]);
    for (int k = has_rows(t, r.size); k < t->rank; k++)
      if (t->dim[k]->kind != TD_EXPR_LIT &&
          (t->dim[k]->kind != TD_EXPR_SIZE || is_size(t->dim[k], r.size)))
        ok = false;
  }
  ok = ok && stmt_fits(&r, u->body);
  td_arena_free(a);
  return ok;
}

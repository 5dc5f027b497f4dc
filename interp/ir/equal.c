/* equal.c - structural equality: of expressions over the same symbols, and of programs up to
 * renaming of identities (print names, structure and attributes must agree; uids, places and symbol
 * objects need not). */
#include <string.h>

#include "ir/text/print.h"

/* How symbols of the left side map to the right; NULL: they must be the same objects. */
typedef struct Match {
  TdArena *arena;
  TdMap *sym;
  TdMap *back; /* and of the right to the left; NULL: names tell */
} Match;

/* Whether x stands for y, binding them when neither is bound yet and their names agree. */
static bool same_sym(const Match *m, TdSym x, TdSym y) {
  if (!m || !x || !y) return x == y;
  TdSym to = td_map_getp(m->sym, x);
  if (to) return to == y;
  if (x->kind != y->kind) return false;
  if (m->back ? td_map_getp(m->back, y) != NULL || (x->kind == TD_SYM_UNIT && x != y)
              : x->name != y->name)
    return false;
  if (m->back) td_map_putp(m->arena, m->back, y, (void *)(uintptr_t)x);
  td_map_putp(m->arena, m->sym, x, (void *)(uintptr_t)y);
  return true;
}

static bool same_expr(const Match *m, const TdExpr *x, const TdExpr *y);

/* Types are interned, so equal types are equal pointers. */
static bool same_payload(const TdExpr *x, const TdExpr *y) {
  switch (x->kind) {
  case TD_EXPR_LIT: return x->u.bits == y->u.bits;
  case TD_EXPR_SIZE: return x->u.name == y->u.name;
  case TD_EXPR_VIEW:
    for (uint32_t d = 0; d < x->nkid; d++)
      if (x->u.dim[d].out != y->u.dim[d].out ||
          (x->u.dim[d].out >= 0 && x->u.dim[d].step != y->u.dim[d].step))
        return false;
    return true;
  default: return true;
  }
}

/* An index without the constant that is added to it; NULL: it is one. */
static const TdExpr *without_offset(const TdExpr *e) {
  bool sum = e->kind == TD_EXPR_OP && e->op == TD_OP_ADD;
  if (sum && e->kid[1]->kind == TD_EXPR_LIT) return e->kid[0];
  return e->kind == TD_EXPR_LIT ? NULL : e;
}

/* Whether the indices of two accesses to what comes from outside differ in constants only: they go
 * to other places in the same way. */
static bool same_way(const Match *m, const TdExpr *x, const TdExpr *y) {
  for (uint32_t i = 0; i < x->nkid; i++) {
    const TdExpr *p = without_offset(x->kid[i]), *q = without_offset(y->kid[i]);
    if (!p || !q ? p != q : !same_expr(m, p, q)) return false;
  }
  return true;
}

static bool same_expr(const Match *m, const TdExpr *x, const TdExpr *y) {
  if (x == y && !m) return true;
  if (x->kind != y->kind || x->op != y->op || x->reduce != y->reduce || x->axis != y->axis ||
      x->implicit != y->implicit || x->nkid != y->nkid || x->type != y->type)
    return false;
  if (!same_sym(m, x->sym, y->sym) || !same_payload(x, y)) return false;
  bool outside = x->sym && (x->sym->kind == TD_SYM_TENSOR || x->sym->kind == TD_SYM_STREAM);
  if (m && m->back && outside) return same_way(m, x, y);
  for (uint32_t i = 0; i < x->nkid; i++)
    if (!same_expr(m, x->kid[i], y->kid[i])) return false;
  return true;
}

bool td_equal_expr(const TdExpr *x, const TdExpr *y) {
  return same_expr(NULL, x, y);
}

bool td_equal_blob(const TdBlob *x, const TdBlob *y) {
  if (!x || !y) return x == y;
  if (x->type != y->type || x->count != y->count) return false;
  size_t bytes = (size_t)x->count * td_type_bytes(td_type_scalar(x->type));
  return bytes == 0 || memcmp(x->data, y->data, bytes) == 0;
}

static bool same_exprs(const Match *m, const TdExpr *const *x, size_t nx, const TdExpr *const *y,
                       size_t ny) {
  if (nx != ny) return false;
  for (size_t i = 0; i < nx; i++)
    if (!same_expr(m, x[i], y[i])) return false;
  return true;
}

static bool same_stmt(const Match *m, const TdStmt *x, const TdStmt *y) {
  if (x->kind != y->kind || x->cls != y->cls || x->init != y->init || x->post != y->post ||
      x->step != y->step || x->type != y->type || x->nkid != y->nkid)
    return false;
  if (!same_exprs(m, x->expr, x->nexpr, y->expr, y->nexpr)) return false;
  if (!same_sym(m, x->sym, y->sym) || !td_equal_blob(x->blob, y->blob) ||
      !td_attrs_equal(x->attrs, y->attrs))
    return false;
  for (uint32_t i = 0; i < x->nkid; i++)
    if (!same_stmt(m, x->kid[i], y->kid[i])) return false;
  return true;
}

static bool same_params(const Match *m, const TdUnit *x, const TdUnit *y) {
  if (x->nparam != y->nparam || x->ncoord != y->ncoord || x->nsize != y->nsize) return false;
  for (size_t i = 0; i < x->nparam; i++) {
    const TdParam *p = &x->param[i], *q = &y->param[i];
    if (p->type != q->type || !td_attrs_equal(p->attrs, q->attrs) || !same_sym(m, p->sym, q->sym))
      return false;
  }
  for (size_t i = 0; i < x->ncoord; i++)
    if (!same_sym(m, x->coord[i], y->coord[i])) return false;
  for (size_t i = 0; i < x->nsize; i++) {
    const TdSize *p = &x->size[i], *q = td_unit_size(y, x->size[i].name);
    if (!q || p->known != q->known || (p->known && p->value != q->value)) return false;
  }
  return true;
}

static bool same_bind(const TdRunArg *x, const TdRunArg *y) {
  bool layout =
      x->layout == y->layout || (x->layout && y->layout && strcmp(x->layout, y->layout) == 0);
  return layout && x->param->name == y->param->name && x->arg->name == y->arg->name;
}

static bool same_run(const Match *m, const TdRun *x, const TdRun *y) {
  if (x->rank != y->rank || x->nbind != y->nbind || !td_attrs_equal(x->attrs, y->attrs))
    return false;
  if (!same_sym(m, x->sym, y->sym) || !same_sym(m, x->unit, y->unit)) return false;
  for (int d = 0; d < x->rank; d++)
    if (!same_expr(m, x->map[d], y->map[d])) return false;
  for (size_t i = 0; i < x->nbind; i++)
    if (!same_bind(&x->bind[i], &y->bind[i])) return false;
  return true;
}

static bool same_graph(const Match *m, const TdUnit *x, const TdUnit *y) {
  if (x->nstream != y->nstream || x->nrun != y->nrun) return false;
  for (size_t i = 0; i < x->nstream; i++) {
    const TdStream *p = &x->stream[i], *q = &y->stream[i];
    if (p->type != q->type || !same_sym(m, p->sym, q->sym) || !td_attrs_equal(p->attrs, q->attrs) ||
        !same_expr(m, p->depth, q->depth))
      return false;
  }
  for (size_t i = 0; i < x->nrun; i++)
    if (!same_run(m, &x->run[i], &y->run[i])) return false;
  return true;
}

static bool same_text(const char *x, const char *y) {
  return x == y || (x && y && strcmp(x, y) == 0);
}

/* Whether two lists of callbacks are of the same types and functions. */
static bool same_callbacks(const TdForeign *x, const TdForeign *y) {
  if (x->ncallback != y->ncallback) return false;
  for (size_t i = 0; i < x->ncallback; i++) {
    const TdCallback *a = &x->callback[i], *b = &y->callback[i];
    if (a->at != b->at || a->result != b->result || a->nparam != b->nparam || a->fn != b->fn)
      return false;
    for (size_t k = 0; k < a->nparam; k++)
      if (a->param[k] != b->param[k]) return false;
  }
  return true;
}

static bool same_foreign(const TdForeign *x, const TdForeign *y) {
  if (!x || !y) return x == y;
  return same_text(x->library, y->library) && same_text(x->source, y->source) &&
         same_text(x->symbol, y->symbol) && x->pure == y->pure && x->process == y->process &&
         x->returns == y->returns && same_callbacks(x, y);
}

static bool same_unit(const Match *m, const TdUnit *x, const TdUnit *y) {
  return x->kind == y->kind && td_attrs_equal(x->attrs, y->attrs) && same_params(m, x, y) &&
         same_exprs(m, x->assert_, x->nassert, y->assert_, y->nassert) && same_graph(m, x, y) &&
         same_foreign(x->foreign, y->foreign) && (x->body != NULL) == (y->body != NULL) &&
         (!x->body || same_stmt(m, x->body, y->body));
}

bool td_equal_unit(TdCtx *c, const TdUnit *x, const TdUnit *y) {
  return x->sym->name == y->sym->name && td_equal_renamed(c, x, y);
}

bool td_equal_renamed(TdCtx *c, const TdUnit *x, const TdUnit *y) {
  TdArena *a = td_arena_scratch(c);
  TdMap sym = {0};
  Match m = {a, &sym, NULL};
  td_map_putp(a, &sym, x->sym, (void *)(uintptr_t)y->sym);
  bool same = same_unit(&m, x, y);
  td_arena_free(a);
  return same;
}

bool td_equal_signature(TdCtx *c, const TdUnit *x, const TdUnit *y) {
  TdArena *a = td_arena_scratch(c);
  TdMap sym = {0};
  Match m = {a, &sym, NULL};
  bool same = same_params(&m, x, y);
  td_arena_free(a);
  return same;
}

/* Whether unit i of x stands for that of y. The kernel of a task is printed without its name. */
static bool same_unit_sym(const Match *m, const TdProg *x, const TdProg *y, size_t i) {
  TdSym u = x->unit[i]->sym, v = y->unit[i]->sym;
  if (!td_prog_is_task(x, u) || !td_prog_is_task(y, v)) return same_sym(m, u, v);
  td_map_putp(m->arena, m->sym, u, (void *)(uintptr_t)v);
  return true;
}

bool td_equal_shape(TdCtx *c, const TdUnit *x, const TdUnit *y) {
  TdArena *a = td_arena_scratch(c);
  TdMap sym = {0}, back = {0};
  Match m = {a, &sym, &back};
  bool same = same_params(&m, x, y) && same_stmt(&m, x->body, y->body);
  td_arena_free(a);
  return same;
}

bool td_equal_prog(const TdProg *x, const TdProg *y) {
  if (x->nunit != y->nunit) return false;
  TdArena *a = td_arena_scratch(x->store->session->ctx);
  TdMap sym = {0};
  Match m = {a, &sym, NULL};
  bool same = true;
  for (size_t i = 0; same && i < x->nunit; i++)
    same = same_unit_sym(&m, x, y, i) && same_unit(&m, x->unit[i], y->unit[i]);
  td_arena_free(a);
  return same;
}

/* stp_kernel.c - what a kernel makes of tiles, and its operations as an expression.
 *
 * The number of operations is counted at sizes (analysis/time/work). Where an extent has symbols,
 * it is the polynomial through the counts at small values, in Newton's form, tried at two values
 * more. */
#include <string.h>

#include "analysis/time/work.h"
#include "step/stp_kernel.h"

enum { DEGREE = 3, SAMPLES = DEGREE + 3 };

static const TdUnit *root(const TdStpFn *f) {
  return td_prog_root(f->prog);
}

bool td_stp_kernel_check(const TdProg *p, const bool *written, int *result, TdDiag *d) {
  const TdUnit *u = td_prog_root(p);
  *result = -1;
  for (size_t i = 0; i < u->nparam; i++) {
    const TdParam *x = &u->param[i];
    if (x->type->kind != TD_T_TENSOR || x->type->rank != 2)
      return td_diag_set(d, TD_ILLEGAL, "step-function", x->loc,
                         "'%s' of %s is no tile: a function on tiles takes matrices", x->sym->name,
                         u->sym->name);
    if (!written[i]) continue;
    if (*result >= 0)
      return td_diag_set(d, TD_ILLEGAL, "step-function", x->loc,
                         "%s writes '%s' and '%s': a function has one result", u->sym->name,
                         u->param[*result].sym->name, x->sym->name);
    *result = (int)i;
  }
  if (*result >= 0) return true;
  return td_diag_set(d, TD_ILLEGAL, "step-function", u->loc, "%s writes nothing: it has no result",
                     u->sym->name);
}

size_t td_stp_kernel_reads(const TdStpFn *f) {
  return root(f)->nparam - 1;
}

const TdParam *td_stp_kernel_read(const TdStpFn *f, size_t i) {
  return &root(f)->param[(int)i < f->result ? i : i + 1];
}

const TdParam *td_stp_kernel_result(const TdStpFn *f) {
  return &root(f)->param[f->result];
}

/* ---- sizes ---- */

int td_stp_kernel_size(const TdStpFn *f, const TdParam *p, int dim, TdStpSizes *s) {
  const TdExpr *e = p->type->dim[dim];
  if (e->kind != TD_EXPR_SIZE) return -1;
  const TdSize *z = td_unit_size(root(f), e->u.name);
  if (!z || z->known) return -1;
  for (size_t i = 0; i < s->n; i++)
    if (strcmp(s->name[i], e->u.name) == 0) return (int)i;
  if (s->n == TD_STP_KERNEL_SIZES) return -1;
  s->name[s->n] = e->u.name;
  s->expr[s->n] = NULL;
  s->full[s->n] = s->valid[s->n] = -1;
  return (int)s->n++;
}

static int64_t number(const TdStpFn *f, const TdExpr *e, const TdStpSizes *s, bool valid) {
  int64_t x[2] = {0, 0};
  if (e->kind == TD_EXPR_LIT) return (int64_t)e->u.bits;
  if (e->kind == TD_EXPR_SIZE) {
    for (size_t i = 0; i < s->n; i++)
      if (strcmp(s->name[i], e->u.name) == 0) return valid ? s->valid[i] : s->full[i];
    const TdSize *z = td_unit_size(root(f), e->u.name);
    return z && z->known ? z->value : -1;
  }
  if (e->kind != TD_EXPR_OP || e->nkid != 2) return -1;
  for (int i = 0; i < 2; i++) x[i] = number(f, e->kid[i], s, valid);
  if (x[0] < 0 || x[1] < 0) return -1;
  switch (e->op) {
  case TD_OP_ADD: return x[0] + x[1];
  case TD_OP_SUB: return x[0] - x[1];
  case TD_OP_MUL: return x[0] * x[1];
  case TD_OP_FLOORDIV: return x[1] ? x[0] / x[1] : -1;
  default: return -1;
  }
}

int64_t td_stp_kernel_extent(const TdStpFn *f, const TdParam *p, int dim, const TdStpSizes *s,
                             bool valid) {
  return number(f, p->type->dim[dim], s, valid);
}

/* An extent over the sizes of a call, as an expression; NULL: not one of those. */
static const TdStpExpr *extent_of(TdStpGraph *g, const TdStpFn *f, const TdExpr *e,
                                  const TdStpSizes *s) {
  int64_t v;
  if (e->kind == TD_EXPR_SIZE)
    for (size_t i = 0; i < s->n; i++)
      if (strcmp(s->name[i], e->u.name) == 0) return s->expr[i];
  if (e->kind == TD_EXPR_LIT || e->kind == TD_EXPR_SIZE) {
    v = number(f, e, s, false);
    return v < 0 ? NULL : td_stp_expr_const(g->exprs, v);
  }
  if (e->kind != TD_EXPR_OP || e->nkid != 2) return NULL;
  const TdStpExpr *x = extent_of(g, f, e->kid[0], s), *y = extent_of(g, f, e->kid[1], s);
  if (!x || !y) return NULL;
  bool constant = td_stp_expr_is_const(y, &v);
  switch (e->op) {
  case TD_OP_ADD: return td_stp_expr_add(g->exprs, x, y);
  case TD_OP_SUB: return td_stp_expr_add(g->exprs, x, td_stp_expr_scale(g->exprs, y, -1));
  case TD_OP_MUL: return td_stp_expr_mul(g->exprs, x, y);
  case TD_OP_FLOORDIV: return constant && v > 0 ? td_stp_expr_floor(g->exprs, x, v) : NULL;
  default: return NULL;
  }
}

/* ---- types ---- */

typedef struct Call {
  TdStpGraph *g;
  const TdStpNode *n;
  TdDiag *d;
} Call;

static const TdStpType *refuse(const Call *c, const char *why) {
  TdText t = td_text_new(c->d->arena);
  for (size_t i = 0; i < td_stp_kernel_reads(&c->n->fn); i++) {
    const TdParam *p = td_stp_kernel_read(&c->n->fn, i);
    td_text_putf(&t, "%s%s = ", i ? ", " : "", p->sym->name);
    td_type_print(&t, p->type);
  }
  td_diag_set(c->d, TD_ILLEGAL, "step-function", c->n->loc, "%s does not take these tiles: %s",
              c->n->fn.name, why);
  td_diag_help(c->d, "%s reads %s", c->n->fn.name, t.n ? td_text_str(&t) : "nothing");
  return NULL;
}

static bool differ(const TdStpExpr *a, const TdStpExpr *b) {
  int64_t x, y;
  return td_stp_expr_is_const(a, &x) && td_stp_expr_is_const(b, &y) && x != y;
}

/* Binds the sizes of one parameter to a tile's extents; false: they do not fit. */
static bool bind_part(const Call *c, const TdParam *p, const TdStpType *t, TdStpSizes *s) {
  TdArena *a = c->d->arena;
  if (t->kind != TD_STP_TILE || t->elem != p->type->elem)
    return refuse(c, td_text_fmt(a, "'%s' is of %s", p->sym->name,
                                 td_type_str(a, p->type->elem))) != NULL;
  for (int k = 0; k < 2; k++) {
    const TdStpExpr *e = k ? t->cols : t->rows, *want;
    int i = td_stp_kernel_size(&c->n->fn, p, k, s);
    if (i >= 0 && !s->expr[i]) s->expr[i] = e;
    want = extent_of(c->g, &c->n->fn, p->type->dim[k], s);
    if (want && differ(want, e))
      return refuse(c,
                    td_text_fmt(a, "'%s' has %s %s, not %s", p->sym->name, td_stp_expr_str(a, want),
                                k ? "columns" : "rows", td_stp_expr_str(a, e))) != NULL;
  }
  return true;
}

static bool folds(const TdStpNode *n) {
  return n->op == TD_STP_ACCUM || n->op == TD_STP_SCAN;
}

/* Binds the sizes of a call; the result's extents are out[0], out[1]. */
static bool bind_all(const Call *c, const TdStpType *const *part, size_t nparts, TdStpSizes *s,
                     const TdStpExpr *out[2]) {
  const TdStpFn *f = &c->n->fn;
  size_t first = folds(c->n);
  if (td_stp_kernel_reads(f) != nparts + first)
    return refuse(c, td_text_fmt(c->d->arena, "it reads %zu, and %s%zu come",
                                 td_stp_kernel_reads(f), first ? "the state and " : "", nparts)) !=
           NULL;
  for (size_t i = 0; i < nparts; i++)
    if (!bind_part(c, td_stp_kernel_read(f, i + first), part[i], s)) return false;
  const TdParam *r = td_stp_kernel_result(f);
  const TdType *start = c->n->extra.type;
  if (first && start) {
    int64_t extent[2];
    if (start->rank != 2 || !td_type_extent(start, 0, &extent[0]) ||
        !td_type_extent(start, 1, &extent[1]))
      return refuse(c, "init is no matrix") != NULL;
    TdStpType begin = {.kind = TD_STP_TILE,
                       .elem = start->elem,
                       .rows = td_stp_expr_const(c->g->exprs, extent[0]),
                       .cols = td_stp_expr_const(c->g->exprs, extent[1])};
    if (!bind_part(c, td_stp_kernel_read(f, 0), &begin, s)) return false;
  }
  for (int k = 0; k < 2; k++) {
    out[k] = extent_of(c->g, f, r->type->dim[k], s);
    if (!out[k])
      return refuse(c, td_text_fmt(c->d->arena, "they do not tell the extents of '%s'",
                                   r->sym->name)) != NULL;
  }
  if (!first) return true;
  TdStpType state = {.kind = TD_STP_TILE, .elem = r->type->elem, .rows = out[0], .cols = out[1]};
  return bind_part(c, td_stp_kernel_read(f, 0), &state, s);
}

const TdStpType *td_stp_kernel_type(TdStpGraph *g, const TdStpNode *n, const TdStpType *const *part,
                                    size_t nparts, TdDiag *d) {
  Call c = {g, n, d};
  TdStpSizes s = {0};
  const TdStpExpr *out[2];
  if (!bind_all(&c, part, nparts, &s, out)) return NULL;
  if (!td_stp_kernel_flops(g, n, part, nparts, d)) return NULL;
  TdStpType *t = TD_NEW(g->arena, TdStpType);
  *t = (TdStpType){.kind = TD_STP_TILE,
                   .elem = td_stp_kernel_result(&n->fn)->type->elem,
                   .rows = out[0],
                   .cols = out[1]};
  return t;
}

/* ---- operations ---- */

int64_t td_stp_kernel_work(TdStpGraph *g, const TdStpFn *f, const TdStpSizes *s, TdDiag *d) {
  const TdUnit *u = root(f);
  const TdType **type = TD_NEWN(d->arena, const TdType *, u->nparam);
  uint64_t h = (uint64_t)(uintptr_t)f->prog, found;
  for (size_t i = 0; i < u->nparam; i++) {
    int64_t extent[2] = {number(f, u->param[i].type->dim[0], s, false),
                         number(f, u->param[i].type->dim[1], s, false)};
    type[i] = td_type_tensor_of(g->session, u->param[i].type->elem, 2, extent);
    h = td_map_mix(h, (uint64_t)(uintptr_t)type[i]);
  }
  if (td_map_get(&g->work, h, &found)) return (int64_t)found;
  const TdProg *at = td_at_arguments(f->prog, type, u->nparam, d);
  int64_t count = 0;
  if (!at || !td_work_count(d->arena, at, &count, d)) return -1;
  td_map_put(g->arena, &g->work, h, (uint64_t)count);
  return count;
}

/* e * (e - 1) .. / k!, for k up to DEGREE. */
static const TdStpExpr *choose(TdStpExprs *x, const TdStpExpr *e, int k) {
  static const int64_t factorial[DEGREE + 1] = {1, 1, 2, 6};
  const TdStpExpr *p = td_stp_expr_const(x, 1);
  for (int i = 0; i < k; i++)
    p = td_stp_expr_mul(x, p, td_stp_expr_add(x, e, td_stp_expr_const(x, -i)));
  return factorial[k] == 1 ? p : td_stp_expr_floor(x, p, factorial[k]);
}

/* Operations with the sizes from `from` on still open, those before at s->full. */
static const TdStpExpr *polynomial(const Call *c, TdStpSizes *s, size_t from) {
  TdStpExprs *x = c->g->exprs;
  while (from < s->n && td_stp_expr_is_const(s->expr[from], &s->full[from])) from++;
  if (from == s->n) {
    int64_t n = td_stp_kernel_work(c->g, &c->n->fn, s, c->d);
    return n < 0 ? NULL : td_stp_expr_const(x, n);
  }
  const TdStpExpr *v[SAMPLES], *sum = td_stp_expr_const(x, 0);
  for (int k = 0; k < SAMPLES; k++) {
    s->full[from] = k;
    v[k] = polynomial(c, s, from + 1);
    if (!v[k]) return NULL;
  }
  for (int k = 0; k < SAMPLES; k++) {
    if (k <= DEGREE)
      sum = td_stp_expr_add(x, sum, td_stp_expr_mul(x, v[0], choose(x, s->expr[from], k)));
    else if (v[0]->n)
      return (void)refuse(c, "the number of its operations is no polynomial of degree 3 in what "
                             "data decides"),
             NULL;
    for (int i = 0; i + 1 < SAMPLES - k; i++)
      v[i] = td_stp_expr_add(x, v[i + 1], td_stp_expr_scale(x, v[i], -1));
  }
  return sum;
}

const TdStpExpr *td_stp_kernel_flops(TdStpGraph *g, const TdStpNode *n,
                                     const TdStpType *const *part, size_t nparts, TdDiag *d) {
  Call c = {g, n, d};
  TdStpSizes s = {0};
  const TdStpExpr *out[2];
  return bind_all(&c, part, nparts, &s, out) ? polynomial(&c, &s, 0) : NULL;
}

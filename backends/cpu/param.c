/* param.c - what units do with their parameters: which they write, and, callers first, how far
 * apart the elements of the views lie that they are given. */
#include "backends/cpu/text.h"

TdCpuUnit *td_cpu_param_unit(const TdCpuProg *p, TdSym unit) {
  for (size_t i = 0; i < p->w->prog->nunit; i++)
    if (p->unit[i].unit->sym == unit) return &p->unit[i];
  return NULL;
}

/* The parameter that sym is in unit u, or NULL. */
static TdCpuParam *param_of(const TdCpuUnit *u, TdSym sym) {
  for (size_t i = 0; i < u->unit->nparam; i++)
    if (u->unit->param[i].sym == sym) return &u->param[i];
  return NULL;
}

typedef struct Visit {
  TdCpuProg *p;
  TdCpuUnit *u;
} Visit;

static void mark(const TdCpuUnit *u, TdSym sym) {
  TdCpuParam *x = param_of(u, sym);
  if (x) x->written = true;
}

/* Marks what statement s writes. */
static bool mark_written(void *ud, const TdStmt *s) {
  Visit *v = ud;
  if (s->kind == TD_STMT_STORE || s->kind == TD_STMT_SET) mark(v->u, s->expr[0]->sym);
  if (s->kind == TD_STMT_GET && s->nexpr > 1) mark(v->u, s->expr[1]->sym);
  if (s->kind != TD_STMT_CALL) return true;
  const TdCpuUnit *callee = td_cpu_param_unit(v->p, s->sym);
  for (uint32_t i = 0; callee && i < s->nexpr; i++)
    if (callee->param[i].written) mark(v->u, s->expr[i]->sym);
  return true;
}

/* What a foreign unit writes: as its model does, or everything. */
static void mark_foreign(TdCpuProg *p, TdCpuUnit *u) {
  const TdSym model = u->unit->foreign ? u->unit->foreign->model : NULL;
  const TdCpuUnit *m = model ? td_cpu_param_unit(p, model) : NULL;
  for (size_t i = 0; i < u->unit->nparam; i++) u->param[i].written = !m || m->param[i].written;
}

/* The row-major strides of a type of constant extents. */
static void row_major(const TdType *t, int64_t *stride) {
  int64_t n = 1, extent;
  for (int d = t->rank - 1; d >= 0; d--) {
    stride[d] = n;
    td_type_extent(t, d, &extent);
    n *= extent > 0 ? extent : 1;
  }
}

typedef struct Declared {
  TdSym sym;
  const TdType *type;
} Declared;

static bool is_declaration(void *ud, const TdStmt *s) {
  Declared *d = ud;
  bool here = s->sym == d->sym && s->type;
  if (here) d->type = s->type;
  return !here;
}

/* The type of a tensor that unit u declares: a parameter or a local. */
static const TdType *type_of(TdCpuProg *p, const TdCpuUnit *u, TdSym sym) {
  const TdParam *x = td_unit_param(u->unit, sym);
  Declared d = {sym, x ? x->type : NULL};
  if (!x) td_walk_stmt(p->w->session->ctx, u->unit->body, is_declaration, &d);
  return d.type ? td_cfamily_type(p->w, d.type) : NULL;
}

/* Has the elements of parameter x lie s apart in dimension d, if that is known. */
static void take(TdCpuParam *x, int d, bool known, int64_t s, bool first) {
  x->known[d] = known && (first || (x->known[d] && x->stride[d] == s));
  x->stride[d] = s;
}

/* Whether it is known how far apart the elements of an array lie in dimension d, which is told: an
 * array of its own has `rows`, a parameter what it is given. */
static bool lies(const TdCpuParam *from, const int64_t *rows, int d, int64_t *s) {
  *s = from && !from->dense ? from->stride[d] : rows[d];
  return !from || from->dense || from->known[d];
}

/* Has parameter x, of type t, take what it is given as `view` in unit u. */
static void meet(TdCpuProg *p, const TdCpuUnit *u, TdCpuParam *x, const TdType *t,
                 const TdExpr *view, bool first) {
  const TdType *base = type_of(p, u, view->sym);
  const TdCpuParam *from = param_of(u, view->sym);
  if (!base || base->kind != TD_T_TENSOR) return;
  int64_t rows[TD_MAX_RANK], dense[TD_MAX_RANK];
  row_major(base, rows);
  row_major(t, dense);
  for (uint32_t d = 0; d < view->nkid; d++) {
    const TdViewDim *dim = &view->u.dim[d];
    if (dim->out < 0) continue;
    int64_t s, extent;
    bool known = lies(from, rows, (int)d, &s);
    s *= dim->step;
    if (known && td_type_extent(t, dim->out, &extent) && extent <= 1) s = dense[dim->out];
    take(x, dim->out, known, s, first);
  }
}

/* Lets the callee of a call know the views that it is given. */
static bool pass(void *ud, const TdStmt *s) {
  Visit *v = ud;
  if (s->kind != TD_STMT_CALL) return true;
  TdCpuUnit *callee = td_cpu_param_unit(v->p, s->sym);
  if (!callee) return true;
  bool first = !callee->called;
  callee->called = true;
  for (uint32_t i = 0; i < s->nexpr; i++) {
    const TdType *t = td_unit_type(v->p->w->session, callee->unit, callee->unit->param[i].type);
    if (t && t->kind == TD_T_TENSOR) meet(v->p, v->u, &callee->param[i], t, s->expr[i], first);
  }
  return true;
}

/* A task's parameters have the strides of the arguments that they are blocks of. */
static void bind(TdCpuProg *p, const TdCpuUnit *design, const TdRun *r) {
  TdCpuUnit *u = td_cpu_param_unit(p, r->unit);
  bool first = !u->called;
  u->called = true;
  for (int k = 0; k < r->rank; k++) {
    int64_t n = td_cfamily_size(p->w, r->map[k]);
    if (n > u->map[k]) u->map[k] = n;
  }
  for (size_t i = 0; i < r->nbind; i++) {
    TdCpuParam *x = param_of(u, r->bind[i].param);
    const TdParam *arg = td_unit_param(design->unit, r->bind[i].arg);
    const TdType *t = arg ? td_unit_type(p->w->session, design->unit, arg->type) : NULL;
    if (!x || !t || t->kind != TD_T_TENSOR) continue;
    int64_t rows[TD_MAX_RANK], s;
    bool own = x->written && td_cpu_block_is_shared(p, r, &r->bind[i]);
    row_major(
        own ? td_unit_type(p->w->session, u->unit, td_unit_param(u->unit, r->bind[i].param)->type)
            : t,
        rows);
    for (int d = 0; d < t->rank; d++) {
      bool known = lies(own ? NULL : param_of(design, arg->sym), rows, d, &s);
      take(x, d, known, s, first);
    }
  }
}

/* Marks the arguments of a design that its tasks write. */
static void mark_runs(TdCpuProg *p, TdCpuUnit *u) {
  for (size_t i = 0; i < u->unit->nrun; i++) {
    const TdRun *r = &u->unit->run[i];
    const TdCpuUnit *k = td_cpu_param_unit(p, r->unit);
    for (size_t b = 0; b < r->nbind; b++)
      if (param_of(k, r->bind[b].param)->written) mark(u, r->bind[b].arg);
  }
}

/* Says which tensor parameters of u lie row-major in every call; those of the root do. */
static void settle(TdCpuProg *p, TdCpuUnit *u, bool is_root) {
  for (size_t i = 0; i < u->unit->nparam; i++) {
    TdCpuParam *x = &u->param[i];
    const TdType *t = td_cfamily_type(p->w, u->unit->param[i].type);
    if (t->kind != TD_T_TENSOR) continue;
    int64_t dense[TD_MAX_RANK];
    row_major(t, dense);
    x->dense = true;
    bool given = u->called && !is_root && x->stride[t->rank - 1];
    for (int d = 0; d < t->rank && given; d++) x->dense &= x->known[d] && x->stride[d] == dense[d];
  }
}

bool td_cpu_param_find(TdCpuProg *p) {
  TdCtx *c = p->w->session->ctx;
  size_t n = p->w->prog->nunit;
  for (size_t i = 0; i < n; i++) {
    Visit v = {p, &p->unit[i]};
    if (v.u->unit->body) td_walk_stmt(c, v.u->unit->body, mark_written, &v);
    if (v.u->unit->kind == TD_UNIT_EXTERN) mark_foreign(p, v.u);
    mark_runs(p, v.u);
  }
  for (size_t i = n; i-- > 0;) {
    Visit v = {p, &p->unit[i]};
    td_cfamily_enter(p->w, v.u->unit, NULL);
    settle(p, v.u, i == n - 1);
    if (v.u->unit->body) td_walk_stmt(c, v.u->unit->body, pass, &v);
    for (size_t k = 0; k < v.u->unit->nrun; k++) bind(p, v.u, &v.u->unit->run[k]);
  }
  return !td_diag_failed(p->w->diag);
}

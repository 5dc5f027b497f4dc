/* unit.c - programs as immutable lists of units; values of sizes. */
#include "ir/unit.h"

#include <assert.h>
#include <string.h>

#include "ir/lin.h"
#include "ir/num/num.h"
#include "ir/text/print.h"
#include "ir/walk.h"

const TdUnit *td_prog_root(const TdProg *p) {
  return p->unit[p->nunit - 1];
}

const TdUnit *td_prog_unit(const TdProg *p, TdSym sym) {
  for (size_t i = 0; i < p->nunit; i++)
    if (p->unit[i]->sym == sym) return p->unit[i];
  return NULL;
}

const TdUnit *td_prog_find(const TdProg *p, const char *name) {
  for (size_t i = 0; i < p->nunit; i++)
    if (strcmp(p->unit[i]->sym->name, name) == 0) return p->unit[i];
  return NULL;
}

const TdProg *td_prog_new(TdStore *st, const TdUnit *const *unit, size_t n) {
  assert(n > 0);
  TdProg *p = TD_NEW(st->arena, TdProg);
  p->store = st;
  p->unit = td_arena_copy(st->arena, unit, n * sizeof *unit);
  p->nunit = n;
  return p;
}

const TdProg *td_prog_with(const TdProg *p, const TdUnit *u) {
  for (size_t i = 0; i < p->nunit; i++) {
    if (p->unit[i]->sym != u->sym) continue;
    if (p->unit[i] == u) return p;
    const TdUnit **list = td_arena_copy(p->store->arena, p->unit, p->nunit * sizeof *list);
    list[i] = u;
    return td_prog_new(p->store, list, p->nunit);
  }
  return td_prog_insert(p, u, NULL);
}

const TdProg *td_prog_insert(const TdProg *p, const TdUnit *u, TdSym before) {
  const TdUnit **list = TD_NEWN(p->store->arena, const TdUnit *, p->nunit + 1);
  size_t n = 0;
  for (size_t i = 0; i < p->nunit; i++) {
    if (before ? p->unit[i]->sym == before : i == p->nunit - 1) list[n++] = u;
    list[n++] = p->unit[i];
  }
  return td_prog_new(p->store, list, n);
}

/* The units met so far on the way from the root. */
typedef struct Reach {
  const TdProg *prog;
  TdMap seen;
  const TdUnit **list;
  size_t n;
} Reach;

static void reach(Reach *r, TdSym sym);

static bool reach_call(void *ud, const TdStmt *s) {
  if (s->kind == TD_STMT_CALL) reach(ud, s->sym);
  return true;
}

/* Lists the unit of a symbol after those that it names: callees, kernels of runs, its model. */
static void reach(Reach *r, TdSym sym) {
  TdStore *st = r->prog->store;
  const TdUnit *u = td_prog_unit(r->prog, sym);
  if (!u || td_map_getp(&r->seen, sym)) return;
  td_map_putp(st->arena, &r->seen, sym, r);
  td_ctx_enter(st->session->ctx);
  if (u->body) td_walk_stmt(st->session->ctx, u->body, reach_call, r);
  for (size_t i = 0; i < u->nrun; i++) reach(r, u->run[i].unit);
  if (u->foreign && u->foreign->model) reach(r, u->foreign->model);
  td_ctx_leave(st->session->ctx);
  r->list[r->n++] = u;
}

const TdProg *td_prog_prune(const TdProg *p) {
  Reach r = {.prog = p, .list = TD_NEWN(p->store->arena, const TdUnit *, p->nunit)};
  reach(&r, td_prog_root(p)->sym);
  bool same = r.n == p->nunit;
  for (size_t i = 0; same && i < r.n; i++) same = r.list[i] == p->unit[i];
  return same ? p : td_prog_new(p->store, r.list, r.n);
}

TdUnit *td_unit_copy(TdStore *st, const TdUnit *u) {
  return td_arena_copy(st->arena, u, sizeof *u);
}

const TdUnit *td_unit_with_body(TdStore *st, const TdUnit *u, const TdStmt *body) {
  if (u->body == body) return u;
  TdUnit *copy = td_unit_copy(st, u);
  copy->body = body;
  return copy;
}

const TdParam *td_unit_param(const TdUnit *u, TdSym sym) {
  for (size_t i = 0; i < u->nparam; i++)
    if (u->param[i].sym == sym) return &u->param[i];
  return NULL;
}

bool td_prog_is_task(const TdProg *p, TdSym unit) {
  for (size_t i = 0; i < p->nunit; i++)
    for (size_t k = 0; k < p->unit[i]->nrun; k++)
      if (p->unit[i]->run[k].unit == unit) return true;
  return false;
}

static bool is_no_state(void *ud, const TdStmt *s) {
  (void)ud;
  return s->kind != TD_STMT_LOCAL || s->cls != TD_LOCAL_STATE;
}

bool td_unit_has_state(TdCtx *c, const TdUnit *u) {
  return u->body && !td_walk_stmt(c, u->body, is_no_state, NULL);
}

bool td_prog_has_state(const TdProg *p) {
  for (size_t i = 0; i < p->nunit; i++)
    if (td_unit_has_state(p->store->session->ctx, p->unit[i])) return true;
  return false;
}

TdSymKind td_unit_param_kind(const TdType *t) {
  return t->kind == TD_T_TENSOR ? TD_SYM_TENSOR
         : t->kind == TD_T_PORT ? TD_SYM_STREAM
                                : TD_SYM_SCALAR;
}

const TdStream *td_unit_stream(const TdUnit *u, TdSym sym) {
  for (size_t i = 0; i < u->nstream; i++)
    if (u->stream[i].sym == sym) return &u->stream[i];
  return NULL;
}

const TdSize *td_unit_size(const TdUnit *u, const char *name) {
  for (size_t i = 0; i < u->nsize; i++)
    if (u->size[i].name == name || strcmp(u->size[i].name, name) == 0) return &u->size[i];
  return NULL;
}

bool td_unit_value(const TdUnit *u, const TdExpr *e, int64_t *v) {
  if (e->kind == TD_EXPR_LIT) {
    *v = (int64_t)e->u.bits;
    return true;
  }
  if (e->kind == TD_EXPR_SIZE) {
    const TdSize *size = td_unit_size(u, e->u.name);
    if (size) *v = size->value;
    return size && size->known;
  }
  if (e->kind != TD_EXPR_OP && e->kind != TD_EXPR_CAST) return false;
  const TdType *t[4];
  uint64_t x[4];
  for (uint32_t i = 0; i < e->nkid; i++) {
    int64_t k;
    if (!td_unit_value(u, e->kid[i], &k)) return false;
    t[i] = e->kid[i]->type;
    x[i] = (uint64_t)k;
  }
  TdFault fault = TD_FAULT_NONE;
  *v = (int64_t)(e->kind == TD_EXPR_CAST ? td_num_cast(e->type, t[0], x[0], &fault)
                                         : td_num_op(e->op, e->type, t, x, (int)e->nkid, &fault));
  return fault == TD_FAULT_NONE;
}

const TdType *td_unit_type(TdSession *s, const TdUnit *u, const TdType *t) {
  if (t->kind == TD_T_PORT) {
    const TdType *token = td_unit_type(s, u, t->elem);
    if (!token) return NULL;
    const TdExpr *dim[TD_MAX_RANK];
    for (int d = 0; d < t->rank; d++) {
      int64_t v;
      if (!td_unit_value(u, t->dim[d], &v)) return NULL;
      dim[d] = td_expr_index(s, s->arena, v, t->dim[d]->loc);
    }
    return td_type_port(s, token, t->rank, dim, t->block);
  }
  if (t->kind != TD_T_TENSOR) return t;
  int64_t extent[TD_MAX_RANK];
  for (int d = 0; d < t->rank; d++)
    if (!td_unit_value(u, t->dim[d], &extent[d])) return NULL;
  return td_type_tensor_of(s, t->elem, t->rank, extent);
}

int64_t td_unit_beats(const TdUnit *u, TdAttrs stream, const TdType *token) {
  const TdAttr *lanes = td_attrs_get(stream, TD_ATTR_LANES);
  int64_t n = 1, extent, side = lanes ? lanes->arg[0].i : 0;
  if (side < 1 || token->kind != TD_T_TENSOR) return 1;
  for (int d = 0; d < token->rank; d++)
    if (td_unit_value(u, token->dim[d], &extent)) n *= extent;
  return n > side ? (n + side - 1) / side : 1;
}

const char *td_unit_help_sizes(TdArena *a, const TdUnit *u) {
  TdText t = td_text_new(a);
  for (size_t i = 0; i < u->nsize; i++)
    if (!u->size[i].known) td_text_putf(&t, "%s%s = 64", t.n ? ", " : "", u->size[i].name);
  if (!t.n) return "give every size a value";
  return td_text_fmt(a, "give every size a value, %s:at {%s}; a call takes them from its tensors",
                     u->sym->name, td_text_str(&t));
}

const char *td_unit_is_apart(const TdUnit *u, size_t i, size_t k, bool written) {
  if (written) return "is written and";
  const TdAttr *x = td_attrs_get(u->param[i].attrs, TD_ATTR_APART);
  const TdAttr *y = td_attrs_get(u->param[k].attrs, TD_ATTR_APART);
  if (!x || !y || !x->arg[0].ints || !y->arg[0].ints) return NULL;
  const TdAttrInts *own = x->arg[0].ints, *other = y->arg[0].ints;
  for (size_t n = 0; n < own->n * other->n; n++)
    if (own->at[n / other->n] == other->at[n % other->n]) return "is assumed to be apart and";
  return NULL;
}

const char *td_unit_assumes(TdArena *a, const TdUnit *u, size_t i) {
  return td_text_fmt(a, "%s assumes %s", u->sym->name, td_print_expr_str(a, u->assert_[i]));
}

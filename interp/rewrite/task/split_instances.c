/* split_instances.c - the kernel of a task at some of its ids; the task does nothing there any
 * more. */
#include "rewrite/task/split_instances.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "ir/text/printer.h"

/* ---- names ---- */

const char *td_split_instances_task(TdArena *a, const char *spec) {
  return td_arena_strndup(a, spec, strcspn(spec, "["));
}

bool td_split_instances_is_instance(const char *spec) {
  return strchr(spec, '[') != NULL;
}

/* Reads "[0][*]" behind a name: -1 is a star. Returns how many ids there are, or -1. */
static int read_ids(const char *s, int64_t *id) {
  int n = 0;
  for (; *s == '[' && n < TD_MAX_RANK; n++) {
    char *end;
    if (s[1] == '*') {
      id[n] = -1;
      end = (char *)(uintptr_t)(s + 2);
    } else {
      id[n] = isdigit((unsigned char)s[1]) ? strtoll(s + 1, &end, 10) : -2;
      if (id[n] < 0) return -1;
    }
    if (*end != ']') return -1;
    s = end + 1;
  }
  return *s ? -1 : n;
}

bool td_split_instances_parse(const TdMapping *m, const char *spec, TdFamilies *out) {
  TdRewrite *r = m->r;
  const char *name = td_split_instances_task(r->arena, spec);
  const TdRun *run = td_mapping_task(m, name);
  if (!run) return false;
  int64_t extent[TD_MAX_RANK], id[TD_MAX_RANK], count = td_mapping_extents(m, run, extent);
  int n = read_ids(spec + strlen(name), id);
  bool good = n == run->rank || (n == 0 && run->rank == 0);
  for (int d = 0; good && d < n; d++) good = id[d] < extent[d];
  if (!good) {
    td_util_refuse(r, TD_USAGE, "instance", run->loc, "'%s' is no instance of '%s', which has %lld",
                   spec, name, (long long)count);
    return false;
  }
  for (int64_t i = 0; i < count; i++) {
    TdFamily f = {.task = run->sym->name, .axis = -1, .step = 1, .n = 1};
    int64_t rest = i;
    bool member = true;
    for (int d = run->rank; d-- > 0; rest /= extent[d]) {
      f.base[d] = rest % extent[d];
      member &= id[d] < 0 || id[d] == f.base[d];
    }
    if (member) td_vec_push(r->arena, out, f);
  }
  return true;
}

bool td_split_instances_join(const TdMapping *m, const TdFamilies *all, TdFamily *out) {
  *out = all->at[0];
  if (all->n == 1) return false;
  const TdRun *run = td_mapping_task(m, out->task);
  for (int d = 0; d < run->rank; d++)
    if (all->at[1].base[d] != out->base[d]) {
      if (out->axis >= 0) return false;
      out->axis = d;
      out->step = all->at[1].base[d] - out->base[d];
    }
  out->n = (int64_t)all->n;
  for (size_t i = 0; i < all->n; i++) {
    if (strcmp(all->at[i].task, out->task) != 0) return false;
    for (int d = 0; d < run->rank; d++) {
      int64_t want = out->base[d] + (d == out->axis ? (int64_t)i * out->step : 0);
      if (all->at[i].base[d] != want) return false;
    }
  }
  return out->axis >= 0 && out->step > 0;
}

/* ---- the task of its own ---- */

typedef struct Peel {
  TdMapping m;
  TdRewrite *r;
  const TdFamily *f;
  const TdRun *run;
  const TdUnit *kernel;
  TdUnit *unit, *rest, *design; /* the new kernel, the old one without, the new design */
  TdRun to;
  const TdExpr *id[TD_MAX_RANK]; /* in the new kernel */
  TdSubst sub;
} Peel;

/* "gemm_0_1", or like it: no task of the design and no unit has that name. */
static const char *new_name(const Peel *p) {
  TdText t = td_text_new(p->r->arena);
  td_text_puts(&t, p->run->sym->name);
  for (int d = 0; d < p->run->rank; d++) td_text_putf(&t, "_%lld", (long long)p->f->base[d]);
  const char *want = td_text_str(&t), *name = want;
  for (int i = 1;; i++) {
    bool taken = false;
    for (size_t k = 0; k < p->m.design->nrun; k++)
      taken |= strcmp(p->m.design->run[k].sym->name, name) == 0;
    if (!taken) return td_lift_unit_name(p->r, p->r->prog, name);
    name = td_text_fmt(p->r->arena, "%s_%d", want, i);
  }
}

/* The ids of the instances: constants, and along the axis a function of the new id. */
static void set_ids(Peel *p) {
  TdRewrite *r = p->r;
  TdArena *a = r->store->arena;
  const TdUnit *k = p->kernel;
  TdSym *coord = TD_NEWN(a, TdSym, 1);
  p->unit->coord = coord;
  p->unit->ncoord = p->to.rank = p->f->axis >= 0;
  for (int d = 0; d < p->run->rank; d++) {
    p->id[d] = td_util_const(r, p->f->base[d]);
    if (d == p->f->axis) {
      coord[0] = td_store_sym(r->store, k->ncoord ? k->coord[d]->name : "shot", TD_SYM_COORD);
      const TdExpr *steps = td_lin_times(r->session, a, td_util_var(r, coord[0]), p->f->step);
      p->id[d] = td_lin_plus(r->session, a, p->id[d], steps);
    }
    if (k->ncoord) td_subst_expr(&p->sub, k->coord[d], p->id[d]);
  }
  if (p->to.rank) p->to.map[0] = td_util_const(r, p->f->n);
}

/* The part of the whole argument that an instance has under a layout. */
static const TdExpr *block_of(Peel *p, TdSym whole, const TdType *block, const char *layout) {
  TdRewrite *r = p->r;
  TdArena *a = r->store->arena;
  const TdExpr *lo[TD_MAX_RANK];
  TdViewDim dim[TD_MAX_RANK];
  for (int d = 0; d < block->rank; d++) {
    int axis = td_mapping_axis(layout, d);
    dim[d] = (TdViewDim){1, d};
    lo[d] = td_util_const(r, 0);
    if (axis < 0) continue;
    int64_t n = td_mapping_block(&p->m, p->kernel, block->dim[d], p->design);
    lo[d] = td_lin_times(r->session, a, p->id[axis], n);
  }
  return td_expr_view(a, whole, block, lo, dim, block->rank, p->run->loc);
}

/* Whether a layout leaves out an axis along which there are several instances. */
static bool has_copies(const Peel *p, const TdRunArg *b, int rank) {
  int64_t extent[TD_MAX_RANK];
  unsigned named = 0;
  td_mapping_extents(&p->m, p->run, extent);
  for (int d = 0; d < rank; d++)
    if (td_mapping_axis(b->layout, d) >= 0) named |= 1u << td_mapping_axis(b->layout, d);
  for (int d = 0; b->layout && d < p->run->rank; d++)
    if (!(named >> d & 1) && extent[d] > 1) return true;
  return false;
}

static bool bind_params(Peel *p) {
  TdRewrite *r = p->r;
  TdAsk q = td_util_ask(r, p->kernel);
  const TdEffect *e;
  size_t n = td_effects_of(&q, p->kernel->body, &e);
  TdParam *param =
      td_arena_copy(r->store->arena, p->kernel->param, p->kernel->nparam * sizeof *param);
  TdRunArg *bind = td_arena_copy(r->store->arena, p->run->bind, p->run->nbind * sizeof *bind);
  for (size_t i = 0; i < p->run->nbind; i++) {
    TdParam *x = &param[td_unit_param(p->kernel, bind[i].param) - p->kernel->param];
    const TdType *block = x->type;
    const TdEffect *on = td_effects_find(e, n, x->sym);
    if (on && on->write && has_copies(p, &bind[i], block->rank)) {
      td_util_refuse(r, TD_UNSUPPORTED, "copies", p->run->loc,
                     "each instance of '%s' writes a copy of '%s': bundle a whole axis",
                     p->run->sym->name, x->sym->name);
      return false;
    }
    x->sym = td_store_sym(r->store, x->sym->name, (TdSymKind)x->sym->kind);
    if (block->kind == TD_T_TENSOR) {
      x->type = td_unit_param(p->m.design, bind[i].arg)->type;
      td_subst_view(&p->sub, bind[i].param, block_of(p, x->sym, block, bind[i].layout));
    } else {
      td_subst_expr(&p->sub, bind[i].param, td_expr_var(r->store->arena, x->sym, block, x->loc));
    }
    bind[i] = (TdRunArg){x->sym, bind[i].arg, NULL};
  }
  p->unit->param = param;
  p->to.bind = bind;
  return true;
}

/* The value that a condition has at all ids of the family: 0, 1; or -1 if that varies. */
static int truth_of(const Peel *p, const TdExpr *cond) {
  TdRewrite *r = p->r;
  int truth = -1;
  for (int64_t i = 0; i < p->f->n; i++) {
    TdSubst sub = td_subst_new(r->store);
    for (int d = 0; d < p->run->rank; d++) {
      int64_t id = p->f->base[d] + (d == p->f->axis ? i * p->f->step : 0);
      td_subst_expr(&sub, p->kernel->coord[d], td_util_const(r, id));
    }
    const TdExpr *e = td_subst_in_expr(&sub, cond);
    if (e->kind != TD_EXPR_LIT || (truth >= 0 && truth != (e->u.bits != 0))) return -1;
    truth = e->u.bits != 0;
  }
  return truth;
}

/* The kernel's body without conditions around all of it that its ids decide. */
static const TdStmt *unguarded(const Peel *p) {
  TdRewrite *r = p->r;
  const TdStmt *body = p->kernel->body;
  uint32_t data = (uint32_t)td_stmt_preamble(body);
  while (p->kernel->ncoord && body->nkid == data + 1 && body->kid[data]->kind == TD_STMT_IF) {
    const TdStmt *s = body->kid[data];
    int truth = truth_of(p, s->expr[0]);
    if (truth < 0 || (truth == 0 && s->nkid < 2)) break;
    const TdStmt *arm = s->kid[truth ? 0 : 1];
    const TdStmt **list = TD_NEWN(r->arena, const TdStmt *, data + arm->nkid);
    for (uint32_t i = 0; i < data; i++) list[i] = body->kid[i];
    for (uint32_t i = 0; i < arm->nkid; i++) list[data + i] = arm->kid[i];
    body = td_stmt_with_kids(r->store, body, list, data + arm->nkid);
  }
  return body;
}

/* s without the conditions that are constants now. */
static const TdStmt *decided(const Peel *p, const TdStmt *s) {
  TdRewrite *r = p->r;
  TD_VEC(const TdStmt *) kid = {0};
  td_ctx_enter(r->session->ctx);
  for (uint32_t i = 0; i < s->nkid; i++) {
    const TdStmt *x = decided(p, s->kid[i]);
    bool constant = x->kind == TD_STMT_IF && x->expr[0]->kind == TD_EXPR_LIT;
    if (!constant || s->kind != TD_STMT_BLOCK) {
      td_vec_push(r->arena, &kid, x);
      continue;
    }
    uint32_t arm = x->expr[0]->u.bits ? 0 : 1;
    for (uint32_t k = 0; arm < x->nkid && k < x->kid[arm]->nkid; k++)
      td_vec_push(r->arena, &kid, x->kid[arm]->kid[k]);
  }
  td_ctx_leave(r->session->ctx);
  bool same = kid.n == s->nkid;
  for (uint32_t i = 0; same && i < s->nkid; i++) same = kid.at[i] == s->kid[i];
  return same ? s : td_stmt_with_kids(r->store, s, kid.at, kid.n);
}

static const TdExpr *op2(const Peel *p, TdOp op, const TdExpr *x, const TdExpr *y) {
  return td_expr_op2(p->r->store->arena, op, td_type_bool(p->r->session), x, y);
}

/* Whether the ids of the old kernel are those of no instance of the family. */
static const TdExpr *is_left(const Peel *p) {
  TdRewrite *r = p->r;
  TdArena *a = r->store->arena;
  const TdExpr *other = NULL;
  for (int d = 0; d < p->run->rank; d++) {
    const TdExpr *c = td_util_var(r, p->rest->coord[d]), *x = NULL;
    int64_t n = d == p->f->axis ? p->f->n : 1;
    for (int64_t i = 0; i < n && (n == 1 || p->f->step > 1); i++) {
      const TdExpr *at = td_util_const(r, p->f->base[d] + i * p->f->step);
      const TdExpr *ne = op2(p, TD_OP_NE, c, at);
      x = x ? op2(p, TD_OP_AND, x, ne) : ne;
    }
    if (!x) {
      const TdExpr *lo = td_util_const(r, p->f->base[d]);
      const TdExpr *hi = td_lin_plus(r->session, a, lo, td_util_const(r, n));
      x = op2(p, TD_OP_OR, op2(p, TD_OP_LT, c, lo), op2(p, TD_OP_LE, hi, c));
    }
    other = other ? op2(p, TD_OP_OR, other, x) : x;
  }
  return other;
}

/* The old kernel, which does nothing at the family's ids. */
static void leave_out(Peel *p) {
  TdRewrite *r = p->r;
  const TdStmt *body = p->kernel->body;
  uint32_t data = (uint32_t)td_stmt_preamble(body);
  if (!p->rest->ncoord) {
    TdSym *coord = TD_NEWN(r->store->arena, TdSym, p->run->rank);
    for (int d = 0; d < p->run->rank; d++)
      coord[d] = td_store_sym(r->store, td_util_name(r, p->kernel, NULL, "id"), TD_SYM_COORD);
    p->rest->coord = coord;
    p->rest->ncoord = p->run->rank;
  }
  const TdStmt *then = td_edit_slice(r->store, body, data, body->nkid);
  const TdStmt **list = TD_NEWN(r->arena, const TdStmt *, data + 1);
  for (uint32_t i = 0; i < data; i++) list[i] = body->kid[i];
  list[data] = td_stmt_if(r->store, is_left(p), then, NULL, body->loc);
  p->rest->body = td_stmt_with_kids(r->store, body, list, data + 1);
}

/* Whether an instance is one of the family. */
static bool is_in(const TdFamily *f, int rank, const int64_t *id) {
  for (int d = 0; d < rank; d++) {
    int64_t k = id[d] - f->base[d];
    if (d != f->axis ? k != 0 : k < 0 || k % f->step || k / f->step >= f->n) return false;
  }
  return true;
}

/* How many nodes of the run are not of the family. */
static int64_t nodes_left(const Peel *p) {
  int64_t n = -p->f->n;
  for (size_t i = 0; i < p->m.graph.node.n; i++)
    n += &p->m.design->run[p->m.graph.node.at[i].run] == p->run;
  return n;
}

/* Whether ids alone decide that the kernel does nothing at them. */
static bool is_idle(const Peel *p, const int64_t *id) {
  TdSubst sub = td_subst_new(p->r->store);
  for (int d = 0; d < p->run->rank; d++)
    td_subst_expr(&sub, p->kernel->coord[d], td_util_const(p->r, id[d]));
  const TdStmt *s = p->kernel->body;
  for (uint32_t at = (uint32_t)td_stmt_preamble(s); at + 1 == s->nkid; at = 0) {
    const TdStmt *x = s->kid[at];
    const TdExpr *c = x->kind == TD_STMT_IF ? td_subst_in_expr(&sub, x->expr[0]) : NULL;
    if (!c || c->kind != TD_EXPR_LIT) return false;
    uint32_t arm = c->u.bits ? 0 : 1;
    if (arm >= x->nkid || !x->kid[arm]->nkid) return true;
    s = x->kid[arm];
  }
  return false;
}

static bool assume_size(void *peel, const TdExpr *e) {
  Peel *p = peel;
  if (e->kind == TD_EXPR_SIZE) td_mapping_block(&p->m, p->m.design, e, p->design);
  return true;
}

/* Assumes the sizes of a task that goes if they decide that the instances left of it do nothing. */
static void assume_idle(Peel *p) {
  int64_t id[TD_MAX_RANK] = {0}, extent[TD_MAX_RANK] = {0};
  if (!p->kernel->ncoord || nodes_left(p) > 0) return;
  for (int d = 0; d < p->run->rank; d++) td_unit_value(p->m.design, p->run->map[d], &extent[d]);
  for (int d = 0; d >= 0;) {
    td_ctx_tick(p->r->session->ctx, 1);
    if (!is_in(p->f, p->run->rank, id) && !is_idle(p, id)) {
      td_walk_exprs(p->r->session->ctx, p->kernel->body, assume_size, p);
      return;
    }
    for (d = p->run->rank - 1; d >= 0 && ++id[d] >= extent[d]; d--) id[d] = 0;
  }
}

/* The runs with the new one behind the old, which goes when nothing is left of it. */
static void set_runs(Peel *p) {
  const TdUnit *d = p->m.design;
  TdRun *run = TD_NEWN(p->r->store->arena, TdRun, d->nrun + 1);
  size_t n = 0;
  for (size_t i = 0; i < d->nrun; i++) {
    bool here = &d->run[i] == p->run;
    if (!here || nodes_left(p) > 0) run[n++] = d->run[i];
    if (here) run[n++] = p->to;
  }
  p->design->run = run;
  p->design->nrun = n;
}

/* Whether each instance of the family does something: one that is a task of its own already does
 * not. */
static bool check_nodes(const Peel *p) {
  int64_t id[TD_MAX_RANK];
  for (int d = 0; d < p->run->rank; d++) id[d] = p->f->base[d];
  for (int64_t i = 0; i < p->f->n; i++) {
    if (p->f->axis >= 0) id[p->f->axis] = p->f->base[p->f->axis] + i * p->f->step;
    if (td_mapping_node(&p->m, p->run, id) != TD_TRAFFIC_NONE) continue;
    td_util_refuse(p->r, TD_USAGE, "instance", p->run->loc,
                   "an instance of '%s' that is named here does nothing", p->run->sym->name);
    return false;
  }
  return true;
}

/* Assumes that there are as many instances as now: which of them exist is no longer open. */
static void assume_extents(Peel *p) {
  for (int d = 0; d < p->run->rank; d++)
    td_mapping_block(&p->m, p->m.design, p->run->map[d], p->design);
}

const char *td_split_instances_peel(TdRewrite *r, const TdFamily *f) {
  Peel p = {.r = r, .f = f, .sub = td_subst_new(r->store)};
  p.run = td_mapping_open(r, f->task, &p.m);
  if (!p.run || p.run->rank == 0) return p.run ? f->task : NULL;
  p.kernel = td_mapping_kernel(&p.m, p.run);
  if (!p.kernel || !check_nodes(&p)) return NULL;
  p.unit = td_unit_copy(r->store, p.kernel);
  p.rest = td_unit_copy(r->store, p.kernel);
  p.design = td_unit_copy(r->store, p.m.design);
  p.to = *p.run;
  const char *name = new_name(&p);
  p.unit->sym = td_store_sym(r->store, name, TD_SYM_UNIT);
  p.unit->uid = td_store_uid(r->store);
  p.to.sym = td_store_sym(r->store, name, TD_SYM_RUN);
  p.to.uid = td_store_uid(r->store);
  p.to.unit = p.unit->sym;
  assume_extents(&p);
  set_ids(&p);
  if (!bind_params(&p)) return NULL;
  p.unit->body = decided(&p, td_walk_copy(r->store, unguarded(&p), &p.sub));
  td_mapping_join_sizes(&p.m, p.unit);
  assume_idle(&p);
  leave_out(&p);
  set_runs(&p);
  const TdUnit *kernel[] = {td_lift_tidy(r, p.unit), p.rest};
  r->prog = td_mapping_put(&p.m, p.design, kernel, 2);
  r->naming = (TdNaming){0};
  return name;
}

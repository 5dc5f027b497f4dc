/* form.c - reads a design in NPU form: its streams, its instances, their roles and places. */
#include "backends/npu/form.h"

static bool add_stream(TdNpuForm *f, const TdStream *s) {
  TdSession *ss = f->prog->store->session;
  int64_t n = 1, extent[TD_MAX_RANK], depth = 0;
  if (!s->type->block || s->type->elem->kind != TD_T_TENSOR) {
    td_diag_set(f->diag, TD_UNSUPPORTED, "npu-form", s->loc,
                "'%s' is no stream of blocks, which alone objectFIFOs hold", s->sym->name);
    td_diag_help(f->diag, "d:stream(T[n], {.., block = true})");
    return false;
  }
  const TdType *t = td_unit_type(ss, f->design, s->type->elem);
  TdNpuChan c = {.sym = s->sym, .loc = s->loc, .type = t, .from = TD_NPU_NONE, .to = TD_NPU_NONE};
  bool known = t && td_type_count(t, &c.count) && td_unit_value(f->design, s->depth, &depth);
  for (int d = 0; known && d < s->type->rank; d++) {
    known = td_unit_value(f->design, s->type->dim[d], &extent[d]);
    n *= extent[d];
  }
  if (!known)
    return td_diag_set(f->diag, TD_UNSUPPORTED, "npu-size", s->loc, "'%s' has sizes without values",
                       s->sym->name);
  for (c.ordinal = 0; c.ordinal < n; c.ordinal++) {
    TdText name = td_text_new(f->arena);
    int64_t rest = c.ordinal, at[TD_MAX_RANK];
    for (int d = s->type->rank; d-- > 0; rest /= extent[d]) at[d] = rest % extent[d];
    td_text_puts(&name, s->sym->name);
    for (int d = 0; d < s->type->rank; d++) td_text_putf(&name, "_%lld", (long long)at[d]);
    c.name = td_text_str(&name);
    c.depth = depth;
    td_vec_push(f->arena, &f->chan, c);
  }
  return true;
}

/* The tile of an instance, by the mark of its run. */
static void place(TdNpuInst *x) {
  const TdAttr *p = td_attrs_get(x->run->attrs, TD_ATTR_PLACE);
  const TdAttrInts *step = p ? p->arg[2].ints : NULL;
  x->role = td_attrs_get(x->run->attrs, TD_ATTR_HOST) ? TD_NPU_HOST : TD_NPU_CORE;
  if (!p) return;
  x->placed = true;
  x->col = p->arg[0].i;
  x->row = p->arg[1].i;
  for (int d = 0; d < x->run->rank && step && 2 * (size_t)d + 1 < step->n; d++) {
    x->col += x->id[d] * step->at[2 * d];
    x->row += x->id[d] * step->at[2 * d + 1];
  }
  if (x->role == TD_NPU_CORE && x->row == 1) x->role = TD_NPU_MEM;
}

/* Makes scalar arguments of a core words in its memory; false with the diagnostic filled where one
 * is wider. */
static bool add_scalars(TdNpuForm *f, TdNpuInst *x, TdSubst *sub) {
  TdSession *ss = f->prog->store->session;
  for (size_t i = 0; i < x->run->nbind; i++) {
    const TdRunArg *b = &x->run->bind[i];
    const TdParam *p = td_unit_param(x->kernel, b->param);
    if (!p || !td_type_is_scalar(p->type)) continue;
    int64_t n = 4 / (int64_t)td_type_bytes(p->type), zero = 0;
    if (n < 1) {
      td_diag_set(f->diag, TD_UNSUPPORTED, "npu-scalar", x->run->loc,
                  "'%s' of %s is wider than a runtime parameter, 32 bits", b->arg->name, x->name);
      td_diag_help(f->diag, "make it a tensor of one element");
      return false;
    }
    TdNpuScalar s = {.sym = td_store_sym(f->store, b->param->name, TD_SYM_LOCAL)};
    s.param = (size_t)(td_unit_param(f->design, b->arg) - f->design->param);
    s.type = td_type_tensor_of(ss, p->type, 1, &n);
    const TdExpr *at = td_expr_index(ss, f->store->arena, zero, x->run->loc);
    td_subst_expr(sub, b->param,
                  td_expr_load(f->store->arena, s.sym, p->type, &at, 1, x->run->loc));
    td_vec_push(f->arena, &x->scalar, s);
  }
  return true;
}

/* The body of an instance, its sizes and ids numbers; NULL with the diagnostic filled. */
static const TdStmt *body_of(TdNpuForm *f, TdNpuInst *x) {
  TdSession *ss = f->prog->store->session;
  TdSubst sub = td_subst_new(f->store);
  const TdUnit *k = x->kernel;
  for (size_t i = 0; i < k->nsize; i++)
    if (k->size[i].known)
      td_subst_size(&sub, k->size[i].name,
                    td_expr_index(ss, f->store->arena, k->size[i].value, k->loc));
  for (size_t d = 0; d < k->ncoord; d++)
    td_subst_expr(&sub, k->coord[d], td_expr_index(ss, f->store->arena, x->id[d], k->loc));
  if (x->role == TD_NPU_CORE && !add_scalars(f, x, &sub)) return NULL;
  return td_subst_in_stmt(&sub, k->body);
}

/* The first argument of a run that is a tensor, or NULL. */
static const TdRunArg *tensor_of(const TdNpuInst *x) {
  for (size_t i = 0; i < x->run->nbind; i++)
    if (x->role == TD_NPU_MEM ||
        !td_type_is_scalar(td_unit_param(x->kernel, x->run->bind[i].param)->type))
      return &x->run->bind[i];
  return NULL;
}

static bool add_run(TdNpuForm *f, const TdRun *run) {
  TdNpuInst x = {.run = run, .kernel = td_prog_unit(f->prog, run->unit)};
  int64_t n = 1, extent[TD_MAX_RANK];
  if (x.kernel->kind != TD_UNIT_KERNEL)
    return td_diag_set(f->diag, TD_UNSUPPORTED, "npu-form", run->loc,
                       "the task '%s' is a design: a tile runs a kernel", run->sym->name);
  for (int d = 0; d < run->rank; d++) {
    if (!td_unit_value(f->design, run->map[d], &extent[d]))
      return td_diag_set(f->diag, TD_UNSUPPORTED, "npu-size", run->loc,
                         "the map of '%s' has sizes without values", run->sym->name);
    n *= extent[d];
  }
  for (int64_t i = 0; i < n; i++) {
    TdText name = td_text_new(f->arena);
    int64_t rest = i;
    for (int d = run->rank; d-- > 0; rest /= extent[d]) x.id[d] = rest % extent[d];
    td_text_puts(&name, run->sym->name);
    for (int d = 0; d < run->rank; d++) td_text_putf(&name, "[%lld]", (long long)x.id[d]);
    x.name = td_text_str(&name);
    place(&x);
    x.scalar.n = x.scalar.cap = 0;
    x.scalar.at = NULL;
    x.body = body_of(f, &x);
    if (!x.body) return false;
    if (x.role != TD_NPU_HOST && tensor_of(&x)) {
      td_diag_set(f->diag, TD_UNSUPPORTED, "npu-form", run->loc,
                  "'%s' touches the argument '%s', which only tasks on the host do", x.name,
                  tensor_of(&x)->arg->name);
      td_diag_help(f->diag, "isolate makes its copies tasks of their own");
      return false;
    }
    td_vec_push(f->arena, &f->inst, x);
  }
  return true;
}

/* Whether each stream has two ends that move the same number of blocks. */
static bool check_ends(const TdNpuForm *f) {
  for (size_t i = 0; i < f->chan.n; i++) {
    const TdNpuChan *c = &f->chan.at[i];
    if (c->puts == c->gets) continue;
    return td_diag_set(f->diag, TD_ILLEGAL, "npu-form", c->loc, "%s: %lld blocks put, %lld got",
                       c->name, (long long)c->puts, (long long)c->gets);
  }
  return true;
}

TdNpuForm *td_npu_form_of(TdArena *a, const TdProg *p, const TdDevice *device, TdDiag *d) {
  const TdUnit *root = td_prog_root(p);
  TdNpuForm *f = TD_NEW(a, TdNpuForm);
  *f = (TdNpuForm){.arena = a,
                   .store = td_store_inner(a, p->store->session),
                   .prog = p,
                   .design = root,
                   .diag = d};
  if (root->kind != TD_UNIT_DESIGN) {
    td_diag_set(d, TD_UNSUPPORTED, "npu-form", root->loc, "'%s' is a kernel, not a design of tasks",
                root->sym->name);
    td_diag_help(d, "`unfold` and `dataflow` make tasks");
    return NULL;
  }
  for (size_t i = 0; i < root->nstream; i++)
    if (!add_stream(f, &root->stream[i])) return NULL;
  for (size_t i = 0; i < root->nrun; i++)
    if (!add_run(f, &root->run[i])) return NULL;
  if (!td_npu_place_check(f, device)) return NULL;
  for (uint32_t i = 0; i < f->inst.n; i++)
    if (!td_npu_walk(f, i)) return NULL;
  return check_ends(f) ? f : NULL;
}

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

/* The body of an instance, its sizes and ids numbers. */
static const TdStmt *body_of(TdNpuForm *f, const TdNpuInst *x) {
  TdSession *ss = f->prog->store->session;
  TdSubst sub = td_subst_new(f->store);
  const TdUnit *k = x->kernel;
  for (size_t i = 0; i < k->nsize; i++)
    if (k->size[i].known)
      td_subst_size(&sub, k->size[i].name,
                    td_expr_index(ss, f->store->arena, k->size[i].value, k->loc));
  for (size_t d = 0; d < k->ncoord; d++)
    td_subst_expr(&sub, k->coord[d], td_expr_index(ss, f->store->arena, x->id[d], k->loc));
  return td_subst_in_stmt(&sub, k->body);
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
    x.body = body_of(f, &x);
    if (x.role != TD_NPU_HOST && run->nbind) {
      td_diag_set(f->diag, TD_UNSUPPORTED, "npu-form", run->loc,
                  "'%s' touches the argument '%s', which only tasks on the host do", x.name,
                  run->bind[0].arg->name);
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

TdNpuForm *td_npu_form_of(TdArena *a, const TdProg *p, TdDiag *d) {
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
  for (uint32_t i = 0; i < f->inst.n; i++)
    if (!td_npu_walk(f, i)) return NULL;
  return check_ends(f) ? f : NULL;
}

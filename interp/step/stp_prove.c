/* stp_prove.c - functions on tiles as programs, compared by the verdict of tide.verify. */
#include <string.h>

#include "ir/at.h"
#include "step/stp_prove.h"

/* The types of the kernel's parameters at node n: those of its result and of the parts that come,
 * where they are constant; NULL: they are not. one_row: only one of the rows of the result is
 * valid; NULL too: their number is no size of the kernel, or is 1. */
static const TdType **types_of(TdArena *a, const TdStpGraph *g, const TdStpNode *n,
                               const TdStpFn *f, bool one_row) {
  const TdStpType *in = td_stp_graph_stream(g, n->in[0])->type, *out = n->out[0].type;
  bool tuple = in->kind == TD_STP_TUPLE;
  size_t first = n->op == TD_STP_ACCUM || n->op == TD_STP_SCAN, count = td_stp_kernel_reads(f) + 1;
  const TdType **type = TD_NEWN(a, const TdType *, count);
  TdStpSizes sizes = {0};
  int rows = td_stp_kernel_size(f, td_stp_kernel_result(f), 0, &sizes);
  int64_t extent[2];
  if (one_row && (rows < 0 || (td_stp_expr_is_const(out->rows, &extent[0]) && extent[0] == 1)))
    return NULL;
  for (size_t i = 0, k = 0; i < count; i++) {
    bool result = (int)i == f->result || (first && k < first);
    const TdStpType *t = result ? out : tuple ? in->part[k - first] : in;
    const TdParam *x = (int)i == f->result ? td_stp_kernel_result(f) : td_stp_kernel_read(f, k++);
    if (!td_stp_expr_is_const(t->rows, &extent[0]) || !td_stp_expr_is_const(t->cols, &extent[1]))
      return NULL;
    for (int q = 0; one_row && q < 2; q++)
      if (td_stp_kernel_size(f, x, q, &sizes) == rows) extent[q] = 1;
    type[i] = td_type_tensor_of(g->session, t->elem, 2, extent);
  }
  return type;
}

/* Compares the program of a function with a kernel at the types of a call; NULL: at all sizes. */
static bool same_at(const TdStpProver *p, TdArena *a, const TdProg *const prog[2],
                    const TdType *const *type, bool sums, const char **why, TdDiag *d) {
  const TdProg *at[2] = {prog[0], prog[1]};
  size_t count = td_prog_root(prog[1])->nparam;
  for (int i = 0; type && i < 2; i++) {
    at[i] = td_at_arguments(prog[i], type, count, d);
    if (!at[i]) {
      *why = d->message;
      return false;
    }
  }
  return p->same(p->ud, a, at[0], at[1], sums, why);
}

bool td_stp_prove_same(const TdStpProver *p, TdArena *a, const TdStpGraph *g, const TdStpNode *n,
                       const TdStpFn *f, const TdStpFn *kernel, bool sums, TdDiag *d) {
  const TdProg *old = p->meaning(p->ud, f, n->out[0].type->elem);
  const char *name = td_stp_graph_name(a, n), *why = NULL;
  if (!old)
    return td_diag_set(d, TD_ILLEGAL, "step-replace", n->loc,
                       "%s of '%s' is no function of the elements of tiles", f->name, name);
  size_t count = td_stp_kernel_reads(kernel) + 1;
  if (td_prog_root(old)->nparam != count)
    return td_diag_set(d, TD_ILLEGAL, "step-replace", n->loc, "%s has %zu parameters, and %s %zu",
                       kernel->name, count, f->name, td_prog_root(old)->nparam);
  const TdProg *both[2] = {old, kernel->prog};
  const TdType **whole = types_of(a, g, n, kernel, false);
  const TdType **row = types_of(a, g, n, kernel, true);
  if (same_at(p, a, both, whole, sums, &why, d) &&
      (!row || same_at(p, a, both, row, sums, &why, d)))
    return true;
  td_diag_set(d, TD_ILLEGAL, "step-replace", n->loc, "%s is not %s of '%s': %s", kernel->name,
              f->name, name, why);
  if (!sums) td_diag_help(d, "{reassociate = true} allows sums in another order");
  return false;
}

/* ---- kernels of two graphs ---- */

typedef TD_VEC(const TdStpFn *) Functions;

typedef struct Settle {
  const TdStpProver *p;
  TdArena *a;
  TdStpGraph *const *side;
  bool sums;
} Settle;

static bool computes(const TdStpNode *n) {
  return (n->op == TD_STP_MAP || n->op == TD_STP_ACCUM || n->op == TD_STP_MAP_ACCUM ||
          n->op == TD_STP_SCAN) &&
         n->out[0].type->kind == TD_STP_TILE;
}

static bool same_function(const TdStpFn *x, const TdStpFn *y) {
  return x->kind == y->kind && x->prog == y->prog && x->n == y->n;
}

static void add_function(TdArena *a, Functions *all, const TdStpFn *f) {
  for (size_t i = 0; i < all->n; i++)
    if (same_function(all->at[i], f)) return;
  td_vec_push(a, all, f);
}

/* Functions of both graphs, those of step.fn before kernels. */
static Functions functions_of(const Settle *s) {
  Functions all = {0};
  for (int kernels = 0; kernels < 2; kernels++)
    for (int k = 0; k < 2; k++)
      for (size_t i = 0; i < s->side[k]->node.n; i++) {
        const TdStpNode *n = s->side[k]->node.at[i];
        if (computes(n) && (n->fn.kind == TD_STP_FN_KERNEL) == kernels)
          add_function(s->a, &all, &n->fn);
      }
  return all;
}

/* Whether a kernel does what f does, wherever it stands. */
static bool does(Settle *s, const TdStpFn *kernel, const TdStpFn *f) {
  bool sums = false;
  for (int k = 0; k < 2; k++)
    for (size_t i = 0; i < s->side[k]->node.n; i++) {
      const TdStpNode *n = s->side[k]->node.at[i];
      if (!computes(n) || !same_function(&n->fn, kernel)) continue;
      TdDiag d = {.arena = s->a};
      if (td_stp_prove_same(s->p, s->a, s->side[k], n, f, kernel, false, &d)) continue;
      if (!td_stp_prove_same(s->p, s->a, s->side[k], n, f, kernel, true, &d)) return false;
      sums = true;
    }
  s->sums |= sums;
  return true;
}

/* The graph with f in the place of a kernel; what does not change is shared. */
static TdStpGraph *put_function(TdArena *a, const TdStpGraph *g, const TdStpFn *kernel,
                                const TdStpFn *f) {
  TdStpGraph *own = td_arena_copy(a, g, sizeof *g);
  own->arena = a;
  own->work = (TdMap){0};
  memset(&own->node, 0, sizeof own->node);
  memset(&own->by_uid, 0, sizeof own->by_uid);
  for (size_t i = 0; i < g->by_uid.n; i++) {
    const TdStpNode *n = g->by_uid.at[i];
    if (computes(n) && same_function(&n->fn, kernel)) {
      TdStpNode *changed = td_arena_copy(a, n, sizeof *n);
      changed->fn = *f;
      n = changed;
    }
    td_vec_push(a, &own->by_uid, n);
  }
  for (size_t i = 0; i < g->node.n; i++)
    td_vec_push(a, &own->node, own->by_uid.at[g->node.at[i]->uid]);
  return own;
}

bool td_stp_prove_settle(const TdStpProver *p, TdArena *a, TdStpGraph *side[2], bool *sums) {
  Settle s = {p, a, side, false};
  Functions all = functions_of(&s);
  bool some = false;
  for (size_t i = 0; i < all.n; i++) {
    if (all.at[i]->kind != TD_STP_FN_KERNEL) continue;
    const TdStpFn *f = NULL;
    for (size_t k = 0; k < i && !f; k++)
      if (does(&s, all.at[i], all.at[k])) f = all.at[k];
    if (!f) continue;
    for (int k = 0; k < 2; k++) side[k] = put_function(a, side[k], all.at[i], f);
    some = true;
  }
  *sums = s.sums;
  return some;
}

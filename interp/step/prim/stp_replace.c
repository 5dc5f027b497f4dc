/* stp_replace.c - replace: another program as the function of a node, proved to be the same. */
#include "step/stp_rewrite.h"

enum { NODE, PROGRAM, REASSOCIATE };

/* The types of the program's parameters at node n: those of its result and of the parts that come,
 * where they are constant; NULL: they are not. */
static const TdType **types_of(TdStpRewrite *r, const TdStpNode *n, const TdStpFn *f) {
  const TdStpType *in = td_stp_graph_stream(r->g, n->in[0])->type, *out = n->out[0].type;
  bool tuple = in->kind == TD_STP_TUPLE;
  size_t first = n->op == TD_STP_ACCUM || n->op == TD_STP_SCAN, count = td_stp_kernel_reads(f) + 1;
  const TdType **type = TD_NEWN(r->arena, const TdType *, count);
  for (size_t i = 0, k = 0; i < count; i++) {
    bool result = (int)i == f->result || (first && k < first);
    const TdStpType *t = result ? out : tuple ? in->part[k - first] : in;
    if ((int)i != f->result) k++;
    int64_t extent[2];
    if (!td_stp_expr_is_const(t->rows, &extent[0]) || !td_stp_expr_is_const(t->cols, &extent[1]))
      return NULL;
    type[i] = td_type_tensor_of(r->g->session, t->elem, 2, extent);
  }
  return type;
}

/* Whether new does what the node's function does, on the tiles that come. */
static bool check_same(TdStpRewrite *r, const TdStpNode *n, const TdStpFn *new) {
  const TdStpTools *t = r->tools;
  const TdProg *old = t->meaning(t->ud, &n->fn, n->out[0].type->elem), *own = new->prog;
  if (!old)
    return td_stp_rewrite_refuse(r, TD_ILLEGAL, "step-replace", n->loc,
                                 "%s of '%s' is no function of the elements of tiles", n->fn.name,
                                 td_stp_rewrite_name(r, n));
  const TdType **type = types_of(r, n, new);
  size_t count = td_stp_kernel_reads(new) + 1;
  if (td_prog_root(old)->nparam != count)
    return td_stp_rewrite_refuse(r, TD_ILLEGAL, "step-replace", n->loc,
                                 "%s has %zu parameters, and %s %zu", new->name, count, n->fn.name,
                                 td_prog_root(old)->nparam);
  if (type) {
    old = td_at_arguments(old, type, count, r->diag);
    own = old ? td_at_arguments(own, type, count, r->diag) : NULL;
    if (!own) return false;
  }
  const char *why = NULL;
  bool sums = r->arg[REASSOCIATE].integer != 0;
  if (t->same(t->ud, r->arena, old, own, sums, &why)) return true;
  td_stp_rewrite_refuse(r, TD_ILLEGAL, "step-replace", n->loc, "%s is not %s of '%s': %s",
                        new->name, n->fn.name, td_stp_rewrite_name(r, n), why);
  if (!sums) td_diag_help(r->diag, "{reassociate = true} allows sums in another order");
  return false;
}

static bool replace(TdStpRewrite *r, TdStpEdit *e, const TdStpNode *n) {
  TdStpFn f = {0};
  if (!n->fn.name || n->op == TD_STP_FLAT_MAP)
    return td_stp_rewrite_refuse(r, TD_ILLEGAL, "step-replace", n->loc,
                                 "'%s' is no map, accum, map_accum or scan",
                                 td_stp_rewrite_name(r, n));
  if (!r->tools->function(r->tools->ud, r->arg[PROGRAM].prog, &f, r->diag)) return false;
  if (!check_same(r, n, &f)) return false;
  td_stp_edit_node(e, n->uid)->fn = f;
  return true;
}

static const TdStpGraph *rewire(TdStpRewrite *r) {
  return td_stp_edit_each(r, r->arg[NODE].text, replace);
}

const TdPrim td_stp_prim_replace = {
    .name = "replace",
    .on = "graph",
    .summary = "Make another program the function of a node, or of a family of nodes.",
    .args = {{"node", TD_ARG_FAMILY, TD_ARG_NEEDED, "the node, or all of a name", NULL},
             {"program", TD_ARG_KERNEL, TD_ARG_NEEDED,
              "a kernel or design, with the parameters of the function in its order", NULL},
             {"reassociate", TD_ARG_FLAG, TD_ARG_OPTION, "allows sums in another order", NULL}},
    .rewrite = "x:map(f)  =>  x:map(g)",
    .legal = "where the program is proved to compute what the function does",
    .errors = "step-replace step-function step-name",
    .example = "s:replace(\"act\", relu)",
    .rewire = rewire,
};

/* reference.c - a program as one expression for each element that it leaves: the evaluator runs on
 * values that are wires. It knows nothing of a schedule. */
#include "backends/verilog/tool/prove.h"
#include "backends/verilog/vop.h"
#include "eval/eval.h"

typedef struct Reference {
  TdArena *arena;
  TdVlModule *m;
  const TdUnit *unit;
  TdVlSig **in;   /* of each parameter */
  const char *no; /* an operator that has no text; or NULL */
} Reference;

static TdValue symbol(Reference *r, const TdVl *x) {
  const TdVl *kept = x->kind == TD_VL_CONST ? x : td_vtree_sig(r->m, td_vtree_named(r->m, "v", x));
  return (TdValue){(uint64_t)(uintptr_t)kept, TD_VALUE_SYMBOLIC};
}

/* A value of type t as an expression. */
static const TdVl *wire(Reference *r, const TdType *t, TdValue v) {
  if (td_value_is_symbolic(v)) return (const TdVl *)(uintptr_t)v.lo;
  uint64_t bits = td_value_is_concrete(v) && !td_value_is_wide(v) ? td_num_word(t, v.lo) : 0;
  if (td_value_is_wide(v)) r->no = "words beyond 64 bits";
  return td_vtree_const(r->m, t->w, bits);
}

static TdValue input(void *self, unsigned param, int64_t element, const TdType *t) {
  Reference *r = self;
  const TdVl *all = td_vtree_sig(r->m, r->in[param]);
  return symbol(r, td_vtree_slice(r->m, all, (int)element * t->w, t->w));
}

static TdValue lift(void *self, const TdType *t, TdValue v) {
  return symbol(self, wire(self, t, v));
}

static TdValue apply(void *self, const TdApply *x) {
  Reference *r = self;
  TdVlNum of[4], out;
  for (int i = 0; i < x->n && i < 4; i++) of[i] = td_vop_num(wire(r, x->of[i], x->v[i]), x->of[i]);
  out = x->op == TD_APPLY_CAST ? td_vop_cast(r->m, x->type, of[0])
                               : td_vop_apply(r->m, (TdOp)x->op, x->type, x->type->w, of);
  if (!out.e) r->no = x->op == TD_APPLY_CAST ? "a cast" : td_ops[x->op].lua;
  if (!out.e) out.e = td_vtree_const(r->m, x->type->w, 0);
  return symbol(r, td_vtree_fit(r->m, out.e, x->type->w, out.is_signed));
}

static const TdDomain domain = {"wires", input, lift, apply};

/* All elements of parameter i at the end. */
static void put_last(Reference *r, const TdParam *p, const TdType *t, const TdValue *cell) {
  int64_t n = 1;
  td_type_count(t, &n);
  const TdType *e = td_type_scalar(t);
  const TdVl *all = NULL;
  for (int64_t k = 0; k < n; k++) {
    const TdVl *x = wire(r, e, cell[k]);
    all = all ? td_vtree_cat(r->m, x, all) : x;
  }
  const char *name = td_text_fmt(r->arena, "%s_last", p->sym->name);
  td_vtree_assign(r->m, td_vtree_output(r->m, name, (int)n * e->w), all);
}

const char *td_reference_module(TdArena *a, const TdProg *p, TdDiag *d) {
  const TdUnit *u = td_prog_root(p);
  Reference r = {.arena = a, .m = td_vtree_module(a, "tide_reference"), .unit = u};
  const TdEvalOptions o = {.steps = 1 << 20, .bytes = 1 << 28};
  const TdValue **cell = TD_NEWN(a, const TdValue *, u->nparam + 1);
  const TdType **type = TD_NEWN(a, const TdType *, u->nparam + 1);
  r.in = TD_NEWN(a, TdVlSig *, u->nparam + 1);
  for (size_t i = 0; i < u->nparam; i++) {
    int64_t n = 1;
    type[i] = td_unit_type(p->store->session, u, u->param[i].type);
    td_type_count(type[i], &n);
    if (n * td_type_scalar(type[i])->w > 1 << 15) {
      td_diag_set(d, TD_LIMIT, "limit", u->param[i].loc, "'%s' has too many bits for a proof",
                  u->param[i].sym->name);
      return NULL;
    }
    r.in[i] = td_vtree_input(r.m, u->param[i].sym->name, (int)n * td_type_scalar(type[i])->w);
  }
  if (!td_eval_through(a, p, &domain, &r, &o, cell, d)) return NULL;
  for (size_t i = 0; i < u->nparam; i++)
    if (cell[i]) put_last(&r, &u->param[i], type[i], cell[i]);
  if (r.no) {
    td_diag_set(d, TD_UNSUPPORTED, "not-built", u->loc, "no text for %s", r.no);
    return NULL;
  }
  TdText text = td_text_new(a);
  td_vprint_module(&text, r.m);
  return td_text_str(&text);
}

/* fold_storage.c - fold_storage: an array of elements that die where they are made becomes the
 * window of those that live at a time (successive modulo folding, a dimension after the other,
 * outermost first). */
#include "analysis/order/lifetime.h"
#include "rewrite/array/local.h"

enum { ARRAY };
/* A window of an extent without a value is not looked for beyond. */
enum { MOST_WINDOW = 64 };

typedef struct Folding {
  TdLocalArray l;
  const TdStmt *scope; /* from the declaration to the end of its block */
  TdFold fold;
  bool small[TD_MAX_RANK]; /* all indices are below the modulus as they are */
  TdVerdict why;           /* why the first dimension that stays does */
} Folding;

/* The block that the declaration stands in, from it on. */
static void find_scope(Folding *f) {
  TdRewrite *r = f->l.r;
  TdPath p = td_edit_path(r->arena, f->l.unit->body, f->l.decl->uid);
  const TdStmt *block = p.at[p.n - 2];
  size_t at = 0;
  while (block->kid[at] != p.at[p.n - 1]) at++;
  f->scope = td_edit_slice(r->store, block, at, block->nkid);
}

/* Whether elements `window` apart in dimension d can share a place. */
static bool fits(Folding *f, int d, int64_t window) {
  TdAsk q = td_util_ask(f->l.r, f->l.unit);
  TdVerdict v = td_lifetime_apart(&q, f->scope, f->l.sym, f->l.type, &f->fold, d, window);
  if (v.kind != TD_VERDICT_LEGAL && f->why.kind == TD_VERDICT_LEGAL) f->why = v;
  return v.kind == TD_VERDICT_LEGAL;
}

/* The least window of dimension d, or 0 if that is the whole dimension. */
static int64_t window_of(Folding *f, int d) {
  int64_t extent, no = 0, yes = 1;
  bool known = td_unit_value(f->l.unit, f->l.type->dim[d], &extent);
  int64_t most = known ? extent - 1 : MOST_WINDOW;
  if (most < 1) return fits(f, d, 1) ? 1 : 0;
  if (known && !fits(f, d, most)) return 0;
  while (!fits(f, d, yes)) {
    no = yes;
    if (yes >= most) return 0;
    yes = 2 * yes < most ? 2 * yes : most;
  }
  while (yes - no > 1) {
    int64_t middle = no + (yes - no) / 2;
    *(fits(f, d, middle) ? &yes : &no) = middle;
  }
  return yes;
}

/* Decides the moduli; false with the reason where no dimension folds. */
static bool find_fold(Folding *f) {
  TdRewrite *r = f->l.r;
  bool any = false;
  f->fold.rank = f->l.type->rank;
  for (int d = 0; d < f->fold.rank; d++) {
    f->fold.modulus[d] = window_of(f, d);
    any |= f->fold.modulus[d] != 0;
  }
  if (any) return true;
  const char *name = f->l.sym->name;
  if (f->why.kind == TD_VERDICT_UNKNOWN) {
    td_util_refuse(r, TD_ILLEGAL, "not-decided", f->l.decl->loc, "folding '%s' is not proved: %s",
                   name, f->why.why);
    return false;
  }
  td_util_refuse(r, TD_ILLEGAL, "alive", f->l.decl->loc,
                 "no dimension of '%s' folds: the first and the last element hold values at the "
                 "same time",
                 name);
  td_diag_witness(r->diag, f->why.witness);
  td_diag_help(r->diag, "fuse the loops that make and use it, so that elements die where they are "
                        "made");
  return false;
}

/* Notes the dimensions whose indices need no remainder. */
static void find_small(Folding *f) {
  TdAsk q = td_util_ask(f->l.r, f->l.unit);
  TdFootprint p;
  if (!td_footprint_of(&q, f->scope, f->l.sym, f->l.type, &p)) return;
  for (int d = 0; d < f->fold.rank; d++) {
    int64_t lo, extent;
    f->small[d] = td_expr_is_const(p.box.lo[d], &lo) && lo == 0 &&
                  td_expr_is_const(p.box.extent[d], &extent) && extent <= f->fold.modulus[d];
  }
}

/* Whether dimension d is in the new array. */
static bool is_kept(const Folding *f, int d) {
  return f->fold.modulus[d] != 1;
}

static const TdExpr *fold_access(void *ud, const TdExpr *e) {
  const Folding *f = ud;
  TdRewrite *r = f->l.r;
  const TdExpr *index[TD_MAX_RANK];
  int n = 0;
  if (e->kind != TD_EXPR_LOAD || e->sym != f->l.sym) return e;
  for (int d = 0; d < f->fold.rank; d++) {
    int64_t m = f->fold.modulus[d];
    if (!is_kept(f, d)) continue;
    bool as_it_is = m == 0 || f->small[d];
    index[n++] = as_it_is ? e->kid[d] : td_lin_mod(r->session, r->store->arena, e->kid[d], m);
  }
  return td_expr_load(r->store->arena, e->sym, e->type, index, n, e->loc);
}

/* The type with the dimensions that are kept. */
static const TdType *folded_type(const Folding *f) {
  TdRewrite *r = f->l.r;
  const TdExpr *dim[TD_MAX_RANK];
  int n = 0;
  for (int d = 0; d < f->fold.rank; d++)
    if (is_kept(f, d))
      dim[n++] = f->fold.modulus[d] ? td_util_const(r, f->fold.modulus[d]) : f->l.type->dim[d];
  const TdType *scalar = td_type_scalar(f->l.type);
  return n ? td_type_tensor(r->session, scalar, n, dim) : scalar;
}

/* The array's attributes: a partition stays with a dimension that stays whole. */
static TdAttrs folded_attrs(const Folding *f) {
  TdAttrs now = {0}, was = f->l.decl->attrs;
  bool any = false;
  for (int d = 0; d < f->fold.rank; d++) any |= is_kept(f, d);
  for (size_t i = 0; i < was.n; i++) {
    TdAttr x = was.at[i];
    int d = (int)x.arg[0].i;
    bool stays =
        any && x.kind != TD_ATTR_ORDER && (x.kind != TD_ATTR_PARTITION || f->fold.modulus[d] == 0);
    for (int k = 0; stays && x.kind == TD_ATTR_PARTITION && k < d; k++)
      x.arg[0].i -= !is_kept(f, k);
    if (stays)
      now = td_attrs_add(f->l.r->store->arena, now, x);
    else
      td_util_note(f->l.r, "'%s' loses its %s", f->l.sym->name, td_attrs[x.kind].name);
  }
  return now;
}

static const TdProg *apply(TdRewrite *r) {
  Folding f = {.fold = {0}};
  if (!td_local_find(&f.l, r, ARRAY)) return NULL;
  find_scope(&f);
  if (!find_fold(&f)) return NULL;
  find_small(&f);
  unsigned folded = 0;
  for (int d = 0; d < f.fold.rank; d++) folded |= (unsigned)(f.fold.modulus[d] != 0) << d;
  td_local_note_range(&f.l, folded);
  const TdExpr *fill = f.l.decl->init == TD_INIT_FILL ? f.l.decl->expr[0] : NULL;
  return td_local_put(&f.l, folded_type(&f), fill, folded_attrs(&f), fold_access, &f);
}

const TdPrim td_prim_fold_storage = {
    .name = "fold_storage",
    .on = "array",
    .summary = "Keep only those elements of a local array that hold values at the same time.",
    .args = {{"array", TD_ARG_ARRAY, TD_ARG_NEEDED, "a local array", "local"}},
    .rewrite = "local T = t[n](); for i: T[i] = x; S(T[i])  =>  local T = t(); for i: T = x; S(T)  "
               "and T[i] = x; S(T[i], T[i-2])  =>  T[i%3] = x; S(T[i%3], T[(i-2)%3])",
    .legal = "no read finds what was written to another element of its place; the array is a local "
             "of which only elements are used",
    .errors = "not-an-array interface class whole elements alive not-decided",
    .example = "s:buffer_at(\"A\", \"j\"):fuse(\"k_init\", \"k\"):fold_storage(\"A_j\")",
    .apply = apply,
};

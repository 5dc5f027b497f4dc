/* reshape.c - reshape: other dimensions over the same elements in the same row-major order. */
#include "rewrite/array/local.h"

enum { ARRAY, EXTENTS };

/* Old dimensions [from, to) and new ones [nfrom, nto) that hold the same elements. */
typedef struct Group {
  int from, to, nfrom, nto;
} Group;

typedef struct Reshape {
  TdLocalArray l;
  int64_t was[TD_MAX_RANK], extent[TD_MAX_RANK]; /* old, new */
  int rank;                                      /* new */
  Group group[TD_MAX_RANK];
  int n;
  const TdType *type; /* new */
} Reshape;

static bool refuse(const Reshape *h, TdDiagKind kind, const char *code, const char *why) {
  td_util_refuse(h->l.r, kind, code, h->l.decl->loc, "'%s' %s", h->l.sym->name, why);
  return false;
}

/* The one dimension in [from, to) that has more than one element, or -1 if there are several. */
static int only(const int64_t *extent, int from, int to) {
  int found = from;
  for (int d = from; d < to; d++) {
    if (extent[d] == 1) continue;
    if (found != d && extent[found] != 1) return -1;
    found = d;
  }
  return found;
}

/* Whether a group is one dimension before and after, but for those of one element. */
static bool is_same(const Reshape *h, const Group *g) {
  return g->from < g->to && g->nfrom < g->nto && only(h->was, g->from, g->to) >= 0 &&
         only(h->extent, g->nfrom, g->nto) >= 0;
}

/* Reads both shapes; extents must be positive, and known. */
static bool read_extents(Reshape *h) {
  const TdArgValue *given = &h->l.r->arg[EXTENTS];
  if (given->n < 1 || given->n > TD_MAX_RANK)
    return refuse(h, TD_USAGE, "extents", "needs 1 to 8 extents");
  h->rank = (int)given->n;
  for (int d = 0; d < h->rank; d++) {
    h->extent[d] = given->ints[d];
    if (h->extent[d] < 1) return refuse(h, TD_USAGE, "extents", "needs extents of at least 1");
  }
  for (int d = 0; d < h->l.type->rank; d++)
    if (!td_unit_value(h->l.unit, h->l.type->dim[d], &h->was[d]))
      return refuse(h, TD_ILLEGAL, "extent-unknown",
                    td_text_fmt(h->l.r->arena, "has an extent without a value: %s",
                                td_print_expr_str(h->l.r->arena, h->l.type->dim[d])));
  return true;
}

/* Pairs the shortest runs of old and new dimensions that have as many elements. */
static bool find_groups(Reshape *h) {
  int i = 0, j = 0, rank = h->l.type->rank;
  while (i < rank || j < h->rank) {
    Group g = {.from = i, .nfrom = j};
    int64_t x = i < rank ? h->was[i++] : 1, y = j < h->rank ? h->extent[j++] : 1;
    while (x != y) {
      bool fits = x < y ? i < rank && td_sys_mul64(x, h->was[i++], &x)
                        : j < h->rank && td_sys_mul64(y, h->extent[j++], &y);
      if (!fits)
        return refuse(h, TD_ILLEGAL, "count", "would not have as many elements as it has now");
    }
    g.to = i;
    g.nto = j;
    h->group[h->n++] = g;
  }
  return true;
}

/* Assumes the value of the extent of old dimension d. */
static void assume_extent(Reshape *h, int d) {
  TdRewrite *r = h->l.r;
  const TdExpr *was = h->l.type->dim[d];
  int64_t fixed;
  if (td_expr_is_const(was, &fixed)) return;
  const TdExpr *value = td_util_const(r, h->was[d]);
  const TdExpr *fact = td_expr_op2(r->store->arena, TD_OP_EQ, td_type_bool(r->session), was, value);
  h->l.unit = td_util_assume(r, h->l.unit, fact);
  r->used_value = true;
}

/* The new type: dimensions that stay are written as they were, the others have their values. */
static bool find_type(Reshape *h) {
  TdRewrite *r = h->l.r;
  const TdExpr *dim[TD_MAX_RANK];
  for (int k = 0; k < h->n; k++) {
    const Group *g = &h->group[k];
    int stays = is_same(h, g) ? only(h->was, g->from, g->to) : -1;
    for (int d = g->nfrom; d < g->nto; d++) dim[d] = td_util_const(r, h->extent[d]);
    for (int d = g->from; d < g->to; d++)
      if (d != stays) assume_extent(h, d);
    if (stays >= 0) dim[only(h->extent, g->nfrom, g->nto)] = h->l.type->dim[stays];
  }
  h->type = td_type_tensor(r->session, td_type_scalar(h->l.type), h->rank, dim);
  return h->type != h->l.type || refuse(h, TD_USAGE, "extents", "has these extents already");
}

/* The new indices of a group, into now[], from the old ones: the index of the dimension that stays,
 * whatever its extent is at other sizes, or digits of their row-major number. */
static void turn_group(const Reshape *h, const Group *g, const TdExpr *const *old,
                       const TdExpr **now) {
  TdSession *ss = h->l.r->session;
  TdArena *a = h->l.r->store->arena;
  const TdExpr *number = td_util_const(h->l.r, 0);
  int64_t below = 1;
  if (is_same(h, g)) {
    for (int d = g->nfrom; d < g->nto; d++) now[d] = number;
    now[only(h->extent, g->nfrom, g->nto)] = old[only(h->was, g->from, g->to)];
    return;
  }
  for (int d = g->from; d < g->to; d++)
    number = td_lin_plus(ss, a, td_lin_times(ss, a, number, h->was[d]), old[d]);
  for (int d = g->nto; d-- > g->nfrom; below *= h->extent[d]) {
    now[d] = td_lin_floordiv(ss, a, number, below);
    if (h->extent[d] == 1)
      now[d] = td_util_const(h->l.r, 0);
    else if (d > g->nfrom)
      now[d] = td_lin_mod(ss, a, now[d], h->extent[d]);
  }
}

static const TdExpr *turn_access(void *ud, const TdExpr *e) {
  const Reshape *h = ud;
  const TdExpr *index[TD_MAX_RANK];
  if (e->kind != TD_EXPR_LOAD || e->sym != h->l.sym) return e;
  for (int k = 0; k < h->n; k++) {
    turn_group(h, &h->group[k], e->kid, index);
  }
  return td_expr_load(h->l.r->store->arena, e->sym, e->type, index, h->rank, e->loc);
}

/* The attributes of the array; a partition stays with a dimension that stays. */
static TdAttrs turn_attrs(const Reshape *h) {
  TdAttrs now = {0}, was = h->l.decl->attrs;
  for (size_t i = 0; i < was.n; i++) {
    TdAttr x = was.at[i];
    bool stays = x.kind != TD_ATTR_PARTITION && x.kind != TD_ATTR_ORDER;
    for (int k = 0; k < h->n && !stays; k++) {
      const Group *g = &h->group[k];
      stays = x.kind == TD_ATTR_PARTITION && is_same(h, g) &&
              only(h->was, g->from, g->to) == x.arg[0].i;
      if (stays) x.arg[0].i = only(h->extent, g->nfrom, g->nto);
    }
    if (stays)
      now = td_attrs_add(h->l.r->store->arena, now, x);
    else
      td_util_note(h->l.r, "'%s' loses its %s", h->l.sym->name, td_attrs[x.kind].name);
  }
  return now;
}

/* The old dimensions whose indices are digits of a number, which may be in range where they are
 * not: all of a group but the outermost. */
static unsigned digits_of(const Reshape *h) {
  unsigned dims = 0;
  for (int k = 0; k < h->n; k++) {
    const Group *g = &h->group[k];
    for (int d = g->from + 1; d < g->to && !is_same(h, g); d++) dims |= 1u << d;
  }
  return dims;
}

static const TdProg *apply(TdRewrite *r) {
  Reshape h = {0};
  if (!td_local_find(&h.l, r, ARRAY) || !read_extents(&h) || !find_groups(&h) || !find_type(&h))
    return NULL;
  td_local_note_range(&h.l, digits_of(&h));
  const TdExpr *fill = h.l.decl->init == TD_INIT_FILL ? h.l.decl->expr[0] : NULL;
  return td_local_put(&h.l, h.type, fill, turn_attrs(&h), turn_access, &h);
}

const TdPrim td_prim_reshape = {
    .name = "reshape",
    .on = "array",
    .summary = "Give a local array other dimensions, over the same elements in the same order.",
    .args = {{"array", TD_ARG_ARRAY, TD_ARG_NEEDED, "a local array", "local"},
             {"extents", TD_ARG_INTS, TD_ARG_NEEDED, "the new extents, outermost first", NULL}},
    .rewrite = "local T = t[10][6](); T[i][j]  =>  local T = t[2][5][6](); T[i // 5][i % 5][j]",
    .legal = "as many elements as before, at the sizes that the extents depend on (which are "
             "assumed); the array is a local of which only elements are used",
    .errors = "not-an-array interface class whole elements extents extent-unknown count",
    .example = "s:buffer_at(\"A\", \"i\"); s:reshape(\"A_i\", {4, 4})",
    .apply = apply,
};

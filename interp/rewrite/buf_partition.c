/* buf_partition.c - partition: the banks that hold an array, here and wherever it is passed whole.
 */
#include <string.h>

#include "rewrite/util.h"

enum { ARRAY, DIMS, KIND, FACTOR };

/* The arrays that must lie in the same banks: the one named, then those it is passed as or comes
 * from. */
typedef struct Banks {
  TdRewrite *r;
  TD_VEC(TdPlace) array;
  bool dim[TD_MAX_RANK];
  const char *kind;
  int64_t factor;
} Banks;

static bool refuse(const Banks *b, TdDiagKind kind, const char *code, const char *what) {
  TdLoc none = {0};
  td_util_refuse(b->r, kind, code, none, "'%s' %s", b->array.at[0].sym->name, what);
  return false;
}

static const TdType *type_of(const TdPlace *p) {
  return p->stmt ? p->stmt->type : td_unit_param(p->unit, p->sym)->type;
}

static TdAttrs attrs_of(const TdPlace *p) {
  return p->stmt ? p->stmt->attrs : td_unit_param(p->unit, p->sym)->attrs;
}

/* The partition of dimension d that an array has, or NULL. */
static const TdAttr *partition_of(const TdPlace *p, int64_t d) {
  TdAttrs l = attrs_of(p);
  for (size_t i = 0; i < l.n; i++)
    if (l.at[i].kind == TD_ATTR_PARTITION && l.at[i].arg[0].i == d) return &l.at[i];
  return NULL;
}

/* Reads kind and factor, which must make sense together. */
static bool read_kind(Banks *b) {
  const TdArgValue *kind = &b->r->arg[KIND], *factor = &b->r->arg[FACTOR];
  b->kind = kind->given ? kind->text : factor->given ? "cyclic" : "complete";
  b->kind = td_names_str(b->r->session->names, b->kind);
  b->factor = factor->given ? factor->integer : 0;
  bool complete = strcmp(b->kind, "complete") == 0;
  if (complete && factor->given)
    return refuse(b, TD_USAGE, "factor", "is to be partitioned completely, which takes no factor");
  if (!complete && !factor->given)
    return refuse(b, TD_USAGE, "factor",
                  td_text_fmt(b->r->arena, "needs a factor to be %s", b->kind));
  return complete || b->factor >= 2 ||
         refuse(b, TD_USAGE, "factor",
                td_text_fmt(b->r->arena, "cannot lie in %lld banks: at least 2",
                            (long long)b->factor));
}

/* Marks dimension d, which must exist, be free, and have as many elements as banks. */
static bool take_dim(Banks *b, int64_t d) {
  const TdPlace *p = &b->array.at[0];
  const TdType *t = type_of(p);
  TdArena *a = b->r->arena;
  int64_t n;
  if (d < 0 || d >= t->rank)
    return refuse(
        b, TD_USAGE, "dimension",
        td_text_fmt(a, "has no dimension %lld (dimensions: 0 to %d)", (long long)d, t->rank - 1));
  if (b->dim[d])
    return refuse(b, TD_USAGE, "dimension",
                  td_text_fmt(a, "is to be partitioned twice in dimension %lld", (long long)d));
  if (partition_of(p, d))
    return refuse(b, TD_USAGE, "partitioned",
                  td_text_fmt(a, "is partitioned in dimension %lld already", (long long)d));
  if (td_unit_value(p->unit, t->dim[d], &n) && b->factor > n)
    return refuse(b, TD_USAGE, "factor",
                  td_text_fmt(a, "has %lld elements in dimension %lld, fewer than %lld banks",
                              (long long)n, (long long)d, (long long)b->factor));
  b->dim[d] = true;
  return true;
}

/* Reads the dimensions; none given are all. */
static bool read_dims(Banks *b) {
  const TdArgValue *dims = &b->r->arg[DIMS];
  const TdType *t = type_of(&b->array.at[0]);
  size_t n = dims->given ? dims->n : t->rank;
  for (size_t i = 0; i < n; i++)
    if (!take_dim(b, dims->given ? dims->ints[i] : (int64_t)i)) return false;
  return n > 0 || refuse(b, TD_USAGE, "dimension", "is to be partitioned in no dimension");
}

static bool is_other(void *ud, const TdStmt *s) {
  TdPlace *p = ud;
  bool declares = s->kind == TD_STMT_LOCAL || s->kind == TD_STMT_GET || s->kind == TD_STMT_SLOT;
  if (declares && s->sym == p->sym) p->stmt = s;
  return !p->stmt;
}

/* The array that a symbol of u stands for. */
static TdPlace place_of(const Banks *b, const TdUnit *u, TdSym sym) {
  TdPlace p = {u, NULL, sym};
  if (u->body) td_walk_stmt(b->r->session->ctx, u->body, is_other, &p);
  return p;
}

/* Adds an array to the list, once. */
static void link(Banks *b, const TdUnit *u, TdSym sym) {
  for (size_t i = 0; i < b->array.n; i++)
    if (b->array.at[i].sym == sym) return;
  TdPlace p = place_of(b, u, sym);
  td_vec_push(b->r->arena, &b->array, p);
}

/* Whether e is all of an array of u, as it lies. */
static bool is_whole(const Banks *b, const TdUnit *u, const TdExpr *e) {
  int64_t lo;
  if (e->kind != TD_EXPR_VIEW || e->type->kind != TD_T_TENSOR) return false;
  TdPlace p = place_of(b, u, e->sym);
  for (uint32_t d = 0; d < e->nkid; d++)
    if (e->u.dim[d].out != (int)d || e->u.dim[d].step != 1 || !td_expr_is_const(e->kid[d], &lo) ||
        lo)
      return false;
  return type_of(&p) == e->type;
}

/* A look at the calls of one unit for whatever meets array number `at`. */
typedef struct Meeting {
  Banks *b;
  const TdUnit *unit;
  size_t at;
} Meeting;

static bool meet_call(void *ud, const TdStmt *s) {
  const Meeting *m = ud;
  Banks *b = m->b;
  const TdUnit *callee = s->kind == TD_STMT_CALL ? td_prog_unit(b->r->prog, s->sym) : NULL;
  for (uint32_t i = 0; callee && callee->kind == TD_UNIT_KERNEL && i < s->nexpr; i++) {
    TdSym param = callee->param[i].sym, passed = s->expr[i]->sym, at = b->array.at[m->at].sym;
    if ((passed != at && param != at) || !is_whole(b, m->unit, s->expr[i])) continue;
    link(b, callee, param);
    link(b, m->unit, passed);
  }
  return true;
}

/* The tasks of a design see its arguments, and layouts cut them. */
static void meet_runs(Banks *b, const TdUnit *design, TdSym at) {
  for (size_t i = 0; i < design->nrun; i++)
    for (size_t k = 0; k < design->run[i].nbind; k++) {
      const TdRunArg *bind = &design->run[i].bind[k];
      if (bind->layout || (bind->arg != at && bind->param != at)) continue;
      link(b, td_prog_unit(b->r->prog, design->run[i].unit), bind->param);
      link(b, design, bind->arg);
    }
}

/* Adds all arrays that are the first one under other names. */
static void spread(Banks *b) {
  const TdProg *p = b->r->prog;
  for (size_t at = 0; at < b->array.n; at++)
    for (size_t i = 0; i < p->nunit; i++) {
      Meeting m = {b, p->unit[i], at};
      if (p->unit[i]->body) td_walk_stmt(b->r->session->ctx, p->unit[i]->body, meet_call, &m);
      meet_runs(b, p->unit[i], b->array.at[at].sym);
    }
}

static TdAttr attr_of(const Banks *b, int d) {
  return (TdAttr){.kind = TD_ATTR_PARTITION, .arg = {{.i = d}, {.s = b->kind}, {.i = b->factor}}};
}

/* The attributes of p with the new partition, in *out; refused if p is partitioned otherwise. */
static bool join(const Banks *b, const TdPlace *p, TdAttrs *out) {
  *out = attrs_of(p);
  for (int d = 0; d < type_of(p)->rank; d++) {
    if (!b->dim[d]) continue;
    TdAttr x = attr_of(b, d);
    const TdAttr *y = partition_of(p, d);
    if (y && !td_attrs_equal((TdAttrs){&x, 1}, (TdAttrs){y, 1}))
      return refuse(b, TD_ILLEGAL, "conflict",
                    td_text_fmt(b->r->arena,
                                "of '%s' is '%s' of '%s' too, whose dimension %d is %s already",
                                b->array.at[0].unit->sym->name, p->sym->name, p->unit->sym->name, d,
                                y->arg[1].s));
    if (!y) *out = td_attrs_add(b->r->store->arena, *out, x);
  }
  return true;
}

/* prog with these attributes on array p. */
static const TdProg *mark(TdRewrite *r, const TdProg *prog, const TdPlace *p, TdAttrs attrs) {
  const TdUnit *u = td_prog_unit(prog, p->unit->sym);
  if (p->stmt) {
    const TdStmt *now = td_stmt_with_attrs(r->store, p->stmt, attrs);
    const TdStmt *body = td_edit_replace(r->store, u->body, p->stmt->uid, &now, 1);
    return td_prog_with(prog, td_unit_with_body(r->store, u, body));
  }
  TdUnit *copy = td_unit_copy(r->store, u);
  TdParam *param = td_arena_copy(r->store->arena, u->param, u->nparam * sizeof *param);
  param[td_unit_param(u, p->sym) - u->param].attrs = attrs;
  copy->param = param;
  return td_prog_with(prog, copy);
}

static const TdProg *apply(TdRewrite *r) {
  Banks b = {.r = r};
  TdPlace first;
  if (!td_cursor_array(r->arena, r->prog, r->arg[ARRAY].text, NULL, &first, r->diag)) return NULL;
  td_vec_push(r->arena, &b.array, first);
  if (type_of(&first)->kind != TD_T_TENSOR) {
    refuse(&b, TD_USAGE, "not-an-array", "is no array");
    return NULL;
  }
  if (!read_kind(&b) || !read_dims(&b)) return NULL;
  spread(&b);
  const TdProg *p = r->prog;
  for (size_t i = 0; i < b.array.n; i++) {
    TdAttrs attrs;
    if (!join(&b, &b.array.at[i], &attrs)) return NULL;
    p = mark(r, p, &b.array.at[i], attrs);
    if (i)
      td_util_note(r, "'%s' of '%s' too", b.array.at[i].sym->name, b.array.at[i].unit->sym->name);
  }
  return p;
}

const TdPrim td_prim_buf_partition = {
    .name = "partition",
    .on = "array",
    .summary = "Spread an array over banks, so that several elements can be reached in one cycle.",
    .args = {{"array", TD_ARG_ARRAY, TD_ARG_NEEDED, "the array", NULL},
             {"dims", TD_ARG_INTS, TD_ARG_OPTIONAL, "the dimensions, from 0; all by default", NULL},
             {"kind", TD_ARG_WORD, TD_ARG_OPTION,
              "how elements go to banks; cyclic if there is a "
              "factor",
              "complete|cyclic|block"},
             {"factor", TD_ARG_INT, TD_ARG_OPTION, "how many banks", NULL}},
    .rewrite = "A = T[m][n]  =>  A = T[m][n] --@ partition(dim, kind, factor)",
    .legal = "always, once for each dimension; what A is passed as, or comes from, gets the same "
             "partition and must not have another",
    .errors = "not-an-array factor dimension partitioned conflict",
    .example = "s:partition(\"A\", 1, {factor = 2})",
    .apply = apply,
};

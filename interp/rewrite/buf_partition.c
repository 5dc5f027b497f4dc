/* buf_partition.c - partition: the banks that hold an array, here and wherever it is passed whole.
 */
#include <string.h>

#include "rewrite/passed.h"

enum { ARRAY, DIMS, KIND, FACTOR };

/* What is asked for. */
typedef struct Banks {
  TdPassed of;
  bool dim[TD_MAX_RANK];
  const char *kind;
  int64_t factor;
} Banks;

/* The partition of dimension d that an array has, or NULL. */
static const TdAttr *partition_of(const TdPlace *p, int64_t d) {
  TdAttrs l = td_passed_attrs(p);
  for (size_t i = 0; i < l.n; i++)
    if (l.at[i].kind == TD_ATTR_PARTITION && l.at[i].arg[0].i == d) return &l.at[i];
  return NULL;
}

/* Reads kind and factor, which must make sense together. */
static bool read_kind(Banks *b) {
  const TdArgValue *kind = &b->of.r->arg[KIND], *factor = &b->of.r->arg[FACTOR];
  b->kind = kind->given ? kind->text : factor->given ? "cyclic" : "complete";
  b->kind = td_names_str(b->of.r->session->names, b->kind);
  b->factor = factor->given ? factor->integer : 0;
  bool complete = strcmp(b->kind, "complete") == 0;
  if (complete && factor->given)
    return td_passed_refuse(&b->of, TD_USAGE, "factor",
                            "is to be partitioned completely, which takes no factor");
  if (!complete && !factor->given)
    return td_passed_refuse(&b->of, TD_USAGE, "factor",
                            td_text_fmt(b->of.r->arena, "needs a factor to be %s", b->kind));
  return complete || b->factor >= 2 ||
         td_passed_refuse(&b->of, TD_USAGE, "factor",
                          td_text_fmt(b->of.r->arena, "cannot lie in %lld banks: at least 2",
                                      (long long)b->factor));
}

/* Marks dimension d, which must exist, be free, and have as many elements as banks. */
static bool take_dim(Banks *b, int64_t d) {
  const TdPlace *p = &b->of.array.at[0];
  const TdType *t = td_passed_type(p);
  TdArena *a = b->of.r->arena;
  int64_t n;
  if (d < 0 || d >= t->rank)
    return td_passed_refuse(
        &b->of, TD_USAGE, "dimension",
        td_text_fmt(a, "has no dimension %lld (dimensions: 0 to %d)", (long long)d, t->rank - 1));
  if (b->dim[d])
    return td_passed_refuse(
        &b->of, TD_USAGE, "dimension",
        td_text_fmt(a, "is to be partitioned twice in dimension %lld", (long long)d));
  if (partition_of(p, d))
    return td_passed_refuse(
        &b->of, TD_USAGE, "partitioned",
        td_text_fmt(a, "is partitioned in dimension %lld already", (long long)d));
  if (td_unit_value(p->unit, t->dim[d], &n) && b->factor > n)
    return td_passed_refuse(
        &b->of, TD_USAGE, "factor",
        td_text_fmt(a, "has %lld elements in dimension %lld, fewer than %lld banks", (long long)n,
                    (long long)d, (long long)b->factor));
  b->dim[d] = true;
  return true;
}

/* Reads the dimensions; none given are all. */
static bool read_dims(Banks *b) {
  const TdArgValue *dims = &b->of.r->arg[DIMS];
  const TdType *t = td_passed_type(&b->of.array.at[0]);
  size_t n = dims->given ? dims->n : t->rank;
  for (size_t i = 0; i < n; i++)
    if (!take_dim(b, dims->given ? dims->ints[i] : (int64_t)i)) return false;
  return n > 0 ||
         td_passed_refuse(&b->of, TD_USAGE, "dimension", "is to be partitioned in no dimension");
}

static TdAttr attr_of(const Banks *b, int d) {
  return (TdAttr){.kind = TD_ATTR_PARTITION, .arg = {{.i = d}, {.s = b->kind}, {.i = b->factor}}};
}

/* The attributes of p with the new partition, in *out; refused if p is partitioned otherwise. */
static bool join(const Banks *b, const TdPlace *p, TdAttrs *out) {
  *out = td_passed_attrs(p);
  for (int d = 0; d < td_passed_type(p)->rank; d++) {
    if (!b->dim[d]) continue;
    TdAttr x = attr_of(b, d);
    const TdAttr *y = partition_of(p, d);
    if (y && !td_attrs_equal((TdAttrs){&x, 1}, (TdAttrs){y, 1}))
      return td_passed_refuse(
          &b->of, TD_ILLEGAL, "conflict",
          td_text_fmt(
              b->of.r->arena, "of '%s' is '%s' of '%s' too, whose dimension %d is %s already",
              b->of.array.at[0].unit->sym->name, p->sym->name, p->unit->sym->name, d, y->arg[1].s));
    if (!y) *out = td_attrs_add(b->of.r->store->arena, *out, x);
  }
  return true;
}

static const TdProg *apply(TdRewrite *r) {
  Banks b = {0};
  if (!td_passed_find(&b.of, r, ARRAY) || !read_kind(&b) || !read_dims(&b)) return NULL;
  const TdProg *p = r->prog;
  for (size_t i = 0; i < b.of.array.n; i++) {
    TdAttrs attrs;
    if (!join(&b, &b.of.array.at[i], &attrs)) return NULL;
    p = td_passed_mark(&b.of, p, i, attrs);
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

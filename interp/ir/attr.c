/* attr.c - the table of attributes and immutable lists of them. */
#include <string.h>

#include "ir/stmt.h"

const TdAttrInfo td_attrs[TD_ATTRS] = {
#define TD_ATTR(id, name, args, words, on, split, summary)                                         \
  [TD_ATTR_##id] = {name, args, words, on, split, summary},
#include "ir/attrs.def"
};

int td_attr_find(const char *name) {
  for (int k = 0; k < TD_ATTRS; k++)
    if (strcmp(td_attrs[k].name, name) == 0) return k;
  return -1;
}

bool td_attr_is_integer(char letter) {
  return letter == 'n' || letter == 'p';
}

const TdAttr *td_attrs_get(TdAttrs l, TdAttrKind k) {
  for (size_t i = 0; i < l.n; i++)
    if (l.at[i].kind == k) return &l.at[i];
  return NULL;
}

TdAttrs td_attrs_add(TdArena *a, TdAttrs l, TdAttr x) {
  TdAttr *at = TD_NEWN(a, TdAttr, l.n + 1);
  if (l.n) memcpy(at, l.at, l.n * sizeof *at);
  at[l.n] = x;
  return (TdAttrs){at, l.n + 1};
}

/* Those of l that `keep` accepts. */
static TdAttrs filter(TdArena *a, TdAttrs l, bool (*keep)(const TdAttr *, const void *),
                      const void *ud) {
  TdAttr *at = TD_NEWN(a, TdAttr, l.n);
  size_t n = 0;
  for (size_t i = 0; i < l.n; i++)
    if (keep(&l.at[i], ud)) at[n++] = l.at[i];
  return n == l.n ? l : (TdAttrs){at, n};
}

static bool is_other_kind(const TdAttr *x, const void *kind) {
  return x->kind != *(const TdAttrKind *)kind;
}

static bool splits_as(const TdAttr *x, const void *letters) {
  return strchr(letters, td_attrs[x->kind].split) != NULL;
}

TdAttrs td_attrs_drop(TdArena *a, TdAttrs l, TdAttrKind k) {
  return filter(a, l, is_other_kind, &k);
}

TdAttrs td_attrs_set(TdArena *a, TdAttrs l, TdAttr x) {
  return td_attrs_add(a, td_attrs_drop(a, l, (TdAttrKind)x.kind), x);
}

TdAttrs td_attrs_keep(TdArena *a, TdAttrs l, const char *splits) {
  return filter(a, l, splits_as, splits);
}

const TdAttrInts *td_attr_ints(TdArena *a, const int64_t *at, size_t n) {
  TdAttrInts *x = TD_NEW(a, TdAttrInts);
  *x = (TdAttrInts){n, td_arena_copy(a, at, n * sizeof *at)};
  return n ? x : NULL;
}

static bool same_ints(const TdAttrInts *x, const TdAttrInts *y) {
  if (!x || !y) return x == y;
  return x->n == y->n && memcmp(x->at, y->at, x->n * sizeof *x->at) == 0;
}

/* Same kind and arguments; symbols compare by name, so that lists of two units can be compared. */
static bool same_attr(const TdAttr *x, const TdAttr *y) {
  if (x->kind != y->kind) return false;
  const char *args = td_attrs[x->kind].args;
  for (int i = 0; args[i]; i++) {
    if (td_attr_is_integer(args[i]) ? x->arg[i].i != y->arg[i].i
        : args[i] == 'd'            ? !same_ints(x->arg[i].ints, y->arg[i].ints)
        : args[i] == 'y'            ? x->arg[i].sym->name != y->arg[i].sym->name
                                    : x->arg[i].s != y->arg[i].s)
      return false;
  }
  return true;
}

bool td_attrs_equal(TdAttrs x, TdAttrs y) {
  if (x.n != y.n) return false;
  for (size_t i = 0; i < x.n; i++)
    if (!same_attr(&x.at[i], &y.at[i])) return false;
  return true;
}

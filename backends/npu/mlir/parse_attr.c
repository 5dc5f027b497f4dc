/* mlir_parse_attr.c - reads attributes of MLIR. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backends/npu/mlir/parse.h"

/* A number: an integer, or a float, which has a point. */
typedef struct Number {
  bool real;
  int64_t i;
  double f;
} Number;

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/* The end of a float's text at s, or s when there is no point behind its digits. */
static const char *float_end(const TdMlirParse *p, const char *s) {
  const char *at = s;
  if (at < p->end && *at == '-') at++;
  while (at < p->end && is_digit(*at)) at++;
  if (at == p->end || *at != '.') return s;
  for (at++; at < p->end && is_digit(*at);) at++;
  if (at < p->end && (*at | 32) == 'e') {
    const char *e = at + 1;
    if (e < p->end && (*e == '-' || *e == '+')) e++;
    if (e < p->end && is_digit(*e)) {
      while (e < p->end && is_digit(*e)) e++;
      at = e;
    }
  }
  return at;
}

/* 0x and digits: the bits of a float that has no decimal spelling. */
static bool bits(TdMlirParse *p, Number *out) {
  const char *word = td_mlir_parse_word(p);
  size_t n = strlen(word);
  char *end;
  unsigned long long x = strtoull(word + 2, &end, 16);
  int width = (int)(n - 2) * 4, fraction = width == 64 ? 52 : width == 32 ? 23 : 0;
  if (!fraction) fraction = (x & 0x7F80) == 0x7F80 ? 7 : 10;
  uint64_t ones = width < 16 ? 0 : ((uint64_t)1 << (width - 1)) - ((uint64_t)1 << fraction);
  if (*end || (n != 6 && n != 10 && n != 18) || (x & ones) != ones)
    return td_mlir_parse_fail(p, "expected the bits of an infinity or of no number");
  *out = (Number){.real = true};
  out->f = x & (((uint64_t)1 << fraction) - 1) ? (double)NAN : (double)INFINITY;
  if (x >> (width - 1) && isinf(out->f)) out->f = -out->f;
  return true;
}

static bool number(TdMlirParse *p, Number *out) {
  td_mlir_parse_peek(p);
  const char *end = float_end(p, p->at);
  if (p->end - p->at > 2 && p->at[0] == '0' && p->at[1] == 'x') return bits(p, out);
  *out = (Number){.real = end > p->at};
  if (!out->real) return td_mlir_parse_int(p, &out->i);
  out->f = strtod(td_arena_strndup(p->m->arena, p->at, (size_t)(end - p->at)), NULL);
  p->at = end;
  return true;
}

/* Whether an integer fits a type, of either sign. */
static bool fits(int64_t i, const TdMlirType *t) {
  if (t->kind == TD_MLIR_INDEX || t->width >= 64) return true;
  bool is_unsigned = t->name[0] == 'u', is_signed = t->name[0] == 's';
  int64_t low = is_unsigned ? 0 : -((int64_t)1 << (t->width - 1));
  int64_t high = ((int64_t)1 << (is_signed ? t->width - 1 : t->width)) - 1;
  return i >= low && i <= high;
}

/* A number, ": type" behind it or not. */
static const TdMlirAttr *typed_number(TdMlirParse *p) {
  Number x;
  const TdMlirType *t = NULL;
  td_mlir_parse_peek(p);
  const char *at = p->at;
  if (!number(p, &x)) return NULL;
  if (!td_mlir_parse_take(p, ":"))
    return x.real ? td_mlir_float(p->m, x.f, "f64") : td_mlir_int(p->m, x.i, "i64");
  if (!(t = td_mlir_parse_type(p))) return NULL;
  bool of_int = t->kind == TD_MLIR_INT || t->kind == TD_MLIR_INDEX;
  if (x.real ? t->kind != TD_MLIR_FLOAT : !of_int || !fits(x.i, t)) {
    p->at = at;
    td_mlir_parse_fail(p, "a number that its type %s does not hold", t->name);
    return NULL;
  }
  return x.real ? td_mlir_float(p->m, x.f, t->name) : td_mlir_int(p->m, x.i, t->name);
}

const TdMlirAttr *td_mlir_parse_dims(TdMlirParse *p) {
  TD_VEC(int64_t) v = {0};
  int64_t size, stride;
  if (!td_mlir_parse_need(p, "[")) return NULL;
  while (td_mlir_parse_peek(p) != ']') {
    if (v.n && !td_mlir_parse_need(p, ",")) return NULL;
    if (!td_mlir_parse_need(p, "<") || !td_mlir_parse_need(p, "size") ||
        !td_mlir_parse_need(p, "=") || !td_mlir_parse_int(p, &size) ||
        !td_mlir_parse_need(p, ",") || !td_mlir_parse_need(p, "stride") ||
        !td_mlir_parse_need(p, "=") || !td_mlir_parse_int(p, &stride) ||
        !td_mlir_parse_need(p, ">"))
      return NULL;
    td_vec_push(p->m->arena, &v, size);
    td_vec_push(p->m->arena, &v, stride);
  }
  p->at++;
  return td_mlir_ints(p->m, TD_MLIR_A_DIMS, v.at, v.n, NULL);
}

/* What is between brackets, each read by `one`, as an array of that kind. */
static const TdMlirAttr *list(TdMlirParse *p, TdMlirAttrKind kind,
                              const TdMlirAttr *(*one)(TdMlirParse *)) {
  TD_VEC(const TdMlirAttr *) v = {0};
  if (!td_mlir_parse_need(p, "[")) return NULL;
  while (td_mlir_parse_peek(p) != ']') {
    const TdMlirAttr *x;
    if (v.n && !td_mlir_parse_need(p, ",")) return NULL;
    if (!(x = one(p))) return NULL;
    td_vec_push(p->m->arena, &v, x);
  }
  p->at++;
  return td_mlir_array(p->m, kind, v.at, v.n);
}

/* #aie<bd_dim_layout_array[..]>, #aie<bd_dim_layout_array_array[..]>. */
static const TdMlirAttr *layout(TdMlirParse *p) {
  const TdMlirAttr *x = NULL;
  if (!td_mlir_parse_need(p, "#aie<")) return NULL;
  if (td_mlir_parse_take(p, "bd_dim_layout_array_array"))
    x = list(p, TD_MLIR_A_DIMS_LIST, td_mlir_parse_dims);
  else if (td_mlir_parse_need(p, "bd_dim_layout_array"))
    x = td_mlir_parse_dims(p);
  return x && td_mlir_parse_need(p, ">") ? x : NULL;
}

/* array<i64: 1, 2>. */
static const TdMlirAttr *ints(TdMlirParse *p) {
  TD_VEC(int64_t) v = {0};
  const TdMlirType *t;
  int64_t i;
  if (!td_mlir_parse_need(p, "<") || !(t = td_mlir_parse_type(p))) return NULL;
  if (t->kind != TD_MLIR_INT || t->width > 64) {
    td_mlir_parse_fail(p, "an array of what is no integer of up to 64 bits");
    return NULL;
  }
  while (td_mlir_parse_peek(p) != '>') {
    if (!td_mlir_parse_need(p, v.n ? "," : ":") || !td_mlir_parse_int(p, &i)) return NULL;
    if (!fits(i, t)) {
      td_mlir_parse_fail(p, "a number that its type %s does not hold", t->name);
      return NULL;
    }
    td_vec_push(p->m->arena, &v, i);
  }
  p->at++;
  return td_mlir_ints(p->m, TD_MLIR_A_INTS, v.at, v.n, t);
}

typedef TD_VEC(Number) Numbers;

/* The elements of dense<..>, whose nesting `shape` fills as it is met first. */
static bool elements(TdMlirParse *p, Numbers *v, int64_t *shape, size_t level, size_t *rank) {
  Number x;
  int64_t n = 0;
  if (!td_mlir_parse_take(p, "[")) {
    if (*rank > level) return td_mlir_parse_fail(p, "expected '['");
    if (!number(p, &x)) return false;
    td_vec_push(p->m->arena, v, x);
    return true;
  }
  if (level == 16) return td_mlir_parse_fail(p, "more than 16 dimensions");
  if (*rank == level) {
    if (v->n) return td_mlir_parse_fail(p, "expected a number");
    shape[(*rank)++] = -1;
  }
  while (td_mlir_parse_peek(p) != ']') {
    if (n++ && !td_mlir_parse_need(p, ",")) return false;
    if (!elements(p, v, shape, level + 1, rank)) return false;
  }
  if (shape[level] >= 0 && shape[level] != n)
    return td_mlir_parse_fail(p, "%lld elements where others have %lld", (long long)n,
                              (long long)shape[level]);
  shape[level] = n;
  p->at++;
  return true;
}

/* Whether the elements are of the type's shape and kind. */
static bool agree(const Numbers *v, const int64_t *shape, size_t rank, const TdMlirType *t) {
  bool same = rank == t->rank || (rank == 0 && v->n == 1);
  for (size_t i = 0; same && i < rank; i++) same = shape[i] == t->shape[i];
  for (size_t i = 0; same && i < t->rank; i++) same = t->shape[i] >= 0;
  for (size_t i = 0; same && i < v->n; i++)
    same = v->at[i].real ? t->in[0]->kind == TD_MLIR_FLOAT
                         : t->in[0]->kind <= TD_MLIR_INDEX && fits(v->at[i].i, t->in[0]);
  return same;
}

/* dense<..> : type; `n` equal elements of several are still each there. */
static const TdMlirAttr *dense(TdMlirParse *p) {
  Numbers v = {0};
  int64_t shape[16] = {0};
  size_t rank = 0;
  const TdMlirType *t;
  if (!td_mlir_parse_need(p, "<")) return NULL;
  if (td_mlir_parse_peek(p) != '>' && !elements(p, &v, shape, 0, &rank)) return NULL;
  if (!td_mlir_parse_need(p, ">") || !td_mlir_parse_need(p, ":") || !(t = td_mlir_parse_type(p)))
    return NULL;
  if (!v.n || (t->kind != TD_MLIR_TENSOR && t->kind != TD_MLIR_VECTOR) ||
      !agree(&v, shape, rank, t)) {
    td_mlir_parse_fail(p, "elements that are not of this type");
    return NULL;
  }
  TdMlirAttr x = {.kind = TD_MLIR_A_DENSE, .type = t, .n = v.n};
  int64_t *num = TD_NEWN(p->m->arena, int64_t, v.n);
  double *real = TD_NEWN(p->m->arena, double, v.n);
  for (size_t i = 0; i < v.n; i++) {
    num[i] = v.at[i].i;
    real[i] = v.at[i].f;
  }
  x.num = t->in[0]->kind == TD_MLIR_FLOAT ? NULL : num;
  x.real = x.num ? NULL : real;
  return td_arena_copy(p->m->arena, &x, sizeof x);
}

/* @name or @"any bytes". */
static const TdMlirAttr *symbol(TdMlirParse *p) {
  size_t n = 0;
  p->at++;
  const char *s = p->at < p->end && *p->at == '"'   ? td_mlir_parse_string(p, &n)
                  : p->at < p->end && *p->at != ' ' ? td_mlir_parse_word(p)
                                                    : NULL;
  if (s && !n) n = strlen(s);
  if (!s || !n || strlen(s) != n) {
    td_mlir_parse_fail(p, "expected a symbol's name");
    return NULL;
  }
  return td_mlir_symbol(p->m, s);
}

static const TdMlirAttr *attr(TdMlirParse *p) {
  char c = td_mlir_parse_peek(p);
  const char *at = p->at, *s;
  const TdMlirType *t;
  size_t n;
  if (c == '"') return (s = td_mlir_parse_string(p, &n)) ? td_mlir_string(p->m, s, n) : NULL;
  if (c == '@') return symbol(p);
  if (c == '[') return list(p, TD_MLIR_A_ARRAY, td_mlir_parse_attr);
  if (c == '#') return layout(p);
  if (c == '-' || is_digit(c)) return typed_number(p);
  s = td_mlir_parse_word(p);
  if (s && (strcmp(s, "true") == 0 || strcmp(s, "false") == 0))
    return td_mlir_bool(p->m, *s == 't');
  if (s && strcmp(s, "dense") == 0) return dense(p);
  if (s && strcmp(s, "array") == 0) return ints(p);
  if (s && strcmp(s, "unit") == 0) {
    TdMlirAttr x = {.kind = TD_MLIR_A_UNIT};
    return td_arena_copy(p->m->arena, &x, sizeof x);
  }
  p->at = at;
  return (t = td_mlir_parse_type(p)) ? td_mlir_type_attr(p->m, t) : NULL;
}

const TdMlirAttr *td_mlir_parse_attr(TdMlirParse *p) {
  const TdMlirAttr *x = td_mlir_parse_enter(p) ? attr(p) : NULL;
  p->depth--;
  return x;
}

/* parse.c - reads words and types of MLIR. */
#include "backends/npu/mlir/parse.h"

#include <string.h>

enum { MOST_DEPTH = 100, MOST_RANK = 16 };

TdLoc td_mlir_parse_loc(TdMlirParse *p, const char *at) {
  if (!p->seen || at < p->seen) {
    p->seen = p->start = p->begin;
    p->line = 1;
  }
  for (; p->seen < at; p->seen++)
    if (*p->seen == '\n') {
      p->line++;
      p->start = p->seen + 1;
    }
  size_t col = (size_t)(at - p->start) + 1;
  return (TdLoc){p->source, p->line, (uint16_t)(col < UINT16_MAX ? col : UINT16_MAX), 1};
}

bool td_mlir_parse_fail(TdMlirParse *p, const char *fmt, ...) {
  va_list ap;
  td_mlir_parse_peek(p);
  va_start(ap, fmt);
  td_diag_vset(p->d, TD_USAGE, "mlir-text", td_mlir_parse_loc(p, p->at), fmt, ap);
  va_end(ap);
  return false;
}

bool td_mlir_parse_enter(TdMlirParse *p) {
  td_ctx_tick(td_arena_ctx(p->m->arena), 1);
  if (++p->depth > MOST_DEPTH)
    return td_mlir_parse_fail(p, "nested deeper than %d levels", MOST_DEPTH);
  return true;
}

char td_mlir_parse_peek(TdMlirParse *p) {
  while (p->at < p->end) {
    if (*p->at == ' ' || *p->at == '\t' || *p->at == '\n' || *p->at == '\r')
      p->at++;
    else if (*p->at == '/' && p->end - p->at > 1 && p->at[1] == '/')
      while (p->at < p->end && *p->at != '\n') p->at++;
    else
      return *p->at;
  }
  return 0;
}

bool td_mlir_parse_take(TdMlirParse *p, const char *mark) {
  size_t n = strlen(mark);
  td_mlir_parse_peek(p);
  if ((size_t)(p->end - p->at) < n || memcmp(p->at, mark, n) != 0) return false;
  p->at += n;
  return true;
}

bool td_mlir_parse_need(TdMlirParse *p, const char *mark) {
  return td_mlir_parse_take(p, mark) || td_mlir_parse_fail(p, "expected '%s'", mark);
}

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

static bool is_letter(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.' ||
         c == '$';
}

const char *td_mlir_parse_word(TdMlirParse *p) {
  td_mlir_parse_peek(p);
  const char *s = p->at;
  while (p->at < p->end && is_letter(*p->at)) p->at++;
  return p->at > s ? td_names_of(p->m->names, s, (size_t)(p->at - s)) : NULL;
}

bool td_mlir_parse_is_word(const char *s, size_t n) {
  size_t k = 0;
  while (k < n && is_letter(s[k])) k++;
  return n && k == n;
}

bool td_mlir_parse_int(TdMlirParse *p, int64_t *out) {
  bool minus = td_mlir_parse_take(p, "-");
  uint64_t x = 0, most = minus ? (uint64_t)INT64_MAX + 1 : INT64_MAX;
  if (p->at == p->end || !is_digit(*p->at)) return td_mlir_parse_fail(p, "expected an integer");
  for (; p->at < p->end && is_digit(*p->at); p->at++) {
    uint64_t digit = (uint64_t)(*p->at - '0');
    if (x > (most - digit) / 10) return td_mlir_parse_fail(p, "an integer beyond 64 bits");
    x = x * 10 + digit;
  }
  *out = minus ? (int64_t)(0 - x) : (int64_t)x;
  return true;
}

/* The value of a hexadecimal digit, -1: it is none. */
static int hex(char c) {
  if (is_digit(c)) return c - '0';
  c = (char)(c | 32);
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* What stands behind a backslash; -1: nothing known. Moves p->at to its last byte. */
static int escaped(TdMlirParse *p) {
  if (p->end - p->at < 2) return -1;
  switch (p->at[1]) {
  case 'n': p->at++; return '\n';
  case 't': p->at++; return '\t';
  case '\\':
  case '"': p->at++; return *p->at;
  default: break;
  }
  if (p->end - p->at < 3 || hex(p->at[1]) < 0 || hex(p->at[2]) < 0) return -1;
  p->at += 2;
  return hex(p->at[-1]) * 16 + hex(p->at[0]);
}

const char *td_mlir_parse_string(TdMlirParse *p, size_t *n) {
  TdText t = td_text_new(p->m->arena);
  if (!td_mlir_parse_need(p, "\"")) return NULL;
  for (; p->at < p->end && *p->at != '"' && *p->at != '\n'; p->at++) {
    int c = *p->at == '\\' ? escaped(p) : (unsigned char)*p->at;
    if (c < 0) {
      td_mlir_parse_fail(p, "no such escape in a string");
      return NULL;
    }
    td_text_putc(&t, (char)c);
  }
  if (p->at == p->end || *p->at != '"') {
    td_mlir_parse_fail(p, "a string that does not end in its line");
    return NULL;
  }
  p->at++;
  *n = t.n;
  return td_text_str(&t);
}

/* ---- types ---- */

/* The extents of a shape, "4x?x", before its element. */
static bool shape(TdMlirParse *p, int64_t *out, size_t *rank) {
  for (*rank = 0;;) {
    int64_t n = -1;
    char c = td_mlir_parse_peek(p);
    if (c != '?' && !is_digit(c)) return true;
    if (*rank == MOST_RANK) return td_mlir_parse_fail(p, "more than %d dimensions", MOST_RANK);
    if (c == '?')
      p->at++;
    else if (!td_mlir_parse_int(p, &n))
      return false;
    out[(*rank)++] = n;
    if (p->at == p->end || *p->at != 'x') return td_mlir_parse_fail(p, "expected 'x'");
    p->at++;
  }
}

/* What follows memref, tensor or vector. */
static const TdMlirType *shaped(TdMlirParse *p, TdMlirTypeKind kind) {
  int64_t extent[MOST_RANK];
  size_t rank;
  const TdMlirType *of;
  if (!td_mlir_parse_need(p, "<") || !shape(p, extent, &rank)) return NULL;
  of = td_mlir_parse_type(p);
  if (!of || !td_mlir_parse_need(p, ">")) return NULL;
  return td_mlir_shaped(p->m, kind, extent, rank, of);
}

/* !dialect.name<type>. */
static const TdMlirType *dialect(TdMlirParse *p) {
  const char *name = td_mlir_parse_word(p);
  const TdMlirType *of;
  if (!name) {
    td_mlir_parse_fail(p, "expected the name of a type");
    return NULL;
  }
  if (!td_mlir_parse_need(p, "<") || !(of = td_mlir_parse_type(p)) || !td_mlir_parse_need(p, ">"))
    return NULL;
  return td_mlir_dialect_type(p->m, name, of);
}

/* Types in parentheses; pushes to a vector in *m's arena. */
static bool types(TdMlirParse *p, const TdMlirType *const **at, size_t *n) {
  TD_VEC(const TdMlirType *) v = {0};
  if (!td_mlir_parse_need(p, "(")) return false;
  while (td_mlir_parse_peek(p) != ')') {
    const TdMlirType *t;
    if (v.n && !td_mlir_parse_need(p, ",")) return false;
    if (!(t = td_mlir_parse_type(p))) return false;
    td_vec_push(p->m->arena, &v, t);
  }
  *at = v.at;
  *n = v.n;
  return td_mlir_parse_need(p, ")");
}

const TdMlirType *td_mlir_parse_function(TdMlirParse *p) {
  const TdMlirType *const *in, *const *out, *one;
  size_t nin, nout = 1;
  if (!types(p, &in, &nin) || !td_mlir_parse_need(p, "->")) return NULL;
  if (td_mlir_parse_peek(p) == '(') {
    if (!types(p, &out, &nout)) return NULL;
  } else {
    if (!(one = td_mlir_parse_type(p))) return NULL;
    out = &one;
  }
  return td_mlir_function(p->m, in, nin, out, nout);
}

static const TdMlirType *type(TdMlirParse *p) {
  static const char *const names[] = {"memref", "tensor", "vector"};
  static const TdMlirTypeKind kinds[] = {TD_MLIR_MEMREF, TD_MLIR_TENSOR, TD_MLIR_VECTOR};
  const char *word, *at;
  const TdMlirType *t;
  if (td_mlir_parse_peek(p) == '(') return td_mlir_parse_function(p);
  if (td_mlir_parse_take(p, "!")) return dialect(p);
  at = p->at;
  word = td_mlir_parse_word(p);
  for (int i = 0; word && i < 3; i++)
    if (strcmp(word, names[i]) == 0) return shaped(p, kinds[i]);
  t = word ? td_mlir_scalar(p->m, word) : NULL;
  p->at = t ? p->at : at;
  if (!t) td_mlir_parse_fail(p, "expected a type");
  return t;
}

const TdMlirType *td_mlir_parse_type(TdMlirParse *p) {
  const TdMlirType *t = td_mlir_parse_enter(p) ? type(p) : NULL;
  p->depth--;
  return t;
}

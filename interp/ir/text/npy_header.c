/* npy_header.c - the header of a .npy file, read strictly: what NumPy writes, in any order of keys
 * and with any spaces between tokens. */
#include "ir/text/npy_header.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* NumPy's dtypes that are scalar types here. */
static const struct Dtype {
  const char *name;
  TdTypeKind kind;
  int w;
} dtypes[] = {
    {"i1", TD_T_INT, 8},  {"i2", TD_T_INT, 16},   {"i4", TD_T_INT, 32},   {"i8", TD_T_INT, 64},
    {"u1", TD_T_UINT, 8}, {"u2", TD_T_UINT, 16},  {"u4", TD_T_UINT, 32},  {"u8", TD_T_UINT, 64},
    {"b1", TD_T_BOOL, 1}, {"f2", TD_T_FLOAT, 16}, {"f4", TD_T_FLOAT, 32}, {"f8", TD_T_FLOAT, 64},
};

const char *td_npy_header_dtype(const TdType *t) {
  if (t->w > 64) return NULL;
  bool is_unsigned = t->kind == TD_T_UINT || t->kind == TD_T_UFIXED || t->brain;
  TdTypeKind stored = t->kind == TD_T_BOOL                 ? TD_T_BOOL
                      : t->kind == TD_T_FLOAT && !t->brain ? TD_T_FLOAT
                      : is_unsigned                        ? TD_T_UINT
                                                           : TD_T_INT;
  size_t i = 0;
  while (dtypes[i].kind != stored || (size_t)(dtypes[i].w + 7) / 8 != td_type_bytes(t)) i++;
  return dtypes[i].name;
}

/* The line of the table for a dtype, or NULL. */
static const struct Dtype *find(const char *dtype) {
  for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
    if (strcmp(dtypes[i].name, dtype) == 0) return &dtypes[i];
  return NULL;
}

const TdType *td_npy_header_type(TdSession *s, const char *dtype) {
  const struct Dtype *x = find(dtype);
  if (!x) return NULL;
  switch (x->kind) {
  case TD_T_INT: return td_type_int(s, x->w);
  case TD_T_UINT: return td_type_uint(s, x->w);
  case TD_T_BOOL: return td_type_bool(s);
  default: return td_type_float(s, x->w);
  }
}

void td_npy_header_print(TdText *out, const TdType *t) {
  const char *dtype = td_npy_header_dtype(td_type_scalar(t));
  td_text_putf(out, "{'descr': '%c%s', 'fortran_order': False, 'shape': (",
               dtype[1] == '1' ? '|' : '<', dtype);
  for (int d = 0; d < t->rank; d++) {
    int64_t extent = 0;
    td_type_extent(t, d, &extent);
    td_text_putf(out, "%s%" PRId64 "%s", d ? " " : "", extent,
                 d + 1 < t->rank || t->rank == 1 ? "," : "");
  }
  td_text_puts(out, "), }");
}

/* What is left of a dictionary. */
typedef struct Cursor {
  const char *p, *end;
  TdDiag *d;
} Cursor;

static bool malformed(Cursor *c) {
  return td_diag_set(c->d, TD_USAGE, "npy-header", (TdLoc){0},
                     "the header is not a dictionary of 'descr', 'fortran_order' and 'shape'");
}

/* Skips spaces; whether `token` follows, which is skipped too. */
static bool accept(Cursor *c, const char *token) {
  size_t n = strlen(token);
  while (c->p < c->end && strchr(" \t\r\n", *c->p) && *c->p) c->p++;
  if ((size_t)(c->end - c->p) < n || memcmp(c->p, token, n) != 0) return false;
  c->p += n;
  return true;
}

static bool expect(Cursor *c, const char *token) {
  return accept(c, token) || malformed(c);
}

/* A Python string without escapes, of less than `size` bytes, into `out`. */
static bool string(Cursor *c, char *out, size_t size) {
  char quote[2] = "'";
  if (!accept(c, quote)) {
    quote[0] = '"';
    if (!expect(c, quote)) return false;
  }
  const char *stop = memchr(c->p, quote[0], (size_t)(c->end - c->p));
  size_t n = stop ? (size_t)(stop - c->p) : size;
  if (n >= size || memchr(c->p, '\\', n)) return malformed(c);
  memcpy(out, c->p, n);
  out[n] = 0;
  c->p = stop + 1;
  return true;
}

/* The value of 'descr'. */
static bool descr(Cursor *c, TdNpyHeader *h) {
  char text[16];
  if (accept(c, "["))
    return td_diag_set(c->d, TD_USAGE, "npy-dtype", (TdLoc){0},
                       "structured arrays are not tensors: save its fields one by one");
  if (!string(c, text, sizeof text)) return false;
  const char *name = text + (strchr("<>|=", text[0]) && text[0]);
  const struct Dtype *known = find(name);
  if (!known)
    return td_diag_set(c->d, TD_USAGE, "npy-dtype", (TdLoc){0},
                       "elements of dtype '%s' have no "
                       "type here: convert the array with .astype first",
                       text);
  if (text[0] != '<' && !(text[0] == '|' && name[1] == '1'))
    return td_diag_set(c->d, TD_USAGE, "npy-endian", (TdLoc){0},
                       "dtype '%s' is not little-endian: convert the array with .astype('<%s')",
                       text, name);
  memcpy(h->dtype, known->name, strlen(known->name) + 1);
  return true;
}

static bool fortran_order(Cursor *c) {
  if (accept(c, "False")) return true;
  if (!accept(c, "True")) return malformed(c);
  return td_diag_set(c->d, TD_USAGE, "npy-order", (TdLoc){0},
                     "the array is in Fortran order: save numpy.ascontiguousarray(x)");
}

/* One extent. */
static bool extent(Cursor *c, int64_t *v) {
  const char *first = c->p;
  *v = 0;
  for (; c->p < c->end && *c->p >= '0' && *c->p <= '9'; c->p++) {
    if (*v > (INT64_MAX - 9) / 10) return malformed(c);
    *v = *v * 10 + (*c->p - '0');
  }
  return c->p > first || malformed(c);
}

/* The value of 'shape', a tuple. */
static bool shape(Cursor *c, TdNpyHeader *h) {
  bool comma = true;
  if (!expect(c, "(")) return false;
  for (h->rank = 0; !accept(c, ")"); h->rank++) {
    if (!comma) return malformed(c);
    if (h->rank == TD_MAX_RANK)
      return td_diag_set(c->d, TD_USAGE, "npy-shape", (TdLoc){0},
                         "the array has more than %d dimensions", TD_MAX_RANK);
    if (!extent(c, &h->extent[h->rank])) return false;
    comma = accept(c, ",");
  }
  return h->rank != 1 || comma || malformed(c);
}

bool td_npy_header_parse(const char *text, size_t n, TdNpyHeader *h, TdDiag *d) {
  static const char *const keys[] = {"descr", "fortran_order", "shape"};
  Cursor c = {text, text + n, d};
  unsigned seen = 0;
  bool comma = true;
  if (!expect(&c, "{")) return false;
  while (!accept(&c, "}")) {
    char key[16];
    unsigned k = 0;
    if (!comma || !string(&c, key, sizeof key)) return malformed(&c);
    while (k < 3 && strcmp(keys[k], key) != 0) k++;
    if (k == 3 || seen & 1u << k || !expect(&c, ":")) return malformed(&c);
    seen |= 1u << k;
    if (!(k == 0 ? descr(&c, h) : k == 1 ? fortran_order(&c) : shape(&c, h))) return false;
    comma = accept(&c, ",");
  }
  accept(&c, "");
  return (seen == 7 && c.p == c.end) || malformed(&c);
}

/* cexpr.c - pieces of C: templates filled in, casts, constants, elements of arrays. */
#include "backends/c/cfamily.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const struct CType {
  const char *name, *suffix;
} ctypes[] = {[TD_C_I32] = {"int32_t", "_i32"}, [TD_C_U32] = {"uint32_t", "_u32"},
              [TD_C_I64] = {"int64_t", "_i64"}, [TD_C_U64] = {"uint64_t", "_u64"},
              [TD_C_F32] = {"float", "_f32"},   [TD_C_F64] = {"double", "_f64"},
              [TD_C_OTHER] = {"", ""}};

/* How tightly the operators bind whose templates are infix. */
static const uint8_t bind_of[TD_OPS] = {
    [TD_OP_ADD] = TD_BIND_ADD,      [TD_OP_SUB] = TD_BIND_ADD,    [TD_OP_MUL] = TD_BIND_MUL,
    [TD_OP_FLOORDIV] = TD_BIND_MUL, [TD_OP_MOD] = TD_BIND_MUL,    [TD_OP_DIV] = TD_BIND_MUL,
    [TD_OP_NEG] = TD_BIND_UNARY,    [TD_OP_SHL] = TD_BIND_SHIFT,  [TD_OP_SHR] = TD_BIND_SHIFT,
    [TD_OP_ASR] = TD_BIND_SHIFT,    [TD_OP_BAND] = TD_BIND_AND,   [TD_OP_BOR] = TD_BIND_OR,
    [TD_OP_BXOR] = TD_BIND_XOR,     [TD_OP_BNOT] = TD_BIND_UNARY, [TD_OP_SELECT] = TD_BIND_COND,
    [TD_OP_EQ] = TD_BIND_EQUAL,     [TD_OP_NE] = TD_BIND_EQUAL,   [TD_OP_LT] = TD_BIND_LESS,
    [TD_OP_LE] = TD_BIND_LESS,      [TD_OP_AND] = TD_BIND_ANDAND, [TD_OP_OR] = TD_BIND_OROR,
    [TD_OP_NOT] = TD_BIND_UNARY};

const char *td_cexpr_suffix(int c) {
  return ctypes[c].suffix;
}

TdPiece td_cexpr_piece(TdCWriter *w, int bind, int c, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  const char *text = td_text_vfmt(w->arena, fmt, ap);
  va_end(ap);
  return (TdPiece){text, (uint8_t)bind, (uint8_t)c};
}

const char *td_cexpr_operand(TdCWriter *w, TdPiece p, int bind) {
  if (p.bind >= bind) return p.text;
  return w->target->group ? w->target->group(w, p.text) : td_text_fmt(w->arena, "(%s)", p.text);
}

TdPiece td_cexpr_cast(TdCWriter *w, TdPiece p, int c) {
  if (p.c == c || c == TD_C_OTHER) return p;
  w->narrows |= p.c == TD_C_F64 && c == TD_C_F32;
  return td_cexpr_piece(w, TD_BIND_UNARY, c, "(%s)%s", ctypes[c].name,
                        td_cexpr_operand(w, p, TD_BIND_UNARY));
}

/* Has C compute in type c when it joins the n operands: the greater ones are cast, and if all are
 * lesser, the first. */
static void meet(TdCWriter *w, int c, TdPiece *p, int n) {
  bool there = false;
  for (int i = 0; i < n; i++) {
    if (p[i].c > c) p[i] = td_cexpr_cast(w, p[i], c);
    there |= p[i].c == c;
  }
  if (!there) p[0] = td_cexpr_cast(w, p[0], c);
}

/* Whether the first operand of an operator decides rather than joins. */
static int first_joined(int op) {
  return op == TD_OP_SELECT;
}

const char *td_cexpr_select(const TdCWriter *w, const TdExpr *e, size_t checks, const char *form) {
  bool both = e->op == TD_OP_SELECT && w->checks > checks && w->target->wraps;
  return both ? "td_both%t(%a, %b, %c)" : form;
}

TdPiece td_cexpr_fill(TdCWriter *w, int op, const char *form, int c, TdPiece *p, int n) {
  bool infix = !strchr(form, '(');
  int bind = infix ? bind_of[op] : TD_BIND_ATOM, first = first_joined(op);
  if (infix && c != TD_C_OTHER) meet(w, c, p + first, n - first);
  TdText t = td_text_new(w->arena);
  for (const char *s = form; *s; s++) {
    if (*s != '%' || !s[1]) {
      td_text_putc(&t, *s);
      continue;
    }
    s++;
    int i = *s - 'a';
    bool left = i == 0 && n > 1 && op != TD_OP_SELECT;
    if (*s == 't')
      td_text_puts(&t, ctypes[c].suffix);
    else if (i >= 0 && i < n)
      td_text_puts(&t, td_cexpr_operand(w, p[i], !infix ? TD_BIND_COND : bind + !left));
  }
  bool boolean = td_ops[op].boolean;
  return (TdPiece){td_text_str(&t), (uint8_t)bind, (uint8_t)(boolean ? TD_C_I32 : c)};
}

TdPiece td_cexpr_integer(TdCWriter *w, uint64_t bits, bool is_signed) {
  if (is_signed && bits >> 63) {
    int64_t v = (int64_t)bits;
    int c = v >= INT32_MIN ? TD_C_I32 : TD_C_I64;
    if (v == INT32_MIN || v == INT64_MIN)
      return td_cexpr_piece(w, TD_BIND_ADD, c, "-%" PRIu64 " - 1", (uint64_t) - (v + 1));
    return td_cexpr_piece(w, TD_BIND_UNARY, c, "%" PRId64, v);
  }
  int c = bits <= INT32_MAX ? TD_C_I32 : bits <= INT64_MAX ? TD_C_I64 : TD_C_U64;
  return td_cexpr_piece(w, TD_BIND_ATOM, c, "%" PRIu64 "%s", bits, c == TD_C_U64 ? "u" : "");
}

/* A float constant: C has no words for infinities and NaN, but operators that make them. */
static TdPiece float_literal(TdCWriter *w, const TdType *t, double x) {
  const char *f = t->w == 32 ? "f" : "";
  int c = t->w == 32 ? TD_C_F32 : TD_C_F64;
  if (isnan(x)) return td_cexpr_piece(w, TD_BIND_MUL, c, "0.0%s / 0.0%s", f, f);
  if (isinf(x)) return td_cexpr_piece(w, TD_BIND_MUL, c, "%s1.0%s / 0.0%s", x < 0 ? "-" : "", f, f);
  TdText text = td_text_new(w->arena);
  td_text_put_double(&text, x);
  td_text_puts(&text, f);
  return (TdPiece){td_text_str(&text), signbit(x) ? TD_BIND_UNARY : TD_BIND_ATOM, (uint8_t)c};
}

TdPiece td_cexpr_literal(TdCWriter *w, const TdType *t, uint64_t bits) {
  if (t->kind == TD_T_FLOAT) return float_literal(w, t, td_num_double(bits));
  return td_cexpr_integer(w, bits, td_type_is_signed(t) || t->kind == TD_T_INDEX);
}

TdPiece td_cexpr_size(TdCWriter *w, const TdExpr *e) {
  int64_t v = td_cfamily_size(w, e);
  if (td_cname_has_size(w, e->u.name))
    return td_cexpr_piece(w, TD_BIND_ATOM, TD_C_I32, "%s", e->u.name);
  return td_cexpr_integer(w, (uint64_t)v, true);
}

/* Whether e is known to be an index of such an extent, or nobody asks. */
static bool is_safe(TdCWriter *w, const TdExpr *e, int64_t extent) {
  return !w->target->guard || (td_crange_is_nonnegative(w, e) && td_crange_is_below(w, e, extent));
}

TdPiece td_cexpr_index(TdCWriter *w, const TdExpr *e, int64_t extent, TdLoc loc) {
  TdPiece p = w->target->index(w, e);
  if (is_safe(w, e, extent)) return p;
  w->checks++;
  return w->target->guard(w, p, extent, loc);
}

bool td_cexpr_distance(TdCWriter *w, const TdExpr *from, const TdExpr *to, int64_t *n) {
  if (from->sym != to->sym) return false;
  const TdCName *name = td_cname_of(w, to->sym);
  const TdType *t = name->type;
  if (!t || name->stride) return false;
  *n = 0;
  for (uint32_t d = 0; d < to->nkid; d++) {
    int64_t extent = 0, step;
    td_type_extent(t, (int)d, &extent);
    if (!is_safe(w, from->kid[d], extent) || !is_safe(w, to->kid[d], extent) ||
        !td_lin_diff(w->session, to->kid[d], from->kid[d], &step))
      return false;
    *n = *n * extent + step;
  }
  return true;
}

TdPiece td_cexpr_at(TdCWriter *w, const TdCName *name, const TdPiece *index) {
  int rank = name->type ? name->type->rank : 0;
  TdText t = td_text_new(w->arena);
  td_text_puts(&t, name->text);
  if (rank && name->stride) td_text_putc(&t, '[');
  for (int d = 0; d < rank; d++) {
    const char *stride = name->stride ? name->stride[d] : NULL;
    if (!stride)
      td_text_putf(&t, "[%s]", index[d].text);
    else if (strcmp(stride, "1") == 0)
      td_text_putf(&t, "%s%s", d ? " + " : "", td_cexpr_operand(w, index[d], TD_BIND_ADD));
    else
      td_text_putf(&t, "%s%s * %s", d ? " + " : "",
                   td_cexpr_operand(w, td_cexpr_cast(w, index[d], TD_C_I64), TD_BIND_MUL), stride);
  }
  if (rank && name->stride) td_text_putc(&t, ']');
  return (TdPiece){td_text_str(&t), TD_BIND_ATOM, TD_C_OTHER};
}

TdPiece td_cexpr_place(TdCWriter *w, const TdExpr *load) {
  const TdCName *name = td_cname_of(w, load->sym);
  TdPiece index[TD_MAX_RANK];
  for (uint32_t d = 0; d < load->nkid && name->type; d++) {
    int64_t extent = 0;
    td_type_extent(name->type, (int)d, &extent);
    index[d] = td_cexpr_index(w, load->kid[d], extent, load->loc);
  }
  return td_cexpr_at(w, name, index);
}

TdPiece td_cexpr_touch(TdCWriter *w, const TdExpr *load, bool write) {
  TdPiece p = td_cexpr_place(w, load);
  if (w->target->touch) p.text = w->target->touch(w, load, p.text, write);
  return p;
}

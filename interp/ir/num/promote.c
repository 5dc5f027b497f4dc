/* promote.c - the type that an operator gives, and what casts and stores may do: the table of
 * docs/numbers.md. Integers are fixed point without a fraction, so one rule serves both. */
#include "ir/type.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

#include "ir/expr.h"
#include "ir/num/float.h"

/* Bits that any operator computes with; wider words are only moved, cut, and combined by operators
 * that need no more than the low bits. */
#define WORD 64
#define FRACTION_MAX 1024

/* In the order in which a store or a mixed operator converts. index counts as INT. */
typedef enum { BOOL = 1, INT = 2, FIXED = 4, FLOAT = 8, MIXED = 16 /* bool and number */ } Class;
#define NUMBER (INT | FIXED | FLOAT)

typedef struct Format {
  bool is_signed;
  int w, f;
} Format;

/* Operator op on the n operand types t, written at loc. */
typedef struct Ask {
  TdSession *s;
  int op;
  const TdType *const *t;
  int n;
  TdLoc loc;
  TdDiag *d;
} Ask;

#define RULE(id) (1u << TD_RULE_##id)
#define SHIFTS (RULE(SHL) | RULE(SHR) | RULE(ASR))
#define SLICES (RULE(GETBITS) | RULE(SETBITS))
#define BITWISE (RULE(BITS) | RULE(BNOT))

/* Refusals that several places give: code and help. */
#define BOOL_ARITHMETIC "bool-arithmetic", "booleans take and, or, not, == and ~=; i32(b) is 0 or 1"
#define BEYOND_WORD "too-wide", "nothing computes beyond 64 bits: cast first, as in i64(x)"
#define BEYOND_TYPES "too-wide", "no type has more than 1024 bits: cast first"

/* Operands of these classes, under these rules, are refused; everything else is defined. */
static const struct Refusal {
  uint32_t rules;
  unsigned classes;
  const char *code, *help;
} refusals[] = {
    {RULE(LOGIC), NUMBER | MIXED, "needs-bool", "compare it: x ~= 0"},
    {UINT32_MAX, MIXED, BOOL_ARITHMETIC},
    {~(RULE(LOGIC) | RULE(SELECT) | RULE(COMPARE) | RULE(BITCAST) | RULE(TENSOR)), BOOL,
     BOOL_ARITHMETIC},
    {RULE(DIV), INT, "int-division", "use // or a cast"},
    {RULE(FLOORDIV) | RULE(MOD), FIXED, "fixed-division", "use /, or cast to integers first"},
    {BITWISE, FIXED, "fixed-bits", "use tide.bits, or tide.bitcast(T, x) to an integer"},
    {SHIFTS | SLICES | BITWISE, FLOAT, "float-bits",
     "tide.bitcast(T, x) gives its bits as an integer"},
    {RULE(FMA) | RULE(FLOAT), INT | FIXED, "needs-cast", "cast to a float first: f32(x)"},
};

static Class class_of(const TdType *t) {
  switch (t->kind) {
  case TD_T_BOOL: return BOOL;
  case TD_T_FIXED:
  case TD_T_UFIXED: return FIXED;
  case TD_T_FLOAT: return FLOAT;
  default: return INT;
  }
}

/* The format of an integer or fixed type; index beside other data is 32 bits. */
static Format format_of(const TdType *t) {
  if (t->kind == TD_T_INDEX) return (Format){.is_signed = true, .w = 32};
  return (Format){td_type_is_signed(t), t->w, t->f};
}

/* Bits before the point; as signed an unsigned format counts one more. */
static int whole_bits(Format x, bool as_signed) {
  return x.w - x.f + (as_signed && !x.is_signed);
}

static int max(int a, int b) {
  return a > b ? a : b;
}

/* The least format that holds both. */
static Format join_formats(Format a, Format b) {
  bool is_signed = a.is_signed || b.is_signed;
  int f = max(a.f, b.f);
  return (Format){is_signed, max(whole_bits(a, is_signed), whole_bits(b, is_signed)) + f, f};
}

/* The type of class c (INT or FIXED) with format x, or NULL when there is none so large. */
static const TdType *type_of(TdSession *s, Class c, Format x) {
  if (x.w > TD_MAX_BITS || abs(x.f) > FRACTION_MAX) return NULL;
  if (c == FIXED) return td_type_fixed(s, x.is_signed, x.w, x.f);
  return x.is_signed ? td_type_int(s, x.w) : td_type_uint(s, x.w);
}

/* The float that two types with at least one float meet in. */
static const TdType *join_floats(TdSession *s, const TdType *a, const TdType *b) {
  if (a->kind != TD_T_FLOAT) return b;
  if (b->kind != TD_T_FLOAT) return a;
  if (a->w != b->w) return a->w > b->w ? a : b;
  return a == b ? a : td_type_float(s, 32);
}

const TdType *td_promote_join(TdSession *s, const TdType *a, const TdType *b) {
  Class ca = class_of(a), cb = class_of(b);
  if ((ca == BOOL) != (cb == BOOL)) return NULL;
  if (a->kind == b->kind && (ca == BOOL || a->kind == TD_T_INDEX)) return a;
  if (ca == FLOAT || cb == FLOAT) return join_floats(s, a, b);
  return type_of(s, ca > cb ? ca : cb, join_formats(format_of(a), format_of(b)));
}

/* Fills d with a usage error and its help, unless it holds an error; returns false. */
static bool complain(TdDiag *d, const char *code, TdLoc loc, const char *help, const char *fmt, ...)
    TD_PRINTF(5, 6);
static bool complain(TdDiag *d, const char *code, TdLoc loc, const char *help, const char *fmt,
                     ...) {
  if (td_diag_failed(d)) return false;
  va_list ap;
  va_start(ap, fmt);
  td_diag_vset(d, TD_USAGE, code, loc, fmt, ap);
  va_end(ap);
  td_diag_help(d, "%s", help);
  return false;
}

/* Complains that the operator of q does not take its operands; returns NULL. */
static const TdType *refuse(const Ask *q, const char *code, const char *help) {
  TdText types = td_text_new(q->d->arena);
  for (int i = 0; i < q->n; i++) {
    if (i) td_text_puts(&types, i + 1 < q->n ? ", " : " and ");
    td_type_print(&types, q->t[i]);
  }
  const TdOpInfo *op = &td_ops[q->op];
  bool call = op->form == TD_FORM_CALL;
  complain(q->d, code, q->loc, help, "%s%s%s cannot take %s", call ? "tide." : "`", op->lua,
           call ? "" : "`", td_text_str(&types));
  return NULL;
}

/* The operands of q that become the result: q->t[*first] to the one before q->t[*end]. */
static void value_operands(const Ask *q, int *first, int *end) {
  uint32_t rule = 1u << td_ops[q->op].rule;
  *first = (rule & RULE(SELECT)) != 0;
  *end = rule & (SHIFTS | SLICES) ? 1 : q->n;
}

/* The class that q computes in. */
static Class class_of_values(const Ask *q) {
  int first, end;
  value_operands(q, &first, &end);
  unsigned all = 0;
  for (int i = first; i < end; i++) all |= class_of(q->t[i]);
  if (all & BOOL) return all == BOOL ? BOOL : MIXED;
  return all & FLOAT ? FLOAT : all & FIXED ? FIXED : INT;
}

/* Whether all values of q are of type index. */
static bool is_index(const Ask *q) {
  int first, end;
  value_operands(q, &first, &end);
  for (int i = first; i < end; i++)
    if (q->t[i]->kind != TD_T_INDEX) return false;
  return true;
}

/* Whether the values of q may be of class c; else d says why not. */
static bool check_class(const Ask *q, Class c) {
  const TdOpInfo *op = &td_ops[q->op];
  for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
    if (refusals[i].rules & 1u << op->rule && refusals[i].classes & c)
      return refuse(q, refusals[i].code, refusals[i].help);
  if (c == BOOL && op->rule == TD_RULE_COMPARE && !op->symmetric) return refuse(q, BOOL_ARITHMETIC);
  if (op->rule == TD_RULE_SHR && (td_type_is_signed(q->t[0]) || q->t[0]->kind == TD_T_INDEX))
    return refuse(q, "signed-shift", "`>>` fills with zeros: use tide.asr, or cast to unsigned");
  return true;
}

/* Whether the condition of select, the count of a shift and the bounds of a slice are what they
 * must be. */
static bool check_controls(const Ask *q) {
  uint32_t rule = 1u << td_ops[q->op].rule;
  if (rule & RULE(SELECT) && q->t[0]->kind != TD_T_BOOL)
    return refuse(q, "needs-bool", "the condition comes first: tide.select(x ~= 0, a, b)");
  for (int i = 1; i < q->n && rule & (SHIFTS | SLICES); i++)
    if (class_of(q->t[i]) != INT)
      return refuse(q, "needs-cast", "counts, bit positions and bits are integers: cast first");
  return true;
}

/* Whether q can be computed on its low 64 bits, in class c. */
static bool check_widths(const Ask *q, Class c) {
  const TdOpInfo *op = &td_ops[q->op];
  bool low_bits_do = (op->commutes && c != FLOAT) || 1u << op->rule & SLICES;
  for (int i = 0; i < q->n; i++)
    if (q->t[i]->w > WORD && !low_bits_do) return refuse(q, BEYOND_WORD);
  return true;
}

/* type_of, or NULL with a complaint. */
static const TdType *sized(const Ask *q, Class c, Format x) {
  const TdType *t = type_of(q->s, c, x);
  return t ? t : refuse(q, BEYOND_TYPES);
}

/* The quotient of fixed point: its dividend, shifted left by the fraction of b, must be a word. */
static const TdType *quotient(const Ask *q, Format a, Format b) {
  Format x = {a.is_signed || b.is_signed, max(1, a.w + b.f + 1), a.f};
  if (x.w > WORD)
    return refuse(q, "too-wide", "the quotient needs more than 64 bits: cast to fewer first");
  return sized(q, FIXED, x);
}

/* floor or ceil of fixed point. */
static const TdType *rounded(const Ask *q, Format a) {
  int whole = whole_bits(a, false);
  int w = q->op == TD_OP_CEIL ? max(whole + 1, a.is_signed ? 2 : 1) : max(whole, 1);
  return sized(q, INT, (Format){a.is_signed, w, 0});
}

const TdType *td_promote_accumulator(TdSession *s, const TdType *t) {
  switch (class_of(t)) {
  case BOOL: return t;
  case INT: return td_type_int(s, format_of(t).w < 32 ? 32 : 64);
  case FLOAT: return td_type_float(s, max(32, t->w));
  default: return NULL;
  }
}

/* What a matmul or reduction gives unless it is told; an allreduce keeps the type. */
static const TdType *tensor_result(const Ask *q, Class c) {
  if (q->op == TD_OP_ALLREDUCE) return td_type_plain(q->s, q->t[0]);
  if (c == BOOL && q->op == TD_OP_MATMUL) return refuse(q, BOOL_ARITHMETIC);
  const TdType *t = td_promote_accumulator(q->s, q->t[0]);
  const TdType *u = td_promote_accumulator(q->s, q->t[q->n - 1]);
  return t && u ? td_promote_join(q->s, t, u)
                : refuse(q, "needs-cast", "name the accumulator: {acc = T}");
}

/* The result on integers or fixed point (class c) of the operators that are arithmetic. */
static const TdType *arithmetic(const Ask *q, Class c) {
  Format a = format_of(q->t[0]), b = format_of(q->t[q->n - 1]), j = join_formats(a, b);
  switch (td_ops[q->op].rule) {
  case TD_RULE_ADD: return sized(q, c, (Format){j.is_signed, j.w + 1, j.f});
  case TD_RULE_SUB: return sized(q, c, (Format){true, j.w + 1, j.f});
  case TD_RULE_MUL: return sized(q, c, (Format){j.is_signed, a.w + b.w, a.f + b.f});
  case TD_RULE_FLOORDIV: return sized(q, c, b.is_signed ? (Format){true, a.w + 1, 0} : a);
  case TD_RULE_MOD: return sized(q, c, b);
  case TD_RULE_DIV: return quotient(q, a, b);
  case TD_RULE_NEG: return sized(q, c, (Format){true, a.w + 1, a.f});
  case TD_RULE_ABS: return sized(q, c, (Format){false, a.w, a.f});
  case TD_RULE_ROUND: return c == FIXED ? rounded(q, a) : sized(q, c, a);
  case TD_RULE_BNOT: return sized(q, c, a);
  default: return sized(q, c, j);
  }
}

/* The type of q, whose operands were checked and compute in class c. */
static const TdType *result(const Ask *q, Class c) {
  const TdOpInfo *op = &td_ops[q->op];
  switch (op->rule) {
  case TD_RULE_COMPARE:
  case TD_RULE_LOGIC: return td_type_bool(q->s);
  case TD_RULE_SHL:
  case TD_RULE_SHR:
  case TD_RULE_ASR:
  case TD_RULE_SETBITS: return td_type_plain(q->s, q->t[0]);
  case TD_RULE_SELECT: {
    const TdType *t = td_promote_join(q->s, q->t[1], q->t[2]);
    return t ? t : refuse(q, BEYOND_TYPES);
  }
  case TD_RULE_TENSOR: return tensor_result(q, c);
  case TD_RULE_GETBITS:
  case TD_RULE_BITCAST:
    td_diag_set(q->d, TD_BUG, "no-rule", q->loc, "the operand types do not give tide.%s a type",
                op->lua);
    return NULL;
  default: break;
  }
  if (is_index(q)) return td_type_index(q->s);
  if (c != FLOAT) return arithmetic(q, c);
  const TdType *t = q->t[0];
  for (int i = 1; i < q->n; i++) t = join_floats(q->s, t, q->t[i]);
  return t;
}

const TdType *td_promote_op(TdSession *s, int op, const TdType *const *t, int n, TdLoc loc,
                            TdDiag *d) {
  assert(n == td_ops[op].arity);
  Ask q = {s, op, t, n, loc, d};
  Class c = class_of_values(&q);
  if (!check_controls(&q) || !check_class(&q, c) || !check_widths(&q, c)) return NULL;
  return result(&q, c);
}

const TdType *td_promote_shl(TdSession *s, const TdType *t, int64_t count, TdLoc loc, TdDiag *d) {
  Ask q = {s, TD_OP_SHL, &t, 1, loc, d};
  Class c = class_of_values(&q);
  if (!check_class(&q, c)) return NULL;
  if (count < 0) return refuse(&q, "negative-shift", "a shift count is not negative");
  if (t->kind == TD_T_INDEX) return t;
  Format x = format_of(t);
  x.w = count > TD_MAX_BITS ? TD_MAX_BITS + 1 : x.w + (int)count;
  return sized(&q, c, x);
}

const TdType *td_promote_bits(TdSession *s, const TdType *t, int64_t lo, int64_t hi, TdLoc loc,
                              TdDiag *d) {
  Ask q = {s, TD_OP_GETBITS, &t, 1, loc, d};
  if (!check_class(&q, class_of_values(&q))) return NULL;
  if (0 <= lo && lo < hi && hi <= t->w) return td_type_uint(s, (int)(hi - lo));
  complain(d, "bits-range", loc, "bits are counted from 0 at the low end; hi is not taken",
           "%s has no bits %" PRId64 " to %" PRId64 ": it has %d", td_type_str(d->arena, t), lo, hi,
           t->w);
  return NULL;
}

bool td_promote_bitcast(const TdType *to, const TdType *from, TdLoc loc, TdDiag *d) {
  if (to->w == from->w) return true;
  return complain(d, "bitcast-width", loc, "tide.bitcast keeps every bit: cast to equal width",
                  "tide.bitcast of %s, %d bits, to %s, %d bits", td_type_str(d->arena, from),
                  from->w, td_type_str(d->arena, to), to->w);
}

/* Whether a cast looks at no more than the low 64 bits of what it is given and of what it gives. */
static bool cast_fits_word(const TdType *to, const TdType *from) {
  if (to->w <= WORD && from->w <= WORD) return true;
  if (to->saturate || to->kind == TD_T_FLOAT || from->kind == TD_T_FLOAT) return false;
  return from->w <= WORD || to->f >= from->f || from->f - to->f + to->w <= WORD;
}

bool td_promote_cast(TdSession *s, const TdType *to, const TdType *from, TdLoc loc, TdDiag *d) {
  (void)s;
  const char *code = "needs-cast", *help = "cast to an integer first: i32(x)";
  bool ok = to->kind != TD_T_INDEX || class_of(from) <= INT;
  if (to->kind == TD_T_BOOL && from->kind != TD_T_BOOL) {
    code = "needs-bool", help = "compare it: x ~= 0";
    ok = false;
  } else if (ok && !cast_fits_word(to, from)) {
    code = "too-wide", help = "nothing computes beyond 64 bits: cast to i64 or less first";
    ok = false;
  }
  return ok || complain(d, code, loc, help, "%s is not converted to %s",
                        td_type_str(d->arena, from), td_type_str(d->arena, to));
}

bool td_promote_can_store(const TdType *to, const TdType *from) {
  Class cto = class_of(to), cfrom = class_of(from);
  return cfrom == BOOL ? cto == BOOL : cto >= cfrom;
}

/* Whether every value of format x is one of float type t: its bits are significant ones, and
 * neither end of the exponents is passed. */
static bool float_holds(const TdType *t, Format x) {
  TdFloatFormat f = td_num_float_format(t);
  int bits = x.w - x.is_signed;
  return bits <= f.precision && bits - x.f <= f.top + !x.is_signed &&
         x.f <= f.top + f.precision - 2;
}

bool td_promote_holds(const TdType *to, const TdType *from) {
  if (class_of(to) == BOOL || class_of(from) == BOOL) return to->kind == from->kind;
  if (from->kind == TD_T_FLOAT)
    return to->kind == TD_T_FLOAT &&
           (to->w > from->w || (to->w == from->w && to->brain == from->brain));
  Format x = {td_type_is_signed(from) || from->kind == TD_T_INDEX, from->w, from->f};
  if (to->kind == TD_T_FLOAT) return float_holds(to, x);
  Format y = {td_type_is_signed(to) || to->kind == TD_T_INDEX, to->w, to->f};
  return y.f >= x.f && y.is_signed >= x.is_signed &&
         whole_bits(y, y.is_signed) >= whole_bits(x, y.is_signed);
}

/* Bits of the least integer type that holds v, as signed if it is negative. */
static int least_bits(uint64_t v, bool neg) {
  int w = neg;
  for (uint64_t rest = neg ? ~v : v; rest; rest >>= 1) w++;
  return max(w, 1);
}

const TdType *td_promote_literal(TdSession *s, int64_t v) {
  int w = least_bits((uint64_t)v, v < 0);
  return v < 0 ? td_type_int(s, w) : td_type_uint(s, w);
}

bool td_promote_is_least(const TdType *t, uint64_t v) {
  bool neg = t->kind == TD_T_INT && v >> 63;
  return t->kind == (neg ? TD_T_INT : TD_T_UINT) && t->w == least_bits(v, neg) && !t->saturate;
}

static bool fits_i32(int64_t v) {
  return v >= INT32_MIN && v <= INT32_MAX;
}

const TdType *td_promote_shifted(TdSession *s, int64_t v) {
  return fits_i32(v) ? td_type_int(s, 32) : td_promote_literal(s, v);
}

bool td_promote_is_shifted(const TdType *t, uint64_t v) {
  if (!fits_i32((int64_t)v)) return td_promote_is_least(t, v);
  return t->kind == TD_T_INT && t->w == 32 && !t->saturate;
}

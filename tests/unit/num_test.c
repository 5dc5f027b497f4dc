/* num_test.c - every operator and cast on integers and fixed point against big-integer arithmetic:
 * exhaustive for widths 1 to 4, boundary and random values for the others, and no result outside
 * its type. */
/* [slow] */
#include <stdlib.h>

#include "base/base.h"
#include "big.h"
#include "ir/num/num.h"
#include "tap.h"

static TdSession *S;
static TdDiag D;
static uint64_t seed = 0x243F6A8885A308D3u;

static uint64_t random_bits(void) {
  seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
  return seed * 0x2545F4914F6CDD1Du;
}

static int random_in(int lo, int hi) {
  return lo + (int)(random_bits() % (uint64_t)(hi - lo + 1));
}

/* What one TAP line sums up: results compared, and the first that was wrong. */
static struct {
  long results, wrong;
  char first[400];
} sum;

/* Counts one result; remembers the first wrong one. */
static void count(bool right, int op, const TdType *to, const TdType *const *t, const uint64_t *v,
                  int n, uint64_t got) {
  sum.results++;
  if (right || sum.wrong++) return;
  TdText text = td_text_new(S->arena);
  td_text_putf(&text, "%s ", op < 0 ? "cast" : td_ops[op].id);
  for (int i = 0; i < n; i++)
    td_text_putf(&text, "%s %llx, ", td_type_str(S->arena, t[i]), (unsigned long long)v[i]);
  td_text_putf(&text, "gave %s %llx", td_type_str(S->arena, to), (unsigned long long)got);
  snprintf(sum.first, sizeof sum.first, "%s", td_text_str(&text));
}

/* Prints the line of what was counted since the last, which must be something. */
static void report(const char *name) {
  char line[200];
  snprintf(line, sizeof line, "%s (%ld results)", name, sum.results);
  ok(sum.results && !sum.wrong, line);
  if (sum.wrong) printf("# %ld wrong, first: %s\n", sum.wrong, sum.first);
  memset(&sum, 0, sizeof sum);
}

static bool is_signed(const TdType *t) {
  return td_type_is_signed(t) || t->kind == TD_T_INDEX;
}

/* The raw word of v as an integer. */
static Big raw(const TdType *t, uint64_t v) {
  bool neg = is_signed(t) && v >> 63;
  return big_of(neg, neg ? 0 - v : v);
}

static Big lowest(const TdType *t) {
  return is_signed(t) ? big_neg(big_pow2(t->w - 1)) : big_of(false, 0);
}

static Big highest(const TdType *t) {
  return big_sub(big_pow2(t->w - is_signed(t)), big_of(false, 1));
}

static bool inside(const TdType *t, Big x) {
  return big_cmp(x, lowest(t)) >= 0 && big_cmp(x, highest(t)) <= 0;
}

/* The value of type t congruent to x modulo 2^w; modulo 2^64 for wider types. */
static uint64_t wrapped(const TdType *t, Big x) {
  if (t->w > 64) return big_low(x);
  Big rest = big_low_bits(x, t->w);
  if (!inside(t, rest)) rest = big_sub(rest, big_pow2(t->w));
  return big_low(rest);
}

/* x * 2^n, by floor for n < 0. */
static Big scaled(Big x, int n) {
  return n < 0 ? big_floor_shr(x, -n) : big_shl(x, n);
}

/* The bits of a and b combined in two's complement, sign extended without end. */
static Big bitwise(int op, Big a, Big b) {
  Big r = {0};
  a = big_low_bits(a, 200), b = big_low_bits(b, 200);
  for (int i = 0; i < BIG_LIMBS; i++)
    r.d[i] = op == TD_OP_BAND  ? a.d[i] & b.d[i]
             : op == TD_OP_BOR ? a.d[i] | b.d[i]
                               : a.d[i] ^ b.d[i];
  return big_bit(&r, 199) ? big_sub(r, big_pow2(200)) : r;
}

static Big floor_quotient(Big a, Big b) {
  Big rest;
  return big_is_zero(&b) ? b : big_floordiv(a, b, &rest);
}

static Big floor_rest(Big a, Big b) {
  Big rest;
  if (big_is_zero(&b)) return b;
  big_floordiv(a, b, &rest);
  return rest;
}

static Big truth(bool b) {
  return big_of(false, b);
}

/* The exact result of op as a raw word of `to`, before any wrapping. */
static Big reference(int op, const TdType *to, const TdType *const *t, const uint64_t *v, int n) {
  Big a = raw(t[0], v[0]), b = n > 1 ? raw(t[1], v[1]) : a, one = big_of(false, 1);
  int fa = t[0]->f, fb = n > 1 ? t[1]->f : fa, f = fa > fb ? fa : fb;
  Big x = big_shl(a, f - fa), y = big_shl(b, f - fb);
  int order = big_cmp(x, y);
  switch (op) {
  case TD_OP_ADD: return big_add(x, y);
  case TD_OP_SUB: return big_sub(x, y);
  case TD_OP_MUL: return big_mul(a, b);
  case TD_OP_FLOORDIV: return floor_quotient(a, b);
  case TD_OP_MOD: return floor_rest(a, b);
  case TD_OP_DIV:
    return fb < 0 ? floor_quotient(a, big_shl(b, -fb)) : floor_quotient(big_shl(a, fb), b);
  case TD_OP_NEG: return big_neg(a);
  case TD_OP_ABS: return a.neg ? big_neg(a) : a;
  case TD_OP_BAND:
  case TD_OP_BOR:
  case TD_OP_BXOR: return bitwise(op, a, b);
  case TD_OP_BNOT: {
    Big flipped = big_sub(big_neg(a), one);
    return is_signed(t[0]) ? flipped : big_add(flipped, big_pow2(t[0]->w));
  }
  case TD_OP_MIN: return order < 0 ? x : y;
  case TD_OP_MAX: return order < 0 ? y : x;
  case TD_OP_EQ: return truth(order == 0);
  case TD_OP_NE: return truth(order != 0);
  case TD_OP_LT: return truth(order < 0);
  case TD_OP_LE: return truth(order <= 0);
  case TD_OP_FLOOR: return scaled(a, -fa);
  case TD_OP_CEIL: return big_neg(scaled(big_neg(a), -fa));
  default: abort();
  }
  (void)to;
}

/* One operator on values whose operands promote to `to`. */
static void try_op(int op, const TdType *to, const TdType *const *t, const uint64_t *v, int n) {
  TdFault fault;
  uint64_t got = td_num_op(op, to, t, v, n, &fault);
  Big want = reference(op, to, t, v, n);
  bool zero = td_ops[op].cost[0] == 'd' && v[1] == 0;
  count(got == wrapped(to, want) && inside(to, want) && (fault == TD_FAULT_ZERO_DIVISION) == zero,
        op, to, t, v, n, got);
}

/* A value of type t from any bits. */
static uint64_t as_value(const TdType *t, uint64_t bits) {
  return wrapped(t, big_of(false, bits));
}

#define VALUES 18

/* Values of t: all of them up to 4 bits, else its ends, those around 0, a few more, random ones. */
static int values_of(const TdType *t, uint64_t *v) {
  int n = 0;
  if (t->w <= 4) {
    for (uint64_t i = 0; i < (uint64_t)1 << t->w; i++) v[n++] = as_value(t, i);
    return n;
  }
  uint64_t top = (uint64_t)1 << (t->w - 1);
  uint64_t edge[] = {0, 1, 2, 3, 0 - (uint64_t)1, 0 - (uint64_t)2, top, top + 1, top - 1, top - 2};
  for (size_t i = 0; i < sizeof edge / sizeof *edge; i++) v[n++] = as_value(t, edge[i]);
  while (n < VALUES) v[n++] = as_value(t, random_bits() >> random_in(0, t->w - 1));
  return n;
}

/* The type of op on t, or NULL. */
static const TdType *promoted(int op, const TdType *const *t, int n) {
  D = (TdDiag){.arena = S->arena};
  return td_promote_op(S, op, t, n, (TdLoc){0}, &D);
}

/* An operator of one or two operands over all values of the types. */
static void try_types(int op, const TdType *a, const TdType *b) {
  const TdType *t[] = {a, b};
  int n = td_ops[op].arity;
  const TdType *to = promoted(op, t, n);
  if (!to) return;
  uint64_t va[VALUES], vb[VALUES];
  int na = values_of(a, va), nb = n > 1 ? values_of(b, vb) : 1;
  for (int i = 0; i < na; i++)
    for (int j = 0; j < nb; j++) try_op(op, to, t, (uint64_t[]){va[i], n > 1 ? vb[j] : 0}, n);
}

static const int widths[] = {1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64};
#define WIDTHS ((int)(sizeof widths / sizeof *widths))
#define INTEGERS (2 * WIDTHS)

/* The i-th integer type of the tests. */
static const TdType *integer(int i) {
  return i & 1 ? td_type_int(S, widths[i / 2]) : td_type_uint(S, widths[i / 2]);
}

static const TdType *random_fixed(void) {
  int w = random_in(1, 64);
  return td_type_fixed(S, random_bits() & 1, w, random_in(-20, w + 20));
}

static const int operators[] = {TD_OP_ADD,  TD_OP_SUB,  TD_OP_MUL, TD_OP_FLOORDIV, TD_OP_MOD,
                                TD_OP_DIV,  TD_OP_NEG,  TD_OP_ABS, TD_OP_BAND,     TD_OP_BOR,
                                TD_OP_BXOR, TD_OP_BNOT, TD_OP_MIN, TD_OP_MAX,      TD_OP_EQ,
                                TD_OP_NE,   TD_OP_LT,   TD_OP_LE,  TD_OP_FLOOR,    TD_OP_CEIL};
#define OPERATORS (sizeof operators / sizeof *operators)

static void test_integers(void) {
  for (size_t k = 0; k < OPERATORS; k++) {
    int op = operators[k], pairs = td_ops[op].arity > 1 ? INTEGERS : 1;
    if (op == TD_OP_DIV) continue;
    for (int i = 0; i < INTEGERS; i++)
      for (int j = 0; j < pairs; j++) try_types(op, integer(i), integer(j));
    char name[80];
    snprintf(name, sizeof name, "%s on integers", td_ops[op].id);
    report(name);
  }
}

static void test_index(void) {
  const TdType *index = td_type_index(S), *t[] = {index, index};
  int64_t v[] = {0, 1, -1, 7, -7, 8, 1000000007};
  for (size_t i = 0; i < 7; i++)
    for (size_t j = 0; j < 7; j++)
      for (size_t k = 0; k < OPERATORS; k++)
        if (promoted(operators[k], t, td_ops[operators[k]].arity))
          try_op(operators[k], promoted(operators[k], t, td_ops[operators[k]].arity), t,
                 (uint64_t[]){(uint64_t)v[i], (uint64_t)v[j]}, td_ops[operators[k]].arity);
  report("operators on index");
}

static void test_fixed(void) {
  for (size_t k = 0; k < OPERATORS; k++) {
    int op = operators[k];
    for (int i = 0; i < 150; i++) {
      const TdType *a = random_fixed(), *b = random_fixed();
      if (i % 5 == 1) b = integer(random_in(0, INTEGERS - 1));
      if (i % 5 == 2) a = integer(random_in(0, INTEGERS - 1));
      if (td_type_is_fixed(a) || (td_ops[op].arity > 1 && td_type_is_fixed(b))) try_types(op, a, b);
    }
    bool refused = td_ops[op].rule == TD_RULE_BITS || op == TD_OP_BNOT || op == TD_OP_FLOORDIV ||
                   op == TD_OP_MOD;
    char name[80];
    snprintf(name, sizeof name, "%s on fixed point", td_ops[op].id);
    if (refused)
      ok(sum.results == 0, name);
    else
      report(name);
  }
}

/* Operators that multiply and add in steps: results wider than 64 bits, cut by the last cast. */
static void test_wide(void) {
  const TdType *i64 = td_type_int(S, 64), *two[] = {i64, i64};
  const TdType *product = promoted(TD_OP_MUL, two, 2), *sum_of[] = {product, i64};
  const TdType *total = promoted(TD_OP_ADD, sum_of, 2);
  TdFault fault;
  for (int i = 0; i < 20000; i++) {
    uint64_t v[] = {random_bits(), random_bits()}, c = random_bits();
    uint64_t p = td_num_op(TD_OP_MUL, product, two, v, 2, &fault);
    uint64_t s = td_num_op(TD_OP_ADD, total, sum_of, (uint64_t[]){p, c}, 2, &fault);
    Big want = big_add(big_mul(raw(i64, v[0]), raw(i64, v[1])), raw(i64, c));
    for (int w = 1; w <= 64; w += 9) {
      const TdType *to = td_type_int(S, w);
      uint64_t got = td_num_cast(to, total, s, &fault);
      count(got == wrapped(to, want) && inside(total, want), TD_OP_MUL, to, two, v, 2, got);
    }
  }
  report("i64 * i64 + i64 cut by a cast");
}

/* Shifts by a variable, whose count may be anything, and << by constants, which is exact. */
static void test_shifts(void) {
  const TdType *count_type[] = {td_type_int(S, 32), td_type_uint(S, 64), td_type_index(S)};
  for (int i = 0; i < INTEGERS + 40; i++) {
    const TdType *t[2] = {i < INTEGERS ? integer(i) : random_fixed()};
    uint64_t v[VALUES];
    int n = values_of(t[0], v), w = t[0]->w;
    int counts[] = {0, 1, w / 2, w - 1, w, w + 1, 63, 64, 65, 1 << 30, -1, -70};
    for (int op = TD_OP_SHL; op <= TD_OP_ASR; op++)
      for (int j = 0; j < n; j++)
        for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
          t[1] = count_type[(size_t)j % 3];
          const TdType *to = promoted(op, t, 2);
          if (!to) continue;
          TdFault fault;
          bool negative = counts[k] < 0 && t[1]->kind != TD_T_UINT;
          uint64_t x[] = {v[j], (uint64_t)(int64_t)counts[k]};
          uint64_t got = td_num_op(op, to, t, x, 2, &fault);
          int c = counts[k] < 0 || counts[k] > w ? w : counts[k];
          Big want = scaled(raw(t[0], v[j]), op == TD_OP_SHL ? c : -c);
          count(got == wrapped(to, want) && (fault == TD_FAULT_NEGATIVE_SHIFT) == negative, op, to,
                t, x, 2, got);
        }
    for (int c = 0; c < 70; c += 1 + c / 4) {
      const TdType *to = td_promote_shl(S, t[0], c, (TdLoc){0}, &D);
      t[1] = td_promote_literal(S, c);
      for (int j = 0; j < n; j++) {
        TdFault fault;
        uint64_t x[] = {v[j], (uint64_t)c}, got = td_num_op(TD_OP_SHL, to, t, x, 2, &fault);
        Big want = scaled(raw(t[0], v[j]), c);
        count(got == wrapped(to, want) && inside(to, want), TD_OP_SHL, to, t, x, 2, got);
      }
    }
  }
  report("shifts by variables and constants");
}

/* bits lo to hi of v and their replacement by `with`. */
static void try_slice(const TdType *from, uint64_t v, int lo, int hi, uint64_t with) {
  const TdType *small = td_type_uint(S, 7), *u64 = td_type_uint(S, 64);
  const TdType *t[] = {from, small, small, u64};
  uint64_t x[] = {v, (uint64_t)lo, (uint64_t)hi, with};
  const TdType *to = td_promote_bits(S, from, lo, hi, (TdLoc){0}, &D);
  TdFault fault;
  Big word = big_low_bits(raw(from, v), from->w);
  Big part = big_low_bits(big_floor_shr(word, lo), hi - lo);
  uint64_t got = td_num_op(TD_OP_GETBITS, to, t, x, 3, &fault);
  count(got == big_low(part) && inside(to, part) && to->w == hi - lo, TD_OP_GETBITS, to, t, x, 3,
        got);
  Big other = big_low_bits(big_of(false, with), hi - lo);
  Big want = big_add(big_sub(word, big_shl(part, lo)), big_shl(other, lo));
  to = promoted(TD_OP_SETBITS, t, 4);
  got = td_num_op(TD_OP_SETBITS, to, t, x, 4, &fault);
  count(got == wrapped(to, want) && to == from, TD_OP_SETBITS, to, t, x, 4, got);
}

static void test_slices(void) {
  const TdType *u26 = td_type_uint(S, 26);
  for (int lo = 0; lo < 26; lo++)
    for (int hi = lo + 1; hi <= 26; hi++)
      for (int i = 0; i < 8; i++) try_slice(u26, random_bits() >> 38, lo, hi, random_bits());
  report("slices of u26");
  for (int i = 0; i < 20000; i++) {
    const TdType *t = i & 1 ? integer(random_in(0, INTEGERS - 1)) : random_fixed();
    int lo = random_in(0, t->w - 1);
    try_slice(t, as_value(t, random_bits()), lo, random_in(lo + 1, t->w), random_bits());
  }
  report("slices of integers and fixed point");
}

static void test_select(void) {
  for (int i = 0; i < 4000; i++) {
    const TdType *a = i & 1 ? integer(random_in(0, INTEGERS - 1)) : random_fixed();
    const TdType *b = i & 2 ? integer(random_in(0, INTEGERS - 1)) : random_fixed();
    const TdType *t[] = {td_type_bool(S), a, b}, *to = promoted(TD_OP_SELECT, t, 3);
    for (uint64_t c = 0; c < 2; c++) {
      uint64_t v[] = {c, as_value(a, random_bits()), as_value(b, random_bits())};
      TdFault fault;
      uint64_t got = td_num_op(TD_OP_SELECT, to, t, v, 3, &fault);
      int pick = c ? 1 : 2;
      Big want = big_shl(raw(t[pick], v[pick]), to->f - t[pick]->f);
      count(got == wrapped(to, want) && inside(to, want), TD_OP_SELECT, to, t, v, 3, got);
    }
  }
  report("SELECT on integers and fixed point");
  const TdType *b = td_type_bool(S), *two[] = {b, b};
  for (uint64_t i = 0; i < 4; i++) {
    uint64_t x = i & 1, y = i >> 1, v[] = {x, y};
    const struct {
      int op, n;
      uint64_t want;
    } row[] = {{TD_OP_AND, 2, x & y},
               {TD_OP_OR, 2, x | y},
               {TD_OP_NOT, 1, !x},
               {TD_OP_EQ, 2, x == y},
               {TD_OP_NE, 2, x != y}};
    for (int k = 0; k < 5; k++) {
      TdFault fault;
      uint64_t got = td_num_op(row[k].op, b, two, v, row[k].n, &fault);
      count(got == row[k].want && promoted(row[k].op, two, row[k].n) == b, row[k].op, b, two, v, 2,
            got);
    }
  }
  report("operators on booleans");
}

/* The cast of v by to's mode. */
static uint64_t cast_reference(const TdType *to, const TdType *from, uint64_t v) {
  Big x = raw(from, v);
  int up = to->f - from->f;
  if (to->nearest && up < 0) {
    Big twice = scaled(x, up + 1), kept = big_floor_shr(twice, 1);
    bool half = big_low(twice) & 1;
    bool exact = big_cmp(big_shl(twice, -up - 1), x) == 0;
    x = half && (!exact || big_low(kept) & 1) ? big_add(kept, big_of(false, 1)) : kept;
  } else {
    x = scaled(x, up);
  }
  if (to->saturate && big_cmp(x, lowest(to)) < 0) x = lowest(to);
  if (to->saturate && big_cmp(x, highest(to)) > 0) x = highest(to);
  return wrapped(to, x);
}

/* All modes of casting between two types. */
static void try_casts(const TdType *to, const TdType *from) {
  uint64_t v[VALUES];
  int n = values_of(from, v);
  for (int mode = 0; mode < 4; mode++) {
    const TdType *t = td_type_with(S, to, mode & 1, mode & 2);
    for (int i = 0; i < n; i++) {
      TdFault fault;
      uint64_t got = td_num_cast(t, from, v[i], &fault), want = cast_reference(t, from, v[i]);
      bool same = td_promote_holds(to, from);
      if (same && t->w <= 64) {
        uint64_t back = td_num_cast(from, t, got, &fault);
        count(back == v[i], -1, from, &t, &got, 1, back);
      }
      count(got == want && fault == TD_FAULT_NONE, -1, t, &from, &v[i], 1, got);
    }
  }
}

static void test_casts(void) {
  for (int i = 0; i < INTEGERS; i++)
    for (int j = 0; j < INTEGERS; j++) try_casts(integer(i), integer(j));
  report("casts of integers");
  for (int i = 0; i < 3000; i++) {
    const TdType *t = random_fixed();
    try_casts(i % 3 ? random_fixed() : integer(random_in(0, INTEGERS - 1)), t);
    try_casts(t, integer(random_in(0, INTEGERS - 1)));
  }
  const TdType *far[] = {td_type_fixed(S, true, 64, 1024), td_type_fixed(S, false, 8, -200),
                         td_type_fixed(S, true, 5, 128), td_type_fixed(S, true, 9, -64)};
  for (size_t i = 1; i < 4; i++)
    for (size_t j = 1; j < 4; j++) try_casts(far[i], far[j]);
  report("casts of fixed point");
  TdFault fault;
  ok(td_num_cast(td_type_int(S, 8), far[0], UINT64_MAX, &fault) == UINT64_MAX &&
         td_num_cast(td_type_with(S, far[0], true, false), td_type_int(S, 8), 1, &fault) ==
             INT64_MAX,
     "casts across 1024 bits");
}

/* Bits of equal width read as another type. */
static void test_bitcasts(void) {
  for (int i = 0; i < 20000; i++) {
    const TdType *from = random_fixed();
    const TdType *to = td_type_fixed(S, random_bits() & 1, from->w, random_in(-9, 9));
    uint64_t v = as_value(from, random_bits());
    TdFault fault;
    uint64_t got = td_num_op(TD_OP_BITCAST, to, &from, &v, 1, &fault);
    count(got == as_value(to, v) && td_promote_bitcast(to, from, (TdLoc){0}, &D), TD_OP_BITCAST, to,
          &from, &v, 1, got);
  }
  report("bitcasts");
}

/* Values survive memory, and cells do not reach past their bytes. */
static void test_memory(void) {
  for (int i = 0; i < 20000; i++) {
    const TdType *t = i & 1 ? integer(random_in(0, INTEGERS - 1)) : random_fixed();
    uint64_t v = as_value(t, random_bits());
    unsigned char cell[10];
    memset(cell, 0xA5, sizeof cell);
    td_num_store(t, cell, v);
    uint64_t got = td_num_load(t, cell);
    count(got == v && cell[td_type_bytes(t)] == 0xA5, -1, t, &t, &v, 1, got);
  }
  report("memory cells");
  unsigned char wide[17] = {0};
  td_num_store(td_type_int(S, 100), wide, 0 - (uint64_t)2);
  ok(wide[0] == 0xFE && wide[15] == 0xFF && wide[16] == 0 &&
         td_num_load(td_type_int(S, 100), wide) == 0 - (uint64_t)2,
     "a cell of 100 bits is two words");
}

/* Named results of section 6 of the specification, and of the values that would trap in C. */
static void test_named(void) {
  const TdType *u8 = td_type_uint(S, 8), *i8 = td_type_int(S, 8), *i64 = td_type_int(S, 64);
  const TdType *uu[] = {u8, u8}, *ii[] = {i8, i8}, *ll[] = {i64, i64};
  const TdType *diff = promoted(TD_OP_SUB, uu, 2), *quot = promoted(TD_OP_FLOORDIV, ii, 2);
  TdFault fault;
  ok(diff == td_type_int(S, 9) &&
         td_num_op(TD_OP_SUB, diff, uu, (uint64_t[]){3, 255}, 2, &fault) == 0 - (uint64_t)252,
     "u8 minus u8 is int(9)");
  uint64_t minus8[] = {0 - (uint64_t)8, UINT64_MAX};
  ok(quot == td_type_int(S, 9) && td_num_op(TD_OP_FLOORDIV, quot, ii, minus8, 2, &fault) == 8,
     "-8 // -1 is 8");
  uint64_t least[] = {(uint64_t)1 << 63, UINT64_MAX};
  ok(td_num_op(TD_OP_FLOORDIV, promoted(TD_OP_FLOORDIV, ll, 2), ll, least, 2, &fault) == least[0] &&
         td_num_op(TD_OP_MOD, i64, ll, least, 2, &fault) == 0 && fault == TD_FAULT_NONE,
     "the least i64 // -1 does not trap");
}

static void is_printed(const TdType *t, uint64_t v, const char *want) {
  TdText text = td_text_new(S->arena);
  td_num_print(&text, t, v);
  is_text(td_text_str(&text), want, want[0] ? want : "empty");
}

static void test_print(void) {
  is_printed(td_type_int(S, 8), 0 - (uint64_t)3, "-3");
  is_printed(td_type_int(S, 64), (uint64_t)1 << 63, "-9223372036854775808");
  is_printed(td_type_uint(S, 64), UINT64_MAX, "18446744073709551615");
  is_printed(td_type_index(S), 0, "0");
  is_printed(td_type_bool(S), 1, "true");
  is_printed(td_type_fixed(S, true, 8, 3), 0 - (uint64_t)20, "-2.5");
  is_printed(td_type_fixed(S, true, 8, 3), 24, "3");
  is_printed(td_type_fixed(S, false, 8, 10), 1, "0.0009765625");
  is_printed(td_type_fixed(S, false, 8, -3), 5, "40");
  is_printed(td_type_fixed(S, false, 64, -64), 1, "18446744073709551616");
  is_printed(td_type_fixed(S, true, 4, 12), 0, "0");
  is_printed(td_type_float(S, 32), td_num_of_double(0.5), "0.5");
  TdText text = td_text_new(S->arena);
  td_num_print(&text, td_type_fixed(S, true, 64, 1024), INT64_MAX);
  ok(text.n == 1026, "1024 decimal places");
}

int main(void) {
  TdCtx *c = td_ctx_new();
  S = td_session_new(c);
  D.arena = S->arena;
  test_integers();
  test_index();
  test_fixed();
  test_wide();
  test_shifts();
  test_slices();
  test_select();
  test_casts();
  test_bitcasts();
  test_memory();
  test_named();
  test_print();
  td_session_free(S);
  td_ctx_free(c);
  return done_testing();
}

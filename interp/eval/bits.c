/* bits.c - expressions as words of functions of bits: each operator as ir/num.c computes it, on
 * two's complement words that are as long as their value needs. */
#include "eval/bits.h"

#include <string.h>

#include "eval/bdd.h"
#include "eval/value/intern.h"

/* Nodes that one operator may take: a few first, which is enough where most is the same on both
 * sides and unknown; then many. Those of all that are asked about one pair. */
enum { FEW = 1500, MANY = 150000, ALL = 1 << 20 };
/* Nodes that all questions may take together, an operator's share being at least so many. */
enum { BUDGET = 1 << 22, SHARE = 16 };
/* Places of the order: a bit's number before the unknown's, so that words interleave. */
enum { UNKNOWN_BITS = 21, MOST_UNKNOWNS = 1 << UNKNOWN_BITS, MOST_BITS = 2048 };
enum { KEY = 12 };

/* An integer in two's complement, lowest bit first; the last is the sign, and differs from the one
 * before it. */
typedef struct Word {
  int n; /* 0: none */
  const TdBit *at;
} Word;

/* What an unknown is the value of. */
typedef struct Unknown {
  uint64_t key[KEY];
} Unknown;

struct TdBits {
  TdArena *scratch; /* what is made for a few pairs */
  TdMark empty;
  const void *graph;
  TdBdd *bdd;
  size_t most;            /* nodes that one operator may take */
  size_t spent;           /* of the budget */
  bool lost;              /* it is spent, or there were too many unknowns: no answer */
  TdMap word;             /* node of the graph -> place in words + 1 */
  TD_VEC(Word) words;     /* of nodes; */
  TD_VEC(uint64_t) names; /* and a number that only equal words share */
  TdMap name, unknown;    /* hash of a word -> place + 1; hash of a key -> number + 1 */
  TD_VEC(Word) named;
  TD_VEC(Unknown) unknowns;
};

TdBits *td_bits_new(TdArena *a, const void *graph) {
  TdBits *b = TD_NEW(a, TdBits);
  b->scratch = td_arena_inner(a);
  b->empty = td_arena_mark(b->scratch);
  b->graph = graph;
  return b;
}

/* Forgets all words. */
static void clear(TdBits *b, size_t most) {
  td_arena_release(b->scratch, b->empty);
  b->bdd = td_bdd_new(b->scratch);
  b->most = most;
  b->word = b->name = b->unknown = (TdMap){0};
  memset(&b->words, 0, sizeof b->words);
  memset(&b->names, 0, sizeof b->names);
  memset(&b->named, 0, sizeof b->named);
  memset(&b->unknowns, 0, sizeof b->unknowns);
}

static TdBit *room(TdBits *b, int n) {
  return TD_NEWN(b->scratch, TdBit, n);
}

/* Bit i of x, which goes on with its sign. */
static TdBit bit(Word x, int i) {
  return x.at[i < x.n ? i : x.n - 1];
}

/* The word of these bits without more signs than one. */
static Word word(const TdBit *at, int n) {
  while (n > 1 && at[n - 1] == at[n - 2]) n--;
  return (Word){n, at};
}

static Word constant(TdBits *b, uint64_t v, bool is_signed) {
  TdBit *at = room(b, 65);
  for (int i = 0; i < 64; i++) at[i] = v >> i & 1;
  at[64] = is_signed && v >> 63;
  return word(at, 65);
}

/* The value of a word of which all bits are known and that fits 64 bits; false: it is not so. */
static bool known_value(Word x, int64_t *v) {
  uint64_t u = 0;
  if (x.n > 64) return false;
  for (int i = 0; i < 64; i++) {
    if (bit(x, i) > 1) return false;
    u |= (uint64_t)bit(x, i) << i;
  }
  *v = (int64_t)u;
  return true;
}

static bool is_signed(const TdType *t) {
  return td_type_is_signed(t) || t->kind == TD_T_INDEX;
}

/* How many bits a value of t has here; floats are kept as doubles. */
static int width(const TdType *t) {
  return t->kind == TD_T_BOOL ? 1 : t->kind == TD_T_FLOAT ? 64 : t->w;
}

/* The low n bits of x, with a sign or, if not, a 0 in front. */
static Word low(TdBits *b, Word x, int n, bool sign) {
  TdBit *at = room(b, n + 1);
  for (int i = 0; i < n; i++) at[i] = bit(x, i);
  at[n] = sign && n ? at[n - 1] : 0;
  return word(at, n + 1);
}

/* x as a value of t: cut to its width. */
static Word fit(TdBits *b, const TdType *t, Word x) {
  return low(b, x, width(t), is_signed(t));
}

/* x * 2^by, rounded down. */
static Word shifted(TdBits *b, Word x, int by) {
  int n = x.n + by > 1 ? x.n + by : 1;
  TdBit *at = room(b, n);
  for (int i = 0; i < n; i++) at[i] = i < by ? 0 : bit(x, i - by);
  return word(at, n);
}

static Word inverted(TdBits *b, Word x) {
  TdBit *at = room(b, x.n);
  for (int i = 0; i < x.n; i++) at[i] = td_bdd_not(b->bdd, x.at[i]);
  return word(at, x.n);
}

/* x + y + carry. */
static Word sum(TdBits *b, Word x, Word y, TdBit carry) {
  TdBdd *d = b->bdd;
  int n = (x.n > y.n ? x.n : y.n) + 1;
  TdBit *at = room(b, n);
  for (int i = 0; i < n; i++) {
    TdBit p = bit(x, i), q = bit(y, i), one = td_bdd_xor(d, p, q);
    at[i] = td_bdd_xor(d, one, carry);
    carry = td_bdd_choose(d, one, carry, p);
  }
  return word(at, n);
}

static Word negated(TdBits *b, Word x) {
  return sum(b, inverted(b, x), constant(b, 0, false), 1);
}

/* c ? x : y. */
static Word chosen(TdBits *b, TdBit c, Word x, Word y) {
  int n = x.n > y.n ? x.n : y.n;
  TdBit *at = room(b, n);
  for (int i = 0; i < n; i++) at[i] = td_bdd_choose(b->bdd, c, bit(x, i), bit(y, i));
  return word(at, n);
}

static TdBit is_less(TdBits *b, Word x, Word y) {
  TdBdd *d = b->bdd;
  int n = x.n > y.n ? x.n : y.n;
  TdBit less = 0;
  for (int i = 0; i < n; i++) {
    TdBit p = bit(x, i), q = bit(y, i);
    less = td_bdd_choose(d, td_bdd_xor(d, p, q), i == n - 1 ? p : q, less);
  }
  return less;
}

static TdBit is_equal(TdBits *b, Word x, Word y) {
  TdBdd *d = b->bdd;
  TdBit same = 1;
  for (int i = (x.n > y.n ? x.n : y.n); i-- > 0;)
    same = td_bdd_choose(d, td_bdd_xor(d, bit(x, i), bit(y, i)), 0, same);
  return same;
}

static TdBit is_nonzero(TdBits *b, Word x) {
  TdBit any = 0;
  for (int i = x.n; i-- > 0;) any = td_bdd_or(b->bdd, x.at[i], any);
  return any;
}

static Word truth(TdBits *b, TdBit x) {
  TdBit *at = room(b, 2);
  at[0] = x;
  at[1] = 0;
  return word(at, 2);
}

/* x * by. */
static Word scaled(TdBits *b, Word x, int64_t by) {
  Word z = constant(b, 0, false);
  uint64_t left = by < 0 ? 0 - (uint64_t)by : (uint64_t)by;
  for (int i = 0; left && !td_bdd_is_over(b->bdd); i++, left >>= 1)
    if (left & 1) z = sum(b, z, shifted(b, x, i), 0);
  return by < 0 ? negated(b, z) : z;
}

/* A number that only words equal to x have. */
static uint64_t name_of(TdBits *b, Word x) {
  uint64_t h = (uint64_t)x.n, place = 0;
  for (int i = 0; i < x.n; i++) h = td_map_mix(h, x.at[i]);
  while (td_map_get(&b->name, h, &place)) {
    Word y = b->named.at[place - 1];
    if (x.n == y.n && !memcmp(x.at, y.at, (size_t)x.n * sizeof *x.at)) return place;
    h = td_map_mix(h, 1);
  }
  td_vec_push(b->scratch, &b->named, x);
  td_map_put(b->scratch, &b->name, h, b->named.n);
  return b->named.n;
}

/* The unknown of a key, as n bits. */
static Word unknown(TdBits *b, const Unknown *u, int n) {
  uint64_t h = 0, place = 0;
  for (int i = 0; i < KEY; i++) h = td_map_mix(h, u->key[i]);
  while (td_map_get(&b->unknown, h, &place)) {
    if (!memcmp(&b->unknowns.at[place - 1], u, sizeof *u)) break;
    h = td_map_mix(h, 1);
    place = 0;
  }
  if (!place) {
    td_vec_push(b->scratch, &b->unknowns, *u);
    place = b->unknowns.n;
    td_map_put(b->scratch, &b->unknown, h, place);
  }
  TdBit *at = room(b, n + 1);
  if (place >= MOST_UNKNOWNS || n > MOST_BITS) td_bdd_allow(b->bdd, 0);
  for (int i = 0; i < n; i++)
    at[i] = td_bdd_variable(b->bdd, (uint32_t)i << UNKNOWN_BITS | (uint32_t)place);
  at[n] = n ? at[n - 1] : 0;
  return word(at, n + 1);
}

/* An operator of the graph with its operands as words. */
typedef struct Op {
  const TdInternNode *node;
  const TdType *type, *of[4];
  Word x[4];
  uint64_t name[4];
} Op;

/* An operator of which nothing is known but that it is a function of its operands; whether they may
 * change places, and whether their types matter. */
static Word opaque(TdBits *b, const Op *o, bool symmetric, bool typed) {
  Unknown u = {{(uint64_t)o->node->op, (uint64_t)o->node->n}};
  bool swap = symmetric && o->name[0] > o->name[1];
  if (typed) u.key[2] = td_domain_type_key(o->type, o->node->op == TD_APPLY_CAST);
  for (int i = 0; i < o->node->n; i++) {
    int k = swap ? 1 - i : i;
    bool whole = o->of[k]->f == 0 && o->of[k]->kind != TD_T_FLOAT;
    u.key[3 + i] = o->name[k];
    u.key[7 + i] = whole ? 1 : td_domain_type_key(o->of[k], false);
  }
  int n = width(o->type);
  if (o->node->op == TD_OP_FLOORDIV && !typed && o->x[0].n + 1 < n) n = o->x[0].n + 1;
  if (o->node->op == TD_OP_MOD && !typed && o->x[1].n < n) n = o->x[1].n;
  return fit(b, o->type, unknown(b, &u, n));
}

/* Operand i with the binary point where t has it. */
static Word aligned(TdBits *b, const Op *o, int i, int f) {
  return shifted(b, o->x[i], f - o->of[i]->f);
}

/* A cast between numbers that are no floats, by td_num_cast; no word: not known here. */
static Word cast_number(TdBits *b, const TdType *to, const TdType *from, Word x) {
  if (to->kind == TD_T_BOOL) return truth(b, is_nonzero(b, x));
  if ((to->f < from->f && to->nearest) || (to->saturate && to->w > 64)) return (Word){0, NULL};
  x = shifted(b, x, to->f - from->f);
  if (!to->saturate) return fit(b, to, x);
  Word zero = constant(b, 0, false), one = constant(b, 1, false), minus = inverted(b, zero);
  int n = to->w - is_signed(to);
  Word top = sum(b, shifted(b, one, n), minus, 0);
  Word bottom = is_signed(to) ? inverted(b, top) : zero;
  x = chosen(b, is_less(b, top, x), top, x);
  return fit(b, to, chosen(b, is_less(b, x, bottom), bottom, x));
}

/* x // y (or x % y) where y is a power of two, or minus one; else no word. */
static Word divided(TdBits *b, const Op *o) {
  int64_t by, power;
  if (o->type->f || o->of[0]->f || o->of[1]->f || !known_value(o->x[1], &by) || by == 0 ||
      by == INT64_MIN)
    return (Word){0, NULL};
  Word x = by < 0 ? negated(b, o->x[0]) : o->x[0];
  int n = 0;
  for (power = by < 0 ? -by : by; power > 1 && !(power & 1); power >>= 1) n++;
  if (power != 1) return (Word){0, NULL};
  if (o->node->op == TD_OP_FLOORDIV) return fit(b, o->type, shifted(b, x, -n));
  Word rest = low(b, x, n, false);
  return fit(b, o->type, by < 0 ? negated(b, rest) : rest);
}

/* A product: by a number that is known, or an unknown, times the powers of two in both. */
static Word product(TdBits *b, const Op *o) {
  int64_t by;
  int twos = 0;
  Word x[2];
  uint64_t name[2];
  for (int i = 0; i < 2; i++)
    if (known_value(o->x[i], &by) && by != INT64_MIN)
      return fit(b, o->type, scaled(b, o->x[1 - i], by));
  for (int i = 0; i < 2; i++) {
    int n = 0;
    while (!o->x[i].at[n]) n++;
    x[i] = shifted(b, o->x[i], -n);
    name[i] = name_of(b, x[i]);
    twos += n;
  }
  bool swap = name[0] > name[1];
  Unknown u = {{TD_OP_MUL, name[swap], name[!swap]}};
  return fit(b, o->type, shifted(b, unknown(b, &u, x[0].n + x[1].n), twos));
}

static Word bitwise(TdBits *b, const Op *o) {
  int n = (o->x[0].n > o->x[1].n ? o->x[0].n : o->x[1].n);
  TdBit *at = room(b, n);
  for (int i = 0; i < n; i++) {
    TdBit p = bit(o->x[0], i), q = bit(o->x[1], i);
    at[i] = o->node->op == TD_OP_BAND  ? td_bdd_and(b->bdd, p, q)
            : o->node->op == TD_OP_BOR ? td_bdd_or(b->bdd, p, q)
                                       : td_bdd_xor(b->bdd, p, q);
  }
  return fit(b, o->type, word(at, n));
}

/* << >> asr by a number that is known. */
static Word moved(TdBits *b, const Op *o) {
  int64_t by;
  if (o->of[0]->f || !known_value(o->x[1], &by) || by < 0) return (Word){0, NULL};
  int n = by < MOST_BITS / 2 ? (int)by : MOST_BITS / 2;
  Word x = o->x[0];
  if (o->node->op == TD_OP_SHL) return fit(b, o->type, shifted(b, x, n));
  if (o->node->op == TD_OP_SHR) x = low(b, x, width(o->of[0]), false);
  return fit(b, o->type, shifted(b, x, -n));
}

/* Bits of a word, or the word with others in their place, if the place is known. */
static Word sliced(TdBits *b, const Op *o) {
  int64_t lo, hi;
  int w = width(o->of[0]);
  if (!known_value(o->x[1], &lo) || !known_value(o->x[2], &hi) || lo < 0 || hi < lo ||
      hi > MOST_BITS / 2)
    return (Word){0, NULL};
  Word x = low(b, o->x[0], w, false);
  if (o->node->op == TD_OP_GETBITS)
    return fit(b, o->type, low(b, shifted(b, x, (int)-lo), (int)(hi - lo), false));
  TdBit *at = room(b, w + 1);
  for (int i = 0; i < w; i++) at[i] = i >= lo && i < hi ? bit(o->x[3], i - (int)lo) : bit(x, i);
  return fit(b, o->type, word(at, w + 1));
}

static Word compared(TdBits *b, const Op *o) {
  int f = o->of[0]->f > o->of[1]->f ? o->of[0]->f : o->of[1]->f;
  Word x = aligned(b, o, 0, f), y = aligned(b, o, 1, f);
  switch (o->node->op) {
  case TD_OP_EQ: return truth(b, is_equal(b, x, y));
  case TD_OP_NE: return truth(b, td_bdd_not(b->bdd, is_equal(b, x, y)));
  case TD_OP_LT: return truth(b, is_less(b, x, y));
  default: return truth(b, td_bdd_not(b->bdd, is_less(b, y, x)));
  }
}

/* Comparisons of floats: a <= b is a < b or a == b, of NaNs too. */
static Word compared_floats(TdBits *b, const Op *o) {
  TdInternNode equal = *o->node, less = *o->node;
  Op eq = *o, lt = *o;
  equal.op = TD_OP_EQ;
  less.op = TD_OP_LT;
  eq.node = &equal;
  lt.node = &less;
  if (o->node->op == TD_OP_LT) return opaque(b, &lt, false, true);
  Word is = opaque(b, &eq, o->of[0] == o->of[1], true);
  if (o->node->op == TD_OP_EQ) return is;
  if (o->node->op == TD_OP_NE) return truth(b, td_bdd_not(b->bdd, is.at[0]));
  return truth(b, td_bdd_or(b->bdd, is.at[0], opaque(b, &lt, false, true).at[0]));
}

/* The lesser of two numbers, or the greater, or what a condition selects. */
static Word selected(TdBits *b, const Op *o) {
  bool select = o->node->op == TD_OP_SELECT;
  const TdType *tx = o->of[select], *ty = o->of[select + 1];
  Word x = o->x[select], y = o->x[select + 1];
  int f = tx->f > ty->f ? tx->f : ty->f;
  TdBit c = select ? o->x[0].at[0] : is_less(b, shifted(b, x, f - tx->f), shifted(b, y, f - ty->f));
  if (o->node->op == TD_OP_MAX) c = td_bdd_not(b->bdd, c);
  if (o->type->kind == TD_T_FLOAT) return chosen(b, c, x, y);
  x = cast_number(b, o->type, tx, x);
  y = cast_number(b, o->type, ty, y);
  return x.n && y.n ? chosen(b, c, x, y) : (Word){0, NULL};
}

/* What an operator on integers, fixed point and bools gives; no word: not known here. */
static Word number(TdBits *b, const Op *o) {
  switch (o->node->op) {
  case TD_APPLY_CAST: return cast_number(b, o->type, o->of[0], o->x[0]);
  case TD_OP_ADD:
    return fit(b, o->type, sum(b, aligned(b, o, 0, o->type->f), aligned(b, o, 1, o->type->f), 0));
  case TD_OP_SUB:
    return fit(b, o->type,
               sum(b, aligned(b, o, 0, o->type->f), inverted(b, aligned(b, o, 1, o->type->f)), 1));
  case TD_OP_MUL: return product(b, o);
  case TD_OP_NEG: return fit(b, o->type, negated(b, o->x[0]));
  case TD_OP_ABS: {
    Word x = o->x[0];
    return fit(b, o->type, chosen(b, x.at[x.n - 1], negated(b, x), x));
  }
  case TD_OP_FLOORDIV:
  case TD_OP_MOD: return divided(b, o);
  case TD_OP_SHL:
  case TD_OP_SHR:
  case TD_OP_ASR: return moved(b, o);
  case TD_OP_BAND:
  case TD_OP_BOR:
  case TD_OP_BXOR: return bitwise(b, o);
  case TD_OP_BNOT: return fit(b, o->type, inverted(b, o->x[0]));
  case TD_OP_MIN:
  case TD_OP_MAX:
  case TD_OP_SELECT: return selected(b, o);
  case TD_OP_EQ:
  case TD_OP_NE:
  case TD_OP_LT:
  case TD_OP_LE: return compared(b, o);
  case TD_OP_AND: return truth(b, td_bdd_and(b->bdd, o->x[0].at[0], o->x[1].at[0]));
  case TD_OP_OR: return truth(b, td_bdd_or(b->bdd, o->x[0].at[0], o->x[1].at[0]));
  case TD_OP_NOT: return truth(b, td_bdd_not(b->bdd, o->x[0].at[0]));
  case TD_OP_GETBITS:
  case TD_OP_SETBITS: return sliced(b, o);
  case TD_OP_BITCAST: return o->type->w == o->of[0]->w ? fit(b, o->type, o->x[0]) : (Word){0, NULL};
  default: return (Word){0, NULL};
  }
}

/* The same of any operator; no word: opaque. */
static Word value(TdBits *b, const Op *o) {
  bool to_float = o->type->kind == TD_T_FLOAT, floats = to_float;
  for (int i = 0; i < o->node->n; i++) floats |= o->of[i]->kind == TD_T_FLOAT;
  if (!floats) return number(b, o);
  switch (o->node->op) {
  case TD_APPLY_CAST: return o->of[0] == o->type ? o->x[0] : (Word){0, NULL};
  case TD_OP_EQ:
  case TD_OP_NE:
  case TD_OP_LT:
  case TD_OP_LE: return compared_floats(b, o);
  case TD_OP_SELECT:
    return o->of[1] == o->type && o->of[2] == o->type ? selected(b, o) : (Word){0, NULL};
  default: return (Word){0, NULL};
  }
}

/* Whether an operator on floats gives the same with its operands swapped. */
static bool is_symmetric(const Op *o) {
  return o->node->n == 2 && td_domain_is_symmetric(o->node->op) && o->of[0] == o->of[1];
}

/* An input, or a constant. */
static Word leaf(TdBits *b, const TdInternNode *n, uint64_t id) {
  const TdType *t = n->type;
  if (n->op == TD_INTERN_CONSTANT && width(t) <= 64)
    return fit(b, t, constant(b, n->word[0], is_signed(t)));
  Unknown u = {{(uint64_t)n->op, id}};
  return fit(b, t, unknown(b, &u, width(t)));
}

/* The word of node id, whose operands have theirs, within the budget of an operator. */
static Word make(TdBits *b, uint64_t id) {
  const TdInternNode *n = td_intern_node(b->graph, (TdValue){id, TD_VALUE_SYMBOLIC});
  td_bdd_allow(b->bdd, b->most > MOST_BITS ? b->most : MOST_BITS);
  if (n->op > TD_APPLY_CAST) return leaf(b, n, id);
  td_bdd_allow(b->bdd, b->most);
  Op o = {.node = n, .type = n->type};
  for (int i = 0; i < n->n; i++) {
    uint64_t place = 0;
    td_map_get(&b->word, n->kid[i], &place);
    o.of[i] = td_intern_node(b->graph, (TdValue){n->kid[i], TD_VALUE_SYMBOLIC})->type;
    o.x[i] = b->words.at[place - 1];
    o.name[i] = b->names.at[place - 1];
  }
  Word x = value(b, &o);
  if (x.n && !td_bdd_is_over(b->bdd)) return x;
  td_bdd_allow(b->bdd, MOST_BITS);
  bool counted = n->op == TD_OP_FLOORDIV || n->op == TD_OP_MOD;
  bool whole = !o.type->f && o.type->kind != TD_T_FLOAT && counted;
  x = opaque(b, &o, is_symmetric(&o), !whole);
  b->lost |= td_bdd_is_over(b->bdd);
  return x;
}

/* The name of the word of a node, which is made after those of all below it. */
static void name_root(TdBits *b, uint64_t root, uint64_t *name) {
  TD_VEC(uint64_t) stack = {0};
  uint64_t place = 0;
  td_vec_push(b->scratch, &stack, root);
  while (stack.n && !b->lost) {
    uint64_t id = stack.at[stack.n - 1];
    const TdInternNode *n = td_intern_node(b->graph, (TdValue){id, TD_VALUE_SYMBOLIC});
    size_t before = stack.n;
    bool done = td_map_get(&b->word, id, &place);
    for (int i = 0; !done && n->op <= TD_APPLY_CAST && i < n->n; i++)
      if (!td_map_get(&b->word, n->kid[i], &place)) td_vec_push(b->scratch, &stack, n->kid[i]);
    if (stack.n > before) continue;
    stack.n--;
    if (done) continue;
    size_t nodes = td_bdd_count(b->bdd);
    Word x = make(b, id);
    b->spent += td_bdd_count(b->bdd) - nodes + SHARE;
    b->lost |= b->spent > BUDGET;
    td_vec_push(b->scratch, &b->words, x);
    td_vec_push(b->scratch, &b->names, name_of(b, x));
    td_map_put(b->scratch, &b->word, id, b->words.n);
  }
  *name = td_map_get(&b->word, root, &place) ? b->names.at[place - 1] : 0;
}

bool td_bits_same(TdBits *b, TdValue x, TdValue y) {
  static const size_t most[] = {FEW, MANY};
  if (td_value_same(x, y)) return true;
  for (size_t k = 0; k < sizeof most / sizeof *most; k++) {
    uint64_t name[2];
    if (!b->bdd || b->most != most[k] || td_bdd_count(b->bdd) > ALL / 2) clear(b, most[k]);
    if (b->lost) return false;
    name_root(b, x.lo, &name[0]);
    name_root(b, y.lo, &name[1]);
    if (b->lost) return false;
    if (name[0] == name[1]) return true;
  }
  return false;
}

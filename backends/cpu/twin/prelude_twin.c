/* prelude_twin.c - the run time of twins: what every operator does to fingerprints. Of strict and
 * fused the values are pairs of keyed hashes: inputs and literals are mixed well, with keys of the
 * run, and an operator multiplies its operands, folds the product and adds its own constant, in
 * each half alone (two that differ meet in one operator with odds of 2^-58 a half). A term, which
 * is an operator on any number of operands, adds to each operand a key of its place, multiplies
 * them in pairs and adds the products up before it does the rest (2^-57). Of associative and ring
 * they are numbers m and e with a width c, as interp/eval's algebra has them: e is the number, and
 * m one that it is congruent to modulo 2^c. A macro declares its first operand. */
#include "backends/cpu/twin/twin_text.h"

/* The type, and assignment, of which tcc makes a call if it is one of structs; two halves do not
 * make a vector, whose multiplications take too long. */
#define SYMBOL                                                                                     \
  "#pragma GCC optimize(\"no-tree-slp-vectorize\")\n"                                              \
  "typedef struct { uint64_t lo, hi; } td_sym;\n"                                                  \
  "#define TD_PUT(to, x) \\\n"                                                                     \
  "  do { td_sym *const td_to = &(to); td_to->lo = (x).lo, td_to->hi = (x).hi; } while (0)\n"

/* What the caller fills arrays with: constants, and unknowns; and the form that values which are
 * equal as numbers of `width` bits (0: as such) have in common. */
#define FILL                                                                                       \
  "void td_lift_all(struct td_run *run, td_sym *to, const uint64_t *bits, uint64_t n,\n"           \
  "                 uint64_t key, int kind, int f) {\n"                                            \
  "  TD_KEYS;\n"                                                                                   \
  "  (void)kind, (void)f;\n"                                                                       \
  "  for (uint64_t i = 0; i < n; i++) { TD_LIFT(x, key, bits[i], kind, f); to[i] = x; }\n"         \
  "}\n"                                                                                            \
  "void td_input_all(struct td_run *run, td_sym *to, uint64_t n, uint64_t key) {\n"                \
  "  TD_KEYS;\n"                                                                                   \
  "  for (uint64_t i = 0; i < n; i++) { TD_INPUT(x, key, i); to[i] = x; }\n"                       \
  "}\n"                                                                                            \
  "void td_settle_all(td_sym *to, uint64_t n, unsigned width) {\n"                                 \
  "  for (uint64_t i = 0; i < n; i++) { TD_SETTLE(to[i], width); }\n"                              \
  "  (void)to, (void)width;\n"                                                                     \
  "}\n\n"

static const char hash[] = SYMBOL
    "#define TD_KEYS                                                                     \\\n"
    "  const uint64_t td_k0 = run->key[0], td_k1 = run->key[1], td_k2 = run->key[2],     \\\n"
    "                 td_k3 = run->key[3], td_k4 = run->key[4], td_k5 = run->key[5];     \\\n"
    "  (void)td_k0, (void)td_k1, (void)td_k2, (void)td_k3, (void)td_k4, (void)td_k5\n"
    "#define TD_SEAL(r, key) \\\n"
    "  r.lo = (r.lo ^ r.lo >> 32) + key, r.hi = (r.hi ^ r.hi >> 32) + key\n"
    "#define TD_OP1(r, key, x) \\\n"
    "  td_sym r; r.lo = (x).lo * td_k0, r.hi = (x).hi * td_k2, TD_SEAL(r, key)\n"
    "#define TD_OP2(r, key, x, y) \\\n"
    "  td_sym r; r.lo = (x).lo * ((y).lo + td_k4), r.hi = (x).hi * ((y).hi + td_k5), TD_SEAL(r, "
    "key)\n"
    "#define TD_SYM2(r, key, x, y) \\\n"
    "  td_sym r; r.lo = (x).lo * (y).lo, r.hi = (x).hi * (y).hi, TD_SEAL(r, key)\n"
    "#define TD_OP3(r, key, x, y, z) TD_OP2(r##_, key, x, y); TD_OP2(r, key, r##_, z)\n"
    "#define TD_TERM(r, key_lo, key_hi, sum_lo, sum_hi) \\\n"
    "  td_sym r; r.lo = (sum_lo), r.hi = (sum_hi), \\\n"
    "  r.lo = (r.lo ^ r.lo >> 32) + key_lo, r.hi = (r.hi ^ r.hi >> 32) + key_hi\n"
    "static uint64_t td_mix(uint64_t x, uint64_t odd) {\n"
    "  x = (x ^ x >> 32) * odd;\n"
    "  x = (x ^ x >> 29) * 0xBF58476D1CE4E5B9u;\n"
    "  return x ^ x >> 32;\n"
    "}\n"
    "#define TD_SELECT TD_OP3\n"
    "#define TD_LIFT(r, key, bits, kind, f) \\\n"
    "  td_sym r; r.lo = td_mix((bits) * td_k0 + key, td_k1), \\\n"
    "            r.hi = td_mix((bits) * td_k2 + key, td_k3)\n"
    "#define TD_ADD TD_SYM2\n"
    "#define TD_MUL TD_SYM2\n"
    "#define TD_SUB TD_OP2\n"
    "#define TD_NEG TD_OP1\n"
    "#define TD_GROUP(r, key, op, x, y, whole) TD_OP2(r, key, x, y)\n"
    "#define TD_GROUP_SYM(r, key, op, x, y, whole) TD_SYM2(r, key, x, y)\n"
    "#define TD_CAST(r, key, x, way, width, to) TD_OP1(r, key, x)\n"
    "#define TD_FLOATED TD_CAST\n"
    "#define TD_SETTLE(x, width) (void)x\n"
    "#define TD_INPUT(r, key, i) TD_LIFT(r, key, i, 0, 0)\n" FILL;

static const char fields[] =
    SYMBOL "typedef struct { uint64_t m, e; unsigned c, zero; } td_num;\n"
           "#define TD_KEYS const uint64_t *const td_key = run->key; (void)td_key\n"
           "static const uint64_t td_mask = ((uint64_t)1 << TD_BITS) - 1;\n"
           "static uint64_t td_mix(uint64_t a, uint64_t b) {\n"
           "  uint64_t x = a * 0x9E3779B97F4A7C15u + (b ^ b >> 32) * 0xC2B2AE3D27D4EB4Fu;\n"
           "  x = (x ^ x >> 29) * 0xBF58476D1CE4E5B9u;\n"
           "  return x ^ x >> 32;\n"
           "}\n";

static const char words[] =
    "static td_num td_decode(td_sym v) {\n"
    "  td_num x = {v.lo >> (64 - TD_BITS), v.hi >> (64 - TD_BITS),\n"
    "              (unsigned)(v.lo & 63) | (unsigned)(v.hi & 1) << 6, (unsigned)(v.hi >> 1 & 1)};\n"
    "  return x;\n"
    "}\n"
    "static td_sym td_encode(td_num x) {\n"
    "  td_sym v = {x.m << (64 - TD_BITS) | (x.c & 63),\n"
    "              x.e << (64 - TD_BITS) | x.zero << 1 | x.c >> 6};\n"
    "  return v;\n"
    "}\n"
    "static td_num td_exactly(uint64_t n) { td_num x = {n, n, 0, 0}; return x; }\n"
    "static td_num td_whole(td_num x) { td_num z = {x.e, x.e, 0, x.zero}; return z; }\n"
    "static td_num td_atom(const uint64_t *td_key, uint64_t x, uint64_t y) {\n"
    "  return td_exactly(td_random(td_key, td_mix(td_mix(td_mix(td_key[0], x), y), td_key[1])));\n"
    "}\n"
    "static uint64_t td_op(const uint64_t *td_key, uint64_t key, int n, const td_sym *x) {\n"
    "  uint64_t h = td_mix(td_key[0], key);\n"
    "  for (int i = 0; i < n; i++) h = td_mix(h, x[i].hi & ~(uint64_t)1);\n"
    "  return td_random(td_key, td_mix(h, td_key[1]));\n"
    "}\n"
    "static td_sym td_op1(const uint64_t *td_key, uint64_t key, td_sym x) {\n"
    "  return td_encode(td_exactly(td_op(td_key, key, 1, &x)));\n"
    "}\n"
    "static td_sym td_op2(const uint64_t *td_key, uint64_t key, td_sym x, td_sym y) {\n"
    "  const td_sym both[2] = {x, y};\n"
    "  return td_encode(td_exactly(td_op(td_key, key, 2, both)));\n"
    "}\n"
    "static td_sym td_sym2(const uint64_t *td_key, uint64_t key, td_sym x, td_sym y) {\n"
    "  return x.hi > y.hi ? td_op2(td_key, key, y, x) : td_op2(td_key, key, x, y);\n"
    "}\n";

/* The numbers of the ring: modulo a prime, in Montgomery's form, as eval/prime.h has them. */
static const char ring[] =
    "static uint64_t td_random(const uint64_t *td_key, uint64_t x) { return x % td_key[5]; }\n"
    "static int td_is_number(const uint64_t *td_key, uint64_t x) { return x < td_key[5]; }\n"
    "static uint64_t td_sum(const uint64_t *td_key, uint64_t x, uint64_t y) {\n"
    "  return x + y < td_key[5] ? x + y : x + y - td_key[5];\n"
    "}\n"
    "static uint64_t td_minus(const uint64_t *td_key, uint64_t x) {\n"
    "  return x ? td_key[5] - x : 0;\n"
    "}\n"
    "static uint64_t td_high(uint64_t x, uint64_t y) {\n"
    "  uint64_t a = x >> 32, b = x & 0xFFFFFFFF, c = y >> 32, d = y & 0xFFFFFFFF;\n"
    "  uint64_t mid = a * d + (b * d >> 32), mid2 = b * c + (mid & 0xFFFFFFFF);\n"
    "  return a * c + (mid >> 32) + (mid2 >> 32);\n"
    "}\n"
    "static uint64_t td_times(const uint64_t *td_key, uint64_t x, uint64_t y) {\n"
    "  uint64_t low = x * y;\n"
    "  uint64_t z = td_high(x, y) + td_high(low * td_key[6], td_key[5]) + (low != 0);\n"
    "  return z < td_key[5] ? z : z - td_key[5];\n"
    "}\n"
    "static uint64_t td_constant(const uint64_t *td_key, uint64_t magnitude, int scale) {\n"
    "  uint64_t base = scale < 0 ? (td_key[5] + 1) / 2 : 2;\n"
    "  uint64_t x = td_times(td_key, magnitude % td_key[5], td_key[7]);\n"
    "  base = td_times(td_key, base, td_key[7]);\n"
    "  for (unsigned k = (unsigned)(scale < 0 ? -scale : scale); k; k >>= 1) {\n"
    "    if (k & 1) x = td_times(td_key, x, base);\n"
    "    base = td_times(td_key, base, base);\n"
    "  }\n"
    "  return x;\n"
    "}\n";

/* Those of the associative level: pairs modulo a prime, of which a minus negates one; and the
 * bijections of operators that are no sums. */
static const char pairs[] =
    "static const uint64_t td_lane_mask = ((uint64_t)1 << TD_LANE_BITS) - 1;\n"
    "static uint64_t td_pair(uint64_t high, uint64_t low) {\n"
    "  return (high < TD_LANE ? high : high - TD_LANE) << TD_LANE_BITS |\n"
    "         (low < TD_LANE ? low : low - TD_LANE);\n"
    "}\n"
    "static uint64_t td_random(const uint64_t *td_key, uint64_t x) {\n"
    "  (void)td_key;\n"
    "  return td_pair(x >> 32 & td_lane_mask, x & td_lane_mask);\n"
    "}\n"
    "static uint64_t td_sum(const uint64_t *td_key, uint64_t x, uint64_t y) {\n"
    "  (void)td_key;\n"
    "  return td_pair((x >> TD_LANE_BITS) + (y >> TD_LANE_BITS),\n"
    "                 (x & td_lane_mask) + (y & td_lane_mask));\n"
    "}\n"
    "static uint64_t td_minus(const uint64_t *td_key, uint64_t x) {\n"
    "  uint64_t low = x & td_lane_mask;\n"
    "  (void)td_key;\n"
    "  return (x & ~td_lane_mask) | (low ? TD_LANE - low : 0);\n"
    "}\n"
    "static int td_is_number(const uint64_t *td_key, uint64_t x) {\n"
    "  (void)td_key;\n"
    "  return x >> TD_LANE_BITS < TD_LANE && (x & td_lane_mask) < TD_LANE;\n"
    "}\n"
    "static uint64_t td_constant(const uint64_t *td_key, uint64_t magnitude, int scale) {\n"
    "  const uint64_t u = td_key[4];\n"
    "  if (scale >= 0 && scale < TD_LANE_BITS && magnitude < (uint64_t)TD_LANE >> scale) {\n"
    "    uint64_t n = magnitude << scale;\n"
    "    return (u >> TD_LANE_BITS) * n % TD_LANE << TD_LANE_BITS |\n"
    "           (u & td_lane_mask) * n % TD_LANE;\n"
    "  }\n"
    "  magnitude = td_mix(td_mix(td_key[0], magnitude), (uint64_t)scale);\n"
    "  return td_random(td_key, td_mix(magnitude, td_key[1]));\n"
    "}\n";

static const char numbers[] =
    "static td_num td_plain(const uint64_t *td_key, td_num x) {\n"
    "  return x.zero ? td_atom(td_key, 3, x.e) : x;\n"
    "}\n"
    "static td_num td_negate(const uint64_t *td_key, td_num x) {\n"
    "  td_num p = td_plain(td_key, x);\n"
    "  td_num z = {td_minus(td_key, p.m), td_minus(td_key, p.e), p.c, 0};\n"
    "  return z;\n"
    "}\n"
    "static unsigned td_meet(const uint64_t *td_key, td_num *x, td_num *y) {\n"
    "  if (!x->c || !y->c || x->c == y->c) return x->c | y->c;\n"
    "  td_num *narrow = x->c < y->c ? x : y, *other = x->c < y->c ? y : x;\n"
    "  if (!td_key[3]) return narrow->c;\n"
    "  *narrow = td_whole(*narrow);\n"
    "  return other->c;\n"
    "}\n"
    "static td_sym td_add(const uint64_t *td_key, td_num x, td_num y) {\n"
    "  unsigned c = td_meet(td_key, &x, &y);\n"
    "  td_num z = {td_sum(td_key, x.m, y.m), td_sum(td_key, x.e, y.e), c, x.zero | y.zero};\n"
    "  return td_encode(z);\n"
    "}\n";

/* Associative operators that are no sums; in a ring products are none of them. */
static const char groups[] =
    "static uint64_t td_fold(uint64_t x) { return x ^ x >> TD_BITS / 2; }\n"
    "static uint64_t td_carry(const uint64_t *td_key, const uint64_t *by, uint64_t x) {\n"
    "  (void)td_key;\n"
    "  do {\n"
    "    x = td_fold(((x + by[0]) * by[1]) & td_mask);\n"
    "    x = td_fold((x * by[2]) & td_mask);\n"
    "  } while (!td_is_number(td_key, x));\n"
    "  return x;\n"
    "}\n"
    "static uint64_t td_carry_back(const uint64_t *td_key, const uint64_t *by, uint64_t x) {\n"
    "  (void)td_key;\n"
    "  do {\n"
    "    x = (td_fold(x) * by[4]) & td_mask;\n"
    "    x = (td_fold(x) * by[3] - by[0]) & td_mask;\n"
    "  } while (!td_is_number(td_key, x));\n"
    "  return x;\n"
    "}\n"
    "static uint64_t td_group(const uint64_t *td_key, const uint64_t *by, uint64_t x, uint64_t y) "
    "{\n"
    "  x = td_sum(td_key, td_carry_back(td_key, by, x), td_carry_back(td_key, by, y));\n"
    "  return td_carry(td_key, by, x);\n"
    "}\n"
    "static td_sym td_regroup(const uint64_t *td_key, int op, td_num x, td_num y) {\n"
    "  const uint64_t *by = td_key + TD_FIRST + TD_WORDS * op;\n"
    "  td_num a = td_plain(td_key, x), b = td_plain(td_key, y);\n"
    "  unsigned c = td_meet(td_key, &a, &b);\n"
    "  td_num z = {td_group(td_key, by, a.m, b.m), 0, c, 0};\n"
    "  z.e = c ? td_group(td_key, by, a.e, b.e) : z.m;\n"
    "  return td_encode(z);\n"
    "}\n"
    "#if TD_RING\n"
    "static td_sym td_mul(const uint64_t *td_key, td_num x, td_num y) {\n"
    "  unsigned c = td_meet(td_key, &x, &y);\n"
    "  td_num z = {td_times(td_key, x.m, y.m), 0, c, 0};\n"
    "  z.e = c ? td_times(td_key, x.e, y.e) : z.m;\n"
    "  return td_encode(z);\n"
    "}\n"
    "#else\n"
    "#define td_mul(td_key, x, y) td_regroup(td_key, TD_MUL_GROUP, x, y)\n"
    "#endif\n";

static const char selects[] =
    "static td_sym td_select(const uint64_t *td_key, uint64_t key, td_sym c, td_sym x, td_sym y) "
    "{\n"
    "  const td_sym all[3] = {c, x, y};\n"
    "  if (!TD_RING) return td_encode(td_exactly(td_op(td_key, key, 3, all)));\n"
    "  td_num no = td_decode(y);\n"
    "  td_num picked = td_decode(td_op1(td_key, 2, c));\n"
    "  td_num d = td_decode(td_add(td_key, td_decode(x), td_negate(td_key, no)));\n"
    "  return td_add(td_key, no, td_decode(td_mul(td_key, picked, d)));\n"
    "}\n"
    "static td_num td_number(const uint64_t *td_key, uint64_t magnitude, int scale) {\n"
    "  if (!magnitude) return td_exactly(0);\n"
    "  for (; !(magnitude & 1); magnitude >>= 1) scale++;\n"
    "  return td_exactly(td_constant(td_key, magnitude, scale));\n"
    "}\n"
    "/* A constant: kind 0 unsigned, 1 signed, 2 float, with f bits after the point. */\n"
    "static td_sym td_lift(const uint64_t *td_key, uint64_t key, uint64_t bits, int kind, int f) "
    "{\n"
    "  int negative = kind && bits >> 63, e = (int)(bits >> 52 & 2047);\n"
    "  uint64_t magnitude = negative && kind == 1 ? 0 - bits : bits;\n"
    "  if (kind == 2) {\n"
    "    if (e == 2047) return td_encode(td_atom(td_key, key, bits));\n"
    "    magnitude = (bits & ((uint64_t)1 << 52) - 1) | (e ? (uint64_t)1 << 52 : 0);\n"
    "    f = 1075 - (e ? e : 1);\n"
    "  }\n"
    "  td_num x = td_number(td_key, magnitude, -f);\n"
    "  x.zero = !TD_RING && kind == 2 && !bits;\n"
    "  return td_encode(negative ? td_negate(td_key, x) : x);\n"
    "}\n"
    "/* What decides on v in `width` bits (0: on all of it), as an e. */\n"
    "static td_sym td_settle(td_sym v, unsigned width) {\n"
    "  td_num x = td_decode(v);\n"
    "  uint64_t n = !width || (x.c && x.c < width) ? x.e : x.m;\n"
    "  td_sym r = {0, n << (64 - TD_BITS) | x.zero << 1};\n"
    "  return r;\n"
    "}\n"
    "/* way 0: another number; 1, 3: the same; 2: wraps to width bits, of type `to`. */\n"
    "static td_sym td_cast(const uint64_t *td_key, uint64_t key, td_sym v, int way, int width,\n"
    "                      uint64_t to) {\n"
    "  if (way & 1) return v;\n"
    "  if (way == 0) return td_op1(td_key, key, v);\n"
    "  td_sym m = td_settle(v, (unsigned)width);\n"
    "  td_num r = {m.hi >> (64 - TD_BITS), td_op(td_key, to, 1, &m), (unsigned)width, 0};\n"
    "  return td_encode(r);\n"
    "}\n";

static const char operators[] =
    "#define TD_OP1(r, key, x) td_sym r = td_op1(td_key, key, x)\n"
    "#define TD_OP2(r, key, x, y) td_sym r = td_op2(td_key, key, x, y)\n"
    "#define TD_SYM2(r, key, x, y) td_sym r = td_sym2(td_key, key, x, y)\n"
    "#define TD_OP3(r, key, x, y, z) TD_OP2(r##_, key, x, y); TD_OP2(r, key, r##_, z)\n"
    "#define TD_SELECT(r, key, c, x, y) td_sym r = td_select(td_key, key, c, x, y)\n"
    "#define TD_LIFT(r, key, bits, kind, f) td_sym r = td_lift(td_key, key, bits, kind, f)\n"
    "#define TD_ADD(r, key, x, y) td_sym r = td_add(td_key, td_decode(x), td_decode(y))\n"
    "#define TD_MUL(r, key, x, y) td_sym r = td_mul(td_key, td_decode(x), td_decode(y))\n"
    "#define TD_NEG(r, key, x) td_sym r = td_encode(td_negate(td_key, td_decode(x)))\n"
    "#define TD_SUB(r, key, x, y) TD_NEG(r##_, key, y); TD_ADD(r, key, x, r##_)\n"
    "#define TD_WHOLE(whole, x) ((whole) ? td_whole(td_decode(x)) : td_decode(x))\n"
    "#define TD_GROUP(r, key, op, x, y, whole) \\\n"
    "  td_sym r = td_regroup(td_key, op, TD_WHOLE(whole, x), TD_WHOLE(whole, y))\n"
    "#define TD_GROUP_SYM TD_GROUP\n"
    "#define TD_CAST(r, key, x, way, width, to) td_sym r = td_cast(td_key, key, x, way, width, "
    "to)\n"
    "#define TD_FLOATED(r, key, x, way, width, to) \\\n"
    "  td_sym r = td_cast(td_key, key, x, TD_RING ? way : 0, 0, 0)\n"
    "#define TD_SETTLE(x, width) x = td_settle(x, width)\n"
    "#define TD_INPUT(r, key, i) \\\n"
    "  td_sym r##_ = {0, (uint64_t)(i) << (64 - TD_BITS)}, r = td_op1(td_key, key, r##_)\n" FILL;

const char *td_prelude_twin_text(TdArena *a, TdTwinLevel level) {
  if (level <= TD_TWIN_FUSED) return hash;
  bool is_ring = level == TD_TWIN_RING;
  return td_text_fmt(a,
                     "enum { TD_BITS = 58, TD_LANE_BITS = 29, TD_LANE = (1 << 29) - 3, "
                     "TD_FIRST = %d, TD_WORDS = %d, TD_MUL_GROUP = %d };\n"
                     "#define TD_RING %d\n%s%s%s%s%s%s%s",
                     TD_PRELUDE_FIRST, TD_PRELUDE_WORDS, TD_OP_MUL, is_ring, fields,
                     is_ring ? ring : pairs, words, numbers, groups, selects, operators);
}

/* prelude.c - the run time of emitted programs, as C text without headers. Of a template `$s` is
 * the suffix of each type it is made for, `$T` the type, `$U` the unsigned type of its width, `$B`
 * its bits. Meanings are those of ir/num.h. */
#include "backends/c/runtime/runtime.h"
#include "eval/time/clock.h"

#include <string.h>

typedef struct Entry {
  const char *name;  /* what programs mention, without suffix */
  const char *types; /* suffixes, or NULL for a name without */
  const char *text;
} Entry;

static const struct Type {
  const char *suffix, *name, *without_sign, *bits;
} types[] = {{"_i32", "int32_t", "uint32_t", "32"}, {"_u32", "uint32_t", "uint32_t", "32"},
             {"_i64", "int64_t", "uint64_t", "64"}, {"_u64", "uint64_t", "uint64_t", "64"},
             {"_f32", "float", "uint32_t", "32"},   {"_f64", "double", "uint64_t", "64"},
             {"_f16", "double", "uint16_t", "16"},  {"_bf16", "double", "uint16_t", "16"}};

#define EXTERN(name, type)                                                                         \
  { #name, NULL, type " " #name "(" type ");\n" }
#define LIBM(op, single, full)                                                                     \
  EXTERN(single, "float"), EXTERN(full, "double"),                                                 \
      {"td_" op, "_f32",                                                                           \
       "static inline float td_" op "_f32(float x) { return " #single "(x); }\n"},                 \
  {                                                                                                \
    "td_" op, "_f64", "static inline double td_" op "_f64(double x) { return " #full "(x); }\n"    \
  }

#define X(field) "  " #field ";\n"
static const Entry entries[] = {
    {"td_clock", NULL, "struct td_clock {\n" TD_CLOCK_FIELDS(X) "};\n"},
    {"td_timed", NULL, "struct td_timed {\n" TD_CPU_TIMED_FIELDS(X) "};\n"},
    {"TD_TIMED", NULL, "#define TD_TIMED ((const struct td_timed *)run->timed)\n"},
    {"td_run", NULL, "struct td_run {\n" TD_CPU_RUN_FIELDS(X) "};\n"},
    {"TD_UNLIKELY", NULL,
     "/* A compiler that takes what ends a run for likely holds the loops behind it for cold, and\n"
     " * does not vectorise them. */\n"
     "#ifdef __has_builtin\n"
     "#if __has_builtin(__builtin_expect_with_probability)\n"
     "#define TD_UNLIKELY(x) __builtin_expect_with_probability(x, 0, 1.0)\n"
     "#endif\n"
     "#endif\n"
     "#ifndef TD_UNLIKELY\n"
     "#define TD_UNLIKELY(x) (x)\n"
     "#endif\n"},
    {"td_in_turn", NULL,
     "/* Makes no vectors of the loop around: of nothing, which compilers do not look into. */\n"
     "#ifdef __GNUC__\n"
     "#define td_in_turn() __asm__ volatile(\"\")\n"
     "#else\n"
     "#define td_in_turn() ((void)0)\n"
     "#endif\n"},
    {"td_stopped", NULL,
     "/* Whether Ctrl-C was pressed, or a fault ends the run: a macro, so that the branch sees it. "
     "*/\n"
     "#define td_stopped(run) TD_UNLIKELY(*(run)->interrupt || (run)->fault)\n"},
    {"td_fault", NULL,
     "/* Notes the first fault; the run goes on with a harmless value until it next looks. */\n"
     "static void td_fault(struct td_run *run, int kind, int place, int64_t a, int64_t b) {\n"
     "#ifdef _OPENMP\n"
     "#pragma omp critical\n"
     "#endif\n"
     "  {\n"
     "    if (!run->fault) {\n"
     "      run->place = place;\n"
     "      run->value[0] = a;\n"
     "      run->value[1] = b;\n"
     "      run->fault = kind;\n"
     "    }\n"
     "  }\n"
     "}\n"},
    {"td_index", NULL,
     "static inline int64_t td_index(struct td_run *run, int place, int64_t i, int64_t n) {\n"
     "  if ((uint64_t)i < (uint64_t)n) return i;\n"
     "  td_fault(run, 2, place, i, n);\n"
     "  return 0;\n"
     "}\n"},
    {"td_apart", NULL,
     "/* Whether views lie apart; what they are is a number. */\n"
     "static inline int td_apart(struct td_run *run, int place, int views, int meet) {\n"
     "  if (meet) td_fault(run, 9, place, views, 0);\n"
     "  return !meet;\n"
     "}\n"},
    {"td_step", NULL,
     "/* i + n, or `end` where that comes first. */\n"
     "static inline int64_t td_step(int64_t i, int64_t end, int64_t n) {\n"
     "  if ((uint64_t)end - (uint64_t)i <= (uint64_t)n) return end;\n"
     "  return (int64_t)((uint64_t)i + (uint64_t)n);\n"
     "}\n"},
    {"td_nonzero", "_i32 _u32 _i64 _u64",
     "static inline $T td_nonzero$s(struct td_run *run, int place, $T b) {\n"
     "  if (!b) td_fault(run, 1, place, 0, 0);\n"
     "  return b;\n"
     "}\n"},
    {"td_ring", NULL,
     "/* A stream of tokens, oldest at out; its number tells which it is. */\n"
     "struct td_ring {\n" TD_CPU_RING_FIELDS(X) "#ifdef TD_CLOCKED /* cycles of the last puts and "
                                                "then gets, by the places of tokens */\n"
                                                "  int64_t *time;\n" TD_MOVED_FIELDS(X) "#endif\n"
                                                                                        "};\n"},
    {"td_pool", NULL,
     "/* A stream of buffers, by their numbers: those that are full, and those that are free (of\n"
     "   which the ring's own number is ~number, so that who waits for one can be told). */\n"
     "struct td_pool { struct td_ring full, spare; void *data; };\n"},
    {"td_task", NULL,
     "/* Where a task goes on (-1: it ended), and what it waits for. */\n"
     "struct td_task {\n" TD_CPU_TASK_FIELDS(X) "};\n"},
    {"td_net", NULL,
     "/* The instances of a run, an array of streams, a design; what runs it. */\n"
     "struct td_part {\n" TD_CPU_PART_FIELDS(
         X) "};\n"
            "struct td_rings {\n" TD_CPU_RINGS_FIELDS(
                X) "};\n"
                   "struct td_span {\n" TD_CPU_SPAN_FIELDS(
                       X) "};\n"
                          "struct td_net {\n" TD_CPU_NET_FIELDS(
                              X) "};\n"
                                 "struct td_host {\n" TD_CPU_HOST_FIELDS(X) "};\n"},
#undef X
    {"TD_COLD", NULL,
     "#ifdef __GNUC__ /* done once: compiled to be small */\n"
     "#define TD_COLD __attribute__((cold))\n"
     "#else\n"
     "#define TD_COLD\n"
     "#endif\n"},
    {"TD_WAIT", NULL,
     "#define TD_WAIT(point, line, of)                                \\\n"
     "  do {                                                          \\\n"
     "    me->task.at = point, me->task.place = line, me->task.ring = of; \\\n"
     "    goto wait;                                                  \\\n"
     "  } while (0)\n"},
    {"td_put", NULL,
     "/* One token more, or less, of at most depth. */\n"
     "static inline void td_put(struct td_ring *r, int64_t depth) {\n"
     "  r->in = r->in + 1 == depth ? 0 : r->in + 1;\n"
     "  r->fill++;\n"
     "}\n"},
    {"td_got", NULL,
     "static inline void td_got(struct td_ring *r, int64_t depth) {\n"
     "  r->out = r->out + 1 == depth ? 0 : r->out + 1;\n"
     "  r->fill--;\n"
     "}\n"},
    {"td_give", NULL,
     "/* Puts and gets the number of a buffer. */\n"
     "static inline void td_give(struct td_ring *r, int64_t buffer) {\n"
     "  ((int64_t *)r->token)[r->in] = buffer;\n"
     "  td_put(r, r->depth);\n"
     "}\n"},
    {"td_take", NULL,
     "static inline int64_t td_take(struct td_ring *r) {\n"
     "  int64_t buffer = ((int64_t *)r->token)[r->out];\n"
     "  td_got(r, r->depth);\n"
     "  return buffer;\n"
     "}\n"},
    {"td_thread", NULL,
     "#ifdef _OPENMP\n"
     "int omp_get_thread_num(void);\n"
     "static inline int td_thread(void) { return omp_get_thread_num(); }\n"
     "#else\n"
     "static inline int td_thread(void) { return 0; }\n"
     "#endif\n"},
    {"td_floordiv", "_i32 _i64",
     "static inline $T td_floordiv$s($T a, $T b) {\n"
     "  if (b == 0) return 0;\n"
     "  if (b == -1) return ($T)(0 - ($U)a);\n"
     "  $T q = a / b;\n"
     "  return q - (a % b != 0 && (a < 0) != (b < 0));\n"
     "}\n"},
    {"td_floordiv", "_u32 _u64",
     "static inline $T td_floordiv$s($T a, $T b) { return b ? a / b : 0; }\n"},
    {"td_mod", "_i32 _i64",
     "static inline $T td_mod$s($T a, $T b) {\n"
     "  if (b == 0 || b == -1) return 0;\n"
     "  $T r = a % b;\n"
     "  return r && (r < 0) != (b < 0) ? r + b : r;\n"
     "}\n"},
    {"td_mod", "_u32 _u64", "static inline $T td_mod$s($T a, $T b) { return b ? a % b : 0; }\n"},
    {"td_abs", "_i32 _i64",
     "static inline $U td_abs$s($T x) { return x < 0 ? 0 - ($U)x : ($U)x; }\n"},
    {"td_both", "_i32 _u32 _i64 _u64 _f32 _f64",
     "/* A choice of values that may end the run: both are evaluated. */\n"
     "static inline $T td_both$s(int first, $T a, $T b) { return first ? a : b; }\n"},
    {"td_min", "_i32 _u32 _i64 _u64",
     "static inline $T td_min$s($T a, $T b) { return a < b ? a : b; }\n"},
    {"td_max", "_i32 _u32 _i64 _u64",
     "static inline $T td_max$s($T a, $T b) { return a < b ? b : a; }\n"},
    {"td_shl", "_u32 _u64",
     "static inline $T td_shl$s($T x, uint64_t n) { return n < $B ? x << n : 0; }\n"},
    {"td_shr", "_u64",
     "static inline $T td_shr$s($T x, uint64_t n) { return n < $B ? x >> n : 0; }\n"},
    {"td_asr", "_i64",
     "static inline $T td_asr$s($T x, uint64_t n) { return x >> (n < 63 ? n : 63); }\n"},
    {"td_asr", "_u64",
     "static inline $T td_asr$s($T x, uint64_t n) { return n < $B ? x >> n : 0; }\n"},
    {"td_wrap", "_i32 _i64",
     "/* The low w bits, sign-extended. */\n"
     "static inline $T td_wrap$s($U x, int w) { return ($T)(x << ($B - w)) >> ($B - w); }\n"},
    {"td_clamp", "_i32",
     "static inline $T td_clamp$s($T x, $T least, $T most) {\n"
     "  return x < least ? least : x > most ? most : x;\n"
     "}\n"},
    {"td_saturate", "_u64",
     "/* x * 2^n, kept to what is asked for. */\n"
     "static inline uint64_t td_saturate_u64(uint64_t x, int n, int64_t least, uint64_t most) {\n"
     "  (void)least;\n"
     "  if (n > 63) return x ? most : 0;\n"
     "  return x > most >> n ? most : x << n;\n"
     "}\n"},
    {"td_saturate", "_i64",
     "/* x * 2^n, kept to what is asked for. */\n"
     "static inline uint64_t td_saturate_i64(int64_t x, int n, int64_t least, uint64_t most) {\n"
     "  if (n > 63) return x ? x < 0 ? (uint64_t)least : most : 0;\n"
     "  if (x >= 0) return (uint64_t)x > most >> n ? most : (uint64_t)x << n;\n"
     "  return 0 - (uint64_t)x > (0 - (uint64_t)least) >> n ? (uint64_t)least : (uint64_t)x << n;\n"
     "}\n"},
    {"td_floor", "_i64",
     "static inline $T td_floor$s($T x, int n) { return x >> (n < 63 ? n : 63); }\n"},
    {"td_floor", "_u64",
     "static inline $T td_floor$s($T x, int n) { return n < 64 ? x >> n : 0; }\n"},
    {"td_ceil", "_i64",
     "static inline $T td_ceil$s($T x, int n) {\n"
     "  if (n > 63) return x > 0;\n"
     "  return (x >> n) + ((x >> n) * (int64_t)((uint64_t)1 << n) != x);\n"
     "}\n"},
    {"td_ceil", "_u64",
     "static inline $T td_ceil$s($T x, int n) {\n"
     "  if (n > 63) return x > 0;\n"
     "  return (x >> n) + (x >> n << n != x);\n"
     "}\n"},
    {"td_even", "_i64 _u64",
     "/* x / 2^n to the nearest, ties to even. */\n"
     "static inline $T td_even$s($T x, int n) {\n"
     "  if (n > 64) return 0;\n"
     "  uint64_t half = (uint64_t)1 << (n - 1);\n"
     "  if (n == 64) return x > 0 && (uint64_t)x > half;\n"
     "  $T q = x >> n;\n"
     "  uint64_t cut = (uint64_t)x - ((uint64_t)q << n);\n"
     "  return q + (cut > half || (cut == half && (q & 1)));\n"
     "}\n"},
    {"td_bits", "_u64",
     "static inline uint64_t td_bits_u64(uint64_t x, uint64_t lo, uint64_t hi) {\n"
     "  uint64_t n = hi - lo;\n"
     "  x = lo < 64 ? x >> lo : 0;\n"
     "  return n < 64 ? x & (((uint64_t)1 << n) - 1) : x;\n"
     "}\n"},
    {"td_with_bits", "_u64",
     "static inline uint64_t td_with_bits_u64(uint64_t x, uint64_t lo, uint64_t hi, uint64_t v) {\n"
     "  if (lo >= 64) return x;\n"
     "  uint64_t n = (hi < 64 ? hi : 64) - lo;\n"
     "  uint64_t mask = n < 64 ? ((uint64_t)1 << n) - 1 : ~(uint64_t)0;\n"
     "  return (x & ~(mask << lo)) | (v & mask) << lo;\n"
     "}\n"},
    {"td_order", NULL,
     "/* The sign of a * 2^-af - b * 2^-bf, of words with sign (as, bs) or without. */\n"
     "static int td_order_magnitude(uint64_t a, int af, uint64_t b, int bf) {\n"
     "  if (af < bf) return -td_order_magnitude(b, bf, a, af);\n"
     "  int n = af - bf;\n"
     "  uint64_t whole = n < 64 ? a >> n : 0;\n"
     "  if (whole != b) return whole < b ? -1 : 1;\n"
     "  return (n < 64 ? whole << n : 0) != a;\n"
     "}\n"
     "static int td_order(uint64_t a, int as, int af, uint64_t b, int bs, int bf) {\n"
     "  int an = as && a >> 63, bn = bs && b >> 63;\n"
     "  if (an != bn) return an ? -1 : 1;\n"
     "  return an ? td_order_magnitude(0 - b, bf, 0 - a, af) : td_order_magnitude(a, af, b, bf);\n"
     "}\n"},
    {"td_least", NULL,
     "/* The lesser of two such words, with f bits after the point. */\n"
     "static uint64_t td_least(uint64_t a, int as, int af, uint64_t b, int bs, int bf, int f) {\n"
     "  if (td_order(a, as, af, b, bs, bf) > 0) a = b, af = bf;\n"
     "  return f - af < 64 ? a << (f - af) : 0;\n"
     "}\n"},
    {"td_greatest", NULL,
     "static uint64_t td_greatest(uint64_t a, int as, int af, uint64_t b, int bs, int bf, int f) "
     "{\n"
     "  if (td_order(a, as, af, b, bs, bf) < 0) a = b, af = bf;\n"
     "  return f - af < 64 ? a << (f - af) : 0;\n"
     "}\n"},
    {"td_quotient", NULL,
     "/* The floor of a * 2^k / b, of words with sign (as, bs) or without. */\n"
     "static uint64_t td_quotient(uint64_t a, int as, uint64_t b, int bs, int k) {\n"
     "  int an = as && a >> 63, bn = bs && b >> 63;\n"
     "  if (an) a = 0 - a;\n"
     "  if (bn) b = 0 - b;\n"
     "  if (!b) return 0;\n"
     "  uint64_t n = k < 0 ? k > -64 ? a >> -k : 0 : k < 64 ? a << k : 0, q = n / b;\n"
     "  int inexact = n % b || (k < 0 && (k > -64 ? n << -k : 0) != a);\n"
     "  return an == bn ? q : 0 - (q + (uint64_t)inexact);\n"
     "}\n"},
    {"td_rest", NULL,
     "/* What a floor division leaves: it has the sign of b. */\n"
     "static uint64_t td_rest(uint64_t a, int as, uint64_t b, int bs) {\n"
     "  int an = as && a >> 63, bn = bs && b >> 63;\n"
     "  if (an) a = 0 - a;\n"
     "  if (bn) b = 0 - b;\n"
     "  if (!b) return 0;\n"
     "  uint64_t r = a % b;\n"
     "  if (r && an != bn) r = b - r;\n"
     "  return bn ? 0 - r : r;\n"
     "}\n"},
    {"ldexp", NULL, "double ldexp(double, int);\n"},
    {"td_nearest", NULL,
     "/* x * 2^-f, of a word with sign or without, nearest among floats of so many bits. */\n"
     "static double td_nearest(uint64_t x, int sign, int f, int precision, int top) {\n"
     "  int negative = sign && x >> 63, bits = 0;\n"
     "  if (negative) x = 0 - x;\n"
     "  while (bits < 64 && x >> bits) bits++;\n"
     "  int last = precision - bits + f, least = top + precision - 2;\n"
     "  if (last > least) last = least;\n"
     "  int n = f - last;\n"
     "  if (n > 64) x = 0, f = last;\n"
     "  if (n > 0 && n <= 64) {\n"
     "    uint64_t q = n < 64 ? x >> n : 0, cut = n < 64 ? x - (q << n) : x;\n"
     "    uint64_t half = (uint64_t)1 << (n - 1);\n"
     "    x = q + (cut > half || (cut == half && q & 1));\n"
     "    f = last;\n"
     "  }\n"
     "  double r = ldexp((double)x, -f);\n"
     "  if (r >= ldexp(1, top + 1)) r = 1.0 / 0.0;\n"
     "  return negative ? -r : r;\n"
     "}\n"},
    {"td_bits_f64", NULL,
     "/* The bits of a float, every NaN being one; and back. */\n"
     "static inline uint64_t td_bits_f64(double x) {\n"
     "  union { double x; uint64_t bits; } u = {x};\n"
     "  return x != x ? (uint64_t)0x7FF8 << 48 : u.bits;\n"
     "}\n"},
    {"td_of_bits_f64", NULL,
     "static inline double td_of_bits_f64(uint64_t bits) {\n"
     "  union { uint64_t bits; double x; } u = {bits};\n"
     "  return u.x;\n"
     "}\n"},
    {"td_bits_f32", NULL,
     "static inline uint32_t td_bits_f32(float x) {\n"
     "  union { float x; uint32_t bits; } u = {x};\n"
     "  return x != x ? 0x7FC00000 : u.bits;\n"
     "}\n"},
    {"td_of_bits_f32", NULL,
     "static inline float td_of_bits_f32(uint32_t bits) {\n"
     "  union { uint32_t bits; float x; } u = {bits};\n"
     "  return u.x;\n"
     "}\n"},
    EXTERN(fabs, "double"),
    EXTERN(fabsf, "float"),
    EXTERN(floor, "double"),
    EXTERN(floorf, "float"),
    EXTERN(rint, "double"),
    {"td_round_narrow", NULL,
     "/* x to the nearest of a format: `cut` bits go, powers of two end below `limit`, and "
     "numbers\n"
     "   below `normal` are multiples of the last place of `magic`. */\n"
     "static inline double td_round_narrow(double x, int cut, double limit, double normal,\n"
     "                                     double magic) {\n"
     "  double a = fabs(x), r;\n"
     "  if (!(a < 1.0 / 0.0)) return x;\n"
     "  if (a < normal) {\n"
     "    r = (a + magic) - magic;\n"
     "  } else {\n"
     "    uint64_t bits = td_bits_f64(a), half = (uint64_t)1 << (cut - 1);\n"
     "    bits += half - 1 + (bits >> cut & 1);\n"
     "    r = td_of_bits_f64(bits >> cut << cut);\n"
     "    if (r >= limit) r = 1.0 / 0.0;\n"
     "  }\n"
     "  return td_bits_f64(x) >> 63 ? -r : r;\n"
     "}\n"},
    {"td_round_f16", NULL,
     "static inline double td_round_f16(double x) {\n"
     "  return td_round_narrow(x, 42, 0x1p16, 0x1p-14, 0x1.8p28);\n"
     "}\n"},
    {"td_round_bf16", NULL,
     "static inline double td_round_bf16(double x) {\n"
     "  return td_round_narrow(x, 45, 0x1p128, 0x1p-126, 0x1.8p-81);\n"
     "}\n"},
    {"td_load_f16", NULL,
     "static inline double td_load_f16(uint16_t h) {\n"
     "  uint64_t e = h >> 10 & 31, m = h & 1023, sign = (uint64_t)(h >> 15) << 63;\n"
     "  if (e == 0) return sign ? -((double)m * 0x1p-24) : (double)m * 0x1p-24;\n"
     "  return td_of_bits_f64(sign | (e == 31 ? (uint64_t)2047 : e + 1008) << 52 | m << 42);\n"
     "}\n"},
    {"td_word_f16", NULL,
     "static inline uint16_t td_word_f16(double x) {\n"
     "  uint64_t bits = td_bits_f64(x), sign = bits >> 63 << 15, e = bits >> 52 & 2047;\n"
     "  if (e == 2047) return (uint16_t)(sign | (x != x ? 0x7E00 : 0x7C00));\n"
     "  if (e < 1009) return (uint16_t)(sign | (uint64_t)(fabs(x) * 0x1p24));\n"
     "  return (uint16_t)(sign | (e - 1008) << 10 | (bits >> 42 & 1023));\n"
     "}\n"},
    {"td_load_bf16", NULL,
     "static inline double td_load_bf16(uint16_t h) { return td_of_bits_f32((uint32_t)h << 16); "
     "}\n"},
    {"td_word_bf16", NULL,
     "static inline uint16_t td_word_bf16(double x) {\n"
     "  return (uint16_t)(td_bits_f32((float)x) >> 16);\n"
     "}\n"},
    {"td_abs_f32", NULL, "static inline float td_abs_f32(float x) { return fabsf(x); }\n"},
    {"td_abs_f64", NULL, "static inline double td_abs_f64(double x) { return fabs(x); }\n"},
    {"td_floor_f32", NULL, "static inline float td_floor_f32(float x) { return floorf(x); }\n"},
    {"td_floor_f64", NULL, "static inline double td_floor_f64(double x) { return floor(x); }\n"},
    LIBM("ceil", ceilf, ceil),
    LIBM("sqrt", sqrtf, sqrt),
    LIBM("exp", expf, exp),
    LIBM("log", logf, log),
    LIBM("sin", sinf, sin),
    LIBM("cos", cosf, cos),
    LIBM("tanh", tanhf, tanh),
    {"fmod", NULL, "double fmod(double, double);\n"},
    {"td_fmod", "_f32 _f64",
     "/* The remainder that has the sign of b. */\n"
     "static inline $T td_fmod$s($T a, $T b) {\n"
     "  double r = fmod(a, b);\n"
     "  return ($T)((r < 0 && b > 0) || (r > 0 && b < 0) ? r + b : r);\n"
     "}\n"},
    {"td_min", "_f32 _f64",
     "/* NaN if either is; -0.0 is less than 0.0. */\n"
     "static inline $T td_min$s($T a, $T b) {\n"
     "  return a < b ? a : b < a ? b : a != b ? a + b : a != 0 ? a : -(-a - b);\n"
     "}\n"},
    {"td_max", "_f32 _f64",
     "static inline $T td_max$s($T a, $T b) {\n"
     "  return a < b ? b : b < a ? a : a != b ? a + b : a != 0 ? a : a + b;\n"
     "}\n"},
    {"fma", NULL, "double fma(double, double, double);\n"},
    {"fmaf", NULL, "float fmaf(float, float, float);\n"},
    {"td_neg_f32", NULL,
     "static inline float td_neg_f32(float x) {\n"
     "  union { float x; uint32_t bits; } u = {x};\n"
     "  u.bits ^= (uint32_t)1 << 31;\n"
     "  return u.x;\n"
     "}\n"},
    {"td_neg_f64", NULL,
     "static inline double td_neg_f64(double x) {\n"
     "  union { double x; uint64_t bits; } u = {x};\n"
     "  u.bits ^= (uint64_t)1 << 63;\n"
     "  return u.x;\n"
     "}\n"},
    {"td_fma_f32", NULL,
     "static inline float td_fma_f32(float a, float b, float c) { return fmaf(a, b, c); }\n"},
    {"td_fma_f64", NULL,
     "static inline double td_fma_f64(double a, double b, double c) { return fma(a, b, c); }\n"},
    {"td_scaled", NULL,
     "/* x * 2^f; what is too small to hold keeps its sign. */\n"
     "static double td_scaled(double x, int f) {\n"
     "  double y = ldexp(x, f);\n"
     "  return y == 0 && x != 0 ? x < 0 ? -0x1p-99 : 0x1p-99 : y;\n"
     "}\n"},
    {"td_scaled_floor", NULL,
     "static inline double td_scaled_floor(double x, int f) { return floor(td_scaled(x, f)); }\n"},
    {"td_scaled_even", NULL,
     "static inline double td_scaled_even(double x, int f) { return rint(td_scaled(x, f)); }\n"},
    {"td_to_signed", NULL,
     "/* x toward zero, kept below limit; NaN is 0. */\n"
     "static inline int64_t td_to_signed(double x, double limit, int64_t most) {\n"
     "  if (x != x) return 0;\n"
     "  return x >= limit ? most : x <= -limit ? -most - 1 : (int64_t)x;\n"
     "}\n"},
    {"td_to_unsigned", NULL,
     "static inline uint64_t td_to_unsigned(double x, double limit, uint64_t most) {\n"
     "  return x >= limit ? most : x > 0 ? (uint64_t)x : 0;\n"
     "}\n"},
};
enum { ENTRIES = sizeof entries / sizeof *entries, TYPES = sizeof types / sizeof *types };

static const char head[] = "typedef signed char int8_t;\n"
                           "typedef unsigned char uint8_t;\n"
                           "typedef short int16_t;\n"
                           "typedef unsigned short uint16_t;\n"
                           "typedef int int32_t;\n"
                           "typedef unsigned int uint32_t;\n"
                           "typedef long long int64_t;\n"
                           "typedef unsigned long long uint64_t;\n\n";

/* Which instances (bit per type, or bit 0) of which entries are wanted. */
typedef struct Wanted {
  uint32_t of[ENTRIES];
} Wanted;

/* Whether a list of suffixes has this one. */
static bool has_suffix(const char *list, const char *suffix) {
  size_t n = strlen(suffix);
  for (const char *p = list; (p = strstr(p, suffix)); p += n)
    if (p[n] == 0 || p[n] == ' ') return true;
  return false;
}

/* Bytes of a name, three at least, that the n bytes at s begin with; 0: they do not. Most names
 * begin alike, so the fourth byte is asked first. */
static size_t prefix(const char *name, const char *s, size_t n) {
  size_t k = 0;
  if (*name != *s || (n > 3 && name[3] && name[3] != s[3])) return 0;
  while (k < n && name[k] == s[k]) k++;
  return name[k] ? 0 : k;
}

/* Notes the entry that the identifier of n bytes at s names; whether it was not yet wanted. */
static bool want(Wanted *wanted, const char *s, size_t n) {
  for (int i = 0; i < ENTRIES; i++) {
    const Entry *e = &entries[i];
    size_t k = prefix(e->name, s, n);
    if (!k) continue;
    for (int t = 0; t < (e->types ? TYPES : 1); t++) {
      const char *suffix = e->types ? types[t].suffix : "";
      if (e->types && !has_suffix(e->types, suffix)) continue;
      if (k + strlen(suffix) != n || memcmp(s + k, suffix, n - k) != 0) continue;
      bool fresh = !(wanted->of[i] >> t & 1);
      wanted->of[i] |= 1u << t;
      return fresh;
    }
  }
  return false;
}

static bool is_letter(char ch) {
  return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || ch == '_';
}

static bool is_word(char ch) {
  return is_letter(ch) || (ch >= '0' && ch <= '9');
}

/* Notes what the identifiers of a text name; whether anything was new. */
static bool scan(Wanted *wanted, const char *s) {
  bool fresh = false;
  while (*s) {
    size_t n = 0;
    while (is_word(s[n])) n++;
    if (n && is_letter(*s)) fresh |= want(wanted, s, n);
    s += n ? n : 1;
  }
  return fresh;
}

bool td_prelude_has(const char *name) {
  for (int i = 0; i < ENTRIES; i++)
    if (!entries[i].types && strcmp(entries[i].name, name) == 0) return true;
  return false;
}

/* The text of an entry for type t. */
static void instance(TdText *out, const Entry *e, int t) {
  for (const char *s = e->text; *s; s++) {
    if (*s != '$') {
      td_text_putc(out, *s);
      continue;
    }
    s++;
    td_text_puts(out, *s == 's'   ? types[t].suffix
                      : *s == 'T' ? types[t].name
                      : *s == 'U' ? types[t].without_sign
                                  : types[t].bits);
  }
}

/* Appends the wanted entries in the order of the table. */
static void instances(TdText *out, const Wanted *wanted) {
  for (int i = 0; i < ENTRIES; i++)
    for (int t = 0; t < TYPES; t++)
      if (wanted->of[i] >> t & 1) instance(out, &entries[i], t);
}

const char *td_prelude_add(TdArena *a, const char *body) {
  Wanted wanted = {{0}};
  scan(&wanted, body);
  TdText uses;
  do {
    uses = td_text_new(a);
    instances(&uses, &wanted);
  } while (scan(&wanted, td_text_str(&uses)));
  TdText out = td_text_new(a);
  td_text_puts(&out, head);
  if (strstr(body, "TD_TIMED")) td_text_puts(&out, "#define TD_CLOCKED\n");
  td_text_puts(&out, td_text_str(&uses));
  td_text_puts(&out, td_prelude_word_text(body));
  td_text_putc(&out, '\n');
  td_text_puts(&out, body);
  return td_text_str(&out);
}

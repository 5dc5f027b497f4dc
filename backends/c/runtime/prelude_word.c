/* prelude_word.c - the run time of words of more than 64 bits: what eval/word.c does, as C text. */
#include "backends/c/runtime/runtime.h"

#include <string.h>

/* Types, of which a text that holds several programs has one. */
#define CELL                                                                                       \
  "#define TD_WORD(n) \\\n"                                                                        \
  "  typedef struct { uint64_t at[n]; } td_word##n; \\\n"                                          \
  "  static inline td_word##n td_word##n##_of(td_word x) { \\\n"                                   \
  "    td_word##n r; \\\n"                                                                         \
  "    for (int i = 0; i < n; i++) r.at[i] = x.at[i]; \\\n"                                        \
  "    return r; \\\n"                                                                             \
  "  }\n"                                                                                          \
  "TD_WORD(2) TD_WORD(3) TD_WORD(4) TD_WORD(5) TD_WORD(6) TD_WORD(7) TD_WORD(8) TD_WORD(9)\n"      \
  "TD_WORD(10) TD_WORD(11) TD_WORD(12) TD_WORD(13) TD_WORD(14) TD_WORD(15) TD_WORD(16)\n"

#define BITWISE(name, op)                                                                          \
  "static inline td_word td_word_" name "(td_word x, td_word y) {\n"                               \
  "  for (int i = 0; i < 16; i++) x.at[i] " op "= y.at[i];\n"                                      \
  "  return x;\n"                                                                                  \
  "}\n"

static const char text[] =
    "#ifndef TD_WORD\n"
    "typedef struct { uint64_t at[16]; } td_word;\n" CELL "#endif\n"
    "/* n pieces, extended by their sign if they have one. */\n"
    "static inline td_word td_word_of(const uint64_t *p, int n, int sign) {\n"
    "  td_word r;\n"
    "  uint64_t rest = sign && p[n - 1] >> 63 ? ~(uint64_t)0 : 0;\n"
    "  for (int i = 0; i < 16; i++) r.at[i] = i < n ? p[i] : rest;\n"
    "  return r;\n"
    "}\n"
    "static inline td_word td_word_low(uint64_t x, int sign) { return td_word_of(&x, 1, sign); }\n"
    "static inline uint64_t td_word_cut(td_word x) { return x.at[0]; }\n"
    "/* The bits from .. from + 63 of n pieces; those outside of them are 0. */\n"
    "static inline uint64_t td_word_piece(const uint64_t *p, int n, int64_t from) {\n"
    "  int64_t i = from < 0 ? -((63 - from) / 64) : from / 64, by = from - i * 64;\n"
    "  uint64_t low = i >= 0 && i < n ? p[i] : 0, high = i + 1 >= 0 && i + 1 < n ? p[i + 1] : 0;\n"
    "  return by ? low >> by | high << (64 - by) : low;\n"
    "}\n"
    "/* w bits from `lo` on, at most 64. */\n"
    "static inline uint64_t td_word_bits(const uint64_t *p, int n, int64_t lo, int w) {\n"
    "  uint64_t x = td_word_piece(p, n, lo);\n"
    "  return w < 64 ? x & (((uint64_t)1 << w) - 1) : x;\n"
    "}\n"
    "static inline td_word td_word_up(td_word x, int64_t n) {\n"
    "  td_word r;\n"
    "  for (int i = 0; i < 16; i++) r.at[i] = td_word_piece(x.at, 16, i * 64 - n);\n"
    "  return r;\n"
    "}\n"
    "/* The n low bits. */\n"
    "static inline td_word td_word_ones(int64_t n) {\n"
    "  td_word r = td_word_low(~(uint64_t)0, 1);\n"
    "  return n <= 0 ? td_word_low(0, 0) : n >= 1024 ? r : td_word_up(r, n - 1024);\n"
    "}\n"
    "static inline td_word td_word_both(int first, td_word x, td_word y) {\n"
    "  return first ? x : y;\n"
    "}\n"
    "static inline td_word td_word_choose(td_word c, td_word x, td_word y) {\n"
    "  for (int i = 0; i < 16; i++) x.at[i] = (c.at[i] & x.at[i]) | (~c.at[i] & y.at[i]);\n"
    "  return x;\n"
    "}\n"
    "/* x cut to w bits, and extended by their sign if they have one. */\n"
    "static inline td_word td_word_wrap(td_word x, int w, int sign) {\n"
    "  uint64_t top = td_word_piece(x.at, 16, w - 1) & 1;\n"
    "  return td_word_choose(td_word_ones(w), x, td_word_low(sign && top ? ~(uint64_t)0 : 0, 1));\n"
    "}\n"
    "/* x with the low bits of v at lo .. hi - 1. */\n"
    "static inline td_word td_word_with(td_word x, int64_t lo, int64_t hi, td_word v) {\n"
    "  return td_word_choose(td_word_up(td_word_ones(hi - lo), lo), td_word_up(v, lo), x);\n"
    "}\n" BITWISE("and", "&") BITWISE("or", "|")
        BITWISE("xor", "^") "static inline td_word td_word_not(td_word x) {\n"
                            "  for (int i = 0; i < 16; i++) x.at[i] = ~x.at[i];\n"
                            "  return x;\n"
                            "}\n\n";

const char *td_prelude_word_text(const char *body) {
  for (const char *s = body; (s = strstr(s, "td_word")); s++)
    if (strncmp(s, "td_word_f16", 11) != 0 && strncmp(s, "td_word_bf16", 12) != 0) return text;
  return "";
}

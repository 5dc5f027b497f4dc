/* math.c - exp, log and tanh of f32 for cores, which have no libm that is known: the argument is
 * reduced by powers of two (Cody and Waite's two parts of ln 2), a Taylor polynomial does the rest.
 * exp and log are within 2 units in the last place of libm's, tanh within 4. */
#include "backends/npu/math.h"

#include <string.h>

/* Each with the function of libm that it stands for. */
static const struct {
  const char *name, *text;
} functions[] = {
    {"expf", "static inline float tide_exp(float x) {\n"
             "  const float k = (x * 0x1.715476p+0f + 0x1.8p+23f) - 0x1.8p+23f;\n"
             "  const float r = (x - k * 0x1.62ep-1f) - k * 0x1.0bfbe8p-15f;\n"
             "  if (!(x < 88.8f)) return x != x ? x : 1.0f / 0.0f;\n"
             "  if (x < -104.0f) return 0.0f;\n"
             "  float p = 1.0f / 5040;\n"
             "  p = p * r + 1.0f / 720;\n"
             "  p = p * r + 1.0f / 120;\n"
             "  p = p * r + 1.0f / 24;\n"
             "  p = p * r + 1.0f / 6;\n"
             "  p = p * r + 0.5f;\n"
             "  p = p * r * r + r + 1.0f;\n"
             "  const int n = (int)k, h = n / 2;\n"
             "  union { int i; float f; } one = {(h + 127) << 23}, two = {(n - h + 127) << 23};\n"
             "  return p * one.f * two.f;\n"
             "}\n"},
    {"logf",
     "static inline float tide_log(float x) {\n"
     "  if (x < 0.0f || x != x) return 0.0f / 0.0f;\n"
     "  if (x == 0.0f || x == 1.0f / 0.0f) return x == 0.0f ? -1.0f / 0.0f : x;\n"
     "  const int low = x < 0x1p-126f;\n"
     "  union { float f; int i; } u = {low ? x * 0x1p24f : x};\n"
     "  int e = (u.i >> 23) - 127 - (low ? 24 : 0);\n"
     "  u.i = (u.i & 0x7FFFFF) | 0x3F800000;\n"
     "  if (u.f > 0x1.6a09e6p+0f) u.f *= 0.5f, e++;\n"
     "  const float f = u.f - 1.0f, s = f / (2.0f + f), z = s * s;\n"
     "  float p = 1.0f / 11;\n"
     "  p = p * z + 1.0f / 9;\n"
     "  p = p * z + 1.0f / 7;\n"
     "  p = p * z + 1.0f / 5;\n"
     "  p = p * z + 1.0f / 3;\n"
     "  const float h = 0.5f * f * f;\n"
     "  return (e * 0x1.0bfbe8p-15f + (s * (h + 2.0f * z * p) - h + f)) + e * 0x1.62ep-1f;\n"
     "}\n"},
    {"tanhf", "static inline float tide_tanh(float x) {\n"
              "  const float a = x < 0.0f ? -x : x, z = x * x;\n"
              "  if (a < 0.4f) {\n"
              "    float p = 21844.0f / 6081075;\n"
              "    p = p * -z + 1382.0f / 155925;\n"
              "    p = p * -z + 62.0f / 2835;\n"
              "    p = p * -z + 17.0f / 315;\n"
              "    p = p * -z + 2.0f / 15;\n"
              "    p = p * -z + 1.0f / 3;\n"
              "    return x * (1.0f - z * p);\n"
              "  }\n"
              "  const float r = a > 10.0f ? 1.0f : 1.0f - 2.0f / (expf(2.0f * a) + 1.0f);\n"
              "  return x != x ? x : x < 0.0f ? -r : r;\n"
              "}\n"}};

/* Whether a text calls a function. */
static bool calls(const char *text, const char *name) {
  return strstr(text, name) != NULL;
}

const char *td_npu_math_of(TdArena *a, const char *text) {
  TdText t = td_text_new(a);
  bool tanh = calls(text, "tanhf(");
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    const char *name = functions[i].name;
    if (!calls(text, td_text_fmt(a, "%s(", name)) && !(i == 0 && tanh)) continue;
    size_t stem = strlen(name) - 1;
    td_text_putf(&t, "%s#define %s tide_%.*s\n", functions[i].text, name, (int)stem, name);
  }
  if (t.n) td_text_putc(&t, '\n');
  return td_text_str(&t);
}

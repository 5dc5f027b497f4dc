/* data.c - elements as lines of text, as tide_data.h reads and writes them. */
#include <inttypes.h>
#include <string.h>

#include "backends/hls/option.h"
#include "ir/num/float.h"

/* The value v of scalar type t: the words of f16, f32 and f64 in hexadecimal, all else decimal. */
void td_hls_data_put_scalar(TdText *out, const TdType *t, uint64_t v) {
  bool is_float = t->kind == TD_T_FLOAT;
  uint64_t word = is_float ? td_num_float_word(t, td_num_double(v)) : v;
  if (is_float && !t->brain)
    td_text_putf(out, "0x%0*" PRIx64 "\n", t->w / 4, word);
  else if (td_type_is_signed(t) || t->kind == TD_T_INDEX)
    td_text_putf(out, "%" PRId64 "\n", (int64_t)word);
  else
    td_text_putf(out, "%" PRIu64 "\n", word);
}

/* The pieces of 64 bits of a word of type t. */
static int pieces(const TdType *t) {
  return (t->w + 63) / 64;
}

/* The bits of the last piece that are t's. */
static uint64_t last_bits(const TdType *t) {
  return t->w % 64 ? ((uint64_t)1 << t->w % 64) - 1 : UINT64_MAX;
}

/* A word of more than 64 bits at p: 16 digits for each piece. */
static void put_word(TdText *out, const TdType *t, const unsigned char *p) {
  td_text_puts(out, "0x");
  for (int i = pieces(t); i-- > 0;) {
    uint64_t piece;
    memcpy(&piece, p + 8 * i, sizeof piece);
    td_text_putf(out, "%016" PRIx64, i + 1 < pieces(t) ? piece : piece & last_bits(t));
  }
  td_text_putc(out, '\n');
}

void td_hls_data_put_tensor(TdText *out, const TdTensor *x) {
  const TdType *t = td_type_scalar(x->type);
  int64_t index[TD_MAX_RANK] = {0}, n = td_tensor_count(x);
  for (; n > 0; n--, td_tensor_next(x, index))
    if (t->w > 64)
      put_word(out, t, td_tensor_at(x, index));
    else
      td_hls_data_put_scalar(out, t, td_tensor_get(x, index));
}

/* The number at s, decimal or hexadecimal, modulo 2^64; *end is behind it. */
static uint64_t number(const char *s, const char **end) {
  bool minus = *s == '-', hex = s[0] == '0' && s[1] == 'x';
  uint64_t v = 0;
  for (s += minus + 2 * hex; *s > ' '; s++) {
    uint64_t digit = (uint64_t)(*s <= '9' ? *s - '0' : (*s | 0x20) - 'a' + 10);
    v = v * (hex ? 16 : 10) + digit;
  }
  *end = s;
  return minus ? 0 - v : v;
}

/* Takes the word of more than 64 bits whose digits stand at s to p, whose sign goes on; returns the
 * end of the digits, or NULL where they are not those of such a word. */
static const char *take_word(const TdType *t, unsigned char *p, const char *s) {
  size_t n = strcspn(s, " \n");
  if (n != 2 + 16 * (size_t)pieces(t)) return NULL;
  for (int i = 0; i < pieces(t); i++) {
    const char *digits = s + n - 16 * (i + 1), *end;
    char one[20] = "0x";
    memcpy(one + 2, digits, 16);
    uint64_t piece = number(one, &end);
    bool negative = td_type_is_signed(t) && piece & (last_bits(t) ^ last_bits(t) >> 1);
    if (i + 1 == pieces(t) && negative) piece |= ~last_bits(t);
    memcpy(p + 8 * i, &piece, sizeof piece);
  }
  return s + n;
}

bool td_hls_data_take(TdTensor *x, const char *text) {
  const TdType *t = td_type_scalar(x->type);
  int64_t index[TD_MAX_RANK] = {0};
  for (int64_t n = td_tensor_count(x); n > 0; n--, td_tensor_next(x, index)) {
    text += strspn(text, " \n");
    if (!*text) return false;
    if (t->w > 64) {
      td_tensor_put(x, index, 0);
      text = take_word(t, td_tensor_at(x, index), text);
      if (!text) return false;
      continue;
    }
    uint64_t v = number(text, &text);
    if (t->kind == TD_T_FLOAT) v = td_num_of_double(td_num_float_of_word(t, v));
    td_tensor_put(x, index, v);
  }
  return true;
}

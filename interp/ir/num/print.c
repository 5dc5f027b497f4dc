/* print.c - values of scalar types as Lua text. */
#include "ir/num/exact.h"

/* Decimal digits, lowest first: room for 64 bits shifted by 1024 places either way. */
typedef struct Decimal {
  unsigned char digit[1100];
  int n;
} Decimal;

/* Appends the digits of v. */
static void decimal_push(Decimal *x, uint64_t v) {
  for (; v; v /= 10) x->digit[x->n++] = (unsigned char)(v % 10);
}

/* Multiplies by a small k. */
static void decimal_scale(Decimal *x, unsigned k) {
  unsigned carry = 0;
  for (int i = 0; i < x->n; i++) {
    carry += x->digit[i] * k;
    x->digit[i] = (unsigned char)(carry % 10);
    carry /= 10;
  }
  decimal_push(x, carry);
}

/* x in full: mag * 2^-f is mag * 5^f * 10^-f. */
static void print_exact(TdText *out, TdExact x) {
  while (x.f > 0 && x.mag % 2 == 0 && x.mag) x.mag /= 2, x.f--;
  if (x.mag == 0) x.f = 0;
  Decimal d = {.n = 0};
  decimal_push(&d, x.mag);
  for (int i = 0; i < x.f; i++) decimal_scale(&d, 5);
  for (int i = x.f; i < 0; i++) decimal_scale(&d, 2);
  while (d.n <= x.f || d.n == 0) d.digit[d.n++] = 0;
  if (x.neg) td_text_putc(out, '-');
  for (int i = d.n - 1; i >= 0; i--) {
    td_text_putc(out, (char)('0' + d.digit[i]));
    if (i == x.f && i > 0) td_text_putc(out, '.');
  }
}

void td_num_print(TdText *out, const TdType *t, uint64_t v) {
  switch (t->kind) {
  case TD_T_BOOL: td_text_puts(out, v ? "true" : "false"); break;
  case TD_T_FLOAT: td_text_put_double(out, td_num_double(v)); break;
  default: print_exact(out, td_exact_of(t, v));
  }
}

/* domain.c - what all domains share: keys of types, canonical constants, random words. */
#include "eval/value/domain.h"

#include <math.h>

#include "eval/value/word.h"

const char *td_domain_level_name(TdLevel level) {
  static const char *const name[] = {"strict", "fused", "associative", "ring"};
  return name[level];
}

uint64_t td_domain_type_key(const TdType *t, bool with_mode) {
  uint64_t mode = with_mode ? (uint64_t)t->saturate << 1 | (uint64_t)t->nearest : 0;
  return (uint64_t)t->kind << 40 | (uint64_t)(uint16_t)t->f << 24 | (uint64_t)t->w << 8 |
         (uint64_t)t->brain << 2 | mode;
}

uint64_t td_domain_bits(const TdType *t, uint64_t bits) {
  bool nan = t->kind == TD_T_FLOAT && isnan(td_num_double(bits));
  return nan ? td_num_of_double((double)NAN) : bits;
}

bool td_domain_is_symmetric(int op) {
  switch (op) {
  case TD_OP_ADD:
  case TD_OP_MUL:
  case TD_OP_BAND:
  case TD_OP_BOR:
  case TD_OP_BXOR:
  case TD_OP_EQ:
  case TD_OP_NE: return true;
  default: return false;
  }
}

uint64_t td_domain_random(uint64_t seed, uint64_t i) {
  return td_map_mix(td_map_mix(seed, 0x5851F42D4C957F2Du), i);
}

TdValue td_domain_fold(const TdApply *x, TdFault *fault) {
  uint64_t bits[4] = {0};
  for (int i = 0; i < x->n; i++) bits[i] = x->v[i].lo;
  return td_value_of(x->op == TD_APPLY_CAST ? td_num_cast(x->type, x->of[0], bits[0], fault)
                                            : td_num_op(x->op, x->type, x->of, bits, x->n, fault));
}

TdHash td_domain_hash_input(TdHash key, unsigned param, int64_t element) {
  return td_hash_feed(td_hash_feed(td_hash_feed(key, TD_HASH_INPUT), param), (uint64_t)element);
}

TdHash td_domain_hash_constant(TdHash key, const TdType *t, TdValue v) {
  TdHash h = td_hash_feed(td_hash_feed(key, TD_HASH_CONSTANT), td_domain_type_key(t, false));
  uint64_t bits = v.lo;
  if (td_value_is_wide(v) && !td_word_fits(t, v, &bits)) return td_word_feed(h, v);
  return td_hash_feed(h, td_domain_bits(t, bits));
}

TdHash td_domain_hash_op(TdHash key, const TdApply *x, const TdValue *v) {
  bool swap =
      td_domain_is_symmetric(x->op) && (v[0].lo != v[1].lo ? v[0].lo > v[1].lo : v[0].hi > v[1].hi);
  TdHash h = td_hash_feed(td_hash_feed(key, TD_HASH_OP), (uint64_t)x->op);
  h = td_hash_feed(h, td_domain_type_key(x->type, x->op == TD_APPLY_CAST));
  for (int i = 0; i < x->n; i++) {
    int k = swap ? 1 - i : i;
    h = td_hash_feed(h, td_domain_type_key(x->of[k], false));
    h = td_hash_feed(td_hash_feed(h, v[k].lo), v[k].hi);
  }
  return h;
}

void td_domain_put_element(TdText *out, const TdInputName *x, int64_t element) {
  int64_t index[TD_MAX_RANK];
  for (int d = x->rank - 1; d >= 0; d--) {
    index[d] = element % x->extent[d];
    element /= x->extent[d];
  }
  td_text_puts(out, x->name);
  for (int d = 0; d < x->rank; d++) td_text_putf(out, "[%lld]", (long long)index[d]);
}

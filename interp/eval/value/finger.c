/* finger.c - fingerprints: a symbolic value is a keyed 126-bit hash of the expression it came from.
 */
#include "eval/value/domain.h"

typedef struct Finger {
  TdHash key;
} Finger;

void *td_finger_new(TdArena *a, uint64_t seed) {
  Finger *f = TD_NEW(a, Finger);
  f->key = (TdHash){td_domain_random(seed, 0), td_domain_random(seed, 1)};
  return f;
}

/* The symbolic value whose hash is h. */
static TdValue seal(TdHash h) {
  return (TdValue){h.lo, (h.hi & ~(uint64_t)3) | TD_VALUE_SYMBOLIC};
}

static TdValue input(void *self, unsigned param, int64_t element, const TdType *t) {
  const Finger *f = self;
  (void)t;
  return seal(td_domain_hash_input(f->key, param, element));
}

static TdValue lift(void *self, const TdType *t, TdValue v) {
  const Finger *f = self;
  if (td_value_is_symbolic(v)) return v;
  if (td_value_is_defined(v)) return seal(td_domain_hash_constant(f->key, t, v));
  return seal(td_hash_feed(f->key, TD_HASH_UNDEFINED));
}

static TdValue apply(void *self, const TdApply *x) {
  Finger *f = self;
  TdValue v[4];
  for (int i = 0; i < x->n; i++) v[i] = lift(f, x->of[i], x->v[i]);
  return seal(td_domain_hash_op(f->key, x, v));
}

const TdDomain td_finger_domain = {"fingerprint", input, lift, apply};

/* domain.h - values of a run, and what a domain of symbolic values must answer. docs/ir.md,
 * Domains. */
#ifndef TD_EVAL_VALUE_DOMAIN_H
#define TD_EVAL_VALUE_DOMAIN_H

#include "ir/ir.h"

/* Two words; the two low bits of hi say what they are. A zeroed cell was never written. */
typedef struct TdValue {
  uint64_t lo, hi;
} TdValue;

enum {
  TD_VALUE_UNDEFINED,
  TD_VALUE_CONCRETE, /* lo holds the bits, as num.h keeps them */
  TD_VALUE_SYMBOLIC, /* the rest is the domain's */
  TD_VALUE_WIDE = 4  /* beside CONCRETE: more than 64 bits, which lo points to (word.h) */
};

static inline unsigned td_value_tag(TdValue v) {
  return v.hi & 3;
}
static inline bool td_value_is_concrete(TdValue v) {
  return td_value_tag(v) == TD_VALUE_CONCRETE;
}
static inline bool td_value_is_symbolic(TdValue v) {
  return td_value_tag(v) == TD_VALUE_SYMBOLIC;
}
static inline bool td_value_is_defined(TdValue v) {
  return td_value_tag(v) != TD_VALUE_UNDEFINED;
}
static inline TdValue td_value_of(uint64_t bits) {
  return (TdValue){bits, TD_VALUE_CONCRETE};
}
static inline bool td_value_is_wide(TdValue v) {
  return v.hi == (TD_VALUE_CONCRETE | TD_VALUE_WIDE);
}
/* Whether two wide values are the same word (word.c). */
bool td_word_same(TdValue x, TdValue y);
static inline bool td_value_same(TdValue x, TdValue y) {
  return x.hi == y.hi && (x.lo == y.lo || (td_value_is_wide(x) && td_word_same(x, y)));
}

/* An operator applied to operands of which at least one is symbolic. */
enum { TD_APPLY_CAST = TD_OPS };
typedef struct TdApply {
  int op; /* TdOp, or TD_APPLY_CAST */
  int n;
  const TdType *type;      /* of the result */
  const TdType *const *of; /* of the operands */
  const TdValue *v;
  TdLoc loc;
} TdApply;

/* A domain of symbolic values. Concrete operators never come here; `self` is the state of one
 * comparison, so that two runs meet. Equal values are equal words. The exact domain is the absence
 * of this one (NULL). */
typedef struct TdDomain {
  const char *name;
  /* Element `element` (row-major; tokens of a port in order) of argument `param`. */
  TdValue (*input)(void *self, unsigned param, int64_t element, const TdType *t);
  /* A concrete or undefined value as a symbolic one; symbolic values stay. */
  TdValue (*lift)(void *self, const TdType *t, TdValue v);
  TdValue (*apply)(void *self, const TdApply *x);
} TdDomain;

/* The levels of equality, from the strictest; what is equal at one is equal at the next. */
typedef enum {
  TD_LEVEL_STRICT,      /* the same operations on the same values: equal bit for bit */
  TD_LEVEL_FUSED,       /* fma(a, b, c) counts as a * b + c */
  TD_LEVEL_ASSOCIATIVE, /* + * and the other associative operators in any grouping and order */
  TD_LEVEL_RING         /* + - * as in a commutative ring: factoring, cancelling */
} TdLevel;
const char *td_domain_level_name(TdLevel level);

/* finger.c: fingerprints of 126 bits, strict and, without fma (ir/unfuse.h), fused; algebra.c:
 * associative and ring, without fma too. Constants are drawn from seed; the state is owned by a.
 * wide: of two numbers cut to different widths it is their sum modulo the larger that is kept, not
 * modulo the smaller; what is equal in either way is equal. */
extern const TdDomain td_finger_domain, td_algebra_domain;
void *td_finger_new(TdArena *a, uint64_t seed);
void *td_algebra_new(TdArena *a, TdLevel level, bool wide, uint64_t seed);

/* What tells two types of values apart in a fingerprint (the mode of casting into one: only when
 * asked). */
uint64_t td_domain_type_key(const TdType *t, bool with_mode);
/* The bits of a concrete value of type t, all NaNs being one. */
uint64_t td_domain_bits(const TdType *t, uint64_t bits);
/* Whether swapping the two operands of op never changes a bit of the result. */
bool td_domain_is_symmetric(int op);
/* Random words from a seed: the i-th. */
uint64_t td_domain_random(uint64_t seed, uint64_t i);
/* Folds an operator whose operands are all concrete. */
TdValue td_domain_fold(const TdApply *x, TdFault *fault);

/* A keyed hash of two independent words: opened, then fed word by word. */
typedef struct TdHash {
  uint64_t lo, hi;
} TdHash;

static inline TdHash td_hash_feed(TdHash h, uint64_t word) {
  return (TdHash){td_map_mix(h.lo, word), td_map_mix(h.hi, word)};
}
/* First words fed, so that inputs, constants and operators never meet. */
enum { TD_HASH_INPUT = 1, TD_HASH_CONSTANT, TD_HASH_UNDEFINED, TD_HASH_OP };
/* The hash of an operator on operands v; the symmetric ones in an order that the values give. */
TdHash td_domain_hash_op(TdHash key, const TdApply *x, const TdValue *v);
/* The hash of an input, and of a concrete value v of type t. */
TdHash td_domain_hash_input(TdHash key, unsigned param, int64_t element);
TdHash td_domain_hash_constant(TdHash key, const TdType *t, TdValue v);

/* intern.c: a symbolic value is a node of a hash-consed graph, which remembers where it was first
 * made in each of two programs. */
extern const TdDomain td_intern_domain;
void *td_intern_new(TdArena *a);
/* What runs from now on is the first (0) or the second (1) program. */
void td_intern_side(void *self, int side);
/* How the elements of an argument are written: name and extents. */
typedef struct TdInputName {
  const char *name;
  int rank;
  int64_t extent[TD_MAX_RANK];
} TdInputName;
/* At most 40 lines: both expressions, then the part in which they differ, with source lines. */
void td_intern_explain(TdText *out, void *self, const TdType *t, TdValue x, TdValue y,
                       const TdInputName *names, const TdSources *sources);
/* "A[0][3]": element `element`, row-major. */
void td_domain_put_element(TdText *out, const TdInputName *x, int64_t element);

#endif

/* bdd.h - functions of bits as reduced ordered binary decision diagrams (Bryant 1986): equal
 * functions are equal numbers. */
#ifndef TD_EVAL_BDD_H
#define TD_EVAL_BDD_H

#include "base/base.h"

/* A function; 0 is false and 1 true. */
typedef uint32_t TdBit;

typedef struct TdBdd TdBdd;
/* One with the two constants, owned by a. */
TdBdd *td_bdd_new(TdArena *a);
/* From now on functions may take so many nodes more; beyond that everything is false, and
 * td_bdd_is_over says so. */
void td_bdd_allow(TdBdd *b, size_t nodes);
bool td_bdd_is_over(const TdBdd *b);
size_t td_bdd_count(const TdBdd *b);

/* The variable of a place in the order. */
TdBit td_bdd_variable(TdBdd *b, uint32_t level);
/* c ? x : y, by which all other functions are made. */
TdBit td_bdd_choose(TdBdd *b, TdBit c, TdBit x, TdBit y);
static inline TdBit td_bdd_not(TdBdd *b, TdBit x) {
  return td_bdd_choose(b, x, 0, 1);
}
static inline TdBit td_bdd_and(TdBdd *b, TdBit x, TdBit y) {
  return td_bdd_choose(b, x, y, 0);
}
static inline TdBit td_bdd_or(TdBdd *b, TdBit x, TdBit y) {
  return td_bdd_choose(b, x, 1, y);
}
static inline TdBit td_bdd_xor(TdBdd *b, TdBit x, TdBit y) {
  return td_bdd_choose(b, x, td_bdd_not(b, y), y);
}

#endif

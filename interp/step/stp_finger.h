/* stp_finger.h - runs of a graph on fingerprints: what a tile holds is a hash of how it was made,
 * one for each row, or one for each element. Functions on a row are opaque; sums know the order of
 * what they add, or (`sums`) only what. Numbers and selectors are themselves. */
#ifndef TD_STP_FINGER_H
#define TD_STP_FINGER_H

#include "step/stp_machine.h"

/* Whether a tile holds fingerprints in this run: numbers do not. */
static inline bool td_stp_finger_is(const TdStpRun *r, const TdType *elem, int64_t rows,
                                    int64_t cols) {
  return r->o->finger && !(rows == 1 && cols == 1 && td_type_is_integer(elem));
}

/* matmul or matmul_t of a and b over k, into the valid part of out. */
void td_stp_finger_matmul(TdStpRun *r, TdStpVal a, TdStpVal b, TdStpVal out, int64_t k,
                          bool transposed);
/* add, mul or div, into the valid part of out. */
void td_stp_finger_combine(TdStpRun *r, TdStpFnKind fn, TdStpVal a, TdStpVal b, TdStpVal out);
/* silu, exp or row_sum. */
void td_stp_finger_unary(TdStpRun *r, TdStpFnKind fn, TdStpVal a, TdStpVal out);
/* A kernel on n tiles, a hash of all that it may read: for each row, where it treats rows by
 * themselves; else of all. */
void td_stp_finger_kernel(TdStpRun *r, const TdStpFn *f, const TdStpVal *part, size_t n,
                          TdStpVal out);
/* The valid rows of y behind those of s. */
void td_stp_finger_beside(TdStpRun *r, TdStpVal s, TdStpVal y, TdStpVal out);
/* Row `to` of w, of which each element is a number. */
void td_stp_finger_number(TdStpRun *r, TdStpVal w, int64_t to, int64_t number);
/* A tile of constants. */
void td_stp_finger_constant(TdStpRun *r, TdStpVal v, const TdTensor *t);
/* Fills v with what tile `number` of the node's tensor holds; and back. */
void td_stp_finger_load(TdStpRun *r, const TdStpNode *n, int64_t number, TdStpVal v);
void td_stp_finger_store(TdStpRun *r, const TdStpNode *n, int64_t number, TdStpVal v);

#endif

/* intern.h - the nodes of the graph of expressions that td_intern_domain makes. */
#ifndef TD_EVAL_VALUE_INTERN_H
#define TD_EVAL_VALUE_INTERN_H

#include "eval/value/domain.h"

/* Kinds of node beside the operators and casts. */
enum {
  TD_INTERN_INPUT = TD_APPLY_CAST + 1,
  TD_INTERN_CONSTANT,
  TD_INTERN_WORD,
  TD_INTERN_UNDEFINED
};

typedef struct TdInternNode {
  int op, n;
  const TdType *type;
  uint32_t kid[4];  /* older than this one */
  uint64_t word[2]; /* constant: its bits; input: argument and element */
  uint32_t next;    /* older node of the same hash, or 0 */
  TdLoc loc[2];     /* the expression that first made it in either program */
} TdInternNode;

/* The node that a symbolic value is; valid until the next is made. */
const TdInternNode *td_intern_node(const void *graph, TdValue v);

#endif

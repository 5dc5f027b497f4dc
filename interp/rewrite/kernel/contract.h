/* contract.h - what a library kernel takes: shapes, orders, vector widths; all read from its
 * parameters and their attributes. */
#ifndef TD_REWRITE_KERNEL_CONTRACT_H
#define TD_REWRITE_KERNEL_CONTRACT_H

#include "ir/order.h"
#include "rewrite/util.h"

/* A parameter of a library kernel. */
typedef struct TdOperand {
  const TdParam *param;
  const TdType *type; /* of constant extents */
  bool read, write;
  bool arranged; /* it has an order of its own; else its dimensions are its names */
  TdOrder order; /* of a tensor */
  int64_t lanes; /* its innermost dimension comes in whole vectors of so many elements */
} TdOperand;

typedef struct TdContract {
  const TdProg *prog; /* the library kernel, its root, and what it calls */
  const TdUnit *unit;
  TdOperand *at;
  size_t n;
} TdContract;

/* The contract of library p, which is copied into r's store. False with r->diag filled: it makes no
 * sense, or nothing says what the kernel does. */
bool td_contract_read(TdContract *c, TdRewrite *r, const TdProg *p);
/* "A: i8[2][16][4] as m x k = 8 x 16" for messages. */
const char *td_contract_text(TdArena *a, const TdOperand *o);

#endif

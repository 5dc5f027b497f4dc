/* expr.h - expressions: pure, immutable, without identity; addressed by statement uid and path.
 * docs/ir.md, Expressions. */
#ifndef TD_EXPR_H
#define TD_EXPR_H

#include "ir/type.h"

typedef enum {
#define TD_NODE_EXPR(id, name) TD_EXPR_##id,
#include "ir/nodes.def"
  TD_EXPR_KINDS
} TdExprKind;

typedef enum {
#define TD_OP(id, lua, arity, rule, form, prec, flags, ci, cf, cost) TD_OP_##id,
#include "ir/ops.def"
  TD_OPS
} TdOp;

typedef enum {
  TD_RULE_ADD,
  TD_RULE_SUB,
  TD_RULE_MUL,
  TD_RULE_FLOORDIV,
  TD_RULE_MOD,
  TD_RULE_DIV,
  TD_RULE_NEG,
  TD_RULE_ABS,
  TD_RULE_SHL,
  TD_RULE_SHR,
  TD_RULE_ASR,
  TD_RULE_BITS,
  TD_RULE_BNOT,
  TD_RULE_JOIN,
  TD_RULE_SELECT,
  TD_RULE_COMPARE,
  TD_RULE_LOGIC,
  TD_RULE_GETBITS,
  TD_RULE_SETBITS,
  TD_RULE_BITCAST,
  TD_RULE_FMA,
  TD_RULE_FLOAT,
  TD_RULE_ROUND,
  TD_RULE_TENSOR
} TdOpRule;
enum { TD_FC = 1, TD_FA = 2, TD_FS = 4, TD_FL = 8, TD_FB = 16 }; /* flags of ops.def */
typedef enum { TD_FORM_INFIX, TD_FORM_PREFIX, TD_FORM_CALL } TdOpForm;

/* A line of ops.def. */
typedef struct TdOpInfo {
  const char *id, *lua;
  uint8_t arity, rule, form, prec;
  bool commutes; /* with truncation: low bits of the result need only low bits of the operands */
  bool associative, symmetric, lazy, boolean;
  const char *c_int, *c_float, *cost;
} TdOpInfo;
extern const TdOpInfo td_ops[TD_OPS];

/* How one dimension of the base of a view is addressed: element lo + step * d[out], or just lo when
 * out < 0. */
typedef struct TdViewDim {
  int64_t step;
  int out;
} TdViewDim;

/* One node. `type` is the type of the value; of a VIEW the tensor (or port) type it denotes. */
struct TdExpr {
  uint8_t kind;   /* TdExprKind */
  uint8_t op;     /* TdOp of OP and TENSOR */
  uint8_t reduce; /* of TENSOR: the TdOp that reduces */
  uint8_t axis;   /* of TENSOR REDUCE; of ALLREDUCE the map's axes, one bit each, 0: all */
  bool implicit;  /* of CAST: prints as nothing */
  uint32_t nkid;
  TdLoc loc;
  const TdType *type;
  TdSym sym; /* VAR, LOAD, VIEW */
  union {
    uint64_t bits;        /* LIT: see num.h */
    const char *name;     /* SIZE: interned */
    const TdViewDim *dim; /* VIEW: one per dimension of the base, kid[d] its lo */
  } u;
  const TdExpr *kid[];
};

/* Constructors; nodes are owned by arena a, kids are shared. Types must already agree (asserted).
 */
const TdExpr *td_expr_lit(TdArena *a, const TdType *t, uint64_t bits, TdLoc loc);
const TdExpr *td_expr_index(TdSession *s, TdArena *a, int64_t v, TdLoc loc); /* LIT of type index */
const TdExpr *td_expr_size(TdSession *s, TdArena *a, const char *name, TdLoc loc);
const TdExpr *td_expr_var(TdArena *a, TdSym sym, const TdType *t, TdLoc loc);
const TdExpr *td_expr_load(TdArena *a, TdSym sym, const TdType *elem, const TdExpr *const *index,
                           int rank, TdLoc loc);
/* The type follows from the operands by promote.c, or is given for ops whose rule needs it (bits,
 * bitcast). */
const TdExpr *td_expr_op(TdArena *a, TdOp op, const TdType *t, const TdExpr *const *kid, int n,
                         TdLoc loc);
const TdExpr *td_expr_op2(TdArena *a, TdOp op, const TdType *t, const TdExpr *x, const TdExpr *y);
const TdExpr *td_expr_cast(TdArena *a, const TdType *t, const TdExpr *x, bool implicit);
const TdExpr *td_expr_view(TdArena *a, TdSym sym, const TdType *t, const TdExpr *const *lo,
                           const TdViewDim *dim, int rank, TdLoc loc);
/* All of a tensor (or port) of type t. */
const TdExpr *td_expr_whole(TdSession *s, TdArena *a, TdSym sym, const TdType *t, TdLoc loc);
/* Whether e is a view that keeps all dimensions of sym, in their order, by steps of 1: where its
 * shape is sym's, it is all of sym. */
bool td_expr_keeps_dims(const TdExpr *e, TdSym sym);
const TdExpr *td_expr_tensor(TdArena *a, TdOp op, const TdType *t, const TdExpr *const *kid, int n,
                             TdOp reduce, int axis, TdLoc loc);
/* The same node with other kids (same count). */
const TdExpr *td_expr_with_kids(TdArena *a, const TdExpr *e, const TdExpr *const *kid);

/* Value of an index literal. */
bool td_expr_is_const(const TdExpr *e, int64_t *v);

/* Folds an operator or cast on literals; returns e itself when it cannot (fault, non-literal). */
const TdExpr *td_expr_fold(TdSession *s, TdArena *a, const TdExpr *e);

#endif

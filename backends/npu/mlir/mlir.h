/* mlir.h - a program in MLIR as one tree in an arena: operations, regions, blocks, values, types,
 * attributes. It is built here or read from text, and printed in three forms. */
#ifndef TD_MLIR_H
#define TD_MLIR_H

#include "base/base.h"

typedef enum {
  TD_MLIR_INT,    /* i8, si8, ui8: `width` bits */
  TD_MLIR_INDEX,  /* index */
  TD_MLIR_FLOAT,  /* bf16, f16, f32, f64 */
  TD_MLIR_MEMREF, /* memref, tensor, vector: `shape` of in[0] */
  TD_MLIR_TENSOR,
  TD_MLIR_VECTOR,
  TD_MLIR_FUNCTION, /* (in) -> (out) */
  TD_MLIR_DIALECT   /* !name<in> */
} TdMlirTypeKind;

typedef struct TdMlirType TdMlirType;
struct TdMlirType {
  TdMlirTypeKind kind;
  const char *name; /* as printed, without parameters */
  int width;
  const int64_t *shape; /* -1: not known before the run */
  size_t rank, nin, nout;
  const TdMlirType *const *in, *const *out;
};

typedef enum {
  TD_MLIR_A_INT,   /* i of an integer or index type */
  TD_MLIR_A_FLOAT, /* f */
  TD_MLIR_A_BOOL,  /* i */
  TD_MLIR_A_UNIT,
  TD_MLIR_A_STRING, /* s of n bytes */
  TD_MLIR_A_SYMBOL, /* @s */
  TD_MLIR_A_TYPE,
  TD_MLIR_A_ARRAY,    /* at[n] */
  TD_MLIR_A_INTS,     /* array<type: num[n]> */
  TD_MLIR_A_DENSE,    /* dense<..> : type; num[n] or real[n], one: the same everywhere */
  TD_MLIR_A_DIMS,     /* n / 2 pairs of size and stride in num[n] */
  TD_MLIR_A_DIMS_LIST /* at[n], each such pairs */
} TdMlirAttrKind;

typedef struct TdMlirAttr TdMlirAttr;
struct TdMlirAttr {
  TdMlirAttrKind kind;
  const TdMlirType *type;
  int64_t i;
  double f;
  const char *s;
  size_t n;
  const int64_t *num;
  const double *real;
  const TdMlirAttr *const *at;
};

/* An attribute under its name, which is interned. */
typedef struct TdMlirNamed {
  const char *name;
  const TdMlirAttr *attr;
} TdMlirNamed;

typedef struct TdMlirOp TdMlirOp;
typedef struct TdMlirBlock TdMlirBlock;
typedef struct TdMlirRegion TdMlirRegion;

/* What an operation gives, or an argument of a block; `name` without its %. */
typedef struct TdMlirValue {
  const char *name;
  const TdMlirType *type;
  TdMlirOp *op; /* NULL: an argument */
  TdMlirBlock *block;
} TdMlirValue;

struct TdMlirBlock {
  const char *label; /* without its ^; NULL: a first block nobody named */
  TdMlirRegion *region;
  TD_VEC(TdMlirValue *) arg;
  TD_VEC(TdMlirOp *) op;
};

struct TdMlirRegion {
  TdMlirOp *op;
  TD_VEC(TdMlirBlock *) block;
};

struct TdMlirOp {
  const char *name; /* "aie.tile", interned */
  TdLoc loc;        /* of the user's line, or of the text it was read from */
  TdMlirBlock *block;
  TD_VEC(TdMlirValue *) operand;
  TD_VEC(TdMlirValue *) result;
  TD_VEC(TdMlirBlock *) successor;
  TD_VEC(TdMlirRegion *) region;
  TD_VEC(TdMlirNamed) attr; /* by name */
};

/* A tree, and what its names are kept in. */
typedef struct TdMlir {
  TdArena *arena;
  TdNames *names;
  TdMap taken; /* names of values that td_mlir_result gave, and how often */
  TdMlirOp *module;
} TdMlir;

/* A tree with an empty builtin.module of one block, in a. */
TdMlir *td_mlir_new(TdArena *a);
/* The one block of the first region of an operation, NULL when it has none. */
TdMlirBlock *td_mlir_body(const TdMlirOp *op);

/* ---- types ---- */

/* A type by its name alone: "i16", "ui8", "index", "bf16"; NULL for another. */
const TdMlirType *td_mlir_scalar(TdMlir *m, const char *name);
/* memref, tensor or vector of elements. */
const TdMlirType *td_mlir_shaped(TdMlir *m, TdMlirTypeKind kind, const int64_t *shape, size_t rank,
                                 const TdMlirType *element);
/* !name<of>, of one type. */
const TdMlirType *td_mlir_dialect_type(TdMlir *m, const char *name, const TdMlirType *of);
const TdMlirType *td_mlir_function(TdMlir *m, const TdMlirType *const *in, size_t nin,
                                   const TdMlirType *const *out, size_t nout);
bool td_mlir_same_type(const TdMlirType *x, const TdMlirType *y);

/* ---- attributes ---- */

/* An attribute of each kind, in the arena of the tree; `type` as td_mlir_scalar takes it. */
const TdMlirAttr *td_mlir_int(TdMlir *m, int64_t i, const char *type);
const TdMlirAttr *td_mlir_float(TdMlir *m, double f, const char *type);
const TdMlirAttr *td_mlir_bool(TdMlir *m, bool b);
const TdMlirAttr *td_mlir_string(TdMlir *m, const char *s, size_t n);
const TdMlirAttr *td_mlir_symbol(TdMlir *m, const char *s);
const TdMlirAttr *td_mlir_type_attr(TdMlir *m, const TdMlirType *t);
/* An array, or the list of dims of each consumer. */
const TdMlirAttr *td_mlir_array(TdMlir *m, TdMlirAttrKind kind, const TdMlirAttr *const *at,
                                size_t n);
/* Integers of a type: array<..>, dense<..> or the pairs of dims. */
const TdMlirAttr *td_mlir_ints(TdMlir *m, TdMlirAttrKind kind, const int64_t *num, size_t n,
                               const TdMlirType *type);
/* dense<..> of n elements of a tensor: num, or real where that is NULL. */
const TdMlirAttr *td_mlir_dense(TdMlir *m, const TdMlirType *type, const int64_t *num,
                                const double *real, size_t n);

/* ---- operations ---- */

/* An operation at the end of a block (NULL: of none). */
TdMlirOp *td_mlir_op(TdMlir *m, TdMlirBlock *at, const char *name);
void td_mlir_operand(TdMlir *m, TdMlirOp *op, TdMlirValue *v);
/* A result under a name that no other result or argument made here has: %hint, %hint_1, .. */
TdMlirValue *td_mlir_result(TdMlir *m, TdMlirOp *op, const char *hint, const TdMlirType *t);
/* An argument of a block, named the same way. */
TdMlirValue *td_mlir_argument(TdMlir *m, TdMlirBlock *b, const char *hint, const TdMlirType *t);
TdMlirRegion *td_mlir_region(TdMlir *m, TdMlirOp *op);
/* A block at the end of a region; its label must be unique there, NULL only for the first. */
TdMlirBlock *td_mlir_block(TdMlir *m, TdMlirRegion *r, const char *label);
void td_mlir_successor(TdMlir *m, TdMlirOp *op, TdMlirBlock *b);
/* Sets an attribute, in place of one of that name. */
void td_mlir_set(TdMlir *m, TdMlirOp *op, const char *name, const TdMlirAttr *attr);
/* The attribute of that name, or NULL. */
const TdMlirAttr *td_mlir_get(const TdMlirOp *op, const char *name);

/* Whether two trees are the same but for places: operations, names, types, attributes, and which
 * value or block each use means. */
bool td_mlir_same(const TdMlir *x, const TdMlir *y);

/* ---- text ---- */

typedef enum {
  TD_MLIR_GENERIC, /* what any MLIR parser reads */
  TD_MLIR_CHECK,   /* the same for `mlir-opt --irdl-file`, whose operations have neither
                    * properties, successors nor terminators, and no attributes of their own */
  TD_MLIR_PRETTY,  /* what people read, as dialect v1.3 spells it (dialect.def) */
  TD_MLIR_PRETTY_1_0
} TdMlirForm;
void td_mlir_print(TdText *out, const TdMlir *m, TdMlirForm form);

/* The tree of a text in generic form, or as dialect v1.3 spells it: n bytes, whose lines `source`
 * numbers. NULL, with line and column in *d, for what is no such text. A value is defined before
 * its uses. */
TdMlir *td_mlir_read(TdArena *a, uint32_t source, const char *text, size_t n, TdDiag *d);

#endif

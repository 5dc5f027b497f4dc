/* irgen.h - what the files of the lowering share: Lua trees of one kernel to IR. Not for others. */
#ifndef TD_IRGEN_H
#define TD_IRGEN_H

#include "frontend/capture.h"
#include "frontend/walk_ast.h"

/* The value of an expression under way. */
typedef enum {
  TD_V_FAILED, /* the diagnostic is filled */
  TD_V_CONST,  /* known now */
  TD_V_SCALAR, /* e: a pure scalar expression */
  TD_V_TENSOR, /* e: a VIEW, or a tensor-valued expression */
  TD_V_FRESH,  /* T[..](), T[..](x): type, init, e; becomes a local */
  TD_V_STREAM, /* e: a VIEW of a port type */
  TD_V_GET,    /* e: the stream element that is got next; slot: a slot is taken instead */
  TD_V_NONE    /* no value: a call of a kernel, a function without results */
} TdValKind;
typedef struct TdVal {
  TdValKind kind;
  TdConst c;
  const TdExpr *e;
  const TdType *type; /* FRESH */
  bool slot;          /* GET */
  TdLoc loc;
} TdVal;

/* What a Lua variable stands for. */
typedef enum { TD_B_VALUE, TD_B_SCALAR, TD_B_TENSOR } TdBindKind;
/* How the type of a scalar local came about: it decides what may be assigned later. */
typedef enum { TD_FROM_TYPED, TD_FROM_LITERAL, TD_FROM_OPERATOR } TdOrigin;
typedef struct TdBinding {
  TdBindKind kind;
  TdVal value;        /* VALUE: constant, view, stream */
  TdSym sym;          /* SCALAR, TENSOR */
  const TdType *type; /* SCALAR, TENSOR */
  TdOrigin origin;    /* SCALAR */
  bool writable;
} TdBinding;

typedef TD_VEC(const TdStmt *) TdStmts;

/* What `break` and `return` mean where we are. */
typedef enum { TD_AT_TOP, TD_AT_LOOP, TD_AT_GRID, TD_AT_UNROLLED } TdJumpPlace;

/* A function being inlined: its results, and who calls. */
typedef struct TdInline {
  const struct TdInline *caller;
  const TdAstFn *fn;
  uintptr_t handle;
  TdVal *result;
  size_t nresult;
  bool returned;
} TdInline;

typedef struct TdIrgen {
  TdSession *session;
  TdStore *store;
  TdArena *arena; /* the store's */
  const TdHost *host;
  TdDiag *diag;
  TdSizes *sizes;         /* of the unit, and what must not be one */
  const TdStream *stream; /* of the design around, by the host's numbers */
  TdUnits *units;         /* imported so far */
  uintptr_t fn;           /* the Lua function whose text is being lowered */
  const TdAst *ast;       /* its chunk */
  TdMap bound;            /* TdAstLocal -> TdBinding */
  TdMap visible;          /* name -> how many declarations in scope carry it */
  TdMap data;             /* host handle -> TdSym of a constant or state */
  TdMap read;             /* TdAstLocal -> 1: read somewhere in the source */
  TdMap marks;            /* source line -> 1 + index of a mark not yet used */
  TdStmts preamble;       /* constants and states */
  TdStmts *out;           /* where statements go */
  TdJumpPlace jump;
  TdInline *inlining; /* NULL in the kernel's own text */
  uint32_t at_line;   /* where an inlined call stands */
} TdIrgen;

/* irgen.c: names, scopes, statements of blocks. */
bool td_irgen_fail(TdIrgen *l, const char *code, TdLoc loc, const char *fmt, ...) TD_PRINTF(4, 5);
TdVal td_irgen_failed(void);
bool td_irgen_ok(const TdVal *v);
/* A print name that no declaration in scope carries. */
const char *td_irgen_name(TdIrgen *l, const char *want);
/* A symbol visible from here on; td_irgen_hide ends its scope. */
TdSym td_irgen_declare(TdIrgen *l, const char *want, TdSymKind kind);
TdBinding *td_irgen_bind(TdIrgen *l, const TdAstLocal *v, TdBinding b);
void td_irgen_emit(TdIrgen *l, const TdStmt *s);
bool td_irgen_block(TdIrgen *l, const TdAstBlock *b);
/* The block b as a statement of its own. */
const TdStmt *td_irgen_body(TdIrgen *l, const TdAstBlock *b, TdLoc loc);
/* Attributes marked on a line, for what `on` (a letter of attrs.def) says; false on a bad mark. */
bool td_irgen_marks(TdIrgen *l, uint32_t line, char on, TdAttrs *out);

/* irgen_size.c */
/* An expression of the table constructor around the function as an index expression over sizes;
 * NULL if it is none. */
const TdExpr *td_irgen_size_from_source(TdIrgen *l, const TdAstExpr *e);
/* The argument of tide.assume: a condition on sizes and index parameters. A fact that names no size
   is checked now and gives the literal true. */
const TdExpr *td_irgen_assume(TdIrgen *l, const TdAstExpr *e);

/* irgen_stmt.c, irgen_loop.c */
bool td_irgen_stmt(TdIrgen *l, const TdAstStmt *s);
bool td_irgen_loop(TdIrgen *l, const TdAstStmt *s);
/* A new local of v's value: emits its declaration and returns its symbol; name is what it would
 * like to be called. */
TdSym td_irgen_local(TdIrgen *l, const char *name, TdVal v, const TdType **type, TdOrigin *origin);

/* irgen_name.c */
TdVal td_irgen_expr(TdIrgen *l, const TdAstExpr *e);

/* irgen_expr.c */
TdVal td_irgen_binary(TdIrgen *l, const TdAstExpr *e);
TdVal td_irgen_unary(TdIrgen *l, const TdAstExpr *e);
TdVal td_irgen_scalar(const TdExpr *e);
TdVal td_irgen_const(TdConst c, TdLoc loc);
/* v as a scalar expression; a bare number takes type `beside` when it is a float or index. NULL on
 * failure. */
const TdExpr *td_irgen_to_scalar(TdIrgen *l, TdVal v, const TdType *beside);
/* v as an index expression in canonical form. */
const TdExpr *td_irgen_to_index(TdIrgen *l, TdVal v);
const TdExpr *td_irgen_to_bool(TdIrgen *l, TdVal v);
/* v as what a cell of scalar type t can be given: literals take t, other values are cast as a store
 * does. */
const TdExpr *td_irgen_to_stored(TdIrgen *l, TdVal v, const TdType *t);
/* A value that does not wait to be placed: gets are emitted, fresh tensors become locals. */
TdVal td_irgen_settle(TdIrgen *l, TdVal v, const char *name);
TdVal td_irgen_op(TdIrgen *l, TdOp op, TdVal *v, int n, TdLoc loc);

/* irgen_tensor.c */
TdVal td_irgen_index(TdIrgen *l, TdVal of, TdVal key, TdLoc loc);
TdVal td_irgen_data(TdIrgen *l, TdConst c, const char *name, TdLoc loc);
TdVal td_irgen_convert(TdIrgen *l, const TdType *t, TdVal *arg, size_t n, TdLoc loc);
TdVal td_irgen_slice(TdIrgen *l, TdVal of, const TdAstExpr *call);
TdVal td_irgen_transpose(TdIrgen *l, TdVal of, TdLoc loc);
TdVal td_irgen_tensor_word(TdIrgen *l, int word, const TdAstExpr *call);
/* Whether two tensor types have the same extents. */
bool td_irgen_same_shape(TdIrgen *l, const TdType *x, const TdType *y);
/* v as a tensor expression of the shape and element of `like` (a scalar stays one: a fill). */
const TdExpr *td_irgen_to_tensor(TdIrgen *l, TdVal v, const TdType *like, TdLoc loc);
/* The type that index `key` on type t gives: one more extent. */
TdVal td_irgen_type_index(TdIrgen *l, const TdType *t, TdVal key, TdLoc loc);

/* irgen_call.c */
TdVal td_irgen_call(TdIrgen *l, const TdAstExpr *e);
TdVal td_irgen_method(TdIrgen *l, const TdAstExpr *e);
bool td_irgen_return(TdIrgen *l, const TdAstStmt *s);

#endif

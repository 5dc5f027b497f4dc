/* lower.h - what the files of the lowering share: Lua trees of one kernel to IR. Not for others. */
#ifndef TD_LOWER_H
#define TD_LOWER_H

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

typedef struct TdLower {
  TdSession *session;
  TdStore *store;
  TdArena *arena; /* the store's */
  const TdHost *host;
  TdDiag *diag;
  TdSizes *sizes;   /* of the unit, and what must not be one */
  TdUnits *units;   /* imported so far */
  uintptr_t fn;     /* the Lua function whose text is being lowered */
  const TdAst *ast; /* its chunk */
  TdMap bound;      /* TdAstLocal -> TdBinding */
  TdMap visible;    /* name -> how many declarations in scope carry it */
  TdMap data;       /* host handle -> TdSym of a constant or state */
  TdMap read;       /* TdAstLocal -> 1: read somewhere in the source */
  TdMap marks;      /* source line -> 1 + index of a mark not yet used */
  TdStmts preamble; /* constants and states */
  TdStmts *out;     /* where statements go */
  TdJumpPlace jump;
  TdInline *inlining; /* NULL in the kernel's own text */
  uint32_t at_line;   /* where an inlined call stands */
} TdLower;

/* lower.c: names, scopes, statements of blocks. */
bool td_lower_fail(TdLower *l, const char *code, TdLoc loc, const char *fmt, ...) TD_PRINTF(4, 5);
TdVal td_lower_failed(void);
bool td_lower_ok(const TdVal *v);
/* A print name that no declaration in scope carries. */
const char *td_lower_name(TdLower *l, const char *want);
/* A symbol visible from here on; td_lower_hide ends its scope. */
TdSym td_lower_declare(TdLower *l, const char *want, TdSymKind kind);
TdBinding *td_lower_bind(TdLower *l, const TdAstLocal *v, TdBinding b);
void td_lower_emit(TdLower *l, const TdStmt *s);
bool td_lower_block(TdLower *l, const TdAstBlock *b);
/* The block b as a statement of its own. */
const TdStmt *td_lower_body(TdLower *l, const TdAstBlock *b, TdLoc loc);
/* Attributes marked on a line, for what `on` (a letter of attrs.def) says; false on a bad mark. */
bool td_lower_marks(TdLower *l, uint32_t line, char on, TdAttrs *out);

/* lower_size.c */
/* An expression of the table constructor around the function as an index expression over sizes;
 * NULL if it is none. */
const TdExpr *td_size_from_source(TdLower *l, const TdAstExpr *e);
/* The argument of tide.assume: a condition on sizes and index parameters. A fact that names no size
   is checked now and gives the literal true. */
const TdExpr *td_lower_assume(TdLower *l, const TdAstExpr *e);

/* lower_stmt.c, lower_loop.c */
bool td_lower_stmt(TdLower *l, const TdAstStmt *s);
bool td_lower_loop(TdLower *l, const TdAstStmt *s);
/* A new local of v's value: emits its declaration and returns its symbol; name is what it would
 * like to be called. */
TdSym td_lower_local(TdLower *l, const char *name, TdVal v, const TdType **type, TdOrigin *origin);

/* lower_name.c */
TdVal td_lower_expr(TdLower *l, const TdAstExpr *e);

/* lower_expr.c */
TdVal td_lower_binary(TdLower *l, const TdAstExpr *e);
TdVal td_lower_unary(TdLower *l, const TdAstExpr *e);
TdVal td_lower_scalar(const TdExpr *e);
TdVal td_lower_const(TdConst c, TdLoc loc);
/* v as a scalar expression; a bare number takes type `beside` when it is a float or index. NULL on
 * failure. */
const TdExpr *td_lower_to_scalar(TdLower *l, TdVal v, const TdType *beside);
/* v as an index expression in canonical form. */
const TdExpr *td_lower_to_index(TdLower *l, TdVal v);
const TdExpr *td_lower_to_bool(TdLower *l, TdVal v);
/* v as what a cell of scalar type t can be given: literals take t, other values are cast as a store
 * does. */
const TdExpr *td_lower_to_stored(TdLower *l, TdVal v, const TdType *t);
/* A value that does not wait to be placed: gets are emitted, fresh tensors become locals. */
TdVal td_lower_settle(TdLower *l, TdVal v, const char *name);
TdVal td_lower_op(TdLower *l, TdOp op, TdVal *v, int n, TdLoc loc);

/* lower_tensor.c */
TdVal td_lower_index(TdLower *l, TdVal of, TdVal key, TdLoc loc);
TdVal td_lower_data(TdLower *l, TdConst c, const char *name, TdLoc loc);
TdVal td_lower_convert(TdLower *l, const TdType *t, TdVal *arg, size_t n, TdLoc loc);
TdVal td_lower_slice(TdLower *l, TdVal of, const TdAstExpr *call);
TdVal td_lower_transpose(TdLower *l, TdVal of, TdLoc loc);
TdVal td_lower_tensor_word(TdLower *l, int word, const TdAstExpr *call);
/* v as a tensor expression of the shape and element of `like` (a scalar stays one: a fill). */
const TdExpr *td_lower_to_tensor(TdLower *l, TdVal v, const TdType *like, TdLoc loc);
/* The type that index `key` on type t gives: one more extent. */
TdVal td_lower_type_index(TdLower *l, const TdType *t, TdVal key, TdLoc loc);

/* lower_call.c */
TdVal td_lower_call(TdLower *l, const TdAstExpr *e);
TdVal td_lower_method(TdLower *l, const TdAstExpr *e);
bool td_lower_return(TdLower *l, const TdAstStmt *s);

#endif

/* irgen.h - what the files of the lowering share: Lua trees of one kernel to IR. Not for others. */
#ifndef TD_FRONTEND_GEN_IRGEN_H
#define TD_FRONTEND_GEN_IRGEN_H

#include "frontend/capture.h"
#include "frontend/lua/walk_ast.h"

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
  bool exact;         /* SCALAR: the load of a local that holds what an operator gave */
  TdLoc loc;
  const struct TdVal *more; /* what else a call returned */
  size_t nmore;
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

/* What an inlined function returned, once it has. */
typedef struct TdResults {
  bool returned;
  TdVal *at;
  size_t n;
} TdResults;

/* A Lua function whose text is being lowered: the kernel's own, or one that is inlined. */
typedef struct TdFrame {
  struct TdFrame *caller; /* NULL: the kernel's own */
  uintptr_t fn;
  const TdAst *ast; /* its chunk */
  const TdAstFn *source;
  TdMap bound; /* TdAstLocal -> TdBinding */
  TdMap read;  /* TdAstLocal -> 1: read somewhere in the text */
  TdMap marks; /* source line -> 1 + index of the mark at its end */
  TdMap taken; /* index of a mark -> set of its attributes that found their statement */
  TdJumpPlace jump;
  TdResults results; /* of an inlined function */
} TdFrame;

typedef struct TdIrgen {
  TdSession *session;
  TdStore *store;
  TdArena *arena; /* the store's */
  const TdHost *host;
  TdDiag *diag;
  TdSizes *sizes;         /* of the unit, and what must not be one */
  const TdStream *stream; /* of the design around, by the host's numbers */
  TdUnits *units;         /* imported so far */
  TdFrame *frame;
  TdMap visible;     /* name -> how many declarations in scope carry it */
  TdMap ever;        /* name -> 1: something in the unit was declared under it */
  TdMap outer;       /* name -> 1: means something outside the unit, which a local must not hide */
  TdMap called;      /* name -> 1: of a unit that it calls */
  TdMap range;       /* loop variable or task id -> what it goes through */
  TdMap data;        /* host handle -> TdSym of a constant, state or unit */
  TdStmts preamble;  /* constants and states */
  TdStmts *out;      /* where statements go */
  int inlined;       /* calls of Lua functions so far */
  TdLoc long_number; /* in the statement under way: an integer beyond 64 bits, which is a float */
} TdIrgen;

/* irgen.c: failures, statements, blocks. */
bool td_irgen_fail(TdIrgen *l, const char *code, TdLoc loc, const char *fmt, ...) TD_PRINTF(4, 5);
TdVal td_irgen_failed(void);
bool td_irgen_ok(const TdVal *v);
TdBinding *td_irgen_bind(TdIrgen *l, const TdAstLocal *v, TdBinding b);
void td_irgen_emit(TdIrgen *l, const TdStmt *s);
bool td_irgen_block(TdIrgen *l, const TdAstBlock *b);
/* The block b as a statement of its own. */
const TdStmt *td_irgen_body(TdIrgen *l, const TdAstBlock *b, TdLoc loc);
/* Emits block b: as a statement of its own if it declares anything, or always; but openly where an
 * inlined function returns from within. */
bool td_irgen_scope(TdIrgen *l, const TdAstBlock *b, bool always, TdLoc loc);

/* names.c: which names are free, so that the printed form means what it says. */
/* A symbol visible from here on, called `want` or want_1..; td_irgen_hide ends its scope. */
TdSym td_irgen_declare(TdIrgen *l, const char *want, TdSymKind kind);
/* The same under a name that nothing in the unit had so far, so that it may stand earlier. */
TdSym td_irgen_declare_new(TdIrgen *l, const char *want, TdSymKind kind);
/* A constant or state that the text calls `want`; `own` if that is the name of its upvalue. */
TdSym td_irgen_declare_data(TdIrgen *l, const char *want, bool own);
/* A parameter or task id, which keeps its name whatever that hides. */
TdSym td_irgen_declare_param(TdIrgen *l, const char *name, TdSymKind kind);
void td_irgen_hide(TdIrgen *l, TdSym s);
/* Ends the scope of what the statements of a block declared. */
void td_irgen_hide_all(TdIrgen *l, const TdStmts *block);
/* Notes what the text of fn, or the design, calls by name outside of itself. */
void td_irgen_note_outer(TdIrgen *l, const TdAstFn *fn);
void td_irgen_note_outer_name(TdIrgen *l, const char *name);
/* Notes the streams of the design around, and keeps its names from what is printed inside it. */
void td_irgen_note_design(TdIrgen *l, const TdUnit *design);
/* Whether a thing outside the unit cannot go by this name inside. */
bool td_irgen_is_taken(const TdIrgen *l, const char *name);
/* The same for a TdIrgen behind ud, sizes included. */
bool td_irgen_is_unit_taken(void *ud, const char *name);
/* That, or a unit of this name is called already, which td_irgen_note_called tells. */
bool td_irgen_is_called(void *ud, const char *name);
void td_irgen_note_called(TdIrgen *l, const char *name);

/* mark.c: attributes in comments. */
/* Makes the marks between two lines of the frame's chunk wait for their statements. */
void td_irgen_collect_marks(TdIrgen *l, uint32_t first, uint32_t last);
/* Leaves the marks between two lines to others. */
void td_irgen_drop_marks(TdIrgen *l, uint32_t first, uint32_t last);
/* Attributes marked on a line, for what `on` (a letter of attrs.def) says; false on a bad mark. */
bool td_irgen_marks(TdIrgen *l, uint32_t line, char on, TdAttrs *out);
/* Whether the banks among the attributes of what has type t are those of a partition. */
bool td_irgen_check_banks(TdIrgen *l, TdLoc loc, TdAttrs attrs, const TdType *t);
/* Whether every mark of the frame found its statement. */
bool td_irgen_check_marks(TdIrgen *l);
/* Attributes marked on a line of ast that stands in no function, for what the first letter of `on`
 * says; false with d filled when one of them can mark nothing of `on`. */
bool td_irgen_marks_at(TdStore *st, const TdAst *ast, uint32_t line, const char *on, TdAttrs *out,
                       TdDiag *d);

/* order.c: Lua evaluates operands from left to right. */
/* A point in the statements under way. */
typedef struct TdPoint {
  const TdStmts *out;
  size_t n;
} TdPoint;
/* Behind the last statement so far. */
TdPoint td_irgen_point(const TdIrgen *l);
/* v as it was at a point: what the statements since then write is read into locals there. */
TdVal td_irgen_keep(TdIrgen *l, TdVal v, TdPoint since);
/* The element `place` with its indices as they were at a point. */
const TdExpr *td_irgen_keep_place(TdIrgen *l, const TdExpr *place, TdPoint since);
/* Values and places of n assignments that are about to be made from the last to the first: what an
 * assignment changes is read before for those that follow it. */
void td_irgen_keep_from(TdIrgen *l, TdVal *v, const TdExpr **place, size_t n);
/* A view with what its indices read held in locals. */
const TdExpr *td_irgen_freeze(TdIrgen *l, const TdExpr *view);
/* The settled values of expressions, in order; NULL on failure. A last call gives all it returns;
 * *n counts. */
TdVal *td_irgen_values(TdIrgen *l, TdAstExprs e, size_t *n);

/* size.c */
/* An expression of the table constructor around the function as an index expression over sizes;
 * NULL if it is none. */
const TdExpr *td_irgen_size_from_source(TdIrgen *l, const TdAstExpr *e);
/* Of `tide.stream(T)[n]..`, with so many extents, the text of T; NULL if e is something else. */
const TdAstExpr *td_irgen_token_source(const TdAstExpr *e, int rank);
/* The argument of tide.assume: a condition on sizes and index parameters. A fact that names no size
 * is checked now and gives the literal true. */
const TdExpr *td_irgen_assume(TdIrgen *l, const TdAstExpr *e);
/* Gives integer constant c, called `name`, that name if it can be a size of the unit. */
void td_irgen_try_size(TdIrgen *l, TdConst *c, const char *name, const TdAstLocal *var);

/* stmt.c, loop.c */
bool td_irgen_stmt(TdIrgen *l, const TdAstStmt *s);
bool td_irgen_loop(TdIrgen *l, const TdAstStmt *s);

/* local.c, assign.c */
bool td_irgen_local_stmt(TdIrgen *l, const TdAstStmt *s);
bool td_irgen_assign(TdIrgen *l, const TdAstStmt *s);
/* A new local of v's value: emits its declaration and returns its symbol; name is what it would
 * like to be called. */
TdSym td_irgen_local(TdIrgen *l, const char *name, TdVal v, const TdType **type, TdOrigin *origin);
/* The same, bound to var. */
bool td_irgen_bind_new(TdIrgen *l, const TdAstLocal *var, TdVal v);

/* Whether the array or scalar may be written. */
bool td_irgen_check_writable(TdIrgen *l, TdSym sym, TdLoc loc);

/* name.c */
TdVal td_irgen_expr(TdIrgen *l, const TdAstExpr *e);
/* The same where nil is a value too: of a condition or a comparison. */
TdVal td_irgen_expr_or_nil(TdIrgen *l, const TdAstExpr *e);
/* A value that comes from outside the unit, called `name`, its upvalue's `own` or a made up one:
 * streams and tensors are symbols, the rest stays what it is. */
TdVal td_irgen_outside(TdIrgen *l, TdConst c, const char *name, bool own, TdLoc loc);

/* expr.c: operators, and what a value may be used as. */
TdVal td_irgen_binary(TdIrgen *l, const TdAstExpr *e);
TdVal td_irgen_unary(TdIrgen *l, const TdAstExpr *e);
TdVal td_irgen_scalar(const TdExpr *e);
TdVal td_irgen_tensor(const TdExpr *e, TdLoc loc);
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
/* Operator op on n values, scalars or, element by element, tensors. */
TdVal td_irgen_op(TdIrgen *l, TdOp op, TdVal *v, int n, TdLoc loc);
/* The operator of the IR that a Lua one is, or -1: kernels have none. `>` and `>=` are those of
 * swapped operands. */
int td_irgen_binary_op(TdAstBinary op);
/* A float or index type among operands [from, n), which bare numbers beside it take; or NULL. */
const TdType *td_irgen_beside(const TdVal *v, int from, int n);
/* A constant integer, at least `least`, whose sizes lose their names; else a failure. */
bool td_irgen_constant(TdIrgen *l, const TdAstExpr *e, const char *code, const char *what,
                       int64_t least, int64_t *out);

/* Whether e is a constructor of `least` to `most` values without keys. */
bool td_irgen_is_list(const TdAstExpr *e, size_t least, size_t most);

/* const.c: operators on values known now. */
TdVal td_irgen_const_binary(TdIrgen *l, TdAstBinary op, const TdVal *v, TdLoc loc);
/* False: not to be computed now. */
bool td_irgen_const_unary(TdIrgen *l, TdAstUnary op, const TdVal *v, TdLoc loc, TdVal *out);
/* A call of operator op on constants, as Lua's math functions compute it; false likewise. */
bool td_irgen_const_call(TdIrgen *l, TdOp op, const TdVal *v, size_t n, TdLoc loc, TdVal *out);
/* The number of a constant as a literal of type t, converted as a cast does. */
const TdExpr *td_irgen_literal_as(TdIrgen *l, const TdConst *c, const TdType *t, TdLoc loc);
/* A constant number or boolean as an expression, beside type `beside` (or NULL). */
const TdExpr *td_irgen_literal(TdIrgen *l, const TdConst *c, const TdType *beside, TdLoc loc);
/* The sizes that constants name become plain numbers. */
void td_irgen_pin(TdIrgen *l, const TdVal *v, size_t n);

/* lazy.c: and, or, and the choice between two values. */
TdVal td_irgen_lazy(TdIrgen *l, const TdAstExpr *e);

/* tensor.c, view.c */
TdVal td_irgen_index(TdIrgen *l, TdVal of, TdVal key, TdLoc loc);
/* The data c of a program, which what first uses it declares: under `name`, with the marks of the
 * line where the chunk declares it (NULL: none). */
TdVal td_irgen_data(TdIrgen *l, TdConst c, const char *name, bool own, const TdAstLocal *declared,
                    TdLoc loc);
TdVal td_irgen_convert(TdIrgen *l, const TdType *t, TdVal *arg, size_t n, TdLoc loc);
/* A tensor value as a view: what has no name becomes a local. */
TdVal td_irgen_named(TdIrgen *l, TdVal v);
TdVal td_irgen_slice(TdIrgen *l, TdVal of, const TdAstExpr *call);
TdVal td_irgen_transpose(TdIrgen *l, TdVal of, TdLoc loc);
TdVal td_irgen_tensor_word(TdIrgen *l, int word, const TdAstExpr *call);
/* Whether two tensor types have the same extents. */
bool td_irgen_same_shape(TdIrgen *l, const TdType *x, const TdType *y);
/* v as a tensor expression of the shape and element of `like` (a scalar stays one: a fill). */
const TdExpr *td_irgen_to_tensor(TdIrgen *l, TdVal v, const TdType *like, TdLoc loc);
/* The type that index `key` on type t gives: one more extent. */
TdVal td_irgen_type_index(TdIrgen *l, const TdType *t, TdVal key, TdLoc loc);
/* Whether an extent mentions only sizes and constants. */
bool td_irgen_is_extent(const TdExpr *e);

/* length.c */
/* Notes that loop variable or task id v is at least lo and less than hi. */
void td_irgen_note_range(TdIrgen *l, TdSym v, const TdExpr *lo, const TdExpr *hi);
/* The number of elements of {lo, hi, step}: over sizes, or a number where what its variables go
 * through at the known sizes, which lose their names, leaves but one. NULL, refused at loc, where
 * it may be several or is not known. */
const TdExpr *td_irgen_length(TdIrgen *l, const TdExpr *lo, const TdExpr *hi, int64_t step,
                              TdLoc loc);

/* call.c, method.c, inline.c */
TdVal td_irgen_call(TdIrgen *l, const TdAstExpr *e);
TdVal td_irgen_method(TdIrgen *l, const TdAstExpr *e);
/* gather.c: one token of each stream of an array as a tensor, and the parts of x to each. */
TdVal td_irgen_gather(TdIrgen *l, TdVal of, TdLoc loc);
bool td_irgen_scatter(TdIrgen *l, TdVal of, TdVal x, TdLoc loc);
bool td_irgen_expect_count(TdIrgen *l, const TdAstExpr *e, const char *name, size_t n);
/* Calls a Lua function in place: its text is lowered here with its own upvalues. */
TdVal td_irgen_inline(TdIrgen *l, const TdConst *c, const TdAstExpr *e);
bool td_irgen_return(TdIrgen *l, const TdAstStmt *s);
/* Makes f the frame, with the marks of its chunk from line `first` on. */
void td_irgen_enter_fn(TdIrgen *l, TdFrame *f, uint32_t first);
/* What the frame returned, which then goes on as if it had not. */
TdResults td_irgen_take_results(TdIrgen *l);
/* The two arms of an `if` at the end of an inlined function returned: its results are locals that
 * each arm sets. */
bool td_irgen_join_results(TdIrgen *l, const TdResults *of, const TdStmt **arm, TdLoc loc);

#endif

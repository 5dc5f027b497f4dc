/* cfamily.h - programs as text of C-like languages. What differs between the targets is a struct of
 * hooks; what they share is here: names, numbers, expressions, ranges, statements, tensor
 * expressions as loops. A writer writes one unit after the other. */
#ifndef TD_C_CFAMILY_H
#define TD_C_CFAMILY_H

#include "ir/ir.h"

/* Types that C computes in, in the order of its usual conversions: in an infix operator the lesser
 * operand becomes the greater by itself. OTHER: a type of the target. */
typedef enum { TD_C_I32, TD_C_U32, TD_C_I64, TD_C_U64, TD_C_F32, TD_C_F64, TD_C_OTHER } TdCType;

/* How tightly C binds, loosest first. */
typedef enum {
  TD_BIND_ANY,
  TD_BIND_COND,
  TD_BIND_OROR,
  TD_BIND_ANDAND,
  TD_BIND_OR,
  TD_BIND_XOR,
  TD_BIND_AND,
  TD_BIND_EQUAL,
  TD_BIND_LESS,
  TD_BIND_SHIFT,
  TD_BIND_ADD,
  TD_BIND_MUL,
  TD_BIND_UNARY,
  TD_BIND_ATOM
} TdCBind;

/* The text of an expression, its outermost operator, and its type. */
typedef struct TdPiece {
  const char *text;
  uint8_t bind; /* TdCBind */
  uint8_t c;    /* TdCType */
} TdPiece;

/* A declared thing in the text. An array with strides has elements name[i * stride[0] + ..]; the
 * others name[i][j]. */
typedef struct TdCName {
  TdSym sym;
  const char *text;
  const TdType *type;        /* of an array, with constant extents */
  const char *const *stride; /* as text; NULL: subscripts */
} TdCName;

/* What is known inside a loop: lo <= var < hi. Of a condition that holds: 0 <= fact. */
typedef struct TdCKnown {
  TdSym var; /* NULL: a fact */
  const TdExpr *lo, *hi;
  TdLin fact;
} TdCKnown;

typedef struct TdCWriter {
  const struct TdCTarget *target;
  void *ud; /* the target's */
  TdSession *session;
  TdArena *arena; /* of all text */
  TdStore *store; /* of statements and symbols that are made on the way */
  const TdProg *prog;
  const TdUnit *unit; /* the one being written */
  TdText out;
  TdDiag *diag;
  TD_VEC(TdCName) name;
  TD_VEC(TdCKnown) known;
  bool narrows;  /* some double is made a float */
  size_t checks; /* indices made safe, and divisors, so far */
} TdCWriter;

/* A target. value, index and truth may write statements before the one that they are for. */
typedef struct TdCTarget {
  const char *const *reserved;  /* words that no name may be, beside C's own; NULL-ended */
  const char *const *functions; /* more of them, or NULL */
  const char *loop_type;        /* of loop variables */
  bool wraps; /* indices may be any of 64 bits: what may overflow is computed without sign */
  /* The type of an element of sym, or of a scalar local, of scalar type t. */
  const char *(*cell)(TdCWriter *w, TdSym sym, const TdType *t);
  /* e as an assignment to a cell of its type takes it. */
  TdPiece (*value)(TdCWriter *w, const TdExpr *e);
  /* An index, and a condition. */
  TdPiece (*index)(TdCWriter *w, const TdExpr *e);
  TdPiece (*truth)(TdCWriter *w, const TdExpr *e);
  /* Index i, not proved to be in 0 .. extent - 1, made safe; and divisor b, not proved to be other
   * than 0. NULL: left as it is. */
  TdPiece (*guard)(TdCWriter *w, TdPiece i, int64_t extent, TdLoc loc);
  TdPiece (*divisor)(TdCWriter *w, TdPiece b, TdLoc loc);
  /* The text of an element that a LOAD names, with what is done where it is read or written. NULL:
   * nothing. */
  const char *(*touch)(TdCWriter *w, const TdExpr *load, const char *place, bool write);
  /* Lines before a statement, as the program has it. NULL: none. */
  void (*begin)(TdCWriter *w, const TdStmt *s);
  /* Opens a block around s, in which it is known to be sound, and returns true. NULL: never. */
  bool (*apart)(TdCWriter *w, const TdStmt *s);
  /* Writes s its own way, or returns false for the family's. Calls and streams are its own. */
  bool (*stmt)(TdCWriter *w, const TdStmt *s);
  /* Lines before a loop, and at the start of its body. NULL: none. */
  void (*before)(TdCWriter *w, const TdStmt *loop);
  void (*inside)(TdCWriter *w, const TdStmt *loop);
  /* An expression in parentheses. NULL: those. */
  const char *(*group)(TdCWriter *w, const char *text);
  /* Statements that a CALL executes. NULL: 1. */
  double (*work)(TdCWriter *w, const TdStmt *call);
} TdCTarget;

/* cfamily.c: a writer of prog, whose text and statements a owns; d has an arena. */
TdCWriter *td_cfamily_new(TdArena *a, const TdProg *prog, const TdCTarget *target, void *ud,
                          TdDiag *d);
/* Starts unit u: forgets the names and facts of the last one, knows its coordinates' ranges (`map`
 * extents, NULL for none) and asserts. */
void td_cfamily_enter(TdCWriter *w, const TdUnit *u, const int64_t *map);
/* The value of an extent or size of the unit, and a type with constant extents. A size without
 * value fills the diagnostic. */
int64_t td_cfamily_size(TdCWriter *w, const TdExpr *e);
const TdType *td_cfamily_type(TdCWriter *w, const TdType *t);
/* Fills the diagnostic with what this target cannot do; returns false. */
bool td_cfamily_refuse(TdCWriter *w, const char *code, TdLoc loc, const char *help, const char *fmt,
                       ...) TD_PRINTF(5, 6);

/* cname.c: `name` as an identifier that is neither reserved nor one of the names in scope. */
const char *td_cname_fresh(TdCWriter *w, const char *name);
/* Names a symbol `text` until its scope ends; and the same with a fresh name made from its own. */
const TdCName *td_cname_put(TdCWriter *w, TdSym sym, const char *text, const TdType *array,
                            const char *const *stride);
const char *td_cname_declare(TdCWriter *w, TdSym sym);
/* What a symbol is called; it must have been named. */
const TdCName *td_cname_of(const TdCWriter *w, TdSym sym);
/* Declares a size under its own name, unless that is taken; whether one is declared. */
bool td_cname_put_size(TdCWriter *w, const char *name);
bool td_cname_has_size(const TdCWriter *w, const char *name);
/* The scope: what was named after the mark is forgotten. */
size_t td_cname_mark(const TdCWriter *w);
void td_cname_release(TdCWriter *w, size_t mark);

/* cexpr.c: pieces. */
TdPiece td_cexpr_piece(TdCWriter *w, int bind, int c, const char *fmt, ...) TD_PRINTF(4, 5);
/* The text of p, in parentheses where an operator of at least `bind` is needed. */
const char *td_cexpr_operand(TdCWriter *w, TdPiece p, int bind);
/* p as C type c, by a cast unless it is. */
TdPiece td_cexpr_cast(TdCWriter *w, TdPiece p, int c);
/* The template of an operator (ops.def) filled in, in C type c. Infix operands are cast where C
 * would not compute in c by itself; %t becomes the suffix of c. */
TdPiece td_cexpr_fill(TdCWriter *w, int op, const char *form, int c, TdPiece *p, int n);
/* The template of e: `form`, or of a select one of whose values was checked since `checks` one that
 * evaluates both, as the evaluator does. */
const char *td_cexpr_select(const TdCWriter *w, const TdExpr *e, size_t checks, const char *form);
/* "_i32" of a C type. */
const char *td_cexpr_suffix(int c);
/* An integer, and a constant of scalar type t (raw word of fixed point). */
TdPiece td_cexpr_integer(TdCWriter *w, uint64_t bits, bool is_signed);
TdPiece td_cexpr_literal(TdCWriter *w, const TdType *t, uint64_t bits);
/* A size of the unit: its name where it is declared, else its value. */
TdPiece td_cexpr_size(TdCWriter *w, const TdExpr *e);
/* The element that a LOAD names, and the same where the program reads or writes it; an index
 * expression of it, guarded where it must be; and the element of an array at an index for each
 * dimension. */
TdPiece td_cexpr_place(TdCWriter *w, const TdExpr *load);
TdPiece td_cexpr_touch(TdCWriter *w, const TdExpr *load, bool write);
TdPiece td_cexpr_index(TdCWriter *w, const TdExpr *e, int64_t extent, TdLoc loc);
TdPiece td_cexpr_at(TdCWriter *w, const TdCName *name, const TdPiece *index);
/* Whether two loads read elements of one row-major array, inside of it, that are always the same
 * distance apart: *n elements from the first to the second. */
bool td_cexpr_distance(TdCWriter *w, const TdExpr *from, const TdExpr *to, int64_t *n);

/* cnum.c: numbers exactly as ir/num.h defines them, in the least of C's types that will do. */
TdPiece td_cnum_value(TdCWriter *w, const TdExpr *e); /* as its cell takes it */
TdPiece td_cnum_exact(TdCWriter *w, const TdExpr *e); /* its exact value; indices, conditions too */
/* The C type of a cell of scalar type t, e.g. "uint16_t". */
const char *td_cnum_cell(TdCWriter *w, TdSym sym, const TdType *t);
/* The greatest raw word of an integer or fixed type of at most 64 bits. */
uint64_t td_cnum_most(const TdType *t);
/* cwide.c: the same of words of more than 64 bits, for targets that have the run time of them;
 * whether e is one, or cut out of one, of which td_cnum_exact asks for the low 64 bits, and those.
 */
const char *td_cwide_cell(TdCWriter *w, TdSym sym, const TdType *t);
TdPiece td_cwide_value(TdCWriter *w, const TdExpr *e);
bool td_cwide_is_needed(const TdExpr *e);
TdPiece td_cwide_low(TdCWriter *w, const TdExpr *e);
/* cfloat.c: the same of float operators, and of casts from and to floats. */
TdPiece td_cfloat_op(TdCWriter *w, const TdExpr *e);
TdPiece td_cfloat_of(TdCWriter *w, const TdType *to, const TdExpr *e);
TdPiece td_cfloat_to_integer(TdCWriter *w, const TdType *to, const TdExpr *e);
TdPiece td_cfloat_compare(TdCWriter *w, const TdExpr *e);
TdPiece td_cfloat_bits(TdCWriter *w, const TdExpr *e);
TdPiece td_cfloat_of_bits(TdCWriter *w, const TdType *to, TdPiece bits);
/* The value of a float cell with text p; the cell's text for a value. */
TdPiece td_cfloat_load(TdCWriter *w, const TdType *t, TdPiece p);
TdPiece td_cfloat_cell(TdCWriter *w, const TdType *t, TdPiece p);

/* crange.c: what is known about index expressions where the writer is. */
void td_crange_push_loop(TdCWriter *w, TdSym var, const TdExpr *lo, const TdExpr *hi);
/* Notes that cond is `truth`; what cannot be used is left out. */
void td_crange_push_cond(TdCWriter *w, const TdExpr *cond, bool truth);
size_t td_crange_mark(const TdCWriter *w);
void td_crange_release(TdCWriter *w, size_t mark);
/* Whether 0 <= e, and whether e < extent, always. */
bool td_crange_is_nonnegative(TdCWriter *w, const TdExpr *e);
bool td_crange_is_below(TdCWriter *w, const TdExpr *e, int64_t extent);
/* Whether the value of e is far from where its 64 bits end. */
bool td_crange_is_near(TdCWriter *w, const TdExpr *e);
/* Most trips of a loop, or `otherwise`; and the statements that s executes at most, as a float. */
double td_crange_trips(TdCWriter *w, const TdStmt *loop, double otherwise);
double td_crange_work(TdCWriter *w, const TdStmt *s);

/* cstmt.c: s at the writer's indentation. A block brings its own scope, but no braces. */
void td_cstmt_put(TdCWriter *w, const TdStmt *s);
/* What a scalar local starts with: its value, or a 0 that nothing reads. */
const char *td_cstmt_initial(TdCWriter *w, const TdStmt *s);
/* s whose tensor expressions were expanded, and a FOR, as the target or the family writes it. */
void td_cstmt_put_one(TdCWriter *w, const TdStmt *s);
void td_cstmt_put_for(TdCWriter *w, const TdStmt *s);
/* How loop s, with variable v that runs to `end`, goes on: v never passes what 64 bits hold. */
const char *td_cstmt_step(TdCWriter *w, const TdStmt *s, const char *v, const char *end);
/* Whether a bound of a loop may change in it, or is a call to compilers in a hurry. */
bool td_cstmt_is_once(const TdExpr *e);
/* An IF, whose arms put_body writes, indented. */
typedef void (*TdCBody)(TdCWriter *w, const TdStmt *s);
void td_cstmt_put_if(TdCWriter *w, const TdStmt *s, TdCBody put_body);
/* The declaration of sym, an array of type t, as `name`: "int8_t A[4][8]". */
const char *td_cstmt_array(TdCWriter *w, TdSym sym, const TdType *t, const char *name);
/* "int8_t (*restrict A)[8]", or "int8_t *restrict x" for rank 1. */
const char *td_cstmt_pointer(TdCWriter *w, TdSym sym, const TdType *t, const char *name,
                             bool constant);

/* ctensor.c: a statement that means tensor expressions as loops over scalars: SET, LOCAL with a
 * tensor value, and statements with a reduction inside a scalar. Returns s itself when there is
 * nothing to do, NULL with the diagnostic filled when it cannot be told. */
const TdStmt *td_ctensor_expand(TdCWriter *w, const TdStmt *s);
/* Element operations of a SET. */
double td_ctensor_work(TdCWriter *w, const TdStmt *s);
/* Element `index` of a tensor expression without TENSOR nodes. */
const TdExpr *td_ctensor_element(TdCWriter *w, const TdExpr *e, const TdExpr *const *index);

#endif

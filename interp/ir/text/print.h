/* print.h - the printed form: Lua source that loads back to the same IR (docs/ir.md), and
 * structural equality. */
#ifndef TD_IR_TEXT_PRINT_H
#define TD_IR_TEXT_PRINT_H

#include "ir/edit.h"

/* The whole program as a Lua chunk that returns the root. Constant tables of more than 64 elements
 * print as the chunk's arguments, in the order of td_print_constants. */
void td_print_prog(TdText *out, const TdProg *p);
/* The blobs that td_print_prog left to the chunk's arguments. Owned by a. */
size_t td_print_constants(TdArena *a, const TdProg *p, const TdBlob *const **blobs);

/* What a piece of printed text stands for. */
typedef enum {
  TD_PRINT_EXPR,   /* an expression: its type */
  TD_PRINT_SYMBOL, /* where a parameter, local, loop variable or stream is declared: name, type */
  TD_PRINT_STMT    /* a statement with what is below it: its place in the source */
} TdPrintPiece;
typedef struct TdPrintMark {
  TdPrintPiece piece;
  size_t from, to; /* bytes, half open */
  const char *name;
  const TdType *type; /* may be NULL */
  TdLoc loc;
} TdPrintMark;
typedef TD_VEC(TdPrintMark) TdPrintMarks;
/* td_print_prog with a mark for each piece, in the order in which they end. Owned by out's arena.
 */
void td_print_marked(TdText *out, const TdProg *p, TdPrintMarks *marks);

/* One unit's body as shown to people: the loop nest with attributes, no preamble. */
void td_print_unit(TdText *out, const TdProg *p, const TdUnit *u);
/* One expression. */
void td_print_expr(TdText *out, const TdExpr *e);
const char *td_print_expr_str(TdArena *a, const TdExpr *e);

/* equal.c: structure and print names, ignoring uids, places and symbol identity. */
bool td_equal_prog(const TdProg *x, const TdProg *y);
bool td_equal_unit(TdCtx *c, const TdUnit *x, const TdUnit *y);
/* The same, but their own names may differ. */
bool td_equal_renamed(TdCtx *c, const TdUnit *x, const TdUnit *y);
/* Whether two units have the same parameters and sizes. */
bool td_equal_signature(TdCtx *c, const TdUnit *x, const TdUnit *y);
/* Whether two kernels with bodies are the same up to the names of what they declare and are given,
 * one to one, and to constants in the places where they touch what they are given. */
bool td_equal_shape(TdCtx *c, const TdUnit *x, const TdUnit *y);
bool td_equal_expr(const TdExpr *x, const TdExpr *y); /* same symbols */
bool td_equal_blob(const TdBlob *x, const TdBlob *y);

/* verify.c: structure - types, scopes, ranks, uids unique, bounds well formed. Fills d (kind
 * TD_BUG) on failure. */
bool td_verify_prog(const TdProg *p, TdDiag *d);
/* The same of what the passes of lower/ make, where networks have become calls. */
bool td_verify_lowered(const TdProg *p, TdDiag *d);

#endif

/* mlir_parse.h - what the readers of types, attributes and operations share: a place in a text. */
#ifndef TD_MLIR_PARSE_H
#define TD_MLIR_PARSE_H

#include "backends/npu/mlir/mlir.h"

/* A text being read. */
typedef struct TdMlirParse {
  TdMlir *m;
  TdDiag *d;
  const char *begin, *at, *end;
  uint32_t source;
  int depth;                /* of nested regions, types and attributes */
  const char *seen, *start; /* the place asked for last, and where its line begins */
  uint32_t line;
  void *scope;
} TdMlirParse;

/* The place of a byte of the text. */
TdLoc td_mlir_parse_loc(TdMlirParse *p, const char *at);
/* Reports at the next word; returns false. */
bool td_mlir_parse_fail(TdMlirParse *p, const char *fmt, ...) TD_PRINTF(2, 3);
/* Enters a nested construct; false, with an error, when there are too many. */
bool td_mlir_parse_enter(TdMlirParse *p);

/* Skips spaces and comments; the next byte, 0 at the end. */
char td_mlir_parse_peek(TdMlirParse *p);
/* Takes `mark` if it is next. */
bool td_mlir_parse_take(TdMlirParse *p, const char *mark);
/* Takes it or fails. */
bool td_mlir_parse_need(TdMlirParse *p, const char *mark);
/* Takes a name of letters, digits, _ . $ -, behind any spaces; NULL when there is none. */
const char *td_mlir_parse_word(TdMlirParse *p);
/* Takes a decimal integer; false, with an error, when there is none of 64 bits. */
bool td_mlir_parse_int(TdMlirParse *p, int64_t *out);
/* Whether it is such a name as a whole. */
bool td_mlir_parse_is_word(const char *s, size_t n);
/* Takes a string between quotes; NULL, with an error, when there is none. */
const char *td_mlir_parse_string(TdMlirParse *p, size_t *n);
/* A type; a function's; an attribute; NULL with an error. */
const TdMlirType *td_mlir_parse_type(TdMlirParse *p);
const TdMlirType *td_mlir_parse_function(TdMlirParse *p);
const TdMlirAttr *td_mlir_parse_attr(TdMlirParse *p);

/* ---- read.c: parts of an operation ---- */

/* An operand, which is visible; a successor of an operation of region r. */
bool td_mlir_parse_operand(TdMlirParse *p, TdMlirOp *op);
bool td_mlir_parse_successor(TdMlirParse *p, TdMlirOp *op, TdMlirRegion *r, TdMap *blocks);
/* name = attr, .. up to `end`. */
bool td_mlir_parse_attributes(TdMlirParse *p, TdMlirOp *op, const char *end);
/* An argument of a block, "%a" or, with t NULL, "%a: type"; not visible yet. */
bool td_mlir_parse_argument(TdMlirParse *p, TdMlirBlock *b, const TdMlirType *t);
/* The blocks of a region between braces; what they define is forgotten. `first`: with arguments
 * that were read before, or NULL. */
bool td_mlir_parse_region(TdMlirParse *p, TdMlirOp *op, TdMlirBlock *first);
/* "<size = 8, stride = 4>, .." between brackets. */
const TdMlirAttr *td_mlir_parse_dims(TdMlirParse *p);

#endif

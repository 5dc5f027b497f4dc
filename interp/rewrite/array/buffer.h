/* buffer.h - a local tensor in the place of what one iteration of a loop touches of an array. */
#ifndef TD_REWRITE_ARRAY_BUFFER_H
#define TD_REWRITE_ARRAY_BUFFER_H

#include "rewrite/util.h"

typedef struct TdBuffer {
  TdRewrite *r;
  const TdUnit *unit;
  const TdStmt *loop, *body; /* loop: NULL if the body is that of the unit */
  TdLoc loc;
  const char *where; /* the name of the loop, or of the unit */
  TdSym array, local;
  const TdType *type;     /* of the array */
  TdBox box;              /* what an iteration touches; the caller's to fill in */
  const TdStmt *decl;     /* of an array that is a local, or NULL */
  bool undefined;         /* it starts with nothing written */
  TD_VEC(TdPlace) open;   /* what is passed as it and does, and is not seen to be filled before */
  bool kept[TD_MAX_RANK]; /* dimensions of the array that the buffer has */
  const TdUnit *now;      /* the unit with what had to be assumed */
} TdBuffer;

/* Finds the array and the loop, or else the unit, that arguments `array` and `loop` name; the array
 * is declared outside the loop. */
bool td_buffer_find(TdBuffer *b, TdRewrite *r, int array, int loop);
/* Refuses with "'A' <why>"; false. */
bool td_buffer_refuse(const TdBuffer *b, TdDiagKind kind, const char *code, const char *why);
/* Whether each call in the body is passed no more of the array than the box. */
bool td_buffer_check_calls(TdBuffer *b);
/* Decides the buffer's dimensions, all but those of one element, and its name: `given`, or (NULL)
 * after the array and the loop. The box is known; its extents must not be negative. */
bool td_buffer_shape(TdBuffer *b, const char *given);
/* Whether x <= y at statement s for all sizes. */
bool td_buffer_is_below(const TdBuffer *b, const TdStmt *s, const TdExpr *x, const TdExpr *y);
/* A comparison, owned by the store. */
const TdExpr *td_buffer_compare(const TdBuffer *b, TdOp op, const TdExpr *x, const TdExpr *y);
/* Assumes a fact about sizes; false when it does not hold at the unit's values. */
bool td_buffer_assume(TdBuffer *b, const TdExpr *fact);
/* The body with the buffer for the array. */
const TdStmt *td_buffer_body(const TdBuffer *b);
/* The buffer's type: a scalar if no dimension is kept. */
const TdType *td_buffer_type(const TdBuffer *b);
/* "j": the first loop in the body that indexes dimension d of the array, or NULL. */
const char *td_buffer_stem(const TdBuffer *b, int d);
/* Element at[] of the array, or of the buffer. */
const TdExpr *td_buffer_element(const TdBuffer *b, bool of_array, const TdExpr *const *at);

/* Whether `now`, the program after a step, reads no element of the array before it was written,
 * where that array starts with nothing written; else refuses ("unwritten"). */
bool td_buffer_check_defined(const TdBuffer *b, const TdProg *now);

#endif

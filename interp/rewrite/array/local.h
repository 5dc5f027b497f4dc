/* local.h - a local array whose elements are to be laid out, packed or typed otherwise: its
 * declaration, and all that touches it, element by element. */
#ifndef TD_REWRITE_ARRAY_LOCAL_H
#define TD_REWRITE_ARRAY_LOCAL_H

#include "rewrite/util.h"

typedef struct TdLocalArray {
  TdRewrite *r;
  const TdUnit *unit; /* with tensor statements on the array written out */
  const TdStmt *decl;
  TdSym sym;
  const TdType *type;
} TdLocalArray;

/* Finds the array that argument i names: a local of a kernel that starts without values or filled
 * with one, and of which only elements are used ("interface", "class", "whole" otherwise). */
bool td_local_find(TdLocalArray *l, TdRewrite *r, int i);
/* The same, but views of it that are passed, put or got stay: the caller sees to them. */
bool td_local_find_views(TdLocalArray *l, TdRewrite *r, const TdPlace *at);
/* Notes that a step drops the check whether elements are written before they are read, unless a
 * nest of loops fills the array before anything else uses it. */
void td_local_note_unwritten(const TdLocalArray *l);
/* Notes that a step drops the check whether indices are within their extents, if one of a dimension
 * of which `dims` has the bit is not proved to be. */
void td_local_note_range(const TdLocalArray *l, unsigned dims);
/* Writes out the tensor statements that use the array, in l->unit; nothing else may use it whole,
 * unless only they (`sets`) are looked at. */
bool td_local_write_out(TdLocalArray *l, bool sets);
/* The program with each expression of l->unit mapped by fn, and the array declared with this type,
 * first value (may be NULL) and attributes. */
const TdProg *td_local_put(const TdLocalArray *l, const TdType *type, const TdExpr *fill,
                           TdAttrs attrs, TdExprMap fn, void *ud);

#endif

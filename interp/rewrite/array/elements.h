/* elements.h - a tensor statement as the loops that it means. */
#ifndef TD_REWRITE_ARRAY_ELEMENTS_H
#define TD_REWRITE_ARRAY_ELEMENTS_H

#include "rewrite/util.h"

/* The SET s of unit u element by element, in row-major order, under the uid of s. NULL with r->diag
 * filled: its value is no element-by-element expression, or reads other elements of what it
 * writes. */
const TdStmt *td_elements_of(TdRewrite *r, const TdUnit *u, const TdStmt *s);

#endif

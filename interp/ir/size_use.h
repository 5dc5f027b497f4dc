/* size_use.h - the sizes that a unit names, in its statements, types, streams and maps. */
#ifndef TD_SIZE_USE_H
#define TD_SIZE_USE_H

#include "base/map.h"
#include "base/vec.h"
#include "ir/unit.h"

/* Names of sizes, in order of first use. */
typedef struct TdSizeUse {
  TdArena *arena;
  TdMap seen;
  TD_VEC(const char *) name; /* interned */
} TdSizeUse;

/* The names of the sizes that u uses, in `arena`; u's own list is not read. */
TdSizeUse td_size_use_of(TdCtx *ctx, TdArena *arena, const TdUnit *u);
/* Whether every size in e is among those of use. */
bool td_size_use_has_all(const TdSizeUse *use, const TdExpr *e);

#endif

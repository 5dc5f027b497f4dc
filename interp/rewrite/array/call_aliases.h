/* call_aliases.h - the arrays that are one array under several names: what it is passed as, or
 * comes
 * from. */
#ifndef TD_REWRITE_ARRAY_CALL_ALIASES_H
#define TD_REWRITE_ARRAY_CALL_ALIASES_H

#include "rewrite/util.h"

typedef struct TdPassed {
  TdRewrite *r;
  bool parts;            /* also where a part of it is passed, or (a layout) seen by a task */
  TD_VEC(TdPlace) array; /* the first is the one that was named */
} TdPassed;

/* Finds the array that argument i names and, wherever it is passed whole, its other names; refuses
 * scalars ("not-an-array"). */
bool td_call_aliases_find(TdPassed *p, TdRewrite *r, int i);
/* The same wherever a part of it is passed; of a scalar, which is passed by value, the argument of
 * a design that it is. */
bool td_call_aliases_find_parts(TdPassed *p, TdRewrite *r, int i);
const TdType *td_call_aliases_type(const TdPlace *p);
TdAttrs td_call_aliases_attrs(const TdPlace *p);
/* Refuses with "'A' <what>"; false. */
bool td_call_aliases_refuse(const TdPassed *p, TdDiagKind kind, const char *code, const char *what);
/* prog with these attributes on the array at p. */
const TdProg *td_call_aliases_set(const TdRewrite *r, const TdProg *prog, const TdPlace *p,
                                  TdAttrs attrs);
/* The same for array number i, which is noted unless it is the first. */
const TdProg *td_call_aliases_mark(const TdPassed *p, const TdProg *prog, size_t i, TdAttrs attrs);

#endif

/* interface.h - the hierarchical dataflow graph (Allo, 6.2): the arrays of all units, and where one
 * is passed as another. */
#ifndef TD_ANALYSIS_NET_INTERFACE_H
#define TD_ANALYSIS_NET_INTERFACE_H

#include "affine/access.h"
#include "analysis/net/banks.h"

/* An array; its dimensions are nodes of the graph of banks from `first` on. */
typedef struct TdInterfaceArray {
  TdPlace at;
  const TdType *type;
  TdAttrs attrs;
  uint32_t first;
} TdInterfaceArray;

/* Array `of` of a caller, or argument of a design, is passed as parameter `as`; its edges of the
 * graph of banks are those from `first` on. */
typedef struct TdInterfacePass {
  uint32_t of, as;
  TdLoc loc;
  uint32_t first, n;
} TdInterfacePass;

typedef struct TdInterface {
  TD_VEC(TdInterfaceArray) array; /* units in order: parameters, then locals as they stand */
  TD_VEC(TdInterfacePass) pass;
  TdBanksGraph banks;
} TdInterface;

/* The arrays of q->prog, owned by q->arena. */
void td_interface_of(const TdAsk *q, TdInterface *out);
/* The number of an array, which must be one of them. */
uint32_t td_interface_array(const TdInterface *g, TdSym sym);
/* "top:C". Owned by a. */
const char *td_interface_name(TdArena *a, const TdInterface *g, uint32_t array);
/* Whether each array offers the banks that it is expected to have where it is passed (Allo, rule
 * FuncApp); else false with d filled. */
bool td_interface_check(const TdAsk *q, TdDiag *d);

/* interface_draw.c: a table of the arrays and where they go; Graphviz text; a drawing. */
void td_interface_print(TdText *out, const TdInterface *g);
void td_interface_dot(TdText *out, const TdAsk *q, const TdInterface *g);

#endif

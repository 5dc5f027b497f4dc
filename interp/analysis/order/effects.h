/* effects.h - which things a statement reads and writes, by name. */
#ifndef TD_ANALYSIS_ORDER_EFFECTS_H
#define TD_ANALYSIS_ORDER_EFFECTS_H

#include "affine/access.h"

typedef struct TdEffect {
  TdSym sym;
  TdCellKind kind;
  bool read, write;
  bool inside; /* declared by the statement itself, or below */
} TdEffect;

/* The effects of s and everything below it, calls included, in order of first use. Owned by
 * q->arena. */
size_t td_effects_of(const TdAsk *q, const TdStmt *s, const TdEffect **out);
/* The effect on sym's memory among n, or NULL. */
const TdEffect *td_effects_find(const TdEffect *e, size_t n, TdSym sym);
/* Whether each parameter of q->unit, a kernel or a design, is written. Owned by q->arena. */
const bool *td_effects_written(const TdAsk *q);

#endif

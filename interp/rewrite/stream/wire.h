/* wire.h - arrays whose rows are written and read in order, token after token, as streams. */
#ifndef TD_REWRITE_STREAM_WIRE_H
#define TD_REWRITE_STREAM_WIRE_H

#include "rewrite/task/network.h"

/* Uses of an array in a body that all go through each of its rows from the first token on: by a
 * loop, or by a counter that each use moves on. */
typedef struct TdWireUse {
  const TdStmt *stmt;
  const TdExpr *at; /* the element */
  bool write;
} TdWireUse;

typedef struct TdWireEnd {
  TdRewrite *r;
  const TdUnit *unit;
  const TdStmt *body; /* of a task */
  TdSym array;
  TD_VEC(TdWireUse) use;
  TD_VEC(TdSym) counter; /* that the uses move on */
} TdWireEnd;

/* Finds the uses of e->array in e->body; false with r->diag filled where one is no element. */
bool td_wire_find(TdWireEnd *e);
/* Whether dimension `token` of the array counts tokens there. Tells why not if `tell`. */
bool td_wire_is_ordered(TdWireEnd *e, uint32_t token, bool tell);
/* The end of a stream for a use. */
typedef const TdExpr *(*TdWireStream)(void *ud, const TdWireUse *use);
/* The body with gets and puts for its uses, without the counters. */
const TdStmt *td_wire_body(const TdWireEnd *e, TdWireStream stream, void *ud);
/* Whether two statements of u leave alone what the other writes, but for the n arrays that are
 * declared: as tasks they run side by side. Else r->diag tells of both ("shared"). */
bool td_wire_check_apart(TdRewrite *r, const TdUnit *u, const TdStmt *first, const TdStmt *second,
                         const TdStmt *const *array, size_t n);

/* Whether a statement of the kernel is a local that the statements which use it take along: none of
 * the n arrays. */
bool td_wire_is_own(const TdStmt *s, const TdStmt *const *array, size_t n);
/* The last statement of the stage that root's kid[at] begins, with the locals from kid[from] on:
 * what uses its own locals is of it, too; *kept is one that holds it together. */
uint32_t td_wire_stage_end(TdRewrite *r, const TdStmt *root, uint32_t from, uint32_t at,
                           const TdStmt *const *array, size_t n, const TdStmt **kept);

#endif

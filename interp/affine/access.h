/* access.h - what the statements of a subtree read and write, element by element, in source order.
 */
#ifndef TD_ACCESS_H
#define TD_ACCESS_H

#include "affine/affine.h"
#include "affine/nest.h"

/* What a query is about: a place in a version of a program. Results are owned by `arena`. */
typedef struct TdAsk {
  TdAffine *affine;
  TdArena *arena;
  const TdProg *prog;
  const TdUnit *unit;
} TdAsk;

/* What can conflict: memory; an end of a stream, which each operation on it reads and writes; the
 * hidden state of a foreign unit or collective. */
typedef enum { TD_CELL_MEMORY, TD_CELL_PUT, TD_CELL_GET, TD_CELL_EFFECT, TD_CELLS } TdCellKind;

/* An array (or scalar, stream end..). Identity is the pointer, within one list. */
typedef struct TdCell {
  TdSym sym;
  TdCellKind kind;
  const TdStmt *decl; /* LOCAL, GET or SLOT of the subtree that makes it, or NULL */
  const TdNest *nest; /* of decl: each iteration of these loops has its own; NULL: from outside */
} TdCell;

/* The elements of a cell that one execution of a leaf touches: index[d] over parameters, the leaf's
 * loops and the existential columns of elem. A bad index is "any". */
typedef struct TdAccess {
  const TdCell *cell;
  const TdExpr *expr; /* LOAD or VIEW, in the unit that it stands in; NULL: all of the cell */
  bool read, write;
  bool may;       /* perhaps less than that */
  bool reduction; /* the target of the leaf's accumulation */
  uint8_t rank;
  TdAff index[TD_MAX_RANK];
  TdSys elem;
} TdAccess;

/* A loop left early, a while, or all of a subtree that can return: one statement for the loops
 * around it, which are the first nloop. */
typedef struct TdRegion {
  size_t nloop;
  uint32_t seq;
} TdRegion;

/* A statement, or the header of one, that reads or writes. A call is the leaves of its callee. */
typedef struct TdLeaf {
  const TdStmt *stmt;
  uint32_t uid, origin; /* of stmt; under a call, of the outermost call */
  uint32_t sub;         /* number among the leaves of that uid */
  const TdNest *nest;
  const TdRegion *region; /* the outermost opaque region around it, or NULL */
  size_t nseen;           /* loops that order its instances: all, or the region's */
  uint32_t seq;           /* textual order; equal within a region */
  int reduce;             /* TdOp of `x = x op e`, or -1 */
  bool ring;              /* and any order of such steps gives the same value */
  const TdAccess *access;
  size_t naccess;
} TdLeaf;

typedef struct TdLeaves {
  TdSession *session;
  TdSpace *space;
  const TdUnit *unit;
  const size_t *start; /* of each root's leaves, and their end */
  TD_VEC(TdLeaf) at;
} TdLeaves;

/* The leaves of n consecutive statements of q->unit (or of a rewrite of it). All is in
 * space->arena, which must not be q->arena. */
TdLeaves *td_access_list(const TdAsk *q, TdSpace *space, const TdStmt *const *root, size_t n);
/* The same with each call as one leaf that reads and writes what it is passed. */
TdLeaves *td_access_list_flat(const TdAsk *q, TdSpace *space, const TdStmt *const *root, size_t n);

/* A fresh space in arena a. */
TdSpace *td_access_space(TdArena *a);

/* Whether two forms are the same. */
bool td_access_same_form(TdAff x, TdAff y);

/* The TdOp of `place = place op e`, where that is what storing `value` does, or -1; *ring: any
 * order of such steps gives the same value. */
int td_access_accumulates(const TdExpr *value, const TdExpr *place, bool *ring);

#endif

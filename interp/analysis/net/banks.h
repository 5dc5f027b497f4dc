/* banks.h - partition types of a dimension as a lattice (Allo, figures 10 and 11), and the types
 * that a graph of arrays passed to each other must have (Allo, algorithm 2). */
#ifndef TD_ANALYSIS_NET_BANKS_H
#define TD_ANALYSIS_NET_BANKS_H

#include "ir/ir.h"

typedef enum { TD_BANKS_NONE, TD_BANKS_CYCLIC, TD_BANKS_BLOCK, TD_BANKS_COMPLETE } TdBanksKind;

/* How the elements of one dimension lie: in n banks by turns, in n consecutive blocks, each in a
 * bank of its own (the bottom of the lattice), or all in one (the top). */
typedef struct TdBanks {
  TdBanksKind kind;
  int64_t n; /* of cyclic and block: banks */
} TdBanks;

/* Functions below take the extent of the dimension, 0 if it is not known. */

/* The one form of equal types: as many banks as elements are complete. */
TdBanks td_banks_norm(TdBanks x, int64_t extent);
bool td_banks_equal(TdBanks x, TdBanks y);
/* Whether x <: y: what lies as x can be passed where y is expected. A number of blocks that does
 * not divide the extent compares with itself, the top and the bottom only. */
bool td_banks_serves(TdBanks x, TdBanks y, int64_t extent);
/* The greatest type below both. */
TdBanks td_banks_meet(TdBanks x, TdBanks y, int64_t extent);

/* What an array with these attributes has in dimension d, of this extent. */
TdBanks td_banks_of(TdAttrs l, int d, int64_t extent);
/* The attributes l with x in place of what dimension d has, owned by the store of names. */
TdAttrs td_banks_set(TdArena *a, TdNames *names, TdAttrs l, int d, TdBanks x);
/* The attributes x of an array of type t, with banks that serve where it has attributes y too. */
TdAttrs td_banks_join(TdArena *a, TdNames *names, TdAttrs x, TdAttrs y, const TdType *t);
/* "complete", "cyclic", "block". */
const char *td_banks_word(TdBanks x);
/* "complete", "cyclic 4", "block 2", "in one bank". */
const char *td_banks_str(TdArena *a, TdBanks x);

/* How two dimensions are bound to each other. */
typedef enum {
  TD_BANKS_SAME,   /* they are one */
  TD_BANKS_FIXED,  /* `of` is passed as `as`, whose code is given: it must serve, and may do more */
  TD_BANKS_RANGE,  /* a range of `of` is passed as `as`: the turns of banks go on, blocks do not */
  TD_BANKS_STRIDED /* elements some apart: only complete banks serve */
} TdBanksLink;

typedef struct TdBanksEdge {
  uint32_t of, as; /* dimensions */
  TdBanksLink link;
} TdBanksEdge;

typedef struct TdBanksNode {
  TdBanks banks;
  int64_t extent;
} TdBanksNode;

typedef struct TdBanksGraph {
  TD_VEC(TdBanksNode) node; /* dimensions of arrays */
  TD_VEC(TdBanksEdge) edge;
} TdBanksGraph;

/* What `of` must serve because of e, when `as` is what it is. */
TdBanks td_banks_needed(const TdBanksGraph *g, const TdBanksEdge *e);
/* Whether e holds. */
bool td_banks_holds(const TdBanksGraph *g, const TdBanksEdge *e);
/* Lowers the types of all that hangs together with node `from` to the greatest ones at which every
 * edge holds. */
void td_banks_solve(TdArena *a, TdBanksGraph *g, uint32_t from);

#endif

/* prim.c - the table of primitives, generated from the files of this folder. */
#include "rewrite/prim.h"

#include "gen/prims.gen.h"

const TdPrim *const td_prims[] = TD_PRIMS;

const TdPrim *td_prim_find(const char *name) {
  return td_kind_find(&td_prim_kind, name);
}

/* prim.c - the table of primitives, generated from the files of this folder. */
#include "rewrite/prim.h"

#include <string.h>

#include "gen/prims.gen.h"

const TdPrim *const td_prims[] = TD_PRIMS;

const TdPrim *td_prim_find(const char *name) {
  for (int i = 0; td_prims[i]; i++)
    if (strcmp(td_prims[i]->name, name) == 0) return td_prims[i];
  return NULL;
}

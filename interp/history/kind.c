/* kind.c - the primitives of a kind by name. */
#include "history/kind.h"

#include <string.h>

const TdPrim *td_kind_find(const TdKind *k, const char *name) {
  for (int i = 0; k->prims[i]; i++)
    if (strcmp(k->prims[i]->name, name) == 0) return k->prims[i];
  return NULL;
}

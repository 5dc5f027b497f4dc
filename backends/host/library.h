/* library.h - shared objects, opened and closed on guard. */
#ifndef TD_HOST_LIBRARY_H
#define TD_HOST_LIBRARY_H

#include "backends/host/guard.h"

typedef struct TdLibrary {
  void *handle;    /* NULL: it could not be opened */
  const char *why; /* not, or a symbol was not found in it; owned by a */
  TdGuardEnd end;  /* of opening it */
} TdLibrary;
/* Opens a shared object until a is freed. */
TdLibrary td_library_open(TdArena *a, const char *path);
/* Fills d with how foreign code ended that was being opened; returns false. */
bool td_library_tell(const TdLibrary *x, TdDiag *d);

#endif

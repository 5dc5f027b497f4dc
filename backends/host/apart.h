/* apart.h - foreign libraries in processes of their own: exit, abort, a thread, a stack overflow or
 * another program in its place end that process, and the call that was under way. Arguments lie in
 * shared memory; what a library keeps between calls lasts as long as its process. */
#ifndef TD_HOST_APART_H
#define TD_HOST_APART_H

#include "ir/foreign.h"

/* The process of a library, which starts with its first call. */
typedef struct TdApart TdApart;
/* Lives as long as the session, as does the path. */
TdApart *td_apart_new(TdSession *s, const char *path);

/* An argument of C: a number, an array, or a function that is called back. */
typedef struct TdApartArg {
  const TdType *type; /* of a number; else NULL */
  void *at;           /* its cell, or the elements */
  size_t bytes;
  const TdCallback *back;
  int fn;
} TdApartArg;
typedef struct TdApartCall {
  const char *symbol;
  const TdType *result; /* NULL: nothing */
  void *to;             /* the result's cell */
  const TdApartArg *arg;
  size_t narg;
} TdApartCall;
/* One call; arrays hold what it left, or are as they were where it did not return. */
TdForeignEnd td_apart_call(TdApart *x, const TdApartCall *call);

#endif

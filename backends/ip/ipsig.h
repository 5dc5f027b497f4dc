/* ipsig.h - the signature of a C++ function, read from its source: enough of C++ to know names,
 * types and extents, and to refuse by name what a call from outside cannot mean. */
#ifndef TD_IP_IPSIG_H
#define TD_IP_IPSIG_H

#include "ir/ir.h"

/* A parameter. Of a pointer, or an array without its first extent, the shape is not known. */
typedef struct TdIpsigParam {
  const char *name;
  const TdType *elem;
  TdIpParam ip;
  int rank;
  int64_t extent[TD_MAX_RANK];
  bool shaped;
  TdLoc loc;
} TdIpsigParam;

typedef struct TdIpsig {
  const char *symbol; /* with its namespaces: "dsp::mac" */
  TdLoc loc;
  TD_VEC(TdIpsigParam) param;
} TdIpsig;

/* A C++ source as its preprocessor leaves it; `given`: its path in tide.extern. Its files, the
 * source first, are numbers source[0 .. nfile) of the session's, and were read from path[0 ..
 * nfile). */
typedef struct TdIpsigText {
  TdSession *session;
  const char *given, *text, *const *path;
  const uint32_t *source;
  size_t nfile;
} TdIpsigText;

/* The function `symbol` (with namespaces, or its last name alone) of a source, owned by a. False
 * with d filled: it is not there, or twice; a template, overloaded, not void; or a parameter that
 * Tide has no type for. */
bool td_ipsig_read(TdArena *a, const TdIpsigText *in, const char *symbol, TdIpsig *out, TdDiag *d);

#endif

/* ipsig.h - the signatures of a C++ function, by what libclang says of its source (declare.h): what
 * a call from outside cannot mean is refused by name. */
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

/* One of the functions of that name, which differ in what they take. */
typedef struct TdIpsig {
  const char *symbol; /* with its namespaces: "dsp::mac" */
  TdLoc loc;
  TD_VEC(TdIpsigParam) param;
  const TdDiag *wrong; /* it cannot be called, as this says; or NULL */
} TdIpsig;
typedef TD_VEC(TdIpsig) TdIpsigs;

/* What libclang says of a source; `given`: its path in tide.extern. Its files, the source first,
 * are numbers source[0 .. nfile) of the session's, and were read from path[0 .. nfile). */
typedef struct TdIpsigText {
  TdSession *session;
  const char *given, *text, *const *path;
  const uint32_t *source;
  size_t nfile;
  bool cxx; /* else C */
} TdIpsigText;

/* Whether the source has no error; else d is filled with the first, at its place. */
bool td_ipsig_check(const TdIpsigText *in, TdDiag *d);
/* The functions `symbol` (with namespaces, or its last name alone) of a source without errors,
 * owned by a; one at least. False with d filled: there are none, or of several namespaces. */
bool td_ipsig_read(TdArena *a, const TdIpsigText *in, const char *symbol, TdIpsigs *out, TdDiag *d);
/* Fills d: several of the functions can be meant. */
bool td_ipsig_refuse(const TdIpsigs *all, TdDiag *d);

#endif
